"""Count and merge verdicts in a database, and read them as data frames or in blocks.

The relations, such as judgments, cells and pairs, are described in `relations`. Models, items,
judges and reasons are numbered by codes, in the order of their names.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from podium.data.counting import relations
from podium.data.counting.coded_texts import CodedTexts, code_by_name
from podium.data.counting.grades import Grades
from podium.data.counting.grouping import Grouping, RowsToGroup, group_arrays
from podium.data.counting.relations import (
    GROUP,
    NO_REASON,
    ROW,
    SWAPS,
    UNNAMED_JUDGE,
    quote_name,
)
from podium.distinct_values import distinct_values
from podium.errors import UsageError
from podium.notices.notice import Notice
from podium.scorers.reply import ONE_ORDER_UNPARSED
from podium.text import text_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from podium.data.counting.duck import Duck
    from podium.data.counting.spark import Spark

Engine: TypeAlias = "Duck | Spark"
"""A database that runs the queries. Both kinds have the same methods."""

CATEGORICAL = ("item", "judge", "voter", "metric", "order", "category", "reason", "swap")
"""Columns of the battles table that become categoricals, in addition to those of the models."""
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which cannot be written as UTF-8."""
CODED_COLUMNS = ("item", "judge", "voter", "metric", "reason")
"""Columns whose names are replaced by codes, in addition to those of the models."""
CELL_ORDER = "cluster, first, second"
"""Columns (SQL) by which cells are sorted in blocks."""
MOST_KEPT = 100_000
"""Largest number of judgments whose cells are kept in memory after they were read once."""
CODE = "podium_code_of_"
"""Prefix of a column with the codes of another one."""
CODES_OF_ROWS = (ROW, "forward")
"""Columns that are read with the codes of judgments: the row number, and whether the model with the
lower code is model a."""
MOST_PAIR_CODES = 1_000_000
"""Largest square of the number of models for which cells are added up by pair in arrays, which have
an element for each two models. With more models, the database adds up."""
SUMMED_COLUMNS = ("credit", "weight", "judged")
"""Columns of the cells that `Verdicts.pairs` sums."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over all battles.

    Attributes:
        judgments: number of judge calls; a battle merged from two orders counts as two.
        battles: number of compared pairs of responses.
        judged: number of battles with a readable verdict.
        decided: number of judged battles that are not ties.
        items: number of distinct items; a row without an item is an item of its own.
        informative: number of items with at least one decided battle.
        swaps: number of battles shown in both orders, by how the two verdicts agree (the keys of
            `SWAPS`).
        with_margin: number of judged battles with a margin.
        credit_by_margin: number of judged battles without a credit in the table, whose credit was
            derived from the sign of the margin.
        graded: number of judged battles whose credit is a probability, not a win, tie or loss.
        ambiguous: number of judgments that cannot be paired by order, because their item, pair,
            judge and repeat have more than one judgment in the same order.
        crowded: number of rows that share item, pair, judge and repeat with others and may
            therefore be copies.
        identical: number of battles of identical responses, which are ties without a judgment.
            They are among the judged battles.
    """

    judgments: int
    battles: int
    judged: int
    decided: int
    items: int
    informative: int
    swaps: dict[str, int]
    with_margin: int = 0
    credit_by_margin: int = 0
    graded: int = 0
    ambiguous: int = 0
    crowded: int = 0
    identical: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """The readable cells of some clusters, sorted by cluster; arrays of shape (cells,).

    A cluster is an item, a group of items, or a row without an item. All cells of a cluster are in
    the same block.

    Attributes:
        first: codes of the models with the lower code.
        second: codes of the models with the higher code.
        credit: mean credits of the first models.
        weight: sums of weights, positive.
        battles: numbers of battles.
        cluster: numbers of the clusters, from 0 in each block.
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
    """How often the response shown first won in order pairs; arrays of shape (clusters,).

    Only order pairs with two parsed verdicts are counted.

    Attributes:
        cluster: codes of the clusters, ascending.
        won: number of wins of the response shown first; a tie counts 0.5.
        number: number of verdicts.
        flips: number of order pairs whose two verdicts have different winners.
    """

    cluster: np.ndarray
    won: np.ndarray
    number: np.ndarray
    flips: np.ndarray


class Verdicts:
    """Judgments in a database, with the counts, battles and pair sums computed from them.

    Args:
        engine: the database.
        judgments: name of the table or view with the checked judgments, a row each.
        merge: whether the two judgments of an order pair are averaged into one battle.
        keep_one_sided: whether an order pair with one unparsed judgment has the verdict of the
            other one; else it is unparsed.
        group: the column with the groups of items, in which every row has a value; all items of a
            group are one cluster. None if each item is a cluster.
    """

    def __init__(
        self,
        engine: Engine,
        judgments: str,
        *,
        merge: bool = True,
        keep_one_sided: bool = False,
        group: str | None = None,
    ) -> None:
        self.group = group
        self.engine = engine
        self.judgments = judgments
        self.merge = merge
        self.keep_one_sided = keep_one_sided
        types = engine.columns(judgments)
        self.columns = tuple(types)
        # If it does not hold whole numbers, the column `response` is of another tool.
        self._counted = tuple(
            name for name in types if name != "response" or types[name] == "BIGINT"
        )
        self._groups: dict[bool, str] = {}
        self._codes_of_judgments: dict[str, np.ndarray] = {}
        self._codes_of_frame: dict[str, np.ndarray] = {}
        self._columns: dict[str, np.ndarray] = {}
        self._blocks: dict[tuple[bool, int | None], tuple[Block, ...]] = {}
        self._pairs: dict[tuple[bool, int | None], dict[str, np.ndarray]] = {}

    def __len__(self) -> int:
        # Without merging, each judgment is a battle.
        return self.tally.battles if self.merge else int(self._row_counts[0])

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Names of all models, sorted. The code of a model is its position."""
        return self._names("model")

    @cached_property
    def judges(self) -> tuple[str, ...]:
        """Names of all judges, sorted; empty without a judge column.

        If only some rows have a judge, the others count as `(no judge)`, the last name.
        """
        if "judge" not in self.columns:
            return ()
        named = self._names("judge")
        if not named:
            return named
        query = f"select 1 from {self.judgments} where judge is null limit 1"
        has_unnamed = bool(self.engine.rows(query))
        return (*named, UNNAMED_JUDGE) if has_unnamed else named

    def count_names(self, column: str) -> int:
        """Return the number of distinct names in a column of the judgments.

        The two orders of a battle are not merged for it.

        Args:
            column: one of `CODED_COLUMNS`, or the column with the groups of items. Without such a
                column the number is 0.
        """
        if column not in self._codes:
            return 0
        ((names,),) = self.engine.rows(f"select count(*) from {self._codes[column]}")
        return int(names)

    @cached_property
    def tally(self) -> Tally:
        """Counts over all battles, with orders merged as `merge` says."""
        numbers = self._sums.keys() - {"first", "second", "credit", "weight"}
        sums = {name: int(self._sums[name].sum()) for name in numbers}
        swaps = {kind: sums.pop(kind, 0) for kind in SWAPS}
        decided = f"select distinct cluster from {self.cells()} where decided > 0"
        ((informative,),) = self.engine.rows(f"select count(*) from ({decided}) as clusters")
        # A judgment without an item is an item of its own.
        _, without_item = self._row_counts
        return Tally(items=self._items + without_item, informative=informative, swaps=swaps, **sums)

    @cached_property
    def grades(self) -> Grades:
        """The grades of judges that are shown one response at a time.

        The judgments must have the columns `judge`, `score_a` and `score_b`.
        """
        judges = relations.graders_query(self._battles, self.battle_columns)
        graders = [name for (name,) in self.engine.rows(judges)]
        if not graders:
            return Grades(number=0, battles=0)
        query = relations.grades_query(self._battles, self.battle_columns, graders)
        ((number, battles),) = self.engine.rows(query)
        return Grades(number=int(number), battles=int(battles))

    @cached_property
    def unparsed_reasons(self) -> dict[str, int]:
        """Numbers of unparsed battles by reason, the most frequent first.

        The reason of an order pair with two unparsed judgments names both of their reasons. With
        one, it is `ONE_ORDER_UNPARSED`, unless such pairs keep the other verdict.
        """
        if self.tally.judged == self.tally.battles:
            return {}
        has_reasons = "reason" in self.columns
        names = dict(enumerate(self._names("reason"))) if has_reasons else {}
        names[-1] = NO_REASON
        rows = relations.unparsed_query(self.judgments, self.columns)
        counts = Counter(dict(self.engine.rows(rows)))
        ends = "least_reason, last_reason" if has_reasons else "-1, -1"
        order_pairs = (
            f"select rows_unparsed, {ends}, count(*) from {self.cells()} "
            "where order_pair and rows_unparsed > 0 group by 1, 2, 3"
        )
        # Above, each unparsed judgment was counted. The judgments of an order pair are one battle,
        # so their reasons are replaced by one.
        for unparsed, least, last, number in self.engine.rows(order_pairs):
            counts[names[least]] -= number
            if unparsed == 2:
                counts[names[last]] -= number
                counts[" / ".join(sorted({names[least], names[last]}))] += number
            elif not self.keep_one_sided:
                counts[ONE_ORDER_UNPARSED] += number
        return {reason: number for reason, number in counts.most_common() if number}

    def unparsed_texts(
        self,
        column: str,
        most: int,
        judges: Iterable[str] | None = None,
        reasons_left_out: Iterable[str] = (),
    ) -> list[tuple[str, int]]:
        """Return the most frequent texts of a column among unparsed judgments, with their counts.

        A judgment counts as unparsed if its credit is empty, even if its margin decides the battle.

        Args:
            column: name of a column; the result is empty if there is none, or no column `credit`.
                Empty cells are left out.
            most: largest number of texts.
            judges: names of the judges whose judgments count; None for all.
            reasons_left_out: judgments with one of these reasons, which may go on after a colon,
                do not count.

        Returns:
            Texts with their counts, the most frequent first. Judgments of an order pair are
            counted one by one.
        """
        if not {column, "credit"} <= {*self.columns}:
            return []
        unparsed = f"from {self.judgments} where credit is null and {column} is not null"
        if judges is not None:
            unparsed += f" and judge in ({', '.join(map(relations.sql_literal, judges))})"
        if "reason" in self.columns:
            for reason in reasons_left_out:
                unparsed += f" and coalesce(reason, '') <> {relations.sql_literal(reason)}"
                unparsed += (
                    f" and coalesce(reason, '') not like {relations.sql_literal(reason + ':%')}"
                )
        rows = self.engine.rows(
            f"select {column}, count(*) {unparsed} group by 1 order by 2 desc, 1 limit {most}"
        )
        return [(str(value), int(number)) for value, number in rows]

    def notes(self) -> list[Notice]:
        """Return warnings about the judgments.

        They name equal rows, unknown orders, judgments that cannot be merged, and battles whose
        credit was derived from the sign of their margin. Equal rows and unknown orders are looked
        for only if there are items.
        """
        tally = self.tally
        notes: list[Notice] = []
        if self.has_items:
            identical_rows = 0
            if tally.crowded:
                identical_rows = self._count_identical_rows()
            unordered_rows = 0
            if "order" not in self.columns:
                unordered_rows = self._count_rows_of_unknown_order()
            if identical_rows:
                notes.append(Notice("rows-repeat", {"rows": identical_rows}))
            if unordered_rows:
                notes.append(Notice("orders-unknown", {"rows": unordered_rows}))
        if self.merge and tally.ambiguous:
            notes.append(Notice("judgments-unmerged", {"judgments": tally.ambiguous}))
        if tally.credit_by_margin:
            notes.append(Notice("margin-sign", {"battles": tally.credit_by_margin}))
        return notes

    def pairs(self, *, hard: bool = False, against: int | None = None) -> dict[str, np.ndarray]:
        """Return sums over the readable battles of each pair; arrays of shape (pairs,).

        The columns are `first` and `second` (codes of the models), `credit` (weighted sum of the
        first model's credits), `weight` (sum of weights) and `judged` (number of battles).

        Args:
            hard: whether credits are rounded to win, tie or loss; a flip is then a tie.
            against: code of a model; only its battles are summed. None for all battles.
        """
        if (hard, against) not in self._pairs:
            if hard or against is not None:
                sums = self._sums_by_pair(SUMMED_COLUMNS, _met_condition(against), hard=hard)
            else:
                sums = self._sums
            met = sums["judged"] > 0
            columns = ("first", "second", *SUMMED_COLUMNS)
            self._pairs[hard, against] = {name: sums[name][met] for name in columns}
        return self._pairs[hard, against]

    def blocks(self, *, hard: bool = False, against: int | None = None) -> Iterator[Block]:
        """Yield the readable cells in blocks, ordered by cluster.

        Nothing is yielded if no battle is readable.

        Args:
            hard: whether credits are rounded to win, tie or loss; a flip is then a tie.
            against: code of a model; only its battles are read. None for all battles.
        """
        if (hard, against) in self._blocks:
            yield from self._blocks[hard, against]
            return
        cluster = "cluster" if self.group is None else f"{GROUP} as cluster"
        columns = f"{cluster}, first, second, credit / weight as credit, weight, judged"
        query = f"select {columns} from {self.cells(hard=hard)} where {_met_condition(against)}"
        rest: dict[str, np.ndarray] = {}
        is_whole = True
        judgments = self._row_counts[0]
        for batch in self.engine.batches(query, CELL_ORDER, judgments):
            if not rest:
                rest = batch
                continue
            # The last cluster may go on in this batch, so its cells are kept until then.
            end = int(np.searchsorted(rest["cluster"], rest["cluster"][-1]))
            if end:
                is_whole = False
                yield _block({name: column[:end] for name, column in rest.items()})
            rest = {name: np.concatenate([rest[name][end:], new]) for name, new in batch.items()}
        if not rest:
            return
        block = _block(rest)
        if is_whole and judgments <= MOST_KEPT:
            self._blocks[hard, against] = (block,)
        yield block

    def order_pairs(self) -> np.ndarray:
        """Return the positions of the two judgments of each order pair, shape (pairs, 2).

        They are positions among all judgments in the order of reading, the earlier one first. It
        may be of either order. The shape is (0, 2) without a column `order`, or if no row has an
        item.
        """
        if "order" not in self.columns or not self.has_items:
            return np.empty((0, 2), dtype=np.int64)
        query = relations.order_pairs_query(self._sided_rows, self._counted)
        pairs = self.engine.arrays(f"{query} order by earlier")
        row_number_of_pair = np.column_stack([pairs["earlier"], pairs["later"]])
        judgments = self.engine.arrays(f"select {ROW} from {self.judgments} order by {ROW}")
        row_number_of_judgment = judgments[ROW]
        # Row numbers ascend, and those of pairs are among them: the search finds their positions.
        return np.searchsorted(row_number_of_judgment, row_number_of_pair)

    @cached_property
    def first_shown(self) -> dict[str, "FirstShown"]:
        """How often the response shown first won, by judge (`""` for rows without a judge).

        It is empty if there is no order pair with two parsed verdicts.
        """
        if "order" not in self.columns or not self.has_items:
            return {}
        has_groups = self.group is not None
        grouped = self._groups_table(hard=False)
        query = relations.first_shown_query(grouped, self._counted, has_groups=has_groups)
        table = self.engine.arrays(query)
        names = dict(enumerate(self._names("judge"))) if "judge" in self.columns else {}
        shown = {}
        for code in distinct_values(table["judge"]):
            is_of_judge = table["judge"] == code
            columns = {name: table[name][is_of_judge] for name in FirstShown._fields}
            shown[names.get(int(code), "")] = FirstShown(**columns)
        return shown

    @cached_property
    def table(self) -> "pd.DataFrame":
        """The battles as a data frame, in the order of their first judgments."""
        return frame_of(
            self.engine.table(f"select * from {self._battles} order by {ROW}"), self.models
        )

    def numbers_of(self, column: str) -> np.ndarray:
        """Return a numeric column of the battles, NaN where empty, shape (battles,)."""
        return self._column(f"cast({quote_name(column)} as double)")

    def texts_of(self, column: str) -> np.ndarray:
        """Return a column as text, None where empty, shape (battles,).

        Numbers have the text that they have in `table`: 3.0 is `3`.
        """
        name = quote_name(column)
        if self.engine.columns(self._battles).get(column) == "VARCHAR":
            return self._column(name)
        key = f"text of {name}"
        if key not in self._columns:
            cells = self.engine.rows(f"select {name} from {self._battles} order by {ROW}")
            texts = np.array([text_of(cell) for (cell,) in cells], dtype=object)
            texts.setflags(write=False)
            self._columns[key] = texts
        return self._columns[key]

    def codes_of(self, column: str) -> np.ndarray:
        """Return the codes of a column of the battles, -1 where empty, shape (battles,).

        They are positions among the sorted names.

        Args:
            column: `model_a`, `model_b`, `item` or the column with the groups of items.
        """
        is_of_models = column in ("model_a", "model_b")
        if column in self._codes_of_battles:
            return self._codes_of_battles[column].astype(np.int64)
        codes = self._codes["model" if is_of_models else column]
        join = f"left join {codes} as codes on codes.name = battles.{quote_name(column)}"
        return self._column("cast(coalesce(codes.code, -1) as bigint)", join)

    @property
    def items_relation(self) -> str | None:
        """The relation of the different items, to stand after FROM; None without items.

        It is `(select ...) as items`, with the column `item`.
        """
        if "item" not in self._codes:
            return None
        return f"(select name as item from {self._codes['item']}) as items"

    def names_of(self, column: str) -> tuple[str, ...]:
        """Return the names of a column as text, by the codes of `codes_of`.

        Args:
            column: `item`, or the column with the groups of items.
        """
        return tuple(text_of(name) or "" for name in self._names(column))

    def _column(self, expression: str, join: str = "") -> np.ndarray:
        """Return the values of an SQL expression of the battles, shape (battles,).

        They are kept, and cannot be changed. They are in the order of the row numbers.

        Args:
            expression: the expression.
            join: a clause that joins another table to `battles`.
        """
        source = f"{self._battles} as battles {join}"
        query = f"select {ROW}, {expression} as value from {source}"
        if query not in self._columns:
            values = _sort_rows(self.engine.arrays(query))["value"]
            values.setflags(write=False)
            self._columns[query] = values
        return self._columns[query]

    def separate_orders(self) -> "Verdicts":
        """Return verdicts in which each judgment is a battle, without merging order pairs."""
        if not self.merge:
            return self
        return Verdicts(self.engine, self.judgments, merge=False, group=self.group)

    def join_orders(self, *, keep_one_sided: bool) -> "Verdicts":  # noqa: ARG002
        """Return these verdicts unchanged: it was decided on reading whether orders are merged."""
        return self

    def can_search(self, columns: Iterable[str]) -> bool:
        """Return whether texts in these columns are found faster by the database than in `table`.

        They are not if `table` was already computed, because battles that the database selects
        must be grouped again.
        """
        if "table" in vars(self):
            return False
        types = self.engine.columns(self._battles)
        return all(types.get(column) == "VARCHAR" for column in columns)

    def keep_where(self, columns: Iterable[str], values: Iterable[str]) -> "Verdicts":
        """Return the merged battles that have one of the texts in at least one of the columns.

        They are a view of the database; nothing is copied.

        Args:
            columns: names of text columns.
            values: the texts, each of which must be the whole cell.
        """
        texts = ", ".join(map(relations.sql_literal, values))
        matches = (f"{quote_name(column)} in ({texts})" for column in columns)
        name = self.engine.fresh("slice")
        self.engine.view(name, f"select * from {self._battles} where {' or '.join(matches)}")
        return Verdicts(self.engine, name, merge=False, group=self.group)

    def values_of(self, column: str) -> tuple[str, ...]:
        """Return the distinct values of a text column, sorted, without empty ones."""
        name = quote_name(column)
        query = f"select distinct {name} from {self._battles} where {name} is not null order by 1"
        return tuple(value for (value,) in self.engine.rows(query))

    def cells(self, *, hard: bool = False) -> str:
        """Return the relation of the cells (`cells_query`), `(select ...) as cells`, for after
        FROM.

        Args:
            hard: whether credits are rounded to win, tie or loss; a flip is then a tie.
        """
        options = {"merge": self.merge, "keep_one_sided": self.keep_one_sided, "hard": hard}
        cells = relations.cells_query(
            self._groups_table(hard=hard),
            self.columns,
            has_groups=self.group is not None,
            **options,
        )
        return f"({cells}) as cells"

    def _groups_table(self, *, hard: bool) -> str:
        """Return the name of the table of groups (see `relations`), which the first call stores.

        Args:
            hard: whether it has the sums of credits that are rounded to win, tie or loss.
        """
        if hard not in self._groups:
            further = relations.hard_count(self.columns) if hard else {}
            grouped = self.engine.fresh("grouped")
            has_groups = self.group is not None
            grouping = relations.grouping_of_judgments(
                self._counted, further, has_groups=has_groups
            )
            is_small = self.engine.is_small(self._row_counts[0])
            counted = relations.counted_query(
                self._sided_rows,
                self._counted,
                has_groups=has_groups,
                types=self._small_types() if is_small else None,
            )
            source = f"({counted}) as counted"
            if not (is_small and self._group_arrays(grouped, source, grouping)):
                number = self._row_counts[0]
                rows = RowsToGroup(source, number, grouping, self._ranges_of_codes)
                self.engine.store_groups(grouped, rows)
            self._groups[hard] = grouped
        return self._groups[hard]

    def _small_types(self) -> dict[str, str]:
        """Return smaller types (SQL) that suffice for codes of models and for row numbers.

        They are by column: `first`, `second` and `ROW`. A column that needs its own type is left
        out.
        """
        types = {}
        if len(self.models) < 2**15:
            types = {"first": "smallint", "second": "smallint"}
        ((last,),) = self.engine.rows(f"select max({ROW}) from {self.judgments}")
        if last is not None and last < 2**31:
            types[ROW] = "int"
        return types

    def _group_arrays(self, name: str, counted: str, grouping: Grouping) -> bool:
        """Make a view of the groups of judgments in memory, and keep the codes of the judgments.

        Args:
            name: name of the view.
            counted: the relation of the counted columns (see `relations`).
            grouping: how they are grouped.

        Returns:
            Whether it was made: there are rows, and their keys can be sorted as numbers.
        """
        rows = self.engine.arrays(grouping.values_query(counted, CODES_OF_ROWS))
        groups = group_arrays(grouping, rows) if len(rows[ROW]) else None
        if groups is None:
            return False
        if not self._codes_of_judgments:
            self._codes_of_judgments = _sort_rows(_codes_of_sides(rows))
        # What is left to give to the query is the relation with the arrays.
        self.engine.view_arrays(name, groups, partial(grouping.arrays_query, groups))
        return True

    def _ranges_of_codes(self) -> dict[str, tuple[int, int]]:
        """Return bounds of the values of each counted column of whole numbers, by name.

        There must be a judgment. A column that is missing has (0, 0).
        """
        numbers = {name: self.count_names(name) for name in ("judge", "voter", "metric", "reason")}
        numbers |= {"first": len(self.models), "second": len(self.models)}
        if self.group is not None:
            numbers[GROUP] = self.count_names(self.group)
        ranges = {name: (0, max(number - 1, 0)) for name, number in numbers.items()}
        last_cluster = self._items
        if self._row_counts[1]:
            last_cluster += self.engine.rows(f"select max({ROW}) from {self.judgments}")[0][0]
        ranges["cluster"] = (0, last_cluster)
        types = self.engine.columns(self.judgments)
        for name in {"repeat", "response"} & {*self._counted}:
            if types[name] == "BIGINT":
                # An empty response counts as number 1.
                value = f"coalesce({name}, 1)"
                query = f"select min({value}), max({value}) from {self.judgments}"
                ranges[name] = self.engine.rows(query)[0]
        return ranges

    @cached_property
    def _codes_of_battles(self) -> dict[str, np.ndarray]:
        """The codes of `model_a`, `model_b` and `item` of each battle, shape (battles,) each.

        It is empty if the codes of the judgments are not in memory.
        """
        self._groups_table(hard=False)
        codes = self._codes_of_judgments
        if not codes:
            return {}
        if self._battles != self.judgments:
            # The models and the item of a merged battle are those of its earlier judgment.
            # Row numbers ascend, and it is among them: the search finds its position.
            position = np.searchsorted(codes[ROW], self._column(ROW))
            codes = {name: column[position] for name, column in codes.items()}
        item = np.where(codes["cluster"] < self._items, codes["cluster"], -1)
        return {"model_a": codes["model_a"], "model_b": codes["model_b"], "item": item}

    @cached_property
    def _sums(self) -> dict[str, np.ndarray]:
        """Sums over all cells of each pair, computed in one scan; arrays of shape (pairs,) by name.

        The columns are `first`, `second` and those of `Tally` and `pairs` that the judgments allow.
        """
        further = {
            "order": ("ambiguous",),
            "margin": ("with_margin", "credit_by_margin"),
            relations.HARD_CREDIT: ("graded",),
            relations.IDENTICAL: ("identical",),
        }
        names = ["judgments", "battles", "decided", "crowded", *SUMMED_COLUMNS]
        if {"order", "swap"} & {*self.columns}:
            names += SWAPS
        for column, sums in further.items():
            if column in self.columns:
                names += sums
        return self._sums_by_pair(names, met="true")

    def _sums_by_pair(
        self, names: Collection[str], met: str, *, hard: bool = False
    ) -> dict[str, np.ndarray]:
        """Return sums of columns of the cells, by pair.

        The result has `first` and `second`, the codes of the models, and the sums by name of the
        column; arrays of shape (pairs,), sorted by both codes.

        Args:
            names: names of the columns.
            met: SQL condition of the cells that are summed.
            hard: whether credits are rounded to win, tie or loss; a flip is then a tie.
        """
        cells = f"{self.cells(hard=hard)} where {met}"
        models = len(self.models)
        if self._codes_of_judgments and models**2 <= MOST_PAIR_CODES:
            columns = ", ".join(map(quote_name, names))
            return _sum_by_pair(self.engine.arrays(f"select first, second, {columns} from {cells}"))
        sums = ", ".join(
            f"cast(sum({quote_name(name)}) as double) as {quote_name(name)}" for name in names
        )
        query = f"select first, second, {sums} from {cells} group by first, second"
        return self.engine.arrays(f"{query} order by first, second")

    @cached_property
    def has_items(self) -> bool:
        """Whether any row has an item. If none has, each row counts as an item of its own."""
        return self._items > 0

    @cached_property
    def groups(self) -> int | None:
        """Number of groups of items; None if items have no groups."""
        if self.group is None:
            return None
        return self.count_names(self.group)

    @cached_property
    def _codes(self) -> dict[str, str]:
        """Names of the tables that map names to codes (`names_query`), by column of the judgments.

        The key `model` stands for both columns of models. Columns that the judgments lack are left
        out.
        """
        coded = {"model": ("model_a", "model_b")} | {name: (name,) for name in CODED_COLUMNS}
        if self.group is not None:
            coded[self.group] = (self.group,)
        tables = {}
        for what, columns in coded.items():
            if {*columns} <= {*self.columns}:
                # The name of the column of groups may be no name of a table.
                stem = "item_group" if what == self.group else what
                tables[what] = self.engine.fresh(stem)
                if not self._register_names(tables[what], columns):
                    self.engine.store(tables[what], relations.names_query(self.judgments, *columns))
        return tables

    def _register_names(self, table: str, columns: Sequence[str]) -> bool:
        """Make the table of names from the texts of a data frame, and keep the codes by row.

        Args:
            table: name of the table.
            columns: the columns that have the names.

        Returns:
            Whether the texts are known.
        """
        texts = [self._texts_of_frame.get(column) for column in columns]
        known_texts = [each for each in texts if each is not None]
        if len(known_texts) < len(columns):
            return False
        import pyarrow as pa

        names, codes = code_by_name(known_texts)
        columns_of_table = {
            "name": pa.array(names, pa.string()),
            "code": pa.array(np.arange(len(names), dtype=np.int32)),
        }
        self.engine.register(table, pa.table(columns_of_table))
        self._codes_of_frame |= dict(zip(columns, codes, strict=True))
        return True

    @cached_property
    def _texts_of_frame(self) -> Mapping[str, CodedTexts]:
        """Texts of columns of the judgments by column; empty unless they are a small data frame."""
        frame = self.engine.coded_frame(self.judgments)
        if frame is None or not self.engine.is_small(len(frame.table)):
            return {}
        has_name_of_codes = any(name.casefold().startswith(CODE) for name in self.columns)
        return {} if has_name_of_codes else frame.texts

    @cached_property
    def _coded_judgments(self) -> tuple[str, dict[str, str]]:
        """The relation of the judgments, and names of its columns of codes by the column coded.

        If no codes are known, these are `judgments` and an empty mapping.
        """
        tables = self._codes
        frame = self.engine.coded_frame(self.judgments)
        if frame is None or not self._codes_of_frame or not tables:
            return self.judgments, {}
        import pyarrow as pa

        names = {column: f"{CODE}{k}" for k, column in enumerate(self._codes_of_frame)}
        table = frame.table
        for column, codes in self._codes_of_frame.items():
            is_empty = codes < 0
            cells = pa.array(codes, mask=is_empty if is_empty.any() else None)
            table = table.append_column(names[column], cells)
        coded = self.engine.fresh("coded")
        view = self.engine.fresh("judgments")
        self.engine.register(coded, table)
        selection = ", ".join([frame.selection, *names.values()])
        self.engine.view(view, f"select {selection} from {coded}")
        return view, names

    @cached_property
    def _sided_rows(self) -> str:
        """The relation of the sided judgments (`sided_query`): `(select ...) as sided`."""
        _, without_item = self._row_counts
        is_whole = without_item == 0
        judgments, codes = self._coded_judgments
        query = relations.sided_query(
            judgments,
            self._codes,
            self._counted,
            self._items,
            is_whole=is_whole,
            group=self.group,
            codes=codes,
        )
        return f"({query}) as sided"

    @cached_property
    def _items(self) -> int:
        """Number of distinct items, rows without an item left out."""
        return self.count_names("item")

    @cached_property
    def _row_counts(self) -> tuple[Any, ...]:
        """The number of judgments, and the number of judgments without an item, shape (2,)."""
        without_item = "count(*) - count(item)" if "item" in self.columns else "count(*)"
        (counts,) = self.engine.rows(f"select count(*), {without_item} from {self.judgments}")
        return counts

    @cached_property
    def battle_columns(self) -> frozenset[str]:
        """Names of the columns of the battles: merged ones have more than judgments."""
        return frozenset(self.engine.columns(self._battles))

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
        """Return the names of a code table in the order of their codes.

        Args:
            what: `model` or a column, as in `_codes`; KeyError if the judgments lack the column.
        """
        rows = self.engine.rows(f"select name from {self._codes[what]} order by code")
        return tuple(name for (name,) in rows)

    def _count_identical_rows(self) -> int:
        """Count the rows that are identical to an earlier row in every column.

        Only rows of crowded cells are compared, because others cannot be identical.
        """
        columns = ", ".join(quote_name(name) for name in self.columns if name != ROW)
        suspects = f"select distinct cluster, first, second from {self.cells()} where crowded > 0"
        if self._codes_of_judgments:
            return self._count_copies(self._judgments_in_cells(suspects), columns)
        # Models are coded in the order of their names, so that the first name is the lesser one.
        keys = "item, least(model_a, model_b), greatest(model_a, model_b)"
        names = (
            f"select items.name, a.name, b.name from ({suspects}) as suspects "
            f"join {self._codes['item']} as items on items.code = suspects.cluster "
            f"join {self._codes['model']} as a on a.code = suspects.first "
            f"join {self._codes['model']} as b on b.code = suspects.second"
        )
        return self._count_copies(f"{self.judgments} where ({keys}) in ({names})", columns)

    def _judgments_in_cells(self, cells: str) -> str:
        """Return what follows FROM in SQL: the judgments, with a where clause that selects some
        cells.

        The rows are found by the codes in memory.

        Args:
            cells: a query of `cluster`, `first` and `second` of the cells, which are items.
        """
        codes = self._codes_of_judgments
        columns = {
            ROW: codes[ROW],
            "cluster": codes["cluster"],
            "first": np.minimum(codes["model_a"], codes["model_b"]),
            "second": np.maximum(codes["model_a"], codes["model_b"]),
        }
        if len(codes[ROW]) > MOST_KEPT:
            # To look up codes is faster than to join all rows.
            may_be_in_cell = _may_be_in_cell(columns, self.engine.arrays(cells))
            columns = {name: column[may_be_in_cell] for name, column in columns.items()}
        rows = self.engine.fresh("rows")
        self.engine.view_arrays(rows, columns, lambda relation: f"select * from {relation}")
        judgments = self.judgments
        frame = self.engine.coded_frame(self.judgments)
        if frame is not None:
            # Only these rows of the frame are read; they are numbered from 1.
            taken = self.engine.fresh("taken")
            self.engine.register(taken, frame.table.take(columns[ROW] - 1))
            judgments = f"(select {frame.selection} from {taken})"
        in_cells = f"select {ROW} from {rows} where (cluster, first, second) in ({cells})"
        return f"{judgments} as judgments where {ROW} in ({in_cells})"

    def _count_copies(self, rows: str, columns: str) -> int:
        """Count the rows of a relation that are equal to an earlier row in some columns.

        Args:
            rows: the relation (SQL), which may have a where clause.
            columns: the columns, separated by commas.
        """
        copies = f"select count(*) as copies from {rows} group by {columns}"
        ((further_copies,),) = self.engine.rows(
            f"select coalesce(sum(copies - 1), 0) from ({copies}) as counted"
        )
        return int(further_copies)

    def _count_rows_of_unknown_order(self) -> int:
        """Count the rows of pairs that a judge has both as (a, b) and as (b, a) on one item.

        They may be two orders whose column `order` is missing. Rows without an item do not count.
        The judgments must have no column `order`.
        """
        matchups = (
            f"select battles as met, forward as met_as_ab from {self.cells()} "
            f"where cluster < {self._items}"
        )
        if {"repeat", "response"} & {*self.columns}:
            # Only then are several cells of one judge, pair and item possible.
            keys = "cluster, first, second"
            for name in ("judge", "voter", "metric"):
                keys += f", {name}" if name in self.columns else ""
            sums = "sum(battles) as met, sum(forward) as met_as_ab"
            matchups = (
                f"select {sums} from {self.cells()} where cluster < {self._items} group by {keys}"
            )
        query = (
            f"select coalesce(sum(met), 0) from ({matchups}) as matchups "
            "where met_as_ab > 0 and met_as_ab < met"
        )
        ((rows,),) = self.engine.rows(query)
        return int(rows)


