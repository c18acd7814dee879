"""Battles in memory: a data frame with the same interface as verdicts in a database."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from podium.data.counting.grades import Grades, count_grades
from podium.data.counting.relations import HARD_CREDIT, IDENTICAL, NO_REASON, SWAPS, UNNAMED_JUDGE
from podium.data.counting.verdicts import FirstShown, Tally, Verdicts, verdicts_of
from podium.errors import unknown_name_error
from podium.text import as_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class BattleFrame:
    """Battles in memory, one row each, with the interface of `Verdicts`.

    Counts for which pandas is faster than a database are computed here. All others are computed by
    `verdicts`, which loads the rows into a database when it is first used.

    Attributes:
        table: checked battles, indexed from 0; `model_a` and `model_b` are categoricals over the
            same sorted models.
        group: the column with the groups of items, in which every row has a value; None if there
            are no groups.
        judgments: number of judgments behind the battles; None if the table shows it.
        merged_grades: the grades behind the battles, if each is merged from those of several
            judges; None if the table shows them.
    """

    table: "pd.DataFrame"
    group: str | None = None
    judgments: int | None = None
    merged_grades: Grades | None = None

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def verdicts(self) -> Verdicts:
        """The same battles in a database. They are not merged again."""
        return verdicts_of(self.table, merge=False, group=self.group)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(map(str, self.table.columns))

    @property
    def battle_columns(self) -> frozenset[str]:
        """Names of the columns: these are battles, and no judgments that are merged later."""
        return frozenset(self.columns)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of all models, sorted: the order of their codes."""
        return tuple(self.table["model_a"].cat.categories)

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of all judges, sorted. If only some rows have a judge, the others count as
        `UNNAMED_JUDGE`, the last name.

        Empty without a column of judges, or if all its cells are empty.
        """
        if "judge" not in self.table:
            return ()
        named = self.values_of("judge")
        has_unnamed = bool(named) and bool(self.table["judge"].isna().any())
        return (*named, UNNAMED_JUDGE) if has_unnamed else named

    @property
    def has_items(self) -> bool:
        """Whether any row has an item. If none has, each row counts as an item of its own."""
        return "item" in self.table and bool(self.table["item"].notna().any())

    @property
    def groups(self) -> int | None:
        """Number of groups of items; None if items have no groups."""
        return None if self.group is None else int(self.table[self.group].nunique())

    def count_names(self, column: str) -> int:
        """Return the number of distinct values in a column; 0 if there is no such column."""
        return int(self.table[column].nunique()) if column in self.table else 0

    def numbers_of(self, column: str) -> np.ndarray:
        """Return a numeric column, NaN where empty, shape (battles,)."""
        return self.table[column].to_numpy(dtype=np.float64, na_value=np.nan)

    def texts_of(self, column: str) -> np.ndarray:
        """Return a column as text, None where empty, shape (battles,)."""
        return as_text(self.table[column]).to_numpy(dtype=object)

    def codes_of(self, column: str) -> np.ndarray:
        """Return the codes of a column, -1 where empty, shape (battles,).

        The column is a categorical, or the one with the groups of items. Codes are positions among
        the sorted values.
        """
        if column == self.group:
            import pandas as pd

            codes, _ = pd.factorize(as_text(self.table[column]), sort=True)
            return codes.astype(np.int64)
        return self.table[column].cat.codes.to_numpy(dtype=np.int64)

    def names_of(self, column: str) -> tuple[str, ...]:
        """Return the names of a column as text, by the codes of `codes_of`.

        Args:
            column: `item`, or the column with the groups of items.
        """
        if column == self.group:
            return self.values_of(column)
        return tuple(self.table[column].cat.categories)

    @cached_property
    def tally(self) -> Tally:
        """Counts over all battles.

        `ambiguous`, `crowded` and `credit_by_margin` are 0, because they are known only before
        merging.
        """
        table = self.table
        is_judged = table["credit"].notna()
        outcome = parsed_credits(table)
        decided = table[is_judged & (outcome != 0.5)]
        swaps = Counter(table["swap"].dropna()) if "swap" in table else Counter()
        differs_from_verdict = outcome != table["credit"]
        is_graded = is_judged & differs_from_verdict & ~table["credit"].isin([0, 0.5, 1])
        with_margin = 0
        if "margin" in table:
            with_margin = int(table.loc[is_judged, "margin"].notna().sum())
        identical = int(table[IDENTICAL].eq(True).sum()) if IDENTICAL in table else 0
        return Tally(
            judgments=self._count_judgments(sum(swaps.values()), identical),
            battles=len(table),
            judged=int(is_judged.sum()),
            decided=len(decided),
            items=_count_items(table),
            informative=_count_items(decided),
            swaps={kind: swaps[kind] for kind in SWAPS},
            graded=int(is_graded.sum()),
            with_margin=with_margin,
            identical=identical,
        )

    def _count_judgments(self, pairs: int, identical: int) -> int:
        """Return the number of judgments behind the battles.

        Args:
            pairs: number of battles that were merged from two orders.
            identical: number of battles of identical responses, which were not judged.
        """
        if self.judgments is not None:
            return self.judgments
        return len(self.table) + pairs - identical

    @cached_property
    def unparsed_reasons(self) -> dict[str, int]:
        """Numbers of unparsed battles by reason, the most frequent first.

        A battle without a reason counts under `NO_REASON`.
        """
        import pandas as pd

        unparsed = self.table.loc[self.table["credit"].isna()]
        if "reason" in unparsed:
            reasons = unparsed["reason"].astype(object).fillna(NO_REASON)
        else:
            reasons = pd.Series(NO_REASON, index=unparsed.index)
        return {str(reason): int(number) for reason, number in reasons.value_counts().items()}

    @cached_property
    def grades(self) -> Grades:
        """The grades of judges that are shown one response at a time (`count_grades`).

        The table must have the columns `judge`, `score_a` and `score_b`.
        """
        return self.merged_grades or count_grades(self.table)

    @property
    def first_shown(self) -> dict[str, FirstShown]:
        """How often the response shown first won, by judge. The key of rows without a judge is
        `""`.

        Only order pairs with two parsed verdicts are counted, so that it is empty for battles that
        were merged before.
        """
        return self.verdicts.first_shown

    def unparsed_texts(
        self,
        column: str,
        most: int,
        judges: Iterable[str] | None = None,
        reasons_left_out: Iterable[str] = (),
    ) -> list[tuple[str, int]]:
        """Return the most frequent texts of a column among unparsed battles, with their counts.

        Empty cells, other judges than `judges` (None for all) and the reasons `reasons_left_out` do
        not count; a reason may go on after a colon. Empty without the column.
        """
        return self.verdicts.unparsed_texts(column, most, judges, reasons_left_out)

    def order_pairs(self) -> np.ndarray:
        """Return the positions of the two judgments of each order pair, shape (pairs, 2).

        The earlier one comes first; it may be of either order.
        """
        return self.verdicts.order_pairs()

    def separate_orders(self) -> "BattleFrame":
        """Return these battles unchanged: the judgments from which they were merged are unknown."""
        return self

    def join_orders(self, *, keep_one_sided: bool) -> "BattleFrame | Verdicts":
        """Return battles with the two orders merged, in a database.

        These battles are returned as they are if they have no column `order`, or if the orders
        were merged before (a column `swap`).

        Args:
            keep_one_sided: whether an order pair with one unparsed judgment has the verdict of the
                other one; else it is unparsed.
        """
        if "order" not in self.table or "swap" in self.table:
            return self
        return verdicts_of(self.table, keep_one_sided=keep_one_sided, group=self.group)

    def can_search(self, columns: Iterable[str]) -> bool:  # noqa: ARG002
        """Return True: a data frame finds values of all types."""
        return True

    def keep_where(self, columns: Iterable[str], values: Collection[str]) -> "BattleFrame":
        """Return the battles with one of the values, as text, in at least one of the columns.

        Models without a battle are dropped. A cell counts only if the whole text is one of them.

        Raises:
            UsageError: there is no such column.
        """
        matches = [as_text(self._column(name)).isin(values).to_numpy() for name in columns]
        return self.take(np.logical_or.reduce(matches))

    def values_of(self, column: str) -> tuple[str, ...]:
        """Return the distinct values of a column as text, sorted, without empty ones.

        Raises:
            UsageError: there is no such column.
        """
        texts = as_text(self._column(column)).dropna()
        return tuple(sorted(texts.unique()))

    def take(self, keep: np.ndarray) -> "BattleFrame":
        """Return the battles for which a mask, shape (battles,), is True.

        Models without a battle are dropped. `judgments` and `merged_grades` of the result are None.
        """
        table = self.table.loc[keep].reset_index(drop=True)
        models = sorted(set(table["model_a"].unique()) | set(table["model_b"].unique()))
        for side in ("model_a", "model_b"):
            table[side] = table[side].cat.set_categories(models)
        return BattleFrame(table, self.group)

    def _column(self, name: str) -> "pd.Series":
        """Return a column.

        Raises:
            UsageError: there is no such column. The message suggests the most similar name.
        """
        if name not in self.table:
            raise unknown_name_error("column", name, map(str, self.table.columns))
        return self.table[name]


def parsed_credits(table: "pd.DataFrame") -> "pd.Series":
    """Return the credits of model_a that decide what is a win, a tie or a flip.

    They are the values of `hard_credit` (the credit of the parsed verdict) if known, else those of
    `credit`. They are missing where `credit` is.
    """
    credit = table["credit"]
    if HARD_CREDIT not in table:
        return credit
    return table[HARD_CREDIT].fillna(credit).where(credit.notna())


def _count_items(table: "pd.DataFrame") -> int:
    """Count distinct items; rows without an item count one each."""
    if "item" not in table:
        return len(table)
    return table["item"].nunique() + int(table["item"].isna().sum())
