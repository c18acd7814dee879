"""The results of two models by item."""

from dataclasses import dataclass, fields
from itertools import pairwise
from math import fsum
from typing import Any

import numpy as np

from podium.comparison.direct_battles import DirectBattles


@dataclass(frozen=True, slots=True)
class ItemResults:
    """The results of two models and their differences by item; arrays of shape (items,).

    Attributes:
        item: the item as text.
        difference: the candidate's lead over the baseline: the difference of their scores, or the
            candidate's credit minus 1/2.
        candidate: the candidate's score; None for verdicts.
        baseline: the baseline's score; None for verdicts.
        is_identical: whether the answers are identical.
        weight: weight of the item in the mean over items.
        row_weight: mean weight of the item's battles.
        group: the group of the item; None if items have no groups.
        lead: a difference whose sign says who wins the item. For verdicts, it is that of the parsed
            verdicts (win, tie or loss) and not of soft credits.
    """

    item: np.ndarray
    difference: np.ndarray
    candidate: np.ndarray | None
    baseline: np.ndarray | None
    is_identical: np.ndarray
    weight: np.ndarray
    row_weight: np.ndarray
    group: np.ndarray | None
    lead: np.ndarray

    def __len__(self) -> int:
        return len(self.item)

    @property
    def group_codes(self) -> np.ndarray | None:
        """Code of each item's group, by sorted names, shape (items,); None without groups."""
        if self.group is None:
            return None
        _, code = np.unique(self.group, return_inverse=True)
        return code

    def take(self, rows: np.ndarray) -> "ItemResults":
        """Return the items of a mask, shape (items,), or of positions, in the order of these."""
        columns: dict[str, Any] = {}
        for each in fields(self):
            column = getattr(self, each.name)
            columns[each.name] = None if column is None else column[rows]
        return ItemResults(**columns)

    def largest_first(self) -> "ItemResults":
        """Return the items, those with the largest absolute difference first.

        Items of equal differences keep their order.
        """
        return self.take(np.argsort(-np.abs(self.difference), kind="stable"))

    def to_dicts(self, most: int, *, has_weights: bool) -> list[dict[str, Any]]:
        """Return the first items for JSON, a mapping each.

        `lead` is left out, and so are groups if there are none.

        Args:
            most: largest number of items.
            has_weights: whether the mappings have the key `weight`.
        """
        left_out = {"lead"}
        if not has_weights:
            left_out.add("weight")
        if self.group is None:
            left_out.add("group")
        names = [each.name for each in fields(self) if each.name not in left_out]
        columns = []
        for name in names:
            column = getattr(self, name)
            if column is None:
                column = np.full(len(self), None)
            columns.append(column[:most].tolist())
        return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def sum_by_code(values: np.ndarray, code: np.ndarray, size: int) -> np.ndarray:
    """Return the sum of the values of each code, shape (size,).

    Sums are rounded once, so that they do not depend on the order of the values, and values that
    cancel out have the sum 0.

    Args:
        values: the values, shape (n,).
        code: code of each value, from 0, shape (n,).
        size: number of codes.
    """
    # The values of a code are next to each other, from one element of `bounds` to the next.
    sorted_values = values[np.argsort(code, kind="stable")].tolist()
    bounds = [0, *np.cumsum(np.bincount(code, minlength=size)).tolist()]
    sums = [fsum(sorted_values[start:end]) for start, end in pairwise(bounds)]
    return np.array(sums, dtype=np.float64)


def score_results(rows: DirectBattles, *, by_metric: bool) -> ItemResults:
    """Return weighted mean scores, their difference and the mean weight per item.

    The difference of identical answers is set to 0, with one exception: if a metric (`by_metric`)
    scored the two differently, it saw more than the answers, for example what an agent did. The
    answers then do not count as identical.

    Args:
        rows: the battles of the two with scores of both; at least one.
        by_metric: whether a metric gave the scores, and not a judge.
    """
    size = len(rows.item_names)
    # Equal weights become exactly 1, so that they cause no rounding errors.
    weight = rows.weight / rows.weight[0]
    total = sum_by_code(weight, rows.item, size)
    candidate = sum_by_code(rows.candidate * weight, rows.item, size) / total
    baseline = sum_by_code(rows.baseline * weight, rows.item, size) / total
    difference = candidate - baseline
    is_identical = _any_by_item(rows, rows.is_identical)
    if by_metric:
        is_identical &= difference == 0
    difference = np.where(is_identical, 0.0, difference)
    row_weight = _mean_weights(rows)
    return ItemResults(
        item=rows.item_names,
        difference=difference,
        candidate=candidate,
        baseline=baseline,
        is_identical=is_identical,
        weight=row_weight,
        row_weight=row_weight,
        group=_first_groups(rows),
        lead=difference,
    )


def credit_results(rows: DirectBattles) -> ItemResults:
    """Return the candidate's mean lead over the baseline per item, and the weight of its battles.

    The weight of an item is the sum over its battles, so that the mean over items is that over
    battles, as of a ranking. The difference is the weighted mean credit minus 1/2; scores are None.

    Args:
        rows: the battles of the two; those without a verdict do not count.
    """
    rows_with_credit = rows.take(rows.has_credit)
    size = len(rows_with_credit.item_names)
    weight = sum_by_code(rows_with_credit.weight, rows_with_credit.item, size)
    earned = sum_by_code(
        rows_with_credit.credit * rows_with_credit.weight, rows_with_credit.item, size
    )
    earned_by_outcome = sum_by_code(
        rows_with_credit.outcome * rows_with_credit.weight, rows_with_credit.item, size
    )
    return ItemResults(
        item=rows_with_credit.item_names,
        difference=earned / weight - 0.5,
        candidate=None,
        baseline=None,
        is_identical=_any_by_item(rows_with_credit, rows_with_credit.is_identical),
        weight=weight,
        row_weight=_mean_weights(rows_with_credit),
        group=_first_groups(rows_with_credit),
        lead=earned_by_outcome / weight - 0.5,
    )


def _mean_weights(rows: DirectBattles) -> np.ndarray:
    """Return the mean weight of the battles of each item, shape (items,)."""
    size = len(rows.item_names)
    return sum_by_code(rows.weight, rows.item, size) / np.bincount(rows.item, minlength=size)


def _any_by_item(rows: DirectBattles, mask: np.ndarray) -> np.ndarray:
    """Return the mask of the items with a battle in a mask of battles, shape (items,)."""
    return np.bincount(rows.item, mask, minlength=len(rows.item_names)) > 0


def _first_groups(rows: DirectBattles) -> np.ndarray | None:
    """Return the group of each item's first battle, shape (items,); None without groups."""
    if rows.group is None:
        return None
    _, first_row = np.unique(rows.item, return_index=True)
    return rows.group[first_row]
