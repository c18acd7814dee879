"""Convert values to text, so that equal names and values have the same text everywhere."""

import json
import re
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd

EMPTY = frozenset({"", "nan", "null", "none", "na", "<na>"})
"""Texts, in lower case, that count as an empty cell in a column of numbers."""
INVISIBLE = re.compile("[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Matches control characters that JSON need not escape, and invisible or bidirectional marks."""


def text_of(value: Any) -> str | None:
    """Return a value as text: 3.0 as '3', a nested value as JSON, and an empty value as None."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, dict | list | tuple | np.ndarray):
        return NESTED.encode(value)
    if pd.isna(value):
        return None
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def as_text(values: pd.Series) -> pd.Series:
    """Write a column as text; empty cells become None."""
    categorical = as_categorical(values)
    return pd.Series(np.asarray(categorical.astype(object)), index=values.index).replace(
        {np.nan: None}
    )


def as_categorical(values: pd.Series) -> pd.Categorical:
    """Convert a column to a categorical of its text; empty cells get code -1."""
    try:
        codes, distinct = pd.factorize(values)
    except TypeError:
        codes, distinct = pd.factorize(values.map(text_of))
    texts = [text_of(value) for value in distinct]
    names = sorted({text for text in texts if text is not None})
    position = {name: k for k, name in enumerate(names)}
    recode = np.array(
        [-1 if text is None else position[text] for text in texts] + [-1], dtype=np.int64
    )
    return pd.Categorical.from_codes(recode[codes], categories=pd.Index(names, dtype=object))


def to_plain_values(value: Any) -> Any:
    """Convert NumPy and pandas values to plain Python for JSON."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def parse_json(text: str | bytes, **options: Any) -> Any:
    """Parse JSON with the options of `json.loads`; ValueError if it is invalid or too deep."""
    try:
        return json.loads(text, **options)
    except RecursionError:
        raise ValueError("nested too deeply") from None


NESTED = json.JSONEncoder(sort_keys=True, default=to_plain_values)
"""Writes nested values as JSON."""
OBJECTS_AT_ONCE = 10_000
"""Number of objects that are written at once."""


def write_objects(values: Sequence[Any]) -> list[str | None] | None:
    """Write objects and lists as JSON, as `text_of` does; an empty value as None.

    Many are written at once, which is faster than one by one. A text that occurs in no value is
    put between them.

    Returns:
        A text or None for each value; None if a value is neither empty nor an object or a list, or
        is nested too deeply.
    """
    if not all(value is None or isinstance(value, dict | list) for value in values):
        return None
    mark = uuid4().hex
    between = f', "{mark}", '
    texts: list[str | None] = []
    for start in range(0, len(values), OBJECTS_AT_ONCE):
        marked: list[Any] = []
        for value in values[start : start + OBJECTS_AT_ONCE]:
            marked += (value, mark)
        try:
            texts += NESTED.encode(marked[:-1])[1:-1].split(between)
        except RecursionError:
            return None
    return [None if value is None else text for value, text in zip(values, texts, strict=True)]


def json_text(document: Any) -> str:
    """Serialize a document as JSON without NaN, with bidirectional and invisible characters
    escaped."""
    text = json.dumps(
        document, indent=1, allow_nan=False, ensure_ascii=False, default=to_plain_values
    )
    return INVISIBLE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)
