"""Reduce the scores of several epochs to one per item, as an Inspect log does.

Inspect runs a sample once per epoch. A reducer (mean, max, pass_at_2) makes one score of them.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isclose, isnan
from pathlib import Path
from typing import Any, NamedTuple

from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.scorer import Score, at_least, max_score, median_score, mode_score, pass_at

from podium.data.formats.archives import opened_archive
from podium.data.measure import Measure
from podium.hosts.inspect_ai.inspect_ai_compatibility import headline_score_of

MEAN = "mean"
"""Name of Inspect's default reducer."""
COLLECT = "collect"
"""Name of Inspect's reducer that returns the list of all scores."""
REDUCERS_WITHOUT_K = {"max": max_score, "median": median_score, "mode": mode_score}
"""Inspect's functions that make a reducer, by its name."""
REDUCERS_WITH_K = {"at_least": at_least, "pass_at": pass_at}
"""Inspect's functions that make a reducer of a number k, by its name without the k.

For example: Inspect's reducer `pass_at_2` has the name `pass_at` here.
"""
ESTIMATES = re.compile(r"(pass_at|pass_k)_[0-9]+")
"""Matches reducers that estimate the same probability from any number of epochs of at least k."""
FIGURES = ("accuracy", "mean")
"""Names of Inspect's metrics that are the mean over samples."""
REDUCTIONS = "reductions.json"
"""The file of reduced scores in an `.eval` archive."""
SAME_TOLERANCE = 1e-6
"""Numbers that differ by at most this, relative or absolute, count as equal."""
Values = Mapping[str, Mapping[str, Any]]
"""Reduced values by scorer, then by id of the item."""


class Reduction(NamedTuple):
    """How a run reduces the epochs of a sample.

    Attributes:
        reducer: the first reducer of the run, which also gives the log's headline.
        epochs: number of epochs.
        others: the further reducers, which are not used here.
    """

    reducer: str
    epochs: int
    others: tuple[str, ...] = ()

    @property
    def is_mean(self) -> bool:
        """Whether every epoch counts the same.

        The list of all scores (reducer `collect`) counts by its mean.
        """
        return self.reducer in (MEAN, COLLECT)

    def agrees_with(self, other: "Reduction") -> bool:
        """Return whether the reduced scores of two runs measure the same quantity.

        They do if both have one epoch, if both are means, or if they have the same reducer and it
        is over the same number of epochs or estimates a probability (`is_estimate`).
        """
        if self.epochs == other.epochs == 1:
            return True
        if self.is_mean and other.is_mean:
            return True
        if self.reducer != other.reducer:
            return False
        return self.epochs == other.epochs or self.is_estimate

    @property
    def is_estimate(self) -> bool:
        """Whether the reduced score estimates a probability that does not depend on the epochs."""
        return ESTIMATES.fullmatch(self.reducer) is not None

    def __str__(self) -> str:
        noun = "epoch" if self.epochs == 1 else "epochs"
        return f"{self.reducer} over {self.epochs} {noun}"


class OwnFigure(NamedTuple):
    """A mean in the results of a log.

    Attributes:
        scorer: the scorer whose scores were averaged.
        value: the mean.
        items: number of items that it is over; None if unknown.
        statistic: name of the log's metric: `accuracy` or `mean`.
    """

    scorer: str
    value: float
    items: int | None
    statistic: str


class ReducedScore(NamedTuple):
    """A score of an item.

    Attributes:
        item: id of the item.
        scorer: name of the scorer.
        epoch: the epoch of the score if the log does not reduce the scorer's scores; 1 if the
            score is of all epochs.
        value: the score; None if it is unknown.
        reason: why the score is unknown; None if it is known.
    """

    item: str
    scorer: str
    epoch: int
    value: Any
    reason: str | None = None


def reduction_of(header: EvalLog) -> Reduction:
    """Return how a log reduces epochs, as its header says; by default, by the mean of one epoch."""
    config = header.eval.config
    first, *others = config.epochs_reducer or [MEAN]
    return Reduction(reducer=first, epochs=config.epochs or 1, others=tuple(others))


