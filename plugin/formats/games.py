"""Records that hold one or two judgements of the same pair, one per order of presentation."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from podium.errors import DataError
from podium.table import row_name


def games_of(column: pd.Series, verdict: str) -> list[list[Mapping[str, Any] | None]]:
    """Return the judgements of each record; None where the judge failed.

    Args:
        column: a list of one or two objects per record.
        verdict: the key whose value, a text or nothing, is the verdict.

    Raises:
        DataError: a cell holds something else.
    """
    return [_listed(column, position, verdict) for position in range(len(column))]


def _listed(column: pd.Series, position: int, verdict: str) -> list[Mapping[str, Any] | None]:
    games = column.iloc[position]
    if not isinstance(games, list | np.ndarray) or not 1 <= len(games) <= 2:
        found = "are not one or two"
    elif not all(_is_game(game, verdict) for game in games):
        found = f"hold something else than objects with a {verdict}"
    else:
        return list(games)
    raise DataError(
        f"{column.name} {str(games)[:60]!r} {found}",
        row=row_name(column.index, position),
        remedy="each record needs a list of one judgement per order, null where the judge failed",
    )


def _is_game(game: Any, verdict: str) -> bool:
    return game is None or (isinstance(game, Mapping) and isinstance(game.get(verdict), str | None))
