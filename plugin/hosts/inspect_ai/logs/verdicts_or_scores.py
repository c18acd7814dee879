"""Choose, for each task of ordinary evals, whether verdicts or scores of its logs count.

The scorer `podium/pairwise` stores verdicts of a judge. Logs of one task may have verdicts, scores
of other scorers, or both. They are not ranked together: a scorer is no judge.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd

from podium.data.formats.headline_metrics import ALL_METRICS, metrics_asked_for
from podium.data.formats.run_folders import FiledRun
from podium.data.measure import Measure, metric_names
from podium.errors import UsageError
from podium.hookspecs import Reading
from podium.hosts.inspect_ai.logs.epoch_scores import measure_of_part
from podium.hosts.inspect_ai.logs.judgment_rows import LogRows
from podium.hosts.inspect_ai.logs.podium_entries import is_tournament
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text


class RowsOfLog(NamedTuple):
    """A log and its rows."""

    run: FiledRun
    rows: LogRows

    @property
    def models(self) -> frozenset[str]:
        """The names that the model of an ordinary eval may have in verdicts."""
        return frozenset({self.run.who, str(self.run.header.eval.model)})


class CountedRows(NamedTuple):
    """The rows that count.

    Attributes:
        frames: pairs of a log and its rows, which are all verdicts or all scores in a task.
        judging: the scorers of verdicts in ordinary evals, which users may name as metrics.
        without: the tasks that have no scores, although the user asks only for metrics of scores.
        notes: notes on rows that do not count although their models are ranked.
        lost: notes on models that are not ranked because only other rows have them.
    """

    frames: list[tuple[FiledRun, pd.DataFrame]]
    judging: frozenset[Measure]
    without: list[str]
    notes: list[Notice]
    lost: list[Notice]


def choose_verdicts_or_scores(logs: Sequence[RowsOfLog], reading: Reading) -> CountedRows:
    """Choose the rows that count, in each task of ordinary evals; tournaments have verdicts.

    If the user names metrics, the scores count; if the name of a scorer of verdicts is among them,
    the verdicts. With `all`, verdicts count only in tasks without scores. If no metric is named,
    the rows that rank more models count, and verdicts if both rank as many. With a human judge,
    each log counts by its verdicts if it has some. Logs without rows of the kind that counts are
    left out.

    Args:
        logs: the logs with their rows.
        reading: the user's options: metrics and human judge.

    Raises:
        UsageError: the user asks for verdicts and for scores of one task.
    """
    by_verdicts: dict[str, bool] = {}
    counted_rows = CountedRows(
        frames=[], judging=frozenset(_judging_of(logs)), without=[], notes=[], lost=[]
    )
    asked_metrics = metrics_asked_for(reading)
    for task, logs_of_task in _logs_of_tasks(logs).items():
        if reading.human_judge is not None:
            continue
        task_rows = _TaskRows(task, logs_of_task)
        by_verdicts[task] = task_rows.verdicts_count(asked_metrics)
        counted_rows.notes.extend(task_rows.notes(asked_metrics, by_verdicts=by_verdicts[task]))
        counted_rows.lost.extend(task_rows.notes_on_lost_models(by_verdicts=by_verdicts[task]))
        if task_rows.judged and not task_rows.scored and not by_verdicts[task]:
            counted_rows.without.append(task)
    for log in logs:
        verdicts, scores = log.rows.verdicts, log.rows.scores
        frame = scores if verdicts is None else verdicts
        if log.run.header.eval.task in by_verdicts and not is_tournament(log.run.header):
            frame = verdicts if by_verdicts[log.run.header.eval.task] else scores
        if frame is not None:
            counted_rows.frames.append((log.run, frame))
    return counted_rows


class _TaskRows:
    """The rows of the logs of one task, by verdicts and by scores.

    Args:
        task: the task.
        logs: its logs.
    """

    def __init__(self, task: str, logs: Sequence[RowsOfLog]) -> None:
        self.task = task
        self.logs = logs
        self.judged = [log for log in logs if log.rows.verdicts is not None]
        self.scored = [log for log in logs if log.rows.scores is not None]
        self.scorers = [*dict.fromkeys(name for log in logs for name in log.rows.judging)]
        self.measures = _measures_of(self.scored)

    def verdicts_count(self, asked_metrics: Collection[str]) -> bool:
        """Return whether the verdicts of the task count; else its scores do.

        Verdicts count if the user names a scorer of verdicts, or `all` and there are no scores. If
        no metric is named, verdicts count unless scores rank more models. False without verdicts.

        Args:
            asked_metrics: names of metrics, with or without task and scorer, or `all`; empty if the
                user names none.

        Raises:
            UsageError: the user asks for verdicts and for scores of the task.
        """
        if not self.judged:
            return False
        if not asked_metrics:
            return not self.scored or self._judged_models() >= len(self._scored_models())
        scores = [name for name in asked_metrics if self._is_of_scores(name)]
        judging = {name for scorer in _judging_of(self.judged) for name in scorer.names}
        verdicts = [name for name in asked_metrics if name in judging]
        if scores and verdicts:
            raise UsageError(
                f"{option_text('metric', verdicts[0])} asks for the verdicts of {self.task}, and "
                f"{option_text('metric', scores[0])} for its scores, which are not ranked "
                "together: give one of them"
            )
        return bool(verdicts) or (not scores and ALL_METRICS in asked_metrics)

    def _is_of_scores(self, name: str) -> bool:
        """Return whether a name that the user asks for is that of a metric of the scores.

        The name `all` is one if some log has scores.
        """
        if name == ALL_METRICS:
            return bool(self.scored)
        return any(name in metric_names(measure) for measure in self.measures)

    def _judged_models(self) -> int:
        """Return the number of different models in the verdicts of the task."""
        return len(_models_in_verdicts(self.judged))

    def _scored_models(self) -> set[str]:
        """Return the names of the models with scores."""
        return {log.run.who for log in self.scored}

    def notes(self, asked_metrics: Collection[str], *, by_verdicts: bool) -> Iterator[Notice]:
        """Yield a note per log none of whose battles was judged, and one on rows that do not count.

        The second is left out if the user names a metric, or if all rows are of one kind.

        Args:
            asked_metrics: names of metrics that the user asks for; empty if there are none.
            by_verdicts: whether the verdicts count.
        """
        for log in self.logs:
            if log.rows.unjudged:
                fields = {"path": str(log.run.path), "scorers": [*log.rows.judging]}
                yield Notice("battles-not-judged", {**fields, "why": log.rows.unjudged})
        if asked_metrics or not (self.judged and self.scored):
            return
        numbers = {"judged": self._judged_models(), "scored": len(self._scored_models())}
        code = "verdicts-count" if by_verdicts else "scores-count"
        yield Notice(code, {**self._fields(), **numbers})

    def notes_on_lost_models(self, *, by_verdicts: bool) -> Iterator[Notice]:
        """Yield a note on the models that are not ranked because all their rows do not count.

        Nothing is yielded without verdicts, or if no model is ranked.

        Args:
            by_verdicts: whether the verdicts of the task count.
        """
        if not self.judged:
            return
        ranked = _models_in_verdicts(self.judged) if by_verdicts else self._scored_models()
        absent = {log.run.who for log in self.logs if ranked.isdisjoint(log.models)}
        if absent and ranked:
            code = "models-without-verdicts" if by_verdicts else "models-without-scores"
            yield Notice(code, {**self._fields(), "models": sorted(absent)})

    def _fields(self) -> dict[str, Any]:
        """Return the fields of notes on the task, by name.

        They are `task`, `scorers` (the scorers of verdicts, one or more), and two names for
        `--metric`: `scorer` for verdicts and `metric` for scores (`all` if there are no scores).
        """
        return {
            "task": self.task,
            "scorers": self.scorers,
            "scorer": self.scorers[0],
            "metric": self.measures[0].name_without_task if self.measures else ALL_METRICS,
        }


def _logs_of_tasks(logs: Sequence[RowsOfLog]) -> dict[str, list[RowsOfLog]]:
    """Return the logs of ordinary evals by task; tournaments are left out."""
    tasks: dict[str, list[RowsOfLog]] = {}
    for log in logs:
        if not is_tournament(log.run.header):
            tasks.setdefault(log.run.header.eval.task, []).append(log)
    return tasks


def _measures_of(logs: Sequence[RowsOfLog]) -> list[Measure]:
    """Return what is known of the metrics of the scores in logs, each once."""
    measures: dict[Measure, None] = {}
    for log in logs:
        if log.rows.scores is not None:
            measures |= dict.fromkeys(log.rows.scores.attrs["measures"])
    return [*measures]


def _judging_of(logs: Sequence[RowsOfLog]) -> set[Measure]:
    """Return the scorers of verdicts in logs, as a user may name them."""
    return {
        measure_of_part(log.run.header.eval.task, scorer)
        for log in logs
        for scorer in log.rows.judging
    }


def _models_in_verdicts(logs: Sequence[RowsOfLog]) -> set[str]:
    """Return the names of the models in the verdicts of logs, as model_a or model_b."""
    models = set[str]()
    for log in logs:
        if log.rows.verdicts is not None:
            models |= {*log.rows.verdicts["model_a"], *log.rows.verdicts["model_b"]}
    return models
