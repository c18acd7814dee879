"""Sums of credits and weights by pair of models: the sufficient statistics of a Bradley-Terry
likelihood."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from podium.rankers.fit.coded import CodedBattles, count_clusters

WEIGHT_ROUNDING = 1e-9
"""Weights that differ by a smaller share than this count as equal."""
MOST_DENSE_MODELS = 3000
"""Up to this many models, pairs are summed in dense square matrices."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Sums over the battles of each pair of models that met; all arrays have shape (pairs,).

    Attributes:
        first: lower code of each pair.
        second: higher code of each pair.
        credit: sum of weight times the credit of `first`.
        weight: sum of weights.
        models: number of models.
        items: number of clusters in which each pair met; None if they were not counted.
    """

    first: np.ndarray
    second: np.ndarray
    credit: np.ndarray
    weight: np.ndarray
    models: int
    items: np.ndarray | None = None

    def take(self, kept: np.ndarray) -> "Pairs":
        """Return the pairs of a mask; the codes of models stay the same."""
        items = None if self.items is None else self.items[kept]
        return Pairs(
            self.first[kept],
            self.second[kept],
            self.credit[kept],
            self.weight[kept],
            self.models,
            items,
        )

    def pairs_among(self, kept: np.ndarray) -> "Pairs":
        """Return the pairs between the models of a mask, models coded anew in the same order."""
        among = self.take(kept[self.first] & kept[self.second])
        codes = np.cumsum(kept) - 1
        return replace(
            among, first=codes[among.first], second=codes[among.second], models=int(kept.sum())
        )

    def sum_by_model(
        self, of_first: np.ndarray | None = None, of_second: np.ndarray | None = None
    ) -> np.ndarray:
        """Add up values of each pair's two models by model, shape (models,).

        Args:
            of_first: values of the first models, shape (pairs,); by default 1 each.
            of_second: values of the second models, shape (pairs,); by default 1 each.
        """
        size = self.models
        return np.bincount(self.first, of_first, size) + np.bincount(self.second, of_second, size)


@dataclass(frozen=True, slots=True)
class PairCells:
    """Credits and weights summed by cluster and pair.

    Attributes:
        pairs: the pairs.
        credit: sums of weighted credits of first, sparse, shape (clusters, pairs).
        weight: sums of weights, in the same cells, shape (clusters, pairs).
    """

    pairs: Pairs
    credit: sparse.csr_matrix
    weight: sparse.csr_matrix

    @property
    def items(self) -> np.ndarray:
        """Number of items (clusters) on which each pair has a verdict, shape (pairs,)."""
        return np.diff(self.weight.tocsc().indptr)

    def matrix_of(self, values: np.ndarray) -> sparse.csr_matrix:
        """Return a sparse matrix with other values in the same cells.

        `values` are in the order of `weight.data`.
        """
        return sparse.csr_matrix(
            (values, self.weight.indices, self.weight.indptr), shape=self.weight.shape
        )

    def resampled_sums(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of credits and of weights in resamples, shape (draws, pairs) each.

        `counts` says how often each resample draws each cluster, shape (draws, clusters).
        """
        credit = np.asarray(self.credit.T @ counts.T).T
        weight = np.asarray(self.weight.T @ counts.T).T
        return credit, weight


def pair_sums(coded: CodedBattles) -> Pairs:
    """Add up credits and weights by pair of models.

    Pairs without a battle are left out. Clusters are not counted (`Pairs.items` is None).
    """
    size = len(coded.models)
    if size > MOST_DENSE_MODELS:
        return _sparse_pair_sums(coded)
    cell = coded.a.astype(np.int64) * size + coded.b
    credit = np.bincount(cell, coded.weight * coded.credit, size * size)
    weight = np.bincount(cell, coded.weight, size * size)
    return pairs_from_matrices(credit.reshape(size, size), weight.reshape(size, size))


def pairs_from_matrices(credit: np.ndarray, weight: np.ndarray) -> Pairs:
    """Fold matrices of sums, indexed [a, b], into pairs with the lower code first.

    Args:
        credit: sums of weighted credits of a, shape (models, models).
        weight: sums of weights, shape (models, models).
    """
    total = weight + weight.T
    first, second = np.nonzero(np.triu(total, 1))
    earned = credit[first, second] + (weight[second, first] - credit[second, first])
    return Pairs(first, second, earned, total[first, second], len(weight))


