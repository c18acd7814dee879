"""The tasks of items in battles of several tasks, and what is known of each task."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What is known of the battles of a task, besides their rows.

    Attributes:
        missing: number of battles that should exist and have no row; None if unknown.
        absent: the models that play and have no battle on the task, sorted.
    """

    missing: int | None
    absent: tuple[str, ...]


def join_facts(facts: Sequence[TaskFacts]) -> TaskFacts:
    """Return what is known of the battles of several files, or of several tasks, together.

    The number of missing battles is unknown if that of any part is. A model is absent if it is so
    in every part. Without parts, no battle is missing and no model is absent.
    """
    numbers = [each.missing for each in facts if each.missing is not None]
    absent = [{*each.absent} for each in facts]
    common = set[str].intersection(*absent) if absent else set[str]()
    missing = sum(numbers) if len(numbers) == len(facts) else None
    return TaskFacts(missing, tuple(sorted(common)))


def task_of_item(item: str, tasks: Iterable[str]) -> str:
    """Return the task whose name begins the id of an item, as `TASK:ITEM`; empty if none does.

    Of several tasks, the one with the longest name counts.
    """
    # The longest name counts: that of one task may begin with that of another.
    return max((task for task in tasks if item.startswith(f"{task}:")), key=len, default="")
