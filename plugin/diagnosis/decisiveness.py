"""Decisiveness, accuracy, error and bias of a judge's win rates, compared with gold win rates.

The decisiveness alpha says how much more extreme the judge's win rates are than the gold ones; 1
means equally extreme. Source: Gera et al. 2025, JuStRank.
"""

from functools import lru_cache

import numpy as np

from podium.errors import NotIdentifiedError
from podium.rankers.errors.intervals import LEAST_USABLE_SHARE
from podium.rankers.fit.coded import ratio_or_nan

LOWEST_ALPHA = 0.1
"""Smallest alpha that is fitted. Source: appendix F."""
HIGHEST_ALPHA = 10_000.0
"""Largest alpha that is fitted. Source: appendix F."""
TABULATED_ALPHAS = 193
"""Number of tabulated values of alpha, whose logarithms are equally spaced (`LOG_ALPHAS`)."""
TABULATED_RATES = 1025
"""Number of gold win rates, equally spaced in [0, 1], at which a curve is tabulated."""
ALPHAS_BETWEEN = 17
"""Number of values of alpha that are tried from one tabulated value to the next, both included.

Between tabulated values, curves are interpolated.
"""
LOG_ALPHAS = np.linspace(np.log(LOWEST_ALPHA), np.log(HIGHEST_ALPHA), TABULATED_ALPHAS)
"""Natural logarithms of the tabulated values of alpha, ascending, shape (193,)."""


def judge_curve(gold: np.ndarray, alpha: float) -> np.ndarray:
    """Return the win rates by a judge of decisiveness alpha, given the gold win rates.

    The win rates are the CDF of Beta(alpha, alpha) at the gold win rates. For alpha = 1, they
    equal the gold win rates.

    Args:
        gold: win rates in [0, 1], any shape.
        alpha: decisiveness, above 0.
    """
    from scipy.special import betainc

    return betainc(alpha, alpha, gold)


def absolute_error(judge: np.ndarray, gold: np.ndarray, alpha: float) -> float:
    """Return what the fit of alpha minimizes: the sum over pairs of |judge - 0.5| |judge - curve|.

    Args:
        judge: win rates by the judge, shape (pairs,).
        gold: win rates by the gold standard, shape (pairs,).
        alpha: decisiveness of the curve (`judge_curve`), above 0.
    """
    distance_from_even = np.abs(judge - 0.5)
    return float(np.sum(distance_from_even * np.abs(judge - judge_curve(gold, alpha))))


def decisiveness(judge: np.ndarray, gold: np.ndarray) -> float:
    """Fit alpha, the decisiveness of a judge, to win rates.

    Alpha minimizes `absolute_error`. Pairs with a win rate of 0.5 by the judge or by the gold
    standard say nothing about alpha and are left out.

    Args:
        judge: win rates by the judge, without NaN, shape (pairs,).
        gold: win rates by the gold standard, without NaN, shape (pairs,).

    Returns:
        Alpha, between `LOWEST_ALPHA` and `HIGHEST_ALPHA`.

    Raises:
        NotIdentifiedError: no pair is left, all alphas fit equally well, or the smallest or
            largest alpha fits as well as the best one.
    """
    # Pairs with a win rate of a half do not depend on alpha: every curve passes (0.5, 0.5).
    is_informative = (np.abs(gold - 0.5) > 1e-9) & (np.abs(judge - 0.5) > 1e-9)
    if not is_informative.any():
        raise NotIdentifiedError(
            "every pair has a win rate of a half by the judge or in the gold standard"
        )
    judge = judge[is_informative]
    gold = gold[is_informative]
    errors = np.array([absolute_error(judge, gold, alpha) for alpha in np.exp(LOG_ALPHAS).tolist()])
    nearest = int(np.argmin(errors))
    fits_as_well = errors <= errors.min() + 1e-9 * np.sum(np.abs(judge - 0.5))
    if fits_as_well.all():
        raise NotIdentifiedError(
            "every alpha fits equally well: the gold win rates are all 0, a half, or 1"
        )
    if fits_as_well[0] or fits_as_well[-1]:
        extreme = "nearly all 0 or 1" if fits_as_well[-1] else "nearly all a half"
        raise NotIdentifiedError(
            f"the judge's win rates are {extreme}, beyond any alpha in "
            f"[{LOWEST_ALPHA:g}, {HIGHEST_ALPHA:g}]"
        )
    from scipy.optimize import minimize_scalar

    # The minimum is searched between the tabulated neighbours of the best tabulated alpha.
    refined = minimize_scalar(
        lambda log_alpha: absolute_error(judge, gold, float(np.exp(log_alpha))),
        bounds=(LOG_ALPHAS[nearest - 1], LOG_ALPHAS[nearest + 1]),
        method="bounded",
        options={"xatol": 1e-9},
    )
    log_alpha = refined.x if refined.fun <= errors[nearest] else LOG_ALPHAS[nearest]
    return float(np.exp(log_alpha))


