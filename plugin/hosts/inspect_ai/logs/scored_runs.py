"""Whether the scores of several runs of a task are comparable, and what was left out of them."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from podium.data.formats.run_folders import FiledRun
from podium.findings import accept_or_raise
from podium.hosts.inspect_ai.logs.epoch_scores import Reduction
from podium.hosts.inspect_ai.logs.eval_scores import EvalFigure, LeftOut
from podium.text import some

DIFFERENT = "the scores of {task} are not reduced alike: {runs}"
REMEDY = "run the models with the same --epochs and --epochs-reducer, or with the reducer mean, pass_at_k or pass_k"
REDUCED = "the scores of {task} are reduced as in the logs, {reduction}: {means}; in brackets the mean over all epochs"
UNEQUAL_ESTIMATES = (
    "{metric} is estimated from different numbers of epochs: a win rate is the chance that one model passes where the "
    "other does not, ties counted as half"
)
OTHER_REDUCERS = "{task} has scores reduced by {others} too, which are not read: the first reducer of a log counts"
OTHER_MEAN = "{path}: {metric} is {mean:.4g} here ({items:,} items) and {own:.4g} in the log's results{own_items}"
EXCLUDED = (
    "{path}: {number:,} of {samples:,} samples with scores by {metric} are not in the log's own figures (excluded from "
    "its metrics), and left out: {names}"
)
INVALIDATED = "{path}: {number:,} of {samples:,} samples of {model} are invalidated, and left out: {names}{why}"


class ScoredRun(NamedTuple):
    """A run whose scores are read: its task and model, how it reduces epochs, and its figures."""

    run: FiledRun
    reduction: Reduction
    figures: Sequence[EvalFigure]

    @classmethod
    def of_frame(cls, run: FiledRun, frame: pd.DataFrame) -> "ScoredRun":
        """Return what the table of a log's scores says about the run."""
        return cls(run, frame.attrs["reduction"], frame.attrs["figures"])

    @property
    def task(self) -> str:
        """The task of the log."""
        return str(self.run.header.eval.task)


def accept_reductions(runs: Sequence[ScoredRun], allowed: Collection[str]) -> list[str]:
    """Return sentences on tasks whose runs reduce scores so differently that they measure different
    things; DataError unless that is allowed."""
    accepted = []
    for task, own in _by_task(runs).items():
        first, *others = own
        if all(first.reduction.agrees_with(other.reduction) for other in others):
            continue
        described = some([f"{each.run.who} by {each.reduction}" for each in own], most=5)
        accepted.append(
            accept_or_raise("epochs", DIFFERENT.format(task=task, runs=described), REMEDY, allowed)
        )
    return accepted


def unequal_estimates(runs: Sequence[ScoredRun]) -> list[str]:
    """Return the metrics that estimate a probability from different numbers of epochs: which of two
    estimates is larger depends on these numbers, and their difference does not."""
    metrics = dict[str, None]()
    for own in _by_task(runs).values():
        estimates = [each for each in own if each.reduction.is_estimate]
        if len({each.reduction.epochs for each in estimates}) > 1:
            metrics |= {figure.metric: None for each in estimates for figure in each.figures}
    return list(metrics)


def notes_on_reductions(runs: Sequence[ScoredRun]) -> Iterator[str]:
    """Yield notes on scores of which not every epoch counts the same, with both means, and on means
    that the results of a log give otherwise."""
    for task, own in _by_task(runs).items():
        ways: dict[str, list[str]] = {}
        for each in own:
            if each.reduction.is_mean or each.reduction.epochs == 1:
                continue
            means = [
                f"{each.run.who} {figure.mean:.4g} ({figure.epoch_mean:.4g})"
                for figure in each.figures
            ]
            ways.setdefault(str(each.reduction), []).extend(means)
        for reduction, means in ways.items():
            yield REDUCED.format(task=task, reduction=reduction, means=some(means, most=5))
        yield from (UNEQUAL_ESTIMATES.format(metric=metric) for metric in unequal_estimates(own))
        others = list(dict.fromkeys(name for each in own for name in each.reduction.others))
        if others:
            yield OTHER_REDUCERS.format(task=task, others=some(others, most=5))
    for each in runs:
        for figure in each.figures:
            if figure.own is None or figure.is_own:
                continue
            own_items = "" if figure.own.items is None else f" ({figure.own.items:,} items)"
            fields = {
                "metric": figure.metric,
                "mean": figure.mean,
                "items": figure.items,
                "own": figure.own.value,
            }
            yield OTHER_MEAN.format(path=each.run.path, own_items=own_items, **fields)


def _by_task(runs: Sequence[ScoredRun]) -> dict[str, list[ScoredRun]]:
    """Return the runs by task."""
    tasks: dict[str, list[ScoredRun]] = {}
    for each in runs:
        tasks.setdefault(each.task, []).append(each)
    return tasks


def notes_on_left_out(run: FiledRun, frame: pd.DataFrame) -> Iterator[str]:
    """Yield notes on the samples of a log that are invalidated, or that its own figures do not
    count."""
    invalidated: LeftOut = frame.attrs["invalidated"]
    if invalidated.names:
        why = f" ({some(invalidated.reasons, most=3)})" if invalidated.reasons else ""
        names = some(invalidated.names, most=10)
        fields = {
            "number": len(invalidated.names),
            "samples": invalidated.samples,
            "model": run.who,
        }
        yield INVALIDATED.format(path=run.path, names=names, why=why, **fields)
    for metric, left_out in frame.attrs.get("excluded", {}).items():
        names, number = some(left_out.names, most=10), len(left_out.names)
        yield EXCLUDED.format(
            path=run.path, metric=metric, number=number, samples=left_out.samples, names=names
        )
