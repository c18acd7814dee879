"""Tests of a difference between two models, with confidence intervals made of the same tests.

A test assumes a difference between the models. The contribution of an item is its own difference
minus the assumed one, and the test asks whether the mean contribution is zero. The interval holds
the differences that the test does not reject, so interval and p-value never contradict each other.

- t test: one-sample t over all items, used from 20 items on. It stays valid if only a few items
  differ, as with scores averaged over epochs. Sign flips of so few items cannot reach small
  p-values (`python benchmarks/claims.py scores` measures this).
- sign flips: the p-value is the share of the 2^n sign changes of the n contributions whose sum is
  at least as large (Fisher 1935; Pitman 1937). The test is exact if the two models are
  exchangeable on each item, whatever the distribution. It is used below 20 items.
- skewed differences: if the contributions have one long tail, t and sign flips reject too often:
  19% of tests at the 5% level, for 100 items of which 3% lose much. So the t test is also made
  under the transformation of Hall (1992), which reduces skewness. The test with the larger p-value
  counts, and `method` names it.
- sign test: for two-valued scores, the binomial test of the items that differ (McNemar 1947). Its
  interval is that of the score test (Tango 1998). If one model has the higher score on all items,
  or no item differs, the bounds are exact (Clopper and Pearson 1934). If the model that is behind
  has the higher score on few items, so is the end away from 0.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from podium.distributions import bdtrc, find_root, ndtr, stdtr
from podium.errors import UsageError

MARGIN_FORM = re.compile(r"(?P<number>[0-9.eE+-]+)\s*(?P<unit>elo|points?|units?)?")
"""A number and, optionally, a unit: `10elo`, `2 points`, `0.02`."""
Tails = tuple[float, float]
"""Two one-sided p-values.

