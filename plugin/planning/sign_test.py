"""How many items a sign test needs, and what it can tell (Don-Yehiya et al. 2026, section 4.3, Table 2).

The test is one-sided. It counts only items on which the judge tells the two entrants apart; the edge is the better
one's share of those, minus a half.
"""

from math import ceil, floor, sqrt

import numpy as np
from scipy.stats import binom, norm

from podium.errors import UsageError

ROUNDING = 9
"""Decimals to which a number of items is exact: 153 / 0.45 is 340, whatever 1 - 0.55 is in floating point."""


def informative_needed(edge: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return n = ceil(((z_alpha / 2 + z_power sqrt(p (1 - p))) / (p - 1/2))^2) with p = 1/2 + edge.

    >>> [informative_needed(edge) for edge in (0.05, 0.10, 0.15, 0.20, 0.25)]
    [617, 153, 67, 37, 23]

    Args:
        edge: in (0, 0.5].
        alpha: of the one-sided test, in (0, 0.5).
        power: in [0.5, 1).

    Raises:
        UsageError: one of them is out of its range.
    """
    check_test(alpha, power)
    check_edge(edge)
    reach = norm.isf(alpha) / 2 + norm.ppf(power) * sqrt(0.25 - edge**2)
    return ceil(round((reach / edge) ** 2, ROUNDING))


def items_needed(informative: int, share: float) -> int:
    """Return how many items hold so many informative ones, when this share of them is informative.

    >>> items_needed(617, 0.61), items_needed(153, 1 - 0.55)
    (1012, 340)

    Args:
        share: in (0, 1].

    Raises:
        UsageError: the share is out of its range.
    """
    if not 0 < share <= 1:
        raise UsageError(f"a share of informative items of {share} is not in (0, 1]: nothing would be told apart")
    return ceil(round(informative / share, ROUNDING))


def smallest_edge(items: int, share: float = 1.0, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Return the smallest edge that the formula of `informative_needed` grants; None where even 0.5 is too small.

    It solves that formula for the edge: (z_a sqrt(n) + z_p sqrt(n - z_a^2 + z_p^2)) / (2 (n + z_p^2)).

    Args:
        items: planned.
        share: of them that is informative, in (0, 1].

    Raises:
        UsageError: alpha or power is out of its range.
    """
    check_test(alpha, power)
    n = floor(round(items * share, ROUNDING))
    a, p = float(norm.isf(alpha)), float(norm.ppf(power))
    # With fewer, not even an entrant that wins all of them is told.
    if n < a**2:
        return None
    return (a * sqrt(n) + p * sqrt(n - a**2 + p**2)) / (2 * (n + p**2))


def exact_power(informative: int | np.ndarray, edge: float, *, alpha: float = 0.05) -> np.ndarray:
    """Return the power of the exact binomial test on so many informative items, same shape.

    The formula of the paper is a normal approximation: its sizes miss the promised power by a little.
    """
    critical = binom.isf(alpha, informative, 0.5)
    return np.asarray(binom.sf(critical, informative, 0.5 + edge))


def exactly_needed(edge: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return the smallest number of informative items from which on the exact test always has the power.

    Power climbs in a sawtooth, because counts are whole; the last tooth below the promise decides.

    Raises:
        UsageError: edge, alpha or power is out of its range.
    """
    sizes = np.arange(1, 2 * informative_needed(edge, alpha=alpha, power=power) + 50)
    short = np.flatnonzero(exact_power(sizes, edge, alpha=alpha) < power)
    return int(sizes[short[-1]]) + 1 if short.size else 1


def check_test(alpha: float, power: float) -> None:
    """Refuse a test that is none.

    Raises:
        UsageError: alpha is not in (0, 0.5), or power not in [0.5, 1).
    """
    if not 0 < alpha < 0.5:
        raise UsageError(f"alpha={alpha} is not in (0, 0.5); 0.05 is usual")
    if not 0.5 <= power < 1:
        raise UsageError(f"power={power} is not in [0.5, 1); 0.8 is usual")


def check_edge(edge: float) -> None:
    """Refuse an edge that no entrant can have.

    Raises:
        UsageError: it is not in (0, 0.5].
    """
    if not 0 < edge <= 0.5:
        raise UsageError(f"edge={edge} is not in (0, 0.5]: it is a share above one half, 0.05 for 55% of decided items")
