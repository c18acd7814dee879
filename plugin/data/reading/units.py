"""Find the column with the items in a table without a column `item`, by how its values repeat.

A cell is a combination of models, order, judge and repeat (`CELL`). An item is judged in several
cells, and about once in each cell. The values of other columns repeat differently: row numbers and
times do not repeat, and judges, categories and other columns with few values repeat within a cell
as often as by chance. The text of a response, or its hash, belongs to one model.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from podium.data.battles import COLUMNS, REPLIES, criterion_columns
from podium.data.counting.duck import Duck
from podium.data.formats.records import Column, Records
from podium.data.reading.rows import RecordTable
from podium.data.reading.table import LIKELY_NAMES, is_pointwise

ITEM_NAMES = ("item_id", "sample_id", "doc_id", "instance_id", "example_id", "query_id")
"""Names of columns that are used as the item if their values repeat like items. Upper and lower
case are the same."""
UNIT_NAMES = (
    "scenario",
    "case",
    "sample",
    "example",
    "instance",
    "query",
    "problem",
    "puzzle",
    "passage",
    "document",
    "doc",
    "story",
    "dialogue",
    "dialog",
    "test_case",
    "testcase",
)
"""Further names of columns that may be items, or groups of them, with or without `_id`."""
CELL = ("model_a", "model_b", "order", "judge", "voter", "metric", "repeat", "response")
"""Columns whose combinations are the cells. An item stands about once in a cell."""
NO_ITEMS = frozenset(
    {*COLUMNS, *REPLIES, "", "Unnamed: 0", "winner", "label", "template", "source", "turn", "jury"}
)
"""Columns that are known to have another meaning."""
TIME_NAME = re.compile(
    r"(?i)(?:^|_)(?:t?stamp|timestamp|time|date|datetime|day|when|created|updated|at)(?:_|$)"
)
"""Name of a column of times, such as `created_at` and `timestamp`."""
TIME = re.compile(
    r"\d{4}-\d\d-\d\d.*|\d\d?[:/.]\d\d[:/.]\d.*|1[0-9]{9}(?:[0-9]{3}|[0-9]{6})?|-?\d*\.\d+"
)
"""A date, a time, seconds or milliseconds since 1970, or a number with decimals: `2025-01-02`,
`12:30:05`, `1735689600`, `0.25`."""
WHOLE_NUMBER = re.compile(r"\d+\.0+")
"""A whole number that was stored with decimals, as JSON and tables with empty cells are read."""
RESPONSE_NAME = re.compile(
    r"(?i)(?:^|_)(?:a|b|1|2|left|right)$"
    r"|response|answer|output|completion|generation|reply|winner|loser"
)
"""Name of a column about the responses of a battle, such as `id_a`, and not about the question."""
MOST_ROWS = 50_000
"""Only the first rows, up to this number, are searched for items."""
TESTED_VALUES = 50
"""Number of values of a column that are tested for times."""
LEAST_REPETITION = 1.5
"""A column repeats if it has at least this number of rows per distinct value."""
FEW_VALUES = 6
"""A column with fewer distinct values is not used as the item unless it has a known name."""
FEW_REPEATED = 20
"""A column with fewer distinct values is not balanced (`Repetition.is_balanced`)."""
MOST_BY_CHANCE = 0.35
"""Rows of one item seldom share a cell. A column is like items if the number of pairs of rows that
share value and cell is at most this share of the number expected by chance."""
ERROR_RATE = 0.02
"""A column is like items only if the probability of so few pairs by chance is at most this."""
MOST_IN_CELL = 20
"""Largest mean number of rows of one item in a cell, if the column has a known name or is balanced
(`Repetition.is_balanced`). More than one row may be repeats without a number."""
LARGEST_IMBALANCE = 0.25
"""A table is balanced if the variance of the number of rows of one value in a cell, divided by the
mean, is at most this. For random rows, the ratio would be 1."""
MOSTLY_FILLED = 0.8
"""Share of the cells that have a row of a value, from which on the column is balanced."""
LEAST_ROWS_OF_VALUE = 1.2
"""Columns whose values have at most this number of rows on average hardly repeat."""
LEAST_SHARE_OF_ONE_WINNER = 0.98
"""Share of the values with one winner from which on the values belong to the winner's response."""
ONE_MODEL = 0.9
"""Values belong to responses if at least this share of them stands with only one model."""
SEVERAL_OPPONENTS = 0.3
"""Values belong to responses only if at least this share of them stands with one model against
several opponents."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """How the values of a column repeat; a cell is a combination of the columns `CELL`.

    Attributes:
        rows: number of rows with a value.
        values: number of distinct values.
        cells: number of distinct cells.
        together: number of pairs of rows that share both value and cell.
        by_chance: expected number of such pairs if values and cells were independent.
        in_cell: mean number of rows per combination of value and cell that has a row.
        variance: variance of this number of rows.
        filled: number of combinations of value and cell that have a row.
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
        """Whether the values repeat, there are several cells, and the values are not of
        responses."""
        return (
            self.rows >= LEAST_REPETITION * self.values and self.cells > 1 and not self.of_response
        )

    @property
    def is_like_items(self) -> bool:
        """Whether the values repeat as items do: rows of one value seldom share a cell.

        They share a cell clearly less often than by chance (`MOST_BY_CHANCE`, `ERROR_RATE`). Rows
        of one item do so, because a model meets each item once in a cell. The number of pairs by
        chance is assumed to have a Poisson distribution. False unless `repeats` is True.
        """
        if not self.repeats or self.values < 2:
            return False
        few = self.together <= MOST_BY_CHANCE * self.by_chance
        if not few:
            return False
        from scipy.special import pdtr

        return float(pdtr(self.together, self.by_chance)) <= ERROR_RATE

    @property
    def is_balanced(self) -> bool:
        """Whether nearly every value has the same number of rows in every cell.

        False unless `repeats` is True, and for fewer than `FEW_REPEATED` values.
        """
        if not self.repeats or self.values < FEW_REPEATED:
            return False
        is_full = self.filled >= MOSTLY_FILLED * self.values * self.cells
        is_even = self.variance <= LARGEST_IMBALANCE * self.in_cell
        return is_full and is_even and self.in_cell <= MOST_IN_CELL

    @property
    def may_be_items(self) -> bool:
        """Whether the values may be items if the column has a known name.

        There are several values, which repeat and do not belong to responses, and on average at
        most `MOST_IN_CELL` rows of a value in a cell. A single cell suffices.
        """
        is_repeated = self.rows >= LEAST_REPETITION * self.values and not self.of_response
        return is_repeated and self.values > 1 and self.in_cell <= MOST_IN_CELL


