"""Cells of a foreign frame: numbers are read, and what is none of them is refused with its row."""

from typing import Any

import numpy as np
import pandas as pd

from podium.errors import DataError
from podium.formats.records import shorten
from podium.text import EMPTY, text_of


def number(column: pd.Series) -> np.ndarray:
    """Read a column as numbers, shape (rows,); empty cells become NaN.

    Raises:
        DataError: a cell holds something else, or an infinity.
    """
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if not pd.api.types.is_numeric_dtype(column):
        unclear = column[np.isnan(numbers)]
        empty = unclear.isna() | unclear.astype(str).str.strip().str.lower().isin(EMPTY)
        refuse(unclear, ~empty.to_numpy(), "is not a number", "write a number or leave it empty")
    refuse(column, np.isinf(numbers), "is infinite", "leave the cell empty if the value is unknown")
    return numbers


def refuse(column: pd.Series, bad: np.ndarray, problem: str, remedy: str) -> None:
    """Raise for the first row of a mask, naming the row and the value; tell how many there are.

    Raises:
        DataError: any row is bad.
    """
    if not bad.any():
        return
    first = int(np.argmax(bad))
    more = f" ({int(bad.sum())} such rows)" if bad.sum() > 1 else ""
    raise DataError(
        f"{column.name}{_cell_text(column.iloc[first])} {problem}{more}",
        remedy=remedy,
        row=row_name(column.index, first),
    )


def _cell_text(value: Any) -> str:
    """Write a cell as it would be typed; an empty one shows nothing."""
    plain = value.item() if isinstance(value, np.generic) else value
    return "" if text_of(plain) is None else f" {shorten(repr(plain))}"


def row_name(index: pd.Index, position: int) -> str:
    """Name a row as its file counts: 'row 7' of a table, 'line 7' of a JSONL file."""
    label = index[position]
    return f"{index.name} {label}" if index.name else f"row {position + 1}"
