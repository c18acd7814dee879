"""Ranks that hold for all entrants at once."""

import numpy as np
from scipy.special import stdtrit

from podium.rankers.intervals import Estimate

MOST_SIMULATED = 500
"""Entrants up to which the critical value is simulated; above, Bonferroni's bound is used."""


def rank_sets(estimate: Estimate, *, level: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the best and the worst rank not excluded, simultaneously for all entrants, at `level`.

    An entrant's range is 1 + the number significantly better ... M - the number significantly worse. The critical
    value is the `level` quantile of the largest |t| over all pairs, drawn from the covariance (Mogstad et al.
    2024). Entrants without a standard error exclude nobody and get NaN.

    Returns:
        Two arrays of shape (entrants,), NaN where nothing can be said.
    """
    score, size = estimate.score, len(estimate.score)
    known = np.flatnonzero(~np.isnan(score) & (estimate.se > 0))
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    if len(known) < 2:
        return low, high
    known = known[np.argsort(-score[known], kind="stable")]
    covariance = estimate.covariance[np.ix_(known, known)]
    spread = _spread(covariance)
    critical = _critical(covariance, spread, estimate.clusters - 1, level, rng)
    gap = score[known][:, None] - score[known][None, :]
    better = gap / spread > critical
    low[known] = 1 + better.sum(axis=0)
    high[known] = size - better.sum(axis=1)
    return low, high


def _spread(covariance: np.ndarray) -> np.ndarray:
    """Return the standard error of each difference, infinite where it is zero, shape (n, n)."""
    variance = np.diag(covariance)
    squared = variance[:, None] + variance[None, :] - 2 * covariance
    return np.sqrt(np.where(squared > 1e-12 * variance.max(), squared, np.inf))


def _critical(
    covariance: np.ndarray, spread: np.ndarray, freedom: int, level: float, rng: np.random.Generator
) -> float:
    size = len(covariance)
    if size > MOST_SIMULATED:
        return float(stdtrit(freedom, 1 - (1 - level) / (size * (size - 1))))
    draws = 10_000 if size <= 100 else 4_000
    jitter = 1e-10 * np.trace(covariance) / size
    factor = np.linalg.cholesky(covariance + jitter * np.eye(size))
    errors = rng.standard_normal((draws, size)) @ factor.T
    largest = np.zeros(draws)
    for k in range(size - 1):
        gaps = np.abs(errors[:, [k]] - errors[:, k + 1 :]) / spread[k, k + 1 :]
        np.maximum(largest, gaps.max(axis=1), out=largest)
    return float(np.quantile(largest / np.sqrt(rng.chisquare(freedom, draws) / freedom), level))