The first is of the hypothesis that the true difference is at most the assumed one, the second of
the hypothesis that it is at least the assumed one.
"""
FEWEST_DIFFERING = 8
"""Fewest differing items of which other tests than exact ones are trusted. With fewer, a score test
can reject a difference near 0 by far."""
FEWEST_FOR_NORMAL = 30
"""With fewer items than this, sums over items are not close enough to normal, and the sample
skewness is mostly noise."""
FEWEST_OF_BOTH = 5
"""Fewest won, and fewest lost, items of two models that are compared by t without an exact test.
With fewer, but some, items won by the model that is behind, the end away from 0 is exact."""
FEWEST_BY_T = 20
"""With at least this many items, differences of scores are tested by t, with fewer by sign
flips."""
SKEWNESS_NOISE = 0.5
"""With fewer than `FEWEST_FOR_NORMAL` items, the sample skewness is reduced by this many standard
errors of the skewness of normal samples. Without this, the correction for skewness costs 4
percentage points of power for normal differences of 20 items; with it, 2."""
SKEWNESS_FACTOR = 1.2
"""Factor on the sample skewness, which is too small if it comes from rare values. For lognormal
values and 100 items it is 3.2 on average, and the true skewness is 6.2. There, one-sided tests at
the 5% level reject in 7.1 to 7.6% of cases with a factor of 1, and in 6.2 to 6.8% with 1.2 (runs
of 10,000 simulated data sets)."""
LARGEST_CORRECTED_T = 6.0
"""Beyond this t statistic, the correction for skewness is that of this one. Hall's transformation
is for statistics of moderate size: it is flat where a T = -3 (see `unskewed_tails`), so that 32
wins and 2 losses on 40 items would not differ."""
CONTRIBUTION_ROUNDING = 1e-9
"""A contribution is zero if it is below this share of the largest one. Two sums are equal if they
differ by less than this share of the sum of absolute contributions."""
TOLERANCE = 1e-9
"""Precision of the ends of intervals. An end within twice this of 0 is set to 0, because a p-value
may jump there."""
DOUBLINGS = 60
"""Largest number of doublings of the step in the search for an end."""


@dataclass(frozen=True)
class DifferenceTest:
    """A difference between two models with its tests.

    Attributes:
        value: the difference, above 0 if the first model is better; infinite if unbounded.
        items: number of items.
        method: name of the test for tables and notes, such as `no item differs`.
        tails: function from an assumed difference to its one-sided p-values; the first rises with
            the difference, the second falls.
        exact_p_at_zero: p-values of a difference of 0 by an exact test; None if there is no such
            test. They replace the p-values of `tails` at 0.
        search_step: first step of the search for an end of the interval.
        limits: least and largest difference; the search stays between them.
        is_open: whether differences beyond `limits` are possible. Then an end at a limit is
            infinite.
        start: where the search for the ends starts; by default at `value`.
        misses_rare: whether the true mean may depend on large differences on items so rare that
            the sample has none of them. No test of the sampled items can detect those.
        is_sequential: whether the test stays valid if it is made again with more items, until it
            rejects. Its intervals are then not a quantile times a standard error.
        raters: the kind and number of the voters or judges by which the errors are clustered, too;
            None if they are clustered by items alone.
        effective_raters: as how many equally active raters they all count, 1 plus their degrees of
            freedom; None without a standard error that is clustered by rater.
        fewest_raters: number of raters of the one of the two models that has fewer, if the p-values
            are at least those of `with_least_p_values`; else None.
    """

    value: float
    items: int
    method: str
    tails: Callable[[float], Tails]
    exact_p_at_zero: Tails | None = None
    search_step: float = 1.0
    limits: tuple[float, float] = (-np.inf, np.inf)
    is_open: bool = False
    start: float | None = None
    misses_rare: bool = False
    is_sequential: bool = False
    raters: tuple[str, int] | None = None
    effective_raters: float | None = None
    fewest_raters: int | None = None

    def p_above(self, null: float = 0.0) -> float:
        """Return the p-value of the hypothesis that the true difference is at most `null`.

        A small p-value shows that the difference is above `null`.
        """
        return self._p_of_side(null, 0)

    def p_below(self, null: float = 0.0) -> float:
        """Return the p-value of the hypothesis that the true difference is at least `null`.

        A small p-value shows that the difference is below `null`.
        """
        return self._p_of_side(null, 1)

    @property
    def p_value(self) -> float:
        """The two-sided p-value of no difference: twice the smaller one-sided one, 1 at most."""
        return min(1.0, 2 * min(self.p_above(), self.p_below()))

    def interval(self, level: float) -> tuple[float, float]:
        """Return both ends of the two-sided confidence interval, infinite where unbounded."""
        tail = (1 - level) / 2
        return self.low(tail), self.high(tail)

    def low(self, alpha: float) -> float:
        """Return the one-sided lower bound at level 1 - alpha, -infinity if unbounded."""
        return self._search_end(alpha, 0)

    def high(self, alpha: float) -> float:
        """Return the one-sided upper bound at level 1 - alpha, infinity if unbounded."""
        return self._search_end(alpha, 1)

    def rarest_seen(self, level: float = 0.95) -> int | None:
        """Return the largest N for which differences on one in N items are likely in the sample.

        If one in N items differs, n items contain such an item with probability 1 - (1 - 1/N)^n. N
        solves this for the probability `level`; at 95% it is about n / 3 (the rule of three). The
        result is None if rare differences cannot mislead the test.
        """
        if not self.misses_rare:
            return None
        # 1/N solves 1 - (1 - 1/N)^n = level.
        share_of_rare = 1 - (1 - level) ** (1 / self.items)
        return int(1 / share_of_rare)

    def _p_of_side(self, null: float, side: int) -> float:
        """Return the one-sided p-value of an assumed difference, consistent with the exact test.

        `side` is the position in `Tails`: 0 for the hypothesis that the true difference is at most
        `null`, 1 for the hypothesis that it is at least `null`. A difference beyond 0 (below 0 for
        side 0, above 0 for side 1) has at most the exact p-value at 0, so that it is rejected
        whenever 0 is rejected. A difference on the other side of 0 has at least the exact p-value,
        so that it is rejected only if 0 is rejected.
        """
        p_value_by_tails = self.tails(null)[side]
        if self.exact_p_at_zero is None:
            return p_value_by_tails
        at_zero = self.exact_p_at_zero[side]
        if null == 0:
            return at_zero
        is_beyond_zero = null < 0 if side == 0 else null > 0
        return min(p_value_by_tails, at_zero) if is_beyond_zero else max(p_value_by_tails, at_zero)

    def _search_end(self, alpha: float, side: int) -> float:
        """Search for the lower (side 0) or upper (side 1) end, whose one-sided p-value is alpha.

        If there is no such end within `limits`, the result is the limit. It is infinite if
        differences beyond the limit are possible, or if the search did not reach the limit. If the
        p-value where the search starts is alpha or less already, the result is this start.
        """
        sign = -1 if side == 0 else 1
        centre = self.value if self.start is None else self.start
        limit = self.limits[side]
        step = self.search_step
        outer = centre
        for _ in range(DOUBLINGS):
            outer = float(np.clip(centre + sign * step, *self.limits))
            if outer == limit or self._p_of_side(outer, side) <= alpha:
                break
            step *= 2
        if self._p_of_side(outer, side) > alpha:
            is_bounded = outer == limit and not self.is_open
            return limit if is_bounded else sign * np.inf
        # The root is between the outer value, which is rejected, and the centre. If the test
        # rejects the centre, too, there is none, and the interval begins at the centre.
        if self._p_of_side(centre, side) <= alpha:
            return centre

        def excess(null: float) -> float:
            """Return by how much the p-value of an assumed difference exceeds alpha."""
            return self._p_of_side(null, side) - alpha

        end = find_root(excess, outer, centre, xtol=TOLERANCE, rtol=TOLERANCE)
        return 0.0 if abs(end) <= 2 * TOLERANCE else end


def t_tails(
    contributions: np.ndarray, freedom: int | None = None, added_square: float = 0.0
) -> Tails:
    """Return the one-sided p-values of a t test of a mean of zero, at least 2^-n for n items.

    Both are 0.5 for fewer than two items. If the contributions do not vary and nothing is added,
    they are 2^-n in the direction of the mean, and 1 in the other; both are 0.5 if all are zero.

    Args:
        contributions: what each item contributes, shape (items,).
        freedom: degrees of freedom, by default n - 1.
        added_square: amount that is added to the sum of squares of the contributions.
    """
    number = len(contributions)
    if number < 2:
        return 0.5, 0.5
    total = float(contributions.sum())
    mean = contributions.mean()
    square_sum = float(np.sum((contributions - mean) ** 2)) + added_square
    error_of_sum = np.sqrt(number / (number - 1) * square_sum)
    least = 0.5**number
    if error_of_sum <= CONTRIBUTION_ROUNDING * abs(total):
        return _tails_without_error(total, least, 0.0)
    if not freedom:
        freedom = number - 1
    above, below = stdtr(freedom, np.array([-1, 1]) * total / error_of_sum)
    return max(float(above), least), max(float(below), least)


def _tails_without_error(excess: float, least: float, rounding: float) -> Tails:
    """Return the one-sided p-values of a sum of contributions whose standard error is zero.

    They are (`least`, 1) if `excess`, the sum minus the assumed one, is above 0, and (1, `least`)
    if it is below 0. Both are 0.5 if `excess` is zero up to `rounding`.
    """
    if abs(excess) <= rounding:
        return 0.5, 0.5
    return (least, 1.0) if excess > 0 else (1.0, least)


def with_least_p_values(test: DifferenceTest, clusters: int) -> DifferenceTest:
    """Return a test whose one-sided p-values of no difference are at least 2^-n.

    A voter may have any taste, so that all verdicts of a voter depend on each other. That many
    voters prefer one model to others must not make up for a model that n voters judged. With one
    voter, nothing is known of how voters differ, and each p-value of any difference is 1/2.

    Args:
        test: the test, with voters or judges as clusters.
        clusters: n, the number of clusters of the one of the two models that has fewer. From
            `FEWEST_FOR_NORMAL` on, p-values are unchanged; `fewest_raters` is set in each case.
    """
    counted = replace(test, fewest_raters=clusters)
    if clusters >= FEWEST_FOR_NORMAL:
        return counted
    if clusters < 2:
        return replace(counted, tails=lambda _: (0.5, 0.5), exact_p_at_zero=None)
    least = 0.5**clusters
    at_zero = test.exact_p_at_zero or test.tails(0.0)
    if min(at_zero) >= least:
        return counted
    return replace(counted, exact_p_at_zero=larger_tails(at_zero, (least, least)))


def unskewed_tails(contributions: np.ndarray) -> Tails:
    """Return the one-sided p-values of a t test of a mean of zero with Hall's transformation.

    The statistic is sqrt(n) (((1 + a T / 3)^3 - 1) / a + a / (6 n)), where T is the mean over the
    standard deviation and a the corrected skewness (Hall 1992, section 4). It rises with the mean.
    Both p-values are 0 for fewer than three contributions, and for constant ones. As the larger
    p-value of two tests counts (`larger_tails`), the other test then decides.
    """
    number = len(contributions)
    mean = float(contributions.mean())
    centred = contributions - mean
    sd = float(np.sqrt(np.sum(centred**2) / max(number - 1, 1)))
    if number < 3 or sd <= CONTRIBUTION_ROUNDING * abs(mean):
        return 0.0, 0.0
    sum_of_cubes = float(np.sum(centred**3))
    third_moment = sum_of_cubes * number / ((number - 1) * (number - 2))
    skewness = third_moment / sd**3
    skewness = float(without_skewness_noise(skewness, number))
    statistic = unskewed_t(np.sqrt(number) * mean / sd, skewness, number)
    above, below = stdtr(number - 1, np.array([-1, 1]) * statistic)
    return float(above), float(below)


def without_skewness_noise(skewness: Any, number: int) -> Any:
    """Return a skewness, reduced by `SKEWNESS_NOISE` standard errors if it is of few values.

    `number` is the number of values. From `FEWEST_FOR_NORMAL` values on, and below 3, the skewness
    is returned unchanged. The sign is kept, and a skewness below the reduction becomes 0.
    `skewness` is a number or an array.
    """
    if not 3 <= number < FEWEST_FOR_NORMAL:
        return skewness
    noise = SKEWNESS_NOISE * normal_skewness_error(number)
    return np.copysign(np.maximum(np.abs(skewness) - noise, 0.0), skewness)


def normal_skewness_error(number: int) -> float:
    """Return the standard error of the skewness of at least 3 normal values (Cramer 1946)."""
    divisor = (number - 2) * (number + 1) * (number + 3)
    variance = 6 * number * (number - 1) / divisor
    return float(np.sqrt(variance))


def unskewed_t(t: Any, skewness: Any, number: int) -> Any:
    """Return t statistics of means of `number` values, corrected for skewness (Hall 1992).

    The transformation is that of `unskewed_tails`.

    `t` and `skewness` are numbers, or arrays of one shape. Statistics beyond `LARGEST_CORRECTED_T`
    are changed as this one is.
    """
    moderate = np.clip(t, -LARGEST_CORRECTED_T, LARGEST_CORRECTED_T)
    ratio = moderate / np.sqrt(number)
    a = SKEWNESS_FACTOR * skewness
    # The transformed ratio ((1 + a ratio / 3)^3 - 1) / a + a / (6 n) minus the ratio itself.
    correction = a * ratio**2 / 3 + a**2 * ratio**3 / 27 + a / (6 * number)
    return t + np.sqrt(number) * correction


def larger_tails(first: Tails, second: Tails) -> Tails:
    """Return, for each side, the larger p-value of two tests."""
    above_of_first, below_of_first = first
    above_of_second, below_of_second = second
    return max(above_of_first, above_of_second), max(below_of_first, below_of_second)


def flip_tails(contributions: np.ndarray) -> Tails:
    """Return the one-sided p-values of the test by sign flips.

    Among all 2^n sign changes of the contributions, they are the share whose sum is at least the
    observed sum, and the share whose sum is at most the observed sum. Both are 1 if all
    contributions are zero. Time and memory grow with 2^(n / 2).
    """
    nonzero = drop_zeros(contributions)
    if not len(nonzero):
        return 1.0, 1.0
    # The 2^n sums need not be listed. Each is a sum of the first half of the items plus a sum of
    # the second half, so that a search in the sorted sums of one half counts them.
    half = len(nonzero) // 2
    left_sums = _signed_sums(nonzero[:half])
    right_sums = _signed_sums(nonzero[half:])
    right_sums.sort()
    total = nonzero.sum()
    # Sums that differ from the observed one by rounding count as equal to it.
    slack = CONTRIBUTION_ROUNDING * np.abs(nonzero).sum()
    sum_count = len(left_sums) * len(right_sums)
    smaller_count = int(np.searchsorted(right_sums, total - left_sums - slack, side="left").sum())
    at_most_count = int(np.searchsorted(right_sums, total - left_sums + slack, side="right").sum())
    return (sum_count - smaller_count) / sum_count, at_most_count / sum_count


def _signed_sums(values: np.ndarray) -> np.ndarray:
    """Return the sums of n values under all changes of their signs, shape (2^n,)."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


