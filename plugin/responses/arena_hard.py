"""arena-hard answers (`model_answer/*.jsonl`) and questions: v0.1 has choices with turns, v2 has messages."""

from typing import Any

from podium.responses.answers import QuestionRow, Record, ResponseRow, Sheet, answer, is_empty

ITEMS = {"uid", "question_id"}
"""Columns that may hold an item's id."""
ERROR = "$ERROR$"
"""What arena-hard writes where the provider failed."""


def holds_answers(sheet: Sheet) -> bool:
    """Whether these are one model's answers."""
    known = sheet.columns
    return all(known & names for names in (ITEMS, {"choices", "messages"}, {"model", "model_id"}))


def holds_questions(sheet: Sheet) -> bool:
    """Whether these are v0.1 questions, whose prompts are turns; those of v2 are a plain table."""
    return bool(sheet.columns & ITEMS) and "turns" in sheet.columns


def read(sheet: Sheet) -> list[ResponseRow]:
    """Read a response per row; raises `DataError` of one of neither shape, or of a conversation of several turns."""
    model = "model" if "model" in sheet.columns else "model_id"
    return [_answer(record, record.name(model)) for record in sheet.records()]


def read_questions(sheet: Sheet) -> list[QuestionRow]:
    """Read a v0.1 question per row; raises `DataError` of one of several turns."""
    return [
        record.question(
            _item_id(record),
            _content(record, _only_entry(record, record.cells["turns"], "turns")),
            category=record.name("cluster") or record.name("category"),
        )
        for record in sheet.records()
    ]


def _item_id(record: Record) -> str:
    column = "uid" if "uid" in record.cells else "question_id"
    item = record.name(column)
    if item is None:
        raise record.error(f"no {column}", "give each row the id of its question")
    return item


def _answer(record: Record, model: str | None) -> ResponseRow:
    item = _item_id(record)
    if isinstance(record.cells.get("messages"), list):
        instruction, system, text = _messages(record, record.cells["messages"])
    else:
        choice = _only_entry(record, record.cells.get("choices"), "choices")
        turns = choice.get("turns") if isinstance(choice, dict) else None
        instruction, system, text = None, None, _content(record, _only_entry(record, turns, "turns"))
    return answer(record.question(item, instruction, system=system), model, text, errored=text == ERROR)


def _messages(record: Record, messages: list[Any]) -> tuple[str | None, str | None, str | None]:
    """Return instruction, system prompt and response."""
    said: dict[str, list[str | None]] = {"system": [], "user": [], "assistant": []}
    for message in messages:
        role = message.get("role") if isinstance(message, dict) else None
        if role not in said:
            raise record.error(f"a message of role {role!r}", "roles are system, user and assistant")
        said[role].append(_content(record, message))
    several = [role for role, texts in said.items() if len(texts) > 1]
    if several:
        raise record.error(f"{len(said[several[0]])} messages of role {several[0]}", "give conversations of one turn")
    system, instruction, text = (next(iter(texts), None) for texts in said.values())
    return instruction, system, text


def _only_entry(record: Record, values: Any, name: str) -> Any:
    """Return the one entry of a list."""
    if not isinstance(values, list) or len(values) != 1:
        many = len(values) if isinstance(values, list) else "no"
        raise record.error(f"{many} {name}", f"podium judges one turn: give a list of one for {name}")
    return values[0]


def _content(record: Record, said: Any) -> str | None:
    """Return the text of a turn or message: itself, its content, or the content's answer (the rest is thought)."""
    for key in ("content", "answer"):
        said = said.get(key) if isinstance(said, dict) else said
    return None if is_empty(said) else record.as_text("content", said)
