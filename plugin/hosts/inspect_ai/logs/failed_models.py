"""Count the battles of models whose logs of ordinary evals failed as missing."""

from collections.abc import Iterable, Sequence

import pandas as pd

from podium.data.formats.run_folders import FiledRun
from podium.data.tasks_of_items import TaskFacts
from podium.hosts.inspect_ai.logs.podium_entries import is_tournament

TRIAL = ("item", "response", "metric")
"""Columns of scores that identify a trial of a model, as far as the scores have them."""


def count_failed_models(
    frames: Sequence[tuple[FiledRun, pd.DataFrame]], failed: Iterable[FiledRun]
) -> None:
    """Add the missing battles of failed models to `attrs` of the rows, in place.

    On each trial of its task, a failed model lacks a battle with each other model of the task. A
    model whose other log of the task has scores has not failed. Nothing is changed if no model has
    failed. Otherwise, the frames of each task get `missing` (the number is that of the whole task
    in its first frame, and 0 in the others) and `facts_of_tasks`.

    Args:
        frames: the logs with their rows, which have the columns `task` and `model`. Tournaments
            count their missing battles themselves.
        failed: the logs without a finished sample.
    """
    by_task: dict[str, list[pd.DataFrame]] = {}
    for log, frame in frames:
        if not is_tournament(log.header) and "model" in frame:
            by_task.setdefault(log.header.eval.task, []).append(frame)
    names: dict[str, dict[str, None]] = {task: {} for task in by_task}
    for run in failed:
        task = run.header.eval.task
        if task in by_task and not _has_scores(run.who, by_task[task]):
            names[task][run.who] = None
    if not any(names.values()):
        return
    for task, frames_of_task in by_task.items():
        missing = _battles_of_failed(frames_of_task, len(names[task]))
        for frame in frames_of_task:
            frame.attrs["missing"] = missing
            frame.attrs["facts_of_tasks"] = {task: TaskFacts(missing, tuple(sorted(names[task])))}
            # The numbers of frames are added up, so only the first frame has that of the task.
            missing = 0


def _has_scores(model: str, frames: Iterable[pd.DataFrame]) -> bool:
    """Return whether any rows are of a model.

    In the rows, the model's name may be followed by a blank and its settings.
    """
    models_with_rows = {str(name) for frame in frames for name in frame["model"].unique()}
    return any(f"{name} ".startswith(f"{model} ") for name in models_with_rows)


def _battles_of_failed(frames: Sequence[pd.DataFrame], failed: int) -> int:
    """Return the number of battles on the trials of a task that failed models lack.

    Args:
        frames: the scores of the other models.
        failed: number of models that failed.
    """
    models = {name for frame in frames for name in frame["model"].unique()}
    trials = set[tuple[object, ...]]()
    for frame in frames:
        columns = [name for name in TRIAL if name in frame]
        trials |= {*frame[columns].itertuples(index=False, name=None)}
    pairs = failed * len(models) + failed * (failed - 1) // 2
    return len(trials) * pairs
