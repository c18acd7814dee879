"""Read the scores of an ordinary eval as rows, and compare their means with those in its log."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isclose, isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from inspect_ai.log import EvalLog
from inspect_ai.scorer import Score, value_to_float

from podium.data.item_columns import ItemColumns
from podium.data.measure import Measure
from podium.hosts.inspect_ai.logs.epoch_scores import (
    SAME_TOLERANCE,
    EpochScores,
    OwnFigure,
    measure_of_part,
    own_figures,
    read_reductions,
    reduction_of,
)

Row = dict[str, Any]
"""A row of a table, by column."""
LETTERS_OF_INSPECT = frozenset({"C", "I", "P", "N"})
"""Scores that Inspect converts to numbers: correct, incorrect, partial, no answer."""
WORDS_OF_INSPECT = frozenset({"yes", "no", "true", "false"})
"""Scores that Inspect converts to numbers, in lower or upper case."""


class EvalFigure(NamedTuple):
    """The mean of a metric over the samples of a log, as computed here and as the log has it.

    Attributes:
        metric: name of the metric.
        mean: mean over the items of the scores that are used here.
        items: number of these items.
        epoch_mean: mean over all epochs of these items, without the log's reducer.
        own: the mean in the log's results; None if the results have none.
    """

    metric: str
    mean: float
    items: int
    epoch_mean: float
    own: OwnFigure | None

    @property
    def is_own(self) -> bool:
        """Whether the mean equals the log's own (`SAME_TOLERANCE`), or the log has none."""
        return self.own is None or isclose(
            self.mean, self.own.value, rel_tol=SAME_TOLERANCE, abs_tol=SAME_TOLERANCE
        )


class LeftOutSample(NamedTuple):
    """A sample that is left out, and why ("" if no reason is given)."""

    id: str | int
    epoch: int
    reason: str


class LeftOut(NamedTuple):
    """Samples of a log that are left out.

    Attributes:
        names: their ids, with the epoch if there are several.
        samples: number of samples, with those that are left out.
        reasons: the distinct reasons that the log gives.
    """

    names: tuple[str, ...]
    samples: int
    reasons: tuple[str, ...] = ()

    @classmethod
    def of_samples(
        cls, left_out: Sequence[LeftOutSample], samples: int, *, several_epochs: bool
    ) -> "LeftOut":
        """Describe samples that are left out.

        Args:
            left_out: these samples.
            samples: number of all samples of the log.
            several_epochs: whether names have the epoch, as in `q7 (epoch 2)`.
        """
        names = []
        for sample in left_out:
            epoch = f" (epoch {sample.epoch})" if several_epochs else ""
            names.append(f"{sample.id}{epoch}")
        reasons = dict.fromkeys(sample.reason for sample in left_out if sample.reason)
        return cls(tuple(names), samples, tuple(reasons))


