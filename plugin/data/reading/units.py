"""Recognise the unit of a table without a column `item`: a column whose values repeat as items do.

An item is judged in several cells (ordered pairs, orders, judges, repeats), and in each cell about
once. Row numbers and times do not repeat; judges, categories and other columns with few values
repeat within a cell as often as by chance; a text of a response, or its hash, belongs to one model.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from scipy.special import pdtr

from podium.data.battles import COLUMNS, REPLIES, criterion_columns
from podium.data.counting.duck import Duck
from podium.data.formats.records import REALS, Column, Records
from podium.data.reading.rows import RecordTable
from podium.data.reading.table import LIKELY, is_pointwise

ITEM_NAMES = ("item_id", "sample_id", "doc_id", "instance_id", "example_id", "query_id")
"""Columns, in any case, that are read as the item where they repeat as items do."""
CELL = ("model_a", "model_b", "order", "judge", "repeat", "response")
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
    r"(?i)(?:^|_)(?:a|b|1|2|left|right)$|response|answer|output|completion|generation|reply|winner|loser"
)
"""A column about the responses of a battle, not about what was asked."""
MOST_ROWS, SHOWN = 50_000, 50
"""Rows in which an item is looked for, and values of a column that are looked at."""
REPEATED = 1.5
"""Rows per value from which a column repeats."""
FEW_VALUES, FEW_REPEATED = 6, 20
"""A column with fewer values, or fewer that repeat within their cells, is no item unless its name
says so."""
MOST_BY_CHANCE, ERROR_RATE = 0.35, 0.02
"""Of the pairs of rows of one value and one cell, the share of the number expected by chance up to
which the column avoids its cells as items do, and the largest probability of so few of them by
chance."""
MOST_IN_CELL, MOST_REPEATS = 5, 3
"""Rows of a value in a cell up to which they may be unnumbered repeats, by a known name and by any
other."""
EVEN = 0.25
"""Variance over mean of the rows in a cell below which a table is balanced: 1 for rows at
random."""
ONE_MODEL, SEVERAL_OPPONENTS = 0.9, 0.3
"""Shares of the values from which they belong to the response of one model, which met several
opponents."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """How the values of a column repeat: `together` counts the pairs of rows of one value and cell,
    `by_chance` their expected number; `in_cell` and `variance` are of the rows per value and cell;
    `of_response` says whether each value belongs to one model."""

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
        """Whether the column repeats in several cells, and no value belongs to a single
        response."""
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
        is_full = self.filled >= 0.8 * self.values * self.cells
        is_even = self.variance <= EVEN * self.in_cell
        return (
            self.repeats
            and self.values >= FEW_REPEATED
            and is_full
            and is_even
            and self.in_cell <= MOST_REPEATS
        )

    @property
    def may_be_items(self) -> bool:
        """Whether a column with the name of an item may be one."""
        is_repeated = self.rows >= REPEATED * self.values and not self.of_response
        return is_repeated and self.values > 1 and self.in_cell <= MOST_IN_CELL


def name_items(engine: Duck, tables: Sequence[RecordTable]) -> tuple[list[RecordTable], str | None]:
    """Rename a column of `ITEM_NAMES` to `item` in the tables without items, where it repeats as
    items do; also return its name."""
    lacking = [
        each
        for each in tables
        if lacks_items(each.records) and not is_pointwise(each.records.columns)
    ]
    names = {
        name for each in lacking for name in each.records.columns if name.lower() in ITEM_NAMES
    }
    for name in sorted(names, key=lambda name: ITEM_NAMES.index(name.lower())):
        holders = [each.records for each in lacking if name in each.records.columns]
        if len(holders) == len(lacking) and repetition_of(engine, holders, name).is_like_items:
            ours = {id(each) for each in lacking}
            return [rename_item(each, name) if id(each) in ours else each for each in tables], name
    return list(tables), None


def name_items_of_scores(records: Records) -> Records:
    """Rename a column of `ITEM_NAMES` to `item` in a table of scores, if a model has about one
    score on each value."""
    columns = records.columns
    if "item" in columns or "model_a" in columns or not {"model", "score"} <= columns.keys():
        return records
    for name in sorted((each for each in columns if each.lower() in ITEM_NAMES), key=str.lower):
        cells = [
            columns[each].text
            for each in ("model", "judge", "repeat", "response", "metric")
            if each in columns
        ]
        value = columns[name].text
        shape = f"count(*), count(distinct ({', '.join([value, *cells])})), count(distinct {value})"
        ((rows, distinct, values),) = records.rows(shape, f"where {value} is not null")
        if values > 1 and 2 * distinct > rows:
            return replace(records, columns=rename_column(columns, name))
    return records


def likely_item(engine: Duck, records: Records) -> str | None:
    """Return the column of battles without items that looks like the item, known names first; None
    without one."""
    if not lacks_items(records):
        return None
    known = {*ITEM_NAMES, *(word for each in LIKELY["item"] for word in (each, f"{each}_id"))}
    candidates: list[tuple[bool, float, int, str]] = []
    for name in _repeating_columns(records, known):
        own = repetition_of(engine, [records], name)
        is_known = name.lower() in known
        is_item = own.values >= FEW_VALUES and (own.is_like_items or own.is_balanced)
        if is_item or (is_known and own.may_be_items):
            candidates.append(
                (not is_known, own.together / max(own.by_chance, 1e-9), own.values, name)
            )
    return min(candidates)[-1] if candidates else None


def lacks_items(records: Records) -> bool:
    """Return whether no row of a table has an item."""
    item = records.columns.get("item")
    return item is None or not records.rows("1", f"where {item.text} is not null limit 1")


def rename_item(table: RecordTable, name: str) -> RecordTable:
    """Return a table whose column `name` is the item."""
    return replace(
        table, records=replace(table.records, columns=rename_column(table.records.columns, name))
    )


def rename_column(columns: Mapping[str, Column], name: str) -> dict[str, Column]:
    """Return columns with `name`, as text, called `item`."""
    kept = {each: column for each, column in columns.items() if each != "item"}
    return {
        "item" if each == name else each: Column(column.text) if each == name else column
        for each, column in kept.items()
    }


def _repeating_columns(records: Records, known: Iterable[str]) -> list[str]:
    """Return the columns that may be items by name and type and have clearly fewer values than
    rows."""
    raters = {word for each in LIKELY["judge"] for word in (each, f"{each}_id")}
    foreign = NO_ITEMS | {*criterion_columns(records.columns)}
    foreign |= {name for name in records.columns if name.lower() in raters}
    names = [name for name in records.columns if name not in foreign]
    other = [name for name in names if name.lower() not in known]
    strange = {name for name in other if TIME_NAME.search(name) or RESPONSE_NAME.search(name)}
    names = [name for name in names if name not in strange]
    names = [
        name
        for name in names
        if not records.columns[name].type.startswith((*REALS, "BOOLEAN", "TIME", "DATE"))
    ]
    if not names:
        return []
    cells = [records.columns[name].text for name in names]
    few = replace(records, scan=f"(select * from {records.scan} limit {MOST_ROWS})")
    (counts,) = few.rows(
        ", ".join(f"count({cell}), approx_count_distinct({cell})" for cell in cells)
    )
    kept = []
    for name, rows, values in zip(names, counts[::2], counts[1::2], strict=True):
        # The count of values is approximate.
        fewest = 2 if name.lower() in known else FEW_VALUES - 1
        if values >= fewest and rows > 1.2 * values and not _holds_times(few, name):
            kept.append(name)
    return kept


def _holds_times(records: Records, name: str) -> bool:
    """Return whether the first values of a column are times, or numbers with decimals."""
    cell = records.columns[name].text
    words = [
        word
        for (word,) in records.rows(f"distinct {cell}", f"where {cell} is not null limit {SHOWN}")
    ]
    return all(TIME.fullmatch(word) for word in words)


def repetition_of(engine: Duck, parts: Sequence[Records], name: str) -> Repetition:
    """Measure how the values of a column of battles repeat."""
    queries = [_values_query(part, name) for part in parts]
    table = engine.fresh("repeated")
    engine.store(table, f"select * from ({' union all '.join(queries)}) limit {MOST_ROWS}")
    per_cell = f"(select count(*) as n from {table} group by value, cell)"
    ((filled, in_cell, variance, together),) = engine.rows(
        f"select count(*), avg(n), coalesce(var_pop(n), 0), sum(n * (n - 1)) / 2 from {per_cell}"
    )
    totals = []
    for key in ("value", "cell"):
        groups = f"(select count(*) as n from {table} group by {key})"
        totals.append(
            engine.rows(f"select count(*), sum(n), sum(n * (n - 1)) / 2 from {groups}")[0]
        )
    (values, rows, same_value), (cells, _, same_cell) = totals
    if not rows:
        return Repetition(0, 0, 0, 0, 0, 0, 0, 0, of_response=True)
    pairs = max(rows * (rows - 1) / 2, 1)
    by_chance = float(same_cell) * float(same_value) / pairs
    shape = (float(together), by_chance, float(in_cell), float(variance), filled)
    return Repetition(rows, values, cells, *shape, of_response=_belongs_to_responses(engine, table))


def _values_query(records: Records, name: str) -> str:
    """Return the query of value, cell, both models and winner of each row that has a value."""
    columns = records.columns
    value = columns[name].text
    cells = [f"coalesce({columns[each].text}, '')" for each in CELL if each in columns]
    a, b = columns["model_a"].text, columns["model_b"].text
    credit = columns["credit"].number if "credit" in columns else "cast(null as double)"
    winner = f"case when {credit} > 0.5 then {a} when {credit} < 0.5 then {b} end"
    selected = f"hash({value}) as value, hash({', '.join(cells)}) as cell, {a} as a, {b} as b, {winner} as winner"
    return f"select {selected} from {records.scan} where {value} is not null"


def _belongs_to_responses(engine: Duck, table: str) -> bool:
    """Return whether the values belong to the response of one model: that of a side, or the winner,
    differs by value and is the same in all rows of a value, which has several opponents."""
    ((models_a, models_b),) = engine.rows(
        f"select count(distinct a), count(distinct b) from {table}"
    )
    counts = "count(distinct a) as a, count(distinct b) as b, count(distinct winner) as winner"
    groups = f"(select {counts}, count(distinct least(a, b) || '\\n' || greatest(a, b)) as pairs from {table}"
    groups += " group by value having count(*) > 1)"
    shares = [
        "avg((a = 1)::int)",
        "avg((a = 1 and b > 1)::int)",
        "avg((b = 1)::int)",
        "avg((b = 1 and a > 1)::int)",
    ]
    shares += ["avg((winner = 1)::int) filter (pairs > 1)"]
    one_a, several_b, one_b, several_a, one_winner = engine.rows(
        f"select {', '.join(shares)} from {groups}"
    )[0]
    is_of_a = models_a > 1 and (one_a or 0) >= ONE_MODEL and (several_b or 0) >= SEVERAL_OPPONENTS
    is_of_b = models_b > 1 and (one_b or 0) >= ONE_MODEL and (several_a or 0) >= SEVERAL_OPPONENTS
    is_of_winner = (one_winner or 0) >= 0.98 and models_a + models_b > 3
    return bool(is_of_a or is_of_b or is_of_winner)
