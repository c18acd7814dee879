"""Recognise the unit of a table without a column `item`: a column whose values repeat as items do.

An item is judged in several cells (ordered pairs, orders, judges, repeats), and in each cell about
once. Row numbers and times do not repeat. Judges, categories and other columns with few values
repeat within a cell as often as by chance. A text of a response, or its hash, belongs to one
model.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scipy.special import pdtr

from podium.data.battles import COLUMNS, REPLIES, criterion_columns
from podium.data.counting.duck import Duck
from podium.data.formats.records import REALS, Column, Records
from podium.data.reading.rows import RecordTable
from podium.data.reading.table import LIKELY, is_pointwise

ITEM_NAMES = ("item_id", "sample_id", "doc_id", "instance_id", "example_id", "query_id")
"""Columns, in any case, that are read as the item where they repeat as items do."""
CELL = ("model_a", "model_b", "order", "judge", "metric", "repeat", "response")
"""Columns within whose combinations an item stands about once."""
NO_ITEMS = frozenset(
    {*COLUMNS, *REPLIES, "", "Unnamed: 0", "winner", "label", "template", "source", "turn", "jury"}
)
"""Columns that say something else."""
TIME_NAME = re.compile(
    r"(?i)(?:^|_)(?:t?stamp|timestamp|time|date|datetime|day|when|created|updated|at)(?:_|$)"
)
TIME = re.compile(
    r"\d{4}-\d\d-\d\d.*|\d\d?[:/.]\d\d[:/.]\d.*|1[0-9]{9}(?:[0-9]{3}|[0-9]{6})?|-?\d*\.\d+"
)
"""A date, a time, seconds or milliseconds since 1970, or a number with decimals."""
RESPONSE_NAME = re.compile(
    r"(?i)(?:^|_)(?:a|b|1|2|left|right)$"
    r"|response|answer|output|completion|generation|reply|winner|loser"
)
"""A column about the responses of a battle, not about what was asked."""
MOST_ROWS = 50_000
"""Rows in which an item is looked for."""
SHOWN = 50
"""Values of a column that are tested for times."""
REPEATED = 1.5
"""Rows per value from which a column repeats."""
FEW_VALUES = 6
"""A column with fewer values is no item unless its name says so."""
FEW_REPEATED = 20
"""A balanced column with fewer values is no item unless its name says so."""
MOST_BY_CHANCE = 0.35
"""Rows of one item seldom share a cell: at most this share of the pairs expected by chance do."""
ERROR_RATE = 0.02
"""The largest probability of so few pairs of rows by chance."""
MOST_IN_CELL = 5
"""Rows of an item in a cell that may be unnumbered repeats, if the column has a known name."""
MOST_REPEATS = 3
"""Rows of an item in a cell that may be unnumbered repeats, if the column has another name."""
EVEN = 0.25
"""Variance over mean of the rows in a cell below which a table is balanced; 1 for random rows."""
ONE_MODEL = 0.9
"""From this share of values with one model on, the values belong to responses."""
SEVERAL_OPPONENTS = 0.3
"""Of the values of responses, at least this share has one model and several opponents."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """How the values of a column repeat; a cell is a combination of the columns `CELL`.

    Attributes:
        rows: rows with a value.
        values: distinct values.
        cells: distinct cells.
        together: pairs of rows of one value and one cell.
        by_chance: expected number of such pairs if values and cells were independent.
        in_cell: mean number of rows of one value in a cell that has some.
        variance: variance of that number.
        filled: combinations of value and cell that have a row.
        of_response: whether each value belongs to the response of one model.
    """

    rows: int
    values: int
    cells: int
    together: float
    by_chance: float
    in_cell: float
    variance: float
    filled: int
    of_response: bool

    @property
    def repeats(self) -> bool:
        """Whether the column repeats in several cells, and its values are not of responses."""
        return self.rows >= REPEATED * self.values and self.cells > 1 and not self.of_response

    @property
    def is_like_items(self) -> bool:
        """Whether rows of one value avoid the same cell, more than chance would have it."""
        if not self.repeats or self.values < 2:
            return False
        few = self.together <= MOST_BY_CHANCE * self.by_chance
        return few and float(pdtr(self.together, self.by_chance)) <= ERROR_RATE

    @property
    def is_balanced(self) -> bool:
        """Whether every value has the same few rows in every cell."""
        if not self.repeats or self.values < FEW_REPEATED:
            return False
        is_full = self.filled >= 0.8 * self.values * self.cells
        is_even = self.variance <= EVEN * self.in_cell
        return is_full and is_even and self.in_cell <= MOST_REPEATS

    @property
    def may_be_items(self) -> bool:
        """Whether a column with the name of an item may be one."""
        is_repeated = self.rows >= REPEATED * self.values and not self.of_response
        return is_repeated and self.values > 1 and self.in_cell <= MOST_IN_CELL


def name_items(engine: Duck, tables: Sequence[RecordTable]) -> tuple[list[RecordTable], str | None]:
    """Rename a column of `ITEM_NAMES` to `item` in the tables without items.

    All of these tables must have the column, and it must repeat as items do.

    Returns:
        the tables, and the former name of the column; None if no column was renamed.
    """
    lacking = [
        each
        for each in tables
        if lacks_items(each.records) and not is_pointwise(each.records.columns)
    ]
    names = set[str]()
    for each in lacking:
        names |= {name for name in each.records.columns if name.lower() in ITEM_NAMES}
    for name in sorted(names, key=lambda name: ITEM_NAMES.index(name.lower())):
        holders = [each.records for each in lacking if name in each.records.columns]
        if len(holders) == len(lacking) and repetition_of(engine, holders, name).is_like_items:
            ours = {id(each) for each in lacking}
            renamed = [rename_item(each, name) if id(each) in ours else each for each in tables]
            return renamed, name
    return list(tables), None


def name_items_of_scores(records: Records) -> Records:
    """Rename a column of `ITEM_NAMES` to `item` in a table of scores without items.

    A model must have about one score on each value of the column.
    """
    columns = records.columns
    if "item" in columns or "model_a" in columns or not {"model", "score"} <= columns.keys():
        return records
    candidates = [name for name in columns if name.lower() in ITEM_NAMES]
    keys = ("model", "judge", "repeat", "response", "metric")
    cells = [columns[name].text for name in keys if name in columns]
    for name in sorted(candidates, key=str.lower):
        value = columns[name].text
        scores = ", ".join([value, *cells])
        shape = f"count(*), count(distinct ({scores})), count(distinct {value})"
        ((rows, distinct, values),) = records.rows(shape, f"where {value} is not null")
        if values > 1 and 2 * distinct > rows:
            return replace(records, columns=rename_column(columns, name))
    return records


def likely_item(engine: Duck, records: Records) -> str | None:
    """Return the name of the column that looks like the item, in battles without items.

    Known names come first, then the column whose values avoid their cells the most. None if no
    column looks like items.
    """
    if not lacks_items(records):
        return None
    known = {*ITEM_NAMES, *_usual_names("item")}
    candidates: list[tuple[bool, float, int, str]] = []
    for name in _repeating_columns(records, known):
        own = repetition_of(engine, [records], name)
        is_known = name.lower() in known
        is_item = own.values >= FEW_VALUES and (own.is_like_items or own.is_balanced)
        if is_item or (is_known and own.may_be_items):
            share = own.together / max(own.by_chance, 1e-9)
            candidates.append((not is_known, share, own.values, name))
    if not candidates:
        return None
    *_, best = min(candidates)
    return best


def _usual_names(column: str) -> set[str]:
    """Return the usual names of a column of the battles table, in lower case."""
    return {*LIKELY[column], *(f"{name}_id" for name in LIKELY[column])}


def lacks_items(records: Records) -> bool:
    """Return whether no row of a table has an item."""
    item = records.columns.get("item")
    return item is None or not records.rows("1", f"where {item.text} is not null limit 1")


def rename_item(table: RecordTable, name: str) -> RecordTable:
    """Return a table whose column `name` is the item."""
    columns = rename_column(table.records.columns, name)
    return replace(table, records=replace(table.records, columns=columns))


def rename_column(columns: Mapping[str, Column], name: str) -> dict[str, Column]:
    """Return columns with `name`, as text, called `item`."""
    renamed = {}
    for own_name, column in columns.items():
        if own_name == name:
            renamed["item"] = Column(column.text)
        elif own_name != "item":
            renamed[own_name] = column
    return renamed


def _repeating_columns(records: Records, known: Iterable[str]) -> list[str]:
    """Return the columns that may be items and have clearly fewer values than rows.

    Args:
        records: the battles.
        known: names of items, in lower case; two distinct values are enough for them, and five
            for other names.
    """
    names = [name for name in records.columns if _may_name_items(records, name, known)]
    if not names:
        return []
    cells = [records.columns[name].text for name in names]
    few = replace(records, scan=f"(select * from {records.scan} limit {MOST_ROWS})")
    queries = [f"count({cell}), approx_count_distinct({cell})" for cell in cells]
    (counts,) = few.rows(", ".join(queries))
    kept = []
    for name, rows, values in zip(names, counts[::2], counts[1::2], strict=True):
        # The count of values is approximate.
        fewest = 2 if name.lower() in known else FEW_VALUES - 1
        if values >= fewest and rows > 1.2 * values and not _holds_times(few, name):
            kept.append(name)
    return kept


def _may_name_items(records: Records, name: str, known: Iterable[str]) -> bool:
    """Return whether a column may hold items, by its name and type."""
    is_foreign = name in NO_ITEMS or name in criterion_columns(records.columns)
    if is_foreign or name.lower() in _usual_names("judge"):
        return False
    if name.lower() not in known and (TIME_NAME.search(name) or RESPONSE_NAME.search(name)):
        return False
    return not records.columns[name].type.startswith((*REALS, "BOOLEAN", "TIME", "DATE"))


def _holds_times(records: Records, name: str) -> bool:
    """Return whether the first values of a column are times, or numbers with decimals."""
    cell = records.columns[name].text
    values = records.rows(f"distinct {cell}", f"where {cell} is not null limit {SHOWN}")
    return all(TIME.fullmatch(word) for (word,) in values)


def repetition_of(engine: Duck, parts: Sequence[Records], name: str) -> Repetition:
    """Measure how the values of a column of battles repeat."""
    queries = [_values_query(part, name) for part in parts]
    table = engine.fresh("repeated")
    engine.store(table, f"select * from ({' union all '.join(queries)}) limit {MOST_ROWS}")
    per_cell = f"(select count(*) as n from {table} group by value, cell)"
    ((filled, in_cell, variance, together),) = engine.rows(
        f"select count(*), avg(n), coalesce(var_pop(n), 0), sum(n * (n - 1)) / 2 from {per_cell}"
    )
    values, rows, same_value = _group_sizes(engine, table, "value")
    cells, _, same_cell = _group_sizes(engine, table, "cell")
    if not rows:
        return Repetition(0, 0, 0, 0, 0, 0, 0, 0, of_response=True)
    pairs = max(rows * (rows - 1) / 2, 1)
    return Repetition(
        rows=rows,
        values=values,
        cells=cells,
        together=float(together),
        by_chance=float(same_cell) * float(same_value) / pairs,
        in_cell=float(in_cell),
        variance=float(variance),
        filled=filled,
        of_response=_belongs_to_responses(engine, table),
    )


def _group_sizes(engine: Duck, table: str, key: str) -> tuple[Any, ...]:
    """Count the values of a column, their rows, and the pairs of rows that share a value."""
    groups = f"(select count(*) as n from {table} group by {key})"
    return engine.rows(f"select count(*), sum(n), sum(n * (n - 1)) / 2 from {groups}")[0]


def _values_query(records: Records, name: str) -> str:
    """Return the query of value, cell, both models and winner of each row that has a value."""
    columns = records.columns
    value = columns[name].text
    cells = [f"coalesce({columns[each].text}, '')" for each in CELL if each in columns]
    a = columns["model_a"].text
    b = columns["model_b"].text
    credit = columns["credit"].number if "credit" in columns else "cast(null as double)"
    winner = f"case when {credit} > 0.5 then {a} when {credit} < 0.5 then {b} end"
    hashes = f"hash({value}) as value, hash({', '.join(cells)}) as cell"
    return (
        f"select {hashes}, {a} as a, {b} as b, {winner} as winner "
        f"from {records.scan} where {value} is not null"
    )


def _belongs_to_responses(engine: Duck, table: str) -> bool:
    """Return whether each value of a column belongs to the response of one model.

    It does if all rows of a value have the same model on one side, or the same winner, against
    several opponents.

    Args:
        engine: the database.
        table: rows of `_values_query`.
    """
    ((models_a, models_b),) = engine.rows(
        f"select count(distinct a), count(distinct b) from {table}"
    )
    counts = "count(distinct a) as a, count(distinct b) as b, count(distinct winner) as winner"
    pairs = "count(distinct least(a, b) || '\\n' || greatest(a, b)) as pairs"
    groups = f"(select {counts}, {pairs} from {table} group by value having count(*) > 1)"
    shares = [
        "avg((a = 1)::int)",
        "avg((a = 1 and b > 1)::int)",
        "avg((b = 1)::int)",
        "avg((b = 1 and a > 1)::int)",
        "avg((winner = 1)::int) filter (pairs > 1)",
    ]
    (answers,) = engine.rows(f"select {', '.join(shares)} from {groups}")
    # A share of no values is empty.
    one_a, several_b, one_b, several_a, one_winner = (share or 0 for share in answers)
    is_of_a = models_a > 1 and one_a >= ONE_MODEL and several_b >= SEVERAL_OPPONENTS
    is_of_b = models_b > 1 and one_b >= ONE_MODEL and several_a >= SEVERAL_OPPONENTS
    is_of_winner = one_winner >= 0.98 and models_a + models_b > 3
    return bool(is_of_a or is_of_b or is_of_winner)
