"""Read tables of responses and of questions: plain tables, AlpacaEval outputs, arena-hard answers
and questions."""

from collections import Counter
from dataclasses import replace
from typing import Any

from podium.errors import UsageError
from podium.responses.answers import (
    UNSEEN,
    QuestionRow,
    Record,
    ResponseRow,
    Sheet,
    build_response,
    id_of,
    is_empty,
)
from podium.responses.chat import (
    NO_CHAT,
    Conversation,
    build_chat_response,
    messages_in,
    read_conversation,
)
from podium.responses.transcripts import Turn

NAMES = {
    "item": ("item", "id", "uid", "question_id"),
    "instruction": ("instruction", "prompt", "input", "question"),
    "response": ("response", "output", "messages"),
    "model": ("model", "generator"),
    "category": ("category",),
    "reference": ("reference",),
    "system": ("system",),
    "error": ("error",),
}
"""Names that a column of a plain table may have."""
MEDIA = ("image", "images", "audio", "video")
"""Columns of media that models saw beside the instruction, which a table does not hold."""


def read_responses_table(sheet: Sheet) -> list[ResponseRow]:
    """Read a plain table with a row per response; one with media that the table does not hold is
    missing."""
    columns, answers = _choose_columns(sheet), []
    for record in sheet.records():
        error = None if columns["error"] is None else record.cells[columns["error"]]
        errored = not is_empty(error) and error not in ("", False, 0, "false", "False")
        model, held = record.name(columns["model"]), record.cells.get(columns["response"] or "")
        # A text under another name is a response, whatever it looks like.
        messages = (
            messages_in(record, held)
            if columns["response"] == "messages" or isinstance(held, list)
            else None
        )
        if messages is not None:
            chat = read_conversation(record, messages)
            response = build_chat_response(
                sheet.show, _question(record, columns, chat), model, chat, errored=errored
            )
        else:
            text = None if errored else record.text(columns["response"])
            response = build_response(_question(record, columns), model, text, errored=errored)
        unseen = any(not is_empty(record.cells[name]) for name in MEDIA if name in record.cells)
        answers.append(replace(response, text=None, reason=UNSEEN) if unseen else response)
    return answers


def read_instructions(sheet: Sheet) -> list[QuestionRow]:
    """Read a plain table with a row per item; DataError if one has no instruction."""
    columns = _choose_columns(sheet)
    questions = [_question(record, columns) for record in sheet.records()]
    for question in [question for question in questions if question.instruction is None]:
        raise question.error(
            f"item {question.item!r} has no instruction", "write what was asked, or remove the row"
        )
    return questions


def _choose_columns(sheet: Sheet) -> dict[str, str | None]:
    """Return the column of each field, None if there is none; UsageError if two columns could be
    the same field."""
    there = {
        what: [name for name in names if name in sheet.columns] for what, names in NAMES.items()
    }
    if len(there["response"]) > 1 and "messages" in there["response"]:
        there["response"].remove("messages")  # the prompt
    for what, names in there.items():
        if len(names) > 1:
            problem = f"the columns {' and '.join(names)} could each be the {what}"
            raise UsageError(f"{problem}: rename or remove all but one")
    return {what: next(iter(names), None) for what, names in there.items()}


def _question(
    record: Record, columns: dict[str, str | None], chat: Conversation = NO_CHAT
) -> QuestionRow:
    """Return the question of a row, or of the conversation in it; without an id, it is derived from
    the instruction."""
    instruction = record.text(columns["instruction"]) or chat.instruction
    item = record.name(columns["item"]) or (id_of(instruction) if instruction else None)
    if item is None:
        raise record.error(
            "no id and no instruction", "give each row the instruction that it answers, or an id"
        )
    more = {name: record.name(columns[name]) for name in ("category", "reference")}
    return record.question(
        item, instruction, system=record.text(columns["system"]) or chat.system, **more
    )


def read_alpaca_outputs(sheet: Sheet) -> list[ResponseRow]:
    """Read AlpacaEval outputs; an instruction that a model answers again is another item."""
    seen: Counter[tuple[str | None, str]] = Counter()
    answers = []
    for record in sheet.records():
        instruction = record.text("instruction")
        if not instruction:
            raise record.error(
                "no instruction", "AlpacaEval outputs name the instruction in every row"
            )
        model = record.name("generator")
        seen[sheet.label or model, instruction] += 1
        item = id_of(instruction)
        item += f"#{time}" if (time := seen[sheet.label or model, instruction]) > 1 else ""
        question = record.question(item, instruction, category=record.name("dataset"))
        answers.append(build_response(question, model, record.text("output")))
    return answers


def read_arena_hard_answers(sheet: Sheet) -> list[ResponseRow]:
    """Read arena-hard answers, v0.1 (choices with one turn) or v2 (messages)."""
    model = "model" if "model" in sheet.columns else "model_id"
    answers = []
    for record in sheet.records():
        if isinstance(record.cells.get("messages"), list):
            chat = read_conversation(record, record.cells["messages"])
        else:
            choice = _only_entry(record, record.cells.get("choices"), "choices")
            turns = choice.get("turns") if isinstance(choice, dict) else None
            text = _text_of_turn(record, _only_entry(record, turns, "turns")) or ""
            chat = Conversation(turns=[Turn("assistant", text)])
        question = record.question(_arena_hard_item(record), chat.instruction, system=chat.system)
        # What arena-hard writes if the provider failed.
        errored = chat.answer == "$ERROR$"
        answers.append(
            build_chat_response(sheet.show, question, record.name(model), chat, errored=errored)
        )
    return answers


def read_arena_hard_questions(sheet: Sheet) -> list[QuestionRow]:
    """Read questions of arena-hard v0.1; DataError for several turns."""
    questions = []
    for record in sheet.records():
        instruction = _text_of_turn(record, _only_entry(record, record.cells["turns"], "turns"))
        category = record.name("cluster") or record.name("category")
        questions.append(record.question(_arena_hard_item(record), instruction, category=category))
    return questions


def _arena_hard_item(record: Record) -> str:
    """Return the id of the question; DataError if it is empty."""
    column = "uid" if "uid" in record.cells else "question_id"
    if (item := record.name(column)) is None:
        raise record.error(f"no {column}", "give each row the id of its question")
    return item


def _only_entry(record: Record, values: Any, name: str) -> Any:
    """Return the only entry of a list; DataError if there is not exactly one."""
    if not isinstance(values, list) or len(values) != 1:
        many = len(values) if isinstance(values, list) else "no"
        raise record.error(
            f"{many} {name}", f"podium judges one turn: give a list of one for {name}"
        )
    return values[0]


def _text_of_turn(record: Record, turn: Any) -> str | None:
    """Return the text of a turn or message: itself, its content, or the answer in its content,
    without reasoning."""
    for key in ("content", "answer"):
        turn = turn.get(key) if isinstance(turn, dict) else turn
    return None if is_empty(turn) else record.as_text("content", turn)
