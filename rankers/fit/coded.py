"""Readable battles as integer-coded arrays, the input of every ranker, and sums of such arrays.

If each row is a cluster of its own, the clusters are numbered in an order by content. So a seed
draws the same resamples if models are renamed, sides are swapped or the file is sorted anew.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Literal, TypeAlias

import numpy as np

from podium.data.battles import Battles, criterion_columns
from podium.distinct_values import distinct_values
from podium.errors import NotIdentifiedError, UsageError, unknown_value_error
from podium.wording import quantity

Labels = Literal["soft", "hard"]
"""Whether credits are used as they are, or rounded to win, tie or loss."""
Cluster = Literal["item", "row"]
"""What is taken as independent: items (or their groups), or single battles."""
MOST_FLAGS = 100_000_000
"""Up to this number of clusters times codes, `count_clusters` uses an array with a flag for each
combination; above, it sorts."""
MOST_DENSE_CELLS = 40_000_000
"""Matrices of sums with more cells than this are sparse."""
Matrix: TypeAlias = Any
"""A dense array or a SciPy CSR matrix."""
KEY_ROUNDS = 4
"""Rounds of `order_rows`. Each round computes the key of a model from the keys of its opponents in
the round before. So models with equal credits are distinguished by their opponents, by the
opponents of their opponents, and so on."""
SUM_OF_BOTH_MODELS = {"credit": 1.0, "human": 1.0, "margin": 0.0}
"""Columns about model a, with the sum of the values for a and for b in a battle: the credits of a
and b add up to 1, their margins to 0."""
SIDE_COLUMNS = (("score_a", "score_b"), ("length_a", "length_b"))
"""Pairs of columns about model a and model b."""


@dataclass(frozen=True, slots=True)
class CodedBattles:
    """Readable battles as arrays of shape (battles,).

    Attributes:
        a: codes of the first models, positions in `models`.
        b: codes of the second models.
        credit: what a earned, in [0, 1].
        weight: weights, positive.
        cluster: codes of the clusters, from 0; battles of different clusters are independent.
        clusters: number of clusters.
        unit: what a cluster is: the name of a group of items, `item`, or `row` if each battle is
            one or no item is known.
        models: names by code, sorted.
        number: number of battles that each row is the sum of; None if each row is one battle.
    """

    a: np.ndarray
    b: np.ndarray
    credit: np.ndarray
    weight: np.ndarray
    cluster: np.ndarray
    clusters: int
    unit: str
    models: tuple[str, ...]
    number: np.ndarray | None = None

    def battles_by_model(self) -> np.ndarray:
        """Return the number of battles of each model, shape (models,)."""
        size = len(self.models)
        as_a = np.bincount(self.a, self.number, size)
        as_b = np.bincount(self.b, self.number, size)
        return (as_a + as_b).astype(np.int64)

    def clusters_by_model(self) -> np.ndarray:
        """Return the number of clusters in which each model has a battle, shape (models,)."""
        return count_clusters(self.cluster, [self.a, self.b], (self.clusters, len(self.models)))

    def cluster_weights(self) -> np.ndarray:
        """Return the sum of the weights of each cluster's battles, shape (clusters,)."""
        return np.bincount(self.cluster, self.weight, self.clusters)

    def take(self, rows: np.ndarray) -> "CodedBattles":
        """Return the battles that a mask or positions select; clusters and models keep their codes.

        `rows` has shape (battles,) if it is a mask, else (n,). `clusters` stays the same, also if
        some clusters have no battle left.
        """
        number = None if self.number is None else self.number[rows]
        return replace(
            self,
            a=self.a[rows],
            b=self.b[rows],
            credit=self.credit[rows],
            weight=self.weight[rows],
            cluster=self.cluster[rows],
            number=number,
        )

    def battles_of_anchor(self, anchor: str) -> "CodedBattles":
        """Return the battles of the model with the name `anchor`.

        Clusters get new codes in the same order; models keep theirs.

        Raises:
            ValueError: no model has this name.
        """
        code = self.models.index(anchor)
        part = self.take((self.a == code) | (self.b == code))
        present, cluster = np.unique(part.cluster, return_inverse=True)
        return replace(part, cluster=cluster, clusters=len(present))

    def battles_among(self, is_kept: np.ndarray) -> "CodedBattles":
        """Return the battles in which both models are in the mask `is_kept`, shape (models,).

        Models and clusters get new codes in the same order.
        """
        part = self.take(is_kept[self.a] & is_kept[self.b])
        codes = np.cumsum(is_kept) - 1
        present, cluster = np.unique(part.cluster, return_inverse=True)
        return replace(
            part,
            a=codes[part.a],
            b=codes[part.b],
            cluster=cluster,
            clusters=len(present),
            models=tuple(compress(self.models, is_kept)),
        )

    def blocks(self) -> Iterator["CodedBattles"]:
        """Yield all battles as one block.

        `SummedBattles.blocks` is the same method for battles in a database.
        """
        yield self


