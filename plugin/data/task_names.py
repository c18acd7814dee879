"""The tasks of the items of battles."""

from podium.data.battles import Battles

UNKNOWN_TASK = "tournament"
"""Value of the column `task` in the verdicts of tournaments whose responses name no task."""


def tasks_of_battles(battles: Battles) -> tuple[str, ...]:
    """Return the names of the tasks of battles, sorted; empty if they are unknown.

    In a tournament, they are the tasks of the responses.
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

    Verdicts of a tournament may have one value for all tasks of their responses. The names are
    empty for a tournament whose responses name no task.

    Raises:
        UsageError: there is no such column.
    """
    names = {}
    for value in battles.values_of("task"):
        judged = {run.task for run in battles.runs if run.verdict_task == value}
        names[value] = tuple(sorted(judged or {value} - {UNKNOWN_TASK}))
    return names
