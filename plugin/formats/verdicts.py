"""Words for verdicts, translated to credit."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from podium.formats.cells import refuse
from podium.text import as_text

FIVE_LEVELS = {
    "A>>B": (1.0, 2.0),
    "A>B": (1.0, 1.0),
    "A=B": (0.5, 0.0),
    "B>A": (0.0, -1.0),
    "B>>A": (0.0, -2.0),
}
"""Label to (credit of A, margin)."""


def translate(
    column: pd.Series,
    number_of: Mapping[str, float],
    unread: frozenset[str] = frozenset(),
    *,
    remedy: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Translate words to credits or margins; empty cells and the words of `unread` become NaN.

    Returns:
        Numbers, shape (rows,), and a mask of the cells that are unread.

    Raises:
        DataError: a word is in neither; it is never taken for a tie.
    """
    words = as_text(column)
    known = words.map(dict(number_of)).to_numpy(dtype=np.float64)
    empty = (words.isna() | words.isin(unread)).to_numpy()
    refuse(column, np.isnan(known) & ~empty, "is not a known verdict", remedy)
    return np.where(empty, np.nan, known), empty


def side_of_winner(winner: pd.Series, a: pd.Series, b: pd.Series, sides: tuple[str, str]) -> pd.Series:
    """Write the side where a winner is told by the name of its model; a word that says a side, or a tie, stays."""
    words = as_text(winner)
    for names, other, side in ((a, b, sides[0]), (b, a, sides[1])):
        named = (words == as_text(names)) & ~words.isin([*sides, "tie"]) & (as_text(names) != as_text(other))
        words = words.mask(named, side)
    return words.rename(winner.name)


def credit_of(margin: np.ndarray) -> np.ndarray:
    """Return the credit that a's margin decides: 1, 0.5 or 0; NaN stays NaN."""
    return (np.sign(margin) + 1) / 2


def reasons(unread: np.ndarray, reason: str) -> np.ndarray:
    """Return the reason where a row is unread and None elsewhere, shape (rows,)."""
    column = np.full(len(unread), None, dtype=object)
    column[unread] = reason
    return column
