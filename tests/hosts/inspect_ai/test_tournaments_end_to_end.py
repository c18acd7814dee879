"""Every tournament, from files of responses to the ranking in the log."""

import json
from itertools import combinations

import pytest
from inspect_ai.analysis import evals_df
from inspect_ai.log import list_eval_logs
from played_logs import (
    ITEMS,
    MODELS,
    assert_same_figures,
    battles,
    by_hand,
    place,
    ranked,
    verdict_of,
)

import podium
from podium.hosts.inspect_ai.tasks import anchor, chain, round_robin, swim
from podium.responses.read import read_responses
from podium.tournaments.swim import Swim

ALL = sorted(MODELS)
TASKS = {
    "round_robin": (round_robin, {}, ITEMS * 6, 0),
    "anchor": (anchor, {"anchor": "elm"}, ITEMS * 3, 0),
    "auto": (anchor, {"anchor": "auto"}, ITEMS * 6, 0),
    "swim": (swim, {}, ITEMS * 4, 3),
    "chain": (chain, {}, ITEMS * 3, 0),
}


@pytest.fixture(
    params=[pytest.param(name, marks=() if name == "swim" else pytest.mark.slow) for name in TASKS]
)
def played(request, play, write_responses, record):
    task, options, number, rounds = TASKS[request.param]
    log = play(task(responses=write_responses(), **options))
    return request.param, log, number, rounds, record


@pytest.mark.slow
def test_a_tournament_plays_its_battles_each_once_and_ranks_them(played):
    _, log, number, rounds, record = played
    fought = battles(log)
    assert log.status == "success"
    assert len(fought) == number == len({one.id for one in fought})
    assert len(log.samples) == number + rounds
    assert record.calls == 2 * number
    assert max(record.times().values()) == 1
    assert all(verdict_of(one).value is not None for one in fought)


@pytest.mark.slow
def test_a_log_holds_the_ranking_that_podium_gives_for_the_same_verdicts_by_hand(played):
    _, log, *_ = played
    pairings = [
        (one.metadata["item"], one.metadata["model_a"], one.metadata["model_b"])
        for one in battles(log)
    ]
    expected = ranked(by_hand(pairings))
    assert_same_figures(log.results.metadata["podium"], expected)
    assert_same_figures(ranked(str(place(log))), expected)


@pytest.mark.slow
def test_the_viewer_gets_a_score_per_model_with_the_figures_as_metrics(played):
    _, log, *_ = played
    reported = {
        row["model"]: row for row in log.results.metadata["podium"]["rankings"][0]["models"]
    }
    headline, *own = [one for one in log.results.scores if one.scorer == "podium/bradley-terry"]
    assert headline.name == "ranking"
    scores = {one.name: one for one in own}
    assert sorted(scores) == ALL
    for name, score in scores.items():
        assert score.metrics["bradley_terry"].value == reported[name]["score"]
        assert (
            score.metrics["bradley_terry_battles"].value
            == reported[name]["battles"]
            == score.scored_samples
        )


@pytest.mark.slow
def test_the_ranking_lies_as_json_beside_its_log_and_is_not_taken_for_a_log(played, tmp_path):
    _, log, *_ = played
    [beside] = (tmp_path / "logs").glob("*.ranking")
    assert beside.name == f"podium-{place(log).stem}.ranking"
    assert json.loads(beside.read_text())["rankings"] == log.results.metadata["podium"]["rankings"]
    assert len(list_eval_logs(str(tmp_path / "logs"))) == 1
    assert len(evals_df(str(tmp_path / "logs"), quiet=True)) == 1


@pytest.mark.slow
def test_a_folder_of_logs_ranks_as_its_log_does(played, tmp_path):
    _, log, *_ = played
    assert_same_figures(ranked(str(tmp_path / "logs")), log.results.metadata["podium"])


@pytest.mark.slow
def test_the_value_of_a_battle_is_the_mean_over_both_orders(play, write_responses):
    log = play(round_robin(responses=write_responses()))
    for one in battles(log):
        own = one.metadata
        expected = by_hand([(own["item"], own["model_a"], own["model_b"])]).credit.mean()
        assert verdict_of(one).metadata["podium"]["credit"] == pytest.approx(expected, abs=1e-12)
        # The viewer shows the value in its lists, with three decimals.
        assert verdict_of(one).value == round(expected, 3)


