"""win-rate: mean credit against all opponents, or against one anchor."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy import sparse

from podium.data.battles import Battles
from podium.data.length_data import External
from podium.defaults import LEVEL, RESAMPLES
from podium.errors import UsageError
from podium.known_names import find_name
from podium.notices.notice import Notice
from podium.rankers.errors.both_ways import pair_tests_both_ways
from podium.rankers.errors.intervals import (
    Interval,
    PairTests,
    ScoreEstimates,
    bound_constant_rates,
    sandwich_estimate,
)
from podium.rankers.errors.rate_difference import RateTests, rate_weights
from podium.rankers.errors.raters import cluster_by_raters, covariance_of_raters, raters_of
from podium.rankers.fit.cells import (
    BattleData,
    cluster_shares,
    load_battles,
    pair_sums_with_items,
    prepare_battles,
)
from podium.rankers.fit.coded import Cluster, CodedBattles, Labels, code_battles, require_choice
from podium.rankers.fit.graph import comparison_graph
from podium.rankers.fit.pairs import Pairs, cells_by_cluster, downweighted_opponents, win_rates
from podium.rankers.fit.unequal_weights import are_unequal
from podium.rankers.from_pairs import bootstrap_pair_scores
from podium.rankers.length_control.baseline import rank_against_baseline
from podium.rankers.length_control.lengths import LengthOf, read_lengths
from podium.rankers.ranking import Fit, Standings
from podium.rankers.standings import Exposure, RankerResult, build_standings, measure_exposure
from podium.score_scale import win_rate_against
from podium.wording import quantity

LightOpponents: TypeAlias = dict[str, dict[str, float]]
"""Weights of the opponents that count less than others. The outer key is the name of the model,
the inner key is the name of the opponent, and the weights are in (0, 1)."""
FEWEST_ITEMS_OF_PAIR = 10
"""If a pair met on fewer items than this, its variance is not estimated from its own residuals but
pooled over pairs (see `are_pooled`). Two to four items often have equal outcomes."""


def win_rate(
    battles: Battles,
    *,
    level: float = LEVEL,
    rng: np.random.Generator,
    anchor: str | None = None,
    labels: Labels = "soft",
    interval: Interval = "sandwich",
    resamples: int = RESAMPLES,
    cluster: Cluster = "item",
    length_control: bool = False,
    length_of: LengthOf = "answer",
    length_data: External | None = None,
) -> Standings:
    """Rank by the mean over opponents of the mean credit against each, a tie counting half.

    Each opponent counts once (Gera et al., appendix B), so that an uneven schedule does not tilt
    the rate. One exception: an opponent that the model met on less than half as many items as its
    most frequent opponent counts less (`podium.rankers.fit.pairs.opponent_weights`). With an
    anchor, the anchor's own rate is 1 minus the mean of the others' rates (Don-Yehiya et al.,
    section 2).

    Args (others as of `bradley_terry`):
        anchor: use only the battles against this model.
        interval: `sandwich` (linearized ratio, clustered, t; with cluster=item and without an
            anchor, the errors also allow for ten or more voters or judges) or `bootstrap`
            (percentile; not with length_control).
        length_control: against one baseline, as if all responses were equally long (AlpacaEval's
            model).
        length_data: external data of that model: difficulties of items, rows of gamed baselines.

    Raises:
        UsageError: an option value that is unknown or out of range, or an unknown anchor;
            length_data without length_control; or length_control with interval=bootstrap, or
            without an anchor unless exactly one model is in every battle.
        NotIdentifiedError: no readable battle; or, with length_control, no lengths or no model
            that has a win rate at equal lengths.
    """
    require_choice("interval", interval, ("sandwich", "bootstrap"))
    if length_control:
        lengths = read_lengths(battles, labels, cluster, interval, length_of)
        return rank_against_baseline(battles, lengths, anchor, length_data, level=level, rng=rng)
    _refuse_length_data(length_data)
    coded = prepare_battles(battles, labels=labels, cluster=cluster)
    anchor, selected = _select_anchor(anchor, coded)
    pairs = pair_sums_with_items(selected)
    if interval == "bootstrap":
        estimate = _bootstrap_rates(selected, pairs, level, resamples, rng)
    elif anchor is None and cluster == "item":
        estimate = _rates_with_raters(selected, battles, pairs, labels, level)
    else:
        # Raters vary beside items only, and in rates over all opponents.
        estimate = estimate_rates(selected, pairs, level)
    light_opponents = _light_opponents(selected, pairs)
    diagnostics = {"opponent_weights": light_opponents} if light_opponents else {}
    groups = comparison_graph(pairs).groups
    warnings = _schedule_warnings(coded, pairs, estimate.score, anchor, groups, light_opponents)
    result = RankerResult(
        estimate, Fit(components=groups), diagnostics=diagnostics, warnings=[*warnings]
    )
    exposure = _measure_selected(battles, selected, pairs, anchor)
    return build_standings(
        "win-rate", win_rate_against(anchor), exposure, result, level=level, rng=rng
    )


def _refuse_length_data(length_data: object) -> None:
    """Raise UsageError if `length_data` is given (is not None): only `length_control` uses it."""
    if length_data is not None:
        raise UsageError("length_data is used with length_control=true")


def _select_anchor(anchor: str | None, coded: BattleData) -> tuple[str | None, BattleData]:
    """Return the name of the anchor as the battles spell it, and its battles.

    Without an anchor, the name is None, and all battles are returned.

    Raises:
        UsageError: no model with readable battles has this name.
    """
    if anchor is None:
        return None, coded
    name = find_name("model with readable battles", anchor, coded.models)
    return name, coded.battles_of_anchor(name)


def _bootstrap_rates(
    battles: BattleData, pairs: Pairs, level: float, resamples: int, rng: np.random.Generator
) -> ScoreEstimates:
    """Return win rates with percentile intervals in [0, 1], from resampled clusters."""
    in_memory = load_battles(battles)
    estimate = bootstrap_pair_scores(win_rates, in_memory, pairs, level, resamples, rng)
    return _bound_rates(estimate, battles, level)


def _measure_selected(
    battles: Battles, selected: BattleData, pairs: Pairs, anchor: str | None
) -> Exposure:
    """Count battles and items by model; if there is an anchor, count only the anchor's battles.

    A model is listed as unranked if none of its battles against any model is readable, whatever the
    anchor is. `selected` are the battles that are ranked, and `pairs` their sums.
    """
    exposure = measure_exposure(battles, selected, pairs)
    if anchor is None:
        return exposure
    against_anchor = replace(battles.battles_of_model(anchor), missing=None)
    of_anchor = measure_exposure(against_anchor, selected, pairs)
    return replace(of_anchor, unranked=exposure.unranked)


def _light_opponents(battles: BattleData, pairs: Pairs) -> LightOpponents:
    """Return the weights of the opponents that count less than others, by model and opponent.

    A weight is divided by the model's largest weight, and so is below 1. Models whose opponents all
    count alike are left out.
    """
    light_opponents: LightOpponents = {}
    names = battles.models
    for model, opponent, ratio in zip(*downweighted_opponents(pairs), strict=True):
        weights_of_model = light_opponents.setdefault(names[model], {})
        weights_of_model[names[opponent]] = float(ratio)
    return light_opponents


def estimate_rates(battles: BattleData, pairs: Pairs, level: float) -> ScoreEstimates:
    """Return win rates with t intervals in [0, 1].

    A model that won, or lost, all battles has a bound instead (`bound_constant_rates`). If there
    are two models only, their intervals follow from the test of their difference. A single cluster
    gives no intervals.

    Args:
        battles: the battles.
        pairs: sums of the same battles, with counts of items.
        level: confidence level, in (0, 1).
    """
    covariance, freedom = win_rate_errors(battles, pairs)
    score = win_rates(pairs)
    clusters = battles.clusters
    estimate = sandwich_estimate(
        score, covariance, clusters, level=level, cluster=battles.unit, freedom=freedom
    )
    pooled = int(are_pooled(pairs, clusters).sum())
    if estimate.method and pooled:
        reason = f"met on fewer than {FEWEST_ITEMS_OF_PAIR} items"
        about_pooled = (
            f"variance of {pooled} of {quantity(len(pairs.first), 'pair')} pooled ({reason})"
        )
        estimate = replace(estimate, method=f"{estimate.method}, {about_pooled}")
    tests = PairTests(RateTests(battles).difference)
    estimate = replace(
        estimate,
        allowed=np.ones(len(score), dtype=bool),
        tests=tests,
        has_unequal_weights=are_unequal(cluster_shares(battles)),
    )
    bounded = _bound_rates(estimate, battles, level)
    if len(score) == 2 and len(pairs.first) == 1:
        return _with_interval_of_test(bounded, tests, level)
    return bounded


def _with_interval_of_test(
    estimate: ScoreEstimates, tests: PairTests, level: float
) -> ScoreEstimates:
    """Return the rates of two models with intervals that follow from the interval of their
    difference.

    The two rates add up to 1, so each is half of 1 plus or minus the difference (of the model with
    code 0 minus the model with code 1). Without intervals, or without a test, the estimate is
    returned unchanged.
    """
    difference = tests.difference(0, 1)
    if estimate.method is None or difference is None:
        return estimate
    difference_low, difference_high = difference.interval(level)
    low = (1 + difference_low) / 2
    high = (1 + difference_high) / 2
    return replace(
        estimate,
        low=np.array([low, 1 - high]),
        high=np.array([high, 1 - low]),
        method=difference.method,
    )


def _rates_with_raters(
    coded: BattleData, battles: Battles, pairs: Pairs, labels: Labels, level: float
) -> ScoreEstimates:
    """Return win rates with intervals clustered by item and, from 10 on, by voter or judge.

    With fewer voters and judges, or without intervals by item, the result is that of
    `estimate_rates`.

    Args:
        coded: all readable battles.
        battles: all battles, with their voters and judges.
        pairs: sums of the same battles.
        labels: `soft` keeps credits as they are; `hard` rounds them to win, tie or loss.
        level: confidence level, in (0, 1).
    """
    estimate = estimate_rates(coded, pairs, level)
    raters = raters_of(battles)
    if raters is None or estimate.method is None or estimate.freedom is None:
        return estimate
    weights = rate_weights(pairs)

    def covariance_of_rates(clustered: CodedBattles) -> np.ndarray:
        """Return the covariance of win rates by the clusters of battles, shape (models, models)."""
        return _rate_covariance(clustered, pairs, weights)

    by_item = code_battles(battles, labels=labels)
    added, freedom = covariance_of_raters(covariance_of_rates, by_item, raters)
    two_way = sandwich_estimate(
        estimate.score,
        estimate.covariance + added,
        min(estimate.clusters, raters.number),
        level=level,
        cluster=f"{coded.unit}- and {raters.unit}",
        freedom=np.minimum(estimate.freedom, freedom),
    )
    by_rater = cluster_by_raters(by_item, raters)
    unit_and_number = (raters.unit, raters.number)
    tests_by_rater = PairTests(RateTests(by_rater).difference)
    raters_of_model = by_rater.clusters_by_model()
    tests = pair_tests_both_ways(estimate.tests, tests_by_rater, unit_and_number, raters_of_model)
    two_way = replace(
        two_way,
        allowed=estimate.allowed,
        tests=tests,
        raters=unit_and_number,
        raters_of_model=raters_of_model,
    )
    return _bound_rates(two_way, coded, level)


def _rate_covariance(coded: CodedBattles, pairs: Pairs, weights: sparse.csr_matrix) -> np.ndarray:
    """Return the covariance of win rates by linearized ratios, with the factor G / (G - 1).

    Args:
        coded: the battles; their G clusters are independent.
        pairs: sums of the same battles.
        weights: weight of each pair's credit in each rate, shape (pairs, models).
    """
    cells = cells_by_cluster(coded, pairs)
    share = cells.weight / pairs.weight[cells.pair]
    rate = pairs.credit / pairs.weight
    error = cells.credit / cells.weight - rate[cells.pair]
    influence = cells.matrix_of(share * error) @ weights
    factor = coded.clusters / max(coded.clusters - 1, 1)
    covariance: np.ndarray = (influence.T @ influence).toarray() * factor
    return covariance


def _bound_rates(estimate: ScoreEstimates, coded: BattleData, level: float) -> ScoreEstimates:
    """Clip intervals to [0, 1], and bound rates of models that won, or lost, all battles.

    If raters vary, too, the bound of a model counts its items or its raters, whichever are fewer.
    Estimates without intervals are returned unchanged.
    """
    if estimate.method is None:
        return estimate
    clusters = coded.clusters_by_model()
    if estimate.raters_of_model is not None:
        clusters = np.minimum(clusters, estimate.raters_of_model)
    return bound_constant_rates(estimate.clip(0, 1), clusters, level)


def _schedule_warnings(
    coded: BattleData,
    pairs: Pairs,
    score: np.ndarray,
    anchor: str | None,
    groups: int,
    light_opponents: LightOpponents,
) -> Iterator[Notice]:
    """Yield warnings about models without a score, a weak anchor, and an uneven schedule.

    The codes are `never-met-anchor` (once for each model without a score), those of
    `_warn_of_lesser_anchor`, `different-opponents` (without an anchor, if some pairs never met),
    `disconnected` (several groups) and `light-opponents`.

    Args:
        coded: all readable battles.
        pairs: sums of the battles that are ranked.
        score: win rates, NaN where unknown, shape (models,).
        anchor: name of the model whose battles are ranked; None for all.
        groups: number of groups that no battles connect.
        light_opponents: weights of opponents that count less than others.
    """
    for k in np.flatnonzero(np.isnan(score)):
        yield Notice("never-met-anchor", {"model": coded.models[k], "anchor": anchor})
    yield from _warn_of_lesser_anchor(coded, anchor)
    all_pairs = len(score) * (len(score) - 1) / 2
    if anchor is None and groups == 1 and len(pairs.first) < all_pairs:
        yield Notice("different-opponents")
    if groups > 1:
        yield Notice("disconnected", {"groups": groups})
    least_weight: dict[str, float] = {}
    for weights in light_opponents.values():
        for opponent, weight in weights.items():
            least_weight[opponent] = min(weight, least_weight.get(opponent, weight))
    if least_weight:
        shares = {opponent: f"{least_weight[opponent]:.2g}" for opponent in sorted(least_weight)}
        yield Notice("light-opponents", {"models": shares})


def _warn_of_lesser_anchor(coded: BattleData, anchor: str | None) -> Iterator[Notice]:
    """Yield a warning if the anchor has fewer than half of the battles of some other model.

    This model was then not the anchor of the tournament, and few battles are ranked.

    Args:
        coded: all readable battles.
        anchor: name of the anchor; None if there is none.
    """
    if anchor is None:
        return
    battles = coded.battles_by_model()
    battles_of_anchor = battles[coded.models.index(anchor)]
    most = int(np.argmax(battles))
    if 2 * battles_of_anchor < battles[most]:
        counts = {"battles": int(battles_of_anchor), "most": int(battles[most])}
        yield Notice(
            "anchor-played-less", {"anchor": anchor, "other": coded.models[most], **counts}
        )


def are_pooled(pairs: Pairs, clusters: int) -> np.ndarray:
    """Return the mask of pairs whose variance is pooled over all pairs, shape (pairs,).

    A pair is pooled if it met on one item, or if it met on fewer than 10 items and these are at
    most half of all items. `clusters` is the number of all items.
    """
    items = np.asarray(pairs.items)
    has_few_items = (items < FEWEST_ITEMS_OF_PAIR) & (2 * items <= clusters)
    is_pooled: np.ndarray = has_few_items | (items < 2)
    return is_pooled


def win_rate_errors(battles: BattleData, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariance of win rates, and the degrees of freedom of each rate.

    The shapes are (models, models) and (models,).

    An item adds to a model's error the sum over its opponents of w e / (N sqrt(1 - h)). Here w is
    the opponent's weight, e the credit minus the pair's mean, N the number of the pair's battles,
    and h the item's share of these battles. The variance of a pair that met on few items cannot be
    estimated from that pair (a single battle has e = 0). It is replaced by the variance of an
    item's mean credit, pooled over all pairs. If all pairs met on all items equally often, this is
    the clustered sandwich with the factor G / (G - 1), and the degrees of freedom (Satterthwaite
    1946) are G - 1.

    Args:
        battles: the battles.
        pairs: sums of the same battles, with counts of items.
    """
    is_pooled = are_pooled(pairs, battles.clusters)
    weights = rate_weights(pairs)
    sums = _sum_rate_errors(battles, pairs, weights, is_pooled)
    # Degrees of freedom of the pooled variance: all items of all pairs, minus one mean per pair.
    pooled_freedom = int(np.sum(np.asarray(pairs.items) - 1))
    pooled_variance = sums.square_shares * sums.square_errors.sum() / max(pooled_freedom, 1)
    pair_variance = np.where(is_pooled, pooled_variance, 0.0)
    weighted_variance = weights.T @ sparse.diags(pair_variance)
    pooled_covariance = (weighted_variance @ weights).toarray()
    variances = np.array([np.diag(sums.covariance), np.diag(pooled_covariance)])
    freedom = _joint_freedom(variances, sums.freedom, pooled_freedom)
    return sums.covariance + pooled_covariance, freedom


