"""Tests of a difference between two models, with confidence intervals made of the same tests.

Each item contributes what it earns beyond an assumed difference. A test asks whether the mean
contribution is zero; the interval holds the differences that the test does not reject, so interval
and p-value never contradict each other.

- t test: one-sample t over all items, from 20 items on. It stays valid where few items differ, as
  with scores averaged over epochs, where sign flips cannot reach small p-values
  (`python benchmarks/claims.py scores` measures this).
- sign flips: the share of the 2^n sign changes of the items in which the sum is as large (Fisher
  1935; Pitman 1937). Exact if the two models are exchangeable on each item, whatever the
  distribution. Used below 20 items.
- skewed differences: with one long tail, t and sign flips reject too often (19% for 5% at 100 items
  of which 3% lose much). Beside both stands the t test under Hall's transformation, which reduces
  skewness (1992). The test with the larger p counts, and is named.
- sign test: for two-valued scores, the binomial test of the items that differ (McNemar 1947). Its
  interval is that of the score test (Tango 1998), which is informative even if no item differs.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtrc, ndtr, stdtr

from podium.errors import UsageError

MARGIN = re.compile(r"(?P<number>[0-9.eE+-]+)\s*(?P<unit>elo|points?|units?)?")
Tails = tuple[float, float]
"""One-sided p-values of the hypotheses that the true difference is at most, and at least, the
assumed one."""
FEW = 30
"""Items below which sums over items are not close enough to normal, and sample skewness is mostly
noise."""
FEWEST_BY_T = 20
"""Items from which differences of scores are tested by t."""
SKEWNESS_NOISE = 0.5
"""Standard errors of the skewness of normal samples that count as noise below `FEW` items. Without
this, the correction costs 4 points of power for normal differences of 20 items; with it, 2."""
SKEWNESS_FACTOR = 1.2
"""Correction of the sample skewness, which is too small where rare values carry it (lognormal, 100
items: 3.2 of 6.2 on average). With 1, 7.1 to 7.6% of one-sided tests at 5% reject there, with 1.2
6.2 to 6.8% (runs of 10,000 worlds)."""
ROUNDING = 1e-9
"""Share of the largest contribution below which one is zero, and of their sum below which two sums
are equal."""
TOLERANCE = 1e-9
"""Precision of interval ends; an end as close to 0 is 0, where a p-value may jump."""
DOUBLINGS = 60
"""Largest number of doublings of the step in the search for an end."""


@dataclass(frozen=True)
class DifferenceTest:
    """A difference between two models with its tests.

    Attributes:
        value: the difference, above 0 if the first model is better; infinite if unbounded.
        items: number of items.
        method: the test, in words.
        tails: function from an assumed difference to its one-sided p-values; the first rises with
            the difference, the second falls.
        exact: p-values of a difference of 0 by a better test, if there is one.
        step: first step of the search for an end of the interval.
        limits: least and largest difference; the search stays between them.
        is_open: whether differences beyond `limits` are possible.
        start: where the search starts; by default at `value`.
        misses_rare: whether large differences on items too rare for the sample could change the
            mean, which no test of these items would show.
    """

    value: float
    items: int
    method: str
    tails: Callable[[float], Tails]
    exact: Tails | None = None
    step: float = 1.0
    limits: tuple[float, float] = (-np.inf, np.inf)
    is_open: bool = False
    start: float | None = None
    misses_rare: bool = False

    def p_above(self, null: float = 0.0) -> float:
        """Return the p-value of the hypothesis that the true difference is at most `null`."""
        return self._p(null, 0)

    def p_below(self, null: float = 0.0) -> float:
        """Return the p-value of the hypothesis that the true difference is at least `null`."""
        return self._p(null, 1)

    @property
    def p_value(self) -> float:
        """The two-sided p-value of no difference."""
        return min(1.0, 2 * min(self.p_above(), self.p_below()))

    def interval(self, level: float) -> tuple[float, float]:
        """Return both ends of the two-sided confidence interval, infinite where unbounded."""
        return self.low((1 - level) / 2), self.high((1 - level) / 2)

    def low(self, alpha: float) -> float:
        """Return the one-sided lower bound at level 1 - alpha."""
        return self._end(alpha, 0)

    def high(self, alpha: float) -> float:
        """Return the one-sided upper bound at level 1 - alpha."""
        return self._end(alpha, 1)

    def rarest_seen(self, level: float = 0.95) -> int | None:
        """Return the largest N for which differences on one in N items are likely in the sample.

        The sample of n items contains such an item with probability 1 - (1 - 1/N)^n, which is
        `level` (N is about n / 3 at 95%: the rule of three). None if rare differences cannot
        mislead the test.
        """
        if not self.misses_rare:
            return None
        return int(1 / (1 - (1 - level) ** (1 / self.items)))

    def _p(self, null: float, side: int) -> float:
        """Return the one-sided p-value of an assumed difference, in line with the exact test at 0.

        If a difference of 0 is rejected, so are those beyond. If it is not, neither are those on
        the other side.
        """
        p = self.tails(null)[side]
        if self.exact is None:
            return p
        at_zero = self.exact[side]
        if null == 0:
            return at_zero
        is_beyond_zero = null < 0 if side == 0 else null > 0
        return min(p, at_zero) if is_beyond_zero else max(p, at_zero)

    def _end(self, alpha: float, side: int) -> float:
        """Search the lower (side 0) or upper (side 1) end, whose one-sided p-value is alpha."""
        from scipy.optimize import brentq  # imported here because few callers need intervals

        sign = -1 if side == 0 else 1
        centre = self.value if self.start is None else self.start
        limit = self.limits[side]
        step = self.step
        outer = centre
        for _ in range(DOUBLINGS):
            outer = float(np.clip(centre + sign * step, *self.limits))
            if outer == limit or self._p(outer, side) <= alpha:
                break
            step *= 2
        if self._p(outer, side) > alpha:
            return sign * np.inf if self.is_open or outer != limit else limit
        if self._p(centre, side) <= alpha:
            return centre

        def excess(null: float) -> float:
            return self._p(null, side) - alpha

        end = float(brentq(excess, outer, centre, xtol=TOLERANCE, rtol=TOLERANCE))
        return 0.0 if abs(end) <= 2 * TOLERANCE else end


def t_tails(contributions: np.ndarray, freedom: int | None = None, added: float = 0.0) -> Tails:
    """Return the one-sided p-values of a t test of a mean of zero, at least 2^-n for n items.

    Args:
        contributions: what each item contributes, shape (items,).
        freedom: degrees of freedom, by default n - 1.
        added: added to the sum of squares.
    """
    number = len(contributions)
    if number < 2:
        return 0.5, 0.5
    total = float(contributions.sum())
    mean = contributions.mean()
    squares = float(np.sum((contributions - mean) ** 2)) + added
    error = np.sqrt(number / (number - 1) * squares)
    least = 0.5**number
    if error <= ROUNDING * abs(total):
        return _tails_without_error(total, least, 0.0)
    above, below = stdtr(freedom or number - 1, np.array([-1, 1]) * total / error)
    return max(float(above), least), max(float(below), least)


def _tails_without_error(excess: float, least: float, rounding: float) -> Tails:
    """Return the p-values of a sum without an error: `least` on its side, 0.5 if it is zero."""
    if abs(excess) <= rounding:
        return 0.5, 0.5
    return (least, 1.0) if excess > 0 else (1.0, least)


def unskewed_tails(contributions: np.ndarray) -> Tails:
    """Return the one-sided p-values of a t test of a mean of zero with Hall's transformation.

    The statistic is sqrt(n) (((1 + a T / 3)^3 - 1) / a + a / (6 n)), where T is the mean over the
    standard deviation and a the corrected skewness (Hall 1992, section 4). It rises with the mean.
    Both p-values are 0 if fewer than three items contribute or if they are constant.
    """
    number = len(contributions)
    mean = float(contributions.mean())
    centred = contributions - mean
    spread = float(np.sqrt(np.sum(centred**2) / max(number - 1, 1)))
    if number < 3 or spread <= ROUNDING * abs(mean):
        return 0.0, 0.0
    skewness = float(np.sum(centred**3)) * number / ((number - 1) * (number - 2)) / spread**3
    if number < FEW:
        noise = SKEWNESS_NOISE * normal_skewness_error(number)
        skewness = float(np.copysign(max(abs(skewness) - noise, 0.0), skewness))
    statistic = unskewed_t(np.sqrt(number) * mean / spread, skewness, number)
    above, below = stdtr(number - 1, np.array([-1, 1]) * statistic)
    return float(above), float(below)


def normal_skewness_error(number: int) -> float:
    """Return the standard error of the skewness of at least 3 normal values (Cramer 1946)."""
    return float(np.sqrt(6 * number * (number - 1) / ((number - 2) * (number + 1) * (number + 3))))


def unskewed_t(t: Any, skewness: Any, number: int) -> Any:
    """Return t statistics of means of `number` values transformed as in `unskewed_tails`.

    `t` and `skewness` are numbers, or arrays of one shape.
    """
    ratio = t / np.sqrt(number)
    a = SKEWNESS_FACTOR * skewness
    return np.sqrt(number) * (ratio + a * ratio**2 / 3 + a**2 * ratio**3 / 27 + a / (6 * number))


def larger_tails(first: Tails, second: Tails) -> Tails:
    """Return the larger p-value on each side."""
    return max(first[0], second[0]), max(first[1], second[1])


def flip_tails(contributions: np.ndarray) -> Tails:
    """Return the one-sided p-values of the test by sign flips.

    They are the shares of all 2^n sign changes of the contributions whose sum is at least, and at
    most, that of the contributions.
    """
    nonzero = drop_zeros(contributions)
    if not len(nonzero):
        return 1.0, 1.0
    # Each sum is one of the first half of the items plus one of the second half.
    half = len(nonzero) // 2
    left = _signed_sums(nonzero[:half])
    right = _signed_sums(nonzero[half:])
    right.sort()
    total = nonzero.sum()
    slack = ROUNDING * np.abs(nonzero).sum()
    number = len(left) * len(right)
    above = number - int(np.searchsorted(right, total - left - slack, side="left").sum())
    below = int(np.searchsorted(right, total - left + slack, side="right").sum())
    return above / number, below / number


def _signed_sums(values: np.ndarray) -> np.ndarray:
    """Return the sums of n values under all changes of their signs, shape (2^n,)."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


