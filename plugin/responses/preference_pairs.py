"""Read pairs of responses with a known preference from tables with a pair per row.

The tables are those of Plan-RewardBench (Wang et al. 2026, arXiv 2604.08178) and others with the
same columns.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from podium.data.counting.duck import Duck
from podium.data.formats.containers import open_records
from podium.data.formats.files import find_files
from podium.notices.notice import Notice
from podium.responses.answers import Record, ResponseRow, Sheet, is_empty, normal_text
from podium.responses.assembly import assemble
from podium.responses.chat import (
    Conversation,
    build_chat_response,
    messages_in,
    read_conversation,
)
from podium.responses.collection import Responses
from podium.responses.transcripts import Show, Turn
from podium.text import parse_literal

PREFERRED_MODEL = "chosen"
"""Name of the model that stands for the preferred responses."""
COLUMNS_OF_SIDE = {
    PREFERRED_MODEL: ("chosen", "chosen.messages"),
    "rejected": ("rejected", "rejected.messages", "reject", "reject.messages"),
}
"""Names that the column of the preferred and of the rejected response may have.

A cell is a list of messages, a mapping with the key `messages`, JSON with one of these, or a text.
"""
ITEM_COLUMNS = ("uuid", "id", "item")
"""Names that the column of the id may have. The first one with a value is used."""
INSTRUCTION_COLUMNS = ("query", "instruction", "prompt")
"""Names that the column of the question may have. The first one with a value is used."""
PARAMETER_KEYS = ("parameters", "input_schema", "inputSchema")
"""Keys under which OpenAI, Anthropic and MCP describe the parameters of a tool."""
CATEGORY_COLUMNS = ("category", "_lcp_bucket", "subset")
"""Names that the column of the category may have. The first one with a value is used."""


def read_pairs(sources: Sequence[str], show: Show) -> Responses | None:
    """Read pairs as responses of two models, called `chosen` and `rejected`.

    Args:
        sources: paths of files or folders. Anything else, such as a glob, a URL or a path that does
            not exist, is skipped.
        show: says whether a response of an agent is its answer or its transcript. With `auto`, all
            responses are transcripts.

    Returns:
        The responses, with a note on pairs whose id is repeated. None if there are no pairs, or if
        any file is not a table of pairs.

    Raises:
        DataError: a file cannot be read, or rows contradict each other.
    """
    # With `auto`, the two responses of a pair could be shown in different forms, because an agent
    # that refuses a task calls no tool.
    if show.mode == "auto":
        show = replace(show, mode="transcript")
    engine = Duck()
    rows: list[ResponseRow] = []
    id_counts: Counter[str] = Counter()
    paths: list[Path] = []
    for source in sources:
        if Path(source).exists():
            paths += find_files(source).paths
    for path in paths:
        records = open_records(path, engine)
        names_of_sides = COLUMNS_OF_SIDE.values()
        if any(records.columns.keys().isdisjoint(names) for names in names_of_sides):
            return None
        for record in Sheet(path, label=None, frame=records.frame()).records():
            rows += _responses_of_row(record, show, id_counts)
    if not rows:
        return None
    pairs = assemble(rows, [])
    notes = list(pairs.notes)
    repeated = sum(id_counts.values()) - len(id_counts)
    if repeated:
        notes.insert(0, Notice("repeated-pairs", {"pairs": repeated}))
    return replace(pairs, sources=tuple(map(str, paths)), notes=tuple(notes))


def _responses_of_row(record: Record, show: Show, id_counts: Counter[str]) -> Iterator[ResponseRow]:
    """Yield both responses of a row.

    Args:
        record: the row.
        show: says whether a response of an agent is its answer or its transcript.
        id_counts: number of rows by id; changed in place. Several pairs of a task may have the
            same id.
    """
    chats = {model: _conversation_of(record, names) for model, names in COLUMNS_OF_SIDE.items()}
    question = record.question(
        _item_id(record, id_counts),
        _instruction_of_row(record, chats.values()),
        system=_merge_texts([record.text("system"), *(chat.system for chat in chats.values())]),
        category=_text_of_cell(_first_cell(record.cells, CATEGORY_COLUMNS)),
    )
    for model, chat in chats.items():
        yield build_chat_response(show, question, model, chat)


def _item_id(record: Record, id_counts: Counter[str]) -> str:
    """Return the id of the item in a row, and count it in `id_counts`.

    If earlier rows have the same id, `#2` and so on is appended. If the row has no id, the name of
    the file and the row's place in it are used.
    """
    item = _text_of_cell(_first_cell(record.cells, ITEM_COLUMNS))
    if item is None:
        item = f"{Path(record.source).name} {record.row}"
    id_counts[item] += 1
    number = id_counts[item]
    return item if number == 1 else f"{item}#{number}"


def _instruction_of_row(record: Record, chats: Iterable[Conversation]) -> str | None:
    """Return what the models were asked, followed by the tools that they could call.

    The question may stand in a column, and in the first messages of the two conversations.
    Different texts are joined. The result is None if there is neither a question nor a tool.
    """
    query = record.as_text("query", _first_cell(record.cells, INSTRUCTION_COLUMNS))
    instruction = _merge_texts([query, *(chat.instruction for chat in chats)])
    tools = _tools_text(record.cells.get("tools"))
    return "\n\n".join(text for text in (instruction, tools) if text) or None


def _text_of_cell(cell: Any) -> str | None:
    """Return a cell as text; None if it is None."""
    return None if cell is None else str(cell)


def _merge_texts(texts: Iterable[str | None]) -> str | None:
    """Join different texts by empty lines; a text that is part of another one is left out.

    The result is None if all texts are empty or None.
    """
    different_texts = dict.fromkeys(normal_text(text) for text in texts if text)
    texts_in_no_other = []
    for text in different_texts:
        texts_with_it = [other for other in different_texts if text in other]
        # Each text is part of itself.
        if texts_with_it == [text]:
            texts_in_no_other.append(text)
    return "\n\n".join(texts_in_no_other) or None


def _first_cell(cells: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first cell of the named columns that is not None; None if all cells are None."""
    for name in names:
        if cells.get(name) is not None:
            return cells[name]
    return None