def drop_zeros(contributions: np.ndarray) -> np.ndarray:
    """Return the contributions that are not zero up to rounding, in their order."""
    magnitude = np.abs(contributions)
    return contributions[magnitude > CONTRIBUTION_ROUNDING * magnitude.max(initial=0)]


def is_constant(weight: np.ndarray) -> bool:
    """Return whether weights are all equal up to rounding, so that they change nothing.

    The result is True without any weights.
    """
    if not len(weight):
        return True
    return bool(np.ptp(weight) <= CONTRIBUTION_ROUNDING * np.max(weight))


def score_tails(won: int, lost: int, items: int, difference: float) -> Tails:
    """Return the one-sided p-values of an assumed difference of two paired shares.

    They are those of the score test of Tango (1998, equation 6).

    Args:
        won: number of items on which the first model has the higher value.
        lost: number of items on which the second model has the higher value.
        items: number of all items.
        difference: the assumed difference of the shares, in [-1, 1].
    """
    # `lost_share` is the most likely share of lost items under the assumed difference: the larger
    # root of a quadratic equation.
    linear_term = (2 * items - won + lost) * difference - won - lost
    discriminant = linear_term**2 + 8 * items * lost * difference * (1 - difference)
    lost_share = (np.sqrt(max(discriminant, 0.0)) - linear_term) / (4 * items)
    variance = items * (2 * lost_share + difference * (1 - difference))
    excess = won - lost - items * difference
    if variance <= CONTRIBUTION_ROUNDING * items:
        return _tails_without_error(excess, 0.0, CONTRIBUTION_ROUNDING * items)
    z = excess / np.sqrt(variance)
    return float(ndtr(-z)), float(ndtr(z))


