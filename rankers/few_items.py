"""Score-test intervals for models with few items among models with many, and one-sided bounds of
separated models."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.special import expit

from podium.rankers.cells import BattleData
from podium.rankers.intervals import ScoreEstimates, t_quantile
from podium.rankers.newton import DesignMatrix
from podium.rankers.pairs import Pairs, cells_by_cluster, win_rates
from podium.rankers.scale import POINTS, EloScale
from podium.rankers.strengths import Strengths

FEW = 20
"""Items below which a model's own residuals estimate its error too badly: of five battles, a tenth
are all won."""
FARTHEST = 20.0
"""Logits; intervals do not extend further, because expected credits there are 0 or 1 up to
rounding."""
ROUNDING = 1e-9
"""Share of the models' joint variance below which no model has two battles on an item, and of all
credit below which there is none."""
MOST_BOUNDED = 20
"""Models up to which bounds are made of the tests of single pairs, which take a search each."""
ONE_SIDED = "one-sided bounds of separated models"


def estimate_scatter(strengths: Strengths, battles: BattleData) -> tuple[float, float]:
    """Return the variance of a pair's credit on an item, and a model's covariance against two
    opponents, both over p (1 - p)."""
    pairs, sums = strengths.pairs, np.zeros(4)
    sides = DesignMatrix(None, pairs.first, pairs.second, pairs.models).sparse
    for block in battles.blocks():
        cells = cells_by_cluster(block, pairs)
        pair, weight = cells.weight.indices, cells.weight.data
        expected = strengths.expected_credit(pairs.first[pair], pairs.second[pair])
        surplus, deviation = (
            cells.credit.data - weight * expected,
            weight * np.sqrt(expected * (1 - expected)),
        )
        by_model = cells.matrix_of(surplus) @ sides, cells.matrix_of(deviation) @ abs(sides)
        sums += [
            surplus @ surplus,
            deviation @ deviation,
            *(matrix.multiply(matrix).sum() for matrix in by_model),
        ]
    squares, variances, joint, whole = sums
    crossed = whole - 2 * variances
    single = squares / variances
    shared = (joint - 2 * squares) / crossed if crossed > ROUNDING * whole else 0.0
    return single, float(np.clip(shared, 0.0, single))


@dataclass(frozen=True, slots=True)
class FewBattles:
    """The battles of a model with few items against models with many, summed by item and opponent
    (cells): `opponent` is a position in `opponents` (codes), `earned` the total weighted credit,
    `scatter` that of `estimate_scatter`."""

    model: int
    opponents: np.ndarray
    item: np.ndarray
    opponent: np.ndarray
    weight: np.ndarray
    earned: float
    theta: np.ndarray
    scatter: tuple[float, float]

    def credit_variance(self, at: float) -> float:
        """Return the variance of the credit at an assumed log-strength, with the opponents'
        strengths exact."""
        expected = expit(at - self.theta[self.opponent])
        deviation = self.weight * np.sqrt(expected * (1 - expected))
        joint, (single, shared) = np.bincount(self.item, deviation), self.scatter
        return (single - shared) * float(deviation @ deviation) + shared * float(joint @ joint)

    def sensitivity(self, at: float) -> np.ndarray:
        """Return the decrease of the expected credit per logit of each opponent's strength, shape
        (opponents,)."""
        expected = expit(at - self.theta[self.opponent])
        return np.bincount(self.opponent, self.weight * expected * (1 - expected), len(self.theta))

    @property
    def is_swept(self) -> bool:
        """Whether the model won, or lost, every battle."""
        total = float(self.weight.sum())
        return min(self.earned, total - self.earned) <= ROUNDING * total

    def sweep_bound(
        self, covariance: np.ndarray, reach: float, alpha: float
    ) -> tuple[float, float]:
        """Return the ends of the interval of a model that won, or lost, every battle; one of them
        is infinite.

        All n items are won with probability p^n at most, p the mean expected credit: p is below
        alpha^(1 / n) with confidence 1 - alpha (Clopper and Pearson 1934). The opponents' errors
        are added in quadrature. As the other end is infinite, alpha is the whole error rate of the
        interval.
        """
        # Imported here because few tables need it and it takes half a second.
        from scipy.optimize import brentq

        total, items = float(self.weight.sum()), int(self.item.max()) + 1
        sign = 1 if self.earned > total / 2 else -1
        allowed = (1 - alpha ** (1 / items)) * total

        def excess(at: float) -> float:
            slope = self.sensitivity(at)
            error = float(np.sqrt(allowed**2 + reach**2 * (slope @ covariance @ slope)))
            expected = float(self.weight @ expit(at - self.theta[self.opponent]))
            return sign * (self.earned - expected) - error

        ends = sorted((-sign * FARTHEST, sign * FARTHEST))
        is_bounded = excess(ends[0]) * excess(ends[1]) < 0
        end = brentq(excess, *ends) if is_bounded else -sign * np.inf
        return (end, np.inf) if sign > 0 else (-np.inf, end)

    def score_interval(self, covariance: np.ndarray, reach: float) -> tuple[float, float]:
        """Return the ends of a score test's interval, infinite if unbounded, given the opponents'
        covariance."""
        # Imported here because few tables need it and it takes half a second.
        from scipy.optimize import brentq

        def excess(at: float, sign: int) -> float:
            slope = self.sensitivity(at)
            error = float(np.sqrt(self.credit_variance(at) + slope @ covariance @ slope))
            return (
                self.earned
                - float(self.weight @ expit(at - self.theta[self.opponent]))
                - sign * reach * error
            )

        low, high = (
            brentq(excess, -FARTHEST, FARTHEST, args=(sign,))
            if excess(-FARTHEST, sign) > 0 > excess(FARTHEST, sign)
            else -sign * np.inf
            for sign in (1, -1)
        )
        return low, high


def few_battles_of(
    strengths: Strengths, battles: BattleData, items: np.ndarray
) -> list[FewBattles]:
    """Collect the battles of models with few items, or beyond a ladder, against others that are not
    separated."""
    pairs, separated = strengths.pairs, strengths.graph.separated
    if separated.all():
        return []
    few = (items < FEW) & (2 * items < np.median(items[~separated])) & ~separated
    if prior := strengths.prior:
        # A ladder bounds the strengths of separated models, too.
        few |= (items < FEW) & (items < np.median(items[~separated])) & separated
        few = (few & ~prior.is_rated) | (prior.sides_beyond(pairs, strengths.theta) != 0)
    return _collect_battles(strengths, battles, few, ~few & ~separated)


def separated_battles_of(strengths: Strengths, battles: BattleData) -> list[FewBattles]:
    """Collect the battles of separated models against models that are not separated; empty if all
    are, or none is."""
    separated = strengths.graph.separated
    if separated.all():
        return []
    return _collect_battles(strengths, battles, separated, ~separated)


def _collect_battles(
    strengths: Strengths, battles: BattleData, own: np.ndarray, others: np.ndarray
) -> list[FewBattles]:
    """Collect the battles of the models of a mask against those of another mask."""
    pairs = strengths.pairs
    if not own.any():
        return []
    parts, clusters = [], 0
    for block in battles.blocks():
        cells = cells_by_cluster(block, pairs)
        item, pair = (
            np.repeat(np.arange(block.clusters), np.diff(cells.weight.indptr)),
            cells.weight.indices,
        )
        for model, other in ((pairs.first, pairs.second), (pairs.second, pairs.first)):
            kept = own[model[pair]] & others[other[pair]]
            weight, credit = cells.weight.data[kept], cells.credit.data[kept]
            earned = weight - credit if model is pairs.second else credit
            parts.append(
                np.array(
                    [model[pair[kept]], clusters + item[kept], other[pair[kept]], weight, earned]
                )
            )
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


def covariance_with_few(
    covariance: np.ndarray, guests: list[FewBattles], theta: np.ndarray
) -> np.ndarray:
    """Return a covariance in which errors of models with few items come from own credits and
    opponents' errors."""
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
    estimate: ScoreEstimates,
    guests: list[FewBattles],
    scale: EloScale,
    theta: np.ndarray,
    reach: float,
) -> ScoreEstimates:
    """Replace the intervals of models with few items by score-test intervals; `reach` is the
    critical value."""
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


