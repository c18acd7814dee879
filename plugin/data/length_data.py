"""AlpacaEval's data for length control: the difficulty of instructions, and gamed baselines.

A gamed baseline is a variant of the baseline that was asked to be verbose or concise. Its responses
are as good as those of the baseline, so the verdicts on them show how length affects the judge.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from podium.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Gamed:
    """Verdicts on gamed baselines; arrays of shape (rows,).

    Attributes:
        term: tanh(d), where d is the gamed baseline's lead in length, in standard deviations.
        difficulty: difficulty of the instruction.
        credit: what the gamed baseline earned, in [0, 1].
    """

    term: np.ndarray
    difficulty: np.ndarray
    credit: np.ndarray

    def rows(self, columns: int) -> np.ndarray:
        """Return the first columns of the design matrix, shape (rows, columns).

        Its columns are an intercept, the term of length, and the difficulty. The intercept is 0,
        because both responses are of equal quality.

        Args:
            columns: number of columns, at most 3.
        """
        intercept = np.zeros(len(self.credit))
        return np.column_stack([intercept, self.term, self.difficulty])[:, :columns]


@dataclass(frozen=True, slots=True)
class External:
    """The content of a file with data for length control.

    Attributes:
        key: the column that names the instruction: `item` or `index`.
        difficulty: difficulty of each instruction, by its value in the column, as text.
        gamed: verdicts on gamed baselines; None if the file has none.
        source: path of the file.
    """

    key: str
    difficulty: Mapping[str, float]
    gamed: Gamed | None
    source: str

    def difficulties(self, table: "pd.DataFrame") -> np.ndarray:
        """Return the difficulty of each battle's item, shape (battles,); NaN if unknown.

        Raises:
            DataError: the difficulty is unknown for all battles.
        """
        import pandas as pd

        keys = table.get(self.key, pd.Series(np.nan, table.index)).astype(object)
        difficulty = keys.map(item_key).map(self.difficulty).to_numpy(dtype=float, na_value=np.nan)
        if not np.isfinite(difficulty).any():
            known_items = f"the items with a difficulty ({len(self.difficulty):,})"
            remedy = f"give both files a column {self.key} with the same ids"
            raise DataError(
                f"no {self.key} of the battles is among {known_items}",
                source=self.source,
                remedy=f"{remedy}, or the difficulties by item",
            )
        return difficulty


def item_key(value: object) -> str:
    """Return an item id as text. Floats that are whole are written without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
