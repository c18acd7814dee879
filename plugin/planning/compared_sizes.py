"""How many items `podium compare` needs to detect a difference: the power of its own tests."""

from functools import partial

import numpy as np

from podium.distributions import expit
from podium.errors import UsageError
from podium.planning.plan_record import ComparedSize
from podium.planning.sample_size import smallest_number
from podium.rankers.errors.difference import parse_margin
from podium.rankers.fit.scale import POINTS

MOST_COMPARED = 1_000_000
"""Largest number of items for which a comparison is planned."""


def compared_size(
    difference: str,
    *,
    ties: float,
    disagree: float | None = None,
    spread: float | None = None,
    level: float = 0.95,
    power: float = 0.8,
) -> ComparedSize | None:
    """Return on how many items `podium compare` detects a difference.

    For a difference in Elo, the test is a score test of verdicts, and `disagree` and `spread` are
    ignored. For another difference, the test is an exact sign test with `disagree`, and a paired t
    test with `spread`.

    Args:
        difference: the difference, as `2points`, `0.02` or `40elo`; empty for none.
        ties: share of verdicts that are ties, in [0, 1), for a difference in Elo.
        disagree: share of items on which just one of the two models is right, in [0, 1].
        spread: standard deviation of the difference over items, in units of the metric, above 0.
        level: confidence level of the comparison, in (0, 1).
        power: probability with which the difference is detected, in (0, 1).

    Returns:
        The smallest such number of items, 2 or more, with the test and its power; None if the
        difference is empty.

    Raises:
        UsageError: a number is out of its range; `disagree` or `spread` is given without a
            difference; a difference in a metric has neither or both of them; or a million items
            are too few. For a difference in Elo, both are ignored.
    """
    if not difference:
        if disagree is None and spread is None:
            return None
        raise UsageError(
            "--disagree and --spread describe a difference: give it, as --difference 2points"
        )
    size, is_elo = read_difference(difference)
    given_assumptions = [number for number in (disagree, spread) if number is not None]
    if is_elo:
        test, assumption, power_on = _score_test(difference, size, ties, level)
    elif len(given_assumptions) != 1:
        raise UsageError(
            f"--difference {difference}: give either --disagree (the share of items on which just "
            "one of two models is right) or --spread (the standard deviation of the difference "
            "over items)"
        )
    elif disagree is not None:
        test, assumption, power_on = _sign_test(size, disagree, level)
    else:
        test, assumption, power_on = _paired_t_test(size, spread, level)
    items = smallest_number(lambda number: power_on(number) >= power, MOST_COMPARED)
    if items is None:
        problem = f"{MOST_COMPARED:,} items are too few to detect it; give a larger one"
        raise UsageError(f"--difference {difference}: {problem}")
    return ComparedSize(
        difference=difference, test=test, spread=assumption, items=items, power=power_on(items)
    )


def _sign_test(size: float, disagree: float, level: float) -> tuple[str, str, partial[float]]:
    """Return the test for a metric of right and wrong.

    Args:
        size: the difference, in units of the metric.
        disagree: share of items on which just one of the two models is right.
        level: confidence level of the comparison.

    Returns:
        Name of the test, a text on what is assumed, and a function from the number of items to the
        power.

    Raises:
        UsageError: `disagree` is below the difference or above 1.
    """
    if not size <= disagree <= 1:
        raise UsageError(f"--disagree {disagree} must lie between the difference ({size:g}) and 1")
    assumption = f"one right, the other wrong on {disagree:.0%}"
    return "exact sign test", assumption, partial(sign_power, size, disagree, level)


def _paired_t_test(
    size: float, spread: float | None, level: float
) -> tuple[str, str, partial[float]]:
    """Return the test for a metric that is not of right and wrong.

    Args:
        size: the difference, in units of the metric.
        spread: standard deviation of the difference over items.
        level: confidence level of the comparison.

    Returns:
        Name of the test, a text on what is assumed, and a function from the number of items to the
        power.

    Raises:
        UsageError: `spread` is None, not above 0, or infinite.
    """
    if spread is None or not 0 < spread < np.inf:
        raise UsageError(f"--spread {spread}: give a standard deviation above 0")
    assumption = f"standard deviation {spread:g}"
    return "t test, paired", assumption, partial(t_power, size, spread, level)


