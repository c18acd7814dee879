"""FastChat and Arena battles: model_a, model_b and a winner by name, or three indicator columns."""

import numpy as np
import pandas as pd

from podium.errors import DataError
from podium.formats.verdicts import number, reasons, row_name, side_of_winner, translate

TIES = ("tie", "tie (bothbad)", "tie(bothbad)", "tie (both bad)", "tie(all bad)", "both_bad", "bothbad")
CREDIT = {"model_a": 1.0, "model_b": 0.0} | dict.fromkeys(TIES, 0.5)
NO_VERDICT = frozenset({"error", "invalid"})
INDICATORS = ("winner_model_a", "winner_tie", "winner_model_b")
ITEMS = ("question_id", "id")
REMEDY = (
    "known winners: model_a, model_b, tie, tie (bothbad), both_bad; translate others with --columns and --credit-map"
)


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Read a battle per row; `tie` and all spellings of `both bad` are ties, a row with an empty winner is unparsed.

    Raises:
        DataError: an unknown winner, or complete indicators that do not name exactly one outcome.
    """
    if "winner" in records:
        winner = side_of_winner(records["winner"], records["model_a"], records["model_b"], ("model_a", "model_b"))
        credit, unparsed = translate(winner, CREDIT, NO_VERDICT, remedy=REMEDY)
    else:
        credit, unparsed = _from_indicators(records)
    item = next((name for name in ITEMS if name in records), None)
    names = {"language": "category"} | ({item: "item"} if item else {})
    frame = records.drop(columns=[name for name in ("winner", *INDICATORS) if name in records])
    frame = frame.rename(columns={old: new for old, new in names.items() if new not in records})
    return frame.assign(credit=credit, reason=reasons(unparsed, "no winner"))


def _from_indicators(records: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the credit of model_a and whether the row is unparsed: any of its three indicators is empty."""
    flags = np.stack([number(records[name]) for name in INDICATORS])
    empty = np.isnan(flags).any(axis=0)
    odd = ~empty & (flags.sum(axis=0) != 1)
    if odd.any():
        first = int(np.argmax(odd))
        problem = f"winner indicators {flags[:, first].tolist()} do not name exactly one outcome"
        remedy = "exactly one of winner_model_a, winner_model_b, winner_tie must be 1"
        raise DataError(problem, row=row_name(records.index, first), remedy=remedy)
    return np.where(empty, np.nan, flags[0] + flags[1] / 2), empty
