"""Intervals for models with few items among models with many, and bounds of separated models.

Models with few items get intervals by score tests. In the code below such a model is a guest: its
battles do not change the ratings of its opponents. Separated models that won, or lost, every
battle get one-sided bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from podium.distinct_values import distinct_values
from podium.distributions import expit, find_root
from podium.rankers.errors.intervals import (
    PairTests,
    ScoreEstimates,
    t_quantile,
    unit_of_tests,
)
from podium.rankers.fit.cells import BattleData
from podium.rankers.fit.newton import DesignMatrix
from podium.rankers.fit.pairs import Pairs, cells_by_cluster, win_rates
from podium.rankers.fit.scale import POINTS, EloScale
from podium.rankers.fit.strengths import Strengths
from podium.wording import plural

FEWEST_BY_RESIDUALS = 20
"""A model with fewer items than this may get an interval by a score test (`few_battles_of` says
when), because its own residuals estimate its error too badly."""
PRECISION = {"xtol": 2e-12, "rtol": 4 * np.finfo(np.float64).eps}
"""Precision of the ends of intervals, absolute and relative."""
FARTHEST_END = 20.0
"""Ends of intervals are searched among log-strengths of up to this size, in logits; beyond,
expected credits are 0 or 1 up to rounding."""
CREDIT_ROUNDING = 1e-9
"""If the covariances between opponents are below this share of all variances, no model has two
battles on an item. If a model's credit, or lost credit, is below this share of its battles, it is
zero."""
MOST_BOUNDED = 20
"""With more models than this, `with_bounds_by_tests` changes nothing: each pair of models would
take a search."""
METHOD_OF_FLAT = "pair tests of models that hardly vary"
"""Part of the name of the intervals' method after `with_intervals_by_tests`."""
METHOD_OF_BOUNDS = "one-sided bounds of separated models"
"""Part of the name of the intervals' method if separated models have bounds."""


def estimate_scatter(strengths: Strengths, battles: BattleData) -> tuple[float, float]:
    """Return how much credits on an item vary, relative to 0/1 verdicts, over all battles.

    A 0/1 verdict with expected credit p has the variance p (1 - p).

    Returns:
        First, the variance of a pair's credit on an item, divided by p (1 - p). Second, the
        covariance of a model's credits against two opponents on the same item, divided by the
        product of their roots of p (1 - p). The second is clipped to [0, the first], and is 0 if
        no model has two battles on an item.
    """
    pairs = strengths.pairs
    surplus_squares = 0.0
    expected_squares = 0.0
    joint_squares = 0.0
    joint_variances = 0.0
    model_of_pair = DesignMatrix(
        columns=None, first=pairs.first, second=pairs.second, models=pairs.models
    ).sparse
    for block in battles.blocks():
        cells = cells_by_cluster(block, pairs)
        pair = cells.pair
        weight = cells.weight
        expected = strengths.expected_credit(pairs.first[pair], pairs.second[pair])
        surplus = cells.credit - weight * expected
        deviation = weight * np.sqrt(expected * (1 - expected))
        surplus_of_model = cells.matrix_of(surplus) @ model_of_pair
        deviation_of_model = cells.matrix_of(deviation) @ abs(model_of_pair)
        surplus_squares += surplus @ surplus
        expected_squares += deviation @ deviation
        joint_squares += surplus_of_model.multiply(surplus_of_model).sum()
        joint_variances += deviation_of_model.multiply(deviation_of_model).sum()
    # The joint sums contain the square of each cell twice, once for either model. What is left are
    # products of a model's cells against two opponents.
    between_opponents = joint_variances - 2 * expected_squares
    single = surplus_squares / expected_squares
    shared_scatter = 0.0
    if between_opponents > CREDIT_ROUNDING * joint_variances:
        shared_scatter = (joint_squares - 2 * surplus_squares) / between_opponents
    return single, float(np.clip(shared_scatter, 0.0, single))


