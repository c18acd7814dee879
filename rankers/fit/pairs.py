"""Sums of credits and weights by pair of models: the sufficient statistics of a Bradley-Terry
likelihood."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from podium.rankers.fit.coded import CodedBattles, count_clusters

if TYPE_CHECKING:
    from scipy import sparse


WEIGHT_ROUNDING = 1e-9
"""Weights that differ by a smaller share than this count as equal."""
MOST_DENSE_MODELS = 3000
"""Up to this many models, pairs are summed in dense square matrices."""
MOST_LISTED_KEYS = 1_000_000
"""Up to this square of the number of models, the position of each possible pair is listed."""
MOST_DENSE_CELLS = 200_000
"""Up to this many clusters times pairs, resamples are summed by a dense matrix."""


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

    def take(self, is_kept: np.ndarray) -> "Pairs":
        """Return the pairs that the mask `is_kept` selects, shape (pairs,).

        Models keep their codes, and `models` stays the same.
        """
        items = None if self.items is None else self.items[is_kept]
        return Pairs(
            first=self.first[is_kept],
            second=self.second[is_kept],
            credit=self.credit[is_kept],
            weight=self.weight[is_kept],
            models=self.models,
            items=items,
        )

    def pairs_among(self, is_kept: np.ndarray) -> "Pairs":
        """Return the pairs in which both models are in the mask `is_kept`, shape (models,).

        Models get new codes in the same order.
        """
        part = self.take(is_kept[self.first] & is_kept[self.second])
        codes = np.cumsum(is_kept) - 1
        return replace(
            part, first=codes[part.first], second=codes[part.second], models=int(is_kept.sum())
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
    """Credits and weights summed by cluster and pair: a cell for each pair that met in a cluster.

    The cells are sorted by cluster, then by pair; arrays have shape (cells,).

    Attributes:
        pairs: the pairs.
        clusters: number of clusters.
        cluster: cluster of each cell.
        pair: pair of each cell, a position in `pairs`.
        credit: sums of weighted credits of the pair's first model.
        weight: sums of weights.
    """

    pairs: Pairs
    clusters: int
    cluster: np.ndarray
    pair: np.ndarray
    credit: np.ndarray
    weight: np.ndarray

    @property
    def items(self) -> np.ndarray:
        """Number of items (clusters) on which each pair has a verdict, shape (pairs,)."""
        return np.bincount(self.pair, minlength=len(self.pairs.first))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of clusters and number of pairs."""
        return self.clusters, len(self.pairs.first)

    def surplus_over(self, expected: np.ndarray) -> np.ndarray:
        """Return the credit of each cell minus the expected one, shape (cells,).

        `expected` is the expected credit of the first model of each pair, shape (pairs,).
        """
        return self.credit - self.weight * expected[self.pair]

    def matrix_of(self, values: np.ndarray) -> "sparse.csr_matrix":
        """Return a sparse matrix of values of the cells, shape (clusters, pairs).

        `values` has shape (cells,). Elements without a cell are 0.
        """
        from scipy import sparse

        starts = np.append(0, np.cumsum(np.bincount(self.cluster, minlength=self.clusters)))
        return sparse.csr_matrix((values, self.pair, starts), shape=self.shape)

    def resampled_sums(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of credits and of weights in resamples, shape (draws, pairs) each.

        `counts` says how often each resample draws each cluster, shape (draws, clusters).
        """
        return self._sum_draws(self.credit, counts), self._sum_draws(self.weight, counts)

    def _sum_draws(self, values: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the sums of values of the cells in resamples, shape (draws, pairs).

        `values` has shape (cells,). `counts` says how often each resample draws each cluster, shape
        (draws, clusters).
        """
        if self.clusters * len(self.pairs.first) <= MOST_DENSE_CELLS:
            dense = np.zeros(self.shape)
            dense[self.cluster, self.pair] = values
            return counts @ dense
        return np.asarray(self.matrix_of(values).T @ counts.T).T


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
    # In battles in which the second model is a, the first one earns the rest of the weight.
    credit_as_b = weight[second, first] - credit[second, first]
    credit_of_first = credit[first, second] + credit_as_b
    return Pairs(
        first=first,
        second=second,
        credit=credit_of_first,
        weight=total[first, second],
        models=len(weight),
    )


def cells_by_cluster(coded: CodedBattles, pairs: Pairs) -> PairCells:
    """Add up credits and weights by cluster and pair.

    `pairs` may have further pairs, but must have every pair of `coded`.
    """
    pair, credit = pair_index(coded, pairs)
    pair_count = np.int64(len(pairs.first))
    # All battles of a cell have the same key. Keys rise in the order of the cells.
    key = coded.cluster * pair_count + pair
    cell_keys, cell = np.unique(key, return_inverse=True)
    cluster, pair_of_cell = np.divmod(cell_keys, pair_count)
    return PairCells(
        pairs,
        coded.clusters,
        cluster,
        pair_of_cell,
        credit=np.bincount(cell, coded.weight * credit),
        weight=np.bincount(cell, coded.weight),
    )


def pair_index(coded: CodedBattles, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return each battle's pair and the credit of the pair's first model, shape (battles,) each.

    The pair is a position in `pairs`, which must have every pair of `coded`.
    """
    return pair_positions(coded, pairs), _credit_of_first(coded)


def pair_positions(coded: CodedBattles, pairs: Pairs) -> np.ndarray:
    """Return each battle's position in `pairs`, which must have every pair of `coded`.

    The result has shape (battles,).
    """
    key = _pair_keys(coded)
    key_of_pair = pairs.first * np.int64(pairs.models) + pairs.second
    if pairs.models**2 <= min(MOST_LISTED_KEYS, len(key)):
        # To look a position up is several times faster than to search it.
        position_of_key = np.zeros(pairs.models**2, dtype=np.intp)
        position_of_key[key_of_pair] = np.arange(len(key_of_pair))
        return position_of_key[key]
    # Pairs are sorted by this key, and all keys are there: the search finds their positions.
    return np.searchsorted(key_of_pair, key)


def items_per_pair(coded: CodedBattles, pairs: Pairs) -> np.ndarray:
    """Return the number of clusters in which each pair met, shape (pairs,).

    `pairs` must have every pair of `coded`.
    """
    pair = pair_positions(coded, pairs)
    return count_clusters(coded.cluster, [pair], (coded.clusters, len(pairs.first)))


def opponent_weights(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of opponents in win rates, shape (pairs,) each.

    The weights in a model's win rate add up to 1. Each is proportional to min(1, 2 n / n_max),
    where n is the number of items on which model and opponent met, and n_max is the model's
    largest n. All weights of a model are equal if items were not counted (`Pairs.items` is None).

    Returns:
        The weight of `second` in the win rate of `first`, and the weight of `first` in the win
        rate of `second`, shape (pairs,) each.
    """
    of_first = np.ones(len(pairs.first))
    of_second = of_first
    if pairs.items is not None:
        most_items = np.zeros(pairs.models)
        np.maximum.at(most_items, pairs.first, pairs.items)
        np.maximum.at(most_items, pairs.second, pairs.items)
        of_first = np.minimum(1.0, 2 * pairs.items / most_items[pairs.first])
        of_second = np.minimum(1.0, 2 * pairs.items / most_items[pairs.second])
    total = pairs.sum_by_model(of_first, of_second)
    return of_first / total[pairs.first], of_second / total[pairs.second]


def downweighted_opponents(pairs: Pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the opponents that count less than others in win rates (`opponent_weights`).

    Returns:
        Three arrays of shape (n,): the code of a model, the code of an opponent that counts less
        for it, and the opponent's weight divided by the model's largest weight.
    """
    weight_in_first, weight_in_second = opponent_weights(pairs)
    model = np.concatenate([pairs.first, pairs.second])
    opponent = np.concatenate([pairs.second, pairs.first])
    weight = np.concatenate([weight_in_first, weight_in_second])
    largest = np.zeros(pairs.models)
    np.maximum.at(largest, model, weight)
    ratio = weight / largest[model]
    is_light = ratio < 1 - WEIGHT_ROUNDING
    return model[is_light], opponent[is_light], ratio[is_light]


def win_rates(pairs: Pairs) -> np.ndarray:
    """Return each model's mean credit over its opponents, shape (models,).

    Opponents have the weights of `opponent_weights`. Models without a battle have NaN.
    """
    mean_credit = pairs.credit / pairs.weight
    weight_in_first, weight_in_second = opponent_weights(pairs)
    rates = pairs.sum_by_model(weight_in_first * mean_credit, weight_in_second * (1 - mean_credit))
    return np.where(pairs.sum_by_model() > 0, rates, np.nan)


def _sparse_pair_sums(coded: CodedBattles) -> Pairs:
    """Add up credits and weights by pair, as `pair_sums` does, without square matrices.

    For many models, square matrices would take too much memory.
    """
    size = len(coded.models)
    keys_of_pairs, pair = np.unique(_pair_keys(coded), return_inverse=True)
    credit_sums = np.bincount(pair, coded.weight * _credit_of_first(coded))
    weight = np.bincount(pair, coded.weight)
    return Pairs(
        first=keys_of_pairs // size,
        second=keys_of_pairs % size,
        credit=credit_sums,
        weight=weight,
        models=size,
    )


def _pair_keys(coded: CodedBattles) -> np.ndarray:
    """Return a number that identifies each battle's pair, shape (battles,).

    The number is the lower code times the number of models, plus the higher code.
    """
    key = np.minimum(coded.a, coded.b).astype(np.int64)
    key *= len(coded.models)
    key += np.maximum(coded.a, coded.b)
    return key


def _credit_of_first(coded: CodedBattles) -> np.ndarray:
    """Return the credit of the model with the lower code in each battle, shape (battles,)."""
    return np.where(coded.a < coded.b, coded.credit, 1 - coded.credit)