def measure_of_part(task: str, scorer: str, part: str = "") -> Measure:
    """Return the measure of a scorer's scores, or of a part of them if scores are dictionaries.

    Args:
        task: the task of the eval.
        scorer: name of the scorer.
        part: key of the part; empty if scores are plain values.
    """
    return Measure(part, task, scorer, task_is_named=True)


def own_figures(header: EvalLog, reducer: str) -> dict[str, OwnFigure]:
    """Return the means in a log's results, by name of the measure.

    They are its metrics `accuracy`, or else `mean`, of scores that this reducer or none has
    reduced. Scores with neither metric are left out. Of two scores with one name, the first counts.
    """
    figures: dict[str, OwnFigure] = {}
    for score in header.results.scores if header.results else ():
        name = next((name for name in FIGURES if name in score.metrics), None)
        if name is None or score.reducer not in (None, reducer):
            continue
        part = "" if score.name == score.scorer else score.name
        own_figure = OwnFigure(
            scorer=score.scorer,
            value=float(score.metrics[name].value),
            items=score.scored_samples,
            statistic=name,
        )
        figures.setdefault(measure_of_part(header.eval.task, score.scorer, part).name, own_figure)
    return figures


def metrics_in_results(header: EvalLog) -> list[str]:
    """Return the names of the measures in a log's results, each once, the headline first.

    The headline is what Inspect shows in lists of logs. The others are in the order of the results.
    Empty if the log has no results.
    """
    if header.results is None:
        return []
    shown_metrics = [(score.scorer, score.name) for score in header.results.scores]
    headline = headline_score_of(header.results)
    if headline is not None:
        shown_metrics.insert(0, headline)
    names = []
    for scorer, score in shown_metrics:
        part = "" if score == scorer else score
        names.append(measure_of_part(header.eval.task, scorer, part).name)
    return list(dict.fromkeys(names))


def read_reductions(path: Path, reducer: str) -> Values:
    """Return the values that a log holds for one of its reducers, by scorer and item.

    A scorer is missing if the log holds no values of it.
    """
    values: dict[str, dict[str, Any]] = {}
    for reduction in _reductions_in(path):
        if (reduction.get("reducer") or MEAN) == reducer:
            samples = reduction.get("samples") or ()
            values[reduction["scorer"]] = {
                str(sample.get("sample_id")): sample.get("value") for sample in samples
            }
    return values


def _reductions_in(path: Path) -> Sequence[Mapping[str, Any]]:
    """Return the reductions that a log holds, one per scorer and reducer, as plain values."""
    if path.suffix != ".eval":
        whole = read_eval_log(str(path)).reductions or ()
        return [reduction.model_dump() for reduction in whole]
    with opened_archive(path) as archive:
        return json.loads(archive.read(REDUCTIONS)) if REDUCTIONS in archive.namelist() else ()