def drop_zeros(contributions: np.ndarray) -> np.ndarray:
    """Return the contributions that are not zero up to rounding."""
    size = np.abs(contributions)
    return contributions[size > ROUNDING * size.max(initial=0)]


def is_constant(weight: np.ndarray) -> bool:
    """Return whether weights are all equal up to rounding, so that they change nothing."""
    return bool(np.ptp(weight) <= ROUNDING * np.max(weight)) if len(weight) else True


def score_tails(won: int, lost: int, items: int, difference: float) -> Tails:
    """Return the one-sided p-values of an assumed difference of two paired shares.

    By Tango's score test (1998, equation 6).

    Args:
        won: items on which only the first model has the higher value.
        lost: items on which only the second has it.
        items: number of all items.
        difference: the assumed difference, in [-1, 1].
    """
    linear = (2 * items - won + lost) * difference - won - lost
    root = np.sqrt(max(linear**2 + 8 * items * lost * difference * (1 - difference), 0.0))
    share = (root - linear) / (4 * items)
    variance = items * (2 * share + difference * (1 - difference))
    excess = won - lost - items * difference
    if variance <= ROUNDING * items:
        return _tails_without_error(excess, 0.0, ROUNDING * items)
    z = excess / np.sqrt(variance)
    return float(ndtr(-z)), float(ndtr(z))


