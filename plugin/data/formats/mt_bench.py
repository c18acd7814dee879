"""Read MT-bench's judgments of pairs and of single answers."""

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.data.formats.records import row_name
from podium.data.formats.verdict_cells import parse_numbers, parse_words, reasons_where
from podium.data.listed_values import PYTHON_TEXTS
from podium.notices.notice import Notice
from podium.scorers.judge_record import JudgeRecord
from podium.text import as_text, map_distinct, text_of

if TYPE_CHECKING:
    import pandas as pd


JUDGMENT_KEYS = ("item", "model", "model_1", "model_2", "judge", "template", "repeat")
"""Columns of MT-bench whose values together identify a judgment of a run."""
SECOND_TURN = "multi-turn"
"""End of the names of MT-bench's templates for the second turn."""


def read_mt_bench_pairs(records: "pd.DataFrame") -> "pd.DataFrame":
    """Read the two judgments in each row of MT-bench. Each judgment becomes a row.

    The judgment g1 shows model_1 first, and g2 shows it second. Each turn of a question is an item.
    A winner `error` is unparsed. Only the first run in the file counts (`_rows_of_first_run`). The
    records of judges and the notes are in `attrs["judges"]` and `attrs["notes"]`.

    Raises:
        DataError: a winner is unknown.
    """
    import pandas as pd

    pairs = _mt_bench_columns(records).drop(columns=["g1_winner", "g2_winner"])
    is_kept, notes = _rows_of_first_run(pairs)
    judges = pairs.attrs["judges"]
    pairs = pairs.rename(columns={"model_1": "model_a", "model_2": "model_b"})
    credits = {"model_1": 1.0, "model_2": 0.0, "tie": 0.5}
    no_verdict = frozenset({"error"})
    remedy = "known winners: model_1, model_2, tie, error"
    games = []
    for winner, order in (("g1_winner", "ab"), ("g2_winner", "ba")):
        credit, unparsed = parse_words(records[winner], credits, no_verdict, remedy=remedy)
        reason = reasons_where(unparsed, "judge error")
        games.append(pairs.assign(credit=credit, order=order, reason=reason)[is_kept])
    frame = pd.concat(games)
    frame.attrs |= {"judges": judges, "notes": notes}
    return frame


def read_mt_bench_scores(records: "pd.DataFrame") -> "pd.DataFrame":
    """Read MT-bench's grades of single answers, 1 to 10, as pointwise scores.

    A grade of -1 and an empty one are unparsed. Each turn of a question is an item. Only the first
    run in the file counts (`_rows_of_first_run`). The records of judges and the notes are in
    `attrs["judges"]` and `attrs["notes"]`.

    Raises:
        DataError: a grade is no number.
    """
    score = parse_numbers(records["score"])
    score = np.where(score == -1, np.nan, score)
    reason = reasons_where(np.isnan(score), "no grade")
    frame = _mt_bench_columns(records)
    is_kept, notes = _rows_of_first_run(frame)
    judges = frame.attrs["judges"]
    frame = frame.assign(score=score, reason=reason)[is_kept]
    frame.attrs |= {"judges": judges, "notes": notes}
    return frame


def _mt_bench_columns(records: "pd.DataFrame") -> "pd.DataFrame":
    """Return records of MT-bench with the columns `item`, `judge` and `template`.

    The item is the question with its turn. The records of judges are in `attrs["judges"]`.
    """
    frame = split_judges(records.rename(columns={"question_id": "item"}))
    judges = frame.attrs["judges"]
    with_items = name_turns(_with_turns_of_templates(frame))
    with_items.attrs["judges"] = judges
    return with_items


