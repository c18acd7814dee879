"""Pair sums: all that a Bradley-Terry likelihood needs to know of the battles."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from podium.rankers.coded import Coded

DENSE = 3000
"""Up to this many entrants, pairs are counted in a dense square."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Sums over the battles of each pair that met, the entrant with the lower code first.

    Attributes:
        low, high: entrant codes, low < high, shape (pairs,).
        credit: sum of weight times what `low` earned, shape (pairs,).
        weight: sum of weights, above 0, shape (pairs,).
        entrants: number of entrants.
    """

    low: np.ndarray
    high: np.ndarray
    credit: np.ndarray
    weight: np.ndarray
    entrants: int


@dataclass(frozen=True, slots=True)
class PairCells:
    """Pair sums of each cluster, as sparse matrices of shape (clusters, pairs)."""

    pairs: Pairs
    credit: sparse.csr_matrix
    weight: sparse.csr_matrix

    def sums_of_draws(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return credit and weight of each pair when clusters count so often, shape (draws, pairs) each.

        Args:
            counts: shape (draws, clusters).
        """
        return np.asarray(self.credit.T @ counts.T).T, np.asarray(self.weight.T @ counts.T).T


def pair_sums(coded: Coded) -> Pairs:
    """Add up credits and weights per pair.

    Args:
        coded: battles; their order does not matter.
    """
    size = len(coded.entrants)
    if size > DENSE:
        return _sparse_sums(coded)
    return pairs_of_squares(*squares(coded))


def squares(coded: Coded) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted credit and weight of a against b, indexed [a, b], shape (entrants, entrants) each."""
    size = len(coded.entrants)
    cell = coded.a.astype(np.int64) * size + coded.b
    credit = np.bincount(cell, coded.weight * coded.credit, size * size)
    weight = np.bincount(cell, coded.weight, size * size)
    return credit.reshape(size, size), weight.reshape(size, size)


def pairs_of_squares(credit: np.ndarray, weight: np.ndarray) -> Pairs:
    """Fold squares indexed [a, b] into pairs with the lower code first.

    Args:
        credit: sum of weight times a's credit, shape (entrants, entrants).
        weight: sum of weights, same shape.
    """
    played = weight + weight.T
    low, high = np.nonzero(np.triu(played, 1))
    earned = credit[low, high] + (weight[high, low] - credit[high, low])
    return Pairs(low, high, earned, played[low, high], len(weight))


def cells_by_cluster(coded: Coded, pairs: Pairs) -> PairCells:
    """Add up credits and weights per cluster and pair."""
    pair, credit = pair_of(coded, pairs)
    shape = (coded.clusters, len(pairs.low))
    return PairCells(
        pairs,
        sparse.csr_matrix((coded.weight * credit, (coded.cluster, pair)), shape=shape),
        sparse.csr_matrix((coded.weight, (coded.cluster, pair)), shape=shape),
    )


def pairs_of_draw(pairs: Pairs, credit: np.ndarray, weight: np.ndarray) -> Pairs:
    """Return the pair sums of one resample; pairs that were not drawn are left out.

    Args:
        credit, weight: shape (pairs,).
    """
    met = weight > 0
    return Pairs(pairs.low[met], pairs.high[met], credit[met], weight[met], pairs.entrants)


def pair_of(coded: Coded, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the pair of each battle and the credit of its lower code, shape (battles,) each."""
    key, credit = _keys(coded)
    return np.searchsorted(pairs.low * np.int64(pairs.entrants) + pairs.high, key), credit


def opponents(pairs: Pairs) -> np.ndarray:
    """Return the number of distinct opponents of each entrant, shape (entrants,)."""
    return np.bincount(pairs.low, minlength=pairs.entrants) + np.bincount(pairs.high, minlength=pairs.entrants)


def win_rates(pairs: Pairs) -> np.ndarray:
    """Return the mean over opponents of the mean credit against each, NaN without any, shape (entrants,).

    Each opponent counts once, however often it was met, so an uneven schedule does not tilt it.
    """
    share, size = pairs.credit / pairs.weight, pairs.entrants
    total = np.bincount(pairs.low, share, size) + np.bincount(pairs.high, 1 - share, size)
    met = opponents(pairs)
    return np.divide(total, met, out=np.full(size, np.nan), where=met > 0)


def _sparse_sums(coded: Coded) -> Pairs:
    size = len(coded.entrants)
    key, credit = _keys(coded)
    distinct, pair = np.unique(key, return_inverse=True)
    return Pairs(
        distinct // size,
        distinct % size,
        np.bincount(pair, coded.weight * credit),
        np.bincount(pair, coded.weight),
        size,
    )


def _keys(coded: Coded) -> tuple[np.ndarray, np.ndarray]:
    """Return a number per unordered pair, and the credit of its lower code, shape (battles,) each."""
    low = np.minimum(coded.a, coded.b).astype(np.int64)
    credit = np.where(coded.a < coded.b, coded.credit, 1 - coded.credit)
    return low * len(coded.entrants) + np.maximum(coded.a, coded.b), credit
