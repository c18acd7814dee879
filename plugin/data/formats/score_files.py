"""Read tables of pointwise scores, which have a row per item and model."""

from typing import TYPE_CHECKING

from podium.data.formats.records import Records
from podium.scorers.judge_record import JudgeKind, JudgeRecord

if TYPE_CHECKING:
    import pandas as pd


JUSTRANK_COLUMNS = {
    "arena_hard_question_id": "item",
    "system": "model",
    "judge_model": "judge",
    "judgment_score": "score",
}
"""podium's names of JuStRank's columns."""
INSTRUCTION_NAMES = ("instruction", "prompt", "input", "question")
"""Columns with the question that a model was asked, as in `podium.responses.response_tables`."""
ANSWER_NAMES = ("response", "output")
"""Columns with the answer of a model, as in `podium.responses.response_tables`."""


def read(records: "pd.DataFrame") -> "pd.DataFrame":
    """Rename JuStRank's columns to `item`, `model`, `score` and `judge`.

    The name of a judge consists of its model and its realization. The records of the judges are in
    `attrs["judges"]`. A table of scores with the names of podium is not changed.
    """
    import pandas as pd

    frame = records.rename(columns=JUSTRANK_COLUMNS)
    if {"judge", "judge_realization"} <= set(frame):
        model = frame["judge"].astype(str)
        realization = frame["judge_realization"].astype(str)
        frame["judge"] = model + " " + realization
        name_and_settings = pd.DataFrame(
            {"name": frame["judge"], "model": model, "realization": realization}
        )
        frame.attrs["judges"] = _justrank_judges(name_and_settings)
    return frame


def _justrank_judges(name_and_settings: "pd.DataFrame") -> dict[str, JudgeRecord]:
    """Return the records of judges, by name.

    Args:
        name_and_settings: a row per judgment with the judge's name, model and realization.
    """
    judges = {}
    for name, model, realization in name_and_settings.drop_duplicates().itertuples(index=False):
        kind: JudgeKind = "reward" if realization.lower() == "reward" else "model"
        judges[name] = JudgeRecord(name, kind=kind, model=model, realization=realization)
    return judges


def has_answers(scores: Records) -> bool:
    """Return whether a table has a column with the answers of models (`ANSWER_NAMES`).

    A column of numbers does not count: it numbers the answers.
    """
    answer_columns = [scores.columns[name] for name in ANSWER_NAMES if name in scores.columns]
    return any(not column.is_number for column in answer_columns)
