"""arena-hard judgements: a model against a baseline, two games with the order swapped."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from podium.errors import DataError
from podium.formats.games import games_of
from podium.formats.verdicts import FIVE_LEVELS
from podium.table import row_name

BASELINE_FIRST, MODEL_FIRST = 0, 1
DEFAULT_BASELINE = "baseline"


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Read two presentations per row, the model as a: game 0 shows the baseline as A, game 1 the model as A.

    A null game, or a game without a label, is unread. `A>>B` gives credit 1 with margin 2, `A>B` margin 1.

    Raises:
        DataError: a label that is none of the five, or a row that does not hold one or two games.
    """
    item = "uid" if "uid" in records else "question_id"
    plain = records.drop(columns=["games"]).rename(columns={item: "item", "model": "model_a"})
    plain = plain.rename(columns={"baseline": "model_b"} if "baseline" in plain else {})
    if "model_b" not in plain:
        plain["model_b"] = DEFAULT_BASELINE
    games = games_of(records["games"], "score")
    return pd.concat([_presentations(plain, games, BASELINE_FIRST), _presentations(plain, games, MODEL_FIRST)])


def _presentations(plain: pd.DataFrame, games: list[list[Any]], which: int) -> pd.DataFrame:
    asked = np.array([len(pair) > which for pair in games])
    played = [pair[which] for pair in games if len(pair) > which]
    labels = pd.Series([_label(game) for game in played], index=plain.index[asked], name="score", dtype=object)
    credit, margin = _credit_of_a(labels)
    if which == BASELINE_FIRST:
        credit, margin = 1 - credit, -margin
    return plain[asked].assign(
        credit=credit,
        margin=margin,
        order="ba" if which == BASELINE_FIRST else "ab",
        reason=[_reason(game) for game in played],
        label=labels,
    )


def _label(game: Mapping[str, Any] | None) -> str | None:
    return None if game is None else game.get("score")


def _reason(game: Mapping[str, Any] | None) -> str | None:
    if game is None:
        return "no game"
    return "no verdict" if game.get("score") is None else None


def _credit_of_a(labels: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    pairs = []
    for position, label in enumerate(labels):
        if label is not None and label not in FIVE_LEVELS:
            raise DataError(
                f"score {label!r} is not one of {', '.join(FIVE_LEVELS)}",
                row=row_name(labels.index, position),
                remedy="repair the label, or set it to null if the judge gave none",
            )
        pairs.append(FIVE_LEVELS.get(label, (np.nan, np.nan)))
    credit, margin = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return credit, margin
