"""Read tables of counts: how many battles of a pair each of the two models won."""

import numpy as np
import pandas as pd

from podium.data.formats.verdict_cells import parse_numbers, reject_cells
from podium.data.formats.win_matrix import MOST_BATTLES
from podium.errors import DataError
from podium.notices.notice import Notice
from podium.text import as_text
from podium.wording import plural

WIN_COLUMNS = (("wins_a", "wins_b"), ("a_wins", "b_wins"))
"""Pairs of names that the columns with the wins of model_a and of model_b may have."""
TIE_COLUMNS = ("ties", "draws")
"""Names of the column with the ties. It may be missing if there are none."""
CREDIT_OF_COLUMN = (1.0, 0.0, 0.5)
"""Credit of model_a for a count of its own wins, of the wins of model_b, and of ties."""


def read_counts(records: pd.DataFrame) -> pd.DataFrame:
    """Convert counts to battles: a row per battle, with the other columns of the row of its count.

    The columns of the counts (`WIN_COLUMNS`, `TIE_COLUMNS`) are replaced by `credit`; the table
    must have the columns of wins. In the index, each battle has the number of the row of its count.
    Notes name the models whose counts are all 0, and rows of counts that are equal.

    Raises:
        DataError: a cell is empty or not a whole number of 0 or more, the counts sum to 0 or to
            more than `MOST_BATTLES`, or there are two columns of ties.
    """
    wins = next(names for names in WIN_COLUMNS if {*names} <= {*records})
    ties = [name for name in TIE_COLUMNS if name in records]
    if len(ties) > 1:
        problem = f"both {' and '.join(ties)} would be the number of ties"
        raise DataError(problem, remedy="remove or rename one of these columns")
    names = [*wins, *ties]
    counts = np.stack([_counts_in_column(records[name]) for name in names])
    total = counts.sum()
    if not 0 < total <= MOST_BATTLES:
        problem = f"{', '.join(names)} count {total:,.0f} {plural('battle', total)}"
        raise DataError(problem, remedy=f"give between 1 and {MOST_BATTLES:,} battles")
    # All battles of the first row come first: its wins, its losses, and its ties.
    counts_of_row = counts.T.astype(np.int64)  # shape (rows, names)
    position = np.repeat(np.arange(len(records)), counts_of_row.sum(axis=1))
    credit_of_count = np.tile(CREDIT_OF_COLUMN[: len(names)], len(records))
    credit = np.repeat(credit_of_count, counts_of_row.ravel())
    battles = records.drop(columns=names).iloc[position].assign(credit=credit)
    battles.attrs["notes"] = [*_note_equal_counts(records), *_note_idle_models(records, battles)]
    return battles


def _note_equal_counts(records: pd.DataFrame) -> list[Notice]:
    """Return a note on the rows that repeat another row in every column; none if none does."""
    texts = pd.DataFrame({name: as_text(records[name]) for name in records})
    equal_rows = int(texts.duplicated().sum())
    return [Notice("counts-repeat", {"rows": equal_rows})] if equal_rows else []


def _note_idle_models(records: pd.DataFrame, battles: pd.DataFrame) -> list[Notice]:
    """Return a note on the models of the counts that have no battle; none if all have one."""
    idle = sorted(_names_of_both_models(records) - _names_of_both_models(battles))
    return [Notice("models-without-battles", {"models": idle})] if idle else []


def _names_of_both_models(rows: pd.DataFrame) -> set[str]:
    """Return the names in the columns model_a and model_b, each once; empty cells are no names."""
    names = set[str]()
    for side in ("model_a", "model_b"):
        distinct = pd.Series(rows[side].unique())
        names.update(as_text(distinct).dropna())
    return names


def _counts_in_column(column: pd.Series) -> np.ndarray:
    """Parse a column of counts, shape (rows,).

    Raises:
        DataError: a cell is empty, as a missing count is not 0, or not a whole number of 0 or more.
    """
    counts = parse_numbers(column)
    remedy = "write 0 for no battle, or remove the row if the number is not known"
    reject_cells(column, np.isnan(counts), "is empty, and a missing count is not 0", remedy)
    is_odd = (counts < 0) | ~np.isfinite(counts) | (np.floor(counts) != counts)
    remedy = "write the number of battles; the number behind a win rate is not known"
    reject_cells(column, is_odd, "is not a count of battles", remedy)
    return counts
