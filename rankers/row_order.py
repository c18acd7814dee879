"""The order in which single rows are drawn: by what they hold, as names, sides and the order of a file say nothing."""

from collections.abc import Iterable

import numpy as np

from podium.nouns.battles import Battles, criterion_columns

ROUNDS = 4
"""After so many, a model is known by what it earned, against whom, what those earned, and against whom."""
OPPOSITES = {"credit": 1.0, "human": 1.0, "margin": 0.0}
"""Columns that say of b what they say of a, but for the sign: the sum of both."""
SIDES = (("score_a", "score_b"), ("length_a", "length_b"))


def order_rows(
    a: np.ndarray, b: np.ndarray, credit: np.ndarray, beside: Iterable[tuple[np.ndarray, np.ndarray]] = ()
) -> np.ndarray:
    """Return the place of each row, shape (rows,); rows that hold the same may change places.

    Args:
        a, b: model codes, shape (rows,).
        credit: of a, NaN where unparsed, shape (rows,).
        beside: what else the rows say of a and of b, shape (rows,) each.
    """
    lean = np.nan_to_num(credit - 0.5)
    size = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
    battles = np.bincount(a, minlength=size) + np.bincount(b, minlength=size)
    model = np.zeros(size)
    for _ in range(ROUNDS):
        earned = np.bincount(a, lean + np.sin(model[b]), size) + np.bincount(b, np.sin(model[a]) - lean, size)
        model = earned / np.maximum(battles, 1) + np.sqrt(battles)
    ours, theirs = model[a] + np.e * lean, model[b] - np.e * lean
    for number, (of_a, of_b) in enumerate(beside, start=2):
        ours, theirs = (
            side + np.sqrt(number) * np.nan_to_num(values, nan=-np.pi)
            for side, values in ((ours, of_a), (theirs, of_b))
        )
    place = np.empty(len(a), dtype=np.int64)
    place[np.argsort(np.sin(ours) + np.sin(theirs) + np.isnan(credit))] = np.arange(len(a))
    return place


def order_of_battles(battles: Battles) -> np.ndarray:
    """Return the place of each row of the table, shape (rows,)."""
    table, numbers_of = battles.table, battles.numbers_of
    a, b = battles.model_codes
    opposites = OPPOSITES | dict.fromkeys(criterion_columns(table), 0.0)
    beside = [(numbers_of(name), whole - numbers_of(name)) for name, whole in opposites.items() if name in table]
    beside += [(numbers_of(of_a), numbers_of(of_b)) for of_a, of_b in SIDES if of_a in table and of_b in table]
    if "weight" in table:
        beside.append((numbers_of("weight"), numbers_of("weight")))
    return order_rows(a, b, numbers_of("credit"), beside)