@dataclass(frozen=True, slots=True)
class FewBattles:
    """The battles of one model against opponents whose ratings do not depend on it.

    The battles are summed by item and opponent; each sum is called a cell.

    Attributes:
        model: code of the model.
        opponents: codes of its opponents, shape (opponents,).
        item: number of the item of each cell, from 0, shape (cells,).
        opponent: position of each cell's opponent in `opponents`, shape (cells,).
        weight: weight of each cell, shape (cells,).
        credit: sum of the model's weighted credits.
        theta: log-strengths of the opponents, shape (opponents,).
        scatter: variance and covariance of credits on an item, as `estimate_scatter` returns them.
    """

    model: int
    opponents: np.ndarray
    item: np.ndarray
    opponent: np.ndarray
    weight: np.ndarray
    credit: float
    theta: np.ndarray
    scatter: tuple[float, float]

    def credit_variance(self, strength: float) -> float:
        """Return the variance of `credit` if the model's log-strength is `strength`.

        The opponents' log-strengths are taken as exact.
        """
        expected = expit(strength - self.theta[self.opponent])
        deviation = self.weight * np.sqrt(expected * (1 - expected))
        deviation_of_item = np.bincount(self.item, deviation)
        single_scatter, shared_scatter = self.scatter
        independent_part = (single_scatter - shared_scatter) * float(deviation @ deviation)
        return independent_part + shared_scatter * float(deviation_of_item @ deviation_of_item)

    def sensitivity(self, strength: float) -> np.ndarray:
        """Return by how much `credit` is expected to fall per logit that an opponent gains.

        `strength` is the model's log-strength. The result has shape (opponents,).
        """
        expected = expit(strength - self.theta[self.opponent])
        return np.bincount(self.opponent, self.weight * expected * (1 - expected), len(self.theta))

    @property
    def is_swept(self) -> bool:
        """Whether the model won, or lost, every battle."""
        total = float(self.weight.sum())
        return min(self.credit, total - self.credit) <= CREDIT_ROUNDING * total

    def sweep_bound(
        self, covariance: np.ndarray, quantile: float, alpha: float
    ) -> tuple[float, float]:
        """Return the ends of the interval of a model that won, or lost, every battle.

        The upper end is infinite if it won, the lower end if it lost. Both are infinite if no
        log-strength up to `FARTHEST_END` is at the other end. Let p be the mean expected credit of
        a model that won all n items. The probability of this is at most p^n, so that values of p
        below alpha^(1 / n) are rejected at the level alpha (Clopper and Pearson 1934). The errors
        of the opponents' strengths are added in quadrature.

        Args:
            covariance: covariance of the opponents' log-strengths, shape (opponents, opponents).
            quantile: number of standard errors of the opponents' strengths to allow for.
            alpha: error probability of the interval, all of it on the finite side.
        """
        total = float(self.weight.sum())
        items = int(self.item.max()) + 1
        has_won = self.credit > total / 2
        # The mean expected credit may be as low as alpha^(1 / n), where the observed one is 1.
        allowed_surplus = (1 - alpha ** (1 / items)) * total

        def excess(strength: float) -> float:
            """Return by how much the surplus, or shortfall, of credit exceeds what is allowed.

            The model's log-strength is `strength`. The result is 0 at the end of the interval.
            """
            slope = self.sensitivity(strength)
            opponent_variance = slope @ covariance @ slope
            allowed_variance = allowed_surplus**2 + quantile**2 * opponent_variance
            error = float(np.sqrt(allowed_variance))
            surplus = self.credit - self.expected_sum(strength)
            return (surplus if has_won else -surplus) - error

        is_bounded = excess(-FARTHEST_END) * excess(FARTHEST_END) < 0
        if not is_bounded:
            return -np.inf, np.inf
        bound = find_root(excess, -FARTHEST_END, FARTHEST_END, **PRECISION)
        return (bound, np.inf) if has_won else (-np.inf, bound)

    def expected_sum(self, strength: float) -> float:
        """Return the model's expected weighted credit in all its battles at a log-strength."""
        return float(self.weight @ expit(strength - self.theta[self.opponent]))

    def score_interval(self, covariance: np.ndarray, quantile: float) -> tuple[float, float]:
        """Return the ends of the log-strength's interval by a score test.

        If the log-strength were at an end, `credit` would differ from its expectation by
        `quantile` standard errors. An end is infinite if no log-strength satisfies this.

        Args:
            covariance: covariance of the opponents' log-strengths, shape (opponents, opponents).
            quantile: critical value of the test.
        """

        def excess(sign: int, strength: float) -> float:
            """Return how far the credit lies above an end of what is expected at a log-strength.

            The end is the highest expected credit for sign 1, and the lowest for -1.
            """
            slope = self.sensitivity(strength)
            opponent_variance = slope @ covariance @ slope
            error = float(np.sqrt(self.credit_variance(strength) + opponent_variance))
            return self.credit - self.expected_sum(strength) - sign * quantile * error

        def end(sign: int) -> float:
            """Return the lower (sign 1) or upper (sign -1) end of the log-strength's interval.

            At the lowest log-strength, the credit is the highest that is expected. The end is
            infinite if it is not within `FARTHEST_END`.
            """
            if excess(sign, -FARTHEST_END) > 0 > excess(sign, FARTHEST_END):
                return find_root(partial(excess, sign), -FARTHEST_END, FARTHEST_END, **PRECISION)
            return -sign * np.inf

        return end(1), end(-1)


