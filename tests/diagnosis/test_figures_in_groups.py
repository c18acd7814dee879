"""Groups of items (`cluster=`) are the unit of errors alone: what is measured stays the same."""

import numpy as np
import pandas as pd
import pytest

import podium
from podium.diagnosis.card import diagnose
from podium.diagnosis.transitivity import count_triples, transitivity
from podium.rankers.judge_aware import jury_battles

MODELS = ("m0", "m1", "m2", "m3")


def verdicts_of(judges=("one",), passages: int = 30, items: int = 4) -> pd.DataFrame:
    """Return a round robin in both orders whose models have strengths of their own on passages."""
    rng = np.random.default_rng(8)
    rows = []
    for passage in range(passages):
        on_passage = rng.normal(0, 1, 4) + np.array([0, 0.2, 0.4, 0.9])
        for item in range(items):
            strength = on_passage + rng.normal(0, 0.5, 4)
            for a, b in zip(*np.triu_indices(4, 1), strict=True):
                for judge in judges:
                    for order in ("ab", "ba"):
                        lead = strength[a] - strength[b] + rng.logistic()
                        credit = float((lead > -0.2) + (lead > 0.2)) / 2
                        place = (f"{passage}-{item}", MODELS[a], MODELS[b])
                        rows.append((*place, credit, order, judge, f"p{passage}"))
    names = ["item", "model_a", "model_b", "credit", "order", "judge", "passage"]
    return pd.DataFrame(rows, columns=names)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    "ranker", ["bradley-terry", "win-rate", "soft-elo", "informativeness", "judge-aware"]
)
def test_scores_are_those_without_groups_and_errors_are_larger(ranker):
    table = verdicts_of(("one", "two") if ranker == "judge-aware" else ("one",))
    options = {"pool": True} if ranker == "judge-aware" else {}
    [plain] = podium.rank(podium.read_battles(table), ranker, **options).standings
    grouped_battles = podium.read_battles(table, cluster="passage")
    [grouped] = podium.rank(grouped_battles, ranker, **options).standings
    before = {entry.model: entry for entry in plain.entries}
    after = {entry.model: entry for entry in grouped.entries}
    for name, entry in before.items():
        assert after[name].score == pytest.approx(entry.score, abs=1e-9)
        assert after[name].extra.get("pairs") == entry.extra.get("pairs")
    mean_before, mean_after = (
        np.mean([entry.se for entry in own.values()]) for own in (before, after)
    )
    if ranker != "informativeness":
        assert mean_after > 1.3 * mean_before
    assert mean_after != mean_before


def test_the_error_of_informativeness_is_that_of_the_sums_of_groups():
    """The standard error is worked out here from the shares of each passage's sums."""
    table = verdicts_of()
    battles = podium.read_battles(table, cluster="passage")
    [standings] = podium.rank(battles, "informativeness").standings
    [entry] = [entry for entry in standings.entries if entry.model == "m3"]
    merged = table.groupby(["passage", "item", "model_a"], as_index=False)
    against = table[table["model_b"] == "m3"]
    merged = against.groupby(["passage", "item", "model_a"])["credit"].mean().unstack()
    values = merged.to_numpy()
    differing = sum(values[:, i] != values[:, j] for i, j in ((0, 1), (0, 2), (1, 2)))
    by_passage = pd.Series(differing, index=merged.index.get_level_values("passage"))
    sums = by_passage.groupby(level=0).sum().to_numpy(float)
    number = len(values) * 3
    assert entry.score == pytest.approx(differing.sum() / number)
    size = number / len(sums)
    deviations = (sums - entry.score * size) / number
    groups = len(sums)
    expected = np.sqrt(groups / (groups - 1) * np.sum((deviations - deviations.mean()) ** 2))
    assert entry.se == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_triples_are_counted_on_items():
    table = verdicts_of()
    plain = count_triples(podium.read_battles(table))
    grouped = count_triples(podium.read_battles(table, cluster="passage"))
    np.testing.assert_array_equal(plain.by_triple, grouped.by_triple)
    assert (plain.unit, grouped.unit) == ("item", "passage")
    figures = transitivity(podium.read_battles(table, cluster="passage"))
    assert figures.hard.value == transitivity(podium.read_battles(table)).hard.value
    assert figures.hard.clusters == 30


def test_a_matchup_of_a_jury_is_a_pair_on_an_item():
    table = verdicts_of(("one", "two"))
    plain, grouped = (
        jury_battles(podium.read_battles(table, cluster=cluster)) for cluster in (None, "passage")
    )
    assert len(plain.matchups()[0]) == len(grouped.matchups()[0]) == 30 * 4 * 6
    assert len(np.unique(grouped.clusters_of_matchups())) == 30


@pytest.mark.slow
def test_a_jury_on_few_groups_says_how_many_there_are():
    table = verdicts_of(("one", "two"), passages=12)
    judgments = podium.read_battles(table, merge=False, cluster="passage")
    card = diagnose(judgments, podium.read_battles(table, cluster="passage"))
    assert "there are 12 passages" in card.across["jury"].why


@pytest.mark.slow
def test_checks_measure_the_same():
    table = verdicts_of()
    cards = []
    for cluster in (None, "passage"):
        judgments = podium.read_battles(table, merge=False, cluster=cluster)
        [card] = diagnose(judgments, podium.read_battles(table, cluster=cluster)).cards
        cards.append({check.name: check.number for check in card.checks})
    assert cards[0]["transitivity"] > 0
    # Groups that are given are the unit, so that nothing is left to check.
    assert "groups" not in cards[1]
    del cards[0]["groups"]
    assert cards[0] == cards[1]
