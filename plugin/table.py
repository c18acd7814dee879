"""The gate: a foreign frame comes in, a battles table with checked types and ranges goes out."""

from typing import Any

import numpy as np
import pandas as pd

from podium.battles import COLUMNS, criterion_columns
from podium.errors import DataError
from podium.text import EMPTY, as_categorical, text_of

NUMBERS = ("credit", "margin", "score_a", "score_b", "human", "length_a", "length_b", "weight", "repeat")
CATEGORIES = ("item", "judge", "order", "category", "reason", "swap")
ORDERS = ("ab", "ba", "merged")
SWAPS = ("same", "half", "flip", "one-sided", "unread")


def check(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return a table with the contract's columns typed and every value in its range.

    Columns that begin with `margin_` are margins on single criteria: numbers, whose mean over the criteria present
    in a row is its margin where no column `margin` says it.

    Args:
        frame: columns named as in the contract; its index names the rows (`row` or `line` numbers).
        source: what to call the file in an error.

    Raises:
        DataError: a column is missing, or a value is impossible; it names the row, the value, the remedy.
    """
    try:
        return _check(frame)
    except DataError as error:
        raise error.with_place(source) from None


def _check(frame: pd.DataFrame) -> pd.DataFrame:
    _refuse_namesakes(frame)
    frame = _with_criteria(_without_foreign_swap(frame))
    _require_columns(frame)
    table = {name: number(frame[name]) for name in NUMBERS if name in frame}
    table |= _scores_as_margin(table)
    a, b = _entrants(frame)
    table |= {"model_a": a, "model_b": b}
    table |= {name: as_categorical(frame[name]) for name in CATEGORIES if name in frame}
    _refuse_ranges(frame, table)
    foreign = {name: frame[name].to_numpy() for name in frame if name not in COLUMNS}
    checked = pd.DataFrame({**table, **foreign}, index=frame.index)
    _refuse_orders(checked)
    if "credit" not in checked:
        checked["credit"] = np.nan
    elif "margin" not in frame and "margin" in checked:
        checked["reason"] = _explain_empty_credit(checked)
    return checked


def _without_foreign_swap(frame: pd.DataFrame) -> pd.DataFrame:
    """Rename a column `swap` that says something else than podium's own: a flag of many judges' files."""
    if "swap" not in frame or as_categorical(frame["swap"]).categories.isin(SWAPS).all():
        return frame
    return frame.rename(columns={"swap": "swap_"})


def _with_criteria(frame: pd.DataFrame) -> pd.DataFrame:
    """Read the margins on single criteria as numbers; where no column says the margin, it is a row's mean of them."""
    criteria = criterion_columns(frame)
    if not criteria:
        return frame
    frame = frame.assign(**{name: number(frame[name]) for name in criteria})
    return frame if "margin" in frame else frame.assign(margin=frame[criteria].mean(axis=1))


def _explain_empty_credit(checked: pd.DataFrame) -> pd.Categorical:
    """Give an empty credit a reason, so that no margin derived from pointwise scores stands in for the verdict."""
    reason = checked["reason"].astype(object) if "reason" in checked else pd.Series(None, checked.index, dtype=object)
    return as_categorical(reason.mask(checked["credit"].isna() & reason.isna(), "no verdict"))


def number(column: pd.Series) -> np.ndarray:
    """Read a column as numbers, shape (rows,); empty cells become NaN.

    Raises:
        DataError: a cell holds something else, or an infinity.
    """
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if not pd.api.types.is_numeric_dtype(column):
        unclear = column[np.isnan(numbers)]
        empty = unclear.isna() | unclear.astype(str).str.strip().str.lower().isin(EMPTY)
        refuse(unclear, ~empty.to_numpy(), "is not a number", "write a number or leave it empty")
    refuse(column, np.isinf(numbers), "is infinite", "leave the cell empty if the value is unknown")
    return numbers


def refuse(column: pd.Series, bad: np.ndarray, problem: str, remedy: str) -> None:
    """Raise for the first row of a mask, naming the row and the value; tell how many there are.

    Raises:
        DataError: any row is bad.
    """
    if not bad.any():
        return
    first = int(np.argmax(bad))
    more = f" ({int(bad.sum())} such rows)" if bad.sum() > 1 else ""
    raise DataError(
        f"{column.name}{_cell_text(column.iloc[first])} {problem}{more}",
        remedy=remedy,
        row=row_name(column.index, first),
    )


def _cell_text(value: Any) -> str:
    """Write a cell as it would be typed; an empty one shows nothing."""
    plain = value.item() if isinstance(value, np.generic) else value
    return "" if text_of(plain) is None else f" {plain!r}"


def row_name(index: pd.Index, position: int) -> str:
    """Name a row as its file counts: 'row 7' of a table, 'line 7' of a JSONL file."""
    label = index[position]
    return f"{index.name} {label}" if index.name else f"row {position + 1}"


def _refuse_namesakes(frame: pd.DataFrame) -> None:
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"two columns are called {twice!r}", remedy="rename or remove one of them in the file")


def _require_columns(frame: pd.DataFrame) -> None:
    missing = [name for name in ("model_a", "model_b") if name not in frame]
    if not {"credit", "margin"} & set(frame) and not {"score_a", "score_b"} <= set(frame):
        missing.append("credit (or margin)")
    if missing:
        raise DataError(
            f"no column {', '.join(missing)}; found: {', '.join(map(str, frame.columns))}",
            remedy="name the columns, for example --columns model_a=left,model_b=right,credit=outcome",
        )
    if not len(frame):
        raise DataError("no rows", remedy="give a file that holds verdicts")


def _scores_as_margin(table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    if "margin" in table or not {"score_a", "score_b"} <= set(table):
        return {}
    return {"margin": table["score_a"] - table["score_b"]}


def _entrants(frame: pd.DataFrame) -> tuple[pd.Categorical, pd.Categorical]:
    a, b = as_categorical(frame["model_a"]), as_categorical(frame["model_b"])
    for name, side in (("model_a", a), ("model_b", b)):
        refuse(
            frame[name],
            np.asarray(side.codes) < 0,
            "is empty",
            "every battle needs the names of both entrants",
        )
    names = pd.Index(sorted({*a.categories, *b.categories}), dtype=object)
    a, b = a.set_categories(names), b.set_categories(names)
    refuse(
        frame["model_b"],
        np.asarray(a.codes == b.codes),
        "plays against itself",
        "remove battles of a model with itself",
    )
    return a, b


def _refuse_ranges(frame: pd.DataFrame, table: dict[str, np.ndarray]) -> None:
    for name in [name for name in ("credit", "human") if name in table]:
        values = table[name]
        refuse(
            frame[name],
            (values < 0) | (values > 1),
            "is outside [0, 1]",
            "credit is what model_a earned: 1 win, 0.5 tie, 0 loss; translate other codes with --credit-map",
        )
    if "weight" in table:
        table["weight"] = np.where(np.isnan(table["weight"]), 1.0, table["weight"])
        refuse(
            frame["weight"],
            table["weight"] <= 0,
            "is not above 0",
            "remove the row instead of weighting it by 0",
        )


def _refuse_orders(table: pd.DataFrame) -> None:
    for name, known in (("order", ORDERS), ("swap", SWAPS)):
        if name in table:
            bad = ~table[name].isin([*known]) & table[name].notna()
            refuse(table[name], bad.to_numpy(), "is unknown", f"use one of {', '.join(known)}, or leave it empty")
