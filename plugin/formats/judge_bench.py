"""JudgeBench: a correct and an incorrect response of one model, judged in both orders."""

import numpy as np
import pandas as pd

from podium.formats.verdicts import Game, each_order, games_of, reasons, refuse, translate
from podium.text import as_text

CREDIT = {"A>B": 1.0, "B>A": 0.0, "A=B": 0.5}
RIGHT, WRONG = "correct", "incorrect"
NAMES = {"pair_id": "item", "judge_name": "judge", "source": "category"}
BULK = ("judgments", "response_A", "response_B", "question", "label")


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Read the labelled right response against the wrong one; the win rate of `correct` is the judge's.

    Both responses come from one model, so the models are `correct` and `incorrect`, and the label is the human
    verdict. The second judgment has the order swapped. A missing decision is unparsed.

    Raises:
        DataError: a label or decision that is unknown, or a row without judgments.
    """
    label = as_text(records["label"])
    refuse(records["label"], (~label.isin(["A>B", "B>A"])).to_numpy(), "names no winner", "labels are A>B or B>A")
    a_is_right = (label == "A>B").to_numpy()
    plain = records.drop(columns=[name for name in BULK if name in records])
    plain = plain.rename(columns=NAMES)
    plain = plain.assign(
        model_a=np.where(a_is_right, RIGHT, WRONG),
        model_b=np.where(a_is_right, WRONG, RIGHT),
        human=a_is_right * 1.0,
    )
    games = games_of(records["judgments"], "decision")
    if "judge" in plain:
        plain["judge"] = [_judge_name(name, pair) for name, pair in zip(plain["judge"], games, strict=True)]
    judgments = []
    for order, rows, _, decisions in each_order(plain, games, "decision"):
        shown_first, unparsed = translate(decisions, CREDIT, remedy="known decisions: A>B, B>A, A=B, or null")
        credit = shown_first if order == "ab" else 1 - shown_first
        judgments.append(rows.assign(credit=credit, order=order, reason=reasons(unparsed, "no decision")))
    return pd.concat(judgments)


def _judge_name(name: str, games: list[Game]) -> str:
    """Write the judge as its realization and its model, which only the judgments tell."""
    judgments = [game["judgment"] for game in games if game and isinstance(game.get("judgment"), dict)]
    models = [judgment["judge_model"] for judgment in judgments if judgment.get("judge_model")]
    return f"{name} {models[0]}" if models else name
