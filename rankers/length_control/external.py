"""What AlpacaEval's full model takes from outside the battles: how hard items are, and gamed baselines."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from podium.errors import DataError

WEIGHT = 0.1
"""Of each row of a gamed baseline: 0.2, divided by the two baselines there are (AlpacaEval)."""


@dataclass(frozen=True, slots=True)
class Gamed:
    """Verdicts on verbose and concise variants of the baseline, in which quality is the baseline's own.

    Attributes:
        term: tanh of the lead in length, shape (rows,).
        difficulty: of the item, shape (rows,).
        credit: what the variant earned, in [0, 1], shape (rows,).
    """

    term: np.ndarray
    difficulty: np.ndarray
    credit: np.ndarray

    def rows(self, columns: int) -> np.ndarray:
        """Return the design: no intercept, because the variant is as good as the baseline, shape (rows, columns)."""
        return np.column_stack([np.zeros(len(self.credit)), self.term, self.difficulty])[:, :columns]


@dataclass(frozen=True, slots=True)
class External:
    """Extra data of AlpacaEval's length control.

    Attributes:
        key: the column of the battles by which items are looked up: `item` or `index`.
        difficulty: of each item, by its key as text.
        gamed: rows of gamed baselines; None where there are none.
        source: the file.
    """

    key: str
    difficulty: Mapping[str, float]
    gamed: Gamed | None
    source: str

    def difficulties(self, table: pd.DataFrame) -> np.ndarray:
        """Return the difficulty of each battle's item, NaN where unknown, shape (battles,).

        Raises:
            DataError: the battles cannot be matched, or none of their items has a difficulty.
        """
        if self.key not in table:
            raise DataError(
                f"difficulties are given by {self.key!r}, and the battles have no such column",
                source=self.source,
                remedy="give the difficulties by item, in a column `item` that holds the ids of the battles' items",
            )
        difficulty = (
            table[self.key].astype(object).map(key_of).map(self.difficulty).to_numpy(dtype=float, na_value=np.nan)
        )
        if not np.isfinite(difficulty).any():
            raise DataError(
                f"no {self.key} of the battles is among the {len(self.difficulty):,} of the difficulties",
                source=self.source,
                remedy=f"use the same {self.key} in both files",
            )
        return difficulty


def key_of(value: object) -> str:
    """Return how an item is looked up: whole numbers without a decimal point.

    >>> key_of(3.0), key_of("3"), key_of("q3")
    ('3', '3', 'q3')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
