"""mean and median: rankings by pointwise scores (JuStRank, appendix B)."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from podium.data.battles import Battles
from podium.defaults import LEVEL, RESAMPLES
from podium.distributions import bdtrc, ndtri
from podium.errors import NotIdentifiedError, UsageError
from podium.notices.notice import Notice
from podium.rankers.errors.betting import betting_difference, betting_interval
from podium.rankers.errors.both_ways import pair_tests_both_ways
from podium.rankers.errors.difference import (
    DifferenceTest,
    grouped_difference,
    is_constant,
    paired_difference,
    sum_by_group,
)
from podium.rankers.errors.intervals import (
    FEWEST_UNWIDENED,
    PairTests,
    ScoreEstimates,
    bootstrap_estimate,
    bound_constant_rates,
    resample,
    sandwich_estimate,
    wilson_interval,
)
from podium.rankers.errors.rater_scores import RaterScores
from podium.rankers.errors.raters import Raters, influence_of_raters, raters_of
from podium.rankers.fit.coded import (
    cluster_codes,
    code_battles,
    codes_of_items,
    ratio_or_nan,
    require_choice,
)
from podium.rankers.fit.graph import number_groups
from podium.rankers.fit.unequal_weights import are_unequal, effective_freedom, residual_factors
from podium.rankers.ranking import Fit, Standings
from podium.rankers.standings import (
    SAME_SCORE,
    Exposure,
    RankerResult,
    build_standings,
    measure_exposure,
)
from podium.wording import plural, word_for

MeanInterval = Literal["sandwich", "bootstrap", "betting"]
"""How intervals of means are made."""
HALF_ROUNDING = 1e-12
"""If a sum of weights differs from half of the total by a smaller share of it than this, it counts
as exactly half."""


@dataclass(frozen=True, slots=True)
class ScoreMatrix:
    """Scores by item and model.

    Attributes:
        values: the scores, NaN where missing, shape (items, models).
        models: names of the models, by column.
        item_weight: weights of the items before scaling, shape (items,); None if all count alike.
        group: code of each item's group, from 0, shape (items,); None if items have no groups.
        unit: what varies independently: the name of a group, else `item`.
    """

    values: np.ndarray
    models: tuple[str, ...]
    item_weight: np.ndarray | None = None
    group: np.ndarray | None = None
    unit: str = "item"

    @property
    def clusters(self) -> int:
        """Number of groups of items, or of items if they have no groups."""
        if self.group is None:
            return len(self.values)
        return int(self.group.max()) + 1

    @property
    def clusters_by_model(self) -> np.ndarray:
        """Number of clusters in which each model has a score, shape (models,)."""
        return np.count_nonzero(self.sum_by_cluster(self.is_known), axis=0)

    def sum_by_cluster(self, values: np.ndarray) -> np.ndarray:
        """Add up values of the items by group, shape (clusters, ...).

        Without groups, the values are returned as they are.
        """
        return values if self.group is None else sum_by_group(values, self.group)

    @property
    def weight(self) -> np.ndarray:
        """Weights of the items, 1 on average, shape (items,)."""
        item_weight = np.ones(len(self.values)) if self.item_weight is None else self.item_weight
        return item_weight / item_weight.mean()

    @property
    def weight_of_known(self) -> np.ndarray:
        """The item's weight where a score is known, else 0, shape (items, models)."""
        return self.weight[:, None] * self.is_known

    @property
    def means(self) -> np.ndarray:
        """Weighted mean of each model's scores over the items on which it has one, shape
        (models,).
        """
        total = np.nansum(self.weight[:, None] * self.values, axis=0)
        return total / self.weight_of_known.sum(axis=0)

    @property
    def is_known(self) -> np.ndarray:
        """Mask of the known scores, shape (items, models)."""
        return ~np.isnan(self.values)

    @property
    def groups_of_models(self) -> int:
        """Number of groups of models that shared items connect, 1 if all are connected.

        Two models are connected if both have a score on an item, directly or through others.
        """
        if self.is_known.all(axis=1).any():
            return 1
        is_known = self.is_known.astype(np.float32)
        share_an_item = is_known.T @ is_known > 0
        return int(number_groups(share_an_item).max()) + 1

    @property
    def is_bounded(self) -> bool:
        """Whether all scores lie in [0, 1]."""
        return bool(np.nanmin(self.values) >= 0 and np.nanmax(self.values) <= 1)


