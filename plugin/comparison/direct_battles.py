"""The battles between two models as arrays, seen from the candidate."""

from collections.abc import Collection
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from podium.comparison.compared_pair import ComparedPair
from podium.data.battles import Battles


@dataclass(frozen=True)
class BattleColumns:
    """Columns of battles, each read once for all pairs that are compared.

    Attributes:
        battles: the battles.
    """

    battles: Battles

    @cached_property
    def items(self) -> np.ndarray:
        """The item of each battle as text, shape (battles,).

        A row without an item is an item of its own, `row N` with N counted from 1.
        """
        code = self.battles.item_codes
        # The code -1 of a row without an item takes the last element.
        names = np.array([*self.battles.item_names, None], dtype=object)
        items = names[code]
        for row in np.flatnonzero(code < 0).tolist():
            items[row] = f"row {row + 1}"
        return items

    @cached_property
    def credit(self) -> np.ndarray:
        """What model_a earned, NaN without a verdict, shape (battles,)."""
        return self.battles.numbers_of("credit")

    @cached_property
    def outcome(self) -> np.ndarray:
        """What model_a earned by the parsed verdict, NaN without one, shape (battles,)."""
        return self.battles.outcomes

    @cached_property
    def weight(self) -> np.ndarray:
        """The weight of each battle, shape (battles,)."""
        if "weight" not in self.battles.rows.battle_columns:
            return np.ones(len(self.battles))
        return self.battles.numbers_of("weight")

    @cached_property
    def scores(self) -> tuple[np.ndarray, np.ndarray]:
        """The scores of model_a and model_b, NaN if unknown, shape (battles,) each."""
        return self.battles.numbers_of("score_a"), self.battles.numbers_of("score_b")

    @cached_property
    def groups(self) -> np.ndarray | None:
        """The group of each battle's item as text, shape (battles,); None without groups."""
        group = self.battles.group
        if group is None:
            return None
        rows = self.battles.rows
        names = np.array(rows.names_of(group), dtype=object)
        return names[rows.codes_of(group)]

    @cached_property
    def code_of_a(self) -> np.ndarray:
        """Position of model_a among the models, shape (battles,)."""
        return self.battles.model_codes[0]


@dataclass(frozen=True, slots=True)
class DirectBattles:
    """The battles between two models, seen from the candidate; arrays of shape (battles,).

    Attributes:
        row: the position of the battle among all, from 0.
        item: the item, as the position of its name in `item_names`.
        credit: the candidate's credit, 1/2 for identical answers; NaN without a verdict.
        outcome: the candidate's credit by the parsed verdict (win, tie or loss), 1/2 for identical
            answers.
        weight: the weight.
        candidate: the candidate's score; NaN if unknown.
        baseline: the baseline's score; NaN if unknown.
        is_identical: whether the answers are identical.
        is_unparsed: whether the reply is unparsed.
        group: the group of the item; None if items have no groups.
        item_names: the different items as text, sorted, shape (items,).
    """

    row: np.ndarray
    item: np.ndarray
    credit: np.ndarray
    outcome: np.ndarray
    weight: np.ndarray
    candidate: np.ndarray
    baseline: np.ndarray
    is_identical: np.ndarray
    is_unparsed: np.ndarray
    group: np.ndarray | None
    item_names: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    @property
    def has_credit(self) -> np.ndarray:
        """Mask of the battles with a verdict, shape (battles,)."""
        return ~np.isnan(self.credit)

    @property
    def has_scores(self) -> np.ndarray:
        """Mask of the battles with the scores of both models, shape (battles,)."""
        return ~np.isnan(self.candidate) & ~np.isnan(self.baseline)

    @property
    def cluster(self) -> np.ndarray:
        """Code of each battle's group or, without groups, of its item, from 0, shape (battles,)."""
        unit = self.item if self.group is None else self.group
        _, code = np.unique(unit, return_inverse=True)
        return code

    def take(self, keep: np.ndarray) -> "DirectBattles":
        """Return the battles of the mask `keep`, shape (battles,).

        Items without a kept battle are left out of `item_names`, and the others get new codes.
        """
        columns: dict[str, Any] = {}
        for attribute in fields(self):
            column = getattr(self, attribute.name)
            if attribute.name != "item_names":
                columns[attribute.name] = None if column is None else column[keep]
        present, columns["item"] = np.unique(columns["item"], return_inverse=True)
        return DirectBattles(**columns, item_names=self.item_names[present])


def direct_battles(columns: BattleColumns, pair: ComparedPair) -> DirectBattles:
    """Return the battles between two models, seen from the candidate.

    Args:
        columns: columns of all battles.
        pair: the two models, with the items on which their answers are identical.
    """
    battles = columns.battles
    row = battles.positions_between(pair.candidate, pair.baseline)
    items = columns.items[row].tolist()
    item_names = sorted({*items})
    code_of_item = {name: code for code, name in enumerate(item_names)}
    is_identical = mark_items(items, pair.identical)
    is_first = np.zeros(len(row), dtype=bool)
    if len(row):
        is_first = columns.code_of_a[row] == battles.models.index(pair.candidate)
    credit = _credit_of_candidate(columns.credit[row], is_first)
    outcome = _credit_of_candidate(columns.outcome[row], is_first)
    score_a, score_b = (scores[row] for scores in columns.scores)
    return DirectBattles(
        row=row,
        item=np.array([code_of_item[name] for name in items], dtype=np.int64),
        credit=np.where(is_identical & ~np.isnan(credit), 0.5, credit),
        outcome=np.where(is_identical, 0.5, outcome),
        weight=columns.weight[row],
        candidate=np.where(is_first, score_a, score_b),
        baseline=np.where(is_first, score_b, score_a),
        is_identical=is_identical,
        is_unparsed=battles.is_unparsed[row],
        group=None if columns.groups is None else columns.groups[row],
        item_names=np.array(item_names, dtype=object),
    )


def mark_items(items: Collection[str], wanted_items: Collection[str] | None) -> np.ndarray:
    """Return the mask of the items that are among the chosen ones, shape (items,).

    Args:
        items: the items, which may repeat.
        wanted_items: the chosen items; None for none.
    """
    wanted = frozenset(wanted_items or ())
    return np.fromiter((item in wanted for item in items), dtype=bool, count=len(items))


def _credit_of_candidate(credit_of_a: np.ndarray, is_first: np.ndarray) -> np.ndarray:
    """Return the candidate's credit, shape (battles,).

    Args:
        credit_of_a: what model_a earned, shape (battles,).
        is_first: mask of the battles in which the candidate is model_a, shape (battles,).
    """
    return np.where(is_first, credit_of_a, 1 - credit_of_a)
