"""Tables of several files become one: rows are kept by condition, joined, and looked over for what is odd."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from podium import table
from podium.battles import COLUMNS, criterion_columns
from podium.counting.duck import Duck
from podium.counting.relations import ROW, text
from podium.errors import UsageError
from podium.formats import pointwise
from podium.records import Column, Records, columns_as
from podium.text import some

ROWS_OF_A_FILE = 2**40
"""Rows of a file lie that far from those of the next."""
FEW_ROWS = 100_000
"""Fewer rows than this are copied, too."""
MOST_OPEN = 64
"""With more files than this, rows are copied instead of being read again whenever they are needed."""


@dataclass(frozen=True, slots=True)
class RecordTable:
    """One file's content.

    Attributes:
        records: foreign ones first, then columns of the contract, still unmerged.
        format: the format it was read by; empty before.
        label: the user's word for it, or None.
        optional: whether it may turn out to hold no verdicts.
        missing: battles that should be there and are not, where the file says it; None where it does not.
    """

    records: Records
    format: str = ""
    label: str | None = None
    optional: bool = False
    missing: int | None = None

    @property
    def source(self) -> str:
        """What to call the file."""
        return self.records.source


def keep_rows(
    tables: Sequence[RecordTable], conditions: Sequence[tuple[str, str]], human_judge: str | None
) -> tuple[list[RecordTable], list[str]]:
    """Keep the rows that meet all conditions; one on the judge spares the human judge's rows. Return notes, too.

    Raises:
        UsageError: a column that no table has, or a value that no row has.
    """
    kept, notes = list(tables), []
    for column, value in conditions:
        lacking = [each.source for each in kept if column not in each.records.columns]
        notes += [f"no column {column!r} in {some(lacking)}: none of their rows kept"] if lacking else []
        spared = [human_judge] if column == "judge" and human_judge is not None else []
        kept = _rows_with(kept, column, value, spared)
    return kept, notes


def _rows_with(tables: Sequence[RecordTable], column: str, value: str, spared: Sequence[str]) -> list[RecordTable]:
    """Keep the rows with the value, which some row must have, and those with a spared one."""
    holders = [each for each in tables if column in each.records.columns]
    if not holders:
        names = sorted({name for each in tables for name in each.records.columns})
        raise UsageError(f"no column {column!r} for --where; columns: {', '.join(names)}")
    if not any(each.records.rows("1", f"where {_says(each, column, [value])} limit 1") for each in holders):
        known = sorted({word for each in holders for word in distinct_texts(each.records, column)})
        raise UsageError(f"no row has {column}={value!r}; values: {some(known)}")
    kept = []
    for each in holders:
        condition = f"where {_says(each, column, [value, *spared])}"
        if each.records.rows("1", f"{condition} limit 1"):
            scan = f"(select * from {each.records.scan} {condition})"
            kept.append(replace(each, records=replace(each.records, scan=scan), missing=None))
    return kept


def _says(each: RecordTable, name: str, values: Sequence[str]) -> str:
    """Return the condition that a cell says one of the values; a truth is the same in every spelling."""
    column = each.records.columns[name]
    if column.type == "BOOLEAN":
        values = [value.lower() for value in values]
    return f"{column.text} in ({', '.join(map(text, values))})"


def distinct_texts(records: Records, column: str) -> list[str]:
    """Return the distinct texts of a column, empty ones left out."""
    words = records.columns[column].text
    return [word for (word,) in records.rows(f"distinct {words}", f"where {words} is not null")]


def join_tables(engine: Duck, tables: Sequence[RecordTable]) -> tuple[str, int | None, list[str]]:
    """Join the tables; scores become battles here, where all models meet.

    Returns:
        The view that holds the rows, how many battles are missing (None where no table says it), and notes.
    """
    view = _union(engine, [each.records for each in tables])
    if table.is_pointwise(tables[0].records.columns):
        source = " and ".join(each.source for each in tables[:3])
        paired = pointwise.pair_up(_records_of(engine, view, source))
        battles = table.check(paired.records)
        return _union(engine, [battles] if battles else []), paired.missing, paired.notes()
    missing = [each.missing for each in tables if each.missing is not None]
    return view, sum(missing) if missing else None, []


def _records_of(engine: Duck, view: str, source: str) -> Records:
    types = engine.columns(view)
    return Records(engine, source, view, {name: Column(f'"{name}"', types[name]) for name in types if name != ROW})


def _union(engine: Duck, parts: Sequence[Records]) -> str:
    """Give all rows one name; a column that a file lacks is empty there."""
    names = list(dict.fromkeys(name for part in parts for name in part.columns))
    known = [*(name for name in COLUMNS if name in names), *criterion_columns(names)]
    names = list(dict.fromkeys([*known, *names]))
    types = {name: {part.columns[name].type for part in parts if name in part.columns} for name in names}
    queries = []
    for place, part in enumerate(parts):
        cells = {name: _cell(part.columns.get(name), name, types[name]) for name in names}
        queries.append(f"select {place * ROWS_OF_A_FILE} + {ROW} as {ROW}, {columns_as(cells)} from {part.scan}")
    view = engine.fresh("presentations")
    if len(queries) <= MOST_OPEN and sum(part.number or FEW_ROWS for part in parts) >= FEW_ROWS:
        engine.view(view, " union all ".join(queries))
        return view
    engine.store(view, queries[0])
    for query in queries[1:]:
        engine.rows(f"insert into {view} {query}")
    return view


def _cell(column: Column | None, name: str, types: set[str]) -> str:
    if column is None:
        return "1.0" if name == "weight" else "null"
    return column.text if len(types) > 1 else column.sql


def odd_items(engine: Duck, view: str) -> list[str]:
    """Return notes of rows without items, and of items that differ by white space, case or Unicode form alone."""
    if "item" not in engine.columns(view) or not engine.rows(f"select 1 from {view} where item is not null limit 1"):
        return ["no item column: each row counts as an item of its own"]
    alike = "nfc_normalize(lower(regexp_replace(item, '[\\s\\p{Z}]+', '', 'g')))"
    items = f"(select distinct item from {view} where item is not null)"
    groups = engine.rows(f"select list(item order by item)[:2] from {items} group by {alike} having count(*) > 1")
    if not groups:
        return []
    first = " and ".join(map(repr, min(groups)[0]))
    return [
        f"{len(groups)} groups of items differ by white space, case or Unicode form alone (for example {first}): "
        "they count as different items"
    ]
