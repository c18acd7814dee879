"""Scores of a part of a record, thousands of times: coded once, added up by pair for each part."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from podium.battles import Battles
from podium.errors import NotConvergedError, PodiumError
from podium.rank_battles import rank
from podium.rankers.coded import Coded, code
from podium.rankers.defaults import REGULARIZATION
from podium.rankers.graph import graph_of
from podium.rankers.pairs import Pairs, pair_sums, win_rates
from podium.rankers.scale import MEAN, POINTS
from podium.rankers.strengths import fit_strengths

Scorer = Callable[[np.ndarray], np.ndarray]
"""From a mask of the record's rows, shape (rows,), to a score per entrant, NaN without one, shape (entrants,)."""

FROM_PAIRS = {"bradley-terry": {"regularization", "labels"}, "win-rate": {"labels"}}
"""Rankers that need pair sums only, and the options with which they still do."""


def scorer(ranker: str, battles: Battles, options: Mapping[str, Any]) -> tuple[Scorer, str]:
    """Return how a ranker scores parts of the battles, and its scale.

    Bradley-Terry and win rates are computed from pair sums, without intervals; other rankers rank each part in full.

    Raises:
        PodiumError: the ranker cannot rank the whole.
    """
    whole = rank(battles, ranker, pool=True, **options).standings[0]
    if options.keys() <= FROM_PAIRS.get(ranker, set()) and ranker in FROM_PAIRS:
        labels, regularization = options.get("labels", "soft"), float(options.get("regularization", REGULARIZATION))
        score = win_rates if ranker == "win-rate" else lambda pairs: elo(pairs, regularization)
        return _from_pairs(battles, labels, score), whole.scale
    return _in_full(battles, ranker, options), whole.scale


def elo(pairs: Pairs, regularization: float) -> np.ndarray:
    """Return Bradley-Terry ratings of those who played, NaN where nothing identifies them, shape (entrants,)."""
    found = np.full(pairs.entrants, np.nan)
    graph = graph_of(pairs) if len(pairs.low) else None
    if graph is None or graph.groups > 1 or (regularization == 0 and graph.separated.any()):
        return found
    position = np.cumsum(graph.played) - 1
    number = int(graph.played.sum())
    played = Pairs(position[pairs.low], position[pairs.high], pairs.credit, pairs.weight, number)
    try:
        found[graph.played] = MEAN + POINTS * fit_strengths(played, regularization).theta
    except NotConvergedError:
        return found
    return found


def _from_pairs(battles: Battles, labels: Any, score: Callable[[Pairs], np.ndarray]) -> Scorer:
    coded = _in_all(code(battles, labels=labels), battles.entrants)
    readable = battles.readable

    def scored(rows: np.ndarray) -> np.ndarray:
        keep = rows[readable]
        part = replace(coded, a=coded.a[keep], b=coded.b[keep], credit=coded.credit[keep], weight=coded.weight[keep])
        return score(pair_sums(part))

    return scored


def _in_all(coded: Coded, entrants: tuple[str, ...]) -> Coded:
    """Return the same battles with the codes of all entrants, those without a readable battle included."""
    position = np.array([entrants.index(name) for name in coded.entrants])
    return replace(coded, a=position[coded.a], b=position[coded.b], entrants=entrants)


def _in_full(battles: Battles, ranker: str, options: Mapping[str, Any]) -> Scorer:
    names = {name: k for k, name in enumerate(battles.entrants)}

    def scored(rows: np.ndarray) -> np.ndarray:
        found = np.full(len(names), np.nan)
        try:
            entries = rank(battles.select(rows), ranker, pool=True, **options).standings[0].entries
        except PodiumError:
            return found
        for entry in entries:
            found[names[entry.model]] = np.nan if entry.score is None else entry.score
        return found

    return scored
