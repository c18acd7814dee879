"""A whole ranker out of one function: from pair sums to scores."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from podium.nouns.battles import Battles
from podium.nouns.ranking import Standings
from podium.rankers.cells import in_memory, pairs_of, sum_battles
from podium.rankers.defaults import RESAMPLES
from podium.rankers.intervals import by_bootstrap, resample
from podium.rankers.pairs import PairCells, Pairs, cells_by_cluster
from podium.rankers.standings import Result, exposure_of, standings

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
    coded = in_memory(sum_battles(battles))
    pairs = pairs_of(coded)
    cells = cells_by_cluster(coded, pairs)
    draws = resample(lambda counts: scores_of_draws(score, cells, counts), coded.clusters, resamples, rng)
    own = coded.clusters_of()
    estimate = by_bootstrap(score(pairs), draws, coded.clusters, level=level, cluster=coded.unit, own=own)
    return standings(ranker, scale, exposure_of(battles, coded, pairs), Result(estimate), level=level, rng=rng)


def scores_of_draws(score: Score, cells: PairCells, counts: np.ndarray) -> np.ndarray:
    """Score resampled clusters, shape (draws, models); a pair that was not drawn is left out of its draw.

    Args:
        counts: how often each cluster was drawn, shape (draws, clusters).
    """
    credit, weight = cells.sums_of_draws(counts)
    drawn = (replace(cells.pairs, credit=c, weight=w).take(w > 0) for c, w in zip(credit, weight, strict=True))
    return np.stack([score(pairs) for pairs in drawn])
