"""Records that hold one or two judgements of the same pair, one per order of presentation."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from podium.errors import DataError
from podium.formats.cells import row_name

Game: TypeAlias = Mapping[str, Any] | None
"""One judgement; None where the judge failed."""


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
    elif not all(_is_game(game, verdict) for game in games):
        problem = f"hold something else than objects with a {verdict}"
    else:
        return list(games)
    raise DataError(
        f"{column.name} {str(games)[:60]!r} {problem}",
        row=row_name(column.index, position),
        remedy="each record needs a list of one judgement per order, null where the judge failed",
    )


def _is_game(game: Any, verdict: str) -> bool:
    return game is None or (isinstance(game, Mapping) and isinstance(game.get(verdict), str | None))
