"""Tournaments side by side: error and tau against cost."""

import json

import numpy as np
import pytest
from scipy.stats import kendalltau

from podium import Battles, NotIdentifiedError, UsageError, rank, read_battles, replay, simulate
from podium.notices.notice_text import notice_texts
from podium.planning.tournament_table import compare_tournaments


@pytest.fixture(scope="module")
def battles() -> Battles:
    return simulate(5, 30, seed=4).battles()


def scores(ranking) -> dict[str, float]:
    return {entry.model: entry.score for entry in ranking.standings[0].entries}


@pytest.mark.slow
def test_a_full_round_robin_has_no_error(battles: Battles) -> None:
    [row] = compare_tournaments(battles, "round_robin", seeds=2).rows
    assert (row.error, row.error_sd, row.failed) == (0, 0, 0)
    assert row.tau == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
def test_error_and_tau_are_means_over_seeds(battles: Battles) -> None:
    """Oracle: each seed replayed and compared by itself."""
    whole, errors, taus = scores(rank(battles, "bradley-terry")), [], []
    for seed in (7, 8, 9):
        found = scores(replay(battles, "chain", seed=seed).ranking)
        gaps = [(found[name] - 1500) - (whole[name] - 1500) for name in whole]
        errors.append(np.mean(np.abs(gaps)))
        taus.append(kendalltau([found[name] for name in whole], list(whole.values())).statistic)
    [row] = compare_tournaments(battles, "chain", seeds=3, seed=7).rows
    assert (row.error, row.error_sd) == pytest.approx(
        (np.mean(errors), np.std(errors, ddof=1)), abs=1e-9
    )
    assert (row.tau, row.tau_sd) == pytest.approx((np.mean(taus), np.std(taus, ddof=1)), abs=1e-12)


def test_an_anchor_is_played_in_every_variant(battles: Battles) -> None:
    rows = compare_tournaments(battles, "anchor,chain", seeds=1).rows
    assert [row.tournament for row in rows] == [
        "anchor auto",
        *(f"anchor model-{k:02d}" for k in range(1, 6)),
        "chain",
    ]


def test_a_named_anchor_is_played_alone(battles: Battles) -> None:
    assert [
        row.tournament
        for row in compare_tournaments(battles, "anchor", seeds=1, anchor="model-02").rows
    ] == ["anchor model-02"]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("tournament", "an_item"), [("round_robin", 10), ("chain", 4), ("swim", 6)]
)
def test_a_budget_buys_as_many_items_as_it_can(
    battles: Battles, tournament: str, an_item: int
) -> None:
    budgets = (45, 60, 10_000)
    rows = compare_tournaments(battles, tournament, seeds=2, budgets=budgets).rows
    assert [row.battles for row in rows] == [45 // an_item * an_item, 60, 30 * an_item]
    assert tuple(row.budget for row in rows) == budgets


def test_a_budget_too_small_for_one_item_is_rejected(battles: Battles) -> None:
    with pytest.raises(
        UsageError, match="--budget 9 is too small for round_robin: one item takes 10 battles"
    ):
        compare_tournaments(battles, "round_robin", budgets=(9,))


def test_items_are_the_most_that_a_budget_buys(battles: Battles) -> None:
    [row] = compare_tournaments(battles, "chain", seeds=1, budgets=(100,), items=6).rows
    assert row.battles == 24


@pytest.mark.slow
def test_a_seed_without_a_ranking_is_counted_and_left_out() -> None:
    """A single unparsed battle gives no ranking; seeds that draw it are counted as failures."""
    rows = [
        {"item": f"q{k}", "model_a": "a", "model_b": "b", "credit": [1.0, None][k % 2]}
        for k in range(8)
    ]
    rows += [{"item": "q8", "model_a": "a", "model_b": "b", "credit": 0.0}]
    import pandas as pd

    found = compare_tournaments(read_battles(pd.DataFrame(rows)), "round_robin", seeds=20, items=1)
    [row] = found.rows
    assert (0 < row.failed < 20, row.seeds) == (True, 20)
    assert any(
        f"round_robin ({row.failed} of 20 seeds)" in text for text in notice_texts(found.warnings)
    )


@pytest.mark.slow
def test_a_record_with_gaps_is_warned_of() -> None:
    frame = simulate(4, 10, seed=1).judgments()
    found = compare_tournaments(
        read_battles(frame[~((frame["item"] == "item-03") & (frame["model_a"] == "model-01"))])
    )
    assert any(
        "the record is no full round robin: it has 95.0%" in text
        for text in notice_texts(found.warnings)
    )
    assert any(
        "battles asked for are not on record" in text for text in notice_texts(found.warnings)
    )


def test_the_json_of_the_table_has_no_nan(battles: Battles) -> None:
    document = json.loads(compare_tournaments(battles, "swim", seeds=1).to_json())
    assert (document["rows"][0]["error_sd"], document["whole"]["battles"]) == (None, 300)


def test_two_rankers_are_rejected(battles: Battles) -> None:
    with pytest.raises(UsageError, match="leave out win-rate"):
        compare_tournaments(battles, "swim", "bradley-terry,win-rate")


def test_a_fixed_seed_is_rejected(battles: Battles) -> None:
    with pytest.raises(UsageError, match="--set seed: the seeds are counted from --seed"):
        compare_tournaments(battles, "swim", **{"swim.seed": 3})


def test_no_seeds_are_rejected(battles: Battles) -> None:
    with pytest.raises(UsageError, match="--seeds 0: give 1 or more"):
        compare_tournaments(battles, "swim", seeds=0)


@pytest.mark.slow
def test_a_record_of_ties_is_rejected(battles: Battles) -> None:
    """With ties only, there is no order to compare with."""
    ties = read_battles(battles.table.assign(credit=0.5, margin=0.0))
    with pytest.raises(
        NotIdentifiedError,
        match="bradley-terry gives all models of the whole record the same score",
    ):
        compare_tournaments(ties, "swim", seeds=2)


def test_a_record_of_one_readable_model_is_rejected() -> None:
    import pandas as pd

    with pytest.raises(NotIdentifiedError):
        compare_tournaments(
            pd.DataFrame([{"item": "q", "model_a": "a", "model_b": "b", "credit": None}] * 2)
        )
