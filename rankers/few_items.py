"""Models with few items beside others with many: intervals of their ratings by the score test."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.special import expit

from podium.rankers.cells import BattleData
from podium.rankers.intervals import ScoreEstimates
from podium.rankers.newton import DesignMatrix
from podium.rankers.pairs import cells_by_cluster
from podium.rankers.scale import POINTS, EloScale
from podium.rankers.strengths import Strengths

FEW = 20
"""Items below which a model's own scatter says too little of its error: of five battles a tenth are all won."""
FARTHEST = 20.0
"""Logits; no interval of so few battles ends beyond, and farther out expected credits are 0 or 1 to rounding."""
ROUNDING = 1e-9
"""Share of the models' joint variance below which nobody has two battles on an item."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """How battles scatter around a fit, pooled over all models, in units of the binomial variance p (1 - p).

    Attributes:
        single: variance of what is earned in one pair on one item (ties and soft credits: below 1).
        shared: covariance of what a model earns against two opponents on one item.
    """

    single: float
    shared: float


def scatter_of(strengths: Strengths, battles: BattleData) -> Scatter:
    """Measure the scatter of battles around their fit."""
    pairs, sums = strengths.pairs, np.zeros(4)
    sides = DesignMatrix(None, pairs.first, pairs.second, pairs.models).sparse
    for block in battles.blocks():
        cells = cells_by_cluster(block, pairs)
        pair, weight = cells.weight.indices, cells.weight.data
        expected = strengths.expected_credit(pairs.first[pair], pairs.second[pair])
        surplus, deviation = cells.credit.data - weight * expected, weight * np.sqrt(expected * (1 - expected))
        by_model = cells.matrix_of(surplus) @ sides, cells.matrix_of(deviation) @ abs(sides)
        sums += [surplus @ surplus, deviation @ deviation, *(own.multiply(own).sum() for own in by_model)]
    squares, variances, joint, whole = sums
    crossed = whole - 2 * variances
    single = squares / variances
    shared = (joint - 2 * squares) / crossed if crossed > ROUNDING * whole else 0.0
    return Scatter(single, float(np.clip(shared, 0.0, single)))


@dataclass(frozen=True, slots=True)
class FewBattles:
    """The battles of a model of few items with others of many, added up by item and opponent.

    Attributes:
        model: its code.
        opponents: codes of those it met, shape (opponents,).
        item, opponent: of each cell; opponents by their place in `opponents`, shape (cells,).
        weight: of each cell, shape (cells,).
        earned: credit, weighted.
        theta: log-strengths of the opponents, shape (opponents,).
        scatter: of battles.
    """

    model: int
    opponents: np.ndarray
    item: np.ndarray
    opponent: np.ndarray
    weight: np.ndarray
    earned: float
    theta: np.ndarray
    scatter: Scatter

    def surplus(self, at: float) -> float:
        """Return the credit beyond the expected, were the log-strength `at`."""
        return self.earned - float(self.weight @ expit(at - self.theta[self.opponent]))

    def variance(self, at: float) -> float:
        """Return the variance of that credit then, were the opponents' strengths exact."""
        expected = expit(at - self.theta[self.opponent])
        deviation = self.weight * np.sqrt(expected * (1 - expected))
        joint, single = np.bincount(self.item, deviation), float(deviation @ deviation)
        return (self.scatter.single - self.scatter.shared) * single + self.scatter.shared * float(joint @ joint)

    def pulls(self, at: float) -> np.ndarray:
        """Return by how much each opponent's strength lowers the expected credit, per logit, shape (opponents,)."""
        expected = expit(at - self.theta[self.opponent])
        return np.bincount(self.opponent, self.weight * expected * (1 - expected), len(self.theta))

    def ends(self, covariance: np.ndarray, reach: float) -> tuple[float, float]:
        """Return the log-strengths between which a score test rejects none; infinite where it rejects none beyond.

        Args:
            covariance: of the opponents' strengths, shape (opponents, opponents).
            reach: standard deviations.
        """
        from scipy.optimize import brentq  # few tables need it, and it costs half of a second's start

        def excess(at: float, sign: int) -> float:
            pulls = self.pulls(at)
            return self.surplus(at) - sign * reach * float(np.sqrt(self.variance(at) + pulls @ covariance @ pulls))

        low, high = (
            brentq(excess, -FARTHEST, FARTHEST, args=(sign,))
            if excess(-FARTHEST, sign) > 0 > excess(FARTHEST, sign)
            else -sign * np.inf
            for sign in (1, -1)
        )
        return low, high


