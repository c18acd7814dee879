"""Ratings of a ladder as a Gaussian prior of log-strengths."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from podium.nouns.ladder import Ladder
from podium.rankers.pairs import Pairs
from podium.rankers.scale import POINTS, EloScale

SMALLEST_VARIANCE = 1e-10
"""Logits squared, added to the variances of ratings: an exact one has a standard error of 0.002 Elo."""
NEARLY_ALL = 0.95
"""Share of a newcomer's credit from which, with nobody rated above it, its rating has a lower end only."""


@dataclass(frozen=True, slots=True)
class LadderPrior:
    """The prior of log-strengths by model: `mean` (0 for newcomers), `covariance` of the rated models, in their order,
    and its inverse as `precision` of all models, zero for newcomers; log-strength 0 is `origin` in Elo."""

    mean: np.ndarray
    covariance: np.ndarray
    precision: np.ndarray
    is_rated: np.ndarray
    origin: float

    @property
    def scale(self) -> EloScale:
        """The ladder's Elo scale."""
        return EloScale(np.zeros(len(self.mean)), self.origin)

    def join_rated(self, pairs: Pairs) -> Pairs:
        """Return pairs in which neighbours among the rated models are tied, as the ladder bounds their difference."""
        codes = np.flatnonzero(self.is_rated)
        a, b, tie = codes[:-1], codes[1:], np.full(len(codes) - 1, 0.5)
        other = pairs.take(~np.isin(pairs.first * pairs.models + pairs.second, a * pairs.models + b))
        credit, weight = np.append(other.credit, tie), np.append(other.weight, 2 * tie)
        return Pairs(np.append(other.first, a), np.append(other.second, b), credit, weight, pairs.models)

    def sides_beyond(self, pairs: Pairs, theta: np.ndarray) -> np.ndarray:
        """Return 1 for newcomers above all rated models that win nearly all battles with them, -1 for those below that
        lose nearly all, else 0, shape (models,)."""
        rated, against = self.is_rated, pairs.take(self.is_rated[pairs.first] != self.is_rated[pairs.second])
        earned = against.sum_by_model(against.credit, against.weight - against.credit)
        total = np.maximum(against.sum_by_model(against.weight, against.weight), 1e-300)
        above = (theta > theta[rated].max()) & (earned >= NEARLY_ALL * total)
        below = (theta < theta[rated].min()) & (earned <= (1 - NEARLY_ALL) * total)
        return np.where(rated, 0, above.astype(int) - below)


def build_prior(ladder: Ladder, models: Sequence[str]) -> LadderPrior:
    """Build the prior of some models, of which the ladder must have at least one."""
    codes = np.array([k for k, name in enumerate(models) if name in ladder.models])
    order, size = [ladder.models.index(models[k]) for k in codes], len(models)
    covariance = np.diag(np.square(ladder.se)) if ladder.covariance is None else np.array(ladder.covariance)
    covariance = covariance[np.ix_(order, order)] / POINTS**2 + SMALLEST_VARIANCE * np.eye(len(order))
    elo, mean, precision = np.array(ladder.elo)[order], np.zeros(size), np.zeros((size, size))
    mean[codes], precision[np.ix_(codes, codes)] = (elo - elo.mean()) / POINTS, linalg.inv(covariance)
    return LadderPrior(mean, covariance, precision, np.isin(np.arange(size), codes), float(elo.mean()))
