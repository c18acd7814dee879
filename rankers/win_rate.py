"""win-rate: mean credit against all opponents, or against one anchor."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pandas as pd
from scipy import sparse

from podium.data.battles import Battles
from podium.data.length_data import External
from podium.defaults import LEVEL, RESAMPLES
from podium.errors import UsageError, find_name
from podium.notices.notice import Notice
from podium.rankers.errors.intervals import Interval, PairTests, ScoreEstimates, sandwich_estimate
from podium.rankers.errors.rate_difference import RateTests, rate_weights
from podium.rankers.fit.cells import BattleData, load_battles, pair_sums_with_items, prepare_battles
from podium.rankers.fit.coded import Cluster, Labels, require_choice
from podium.rankers.fit.graph import comparison_graph
from podium.rankers.fit.pairs import Pairs, cells_by_cluster, downweighted_opponents, win_rates
from podium.rankers.from_pairs import bootstrap_pair_scores
from podium.rankers.length_control.baseline import rank_against_baseline
from podium.rankers.length_control.lengths import LengthOf, read_lengths
from podium.rankers.ranking import Fit, Standings
from podium.rankers.standings import RankerResult, build_standings, measure_exposure
from podium.score_scale import win_rate_against

LightOpponents: TypeAlias = dict[str, dict[str, float]]
"""Reduced weights of opponents, over the largest weight, by model and opponent."""
FEW = 10
"""Items below which a pair's own residuals estimate its variance too badly: two to four often have
equal outcomes."""


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

    Each opponent counts once (Gera et al., appendix B), so an uneven schedule does not tilt the
    rate; an opponent met on less than half as many items as the most frequent one counts less
    (`podium.rankers.fit.pairs.opponent_weights`). With an anchor, the anchor's own rate is 1 - mean of
    the others' rates (Don-Yehiya et al., section 2).

    Args (others as of `bradley_terry`):
        anchor: use only the battles against this model.
        interval: `sandwich` (linearized ratio, clustered, t) or `bootstrap` (percentile; not with
            length_control).
        length_control: against one baseline, as if all responses were equally long (AlpacaEval's
            model).
        length_data: external data of that model: difficulties of items, rows of gamed baselines.

    Raises:
        UsageError: an unknown option value or anchor.
        NotIdentifiedError: no readable battle.
    """
    require_choice("interval", interval, ("sandwich", "bootstrap"))
    if length_control:
        lengths = read_lengths(battles, labels, cluster, interval, length_of)
        return rank_against_baseline(battles, lengths, anchor, length_data, level=level, rng=rng)
    if length_data is not None:
        raise UsageError("length_data is used with length_control=true")
    coded = prepare_battles(battles, labels=labels, cluster=cluster)
    anchor = anchor and find_name("model with readable battles", anchor, coded.models)
    selected = coded if anchor is None else coded.battles_of_anchor(anchor)
    pairs = pair_sums_with_items(selected)
    if interval == "sandwich":
        estimate = estimate_rates(selected, pairs, level)
    else:
        estimate = bootstrap_pair_scores(
            win_rates, load_battles(selected), pairs, level, resamples, rng
        )
        estimate = _bound_rates(estimate, selected, level)
    light = _light_opponents(selected, pairs)
    groups = comparison_graph(pairs).groups
    warnings = [*_schedule_warnings(coded, pairs, estimate.score, anchor, groups, light)]
    diagnostics = {"opponent_weights": light} if light else {}
    result = RankerResult(
        estimate, Fit(components=groups), diagnostics=diagnostics, warnings=warnings
    )
    exposure = measure_exposure(battles, selected, pairs)
    if anchor is not None:
        against = replace(battles.battles_of_model(anchor), missing=None)
        of_anchor = measure_exposure(against, selected, pairs)
        exposure = replace(of_anchor, unranked=exposure.unranked)
    scale = win_rate_against(anchor)
    return build_standings("win-rate", scale, exposure, result, level=level, rng=rng)


def _light_opponents(battles: BattleData, pairs: Pairs) -> LightOpponents:
    """Return the reduced weights of opponents, over the largest weight, by model and opponent."""
    light: LightOpponents = {}
    for model, opponent, ratio in zip(*downweighted_opponents(pairs), strict=True):
        light.setdefault(battles.models[model], {})[battles.models[opponent]] = float(ratio)
    return light


