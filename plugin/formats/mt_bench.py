"""MT-bench: pairwise judgments (two games already mapped back to names) and single-answer grades."""

from typing import Any

import numpy as np
import pandas as pd

from podium.formats.verdicts import number, reasons, translate
from podium.text import text_of

CREDIT = {"model_1": 1.0, "model_2": 0.0, "tie": 0.5}
FAILED = -1.0


def read_pair(records: pd.DataFrame) -> pd.DataFrame:
    """Read two judgments per row, model_1 as a: g1 shows model_1 first, g2 model_2; `error` is unparsed.

    The two turns of a question are two battles of one item: `repeat` holds the turn.

    Raises:
        DataError: an unknown winner.
    """
    plain = _name_columns(records).rename(columns={"model_1": "model_a", "model_2": "model_b"})
    plain = plain.drop(columns=["g1_winner", "g2_winner"])
    games, remedy = [], "known winners: model_1, model_2, tie, error"
    for name, order in (("g1_winner", "ab"), ("g2_winner", "ba")):
        credit, unparsed = translate(records[name], CREDIT, frozenset({"error"}), remedy=remedy)
        games.append(plain.assign(credit=credit, order=order, reason=reasons(unparsed, "judge error")))
    return pd.concat(games)


def read_single(records: pd.DataFrame) -> pd.DataFrame:
    """Read grades 1-10 as pointwise scores; -1 is unparsed."""
    score = number(records["score"])
    failed = np.isnan(score) | (score == FAILED)
    return _name_columns(records).assign(score=np.where(failed, np.nan, score), reason=reasons(failed, "no grade"))


def _name_columns(records: pd.DataFrame) -> pd.DataFrame:
    """Rename the columns both files share.

    The judge `["gpt-4", "pair-v2"]` is its model; the template, which the question decides (mathematics has one
    of its own), is kept as a column.
    """
    shared = records.rename(columns={"question_id": "item"})
    parts = records["judge"].map(_parts)
    shared["judge"] = parts.map(lambda part: part[0] if part else None)
    shared["template"] = parts.map(lambda part: " ".join(part[1:]) or None)
    return shared.assign(repeat=records["turn"]) if "turn" in records else shared


def _parts(judge: Any) -> list[str]:
    if isinstance(judge, list | tuple | np.ndarray):
        return [str(part) for part in judge]
    name = text_of(judge)
    return [name] if name else []
