"""Read a matrix of wins, whose rows and columns are the same models.

Each cell counts the wins of one model over the other. The table does not say whether they are wins
of the row's model or of the column's model, so the user must: `rows` or `columns`.
"""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from podium.data.counting.relations import ROW
from podium.data.formats.records import Records, records_of
from podium.errors import DataError
from podium.notices.notice import Notice
from podium.text import EMPTY, as_text

if TYPE_CHECKING:
    import pandas as pd


SHARE_OF_NAMES = 0.8
"""A table is a matrix of wins if at least this share of the names of its rows are also names of
columns."""
BLANK_CELLS = EMPTY | {"-", "–", "—", "x"}
"""Spellings of a cell without battles, in lower case."""
BATTLES_REMEDY = (
    "give a row per battle (model_a, model_b, credit), or per pair (wins_a, wins_b, ties)"
)
"""Remedy for a matrix of which it is not known how many battles it counts."""
MOST_BATTLES = 5_000_000
"""Largest number of wins in a matrix; a larger one is rejected."""
SUM_OF_PERCENTAGES = 100
"""If the two cells of every pair sum to this, they are percentages and not counts."""
COUNTS_REMEDY = "give counts of wins, or a row per battle (model_a, model_b, credit)"
"""What to do if the cells are not counts of wins."""


def shares_names(
    rows: Sequence[str], columns: Sequence[str], share: float = SHARE_OF_NAMES
) -> bool:
    """Return whether the names of rows are also names of columns, in any order.

    At least two names, and at least `share` of the rows' names, must be names of columns. The names
    of rows must be different.
    """
    common = {*rows} & {*columns}
    if len({*rows}) < len(rows):
        return False
    return len(common) >= max(2, share * len(rows))


def find_label_column(records: Records, *, is_matrix: bool = False) -> str | None:
    """Return the column that names the rows of a matrix of wins; None for any other table.

    It is the first column without empty cells whose cells are the names of other columns (see
    `shares_names`). The table must have at least three columns, at least two rows, and fewer than
    twice as many rows as columns. If `is_matrix`, because the user said so, two names of rows that
    are also names of columns are enough.
    """
    share = 0 if is_matrix else SHARE_OF_NAMES
    names = list(records.columns)
    if len(names) < 3:
        return None
    ((rows,),) = records.rows("count(*)")
    if not 2 <= rows < 2 * len(names):
        return None
    for name, column in records.columns.items():
        labels = [label for (label,) in records.rows(column.text) if label is not None]
        others = [other for other in names if other != name]
        if len(labels) == rows and shares_names(labels, others, share):
            return name
    return None


def ambiguous_matrix_error(records: Records, label: str) -> DataError:
    """Return the error for a matrix of wins if the user has not said whose wins its cells count.

    The message shows the two possible meanings of the first cell with a number. If the cells count
    no wins, it is the error that `read_win_matrix` raises, because no reading helps.
    """
    import pandas as pd

    frame = _cells_by_name(records, label)
    try:
        _check_counts(frame.to_numpy(dtype=float), list(frame.index))
    except DataError as error:
        return error.with_place(records.source)
    cells = product(frame.index, frame.columns)
    pairs = ((row, column) for row, column in cells if row != column)
    known_pairs = (pair for pair in pairs if pd.notna(frame.loc[pair]))
    row, column = next(known_pairs, (frame.index[0], frame.columns[-1]))
    value = frame.loc[row, column]
    shown_value = "its value" if pd.isna(value) else f"{value:g}"
    problem = (
        "rows and columns are the same models, "
        f"so that {shown_value} in the row of {row!r} and the column of {column!r} "
        f"may be what {row!r} won against {column!r}, or what {column!r} won against {row!r}"
    )
    remedy = (
        "say --matrix rows if a cell counts the wins of its row's model, "
        "--matrix columns if of its column's"
    )
    return DataError(problem, remedy=remedy, source=records.source)


def read_win_matrix(records: Records, label: str, reading: str) -> Records:
    """Convert a matrix of wins to battles: one battle per win, without items.

    The winner is model_a, with the credit 1. Columns without a row of their name are left out, and
    so are rows without a column: of their models, only wins or only losses are known.

    Args:
        records: the matrix.
        label: the column with the names of the rows.
        reading: whether a cell counts the wins of its row's model (`rows`) or of its column's
            model (`columns`).

    Raises:
        DataError: a cell is not a count of wins.
    """
    import pandas as pd

    frame = _cells_by_name(records, label)
    wins = (frame if reading == "rows" else frame.T).to_numpy(dtype=float)
    names = list(frame.index)
    try:
        _check_counts(wins, names)
    except DataError as error:
        raise error.with_place(records.source) from None
    # Positions of the models of each pair with wins, shape (pairs,) each.
    winner, loser = np.nonzero(np.nan_to_num(wins))
    wins_of_pair = wins[winner, loser].astype(int)
    models = np.array(names, dtype=object)
    battles = pd.DataFrame(
        {
            "model_a": models[winner].repeat(wins_of_pair),
            "model_b": models[loser].repeat(wins_of_pair),
        }
    )
    battles = battles.assign(credit=1.0).set_axis(pd.RangeIndex(1, len(battles) + 1, name="battle"))
    return records_of(records.engine, battles, records.source)


