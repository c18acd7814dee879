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
        tied, met = codes[:-1] * pairs.models + codes[1:], pairs.first * pairs.models + pairs.second
        new = tied[~np.isin(tied, met)]
        credit = np.append(np.where(np.isin(met, tied), pairs.weight / 2, pairs.credit), np.full(len(new), 0.5))
        first, second = np.divmod(np.append(met, new), pairs.models)
        return Pairs(first, second, credit, np.append(pairs.weight, np.ones(len(new))), pairs.models)

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
    own = ladder.restrict_to(models)
    if own is None:
        raise ValueError("no model is on the ladder")
    place = np.array([models.index(name) for name in own.models])
    order, size = np.argsort(place), len(models)
    covariance = np.diag(np.square(own.se)) if own.covariance is None else np.array(own.covariance)
    covariance = covariance[np.ix_(order, order)] / POINTS**2 + SMALLEST_VARIANCE * np.eye(len(order))
    elo, codes = np.array(own.elo)[order], place[order]
    mean, precision, is_rated = np.zeros(size), np.zeros((size, size)), np.zeros(size, dtype=bool)
    mean[codes], is_rated[codes] = (elo - elo.mean()) / POINTS, True
    precision[np.ix_(codes, codes)] = linalg.inv(covariance)
    return LadderPrior(mean, covariance, precision, is_rated, float(elo.mean()))
