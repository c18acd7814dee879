"""Tables in no known format: the user names the columns and translates the verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from podium.battles import COLUMNS, criterion_columns
from podium.errors import UsageError, unknown_name
from podium.table import refuse
from podium.text import as_text

NAMES = frozenset({*COLUMNS, "model", "score", "length"})
"""Columns of a battles table, and of a table of scores."""
ORDER_SHOWN = {"a": "ab", "b": "ba", "unknown": None}
A_FIRST = {"true": "ab", "false": "ba"}
"""What a column of booleans says of the order: whether model_a was shown first."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """How to read a table that is in no known format.

    Attributes:
        columns: the contract's name to the foreign one, for example `{"item": "prompt"}`.
        credit_map: foreign verdict to credit, for example `{"1": 1, "0": 0.5, "-1": 0}`; empty cells are unread.
        unknown: what a verdict outside the map is: an `error`, or `unread`.
        shown: whose response was shown first where no `order` column says it: `a`, `b` or `unknown`.
        fill: one value for every row, for columns that the table lacks, for example `{"model_b": "baseline"}`.
    """

    columns: Mapping[str, str] | None = None
    credit_map: Mapping[str, float] | None = None
    unknown: Literal["error", "unread"] = "error"
    shown: Literal["a", "b", "unknown"] | None = None
    fill: Mapping[str, str] | None = None


def rename_columns(records: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Give the named columns the contract's names; one that bore such a name before gives way.

    Raises:
        UsageError: the contract has no such column, or the table has not.
    """
    known = NAMES | {*criterion_columns(columns)}
    for name in columns:
        if name not in known:
            raise unknown_name("column of podium's table", name, NAMES)
    absent = [name for name in columns.values() if name not in records]
    if absent:
        raise UsageError(f"there is no column {absent[0]!r}; columns: {', '.join(map(str, records.columns))}")
    taken = {new: records[old] for new, old in columns.items()}
    return records.drop(columns=[*{*columns.values(), *columns} & set(records)]).assign(**taken)


def translate_verdicts(frame: pd.DataFrame, foreign: Foreign) -> pd.DataFrame:
    """Translate the column credit by `credit_map`, and say the order by a column of booleans, or by `shown`.

    Raises:
        UsageError: there is a map and no column credit.
        DataError: a verdict is not in the map, unless unknown ones are unread.
    """
    if foreign.credit_map is not None:
        frame = _translate_credit(frame, foreign.credit_map, foreign.unknown)
    if "order" in frame:
        return frame.assign(order=_orders(frame["order"]))
    return frame if foreign.shown is None else frame.assign(order=ORDER_SHOWN[foreign.shown])


def fill_columns(records: pd.DataFrame, fill: Mapping[str, str]) -> pd.DataFrame:
    """Add columns that hold one value.

    Raises:
        UsageError: podium's table has no such column, or the file has it already.
    """
    for name in fill:
        if name not in NAMES:
            raise unknown_name("column of podium's table", name, NAMES)
        if name in records:
            raise UsageError(f"--fill {name}: the table has a column {name!r} already; name another with --columns")
    return records.assign(**fill)


def _orders(column: pd.Series) -> pd.Series:
    """Read a column of booleans as ab where true and ba where false; other columns stay as they are."""
    words = as_text(column).str.lower()
    return words.map(A_FIRST) if words.notna().any() and words.dropna().isin(A_FIRST).all() else column


def _translate_credit(frame: pd.DataFrame, credit_map: Mapping[str, float], unknown: str) -> pd.DataFrame:
    if "credit" not in frame:
        raise UsageError("--credit-map translates the column credit, and there is none; name it with --columns")
    credit_of = {_canonical(verdict): credit for verdict, credit in credit_map.items()}
    words = as_text(frame["credit"])
    mapped = words.map(lambda word: credit_of.get(_canonical(word)), na_action="ignore")
    credit = mapped.to_numpy(dtype=np.float64, na_value=np.nan)
    strange = np.isnan(credit) & words.notna().to_numpy()
    if unknown == "error":
        refuse(frame["credit"], strange, "is not in --credit-map", "add it, or pass --unknown unread")
    reason = frame["reason"] if "reason" in frame else pd.Series(None, index=frame.index, dtype=object)
    return frame.assign(credit=credit, reason=reason.mask(pd.Series(strange, frame.index), "unknown verdict"))


def _canonical(word: str) -> str:
    """Write numbers one way, so that the map's 1 finds a file's 1.0."""
    try:
        return repr(float(word))
    except ValueError:
        return word
