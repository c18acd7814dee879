"""Soft-Elo CSV: preferences where 0 = A wins, score dictionaries, human preferences."""

import ast
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from podium.errors import DataError
from podium.formats.verdicts import reasons
from podium.table import number, refuse, row_name
from podium.text import EMPTY, as_text

NAMES = {"instruction_id_hash": "item", "len_a": "length_a", "len_b": "length_b", "language": "category"}
SOUND = frozenset({"", "false", "0", "0.0", "no", "none", "nan", "null"})
"""Values of `parse_error` that say there was none."""


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Read preferences (0 = A wins, 0.5 = tie, 1 = B wins) and the mean score difference as margin.

    The margin averages a - b over the criteria that both sides have. A row marked `parse_error` is unread.

    Raises:
        DataError: a preference outside [0, 1], or scores that are no dictionary of numbers.
    """
    used = [name for name in ("judge_pref", "human_pref", "scores_a", "scores_b") if name in records]
    frame = records.drop(columns=used).rename(columns={old: new for old, new in NAMES.items() if old in records})
    if {"scores_a", "scores_b"} <= set(records):
        frame["margin"] = _margins(records)
    failed = _failed(records)
    if "judge_pref" in records:
        frame["credit"] = np.where(failed, np.nan, 1 - _preference(records["judge_pref"]))
    if "human_pref" in records:
        frame["human"] = 1 - _preference(records["human_pref"])
    return frame.assign(reason=reasons(failed, "parse error"))


def _preference(column: pd.Series) -> np.ndarray:
    values = number(column)
    refuse(column, (values < 0) | (values > 1), "is outside [0, 1]", "0 = A wins, 0.5 = tie, 1 = B wins")
    return values


def _failed(records: pd.DataFrame) -> np.ndarray:
    if "parse_error" not in records:
        return np.zeros(len(records), dtype=bool)
    told = as_text(records["parse_error"]).fillna("").astype(str).str.strip().str.lower()
    return ~told.isin(SOUND).to_numpy()


def _margins(records: pd.DataFrame) -> np.ndarray:
    sides = [[_scores(records[name], k) for k in range(len(records))] for name in ("scores_a", "scores_b")]
    return np.array([_mean_difference(a, b) for a, b in zip(*sides, strict=True)], dtype=np.float64)


def _mean_difference(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    shared = a.keys() & b.keys()
    return float(np.mean([a[name] - b[name] for name in sorted(shared)])) if shared else np.nan


def _scores(column: pd.Series, position: int) -> dict[str, float]:
    value = column.iloc[position]
    try:
        scores = _literal(value) if isinstance(value, str) else value
        if scores is None or scores is pd.NA or scores != scores:
            return {}
        return {str(name): float(score) for name, score in scores.items() if score is not None}
    except (ValueError, SyntaxError, AttributeError, TypeError):
        raise DataError(
            f"{column.name} {str(value)[:60]!r} is not a dictionary of scores",
            row=row_name(column.index, position),
            remedy='write {"criterion": number, ...} as JSON, or leave the cell empty',
        ) from None


def _literal(text: str) -> Any:
    if text.strip().lower() in EMPTY:
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return ast.literal_eval(text)
