"""Write to tournaments' logs what is known of the runs whose responses they judge, and read it."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from inspect_ai.log import EvalLog
from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from podium.data.task_names import UNKNOWN_TASK
from podium.errors import named_in_errors
from podium.hosts.inspect_ai.logs.podium_entries import TournamentMetadata, read_tournament
from podium.question_finding import QuestionFinding
from podium.run_record import RunRecord

SECRET_FIELDS = frozenset({"model_arguments"})
"""Fields of a run's record that tournaments' logs do not hold, because they may hold secrets."""
RUNS: TypeAdapter[list[RunRecord]] = TypeAdapter(list[RunRecord])
"""Parses `TournamentMetadata.runs`."""
QUESTIONS: TypeAdapter[list[QuestionFinding]] = TypeAdapter(list[QuestionFinding])
"""Parses `TournamentMetadata.questions`."""


@dataclass(frozen=True, slots=True)
class JudgedRuns:
    """What is known of the runs whose responses were judged.

    Attributes:
        runs: the runs; empty for logs of tournaments that do not hold them.
        questions: how their items were paired, by task.
        accepted: sentences on the findings that the user accepted.
    """

    runs: tuple[RunRecord, ...]
    questions: tuple[QuestionFinding, ...]
    accepted: tuple[str, ...]


def dump_record(record: RunRecord | QuestionFinding) -> dict[str, Any]:
    """Return the fields of a record whose value is not the default, by name, as plain values.

    Fields in `SECRET_FIELDS` and empty mappings are left out.
    """
    values = {}
    for attribute in fields(record):
        value = getattr(record, attribute.name)
        # An empty mapping is the default of fields with mappings.
        if attribute.name not in SECRET_FIELDS and value not in (attribute.default, {}):
            values[attribute.name] = to_jsonable_python(value)
    return values


def task_of_tournament(tournament: TournamentMetadata, items: Iterable[str]) -> str:
    """Return the value of the column `task` in the verdicts of a tournament.

    It is `UNKNOWN_TASK`, followed by ` of TASK, TASK` if the tasks of the responses are known. The
    ids of items of several tasks begin with `TASK:`. Then only tasks with an item in `items` are
    named, or all tasks if no item begins so.

    Args:
        tournament: metadata of the tournament.
        items: ids of the items with verdicts.
    """
    tasks = tournament.tasks
    if len(tasks) > 1:
        ids = list(map(str, items))
        tasks_with_items = []
        for task in tasks:
            if any(item.startswith(f"{task}:") for item in ids):
                tasks_with_items.append(task)
        tasks = tasks_with_items or tasks
    return f"{UNKNOWN_TASK} of {', '.join(tasks)}" if tasks else UNKNOWN_TASK


def judged_runs(logs: Iterable[tuple[EvalLog, str]]) -> JudgedRuns:
    """Return the runs in the logs of tournaments. Logs of ordinary evals are ignored.

    What several logs hold, as the shards of a tournament do, is returned once.

    Args:
        logs: the header of each log, with the value of the column `task` in its verdicts. This
            value becomes `verdict_task` of its runs.

    Raises:
        DataError: the metadata of a tournament are damaged.
        ValidationError: the runs or the questions in them are damaged (an error of pydantic).
    """
    runs: list[RunRecord] = []
    questions: list[QuestionFinding] = []
    accepted: dict[str, None] = {}
    for header, task in logs:
        tournament = read_tournament(header)
        if tournament is None:
            continue
        with named_in_errors(header.location):
            own_runs = RUNS.validate_python(tournament.runs)
            questions += QUESTIONS.validate_python(tournament.questions)
        runs += [replace(run, verdict_task=task) for run in own_runs]
        accepted.update(dict.fromkeys(tournament.accepted))
    distinct = [finding for k, finding in enumerate(questions) if finding not in questions[:k]]
    return JudgedRuns(
        runs=tuple(dict.fromkeys(runs)), questions=tuple(distinct), accepted=tuple(accepted)
    )
