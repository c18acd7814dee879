"""The difference of two models with errors clustered by item and by voter or judge.

The variance is V(item) + V(rater) - V(item and rater) (Cameron, Gelbach and Miller 2011), and the
degrees of freedom are the smaller of those of items and of raters, which count by their shares in
the verdicts (`podium.rankers.errors.rater_shares`), as in a ranking.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from podium.distributions import stdtr
from podium.rankers.errors.both_ways import with_larger_p_values
from podium.rankers.errors.difference import (
    FEWEST_FOR_NORMAL,
    DifferenceTest,
    Tails,
    larger_tails,
    with_least_p_values,
)
from podium.rankers.errors.raters import (
    Raters,
    clustered_covariance,
    covariance_of_raters,
    influence_of_raters,
)
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import fit_strengths
from podium.wording import plural


class RaterError(NamedTuple):
    """The error of a difference, clustered by item and by rater.

    Attributes:
        se: the standard error.
        freedom: the degrees of freedom of the raters, by their shares (`RaterShares`).
    """

    se: float
    freedom: float


def add_rater_errors(
    test: DifferenceTest,
    error: RaterError,
    clusters: int,
    unit: str,
    raters: Raters,
    fewest_raters: int,
    test_by_raters: Callable[[], DifferenceTest],
) -> DifferenceTest:
    """Return a test of a difference whose errors include how raters differ.

    It is a t test. With fewer than 30 items, each p-value is at least that of the test by items,
    which may be exact. Without a standard error, as of a model that won all battles, the tests by
    items and by raters are made, and the larger p-values count. Each p-value of no difference is at
    least 2^-n for n = `fewest_raters` (`with_least_p_values`).

    Args:
        test: the test by items or their groups.
        error: error of the difference, clustered both ways, in the unit of `test.value`. Without
            degrees of freedom, the test cannot tell anything: each p-value is 1/2.
        clusters: number of items, or of groups of items.
        unit: what a cluster is, in the singular.
        raters: the voters or judges.
        fewest_raters: number of raters of the one of the two models that has fewer.
        test_by_raters: makes the test of the same difference with raters as clusters.
    """
    # An error of NaN is not above 0, either.
    if not np.isfinite(test.value) or not error.se > 0:
        by_rater = with_least_p_values(test_by_raters(), fewest_raters)
        return with_larger_p_values(test, by_rater, (raters.unit, raters.number))
    freedom = min(clusters - 1, error.freedom)

    def tails_by_both(null: float) -> Tails:
        """Return the p-values by the errors clustered both ways; 1/2 without degrees of freedom."""
        # NaN is not above 0, either.
        if not freedom > 0:
            return 0.5, 0.5
        above, below = stdtr(freedom, np.array([-1, 1]) * (test.value - null) / error.se)
        return float(above), float(below)

    def tails(null: float) -> Tails:
        """Return, on each side, the larger p-value of `tails_by_both` and of the test by items."""
        return larger_tails(tails_by_both(null), test.tails(null))

    exact = test.exact_p_at_zero
    has_few_items = test.items < FEWEST_FOR_NORMAL
    both = replace(
        test,
        method=f"t test by {plural(unit, 2)} and {plural(raters.unit, 2)}",
        tails=tails if has_few_items else tails_by_both,
        exact_p_at_zero=larger_tails(exact, tails_by_both(0.0)) if exact else None,
        raters=(raters.unit, raters.number),
        effective_raters=error.freedom + 1,
    )
    return with_least_p_values(both, fewest_raters)


def rate_error(
    values: np.ndarray, weight: np.ndarray, cluster: np.ndarray, rater: np.ndarray
) -> RaterError:
    """Return the error of a weighted mean of rows, clustered by item and by rater.

    It is NaN if all rows are of one item or group, or by one rater.

    Args:
        values: the value of each row, shape (rows,).
        weight: weight of each row, shape (rows,).
        cluster: code of each row's item, or group of items; any integers, shape (rows,).
        rater: code of each row's rater, shape (rows,).
    """
    mean = np.average(values, weights=weight)
    influence_on_mean = weight * (values - mean) / weight.sum()
    influence = influence_on_mean[:, None]
    by_item = clustered_covariance(influence, cluster)
    only_mean = np.zeros(len(rater), dtype=np.int64)
    added, freedom = influence_of_raters(influence, cluster, rater, only_mean, weight, by_item)
    variance = (by_item + added).item()
    return RaterError(float(np.sqrt(max(variance, 0.0))), float(freedom[0]))


def elo_error(coded: CodedBattles, a: int, b: int, raters: Raters) -> RaterError:
    """Return the error, in Elo, of the rating of a model minus that of another.

    It is clustered by item and by rater. All battles must be connected.

    Args:
        coded: the readable battles.
        a: code of the first model.
        b: code of the second model.
        raters: who gave the verdicts of these battles.
    """
    strengths = fit_strengths(pair_sums(coded))
    size = len(strengths.theta)
    by_item = strengths.covariance(coded, by_weight=True)[:size, :size]
    added, freedom = covariance_of_raters(
        lambda clustered: strengths.covariance(clustered)[:size, :size], coded, raters
    )
    covariance = by_item + added
    variance = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
    error = float(POINTS * np.sqrt(max(variance, 0.0)))
    return RaterError(error, float(min(freedom[a], freedom[b])))