def _score_test(
    difference: str, elo: float, ties: float, level: float
) -> tuple[str, str, partial[float]]:
    """Return the test for verdicts.

    Args:
        difference: the difference as it was typed.
        elo: the difference in Elo.
        ties: share of verdicts that are ties.
        level: confidence level of the comparison.

    Returns:
        Name of the test, a text on what is assumed, and a function from the number of items to the
        power.

    Raises:
        UsageError: with so many ties, no model can be that far ahead.
    """
    # A verdict has the mean 0.5 + gain. Its variance is (1 - ties) / 4 - gain^2, because a tie has
    # the value 0.5.
    gain = float(expit(elo / POINTS)) - 0.5
    if 2 * gain > 1 - ties:
        raise UsageError(
            f"--difference {difference}: with {ties:.0%} of verdicts even (ties, and battles whose "
            "winner changes with the order) no model can be that far ahead; `podium diagnose` says "
            "whether the pilot's judge may rank"
        )
    variance = (1 - ties) / 4 - gain**2
    deviation = float(np.sqrt(max(variance, 1e-12)))  # above 0, as the t test divides by it
    return (
        "score test by items, t",
        f"{ties:.0%} of verdicts even",
        partial(t_power, gain, deviation, level),
    )


def read_difference(text: str) -> tuple[float, bool]:
    """Parse a difference, as `2points`, `0.02` or `40elo`.

    Returns:
        The difference, in Elo or in units of the metric (a point is 0.01), and whether it is in
        Elo.

    Raises:
        UsageError: the text is not a number with a known unit, or the number is not above 0.
    """
    number, unit = parse_margin(text, f"--difference {text!r}")
    if number <= 0:
        raise UsageError(f"--difference {text!r}: give a difference above 0")
    size = number / 100 if unit == "points" else number
    return size, unit == "elo"


def t_power(difference: float, deviation: float, level: float, items: int) -> float:
    """Return the power of the two-sided one-sample t test.

    Args:
        difference: true mean over items, above 0.
        deviation: standard deviation over items, in the same units.
        level: confidence level of the test, in (0, 1).
        items: number of items, 2 or more.

    Returns:
        The power in [0, 1].
    """
    from scipy.special import nctdtr, stdtrit

    # The statistic has a noncentral t distribution. Only its tail on the side of the true
    # difference counts as a detection.
    freedom = items - 1
    noncentrality = difference / deviation * np.sqrt(items)
    critical_t = stdtrit(freedom, (1 + level) / 2)
    return float(1 - nctdtr(freedom, noncentrality, critical_t))


def sign_power(difference: float, disagree: float, level: float, items: int) -> float:
    """Return the power of the exact two-sided sign test, in [0, 1].

    Only tests that find the better model ahead count as detections.

    Args:
        difference: true difference of the two models' shares of right items, above 0 and at most
            `disagree`.
        disagree: share of items on which just one of the two models is right, in (0, 1].
        level: confidence level of the test, in (0, 1).
        items: number of items, 1 or more.
    """
    from scipy.special import bdtr, bdtrc, bdtrik

    # The number of items on which the two models differ is binomial. The power is the mean over
    # these numbers of the chance to win more than the critical number of them. If no item
    # differs, the test detects nothing. Numbers in the outer 1e-9 on either side are left out.
    tails = np.array([1e-9, 1 - 1e-9])
    fewest_differing, most_differing = np.ceil(bdtrik(tails, items, disagree)).astype(int)
    differing = np.arange(max(fewest_differing, 1), most_differing + 1)
    critical = critical_wins(differing, error_rate=(1 - level) / 2)
    detects = bdtrc(critical, differing, (1 + difference / disagree) / 2)
    probability = bdtr(differing, items, disagree) - bdtr(differing - 1, items, disagree)
    return float(detects @ probability)


def critical_wins(number: int | np.ndarray, error_rate: float) -> np.ndarray:
    """Return the critical number of wins of the one-sided exact sign test.

    It is the smallest w such that a fair coin wins more than w of `number` tosses with a
    probability of at most `error_rate`. The test detects more than w wins, not w itself. The result
    has floats.

    Args:
        number: number of tosses, any shape.
        error_rate: error rate of the test, in (0, 1).

    Returns:
        w, in the shape of `number`.
    """
    from scipy.special import bdtr, bdtrik

    # `bdtr` is the probability of at most k wins, and `bdtrik` its inverse by k.
    wins = np.ceil(bdtrik(1 - error_rate, number, 0.5))
    # Rounding error of the inverse may make the number too large by 1.
    fewer = np.maximum(wins - 1, 0)
    return np.where(bdtr(fewer, number, 0.5) >= 1 - error_rate, fewer, wins)