def estimate_rates(battles: BattleData, pairs: Pairs, level: float) -> ScoreEstimates:
    """Return win rates with t intervals in [0, 1]."""
    covariance, freedom = win_rate_errors(battles, pairs)
    score, clusters = win_rates(pairs), battles.clusters
    estimate = sandwich_estimate(
        score, covariance, clusters, level=level, cluster=battles.unit, freedom=freedom
    )
    if estimate.method and (few := int(are_pooled(pairs, clusters).sum())):
        pooled = (
            f"variance of {few} of {len(pairs.first)} pairs pooled (met on fewer than {FEW} items)"
        )
        estimate = replace(estimate, method=f"{estimate.method}, {pooled}")
    tests = PairTests(RateTests(battles).difference)
    return _bound_rates(
        replace(estimate, allowed=np.ones(len(score), dtype=bool), tests=tests), battles, level
    )


def _bound_rates(estimate: ScoreEstimates, coded: BattleData, level: float) -> ScoreEstimates:
    """Clip intervals to [0, 1]; models that won or lost all of n clusters get Clopper and Pearson's
    exact bound."""
    if estimate.method is None:
        return estimate
    bound = ((1 - level) / 2) ** (1 / np.maximum(coded.clusters_by_model(), 1))
    won, lost = estimate.score == 1, estimate.score == 0
    low = np.where(won, bound, np.where(lost, 0, np.maximum(estimate.low, 0)))
    high = np.where(lost, 1 - bound, np.where(won, 1, np.minimum(estimate.high, 1)))
    return replace(estimate, low=low, high=high)


def _schedule_warnings(
    coded: BattleData,
    pairs: Pairs,
    score: np.ndarray,
    anchor: str | None,
    groups: int,
    light: LightOpponents,
) -> Iterator[Notice]:
    """Yield warnings of missing scores, different opponents, disconnected groups and opponents of
    reduced weight."""
    for k in np.flatnonzero(np.isnan(score)):
        yield Notice("never-met-anchor", {"model": coded.models[k], "anchor": anchor})
    if len(pairs.first) < len(score) * (len(score) - 1) / 2 and anchor is None:
        yield Notice("different-opponents")
    if groups > 1:
        yield Notice("disconnected", {"groups": groups})
    weights = pd.DataFrame(
        [own for each in light.values() for own in each.items()], columns=["name", "weight"]
    )
    least = weights.groupby("name")["weight"].min()
    if len(least):
        shares = {str(name): f"{weight:.2g}" for name, weight in least.items()}
        yield Notice("light-opponents", {"models": shares})


def are_pooled(pairs: Pairs, clusters: int) -> np.ndarray:
    """Return which pairs have pooled variances, shape (pairs,): met on 1 item, or on fewer than 10
    and half of all."""
    items = np.asarray(pairs.items)
    few: np.ndarray = (items < 2) | ((items < FEW) & (2 * items <= clusters))
    return few


def win_rate_errors(battles: BattleData, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariance of win rates, shape (models, models), and each rate's degrees of
    freedom, shape (models,).

    An item adds to a model's error the sum over its opponents of w e / (N sqrt(1 - h)), where w is
    the opponent's weight, e the credit minus the pair's mean, N the pair's battles and h the item's
    share of them. The variance of a pair that met on few items cannot be estimated from that pair
    (a single battle has e = 0): the variance of an item's mean credit, pooled over all pairs,
    replaces it. If all pairs met on all items equally often, this is the clustered sandwich with
    the factor G / (G - 1), and the degrees of freedom (Satterthwaite 1946) are G - 1.

    `pairs`: sums of the same battles, with counts of items.
    """
    pooled, size, weights = are_pooled(pairs, battles.clusters), pairs.models, rate_weights(pairs)
    rate, shares, squares = (
        pairs.credit / pairs.weight,
        np.zeros(len(pooled)),
        np.zeros(len(pooled)),
    )
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
    variances, freedoms = (
        np.array([np.diag(covariance), np.diag(added)]),
        np.array([freedom, np.full(size, repeats)]),
    )
    part = np.divide(variances**2, freedoms, out=np.zeros(freedoms.shape), where=freedoms > 0).sum(
        axis=0
    )
    total = np.sum(variances, axis=0) ** 2
    joint = np.divide(total, part, out=np.full(size, float(np.max(freedom))), where=part > 0)
    return covariance + added, joint
