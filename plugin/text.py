"""Convert values to text, so that equal names and values have the same text everywhere."""

import ast
import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.frames import is_missing

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd


EMPTY = frozenset({"", "nan", "null", "none", "na", "<na>"})
"""Texts, in lower case, that count as an empty cell in a column of numbers."""
INVISIBLE = re.compile("[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Matches control characters that JSON need not escape, and invisible or bidirectional marks."""

MESSAGES_START = re.compile(
    r"""\s*(?:\{\s*["']messages["']\s*:\s*)?"""
    r"""\[\s*\{\s*["'](?:role|content)["']\s*:"""
)
"""The beginning of a text that holds a list of messages, or a mapping with the key `messages`.

Examples are `[{"role":` and `{"messages": [{"role":`.
"""


def text_of(value: Any) -> str | None:
    """Return a value as text; None for an empty value.

    3.0 becomes `3`, a dictionary, list, tuple or array becomes JSON with sorted keys, and other
    values their `str`. Empty are the empty text, None, NaN and missing values of pandas. The text
    `nan` is not empty.
    """
    if isinstance(value, str):
        return value or None
    if isinstance(value, dict | list | tuple | np.ndarray):
        return encode_sorted(value)
    if is_missing(value):
        return None
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def as_text(values: "pd.Series") -> "pd.Series":
    """Write a column as text, as `text_of` does; empty cells become None.

    The result is a new series of objects with the same index, and without a name.
    """
    import pandas as pd

    if values.dtype == "str":
        words = values.to_numpy(dtype=object, copy=True)
        words[(values.isna() | (values == "")).to_numpy()] = None
        return pd.Series(words, index=values.index, dtype=object)
    codes, texts = codes_and_texts(values)
    # The code -1 of an empty cell takes the last element.
    cells = np.array([*texts, None], dtype=object)[codes]
    # Without the type, pandas makes texts of its own type, in which an empty cell is NaN.
    return pd.Series(cells, index=values.index, dtype=object)


def as_categorical(values: "pd.Series") -> "pd.Categorical":
    """Convert a column to a categorical of its text; empty cells get code -1.

    The categories are the different texts, sorted.
    """
    import pandas as pd

    codes, texts = codes_and_texts(values)
    names = sorted({text for text in texts if text is not None})
    code_of_text: dict[str | None, int] = {name: k for k, name in enumerate(names)}
    code_of_text[None] = -1
    # The code -1 of an empty cell takes the last element.
    recode = np.array([code_of_text[text] for text in (*texts, None)], dtype=np.int64)
    return pd.Categorical.from_codes(recode[codes], categories=pd.Index(names, dtype=object))


def texts_of_cells(values: "pd.Series") -> set[str]:
    """Return the different texts (`text_of`) of the cells of a column, without empty cells."""
    _, texts = codes_and_texts(values)
    return {text for text in texts if text is not None}


def codes_and_texts(values: "pd.Series") -> "tuple[np.ndarray, list[str | None]]":
    """Return the code of each cell of a column, and the text of each code.

    Several codes may have one text, as those of the cells 1 and "1". An empty cell has the code -1,
    or a code whose text is None.
    """
    import pandas as pd

    try:
        codes, distinct = pd.factorize(values)
    except TypeError:
        codes, distinct = pd.factorize(values.map(text_of))
    if pd.api.types.is_integer_dtype(distinct):
        return codes, [*map(str, distinct.tolist())]
    return codes, [*map(text_of, distinct)]


def map_distinct(column: "pd.Series", function: "Callable[[Any], Any]") -> "pd.Series":
    """Apply a function to each distinct cell of a column once, and return the results by row.

    In a column of pandas' texts, equal texts are one cell. In a column of objects, only the same
    object in several rows is one, as equal cells of a JSON file are; equal texts that are different
    objects are computed separately. The result has the type that pandas infers, and the index and
    the name of the column.
    """
    import pandas as pd

    if column.dtype == "str":
        codes, distinct = pd.factorize(column, use_na_sentinel=False)
        cells = distinct.astype(object)
    else:
        objects = column.to_numpy(dtype=object)
        identities = np.fromiter(map(id, objects), np.int64, len(objects))
        codes, distinct = pd.factorize(identities)
        first = np.empty(len(distinct), dtype=np.int64)
        # Of several rows with one code, the one that is written last counts: the first row.
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        cells = objects[first]
    # An array of objects takes lists as cells.
    results = np.empty(len(cells), dtype=object)
    for k, cell in enumerate(cells):
        results[k] = function(cell)
    return pd.Series(results[codes], index=column.index, name=column.name).infer_objects()


def to_plain_values(value: Any) -> Any:
    """Convert a value that JSON does not know: NumPy's to plain Python, others to text."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


encode_sorted = json.JSONEncoder(sort_keys=True, default=to_plain_values).encode
"""Serialize a value as JSON with sorted keys."""


def parse_json(text: str | bytes, **options: Any) -> Any:
    """Parse JSON with the options of `json.loads`.

    Raises:
        ValueError: the text is invalid JSON, or is nested too deeply.
    """
    try:
        return json.loads(text, **options)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_literal(text: Any) -> Any:
    """Parse a text as JSON or, if that fails, as a Python literal.

    The result is None if the text is neither, or if the value is no text; also for the text `null`
    or `None`.
    """
    for parse in (parse_json, ast.literal_eval):
        with suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            return parse(text)
    return None


def json_text(document: Any) -> str:
    """Serialize a document as JSON, with bidirectional and invisible characters escaped.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    text = json.dumps(
        document, indent=1, allow_nan=False, ensure_ascii=False, default=to_plain_values
    )
    return INVISIBLE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)
