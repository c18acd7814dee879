"""The figures of a run's own models that podium writes into a host's results."""

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from podium.data.battles import Battles
from podium.errors import NotIdentifiedError
from podium.notices.notice import Notice
from podium.rankers.ranking import Entry, Ranking, Standings
from podium.ranking.rank_battles import rank

WIN_RATE = "win-rate"
"""The ranker, and the figure of a model: its win rate against all others."""
PINNED_WIN_RATE = "pinned-win-rate"
"""The figure of a model: its win rate against the pinned reference."""
FIGURES_OF_HOST = frozenset({WIN_RATE, PINNED_WIN_RATE})
"""The figures that a host's results may have although no ranker of the run gives them."""
LEAST_SHARE_MET = 0.9
"""Least share of a model's items on which it must have met the reference; below it, a note says so.

The tournament then did not play all models against the reference, and the other models decide on
which items the two met.
"""
FIGURES = "figures"
"""Key of the figures in the provenance of a ranking."""


@dataclass(frozen=True, slots=True)
class WrittenFigure:
    """A figure of one of the run's own models, with the models that it depends on.

    Attributes:
        name: `pinned-win-rate`, `win-rate`, or the ranker of a joint rating.
        task: the task or group.
        slice: the metric, where several metrics are ranked one by one; else None.
        model: the model.
        value: the figure.
        se: its standard error, clustered by item; None if unknown.
        opponents: the models that it depends on: the reference alone, all others of the ranking,
            or none where the figure is a mean of the model's own scores. Sorted by name.
        reference: the one model that a win rate is against; None for other figures.
        items: number of items with a readable battle.
        battles: number of readable battles of the model.
    """

    name: str
    task: str
    slice: str | None
    model: str
    value: float
    se: float | None
    opponents: tuple[str, ...]
    reference: str | None
    items: int
    battles: int

    def to_json(self) -> dict[str, Any]:
        """Return the fields that are not None, for the provenance of a ranking."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class WrittenFigures:
    """The figures of a run's models on one task.

    Attributes:
        figures: the figures. Of each model and slice, the win rate comes first.
        notes: why a model has no win rate against the reference, or on how few items it met it.
    """

    figures: tuple[WrittenFigure, ...]
    notes: tuple[Notice, ...] = ()


def figures_of_models(
    task: str,
    ranking: Ranking,
    battles: Battles,
    models: Collection[str],
    reference: str | None,
) -> WrittenFigures:
    """Return the figures of some models in a ranking of one task, slice by slice.

    They are the model's score by each ranker. If one of these scores depends on the other models, a
    win rate comes first: that in direct battles with the reference. Without a reference, it is the
    win rate against all models, unless a ranker gives this already.

    Args:
        task: name of the task or group.
        ranking: the ranking.
        battles: its battles.
        models: the run's own models.
        reference: name of the pinned reference in the ranking; None if there is none.
    """
    column = ranking.provenance["options"]["by"]
    parts = dict(battles.slices(column)) if column else {None: battles}
    figures: list[WrittenFigure] = []
    notes: list[Notice] = []
    for part, rows in parts.items():
        standings_of_part = [each for each in ranking.standings if each.slice == part]
        has_rating = any(map(depends_on_opponents, standings_of_part))
        for model in sorted(models):
            if has_rating and reference is not None:
                pinned = _against_reference(task, part, rows, model, reference)
                figures += pinned.figures
                notes += pinned.notes
            elif has_rating and all(each.ranker != WIN_RATE for each in standings_of_part):
                figures += _against_all(task, part, rows, model)
            for each in standings_of_part:
                figures += _figures_of_entry(task, each, model)
    return WrittenFigures(tuple(figures), tuple(dict.fromkeys(notes)))


def depends_on_opponents(standings: Standings) -> bool:
    """Return whether the scores of standings depend on the other models.

    False only for the scale `score`: means of a model's own scores.
    """
    return standings.scale.name != "score"


def _figures_of_entry(task: str, standings: Standings, model: str) -> Iterator[WrittenFigure]:
    """Yield the score of a model in standings.

    Nothing is yielded if the model has no score, or if the data do not bound its score.

    The figure names the opponents only if the score depends on who they are.

    Args:
        task: the task of the figure.
        standings: the standings.
        model: name of the model in them.
    """
    for entry in standings.entries:
        if entry.model != model or entry.score is None or entry.separated:
            continue  # a separated model has no bounded rating
        # A win rate is against one model, which itself is rated against all others.
        reference = standings.scale.against
        if reference == model:
            reference = None
        opponents: tuple[str, ...] = ()
        if depends_on_opponents(standings):
            others = sorted(other.model for other in standings.entries if other.model != model)
            opponents = tuple(others) if reference is None else (str(reference),)
        yield WrittenFigure(
            name=standings.ranker,
            task=task,
            slice=standings.slice,
            model=model,
            value=float(entry.score),
            se=_standard_error(entry, standings.counts.items),
            opponents=opponents,
            reference=reference,
            items=standings.counts.items,
            battles=entry.battles,
        )


def _standard_error(entry: Entry, items: int) -> float | None:
    """Return the standard error of an entry; None if unknown, or with fewer than two items."""
    return None if entry.se is None or items < 2 else float(entry.se)


def _against_all(
    task: str, part: str | None, battles: Battles, model: str
) -> Iterator[WrittenFigure]:
    """Yield the win rate of a model against all others, if it has a readable battle."""
    try:
        [standings] = _rank_by_wins(battles).standings
    except NotIdentifiedError:
        return
    yield from _figures_of_entry(task, replace(standings, slice=part), model)


def _against_reference(
    task: str, part: str | None, battles: Battles, model: str, reference: str
) -> WrittenFigures:
    """Return the win rate of a model in its direct battles with the reference.

    Only these battles are counted, so that no other model changes the figure or its error. The
    reference itself has no figure.

    Returns:
        the figure, if there is one, and a note if there is none, or if the two met on few of the
        model's items (`LEAST_SHARE_MET`).
    """
    if model == reference:
        return WrittenFigures((), (Notice("pin-itself", {"model": model}),))
    sides = {model, reference}
    table = battles.table
    keep = table["model_a"].isin(sides) & table["model_b"].isin(sides)
    fields: dict[str, Any] = {"task": task, "model": model, "reference": reference}
    try:
        [standings] = _rank_by_wins(battles.select(np.asarray(keep))).standings
    except NotIdentifiedError:
        return WrittenFigures((), (Notice("pin-never-met", fields),))
    figures = []
    for figure in _figures_of_entry(task, replace(standings, slice=part), model):
        figures.append(
            replace(figure, name=PINNED_WIN_RATE, reference=reference, opponents=(reference,))
        )
    items = battles.battles_of_model(model).counts().items
    notes = []
    if figures and figures[0].items < LEAST_SHARE_MET * items:
        counts = {"met": figures[0].items, "items": items}
        notes.append(Notice("pin-met-in-part", {**fields, **counts}))
    return WrittenFigures(tuple(figures), tuple(notes))


def _rank_by_wins(battles: Battles) -> Ranking:
    """Rank battles by win rates, all judges, metrics and tasks together.

    Raises:
        NotIdentifiedError: no battle is readable.
    """
    return rank(replace(battles, apart=None), WIN_RATE, pool=True, answers=False)