def few_battles_of(
    strengths: Strengths, battles: BattleData, items: np.ndarray
) -> list[FewBattles]:
    """Collect the battles of models that get intervals by score tests, by model.

    These models have fewer than 20 items and fewer than half of the median, and are not separated.
    On a ladder, rated models are left out, and two kinds of newcomers are added: separated ones
    with fewer than 20 items and fewer than the median, and those beyond all rated models, whatever
    their number of items is.

    Only battles against models that get no such interval and are not separated are collected. A
    model without such battles is left out. The list is empty if all models are separated.

    Args:
        strengths: the fit.
        battles: the battles.
        items: number of items of each model, shape (models,).
    """
    separated = strengths.graph.separated
    if separated.all():
        return []
    median = np.median(items[~separated])
    is_guest = have_few_clusters(items, separated)
    prior = strengths.prior
    if prior:
        # A ladder bounds the strengths of separated models, too.
        is_guest |= (items < FEWEST_BY_RESIDUALS) & (items < median) & separated
        is_beyond = prior.sides_beyond(strengths.pairs, strengths.theta) != 0
        is_guest = (is_guest & ~prior.is_rated) | is_beyond
    return _collect_battles(
        strengths, battles, is_subject=is_guest, is_opponent=~is_guest & ~separated
    )


def have_few_clusters(clusters: np.ndarray, separated: np.ndarray) -> np.ndarray:
    """Return which models have few clusters of their own and among those of others.

    A model has few clusters if it has fewer than 20 of them, and fewer than half of the median of
    the models that are not separated. Separated models are False. The result has shape (models,).

    Args:
        clusters: number of items, or of raters, of each model, shape (models,).
        separated: mask of the separated models, shape (models,); not all are.
    """
    median = np.median(clusters[~separated])
    has_few: np.ndarray = (clusters < FEWEST_BY_RESIDUALS) & (2 * clusters < median) & ~separated
    return has_few


def separated_battles_of(strengths: Strengths, battles: BattleData) -> list[FewBattles]:
    """Collect the battles of separated models against models that are not separated.

    Separated models without such battles are left out. The list is empty if all models are
    separated, or if none is.
    """
    separated = strengths.graph.separated
    if separated.all():
        return []
    return _collect_battles(strengths, battles, is_subject=separated, is_opponent=~separated)


def _collect_battles(
    strengths: Strengths, battles: BattleData, is_subject: np.ndarray, is_opponent: np.ndarray
) -> list[FewBattles]:
    """Collect the battles of some models against others, by model.

    Models without such battles are left out.

    Args:
        strengths: the fit.
        battles: the battles.
        is_subject: mask of the models whose battles are collected, shape (models,).
        is_opponent: mask of the models that count as opponents, shape (models,).
    """
    if not is_subject.any():
        return []
    model, item, opponent, weight, earned = _battles_between(
        strengths.pairs, battles, is_subject, is_opponent
    )
    scatter = estimate_scatter(strengths, battles)
    guests = []
    for code in distinct_values(model):
        rows = model == code
        opponents, opponent_place = np.unique(opponent[rows].astype(np.int64), return_inverse=True)
        _, item_place = np.unique(item[rows], return_inverse=True)
        guest = FewBattles(
            model=int(code),
            opponents=opponents,
            item=item_place,
            opponent=opponent_place,
            weight=weight[rows],
            credit=float(earned[rows].sum()),
            theta=strengths.theta[opponents],
            scatter=scatter,
        )
        guests.append(guest)
    return guests


