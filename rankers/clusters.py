"""Sums by cluster and model, in dense arrays up to a size limit and in sparse ones above it."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from podium.rankers.coded import CodedBattles

MOST_DENSE_CELLS = 40_000_000
Matrix: TypeAlias = Any
"""A dense array or a SciPy CSR matrix."""


def sum_by_cell(row: np.ndarray, column: np.ndarray, values: np.ndarray, shape: tuple[int, int]) -> Matrix:
    """Add up values by row and column of a matrix; the first three arguments have shape (n,)."""
    if shape[0] * shape[1] <= MOST_DENSE_CELLS:
        cell = row * np.int64(shape[1]) + column
        return np.bincount(cell, values, shape[0] * shape[1]).reshape(shape)
    return sparse.csr_matrix((values, (row, column)), shape=shape)


def surplus_by_cluster(coded: CodedBattles, expected: np.ndarray) -> Matrix:
    """Return each cluster's log-likelihood gradient by log-strength: sums of weight (credit - expected)."""
    surplus = coded.weight * (coded.credit - expected)
    shape = (coded.clusters, len(coded.models))
    return sum_by_cell(coded.cluster, coded.a, surplus, shape) + sum_by_cell(coded.cluster, coded.b, -surplus, shape)


def center_columns(matrix: Matrix) -> np.ndarray:
    """Return a dense copy of a matrix whose columns have mean zero."""
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    return dense - dense.mean(axis=0)


def centered_gram(blocks: Iterable[Matrix]) -> tuple[np.ndarray, int]:
    """Return X'X of a matrix X with centered columns, given as blocks of rows, and its number of rows."""
    rows, total, square = 0, np.zeros(1), np.zeros((1, 1))
    for block in blocks:
        product = block.T @ block
        square = square + (product.toarray() if sparse.issparse(product) else product)
        total = total + np.asarray(block.sum(axis=0)).ravel()
        rows += block.shape[0]
    return square - np.outer(total, total) / rows, rows