class ValueColumns:
    """Collects the scores of samples, with each text stored once."""

    def __init__(self) -> None:
        # The lists `items`, `epochs` and `lengths` have an entry per sample: its id, its epoch, and
        # the number of its values. The lists `values` and `metrics` have an entry per value.
        self.items: list[str] = []
        self.epochs: list[int] = []
        self.lengths: list[int] = []
        # The values as the log has them; most are numbers, which `build` converts all at once.
        self.values: list[Any] = []
        self.metrics: list[int] = []
        # The number of each metric, by name.
        self.numbers: dict[str, int] = {}

    def number_metrics(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of metrics in the order of their names; new names get new numbers."""
        return [self.numbers.setdefault(name, len(self.numbers)) for name in names]

    def add(self, item: str, epoch: int, metrics: Sequence[int], values: Iterable[Any]) -> None:
        """Add the values of a sample.

        Args:
            item: id of the sample.
            epoch: its epoch.
            metrics: the number of the metric of each value.
            values: the values as the log has them, in the same order.
        """
        self.items.append(item)
        self.epochs.append(epoch)
        self.lengths.append(len(metrics))
        self.metrics.extend(metrics)
        self.values.extend(values)

    def build(self, model: str) -> pd.DataFrame:
        """Return a table with a row per value; a table without columns if there is no value.

        The columns are `item`, `model`, `response` (the epoch), `score` and `metric`; the index
        `row` counts from 1. A value that is no number has the score NaN.

        Args:
            model: name of the model in all rows.
        """
        if not self.values:
            return pd.DataFrame()
        samples = np.repeat(np.arange(len(self.items)), self.lengths)
        always_first = np.zeros(len(samples), dtype=np.int64)
        columns = {
            # pandas takes texts by number much faster than it converts a list of them.
            "item": pd.Series(self.items).take(samples),
            "model": pd.Series([model]).take(always_first),
            "response": pd.Series(self.epochs).take(samples),
            "score": pd.Series(_numbers_of(self.values)),
            "metric": pd.Series([*self.numbers]).take(np.array(self.metrics)),
        }
        index = pd.RangeIndex(1, len(samples) + 1, name="row")
        return pd.DataFrame({name: cells.array for name, cells in columns.items()}, index=index)


class EvalScores:
    """Builds rows of a table from the scores of an eval's samples.

    If the log takes the mean over epochs, there is a row per epoch, because all epochs count the
    same. If it reduces epochs in another way, there is a row per item.

    Args:
        path: the log.
        header: its header.
        cluster: the key of samples' metadata with the groups of items; None for the key by which
            the log's own standard errors are clustered (`cluster_of_log`).
    """

    def __init__(self, path: Path, header: EvalLog, cluster: str | None = None) -> None:
        self.cluster_of_log = cluster_of_log(header)
        self.cluster = cluster or self.cluster_of_log
        self.group_of_item: dict[str, str] = {}
        self.item_columns = ItemColumns()
        self.path = path
        self.header = header
        self.reduction = reduction_of(header)
        self.is_mean = self.reduction.is_mean
        self.about = {"item": "", "model": header.eval.model, "response": 1}
        self.measures: dict[tuple[str, str], Measure] = {}
        self.names: dict[tuple[str, str], str] = {}
        # Numbers of the metrics in `values`. The key is the scorer, then the parts of its value.
        self.metrics_of_parts: dict[tuple[str, ...], list[int]] = {}
        self.epochs = EpochScores(path, self.reduction)
        self.scorers_of_lists = dict[str, None]()
        self.values = ValueColumns()

    @property
    def needs_only_values(self) -> bool:
        """Whether the rows need nothing of a sample but its values.

        True if items have no groups and the log takes the mean of epochs. Then `add_values` may be
        used in place of `rows_of`.
        """
        return self.cluster is None and self.is_mean

    def add_values(self, item: str, epoch: int, scores: Mapping[str, Any]) -> None:
        """Add the scores of a sample as JSON, by scorer, to `values`.

        The value of a score is under its key `value`. This method is used if `needs_only_values`.
        """
        for scorer, score in scores.items():
            parts = self._parts_of(scorer, score["value"])
            metrics = self.metrics_of_parts.get((scorer, *parts))
            if metrics is None:
                names = [self._metric_of(scorer, part) for part in parts]
                metrics = self.metrics_of_parts[scorer, *parts] = self.values.number_metrics(names)
            self.values.add(item, epoch, metrics, parts.values())

    def frame_of_values(self) -> pd.DataFrame:
        """Return the rows that `add_values` added; a table without columns if there are none."""
        return self.values.build(self.header.eval.model)

    def add_group(self, item: str, metadata: Mapping[str, Any]) -> None:
        """Keep the group of an item, as text, if its sample's metadata have the key `cluster`."""
        group = metadata.get(self.cluster) if self.cluster else None
        if group is not None:
            self.group_of_item[item] = str(group)

    def rows_of(self, item: str, epoch: int, scores: Mapping[str, Score]) -> Iterator[Row]:
        """Yield the rows of a sample; nothing if the log reduces epochs, other than by their mean.

        `rows_at_end` yields those rows later.

        Args:
            item: id of the sample.
            epoch: its epoch.
            scores: its scores, by scorer.
        """
        if not self.is_mean:
            self.epochs.add_scores(item, epoch, scores)
            return
        for scorer, score in scores.items():
            yield from self._rows_of_value(item, epoch, scorer, score.value)

    def leave_out(self, item: str) -> None:
        """Note that an epoch of an item is left out, while the log's own figures count it."""
        self.epochs.leave_out_epoch(item)

    def rows_at_end(self) -> Iterator[Row]:
        """Yield the rows of the items whose epochs are reduced; nothing if epochs are averaged.

        These rows also have `reason`: why the score is unknown, else None.
        """
        if self.is_mean:
            return
        for reduced in self.epochs.reduce():
            rows = self._rows_of_value(reduced.item, reduced.epoch, reduced.scorer, reduced.value)
            yield from ({**row, "reason": reduced.reason} for row in rows)

    def _rows_of_value(self, item: str, epoch: int, scorer: str, value: Any) -> Iterator[Row]:
        """Yield a row per part of a score's value (`_parts_of`).

        The columns are `item`, `model`, `response` (the epoch), `score` (None for what is no
        number) and `metric`.
        """
        about = self.about | {"item": item, "response": epoch}
        for metric, score in self._values_by_metric(scorer, value):
            yield {**about, "score": score, "metric": metric}

    def _values_by_metric(self, scorer: str, value: Any) -> list[tuple[str, float | None]]:
        """Return name of the metric and number for each part of a score's value (`_parts_of`).

        The number of a part that is no number is None.
        """
        parts = self._parts_of(scorer, value).items()
        return [
            (self._metric_of(scorer, part), number_of(value_of_part))
            for part, value_of_part in parts
        ]

    def _parts_of(self, scorer: str, value: Any) -> Mapping[str, Any]:
        """Return the parts of a score's value by name; a plain value has one part, named "".

        A list is such a plain value, which is no number. Its scorer is noted in `scorers_of_lists`.
        """
        if isinstance(value, list | tuple):
            self.scorers_of_lists[scorer] = None
        return value if isinstance(value, dict) else {"": value}

    def _metric_of(self, scorer: str, part: str) -> str:
        """Return the name of the metric of a part of a scorer's scores; `part` may be empty."""
        name = self.names.get((scorer, part))
        if name is None:
            measure = measure_of_part(self.header.eval.task, scorer, part)
            self.measures[scorer, part] = measure
            name = self.names[scorer, part] = measure.name
        return name

    def finish(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the table without the samples that the log's own figures do not count.

        A table without the column `score` is returned as it is. A column with the groups of items
        is added to `frame` itself, if any item has a group.

        Its `attrs` have `reduction` (how epochs are reduced), `figures` (a list of `EvalFigure`),
        `excluded` (a `LeftOut` by metric), `measures`, `scorers_of_lists` (names), and `cluster`,
        the key by which the log's own standard errors are clustered; None if they are not.
        """
        if "score" not in frame:
            return frame
        if self.group_of_item:
            frame[self.cluster] = frame["item"].map(self.group_of_item)
        figures_of_log = own_figures(self.header, self.reduction.reducer)
        epoch_means = self._epoch_means()
        figures = _figures_of(frame, figures_of_log, epoch_means)
        excluded: dict[str, LeftOut] = {}
        if any(_may_count_more(figure) for figure in figures):
            excluded = self._excluded_items(frame, figures)
        if excluded:
            is_excluded = np.zeros(len(frame), dtype=bool)
            for metric, left_out in excluded.items():
                is_left_out = frame["metric"].eq(metric) & frame["item"].isin(left_out.names)
                is_excluded |= is_left_out.to_numpy()
            attrs = frame.attrs
            frame = frame[~is_excluded]
            frame.attrs = attrs
            figures = _figures_of(frame, figures_of_log, epoch_means)
        frame.attrs |= {"reduction": self.reduction, "figures": figures, "excluded": excluded}
        frame.attrs["measures"] = tuple(
            _with_statistic(measure, figures_of_log) for measure in self.measures.values()
        )
        frame.attrs["cluster"] = self.cluster_of_log
        frame.attrs["scorers_of_lists"] = tuple(self.scorers_of_lists)
        return frame

    def _epoch_means(self) -> dict[str, float]:
        """Return, by metric, the mean over items of the mean over all epochs.

        Empty if the log takes means of epochs: no scores are kept then.
        """
        by_metric: dict[str, dict[str, list[float]]] = {}
        for scorer, by_item in self.epochs.scores.items():
            for item, scores in by_item.items():
                for score in scores.values():
                    for metric, number in self._values_by_metric(scorer, score.value):
                        _add_number(by_metric, metric, item, number)
        return {
            metric: _mean_over_items(scores_of_metric)
            for metric, scores_of_metric in by_metric.items()
        }

    def _excluded_items(
        self, frame: pd.DataFrame, figures: Sequence[EvalFigure]
    ) -> dict[str, LeftOut]:
        """Return, by metric, the items that have a score but no reduced value in the log.

        A metric is left out if it has no such item, if the log's results have no figure of it, or
        if the log holds no reduced values of its scorer.
        """
        reductions = read_reductions(self.path, self.reduction.reducer)
        excluded = {}
        for metric, figure_of_log in ((figure.metric, figure.own) for figure in figures):
            if figure_of_log is None or figure_of_log.scorer not in reductions:
                continue
            items = frame.loc[frame["metric"].eq(metric), "item"].unique()
            names = tuple(item for item in items if item not in reductions[figure_of_log.scorer])
            if names:
                excluded[metric] = LeftOut(names, len(items))
        return excluded


def cluster_of_log(header: EvalLog) -> str | None:
    """Return the key of samples' metadata by which the log's own standard errors are clustered.

    It is the argument of `stderr(cluster=...)` in the task. None if no metric has it, or if metrics
    have different ones.
    """
    keys = set()
    for scorer in header.eval.scorers or ():
        for metric in metrics_in(scorer.metrics):
            keys.add((metric.options or {}).get("cluster"))
    keys.discard(None)
    return str(keys.pop()) if len(keys) == 1 else None


def metrics_in(declared: Any) -> Iterator[Any]:
    """Yield the metrics that a scorer declares.

    Args:
        declared: a metric; a list of metrics; a mapping of metrics by part of the scores; any
            nesting of these; or None, which yields nothing.
    """
    if isinstance(declared, Mapping):
        for inner in declared.values():
            yield from metrics_in(inner)
    elif isinstance(declared, list):
        for inner in declared:
            yield from metrics_in(inner)
    elif declared is not None:
        yield declared


def _may_count_more(figure: EvalFigure) -> bool:
    """Return whether the mean here may count items that the log's own mean does not count.

    True if the two means differ, or if the log's own mean is over fewer items. An unknown number of
    its items counts as 0. False if the log has no mean of its own.
    """
    if figure.own is None:
        return False
    items_of_own = figure.own.items or 0
    return not figure.is_own or items_of_own < figure.items


def _with_statistic(measure: Measure, figures_of_log: Mapping[str, OwnFigure]) -> Measure:
    """Return a measure with the log's name of its mean (`accuracy` or `mean`) as its statistic.

    A measure without a figure in the log is returned as it is.
    """
    figure = figures_of_log.get(measure.name)
    return measure if figure is None else replace(measure, statistic=figure.statistic)


def _figures_of(
    frame: pd.DataFrame, figures_of_log: Mapping[str, OwnFigure], epoch_means: Mapping[str, float]
) -> list[EvalFigure]:
    """Return the figures of the metrics in a table of scores; a metric without a score has none.

    The mean of a metric is over items, each with the mean of its known scores.

    Args:
        frame: the table, with the columns `metric`, `item` and `score`.
        figures_of_log: the figures of the log itself, by metric.
        epoch_means: means over all epochs by metric. A metric that is missing here has the mean of
            the table instead.
    """
    rows_with_score = frame[frame["score"].notna()]
    by_item = rows_with_score.groupby(["metric", "item"], sort=False)["score"].mean()
    by_metric = by_item.astype(float).groupby("metric", sort=False).agg(["mean", "size"])
    figures = []
    for metric, mean, items in by_metric.itertuples():
        figures.append(
            EvalFigure(
                metric=metric,
                mean=mean,
                items=items,
                epoch_mean=epoch_means.get(metric, mean),
                own=figures_of_log.get(metric),
            )
        )
    return figures


def _add_number(
    by_metric: dict[str, dict[str, list[float]]], metric: str, item: str, score: float | None
) -> None:
    """Add a score to `by_metric`, in place; None and NaN are not added.

    Args:
        by_metric: the scores by metric and item.
        metric: name of the metric.
        item: id of the item.
        score: the score.
    """
    if score is not None and score == score:  # NaN differs from itself
        by_metric.setdefault(metric, {}).setdefault(item, []).append(score)


def _mean_over_items(by_item: Mapping[str, Sequence[float]]) -> float:
    """Return the mean over items of the mean score of each item.

    Args:
        by_item: the scores of each item, at least one; there must be an item.
    """
    return float(np.mean([sum(scores) / len(scores) for scores in by_item.values()]))


def _numbers_of(values: Sequence[Any]) -> Sequence[float | None]:
    """Convert scores to numbers (`number_of`), in the same order; None for what is no number."""
    # Most logs have only finite numbers, which are converted faster without `number_of`.
    types = {*map(type, values)}
    if types <= {float, int} and all(map(isfinite, values)):
        return [*map(float, values)]
    return [*map(number_of, values)]


def number_of(value: Any) -> float | None:
    """Convert a score to a finite number as Inspect does.

    True and False are 1 and 0. Texts are the letters and words that Inspect converts
    (`LETTERS_OF_INSPECT`, `WORDS_OF_INSPECT`), or numbers written as text. The result is None for
    any other value, where Inspect would take 0, and for NaN and infinite numbers.
    """
    if isinstance(value, int | float):
        return float(value) if isfinite(value) else None
    if not isinstance(value, str):
        return None
    is_known_text = value in LETTERS_OF_INSPECT or value.lower() in WORDS_OF_INSPECT
    try:
        number = value_to_float()(value) if is_known_text else float(value)
    except ValueError:
        return None
    return number if isfinite(number) else None
