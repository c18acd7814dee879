"""The Elo scale: 400 / ln 10 points per logit, 1500 at the mean of the models with enough items."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.defaults import MEAN as MEAN
from podium.errors import UsageError, find_name
from podium.rankers.fit.pairs import WEIGHT_ROUNDING

POINTS = 400 / np.log(10)
"""Elo points per logit."""


@dataclass(frozen=True, slots=True)
class EloScale:
    """The map from log-strengths to Elo: their mean by `weights` (sum 1), or the model with code
    `pinned`, has the score `origin`."""

    weights: np.ndarray
    origin: float = MEAN
    pinned: int | None = None

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """Convert log-strengths, shape (..., models), to Elo scores."""
        return self.origin + POINTS * (theta - (theta @ self.weights)[..., None])

    def covariance(self, covariance: np.ndarray) -> np.ndarray:
        """Convert a covariance V of log-strengths to that of Elo scores, POINTS^2 (e_a - w)' V (e_b
        - w)."""
        weights = self.weights
        if self.pinned is None and np.count_nonzero(weights) == 1:
            # A single model as the centre of slices is not pinned: its own error must not become
            # zero.
            weights = np.full(len(weights), 1 / len(weights))
        rows = covariance - weights @ covariance
        return POINTS**2 * (rows - (rows @ weights)[:, None])

    def summary(self, models: tuple[str, ...]) -> dict[str, Any]:
        """Return the pinned model, or the models with reduced weights in the origin; empty for the
        plain mean."""
        if self.pinned is not None:
            return {"pinned": models[self.pinned]}
        full = self.weights.max()
        light = np.flatnonzero((self.weights > 0) & (self.weights < full * (1 - WEIGHT_ROUNDING)))
        if not light.size:
            return {}
        known = int(np.sum(self.weights >= full * (1 - WEIGHT_ROUNDING)))
        return {
            "well_known": known,
            "weights": {models[k]: float(self.weights[k] / full) for k in light},
        }


def elo_scale(
    models: tuple[str, ...],
    among: np.ndarray,
    items: np.ndarray,
    centre: tuple[str, ...] | None,
    pin: str | None,
) -> EloScale:
    """Build the Elo scale: `pin` (`MODEL:1000`), or 1500 at the mean of `centre`, or of those
    `among` by `items`."""
    if pin:
        model, _, number = pin.rpartition(":")
        with suppress(ValueError):
            if model and np.isfinite(float(number)):
                code = models.index(find_name("model", model, models))
                return EloScale(np.eye(len(models))[code], float(number), code)
        raise UsageError(f"pin={pin!r}: write pin=MODEL:NUMBER, for example pin={models[0]}:1000")
    if centre:
        return EloScale(np.array([name in centre for name in models]) / len(centre))
    return EloScale(origin_weights(items, among))


def origin_weights(items: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Return weights proportional to min(1, 2 items / median), 0 for models not in `among`: the
    error of a model with few items would enter the error of all other models."""
    weights = np.where(among, np.minimum(1.0, 2 * items / np.median(items[among])), 0.0)
    return weights / weights.sum()
