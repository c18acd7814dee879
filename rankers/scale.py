"""The Elo scale: log-strengths times 400 / ln 10, 1500 at the mean."""

from dataclasses import dataclass, replace

import numpy as np

from podium.errors import UsageError, find_name
from podium.rankers.intervals import Estimate

POINTS = 400 / np.log(10)
"""Elo points per logit."""
MEAN = 1500.0


@dataclass(frozen=True, slots=True)
class EloScale:
    """Where zero is: the entrants whose mean is 1500, and one entrant pinned to a value instead.

    Attributes:
        centre: codes of the entrants whose mean log-strength is the origin, shape (n,).
        pin: (code, value), or None.
    """

    centre: np.ndarray
    pin: tuple[int, float] | None

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """Turn log-strengths, shape (..., entrants), into Elo with mean 1500, not yet pinned."""
        return MEAN + POINTS * (theta - theta[..., self.centre].mean(axis=-1, keepdims=True))

    def pin_estimate(self, estimate: Estimate) -> Estimate:
        """Shift scores and intervals so that the pinned entrant has its value; errors and ranks stay."""
        if self.pin is None:
            return estimate
        code, value = self.pin
        shift = value - estimate.score[code]
        return replace(estimate, score=estimate.score + shift, low=estimate.low + shift, high=estimate.high + shift)

    def covariance(self, covariance: np.ndarray) -> np.ndarray:
        """Turn a covariance of log-strengths into that of centred Elo scores."""
        # A single entrant as the centre is a pin: its own error must not become zero.
        centre = self.centre if len(self.centre) > 1 else np.arange(len(covariance))
        rows = covariance - covariance[centre].mean(axis=0)
        centred = rows - rows[:, centre].mean(axis=1, keepdims=True)
        return POINTS**2 * centred


def scale_of(entrants: tuple[str, ...], centre: tuple[str, ...] | None, pin: str | None) -> EloScale:
    """Read the options `center` (names) and `pin` (`MODEL:1000`).

    Raises:
        UsageError: an unknown entrant, or a pin without a number.
    """
    codes = np.array([entrants.index(name) for name in centre] if centre else range(len(entrants)))
    return EloScale(codes, _pin(entrants, pin) if pin else None)


def _pin(entrants: tuple[str, ...], pin: str) -> tuple[int, float]:
    model, _, text = pin.rpartition(":")
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not model or not np.isfinite(value):
        raise UsageError(f"pin={pin!r}: write pin=MODEL:NUMBER, for example pin={entrants[0]}:1000")
    return entrants.index(find_name("entrant", model, entrants)), value
