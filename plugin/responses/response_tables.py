"""Read tables of responses and of questions: plain tables, AlpacaEval outputs, arena-hard answers and questions."""

from collections import Counter
from dataclasses import replace
from typing import Any

from podium.errors import UsageError
from podium.responses.answers import UNSEEN, QuestionRow, Record, ResponseRow, Sheet, build_response, id_of, is_empty

NAMES = {
    "item": ("item", "id", "uid", "question_id"),
    "instruction": ("instruction", "prompt", "input", "question"),
    "response": ("response", "output"),
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
    """Read a plain table with a row per response; one with media that the table does not hold is missing."""
    columns, answers = _choose_columns(sheet), []
    for record in sheet.records():
        error = None if columns["error"] is None else record.cells[columns["error"]]
        errored = not is_empty(error) and error not in ("", False, 0, "false", "False")
        text = None if errored else record.text(columns["response"])
        response = build_response(_question(record, columns), record.name(columns["model"]), text, errored=errored)
        unseen = any(not is_empty(record.cells[name]) for name in MEDIA if name in record.cells)
        answers.append(replace(response, text=None, reason=UNSEEN) if unseen else response)
    return answers


def read_instructions(sheet: Sheet) -> list[QuestionRow]:
    """Read a plain table with a row per item; DataError if one has no instruction."""
    columns = _choose_columns(sheet)
    questions = [_question(record, columns) for record in sheet.records()]
    for question in [question for question in questions if question.instruction is None]:
        raise question.error(f"item {question.item!r} has no instruction", "write what was asked, or remove the row")
    return questions


def _choose_columns(sheet: Sheet) -> dict[str, str | None]:
    """Return the column of each field, None if there is none; UsageError if two columns could be the same field."""
    there = {what: [name for name in names if name in sheet.columns] for what, names in NAMES.items()}
    for what, names in [(what, names) for what, names in there.items() if len(names) > 1]:
        problem = f"the columns {' and '.join(names)} could each be the {what}"
        raise UsageError(f"{problem}: rename or remove all but one")
    return {what: next(iter(names), None) for what, names in there.items()}


def _question(record: Record, columns: dict[str, str | None]) -> QuestionRow:
    """Return the question of a row; without an id, it is derived from the instruction."""
    instruction = record.text(columns["instruction"])
    item = record.name(columns["item"]) or (id_of(instruction) if instruction else None)
    if item is None:
        raise record.error("no id and no instruction", "give each row the instruction that it answers, or an id")
    more = {name: record.name(columns[name]) for name in ("category", "reference")}
    return record.question(item, instruction, system=record.text(columns["system"]), **more)


def read_alpaca_outputs(sheet: Sheet) -> list[ResponseRow]:
    """Read AlpacaEval outputs; an instruction that a model answers again is another item."""
    seen: Counter[tuple[str | None, str]] = Counter()
    answers = []
    for record in sheet.records():
        instruction = record.text("instruction")
        if not instruction:
            raise record.error("no instruction", "AlpacaEval outputs name the instruction in every row")
        model = record.name("generator")
        seen[sheet.label or model, instruction] += 1
        time = seen[sheet.label or model, instruction]
        item = id_of(instruction) + (f"#{time}" if time > 1 else "")
        question = record.question(item, instruction, category=record.name("dataset"))
        answers.append(build_response(question, model, record.text("output")))
    return answers


def read_arena_hard_answers(sheet: Sheet) -> list[ResponseRow]:
    """Read arena-hard answers, v0.1 (choices with turns) or v2 (messages); DataError for several turns."""
    model = "model" if "model" in sheet.columns else "model_id"
    answers = []
    for record in sheet.records():
        if isinstance(record.cells.get("messages"), list):
            instruction, system, text = _split_messages(record, record.cells["messages"])
        else:
            choice = _only_entry(record, record.cells.get("choices"), "choices")
            turns = choice.get("turns") if isinstance(choice, dict) else None
            instruction, system, text = None, None, _text_of_turn(record, _only_entry(record, turns, "turns"))
        question = record.question(_arena_hard_item(record), instruction, system=system)
        # What arena-hard writes if the provider failed.
        answers.append(build_response(question, record.name(model), text, errored=text == "$ERROR$"))
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


def _split_messages(record: Record, messages: list[Any]) -> tuple[str | None, str | None, str | None]:
    """Return instruction, system prompt and response of a conversation of one turn."""
    texts: dict[str, list[str | None]] = {"system": [], "user": [], "assistant": []}
    for message in messages:
        role = message.get("role") if isinstance(message, dict) else None
        if role not in texts:
            raise record.error(f"a message of role {role!r}", "roles are system, user and assistant")
        texts[role].append(_text_of_turn(record, message))
    for role, of_role in texts.items():
        if len(of_role) > 1:
            raise record.error(f"{len(of_role)} messages of role {role}", "give conversations of one turn")
    system, instruction, text = (next(iter(of_role), None) for of_role in texts.values())
    return instruction, system, text


def _only_entry(record: Record, values: Any, name: str) -> Any:
    """Return the only entry of a list; DataError if there is not exactly one."""
    if not isinstance(values, list) or len(values) != 1:
        many = len(values) if isinstance(values, list) else "no"
        raise record.error(f"{many} {name}", f"podium judges one turn: give a list of one for {name}")
    return values[0]


def _text_of_turn(record: Record, turn: Any) -> str | None:
    """Return the text of a turn or message: itself, its content, or the answer in its content, without reasoning."""
    for key in ("content", "answer"):
        turn = turn.get(key) if isinstance(turn, dict) else turn
    return None if is_empty(turn) else record.as_text("content", turn)
