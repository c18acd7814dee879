"""Check the column with the groups of items (`cluster=`) before scores are paired."""

from collections.abc import Sequence

from podium.data.counting.duck import Duck
from podium.data.counting.relations import ROW, quote_name
from podium.data.formats.records import Records
from podium.data.item_columns import COLUMNS_OF_ROWS
from podium.data.reading.rows import RecordTable
from podium.errors import DataError, UsageError
from podium.notices.option_forms import option_text
from podium.wording import some, some_paths


def require_groups(tables: Sequence[RecordTable], column: str) -> None:
    """Check that a column groups the items of all tables.

    Args:
        tables: the tables, before scores are paired.
        column: the column with the groups.

    Raises:
        UsageError: a table lacks the column, the column cannot be of groups, or all rows have one
            value.
        DataError: a row has no value, or two rows of an item have different values. The error names
            file, row, item and values.
    """
    option = option_text("cluster")
    if column in COLUMNS_OF_ROWS:
        remedy = "name a column of the items' groups, such as the passage or the document"
        raise UsageError(f"{option} {column}: the column does not group items; {remedy}")
    values = set[str]()
    for table in tables:
        cell = _sql_of_groups(table, column, option)
        values |= _require_values(table.records, column, cell, option)
        _require_one_group(table.records, column, cell)
    if len(values) == 1:
        [only] = values
        remedy = "intervals need at least two groups; leave the option out, or name another column"
        raise UsageError(f"{option} {column}: all items have the value {only!r}: {remedy}")


def _sql_of_groups(table: RecordTable, column: str, option: str) -> str:
    """Return the SQL of the cells of the column with the groups, as text.

    Args:
        table: the table.
        column: the column.
        option: the option that names the column, as the user types it, for the error.

    Raises:
        UsageError: the table has no such column.
    """
    held = table.records.columns.get(column)
    if held is None:
        existing = some(sorted(table.records.columns))
        problem = f"{option} {column}: no such column in {table.source}; columns: {existing}"
        raise UsageError(problem)
    return held.text


def require_same_groups(
    engine: Duck, view: str, column: str | None, tables: Sequence[RecordTable]
) -> None:
    """Check that an item has the same group in all files; a DataError names an item that has not.

    Args:
        engine: the database.
        view: the rows of all files, after scores were paired: a battle of two scores has no group
            if the groups of their rows differ.
        column: the column with the groups; nothing is checked if it is None.
        tables: the tables from which the rows are, for messages.
    """
    if column is None or "item" not in engine.columns(view):
        return
    cell = quote_name(column)
    # Hashes are compared faster than texts.
    differs = f"min(hash({cell})) <> max(hash({cell})) or count({cell}) < count(*)"
    query = f"select item from {view} where item is not null group by item having {differs}"
    for (item,) in engine.rows(f"{query} order by item limit 1"):
        problem = f"item {item!r} is in different groups of {column!r} in different files or rows"
        remedy = "name a column that is the same in all rows of an item, or correct the rows"
        places = some_paths([each.source for each in tables])
        raise DataError(problem, remedy=remedy, source=places, column=column)


def _require_values(records: Records, column: str, cell: str, option: str) -> set[str]:
    """Check that every row has a group; raise a DataError that names the first without one.

    Args:
        records: the rows.
        column: the column with the groups, for the error.
        cell: SQL of its cells.
        option: the option that names the column, as the user types it, for the error.

    Returns:
        The least and the largest value, which are equal if all rows have one value.
    """
    is_empty = f"{cell} is null"
    selected = (
        f"min({ROW}) filter ({is_empty}) as row, count(*) filter ({is_empty}) as number, "
        f"min({cell}) as least, max({cell}) as largest"
    )
    for row, number, least, largest in records.rows(selected):
        if not number:
            return {least, largest}
        rows = "1 row has" if number == 1 else f"{number:,} rows have"
        problem = f"{rows} no value in the column {column!r} of {option}"
        remedy = "fill in the group of each item, or leave out its rows"
        raise _error_of_row(records, row, column, problem, remedy)
    return set()


def _error_of_row(records: Records, row: int, column: str, problem: str, remedy: str) -> DataError:
    """Return the error for a row, counted from 1, of records."""
    place = records.name_row(row)
    return DataError(problem, remedy=remedy, source=records.source, row=place, column=column)


def _require_one_group(records: Records, column: str, cell: str) -> None:
    """Check that all rows of an item have one group; raise a DataError that names an item with two.

    Rows without an item are not compared. Of tables with a column `task`, one id is another item in
    each task.

    Args:
        records: the rows.
        column: the column with the groups, for the error.
        cell: SQL of its cells.
    """
    columns = records.columns
    item = columns.get("item")
    if item is None:
        return
    keys = [item.text, *(columns[name].text for name in ("task",) if name in columns)]
    groups = ", ".join(keys)
    # Hashes are compared faster than texts. The texts are read only if an item has two groups.
    two_groups = f"min(hash({cell})) <> max(hash({cell}))"
    of_items = f"where {item.text} is not null group by {groups}"
    if not records.rows("1", f"{of_items} having {two_groups} limit 1"):
        return
    what = f"{item.text}, min({cell}) as first, max({cell}) as last, arg_max({ROW}, {cell}) as row"
    rest = f"{of_items} having min({cell}) <> max({cell}) order by min({ROW}) limit 1"
    for name, first, last, row in records.rows(what, rest):
        problem = f"item {name!r} is in two groups of {column!r}: {first!r} and {last!r}"
        remedy = "name a column that is the same in all rows of an item, or correct the rows"
        raise _error_of_row(records, row, column, problem, remedy)
