"""How much the order of responses decides verdicts in each slice, for example of each task.

Figures of slices come from the judgments of all battles: a battle that is merged from two orders no
longer says which of them was won by the response shown first.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from weakref import WeakKeyDictionary

import numpy as np

from podium.data.battles import SOURCES, Battles, Rows
from podium.data.counting.relations import UNNAMED_JUDGE
from podium.data.counting.verdicts import FirstShown
from podium.data.listed_values import values_in_cell
from podium.diagnosis.categories import category_columns
from podium.diagnosis.order_effect import OrderEffect, measure_effect
from podium.diagnosis.subject import first_shown
from podium.rankers.errors.intervals import holm
from podium.rankers.fit.coded import cluster_codes


@dataclass(frozen=True, slots=True)
class ShownVerdicts:
    """Verdicts with a known order, a row each; an order pair is one row of two verdicts.

    Attributes:
        cluster: code of the item or group, shape (rows,).
        judge: name of the judge, empty if it has none, shape (rows,).
        won: wins of the response shown first; a tie of an order pair counts 0.5, shape (rows,).
        number: 2 for an order pair, else 1, shape (rows,).
        flip: 1 for an order pair with two different winners, else 0, shape (rows,).
        place: position of the (earlier) judgment, shape (rows,).
    """

    cluster: np.ndarray
    judge: np.ndarray
    won: np.ndarray
    number: np.ndarray
    flip: np.ndarray
    place: np.ndarray

    def take(self, rows: np.ndarray) -> FirstShown:
        """Return the verdicts of a boolean mask as `FirstShown`, not yet summed by cluster."""
        return FirstShown(
            cluster=self.cluster[rows],
            won=self.won[rows],
            number=self.number[rows],
            flips=self.flip[rows],
        )


_CACHE: WeakKeyDictionary[Rows, dict[str, Mapping[str, list[OrderEffect]]]] = WeakKeyDictionary()
"""Results of `effects_in_slices`: by the rows of all battles, then by column and level.

