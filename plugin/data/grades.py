"""How many single responses judges have graded, where each response has a grade of its own."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from podium.data.counting.relations import IDENTICAL

if TYPE_CHECKING:
    import pandas as pd

KEYS = ("item", "judge", "repeat", "response")
"""Columns that tell the grades of a model's responses apart."""


class Grades(NamedTuple):
    """The grades of judges that are shown one response at a time.

    Attributes:
        number: number of grades. A response is graded once, however many battles it is in.
        battles: number of battles that are decided by two grades.
    """

    number: int
    battles: int


def count_grades(table: "pd.DataFrame", lacking: np.ndarray) -> Grades:
    """Count the grades behind the battles of a table; none where judges compared two responses.

    A reply that could not be parsed is a grade, too, as the judge was asked for it.

    Args:
        table: battles with the columns `judge`, `score_a` and `score_b`.
        lacking: whether a battle lacks a grade that nobody gave; shape (battles,).
    """
    import pandas as pd

    has_grade = table[["score_a", "score_b"]].notna().any(axis=1)
    graders = table.loc[has_grade, "judge"].astype(object).unique()
    is_graded = table["judge"].astype(object).isin(graders) & ~lacking
    if IDENTICAL in table:
        is_graded &= ~table[IDENTICAL].eq(True)
    graded = table.loc[is_graded]
    keys = [name for name in KEYS if name in graded]
    sides = [
        graded[[*keys, side]].astype(object).rename(columns={side: "model"})
        for side in ("model_a", "model_b")
    ]
    both = pd.concat(sides)
    # A row without an item is about an item of its own.
    has_item = both["item"].notna() if "item" in both else pd.Series(False, index=both.index)
    number = len(both[has_item].drop_duplicates()) + int((~has_item).sum())
    return Grades(number, len(graded))
