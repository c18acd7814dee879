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


@dataclass(frozen=True, slots=True)
class Foreign:
    """How to read a table that is in no known format.

    Attributes:
        columns: the contract's name to the foreign one, for example `{"item": "prompt"}`.
        credit_map: foreign verdict to credit, for example `{"1": 1, "0": 0.5, "-1": 0}`; empty cells are unread.
        unknown: what a verdict outside the map is: an `error`, or `unread`.
        shown: whose response was shown first where no `order` column says it: `a`, `b` or `unknown`.
    """

    columns: Mapping[str, str] | None = None
    credit_map: Mapping[str, float] | None = None
    unknown: Literal["error", "unread"] = "error"
    shown: Literal["a", "b", "unknown"] | None = None


def renamed(records: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
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


def translated(frame: pd.DataFrame, foreign: Foreign) -> pd.DataFrame:
    """Translate the column credit by `credit_map`, and say the order by `shown`.

    Raises:
        UsageError: there is a map and no column credit.
        DataError: a verdict is not in the map, unless unknown ones are unread.
    """
    if foreign.credit_map is not None:
        frame = _credited(frame, foreign.credit_map, foreign.unknown)
    if foreign.shown is not None and "order" not in frame:
        frame = frame.assign(order=ORDER_SHOWN[foreign.shown])
    return frame


def _credited(frame: pd.DataFrame, credit_map: Mapping[str, float], unknown: str) -> pd.DataFrame:
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
