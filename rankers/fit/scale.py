"""The Elo scale: 400 / ln 10 points per logit, 1500 at the mean of the models with enough items."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.defaults import MEAN as MEAN
from podium.errors import UsageError
from podium.known_names import find_name
from podium.rankers.fit.pairs import WEIGHT_ROUNDING

POINTS = 400 / np.log(10)
"""Elo points per logit."""


@dataclass(frozen=True, slots=True)
class EloScale:
    """The map from log-strengths to Elo scores.

    Attributes:
        weights: weights of the models in the mean that has the score `origin`; they add up to 1,
            shape (models,). A pinned model has the weight 1. All are 0 on a ladder.
        origin: Elo score of this mean; on a ladder, Elo score of a log-strength of 0.
        pinned: code of the model whose score is set to `origin`; None if `origin` is the score of
            a mean.
    """

    weights: np.ndarray
    origin: float = MEAN
    pinned: int | None = None

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """Convert log-strengths, shape (..., models), to Elo scores."""
        return self.origin + POINTS * (theta - (theta @ self.weights)[..., None])

    def covariance(self, covariance: np.ndarray) -> np.ndarray:
        """Convert a covariance V of log-strengths to the covariance of Elo scores.

        The covariance of models a and b is POINTS^2 (e_a - w)' V (e_b - w), with unit vectors e
        and the weights w. If a single model has all the weight and is not pinned, w are equal
        weights instead.
        """
        weights = self.weights
        if self.pinned is None and np.count_nonzero(weights) == 1:
            # The mean of a single model (centre=MODEL) would give this model an error of zero,
            # which is right for a pinned model only. The errors are those of the plain mean.
            weights = np.full(len(weights), 1 / len(weights))
        row_centred = covariance - weights @ covariance
        return POINTS**2 * (row_centred - (row_centred @ weights)[:, None])

    def summary(self, models: tuple[str, ...]) -> dict[str, Any]:
        """Return the origin of the scale for the JSON.

        If a model is pinned, the only key is `pinned`, with its name. If some models count less
        than others in the mean, the keys are `well_known`, the number of models with the largest
        weight, and `weights`, the weights of the models that count less, by name, divided by the
        largest weight. The result is empty if all models in the mean have equal weights, and on a
        ladder.
        """
        if self.pinned is not None:
            return {"pinned": models[self.pinned]}
        largest = self.weights.max()
        is_light = (self.weights > 0) & (self.weights < largest * (1 - WEIGHT_ROUNDING))
        light_models = np.flatnonzero(is_light)
        if not light_models.size:
            return {}
        well_known = int(np.sum(self.weights >= largest * (1 - WEIGHT_ROUNDING)))
        return {
            "well_known": well_known,
            "weights": {models[k]: float(self.weights[k] / largest) for k in light_models},
        }


def elo_scale(
    models: tuple[str, ...],
    is_in_mean: np.ndarray,
    items: np.ndarray,
    centre: tuple[str, ...] | None,
    pin: str | None,
) -> EloScale:
    """Build the Elo scale.

    Args:
        models: names of all models.
        is_in_mean: mask of the models whose mean is 1500 by default, shape (models,).
        items: number of items of each model, from which the weights in this mean follow, shape
            (models,).
        centre: names of the models whose plain mean is 1500 instead, if given. All of them must be
            in `models`.
        pin: `MODEL:1000` sets the score of a model. It replaces the mean, and `centre`. None or an
            empty text pins no model.

    Raises:
        UsageError: `pin` has another form or names an unknown model.
    """
    if pin:
        return _pinned_scale(models, pin)
    if centre:
        is_centre = np.array([name in centre for name in models])
        return EloScale(is_centre / len(centre))
    return EloScale(origin_weights(items, is_in_mean))


def _pinned_scale(models: tuple[str, ...], pin: str) -> EloScale:
    """Build the Elo scale on which a model has the score that `pin` (MODEL:NUMBER) gives.

    Raises:
        UsageError: `pin` has another form, has a number that is not finite, or names an unknown
            model.
    """
    model, _, number = pin.rpartition(":")
    score = np.nan
    with suppress(ValueError):
        score = float(number)
    if not model or not np.isfinite(score):
        raise UsageError(f"pin={pin!r}: write pin=MODEL:NUMBER, for example pin={models[0]}:1000")
    code = models.index(find_name("model", model, models))
    weights = np.zeros(len(models))
    weights[code] = 1.0
    return EloScale(weights=weights, origin=score, pinned=code)


def origin_weights(items: np.ndarray, is_in_mean: np.ndarray) -> np.ndarray:
    """Return the weights of models in the mean that is the origin, which add up to 1, shape
    (models,).

    They are proportional to min(1, 2 items / median items), and 0 for models outside the mask
    `is_in_mean`. Models with few items count less, because the error of the origin enters the
    error of every score.
    """
    median_items = np.median(items[is_in_mean])
    weights = np.where(is_in_mean, np.minimum(1.0, 2 * items / median_items), 0.0)
    return weights / weights.sum()
