"""Hold the rows of a file with what is known of them, and keep rows by condition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from podium.data.battles import SOURCES
from podium.data.counting.relations import sql_literal
from podium.data.formats.bad_rows import BadRow
from podium.data.formats.records import Records, column_called
from podium.data.listed_values import values_in_cell
from podium.data.measure import Measure
from podium.data.task_names import UNKNOWN_TASK
from podium.data.tasks_of_items import TaskFacts, join_facts
from podium.errors import UsageError
from podium.names import seen_name, spelled_like
from podium.notices.notice import Notice
from podium.scorers.judge_names import short_judge_names
from podium.scorers.judge_record import JudgeRecord, join_judges
from podium.wording import some

TRUTHS = ("true", "false")
"""Values for which upper and lower case are the same in conditions."""


@dataclass(frozen=True, slots=True)
class RecordTable:
    """The rows of a file, and what is known of the file.

    Attributes:
        records: the rows.
        format: name of the format; empty if it is not known yet.
        label: the user's label of the file; None if there is none.
        optional: whether the file was found in a folder, and may therefore have no verdicts.
        missing: number of battles that should exist and have no row; None if unknown.
        absent: models that play and have no battle among the rows, if these are of some tasks.
        facts_of_tasks: what is known of each task; empty unless a tournament has several.
        notes: warnings made while reading.
        answer: the finding of a tournament that stops by itself; None if there is none.
        ladder: ratings on whose scale a tournament placed newcomers, as a log keeps them.
        measures: the metrics of a host's eval, if the rows are its scores.
        chances: names of metrics whose scores estimate probabilities with unequal errors.
        lower: names of metrics of which lower is better by the documentation of the format.
        judges: what is known of the judges, by name.
        one_sided: what battles with one readable order are by the log: `unparsed` or `keep`; None
            if no log says it.
        is_of_host: whether the rows are of a host's eval, whose reader has compared the questions.
        cluster: the column by which a log clusters its own standard errors; None if it does not.
        bad_rows: the rows that are left out. Malformed ones are among them when all rows of the
            file were read once.
    """

    records: Records
    format: str = ""
    label: str | None = None
    optional: bool = False
    missing: int | None = None
    absent: tuple[str, ...] = ()
    facts_of_tasks: Mapping[str, TaskFacts] = field(default_factory=dict)
    notes: Sequence[Notice] = ()
    answer: Mapping[str, Any] | None = None
    ladder: Mapping[str, Any] | None = None
    measures: tuple[Measure, ...] = ()
    chances: frozenset[str] = frozenset()
    lower: frozenset[str] = frozenset()
    judges: Mapping[str, JudgeRecord] = field(default_factory=dict)
    one_sided: str | None = None
    is_of_host: bool = False
    cluster: str | None = None
    bad_rows: list[BadRow] = field(default_factory=list)

    @property
    def source(self) -> str:
        """The file's name for messages."""
        return self.records.source


def keep_rows(
    tables: Sequence[RecordTable], conditions: Sequence[tuple[str, str]], human_judge: str | None
) -> tuple[list[RecordTable], list[Notice]]:
    """Select the rows that meet all conditions.

    Args:
        tables: the tables.
        conditions: pairs of a column and a value.
        human_judge: a judge, or metric, whose rows are kept whatever the conditions on the columns
            `judge` and `metric` are; None if there is none.

    Returns:
        The tables with the rows, and notes on files that lack a column. These files, and files
        without such a row, are left out.

    Raises:
        UsageError: no table has a column, or no row has a value.
    """
    kept = list(tables)
    notes = []
    for column, value in conditions:
        sources_without_column = [
            each.source for each in kept if column_called(each.records, column) is None
        ]
        if sources_without_column:
            notes.append(
                Notice("no-such-column", {"column": column, "files": sources_without_column})
            )
        exempt = []
        if human_judge is not None and column in SOURCES:
            exempt = [human_judge]
        kept = _select_rows(kept, column, value, exempt)
    return kept, notes