def difference_of_rates(
    lead: np.ndarray, weight: np.ndarray, unit: str, largest: float = 1.0
) -> DifferenceTest:
    """Test the mean credit of one model minus that of the other, of two models.

    If all items have the same lead, the test is exact (`_equal_difference`). Otherwise, if each
    item is won, lost or tied, the test is the sign test if few items differ (below
    `FEWEST_FOR_NORMAL`) or a model won few (below `FEWEST_OF_BOTH`), and else the t test. With
    other leads, or unequal weights, the test is that of `paired_difference`.

    Args:
        lead: mean credit of the first minus that of the second on each item, or a multiple of it,
            shape (items,).
        weight: weight of each item, shape (items,).
        unit: what the name of the test calls an item.
        largest: largest possible lead.
    """
    if len(lead) and _are_all(lead, float(lead[0]), largest):
        return _equal_difference(lead, largest, unit)
    nearest = nearest_outcomes(lead / largest)
    if nearest is None:
        return paired_difference(lead, common_size=None, largest=largest, weight=weight, unit=unit)
    test = paired_difference(
        largest * nearest, common_size=largest, largest=largest, weight=weight, unit=unit
    )
    won = np.count_nonzero(nearest > 0)
    lost = np.count_nonzero(nearest < 0)
    has_many = won + lost >= FEWEST_FOR_NORMAL and min(won, lost) >= FEWEST_OF_BOTH
    is_sign_test = test.exact_p_at_zero is not None
    if not is_sign_test or not has_many:
        return test

    def tails_of(null: float) -> Tails:
        """Return the p-values of the t test for an assumed difference."""
        return t_tails(lead - null)

    return replace(
        test,
        exact_p_at_zero=None,
        tails=tails_of,
        method=f"t test, paired by {unit}",
    )


