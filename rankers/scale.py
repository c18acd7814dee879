"""The Elo scale: log-strengths times 400 / ln 10, 1500 at the mean of the well-known models."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.errors import UsageError, find_name
from podium.nouns.calibration import MEAN as MEAN

POINTS = 400 / np.log(10)
"""Elo points per logit."""
SAME = 1e-9
"""Share by which two weights may differ by rounding."""


@dataclass(frozen=True, slots=True)
class EloScale:
    """Where zero is: a weighted mean of log-strengths, or one model pinned to a value.

    Attributes:
        weights: of log-strengths in the origin, sum 1, shape (models,).
        origin: Elo there.
        pinned: code of the pinned model, or None.
    """

    weights: np.ndarray
    origin: float = MEAN
    pinned: int | None = None

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """Turn log-strengths, shape (..., models), into Elo."""
        return self.origin + POINTS * (theta - (theta @ self.weights)[..., None])

    def covariance(self, covariance: np.ndarray) -> np.ndarray:
        """Turn a covariance of log-strengths into that of Elo scores, (e_a - w)' V (e_b - w)."""
        weights = self.weights
        if self.pinned is None and np.count_nonzero(weights) == 1:
            # A single model as the centre of slices is no pin: its own error must not become zero.
            weights = np.full(len(weights), 1 / len(weights))
        rows = covariance - weights @ covariance
        return POINTS**2 * (rows - (rows @ weights)[:, None])

    def summary(self, models: tuple[str, ...]) -> dict[str, Any]:
        """Return what a reader must know of the origin; nothing where it is the plain mean.

        Args:
            models: names by code.
        """
        if self.pinned is not None:
            return {"pinned": models[self.pinned]}
        full = self.weights.max()
        light = np.flatnonzero((self.weights > 0) & (self.weights < full * (1 - SAME)))
        if not light.size:
            return {}
        known = int(np.sum(self.weights >= full * (1 - SAME)))
        return {"well_known": known, "weights": {models[k]: float(self.weights[k] / full) for k in light}}


def elo_scale(
    models: tuple[str, ...], among: np.ndarray, items: np.ndarray, centre: tuple[str, ...] | None, pin: str | None
) -> EloScale:
    """Return the scale whose origin is the mean of the well-known models, or of those of `centre`, or the pin.

    Args:
        models: names by code.
        among: whose strengths may enter the mean, shape (models,).
        items: on which each has battles, shape (models,).
        centre: names whose plain mean is 1500 instead.
        pin: `MODEL:1000`.

    Raises:
        UsageError: an unknown model, or a pin without a number.
    """
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
    """Return weights in proportion to min(1, 2 items / median), shape (models,), 0 for those not `among`.

    Whoever has half as many items as is usual counts fully, and a poorly known one next to nothing: its error would be
    everybody's.

    >>> origin_weights(np.array([40, 40, 40, 2]), np.array([True, True, True, True])).round(3).tolist()
    [0.323, 0.323, 0.323, 0.032]
    """
    weights = np.where(among, np.minimum(1.0, 2 * items / np.median(items[among])), 0.0)
    return weights / weights.sum()
