"""AlpacaEval's data for length control, read from a file beside the battles: difficulty of items and
gamed baselines."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from podium.errors import DataError


@dataclass(frozen=True, slots=True)
class Gamed:
    """Verdicts on verbose and concise variants of the baseline; `term` is tanh of the lead in
    length; shape (rows,)."""

    term: np.ndarray
    difficulty: np.ndarray
    credit: np.ndarray

    def rows(self, columns: int) -> np.ndarray:
        """Return the design matrix, without an intercept as quality is equal, shape (rows,
        columns)."""
        return np.column_stack([np.zeros(len(self.credit)), self.term, self.difficulty])[
            :, :columns
        ]


@dataclass(frozen=True, slots=True)
class External:
    """Difficulty of items, by their column `key` (`item` or `index`) as text, and gamed baselines
    of a file."""

    key: str
    difficulty: Mapping[str, float]
    gamed: Gamed | None
    source: str

    def difficulties(self, table: pd.DataFrame) -> np.ndarray:
        """Return the difficulty of each battle's item, NaN if unknown, shape (battles,)."""
        keys = table.get(self.key, pd.Series(np.nan, table.index)).astype(object)
        difficulty = keys.map(item_key).map(self.difficulty).to_numpy(dtype=float, na_value=np.nan)
        if not np.isfinite(difficulty).any():
            raise DataError(
                f"no {self.key} of the battles is among the {len(self.difficulty):,} of the difficulties",
                source=self.source,
                remedy=f"give both files a column {self.key} with the same ids, or the difficulties by item",
            )
        return difficulty


def item_key(value: object) -> str:
    """Return an item id as text, whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
