"""The scale correction: the factor from a judge's distances between models to human ones, and the spread it leaves."""

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from podium.nouns.calibration import ScaleCorrection

FEWEST = 3
"""Models from which on a slope and the scatter around it are estimated."""
LOG_KAPPA = np.linspace(-2.5, 4.0, 300)
PRIOR_SCALE = 0.5
"""Of the Cauchy prior on log kappa: half of it lies between factors of 0.6 and 1.6."""
SMALLEST = 0.05
"""Factor below which the judge's ratings tell nothing of human ratings."""


def estimate_scale_correction(judge: np.ndarray, human: np.ndarray) -> ScaleCorrection:
    """Estimate the factor kappa in human = kappa * judge + error.

    Posterior with a Cauchy(0, 0.5) prior on log kappa and Jeffreys' on the error's variance, integrated out; always
    positive. Fewer than three models give 1, without an interval. Log-strengths may have any origin.
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


def is_uninformative(judge: np.ndarray, human: np.ndarray, scale_correction: ScaleCorrection) -> bool:
    """Return whether the judge's ratings do not rise with human ratings, or may not."""
    if scale_correction.low is None:
        return False
    rises = float((judge - judge.mean()) @ (human - human.mean())) > 0
    return not rises or scale_correction.low < SMALLEST


def estimate_spread(residual: np.ndarray, variance: np.ndarray) -> float:
    """Return the standard deviation of residuals beyond their sampling variance, by maximum likelihood; often 0."""
    if len(residual) < 2:
        return 0.0

    def loss(c: float) -> float:
        total = variance + c
        return float(np.sum(np.log(total) + residual**2 / total))

    def derivative(c: float) -> float:
        total = variance + c
        return float(np.sum(1 / total - (residual / total) ** 2))

    most = float(np.mean(residual**2)) * 4 + 1e-9
    c = float(minimize_scalar(loss, bounds=(0.0, most), method="bounded", options={"xatol": 1e-6 * most}).x)
    # A minimum is flat: the zero of the derivative is known to many more digits.
    low, high = 0.9 * c, 1.1 * c
    if derivative(low) < 0 < derivative(high):
        c = float(brentq(derivative, low, high, xtol=1e-12 * c))
    return float(np.sqrt(c)) if loss(c) < loss(0.0) else 0.0
