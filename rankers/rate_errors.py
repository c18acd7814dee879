"""Covariance of win rates, for schedules in which pairs met on any number of items."""

import numpy as np
from scipy import sparse

from podium.rankers.cells import BattleData
from podium.rankers.pairs import Pairs, cells_by_cluster, opponent_weights

FEW = 10
"""Items below which a pair's own residuals estimate its variance too badly: two to four often have equal outcomes."""


def are_pooled(pairs: Pairs, clusters: int) -> np.ndarray:
    """Return which pairs have pooled variances, shape (pairs,): met on 1 item, or on fewer than 10 and half of all."""
    items = np.asarray(pairs.items)
    few: np.ndarray = (items < 2) | ((items < FEW) & (2 * items <= clusters))
    return few


def win_rate_errors(battles: BattleData, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariance of win rates, shape (models, models), and each rate's degrees of freedom, shape (models,).

    An item adds to a model's error the sum over its opponents of w e / (N sqrt(1 - h)), where w is the opponent's
    weight, e the credit minus the pair's mean, N the pair's battles and h the item's share of them. The variance of
    a pair that met on few items cannot be estimated from that pair (a single battle has e = 0): the variance of an
    item's mean credit, pooled over all pairs, replaces it. If all pairs met on all items equally often, this is the
    clustered sandwich with the factor G / (G - 1), and the degrees of freedom (Satterthwaite 1946) are G - 1.

    `pairs`: sums of the same battles, with counts of items.
    """
    pooled, size, (in_first, in_second) = are_pooled(pairs, battles.clusters), pairs.models, opponent_weights(pairs)
    # The weight of each pair's credit in each model's rate, shape (pairs, models).
    rows, codes = np.tile(np.arange(len(pooled)), 2), np.concatenate([pairs.first, pairs.second])
    weights = sparse.csr_matrix((np.concatenate([in_first, -in_second]), (rows, codes)), shape=(len(pooled), size))
    rate, shares, squares = pairs.credit / pairs.weight, np.zeros(len(pooled)), np.zeros(len(pooled))
    covariance, moments = np.zeros((size, size)), np.zeros((2, size))
    for block in battles.blocks():
        cells = cells_by_cluster(block, pairs)
        pair, weight = cells.weight.indices, cells.weight.data
        share, error = weight / pairs.weight[pair], cells.credit.data / weight - rate[pair]
        shares += np.bincount(pair, share**2, len(pooled))
        squares += np.bincount(pair, error**2, len(pooled))
        share = np.where(pooled[pair], 0.0, share)
        influence = cells.matrix_of(share * error / np.sqrt(1 - share)) @ weights
        covariance += (influence.T @ influence).toarray()
        # The expected squares if all errors had the same variance.
        usual = cells.matrix_of(share**2) @ weights.multiply(weights)
        moments += np.vstack([usual.sum(axis=0), usual.multiply(usual).sum(axis=0)])
    repeats = int(np.sum(np.asarray(pairs.items) - 1))
    pair_variance = np.where(pooled, shares * squares.sum() / max(repeats, 1), 0.0)
    added = (weights.T @ sparse.diags(pair_variance) @ weights).toarray()
    freedom = np.divide(moments[0] ** 2, moments[1], out=np.ones(size), where=moments[1] > 0) - 1
    joint = _satterthwaite([np.diag(covariance), np.diag(added)], [freedom, np.full(size, repeats)])
    return covariance + added, joint


def _satterthwaite(variances: list[np.ndarray], freedoms: list[np.ndarray]) -> np.ndarray:
    """Return Satterthwaite's degrees of freedom of sums of independent variances, shape (models,)."""
    square, freedom = np.array(variances) ** 2, np.array(freedoms)
    part = np.divide(square, freedom, out=np.zeros(freedom.shape), where=freedom > 0).sum(axis=0)
    total = np.sum(variances, axis=0) ** 2
    return np.divide(total, part, out=np.full(len(total), float(np.max(freedoms[0]))), where=part > 0)
