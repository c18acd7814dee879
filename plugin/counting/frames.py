"""Convert data frames to Arrow and back without rounding numbers."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa

from podium.counting.relations import ROW
from podium.text import text_of

CATEGORIES = ("item", "judge", "order", "category", "reason", "swap")
"""Columns of the battles table that are categorical; so are both models, over one set of names."""

LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def frame_of(table: pa.Table, models: tuple[str, ...]) -> pd.DataFrame:
    """Convert a battles table of a database to a data frame; models become categoricals over the sorted names."""
    columns = {}
    for name in table.schema.names:
        if name in ("model_a", "model_b"):
            columns[name] = _categorical(table.column(name), models)
        elif name in CATEGORIES:
            columns[name] = _categorical(table.column(name))
        elif name != ROW:
            columns[name] = table.column(name).to_pandas(integer_object_nulls=True)
    return pd.DataFrame(columns, index=pd.RangeIndex(len(table)))


def arrow_column(cells: pd.Series) -> pa.Array:
    """Convert a column to Arrow; mixed or nested values become text."""
    if isinstance(cells.dtype, pd.CategoricalDtype):
        cells = cells.astype(cells.cat.categories.dtype)
    try:
        array = pa.array(cells, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeError):
        array = None
    if array is None or pa.types.is_nested(array.type) or pa.types.is_binary(array.type):
        # A boolean is written differently from the words `True` and `False`.
        words = [str(cell).lower() if isinstance(cell, bool | np.bool_) else text_of(cell) for cell in cells]
        # Halves of characters, which no file can hold, as `\\ud83d`.
        whole = (word and LONE_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):x}", word) for word in words)
        return pa.array(list(whole), pa.string())
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array


def _categorical(column: pa.ChunkedArray, names: tuple[str, ...] | None = None) -> pd.Categorical:
    """Convert a text column to a categorical with sorted categories; empty cells get code -1."""
    coded = column.combine_chunks().dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    labels = coded.dictionary.to_pylist()
    names = tuple(sorted(labels)) if names is None else names
    place = {name: k for k, name in enumerate(names)}
    recode = np.array([*(place[name] for name in labels), -1], dtype=np.int64)
    return pd.Categorical.from_codes(recode[codes], categories=pd.Index(names, dtype=object))
