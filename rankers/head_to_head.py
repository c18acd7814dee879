"""Who beats whom: what every pair of entrants made of each other, with errors by items, and who is where how often."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.rankers.cells import Summed, pairs_of
from podium.rankers.intervals import t_reach
from podium.rankers.pairs import cells_by_cluster, pair_of

DRAWS = 4000
"""Of the ratings, for the shares of ranks: such a share errs by less than 0.8 points of a hundred."""
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Meetings:
    """Records of all pairs; row against column, all of shape (entrants, entrants).

    Attributes:
        entrants: names.
        share: mean credit of the row's entrant, NaN where they never met.
        se: its standard error, clustered by item, G / (G - 1); NaN below two items.
        battles: readable battles.
        items: clusters in which they met.
    """

    entrants: tuple[str, ...]
    share: np.ndarray
    se: np.ndarray
    battles: np.ndarray
    items: np.ndarray

    def in_order(self, names: Sequence[str]) -> "Meetings":
        """Return the records of these entrants, in this order; those without a battle leave."""
        known = {name: k for k, name in enumerate(self.entrants)}
        codes = [known[name] for name in names if name in known]
        square = np.ix_(codes, codes)
        parts = (self.share[square], self.se[square], self.battles[square], self.items[square])
        return Meetings(tuple(self.entrants[k] for k in codes), *parts)

    def intervals(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return ends of the shares' intervals in [0, 1], by t with G - 1 degrees; NaN where there is no error."""
        reach = t_reach(self.items, level) * self.se
        return np.clip(self.share - reach, 0, 1), np.clip(self.share + reach, 0, 1)

    def by_win_rate(self) -> list[str]:
        """Return the names by the mean share over opponents, largest first."""
        rates = np.nanmean(np.where(self.battles > 0, self.share, np.nan), axis=1)
        return [self.entrants[k] for k in np.argsort(-rates, kind="stable")]


def meetings_of(battles: Summed) -> Meetings:
    """Return the record of each pair.

    The error of a mean m over clusters g with sums S and weights W is sqrt(G / (G - 1) sum (S - m W)^2) / sum W.
    """
    pairs, size = pairs_of(battles), len(battles.entrants)
    low, high, items, mean = pairs.low, pairs.high, np.asarray(pairs.items), pairs.credit / pairs.weight
    number, squares = np.zeros((2, len(low)))
    for block in battles.blocks():
        cells = cells_by_cluster(block, pairs)
        pair, surplus = cells.weight.indices, cells.credit.data - mean[cells.weight.indices] * cells.weight.data
        squares += np.bincount(pair, surplus**2, len(low))
        number += np.bincount(pair_of(block, pairs)[0], block.number, len(low))
    factor = np.where(items > 1, items / np.maximum(items - 1, 1), np.nan)
    share, error = np.full((2, size, size), np.nan)
    share[low, high], share[high, low] = mean, 1 - mean
    error[low, high] = error[high, low] = np.sqrt(factor * squares) / pairs.weight
    met, clusters = np.zeros((2, size, size))
    met[low, high] = met[high, low] = number
    clusters[low, high] = clusters[high, low] = items
    return Meetings(battles.entrants, share, error, met, clusters)


def rank_shares(score: np.ndarray, covariance: np.ndarray, rng: np.random.Generator, draws: int = DRAWS) -> np.ndarray:
    """Return how often each entrant takes each rank in draws of the scores, shape (entrants, ranks).

    Args:
        score: shape (entrants,).
        covariance: of the scores, by the sandwich, shape (entrants, entrants); draws are normal.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, ROUNDING))
    drawn = score + rng.standard_normal((draws, len(score))) @ root.T
    order = np.argsort(-drawn, axis=1)
    return np.stack([np.bincount(taken, minlength=len(score)) for taken in order.T], axis=1) / draws