def paired_difference(
    differences: np.ndarray,
    size: float | None = None,
    most: float = np.inf,
    weight: np.ndarray | None = None,
) -> DifferenceTest:
    """Test the mean of paired differences by the test that suits their number and values.

    Two-valued scores are compared by the sign test, others by sign flips below 20 items and by t
    from there on. The t test with corrected skewness replaces these if its p-value is larger.

    Args:
        differences: one per item, shape (items,).
        size: the absolute value of all differences that are not zero, if they have only one.
        most: largest possible difference.
        weight: weight of each item, shape (items,); then the mean is weighted, and each item
            contributes its weight times what it earns beyond the assumed difference.
    """
    if weight is None or is_constant(weight):
        share = np.ones(len(differences))
        about_weights = ""
    else:
        share = weight / weight.mean()
        about_weights = ", weighted"
        # The sign test would count items, whatever their weights.
        size = None
    differs = bool(len(drop_zeros(differences)))
    if size is None and not differs and np.isfinite(most):
        # No item differs: the bound of the share of differing items bounds the mean.
        size = most
    if size is not None:
        return _two_valued_difference(differences, size)
    if not differs:
        return DifferenceTest(0.0, 0, "no item differs", lambda _: (1.0, 1.0), limits=(-most, most))
    method = f"paired by item{about_weights}"
    return _mean_difference_test(differences, share, most, method)


