"""Ranks, and differences, that hold for all models at once."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from podium.rankers.intervals import ScoreEstimates, center_covariance, t_quantile

MOST_SIMULATED = 500
"""Models up to which the critical value is simulated; above, Bonferroni's bound is used."""
SMALLEST_FREEDOM = 1.0
"""Degrees of freedom below which intervals are not widened further, either."""


@dataclass(frozen=True, slots=True)
class Contrasts:
    """All differences of scores at once.

    Attributes:
        low, high: best and worst rank not excluded, NaN where nothing can be said, shape (models,).
        is_above: whether row is told above column; None for more than 500 models, shape (models, models).
        reach: half the width of each difference's simultaneous interval, infinite where there is none, same shape.
        critical: of |t|, over all pairs.
    """

    low: np.ndarray
    high: np.ndarray
    is_above: np.ndarray | None = None
    reach: np.ndarray | None = None
    critical: float = np.nan


def contrast_all(estimate: ScoreEstimates, *, level: float, rng: np.random.Generator) -> Contrasts:
    """Compare all pairs of models simultaneously, at `level`.

    A model's range is 1 + the number significantly better ... M - the number significantly worse. The critical
    value is the `level` quantile of the largest |t| over all pairs, drawn from the covariance (Mogstad et al.
    2024). Models without a standard error exclude nobody and get NaN, and so does everybody after a single cluster.
    """
    score, size = estimate.score, len(estimate.score)
    known = np.flatnonzero(~np.isnan(score) & ((estimate.se > 0) | (np.arange(size) == estimate.pinned)))
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    if len(known) < 2 or estimate.clusters < 2:
        return Contrasts(low, high)
    covariance = estimate.covariance[np.ix_(known, known)]
    if estimate.pinned is not None:
        # Differences are those of centred scores, and so are the draws.
        covariance = center_covariance(covariance)
    # Equal scores go by their errors: the names of models must not say who gets which draws.
    place = np.lexsort(((covariance**3).sum(axis=1), np.diag(covariance), -score[known].round(9)))
    known, covariance = known[place], covariance[np.ix_(place, place)]
    ranked = score[known]
    critical = _critical(covariance, estimate.clusters - 1, level, rng)
    freedom = None if estimate.freedom is None else estimate.freedom[known]
    draws = None if estimate.draws is None else estimate.draws[:, known]
    better, worse = np.zeros((2, len(known)), dtype=np.int64)
    squares = None
    if size <= MOST_SIMULATED:
        squares = np.zeros((size, size), dtype=bool), np.full((size, size), np.inf)
    for k in range(len(known)):
        reach: np.ndarray | float = critical
        if freedom is not None:
            # Values of t with other degrees of freedom that are exceeded as rarely.
            reach = -stdtrit(_freedom_of_gaps(covariance, freedom, k), stdtr(estimate.clusters - 1, -critical))
        spread = _spread(covariance, k)
        beaten = (ranked[k] - ranked) / spread > reach
        if draws is not None:
            # Medians of few values: their difference has a small error, and is often no more than a step.
            beaten &= 1 - np.mean(draws[:, [k]] > draws, axis=0) <= stdtr(estimate.clusters - 1, -critical)
        worse[k] = beaten.sum()
        better += beaten
        if squares:
            # Two that differ nowhere are never told apart, whatever the critical value is.
            own = np.multiply(reach, spread, out=np.full(len(known), np.inf), where=np.isfinite(spread))
            squares[0][known[k], known], squares[1][known[k], known] = beaten, own
    low[known] = 1 + better
    high[known] = size - worse
    is_above, reaches = squares or (None, None)
    return Contrasts(low, high, is_above, reaches, critical)


def _spread(covariance: np.ndarray, k: int) -> np.ndarray:
    """Return the standard error of k's difference from each, infinite where it is zero, shape (n,)."""
    variance = np.diag(covariance)
    squared = variance[k] + variance - 2 * covariance[k]
    return np.sqrt(np.where(squared > 1e-12 * variance.max(), squared, np.inf))


def _freedom_of_gaps(covariance: np.ndarray, freedom: np.ndarray, k: int) -> np.ndarray:
    """Return Satterthwaite's degrees of freedom of k's difference from each, were their variances one, shape (n,)."""
    variance = np.diag(covariance)
    total = variance[k] + variance
    freedom = np.maximum(freedom, SMALLEST_FREEDOM)
    own: np.ndarray = total**2 / (variance[k] / np.sqrt(freedom[k]) + variance / np.sqrt(freedom)) ** 2
    return own


def _critical(covariance: np.ndarray, freedom: int, level: float, rng: np.random.Generator) -> float:
    size = len(covariance)
    if size > MOST_SIMULATED:
        return t_quantile(freedom + 1, 1 - 2 * (1 - level) / (size * (size - 1)))
    draws = 10_000 if size <= 100 else 4_000
    # Centred ratings have a singular covariance, and rounding makes its zero eigenvalue negative: no Cholesky.
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    errors = rng.standard_normal((draws, size)) @ root
    largest = np.zeros(draws)
    for k in range(size - 1):
        gaps = np.abs(errors[:, [k]] - errors[:, k + 1 :]) / _spread(covariance, k)[k + 1 :]
        np.maximum(largest, gaps.max(axis=1), out=largest)
    return float(np.quantile(largest / np.sqrt(rng.chisquare(freedom, draws) / freedom), level))