def cells_by_cluster(coded: CodedBattles, pairs: Pairs) -> PairCells:
    """Add up credits and weights by cluster and pair.

    `pairs` must have every pair of `coded`.
    """
    pair, credit = pair_index(coded, pairs)
    cells = (coded.cluster, pair)
    shape = (coded.clusters, len(pairs.first))
    return PairCells(
        pairs,
        credit=sparse.csr_matrix((coded.weight * credit, cells), shape=shape),
        weight=sparse.csr_matrix((coded.weight, cells), shape=shape),
    )


def pair_index(coded: CodedBattles, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return each battle's pair and the credit of the pair's first model, shape (battles,) each.

    The pair is a position in `pairs`, which must have every pair of `coded`.
    """
    key, credit = _pair_keys(coded)
    return np.searchsorted(pairs.first * np.int64(pairs.models) + pairs.second, key), credit


def items_per_pair(coded: CodedBattles, pairs: Pairs) -> np.ndarray:
    """Return the number of clusters in which each pair met, shape (pairs,)."""
    pair, _ = pair_index(coded, pairs)
    return count_clusters(coded.cluster, pair, (coded.clusters, len(pairs.first)))


def opponent_weights(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of opponents in win rates.

    The weights in a model's win rate add up to 1. Each is proportional to min(1, 2 n / most),
    where n is the number of items on which the two met, and most is the model's largest n. All
    weights of a model are equal if items were not counted (`Pairs.items` is None).

    Returns:
        The weight of `second` in the win rate of `first`, and the weight of `first` in the win
        rate of `second`, shape (pairs,) each.
    """
    of_first = np.ones(len(pairs.first))
    of_second = of_first
    if pairs.items is not None:
        most = np.zeros(pairs.models)
        np.maximum.at(most, pairs.first, pairs.items)
        np.maximum.at(most, pairs.second, pairs.items)
        of_first = np.minimum(1.0, 2 * pairs.items / most[pairs.first])
        of_second = np.minimum(1.0, 2 * pairs.items / most[pairs.second])
    total = pairs.sum_by_model(of_first, of_second)
    return of_first / total[pairs.first], of_second / total[pairs.second]


def downweighted_opponents(pairs: Pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the opponents that count less than others.

    Returns:
        Three arrays of shape (n,): the code of a model, the code of an opponent that counts less
        for it, and the opponent's weight divided by the model's largest weight.
    """
    in_first, in_second = opponent_weights(pairs)
    model = np.concatenate([pairs.first, pairs.second])
    opponent = np.concatenate([pairs.second, pairs.first])
    share = np.concatenate([in_first, in_second])
    largest = np.zeros(pairs.models)
    np.maximum.at(largest, model, share)
    ratio = share / largest[model]
    is_light = ratio < 1 - WEIGHT_ROUNDING
    return model[is_light], opponent[is_light], ratio[is_light]


def win_rates(pairs: Pairs) -> np.ndarray:
    """Return each model's mean credit over its opponents, shape (models,).

    Opponents have the weights of `opponent_weights`. Models without a battle have NaN.
    """
    share = pairs.credit / pairs.weight
    in_first, in_second = opponent_weights(pairs)
    rates = pairs.sum_by_model(in_first * share, in_second * (1 - share))
    return np.where(pairs.sum_by_model() > 0, rates, np.nan)


def _sparse_pair_sums(coded: CodedBattles) -> Pairs:
    """Add up credits and weights by pair without square matrices."""
    size = len(coded.models)
    key, credit = _pair_keys(coded)
    distinct, pair = np.unique(key, return_inverse=True)
    earned = np.bincount(pair, coded.weight * credit)
    weight = np.bincount(pair, coded.weight)
    return Pairs(distinct // size, distinct % size, earned, weight, size)


def _pair_keys(coded: CodedBattles) -> tuple[np.ndarray, np.ndarray]:
    """Return a number that identifies each battle's pair, and the credit of the model with the
    lower code, shape (battles,) each."""
    first = np.minimum(coded.a, coded.b).astype(np.int64)
    credit = np.where(coded.a < coded.b, coded.credit, 1 - coded.credit)
    return first * len(coded.models) + np.maximum(coded.a, coded.b), credit