def few_battles_of(strengths: Strengths, battles: BattleData, items: np.ndarray) -> list[FewBattles]:
    """Return the battles of each model of few items with bounded ones of many.

    Args:
        items: on which each model has battles, shape (models,).
    """
    pairs, separated = strengths.pairs, strengths.graph.separated
    if separated.all():
        return []
    # Less than half as many as is usual, or less where the data do not bound a rating.
    few = (items < FEW) & (np.where(separated, items, 2 * items) < np.median(items[~separated]))
    firm = ~few & ~separated
    if not few.any():
        return []
    parts, clusters = [], 0
    for block in battles.blocks():
        cells = cells_by_cluster(block, pairs)
        item, pair = np.repeat(np.arange(block.clusters), np.diff(cells.weight.indptr)), cells.weight.indices
        for own, other, turned in ((pairs.first, pairs.second, False), (pairs.second, pairs.first, True)):
            kept = few[own[pair]] & firm[other[pair]]
            weight, credit = cells.weight.data[kept], cells.credit.data[kept]
            earned = weight - credit if turned else credit
            parts.append(np.array([own[pair[kept]], clusters + item[kept], other[pair[kept]], weight, earned]))
        clusters += block.clusters
    columns, scatter = np.concatenate(parts, axis=1), scatter_of(strengths, battles)
    return [
        _battles_of(strengths, columns[1:, columns[0] == code], int(code), scatter) for code in np.unique(columns[0])
    ]


def covariance_with_few(covariance: np.ndarray, guests: list[FewBattles], theta: np.ndarray) -> np.ndarray:
    """Return a covariance of log-strengths with that of models of few items by the information of their battles.

    An error of such a strength is that of its own credits and of its opponents' strengths, over the information.

    Args:
        covariance: of all strengths, shape (models, models).
        theta: log-strengths, shape (models,).
    """
    if not guests:
        return covariance
    passed, own = sparse.eye(len(theta), format="lil"), np.zeros(len(theta))
    for guest in guests:
        pulls, code = guest.pulls(theta[guest.model]), guest.model
        passed[code, code] = 0
        passed[code, guest.opponents] = pulls / pulls.sum()
        own[code] = guest.variance(theta[code]) / pulls.sum() ** 2
    rows = passed.tocsr()
    return (rows @ (rows @ covariance).T).T + np.diag(own)


def with_score_tests(
    estimate: ScoreEstimates, guests: list[FewBattles], scale: EloScale, theta: np.ndarray, reach: float
) -> ScoreEstimates:
    """Return Elo scores whose intervals are those of the score test, for models of few items.

    Args:
        estimate: Elo scores; the covariance of models of many items is used.
        reach: standard deviations.
    """
    if scale.pinned in {guest.model for guest in guests}:
        return estimate
    low, high = estimate.low.copy(), estimate.high.copy()
    for guest in guests:
        code, met = guest.model, np.ix_(guest.opponents, guest.opponents)
        ends = np.array(guest.ends(estimate.covariance[met] / POINTS**2, reach))
        # The model is a part of the origin: as far as its own strength moves, the origin follows.
        unit = POINTS * (1 - scale.weights[code])
        low[code], high[code] = estimate.score[code] + unit * (ends - theta[code])
    method = f"{estimate.method}, score test of those in fewer than {FEW} items"
    return replace(estimate, low=low, high=high, method=method)


def _battles_of(strengths: Strengths, columns: np.ndarray, code: int, scatter: Scatter) -> FewBattles:
    items, opponents, weight, earned = columns
    item = np.unique(items, return_inverse=True)[1]
    met, opponent = np.unique(opponents.astype(np.int64), return_inverse=True)
    return FewBattles(code, met, item, opponent, weight, float(earned.sum()), strengths.theta[met], scatter)
