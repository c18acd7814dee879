"""Simultaneous comparisons of all pairs of models: rank sets, intervals of differences, and items for 80% power."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np
from scipy.special import stdtr, stdtrit

from podium.rankers.difference import unskewed_t
from podium.rankers.intervals import ScoreEstimates, centre_covariance, t_quantile

MOST_SIMULATED = 500
"""Models up to which the critical value is simulated; above, Bonferroni's bound is used."""
SMALLEST_FREEDOM = 1.0
"""Degrees of freedom below which intervals are not widened further."""
POWER_QUANTILE = 0.84
"""The normal quantile of 0.8, the power."""


@dataclass(frozen=True, slots=True)
class Contrasts:
    """Rank sets, NaN if unknown, by one critical value of |t| for all pairs; `reach` has half-widths of differences,
    infinite if there is none; matrices are None for more than 500 models."""

    best_rank: np.ndarray
    worst_rank: np.ndarray
    is_above: np.ndarray | None = None
    reach: np.ndarray | None = None
    critical: float = np.nan


def compare_all_pairs(estimate: ScoreEstimates, *, level: float, rng: np.random.Generator) -> Contrasts:
    """Compare all pairs of models simultaneously, at confidence `level`. A model's rank set is 1 + the number
    significantly better ... M - the number significantly worse. The critical value is the `level` quantile of the
    largest |t| over all pairs, simulated from the covariance (Mogstad et al. 2024). Models without a standard error are
    left out of the comparison and have no rank set; with a single cluster, no model has one."""
    score, size = estimate.score, len(estimate.score)
    known = np.flatnonzero(~np.isnan(score) & ((estimate.se > 0) | (np.arange(size) == estimate.pinned)))
    best, worst = np.full(size, np.nan), np.full(size, np.nan)
    if len(known) < 2 or estimate.clusters < 2:
        return Contrasts(best, worst)
    covariance = estimate.covariance[np.ix_(known, known)]
    if estimate.pinned is not None:
        # Differences are those of centred scores, and so are the draws.
        covariance = centre_covariance(covariance)
    # Equal scores are ordered by their errors: the names of models must not decide who gets which draws.
    place = np.lexsort(((covariance**3).sum(axis=1), np.diag(covariance), -score[known].round(9)))
    known, covariance = known[place], covariance[np.ix_(place, place)]
    critical = _critical_value(covariance, estimate.clusters - 1, level, rng)
    matrices = None
    if size <= MOST_SIMULATED:
        matrices = np.zeros((size, size), dtype=bool), np.full((size, size), np.inf)
    better, worse = np.zeros((2, len(known)), dtype=np.int64)
    for k, (is_ahead, reach) in enumerate(_compare_each(estimate, known, covariance, critical)):
        worse[k] = is_ahead.sum()
        better += is_ahead
        if matrices:
            matrices[0][known[k], known], matrices[1][known[k], known] = is_ahead, reach
    best[known], worst[known] = 1 + better, size - worse
    is_above, reaches = matrices or (None, None)
    return Contrasts(best, worst, is_above, reaches, critical)


def _compare_each(
    estimate: ScoreEstimates, known: np.ndarray, covariance: np.ndarray, critical: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for each model, which models it is clearly ahead of and the half-widths of difference intervals."""
    score, tail = estimate.score[known], stdtr(estimate.clusters - 1, -critical)
    draws = None if estimate.draws is None else estimate.draws[:, known]
    skewness = None if estimate.skewness is None else estimate.skewness[np.ix_(known, known)]
    for k in range(len(known)):
        multiplier: np.ndarray | float = critical
        if estimate.freedom is not None:
            # The quantile with the same tail probability at other degrees of freedom.
            multiplier = -stdtrit(_freedom_of_gaps(covariance, estimate.freedom[known], k), tail)
        error = _errors_of_gaps(covariance, k)
        t = (score[k] - score) / error
        is_ahead = t > multiplier
        if skewness is not None:
            is_ahead &= unskewed_t(t, skewness[k], estimate.clusters) > multiplier
        if draws is not None:
            # Medians of few values: the error of their difference is small, and often the difference is one step.
            is_ahead &= 1 - np.mean(draws[:, [k]] > draws, axis=0) <= tail
        # Models that never differ are not distinguishable, whatever the critical value is.
        reach = np.multiply(multiplier, error, out=np.full(len(known), np.inf), where=np.isfinite(error))
        yield is_ahead, reach


def _errors_of_gaps(covariance: np.ndarray, k: int) -> np.ndarray:
    """Return the standard error of k's difference from each model, infinite where it is zero, shape (n,)."""
    variance = np.diag(covariance)
    squared = variance[k] + variance - 2 * covariance[k]
    return np.sqrt(np.where(squared > 1e-12 * variance.max(), squared, np.inf))


def _freedom_of_gaps(covariance: np.ndarray, freedom: np.ndarray, k: int) -> np.ndarray:
    """Return Satterthwaite's degrees of freedom of k's difference from each model, shape (n,)."""
    variance = np.diag(covariance)
    total = variance[k] + variance
    freedom = np.maximum(freedom, SMALLEST_FREEDOM)
    joint: np.ndarray = total**2 / (variance[k] / np.sqrt(freedom[k]) + variance / np.sqrt(freedom)) ** 2
    return joint


def _critical_value(covariance: np.ndarray, freedom: int, level: float, rng: np.random.Generator) -> float:
    """Return the `level` quantile of the largest |t| over all pairs, simulated; Bonferroni's bound for many models."""
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
        gaps = np.abs(errors[:, [k]] - errors[:, k + 1 :]) / _errors_of_gaps(covariance, k)[k + 1 :]
        np.maximum(largest, gaps.max(axis=1), out=largest)
    return float(np.quantile(largest / np.sqrt(rng.chisquare(freedom, draws) / freedom), level))


def further_items(items: int, critical: float, z: float) -> int | None:
    """Return how many more items would detect a gap of `z` standard errors with 80% power: n (((c + 0.84) / z)^2 - 1),
    at least 0; None if |z| is below 1. `critical` (c) is corrected for simultaneous tests."""
    return ceil(items * max(((critical + POWER_QUANTILE) / z) ** 2 - 1, 0.0)) if abs(z) >= 1 else None


def further_labels(labels: float, critical: float, gap: float, joined: float, alone: float) -> int:
    """Return how many more labels would detect a gap with 80% power beside a judge; `joined` and `alone`: variance of
    the gap by labels with and without the judge, whose information stays the same."""
    wanted, judge = ((critical + POWER_QUANTILE) / gap) ** 2, max(1 / joined - 1 / alone, 0.0)
    return ceil(labels * max((wanted - judge) * alone - 1, 0.0))
