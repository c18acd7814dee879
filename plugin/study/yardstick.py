"""Scores of a part of a record, thousands of times, and how far they are from a reference."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from podium.diagnosis.gold_source import read_gold
from podium.errors import NotConvergedError, NotIdentifiedError, PodiumError, UsageError
from podium.nouns.battles import Battles
from podium.rankers.cells import pair_sums_with_items
from podium.rankers.coded import code_battles
from podium.rankers.defaults import REGULARIZATION
from podium.rankers.graph import comparison_graph
from podium.rankers.pairs import Pairs, win_rates
from podium.rankers.scale import MEAN, POINTS
from podium.rankers.standings import SAME_SCORE
from podium.rankers.strengths import fit_strengths
from podium.verbs.rank_battles import rank
from podium.verbs.replays import in_one_order, merge_orders

Scorer = Callable[[np.ndarray], np.ndarray]
"""From a mask of the record's rows, shape (rows,), to a score per model, NaN without one, shape (models,)."""

FROM_PAIRS = {"bradley-terry": {"regularization", "labels"}, "win-rate": {"labels"}}
"""Rankers that need pair sums only, and the options with which they still do."""


class Yardstick:
    """How far a ranker's scores of parts of a record are from a reference: its scores of the whole, or gold ones.

    Args:
        battles: of the record.
        gold: scores of each model instead of the ranker's own, NaN where there is none, shape (models,).
        gold_scale: of those.

    Attributes:
        scale: of the ranker's scores.
        reference: what is compared with, NaN where nothing is known, shape (models,).

    Raises:
        PodiumError: the ranker cannot rank the whole.
    """

    def __init__(
        self,
        battles: Battles,
        ranker: str,
        options: Mapping[str, Any],
        *,
        seed: int = 0,
        gold: np.ndarray | None = None,
        gold_scale: str = "",
    ) -> None:
        self.scale = rank(battles, ranker, pool=True, seed=seed, answers=False, **options).standings[0].scale
        self.score = scorer(battles, ranker, {"seed": seed, **options})
        self._rows, self._battles, self._asked = len(battles), battles, (ranker, {"seed": seed, **options})
        self.reference = self.score(np.ones(len(battles), dtype=bool)) if gold is None else gold
        self._has_one_scale = gold is None or gold_scale == self.scale
        self._known: dict[bytes, tuple[float, float]] = {}

    @cached_property
    def score_by_order(self) -> Scorer:
        """Score masks of the record's judgments, of which tournaments that say who is shown first play some."""
        return scorer(in_one_order(self._battles), *self._asked)

    @property
    def places(self) -> np.ndarray:
        """Positions of the models that the reference scores, shape (n,)."""
        return np.flatnonzero(~np.isnan(self.reference))

    def refuse_level(self, who: str) -> None:
        """Refuse a reference that puts all models level; `who` gave it.

        Raises:
            NotIdentifiedError: it does.
        """
        if np.nanmax(self.reference) - np.nanmin(self.reference) < SAME_SCORE:
            raise NotIdentifiedError(f"{who} puts all models level: no order is there to find again")

    def distance(self, rows: np.ndarray, models: np.ndarray) -> tuple[float, float]:
        """Return Kendall's tau-b and the mean absolute difference of centred scores; the same rows are ranked once.

        Both are NaN where someone whom the reference scores has no score, the second also where the scales differ.

        Args:
            rows: mask of the record's rows that are ranked, or of its judgments, shape (rows,).
            models: positions of those who are compared, shape (n,).
        """
        key = np.packbits(rows).tobytes() + models.tobytes()
        if key in self._known:
            return self._known[key]
        compared, tau, error = np.intersect1d(models, self.places), np.nan, np.nan
        score = self.score if len(rows) == self._rows else self.score_by_order
        own, reference = score(rows)[compared], self.reference[compared]
        if len(compared) > 1 and not np.isnan(own).any():
            # Rounding must not make an order of equals.
            tau = float(kendalltau(np.round(own, 9), np.round(reference, 9)).statistic)
            if self._has_one_scale:
                error = float(np.abs((own - own.mean()) - (reference - reference.mean())).mean())
        self._known[key] = tau, error
        return tau, error


def seeds_from(first: int, number: int, settings: Mapping[str, Mapping[str, Any]]) -> range:
    """Return the seeds that designs are played with.

    Raises:
        UsageError: there is none, or the settings of a tournament have one of their own.
    """
    if number < 1:
        raise UsageError(f"seeds={number}: at least one is needed")
    if any("seed" in own for own in settings.values()):
        raise UsageError("seeds are counted from --seed; leave out the option seed")
    return range(first, first + number)


def scorer(battles: Battles, ranker: str, options: Mapping[str, Any]) -> Scorer:
    """Return how a ranker scores parts of the battles, given its options and its seed.

    Bradley-Terry and win rates are computed from pair sums, without intervals; other rankers rank each part in full.
    """
    if ranker in FROM_PAIRS and options.keys() <= FROM_PAIRS[ranker] | {"seed"}:
        labels, regularization = options.get("labels", "soft"), float(options.get("regularization", REGULARIZATION))
        score = win_rates if ranker == "win-rate" else lambda pairs: elo_of_pairs(pairs, regularization)
        return _scorer_from_pairs(battles, labels, score)

    def score_rows(rows: np.ndarray) -> np.ndarray:
        scores: dict[str, float | None] = {}
        with suppress(PodiumError):
            ranking = rank(merge_orders(battles.select(rows)), ranker, pool=True, answers=False, **options)
            scores = {entry.model: entry.score for entry in ranking.standings[0].entries}
        return np.array([scores.get(name) for name in battles.models], dtype=np.float64)

    return score_rows


def _scorer_from_pairs(battles: Battles, labels: Any, score: Callable[[Pairs], np.ndarray]) -> Scorer:
    """Code once, and add up by pair for each part."""
    coded, readable = code_battles(battles, labels=labels), battles.readable
    # The codes of all models, those without a readable battle included.
    position = np.array([battles.models.index(name) for name in coded.models])
    coded = replace(coded, a=position[coded.a], b=position[coded.b], models=battles.models)

    def score_rows(rows: np.ndarray) -> np.ndarray:
        return score(pair_sums_with_items(coded.take(rows[readable])))

    return score_rows


def elo_of_pairs(pairs: Pairs, regularization: float) -> np.ndarray:
    """Return Bradley-Terry ratings of those who played, NaN where nothing identifies them, shape (models,)."""
    elo = np.full(pairs.models, np.nan)
    graph = comparison_graph(pairs) if len(pairs.first) else None
    if graph is None or graph.groups > 1 or (regularization == 0 and graph.separated.any()):
        return elo
    with suppress(NotConvergedError):
        elo[graph.played] = MEAN + POINTS * fit_strengths(pairs.pairs_among(graph.played), regularization).theta
    return elo


def read_reference(source: str, *, pool: bool = False) -> dict[str, Any]:
    """Return a gold ranking as the arguments of `run_study`; gold battles are ranked by Bradley-Terry."""
    gold = read_gold(source)
    if gold.scores is not None:
        return {"gold": gold.scores, "gold_scale": gold.scale, "gold_name": source}
    standings = rank(gold.battles, "bradley-terry", pool=pool, answers=False).standings[0]
    scores = {entry.model: entry.score for entry in standings.entries if entry.score is not None}
    return {"gold": scores, "gold_scale": "elo", "gold_name": f"{source}, by bradley-terry"}
