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
    """A posterior in which `flagged` models (`p_value` below `threshold`) rest on their labels; `is_open`: the
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

    def interval_parts(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the reach of the fit's intervals in standard errors, shape (models,), and what its square gains below
        and above, squared logits, shape (2, models), so that intervals of open models also hold those by own labels.

        Where the judge decides (pull 0), the two intervals err on different sides, and a one-sided quantile z is
        enough. The larger d, the test's z of a model's deviation, the less likely the judge is right about the model:
        own labels reach sqrt(z^2 + (d^2 - 1) / 2) of their errors, the fit sqrt(z^2 - (1 - pull^2) d^2 / 4).
        """
        fit, shared = self.fit, np.where(self.is_open, self.fit.pull**2, 1.0)
        squared, evidence = ndtri((1 - level) * (1 - shared / 2)) ** 2, ndtri(fit.p_value / 2) ** 2
        reach = np.sqrt(np.maximum(squared - np.where(self.is_open, (1 - shared) * evidence / 4, 0.0), 0.0))
        own = fit.own_se * np.sqrt(np.maximum(squared + (evidence - 1) / 2, 0.0))
        away, plain = fit.own - fit.theta, reach * np.sqrt(np.diag(fit.covariance))
        wider = np.maximum([own - away, own + away], plain) ** 2 - plain**2
        return reach, np.where(self.is_open, wider, 0.0)


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
