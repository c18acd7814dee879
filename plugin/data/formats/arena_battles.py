"""Read battles of Arena and FastChat, most of which are votes of humans.

A voter is a human whose id stands in the column of judges. All voters of a file are taken as one
judge, the population of humans; the column `voter` keeps their ids.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from podium.data.battles import VOTERS
from podium.data.formats.verdict_files import (
    LABEL_CREDITS,
    is_list_of_judge,
    name_turns,
    parse_numbers,
    parse_words,
    reasons_where,
    reject_cells,
    rename_unless_taken,
    side_of_winner,
    split_judges,
)
from podium.scorers.judge_record import JudgeRecord
from podium.text import MESSAGES_START, as_text, codes_and_texts, map_distinct, parse_literal

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
INCONSISTENT = "tie (inconsistent)"
"""Word of MT-bench for a battle whose two orders have different winners."""
INDICATORS = ("winner_model_a", "winner_tie", "winner_model_b")
"""Columns of which exactly one is 1 in each row, instead of a column `winner`."""
VOTER = re.compile(r"arena_user_.+|(?:expert|author)_[0-9]+")
"""Names of voters: those that FastChat's `clean_battle_data.py` writes, and those of MT-bench's
human judgments."""
PYTHON_FLAGS = re.compile(r"\{(?:'[^'\"\\]*': (?:True|False)(?:, )?)*\}")
"""A dictionary of booleans as Python prints it, such as `{'sampled': True}`."""
ANSWER_COLUMNS = ("conversation", "response")
"""Names of the columns with the answers of a model, without `_a` or `_b` at their end.

Lengths are those of the first one that a table has.
"""
CONVERSATION_COLUMNS = ("conversation_a", "conversation_b")
"""Columns that are dropped because of their size."""


def read_arena(records: pd.DataFrame) -> pd.DataFrame:
    """Read battles of Arena or FastChat.

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
    a label such as `A>B`, A is model_a. If any winner is inconsistent, the columns `order` and
    `swap` are added, unless the table has one of them.

    Raises:
        DataError: a winner is unknown, or is a label where model_b was shown first.
    """
    credits = {"model_a": 1.0, "model_b": 0.0} | dict.fromkeys((*TIES, INCONSISTENT), 0.5)
    credits |= LABEL_CREDITS
    known = "known winners: model_a, model_b, tie, tie (bothbad), both_bad, tie (inconsistent), A>B"
    remedy = f"{known}; translate others with --columns and --credit-map"
    winner = side_of_winner(records, "model_a", "model_b")
    _reject_labels_of_second(records, winner)
    no_verdict = frozenset({"error", "invalid"})
    credit, unparsed = parse_words(winner, credits, no_verdict, remedy=remedy)
    frame = records.drop(columns="winner")
    is_flip = (winner == INCONSISTENT).to_numpy()
    if is_flip.any() and not {"order", "swap"} & {*frame}:
        swap = np.select([is_flip, unparsed], ["flip", "unparsed"], "same")
        frame = frame.assign(order="merged", swap=swap)
    return credit, unparsed, frame


def _reject_labels_of_second(records: pd.DataFrame, winner: pd.Series) -> None:
    """Raise DataError if a winner is a label such as `A>B` and model_b was shown first.

    The label may then call model_a A, or the response shown first.
    """
    if "order" not in records:
        return
    is_open = winner.isin([*LABEL_CREDITS]) & as_text(records["order"]).str.lower().isin(
        ["ba", "false"]
    )
    remedy = "write model_a, model_b or tie"
    problem = "with order ba does not say whether A is model_a or the response shown first"
    reject_cells(winner, is_open.to_numpy(), problem, remedy)


def _read_indicators(records: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the credits of model_a and the mask of the unparsed rows by the columns `INDICATORS`.

    Both arrays have the shape (rows,). A row with an empty cell is unparsed.

    Raises:
        DataError: a row has another outcome than exactly one 1.
    """
    # Shape (3, rows). In each row, exactly one flag must be 1. The credit is 1 for model_a,
    # and 0.5 for a tie.
    flags = np.stack([parse_numbers(records[name]) for name in INDICATORS])
    unparsed = np.isnan(flags).any(axis=0)
    has_one_outcome = (np.sort(flags, axis=0) == [[0.0], [0.0], [1.0]]).all(axis=0)
    is_odd = ~unparsed & ~has_one_outcome
    if is_odd.any():
        column = pd.Series(flags.T.tolist(), index=records.index, name="winner indicators")
        remedy = "exactly one of winner_model_a, winner_model_b, winner_tie must be 1"
        reject_cells(column, is_odd, "do not name exactly one outcome", remedy)
    return np.where(unparsed, np.nan, flags[0] + flags[1] / 2), unparsed