def mean(
    battles: Battles,
    *,
    level: float = LEVEL,
    rng: np.random.Generator,
    interval: MeanInterval = "sandwich",
    resamples: int = RESAMPLES,
) -> Standings:
    """Rank by the mean over items of each model's pointwise score, weighted if items have weights.

    Items on which a model has no score are left out of its mean, and a warning says so.

    Args (others as of `bradley_terry`):
        battles: battles with score_a and score_b. If a model has several scores on an item, they
            are averaged first, and so are several weights. Scores of unparsed battles count, too.
        interval: `sandwich` (over items or their groups and, from 10 on, over voters or judges; t,
            or Wilson's if all scores of all models lie in [0, 1]), `bootstrap` (percentile), or
            `betting`, for scores in [0, 1]: intervals and tests of pairs that allow for scores on
            items so rare that the sample has none, and stay valid when items are added after
            looking.

    Raises:
        NotIdentifiedError: no pointwise scores, a model without any, or no readable battle.
        UsageError: an option value that is unknown or out of range, or scores outside of [0, 1]
            with `betting`.
    """
    require_choice("interval", interval, get_args(MeanInterval))
    matrix = score_matrix(battles)
    if interval == "sandwich":
        estimate = estimate_means(matrix, level, battles)
    elif interval == "bootstrap":
        estimate = _bootstrap_means(matrix, level, rng, resamples)
    else:
        estimate = _bet_on_means(matrix, level)
    result = RankerResult(
        estimate,
        Fit(components=matrix.groups_of_models),
        diagnostics={"drop_out": mean_robustness(matrix)},
        warnings=_missing_scores_warning(matrix),
    )
    exposure = _count_scored_models(battles, matrix)
    return build_standings(
        ranker="mean", scale="score", exposure=exposure, result=result, level=level, rng=rng
    )


def _bootstrap_means(
    matrix: ScoreMatrix, level: float, rng: np.random.Generator, resamples: int
) -> ScoreEstimates:
    """Return means over items with percentile intervals.

    If all scores are in [0, 1], the intervals are clipped to [0, 1], and a model whose scores are
    all 0 or all 1 has the exact bound of Clopper and Pearson (1934), as no resample varies.
    """
    weighted_values = np.nan_to_num(matrix.values) * matrix.weight_of_known
    sums_of_values = matrix.sum_by_cluster(weighted_values)
    sums_of_weights = matrix.sum_by_cluster(matrix.weight_of_known)

    def resampled_means(counts: np.ndarray) -> np.ndarray:
        """Return the means of resamples, NaN where no score is drawn, shape (draws, models).

        `counts` says how often each cluster is drawn, shape (draws, clusters).
        """
        return ratio_or_nan(counts @ sums_of_values, counts @ sums_of_weights)

    draws = resample(resampled_means, matrix.clusters, resamples, rng)
    estimate = bootstrap_estimate(
        matrix.means,
        draws,
        matrix.clusters,
        level=level,
        cluster=matrix.unit,
        items=matrix.clusters_by_model,
    )
    share_of_cluster = sums_of_weights / sums_of_weights.sum(axis=0)
    estimate = replace(
        estimate,
        tests=PairTests(partial(mean_difference, matrix)),
        has_unequal_weights=are_unequal(share_of_cluster),
    )
    if not matrix.is_bounded or estimate.method is None:
        return estimate
    return bound_constant_rates(estimate.clip(0, 1), matrix.clusters_by_model, level)


def _bet_on_means(matrix: ScoreMatrix, level: float) -> ScoreEstimates:
    """Return means over items with intervals by betting.

    The covariance is NaN: standard errors are not known.

    Raises:
        UsageError: a score lies outside of [0, 1].
    """
    if not matrix.is_bounded:
        raise UsageError(
            "interval=betting needs scores from 0 to 1: divide them by the largest possible score, "
            "or leave out the option"
        )
    totals = matrix.sum_by_cluster(matrix.weight_of_known)
    value_sums = matrix.sum_by_cluster(np.nan_to_num(matrix.values) * matrix.weight_of_known)
    ends = []
    for model in range(len(matrix.models)):
        has_score = totals[:, model] > 0
        own_sums = value_sums[has_score, model]
        ends.append(betting_interval(own_sums, totals[has_score, model], 1 - level))
    low, high = np.array(ends).T
    every_model = np.ones(len(low), dtype=bool)
    unknown_covariance = np.full((len(low), len(low)), np.nan)
    return ScoreEstimates(
        score=matrix.means,
        low=low,
        high=high,
        covariance=unknown_covariance,
        clusters=matrix.clusters,
        method=f"betting on {matrix.unit}s",
        allowed=every_model,
        exact=every_model,
        tests=PairTests(partial(_bet_on_pair, matrix)),
    )


