"""Read a table of facts about the models, one row each."""

import math
from collections.abc import Mapping
from glob import escape
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from podium.errors import DataError
from podium.formats.containers import read_records
from podium.text import text_of, to_plain_values

About: TypeAlias = str | Path | pd.DataFrame | None


def about_models(table: About) -> dict[str, dict[str, Any]]:
    """Read a table of models as facts (family, date and so on) by model; empty if there is no table."""
    if table is None:
        return {}
    source = "the table of models" if isinstance(table, pd.DataFrame) else str(table)
    frame = table if isinstance(table, pd.DataFrame) else read_records(Path(table))
    if "model" not in frame:
        columns = ", ".join(map(str, frame.columns))
        raise DataError(f"no column model; found: {columns}", source=source, remedy="write a row per model")
    names = frame["model"].map(text_of)
    twice = names[names.duplicated()]
    if len(twice):
        raise DataError(f"model {twice.iloc[0]!r} has two rows", source=source, remedy="keep one row of it")
    facts = frame.drop(columns="model").to_dict("records")
    return {
        str(name): {str(column): _plain_cell(value) for column, value in row.items()}
        for name, row in zip(names, facts, strict=True)
    }


def families_of(about: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the known families by glob; a model's name is escaped, so that its glob matches no other name."""
    return {escape(name): str(facts["family"]) for name, facts in about.items() if facts.get("family")}


def _plain_cell(value: Any) -> Any:
    """Convert a cell to a value that JSON can hold: text, a finite number, a boolean or None."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str | int | float | bool):
        return value
    text = text_of(value)
    return None if text is None else to_plain_values(value) if not isinstance(value, pd.Timestamp) else text
