"""Pair sums: all that a Bradley-Terry likelihood needs to know of the battles."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from podium.rankers.coded import CodedBattles, distinct_clusters

SAME = 1e-9
"""Share by which the weights of two opponents may differ by rounding."""
DENSE = 3000
"""Up to this many models, pairs are counted in a dense square."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Sums over the battles of each pair that met, the model with the lower code first.

    Attributes:
        first, second: model codes, first < second, shape (pairs,).
        credit: sum of weight times the credit of `first`, shape (pairs,).
        weight: sum of weights, above 0, shape (pairs,).
        models: number of models.
        items: clusters in which each pair met, shape (pairs,); None where nobody counted.
    """

    first: np.ndarray
    second: np.ndarray
    credit: np.ndarray
    weight: np.ndarray
    models: int
    items: np.ndarray | None = None

    def take(self, kept: np.ndarray) -> "Pairs":
        """Return the pairs of a mask."""
        items = None if self.items is None else self.items[kept]
        return Pairs(self.first[kept], self.second[kept], self.credit[kept], self.weight[kept], self.models, items)

    def pairs_among(self, kept: np.ndarray) -> "Pairs":
        """Return the pairs between the models of a mask, these coded anew, in their order."""
        among, codes = self.take(kept[self.first] & kept[self.second]), np.cumsum(kept) - 1
        return replace(among, first=codes[among.first], second=codes[among.second], models=int(kept.sum()))


@dataclass(frozen=True, slots=True)
class PairCells:
    """Pair sums of each cluster, as sparse matrices of shape (clusters, pairs)."""

    pairs: Pairs
    credit: sparse.csr_matrix
    weight: sparse.csr_matrix

    @property
    def items(self) -> np.ndarray:
        """Number of items (clusters) on which each pair has a verdict, shape (pairs,)."""
        return np.diff(self.weight.tocsc().indptr)

    def matrix_of(self, values: np.ndarray) -> sparse.csr_matrix:
        """Return other values of the same cells, in the order of `weight.data`, shape (clusters, pairs)."""
        return sparse.csr_matrix((values, self.weight.indices, self.weight.indptr), shape=self.weight.shape)

    def resampled_sums(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return credit and weight of each pair when clusters count so often, shape (draws, pairs) each.

        Args:
            counts: shape (draws, clusters).
        """
        return np.asarray(self.credit.T @ counts.T).T, np.asarray(self.weight.T @ counts.T).T


def pair_sums(coded: CodedBattles) -> Pairs:
    """Add up credits and weights per pair.

    Args:
        coded: battles; their order does not matter.
    """
    size = len(coded.models)
    if size > DENSE:
        return _sparse_sums(coded)
    return pairs_from_matrices(*squares(coded))


def squares(coded: CodedBattles) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted credit and weight of a against b, indexed [a, b], shape (models, models) each."""
    size = len(coded.models)
    cell = coded.a.astype(np.int64) * size + coded.b
    credit = np.bincount(cell, coded.weight * coded.credit, size * size)
    weight = np.bincount(cell, coded.weight, size * size)
    return credit.reshape(size, size), weight.reshape(size, size)


def pairs_from_matrices(credit: np.ndarray, weight: np.ndarray) -> Pairs:
    """Fold squares indexed [a, b] into pairs with the lower code first.

    Args:
        credit: sum of weight times a's credit, shape (models, models).
        weight: sum of weights, same shape.
    """
    played = weight + weight.T
    low, high = np.nonzero(np.triu(played, 1))
    earned = credit[low, high] + (weight[high, low] - credit[high, low])
    return Pairs(low, high, earned, played[low, high], len(weight))


def cells_by_cluster(coded: CodedBattles, pairs: Pairs) -> PairCells:
    """Add up credits and weights per cluster and pair."""
    pair, credit = pair_index(coded, pairs)
    shape = (coded.clusters, len(pairs.first))
    return PairCells(
        pairs,
        sparse.csr_matrix((coded.weight * credit, (coded.cluster, pair)), shape=shape),
        sparse.csr_matrix((coded.weight, (coded.cluster, pair)), shape=shape),
    )


def pair_index(coded: CodedBattles, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the pair of each battle and the credit of its lower code, shape (battles,) each."""
    key, credit = _keys(coded)
    return np.searchsorted(pairs.first * np.int64(pairs.models) + pairs.second, key), credit


def items_per_pair(coded: CodedBattles, pairs: Pairs) -> np.ndarray:
    """Return the number of clusters in which each pair met, shape (pairs,)."""
    pair, _ = pair_index(coded, pairs)
    return distinct_clusters(coded.cluster, pair, (coded.clusters, len(pairs.first)))


def opponent_weights(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return how much `high` counts in the rate of `low`, and `low` in that of `high`, shape (pairs,) each.

    An opponent counts in proportion to min(1, 2 n / most), n the items on which it was met and most the largest n of
    the model's opponents: whoever was met on half as many items or more counts fully, and a lone battle next to
    nothing. Where items were not counted, all count alike. A model's weights add up to 1.
    """
    ends, size = (pairs.first, pairs.second), pairs.models
    known = [np.ones(len(pairs.first))] * 2
    if pairs.items is not None:
        most = np.zeros(size)
        for end in ends:
            np.maximum.at(most, end, pairs.items)
        known = [np.minimum(1.0, 2 * pairs.items / most[end]) for end in ends]
    total = np.bincount(pairs.first, known[0], size) + np.bincount(pairs.second, known[1], size)
    return known[0] / total[pairs.first], known[1] / total[pairs.second]


def downweighted_opponents(pairs: Pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return whose opponents count less than others in its rate: codes of both, and the weight over the largest."""
    of_low, of_high = opponent_weights(pairs)
    sides = [(pairs.first, pairs.second, of_low), (pairs.second, pairs.first, of_high)]
    own, other, share = (np.concatenate(column) for column in zip(*sides, strict=True))
    full = np.zeros(pairs.models)
    np.maximum.at(full, own, share)
    ratio = share / full[own]
    light = ratio < 1 - SAME
    return own[light], other[light], ratio[light]


def win_rates(pairs: Pairs) -> np.ndarray:
    """Return the weighted mean over opponents of the mean credit against each, NaN without any, shape (models,).

    The weights are those of `opponent_weights`: an uneven schedule does not tilt the rate.
    """
    share, size = pairs.credit / pairs.weight, pairs.models
    of_low, of_high = opponent_weights(pairs)
    total = np.bincount(pairs.first, of_low * share, size) + np.bincount(pairs.second, of_high * (1 - share), size)
    played = np.bincount(pairs.first, minlength=size) + np.bincount(pairs.second, minlength=size) > 0
    return np.where(played, total, np.nan)


def _sparse_sums(coded: CodedBattles) -> Pairs:
    size = len(coded.models)
    key, credit = _keys(coded)
    distinct, pair = np.unique(key, return_inverse=True)
    return Pairs(
        distinct // size,
        distinct % size,
        np.bincount(pair, coded.weight * credit),
        np.bincount(pair, coded.weight),
        size,
    )


def _keys(coded: CodedBattles) -> tuple[np.ndarray, np.ndarray]:
    """Return a number per unordered pair, and the credit of its lower code, shape (battles,) each."""
    low = np.minimum(coded.a, coded.b).astype(np.int64)
    credit = np.where(coded.a < coded.b, coded.credit, 1 - coded.credit)
    return low * len(coded.models) + np.maximum(coded.a, coded.b), credit
