"""Data frames to Arrow and back, with no number rounded on the way."""

import numpy as np
import pandas as pd
import pyarrow as pa

from podium.counting.relations import ROW
from podium.text import as_text

CATEGORIES = ("item", "judge", "order", "category", "reason", "swap")
"""Columns of the battles table that are categorical; so are both entrants, over one set of names."""


def arrow_of(frame: pd.DataFrame) -> pa.Table:
    """Return presentations as Arrow, with their place; a column of several types becomes text.

    Args:
        frame: columns of the battles table, and foreign ones.
    """
    columns = {str(name): _arrow_column(frame[name]) for name in frame}
    return pa.table({ROW: pa.array(np.arange(len(frame), dtype=np.int64)), **columns})


def frame_of(table: pa.Table, entrants: tuple[str, ...]) -> pd.DataFrame:
    """Return battles as a frame; names are categoricals, both entrants over the same ones.

    Args:
        table: from a database, with the column `podium_row`.
        entrants: names, sorted.
    """
    columns = {}
    for name in table.schema.names:
        if name in ("model_a", "model_b"):
            columns[name] = _categorical(table.column(name), entrants)
        elif name in CATEGORIES:
            columns[name] = _categorical(table.column(name))
        elif name != ROW:
            columns[name] = table.column(name).to_pandas(integer_object_nulls=True)
    return pd.DataFrame(columns, index=pd.RangeIndex(len(table)))


def _arrow_column(column: pd.Series) -> pa.Array:
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    try:
        values = pa.array(column, from_pandas=True)
        return values.cast(pa.string()) if pa.types.is_null(values.type) else values
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array(as_text(column), pa.string(), from_pandas=True)


def _categorical(column: pa.ChunkedArray, names: tuple[str, ...] | None = None) -> pd.Categorical:
    """Return a column of text as a categorical with sorted categories; empty cells get code -1."""
    coded = column.combine_chunks().dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    labels = coded.dictionary.to_pylist()
    names = tuple(sorted(labels)) if names is None else names
    place = {name: k for k, name in enumerate(names)}
    recode = np.array([*(place[name] for name in labels), -1], dtype=np.int64)
    return pd.Categorical.from_codes(recode[codes], categories=pd.Index(names, dtype=object))