def _bet_on_pair(matrix: ScoreMatrix, first: int, second: int) -> DifferenceTest | None:
    """Test the difference of the mean scores of two models, given by code, by betting.

    Only items on which both models have a score count. The result is None if there are none.
    """
    scores, weight, group = _shared_scores(matrix, first, second)
    if not len(scores):
        return None
    difference = scores[:, 0] - scores[:, 1]
    # Scores are in [0, 1], and so their differences are at most 1.
    return betting_difference(difference, largest=1.0, weight=weight, group=group, unit=matrix.unit)


def median(
    battles: Battles, *, level: float = LEVEL, rng: np.random.Generator, resamples: int = RESAMPLES
) -> Standings:
    """Rank by the weighted median over items of each model's pointwise score.

    Intervals are percentiles of resampled items.

    Args (as of `mean`):
        battles: battles with the scores of both responses.
        level: confidence level of intervals and rank sets, in (0, 1).
        rng: draws for rank sets and the bootstrap.
        resamples: number of resamples.

    Raises:
        NotIdentifiedError: no pointwise scores, a model without any, or no readable battle.
        UsageError: `level` or `resamples` is out of range.
    """
    matrix = score_matrix(battles)
    estimate = estimate_medians(matrix, level, rng, resamples)
    warnings = _missing_scores_warning(matrix)
    equal_medians = len(estimate.score) - len(np.unique(estimate.score))
    if equal_medians:
        warnings.append(Notice("equal-medians", {"models": equal_medians}))
    fit = Fit(components=matrix.groups_of_models)
    result = RankerResult(estimate, fit, warnings=warnings)
    exposure = _count_scored_models(battles, matrix)
    return build_standings(
        ranker="median", scale="score", exposure=exposure, result=result, level=level, rng=rng
    )


def estimate_means(
    matrix: ScoreMatrix, level: float, battles: Battles | None = None
) -> ScoreEstimates:
    """Return means over items with t intervals, or Wilson intervals if all scores are in [0, 1].

    Each model's mean is over the items on which it has a score. A single cluster gives no
    intervals.

    Args:
        matrix: the scores.
        level: confidence level, in (0, 1).
        battles: the battles with these scores, for errors by voter or judge, too, if there are 10
            or more of them; None for errors by item alone.
    """
    score = matrix.means
    weight_share = matrix.weight_of_known / matrix.weight_of_known.sum(axis=0)
    deviation = np.where(matrix.is_known, matrix.values - score, 0)
    error = matrix.sum_by_cluster(deviation * weight_share)
    share_of_cluster = matrix.sum_by_cluster(weight_share)
    error = error * residual_factors(share_of_cluster)
    freedom = effective_freedom(share_of_cluster)
    covariance = error.T @ error
    estimate = sandwich_estimate(
        score, covariance, matrix.clusters, level=level, cluster=matrix.unit, freedom=freedom
    )
    estimate = replace(estimate, tests=PairTests(partial(mean_difference, matrix)))
    raters = None if battles is None else raters_of_scores(battles)
    if battles is not None and raters is not None:
        rows = _scores_with_raters(battles, matrix, raters)
        added, freedom_of_raters = _score_covariance_of_raters(rows, matrix, covariance)
        freedom = np.minimum(freedom, freedom_of_raters)
        estimate = _add_raters(estimate, added, matrix.unit, raters, freedom, level)
        estimate = _with_tests_by_rater(estimate, rows, raters)
    estimate = replace(
        estimate,
        allowed=np.ones(len(score), dtype=bool),
        skewness=_skewness_of_differences(error),
        has_unequal_weights=are_unequal(share_of_cluster),
    )
    if estimate.method is None or not matrix.is_bounded:
        return estimate
    variance = np.diag(estimate.covariance)
    interval_at = partial(wilson_interval, score, variance, freedom + 1, influence=error)
    low, high = interval_at(level)
    return replace(
        estimate,
        low=low,
        high=high,
        interval_at=interval_at,
        method=f"{estimate.method}, Wilson with effective sample size, t",
    )