def _conversation_of(record: Record, names: Sequence[str]) -> Conversation:
    """Return the conversation in the first of the named columns that is not None.

    A text without messages becomes a conversation with one answer, and so does an empty cell.

    Raises:
        DataError: the messages cannot be parsed, or the cell holds something else.
    """
    names_with_value = [name for name in names if record.cells.get(name) is not None]
    column = names_with_value[0] if names_with_value else names[0]
    cell = record.cells.get(column)
    is_json = isinstance(cell, str) and cell.lstrip().startswith("{")
    parsed = parse_literal(cell) if is_json else cell
    if isinstance(parsed, dict) and "messages" in parsed:
        cell = parsed["messages"]
    messages = messages_in(record, cell)
    if messages is not None:
        return read_conversation(record, messages)
    return Conversation(turns=[Turn("assistant", record.as_text(column, cell) or "")])


def _tools_text(tools: Any) -> str:
    """Return a text with the name, description and parameters of each tool.

    A tool without a name is written as it is. The text is empty if there are no tools.
    """
    parsed = parse_literal(tools) if isinstance(tools, str) else tools
    lines: list[str] = []
    tools_list = parsed if isinstance(parsed, list) else [tools]
    for tool in tools_list:
        lines += _lines_of_tool(tool)
    return "\n".join(["Tools that could be called:", *lines]) if lines else ""


def _lines_of_tool(tool: Any) -> Iterator[str]:
    """Yield the lines that describe a tool: its name and description, then its parameters if any.

    A tool without a name is written on one line, as it is or as JSON. An empty tool has no line.
    """
    parsed = parse_literal(tool) if isinstance(tool, str) else tool
    function = parsed.get("function", parsed) if isinstance(parsed, dict) else None
    if isinstance(function, dict) and "name" in function:
        yield f"- {function.get('name')}: {function.get('description') or ''}"
        parameters = _first_cell(function, PARAMETER_KEYS)
        if parameters:
            yield f"  parameters: {json.dumps(parameters, ensure_ascii=False)}"
        return
    text = tool if isinstance(tool, str) else json.dumps(tool, ensure_ascii=False)
    if not is_empty(tool) and text.strip():
        yield text