def decisiveness_of_draws(judge: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Fit alpha in every resample, by tabulated curves and then by interpolated curves.

    Alpha is in [`LOWEST_ALPHA`, `HIGHEST_ALPHA`]; both ends may be returned. Unlike
    `decisiveness`, the function raises no error if all alphas fit equally well: it returns one of
    them.

    Args:
        judge: win rates by the judge, NaN if unknown, shape (draws, pairs).
        gold: win rates by the gold standard, shape (draws, pairs), or (pairs,) if they are the
            same in all resamples.

    Returns:
        Alpha, shape (draws,), NaN where no known pair has a win rate by the judge other than 0.5.
    """
    is_known = ~np.isnan(judge) & ~np.isnan(gold)
    weights = np.where(is_known, np.abs(judge - 0.5), 0)
    targets = np.nan_to_num(judge, nan=0.5)
    fixed_table = _curves_at(gold) if gold.ndim == 1 else None
    alpha = np.full(len(judge), np.nan)
    for k in np.flatnonzero(weights.sum(axis=1) > 0):
        table = _curves_at(np.nan_to_num(gold[k], nan=0.5)) if fixed_table is None else fixed_table
        # First the best of all tabulated alphas, by the loss of `absolute_error`. Then alphas
        # between its two neighbours are tried, with linear interpolation of the curves. `place`
        # has their fractional positions in `LOG_ALPHAS`.
        nearest = int(np.argmin(np.abs(table - targets[k]) @ weights[k]))
        place = np.linspace(
            max(nearest - 1, 0),
            min(nearest + 1, TABULATED_ALPHAS - 1),
            2 * ALPHAS_BETWEEN - 1,
        )
        lower_place = np.minimum(place.astype(np.int64), TABULATED_ALPHAS - 2)
        share_of_right = (place - lower_place)[:, None]
        curves = table[lower_place] * (1 - share_of_right) + table[lower_place + 1] * share_of_right
        errors = np.abs(curves - targets[k]) @ weights[k]
        best_place = place[int(np.argmin(errors))]
        alpha[k] = LOWEST_ALPHA * np.exp((LOG_ALPHAS[1] - LOG_ALPHAS[0]) * best_place)
    return alpha


def _curves_at(gold: np.ndarray) -> np.ndarray:
    """Return `judge_curve` of all tabulated alphas at the gold win rates, shape (193, pairs).

    Curves are interpolated linearly between the tabulated gold win rates. Gold win rates are
    clipped to [0, 1]. The argument has shape (pairs,) and no NaN.
    """
    place = np.clip(gold, 0, 1) * (TABULATED_RATES - 1)
    lower_place = np.minimum(place.astype(np.int64), TABULATED_RATES - 2)
    share_of_right = place - lower_place
    table = _tabulated_curves()
    return table[:, lower_place] * (1 - share_of_right) + table[:, lower_place + 1] * share_of_right


@lru_cache(maxsize=1)
def _tabulated_curves() -> np.ndarray:
    """Return `judge_curve` of all tabulated alphas at `TABULATED_RATES` gold win rates.

    The shape is (193, 1025).
    """
    from scipy.special import betainc

    alpha = np.exp(LOG_ALPHAS)[:, None]
    return betainc(alpha, alpha, np.linspace(0, 1, TABULATED_RATES)[None, :])


def pair_agreement(judge: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Return the share of pairs whose win rates are on the same side of 0.5.

    A pair counts half if exactly one of its two rates is 0.5, and in full if both are.

    Args:
        judge: win rates by the judge, NaN if unknown, shape (..., pairs).
        gold: win rates by the gold standard, NaN if unknown, same shape.

    Returns:
        The share among pairs that are known on both sides, 0 if there are none, shape (...).
    """
    # Rates on the same side of 0.5, or both at 0.5, agree twice. A rate of 0.5 agrees once with any
    # other rate.
    agrees_above = (judge > 0.5) == (gold > 0.5)
    agrees_below = (judge < 0.5) == (gold < 0.5)
    return _mean_among((agrees_above * 1.0 + agrees_below) / 2, ~np.isnan(judge - gold))


def squared_error(judge: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Return the mean squared difference of win rates. Source: appendix E.

    Args:
        judge: win rates by the judge, NaN if unknown, shape (..., pairs).
        gold: win rates by the gold standard, NaN if unknown, same shape.

    Returns:
        The mean over known pairs, 0 if there are none, shape (...).
    """
    return _mean_among((judge - gold) ** 2, ~np.isnan(judge - gold))


def system_biases(
    first: np.ndarray, second: np.ndarray, surplus: np.ndarray, systems: int
) -> np.ndarray:
    """Return the mean surplus of the judge's win rates over the gold win rates, by system.

    Args:
        first: code of the first system of each pair, shape (pairs,).
        second: code of the second system, shape (pairs,).
        surplus: judge - gold win rate of the first system, NaN if unknown, shape (..., pairs).
            Unknown pairs are left out.
        systems: number of systems.

    Returns:
        The mean over opponents, NaN for a system without opponents, shape (..., systems).
    """
    # A surplus counts for the first system of a pair with its sign, and for the second reversed.
    sign = np.zeros((len(first), systems))
    sign[np.arange(len(first)), first] = 1
    sign[np.arange(len(first)), second] = -1
    has_surplus = ~np.isnan(surplus)
    opponents = has_surplus.astype(np.float64) @ np.abs(sign)
    total = np.where(has_surplus, surplus, 0) @ sign
    return ratio_or_nan(total, opponents)


def nan_standard_deviation(values: np.ndarray, fewest: float = 2) -> np.ndarray:
    """Return the standard deviation (divisor n - 1) along the last axis, leaving out NaN.

    The standard deviation is NaN if fewer than `fewest` values are known.
    """
    has_value = ~np.isnan(values)
    count = has_value.sum(axis=-1)
    squares = np.where(has_value, values - _mean_among(values, has_value)[..., None], 0) ** 2
    deviation = np.sqrt(squares.sum(axis=-1) / np.maximum(count - 1, 1))
    return np.where(count >= fewest, deviation, np.nan)


def standard_error_of_draws(draws: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each column over draws, leaving out NaN.

    The argument has shape (draws, columns), the result shape (columns,). A standard deviation is
    NaN if fewer than half of its draws, or fewer than 2, are known.
    """
    return nan_standard_deviation(draws.T, max(2, LEAST_USABLE_SHARE * len(draws)))


def _mean_among(values: np.ndarray, is_counted: np.ndarray) -> np.ndarray:
    """Return the mean of the values in a mask along the last axis, 0 where the mask has none."""
    return np.asarray(
        np.where(is_counted, values, 0).sum(axis=-1) / np.maximum(is_counted.sum(axis=-1), 1)
    )
