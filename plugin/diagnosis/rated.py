"""Bradley-Terry ratings that remember what each item adds to their error, so that differences keep honest intervals."""

from dataclasses import dataclass

import numpy as np

from podium.battles import Battles
from podium.diagnosis.estimates import Clusters, clusters_of
from podium.rankers.coded import code
from podium.rankers.identification import strengths_of
from podium.rankers.scale import POINTS


@dataclass(frozen=True, slots=True)
class Rated:
    """Ratings of entrants, and the influence of every cluster on them.

    Attributes:
        entrants: names by position.
        elo: centred on 0, shape (entrants,).
        influence: what each cluster adds to the error of each rating, Elo points, shape (clusters, entrants).
        clusters: one code per row of `influence`.
        bounded: whether the data bound the rating, shape (entrants,).
        battles: behind them.
    """

    entrants: tuple[str, ...]
    elo: np.ndarray
    influence: np.ndarray
    clusters: Clusters
    bounded: np.ndarray
    battles: int

    def of(self, names: tuple[str, ...]) -> "Rated":
        """Return the ratings of some entrants, in this order."""
        place = [self.entrants.index(name) for name in names]
        return Rated(
            names,
            self.elo[place],
            self.influence[:, place],
            self.clusters,
            self.bounded[place],
            self.battles,
        )

    @property
    def known(self) -> tuple[str, ...]:
        """Names of the entrants whose rating the data bound."""
        return tuple(name for name, sound in zip(self.entrants, self.bounded, strict=True) if sound)


def rated(battles: Battles, credit: np.ndarray | None = None) -> Rated:
    """Fit Bradley-Terry with lambda = 0.01, as `podium rank` does.

    Args:
        battles: of one judge.
        credit: what a earned instead, NaN where a battle is to be left out, shape (battles,).

    Raises:
        NotIdentifiedError: nothing is readable, or the entrants fall into groups that never met.
        NotConvergedError: the fit did not reach its maximum.
    """
    coded = code(battles, credit=credit)
    strengths = strengths_of(coded)
    influence = POINTS * strengths.influence(strengths.surpluses(coded))
    used = battles.readable if credit is None else ~np.isnan(credit)
    seen = clusters_of(battles).take(used)
    return Rated(
        coded.entrants,
        POINTS * strengths.theta,
        influence - influence.mean(axis=1, keepdims=True),
        Clusters(np.unique(seen.code), seen.unit),
        ~strengths.graph.separated,
        len(coded.a),
    )


def fixed(scores: dict[str, float]) -> Rated:
    """Return ratings that are given, and without error."""
    names = tuple(sorted(scores))
    elo = np.array([scores[name] for name in names])
    nothing = np.zeros((0, len(names)))
    return Rated(names, elo - elo.mean(), nothing, Clusters(np.zeros(0, dtype=np.int64), "item"), elo == elo, 0)
