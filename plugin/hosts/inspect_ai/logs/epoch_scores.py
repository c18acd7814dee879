"""How an Inspect log reduces the scores of several epochs, and the scores that it holds."""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.scorer import Score, at_least, max_score, median_score, mode_score, pass_at

from podium.data.measure import Measure

MEAN = "mean"
COLLECT = "collect"
"""Inspect's reducer that makes a list of all scores."""
WITHOUT_K = {"max": max_score, "median": median_score, "mode": mode_score}
WITH_K = {"at_least": at_least, "pass_at": pass_at}
ESTIMATES = re.compile(r"(pass_at|pass_k)_[0-9]+")
"""Reducers that estimate the same from any number of epochs from k on."""
FIGURES = ("accuracy", "mean")
"""Metrics that are the mean over samples."""
REDUCTIONS = "reductions.json"
SAME = 1e-6
Values = Mapping[str, Mapping[str, Any]]
"""Reduced values by scorer and item."""


class Reduction(NamedTuple):
    """How a run reduces the epochs of a sample: the first of its reducers.

    The log's headline is by this one.
    """

    reducer: str
    epochs: int
    others: tuple[str, ...] = ()

    @property
    def is_mean(self) -> bool:
        """Whether every epoch counts the same; a collection of all scores is no number, and its
        mean is taken."""
        return self.reducer in (MEAN, COLLECT)

    def agrees_with(self, other: "Reduction") -> bool:
        """Return whether two runs' reduced scores measure the same."""
        if self.epochs == other.epochs == 1:
            return True
        if self.is_mean and other.is_mean:
            return True
        if self.reducer != other.reducer:
            return False
        return self.epochs == other.epochs or self.is_estimate

    @property
    def is_estimate(self) -> bool:
        """Whether the reduced score estimates a probability, however many epochs there are."""
        return ESTIMATES.fullmatch(self.reducer) is not None

    def __str__(self) -> str:
        return f"{self.reducer} over {self.epochs} {'epoch' if self.epochs == 1 else 'epochs'}"


class OwnFigure(NamedTuple):
    """A mean that the results of a log hold for a scorer, and of how many items it is; None if
    unknown."""

    scorer: str
    value: float
    items: int | None


class ReducedScore(NamedTuple):
    """A score of an item: of all its epochs, or of one if the log does not reduce it; `reason` why
    there is none."""

    item: str
    scorer: str
    epoch: int
    value: Any
    reason: str | None = None


def reduction_of(header: EvalLog) -> Reduction:
    """Return how a log reduces epochs, by its header."""
    config = header.eval.config
    first, *others = config.epochs_reducer or [MEAN]
    return Reduction(first, config.epochs or 1, tuple(others))


def measure_of_part(task: str, scorer: str, part: str = "") -> Measure:
    """Return the measure of a scorer's scores, or of one part of them if they have several."""
    return Measure(part, task, scorer, task_is_named=True)


def own_figures(header: EvalLog, reducer: str) -> dict[str, OwnFigure]:
    """Return the means in a log's results by metric."""
    figures: dict[str, OwnFigure] = {}
    for score in header.results.scores if header.results else ():
        name = next((name for name in FIGURES if name in score.metrics), None)
        if name is None or score.reducer not in (None, reducer):
            continue
        part = "" if score.name == score.scorer else score.name
        own = OwnFigure(score.scorer, float(score.metrics[name].value), score.scored_samples)
        figures.setdefault(measure_of_part(header.eval.task, score.scorer, part).name, own)
    return figures


def read_reductions(path: Path, reducer: str) -> Values:
    """Return the reduced values that a log holds for one of its reducers; empty if it holds
    none."""
    values: dict[str, dict[str, Any]] = {}
    for reduction in _reductions_in(path):
        if (reduction.get("reducer") or MEAN) == reducer:
            samples = reduction.get("samples") or ()
            values[reduction["scorer"]] = {
                str(sample.get("sample_id")): sample.get("value") for sample in samples
            }
    return values


