"""Pairs of responses with a known preference, a pair per row: Plan-RewardBench (Wang et al. 2026,
arXiv 2604.08178) and tables with the same columns."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from podium.data.counting.duck import Duck
from podium.data.formats.containers import open_records
from podium.data.formats.files import find_files
from podium.notices.notice import Notice
from podium.responses.answers import Record, ResponseRow, Sheet, is_empty, normal_text
from podium.responses.chat import (
    Conversation,
    build_chat_response,
    messages_in,
    parse_literal,
    read_conversation,
)
from podium.responses.collection import Responses, assemble
from podium.responses.transcripts import Show, Turn

PREFERRED = "chosen"
SIDES = {
    PREFERRED: ("chosen", "chosen.messages"),
    "rejected": ("rejected", "rejected.messages", "reject", "reject.messages"),
}
"""Columns of both responses: messages, a mapping that holds them, the JSON of either, or a text."""
ITEM, INSTRUCTION = ("uuid", "id", "item"), ("query", "instruction", "prompt")
PARAMETERS = ("parameters", "input_schema", "inputSchema")
"""Where OpenAI, Anthropic and MCP keep the parameters of a tool."""
CATEGORY = ("category", "_lcp_bucket", "subset")


def read_pairs(sources: Sequence[str], show: Show) -> Responses | None:
    """Read pairs as responses of the models `chosen` and `rejected`; None if a file holds none."""
    # Agents refuse without a call, and users write again: all pairs are shown in the same way.
    shown, engine = replace(show, mode="transcript") if show.mode == "auto" else show, Duck()
    rows: list[ResponseRow] = []
    seen: Counter[str] = Counter()
    paths = [
        path for source in sources if Path(source).exists() for path in find_files(source).paths
    ]
    for path in paths:
        records = open_records(path, engine)
        if not all(records.columns.keys() & {*names} for names in SIDES.values()):
            return None
        sheet = Sheet(path, None, records.frame())
        rows += (row for record in sheet.records() for row in _pair_of(record, shown, seen))
    if not rows:
        return None
    again, pairs = sum(seen.values()) - len(seen), assemble(rows, [])
    notes = [Notice("repeated-pairs", {"pairs": again})] if again else []
    return replace(pairs, sources=tuple(map(str, paths)), notes=(*notes, *pairs.notes))


def _pair_of(record: Record, show: Show, seen: Counter[str]) -> Iterator[ResponseRow]:
    """Yield both responses of a row; `seen` counts the ids, which several pairs of a task may
    share."""
    item, query, category = (_first(record.cells, names) for names in (ITEM, INSTRUCTION, CATEGORY))
    chats = {model: _conversation_of(record, names) for model, names in SIDES.items()}
    # A task may have both a query and first messages, and the two sides may differ in these.
    instruction = _merge_texts(
        record.as_text("query", query), *(chat.instruction for chat in chats.values())
    )
    system = _merge_texts(record.text("system"), *(chat.system for chat in chats.values()))
    asked = "\n\n".join(filter(None, [instruction, _tools_text(record.cells.get("tools"))])) or None
    named = f"{Path(record.source).name} {record.row}" if item is None else str(item)
    seen[named] += 1
    named += f"#{seen[named]}" if seen[named] > 1 else ""
    question = record.question(
        named, asked, system=system, category=None if category is None else str(category)
    )
    for model, chat in chats.items():
        yield build_chat_response(show, question, model, chat)


def _merge_texts(*texts: str | None) -> str | None:
    """Return different texts one after the other, without those that are part of another one."""
    each = dict.fromkeys(normal_text(text) for text in texts if text)
    return "\n\n".join(text for text in each if sum(text in other for other in each) == 1) or None


def _first(cells: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first cell of these columns that is there."""
    return next((cells[name] for name in names if cells.get(name) is not None), None)


def _conversation_of(record: Record, names: Sequence[str]) -> Conversation:
    """Return the conversation in the first of these columns; a text is one answer."""
    held = _first(record.cells, names)
    parsed = (
        parse_literal(held) if isinstance(held, str) and held.lstrip().startswith("{") else held
    )
    held = parsed["messages"] if isinstance(parsed, dict) and "messages" in parsed else held
    if (messages := messages_in(record, held)) is not None:
        return read_conversation(record, messages)
    return Conversation(turns=[Turn("assistant", record.as_text(names[0], held) or "")])


def _tools_text(tools: Any) -> str:
    """Return name, description and parameters of each tool, unchanged if it has no name; empty
    without tools."""
    parsed, lines = parse_literal(tools) if isinstance(tools, str) else tools, list[str]()
    for given in parsed if isinstance(parsed, list) else [tools]:
        tool = parse_literal(given) if isinstance(given, str) else given
        own = tool.get("function", tool) if isinstance(tool, dict) else None
        if not isinstance(own, dict) or "name" not in own:
            whole = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            lines += [whole] if not is_empty(given) and whole.strip() else []
        else:
            lines.append(f"- {own.get('name')}: {own.get('description') or ''}")
            if parameters := _first(own, PARAMETERS):
                lines.append(f"  parameters: {json.dumps(parameters, ensure_ascii=False)}")
    return "\n".join(["Tools that could be called:", *lines]) if lines else ""
