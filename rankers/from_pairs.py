"""Rankers made of one function from pair sums to scores."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from podium.data.battles import Battles
from podium.defaults import RESAMPLES
from podium.rankers.errors.intervals import PairTests, ScoreEstimates, bootstrap_estimate, resample
from podium.rankers.errors.rate_difference import RateTests
from podium.rankers.fit.cells import load_battles, pair_sums_with_items, prepare_battles
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.fit.pairs import Pairs, cells_by_cluster, win_rates
from podium.rankers.ranking import Standings
from podium.rankers.standings import RankerResult, build_standings, measure_exposure
from podium.score_scale import Scale

__all__ = ["from_pairs"]
"""Names that plug-ins may import from this module; other names may change."""

Score = Callable[[Pairs], np.ndarray]
"""A function from pair sums to one score per model, shape (models,)."""


def from_pairs(
    ranker: str,
    scale: Scale | str,
    score: Score,
    battles: Battles,
    *,
    level: float,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Standings:
    """Rank by a score of pair sums, with intervals by resampling items.

    Args:
        ranker: the name of the ranker.
        scale: the scale of the scores; a string makes a plain scale of this name.
        score: a function from pair sums to one score per model, shape (models,); higher is better.
            An infinite score, or NaN, is shown as unknown, with a warning.
        battles: from `podium.read_battles`.
        level: confidence level of the intervals and rank sets, in (0, 1).
        rng: a generator of random numbers for the resamples and the rank sets.
        resamples: number of resamples, at least 2.

    Returns:
        The standings. They have no intervals if there are fewer than 5 items.

    Raises:
        NotIdentifiedError: no battle has a readable verdict.
        UsageError: `level` or `resamples` is out of range.
    """
    coded = load_battles(prepare_battles(battles))
    pairs = pair_sums_with_items(coded)
    estimate = bootstrap_pair_scores(score, coded, pairs, level, resamples, rng)
    exposure = measure_exposure(battles, coded, pairs)
    return build_standings(ranker, scale, exposure, RankerResult(estimate), level=level, rng=rng)


def bootstrap_pair_scores(
    score: Score,
    coded: CodedBattles,
    pairs: Pairs,
    level: float,
    resamples: int,
    rng: np.random.Generator,
) -> ScoreEstimates:
    """Return scores of pair sums with percentile intervals by resampling clusters.

    Pairs of models are tested by the difference of their win rates, whatever the score is. With
    fewer than 5 clusters, there are no intervals.

    Args:
        score: function from pair sums to scores. In a resample, pairs that it does not draw are
            missing.
        coded: the battles.
        pairs: their sums by pair.
        level: confidence level, in (0, 1).
        resamples: number of resamples.
        rng: draws the clusters.
    """
    cells = cells_by_cluster(coded, pairs)

    def resampled_scores(counts: np.ndarray) -> np.ndarray:
        """Return the scores in each resample, shape (resamples, models).

        `counts` says how often each resample draws each cluster, shape (resamples, clusters).
        """
        credit, weight = cells.resampled_sums(counts)
        scores = []
        for credit_of_draw, weight_of_draw in zip(credit, weight, strict=True):
            sums = replace(pairs, credit=credit_of_draw, weight=weight_of_draw)
            scores.append(score(sums.take(weight_of_draw > 0)))
        return np.stack(scores)

    draws = resample(resampled_scores, coded.clusters, resamples, rng)
    items = coded.clusters_by_model()
    estimate = bootstrap_estimate(
        score(pairs), draws, coded.clusters, level=level, cluster=coded.unit, items=items
    )
    # Equally good models have the same win rate. Differences of win rates are differences of scores
    # only if the scores are win rates.
    is_win_rate = score is win_rates
    tests = PairTests(RateTests(coded).difference, in_scores=is_win_rate)
    return replace(estimate, tests=tests)
