"""Split conformal prediction over models: rating +- q errors, q a quantile of |judge - human rating| / error."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from podium.nouns.calibration import Conformal, HeldOut, ScaleCorrection, models_needed
from podium.rankers.intervals import finite_or_none

FEWEST_FOR_T = 3
"""Scores that give an interval by t if the conformal one is infinite."""


def measure_conformal(
    held: Sequence[HeldOut], kind: str, scale_correction: ScaleCorrection | None, level: float, splits: int, seed: int
) -> Conformal:
    """Return the quantile of a kind's scores, and its coverage over half splits, the same ones for every kind."""
    known = [model for model in held if model.score(kind, scale_correction) is not None]
    residual = np.array([model.residual(kind) for model in known], dtype=np.float64)
    error = np.array([model.error(kind, scale_correction) for model in known], dtype=np.float64)
    q = finite_or_none(quantile(np.abs(residual) / error, level))
    few = q is None and scale_correction is not None
    tried = half_splits(residual, error, level, splits, np.random.default_rng(seed))
    coverage, width = tried or (None, None)
    alone = (None, None) if tried else leave_one_score_out(residual, error, level) or (None, None)
    return Conformal(
        level=level,
        n=len(known),
        q=q,
        t=finite_or_none(quantile_by_t(residual / error, level)) if few else None,
        coverage=None if coverage is None else float(coverage.mean()),
        median_width=None if width is None else float(width.mean()),
        splits=splits,
        coverage_range=None if coverage is None else (float(coverage.min()), float(coverage.max())),
        width_range=None if width is None else (float(width.min()), float(width.max())),
        median_se=float(np.median(error)) if len(error) else None,
        loo_coverage=alone[0],
        loo_width=alone[1],
    )


def quantile(scores: np.ndarray, level: float) -> float:
    """Return the ceil(level * (n + 1))-th smallest of n scores, infinite if there are fewer.

    Exact for levels of up to 12 digits. Source: Soft-Elo, section 3.3.
    """
    number = len(scores)
    index = math.ceil(level * (number + 1) * (1 - 1e-12))
    return float(np.sort(scores)[max(index, 1) - 1]) if index <= number else math.inf


def quantile_by_t(scores: np.ndarray, level: float) -> float:
    """Return t_{n - 1} sqrt(1 + 1 / n) times the root mean square score, infinite for fewer than three scores.

    Half a prediction interval if disagreement is normal, as in Higgins, Thompson and Spiegelhalter 2009, section 4.3.
    """
    number = len(scores)
    if number < FEWEST_FOR_T:
        return math.inf
    reach = stdtrit(number - 1, (1 + level) / 2) * math.sqrt(1 + 1 / number)
    return float(reach * np.sqrt(np.mean(scores**2)))


def half_splits(
    residual: np.ndarray, error: np.ndarray, level: float, splits: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return coverage and median width in the other half if a random half calibrates, shape (splits,) each.

    None if a half is too small for the level. Source: Soft-Elo, section 5.3 (27 of 55 models calibrate, 28 test).
    """
    number = len(residual)
    half = number // 2
    if half < models_needed(level) or splits < 1:
        return None
    coverage, width = np.empty(splits), np.empty(splits)
    # Halves are drawn from models in the order of their figures, so that their names change nothing.
    place = np.lexsort((error.round(6), np.abs(residual).round(6)))
    for k in range(splits):
        order = place[rng.permutation(number)]
        used, held = order[:half], order[half:]
        q = quantile(np.abs(residual[used]) / error[used], level)
        coverage[k] = np.mean(np.abs(residual[held]) <= q * error[held])
        width[k] = np.median(2 * q * error[held])
    return coverage, width


def leave_one_score_out(residual: np.ndarray, error: np.ndarray, level: float) -> tuple[float, float] | None:
    """Return coverage and median width (Elo points) of each model by the quantile of all others; None if too few."""
    scores = np.abs(residual) / error
    if len(scores) - 1 < models_needed(level):
        return None
    q = np.array([quantile(np.delete(scores, k), level) for k in range(len(scores))])
    return float(np.mean(scores <= q)), float(np.median(2 * q * error))