@pytest.mark.slow
def test_a_round_of_swim_is_announced_with_its_pairings_and_played_as_announced(
    play, write_responses
):
    paths = write_responses()
    log = play(swim(responses=paths))
    rule, field = Swim(seed=0), read_responses(*paths).field()
    announced = [one for one in log.samples if "podium round" in one.metadata]
    assert [one.id for one in announced] == [f"round {k:03d}" for k in range(2, 5)]
    for number, one in enumerate(announced, start=2):
        fought = {
            (b.metadata["item"], b.metadata["model_a"], b.metadata["model_b"])
            for b in battles(log)
            if b.metadata["round"] == number
        }
        assert fought == {tuple(pairing) for pairing in one.metadata["podium round"]}
        assert not one.scores or all(score.value is None for score in one.scores.values())
    first = {tuple(b.id.split("::")) for b in battles(log) if b.metadata["round"] == 1}
    assert first == {(p.item, p.a, p.b) for p in rule.next(field, ()).pairings}


@pytest.mark.slow
def test_announcements_do_not_count_as_battles_in_any_figure(play, write_responses):
    log = play(swim(responses=write_responses()))
    counts = log.results.metadata["podium"]["rankings"][0]["counts"]
    assert counts["judged"] == ITEMS * 4
    judged = next(one for one in log.results.scores if one.name == "verdict")
    assert judged.metrics["judged"].value == ITEMS * 4
    assert judged.unscored_samples == 0
    assert judged.scored_samples == ITEMS * 4


@pytest.mark.slow
def test_a_budget_ends_a_tournament(play, write_responses, record):
    log = play(swim(responses=write_responses(), max_battles=8))
    assert len(battles(log)) == 8
    assert record.calls == 16


@pytest.mark.slow
def test_fewer_items_are_drawn_and_only_they_are_played(play, write_responses):
    log = play(round_robin(responses=write_responses(), items=2))
    assert len(battles(log)) == 12
    assert len({one.metadata["item"] for one in battles(log)}) == 2


@pytest.mark.slow
def test_models_and_categories_are_chosen(play, write_responses):
    paths = write_responses(category=lambda k: "even" if k % 2 == 0 else "odd")
    log = play(round_robin(responses=paths, models="oak,elm", category="odd"))
    assert {one.id for one in battles(log)} == {f"q{k}::elm::oak" for k in (1, 3, 5)}
    assert verdict_of(battles(log)[0]).metadata["podium"]["category"] == "odd"


@pytest.mark.slow
def test_names_with_slashes_colons_blanks_and_other_scripts_survive_a_run(play, tmp_path):
    names = {"org/model:v1": 1.0, "Ünï cødé 模型": 2.0, "a::b": 0.5}
    rows = [
        {"id": item, "instruction": f"{item}?", "response": f"quality={q}", "model": name}
        for name, q in names.items()
        for item in ("x/1", "y::2", "../z", "Ω 4")
    ]
    (tmp_path / "all.json").write_text(json.dumps(rows))
    log = play(round_robin(responses=str(tmp_path / "all.json")))
    assert log.status == "success"
    assert len({one.id for one in battles(log)}) == 12
    assert {row["model"] for row in log.results.metadata["podium"]["rankings"][0]["models"]} == set(
        names
    )
    assert {(m["model_a"], m["model_b"]) for m in (one.metadata for one in battles(log))} == set(
        combinations(sorted(names), 2)
    )


@pytest.mark.slow
def test_a_log_directory_with_blanks_and_signs_is_ranked_too(play, write_responses, tmp_path):
    folder = tmp_path / "my logs [x] =1 %20"
    log = play(round_robin(responses=write_responses()), log_dir=str(folder))
    assert "podium" in log.results.metadata
    assert len(list(folder.glob("podium-*.ranking"))) == 1


@pytest.mark.slow
def test_a_log_in_json_is_ranked_and_read_as_well(play, write_responses):
    log = play(round_robin(responses=write_responses()), log_format="json")
    assert place(log).suffix == ".json"
    assert_same_figures(
        podium.rank(podium.read_battles(str(place(log))), "bradley-terry"),
        log.results.metadata["podium"],
    )