def _add_raters(
    estimate: ScoreEstimates,
    added: np.ndarray,
    unit: str,
    raters: Raters,
    freedom: np.ndarray,
    level: float,
) -> ScoreEstimates:
    """Return an estimate whose errors are clustered by voter or judge, too.

    Args:
        estimate: the estimate by items or their groups.
        added: what raters add to its covariance, shape (models, models).
        unit: what a cluster of the estimate is.
        raters: the voters or judges.
        freedom: degrees of freedom of both errors together, shape (models,).
        level: confidence level, in (0, 1).
    """
    two_way = sandwich_estimate(
        estimate.score,
        estimate.covariance + added,
        min(estimate.clusters, raters.number),
        level=level,
        cluster=f"{unit}- and {raters.unit}" if estimate.clusters > 1 else unit,
        freedom=freedom,
    )
    return replace(two_way, tests=estimate.tests, raters=(raters.unit, raters.number))


def raters_of_scores(battles: Battles) -> Raters | None:
    """Return the voters or judges of the battles with a score; None if there are fewer than 10."""
    of_a, of_b = (~np.isnan(battles.numbers_of(side)) for side in ("score_a", "score_b"))
    return raters_of(battles, of_a | of_b)


@dataclass(frozen=True, slots=True)
class _ScoreRows:
    """The known scores of both sides of all battles, with their raters.

    Attributes:
        score: the scores, shape (rows,).
        item: code of the item of each, from 0, shape (rows,).
        cluster: code of the item of each, or of its group, shape (rows,).
        rater: code of the rater of each, from 0, shape (rows,).
        model: code of the model of each, shape (rows,).
        item_weight: weight of each item, shape (items,).
    """

    score: np.ndarray
    item: np.ndarray
    cluster: np.ndarray
    rater: np.ndarray
    model: np.ndarray
    item_weight: np.ndarray


def _scores_with_raters(battles: Battles, matrix: ScoreMatrix, raters: Raters) -> _ScoreRows:
    """Return the known scores of battles with their raters.

    Args:
        battles: the battles with the scores.
        matrix: the scores by item and model, of the same battles.
        raters: the raters of the battles with a score.
    """
    places = score_places(battles)
    item = places.item[places.is_known]
    rater = np.zeros(len(battles), dtype=np.int64)
    rater[places.has_score] = raters.code
    cluster = item
    if matrix.group is not None:
        cluster = np.tile(cluster_codes(battles), 2)[places.is_known]
    weight = np.ones(item.max() + 1) if places.weight is None else places.weight
    return _ScoreRows(
        score=places.score[places.is_known],
        item=item,
        cluster=cluster,
        rater=np.tile(rater, 2)[places.is_known],
        model=places.model[places.is_known],
        item_weight=weight,
    )


