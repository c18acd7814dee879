"""Groups of models that never met: nothing compares models of different groups."""

import json
import math
import random

import pandas as pd
import pytest

import podium
from podium.check_results import Result

GROUPS = (("ann", "bob", "cid"), ("dan", "fay", "eve"))
STRENGTHS = {"ann": 1.5, "bob": 0.0, "cid": -1.5, "dan": 2.5, "fay": 0.0, "eve": -2.5}
RANKERS_OF_VERDICTS = ("win-rate", "informativeness")
RANKERS_OF_SCORES = ("mean", "median")


def verdicts():
    """Round robins of two groups on the same 40 items."""
    draws = random.Random(1)
    rows = []
    for item in range(40):
        for group in GROUPS:
            for k, first in enumerate(group):
                for second in group[k + 1 :]:
                    gap = STRENGTHS[first] - STRENGTHS[second]
                    won = draws.random() < 1 / (1 + math.exp(-gap))
                    rows.append((f"q{item}", first, second, float(won), "gpt"))
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "judge"])


def scores():
    """Scores of two groups on items of their own."""
    draws = random.Random(2)
    rows = []
    for number, group in enumerate(GROUPS):
        for item in range(40):
            for model in group:
                score = round(draws.gauss(STRENGTHS[model], 1.0), 3)
                rows.append((f"g{number}q{item}", model, score))
    return pd.DataFrame(rows, columns=["item", "model", "score"])


CASES = [
    *((name, verdicts) for name in RANKERS_OF_VERDICTS),
    *((name, scores) for name in (*RANKERS_OF_SCORES, "win-rate")),
]


def group_of(model):
    return next(number for number, group in enumerate(GROUPS) if model in group)


@pytest.mark.parametrize(("ranker", "source"), CASES)
def test_ranks_and_claims_hold_within_a_group(ranker, source):
    [standings] = podium.rank(source(), ranker).standings
    numbers = [group_of(entry.model) for entry in standings.entries]
    assert numbers == sorted(numbers)
    assert [entry.extra["group"] for entry in standings.entries] == [1, 1, 1, 2, 2, 2]
    for number, group in enumerate(GROUPS):
        own = [entry for entry in standings.entries if group_of(entry.model) == number]
        assert own[0].rank == 1
        assert all(1 <= entry.rank_low <= entry.rank_high <= len(group) for entry in own)
        assert [entry.score for entry in own] == sorted((e.score for e in own), reverse=True)
    separation = standings.separation
    assert separation.cuts == ()
    for winner, places in zip(separation.names, separation.beats, strict=True):
        assert all(group_of(separation.names[k]) == group_of(winner) for k in places)


@pytest.mark.parametrize(("ranker", "source"), CASES)
def test_the_answer_describes_each_group_by_itself(ranker, source):
    [standings] = podium.rank(source(), ranker).standings
    who, trust, step = standings.answer
    assert who.startswith("Two groups of models never met, and only models of one group are")
    of_first, of_second = who.partition("In group 1")[2].split("In group 2")
    assert not any(name in of_first for name in GROUPS[1])
    assert not any(name in of_second for name in GROUPS[0])
    assert trust.startswith("2 groups of models never met")
    assert "compare within a group only" in step
    [check] = [check for check in standings.checks if check.name == "connected"]
    assert check.is_flagged


def test_a_group_of_scores_has_the_number_of_its_own_items():
    [standings] = podium.rank(scores(), "median").standings
    assert "80 items" not in standings.answer[0]


def test_the_first_place_of_all_is_not_said():
    [standings] = podium.rank(scores(), "mean").standings
    assert "leader_interval" not in standings.diagnostics
    assert "unknown" in standings.diagnostics["drop_out"]


@pytest.mark.parametrize("ranker", ["bradley-terry", "soft-elo"])
def test_ratings_of_groups_that_never_met_are_an_error(ranker):
    with pytest.raises(podium.NotIdentifiedError, match="2 groups that never met"):
        podium.rank(verdicts(), ranker)


def test_connected_models_have_no_such_check():
    joined = pd.concat(
        [
            verdicts(),
            pd.DataFrame([("q0", "cid", "dan", 1.0, "gpt")]).set_axis(
                ["item", "model_a", "model_b", "credit", "judge"], axis=1
            ),
        ]
    )
    [standings] = podium.rank(joined, "win-rate").standings
    assert standings.unconnected_groups == ()
    assert "connected" not in [check.name for check in standings.checks]
    assert "group" not in standings.entries[0].extra


@pytest.mark.parametrize("source", [verdicts, scores])
def test_an_audit_claims_no_order_and_no_places(source):
    [board] = podium.audit(source()).boards
    assert board.answer[0].startswith("Do not use this ranking: 2 groups of models never met")
    assert not any("ahead" in sentence for sentence in board.answer)
    results = {probe.check.name: probe.check.result for probe in board.probes}
    assert results["connected"] is Result.FLAGGED
    assert results["places"] is Result.NOT_KNOWN
    assert [probe.check.name for probe in board.probes].count("connected") == 1


def test_tables_name_the_group_of_each_model(podium, tmp_path):
    path = tmp_path / "battles.csv"
    verdicts().to_csv(path, index=False)
    done = podium("rank", path, "--ranker", "win-rate")
    [header] = [line for line in done.out.splitlines() if line.lstrip().startswith("rank ")]
    assert header.split()[:3] == ["rank", "model", "group"]
    assert "bradley-terry's ratings are" not in done.err


def test_exported_scores_name_the_comparable_models(podium, tmp_path):
    path = tmp_path / "battles.csv"
    ranking = tmp_path / "ranking.json"
    verdicts().to_csv(path, index=False)
    podium("rank", path, "--ranker", "win-rate", "-o", ranking)
    podium("export", ranking, "--to", "hf-eval-results", "--dataset", "a/b", "-o", tmp_path / "hf")
    podium("export", ranking, "--to", "every-eval-ever", "-o", tmp_path / "eee")
    note = "not comparable with models that it never met; comparable: eve, fay"
    [of_dan] = (tmp_path / "hf").rglob("dan/.eval_results/*.yaml")
    assert note in of_dan.read_text()
    [of_dan] = (tmp_path / "eee").rglob("dan/*.json")
    assert note in of_dan.read_text()


def test_pages_and_sites_name_no_first_model_of_all(podium, tmp_path):
    path = tmp_path / "battles.csv"
    ranking = tmp_path / "rankings" / "ranking.json"
    ranking.parent.mkdir()
    verdicts().to_csv(path, index=False)
    podium("rank", path, "--ranker", "win-rate", "-o", ranking)
    podium("leaderboard", ranking.parent, "-o", tmp_path / "site")
    site = (tmp_path / "site" / "index.html").read_text()
    assert "2 groups that never met" in site
    content = json.loads(ranking.read_text())
    for standings in content["rankings"]:
        standings["answer"] = []
    ranking.write_text(json.dumps(content))
    podium("report", ranking, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "2 groups of models never met, so that no model is first of all" in page