@dataclass(frozen=True, slots=True)
class _RateErrorSums:
    """Sums over items of the errors of win rates.

    Attributes:
        covariance: covariance of win rates by the pairs that are not pooled, shape (models,
            models).
        freedom: degrees of freedom of the variances in `covariance`, shape (models,).
        square_shares: sum over items of the squared share of the pair's battles that are on the
            item, shape (pairs,).
        square_errors: sum over items of the squared difference between the item's mean credit and
            the pair's, shape (pairs,).
    """

    covariance: np.ndarray
    freedom: np.ndarray
    square_shares: np.ndarray
    square_errors: np.ndarray


def _sum_rate_errors(
    battles: BattleData, pairs: Pairs, weights: sparse.csr_matrix, is_pooled: np.ndarray
) -> _RateErrorSums:
    """Sum the errors of win rates over items.

    Args:
        battles: the battles.
        pairs: sums of the same battles.
        weights: weight of each pair's credit in each rate, shape (pairs, models).
        is_pooled: which pairs have pooled variances, shape (pairs,).
    """
    pair_count = len(is_pooled)
    model_count = pairs.models
    rate = pairs.credit / pairs.weight
    square_shares = np.zeros(pair_count)
    square_errors = np.zeros(pair_count)
    covariance = np.zeros((model_count, model_count))
    moments = np.zeros((2, model_count))
    for block in battles.blocks():
        cells = cells_by_cluster(block, pairs)
        pair = cells.pair
        weight = cells.weight
        share = weight / pairs.weight[pair]
        error = cells.credit / weight - rate[pair]
        square_shares += np.bincount(pair, share**2, pair_count)
        square_errors += np.bincount(pair, error**2, pair_count)
        unpooled_share = np.where(is_pooled[pair], 0.0, share)
        influence = cells.matrix_of(unpooled_share * error / np.sqrt(1 - unpooled_share)) @ weights
        covariance += (influence.T @ influence).toarray()
        # What each item would contribute to the variance of each rate if all errors had the same
        # variance. `moments` has the sum of these contributions and the sum of their squares.
        expected_square = cells.matrix_of(unpooled_share**2) @ weights.multiply(weights)
        moments += np.vstack(
            [expected_square.sum(axis=0), expected_square.multiply(expected_square).sum(axis=0)]
        )
    expected_sum, sum_of_squares = moments
    effective_items = np.divide(
        expected_sum**2, sum_of_squares, out=np.ones(model_count), where=(sum_of_squares > 0)
    )
    return _RateErrorSums(covariance, effective_items - 1, square_shares, square_errors)


def _joint_freedom(variances: np.ndarray, freedom: np.ndarray, pooled_freedom: int) -> np.ndarray:
    """Return the degrees of freedom of a sum of two variances, by Satterthwaite (1946).

    Args:
        variances: variances by the pairs that are not pooled (row 0) and by pooled pairs (row 1),
            shape (2, models).
        freedom: degrees of freedom of row 0, shape (models,).
        pooled_freedom: degrees of freedom of row 1, the same for all models.

    Returns:
        Degrees of freedom, shape (models,). A model without variance gets the largest element of
        `freedom`.
    """
    freedoms = np.array([freedom, np.full(len(freedom), pooled_freedom)])
    parts_of_variance = np.divide(
        variances**2, freedoms, out=np.zeros(freedoms.shape), where=(freedoms > 0)
    )
    sum_of_parts = parts_of_variance.sum(axis=0)
    squared_sum = np.sum(variances, axis=0) ** 2
    if_constant = np.full(len(freedom), float(np.max(freedom)))
    return np.divide(squared_sum, sum_of_parts, out=if_constant, where=(sum_of_parts > 0))
