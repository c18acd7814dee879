"""Read votes of compar:IA, whose winner is the name of a model."""

import numpy as np
import pandas as pd

from podium.data.battles import VOTERS
from podium.data.formats.answer_lengths import CONVERSATION_COLUMNS, with_lengths
from podium.data.formats.human_voters import name_voters
from podium.data.formats.verdict_cells import reasons_where, reject_cells
from podium.printable import shorten
from podium.scorers.judge_record import JudgeRecord
from podium.text import EMPTY, as_text

ITEM_COLUMNS = ("conversation_pair_id", "question_id", "id")
"""Names of the column with the item. The first one that a table has is used."""
TRUTHS = {"true": 1.0, "1": 1.0, "1.0": 1.0, "false": 0.0, "0": 0.0, "0.0": 0.0}
"""What words for true and false, in lower case, count as."""
CATEGORY_COLUMNS = ("categories", "selected_category", "language")
"""Names of the column with the category. The first one that a table has is used."""


def read_comparia(records: pd.DataFrame) -> pd.DataFrame:
    """Convert votes of compar:IA to rows of the battles table.

    The columns `credit` (of model_a) and `reason` are added. The record of the judge is in
    `attrs["judges"]`.

    `chosen_model_name` is the winner. A row in which `both_equal` is true is a tie. A row that is
    no tie and has no winner is unparsed. The judge is the population of the voters, whose ids are
    in `visitor_id`; the judge is the same without this column. The item and the category are in the
    first columns of `ITEM_COLUMNS` and `CATEGORY_COLUMNS` that the table has. Conversations are
    replaced by the lengths of answers.

    Raises:
        DataError: the chosen model is not one of the two, a row has a winner and is a tie, or a
            cell of `both_equal` is neither true nor false.
    """
    a = as_text(records["model_a_name"])
    b = as_text(records["model_b_name"])
    chosen_name = as_text(records["chosen_model_name"]).rename("chosen_model_name")
    chosen_name = chosen_name.where(chosen_name.fillna("").str.strip() != "", None)
    is_tie = _parse_truths(records["both_equal"]) == 1
    has_winner = chosen_name.notna().to_numpy()
    names_other_model = has_winner & ~((chosen_name == a) | (chosen_name == b)).to_numpy()
    if names_other_model.any():
        row = int(np.argmax(names_other_model))
        models = f"{a.iloc[row]!r} or {b.iloc[row]!r}"
        problem = f"is neither model of its row, {shorten(models)}"
        remedy = "write the name in model_a_name or in model_b_name, or leave it empty"
        reject_cells(chosen_name, names_other_model, problem, remedy)
    remedy = "empty chosen_model_name, or set both_equal to false"
    reject_cells(chosen_name, has_winner & is_tie, "is chosen although both_equal is true", remedy)
    is_won_by_a = (chosen_name == a).to_numpy(dtype=float)
    credit = np.select([is_tie, has_winner], [0.5, is_won_by_a], default=np.nan)
    frame = records.drop(columns=["chosen_model_name", "both_equal"])
    names = {"model_a_name": "model_a", "model_b_name": "model_b"}
    for new_name, candidates in (("item", ITEM_COLUMNS), ("category", CATEGORY_COLUMNS)):
        present = [name for name in candidates if name in frame]
        if present and new_name not in frame:
            names[present[0]] = new_name
    frame = with_lengths(frame.rename(columns=names), ["conversation"])
    frame = frame.drop(columns=[name for name in CONVERSATION_COLUMNS if name in frame])
    frame = name_voters(frame, "visitor_id")
    if "judge" not in frame:
        frame["judge"] = VOTERS
        frame.attrs["judges"] = {VOTERS: JudgeRecord(VOTERS, kind="human")}
    judges = frame.attrs.get("judges", {})
    unparsed = np.isnan(credit)
    frame = frame.assign(credit=credit, reason=reasons_where(unparsed, "no winner"))
    frame.attrs["judges"] = judges
    return frame


def _parse_truths(column: pd.Series) -> np.ndarray:
    """Parse a column of true and false, or of 1 and 0, as numbers, shape (rows,); NaN if empty.

    Raises:
        DataError: a cell is anything else.
    """
    words = as_text(column).rename(column.name)
    lower = words.str.strip().str.lower()
    truths = lower.map(TRUTHS)
    is_no_truth = (truths.isna() & lower.notna() & ~lower.isin(EMPTY)).to_numpy()
    remedy = "write true if both responses are equal, else false"
    reject_cells(words, is_no_truth, "is neither true nor false", remedy)
    return truths.to_numpy(dtype=float)
