"""A whole ranker out of one function: from pair sums to scores."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from podium.nouns.battles import Battles
from podium.nouns.ranking import Standings
from podium.rankers.cells import load_battles, pair_sums_with_items, prepare_battles
from podium.rankers.defaults import RESAMPLES
from podium.rankers.intervals import bootstrap_estimate, resample
from podium.rankers.pairs import PairCells, Pairs, cells_by_cluster
from podium.rankers.standings import RankerResult, build_standings, measure_exposure

Score = Callable[[Pairs], np.ndarray]
"""From pair sums to one score per model, shape (models,)."""


def from_pairs(
    ranker: str,
    scale: str,
    score: Score,
    battles: Battles,
    *,
    level: float,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Standings:
    """Rank by a score of pair sums, with item-bootstrap intervals and rank sets.

    Args:
        ranker: its name.
        scale: what a score is.
        score: the rule.
        battles: credits in [0, 1].
        level: of intervals and rank sets, in (0, 1).
        rng: draws for the bootstrap and rank sets.
        resamples: of the bootstrap.
    """
    coded = load_battles(prepare_battles(battles))
    pairs = pair_sums_with_items(coded)
    cells = cells_by_cluster(coded, pairs)
    draws = resample(lambda counts: resampled_scores(score, cells, counts), coded.clusters, resamples, rng)
    own = coded.clusters_by_model()
    estimate = bootstrap_estimate(score(pairs), draws, coded.clusters, level=level, cluster=coded.unit, own=own)
    exposure = measure_exposure(battles, coded, pairs)
    return build_standings(ranker, scale, exposure, RankerResult(estimate), level=level, rng=rng)


def resampled_scores(score: Score, cells: PairCells, counts: np.ndarray) -> np.ndarray:
    """Score resampled clusters, shape (draws, models); a pair that was not drawn is left out of its draw.

    Args:
        counts: how often each cluster was drawn, shape (draws, clusters).
    """
    credit, weight = cells.resampled_sums(counts)
    drawn = (replace(cells.pairs, credit=c, weight=w).take(w > 0) for c, w in zip(credit, weight, strict=True))
    return np.stack([score(pairs) for pairs in drawn])
