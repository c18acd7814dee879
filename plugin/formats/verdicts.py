"""Cells of a foreign frame: numbers are read, words translated to credit, and what is neither refused with its row."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from podium.errors import DataError
from podium.formats.records import shorten
from podium.text import EMPTY, as_text, text_of

Game: TypeAlias = Mapping[str, Any] | None
"""One judgment; None where the judge failed."""
FIVE_LEVELS = {"A>>B": (1.0, 2.0), "A>B": (1.0, 1.0), "A=B": (0.5, 0.0), "B>A": (0.0, -1.0), "B>>A": (0.0, -2.0)}
"""Label to (credit of A, margin)."""
BLANK = frozenset({"", "nan", "null", "<na>"})
"""Spellings of an empty verdict, lower case; `none` is an error, because it may mean that neither response won."""


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
    problem = f"{column.name}{_cell_text(column.iloc[first])} {problem}{more}"
    raise DataError(problem, remedy=remedy, row=row_name(column.index, first))


def _cell_text(value: Any) -> str:
    """Write a cell as it would be typed; an empty one shows nothing."""
    plain = value.item() if isinstance(value, np.generic) else value
    return "" if text_of(plain) is None else f" {shorten(repr(plain))}"


def row_name(index: pd.Index, position: int) -> str:
    """Name a row as its file counts: 'row 7' of a table, 'line 7' of a JSONL file."""
    label = index[position]
    return f"{index.name} {label}" if index.name else f"row {position + 1}"


def translate(
    column: pd.Series, number_of: Mapping[str, float], unparsed: frozenset[str] = frozenset(), *, remedy: str
) -> tuple[np.ndarray, np.ndarray]:
    """Translate words to credits or margins; empty cells (also NaN or null as text) and the words of `unparsed` become
    NaN.

    Returns:
        Numbers, shape (rows,), and a mask of the cells that are unparsed.

    Raises:
        DataError: a word is in neither; it is never taken for a tie.
    """
    words = as_text(column)
    known = words.map(dict(number_of)).to_numpy(dtype=np.float64)
    blank = words.astype(object).map(lambda word: word is None or word.strip().lower() in BLANK)
    empty = (blank.astype(bool) | words.isin(unparsed)).to_numpy()
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


def reasons(unparsed: np.ndarray, reason: str) -> np.ndarray:
    """Return the reason where a row is unparsed and None elsewhere, shape (rows,)."""
    column = np.full(len(unparsed), None, dtype=object)
    column[unparsed] = reason
    return column


def games_of(column: pd.Series, verdict: str) -> list[list[Game]]:
    """Return the judgments of each record.

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
    remedy = "each record needs a list of one judgment per order, null where the judge failed"
    raise DataError(f"{column.name} {str(games)[:60]!r} {problem}", row=row_name(column.index, position), remedy=remedy)
