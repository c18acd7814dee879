"""How a group-sequential test spends its error probability over its looks.

A pair of models is tested at each look by z, its difference over its standard error. If the models
differ by exactly what would be wrong to decide, z times the root of the information behaves like a
Brownian motion that is read at the looks (Armitage, McPherson and Rowe 1969). Critical values are
found look by look, so that the first crossing at a look has the probability that this look spends
(Lan and DeMets 1983). They are smaller than those of tests that ignore that the looks overlap.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from podium.distributions import find_root, ndtr, ndtri

SPENT_SHARE = 0.7
"""Share of the error that is spent. The rest is kept for what is approximate: errors are estimated,
and the information about a pair is not exactly proportional to the visits. With it, decisions are
as rarely wrong as by Bonferroni's bound over looks after doublings."""
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(120)
"""Points of Gauss-Legendre integration on [-1, 1], and their weights, shape (points,)."""
LOWEST = 6.0
"""Values below minus this many standard deviations are left out of the integrals."""
LOWEST_PROBABILITY = 1e-300


def cumulative_shares(visits: Sequence[int]) -> np.ndarray:
    """Return the share of the error that may be spent up to each look, shape (looks,).

    It is proportional to the number of visits, and 1 at the last look.

    Args:
        visits: number of item visits at each look, ascending.
    """
    return np.asarray(visits, dtype=np.float64) / visits[-1]


@lru_cache(maxsize=4096)
def tail_probabilities(visits: tuple[int, ...], error: float) -> tuple[float, ...]:
    """Return the one-sided probability at which a pair is tested at each look.

    The probability that any of these tests is wrong is `SPENT_SHARE` of `error`, if the information
    about the pair grows in proportion to the number of visits. It is smaller if the information
    grows ever more slowly, as on items that are visited again.

    Args:
        visits: number of item visits at each look, ascending.
        error: largest probability that some look decides the pair wrongly, in (0, 0.5].

    Returns:
        The probabilities, as many as there are looks.
    """
    information = np.asarray(visits, dtype=np.float64) / visits[-1]
    spent = SPENT_SHARE * error * cumulative_shares(visits)
    tails = []
    density = _Density(np.zeros(1), np.ones(1))
    before = information_before = 0.0
    for total, now in zip(spent.tolist(), information.tolist(), strict=True):
        critical = _first_crossing(density, now, information_before, total - before, total)
        density = density.after_step(
            now - information_before, critical * now**0.5, LOWEST * now**0.5
        )
        tails.append(float(ndtr(-critical)))
        before, information_before = total, now
    return tuple(tails)


class _Density:
    """Weighted values of a Brownian motion that has not crossed a critical value so far.

    Args:
        value: values, shape (points,).
        weight: the probability of each value, for a sum in place of an integral, shape (points,).
    """

    def __init__(self, value: np.ndarray, weight: np.ndarray) -> None:
        self.value = value
        self.weight = weight

    def probability_above(self, value: float, deviation: float) -> float:
        """Return the probability that the motion is above a value after one more step.

        Args:
            value: the value.
            deviation: standard deviation of the step.
        """
        tails: Any = ndtr((self.value - value) / deviation)
        return float(self.weight @ tails)

    def after_step(self, variance: float, highest: float, lowest: float) -> "_Density":
        """Return the density after one more step, without the paths that crossed.

        Args:
            variance: variance of the step.
            highest: paths above this value have crossed.
            lowest: paths below minus this value are left out.
        """
        half = (highest + lowest) / 2
        value = half * NODES + (highest - lowest) / 2
        steps = value[:, None] - self.value
        kernel = np.exp(steps**2 / (-2 * variance)) / np.sqrt(2 * np.pi * variance)
        return _Density(value, half * NODE_WEIGHTS * (kernel @ self.weight))


def _first_crossing(
    density: _Density, information: float, before: float, error: float, spent: float
) -> float:
    """Return the z that is first crossed at this look with the probability `error`.

    Args:
        density: the values at the look before.
        information: information at this look, as a share of that at the last one.
        before: information at the look before.
        error: probability that this look spends.
        spent: probability that is spent up to this look.
    """
    deviation = (information - before) ** 0.5

    def log_excess(z: float) -> float:
        """Return the logarithm of the probability of a crossing at z, minus that of `error`."""
        probability = density.probability_above(z * information**0.5, deviation)
        return float(np.log(max(probability, LOWEST_PROBABILITY) / error))

    # Crossing now is at most as likely as being above, and being above without an earlier crossing
    # at least as likely as being above, minus what was spent before.
    low, high = -float(ndtri(spent)) - 1e-3, -float(ndtri(error)) + 1e-3
    return find_root(log_excess, low, high, xtol=1e-6, rtol=1e-9)
