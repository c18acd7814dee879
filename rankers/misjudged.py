"""Models that a judge may misjudge, found from few labels: each is tested against the fit without it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from podium.checks import CHECKS
from podium.rankers.coded import CodedBattles
from podium.rankers.random_effects import SPREAD_PRIOR, RandomEffects, fit_random_effects
from podium.rankers.scale import POINTS

FALSE_FLAGS = CHECKS["misjudged models"].threshold


@dataclass(frozen=True, slots=True)
class MisjudgedFit:
    """A posterior in which `flagged` models (`p_value` below `threshold`) rest on their labels alone; `is_open`: the
    others with labels; `excess`: the judge's rating minus that of the fit, logits. Arrays have shape (models,)."""

    fit: RandomEffects
    flagged: np.ndarray
    is_open: np.ndarray
    p_value: np.ndarray
    excess: np.ndarray
    threshold: float

    def summary(self, models: tuple[str, ...]) -> dict[str, Any]:
        """Return the flagged models with their tests, as diagnostics; `excess` in Elo points."""
        tests = zip(models, self.p_value.tolist(), (POINTS * self.excess).tolist(), self.flagged, strict=True)
        flagged = {name: {"p_value": p, "excess": excess} for name, p, excess, is_flagged in tests if is_flagged}
        return {"threshold": self.threshold, "models": flagged}

    def interval_widening(self, level: float) -> np.ndarray:
        """Return what squared reaches below and above gain, squared logits, shape (2, models), so that intervals of
        open models hold the one-sided bounds by their own labels: where a judge is wrong, the truth is near those."""
        fit = self.fit
        reach = ndtri((1 + level) / 2) * np.sqrt(np.diag(fit.covariance))
        away, own = fit.own - fit.theta, ndtri(level) * fit.own_se
        wider = np.maximum([own - away, own + away], reach) ** 2 - reach**2
        return np.where(self.is_open, wider, 0.0)


def fit_with_misjudged(
    labels: CodedBattles, phi: np.ndarray, spread_prior: float = SPREAD_PRIOR, false_flags: float = FALSE_FLAGS
) -> MisjudgedFit:
    """Test each model against the fit without it; fit again without the judge's ratings of those that are flagged."""
    fit = fit_random_effects(labels, phi, spread_prior)
    labelled = labels.battles_by_model() > 0
    p_value, threshold = np.where(labelled, fit.p_value, 1.0), false_flags / int(labelled.sum())
    flagged = p_value < threshold
    if flagged.any():
        fit = fit_random_effects(labels, phi, spread_prior, misjudged=flagged)
    excess = fit.kappa[0] * (phi - phi.mean()) - fit.theta
    return MisjudgedFit(fit, flagged, labelled & ~flagged, p_value, excess, threshold)
