"""Errors of win rates, whether a pair met on a thousand items or on one."""

import numpy as np
from scipy import sparse

from podium.rankers.cells import BattleData
from podium.rankers.pairs import Pairs, cells_by_cluster, opponent_weights

FEW = 10
"""Items below which a pair's own residuals say too little of its variance: two to four often have equal outcomes."""


def are_few(pairs: Pairs, clusters: int) -> np.ndarray:
    """Tell which pairs met on few items, and on no more than half of all where all met on few, shape (pairs,)."""
    items = np.asarray(pairs.items)
    few: np.ndarray = (items < 2) | ((items < FEW) & (2 * items <= clusters))
    return few


def win_rate_errors(battles: BattleData, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariance of win rates, and the degrees of freedom of each rate's error.

    An item adds to a model's error the sum over its opponents of w e / (N sqrt(1 - h)), with w the opponent's
    weight, e the credit beyond the pair's mean, N the pair's battles and h the item's share of them. A pair met on few
    items says nothing of its own variance (a lone battle has e = 0): that of an item's mean credit, pooled over all
    pairs, stands in. Where all pairs met on all items alike, this is the clustered sandwich with the factor
    G / (G - 1), and the degrees of freedom (Satterthwaite 1946) are G - 1.

    Args:
        pairs: sums of the same battles, items counted.

    Returns:
        Shapes (models, models) and (models,).
    """
    few, size, (of_low, of_high) = are_few(pairs, battles.clusters), pairs.models, opponent_weights(pairs)
    # How each pair's credit of `low` enters each model's rate, shape (pairs, models).
    rows, codes = np.tile(np.arange(len(few)), 2), np.concatenate([pairs.first, pairs.second])
    weights = sparse.csr_matrix((np.concatenate([of_low, -of_high]), (rows, codes)), shape=(len(few), size))
    rate, shares, squares = pairs.credit / pairs.weight, np.zeros(len(few)), np.zeros(len(few))
    spread, moments = np.zeros((size, size)), np.zeros((2, size))
    for block in battles.blocks():
        cells = cells_by_cluster(block, pairs)
        pair, weight = cells.weight.indices, cells.weight.data
        share, error = weight / pairs.weight[pair], cells.credit.data / weight - rate[pair]
        shares += np.bincount(pair, share**2, len(few))
        squares += np.bincount(pair, error**2, len(few))
        share = np.where(few[pair], 0.0, share)
        influence = cells.matrix_of(share * error / np.sqrt(1 - share)) @ weights
        spread += (influence.T @ influence).toarray()
        # What the squares would be, were all errors alike.
        usual = cells.matrix_of(share**2) @ weights.multiply(weights)
        moments += np.vstack([usual.sum(axis=0), usual.multiply(usual).sum(axis=0)])
    repeats = int(np.sum(np.asarray(pairs.items) - 1))
    pooled = np.where(few, shares * squares.sum() / max(repeats, 1), 0.0)
    added = (weights.T @ sparse.diags(pooled) @ weights).toarray()
    own = np.divide(moments[0] ** 2, moments[1], out=np.ones(size), where=moments[1] > 0) - 1
    return spread + added, _joint_freedom([np.diag(spread), np.diag(added)], [own, np.full(size, repeats)])


def _joint_freedom(variances: list[np.ndarray], freedoms: list[np.ndarray]) -> np.ndarray:
    """Return Satterthwaite's degrees of freedom of sums of independent variances, shape (models,)."""
    square, freedom = np.array(variances) ** 2, np.array(freedoms)
    part = np.divide(square, freedom, out=np.zeros(freedom.shape), where=freedom > 0).sum(axis=0)
    total = np.sum(variances, axis=0) ** 2
    return np.divide(total, part, out=np.full(len(total), float(np.max(freedoms[0]))), where=part > 0)