def _battles_between(
    pairs: Pairs, battles: BattleData, is_subject: np.ndarray, is_opponent: np.ndarray
) -> np.ndarray:
    """Return the battles of models in `is_subject` against models in `is_opponent`.

    Both are masks, shape (models,). Battles of a pair on one item are summed to one cell, and the
    result has shape (5, cells). Its rows are: code of the model, number of
    the item, code of the opponent, weight, and the weighted credit that the model earned. A cell
    between two models that are in both masks occurs twice, once for each of them.
    """
    parts = []
    items_before = 0
    for block in battles.blocks():
        cells = cells_by_cluster(block, pairs)
        item = items_before + cells.cluster
        weight = cells.weight
        credit = cells.credit
        first = pairs.first[cells.pair]
        second = pairs.second[cells.pair]
        sides = ((first, second, credit), (second, first, weight - credit))
        for model, opponent, earned in sides:
            is_kept = is_subject[model] & is_opponent[opponent]
            columns = (model, item, opponent, weight, earned)
            parts.append(np.array([column[is_kept] for column in columns]))
        items_before += block.clusters
    return np.concatenate(parts, axis=1)


def covariance_with_few(
    covariance: np.ndarray, guests: list[FewBattles], theta: np.ndarray
) -> np.ndarray:
    """Return a covariance in which the errors of the models with few items are replaced.

    `covariance` is not changed; it is returned as it is if `guests` is empty. The new errors of
    such a model follow from the variance of its credits, and from the errors of its opponents.

    Args:
        covariance: covariance of log-strengths, shape (models, models).
        guests: battles of the models with few items.
        theta: log-strengths, shape (models,).
    """
    if not guests:
        return covariance
    from scipy import sparse

    # Row k has the coefficients by which the error of model k follows from the errors of the fit.
    propagation = sparse.eye(len(theta), format="lil")
    credit_variance = np.zeros(len(theta))
    for guest in guests:
        code = guest.model
        slope = guest.sensitivity(theta[code])
        # If an opponent's strength moves, the guest's strength follows by its share of the slopes.
        propagation[code, code] = 0
        propagation[code, guest.opponents] = slope / slope.sum()
        credit_variance[code] = guest.credit_variance(theta[code]) / slope.sum() ** 2
    rows = propagation.tocsr()
    half_propagated = rows @ covariance
    propagated = (rows @ half_propagated.T).T
    return propagated + np.diag(credit_variance)


def with_score_tests(
    estimate: ScoreEstimates,
    guests: list[FewBattles],
    scale: EloScale,
    theta: np.ndarray,
    quantile: float,
    unit: str,
) -> ScoreEstimates:
    """Replace the intervals of models with few items by score-test intervals.

    If the pinned model has few items itself, the estimates are returned unchanged.

    Args:
        estimate: the estimates in Elo.
        guests: battles of the models with few items.
        scale: the Elo scale.
        theta: log-strengths, shape (models,).
        quantile: critical value of the tests.
        unit: what a cluster is.
    """
    if scale.pinned in {guest.model for guest in guests}:
        return estimate
    low = estimate.low.copy()
    high = estimate.high.copy()
    for guest in guests:
        code = guest.model
        covariance = _covariance_of_opponents(estimate, guest)
        ends = np.array(guest.score_interval(covariance, quantile))
        low[code], high[code] = _ends_in_elo(ends, code, estimate, scale, theta)
    units = plural(unit_of_tests(unit), 2)
    method = f"{estimate.method}, score test of those in fewer than {FEWEST_BY_RESIDUALS} {units}"
    codes = [guest.model for guest in guests]
    return estimate.replace_intervals(low, high, _mask_of(codes, len(low)), method)


