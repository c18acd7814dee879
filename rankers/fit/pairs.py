"""Sums of credits and weights by pair of models: the sufficient statistics of a Bradley-Terry
likelihood."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from podium.rankers.fit.coded import CodedBattles, count_clusters

WEIGHT_ROUNDING = 1e-9
"""Share by which two equal weights may differ by rounding."""
MOST_DENSE_MODELS = 3000
"""Up to this many models, pairs are summed in dense square matrices."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Sums over the battles of each pair that met, shape (pairs,), first < second: `credit` is
    weight times that of `first`, `items` counts the clusters in which each pair met, None if not
    counted."""

    first: np.ndarray
    second: np.ndarray
    credit: np.ndarray
    weight: np.ndarray
    models: int
    items: np.ndarray | None = None

    def take(self, kept: np.ndarray) -> "Pairs":
        """Return the pairs of a mask."""
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
        among, codes = self.take(kept[self.first] & kept[self.second]), np.cumsum(kept) - 1
        return replace(
            among, first=codes[among.first], second=codes[among.second], models=int(kept.sum())
        )

    def sum_by_model(
        self, of_first: np.ndarray | None = None, of_second: np.ndarray | None = None
    ) -> np.ndarray:
        """Add up values of the pairs' first and second models by model (None counts 1 each), shape
        (models,)."""
        size = self.models
        return np.bincount(self.first, of_first, size) + np.bincount(self.second, of_second, size)


@dataclass(frozen=True, slots=True)
class PairCells:
    """Credits and weights summed by cluster and pair, in sparse matrices of shape (clusters,
    pairs)."""

    pairs: Pairs
    credit: sparse.csr_matrix
    weight: sparse.csr_matrix

    @property
    def items(self) -> np.ndarray:
        """Number of items (clusters) on which each pair has a verdict, shape (pairs,)."""
        return np.diff(self.weight.tocsc().indptr)

    def matrix_of(self, values: np.ndarray) -> sparse.csr_matrix:
        """Return a sparse matrix with other values in the same cells, given in the order of
        `weight.data`."""
        return sparse.csr_matrix(
            (values, self.weight.indices, self.weight.indptr), shape=self.weight.shape
        )

    def resampled_sums(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return pair sums of resamples that draw each cluster `counts` times, shape (draws, pairs)
        each."""
        return np.asarray(self.credit.T @ counts.T).T, np.asarray(self.weight.T @ counts.T).T


def pair_sums(coded: CodedBattles) -> Pairs:
    """Add up credits and weights by pair of models."""
    size = len(coded.models)
    if size > MOST_DENSE_MODELS:
        return _sparse_pair_sums(coded)
    cell = coded.a.astype(np.int64) * size + coded.b
    sums = (
        np.bincount(cell, values, size * size)
        for values in (coded.weight * coded.credit, coded.weight)
    )
    return pairs_from_matrices(*(values.reshape(size, size) for values in sums))


def pairs_from_matrices(credit: np.ndarray, weight: np.ndarray) -> Pairs:
    """Fold sums of credits of a and of weights, indexed [a, b], into pairs with the lower code
    first."""
    total = weight + weight.T
    first, second = np.nonzero(np.triu(total, 1))
    earned = credit[first, second] + (weight[second, first] - credit[second, first])
    return Pairs(first, second, earned, total[first, second], len(weight))


def cells_by_cluster(coded: CodedBattles, pairs: Pairs) -> PairCells:
    """Add up credits and weights by cluster and pair."""
    pair, credit = pair_index(coded, pairs)
    cells, shape = (coded.cluster, pair), (coded.clusters, len(pairs.first))
    sums = (
        sparse.csr_matrix((values, cells), shape=shape)
        for values in (coded.weight * credit, coded.weight)
    )
    return PairCells(pairs, *sums)


def pair_index(coded: CodedBattles, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the position of each battle's pair in `pairs` and the credit of its first model, shape
    (battles,) each."""
    key, credit = _pair_keys(coded)
    return np.searchsorted(pairs.first * np.int64(pairs.models) + pairs.second, key), credit


def items_per_pair(coded: CodedBattles, pairs: Pairs) -> np.ndarray:
    """Return the number of clusters in which each pair met, shape (pairs,)."""
    pair, _ = pair_index(coded, pairs)
    return count_clusters(coded.cluster, pair, (coded.clusters, len(pairs.first)))


def opponent_weights(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the weight of `second` in the win rate of `first` and that of `first` in `second`'s,
    shape (pairs,) each. Weights add up to 1, each proportional to min(1, 2 n / most): n items on
    which the two met, most the model's largest n. They are equal if items were not counted."""
    shares = [np.ones(len(pairs.first))] * 2
    if pairs.items is not None:
        ends, most = (pairs.first, pairs.second), np.zeros(pairs.models)
        for end in ends:
            np.maximum.at(most, end, pairs.items)
        shares = [np.minimum(1.0, 2 * pairs.items / most[end]) for end in ends]
    total = pairs.sum_by_model(*shares)
    return shares[0] / total[pairs.first], shares[1] / total[pairs.second]


def downweighted_opponents(pairs: Pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return codes of models, codes of opponents with reduced weights, and these over the largest,
    shape (n,) each."""
    in_first, in_second = opponent_weights(pairs)
    sides = [(pairs.first, pairs.second, in_first), (pairs.second, pairs.first, in_second)]
    model, opponent, share = (np.concatenate(column) for column in zip(*sides, strict=True))
    full = np.zeros(pairs.models)
    np.maximum.at(full, model, share)
    ratio = share / full[model]
    light = ratio < 1 - WEIGHT_ROUNDING
    return model[light], opponent[light], ratio[light]


def win_rates(pairs: Pairs) -> np.ndarray:
    """Return each model's mean credit over opponents (`opponent_weights`), NaN without any, shape
    (models,)."""
    share, (in_first, in_second) = pairs.credit / pairs.weight, opponent_weights(pairs)
    rates = pairs.sum_by_model(in_first * share, in_second * (1 - share))
    return np.where(pairs.sum_by_model() > 0, rates, np.nan)


def _sparse_pair_sums(coded: CodedBattles) -> Pairs:
    """Add up credits and weights by pair without square matrices."""
    size = len(coded.models)
    key, credit = _pair_keys(coded)
    distinct, pair = np.unique(key, return_inverse=True)
    earned, weight = np.bincount(pair, coded.weight * credit), np.bincount(pair, coded.weight)
    return Pairs(distinct // size, distinct % size, earned, weight, size)


def _pair_keys(coded: CodedBattles) -> tuple[np.ndarray, np.ndarray]:
    """Return a number that identifies each battle's pair and the credit of its lower code, shape
    (battles,) each."""
    first = np.minimum(coded.a, coded.b).astype(np.int64)
    credit = np.where(coded.a < coded.b, coded.credit, 1 - coded.credit)
    return first * len(coded.models) + np.maximum(coded.a, coded.b), credit
