"""Count and merge verdicts in a database, and read them as data frames or in blocks."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from podium.data.counting import relations
from podium.data.counting.relations import NO_REASON, ROW, SWAPS, UNNAMED_JUDGE, quote_name
from podium.errors import UsageError
from podium.notices.notice import Notice
from podium.scorers.reply import ONE_ORDER_UNPARSED
from podium.text import text_of

if TYPE_CHECKING:
    from podium.data.counting.duck import Duck
    from podium.data.counting.spark import Spark

Engine: TypeAlias = "Duck | Spark"
"""A place where relations are, of one interface; queries are in the dialect that both share."""

CATEGORIES = ("item", "judge", "metric", "order", "category", "reason", "swap")
"""Columns of the battles table that are categorical; so are both models, over one set of names."""
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
CODED = ("item", "judge", "metric", "reason")
"""Columns of names that become codes, beside the models."""
CELL_ORDER = "cluster, first, second"
OF_PAIRS = ("credit", "weight", "judged")


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over all battles.

    Attributes:
        judgments: judge calls; a battle merged from two orders counts as two.
        battles: compared pairs of responses.
        judged: battles with a readable verdict.
        decided: judged battles that are no tie.
        items: distinct items; a row without an item is an item of its own.
        informative: items with a decided battle.
        swaps: battles shown in both orders, by how the two verdicts agree; keys as in `SWAPS`.
        with_margin: judged battles with a margin.
        lacking: judged battles whose credit is that of the sign of their margin.
        graded: judged battles whose credit is a probability, neither win nor tie nor loss.
        ambiguous: judgments of which it is not known to which other order they belong.
        crowded: rows that share item, pair, judge and repeat with others, and may be identical.
    """

    judgments: int
    battles: int
    judged: int
    decided: int
    items: int
    informative: int
    swaps: dict[str, int]
    with_margin: int = 0
    lacking: int = 0
    graded: int = 0
    ambiguous: int = 0
    crowded: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """Readable cells of whole clusters, sorted by cluster; arrays of shape (cells,).

    Attributes:
        first: codes of the models with the lower code.
        second: codes of the models with the higher code.
        credit: mean credits of the first models.
        weight: sums of weights, positive.
        battles: numbers of battles.
        cluster: codes of the clusters, from 0 in each block.
        clusters: number of clusters in the block.
    """

    first: np.ndarray
    second: np.ndarray
    credit: np.ndarray
    weight: np.ndarray
    battles: np.ndarray
    cluster: np.ndarray
    clusters: int


class FirstShown(NamedTuple):
    """How the response shown first fared where both orders were parsed, shape (clusters,) each.

    Attributes:
        cluster: codes of the clusters, ascending.
        won: wins of the response shown first, ties counted as half.
        number: number of verdicts.
        flips: order pairs whose two verdicts have different winners.
    """

    cluster: np.ndarray
    won: np.ndarray
    number: np.ndarray
    flips: np.ndarray


