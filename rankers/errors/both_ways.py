"""Tests and intervals without a standard error, by items and by voters or judges.

A model that won all its battles, or that has few of them, has no usable standard error. Its bounds
and the tests of its pairs count independent clusters. If voters or judges vary, too, each is made
twice: with items and with raters as the clusters. The wider interval and the larger p-value count.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from podium.rankers.errors.difference import DifferenceTest, Tails, with_least_p_values
from podium.rankers.errors.intervals import PairTests, ScoreEstimates


def with_larger_p_values(
    by_item: DifferenceTest, by_rater: DifferenceTest, raters: tuple[str, int]
) -> DifferenceTest:
    """Return the test whose p-values are the larger ones of two tests of the same difference.

    Its value, its number of items and its search limits are those of `by_item`.

    Args:
        by_item: the test with items, or their groups, as clusters.
        by_rater: the test with raters as clusters.
        raters: what a rater is (`voter` or `judge`), and how many there are.
    """

    def tails(null: float) -> Tails:
        """Return the larger p-value of the two tests on each side."""
        above = max(by_item.p_above(null), by_rater.p_above(null))
        below = max(by_item.p_below(null), by_rater.p_below(null))
        return above, below

    return replace(
        by_item,
        method=f"{by_item.method}, also by {raters[0]}s: the larger p-value",
        tails=tails,
        exact_p_at_zero=None,
        raters=raters,
        fewest_raters=by_rater.fewest_raters,
    )


def pair_tests_both_ways(
    by_item: PairTests | None,
    by_rater: PairTests,
    raters: tuple[str, int],
    raters_of_model: np.ndarray,
) -> PairTests | None:
    """Return the tests of pairs whose p-values are the larger ones of two tests, by item and rater.

    The p-values of no difference by rater are at least 2^-n, if n raters judged the one of the two
    models that has fewer (`with_least_p_values`). The result is None if `by_item` is None, as on a
    ladder.

    Args:
        by_item: the tests with items, or their groups, as clusters.
        by_rater: the tests with raters as clusters, of the same models.
        raters: what a rater is (`voter` or `judge`), and how many there are.
        raters_of_model: number of raters of each model, shape (models,).
    """

    if by_item is None:
        return None

    def difference(first: int, second: int) -> DifferenceTest | None:
        """Return the test of two models, given by code; None if there is no test by item or none
        by rater."""
        test_by_item = by_item.difference(first, second)
        test_by_rater = by_rater.difference(first, second)
        if test_by_item is None or test_by_rater is None:
            return None
        fewest = int(min(raters_of_model[first], raters_of_model[second]))
        return with_larger_p_values(
            test_by_item, with_least_p_values(test_by_rater, fewest), raters
        )

    return replace(
        by_item,
        difference=difference,
        rough_tails=_larger_rough_tails(by_item.rough_tails, by_rater.rough_tails, raters_of_model),
    )


RoughTails = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Function of the codes of the models of many pairs to their rough one-sided p-values
(`PairTests.rough_tails`)."""


def _larger_rough_tails(
    by_item: RoughTails | None, by_rater: RoughTails | None, raters_of_model: np.ndarray
) -> RoughTails | None:
    """Return a function that gives, for each pair and side, the larger of two rough p-values.

    A p-value is at least 2^-n, where n is the number of raters of the model of the pair that has
    fewer. The result is None if one of the two functions is None.
    """
    if by_item is None or by_rater is None:
        return None

    def rough_tails(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the larger rough p-values of some pairs, shape (pairs, 2)."""
        fewest = np.minimum(raters_of_model[first], raters_of_model[second])
        least_p = 0.5 ** fewest[:, None]
        larger: np.ndarray = np.maximum(by_item(first, second), by_rater(first, second))
        return np.maximum(larger, least_p)

    return rough_tails


def with_wider_intervals(estimate: ScoreEstimates, by_rater: ScoreEstimates) -> ScoreEstimates:
    """Return an estimate whose intervals by tests also cover the intervals by raters.

    Intervals are widened for models whose interval comes from tests or bounds in either estimate,
    such as a model with few items, or with few raters: they extend from the smaller lower end to
    the larger upper end. Other intervals do not change: their standard errors include how raters
    vary. Such a model whose interval by raters is unknown (NaN) gets an unknown one.

    Args:
        estimate: scores with errors by items and by raters.
        by_rater: the same scores with raters as the only clusters.
    """
    masks = (estimate.by_tests, by_rater.by_tests)
    is_by_tests = np.zeros(len(estimate.score), dtype=bool)
    for mask in masks:
        if mask is not None:
            is_by_tests |= mask
    if not is_by_tests.any():
        return estimate
    low = np.minimum(estimate.low, by_rater.low)
    high = np.maximum(estimate.high, by_rater.high)
    return replace(
        estimate,
        low=np.where(is_by_tests, low, estimate.low),
        high=np.where(is_by_tests, high, estimate.high),
        by_tests=is_by_tests,
        method=f"{estimate.method}, the wider of tests by both where there are few",
    )
