"""An order of battles that depends only on their content, not on names, sides or the order of a file."""

from collections.abc import Iterable

import numpy as np

from podium.nouns.battles import Battles, criterion_columns

ROUNDS = 4
"""Rounds after which a model is identified by its credits, its opponents, their credits and their opponents."""
COMPLEMENTS = {"credit": 1.0, "human": 1.0, "margin": 0.0}
"""Columns about model a, each with the number that it and the same column about model b add up to."""
SIDE_COLUMNS = (("score_a", "score_b"), ("length_a", "length_b"))


def order_rows(
    a: np.ndarray, b: np.ndarray, credit: np.ndarray, columns: Iterable[tuple[np.ndarray, np.ndarray]] = ()
) -> np.ndarray:
    """Return the position of each row in an order by content, shape (rows,); rows of equal content are in any order."""
    lean = np.nan_to_num(credit - 0.5)
    size = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
    battles = np.bincount(a, minlength=size) + np.bincount(b, minlength=size)
    model = np.zeros(size)
    for _ in range(ROUNDS):
        earned = np.bincount(a, lean + np.sin(model[b]), size) + np.bincount(b, np.sin(model[a]) - lean, size)
        model = earned / np.maximum(battles, 1) + np.sqrt(battles)
    key_a, key_b = model[a] + np.e * lean, model[b] - np.e * lean
    for number, (of_a, of_b) in enumerate(columns, start=2):
        key_a = key_a + np.sqrt(number) * np.nan_to_num(of_a, nan=-np.pi)
        key_b = key_b + np.sqrt(number) * np.nan_to_num(of_b, nan=-np.pi)
    place = np.empty(len(a), dtype=np.int64)
    place[np.argsort(np.sin(key_a) + np.sin(key_b) + np.isnan(credit))] = np.arange(len(a))
    return place


def order_of_battles(battles: Battles) -> np.ndarray:
    """Return the position of each row of a battles table in an order by content, shape (rows,)."""
    table, numbers_of = battles.table, battles.numbers_of
    complements = COMPLEMENTS | dict.fromkeys(criterion_columns(table), 0.0)
    columns = [(numbers_of(name), total - numbers_of(name)) for name, total in complements.items() if name in table]
    columns += [(numbers_of(of_a), numbers_of(of_b)) for of_a, of_b in SIDE_COLUMNS if of_a in table and of_b in table]
    if "weight" in table:
        columns.append((numbers_of("weight"), numbers_of("weight")))
    return order_rows(*battles.model_codes, numbers_of("credit"), columns)
