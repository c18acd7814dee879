"""Parse the cells of verdict files, and reject those that cannot be parsed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.data.formats.records import row_name
from podium.errors import DataError
from podium.printable import shorten
from podium.scorers.reply import reverse_label
from podium.text import EMPTY, as_categorical, as_text, map_distinct, text_of, texts_of_cells

if TYPE_CHECKING:
    import pandas as pd


BLANK_VERDICTS = frozenset({"", "nan", "null", "<na>"})
"""Spellings of an empty verdict, in lower case.

`none` is not one of them, because it may mean that neither response won.
"""


def with_reversed(numbers: Mapping[str, float]) -> dict[str, float]:
    """Return the numbers with each label in its reversed spelling added, such as `B<A` for `A>B`.

    Both spellings mean the same, and have the same number.

    Args:
        numbers: number by label.
    """
    reverse = {reverse_label(label): number for label, number in numbers.items()}
    return {**numbers, **reverse}


FIVE_LEVELS = with_reversed({"A>>B": 2.0, "A>B": 1.0, "A=B": 0.0, "B>A": -1.0, "B>>A": -2.0})
"""Margin of response A by label."""
LABEL_CREDITS = {
    spelling: float(np.sign(margin) + 1) / 2
    for label, margin in FIVE_LEVELS.items()
    for spelling in (label, f"[[{label}]]")
}
"""Credit of response A by label, with and without the brackets of judges' replies."""
NO_ERROR_VALUES = frozenset({"", "false", "0", "0.0", "no", "none", "nan", "null"})
"""Values of Soft-Elo's column `parse_error` which mean that there was no error."""


def parse_numbers(column: "pd.Series") -> np.ndarray:
    """Parse a column as numbers, shape (rows,). Empty cells become NaN.

    Raises:
        DataError: a cell is neither empty nor a number.
    """
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if not pd.api.types.is_numeric_dtype(column):
        unparsed = column[np.isnan(numbers)]
        texts = unparsed.astype(str).str.strip().str.lower()
        is_empty = unparsed.isna() | texts.isin(EMPTY)
        remedy = "write a number, as 0.5, or leave it empty"
        reject_cells(unparsed, ~is_empty.to_numpy(), "is not a number", remedy)
    return numbers


def parse_words(
    column: "pd.Series",
    numbers: Mapping[str, float],
    unparsed: frozenset[str] = frozenset(),
    *,
    remedy: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Translate verdicts to credits or margins.

    Args:
        column: the verdicts.
        numbers: credit or margin by verdict. Upper and lower case make a difference.
        unparsed: words which say that there is no verdict, in their exact spelling.
        remedy: what the user can do about an unknown verdict, for the error.

    Returns:
        The numbers, and a mask of the unparsed cells; arrays of shape (rows,). A cell that is blank
        or in `unparsed` is unparsed, and its number is NaN.

    Raises:
        DataError: a verdict is unknown.
    """
    words = as_categorical(column)
    number_of_word = {word: numbers.get(word, np.inf) for word in words.categories}
    for word in number_of_word:
        if word in unparsed or word.strip().lower() in BLANK_VERDICTS:
            number_of_word[word] = np.nan
    # The code of an empty cell is -1, which is the index of the last element: NaN.
    parsed = np.array([*number_of_word.values(), np.nan])[words.codes]
    reject_cells(column, np.isinf(parsed), "is not a known verdict", remedy)
    return parsed, np.isnan(parsed)


def reject_cells(column: "pd.Series", is_bad: np.ndarray, problem: str, remedy: str) -> None:
    """Raise a DataError for the first bad cell, if there is one.

    Args:
        column: the cells.
        is_bad: mask of the bad cells, shape (rows,).
        problem: end of the message, which begins with the column's name and the cell's value.
        remedy: what the user can do.
    """
    if not is_bad.any():
        return
    first = int(np.argmax(is_bad))
    value = column.iloc[first]
    if isinstance(value, np.generic):
        value = value.item()
    is_empty = text_of(value) is None and not isinstance(value, str)
    cell_text = "" if is_empty else f" {shorten(repr(value))}"
    number = int(is_bad.sum())
    count_of_rows = f" ({number} such rows)" if number > 1 else ""
    row = row_name(column.index, first)
    raise DataError(f"{column.name}{cell_text} {problem}{count_of_rows}", remedy=remedy, row=row)


def reject_non_objects(column: "pd.Series", problem: str, remedy: str) -> None:
    """Raise a DataError for the first cell that is neither an object nor empty, if there is one.

    Args:
        column: the cells. A text, a list or an array is never empty.
        problem: end of the message, which begins with the column's name and the cell's value.
        remedy: what the user can do.
    """
    is_bad = map_distinct(column, lambda cell: not isinstance(cell, Mapping) and _is_filled(cell))
    reject_cells(column, is_bad.to_numpy(dtype=bool), problem, remedy)


def _is_filled(cell: Any) -> bool:
    """Return whether a cell is not empty; a text, a list or an array is never empty."""
    import pandas as pd

    return isinstance(cell, str | list | np.ndarray) or bool(pd.notna(cell))


def reasons_where(unparsed: np.ndarray, reason: str) -> np.ndarray:
    """Return an array, shape (rows,), with the reason in unparsed rows and None in others."""
    return np.array([None, reason], dtype=object)[unparsed.astype(int)]


def rename_unless_taken(records: "pd.DataFrame", names: Mapping[str, str]) -> "pd.DataFrame":
    """Rename columns, except those whose new name another column has already."""
    return records.rename(columns={old: new for old, new in names.items() if new not in records})


def side_of_winner(records: "pd.DataFrame", first: str, second: str) -> "pd.Series":
    """Return the column `winner`, in which names of models are replaced by names of their columns.

    Other words are kept. A name of a model is kept, too, if it is the name of one of the two
    columns or `tie`, or if both models of the row have it.

    Args:
        records: the rows.
        first: the column with the first model.
        second: the column with the second model.
    """
    words = as_text(records["winner"])
    own_words = [first, second, "tie"]
    names_of_models = texts_of_cells(records[first]) | texts_of_cells(records[second])
    if names_of_models.isdisjoint(texts_of_cells(words).difference(own_words)):
        return words.rename("winner")
    first_model = as_text(records[first])
    second_model = as_text(records[second])
    is_word = words.isin(own_words)
    for names, side in ((first_model, first), (second_model, second)):
        names_side = (words == names) & ~is_word & (first_model != second_model)
        words = words.mask(names_side, side)
    return words.rename("winner")
