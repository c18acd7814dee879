"""External data of AlpacaEval's full model: difficulty of items, and gamed baselines."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from podium.errors import DataError

WEIGHT = 0.1
"""Weight of each row of a gamed baseline: 0.2, divided by the two baselines (AlpacaEval)."""


@dataclass(frozen=True, slots=True)
class Gamed:
    """Verdicts on verbose and concise variants of the baseline, of its quality, shape (rows,) each.

    `term` is tanh of the lead in length, `credit` what the variant earned.
    """

    term: np.ndarray
    difficulty: np.ndarray
    credit: np.ndarray

    def rows(self, columns: int) -> np.ndarray:
        """Return the design matrix, without an intercept as quality is equal, shape (rows, columns)."""
        return np.column_stack([np.zeros(len(self.credit)), self.term, self.difficulty])[:, :columns]


@dataclass(frozen=True, slots=True)
class External:
    """Difficulty of items, by their column `key` (`item` or `index`) as text, and gamed baselines of a file."""

    key: str
    difficulty: Mapping[str, float]
    gamed: Gamed | None
    source: str

    def difficulties(self, table: pd.DataFrame) -> np.ndarray:
        """Return the difficulty of each battle's item, NaN if unknown, shape (battles,)."""
        if self.key not in table:
            raise DataError(
                f"difficulties are given by {self.key!r}, and the battles have no such column",
                source=self.source,
                remedy="give the difficulties by item, in a column `item` that holds the ids of the battles' items",
            )
        difficulty = (
            table[self.key].astype(object).map(item_key).map(self.difficulty).to_numpy(dtype=float, na_value=np.nan)
        )
        if not np.isfinite(difficulty).any():
            raise DataError(
                f"no {self.key} of the battles is among the {len(self.difficulty):,} of the difficulties",
                source=self.source,
                remedy=f"use the same {self.key} in both files",
            )
        return difficulty


def item_key(value: object) -> str:
    """Return an item id as text, whole numbers without a decimal point.

    >>> item_key(3.0), item_key("3"), item_key("q3")
    ('3', '3', 'q3')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