def _score_covariance_of_raters(
    rows: _ScoreRows, matrix: ScoreMatrix, by_item: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what voters or judges add to the covariance of means, and their degrees of freedom.

    The shapes are (models, models) and (models,). Each score contributes its deviation from the
    model's mean, times its share in that mean.

    Args:
        rows: the scores with their raters.
        matrix: the same scores by item and model.
        by_item: the covariance clustered by item or its group.
    """
    models = len(matrix.models)
    # Several scores of a model on an item share the weight of the item.
    cell = rows.item * models + rows.model
    scores_in_cell = np.bincount(cell)
    weight = rows.item_weight[rows.item] / scores_in_cell[cell]
    weight_of_model = np.bincount(rows.model, weight, models)
    share = weight / weight_of_model[rows.model]
    deviation = rows.score - matrix.means[rows.model]
    influence = np.zeros((len(rows.item), models))
    influence[np.arange(len(rows.item)), rows.model] = share * deviation
    return influence_of_raters(
        influence,
        rows.cluster,
        rater=rows.rater,
        mean=rows.model,
        weight=share,
        by_item=by_item,
    )


def _with_tests_by_rater(
    estimate: ScoreEstimates, rows: _ScoreRows, raters: Raters
) -> ScoreEstimates:
    """Return an estimate whose tests of pairs count raters, too, with the raters of each model.

    Args:
        estimate: the estimate, with tests by items.
        rows: the scores with their raters.
        raters: the voters or judges.
    """
    scores = RaterScores.of_rows(
        rows.score,
        item=rows.item,
        rater=rows.rater,
        model=rows.model,
        models=len(estimate.score),
        item_weight=rows.item_weight,
        unit=raters.unit,
    )
    raters_of_model = scores.raters_by_model()
    tests = pair_tests_both_ways(
        estimate.tests,
        PairTests(scores.difference),
        (raters.unit, raters.number),
        raters_of_model,
    )
    return replace(estimate, tests=tests, raters_of_model=raters_of_model)


def mean_difference(matrix: ScoreMatrix, first: int, second: int) -> DifferenceTest | None:
    """Test the difference of the mean scores of two models, given by code.

    The difference is first minus second, over the items on which both models have a score. The
    result is None if there are no such items. If these scores have two distinct values only, and
    the items have equal weights, the sign test is used, else the test that suits their number
    (`paired_difference`). If items have groups, the test is over the groups instead
    (`grouped_difference`).
    """
    scores, weight, group = _shared_scores(matrix, first, second)
    if not len(scores):
        return None
    levels = np.unique(scores)
    # If there are two distinct scores, all differences that are not zero have the same size.
    common_size = None
    if len(levels) == 2:
        common_size = float(levels[1] - levels[0])
    # This also holds if all scores are 0, or all are 1.
    if set(levels) <= {0.0, 1.0}:
        common_size = 1.0
    largest_difference = np.inf
    smallest_score = levels[0]
    largest_score = levels[-1]
    if smallest_score >= 0 and largest_score <= 1:
        largest_difference = 1.0
    difference = scores[:, 0] - scores[:, 1]
    if group is not None:
        return grouped_difference(
            difference, weight=weight, group=group, largest=largest_difference, unit=matrix.unit
        )
    return paired_difference(
        difference, common_size=common_size, largest=largest_difference, weight=weight
    )


def sign_difference(matrix: ScoreMatrix, first: int, second: int) -> DifferenceTest | None:
    """Test which of two models, given by code, has the higher score on more items.

    This is the sign test. If items have different weights, it is a test of the weighted mean of
    the signs instead (`paired_difference`). Only items on which both models have a score count.
    The result is None if there are no such items. If items have groups, the test is over the groups
    instead (`grouped_difference`).
    """
    scores, weight, group = _shared_scores(matrix, first, second)
    if not len(scores):
        return None
    signs = np.sign(scores[:, 0] - scores[:, 1])
    if group is not None:
        return grouped_difference(signs, weight, group, largest=1.0, unit=matrix.unit)
    return paired_difference(signs, common_size=1.0, largest=1.0, weight=weight)


def _shared_scores(
    matrix: ScoreMatrix, first: int, second: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the scores, weights and groups of the items on which two models, given by code, both
    have a score.

    The scores have shape (items, 2), the weights and groups (items,); the groups are None if items
    have none.
    """
    is_shared = matrix.is_known[:, first] & matrix.is_known[:, second]
    scores: np.ndarray = matrix.values[np.ix_(is_shared, [first, second])]
    group = None if matrix.group is None else matrix.group[is_shared]
    return scores, matrix.weight[is_shared], group


def _skewness_of_differences(error: np.ndarray) -> np.ndarray:
    """Return the skewness over items of the differences between models, shape (models, models).

    For n items with differences d around their mean 0 and standard deviation s, it is
    n sum d^3 / ((n - 1) (n - 2) s^3). Element (j, k) is the skewness of model j minus model k. It
    is 0 for fewer than three items, and for a difference that does not vary. `error` is what each
    item (or group of items) contributes to the error of each model, shape (items, models).
    """
    items = len(error)
    cubes = np.sum(error**3, axis=0)
    mixed_products = (error**2).T @ error
    third_moments = cubes[:, None] - cubes - 3 * (mixed_products - mixed_products.T)
    second_moments = error.T @ error
    # If a difference is the same on all items, rounding can make its variance negative.
    squares = np.diag(second_moments)
    variance = np.maximum(squares[:, None] + squares - 2 * second_moments, 0)
    is_skewed = (items > 2) & (variance > 1e-12 * variance.max(initial=0))
    scale = np.sqrt(max(items - 1, 1)) * items / max(items - 2, 1)
    ratio = np.zeros_like(third_moments)
    np.divide(third_moments, variance**1.5, out=ratio, where=is_skewed)
    return scale * ratio


def mean_robustness(matrix: ScoreMatrix) -> dict[str, Any]:
    """Return how many items must at least be removed to change the model with the highest mean.

    The number is exact: a rival gains most by the removal of the items on which it trails most. If
    items have groups, whole groups are removed and counted.

    Returns:
        A dictionary with `items`, the number of items, and `leader`, the name of the new leader.
        Both are None if the leader stays the same whatever items are removed, as long as one
        remains. If the number cannot be computed (a score is missing, there is one item, or the
        first place is shared), the only key is `unknown`; its value is a clause with the reason.
    """
    missing = int((~matrix.is_known).sum())
    if missing:
        verb = word_for(missing, "is", "are")
        return {"unknown": f"{missing:,} {plural('score', missing)} {verb} missing"}
    if matrix.clusters < 2:
        return {"unknown": f"there is one {matrix.unit} only"}
    mean = matrix.means
    weight = matrix.weight[:, None]
    leader = int(np.argmax(mean))
    models_in_first_place = int(np.sum(mean > mean[leader] - SAME_SCORE))
    if models_in_first_place > 1:
        return {"unknown": f"{models_in_first_place} models share the first place"}
    # The weighted leads of the first model over each other model, by item, the largest first.
    # Removing an item subtracts its lead from the sum.
    leads = matrix.sum_by_cluster(weight * (matrix.values[:, [leader]] - matrix.values))
    leads = np.sort(leads, axis=0)[::-1]
    # Row k is the mask of models that overtake the leader after k + 1 items are removed.
    remaining_leads = leads.sum(axis=0) - np.cumsum(leads, axis=0)
    overtaken = remaining_leads[:-1] < -SAME_SCORE
    # For each model, the fewest items until it overtakes; all items if it never does.
    items = np.where(overtaken.any(axis=0), 1 + overtaken.argmax(axis=0), len(leads))
    # The model that overtakes first; of several, the one with the highest mean.
    overtakes_first = np.flatnonzero(items == items.min())
    new_leader = int(overtakes_first[np.argmax(mean[overtakes_first])])
    if items[new_leader] == len(leads):
        return {"items": None, "leader": None}
    return {"items": int(items[new_leader]), "leader": matrix.models[new_leader]}


def estimate_medians(
    matrix: ScoreMatrix, level: float, rng: np.random.Generator, resamples: int
) -> ScoreEstimates:
    """Return weighted medians over items with intervals.

    Without weights and groups, intervals are exact, by order statistics (`_exact_medians`).
    Otherwise, and for a model with too few items, they are percentiles of resampled items; these
    are not widened, but below 5 items there are none. Pairs are tested by the signs of their
    differences (`sign_difference`).

    Args:
        matrix: the scores.
        level: confidence level, in (0, 1).
        rng: draws the resamples.
        resamples: number of resamples, at least 2.
    """

    def resampled_medians(counts: np.ndarray) -> np.ndarray:
        """Return the medians of resamples, shape (draws, models).

        `counts` says how often each cluster is drawn, shape (draws, clusters).
        """
        # An item is drawn as often as its group.
        counts_of_items = counts if matrix.group is None else counts[:, matrix.group]
        return _resampled_medians(matrix, counts_of_items)

    draws = resample(resampled_medians, matrix.clusters, resamples, rng)
    each_item_once = np.ones((1, len(matrix.values)))
    [score] = _resampled_medians(matrix, each_item_once)
    # Intervals of few items already extend to the extreme scores, and cannot be widened.
    estimate = bootstrap_estimate(
        score,
        draws,
        matrix.clusters,
        level=level,
        cluster=matrix.unit,
        items=FEWEST_UNWIDENED,
        too_few="items-of-median",
    )
    tests = PairTests(partial(sign_difference, matrix), in_scores=False)
    estimate = replace(estimate, draws=draws, tests=tests)
    if estimate.method is None or matrix.group is not None or not is_constant(matrix.weight):
        return estimate
    return _exact_medians(estimate, matrix, level)


def _exact_medians(estimate: ScoreEstimates, matrix: ScoreMatrix, level: float) -> ScoreEstimates:
    """Return medians whose intervals lie between order statistics of the scores.

    The interval of a model with n scores is from the k-th smallest to the k-th largest one, with
    the largest k such that at most k - 1 of n tosses of a coin are heads with a probability of at
    most (1 - `level`) / 2. Source: David and Nagaraja 2003, Order statistics, section 7.1. Models
    with too few items for any k keep their interval.
    """
    low = estimate.low.copy()
    high = estimate.high.copy()
    exact = np.zeros(len(low), dtype=bool)
    for model, column in enumerate(matrix.values.T):
        values = np.sort(column[~np.isnan(column)])
        k = _rank_of_end(len(values), level)
        if k > 0:
            low[model] = values[k - 1]
            high[model] = values[-k]
            exact[model] = True
    method = f"order statistics of {matrix.unit}s, exact"
    if not exact.all():
        method += f"; of few {matrix.unit}s, {estimate.method}"
    if not exact.any():
        return estimate
    return replace(estimate, low=low, high=high, exact=exact, allowed=exact, method=method)


def _rank_of_end(scores: int, level: float) -> int:
    """Return the largest k such that at most k - 1 of n tosses of a coin are heads rarely enough.

    n is the number of scores, and rarely enough is a probability of at most (1 - `level`) / 2. The
    k-th smallest and k-th largest score are the ends of a median's interval. The result is 0 if
    there is no such k.
    """
    tail = (1 - level) / 2
    # The normal approximation differs from k by less than 2.
    mean_heads = scores / 2
    sd_heads = np.sqrt(scores) / 2
    k = int(mean_heads + ndtri(tail) * sd_heads) + 2
    k = min(max(k, 0), (scores + 1) // 2)
    # The probability of more than n - k heads is that of at most k - 1.
    while k > 0 and bdtrc(scores - k, scores, 0.5) > tail:
        k -= 1
    return k


def _count_scored_models(battles: Battles, matrix: ScoreMatrix) -> Exposure:
    """Count battles and items of every scored model, including models without a readable battle.

    Arrays of the result are in the order of `matrix.models`. The battles may compare only some of
    the models that have scores on an item. If so, all counts of battles and the win rates are those
    of the battles of all pairs of scored models, with wins by the scores. No model is unranked.

    Raises:
        NotIdentifiedError: no battle is readable.
    """
    coded = code_battles(battles)
    exposure = measure_exposure(battles, coded)
    model_count = len(matrix.models)
    code = [matrix.models.index(name) for name in coded.models]
    battles_of_model = np.zeros(model_count, dtype=np.int64)
    battles_of_model[code] = exposure.battles
    rates = np.full(model_count, np.nan)
    rates[code] = exposure.win_rates
    counts = exposure.counts
    scores_of_item = matrix.is_known.sum(axis=1)
    pairs = int((scores_of_item * (scores_of_item - 1)).sum() // 2)
    if pairs > counts.battles:
        # The battles compare only some of the models that have a score on the item, as a chain in
        # which every score occurs. The counts are those of the battles of all pairs of models.
        battles_of_model = (scores_of_item @ matrix.is_known) - matrix.is_known.sum(axis=0)
        beaten_models = _count_beaten_models(matrix.values)
        # A model with a score meets all others with a score of the item.
        met_models = (scores_of_item - 1)[:, None] * matrix.is_known
        weight = matrix.weight[:, None]
        rates = ratio_or_nan(
            np.sum(weight * beaten_models, axis=0), np.sum(weight * met_models, axis=0)
        )
        missing = len(scores_of_item) * model_count * (model_count - 1) // 2 - pairs
        counts = replace(counts, judgments=pairs, battles=pairs, unparsed=0, missing=missing)
    return replace(
        exposure,
        counts=counts,
        models=matrix.models,
        battles=battles_of_model,
        win_rates=rates,
        clusters=matrix.clusters,
        items=matrix.clusters_by_model,
        unranked=(),
    )


def _count_beaten_models(values: np.ndarray) -> np.ndarray:
    """Return how many models each model beats on each item, ties as half, shape (items, models).

    A model without a score on an item beats none there.

    Args:
        values: the scores, NaN where missing, shape (items, models).
    """
    beaten_models = np.zeros(values.shape)
    for k in range(values.shape[1]):
        score = values[:, [k]]
        is_tied = values == score
        is_tied[:, k] = False
        beaten_models[:, k] = (values < score).sum(axis=1) + is_tied.sum(axis=1) / 2
    return beaten_models


@dataclass(frozen=True, slots=True)
class ScorePlaces:
    """The scores of both sides of all battles, first those of model a.

    Attributes:
        score: the scores, NaN where missing, shape (2 battles,).
        item: code of the item of each score, from 0, shape (2 battles,).
        model: code of the model of each score, shape (2 battles,).
        weight: mean weight of each item's battles, shape (items,); None if there are no weights or
            all are equal.
    """

    score: np.ndarray
    item: np.ndarray
    model: np.ndarray
    weight: np.ndarray | None

    @property
    def is_known(self) -> np.ndarray:
        """Mask of the known scores, shape (2 battles,)."""
        return ~np.isnan(self.score)

    @property
    def has_score(self) -> np.ndarray:
        """Mask of the battles with a score of at least one of their models, shape (battles,)."""
        of_a, of_b = self.is_known.reshape(2, -1)
        return of_a | of_b


def score_places(battles: Battles) -> ScorePlaces:
    """Return the pointwise scores of battles with their items and models.

    Raises:
        NotIdentifiedError: there are no pointwise scores.
    """
    table = battles.table
    if not {"score_a", "score_b"}.issubset(table):
        raise NotIdentifiedError(
            "no pointwise scores (columns score_a, score_b): mean and median need them; "
            "rank with bradley-terry or win-rate instead"
        )
    _, item = np.unique(codes_of_items(battles), return_inverse=True)
    weight = None
    if "weight" in table:
        weight_of_row = table["weight"].to_numpy(dtype=float)
        if not is_constant(weight_of_row):
            weight = np.bincount(item, weight_of_row) / np.bincount(item)
    return ScorePlaces(
        score=np.concatenate([table["score_a"].to_numpy(), table["score_b"].to_numpy()]),
        item=np.tile(item, 2),
        model=np.concatenate(battles.model_codes),
        weight=weight,
    )


def score_matrix(battles: Battles) -> ScoreMatrix:
    """Collect the pointwise scores of all battles, readable or not, by item and model.

    If a model has several scores on an item, they are averaged. If an item has several weights,
    they are averaged, too. Items without any score are left out. A row without an item counts as
    an item of its own.

    Raises:
        NotIdentifiedError: there are no pointwise scores, or a model has none.
    """
    places = score_places(battles)
    items = int(places.item.max(initial=-1)) + 1
    models = len(battles.models)
    is_known = places.is_known
    cell = (places.item * models + places.model)[is_known]
    total = np.bincount(cell, places.score[is_known], items * models)
    score_count = np.bincount(cell, minlength=items * models)
    values = ratio_or_nan(total, score_count).reshape(items, models)
    is_missing = np.isnan(values).all(axis=0)
    if is_missing.any():
        missing = [battles.models[k] for k in np.flatnonzero(is_missing)]
        raise NotIdentifiedError(
            f"no pointwise score for {', '.join(missing[:5])}; leave those models out"
        )
    has_score = ~np.isnan(values).all(axis=1)
    weight = None if places.weight is None else places.weight[has_score]
    group = None
    if battles.group is not None:
        group_of_item = np.zeros(items, dtype=np.int64)
        group_of_item[places.item[: len(battles)]] = cluster_codes(battles)
        _, group = np.unique(group_of_item[has_score], return_inverse=True)
    unit = "item" if group is None else battles.unit
    return ScoreMatrix(
        values=values[has_score], models=battles.models, item_weight=weight, group=group, unit=unit
    )


def _resampled_medians(matrix: ScoreMatrix, counts: np.ndarray) -> np.ndarray:
    """Return the weighted medians of resampled items, shape (draws, models).

    A median is NaN if no item is drawn on which the model has a score. `counts` says how often
    each item is drawn, shape (draws, items).
    """
    medians = np.empty((len(counts), len(matrix.models)))
    weight = matrix.weight
    for k, values in enumerate(matrix.values.T):
        # NaN is sorted to the end.
        order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
        sorted_scores = values[order]
        # The median is the first score at which the cumulated weight reaches half of the total. If
        # it is exactly half there, the median is the midpoint with the next score.
        cumulative_weight = np.cumsum(counts[:, order] * weight[order], axis=1)
        total = cumulative_weight[:, -1:]
        lower_position = (cumulative_weight >= total / 2 * (1 - HALF_ROUNDING)).argmax(axis=1)
        upper_position = (cumulative_weight > total / 2 * (1 + HALF_ROUNDING)).argmax(axis=1)
        midpoint = (sorted_scores[lower_position] + sorted_scores[upper_position]) / 2
        medians[:, k] = np.where(total[:, 0] > 0, midpoint, np.nan)
    return medians


def _missing_scores_warning(matrix: ScoreMatrix) -> list[Notice]:
    """Return a list of one warning that names the models without a score on some item.

    The models with the fewest scores come first. The list is empty if no score is missing.
    """
    size = len(matrix.values)
    scores_of_model = matrix.is_known.sum(axis=0).tolist()
    counts = sorted(zip(scores_of_model, matrix.models, strict=True))
    models = {name: number for number, name in counts if number < size}
    if not models:
        return []
    return [Notice("different-items", {"models": models, "items": size})]