def _reductions_in(path: Path) -> Sequence[Mapping[str, Any]]:
    if path.suffix != ".eval":
        whole = read_eval_log(str(path)).reductions or ()
        return [reduction.model_dump() for reduction in whole]
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(REDUCTIONS)) if REDUCTIONS in archive.namelist() else ()


class EpochScores:
    """Collects the scores of a log's epochs, and reduces them as the log does."""

    def __init__(self, path: Path, reduction: Reduction) -> None:
        self.path = path
        self.reduction = reduction
        self.scores: dict[str, dict[str, dict[int, Score]]] = {}
        self.incomplete: set[str] = set()

    def add_scores(self, item: str, epoch: int, scores: Mapping[str, Score]) -> None:
        """Add the scores of a sample, by scorer."""
        for scorer, score in scores.items():
            self.scores.setdefault(scorer, {}).setdefault(item, {})[epoch] = Score(
                value=score.value
            )

    def leave_out_epoch(self, item: str) -> None:
        """Note that the log's value of an item counts an epoch that is left out here."""
        self.incomplete.add(item)

    def reduce(self) -> Iterator[ReducedScore]:
        """Yield the log's value of each item that it reduces.

        If an epoch of the item is left out, or the run ended before it reduced anything, the value
        is computed again, as far as that is possible.
        """
        held = read_reductions(self.path, self.reduction.reducer)
        for scorer, by_item in self.scores.items():
            if held and scorer not in held:
                # Its metrics are of the single epochs.
                yield from _scores_by_epoch(scorer, by_item)
            else:
                yield from self._reduce_scorer(scorer, by_item, held.get(scorer, {}))

    def _reduce_scorer(
        self, scorer: str, by_item: Mapping[str, Mapping[int, Score]], held: Mapping[str, Any]
    ) -> Iterator[ReducedScore]:
        whole = {item for item in by_item if item in held and item not in self.incomplete}
        again = self._recompute(by_item, {item: held[item] for item in whole})
        for item in by_item:
            if item in whole:
                yield ReducedScore(item, scorer, 1, held[item])
            else:
                missing = f"{self.reduction.reducer} of the epochs that count is unknown"
                value = again.get(item)
                yield ReducedScore(item, scorer, 1, value, missing if value is None else None)

    def _recompute(
        self, by_item: Mapping[str, Mapping[int, Score]], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return values of items by Inspect's own reducer, for all items but the known ones.

        Args:
            by_item: scores by item and epoch.
            known: values of items that the log holds.

        Returns:
            values by item. None are returned if the reducer is unknown, or if it does not give the
            known values: its threshold is not in the log.
        """
        wanted = [item for item in by_item if item not in known]
        function = _reducer_named(self.reduction.reducer) if wanted else None
        if function is None:
            return {}
        values = {}
        for item, scores in by_item.items():
            in_order = [scores[epoch] for epoch in sorted(scores)]
            values[item] = function(in_order).value
        if any(not _is_same(values[item], value) for item, value in known.items()):
            return {}
        return {item: values[item] for item in wanted}


def _scores_by_epoch(
    scorer: str, by_item: Mapping[str, Mapping[int, Score]]
) -> Iterator[ReducedScore]:
    for item, scores in by_item.items():
        for epoch, score in scores.items():
            yield ReducedScore(item, scorer, epoch, score.value)


def _reducer_named(name: str) -> Any:
    """Return one of Inspect's reducers by its name in a log, as `at_least_2`; None for those of
    others."""
    if name in WITHOUT_K:
        return WITHOUT_K[name]()
    kind, _, k = name.rpartition("_")
    return WITH_K[kind](int(k)) if kind in WITH_K and k.isdecimal() else None


def _is_same(value: Any, other: Any) -> bool:
    """Return whether two values of scores are equal; numbers to rounding, and what is no number to
    itself."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return value.keys() == other.keys() and all(
            _is_same(value[key], other[key]) for key in value
        )
    if isinstance(value, int | float) and isinstance(other, int | float):
        return isclose(value, other, rel_tol=SAME, abs_tol=SAME) or (
            value != value and other != other
        )
    return bool(value == other)