class Verdicts:
    """Judgments in a database, with the counts, battles and pair sums computed from them.

    Args:
        engine: the database.
        judgments: name of the table or view with the checked judgments, one row each.
        merge: average the two orders of a pair into one battle.
        keep_one_sided: whether a pair with one unparsed order keeps the other order's verdict;
            else it is unparsed.
    """

    def __init__(
        self, engine: Engine, judgments: str, *, merge: bool = True, keep_one_sided: bool = False
    ) -> None:
        self.engine = engine
        self.judgments = judgments
        self.merge = merge
        self.keep_one_sided = keep_one_sided
        types = engine.columns(judgments)
        self.columns = tuple(types)
        # A column `response` of another type does not count a model's responses: it is foreign.
        self._counted = tuple(
            name for name in types if name != "response" or types[name] == "BIGINT"
        )
        self._cells: dict[bool, str] = {}
        self._pairs: dict[tuple[bool, int | None], dict[str, np.ndarray]] = {}

    def __len__(self) -> int:
        return self.tally.battles

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Names of all models, sorted: the order of their codes."""
        return self._names("model")

    @cached_property
    def judges(self) -> tuple[str, ...]:
        """Names of all judges, sorted; empty without a judge column.

        If only some rows have a judge, the others count as `(no judge)`, the last name.
        """
        if "judge" not in self.columns:
            return ()
        named = self._names("judge")
        unnamed = named and self.engine.rows(
            f"select 1 from {self.judgments} where judge is null limit 1"
        )
        return (*named, UNNAMED_JUDGE) if unnamed else named

    @cached_property
    def tally(self) -> Tally:
        """Counts over all battles."""
        numbers = self._sums.keys() - {"first", "second", "credit", "weight"}
        sums = {name: int(self._sums[name].sum()) for name in numbers}
        swaps = {kind: sums.pop(kind) for kind in SWAPS}
        decided = f"select distinct cluster from {self.cells()} where decided > 0"
        informative = self.engine.rows(f"select count(*) from ({decided}) as clusters")[0][0]
        return Tally(
            items=self._items + self._row_counts[1], informative=informative, swaps=swaps, **sums
        )

    @cached_property
    def unparsed_reasons(self) -> dict[str, int]:
        """Unparsed battles by reason, the most frequent first."""
        if self.tally.judged == self.tally.battles:
            return {}
        known = "reason" in self.columns
        names = dict(enumerate(self._names("reason"))) if known else {}
        names[-1] = NO_REASON
        rows = relations.unparsed_query(self.judgments, self.columns)
        counts = Counter(dict(self.engine.rows(rows)))
        ends = "least_reason, last_reason" if known else "-1, -1"
        order_pairs = (
            f"select rows_unparsed, {ends}, count(*) from {self.cells()} "
            "where order_pair and rows_unparsed > 0 group by 1, 2, 3"
        )
        # The judgments of an order pair were counted one by one; together they are one battle.
        for unparsed, least, last, number in self.engine.rows(order_pairs):
            counts[names[least]] -= number
            if unparsed == 2:
                counts[names[last]] -= number
                counts[" / ".join(sorted({names[least], names[last]}))] += number
            elif not self.keep_one_sided:
                counts[ONE_ORDER_UNPARSED] += number
        return {reason: number for reason, number in counts.most_common() if number}

    def unparsed_texts(
        self, column: str, most: int, judges: Iterable[str] | None = None
    ) -> list[tuple[str, int]]:
        """Return the most frequent texts of a column among unparsed judgments, with their counts.

        Args:
            column: name of a column; the result is empty if there is none.
            most: number of texts.
            judges: names of the judges whose judgments count; None for all.
        """
        if not {column, "credit"} <= {*self.columns}:
            return []
        unparsed = f"from {self.judgments} where credit is null and {column} is not null"
        if judges is not None:
            unparsed += f" and judge in ({', '.join(map(relations.text, judges))})"
        rows = self.engine.rows(
            f"select {column}, count(*) {unparsed} group by 1 order by 2 desc, 1 limit {most}"
        )
        return [(str(value), int(number)) for value, number in rows]

    def notes(self) -> list[Notice]:
        """Return warnings about judgments that cannot be merged, equal rows, unknown orders, and
        battles whose credit is that of the sign of their margin."""
        tally = self.tally
        notes = list[Notice]()
        if self.has_items:
            twice = self._identical_rows() if tally.crowded else 0
            both = self._untold_orders() if "order" not in self.columns else 0
            if twice:
                notes.append(Notice("rows-repeat", {"rows": twice}))
            if both:
                notes.append(Notice("orders-unknown", {"rows": both}))
        if self.merge and tally.ambiguous:
            notes.append(Notice("judgments-unmerged", {"judgments": tally.ambiguous}))
        if tally.lacking:
            notes.append(Notice("margin-sign", {"battles": tally.lacking}))
        return notes

    def pairs(self, *, hard: bool = False, against: int | None = None) -> dict[str, np.ndarray]:
        """Return sums over the readable battles of each pair, shape (pairs,) each.

        The columns are `first` and `second` (codes of the models), `credit` (of the first,
        weighted), `weight`, and `judged`, the number of battles.

        Args:
            hard: round credits to win, tie or loss; a flip is a tie.
            against: the code of a model of which alone the battles are summed.
        """
        if (hard, against) not in self._pairs:
            if hard or against is not None:
                sums = self._sums_by_pair(OF_PAIRS, _met_condition(against), hard=hard)
            else:
                sums = self._sums
            met = sums["judged"] > 0
            columns = ("first", "second", *OF_PAIRS)
            self._pairs[hard, against] = {name: sums[name][met] for name in columns}
        return self._pairs[hard, against]

    def blocks(self, *, hard: bool = False, against: int | None = None) -> Iterator[Block]:
        """Yield the readable cells in blocks of whole clusters, ordered by cluster.

        Args:
            hard: round credits to win, tie or loss; a flip is a tie.
            against: the code of a model of which alone the battles are read.
        """
        columns = "cluster, first, second, credit / weight as credit, weight, judged"
        query = f"select {columns} from {self.cells(hard=hard)} where {_met_condition(against)}"
        rest: dict[str, np.ndarray] = {}
        for batch in self.engine.batches(query, CELL_ORDER):
            arrays = _arrays(batch)
            if rest:
                arrays = {name: np.concatenate([rest[name], own]) for name, own in arrays.items()}
            # The last cluster may go on in the next batch.
            end = int(np.searchsorted(arrays["cluster"], arrays["cluster"][-1]))
            if end:
                yield _block({name: own[:end] for name, own in arrays.items()})
            rest = {name: own[end:] for name, own in arrays.items()}
        if rest:
            yield _block(rest)

    def order_pairs(self) -> np.ndarray:
        """Return the row numbers of the two judgments of each order pair, shape (pairs, 2)."""
        if not ("order" in self.columns and self.has_items):
            return np.empty((0, 2), dtype=np.int64)
        query = relations.order_pairs_query(self._sided_rows, self._counted)
        pairs = _arrays(self.engine.table(f"{query} order by earlier"))
        every_row = self.engine.table(f"select {ROW} from {self.judgments} order by {ROW}")
        places = _arrays(every_row)[ROW]
        return np.searchsorted(places, np.column_stack([pairs["earlier"], pairs["later"]]))

    @cached_property
    def first_shown(self) -> dict[str, "FirstShown"]:
        """How the response shown first fared, by judge (`""` for rows without one).

        Empty if there is no order pair of which both replies were parsed.
        """
        if not ("order" in self.columns and self.has_items):
            return {}
        query = relations.first_shown_query(self._sided_rows, self._counted)
        table = _arrays(self.engine.table(query))
        names = dict(enumerate(self._names("judge"))) if "judge" in self.columns else {}
        shown = {}
        for code in np.unique(table["judge"]):
            own = table["judge"] == code
            columns = {name: table[name][own] for name in FirstShown._fields}
            shown[names.get(int(code), "")] = FirstShown(**columns)
        return shown

    @cached_property
    def table(self) -> pd.DataFrame:
        """The battles as a data frame, in the order of their first judgments."""
        return frame_of(
            self.engine.table(f"select * from {self._battles} order by {ROW}"), self.models
        )

    def separate_orders(self) -> "Verdicts":
        """Return the judgments as battles of their own, the two orders of a pair apart."""
        return Verdicts(self.engine, self.judgments, merge=False) if self.merge else self

    def join_orders(self, *, keep_one_sided: bool) -> "Verdicts":  # noqa: ARG002
        """Return these verdicts: what is in a database was merged as its reader was asked to."""
        return self

    def can_search(self, columns: Iterable[str]) -> bool:
        """Return whether the database finds texts in these columns sooner than a data frame does.

        It does not if the data frame of the battles was already read: the battles that the
        database finds are grouped again.
        """
        if "table" in vars(self):
            return False
        types = self.engine.columns(self._battles)
        return all(types.get(column) == "VARCHAR" for column in columns)

    def keep_where(self, columns: Iterable[str], value: str) -> "Verdicts":
        """Return the merged battles with a text in one or more of the given columns."""
        matches = (f"{quote_name(column)} = {relations.text(value)}" for column in columns)
        view = self.engine.fresh("slice")
        self.engine.view(view, f"select * from {self._battles} where {' or '.join(matches)}")
        return Verdicts(self.engine, view, merge=False)

    def values_of(self, column: str) -> tuple[str, ...]:
        """Return the distinct values of a text column, sorted, without empty ones."""
        name = quote_name(column)
        query = f"select distinct {name} from {self._battles} where {name} is not null order by 1"
        return tuple(value for (value,) in self.engine.rows(query))

    def cells(self, *, hard: bool = False) -> str:
        """Return the cells as an SQL subquery; the groups behind it are stored once."""
        if hard not in self._cells:
            further = relations.hard_count(self.columns) if hard else {}
            grouped = self.engine.fresh("grouped")
            source = f"({relations.counted_query(self._sided_rows, self._counted)}) as counted"
            query = partial(relations.grouped_query, present=self._counted, further=further)
            self.engine.store_groups(grouped, self._row_counts[0], source, query, CELL_ORDER)
            options = {"merge": self.merge, "keep_one_sided": self.keep_one_sided, "hard": hard}
            self._cells[hard] = (
                f"({relations.cells_query(grouped, self.columns, **options)}) as cells"
            )
        return self._cells[hard]

    @cached_property
    def _sums(self) -> dict[str, np.ndarray]:
        """Sums of all cell columns by pair, computed in one scan."""
        further = {
            "order": ("ambiguous",),
            "margin": ("with_margin", "lacking"),
            relations.HARD: ("graded",),
        }
        names = ["judgments", "battles", "decided", "crowded", *SWAPS, *OF_PAIRS]
        for column, own in further.items():
            if column in self.columns:
                names += own
        return self._sums_by_pair(names, "true")

    def _sums_by_pair(
        self, names: Iterable[str], met: str, *, hard: bool = False
    ) -> dict[str, np.ndarray]:
        """Return sums of the named cell columns by pair, over cells that meet a condition."""
        sums = ", ".join(
            f"cast(sum({quote_name(name)}) as double) as {quote_name(name)}" for name in names
        )
        cells = f"{self.cells(hard=hard)} where {met}"
        query = f"select first, second, {sums} from {cells} group by first, second"
        return _arrays(self.engine.table(f"{query} order by first, second"))

    @cached_property
    def has_items(self) -> bool:
        """Whether any row says which item it is about; without items each row stands alone."""
        return self._items > 0

    @cached_property
    def _codes(self) -> dict[str, str]:
        """Names of the tables that map names to codes, by column."""
        coded = {"model": ("model_a", "model_b")} | {name: (name,) for name in CODED}
        tables = {}
        for what, columns in coded.items():
            if {*columns} <= {*self.columns}:
                tables[what] = self.engine.fresh(what)
                self.engine.store(tables[what], relations.names_query(self.judgments, *columns))
        return tables

    @cached_property
    def _sided_rows(self) -> str:
        """The judgments as an SQL subquery from the view of the model with the lower code."""
        is_whole = self._row_counts[1] == 0
        query = relations.sided_query(
            self.judgments, self._codes, self._counted, self._items, is_whole=is_whole
        )
        return f"({query}) as sided"

    @cached_property
    def _items(self) -> int:
        """Number of distinct items, rows without an item left out."""
        if "item" not in self._codes:
            return 0
        return self.engine.rows(f"select count(*) from {self._codes['item']}")[0][0]

    @cached_property
    def _row_counts(self) -> tuple[Any, ...]:
        """Number of judgments, and of those without an item."""
        lacking = "count(*) - count(item)" if "item" in self.columns else "count(*)"
        return self.engine.rows(f"select count(*), {lacking} from {self.judgments}")[0]

    @cached_property
    def _battles(self) -> str:
        """Name of the table of battles.

        It is the table of judgments if nothing is merged and no credit is derived from a margin.
        """
        order_pairs = self.engine.fresh("order_pairs")
        name = self.engine.fresh("battles")
        query = ""
        if "margin" in self.columns:
            query = relations.singles_query(self.judgments, self.columns)
        if self.merge and "order" in self.columns and self.has_items:
            self.engine.store(
                order_pairs, relations.order_pairs_query(self._sided_rows, self._counted)
            )
            if self.engine.rows(f"select 1 from {order_pairs} limit 1"):
                query = relations.battles_query(
                    self.judgments, order_pairs, self.columns, keep_one_sided=self.keep_one_sided
                )
        if not query:
            return self.judgments
        self.engine.store(name, query)
        return name

    def _names(self, what: str) -> tuple[str, ...]:
        """Return the names of a code table in the order of their codes."""
        rows = self.engine.rows(f"select name from {self._codes[what]} order by code")
        return tuple(name for (name,) in rows)

    def _identical_rows(self) -> int:
        """Count the surplus copies of identical rows; three identical rows count as two."""
        keys = "cluster, first, second"
        suspects = f"select distinct {keys} from {self.cells()} where crowded > 0"
        rows = f"select {ROW} from {self._sided_rows} join ({suspects}) as c using ({keys})"
        columns = ", ".join(quote_name(name) for name in self.columns if name != ROW)
        suspected = f"{self.judgments} where {ROW} in ({rows})"
        copies = f"select count(*) as copies from {suspected} group by {columns}"
        query = f"select coalesce(sum(copies - 1), 0) from ({copies}) as counted"
        return int(self.engine.rows(query)[0][0])

    def _untold_orders(self) -> int:
        """Count the rows of pairs that one judge has as (a, b) and as (b, a) on one item."""
        keys = "cluster, first, second"
        for name in ("judge", "metric"):
            keys += f", {name}" if name in self.columns else ""
        matchups = (
            f"select sum(battles) as n, sum(forward) as ahead from {self.cells()} "
            f"where cluster < {self._items} group by {keys}"
        )
        query = (
            f"select coalesce(sum(n), 0) from ({matchups}) as matchups "
            "where ahead > 0 and ahead < n"
        )
        return int(self.engine.rows(query)[0][0])


def start_engine(name: str = "duckdb", memory: str | None = None) -> Engine:
    """Start a database.

    Args:
        name: `duckdb`, `spark`, or `spark=URL` of a master.
        memory: the most that DuckDB holds in memory, for example `700MB`.

    Raises:
        UsageError: the name is unknown, Spark does not start, or Spark is given a `memory`.
    """
    kind, _, url = name.partition("=")
    if kind == "duckdb" and not url:
        from podium.data.counting.duck import Duck

        return Duck(memory)
    if kind != "spark":
        remedy = "use duckdb, spark, or spark=URL of a master"
        raise UsageError(f"engine {name!r} is unknown; {remedy}")
    if memory is not None:
        raise UsageError("--memory is DuckDB's; Spark's is set where its cluster is configured")
    from podium.data.counting.spark import Spark

    return Spark(url or None)


def verdicts_of(
    frame: pd.DataFrame,
    *,
    merge: bool = True,
    keep_one_sided: bool = False,
    engine: "Engine | None" = None,
) -> Verdicts:
    """Load checked judgments of a data frame into a database.

    Args:
        frame: the judgments, a row each.
        merge: average the two orders of a pair into one battle.
        keep_one_sided: whether a pair with one unparsed order keeps the other order's verdict.
        engine: the database; by default a new one of DuckDB.
    """
    engine = engine or start_engine()
    name = engine.fresh("judgments")
    columns = {ROW: pa.array(np.arange(len(frame), dtype=np.int64))}
    columns |= {str(column): arrow_column(frame[column]) for column in frame}
    engine.register(name, pa.table(columns))
    return Verdicts(engine, name, merge=merge, keep_one_sided=keep_one_sided)


def _arrays(table: pa.Table | pa.RecordBatch) -> dict[str, np.ndarray]:
    """Return the columns of an Arrow table as arrays, by name."""
    return {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.schema.names}


def _block(arrays: dict[str, np.ndarray]) -> Block:
    """Return cells sorted by cluster as a block, with its clusters numbered from 0."""
    begins = np.append(True, arrays["cluster"][1:] != arrays["cluster"][:-1])
    cluster = np.cumsum(begins) - 1
    return Block(
        first=arrays["first"],
        second=arrays["second"],
        credit=arrays["credit"],
        weight=arrays["weight"],
        battles=arrays["judged"],
        cluster=cluster,
        clusters=int(cluster[-1]) + 1,
    )


def _met_condition(against: int | None) -> str:
    """Return the SQL condition for readable cells, optionally only those of one model."""
    if against is None:
        return "judged > 0"
    return f"judged > 0 and (first = {against} or second = {against})"


def frame_of(table: pa.Table, models: tuple[str, ...]) -> pd.DataFrame:
    """Convert a battles table of a database to a data frame.

    Models become categoricals over the sorted names.
    """
    columns = {}
    for name in table.schema.names:
        if name in ("model_a", "model_b"):
            columns[name] = _categorical(table.column(name), models)
        elif name in CATEGORIES:
            columns[name] = _categorical(table.column(name))
        elif name != ROW:
            columns[name] = table.column(name).to_pandas(integer_object_nulls=True)
    return pd.DataFrame(columns, index=pd.RangeIndex(len(table)))


def arrow_column(cells: pd.Series) -> pa.Array:
    """Convert a column to Arrow; mixed or nested values become text."""
    if isinstance(cells.dtype, pd.CategoricalDtype):
        cells = cells.astype(cells.cat.categories.dtype)
    try:
        array = pa.array(cells, from_pandas=True)
    except (
        pa.ArrowInvalid,
        pa.ArrowTypeError,
        pa.ArrowNotImplementedError,
        OverflowError,
        UnicodeError,
    ):
        array = None
    if array is None or pa.types.is_nested(array.type) or pa.types.is_binary(array.type):
        # A boolean is written differently from the words `True` and `False`.
        words = [
            str(cell).lower() if isinstance(cell, bool | np.bool_) else text_of(cell)
            for cell in cells
        ]
        # Halves of characters, which no file can hold, as `\\ud83d`.
        whole = (
            word and LONE_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):x}", word) for word in words
        )
        return pa.array(list(whole), pa.string())
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array


def _categorical(column: pa.ChunkedArray, names: tuple[str, ...] | None = None) -> pd.Categorical:
    """Convert a text column to a categorical with sorted categories; empty cells get code -1."""
    labels = column.unique().drop_null().sort() if names is None else pa.array(names, column.type)
    codes = pc.index_in(column, value_set=labels).fill_null(-1).to_numpy()
    return pd.Categorical.from_codes(codes, categories=pd.Index(labels.to_pylist(), dtype=object))
