"""Soft-Elo CSV: preferences where 0 = A wins, score dictionaries, human preferences."""

import ast
import json
import re
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from podium.counting.relations import CRITERION
from podium.errors import DataError
from podium.formats.verdicts import number, reasons, refuse, row_name
from podium.text import EMPTY, as_text

NAMES = {"instruction_id_hash": "item", "len_a": "length_a", "len_b": "length_b", "language": "category"}
SOUND = frozenset({"", "false", "0", "0.0", "no", "none", "nan", "null"})
"""Values of `parse_error` that say there was none."""
MOST_CRITERIA = 100
"""With more criteria than this (a rubric of its own per instruction), only their mean is kept."""
PYTHON_SCORES = re.compile(r"\{(?:'[^'\"\\]*': [-+.0-9e]+(?:, )?)*\}")
"""A dictionary of numbers as Python prints it: with double quotes, whatever of it is JSON says the same."""

Scores: TypeAlias = dict[str, float]


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Read preferences (0 = A wins, 0.5 = tie, 1 = B wins) and score differences as margins.

    The margin averages a - b over the criteria that both sides have; `margin_<criterion>` is a - b on one of them,
    empty where a side lacks it. A row marked `parse_error` is unparsed.

    Raises:
        DataError: a preference outside [0, 1], or scores that are no dictionary of numbers.
    """
    used = [name for name in ("judge_pref", "human_pref", "scores_a", "scores_b") if name in records]
    frame = records.drop(columns=used).rename(columns=NAMES)
    if {"scores_a", "scores_b"} <= set(records):
        frame = frame.assign(**_margins(records))
    failed = np.zeros(len(records), dtype=bool)
    if "parse_error" in records:
        failed = ~as_text(records["parse_error"]).fillna("").astype(str).str.strip().str.lower().isin(SOUND).to_numpy()
    if "judge_pref" in records:
        frame["credit"] = np.where(failed, np.nan, 1 - _preference(records["judge_pref"]))
    if "human_pref" in records:
        frame["human"] = 1 - _preference(records["human_pref"])
    return frame.assign(reason=reasons(failed, "parse error"))


def _preference(column: pd.Series) -> np.ndarray:
    values = number(column)
    refuse(column, (values < 0) | (values > 1), "is outside [0, 1]", "0 = A wins, 0.5 = tie, 1 = B wins")
    return values


def _margins(records: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the mean margin and the margins on single criteria by column, shape (rows,) each."""
    columns = (records["scores_a"], records["scores_b"])
    a, b = ([_scores(column, row) for row in range(len(column))] for column in columns)
    gaps = [{name: of_a[name] - of_b[name] for name in of_a if name in of_b} for of_a, of_b in zip(a, b, strict=True)]
    criteria = sorted(set().union(*a, *b))
    kept = criteria if len(criteria) <= MOST_CRITERIA else []
    means = [np.mean([gap[name] for name in sorted(gap)]) if gap else np.nan for gap in gaps]
    apart = {name: [gap.get(name, np.nan) for gap in gaps] for name in kept}
    margins = {"margin": means, **{CRITERION + name: own for name, own in apart.items()}}
    return {name: np.array(own, dtype=np.float64) for name, own in margins.items()}


def _scores(column: pd.Series, position: int) -> Scores:
    """Read the scores of a cell; an empty one has none."""
    cell = column.iloc[position]
    try:
        scores = _literal(cell) if isinstance(cell, str) else cell
        if scores is None or scores is pd.NA or scores != scores:
            return {}
        return {str(name): float(score) for name, score in scores.items() if score is not None}
    except (ValueError, SyntaxError, AttributeError, TypeError, OverflowError):
        problem = f"{column.name} {str(cell)[:60]!r} is not a dictionary of scores"
        remedy = 'write {"criterion": number, ...} as JSON, or leave the cell empty'
        raise DataError(problem, row=row_name(column.index, position), remedy=remedy) from None


def _literal(text: str) -> Any:
    """Read JSON, else a Python literal."""
    if text.strip().lower() in EMPTY:
        return None
    try:
        return json.loads(text.replace("'", '"') if PYTHON_SCORES.fullmatch(text) else text)
    except json.JSONDecodeError:
        return ast.literal_eval(text)
