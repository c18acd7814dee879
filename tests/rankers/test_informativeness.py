"""Informativeness against its definition, written out, and against hand-worked cases."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from podium import NotIdentifiedError, read_battles, simulate
from podium.notices.notice_text import notice_texts
from podium.planning.simulation import Judge
from podium.rankers.informativeness import Comparisons, informativeness


def table(rows):
    return read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))


def by_definition(battles, anchor, verdict):
    """Share of (item, unordered pair of others) whose verdicts against the anchor differ, loop by
    loop."""
    rows = battles.table[battles.readable]
    apart = compared = 0
    for _, item in rows.groupby("item", observed=True):
        verdicts = {}
        for row in item.itertuples():
            if anchor in (row.model_a, row.model_b):
                ours = row.credit if row.model_b == anchor else 1 - row.credit
                verdicts[row.model_a if row.model_b == anchor else row.model_b] = verdict(ours)
        for x, y in combinations(verdicts.values(), 2):
            apart, compared = apart + (x != y), compared + 1
    return apart / compared


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "verdict"),
    [(None, lambda c: round(c, 9)), ("three_level", lambda c: np.sign(c - 0.5))],
)
def test_it_equals_the_papers_definition_loop_by_loop(column, verdict):
    battles = simulate(5, 15, seed=2).battles(Judge(tie=0.5, unparsed=0.1))
    battles = read_battles(battles.to_frame().drop(columns=["margin", "swap"]), merge=False)
    for entry in informativeness(battles, rng=np.random.default_rng(0)).entries:
        found = entry.extra[column] if column else entry.score
        assert found == pytest.approx(by_definition(battles, entry.model, verdict), abs=1e-12)


def test_anchor_that_beats_every_model_is_uninformative():
    rows = [(f"i{k}", "best", other, 1.0) for k in range(5) for other in "xyz"]
    standings = informativeness(table(rows), rng=np.random.default_rng(0))
    assert {e.model: e.score for e in standings.entries}["best"] == 0.0


@pytest.mark.slow
def test_five_level_verdicts_distinguish_more_pairs_than_three_level():
    rows = [
        ("i", "anchor", "x", 1.0, 2.0),
        ("i", "anchor", "y", 1.0, 1.0),
        ("i", "anchor", "z", 0.0, -1.0),
    ]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "margin"])
    entry = next(
        e
        for e in informativeness(read_battles(frame), rng=np.random.default_rng(0)).entries
        if e.model == "anchor"
    )
    assert (entry.score, entry.extra["three_level"]) == (1.0, pytest.approx(2 / 3))


@pytest.mark.slow
def test_informativeness_compares_continuous_credits_by_sign_and_reports_it():
    battles = simulate(4, 40, seed=1).battles(Judge(verdicts="soft"))
    standings = informativeness(battles, rng=np.random.default_rng(0))
    assert standings.diagnostics["levels"] == "three"
    assert any("continuous verdicts" in text for text in notice_texts(standings.warnings))


def test_unparsed_verdicts_leave_the_denominator():
    rows = [
        ("i", "anchor", "x", 1.0),
        ("i", "anchor", "y", 0.0),
        ("i", "anchor", "z", None),
        ("j", "anchor", "x", 1.0),
    ]
    entry = next(
        e
        for e in informativeness(table(rows), rng=np.random.default_rng(0)).entries
        if e.model == "anchor"
    )
    assert (entry.score, entry.extra["pairs"]) == (1.0, 1)


def test_two_models_are_rejected():
    with pytest.raises(NotIdentifiedError, match="at least three models"):
        informativeness(table([("i", "a", "b", 1.0)]), rng=np.random.default_rng(0))


def test_rows_without_items_are_rejected():
    frame = pd.DataFrame(
        [("a", "b", 1.0), ("b", "c", 1.0)], columns=["model_a", "model_b", "credit"]
    )
    with pytest.raises(NotIdentifiedError, match="`item` column"):
        informativeness(read_battles(frame), rng=np.random.default_rng(0))


def test_the_standard_error_of_an_unbalanced_ratio_is_the_jackknifes():
    """Oracle: leave one item out, sqrt((n - 1) / n * sum of squared deviations); items differ in
    pairs compared."""
    random = np.random.default_rng(0)
    compared = random.integers(1, 20, 400).astype(float)
    share = np.clip(0.3 + 0.02 * compared + random.normal(0, 0.05, 400), 0, 1)
    reported = Comparisons((compared * share)[:, None], compared[:, None])
    total, apart = compared.sum(), (compared * share).sum()
    left_out = (apart - compared * share) / (total - compared)
    jackknife = np.sqrt(399 / 400 * np.sum((left_out - left_out.mean()) ** 2))
    assert np.sqrt(reported.covariance[0, 0]) == pytest.approx(jackknife, rel=0.02)


def test_repeats_are_averaged_before_their_sign_is_taken():
    """Two losers to the anchor, one of them in two of three repeats: both lose, so they are not
    distinguishable."""
    rows = [("i", "anchor", "x", c) for c in (1.0, 1.0, 0.0)] + [
        ("i", "anchor", "y", 1.0),
        ("i", "x", "y", 0.5),
    ]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    standings = informativeness(read_battles(frame), rng=np.random.default_rng(0))
    assert {e.model: e.extra["three_level"] for e in standings.entries}["anchor"] == 0.0


@pytest.mark.slow
def test_informativeness_reports_partly_known_margins():
    rows = [
        ("i", "anchor", "x", 1.0, 2.0),
        ("i", "anchor", "y", 1.0, None),
        ("i", "anchor", "z", 0.0, -1.0),
    ]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "margin"])
    warnings = notice_texts(
        informativeness(read_battles(frame), rng=np.random.default_rng(0)).warnings
    )
    assert any("1 battle has no margin" in text for text in warnings)
