"""Take the voters of a table as one judge, the population of humans.

A voter is a human whose id stands in the column of judges. The column `voter` keeps the ids.
"""

import re
from typing import TYPE_CHECKING

import numpy as np

from podium.data.battles import VOTERS
from podium.scorers.judge_record import JudgeRecord
from podium.text import codes_and_texts

if TYPE_CHECKING:
    import pandas as pd

VOTER = re.compile(r"arena_user_.+|(?:expert|author)_[0-9]+")
"""Names of voters: those that FastChat's `clean_battle_data.py` writes, and those of MT-bench's
human judgments."""


def name_voters(frame: "pd.DataFrame", ids: str = "judge_hash") -> "pd.DataFrame":
    """Move the ids of voters from the column `judge` to the column `voter`.

    The judge of their rows becomes `VOTERS`, with a record in `attrs["judges"]` that says that they
    are humans. Other judges are kept. A table with a column `voter` is returned unchanged, and so
    is a table in whose column `judge` no name is that of a voter (`VOTER`).

    Args:
        frame: the rows.
        ids: the column with ids of voters, which becomes `voter` if there is no column `judge`. If
            there is neither, nothing is changed.
    """
    if "voter" in frame:
        return frame
    if "judge" not in frame:
        if ids not in frame:
            return frame
        frame = frame.rename(columns={ids: "voter"}).assign(judge=VOTERS)
        frame.attrs["judges"] = {VOTERS: JudgeRecord(VOTERS, kind="human")}
        return frame
    codes, names = codes_and_texts(frame["judge"])
    voter_of_name: list[str | None] = []
    judge_of_name: list[str | None] = []
    for name in names:
        is_voter = name is not None and VOTER.fullmatch(name) is not None
        voter_of_name.append(name if is_voter else None)
        judge_of_name.append(VOTERS if is_voter else name)
    if not any(voter_of_name):
        return frame
    # The code of an empty cell is -1, which is the index of the last element: None.
    columns = {"voter": voter_of_name, "judge": judge_of_name}
    for column, cells in columns.items():
        cell_of_code = np.array([*cells, None], dtype=object)
        frame = frame.assign(**{column: cell_of_code[codes]})
    frame.attrs["judges"] = {VOTERS: JudgeRecord(VOTERS, kind="human")}
    return frame
