"""evalica CSV: left, right, winner."""

import pandas as pd

from podium.formats.verdicts import reasons, side_of_winner, translate

REMEDY = "a winner is left, right, tie, or the name of one of the two; empty where nobody was judged"
CREDIT = {"left": 1.0, "right": 0.0, "tie": 0.5}


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Read `left` as a; winner is left, right or tie; empty = unparsed."""
    winner = side_of_winner(records["winner"], records["left"], records["right"], ("left", "right"))
    credit, unparsed = translate(winner, CREDIT, remedy=REMEDY)
    frame = records.drop(columns=["winner"]).rename(columns={"left": "model_a", "right": "model_b"})
    return frame.assign(credit=credit, reason=reasons(unparsed, "no winner"))