def paired_difference(
    differences: np.ndarray,
    common_size: float | None = None,
    largest: float = np.inf,
    weight: np.ndarray | None = None,
    unit: str = "item",
) -> DifferenceTest:
    """Test the mean of paired differences by the test that suits their number and values.

    Differences of one size are tested by the sign test. Others are tested by sign flips below 20
    items, and by t from 20 items on. The t test corrected for skewness replaces both, on either
    side, if its p-value is larger. If no item differs, or all differ by `largest` in one direction,
    the test is exact (`_equal_difference`). If no item differs and `largest` is infinite, the
    difference is 0 with p-values of 1, and the number of items of the test is 0.

    Args:
        differences: one per item, shape (items,).
        common_size: absolute value of the differences that are not zero, if it is the same for all
            of them; else None.
        largest: largest possible difference.
        weight: weight of each item, shape (items,). If the weights are not all equal, the mean is
            weighted: an item contributes its weight times (its difference minus the assumed one).
            Then there is no sign test, whatever `common_size` is.
        unit: what an item is called in the name of the test.
    """
    bound = largest if common_size is None else common_size
    if any(_are_all(differences, outcome, bound) for outcome in (bound, 0.0, -bound)):
        return _equal_difference(differences, bound, unit)
    if weight is None or is_constant(weight):
        item_weight = np.ones(len(differences))
        about_weights = ""
    else:
        item_weight = weight / weight.mean()
        about_weights = ", weighted"
        # The sign test counts items and ignores their weights, so it is not used.
        common_size = None
    if common_size is not None:
        return _two_valued_difference(differences, common_size, unit)
    if not len(drop_zeros(differences)):
        return DifferenceTest(
            value=0.0,
            items=0,
            method=f"no {unit} differs",
            tails=_tails_of_no_difference,
            limits=(-largest, largest),
        )
    method = f"paired by {unit}{about_weights}"
    return _mean_difference_test(differences, item_weight, largest, method)