def with_separated_bounds(
    estimate: ScoreEstimates,
    separated: list[FewBattles],
    scale: EloScale,
    theta: np.ndarray,
    level: float,
) -> ScoreEstimates:
    """Replace the intervals of separated models by their one-sided bounds.

    There are two bounds, the exact one (`sweep_bound`) and the end of the score test's interval.
    The one that is farther from the score counts. A model keeps its interval if it neither won nor
    lost every battle in `separated`, or if it met an opponent without a known error. The estimates
    are returned unchanged if `separated` is empty or has the pinned model; otherwise `method` names
    the bounds, even if no model gets one.

    Args:
        estimate: the estimates in Elo.
        separated: battles of the separated models.
        scale: the Elo scale.
        theta: log-strengths, shape (models,).
        level: confidence level.
    """
    if not separated or scale.pinned in {battles.model for battles in separated}:
        return estimate
    low = estimate.low.copy()
    high = estimate.high.copy()
    quantile = t_quantile(estimate.clusters, level)
    bounded = []
    for battles in separated:
        covariance = _covariance_of_opponents(estimate, battles)
        if not battles.is_swept or np.isnan(covariance).any():
            continue
        exact_low, exact_high = battles.sweep_bound(covariance, quantile, 1 - level)
        score_low, score_high = battles.score_interval(covariance, quantile)
        ends = np.array([min(exact_low, score_low), max(exact_high, score_high)])
        code = battles.model
        low[code], high[code] = _ends_in_elo(ends, code, estimate, scale, theta)
        bounded.append(code)
    method = f"{estimate.method}, {METHOD_OF_BOUNDS}"
    return estimate.replace_intervals(low, high, _mask_of(bounded, len(low)), method)


def _mask_of(codes: Sequence[int], models: int) -> np.ndarray:
    """Return the mask of the models with the given codes, shape (models,).

    `models` is the number of all models.
    """
    mask = np.zeros(models, dtype=bool)
    mask[[*codes]] = True
    return mask


def _covariance_of_opponents(estimate: ScoreEstimates, battles: FewBattles) -> np.ndarray:
    """Return the covariance of the opponents' log-strengths, shape (opponents, opponents)."""
    block = np.ix_(battles.opponents, battles.opponents)
    return estimate.covariance[block] / POINTS**2


def _ends_in_elo(
    ends: np.ndarray, code: int, estimate: ScoreEstimates, scale: EloScale, theta: np.ndarray
) -> np.ndarray:
    """Convert the ends of an interval of a model's log-strength to Elo, shape (2,).

    Args:
        ends: the ends, which may be infinite, shape (2,).
        code: code of the model.
        estimate: the estimates in Elo.
        scale: the Elo scale.
        theta: log-strengths, shape (models,).
    """
    # The model has a weight in the mean that is the origin, so the origin moves by this share of
    # any change of the model's strength.
    points_per_logit = POINTS * (1 - scale.weights[code])
    converted: np.ndarray = estimate.score[code] + points_per_logit * (ends - theta[code])
    return converted


def with_intervals_by_tests(
    estimate: ScoreEstimates, is_flat: np.ndarray, scale: EloScale, level: float
) -> ScoreEstimates:
    """Replace the intervals of models that hardly vary by those of their pair tests.

    A score is the origin plus the weighted mean of the gaps to the other models. Its interval
    extends from the weighted mean of the lower ends of the gaps' intervals to the weighted mean of
    their upper ends. The standard errors of these models become unknown (NaN), so that their pairs
    are compared by their own tests. A model whose tests bound neither end keeps its interval.

    The estimates are returned unchanged if there are more than 20 models, no tests or no
    intervals, or if no model hardly varies.

    Args:
        estimate: the estimates in Elo.
        is_flat: mask of the models, shape (models,).
        scale: the Elo scale.
        level: confidence level.
    """
    tests = estimate.tests
    if tests is None or estimate.method is None:
        return estimate
    has_many_models = len(is_flat) > MOST_BOUNDED
    if has_many_models or not is_flat.any():
        return estimate
    low = estimate.low.copy()
    high = estimate.high.copy()
    for code in np.flatnonzero(is_flat).tolist():
        others = [k for k in np.flatnonzero(scale.weights).tolist() if k != code]
        gaps = estimate.score[code] - estimate.score[others]
        ends = np.array([_gap_interval(tests, code, other, level) for other in others])
        moves = scale.weights[others] @ (ends - gaps[:, None])
        low[code], high[code] = estimate.score[code] + moves
    is_bounded = is_flat & (np.isfinite(low) | np.isfinite(high))
    if not is_bounded.any():
        return estimate
    low = np.where(is_bounded, low, estimate.low)
    high = np.where(is_bounded, high, estimate.high)
    covariance = np.where(is_bounded | is_bounded[:, None], np.nan, estimate.covariance)
    method = f"{estimate.method}, {METHOD_OF_FLAT}"
    changed = estimate.replace_intervals(low, high, is_bounded, method)
    return replace(changed, covariance=covariance)


