"""Sums per cluster and model, dense while they fit, sparse beyond."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from podium.rankers.coded import CodedBattles

DENSE_CELLS = 40_000_000
Matrix: TypeAlias = Any
"""A dense array or a SciPy CSR matrix."""


def sums(cluster: np.ndarray, column: np.ndarray, values: np.ndarray, shape: tuple[int, int]) -> Matrix:
    """Add up values by (cluster, column).

    Args:
        cluster, column, values: shape (n,) each.
        shape: (clusters, columns).
    """
    if shape[0] * shape[1] <= DENSE_CELLS:
        cell = cluster * np.int64(shape[1]) + column
        return np.bincount(cell, values, shape[0] * shape[1]).reshape(shape)
    return sparse.csr_matrix((values, (cluster, column)), shape=shape)


def surpluses(coded: CodedBattles, expected: np.ndarray) -> Matrix:
    """Return weighted credit beyond what was expected, per cluster and model: the scores of the likelihood.

    Args:
        expected: expected credit of a in each battle, shape (battles,).
    """
    surplus = coded.weight * (coded.credit - expected)
    shape = (coded.clusters, len(coded.models))
    return sums(coded.cluster, coded.a, surplus, shape) + sums(coded.cluster, coded.b, -surplus, shape)


def centre_columns(matrix: Matrix) -> np.ndarray:
    """Return a dense matrix whose columns have mean zero, same shape."""
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    return dense - dense.mean(axis=0)


def gram(blocks: Iterable[Matrix]) -> tuple[np.ndarray, int]:
    """Return matrix' matrix after centring the rows on their mean, shape (columns, columns), and the rows.

    Args:
        blocks: rows of the matrix, some at a time.
    """
    rows, total, square = 0, np.zeros(1), np.zeros((1, 1))
    for block in blocks:
        own = block.T @ block
        square = square + (own.toarray() if sparse.issparse(own) else own)
        total = total + np.asarray(block.sum(axis=0)).ravel()
        rows += block.shape[0]
    return square - np.outer(total, total) / rows, rows
