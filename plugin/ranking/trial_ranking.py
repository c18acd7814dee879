"""What rankers cannot do with a run that is to come: they are tried on made-up battles of its
models."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pandas as pd

from podium.data.reading.judgments import read_battles
from podium.errors import NotConvergedError, NotIdentifiedError, PluginError, UsageError
from podium.plugins import catalogue
from podium.plugins.settings import parameters_of, ranker_options
from podium.rankers.calibration.calibration import Calibration
from podium.ranking.rank_battles import REPLACES, choose_context, rank, ranked_apart
from podium.scorers.judging import Judging

ITEMS, ROWS = 30, 4000
"""Items of the made-up battles, fewer if all pairs of many models would have more judgments than
this."""
METRICS = ("a metric", "another metric")
WITHOUT_MARGINS = frozenset({"direct", "cot"})
"""Realizations whose verdicts have no margins, and are graded where token probabilities are
known."""


@dataclass(frozen=True, slots=True)
class ComingBattles:
    """What is known of battles before they are played.

    Attributes:
        models: names of the models, two or more.
        judges: names of the judges; none if models are ranked by scores of their own.
        one_jury: whether the judges take turns.
        margins: whether verdicts may have margins.
        graded: whether verdicts may be graded.
        scores: whether each response gets a score.
        human: whether the battles come with human labels.
        metrics: number of metrics, if there are no judges; each is ranked alone.
    """

    models: Sequence[str]
    judges: Sequence[str] = ()
    one_jury: bool = False
    margins: bool = True
    graded: bool = False
    scores: bool = True
    human: bool = False
    metrics: int = 2


COMING_SCORES = ComingBattles(("one model", "another model", "a third model"))
"""Scores of models whose names are not known yet."""


def coming_verdicts(
    models: Sequence[str],
    judges: Sequence[str],
    how: Judging,
    *,
    one_jury: bool = False,
    human: bool = False,
) -> ComingBattles:
    """Return what is known of battles that judges will be asked for."""
    letters = how.realization.name in WITHOUT_MARGINS
    return ComingBattles(
        models=models,
        judges=judges,
        one_jury=one_jury,
        margins=not letters,
        graded=letters and how.logprobs != "off",
        scores=not how.is_pairwise,
        human=human,
    )


def check_rankers(
    rankers: Sequence[str],
    coming: ComingBattles,
    settings: Mapping[str, Any] | None = None,
    calibration: Calibration | None = None,
) -> list[str]:
    """Raise UsageError for a ranker that cannot rank the battles to come, or an option that names
    an absent model; return notes on rankers that another one will replace."""
    functions = {name: catalogue.ranker_function(name) for name in rankers}
    choose_context(functions, None, calibration)
    battles = read_battles(pd.DataFrame(_made_up_rows(coming)))
    notes = []
    for name, own in ranker_options(rankers, settings or {}).items():
        known = calibration if "calibration" in parameters_of(functions[name]) else None
        how: dict[str, Any] = {
            "by": ranked_apart(battles, [name]),
            "calibration": known,
            "answers": False,
        }
        try:
            ranking = rank(battles, name, **how, **own)
        except (PluginError, NotConvergedError):
            # A plugin may not be made for such battles.
            continue
        except NotIdentifiedError as error:
            if known is None:
                raise UsageError(f"{name} cannot rank this run: {error}") from None
            continue
        if any(REPLACES in standings.diagnostics for standings in ranking.standings):
            instead = ranking.standings[0].ranker
            notes.append(
                f"verdicts that are not graded will be ranked by {instead}: nothing gives beta to {name}"
            )
    return notes


def _made_up_rows(coming: ComingBattles) -> Iterator[dict[str, Any]]:
    """Yield judgments of all pairs in both orders in which every model wins some and loses some."""
    pairs = [*combinations(enumerate(coming.models), 2)]
    for k in range(max(2, min(ITEMS, ROWS // max(len(pairs), 1)))):
        for (i, a), (j, b) in pairs:
            won = (k * 7 + 3 * i + 5 * j) % 5 < 2
            size = 1.0 + k % 3
            credit = (0.9 if won else 0.2) if coming.graded else float(won)
            row = {"item": f"item {k}", "model_a": a, "model_b": b, "credit": credit}
            row |= (
                {"length_a": 100 + (k * (i + 2)) % 37, "length_b": 100 + (k * (j + 3)) % 41}
                if coming.judges
                else {}
            )
            if coming.margins:
                row |= {"margin": size if won else -size, "margin_one": size if won else -1.0}
                row |= {"margin_two": 1.0 if won else -size}
            row |= (
                {"score_a": 5.0 + size * won, "score_b": 5.0 + size * (not won)}
                if coming.scores
                else {}
            )
            # Humans and judge differ on each fifth item.
            row |= {"human": float(won == (k % 5 > 0))} if coming.human else {}
            row |= {"jury": "jury"} if coming.one_jury else {}
            if not coming.judges:
                for metric in METRICS[: coming.metrics]:
                    yield {**row, "metric": metric, "order": "ab"}
            for judge in coming.judges:
                for order in ("ab", "ba"):
                    yield {**row, "judge": judge, "order": order}
