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
OTHER_CELL = -1.0
"""Length that stands for a cell which the database does not know how to read."""
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
        is_other = lengths == OTHER_CELL
        if conversation is not None and is_other.any():
            where = f"where {columns[name].sql} = {OTHER_CELL} order by {ROW}"
            cells = records.rows(f"cast({conversation.sql} as varchar)", where)
            lengths[is_other] = [answer_length(parse_json(cell)) for (cell,) in cells]
            frame[name] = lengths
    return frame


def _length_in_sql(cell: str) -> str:
    """Return SQL of the number of characters of the assistant's answers in a cell of JSON.

    It is NULL if there are none, and `OTHER_CELL` if a message has no role, or if an answer is not
    a text.
    """
    messages = f"from_json({cell}, {text(MESSAGES)})"
    length = (
        "case when one.role is null then -1e9 when one.role <> 'assistant' then null "
        "when one.content is null then 0 "
        "when starts_with(cast(one.content as varchar), '\"') then length(one.content ->> '$') "
        "else -1e9 end"
    )
    total = f"list_sum(list_transform({messages}, lambda one: {length}))"
    is_other = f"{messages} is null and {cell} is not null or {total} < 0"
    return f"cast(case when {is_other} then {OTHER_CELL} else {total} end as double)"
