"""Find the groups of tasks for which lm-eval reports one figure, such as `mmlu`.

lm-eval averages the figures of a group's tasks in one of two ways: every document counts the same,
or every task does (`weight_by_size: false`). Its results do not say which, so the figures decide.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any, Literal

import numpy as np

from podium.data.formats.lm_eval_layout import Results
from podium.data.formats.lm_eval_scores import RELATIVE_TOLERANCE, Scores
from podium.notices.notice import Notice

Counted = Literal["documents", "tasks"]
"""What counts the same in the figure of a group."""


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """A group of tasks that are ranked together.

    Attributes:
        name: the name of the group.
        tasks: its tasks, with those of the groups in it.
        counted: what counts the same in its figure.
    """

    name: str
    tasks: tuple[str, ...]
    counted: Counted


def tasks_by_group(results: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the tasks of each group that has a row in the results, in their order.

    Tasks of groups in the group are included. A group that is only a task is left out. Empty if the
    results name no groups. A group whose tasks are not a list of names has no tasks.

    Args:
        results: the content of a results file.
    """
    subtasks = results.get("group_subtasks")
    rows = results.get("results")
    if not isinstance(subtasks, Mapping) or not isinstance(rows, Mapping):
        return {}
    children = {group: _names_in(below) for group, below in subtasks.items()}
    groups = {}
    for group in children:
        tasks = [*dict.fromkeys(_tasks_below(group, children, ()))]
        if group in rows and tasks != [group]:
            groups[group] = tasks
    return groups


def _names_in(below: Any) -> list[str]:
    """Return the names in a list or tuple of texts; empty if the value is anything else."""
    is_list = isinstance(below, list | tuple) and all(isinstance(name, str) for name in below)
    return [*below] if is_list else []


def _tasks_below(
    name: str, children: Mapping[str, Sequence[str]], above: tuple[str, ...]
) -> Iterable[str]:
    """Yield the tasks of a group, or the name itself if it is a task; a task may come twice.

    Args:
        name: the group or task.
        children: the groups and tasks in each group.
        above: the groups that led here. They are skipped, so that a group that contains itself
            ends.
    """
    below = [child for child in children.get(name, ()) if child not in above]
    if not below:
        yield name
        return
    for child in below:
        yield from _tasks_below(child, children, (*above, name))


def find_groups(
    files: Sequence[Scores], metrics: Mapping[str, Sequence[str]]
) -> tuple[dict[str, TaskGroup], list[Notice]]:
    """Find the largest group of each task for which lm-eval reports a figure.

    Args:
        files: the runs of all tasks.
        metrics: the metrics by which each task is ranked. Other tasks are not in any group.

    Returns:
        The group by task. Tasks without a group are left out, and so are those of a group whose
        tasks are ranked by several metrics, of which fewer than two tasks are ranked, which shares
        a task with a larger group, or whose
        results have no figure of the metric. And notes on groups whose figure is neither the mean
        over documents nor over tasks, which are left out, too.
    """
    runs = _results_of_files(files)
    tasks_of_groups: dict[str, list[str]] = {}
    for run in runs:
        tasks_of_groups |= tasks_by_group(run.content)
    groups: dict[str, TaskGroup] = {}
    notes = []
    # Groups with the most tasks come first, so that each task is in the largest one.
    for name in sorted(tasks_of_groups, key=lambda group: -len(tasks_of_groups[group])):
        tasks = tuple(task for task in tasks_of_groups[name] if task in metrics)
        metrics_of_tasks = set[str]().union(*(metrics[task] for task in tasks))
        is_in_larger_group = any(task in groups for task in tasks)
        # Scores of several metrics have no common mean.
        if len(tasks) < 2 or len(metrics_of_tasks) != 1 or is_in_larger_group:
            continue
        [metric] = metrics_of_tasks
        ways_of_runs = [_ways_of_counting(run, name, tasks_of_groups[name], metric) for run in runs]
        known_ways = [ways for ways in ways_of_runs if ways is not None]
        if not known_ways:
            continue
        common_ways = set.intersection(*known_ways)
        if not common_ways:
            notes.append(Notice("group-apart", {"group": name, "metric": metric}))
            continue
        way_of_counting: Counted = "documents" if "documents" in common_ways else "tasks"
        groups |= dict.fromkeys(tasks, TaskGroup(name, tasks, way_of_counting))
    return groups, notes


def _results_of_files(files: Sequence[Scores]) -> list[Results]:
    """Return the results files of the runs that wrote samples files, each once, in their order."""
    by_path = {}
    for scores in files:
        if scores.file.results is not None:
            by_path[scores.file.results.path] = scores.file.results
    return [*by_path.values()]


def _ways_of_counting(
    run: Results, group: str, tasks: Sequence[str], metric: str
) -> set[Counted] | None:
    """Return what may have equal weights in the figure of a group: its documents or its tasks.

    Args:
        run: the results file of a run.
        group: the group.
        tasks: all tasks of the group.
        metric: `metric,filter`.

    Returns:
        `documents` if the figure is the mean of the tasks' figures weighted by their numbers of
        documents, `tasks` if it is their plain mean, both if these are equal, and an empty set if
        it is neither. None if the run lacks the group's figure, or the figure or the size of one of
        the tasks, or if the sizes do not sum to more than 0.
    """
    figure = run.value("results", group, metric)
    figures = [run.value("results", task, metric) for task in tasks]
    sizes = [run.value("n-samples", task, "effective") for task in tasks]
    if not all(isinstance(value, int | float) for value in (figure, *figures, *sizes)):
        return None
    if min(sizes) < 0 or not sum(sizes):
        return None
    means: dict[Counted, float] = {
        "documents": float(np.average(figures, weights=sizes)),
        "tasks": float(np.mean(figures)),
    }
    return {way for way, mean in means.items() if isclose(mean, figure, rel_tol=RELATIVE_TOLERANCE)}


def weights_of_documents(group: TaskGroup, documents: Mapping[str, int]) -> dict[str, float]:
    """Return the weight of a document of each task of a group; their mean over documents is 1.

    All weights are 1 if every document counts the same. If every task does, a document has the
    mean size of a task divided by the size of its own task.

    Args:
        group: the group.
        documents: number of documents by task. Tasks of the group that are missing have no weight.
    """
    sizes = {task: documents[task] for task in group.tasks if task in documents}
    if group.counted == "documents":
        return dict.fromkeys(sizes, 1.0)
    mean = sum(sizes.values()) / len(sizes)
    return {task: mean / number for task, number in sizes.items()}
