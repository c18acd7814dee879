"""Read battles of Arena and FastChat, most of which are votes of humans."""

import re
from typing import Any

import numpy as np
import pandas as pd

from podium.data.formats.answer_lengths import CONVERSATION_COLUMNS, with_lengths
from podium.data.formats.human_voters import name_voters
from podium.data.formats.mt_bench import is_list_of_judge, name_turns, split_judges
from podium.data.formats.verdict_cells import (
    LABEL_CREDITS,
    parse_numbers,
    parse_words,
    reasons_where,
    reject_cells,
    rename_unless_taken,
    side_of_winner,
)
from podium.scorers.judge_record import JudgeRecord
from podium.text import as_text, map_distinct

TIES = (
    "tie",
    "tie (bothbad)",
    "tie(bothbad)",
    "tie (both bad)",
    "tie(all bad)",
    "both_bad",
    "bothbad",
)
"""Words of the column `winner` that mean a tie."""
INCONSISTENT_TIE = "tie (inconsistent)"
"""Word of MT-bench for a battle whose two orders have different winners."""
INDICATORS = ("winner_model_a", "winner_tie", "winner_model_b")
"""Columns of which exactly one is 1 in each row, instead of a column `winner`."""
PYTHON_FLAGS = re.compile(r"\{(?:'[^'\"\\]*': (?:True|False)(?:, )?)*\}")
"""A dictionary of booleans as Python prints it, such as `{'sampled': True}`."""
ANSWER_COLUMNS = ("conversation", "response")
"""Names of the columns with the answers of a model, without `_a` or `_b` at their end.

Lengths are those of the first one that a table has.
"""


def read_arena(records: pd.DataFrame) -> pd.DataFrame:
    """Convert battles of Arena or FastChat to rows of the battles table.

    The columns `credit` (of model_a) and `reason` are added to the other columns. The records of
    judges are in `attrs["judges"]`.

    The winner is a word (`both bad` is a tie), the name of a model, or given by three columns
    (`INDICATORS`) of which exactly one is 1. If any winner is `tie (inconsistent)`, a judge saw
    each battle in both orders: this word is a tie and a flip, and the other rows have the same
    verdict in both orders.

    Lengths are those of all answers of a conversation, in characters. Conversations are dropped.
    Voters become one population (`name_voters`), and the turns of one question become items
    (`name_turns`).

    Raises:
        DataError: a winner is unknown, or a row does not name exactly one outcome.
    """
    if "winner" in records:
        credit, unparsed, frame = _read_winners(records)
    else:
        credit, unparsed = _read_indicators(records)
        frame = records.drop(columns=[*INDICATORS])
    item_column = "question_id" if "question_id" in records else "id"
    frame = rename_unless_taken(frame, {item_column: "item", "language": "category"})
    if "dedup_tag" in frame:
        frame = frame.assign(dedup_tag=map_distinct(frame["dedup_tag"], _as_json))
    frame = with_lengths(frame, ANSWER_COLUMNS)
    frame = frame.drop(columns=[name for name in CONVERSATION_COLUMNS if name in frame])
    judges = dict[str, JudgeRecord]()
    if "judge" in frame and map_distinct(frame["judge"], is_list_of_judge).any():
        frame = split_judges(frame)
        judges |= frame.attrs.get("judges", {})
    frame = name_voters(frame)
    judges |= frame.attrs.get("judges", {})
    if _has_turns_of_one_question(frame):
        frame = name_turns(frame)
    frame = frame.assign(credit=credit, reason=reasons_where(unparsed, "no winner"))
    frame.attrs["judges"] = judges
    return frame