def code_battles(
    battles: Battles,
    *,
    labels: Labels = "soft",
    cluster: Cluster = "item",
    credit: np.ndarray | None = None,
) -> CodedBattles:
    """Convert readable battles to integer-coded arrays.

    Models and items without such a battle have no code.

    Args:
        battles: all battles; those without a credit are left out.
        labels: `hard` rounds credits to win, tie or loss, and makes a flip a tie.
        cluster: what is independent: items (or their groups, if they have any), or single battles.
            A row without an item is a cluster.
        credit: replaces the credits of model_a, shape (battles,); NaN leaves a battle out. If it
            is given, `labels` changes nothing.

    Raises:
        NotIdentifiedError: no battle has a credit.
        UsageError: another value of `labels` or `cluster`; or `row` for items with groups.
    """
    require_choice("labels", labels, ("soft", "hard"))
    require_choice("cluster", cluster, ("item", "row"))
    if cluster == "row" and battles.group is not None:
        raise UsageError(
            f"cluster=row takes single battles as independent, and {battles.group} groups their "
            "items: leave out one of both"
        )
    if credit is None:
        credit = hard_credits(battles) if labels == "hard" else battles.numbers_of("credit")
    is_kept = ~np.isnan(credit)
    if not is_kept.any():
        raise nothing_readable_error(battles)
    credit = credit[is_kept]
    a, b, models = _code_present_models(battles, is_kept)
    codes = cluster_codes(battles, cluster)[is_kept]
    weight = np.ones(len(a))
    if "weight" in battles.rows.battle_columns:
        weight = battles.numbers_of("weight")[is_kept]
    # Clusters without a kept battle have no code: the cumulative count numbers the others anew.
    is_present = np.bincount(codes) > 0
    new_code = np.cumsum(is_present) - 1
    unit = battles.unit if cluster == "item" else "row"
    return CodedBattles(
        a=a,
        b=b,
        credit=credit,
        weight=weight,
        cluster=new_code[codes],
        clusters=int(is_present.sum()),
        unit=unit,
        models=models,
    )


def count_clusters(
    cluster: np.ndarray, codes_of_rows: Sequence[np.ndarray], shape: tuple[int, int]
) -> np.ndarray:
    """Return the number of distinct clusters in which each code occurs, shape (codes,).

    Args:
        cluster: cluster of each row, shape (rows,).
        codes_of_rows: the codes of each row, arrays of shape (rows,); at least one.
        shape: number of clusters and number of codes.
    """
    clusters, codes = shape
    cells = [cluster * np.int64(codes) + code for code in codes_of_rows]
    if clusters * codes <= MOST_FLAGS:
        is_in_cluster = np.zeros(clusters * codes, dtype=bool)
        for cell in cells:
            is_in_cluster[cell] = True
        return is_in_cluster.reshape(shape).sum(axis=0)
    code_of_distinct_cell = distinct_values(np.concatenate(cells)) % codes
    return np.bincount(code_of_distinct_cell, minlength=codes)


def hard_credits(battles: Battles) -> np.ndarray:
    """Round the credits of model a to 1 (win), 0.5 (tie) or 0 (loss), shape (rows,).

    If a battle was graded by token probabilities, the credit of its parsed verdict is rounded. A
    flip is a tie. Unparsed battles have NaN.
    """
    credit = battles.outcomes
    rounded = (np.sign(credit - 0.5) + 1) / 2
    if "swap" not in battles.rows.battle_columns:
        return rounded
    is_flip = battles.rows.texts_of("swap") == "flip"
    return np.where(is_flip & ~np.isnan(credit), 0.5, rounded)


def cluster_codes(battles: Battles, cluster: Cluster = "item") -> np.ndarray:
    """Return the code of each battle's cluster, from 0, shape (battles,).

    With `cluster="row"`, each battle is a cluster, and the codes are in an order by content
    (`order_of_battles`). Otherwise the clusters are the groups of items, if there are any, with
    codes in the order of their names. Without groups, they are those of `codes_of_items`.
    """
    if cluster == "row":
        return order_of_battles(battles)
    if battles.group is not None:
        return battles.rows.codes_of(battles.group)
    return codes_of_items(battles)


def codes_of_items(battles: Battles) -> np.ndarray:
    """Return the code of each battle's item, from 0, shape (battles,); groups are ignored.

    Codes are in the order of the items' names. Each row without an item counts as an item of its
    own, with one of the codes that follow. If no row has an item, the codes are in an order by
    content (`order_of_battles`).
    """
    codes = battles.item_codes.copy()
    without_item = np.flatnonzero(codes < 0)
    if len(without_item) == len(codes):
        return order_of_battles(battles)
    codes[without_item] = codes.max() + 1 + np.arange(len(without_item))
    return codes


