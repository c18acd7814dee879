"""Compute the lengths of models' answers in cells: of texts, and of the messages of conversations.

Conversations are most of a file of Arena. The lengths of those in JSON are computed in the
database, without the conversations themselves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.data.counting.relations import ROW, sql_literal
from podium.data.formats.compared_answers import are_answers_compared
from podium.data.formats.records import JSON, Column, Records
from podium.text import MESSAGES_START, map_distinct, parse_json, parse_literal

if TYPE_CHECKING:
    import pandas as pd

CONVERSATION_COLUMNS = ("conversation_a", "conversation_b")
"""Columns that are dropped because of their size."""
SAME_ANSWERS = "answers_are_the_same"
"""Column that says whether the answers of both models are identical; left out after reading."""
LENGTHS = ("length_a", "length_b")
"""Columns with the lengths of both models' answers, in characters."""
OTHER_CELL = -1e12
"""Length of a message or cell which the database does not know how to read.

A sum with it is below 0.
"""
MESSAGES = '[{"role": "VARCHAR", "content": "JSON"}]'
"""The type, in DuckDB's form, of a conversation; any other cell has the length `OTHER_CELL`."""


def with_lengths(frame: "pd.DataFrame", answers: Iterable[str]) -> "pd.DataFrame":
    """Return the rows with the columns `length_a` and `length_b`, lengths in characters.

    A table with one of these columns, or without answers of both models, is returned unchanged. If
    the answers are conversations, and answers are compared (`are_answers_compared`), the column
    `SAME_ANSWERS` is added, too.

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
            frame = frame.assign(**lengths)
            if name != "conversation" or not are_answers_compared():
                return frame
            candidates = frame.loc[_may_be_same(frame), [*CONVERSATION_COLUMNS]]
            conversations = list(candidates.itertuples(index=False, name=None))
            return _with_same_answers(frame, conversations)
    return frame


def _may_be_same(frame: "pd.DataFrame") -> np.ndarray:
    """Return the mask of the rows whose answers have the same length, not 0; shape (rows,).

    Only these answers can be the same text. The rows have the columns `LENGTHS`.
    """
    length_a, length_b = (frame[name].to_numpy(dtype=float) for name in LENGTHS)
    is_same: np.ndarray = (length_a == length_b) & (length_a > 0)
    return is_same


def _with_same_answers(frame: "pd.DataFrame", cells: Iterable[tuple[Any, Any]]) -> "pd.DataFrame":
    """Return the rows with the column `SAME_ANSWERS`.

    A cell is True if both conversations have the same answers, False if not, and empty if either
    has none.

    Args:
        frame: the rows, with the lengths of answers.
        cells: both conversations of each row in which `_may_be_same` is true, in their order.
    """
    lengths = frame[[*LENGTHS]].to_numpy(dtype=float)
    same = np.full(len(frame), None, dtype=object)
    same[np.isfinite(lengths).all(axis=1)] = False
    same[_may_be_same(frame)] = [_answers_in(a) == _answers_in(b) for a, b in cells]
    return frame.assign(**{SAME_ANSWERS: same})


def answer_length(cell: Any) -> float:
    """Return the number of characters of the answers in a cell; NaN if it has none.

    Args:
        cell: a text, a list of texts, or a list of messages with `role` and `content`. Of messages,
            only those of the assistant count. A list may be written as JSON or as a Python literal.
            A content may be a list of parts with a `text`. Any other value has no answers, and so
            have messages that cannot be parsed.
    """
    answers = _answers_in(cell)
    if answers is None:
        return np.nan
    return float(sum(len(text) for text in answers))


def _answers_in(cell: Any) -> list[str] | None:
    """Return the texts of the answers in a cell; None if it has none.

    They are the text itself, the texts of a list, or those of messages of the assistant; see
    `answer_length`.
    """
    if isinstance(cell, str):
        parsed = parse_literal(cell) if cell.startswith("[") else None
        if not isinstance(parsed, list):
            return None if MESSAGES_START.match(cell) else [cell]
        cell = parsed
    if not isinstance(cell, list | tuple | np.ndarray):
        return None
    return [_text_of_answer(message) for message in cell if _is_said_by_model(message)] or None


def _is_said_by_model(message: Any) -> bool:
    """Return whether an element of a conversation is an answer of the model.

    Answers are texts, and messages of the assistant.
    """
    if isinstance(message, Mapping):
        return message.get("role") == "assistant"
    return isinstance(message, str)


def _text_of_answer(message: Any) -> str:
    """Return a text, or the text of a message; the texts of several parts are joined.

    The result is empty if there is no text.
    """
    content = message.get("content") if isinstance(message, Mapping) else message
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple | np.ndarray):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def frame_with_lengths(records: Records) -> "pd.DataFrame":
    """Return all records as a data frame (`Records.frame`), with lengths instead of conversations.

    The columns `conversation_a` and `conversation_b` are replaced by `length_a` and `length_b`,
    which are those of `answer_length`, if both are JSON and there are no lengths yet. If answers
    are compared (`are_answers_compared`), the column `SAME_ANSWERS` is added to the lengths. Other
    records are returned as they are.
    """
    columns = dict(records.columns)
    conversations = {side: columns.get(f"conversation_{side}") for side in "ab"}
    is_json = all(each is not None and each.type == JSON for each in conversations.values())
    if not is_json or {*LENGTHS} & columns.keys():
        return records.frame()
    for side, conversation in conversations.items():
        del columns[f"conversation_{side}"]
        if conversation is not None:
            columns[f"length_{side}"] = Column(_length_in_sql(conversation.sql), "DOUBLE")
    frame = replace(records, columns=columns).frame()
    for side, conversation in conversations.items():
        name = f"length_{side}"
        lengths = frame[name].to_numpy(copy=True)
        is_other = lengths < 0
        if conversation is not None and is_other.any():
            where = f"where {columns[name].sql} < 0 order by {ROW}"
            cells = records.rows(f"cast({conversation.sql} as varchar)", where)
            lengths[is_other] = [answer_length(parse_json(cell)) for (cell,) in cells]
            frame[name] = lengths
    if not are_answers_compared():
        return frame
    return _with_same_answers(frame, _conversations_to_compare(records, _may_be_same(frame)))


def _conversations_to_compare(records: Records, may_be_same: np.ndarray) -> list[tuple[Any, Any]]:
    """Return both conversations of each row for which a mask, shape (rows,), is True.

    They are parsed from JSON, and in the order of the rows.
    """
    if not may_be_same.any():
        return []
    rows = [row for (row,) in records.rows(ROW, f"order by {ROW}")]
    rows_to_compare = ", ".join(str(rows[position]) for position in np.flatnonzero(may_be_same))
    cells = ", ".join(
        f"cast({records.columns[name].sql} as varchar)" for name in CONVERSATION_COLUMNS
    )
    pairs = records.rows(cells, f"where {ROW} in ({rows_to_compare}) order by {ROW}")
    return [(parse_json(a), parse_json(b)) for a, b in pairs]


def _length_in_sql(cell: str) -> str:
    """Return the SQL expression for the length of the assistant's answers in a cell of JSON.

    The length is in characters. It is NULL if there are no answers, and below 0 if a message has no
    role, or an answer is no text.
    """
    length = (
        f"case when one.role is null then {OTHER_CELL} when one.role <> 'assistant' then null "
        "when one.content is null then 0 "
        "when starts_with(cast(one.content as varchar), '\"') then length(one.content ->> '$') "
        f"else {OTHER_CELL} end"
    )
    messages = f"from_json({cell}, {sql_literal(MESSAGES)})"
    total = f"list_sum(list_transform({messages}, lambda one: {length}))"
    is_list = f"starts_with(cast({cell} as varchar), '[')"
    length_of_list_or_other = (
        f"when {is_list} then {total} when {cell} is not null then {OTHER_CELL}"
    )
    return f"cast(case {length_of_list_or_other} end as double)"
