"""Score-test intervals for models with few items among models with many."""

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
"""Items below which a model's own residuals estimate its error too badly: of five battles, a tenth are all won."""
FARTHEST = 20.0
"""Logits; intervals do not extend further, because expected credits there are 0 or 1 up to rounding."""
ROUNDING = 1e-9
"""Share of the models' joint variance below which no model has two battles on an item."""


def estimate_scatter(strengths: Strengths, battles: BattleData) -> tuple[float, float]:
    """Return the variance of a pair's credit on an item, and a model's covariance against two opponents, both over
    p (1 - p)."""
    pairs, sums = strengths.pairs, np.zeros(4)
    sides = DesignMatrix(None, pairs.first, pairs.second, pairs.models).sparse
    for block in battles.blocks():
        cells = cells_by_cluster(block, pairs)
        pair, weight = cells.weight.indices, cells.weight.data
        expected = strengths.expected_credit(pairs.first[pair], pairs.second[pair])
        surplus, deviation = cells.credit.data - weight * expected, weight * np.sqrt(expected * (1 - expected))
        by_model = cells.matrix_of(surplus) @ sides, cells.matrix_of(deviation) @ abs(sides)
        sums += [surplus @ surplus, deviation @ deviation, *(matrix.multiply(matrix).sum() for matrix in by_model)]
    squares, variances, joint, whole = sums
    crossed = whole - 2 * variances
    single = squares / variances
    shared = (joint - 2 * squares) / crossed if crossed > ROUNDING * whole else 0.0
    return single, float(np.clip(shared, 0.0, single))


@dataclass(frozen=True, slots=True)
class FewBattles:
    """The battles of a model with few items against models with many, summed by item and opponent (cells): `opponent`
    is a position in `opponents` (codes), `earned` the total weighted credit, `scatter` that of `estimate_scatter`."""

    model: int
    opponents: np.ndarray
    item: np.ndarray
    opponent: np.ndarray
    weight: np.ndarray
    earned: float
    theta: np.ndarray
    scatter: tuple[float, float]

    def credit_variance(self, at: float) -> float:
        """Return the variance of the credit at an assumed log-strength, with the opponents' strengths exact."""
        expected = expit(at - self.theta[self.opponent])
        deviation = self.weight * np.sqrt(expected * (1 - expected))
        joint, (single, shared) = np.bincount(self.item, deviation), self.scatter
        return (single - shared) * float(deviation @ deviation) + shared * float(joint @ joint)

    def sensitivity(self, at: float) -> np.ndarray:
        """Return the decrease of the expected credit per logit of each opponent's strength, shape (opponents,)."""
        expected = expit(at - self.theta[self.opponent])
        return np.bincount(self.opponent, self.weight * expected * (1 - expected), len(self.theta))

    def score_interval(self, covariance: np.ndarray, reach: float) -> tuple[float, float]:
        """Return the ends of a score test's interval, infinite if unbounded, given the opponents' covariance."""
        from scipy.optimize import brentq  # imported here because few tables need it and it takes half a second

        def excess(at: float, sign: int) -> float:
            slope = self.sensitivity(at)
            error = float(np.sqrt(self.credit_variance(at) + slope @ covariance @ slope))
            return self.earned - float(self.weight @ expit(at - self.theta[self.opponent])) - sign * reach * error

        low, high = (
            brentq(excess, -FARTHEST, FARTHEST, args=(sign,))
            if excess(-FARTHEST, sign) > 0 > excess(FARTHEST, sign)
            else -sign * np.inf
            for sign in (1, -1)
        )
        return low, high


def few_battles_of(strengths: Strengths, battles: BattleData, items: np.ndarray) -> list[FewBattles]:
    """Collect the battles of models with few items, or beyond a ladder, against others that are not separated."""
    pairs, separated = strengths.pairs, strengths.graph.separated
    if separated.all():
        return []
    # Less than half of the median number of items, or less than the median for separated models.
    few = (items < FEW) & (np.where(separated, items, 2 * items) < np.median(items[~separated]))
    if prior := strengths.prior:
        few = (few & ~prior.is_rated) | (prior.sides_beyond(pairs, strengths.theta) != 0)
    many = ~few & ~separated
    if not few.any():
        return []
    parts, clusters = [], 0
    for block in battles.blocks():
        cells = cells_by_cluster(block, pairs)
        item, pair = np.repeat(np.arange(block.clusters), np.diff(cells.weight.indptr)), cells.weight.indices
        for model, other in ((pairs.first, pairs.second), (pairs.second, pairs.first)):
            kept = few[model[pair]] & many[other[pair]]
            weight, credit = cells.weight.data[kept], cells.credit.data[kept]
            earned = weight - credit if model is pairs.second else credit
            parts.append(np.array([model[pair[kept]], clusters + item[kept], other[pair[kept]], weight, earned]))
        clusters += block.clusters
    columns, scatter = np.concatenate(parts, axis=1), estimate_scatter(strengths, battles)
    guests = []
    for code in np.unique(columns[0]):
        items, opponents, weight, earned = columns[1:, columns[0] == code]
        distinct, place = np.unique(opponents.astype(np.int64), return_inverse=True)
        guest = FewBattles(
            model=int(code),
            opponents=distinct,
            item=np.unique(items, return_inverse=True)[1],
            opponent=place,
            weight=weight,
            earned=float(earned.sum()),
            theta=strengths.theta[distinct],
            scatter=scatter,
        )
        guests.append(guest)
    return guests


def covariance_with_few(covariance: np.ndarray, guests: list[FewBattles], theta: np.ndarray) -> np.ndarray:
    """Return a covariance in which errors of models with few items come from own credits and opponents' errors."""
    if not guests:
        return covariance
    passed, variance = sparse.eye(len(theta), format="lil"), np.zeros(len(theta))
    for guest in guests:
        slope, code = guest.sensitivity(theta[guest.model]), guest.model
        passed[code, code] = 0
        passed[code, guest.opponents] = slope / slope.sum()
        variance[code] = guest.credit_variance(theta[code]) / slope.sum() ** 2
    rows = passed.tocsr()
    return (rows @ (rows @ covariance).T).T + np.diag(variance)


def with_score_tests(
    estimate: ScoreEstimates, guests: list[FewBattles], scale: EloScale, theta: np.ndarray, reach: float
) -> ScoreEstimates:
    """Replace the intervals of models with few items by score-test intervals; `reach` is the critical value."""
    if scale.pinned in {guest.model for guest in guests}:
        return estimate
    low, high = estimate.low.copy(), estimate.high.copy()
    for guest in guests:
        code, met = guest.model, np.ix_(guest.opponents, guest.opponents)
        ends = np.array(guest.score_interval(estimate.covariance[met] / POINTS**2, reach))
        # The model is part of the origin, which moves with the model's own strength.
        unit = POINTS * (1 - scale.weights[code])
        low[code], high[code] = estimate.score[code] + unit * (ends - theta[code])
    method = f"{estimate.method}, score test of those in fewer than {FEW} items"
    return replace(estimate, low=low, high=high, method=method)
