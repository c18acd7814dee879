"""Name the rows of Arena that its own scripts leave out.

FastChat's `elo_analysis.py` rates rows with `anony` only, and the notebook on Arena's published
data also leaves out rows whose `dedup_tag` is not `sampled` (frequent prompts). A row without the
field is left out, too.
"""

from collections.abc import Iterable, Sequence

from podium.data.formats.records import column_called
from podium.data.reading.rows import RecordTable
from podium.notices.notice import Notice

FLAGS = ("anony", "dedup_tag.sampled")
"""Columns that must be true for Arena's scripts to count a row."""


def split_conditions(
    conditions: Sequence[tuple[str, str]],
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Divide conditions by whether Arena's own scripts have them, too.

    Their conditions are that a column of `FLAGS` is `true`, in upper or lower case.

    Args:
        conditions: pairs of a column and a value.

    Returns:
        The conditions that Arena's scripts do not have, and those that they have, in their order.
    """
    others = list[tuple[str, str]]()
    conditions_of_arena = list[tuple[str, str]]()
    for column, value in conditions:
        if column in FLAGS and value.lower() == "true":
            conditions_of_arena.append((column, value))
        else:
            others.append((column, value))
    return others, conditions_of_arena


def note_rows_left_out(
    before: Sequence[RecordTable],
    after: Sequence[RecordTable],
    conditions: Sequence[tuple[str, str]],
) -> list[Notice]:
    """Return a note on the rows that the conditions of Arena's scripts left out, also if none were.

    Args:
        before: the tables before the conditions were applied.
        after: the tables after that.
        conditions: the conditions; if there are none, there is no note.
    """
    if not conditions:
        return []
    battles = _number_of_rows(before)
    fields = {
        "rows": battles - _number_of_rows(after),
        "battles": battles,
        "conditions": [f"{column}={value}" for column, value in conditions],
    }
    return [Notice("arena-rows-left-out", fields)]


def note_rows_counted(
    tables: Sequence[RecordTable], conditions: Sequence[tuple[str, str]]
) -> list[Notice]:
    """Return a warning of rows that count although a flag of `FLAGS` is not true.

    Flags that are true in no row, or in all rows, are not named. If no row has all other flags, the
    last of them are not named, either. If no flag is left, there is no warning.

    Args:
        tables: the tables.
        conditions: all conditions of the user. A flag is left out if one of them is on its column.

    Returns:
        A list of one warning, or an empty list.
    """
    chosen = {column for column, _ in conditions}
    flags = [name for name in FLAGS if name not in chosen]
    held = []
    for name in flags:
        if any(column_called(each.records, name) for each in tables):
            held.append(name)
    if not held:
        return []
    battles = _number_of_rows(tables)
    # A flag that is true nowhere, or everywhere, leaves all rows out, or none.
    useful = [name for name in held if 0 < _number_of_rows(tables, [name]) < battles]
    while useful and not _number_of_rows(tables, useful):
        useful.pop()
    if not useful:
        return []
    rows_without_flag = {
        f"{name}=true": battles - _number_of_rows(tables, [name]) for name in useful
    }
    fields = {
        "rows": battles - _number_of_rows(tables, useful),
        "battles": battles,
        "flags": rows_without_flag,
        "conditions": ",".join(rows_without_flag),
    }
    return [Notice("arena-rows", fields)]


def _number_of_rows(tables: Iterable[RecordTable], flags: Sequence[str] = ()) -> int:
    """Return the number of rows in which all of some flags are true.

    Tables that lack one of these columns count as without such rows.
    """
    number = 0
    for table in tables:
        columns = [column_called(table.records, name) for name in flags]
        found_columns = [column for column in columns if column is not None]
        if len(found_columns) < len(columns):
            continue
        condition = (
            " and ".join(f"lower({column.text}) = 'true'" for column in found_columns) or "true"
        )
        ((number_of_table,),) = table.records.rows("count(*)", f"where {condition}")
        number += number_of_table
    return number