def cluster_by_item(battles: Battles, coded: CodedBattles) -> tuple[CodedBattles, np.ndarray]:
    """Return coded battles with items as clusters, also if items have groups.

    Without groups, `coded` is returned as it is.

    Args:
        battles: the battles.
        coded: the same battles, coded by `code_battles` without its argument `credit`.

    Returns:
        First, the coded battles. Second, the code in `coded` of the cluster of each item, shape
        (items,).
    """
    if battles.group is None:
        return coded, np.arange(coded.clusters)
    _, item = np.unique(codes_of_items(battles)[battles.readable], return_inverse=True)
    cluster_of_item = np.zeros(int(item.max()) + 1, dtype=np.int64)
    cluster_of_item[item] = coded.cluster
    by_item = replace(coded, cluster=item, clusters=len(cluster_of_item), unit="item")
    return by_item, cluster_of_item


def nothing_readable_error(battles: Battles) -> NotIdentifiedError:
    """Return the error for battles of which none has a readable verdict."""
    return NotIdentifiedError(
        f"none of the {quantity(len(battles), 'battle')} has a readable verdict: nothing to rank"
    )


def ratio_or_nan(total: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return total / number of two arrays of one shape, NaN where the number is not above 0."""
    return np.divide(total, number, out=np.full(np.shape(number), np.nan), where=(number > 0))


def require_choice(option: str, value: object, allowed: tuple[object, ...]) -> None:
    """Raise UsageError if the value of an option is not among the allowed values.

    `option` is the name of the option, for the message.
    """
    if value not in allowed:
        raise unknown_value_error(option, value, allowed)


def _code_present_models(
    battles: Battles, is_kept: np.ndarray
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return the model codes of a, the model codes of b, and the names by code.

    Models that occur in no kept battle have no code. `is_kept` is a mask of the battles, shape
    (battles,).
    """
    names = battles.models
    code_of_a, code_of_b = battles.model_codes
    a_code = code_of_a[is_kept]
    b_code = code_of_b[is_kept]
    battles_as_a = np.bincount(a_code, minlength=len(names))
    battles_as_b = np.bincount(b_code, minlength=len(names))
    is_present = battles_as_a + battles_as_b > 0
    if is_present.all():
        return a_code, b_code, names
    new_code = np.cumsum(is_present) - 1
    return new_code[a_code], new_code[b_code], tuple(compress(names, is_present))


def order_rows(
    a: np.ndarray,
    b: np.ndarray,
    credit: np.ndarray,
    columns: Iterable[tuple[np.ndarray, np.ndarray]] = (),
) -> np.ndarray:
    """Return the rank of each row, from 0, if rows are sorted by their content, shape (rows,).

    The ranks do not depend on the names of models, on the order of the rows, or on which of two
    models is a. Rows of equal content are in any order.

    Each model gets a number (a key) that its credits, its opponents, and their keys determine. The
    key of a row combines the keys of both models with its credit and `columns`. Sines and
    irrational factors make it unlikely that different content has equal keys.

    Args:
        a: codes of the first models, shape (rows,).
        b: codes of the second models, shape (rows,).
        credit: what a earned, NaN if unknown, shape (rows,).
        columns: further content: pairs of an array about a and an array about b, shape (rows,)
            each.
    """
    centred_credit = np.nan_to_num(credit - 0.5)
    size = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
    battles = np.bincount(a, minlength=size) + np.bincount(b, minlength=size)
    key_of_model = np.zeros(size)
    for _ in range(KEY_ROUNDS):
        sum_as_a = np.bincount(a, centred_credit + np.sin(key_of_model[b]), size)
        sum_as_b = np.bincount(b, np.sin(key_of_model[a]) - centred_credit, size)
        key_of_model = (sum_as_a + sum_as_b) / np.maximum(battles, 1) + np.sqrt(battles)
    key_a = key_of_model[a] + np.e * centred_credit
    key_b = key_of_model[b] - np.e * centred_credit
    # From 2 on, so that the square roots differ from the weight 1 of the other part of the key.
    for number, (about_a, about_b) in enumerate(columns, start=2):
        # Missing values count as equal: as one number that values hardly have.
        key_a = key_a + np.sqrt(number) * np.nan_to_num(about_a, nan=-np.pi)
        key_b = key_b + np.sqrt(number) * np.nan_to_num(about_b, nan=-np.pi)
    position = np.empty(len(a), dtype=np.int64)
    key = np.sin(key_a) + np.sin(key_b) + np.isnan(credit)
    position[np.argsort(key)] = np.arange(len(a))
    return position


def order_of_battles(battles: Battles) -> np.ndarray:
    """Return the rank of each battle, from 0, if battles are sorted by content, shape (rows,).

    The content is credit, human verdict, margins, scores, lengths and weight. Item, judge, order
    and category are ignored: battles that differ only in these are in any order. Names of models
    are ignored, too, as `order_rows` says.
    """
    names = battles.rows.battle_columns
    columns = []
    # Margins by single criteria add up to 0, as margins do.
    sums = SUM_OF_BOTH_MODELS | dict.fromkeys(criterion_columns(names), 0.0)
    for name, sum_of_both in sums.items():
        if name in names:
            about_a = battles.numbers_of(name)
            columns.append((about_a, sum_of_both - about_a))
    for column_of_a, column_of_b in SIDE_COLUMNS:
        if column_of_a in names and column_of_b in names:
            columns.append((battles.numbers_of(column_of_a), battles.numbers_of(column_of_b)))
    if "weight" in names:
        weight = battles.numbers_of("weight")
        # The weight of a battle is about both models alike.
        columns.append((weight, weight))
    a, b = battles.model_codes
    return order_rows(a, b, battles.numbers_of("credit"), columns)


def sum_by_cell(
    row: np.ndarray, column: np.ndarray, values: np.ndarray, shape: tuple[int, int]
) -> Matrix:
    """Add up values by row and column of a matrix, and return the matrix of the sums.

    Args:
        row: row of each value, shape (n,).
        column: column of each value, shape (n,).
        values: the values, shape (n,).
        shape: numbers of rows and columns. The result is an array, or a sparse matrix if it has
            more than 40 million cells.
    """
    if shape[0] * shape[1] <= MOST_DENSE_CELLS:
        cell = row * np.int64(shape[1]) + column
        return np.bincount(cell, values, shape[0] * shape[1]).reshape(shape)
    from scipy import sparse

    return sparse.csr_matrix((values, (row, column)), shape=shape)


def surplus_by_cluster(coded: CodedBattles, expected: np.ndarray) -> Matrix:
    """Return the gradient of each cluster's log-likelihood, shape (clusters, models).

    The derivative by a model's log-strength is the sum of weight * (credit - expected) over the
    cluster's battles, with a minus sign for model b. `expected` is the expected credit of a, shape
    (battles,). A large result is sparse (`sum_by_cell`).
    """
    surplus = coded.weight * (coded.credit - expected)
    shape = (coded.clusters, len(coded.models))
    of_a = sum_by_cell(row=coded.cluster, column=coded.a, values=surplus, shape=shape)
    of_b = sum_by_cell(row=coded.cluster, column=coded.b, values=-surplus, shape=shape)
    return of_a + of_b


def as_dense(matrix: Matrix) -> np.ndarray:
    """Return a matrix as an array; an array is returned as it is."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def centre_columns(matrix: Matrix) -> np.ndarray:
    """Return a dense copy of a matrix, with the mean of each column subtracted."""
    dense = as_dense(matrix)
    return dense - dense.mean(axis=0)


def centred_gram(
    blocks: Iterable[Matrix], squared_factor: np.ndarray | None = None
) -> tuple[np.ndarray, int]:
    """Return X'DX of a matrix X with centred columns, and its number of rows.

    Args:
        blocks: the rows of X before centring, some at a time; at least one.
        squared_factor: diagonal of D, by which each row's products are multiplied, shape (rows,);
            1 by default.
    """
    rows = 0
    # The first sum gives these arrays the shape of the blocks.
    column_sums = np.zeros(1)
    multiplied_sums = np.zeros(1)
    gram = np.zeros((1, 1))
    for block in blocks:
        size = block.shape[0]
        multiplied = block
        if squared_factor is not None:
            factor_of_block = squared_factor[rows : rows + size]
            multiplied = _multiply_rows(block, factor_of_block)
        gram = gram + as_dense(block.T @ multiplied)
        column_sums = column_sums + np.asarray(block.sum(axis=0)).ravel()
        multiplied_sums = multiplied_sums + np.asarray(multiplied.sum(axis=0)).ravel()
        rows += size
    means = column_sums / rows
    total = rows if squared_factor is None else squared_factor.sum()
    cross = np.outer(multiplied_sums, means)
    return gram - cross - cross.T + total * np.outer(means, means), rows


def _multiply_rows(values: Matrix, factor: np.ndarray) -> Matrix:
    """Return a matrix whose rows are multiplied by the elements of `factor`, shape (rows,)."""
    if isinstance(values, np.ndarray):
        return values * factor[:, None]
    return values.multiply(factor[:, None]).tocsr()