def _mean_difference_test(
    differences: np.ndarray, share: np.ndarray, most: float, method: str
) -> DifferenceTest:
    """Test the mean of `share` times paired differences, both of shape (items,), by item.

    `most` is the largest possible difference; `method` is the end of the method's name.
    """
    items = len(differences)
    plain: Callable[[np.ndarray], Tails] = t_tails
    name = "t test"
    if items < FEWEST_BY_T:
        plain = flip_tails
        name = "sign flips"

    def tails(null: float) -> Tails:
        rest = share * (differences - null)
        return larger_tails(plain(rest), unskewed_tails(rest))

    contributions = share * differences
    value = float(np.mean(contributions))
    if min(unskewed_tails(contributions)) > min(plain(contributions)):
        name = "t test corrected for skewness"
    return DifferenceTest(
        value=value,
        items=items,
        method=f"{name}, {method}",
        tails=tails,
        step=(float(np.std(contributions)) or abs(value)) / np.sqrt(items),
        limits=(-most, most),
        misses_rare=True,
    )


def _two_valued_difference(differences: np.ndarray, size: float) -> DifferenceTest:
    """Test differences that are 0 or plus or minus `size` by the exact sign test."""
    won = int((differences > 0).sum())
    lost = int((differences < 0).sum())
    items = len(differences)
    differing = won + lost

    def tails(null: float) -> Tails:
        difference = float(np.clip(null / size, -1, 1))
        return score_tails(won, lost, items, difference)

    return DifferenceTest(
        value=float(np.mean(differences)),
        items=items,
        method="exact sign test, paired by item",
        tails=tails,
        exact=(_binomial_tail(won, differing), _binomial_tail(lost, differing)),
        step=size / items,
        limits=(-size, size),
    )


def _binomial_tail(successes: int, trials: int) -> float:
    """Return the probability of at least so many successes in trials of even chance."""
    return float(bdtrc(successes - 1, trials, 0.5)) if successes else 1.0


def parse_margin(margin: str, where: str) -> tuple[float, str]:
    """Parse a margin such as `10elo`, `2points` or `0.02` into a number and a unit.

    The unit is `elo`, `points` (percentage points) or `units` (of the metric). Fractions below 1
    may omit it.

    Args:
        margin: what was typed.
        where: the option, for messages.

    Raises:
        UsageError: not a number of 0 or more, or a unit is missing.
    """
    shape = MARGIN.fullmatch(margin)
    try:
        number = float(shape["number"]) if shape else np.nan
    except ValueError:
        number = np.nan
    if shape is None or not 0 <= number < np.inf:
        raise UsageError(
            f"{where}: {margin!r} is not a margin of 0 or more; write 10elo, 2points, 3units or "
            "0.02"
        )
    unit = {"e": "elo", "p": "points", "u": "units"}.get((shape["unit"] or " ")[0], "")
    if not unit and not ("." in shape["number"] and number < 1):
        raise UsageError(
            f"{where}: {margin} has no unit; write {margin}elo, {margin}points (percentage "
            f"points), {margin}units (of the metric), or a fraction such as 0.02"
        )
    return number, unit or "units"