def _select_rows(
    tables: Sequence[RecordTable], column: str, value: str, exempt: Sequence[str]
) -> list[RecordTable]:
    """Select the rows that have a value in a column.

    Args:
        tables: the tables.
        column: the column, or `COLUMN.KEY` for a value in a column of objects.
        value: the value. A cell that lists several values has each of them. If no row has the
            value, rows count with one that looks the same, else with a name that ends with it, as
            the task `acme/advice` does with `advice`. In the column `judge`, the value may also be
            the judge's model or short name; that is tried before similar values.
        exempt: further values whose rows are kept.

    Raises:
        UsageError: no row has the value, or there is no such column.
    """
    holders = [each for each in tables if column_called(each.records, column)]
    if not holders:
        names = sorted({name for each in tables for name in each.records.columns})
        raise UsageError(f"no column {column!r} for --where; columns: {', '.join(names)}")
    values = [value, *_lists_with_value(holders, column, value)]
    matches = (
        each.records.rows("1", f"where {_value_condition(each, column, values)} limit 1")
        for each in holders
    )
    if not any(matches):
        known_values = sorted(
            set().union(*(distinct_texts(each.records, column) for each in holders))
        )
        values = _judges_called(tables, value) if column == "judge" else []
        values = values or spelled_like(value, known_values) or _tasks_called(value, known_values)
        if not values:
            raise UsageError(f"no row has {column}={value!r}; values: {some(known_values)}")
    kept = []
    for table in holders:
        condition = f"where {_value_condition(table, column, [*values, *exempt])}"
        if table.records.rows("1", f"{condition} limit 1"):
            scan = f"(select * from {table.records.scan} {condition})"
            facts = _facts_of_values(table, column, values)
            records = replace(table.records, scan=scan)
            kept.append(
                replace(
                    table,
                    records=records,
                    missing=facts.missing,
                    absent=facts.absent,
                    facts_of_tasks={},
                )
            )
    return kept


def _tasks_called(name: str, known_values: Sequence[str]) -> list[str]:
    """Return the one known value that ends with `/NAME`; empty if there is none, or several.

    So `advice` finds the task `acme/advice`. The value of a tournament over one task
    (`tournament of acme/advice`) is found by the name of the task, too.
    """
    called = []
    for value in known_values:
        task = value.removeprefix(f"{UNKNOWN_TASK} of ")
        is_one = task == value or ", " not in task
        if is_one and (task == name or task.endswith(f"/{name}")):
            called.append(value)
    return called if len(called) == 1 else []


def _facts_of_values(table: RecordTable, column: str, values: Sequence[str]) -> TaskFacts:
    """Return what is known of the battles with these values in a column.

    In the column `task`, that is what is known of these tasks together. Of the values of any other
    column, nothing is known.
    """
    facts = []
    if column == "task":
        facts = [table.facts_of_tasks[task] for task in values if task in table.facts_of_tasks]
    return join_facts(facts) if facts else TaskFacts(missing=None, absent=())


def _lists_with_value(holders: Sequence[RecordTable], column: str, value: str) -> list[str]:
    """Return the cells of a column that are lists with a value, such as a category, in order."""
    lists = set[str]()
    for table in holders:
        held = column_called(table.records, column)
        if held is None or held.is_number:
            continue  # numbers are no lists
        condition = f"starts_with({held.text}, '[')"
        cells = table.records.rows(f"distinct {held.text}", f"where {condition}")
        lists |= {cell for (cell,) in cells if value in values_in_cell(cell)}
    return sorted(lists - {value})


def _judges_called(tables: Sequence[RecordTable], word: str) -> list[str]:
    """Return the names of the judges that have a word as name or model.

    If there is none, return those that have the word as short name; the list may be empty.
    """
    judges = join_judges(each.judges for each in tables)
    short = short_judge_names(judges.values())
    of_short_name = [
        name for name, short_name in short.items() if seen_name(short_name) == seen_name(word)
    ]
    called = [judge.name for judge in judges.values() if judge.is_called(word)]
    return called or of_short_name


def _value_condition(each: RecordTable, name: str, values: Sequence[str]) -> str:
    """Return the SQL condition that a cell is one of the values.

    In `true` and `false`, upper and lower case are the same. If the table lacks the column, no row
    meets the condition.

    Args:
        each: the table.
        name: the column, or `COLUMN.KEY` for a value in a column of objects.
        values: the values, as text.
    """
    column = column_called(each.records, name)
    if column is None:
        return "false"
    truths = [value.lower() for value in values if value.lower() in TRUTHS]
    condition = f"{column.text} in ({', '.join(map(sql_literal, values))})"
    if truths:
        condition += f" or lower({column.text}) in ({', '.join(map(sql_literal, truths))})"
    return f"({condition})"


def distinct_texts(records: Records, name: str) -> list[str]:
    """Return the distinct texts in a column, without empty cells, in no order.

    The list is empty if there is no such column.

    Args:
        records: the rows.
        name: the column, or `COLUMN.KEY` for a value in a column of objects (`column_called`).
    """
    column = column_called(records, name)
    if column is None:
        return []
    cell = column.text
    return [word for (word,) in records.rows(f"distinct {cell}", f"where {cell} is not null")]
