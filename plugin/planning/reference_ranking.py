"""Scores of many parts of a record, and how far they are from the scores of the whole."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from podium.data.battles import Battles
from podium.defaults import MEAN, REGULARIZATION
from podium.errors import NotConvergedError, NotIdentifiedError, PodiumError
from podium.planning.replays import merge_orders, separate_orders
from podium.rankers.fit.cells import pair_sums_with_items
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.graph import comparison_graph
from podium.rankers.fit.pairs import Pairs, win_rates
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import fit_strengths
from podium.rankers.standings import SAME_SCORE
from podium.ranking.rank_battles import rank

PartScorer = Callable[[np.ndarray], np.ndarray]
"""Function from a boolean mask of the record's rows to the scores of the models.

The mask has shape (rows,). The scores have shape (models,), in the order of `Battles.models`, and
are NaN for a model without a score.
"""
FROM_PAIRS = {"bradley-terry": {"regularization", "labels"}, "win-rate": {"labels"}}
"""Rankers that need only the sums of each pair, each with the options that do not change this."""


class ReferenceRanking:
    """The scores that a ranker gives a whole record, with which those of its parts are compared.

    Args:
        battles: the whole record. Verdicts of several judges count together.
        ranker: name of the ranker.
        options: options of the ranker; a seed in them replaces `seed`.
        seed: seed of the ranker.

    Attributes:
        scale: scale of the scores.

    Raises:
        NotIdentifiedError: the record cannot be ranked, fewer than two models have a score, or all
            have the same one.
    """

    def __init__(
        self, battles: Battles, ranker: str, options: Mapping[str, Any], *, seed: int
    ) -> None:
        ranking = rank(battles, ranker, pool=True, seed=seed, answers=False, **options)
        self.scale = ranking.standings[0].scale
        self._battles = battles
        self._ranker = ranker
        self._options = {"seed": seed, **options}
        self._score = part_scorer(battles, ranker, self._options)
        self._scores = self._score(np.ones(len(battles), dtype=bool))
        self._compared = np.flatnonzero(~np.isnan(self._scores))
        self._distances: dict[tuple[int, bytes], tuple[float, float]] = {}
        if len(self._compared) < 2:
            raise NotIdentifiedError(
                "the whole record scores fewer than two models: nothing to compare with"
            )
        if np.nanmax(self._scores) - np.nanmin(self._scores) < SAME_SCORE:
            raise NotIdentifiedError(
                f"{ranker} gives all models of the whole record the same score: there is no order"
            )

    @cached_property
    def _score_judgments(self) -> PartScorer:
        """The scorer for parts of the record with one row per judgment."""
        return part_scorer(separate_orders(self._battles), self._ranker, self._options)

    def distance(self, rows: np.ndarray) -> tuple[float, float]:
        """Return how far the scores of a part are from those of the whole record.

        Args:
            rows: boolean mask of the part, shape (rows,): by row of the record, or by judgment if
                there are as many values as the record has judgments.

        Returns:
            Kendall's tau-b, in [-1, 1], and the mean absolute difference of centred scores, over
            the models with a score in the whole record. Both are NaN if the part does not score all
            of these. Tau is also NaN if the part gives them the same score. Results are cached.
        """
        from scipy.stats import kendalltau

        # Masks of different lengths may have the same bytes.
        key = (len(rows), np.packbits(rows).tobytes())
        if key not in self._distances:
            score = self._score if len(rows) == len(self._battles) else self._score_judgments
            scores_of_part = score(rows)[self._compared]
            of_whole = self._scores[self._compared]
            tau = np.nan
            if not np.isnan(scores_of_part).any():
                # Rounding error must not order equal scores.
                tau = kendalltau(np.round(scores_of_part, 9), np.round(of_whole, 9)).statistic
            centred_part = scores_of_part - scores_of_part.mean()
            centred_whole = of_whole - of_whole.mean()
            error = np.abs(centred_part - centred_whole).mean()
            self._distances[key] = (float(tau), float(error))
        return self._distances[key]


def part_scorer(battles: Battles, ranker: str, options: Mapping[str, Any]) -> PartScorer:
    """Return the function that scores parts of the battles by a ranker.

    Rankers in `FROM_PAIRS` with the options named there are computed from sums of pairs, which is
    fast. Others rank each part.

    Args:
        battles: the whole record.
        ranker: name of the ranker.
        options: options of the ranker, and the seed.

    Raises:
        NotIdentifiedError: no battle of the whole record has a credit, and the scores are computed
            from sums of pairs.
    """
    if ranker in FROM_PAIRS:
        options_it_takes = FROM_PAIRS[ranker] | {"seed"}
        if options.keys() <= options_it_takes:
            return _pair_scorer(battles, ranker, options)

    def score_rows(rows: np.ndarray) -> np.ndarray:
        """Return the scores of the battles of a mask, shape (models,).

        They are NaN for a model without a score, and all NaN if the battles cannot be ranked.
        """
        scores: dict[str, float | None] = {}
        with suppress(PodiumError):
            part = merge_orders(battles.select(rows))
            ranking = rank(part, ranker, pool=True, answers=False, **options)
            scores = {entry.model: entry.score for entry in ranking.standings[0].entries}
        return np.array([scores.get(name) for name in battles.models], dtype=np.float64)

    return score_rows


def _pair_scorer(battles: Battles, ranker: str, options: Mapping[str, Any]) -> PartScorer:
    """Return the function that scores parts of the battles from their sums of pairs.

    Args:
        battles: the whole record.
        ranker: `win-rate`, or `bradley-terry` for Elo.
        options: the options in `FROM_PAIRS`; others are ignored.

    Raises:
        NotIdentifiedError: no battle has a credit.
    """
    penalty = float(options.get("regularization", REGULARIZATION))
    coded = code_battles(battles, labels=options.get("labels", "soft"))
    readable = battles.readable
    # Models are coded by their position among all models, which include those without a readable
    # battle.
    position = np.array([battles.models.index(name) for name in coded.models])
    coded = replace(coded, a=position[coded.a], b=position[coded.b], models=battles.models)

    def score_rows(rows: np.ndarray) -> np.ndarray:
        """Return win rates or Elo from the sums of the battles of a mask, shape (models,)."""
        pairs = pair_sums_with_items(coded.take(rows[readable]))
        return win_rates(pairs) if ranker == "win-rate" else elo_of_pairs(pairs, penalty)

    return score_rows


def elo_of_pairs(pairs: Pairs, regularization: float) -> np.ndarray:
    """Fit Bradley-Terry ratings.

    Args:
        pairs: wins and battles by pair of models.
        regularization: weight of the ridge penalty, 0 or more.

    Returns:
        Elo, shape (models,), with the mean `MEAN` over models with battles. NaN for models without
        battles, and for all models if the battles do not identify the ratings or the fit does not
        converge.
    """
    elo = np.full(pairs.models, np.nan)
    if not len(pairs.first):
        return elo
    graph = comparison_graph(pairs)
    is_unbounded = regularization == 0 and graph.separated.any()
    if graph.groups > 1 or is_unbounded:
        return elo
    with suppress(NotConvergedError):
        strengths = fit_strengths(pairs.pairs_among(graph.has_battle), regularization)
        elo[graph.has_battle] = MEAN + POINTS * strengths.theta
    return elo