An entry is dropped when its battles are no longer in use.
"""


def columns_with_slices(battles: Battles) -> list[str]:
    """Return the names of the columns that sort items into categories (`category_columns`).

    If the battles are a part of others, the columns of all these are returned. The list is empty if
    no readable battle has an item.
    """
    whole = battles.whole or battles
    is_counted = (whole.item_codes >= 0) & whole.readable
    if not is_counted.any():
        return []
    return [name for name, _ in category_columns(whole, is_counted)]


def effects_in_slices(
    battles: Battles, column: str, level: float = 0.95
) -> Mapping[str, list[OrderEffect]]:
    """Measure the effect of the order on each judge in each slice of all battles.

    Of a judge that read pairs in both orders, only these pairs count; of another, the decided
    verdicts. P-values are adjusted over the slices by Holm's rule, for each judge.

    Args:
        battles: battles, or a part of them.
        column: a column, or several separated by commas, as of `Battles.slices`.
        level: confidence level of the intervals.

    Returns:
        By value of the column (values of several columns are joined by ", "), a list with the
        effect on each judge, sorted by judge. An effect names its judge if there are several
        judges. Empty if the battles lack a column, or if no verdict has a known order. Results are
        cached.
    """
    whole = battles.whole or battles
    cached = _CACHE.setdefault(whole.rows, {})
    key = f"{column}\n{level}"
    if key not in cached:
        cached[key] = _measure_slices(whole, column, level)
    return cached[key]


def _measure_slices(whole: Battles, column: str, level: float) -> dict[str, list[OrderEffect]]:
    """Measure the effect of the order on each judge in each slice, without the cache.

    Args:
        whole: all battles, not a part of them.
        column: a column, or several separated by commas.
        level: confidence level of the intervals.

    Returns:
        The effects on each judge by value, as `effects_in_slices` returns them.
    """
    judgments = replace(whole, rows=whole.rows.separate_orders(), whole=None)
    names = [name.strip() for name in column.split(",")]
    if not {*names, "order"}.issubset(judgments.rows.battle_columns):
        return {}
    shown_verdicts = _shown_verdicts(judgments)
    rows_of_value = _rows_of_values(judgments, names, shown_verdicts.place)
    is_named = len(whole.judges) > 1
    effects: dict[str, list[OrderEffect]] = {}
    for judge in sorted({*shown_verdicts.judge.tolist()}):
        name = (judge or UNNAMED_JUDGE) if is_named else None
        measured = []
        for value, rows in rows_of_value.items():
            verdicts = shown_verdicts.take(rows & (shown_verdicts.judge == judge))
            if len(verdicts.won):
                effect = measure_effect(
                    name, verdicts_of_judges=[verdicts], unit=whole.unit, level=level
                )
                is_single = bool((verdicts.number == 1).all())
                measured.append((value, replace(effect, is_single=is_single)))
        adjusted = holm(np.array([effect.p for _, effect in measured])).tolist()
        for (value, effect), p in zip(measured, adjusted, strict=True):
            effects.setdefault(value, []).append(replace(effect, p=p))
    return effects


def _rows_of_values(
    judgments: Battles, names: list[str], place: np.ndarray
) -> dict[str, np.ndarray]:
    """Return which rows of `ShownVerdicts` are in each slice.

    The values of several columns are joined by ", ". A row with an empty cell is in no slice; a row
    whose cell lists several values is in the slice of each.

    Args:
        judgments: the judgments.
        names: the columns whose values are combined.
        place: position among the judgments of each row of `ShownVerdicts`, shape (rows,).

    Returns:
        Boolean masks of shape (rows,), by value in sorted order.
    """
    cells = np.stack([judgments.rows.texts_of(name)[place] for name in names], axis=1)
    keys = [tuple(row) for row in cells.tolist()]
    number_of = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    code = np.array([number_of[key] for key in keys], dtype=np.int64)
    rows_of_value: dict[str, np.ndarray] = {}
    for key, number in number_of.items():
        if None in key:
            continue
        is_key = code == number
        # A cell that lists several values makes a combination with each of them.
        values_of_cells = [values_in_cell(cell) for cell in key]
        for values in product(*values_of_cells):
            value = ", ".join(values)
            counted_rows = rows_of_value.get(value)
            rows_of_value[value] = is_key if counted_rows is None else counted_rows | is_key
    return dict(sorted(rows_of_value.items()))


def _shown_verdicts(judgments: Battles) -> ShownVerdicts:
    """Return the verdicts with a known order, by the rule of `effects_in_slices`.

    They are all order pairs, and the single decided verdicts of judges that have no order pair.

    Args:
        judgments: verdicts, one per order.
    """
    _, outcome, _, is_known = first_shown(judgments)
    judge = np.full(len(judgments), "", dtype=object)
    if len(judgments.judges) > 1:
        judge[:] = [name or "" for name in judgments.rows.texts_of("judge")]
    cluster = cluster_codes(judgments)
    pairs = judgments.rows.order_pairs()
    pairs = pairs[is_known[pairs].all(axis=1)]
    # Verdicts by sign: a graded win counts as a win.
    won = (1 + np.sign(outcome - 0.5)) / 2
    won_in_pairs = won[pairs]
    # The response shown first won both times, or lost both times.
    has_same_outcome = won_in_pairs[:, 0] == won_in_pairs[:, 1]
    is_flip = has_same_outcome & (won_in_pairs[:, 0] != 0.5)
    has_both = {*judge[pairs[:, 0]].tolist()}
    is_other = np.array([name not in has_both for name in judge.tolist()])
    single = np.flatnonzero(is_known & (outcome != 0.5) & is_other)
    earlier = pairs[:, 0]
    place = np.concatenate([earlier, single])
    return ShownVerdicts(
        cluster=cluster[place],
        judge=judge[place],
        won=np.concatenate([won_in_pairs.sum(axis=1), won[single]]),
        number=np.concatenate([np.full(len(pairs), 2.0), np.ones(len(single))]),
        flip=np.concatenate([is_flip.astype(float), np.zeros(len(single))]),
        place=place,
    )


def is_slice_of_items(battles: Battles) -> bool:
    """Return whether battles are a slice by a property of items, such as the task.

    The result is False for battles that are no slice, and for a slice by a column of `SOURCES`,
    such as the judge: such a slice has all items of its source.
    """
    return battles.slice_key is not None and battles.slice_key[0] not in SOURCES