def _tails_of_no_difference(_null: float) -> Tails:
    """Return p-values of 1, whatever the assumed difference is: none is rejected."""
    return 1.0, 1.0


def nearest_outcomes(differences: np.ndarray) -> np.ndarray | None:
    """Return differences of credits, rounded, if all are -1, 0 or 1 up to rounding; else None."""
    nearest = np.round(differences)
    rounding = np.abs(differences - nearest).max(initial=0)
    return nearest if rounding <= CONTRIBUTION_ROUNDING else None


def sum_by_group(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Add up values of items by group, shape (groups, ...).

    Args:
        values: the values, shape (items, ...).
        group: code of each item's group, from 0, shape (items,).
    """
    groups = int(group.max(initial=-1)) + 1
    sums = np.zeros((groups, *values.shape[1:]))
    np.add.at(sums, group, values)
    return sums


def grouped_difference(
    differences: np.ndarray, weight: np.ndarray, group: np.ndarray, largest: float, unit: str
) -> DifferenceTest:
    """Test the mean of paired differences of items whose groups vary, as `paired_difference` does.

    A group contributes the sum over its items of the weight times the difference minus the assumed
    one. So groups are the unit of sign flips and of t, and a large group counts more.

    Args:
        differences: one per item, shape (items,).
        weight: weight of each item, shape (items,).
        group: code of each item's group, shape (items,); any integers.
        largest: largest possible difference.
        unit: what a group is called in the name of the test.

    Returns:
        The test; its number of items is that of the groups. If the mean of every group is 0, it is
        the sign test of the groups or, if `largest` is infinite, a difference of 0 of no items with
        p-values of 1.
    """
    _, code = np.unique(group, return_inverse=True)
    total = sum_by_group(weight, code)
    means = sum_by_group(weight * differences, code) / total
    if not len(drop_zeros(means)):
        return paired_difference(means, common_size=None, largest=largest, unit=unit)
    return _mean_difference_test(means, total / total.mean(), largest, f"paired by {unit}")


def _mean_difference_test(
    differences: np.ndarray, item_weight: np.ndarray, largest: float, method: str
) -> DifferenceTest:
    """Test the weighted mean of paired differences by sign flips or t.

    Args:
        differences: one per item, shape (items,).
        item_weight: weights of the items, 1 on average, shape (items,).
        largest: largest possible difference.
        method: end of the method's name.
    """
    items = len(differences)
    uncorrected_tails: Callable[[np.ndarray], Tails] = t_tails
    name = "t test"
    if items < FEWEST_BY_T:
        uncorrected_tails = flip_tails
        name = "sign flips"

    def tails(null: float) -> Tails:
        """Return the p-values of an assumed difference: on each side, the larger of two.

        One is by sign flips or t, the other by t corrected for skewness.
        """
        # On each side, the larger p-value of the uncorrected test and the corrected one counts.
        contributions_to_null = item_weight * (differences - null)
        return larger_tails(
            uncorrected_tails(contributions_to_null), unskewed_tails(contributions_to_null)
        )

    contributions = item_weight * differences
    value = float(np.mean(contributions))
    if min(unskewed_tails(contributions)) > min(uncorrected_tails(contributions)):
        name = "t test corrected for skewness"
    deviation = float(np.std(contributions))
    if deviation == 0:
        # All items have the same difference: its size sets the step.
        deviation = abs(value)
    return DifferenceTest(
        value=value,
        items=items,
        method=f"{name}, {method}",
        tails=tails,
        search_step=deviation / np.sqrt(items),
        limits=(-largest, largest),
        misses_rare=True,
    )


def _are_all(differences: np.ndarray, value: float, largest: float) -> bool:
    """Return whether all differences have this value up to rounding, and `largest` is finite.

    The result is True for no differences, if `largest` is finite.
    """
    if not np.isfinite(largest):
        return False
    return bool(np.abs(differences - value).max(initial=0) <= CONTRIBUTION_ROUNDING * largest)


def _equal_difference(differences: np.ndarray, largest: float, unit: str) -> DifferenceTest:
    """Test the mean of differences that all have one value, in [-largest, largest].

    The p-values are the largest probability that all items differ by this under the assumed mean:
    the other differences are then as far away as they can be. For wins, or losses, on all items it
    is that of Clopper and Pearson (1934).
    """
    items = len(differences)
    value = float(differences[0]) if items else 0.0
    if abs(abs(value) - largest) <= CONTRIBUTION_ROUNDING * largest:
        value = float(np.copysign(largest, value))

    def tails(null: float) -> Tails:
        """Return the p-values of an assumed mean `null`: the largest probabilities of equal items.

        The first is that all items differ by `value` although the mean is at most `null`, the
        second that they do although it is at least `null`.
        """
        # Items differ by `value` with probability p, and else by the least or the largest
        # difference. Then `null` = p value + (1 - p) (∓largest), which is solved for p.
        p_if_others_are_least = 1.0
        if value > -largest:
            p_if_others_are_least = min(1.0, (null + largest) / (value + largest))
        p_if_others_are_largest = 1.0
        if value < largest:
            p_if_others_are_largest = min(1.0, (largest - null) / (largest - value))
        return max(p_if_others_are_least, 0.0) ** items, max(p_if_others_are_largest, 0.0) ** items

    is_of_signs = value == 0 or abs(value) == largest
    name = "exact sign test" if is_of_signs else "exact test of equal differences"
    return DifferenceTest(
        value=value,
        items=items,
        method=f"{name}, paired by {unit}",
        tails=tails,
        search_step=largest / max(items, 1),
        limits=(-largest, largest),
    )


def _two_valued_difference(
    differences: np.ndarray, common_size: float, unit: str
) -> DifferenceTest:
    """Test the mean of differences by the exact sign test.

    All differences that are not 0 are `common_size` or its opposite.

    p-values of differences other than 0 are those of the score test (`score_tails`). They are at
    least those of `conditional_tails` on the side of 0 if few items differ, and on the other side
    if the model that is behind won few items: the score test then rejects a true difference in up
    to 16% of cases, not 2.5%. `unit` is what an item is called in the name of the test.
    """
    won = int((differences > 0).sum())
    lost = int((differences < 0).sum())
    items = len(differences)
    # If the model that is behind won no item, the conditional test bounds no end away from 0.
    is_exact_away = 0 < min(won, lost) < FEWEST_OF_BOTH
    is_exact_near = won + lost < FEWEST_DIFFERING

    def tails(null: float) -> Tails:
        """Return the p-values of an assumed difference by the score test.

        The larger of this p-value and the exact one is returned on the side of 0 if few items
        differ, and on the other side if the model that is behind won few items.
        """
        difference = float(np.clip(null / common_size, -1, 1))
        by_score = score_tails(won, lost, items, difference)
        above, below = larger_tails(by_score, conditional_tails(won, lost, items, difference))
        is_exact_above = is_exact_near if won >= lost else is_exact_away
        is_exact_below = is_exact_near if lost >= won else is_exact_away
        above_by_score, below_by_score = by_score
        return (
            above if is_exact_above else above_by_score,
            below if is_exact_below else below_by_score,
        )

    return DifferenceTest(
        value=float(np.mean(differences)),
        items=items,
        method=f"exact sign test, paired by {unit}",
        tails=tails,
        exact_p_at_zero=conditional_tails(won, lost, items, 0.0),
        search_step=common_size / items,
        limits=(-common_size, common_size),
    )


def conditional_tails(won: int, lost: int, items: int, difference: float) -> Tails:
    """Return the one-sided p-values of the sign test of an assumed difference of paired shares.

    Given the number of items that differ, the number that the first model wins is binomial. Its
    probability is one half without a difference. Otherwise it follows from the observed share of
    items that differ, which is taken for the true one.

    Args:
        won: number of items on which the first model has the higher value.
        lost: number of items on which the second model has the higher value.
        items: number of all items.
        difference: the assumed difference of the shares, in [-1, 1].
    """
    differing = won + lost
    # The share of items that differ; it cannot be below the difference.
    share = 1.0
    if items:
        share = max(differing / items, abs(difference))
    probability = 0.5
    if difference:
        probability = (1 + difference / share) / 2
    above = _binomial_tail(won, differing, probability)
    below = _binomial_tail(lost, differing, 1 - probability)
    return above, below


def _binomial_tail(successes: int, trials: int, probability: float) -> float:
    """Return the probability of at least `successes` successes in `trials` independent trials.

    `probability` is that of one success. It may be outside of [0, 1] and counts as 0 or 1 then.
    """
    if not successes or probability >= 1:
        return 1.0
    return float(bdtrc(successes - 1, trials, probability)) if probability > 0 else 0.0


def parse_margin(margin: str, option: str) -> tuple[float, str]:
    """Parse a margin such as `10elo`, `2points` or `0.02` into a number and a unit.

    The unit is `elo`, `points` (percentage points) or `units` (of the metric); `point` and `unit`
    are read, too. A decimal fraction below 1 may omit the unit, and then has the unit `units`.
    `2points` gives 2.0, not 0.02.

    Args:
        margin: the margin as it was typed.
        option: the option as it was typed, for messages.

    Raises:
        UsageError: not a finite number of 0 or more with one of these units, or a unit is missing.
    """
    match = MARGIN_FORM.fullmatch(margin)
    try:
        number = float(match["number"]) if match else np.nan
    except ValueError:
        number = np.nan
    if match is None or not 0 <= number < np.inf:
        raise UsageError(
            f"{option}: {margin!r} is not a margin of 0 or more; write 10elo, 2points, 3units or "
            "0.02"
        )
    first_letter = (match["unit"] or "")[:1]
    unit = {"e": "elo", "p": "points", "u": "units"}.get(first_letter, "")
    is_fraction = "." in match["number"] and number < 1
    if not unit and not is_fraction:
        raise UsageError(
            f"{option}: {margin} has no unit; write {margin}elo, {margin}points (percentage "
            f"points), {margin}units (of the metric), or a fraction such as 0.02"
        )
    return number, unit or "units"
