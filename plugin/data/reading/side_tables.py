"""Read tables other than battles: facts about models, and AlpacaEval's data for length control.

`podium.data.length_data` says what a gamed baseline is.
"""

import math
from collections.abc import Mapping
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from podium.data.formats.containers import read_records
from podium.data.formats.verdict_cells import reject_cells
from podium.data.length_data import External, Gamed, item_key
from podium.errors import DataError, UsageError, named_in_errors, reject_stream
from podium.frames import is_frame
from podium.text import text_of, to_plain_values

if TYPE_CHECKING:
    import pandas as pd


TableOfModels: TypeAlias = "str | Path | pd.DataFrame | None"
"""A table with facts about models, or its path."""
DIFFICULTY = "instruction_difficulty"
"""Column with the difficulty of an instruction, as AlpacaEval estimates it."""
GAMED_COLUMNS = ("preference", "std_delta_len", "not_gamed_baseline")
"""Columns of a table with gamed baselines."""
UNNAMED_COLUMN = "Unnamed: 0"
"""Name that pandas gives to a column without a name, such as AlpacaEval's row numbers."""


def read_length_data(path: str | Path) -> External:
    """Read data for length control.

    The file is a CSV as AlpacaEval publishes it (`df_gamed.csv`, `instruction_difficulty.csv`), or
    one that is keyed by item.

    Columns: `instruction_difficulty`; `item`, or `index` (number of the row in the annotations,
    from 0; a column without a name counts as `index`); for gamed baselines `preference` in [0, 1],
    `std_delta_len` (the baseline's lead in length, in standard deviations) and
    `not_gamed_baseline`.

    Raises:
        UsageError: there is no such file.
        DataError: the file is no CSV file, lacks a needed column, or has a cell that is not a
            finite number.
    """
    import pandas as pd

    reject_stream(Path(path))
    try:
        table = pd.read_csv(path)
    except FileNotFoundError:
        raise UsageError(f"length_data={path}: no such file") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise DataError(
            f"not a CSV file ({error})", source=str(path), remedy="give a CSV file"
        ) from None
    if UNNAMED_COLUMN in table and "index" not in table:
        table = table.rename(columns={UNNAMED_COLUMN: "index"})
    key = next((name for name in ("item", "index") if name in table), None)
    if key is None or DIFFICULTY not in table:
        problem = f"columns {', '.join(map(str, table.columns))}"
        remedy = f"give a column {DIFFICULTY!r}, and `item` or `index`"
        raise DataError(problem, source=str(path), remedy=remedy)
    with named_in_errors(path):
        hard = _finite_numbers(table[DIFFICULTY])
        gamed = _gamed_rows(table, hard)
    keys = map(item_key, table[key])
    difficulty_of_item = dict(zip(keys, hard, strict=True))
    return External(key=key, difficulty=difficulty_of_item, gamed=gamed, source=str(path))


def _gamed_rows(table: "pd.DataFrame", difficulty: np.ndarray) -> Gamed | None:
    """Return the verdicts on gamed baselines; None if the table has none.

    In the table, `preference` is what the gamed baseline earned, and `std_delta_len` is the lead of
    the baseline in length. Rows whose `not_gamed_baseline` is true are left out.

    Args:
        table: the table.
        difficulty: difficulty of each row's instruction, shape (rows,).

    Raises:
        DataError: a preference is not in [0, 1], or a cell is not a finite number.
    """
    if not set(GAMED_COLUMNS) <= set(table.columns):
        return None
    gamed = ~table["not_gamed_baseline"].astype(bool).to_numpy()
    if not gamed.any():
        return None
    credit = _finite_numbers(table["preference"])[gamed]
    lead = -_finite_numbers(table["std_delta_len"])[gamed]
    outside = np.flatnonzero((credit < 0) | (credit > 1))
    if len(outside):
        problem = f"preference {credit[outside[0]]:g} lies outside [0, 1]"
        raise DataError(
            problem, remedy="give what the gamed baseline earned: 1 won, 0.5 a tie, 0 lost"
        )
    return Gamed(term=np.tanh(lead), difficulty=difficulty[gamed], credit=credit)


def _finite_numbers(column: "pd.Series") -> np.ndarray:
    """Return a column of finite numbers as an array of floats, shape (rows,).

    Raises:
        DataError: a cell is not a finite number.
    """
    import pandas as pd

    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)
    reject_cells(
        column,
        ~np.isfinite(values),
        "is not a number",
        "give a number in every row, or leave the row out",
    )
    return values


def about_models(table: TableOfModels) -> dict[str, dict[str, Any]]:
    """Read a table with facts about models, such as family and date.

    Returns:
        The facts by model and column; empty if there is no table.

    Raises:
        DataError: there is no column `model`, or a model has two rows.
    """
    if table is None:
        return {}
    source = "the table of models" if is_frame(table) else str(table)
    frame: pd.DataFrame = table if is_frame(table) else read_records(Path(str(table)))
    if "model" not in frame:
        columns = ", ".join(map(str, frame.columns))
        raise DataError(
            f"no column model; found: {columns}", source=source, remedy="write a row per model"
        )
    names = frame["model"].map(text_of)
    twice = names[names.duplicated()]
    if len(twice):
        raise DataError(
            f"model {twice.iloc[0]!r} has two rows", source=source, remedy="keep one row of it"
        )
    facts = frame.drop(columns="model").to_dict("records")
    by_model = {}
    for name, row in zip(names, facts, strict=True):
        by_model[str(name)] = {str(column): _plain_cell(value) for column, value in row.items()}
    return by_model


def families_of(about: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the family of each model whose family is known.

    The keys are globs that match only the name of the model. Models without a family are left out.

    Args:
        about: facts by model and column, as `about_models` returns them.
    """
    return {
        escape(name): str(facts["family"]) for name, facts in about.items() if facts.get("family")
    }


def _plain_cell(value: Any) -> Any:
    """Convert a cell to a value that JSON can hold: text, a finite number, a boolean or None.

    NaN, an infinite number and an empty text of another type become None. Times become text.
    """
    import pandas as pd

    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str | int | float | bool):
        return value
    text = text_of(value)
    is_empty = text is None
    return text if is_empty or isinstance(value, pd.Timestamp) else to_plain_values(value)