class EpochScores:
    """Collects the scores of a log's epochs, and reduces them as the log does.

    Args:
        path: the log.
        reduction: how it reduces epochs.

    Attributes:
        scores: scores by scorer, item and epoch.
        incomplete: ids of items of which an epoch is left out.
    """

    def __init__(self, path: Path, reduction: Reduction) -> None:
        self.path = path
        self.reduction = reduction
        self.scores: dict[str, dict[str, dict[int, Score]]] = {}
        self.incomplete: set[str] = set()

    def add_scores(self, item: str, epoch: int, scores: Mapping[str, Score]) -> None:
        """Add the scores of a sample, by scorer. Only their values are kept."""
        for scorer, score in scores.items():
            by_item = self.scores.setdefault(scorer, {})
            by_epoch = by_item.setdefault(item, {})
            by_epoch[epoch] = Score(value=score.value)

    def leave_out_epoch(self, item: str) -> None:
        """Note that an epoch of an item is left out here, while the log's value counts it."""
        self.incomplete.add(item)

    def reduce(self) -> Iterator[ReducedScore]:
        """Yield the reduced score of each scorer and item, as the log holds it.

        If an epoch of the item is left out here, or if the run ended before it reduced anything,
        the score is computed again. If that is not possible, its value is None, with a reason. If
        the log does not reduce the scores of a scorer, there is a score per epoch.
        """
        reductions = read_reductions(self.path, self.reduction.reducer)
        for scorer, by_item in self.scores.items():
            if reductions and scorer not in reductions:
                # The log does not reduce this scorer's scores: its metrics count single epochs.
                yield from _scores_by_epoch(scorer, by_item)
            else:
                yield from self._reduce_scorer(scorer, by_item, reductions.get(scorer, {}))

    def _reduce_scorer(
        self,
        scorer: str,
        by_item: Mapping[str, Mapping[int, Score]],
        reduced_in_log: Mapping[str, Any],
    ) -> Iterator[ReducedScore]:
        """Yield the reduced score of each item: from `reduced_in_log`, or computed again.

        Args:
            scorer: name of the scorer.
            by_item: its scores by item and epoch.
            reduced_in_log: the values that the log holds, by item.
        """
        whole = {item for item in by_item if item in reduced_in_log and item not in self.incomplete}
        again = self._recompute(by_item, {item: reduced_in_log[item] for item in whole})
        for item in by_item:
            if item in whole:
                yield ReducedScore(item=item, scorer=scorer, epoch=1, value=reduced_in_log[item])
            else:
                missing = f"{self.reduction.reducer} of the epochs that count is unknown"
                value = again.get(item)
                yield ReducedScore(
                    item=item,
                    scorer=scorer,
                    epoch=1,
                    value=value,
                    reason=missing if value is None else None,
                )

    def _recompute(
        self, by_item: Mapping[str, Mapping[int, Score]], metadata_of_reduction: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Compute the values of all items except the known ones by Inspect's own reducer.

        Args:
            by_item: scores by item and epoch.
            metadata_of_reduction: the values that the log holds, by item. They check the reducer.

        Returns:
            the values by item. Empty if the reducer is not Inspect's, or if it does not reproduce
            the known values, for example because of a threshold that the log does not hold.
        """
        wanted = [item for item in by_item if item not in metadata_of_reduction]
        function = _reducer_named(self.reduction.reducer) if wanted else None
        if function is None:
            return {}
        values = {}
        for item, scores in by_item.items():
            in_order = [scores[epoch] for epoch in sorted(scores)]
            values[item] = function(in_order).value
        if any(not _is_same(values[item], value) for item, value in metadata_of_reduction.items()):
            return {}
        return {item: values[item] for item in wanted}


def _scores_by_epoch(
    scorer: str, by_item: Mapping[str, Mapping[int, Score]]
) -> Iterator[ReducedScore]:
    """Yield each score of a scorer unchanged, item by item, with its own epoch."""
    for item, scores in by_item.items():
        for epoch, score in scores.items():
            yield ReducedScore(item, scorer, epoch, score.value)


def _reducer_named(name: str) -> Any:
    """Return Inspect's reducer for a name such as `at_least_2`; None for other reducers.

    The names are `max`, `median` and `mode`, and `at_least` and `pass_at` with a number. The
    reducers `mean` and `collect` give None.
    """
    if name in REDUCERS_WITHOUT_K:
        return REDUCERS_WITHOUT_K[name]()
    kind, _, k = name.rpartition("_")
    if kind in REDUCERS_WITH_K and k.isdecimal():
        return REDUCERS_WITH_K[kind](int(k))
    return None


def _is_same(value: Any, other: Any) -> bool:
    """Return whether two scores are equal, as numbers, as dictionaries of scores, or otherwise.

    Numbers may differ by `SAME_TOLERANCE`, and NaN equals NaN. Dictionaries must have equal keys.
    """
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return value.keys() == other.keys() and all(
            _is_same(value[key], other[key]) for key in value
        )
    if isinstance(value, int | float) and isinstance(other, int | float):
        are_both_nan = isnan(value) and isnan(other)
        return are_both_nan or isclose(value, other, rel_tol=SAME_TOLERANCE, abs_tol=SAME_TOLERANCE)
    return bool(value == other)