def name_voters(frame: pd.DataFrame, ids: str = "judge_hash") -> pd.DataFrame:
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
        frame.attrs["judges"] = {VOTERS: JudgeRecord(VOTERS, "human")}
        return frame
    codes, names = codes_and_texts(frame["judge"])
    voter_of_name = [name if name and VOTER.fullmatch(name) else None for name in names]
    if not any(voter_of_name):
        return frame
    pairs = zip(names, voter_of_name, strict=True)
    judge_of_name = [name if voter is None else VOTERS for name, voter in pairs]
    # The code of an empty cell is -1, which is the index of the last element: None.
    columns = {"voter": voter_of_name, "judge": judge_of_name}
    for column, cells in columns.items():
        frame = frame.assign(**{column: np.array([*cells, None], dtype=object)[codes]})
    frame.attrs["judges"] = {VOTERS: JudgeRecord(VOTERS, "human")}
    return frame


def with_lengths(frame: pd.DataFrame, answers: Iterable[str]) -> pd.DataFrame:
    """Return the rows with the columns `length_a` and `length_b`, lengths in characters.

    A table with one of these columns, or without answers of both models, is returned unchanged.

    Args:
        frame: the rows.
        answers: names of the columns with answers, without `_a` or `_b` at their end. The first one
            that the table has is used.
    """
    if {"length_a", "length_b"} & {*frame}:
        return frame
    for name in answers:
        column_of_length = {f"length_{side}": f"{name}_{side}" for side in "ab"}
        if {*column_of_length.values()} <= {*frame}:
            lengths = {
                length: map_distinct(frame[column], answer_length)
                for length, column in column_of_length.items()
            }
            return frame.assign(**lengths)
    return frame


def answer_length(cell: Any) -> float:
    """Return the number of characters of the answers in a cell; NaN if it has none.

    Args:
        cell: a text, a list of texts, or a list of messages with `role` and `content`. Of messages,
            only those of the assistant count. A list may be written as JSON or as a Python literal.
            A content may be a list of parts with a `text`. Any other value has no answers, and so
            have messages that cannot be parsed.
    """
    if isinstance(cell, str):
        parsed = parse_literal(cell) if cell.startswith("[") else None
        if not isinstance(parsed, list):
            return np.nan if MESSAGES_START.match(cell) else float(len(cell))
        cell = parsed
    if not isinstance(cell, list | tuple | np.ndarray):
        return np.nan
    answers_of_model = [message for message in cell if _is_said_by_model(message)]
    return float(sum(map(_text_length, answers_of_model))) if answers_of_model else np.nan


def _is_said_by_model(message: Any) -> bool:
    """Return whether an element of a conversation is an answer of the model.

    Answers are texts, and messages of the assistant.
    """
    if isinstance(message, Mapping):
        return message.get("role") == "assistant"
    return isinstance(message, str)


def _text_length(message: Any) -> int:
    """Return the number of characters of a text or a message; 0 if it has no text."""
    content = message.get("content") if isinstance(message, Mapping) else message
    if isinstance(content, str):
        return len(content)
    if not isinstance(content, list | tuple | np.ndarray):
        return 0
    texts = [part.get("text") for part in content if isinstance(part, Mapping)]
    return sum(len(text) for text in texts if isinstance(text, str))


def _as_json(cell: Any) -> Any:
    """Convert a text that Python printed, such as `{'sampled': True}`, to JSON.

    Other cells are returned unchanged.
    """
    if not isinstance(cell, str) or not PYTHON_FLAGS.fullmatch(cell):
        return cell
    return cell.replace("'", '"').replace("True", "true").replace("False", "false")


def _has_turns_of_one_question(frame: pd.DataFrame) -> bool:
    """Return whether any question has rows of several turns, as in MT-bench's human votes.

    In Arena's battles, no question has several rows: there, `turn` is the length of a conversation.
    """
    if not {"item", "turn"} <= {*frame}:
        return False
    turns = pd.DataFrame({"item": as_text(frame["item"]), "turn": as_text(frame["turn"])})
    return bool(turns.drop_duplicates()["item"].duplicated().any())