def start_engine(name: str = "duckdb", memory: str | None = None) -> Engine:
    """Start a database.

    Args:
        name: `duckdb`, `spark`, or `spark=URL` of a master.
        memory: limit of the memory that DuckDB uses, for example `700MB`; None for DuckDB's own
            limit.

    Raises:
        UsageError: the name is unknown, `memory` is not a size, Spark does not start, or Spark is
            given a `memory`.
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
    frame: "pd.DataFrame",
    *,
    merge: bool = True,
    keep_one_sided: bool = False,
    engine: "Engine | None" = None,
    group: str | None = None,
) -> Verdicts:
    """Load checked judgments of a data frame into a database.

    The rows are numbered in their order, from 0.

    Args:
        frame: the judgments, a row each.
        merge: whether the two judgments of an order pair are averaged into one battle.
        keep_one_sided: whether an order pair with one unparsed judgment has the verdict of the
            other one; else it is unparsed.
        engine: the database; by default a new database of DuckDB.
        group: the column with the groups of items; None if there are none.
    """
    import pyarrow as pa

    engine = engine or start_engine()
    name = engine.fresh("judgments")
    columns = {ROW: pa.array(np.arange(len(frame), dtype=np.int64))}
    columns |= {str(column): arrow_column(frame[column]) for column in frame}
    engine.register(name, pa.table(columns))
    return Verdicts(engine, name, merge=merge, keep_one_sided=keep_one_sided, group=group)


def _sum_by_pair(cells: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Add up columns by `first` and `second`; arrays of shape (pairs,), sorted by both.

    Args:
        cells: the columns by name, shape (cells,) each; two of them are `first` and `second`, the
            codes of models.
    """
    # The code of a pair is first * size + second, in [0, size ** 2).
    size = int(cells["second"].max(initial=-1)) + 1
    pair = cells["first"] * np.int64(size) + cells["second"]
    is_met = np.bincount(pair, minlength=size**2) > 0
    codes = np.flatnonzero(is_met)
    sums = {"first": codes // max(size, 1), "second": codes % max(size, 1)}
    for name, column in cells.items():
        if name not in sums:
            sums[name] = np.bincount(pair, column, minlength=size**2)[is_met]
    return sums


def _may_be_in_cell(rows: Mapping[str, np.ndarray], cells: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return whether some cell has the cluster of a row, and some cell its pair, shape (rows,).

    With more than `MOST_PAIR_CODES` pairs of codes, pairs are not compared.

    Args:
        rows: codes in columns `cluster`, `first` and `second`, shape (rows,) each.
        cells: the same columns of the cells; their clusters are items.
    """
    last = int(cells["cluster"].max(initial=-1))
    has_cell = np.zeros(last + 2, dtype=bool)
    has_cell[cells["cluster"]] = True
    may_be_in_cell = has_cell[np.minimum(rows["cluster"], last + 1)]
    size = int(rows["second"].max(initial=-1)) + 1
    if size**2 <= MOST_PAIR_CODES:
        has_cell = np.zeros(size**2, dtype=bool)
        has_cell[cells["first"] * np.int64(size) + cells["second"]] = True
        may_be_in_cell &= has_cell[rows["first"] * np.int64(size) + rows["second"]]
    return may_be_in_cell


def _codes_of_sides(rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return row number, cluster, and codes of both models of judgments, shape (rows,) each.

    Args:
        rows: their columns `CODES_OF_ROWS`, `cluster`, `first` and `second`.
    """
    first = rows["first"]
    second = rows["second"]
    is_first_a = rows["forward"]
    return {
        ROW: rows[ROW],
        "cluster": rows["cluster"],
        "model_a": np.where(is_first_a, first, second),
        "model_b": np.where(is_first_a, second, first),
    }


def _sort_rows(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return columns in the order of the row numbers; those that are in order already, unchanged.

    A database keeps the order of most tables, and to look is faster than to sort.

    Args:
        columns: columns by name, shape (rows,) each; one of them is `ROW`.
    """
    rows = columns[ROW]
    if (rows[1:] > rows[:-1]).all():
        return columns
    order = np.argsort(rows, kind="stable")
    return {name: column[order] for name, column in columns.items()}


def _block(arrays: dict[str, np.ndarray]) -> Block:
    """Build a block of cells that are sorted by cluster; there must be at least one.

    Args:
        arrays: the columns of the cells by name, `cluster`, `first`, `second`, `credit`, `weight`
            and `judged`.
    """
    # Marks the first cell of each cluster; the running sum numbers the clusters.
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
    """Return the SQL condition for readable cells.

    Args:
        against: code of a model, to select only its cells; None for all models.
    """
    if against is None:
        return "judged > 0"
    return f"judged > 0 and (first = {against} or second = {against})"


def frame_of(table: "pa.Table", models: tuple[str, ...]) -> "pd.DataFrame":
    """Convert a battles table of a database to a data frame, indexed from 0.

    The two model columns become categoricals over `models`, the other columns in `CATEGORICAL`
    categoricals over their own sorted values. The column with row numbers is left out.
    """
    import pandas as pd

    columns = {}
    for name in table.schema.names:
        if name in ("model_a", "model_b"):
            columns[name] = _categorical(table.column(name), models)
        elif name in CATEGORICAL:
            columns[name] = _categorical(table.column(name))
        elif name != ROW:
            columns[name] = table.column(name).to_pandas(integer_object_nulls=True)
    return pd.DataFrame(columns, index=pd.RangeIndex(len(table)))


def arrow_column(cells: "pd.Series") -> "pa.Array":
    """Convert a column to Arrow.

    Values that Arrow cannot hold in one type (mixed, nested or binary ones) become text, booleans
    among these in lower case, and so does a column without any value. Missing values stay missing,
    and NaN is missing.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

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
        # Booleans are written in lower case, so that they differ from the words `True` and `False`.
        texts: list[str | None] = []
        for cell in cells:
            is_boolean = isinstance(cell, bool | np.bool_)
            cell_as_text = str(cell).lower() if is_boolean else text_of(cell)
            if cell_as_text:
                # Halves of surrogate pairs cannot be written as UTF-8; they become `\\ud83d`.
                cell_as_text = LONE_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):x}", cell_as_text)
            texts.append(cell_as_text)
        return pa.array(texts, pa.string())
    if pa.types.is_float32(array.type) or pa.types.is_float64(array.type):
        # Columns of pandas that have empty cells of their own may have NaN beside them.
        is_nan = pc.is_nan(array)
        if pc.any(is_nan).as_py():
            array = pc.if_else(is_nan, pa.scalar(None, array.type), array)
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array


def _categorical(
    column: "pa.ChunkedArray", names: tuple[str, ...] | None = None
) -> "pd.Categorical":
    """Convert a text column to a categorical. Empty cells, and values that are no category, get the
    code -1.

    Args:
        column: the column.
        names: the categories; by default the sorted values of the column.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    labels = column.unique().drop_null().sort() if names is None else pa.array(names, column.type)
    codes = pc.index_in(column, value_set=labels).fill_null(-1).to_numpy()
    return pd.Categorical.from_codes(codes, categories=pd.Index(labels.to_pylist(), dtype=object))