def note_models_left_out(records: Records, label: str) -> list[Notice]:
    """Return notes on the rows and columns of a matrix of wins that are left out.

    They are the columns without a row of their name, and the rows without a column. The list is
    empty if there are none.

    Args:
        records: the matrix.
        label: the column with the names of the rows.
    """
    rows = [name for (name,) in records.rows(records.columns[label].text, f"order by {ROW}")]
    columns = [name for name in records.columns if name != label]
    notes = []
    columns_left_out = [name for name in columns if name not in rows]
    if columns_left_out:
        fields = {"source": records.source, "columns": columns_left_out}
        notes.append(Notice("win-matrix-columns-left-out", fields))
    rows_left_out = [name for name in rows if name not in columns]
    if rows_left_out:
        fields = {"source": records.source, "rows": rows_left_out}
        notes.append(Notice("win-matrix-rows-left-out", fields))
    return notes


def _cells_by_name(records: Records, label: str) -> "pd.DataFrame":
    """Return the cells as numbers; NaN if a pair has no battles.

    Rows and columns of the result have the same names in the same order. Columns without a row of
    their name are left out, and so are rows without a column.

    Raises:
        DataError: a cell is neither blank nor a number.
    """
    import pandas as pd

    frame = records.frame()
    names_of_rows = pd.Index(as_text(frame[label]), dtype=object)
    rows_by_name = frame.set_axis(names_of_rows).drop(columns=label)
    names = [name for name in rows_by_name.columns if name in rows_by_name.index]
    columns = {name: _parse_counts(rows_by_name[name], name, records.source) for name in names}
    return pd.DataFrame(columns, index=rows_by_name.index).loc[names, names]


def _parse_counts(cells: "pd.Series", name: str, source: str) -> np.ndarray:
    """Parse a column of cells as numbers, shape (rows,). Blank cells become NaN.

    Args:
        cells: the cells, with the names of the rows as index.
        name: name of the column, for the error.
        source: the file, for the error.

    Raises:
        DataError: a cell is neither blank nor a number.
    """
    import pandas as pd

    words = as_text(cells)
    is_blank = words.isna() | words.fillna("").str.strip().str.lower().isin(BLANK_CELLS)
    numbers = pd.to_numeric(words.where(~is_blank, None), errors="coerce").to_numpy(dtype=float)
    is_no_number = np.isnan(numbers) & ~is_blank.to_numpy()
    if is_no_number.any():
        first = int(is_no_number.argmax())
        row = words.index[first]
        word = words.iloc[first]
        problem = f"{word!r} in the row of {row!r} and the column of {name!r} is no number"
        raise DataError(problem, remedy=COUNTS_REMEDY, source=source)
    return numbers


def _check_counts(wins: np.ndarray, names: Sequence[str]) -> None:
    """Check that cells count wins.

    Args:
        wins: the cells, shape (models, models); NaN if a cell is empty.
        names: names of the models.

    Raises:
        DataError: a cell is not a whole number of 0 or more, only one of the two cells of a pair is
            empty, the diagonal has wins, or the sums are not plausible.
    """

    def first_cell(mask: np.ndarray) -> str:
        """Return the models of the first cell for which a mask is true, for messages."""
        row, column = np.argwhere(mask)[0]
        return f"{names[row]!r} against {names[column]!r}"

    is_off_diagonal = ~np.eye(len(wins), dtype=bool)
    is_known = ~np.isnan(wins)
    is_count = is_off_diagonal & is_known
    is_out_of_range = is_count & ((wins < 0) | ~np.isfinite(wins))
    if is_out_of_range.any():
        problem = f"a count of wins is negative or infinite ({first_cell(is_out_of_range)})"
        raise DataError(problem, remedy=COUNTS_REMEDY)
    is_fraction = is_count & (wins % 1 != 0)
    if is_fraction.any():
        cell_text = f"{wins[is_fraction][0]:g} ({first_cell(is_fraction)})"
        problem = f"{cell_text} is no count of wins: a win rate, or ties counted as half"
        remedy = f"the number of battles behind it is not known; {COUNTS_REMEDY}"
        raise DataError(problem, remedy=remedy)
    is_one_sided = ~is_known & is_known.T
    if is_one_sided.any():
        place = first_cell(is_one_sided)
        problem = f"the cell of {place} is empty, but that of the other direction is not"
        remedy = "write 0 if it was lost, or empty both if the two never met"
        raise DataError(problem, remedy=remedy)
    has_own_wins = np.nan_to_num(np.diag(wins)) != 0
    if has_own_wins.any():
        name = names[int(np.argmax(has_own_wins))]
        raise DataError(f"{name!r} has wins against itself", remedy="empty the diagonal")
    _reject_odd_sums(wins, is_count)


def _reject_odd_sums(wins: np.ndarray, is_count: np.ndarray) -> None:
    """Check the sums of cells.

    Args:
        wins: the cells, shape (models, models); NaN if a cell is empty.
        is_count: mask of the cells that are known and not on the diagonal, of the same shape.

    Raises:
        DataError: the cells are percentages, or there are no wins or too many.
    """
    sums_of_pairs = (wins + wins.T)[is_count]
    if sums_of_pairs.size and (sums_of_pairs == SUM_OF_PERCENTAGES).all():
        problem = (
            "the two cells of each pair sum to 100: "
            "they look like percentages, without the number of battles"
        )
        raise DataError(problem, remedy=BATTLES_REMEDY)
    total = np.sum(wins[is_count])
    if not 0 < total <= MOST_BATTLES:
        problem = f"{total:,.0f} wins" if total else "no wins in any cell"
        raise DataError(problem, remedy=f"give between 1 and {MOST_BATTLES:,}")
