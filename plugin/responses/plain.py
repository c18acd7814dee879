"""Plain tables: JSONL, JSON, CSV or Parquet with a row per response, and tables of the instructions alone."""

from dataclasses import replace

from podium.errors import UsageError
from podium.responses.answers import UNSEEN, QuestionRow, Record, ResponseRow, Sheet, answer, id_of, is_empty

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
"""What a column may be called."""
MEDIA = ("image", "images", "audio", "video")
"""Columns of what models saw beside the instruction, which a table does not hold."""


def holds_responses(sheet: Sheet) -> bool:
    """Whether there is a column of responses, and one that says to what."""
    known = sheet.columns
    return bool(known & set(NAMES["response"]) and known & {*NAMES["item"], *NAMES["instruction"]})


def holds_instructions(sheet: Sheet) -> bool:
    """Whether there are ids and instructions, and nobody's responses."""
    known = sheet.columns
    others = {*NAMES["response"], *NAMES["model"], "model_a", "messages", "choices"}
    return bool(known & set(NAMES["item"]) and known & set(NAMES["instruction"])) and not known & others


def read(sheet: Sheet) -> list[ResponseRow]:
    """Read a row per response; raises `DataError` of one without id and instruction, or a cell that is no text."""
    columns = choose_columns(sheet)
    return [_answer(record, columns) for record in sheet.records()]


def read_instructions(sheet: Sheet) -> list[QuestionRow]:
    """Read a row per item; raises `DataError` of one without id or instruction, or a cell that is no text."""
    columns = choose_columns(sheet)
    questions = [question(record, columns) for record in sheet.records()]
    for asked in questions:
        if asked.instruction is None:
            raise asked.error(f"item {asked.item!r} has no instruction", "write what was asked, or remove the row")
    return questions


def choose_columns(sheet: Sheet) -> dict[str, str | None]:
    """Return which column holds what; None where none does."""
    columns: dict[str, str | None] = {}
    for what, names in NAMES.items():
        there = [name for name in names if name in sheet.columns]
        if len(there) > 1:
            problem = f"the columns {' and '.join(there)} could each be the {what}"
            raise UsageError(f"{problem}: rename or remove all but one")
        columns[what] = there[0] if there else None
    return columns


def question(record: Record, columns: dict[str, str | None]) -> QuestionRow:
    """Read what was asked; without an id the instruction is its own."""
    instruction = record.text(columns["instruction"])
    item = record.name(columns["item"]) or (id_of(instruction) if instruction else None)
    if item is None:
        raise record.error("no id and no instruction", "give each row the instruction that it answers, or an id")
    more = {name: record.name(columns[name]) for name in ("category", "reference")}
    return record.question(item, instruction, system=record.text(columns["system"]), **more)


def _answer(record: Record, columns: dict[str, str | None]) -> ResponseRow:
    error = None if columns["error"] is None else record.cells[columns["error"]]
    errored = not is_empty(error) and error not in ("", False, 0, "false", "False")
    text = None if errored else record.text(columns["response"])
    shown = answer(question(record, columns), record.name(columns["model"]), text, errored=errored)
    unseen = any(not is_empty(record.cells[name]) for name in MEDIA if name in record.cells)
    return replace(shown, text=None, reason=UNSEEN) if unseen else shown