def _gap_interval(tests: PairTests, a: int, b: int, level: float) -> tuple[float, float]:
    """Return both ends of the interval of a gap: the score of model a minus that of model b.

    `a` and `b` are codes. Both ends are infinite if the pair has no test.
    """
    test = tests.difference(a, b)
    return (-np.inf, np.inf) if test is None else test.interval(level)


def with_bounds_by_tests(
    estimate: ScoreEstimates, pairs: Pairs, scale: EloScale, level: float
) -> ScoreEstimates:
    """Bound the scores of models that never lost, or never won, by tests of single pairs.

    This is for battles that separate all models, which is not checked.
    A score is the origin plus the weighted mean of the gaps to the other models, and each gap has
    a bound by its own test. The weighted mean of these bounds is at least as far from the score as
    the bound by a joint test, because the standard error of a mean is at most the mean of the
    standard errors. The other end is infinite. Other models keep their intervals.

    The estimates are returned unchanged if there are more than 20 models, no tests or no
    intervals; otherwise `method` names the bounds, even if no model gets one.

    Args:
        estimate: the estimates in Elo.
        pairs: sums of each pair.
        scale: the Elo scale.
        level: confidence level.
    """
    if estimate.tests is None or estimate.method is None or pairs.models > MOST_BOUNDED:
        return estimate
    low = estimate.low.copy()
    high = estimate.high.copy()
    alpha = 1 - level
    rates = win_rates(pairs)
    is_one_sided = (rates == 0) | (rates == 1)
    for code in np.flatnonzero(is_one_sided).tolist():
        others = [k for k in np.flatnonzero(scale.weights).tolist() if k != code]
        tests = [estimate.tests.difference(code, other) for other in others]
        weights = scale.weights[others]
        if rates[code] == 1:
            low_gaps = np.array([test.low(alpha) for test in tests if test])
            low[code] = scale.origin + weights @ low_gaps
            high[code] = np.inf
        else:
            high_gaps = np.array([test.high(alpha) for test in tests if test])
            low[code] = -np.inf
            high[code] = scale.origin + weights @ high_gaps
    method = f"{estimate.method}, {METHOD_OF_BOUNDS}"
    return estimate.replace_intervals(low, high, is_one_sided, method)


def with_intervals_of_only_pair(
    estimate: ScoreEstimates, scale: EloScale, level: float
) -> ScoreEstimates:
    """Return the scores of two models with intervals that follow from the interval of their
    difference.

    A score is the origin plus the other model's weight in the origin times the difference. A model
    keeps its interval if the other model has no weight in the origin, as a pinned model does.

    The estimates are returned unchanged if they have no tests or no intervals.

    Args:
        estimate: the estimates in Elo, of two models.
        scale: the Elo scale.
        level: confidence level.
    """
    difference = None if estimate.tests is None else estimate.tests.difference(0, 1)
    if difference is None or estimate.method is None:
        return estimate
    low = estimate.low.copy()
    high = estimate.high.copy()
    least, most = difference.interval(level)
    for code, ends in ((0, (least, most)), (1, (-most, -least))):
        weight = scale.weights[1 - code]
        if weight > 0:
            low[code], high[code] = scale.origin + weight * np.array(ends)
    return replace(estimate, low=low, high=high, method=difference.method)