def with_separated_bounds(
    estimate: ScoreEstimates,
    separated: list[FewBattles],
    scale: EloScale,
    theta: np.ndarray,
    level: float,
) -> ScoreEstimates:
    """Replace the intervals of separated models by their one-sided bounds, the wider of the exact
    and the score test's; the estimate's covariance is that of Elo scores."""
    if not separated or scale.pinned in {own.model for own in separated}:
        return estimate
    low, high = estimate.low.copy(), estimate.high.copy()
    reach, alpha = t_quantile(estimate.clusters, level), 1 - level
    for own in (each for each in separated if each.is_swept):
        code, met = own.model, np.ix_(own.opponents, own.opponents)
        covariance = estimate.covariance[met] / POINTS**2
        if np.isnan(covariance).any():
            continue
        exact, score = (
            own.sweep_bound(covariance, reach, alpha),
            own.score_interval(covariance, reach),
        )
        ends = np.array([min(exact[0], score[0]), max(exact[1], score[1])])
        unit = POINTS * (1 - scale.weights[code])
        low[code], high[code] = estimate.score[code] + unit * (ends - theta[code])
    return replace(estimate, low=low, high=high, method=f"{estimate.method}, {ONE_SIDED}")


def with_bounds_by_tests(
    estimate: ScoreEstimates, pairs: Pairs, scale: EloScale, level: float
) -> ScoreEstimates:
    """Return one-sided bounds of models that never lost, or never won, where all models are
    separated: the score is the weighted mean of the gaps to the others, and each gap has a bound by
    its own test. Their mean is a wider bound than that of a joint test, because the standard error
    of a mean is at most the mean of the standard errors."""
    if estimate.tests is None or estimate.method is None or pairs.models > MOST_BOUNDED:
        return estimate
    low, high = estimate.low.copy(), estimate.high.copy()
    rates = win_rates(pairs)
    for code in np.flatnonzero((rates == 0) | (rates == 1)).tolist():
        others = [k for k in np.flatnonzero(scale.weights).tolist() if k != code]
        tests = [estimate.tests.difference(code, other) for other in others]
        alpha, weights = 1 - level, scale.weights[others]
        if rates[code] == 1:
            ends = np.array([test.low(alpha) for test in tests if test])
            low[code], high[code] = scale.origin + weights @ ends, np.inf
        else:
            ends = np.array([test.high(alpha) for test in tests if test])
            low[code], high[code] = -np.inf, scale.origin + weights @ ends
    return replace(estimate, low=low, high=high, method=f"{estimate.method}, {ONE_SIDED}")
