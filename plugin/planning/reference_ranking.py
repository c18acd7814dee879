"""Scores of many parts of a record, and how far they are from the scores of the whole."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from podium.data.battles import Battles
from podium.defaults import MEAN, REGULARIZATION
from podium.errors import NotConvergedError, NotIdentifiedError, PodiumError
from podium.planning.replays import in_one_order, merge_orders
from podium.rankers.fit.cells import pair_sums_with_items
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.graph import comparison_graph
from podium.rankers.fit.pairs import Pairs, win_rates
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import fit_strengths
from podium.rankers.standings import SAME_SCORE
from podium.ranking.rank_battles import rank

PartScorer = Callable[[np.ndarray], np.ndarray]
"""From a mask of the record's rows, shape (rows,), to a score per model, NaN if there is none,
shape (models,)."""
FROM_PAIRS = {"bradley-terry": {"regularization", "labels"}, "win-rate": {"labels"}}
"""Rankers that need only the sums of each pair, and the options with which they still do."""


class ReferenceRanking:
    """The scores that one ranker gives the whole record, NaN if there is none, to compare scores of
    its parts with."""

    def __init__(
        self, battles: Battles, ranker: str, options: Mapping[str, Any], *, seed: int
    ) -> None:
        self.scale = (
            rank(battles, ranker, pool=True, seed=seed, answers=False, **options).standings[0].scale
        )
        self._battles, self._ranker, self._options = battles, ranker, {"seed": seed, **options}
        self._score = part_scorer(battles, ranker, self._options)
        self._scores = self._score(np.ones(len(battles), dtype=bool))
        self._compared = np.flatnonzero(~np.isnan(self._scores))
        self._known: dict[bytes, tuple[float, float]] = {}
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
        """The scorer for a record with one row per judgment."""
        return part_scorer(in_one_order(self._battles), self._ranker, self._options)

    def distance(self, rows: np.ndarray) -> tuple[float, float]:
        """Return tau-b and mean absolute score difference of a part (mask of rows); NaN if it
        scores not all models."""
        key = np.packbits(rows).tobytes()
        if key not in self._known:
            score = self._score if len(rows) == len(self._battles) else self._score_judgments
            own, whole = score(rows)[self._compared], self._scores[self._compared]
            # Rounding must not order equal scores.
            tau = (
                np.nan
                if np.isnan(own).any()
                else kendalltau(np.round(own, 9), np.round(whole, 9)).statistic
            )
            self._known[key] = (
                float(tau),
                float(np.abs((own - own.mean()) - (whole - whole.mean())).mean()),
            )
        return self._known[key]


def part_scorer(battles: Battles, ranker: str, options: Mapping[str, Any]) -> PartScorer:
    """Return the function that scores parts of the battles by a ranker, from pair sums alone if
    they suffice."""
    if ranker in FROM_PAIRS and options.keys() <= FROM_PAIRS[ranker] | {"seed"}:
        penalty = float(options.get("regularization", REGULARIZATION))
        score = win_rates if ranker == "win-rate" else lambda pairs: elo_of_pairs(pairs, penalty)
        coded, readable = (
            code_battles(battles, labels=options.get("labels", "soft")),
            battles.readable,
        )
        # The codes of all models, those without a readable battle included.
        position = np.array([battles.models.index(name) for name in coded.models])
        coded = replace(coded, a=position[coded.a], b=position[coded.b], models=battles.models)
        return lambda rows: score(pair_sums_with_items(coded.take(rows[readable])))

    def score_rows(rows: np.ndarray) -> np.ndarray:
        scores: dict[str, float | None] = {}
        with suppress(PodiumError):
            ranking = rank(
                merge_orders(battles.select(rows)), ranker, pool=True, answers=False, **options
            )
            scores = {entry.model: entry.score for entry in ranking.standings[0].entries}
        return np.array([scores.get(name) for name in battles.models], dtype=np.float64)

    return score_rows


def elo_of_pairs(pairs: Pairs, regularization: float) -> np.ndarray:
    """Return Bradley-Terry ratings in Elo, NaN without battles; all NaN if not identified, shape
    (models,)."""
    elo = np.full(pairs.models, np.nan)
    graph = comparison_graph(pairs) if len(pairs.first) else None
    if graph is None or graph.groups > 1 or (regularization == 0 and graph.separated.any()):
        return elo
    with suppress(NotConvergedError):
        elo[graph.played] = (
            MEAN + POINTS * fit_strengths(pairs.pairs_among(graph.played), regularization).theta
        )
    return elo
