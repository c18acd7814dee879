"""Words for verdicts, translated to credit; records that hold one or two judgements of a pair, one per order."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from podium.errors import DataError
from podium.formats.cells import refuse, row_name
from podium.text import as_text

Game: TypeAlias = Mapping[str, Any] | None
"""One judgement; None where the judge failed."""
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


def games_of(column: pd.Series, verdict: str) -> list[list[Game]]:
    """Return the judgements of each record.

    Args:
        column: a list of one or two objects per record.
        verdict: the key whose value, a text or nothing, is the verdict.

    Raises:
        DataError: a cell holds something else.
    """
    return [_games_in(column, position, verdict) for position in range(len(column))]


def each_order(
    plain: pd.DataFrame, games: list[list[Game]], verdict: str, orders: tuple[str, str] = ("ab", "ba")
) -> Iterator[tuple[str, pd.DataFrame, list[Game], pd.Series]]:
    """Yield, of the first games and then of the second, the order shown, their records, the games and the verdicts.

    Args:
        plain: what else the records hold, a row each.
        orders: in which the two games show a and b.
    """
    for which, order in enumerate(orders[: max(map(len, games), default=0)]):
        asked = np.array([len(pair) > which for pair in games])
        played = [pair[which] for pair in games if len(pair) > which]
        words = [None if game is None else game.get(verdict) for game in played]
        verdicts = pd.Series(words, index=plain.index[asked], name=verdict, dtype=object)
        yield order, plain[asked], played, verdicts


def _games_in(column: pd.Series, position: int, verdict: str) -> list[Game]:
    games = column.iloc[position]
    if not isinstance(games, list | np.ndarray) or not 1 <= len(games) <= 2:
        problem = "are not one or two"
    elif not all(
        game is None or (isinstance(game, Mapping) and isinstance(game.get(verdict), str | None)) for game in games
    ):
        problem = f"hold something else than objects with a {verdict}"
    else:
        return list(games)
    raise DataError(
        f"{column.name} {str(games)[:60]!r} {problem}",
        row=row_name(column.index, position),
        remedy="each record needs a list of one judgement per order, null where the judge failed",
    )
