"""AlpacaEval's data for length control: the difficulty of items, and gamed baselines."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from podium.errors import DataError


@dataclass(frozen=True, slots=True)
class Gamed:
    """Verdicts on verbose and concise variants of the baseline; arrays of shape (rows,).

    Attributes:
        term: tanh of the lead in length, in standard deviations.
        difficulty: difficulty of the instruction.
        credit: what the variant earned, in [0, 1].
    """

    term: np.ndarray
    difficulty: np.ndarray
    credit: np.ndarray

    def rows(self, columns: int) -> np.ndarray:
        """Return the first columns of the design matrix, shape (rows, columns).

        The intercept is 0, because both variants are of equal quality.
        """
        intercept = np.zeros(len(self.credit))
        return np.column_stack([intercept, self.term, self.difficulty])[:, :columns]


@dataclass(frozen=True, slots=True)
class External:
    """The content of a file with data for length control.

    Attributes:
        key: the column that names the instruction: `item` or `index`.
        difficulty: difficulty by the value of that column, as text.
        gamed: verdicts on variants of the baseline; None if the file has none.
        source: the file.
    """

    key: str
    difficulty: Mapping[str, float]
    gamed: Gamed | None
    source: str

    def difficulties(self, table: pd.DataFrame) -> np.ndarray:
        """Return the difficulty of each battle's item, NaN if unknown, shape (battles,)."""
        keys = table.get(self.key, pd.Series(np.nan, table.index)).astype(object)
        difficulty = keys.map(item_key).map(self.difficulty).to_numpy(dtype=float, na_value=np.nan)
        if not np.isfinite(difficulty).any():
            known = f"the {len(self.difficulty):,} of the difficulties"
            remedy = f"give both files a column {self.key} with the same ids"
            raise DataError(
                f"no {self.key} of the battles is among {known}",
                source=self.source,
                remedy=f"{remedy}, or the difficulties by item",
            )
        return difficulty


def item_key(value: object) -> str:
    """Return an item id as text, whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