def _read_winners(records: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, pd.DataFrame]:
    """Return the credits of model_a, the mask of the unparsed rows, and the other columns.

    The arrays have the shape (rows,). A winner is unparsed if it is `error`, `invalid` or empty. In
    a label such as `A>B`, A is model_a. If any winner is inconsistent, the columns `order`
    (`merged`) and `swap` (`flip`, `unparsed` or `same`) are added, unless the table has one of
    them.

    Raises:
        DataError: a winner is unknown, or is a label where model_b was shown first.
    """
    credits = {"model_a": 1.0, "model_b": 0.0} | dict.fromkeys((*TIES, INCONSISTENT_TIE), 0.5)
    credits |= LABEL_CREDITS
    remedy_of_winner = (
        "known winners: model_a, model_b, tie, tie (bothbad), both_bad, tie (inconsistent), A>B"
    )
    remedy = f"{remedy_of_winner}; translate others with --columns and --credit-map"
    winner = side_of_winner(records, first="model_a", second="model_b")
    _reject_labels_of_second(records, winner)
    no_verdict = frozenset({"error", "invalid"})
    credit, unparsed = parse_words(winner, credits, no_verdict, remedy=remedy)
    frame = records.drop(columns="winner")
    is_flip = (winner == INCONSISTENT_TIE).to_numpy()
    if is_flip.any() and not {"order", "swap"} & {*frame}:
        swap = np.select([is_flip, unparsed], ["flip", "unparsed"], default="same")
        frame = frame.assign(order="merged", swap=swap)
    return credit, unparsed, frame


def _reject_labels_of_second(records: pd.DataFrame, winner: pd.Series) -> None:
    """Raise DataError if a winner is a label such as `A>B` and model_b was shown first.

    The label may then call model_a A, or the response shown first.
    """
    if "order" not in records:
        return
    is_label = winner.isin([*LABEL_CREDITS])
    is_second_first = as_text(records["order"]).str.lower().isin(["ba", "false"])
    is_ambiguous = (is_label & is_second_first).to_numpy()
    remedy = "write model_a, model_b or tie"
    problem = "with order ba does not say whether A is model_a or the response shown first"
    reject_cells(winner, is_ambiguous, problem, remedy)


def _read_indicators(records: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the credits of model_a and the mask of the unparsed rows by the columns `INDICATORS`.

    Both arrays have the shape (rows,). A row with an empty cell is unparsed, and its credit NaN.

    Raises:
        DataError: a row has another outcome than exactly one 1.
    """
    # Shape (3, rows): whether model_a won, both tied, or model_b won.
    flags = np.stack([parse_numbers(records[name]) for name in INDICATORS])
    unparsed = np.isnan(flags).any(axis=0)
    # The sorted flags of a row with one outcome are 0, 0 and 1.
    has_one_outcome = (np.sort(flags, axis=0) == [[0.0], [0.0], [1.0]]).all(axis=0)
    is_odd = ~unparsed & ~has_one_outcome
    if is_odd.any():
        column = pd.Series(flags.T.tolist(), index=records.index, name="winner indicators")
        remedy = "exactly one of winner_model_a, winner_model_b, winner_tie must be 1"
        reject_cells(column, is_odd, "do not name exactly one outcome", remedy)
    is_win, is_tie, _ = flags
    credit = np.where(unparsed, np.nan, is_win + is_tie / 2)
    return credit, unparsed


def _as_json(cell: Any) -> Any:
    """Convert a dictionary of booleans that Python printed, such as `{'sampled': True}`, to JSON.

    Any other cell is returned unchanged.
    """
    if not isinstance(cell, str) or not PYTHON_FLAGS.fullmatch(cell):
        return cell
    return cell.replace("'", '"').replace("True", "true").replace("False", "false")


def _has_turns_of_one_question(frame: pd.DataFrame) -> bool:
    """Return whether any question has rows of several turns, as in MT-bench's human votes.

    In Arena's battles, no question has several rows: there, `turn` is the length of a conversation.
    Rows without an item are about questions of their own. The result is False without a column
    `item` or `turn`.
    """
    if not {"item", "turn"}.issubset(frame):
        return False
    turns = pd.DataFrame({"item": as_text(frame["item"]), "turn": as_text(frame["turn"])})
    turns_of_items = turns.dropna(subset="item").drop_duplicates()
    return bool(turns_of_items["item"].duplicated().any())
