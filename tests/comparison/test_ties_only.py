"""Battles that are all ties, or nearly: no interval is made of their missing variation."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from podium.comparison.compare_models import compare
from podium.data.battles import Battles
from podium.data.reading.judgments import read_battles
from podium.ranking.rank_battles import rank


def _battles(credits: Sequence[float]) -> Battles:
    items = [f"q{k}" for k in range(len(credits))]
    columns = {"item": items, "model_a": "a", "model_b": "b", "credit": credits}
    return read_battles(pd.DataFrame(columns))


def _compare(battles: Battles, **options: Any) -> Any:
    return compare(battles, baseline="b", **options)


@pytest.mark.parametrize("number", [20, 30, 200])
@pytest.mark.parametrize("wins", [0, 1, 3])
def test_nearly_only_ties_do_not_pass_a_narrow_margin(number: int, wins: int) -> None:
    battles = _battles([1.0] * wins + [0.5] * (number - wins))
    comparison = _compare(battles, require="not-worse=1elo")
    assert comparison.gate is not None
    assert comparison.gate.verdict == "UNDECIDED"
    [finding] = comparison.findings
    low, high = finding.interval
    assert low < 0 < high
    assert not finding.is_distinguishable


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("number", [20, 30, 200])
@pytest.mark.parametrize("wins", [0, 1, 3])
def test_rank_and_compare_have_the_same_interval_of_nearly_only_ties(
    number: int, wins: int
) -> None:
    battles = _battles([1.0] * wins + [0.5] * (number - wins))
    [finding] = _compare(battles).findings
    [standings] = rank(battles, "bradley-terry").standings
    entry = next(entry for entry in standings.entries if entry.model == "a")
    low, high = finding.interval
    assert entry.se is None
    assert (entry.low, entry.high) == pytest.approx((1500 + low / 2, 1500 + high / 2))
    assert entry.rank_high == 2


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("number", [20, 60, 300])
def test_the_bound_of_ties_only_is_valid_where_losses_are_rare(number: int) -> None:
    """A bound that excludes a true gap must not come from a sample that is likely under it.

    If each battle is lost with probability q and else tied, the win rate is (1 - q) / 2, and n
    battles are all ties with probability (1 - q)^n.
    """
    [finding] = _compare(_battles([0.5] * number)).findings
    bound = finding.difference.low(0.05)
    win_rate = 1 / (1 + 10 ** (-bound / 400))
    loss = 1 - 2 * win_rate
    assert (1 - loss) ** number <= 0.05
    # It is not wider than needed by more than a half.
    assert 0.5 - win_rate == pytest.approx((1 - 0.05 ** (1 / number)) / 2, rel=0.5)


def test_many_ties_pass_a_wide_margin() -> None:
    comparison = _compare(_battles([0.5] * 300), require="not-worse=10elo")
    assert comparison.gate is not None
    assert comparison.gate.verdict == "PASS"


def test_three_wins_beside_ties_are_tested_exactly() -> None:
    [finding] = _compare(_battles([1.0] * 3 + [0.5] * 97)).findings
    assert finding.difference.p_value == pytest.approx(2 / 2**3)


@pytest.mark.slow
def test_gates_of_rare_losses_pass_too_often_in_at_most_five_percent() -> None:
    """Models that lose rarely, where a sample may have ties only: exact, as the battles are
    interchangeable and a sample is known by its number of losses."""
    number, loss = 40, 0.04
    margin = 400 * np.log10((1 + loss) / (1 - loss))  # the true gap

    def passes(losses: int) -> bool:
        battles = _battles([0.0] * losses + [0.5] * (number - losses))
        gate = _compare(battles, require=f"not-worse={margin:.6f}elo").gate
        return gate is not None and gate.verdict == "PASS"

    # More losses than ten have a chance below one in a million.
    chances = binom(number, loss)
    assert chances.sf(10) < 1e-6
    assert sum(chances.pmf(losses) for losses in range(11) if passes(losses)) <= 0.05


@pytest.mark.slow
def test_models_of_few_items_that_won_and_lost_keep_both_ends() -> None:
    """Flips and ties are half of the battles, and single items deviate far more than others."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        rows = []
        for item in range(14):
            for a, b in (("a", "b"), ("a", "c"), ("a", "d")):
                credit = rng.choice([0.0, 0.5, 0.5, 1.0])
                rows.append({"item": item, "model_a": a, "model_b": b, "credit": credit})
        battles = read_battles(pd.DataFrame(rows))
        for entry in rank(battles, "bradley-terry").standings[0].entries:
            if not entry.separated:
                assert entry.low is not None
                assert entry.high is not None