def name_items(engine: Duck, tables: Sequence[RecordTable]) -> tuple[list[RecordTable], str | None]:
    """Rename a column of `ITEM_NAMES` to `item` in the tables without items.

    Tables of scores are left as they are. All tables of battles without items must have the column,
    and it must repeat as items do.

    Returns:
        The tables, and the former name of the column; None if no column was renamed.
    """
    without_items = [
        each
        for each in tables
        if lacks_items(each.records) and not is_pointwise(each.records.columns)
    ]
    names = set[str]()
    for each in without_items:
        names |= {name for name in each.records.columns if name.lower() in ITEM_NAMES}
    for name in sorted(names, key=lambda name: ITEM_NAMES.index(name.lower())):
        holders = [each.records for each in without_items if name in each.records.columns]
        if (
            len(holders) == len(without_items)
            and repetition_of(engine, holders, name).is_like_items
        ):
            # Tables are told apart as objects, since two of them may be equal.
            ids_of_lacking = {id(each) for each in without_items}
            renamed = []
            for each in tables:
                is_lacking = id(each) in ids_of_lacking
                renamed.append(rename_item(each, name) if is_lacking else each)
            return renamed, name
    return list(tables), None


def name_items_of_scores(records: Records) -> Records:
    """Rename a column of `ITEM_NAMES` to `item` in a table of scores without items.

    The column must have several values. A model must have about one score per value: the different
    combinations of value, model, judge, repeat, response and metric must be more than half of the
    rows. Any other table is returned unchanged.
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
        shape = (
            f"count(*) as rows, count(distinct ({scores})) as distinct_scores, "
            f"count(distinct {value}) as values"
        )
        ((rows, distinct_scores, values),) = records.rows(shape, f"where {value} is not null")
        if values > 1 and 2 * distinct_scores > rows:
            return replace(records, columns=rename_column(columns, name))
    return records


def likely_item(engine: Duck, records: Records) -> str | None:
    """Return the name of the column that looks like the item, in battles without items.

    Columns with a known name are preferred. Among the others, the column is chosen whose rows of
    one value share a cell most seldom.

    Returns:
        The name; None if no column looks like items, or if the battles have items.
    """
    if not lacks_items(records):
        return None
    names_of_items = {*ITEM_NAMES, *_usual_names("item"), *with_ids(UNIT_NAMES)}
    candidates: list[tuple[bool, float, int, str]] = []
    for name in _repeating_columns(records, names_of_items):
        repetition = repetition_of(engine, [records], name)
        is_known = name.lower() in names_of_items
        is_item = repetition.values >= FEW_VALUES and (
            repetition.is_like_items or repetition.is_balanced
        )
        may_be_named_item = is_known and repetition.may_be_items
        if is_item or may_be_named_item:
            share = repetition.together / max(repetition.by_chance, 1e-9)
            candidates.append((not is_known, share, repetition.values, name))
    if not candidates:
        return None
    *_, best = min(candidates)
    return best


def _usual_names(column: str) -> set[str]:
    """Return the usual names of a column of the battles table, in lower case, also with `_id`."""
    return with_ids(LIKELY_NAMES[column])


def with_ids(names: Iterable[str]) -> set[str]:
    """Return names of columns, also with `_id` at the end."""
    plain_names = {*names}
    return plain_names | {f"{name}_id" for name in plain_names}


def lacks_items(records: Records) -> bool:
    """Return whether no row of a table has an item."""
    item = records.columns.get("item")
    return item is None or not records.rows("1", f"where {item.text} is not null limit 1")


def rename_item(table: RecordTable, name: str) -> RecordTable:
    """Return a table whose column `name` has become the column `item` (`rename_column`)."""
    columns = rename_column(table.records.columns, name)
    return replace(table, records=replace(table.records, columns=columns))


def rename_column(columns: Mapping[str, Column], name: str) -> dict[str, Column]:
    """Return columns in which one is renamed to `item` and becomes text.

    A column that is called `item` before is dropped.
    """
    renamed = {}
    for own_name, column in columns.items():
        if own_name == name:
            renamed["item"] = Column(column.text)
        elif own_name != "item":
            renamed[own_name] = column
    return renamed


def _repeating_columns(records: Records, names_of_items: Iterable[str]) -> list[str]:
    """Return the columns that may be items and, in the first rows, clearly repeat their values.

    Columns of times are left out. Only the first `MOST_ROWS` rows are looked at.

    Args:
        records: the battles.
        names_of_items: known names of columns with items, in lower case. A column with such a name
            must have at least two distinct values, and any other column about five.
    """
    names = [name for name in records.columns if _may_name_items(records, name, names_of_items)]
    if not names:
        return []
    cells = [records.columns[name].text for name in names]
    first_rows = replace(records, scan=f"(select * from {records.scan} limit {MOST_ROWS})")
    queries = [f"count({cell}), approx_count_distinct({cell})" for cell in cells]
    (counts,) = first_rows.rows(", ".join(queries))
    kept = []
    # Each column has two counts in turn: of its rows with a value, and of its values.
    for name, rows, values in zip(names, counts[::2], counts[1::2], strict=True):
        # The count of values is approximate, so that one fewer than `FEW_VALUES` passes.
        fewest = 2 if name.lower() in names_of_items else FEW_VALUES - 1
        repeats = values >= fewest and rows > LEAST_ROWS_OF_VALUE * values
        if repeats and not _holds_times(first_rows, name):
            kept.append(name)
    return kept


def _may_name_items(records: Records, name: str, names_of_items: Iterable[str]) -> bool:
    """Return whether a column may have items, judged by its name and type.

    It may not if its name is known for another meaning, as of judges, criteria, times or responses,
    or if it has booleans, dates or times.

    Args:
        records: the battles.
        name: the column.
        names_of_items: known names of columns with items, in lower case, which may look like times
            or responses.
    """
    is_foreign = name in NO_ITEMS or name in criterion_columns(records.columns)
    if is_foreign or name.lower() in _usual_names("judge"):
        return False
    is_time_or_response = TIME_NAME.search(name) or RESPONSE_NAME.search(name)
    if is_time_or_response and name.lower() not in names_of_items:
        return False
    return not records.columns[name].type.startswith(("BOOLEAN", "TIME", "DATE"))


def _holds_times(records: Records, name: str) -> bool:
    """Return whether all of the first values of a column are times, or numbers with decimals.

    At most `TESTED_VALUES` different values are looked at. Values such as `3.0` alone are whole
    numbers, and no times; whole seconds or milliseconds since 1970 are times. False without a
    value.
    """
    cell = records.columns[name].text
    values = records.rows(f"distinct {cell}", f"where {cell} is not null limit {TESTED_VALUES}")
    if all(WHOLE_NUMBER.fullmatch(word) for (word,) in values):
        return False
    return all(TIME.fullmatch(word) for (word,) in values)


def repetition_of(engine: Duck, parts: Sequence[Records], name: str) -> Repetition:
    """Measure how the values of a column of battles repeat, in the first `MOST_ROWS` rows.

    If no row has a value, all figures are 0, and `of_response` is True.

    Args:
        engine: the database.
        parts: the battles; each part has the column.
        name: the column.
    """
    queries = [_values_query(part, name) for part in parts]
    table = engine.fresh("repeated")
    engine.store(table, f"select * from ({' union all '.join(queries)}) limit {MOST_ROWS}")
    sizes = f"(select count(*) as n from {table} group by value, cell)"
    # n (n - 1) / 2 is the number of pairs among n rows.
    figures = (
        "count(*) as filled, avg(n) as in_cell, coalesce(var_pop(n), 0) as variance, "
        "sum(n * (n - 1)) / 2 as together"
    )
    ((filled, in_cell, variance, together),) = engine.rows(f"select {figures} from {sizes}")
    values, rows, same_value = _group_sizes(engine, table, "value")
    cells, _, same_cell = _group_sizes(engine, table, "cell")
    if not rows:
        return Repetition(
            rows=0,
            values=0,
            cells=0,
            together=0,
            by_chance=0,
            in_cell=0,
            variance=0,
            filled=0,
            of_response=True,
        )
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
    """Return the number of values of a column, of their rows, and of pairs of rows with one value.

    The last two are None if the table is empty.

    Args:
        engine: the database.
        table: rows of `_values_query`.
        key: the column.
    """
    sizes = f"(select count(*) as n from {table} group by {key})"
    figures = "count(*) as groups, sum(n) as rows, sum(n * (n - 1)) / 2 as pairs"
    (row,) = engine.rows(f"select {figures} from {sizes}")
    return row


def _values_query(records: Records, name: str) -> str:
    """Return a query (SQL) of the rows that have a value in a column.

    Its columns are `value` and `cell` (as hashes), `a` and `b` (the models), and
    `winner` (null for a tie).
    """
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

    It does if the rows of most values have the same model a, the same model b or the same winner,
    against several opponents.

    Args:
        engine: the database.
        table: rows of `_values_query`.
    """
    ((models_a, models_b),) = engine.rows(
        f"select count(distinct a) as models_a, count(distinct b) as models_b from {table}"
    )
    models_of_value = (
        "count(distinct a) as number_a, count(distinct b) as number_b, "
        "count(distinct winner) as winners"
    )
    pairs = "count(distinct least(a, b) || '\\n' || greatest(a, b)) as pairs"
    by_value = (
        f"(select {models_of_value}, {pairs} from {table} group by value having count(*) > 1)"
    )
    # The shares of the values, in the order of the names to which they are assigned below.
    shares = [
        "avg((number_a = 1)::int)",
        "avg((number_a = 1 and number_b > 1)::int)",
        "avg((number_b = 1)::int)",
        "avg((number_b = 1 and number_a > 1)::int)",
        "avg((winners = 1)::int) filter (pairs > 1)",
    ]
    (row_of_shares,) = engine.rows(f"select {', '.join(shares)} from {by_value}")
    # If there are no values, the database returns null for a share.
    one_a, several_b, one_b, several_a, one_winner = (share or 0 for share in row_of_shares)
    is_of_a = models_a > 1 and one_a >= ONE_MODEL and several_b >= SEVERAL_OPPONENTS
    is_of_b = models_b > 1 and one_b >= ONE_MODEL and several_a >= SEVERAL_OPPONENTS
    is_of_winner = one_winner >= LEAST_SHARE_OF_ONE_WINNER and models_a + models_b > 3
    return bool(is_of_a or is_of_b or is_of_winner)
