"""The p-value of a fit: the tests of single pairs and of single models, adjusted together.

The tests are correlated: the residuals of P pairs have P - (models - 1) dimensions, and those of a
model are those of its pairs. Bonferroni's rule over all of them is valid, but gives a larger
p-value than needed. So the adjusted p-value is the probability that any test has a p-value as small
as the smallest one found, if the residuals are normal with the covariance that the clusters show
(the single-step min-P method, Westfall and Young 1993, with a Gaussian copula). Pairs together
count as much as models together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.distributions import fdtrc, find_root, ndtri

DRAWS = 9_999
"""Number of draws of the residuals; the smallest p-value is 0.0001."""
DRAWS_AT_ONCE = 1_000
"""Draws that are held in memory together."""
MOST_PAIRS = 500
"""With more pairs, Bonferroni's rule alone is used: draws would take seconds."""
DRAWN_P_VALUES = (0.0005, 0.5)
"""Residuals are drawn only if the p-value by Bonferroni's rule is in this interval: a smaller one
is small enough, and a larger one is far above any error rate."""
MANY_DEGREES = 1e8
"""Degrees of freedom of the denominator with which F is a chi-squared over its degrees."""
LARGEST_CHI_SQUARED = 1e4
"""The upper end of the search for a quantile of a chi-squared distribution."""


@dataclass(frozen=True, slots=True)
class ModelTest:
    """The test that all residuals of a model's pairs are 0.

    Attributes:
        model: name of the model.
        p: its p-value, not adjusted.
        pairs: positions of its pairs among those whose residual has an error, shape (own pairs,).
        dimensions: dimensions of their residuals.
    """

    model: str
    p: float
    pairs: np.ndarray
    dimensions: int


def smallest_adjusted_p(
    p_of_pairs: np.ndarray, tests: Sequence[ModelTest], influence: np.ndarray
) -> float | None:
    """Return the smallest p-value of all tests of pairs and models, adjusted for all of them.

    Each p-value is first multiplied by the number of tests of its kind (pairs or models). The
    smallest product is adjusted by draws of the residuals (the share of draws in which any test has
    so small a p-value), or by Bonferroni's rule alone if its result lies outside `DRAWN_P_VALUES`,
    if there are more than `MOST_PAIRS` pairs, or if no pair has an error. The result is never above
    that of Bonferroni's rule.

    Args:
        p_of_pairs: p-values of the pairs, NaN if not tested, shape (pairs,).
        tests: the tests of models.
        influence: influence of each cluster on the residuals that have an error, shape
            (clusters, pairs with an error).

    Returns:
        The p-value; None if nothing was tested.
    """
    tested = p_of_pairs[~np.isnan(p_of_pairs)]
    # For pairs and for models, the smallest p-value times the number of tests.
    scaled = []
    if len(tested):
        scaled.append(len(tested) * float(tested.min()))
    if tests:
        scaled.append(len(tests) * min(test.p for test in tests))
    if not scaled:
        return None
    smallest = min(scaled)
    by_bonferroni = min(1.0, len(scaled) * smallest)
    low, high = DRAWN_P_VALUES
    pairs = influence.shape[1]
    is_near_threshold = low < by_bonferroni < high
    if not is_near_threshold or not 0 < pairs <= MOST_PAIRS:
        return by_bonferroni
    # Pairs without an error have no covariance with others: Bonferroni's rule counts them.
    without_error = max(len(tested) - pairs, 0)
    p_of_pair = smallest / len(tested) if len(tested) else 0.0
    p_of_model = smallest / max(len(tests), 1)
    share_of_draws = _share_of_draws(influence, tests, p_of_pair, p_of_model)
    return min(by_bonferroni, share_of_draws + without_error * p_of_pair)


def _share_of_draws(
    influence: np.ndarray, tests: Sequence[ModelTest], p_of_pair: float, p_of_model: float
) -> float:
    """Return the share of draws in which any test has a p-value as small as given.

    Each draw gives all residuals at once, with seed 0. The data themselves count as one more draw,
    so that the share is never 0.

    Args:
        influence: influence of each cluster on the residuals, shape (clusters, pairs).
        tests: the tests of models.
        p_of_pair: a pair counts as extreme if its p-value is at most this one.
        p_of_model: a model counts as extreme if the p-value of its pairs together is at most this
            one.
    """
    error = np.sqrt(np.sum(influence**2, axis=0))
    scaled = influence / error
    # Independent standard normal numbers, multiplied by the transposed root, have the correlations
    # of the residuals. The root has shape (pairs, kept dimensions).
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    is_above_rounding = values > 1e-12 * values.max()
    root = vectors[:, is_above_rounding] * np.sqrt(values[is_above_rounding])
    least_z = float(-ndtri(p_of_pair / 2))
    whitened = [_whiten(scaled[:, test.pairs], test.dimensions) for test in tests]
    least_squares = [_chi_squared_above(test.dimensions, p_of_model) for test in tests]
    rng = np.random.default_rng(0)
    extreme = 1
    for start in range(0, DRAWS, DRAWS_AT_ONCE):
        number = min(DRAWS_AT_ONCE, DRAWS - start)
        z = rng.standard_normal((number, root.shape[1])) @ root.T
        is_extreme = (np.abs(z) >= least_z).any(axis=1)
        for test, matrix, least in zip(tests, whitened, least_squares, strict=True):
            squares = np.sum((z[:, test.pairs] @ matrix) ** 2, axis=1)
            is_extreme |= squares >= least
        extreme += int(is_extreme.sum())
    return extreme / (DRAWS + 1)


def _whiten(scaled: np.ndarray, dimensions: int) -> np.ndarray:
    """Return the matrix that makes residuals independent with variance 1.

    Args:
        scaled: influence of each cluster, over the error of each residual, shape
            (clusters, pairs).
        dimensions: number of dimensions to keep, those with the largest variance.

    Returns:
        The matrix, shape (pairs, dimensions).
    """
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    largest = np.argsort(values)[::-1][:dimensions]
    return vectors[:, largest] / np.sqrt(values[largest])


def _chi_squared_above(freedom: int, p: float) -> float:
    """Return the value that a chi-squared variable exceeds with probability p.

    The search ends at `LARGEST_CHI_SQUARED`. p is in (0, 1).
    """

    def excess(value: float) -> float:
        """Return by how much the probability of larger values exceeds p."""
        return float(fdtrc(freedom, MANY_DEGREES, value / freedom)) - p

    return find_root(excess, 0.0, LARGEST_CHI_SQUARED, xtol=1e-6, rtol=1e-9)