def _rows_of_first_run(frame: "pd.DataFrame") -> tuple[np.ndarray, list[Notice]]:
    """Return the mask of the rows of the first run in a file of MT-bench, shape (rows,), and notes.

    FastChat appends the judgments of another run to the file of the first, and its own scripts
    count the first. A later judgment with the same values in the columns of `JUDGMENT_KEYS` is
    False in the mask; a note says how many are.
    """
    import pandas as pd

    keys = pd.DataFrame({name: as_text(frame[name]) for name in JUDGMENT_KEYS if name in frame})
    is_later = keys.duplicated().to_numpy()
    if not is_later.any():
        return ~is_later, []
    place = row_name(frame.index, int(np.argmax(is_later)))
    return ~is_later, [Notice("judgments-appended", {"rows": int(is_later.sum()), "row": place})]


def split_judges(records: "pd.DataFrame") -> "pd.DataFrame":
    """Split cells of the column `judge` that are lists, such as `["gpt-4", "pair-v2"]`.

    The first text of a list is the judge, and the rest is the `template`. The judges of lists are
    models: their records are in `attrs["judges"]`. Other judges may be humans; they stay, without a
    template and a record.
    """
    judge = records["judge"]
    is_list = map_distinct(judge, is_list_of_judge).to_numpy(dtype=bool)
    name = map_distinct(judge, _name_of_judge)
    template = map_distinct(judge, _template_of_judge)
    frame = records.assign(judge=name, template=template)
    models = name[is_list].unique()
    frame.attrs["judges"] = {
        model: JudgeRecord(name=model, kind="model", model=model) for model in models
    }
    return frame


def _with_turns_of_templates(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Fill empty cells of `turn` by the judge's template, which says which turn it is for.

    Templates for the second turn end with `multi-turn`. Rows with another template get the turn 1,
    and a table without a column `turn` gets it. If no template ends so, nothing is changed.
    """
    import pandas as pd

    ends_so = as_text(frame["template"]).str.endswith(SECOND_TURN)
    is_second = ends_so.fillna(False).astype(bool)
    if not is_second.any():
        return frame
    by_template = pd.Series(np.where(is_second, 2, 1), index=frame.index)
    given_turn = (
        frame["turn"] if "turn" in frame else pd.Series(None, index=frame.index, dtype=object)
    )
    return frame.assign(turn=given_turn.where(given_turn.notna(), by_template))


def _name_of_judge(judge: Any) -> str | None:
    """Return the first text of a cell of the column judge; None for an empty cell."""
    return _parts_of_judge(judge)[0]


def _template_of_judge(judge: Any) -> str | None:
    """Return all but the first text of a cell of the column judge; None for a single text.

    Several texts are joined by blanks.
    """
    _, *template = map(str, _parts_of_judge(judge))
    return " ".join(template) or None


def is_list_of_judge(judge: Any) -> bool:
    """Return whether a cell of the column judge is a list of two or more texts (model and prompt).

    The list may be written as text, as in a CSV file.
    """
    return len(_parts_of_judge(judge)) > 1


def _parts_of_judge(judge: Any) -> list[str | None]:
    """Return the texts of a cell of MT-bench's column judge, which is a list or one text.

    A list may be written as text, as in a CSV file. An empty cell is a list with None.
    """
    if isinstance(judge, str) and PYTHON_TEXTS.fullmatch(judge):
        judge = ast.literal_eval(judge)
    if isinstance(judge, list | tuple | np.ndarray):
        return [*map(str, judge)]
    return [text_of(judge)]


def name_turns(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Name the item of each row by question and turn, such as `81 turn 2`.

    The turns of a question are different prompts, not repeats of a judgment. The question is kept
    in the column `question`, unless the table has such a column. A row without a turn keeps its
    item, and a table without a column `turn` is returned unchanged.
    """
    if "turn" not in frame:
        return frame
    question = as_text(frame["item"])
    turn = as_text(frame["turn"])
    item_with_turn = question + " turn " + turn
    frame = frame.assign(item=item_with_turn.where(turn.notna(), question))
    return frame if "question" in frame else frame.assign(question=question)
