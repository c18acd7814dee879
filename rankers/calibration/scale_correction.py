"""The scale correction: how many times as far apart human ratings are as a judge's, and what is left of the
disagreement.

A margin is noisy, so the map from margins to preferences pulls every battle to 0.5; noise averages out over an
model's battles, the pull does not. Ratings come out on another scale than human ratings, by a factor that models
tell.
"""

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from podium.nouns.calibration import ScaleCorrection

FEWEST = 3
"""Models that tell a slope and the scatter round it; of two, the scatter may be nothing."""
LOG_KAPPA = np.linspace(-2.5, 4.0, 300)
PRIOR_SCALE = 0.5
"""Of the Cauchy prior on log kappa: half of it lies between factors of 0.6 and 1.6."""
SMALLEST = 0.05
"""A slope that may be below it says that the judge's ratings tell nothing of human ratings."""


def estimate_scale_correction(judge: np.ndarray, human: np.ndarray) -> ScaleCorrection:
    """Estimate how many times as far apart human log-strengths are as the judge's.

    The posterior of kappa in humans = kappa * judge + error, with a Cauchy(0, 0.5) prior on log kappa and Jeffreys' on
    the error's variance, integrated out; it is always positive. Fewer than three models give 1, without ends.

    Args:
        judge, humans: log-strengths on any origin, shape (models,) each.
    """
    number = len(judge)
    if number < FEWEST:
        return ScaleCorrection(1.0, None, None, None, number)
    s, h = judge - judge.mean(), human - human.mean()
    kappa = np.exp(LOG_KAPPA)
    # The sum of (h - kappa s)^2, without a pass over the models for every node.
    squares = np.maximum(h @ h - 2 * kappa * (s @ h) + kappa**2 * (s @ s), 1e-12 * max(h @ h, 1e-300))
    log_density = -(number - 1) / 2 * np.log(squares) - np.log1p((LOG_KAPPA / PRIOR_SCALE) ** 2)
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    mean, reached = float(weight @ kappa), np.cumsum(weight)
    low, high = (float(np.interp(share, reached, kappa)) for share in (0.05, 0.95))
    return ScaleCorrection(mean, float(np.sqrt(weight @ (kappa - mean) ** 2)), low, high, number)


def tells_nothing(judge: np.ndarray, human: np.ndarray, scale_correction: ScaleCorrection) -> bool:
    """Whether the judge's ratings do not rise with human ratings, or may not."""
    if scale_correction.low is None:
        return False
    rises = float((judge - judge.mean()) @ (human - human.mean())) > 0
    return not rises or scale_correction.low < SMALLEST


def estimate_spread(residual: np.ndarray, variance: np.ndarray) -> float:
    """Return the standard deviation of residuals beyond their sampling errors, by maximum likelihood; often 0.

    Args:
        residual: of the models, shape (models,).
        variance: of each by sampling, above 0, same shape.
    """
    if len(residual) < 2:
        return 0.0

    def loss(c: float) -> float:
        total = variance + c
        return float(np.sum(np.log(total) + residual**2 / total))

    def slope(c: float) -> float:
        total = variance + c
        return float(np.sum(1 / total - (residual / total) ** 2))

    most = float(np.mean(residual**2)) * 4 + 1e-9
    c = float(minimize_scalar(loss, bounds=(0.0, most), method="bounded", options={"xatol": 1e-6 * most}).x)
    # A minimum is flat: where the slope is zero is known to many more digits.
    low, high = 0.9 * c, 1.1 * c
    if slope(low) < 0 < slope(high):
        c = float(brentq(slope, low, high, xtol=1e-12 * c))
    return float(np.sqrt(c)) if loss(c) < loss(0.0) else 0.0
