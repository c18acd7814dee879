"""Read the lengths of the answers in conversations, without the conversations themselves.

Conversations are most of a file of Arena. Their lengths are computed in the database.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from podium.data.counting.relations import ROW, text
from podium.data.formats.records import JSON, Column, Records
from podium.text import parse_json

if TYPE_CHECKING:
    import pandas as pd

LENGTHS = ("length_a", "length_b")
OTHER_CELL = -1e12
"""Length of a message or cell which the database does not know how to read.

A sum with it is below 0.
"""
MESSAGES = '[{"role": "VARCHAR", "content": "JSON"}]'
"""What DuckDB reads of a conversation; a cell with anything else is an `OTHER_CELL`."""


def frame_with_lengths(records: Records) -> "pd.DataFrame":
    """Return all records as a data frame (`Records.frame`), with lengths instead of conversations.

    The columns `conversation_a` and `conversation_b` are replaced by `length_a` and `length_b`,
    which are those of `answer_length`, if both are JSON and there are no lengths yet.
    """
    from podium.data.formats.arena_battles import answer_length

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
    return frame


def _length_in_sql(cell: str) -> str:
    """Return SQL of the number of characters of the assistant's answers in a cell of JSON.

    It is NULL if there are none, and below 0 if a message has no role, or an answer is no text.
    """
    length = (
        f"case when one.role is null then {OTHER_CELL} when one.role <> 'assistant' then null "
        "when one.content is null then 0 "
        "when starts_with(cast(one.content as varchar), '\"') then length(one.content ->> '$') "
        f"else {OTHER_CELL} end"
    )
    messages = f"from_json({cell}, {text(MESSAGES)})"
    total = f"list_sum(list_transform({messages}, lambda one: {length}))"
    is_list = f"starts_with(cast({cell} as varchar), '[')"
    known = f"when {is_list} then {total} when {cell} is not null then {OTHER_CELL}"
    return f"cast(case {known} end as double)"
