"""Who beats whom: what every pair of entrants made of each other, with errors by items, and who is where how often."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from podium.rankers.cells import Summed
from podium.rankers.coded import Coded

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
        with np.errstate(invalid="ignore"):
            reach = stats.t.ppf((1 + level) / 2, np.where(self.items > 1, self.items - 1, np.nan)) * self.se
        return np.clip(self.share - reach, 0, 1), np.clip(self.share + reach, 0, 1)

    def by_win_rate(self) -> list[str]:
        """Return the names by the mean share over opponents, largest first."""
        rates = np.nanmean(np.where(self.battles > 0, self.share, np.nan), axis=1)
        return [self.entrants[k] for k in np.argsort(-rates, kind="stable")]


def meetings_of(battles: Summed) -> Meetings:
    """Return the record of each pair.

    The error of a mean m over clusters g with sums S and weights W is sqrt(G / (G - 1) sum (S - m W)^2) / sum W.
    """
    size = len(battles.entrants)
    credit, weight, number, clusters, s2, sw, w2 = (np.zeros(size * size) for _ in range(7))
    for block in battles.blocks():
        pair, cell_credit, cell_weight, cell_number = _sums_by_cluster(block)
        products = (cell_credit**2, cell_credit * cell_weight, cell_weight**2)
        values = (cell_credit, cell_weight, cell_number, np.ones(len(pair)), *products)
        for total, value in zip((credit, weight, number, clusters, s2, sw, w2), values, strict=True):
            total += np.bincount(pair, value, size * size)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = credit / weight
        spread = np.maximum(s2 - 2 * mean * sw + mean**2 * w2, 0)
        se = np.where(clusters > 1, np.sqrt(clusters / (clusters - 1) * spread) / weight, np.nan)
    share, error, met, items = (each.reshape(size, size) for each in (mean, se, number, clusters))
    upper = np.triu(np.ones((size, size), dtype=bool), 1)
    return Meetings(
        battles.entrants,
        np.where(upper, share, 1 - share.T),
        np.where(upper, error, error.T),
        np.where(upper, met, met.T),
        np.where(upper, items, items.T),
    )


def _sums_by_cluster(block: Coded) -> tuple[np.ndarray, ...]:
    """Return, of each cluster and pair, the pair, credit of the lower code, weight and battles."""
    size = len(block.entrants)
    low, high = np.minimum(block.a, block.b).astype(np.int64), np.maximum(block.a, block.b).astype(np.int64)
    earned = np.where(block.a < block.b, block.credit, 1 - block.credit)
    key, place = np.unique((block.cluster.astype(np.int64) * size + low) * size + high, return_inverse=True)
    number = np.ones(len(low)) if block.number is None else block.number
    sums = (np.bincount(place, values) for values in (block.weight * earned, block.weight, number))
    return (key % (size * size), *sums)


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
    shares = np.zeros((len(score), len(score)))
    for rank in range(len(score)):
        shares[:, rank] = np.bincount(order[:, rank], minlength=len(score)) / draws
    return shares
