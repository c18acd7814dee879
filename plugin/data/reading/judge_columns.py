"""Read and write the records of judges in columns of a table, such as `judge_model`."""

from typing import TYPE_CHECKING

from podium.data.battles import Battles
from podium.data.formats.records import Records
from podium.scorers.judge_record import (
    COLUMN_OF,
    JudgeRecord,
    cells_of,
    join_judges,
    judge_of_cells,
)

if TYPE_CHECKING:
    import pandas as pd


def judges_in(records: Records) -> dict[str, JudgeRecord]:
    """Return the judges that a table describes, by the text in its column `judge`.

    The result is empty if the table has no column `judge` or no columns that describe judges. If
    the cells of a judge are invalid, such as an unknown kind, its record has only its name.
    """
    present = [fact for fact, column in COLUMN_OF.items() if column in records.columns]
    if not present or "judge" not in records.columns:
        return {}
    name = records.columns["judge"].text
    cells = ", ".join(records.columns[COLUMN_OF[fact]].text for fact in present)
    rows = records.rows(f"distinct {name}, {cells}", f"where {name} is not null")
    described = []
    for text, *facts in rows:
        try:
            judge = judge_of_cells(text, dict(zip(present, facts, strict=True)))
        except ValueError:
            judge = JudgeRecord.from_name(text)
        described.append({text: judge})
    return join_judges(described)


def with_judge_columns(battles: Battles) -> "pd.DataFrame":
    """Return battles as a table with further columns that describe their judges.

    A column is left out if it would be empty for all judges.
    """
    frame = battles.to_frame()
    known = {name: cells_of(judge) for name, judge in battles.judge_records.items()}
    for fact, column in COLUMN_OF.items():
        cells = {name: facts[fact] for name, facts in known.items() if fact in facts}
        if cells:
            frame[column] = frame["judge"].map(cells)
    return frame
