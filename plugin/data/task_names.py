"""The tasks of the items of battles."""

from podium.data.battles import Battles

UNKNOWN_TASK = "tournament"
"""Value of the column `task` in the verdicts of tournaments whose responses name no task."""


def tasks_of_battles(battles: Battles) -> tuple[str, ...]:
    """Return the names of the tasks of battles, sorted; empty if they are unknown.

    They are those that the values of the column `task` stand for (`tasks_by_value`). Without this
    column, they are the tasks of the metrics, or of the runs if no metric names one.
    """
    if "task" not in battles.columns:
        of_measures = {measure.task for measure in battles.measures if measure.task}
        return tuple(sorted(of_measures or {run.task for run in battles.runs if run.task}))
    tasks = set[str]()
    for names in tasks_by_value(battles).values():
        tasks |= {*names}
    return tuple(sorted(tasks))


def tasks_by_value(battles: Battles) -> dict[str, tuple[str, ...]]:
    """Return the names of the tasks that each value of the column `task` stands for, sorted.

    Verdicts of a tournament may have one value for all tasks of their responses: its runs say which
    these are. Any other value is the name of its only task. There are no names for a tournament
    whose responses name no task (`UNKNOWN_TASK`).

    Raises:
        UsageError: there is no such column.
    """
    names = {}
    for value in battles.values_of("task"):
        tasks_of_runs = {run.task for run in battles.runs if run.verdict_task == value}
        if not tasks_of_runs and value != UNKNOWN_TASK:
            tasks_of_runs = {value}
        names[value] = tuple(sorted(tasks_of_runs))
    return names
