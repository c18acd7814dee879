"""Decisiveness: does a judge push win rates to the extremes, compared with people? A Beta CDF says by how much."""

from functools import lru_cache

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betainc

from podium.errors import NotIdentifiedError

LOWEST, HIGHEST = 0.1, 10_000.0
"""Range of alpha. Source: Gera et al. 2025, appendix F."""
STEPS = 193
NODES = 1025
REFINED = 17


def curve(gold: np.ndarray, alpha: float) -> np.ndarray:
    """Return the win rate that a judge of this decisiveness has where people have `gold`, same shape.

    It is the Beta(alpha, alpha) distribution function: the diagonal for alpha = 1, a step for large alpha.

    >>> curve(np.array([0.2, 0.5]), 1.0).tolist()
    [0.2, 0.5]
    """
    return betainc(alpha, alpha, gold)


def absolute_error(judge: np.ndarray, gold: np.ndarray, alpha: float) -> float:
    """Return the weighted sum of absolute errors; the weight is the distance of the judge's win rate from a half.

    Source: Gera et al. 2025, appendix F.
    """
    return float(np.sum(np.abs(judge - 0.5) * np.abs(judge - curve(gold, alpha))))


def decisiveness(judge: np.ndarray, gold: np.ndarray) -> float:
    """Return alpha of the Beta CDF nearest to the judge's win rates.

    Args:
        judge, gold: win rates of the same pairs, in [0, 1], shape (pairs,) each.

    Raises:
        NotIdentifiedError: no alpha is better than all others, or the best lies at an end of [0.1, 10000].
    """
    told = (np.abs(gold - 0.5) > 1e-9) & (np.abs(judge - 0.5) > 1e-9)
    if not told.any():
        raise NotIdentifiedError(
            "no pair has a win rate other than a half both with the judge and in the gold standard"
        )
    judge, gold = judge[told], gold[told]
    grid = np.log(alphas())
    errors = np.array([absolute_error(judge, gold, float(np.exp(one))) for one in grid])
    best = int(np.argmin(errors))
    if np.isclose(errors.min(), errors.max(), rtol=1e-9, atol=1e-12):
        raise NotIdentifiedError("every alpha fits the win rates equally well: they are all 0, a half, or 1")
    as_good = errors <= errors.min() + 1e-9 * np.sum(np.abs(judge - 0.5))
    if as_good[0] or as_good[-1]:
        shape = "nearly all 0 or 1" if as_good[-1] else "nearly all a half"
        raise NotIdentifiedError(f"the judge's win rates are {shape}, beyond any alpha in [{LOWEST:g}, {HIGHEST:g}]")
    found = minimize_scalar(
        lambda one: absolute_error(judge, gold, float(np.exp(one))),
        bounds=(grid[best - 1], grid[best + 1]),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(np.exp(found.x if found.fun <= errors[best] else grid[best]))


def decisiveness_of_draws(judge: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Return alpha of every resample, at the ends of the range where it would lie beyond, shape (draws,).

    The curves are interpolated between tabulated ones: where two values of alpha fit all but equally well, it may be
    the other one.

    Args:
        judge: win rates, NaN where a pair was not drawn, shape (draws, pairs).
        gold: the same, shape (draws, pairs) or (pairs,).
    """
    known = ~np.isnan(judge) & ~np.isnan(gold)
    weight = np.where(known, np.abs(judge - 0.5), 0)
    target = np.nan_to_num(judge, nan=0.5)
    fixed = curves(gold) if gold.ndim == 1 else None
    found = np.empty(len(judge))
    for k in range(len(judge)):
        table = curves(np.nan_to_num(gold[k], nan=0.5)) if fixed is None else fixed
        found[k] = _best(table, target[k], weight[k])
    return np.where(weight.sum(axis=1) > 0, found, np.nan)


def alphas() -> np.ndarray:
    """Return the tabulated values of alpha, equally spaced by their logarithm, shape (193,)."""
    return np.exp(np.linspace(np.log(LOWEST), np.log(HIGHEST), STEPS))


def curves(gold: np.ndarray) -> np.ndarray:
    """Return the win rates of judges of every tabulated alpha, interpolated, shape (193, pairs)."""
    place = np.clip(gold, 0, 1) * (NODES - 1)
    left = np.minimum(place.astype(np.int64), NODES - 2)
    share, table = place - left, _tabulated()
    return table[:, left] * (1 - share) + table[:, left + 1] * share


@lru_cache(maxsize=1)
def _tabulated() -> np.ndarray:
    """Return the Beta CDF for every tabulated alpha at equally spaced arguments, shape (193, 1025)."""
    alpha = alphas()[:, None]
    return betainc(alpha, alpha, np.linspace(0, 1, NODES)[None, :])


def _best(table: np.ndarray, judge: np.ndarray, weight: np.ndarray) -> float:
    """Return the alpha of least error: the best tabulated one, then the best of 17 on either side of it."""
    coarse = np.abs(table - judge) @ weight
    best = int(np.argmin(coarse))
    low, high = max(best - 1, 0), min(best + 1, STEPS - 1)
    place = np.linspace(low, high, 2 * REFINED - 1)
    left = np.minimum(place.astype(np.int64), STEPS - 2)
    share = (place - left)[:, None]
    fine = np.abs(table[left] * (1 - share) + table[left + 1] * share - judge) @ weight
    step = (np.log(HIGHEST) - np.log(LOWEST)) / (STEPS - 1)
    return float(LOWEST * np.exp(step * place[int(np.argmin(fine))]))
