"""Check whether the scores of several runs are comparable, and note what was left out."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from podium.data.formats.headline_metrics import (
    ALL_METRICS,
    Headline,
    MeasuredRun,
    choose_headline,
    note_other_metrics,
)
from podium.data.formats.run_folders import FiledRun
from podium.data.measure import Measure, metric_names
from podium.errors import UsageError
from podium.findings import accept_or_raise
from podium.hosts.inspect_ai.logs.epoch_scores import Reduction, metrics_in_results
from podium.hosts.inspect_ai.logs.eval_scores import EvalFigure, LeftOut
from podium.notices.notice import Notice
from podium.wording import some

DIFFERENT_REDUCTIONS = "the scores of {task} are not reduced alike: {runs}"
"""Problem of runs of a task that reduce epochs differently; `runs` is `MODEL by REDUCTION; ...`."""
REMEDY = (
    "run the models with the same --epochs and --epochs-reducer, "
    "or with the reducer mean, pass_at_k or pass_k"
)
"""Remedy of `DIFFERENT_REDUCTIONS`."""


class ScoredRun(NamedTuple):
    """A run whose scores are read.

    Attributes:
        run: the log, with its model and task.
        reduction: how the run reduces epochs.
        figures: the mean of each metric.
        scorers_of_lists: names of the scorers whose scores are lists, which are not ranked.
    """

    run: FiledRun
    reduction: Reduction
    figures: Sequence[EvalFigure]
    scorers_of_lists: Sequence[str] = ()

    @classmethod
    def of_frame(cls, run: FiledRun, frame: pd.DataFrame) -> "ScoredRun":
        """Return the run with the facts that `EvalScores.finish` puts into `attrs` of its rows."""
        attrs = frame.attrs
        return cls(run, attrs["reduction"], attrs["figures"], attrs.get("scorers_of_lists", ()))

    @property
    def task(self) -> str:
        """The task of the log."""
        return str(self.run.header.eval.task)

    @property
    def shown_metrics(self) -> tuple[str, ...]:
        """The metrics of the log that have numbers, in the order of its results.

        The first is the headline of Inspect, if its values are numbers. Metrics that are not in the
        results come last.
        """
        all_metrics = metrics_in_results(self.run.header)
        measured = [figure.metric for figure in self.figures]
        first = [name for name in all_metrics if name in measured]
        return tuple(dict.fromkeys((*first, *measured)))


def select_metrics(
    runs: Sequence[ScoredRun],
    measures: Collection[Measure],
    asked_metrics: Collection[str],
    judging: Collection[Measure] = (),
) -> tuple[dict[str, frozenset[str]], list[Notice]]:
    """Select the metrics by which each task is ranked.

    Args:
        runs: the runs of all tasks.
        measures: what is known of their metrics.
        asked_metrics: names of metrics, with or without task and scorer, or `all`. If it is empty,
            the first metric in the results of the logs that two models have is selected for each
            task; all metrics of the task if there is no such metric.
        judging: the scorers of verdicts, whose names may be among those that are asked for.

    Returns:
        The names of the metrics in the column `metric`, by task; and notes on the metrics that
        were not selected, if none was asked for. A task that has none of the metrics asked for has
        an empty set.

    Raises:
        UsageError: there is a name among `asked_metrics` that no task and no scorer of verdicts
            has.
    """
    measure_by_name = {measure.name: measure for measure in measures}
    _require_known_metrics(runs, measure_by_name, asked_metrics, judging)
    selected: dict[str, frozenset[str]] = {}
    headlines = []
    for task, runs_of_task in _group_by_task(runs).items():
        measured_runs = [MeasuredRun(each.run.who, each.shown_metrics) for each in runs_of_task]
        metrics_of_runs = frozenset(metric for run in measured_runs for metric in run.metrics)
        if ALL_METRICS in asked_metrics:
            selected[task] = metrics_of_runs
        elif asked_metrics:
            names = {
                metric: metric_names(measure_by_name.get(metric)) for metric in metrics_of_runs
            }
            selected[task] = frozenset(
                name for name in metrics_of_runs if names[name] & {*asked_metrics}
            )
        else:
            headline = choose_headline(task, measured_runs, metrics_of_runs)
            selected[task] = frozenset({headline.metric}) if headline else metrics_of_runs
            if headline:
                headlines.append(_without_task(headline, measure_by_name))
    return selected, note_other_metrics(headlines)


def notes_on_lists(runs: Sequence[ScoredRun]) -> Iterator[Notice]:
    """Yield a note on each task with scorers whose scores are lists."""
    for task, runs_of_task in _group_by_task(runs).items():
        scorers = list(
            dict.fromkeys(name for each in runs_of_task for name in each.scorers_of_lists)
        )
        if scorers:
            yield Notice("scores-are-lists", {"task": task, "scorers": scorers})


def _without_task(headline: Headline, measures: Mapping[str, Measure]) -> Headline:
    """Return the choice of a metric with names that lack the task, as `--metric` takes them.

    Args:
        headline: the choice, with the names in the column `metric`.
        measures: what is known of the metrics, by these names.
    """
    short = {name: measure.name_without_task for name, measure in measures.items()}
    others = tuple(short.get(name, name) for name in headline.others)
    return replace(headline, metric=short.get(headline.metric, headline.metric), others=others)


def _require_known_metrics(
    runs: Sequence[ScoredRun],
    measures: Mapping[str, Measure],
    asked_metrics: Collection[str],
    judging: Collection[Measure],
) -> None:
    """Check that some task has each metric that is asked for.

    Nothing is checked if there is neither a metric in any task nor a scorer of verdicts.

    Args:
        runs: the runs of all tasks.
        measures: what is known of the metrics, by their names in the column `metric`.
        asked_metrics: names of metrics, or `all`.
        judging: the scorers of verdicts.

    Raises:
        UsageError: no task has one of the metrics asked for.
    """
    shown_metrics = {metric for each in runs for metric in each.shown_metrics}
    known_metrics = sorted({*shown_metrics, *(scorer.name for scorer in judging)})
    names = {ALL_METRICS}.union(*(metric_names(measures.get(metric)) for metric in shown_metrics))
    names = names.union(*(scorer.names for scorer in judging))
    for name in asked_metrics:
        if known_metrics and name not in names:
            raise UsageError(
                f"no task has the metric {name!r}; there are: {some(known_metrics, most=10)}"
            )


def accept_reductions(runs: Sequence[ScoredRun], allowed: Collection[str]) -> list[str]:
    """Return sentences on tasks whose runs reduce epochs differently, which the user accepts.

    Args:
        runs: the runs of all tasks.
        allowed: names of the findings that the user accepts.

    Raises:
        DataError: there is such a task, and `allowed` does not contain `epochs`.
    """
    accepted = []
    for task, runs_of_task in _group_by_task(runs).items():
        first, *others = runs_of_task
        if all(first.reduction.agrees_with(other.reduction) for other in others):
            continue
        described = some([f"{each.run.who} by {each.reduction}" for each in runs_of_task], most=5)
        accepted.append(
            accept_or_raise(
                "epochs",
                problem=DIFFERENT_REDUCTIONS.format(task=task, runs=described),
                remedy=REMEDY,
                allowed=allowed,
            )
        )
    return accepted


def unequal_estimates(runs: Sequence[ScoredRun]) -> list[str]:
    """Return the metrics that estimate a probability from different numbers of epochs, each once.

    Runs of one task are compared, whose reducers are of the form `pass_at_K` or `pass_k_K`.

    For such metrics, comparing the two estimates of an item depends on the numbers of epochs. The
    difference of the estimates does not.
    """
    metrics = dict[str, None]()
    for runs_of_task in _group_by_task(runs).values():
        estimates = [each for each in runs_of_task if each.reduction.is_estimate]
        if len({each.reduction.epochs for each in estimates}) > 1:
            metrics |= {figure.metric: None for each in estimates for figure in each.figures}
    return list(metrics)


def notes_on_reductions(runs: Sequence[ScoredRun]) -> Iterator[Notice]:
    """Yield notes on scores whose epochs do not count the same.

    The notes say, by task, which scores of epochs are not reduced to their mean, which metrics are
    estimated in unequal ways, and which further reducers a log has.
    """
    for task, runs_of_task in _group_by_task(runs).items():
        ways: dict[str, list[str]] = {}
        for run in runs_of_task:
            if run.reduction.is_mean or run.reduction.epochs == 1:
                continue  # its scores are means of epochs, as here
            means = [
                f"{run.run.who} {figure.mean:.4g} ({figure.epoch_mean:.4g})"
                for figure in run.figures
            ]
            ways.setdefault(str(run.reduction), []).extend(means)
        for reduction, means in ways.items():
            fields = {"task": task, "reduction": reduction, "means": means}
            yield Notice("scores-reduced", fields)
        for metric in unequal_estimates(runs_of_task):
            yield Notice("unequal-estimates", {"metric": metric})
        others = list(
            dict.fromkeys(name for each in runs_of_task for name in each.reduction.others)
        )
        if others:
            yield Notice("other-reducers", {"task": task, "reducers": others})


def notes_on_means(
    runs: Sequence[ScoredRun], frames: Sequence[tuple[FiledRun, pd.DataFrame]]
) -> Iterator[Notice]:
    """Yield notes on means that differ from those in the log's own results.

    The compared mean is over the items on which another model was scored, too, because only these
    are ranked; without such items, it is over all items of the run. Means that are equal to the
    log's (`EvalFigure.is_own`) have no note.

    Args:
        runs: the runs.
        frames: the rows of each log, whose items are paired between the runs.
    """
    if all(figure.own is None for each in runs for figure in each.figures):
        return
    means = _means_on_shared_items(frames)
    for run in runs:
        for figure in run.figures:
            shared_mean = means.get((run.run.path, figure.metric))
            if shared_mean is not None:
                figure = figure._replace(mean=shared_mean.mean, items=shared_mean.items)
            if figure.own is None or figure.is_own:
                continue  # the log has no figure, or the same
            figures = {
                "path": str(run.run.path),
                "metric": figure.metric,
                "mean": figure.mean,
                "items": figure.items,
                "own": figure.own.value,
                "own_items": figure.own.items,
            }
            yield Notice("mean-differs-from-log", figures)


class SharedMean(NamedTuple):
    """A mean over the items on which another model was scored, too, and the number of them."""

    mean: float
    items: int


def _means_on_shared_items(
    frames: Sequence[tuple[FiledRun, pd.DataFrame]],
) -> dict[tuple[Path, str], SharedMean]:
    """Return the means over items on which two models have a score, by path of the log and metric.

    Logs and metrics without such an item are left out.
    """
    scored = [
        frame.loc[frame["score"].notna(), ["model", "metric", "item", "score"]].assign(log=k)
        for k, (_, frame) in enumerate(frames)
        if "score" in frame
    ]
    if not scored:
        return {}
    rows = pd.concat(scored, ignore_index=True)
    models = rows.groupby(["metric", "item"])["model"].transform("nunique")
    by_item = rows[models > 1].groupby(["log", "metric", "item"])["score"].mean().astype(float)
    means = {}
    for (log, metric), means_of_items in by_item.groupby(["log", "metric"]):
        run, _ = frames[log]
        shared = SharedMean(mean=float(means_of_items.mean()), items=len(means_of_items))
        means[run.path, str(metric)] = shared
    return means


def _group_by_task(runs: Sequence[ScoredRun]) -> dict[str, list[ScoredRun]]:
    """Return the runs by task, in the order of their first runs."""
    tasks: dict[str, list[ScoredRun]] = {}
    for each in runs:
        tasks.setdefault(each.task, []).append(each)
    return tasks


def notes_on_left_out(run: FiledRun, frame: pd.DataFrame) -> Iterator[Notice]:
    """Yield notes on samples that are invalidated or that the log's own figures do not count.

    A log may say that it has invalidated samples and mark none of them, which is noted, too.

    Args:
        run: the log.
        frame: its rows, with `invalidated` and, by metric, `excluded` in `attrs`.
    """
    invalidated: LeftOut = frame.attrs["invalidated"]
    if run.header.invalidated and not invalidated.names:
        fields = {"path": str(run.path), "samples": invalidated.samples, "model": run.who}
        yield Notice("invalidated-unmarked", fields)
    if invalidated.names:
        fields = {
            "path": str(run.path),
            "left_out": list(invalidated.names),
            "samples": invalidated.samples,
            "model": run.who,
            "reasons": list(invalidated.reasons),
        }
        yield Notice("samples-invalidated", fields)
    for metric, left_out in frame.attrs.get("excluded", {}).items():
        fields = {
            "path": str(run.path),
            "left_out": list(left_out.names),
            "samples": left_out.samples,
            "metric": metric,
        }
        yield Notice("samples-excluded", fields)
