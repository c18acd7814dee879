"""How often a test errs that is made again after items were added."""

import numpy as np

from podium.distributions import ndtr, ndtri

NODES = 64
"""Number of nodes of the Gauss-Legendre quadrature."""


def error_of_two_tests(level: float, before: int, added: int) -> float:
    """Return how often at least one of two tests finds a difference where there is none.

    The first test has some items, the second these and further ones. The statistics of both are
    normal with the correlation sqrt(before / (before + added)). Source: Armitage, McPherson and
    Rowe 1969, Repeated significance tests on accumulating data.

    Args:
        level: confidence level of each two-sided test, in (0, 1).
        before: number of items of the first test, 1 or more.
        added: number of items that are added for the second test, 1 or more.

    Returns:
        A probability, between 1 - level and 1 - level^2.
    """
    critical = float(ndtri((1 + level) / 2))
    correlation = np.sqrt(before / (before + added))
    spread = np.sqrt(1 - correlation**2)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    first = critical * nodes
    density = np.exp(-(first**2) / 2) / np.sqrt(2 * np.pi)
    # The probability that the second statistic is not significant either, given the first one. It
    # is integrated over the first statistics that are not significant.
    upper = (critical - correlation * first) / spread
    lower = (-critical - correlation * first) / spread
    inside = np.asarray(ndtr(upper)) - np.asarray(ndtr(lower))
    return float(1 - critical * np.sum(weights * density * inside))
