"""Read tables of responses and of questions.

Four kinds are read: plain tables, AlpacaEval outputs, arena-hard answers and arena-hard questions.
"""

from collections import Counter
from dataclasses import replace
from typing import Any

from podium.errors import UsageError
from podium.responses.answers import (
    UNSEEN_MEDIA,
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
from podium.responses.transcripts import Show, Turn

COLUMN_NAMES = {
    "item": ("item", "id", "uid", "question_id"),
    "instruction": ("instruction", "prompt", "input", "question"),
    "response": ("response", "output", "messages"),
    "model": ("model", "generator"),
    "category": ("category",),
    "reference": ("reference",),
    "system": ("system",),
    "error": ("error",),
}
"""Names that the column of each field of a plain table may have."""
ID_SCOPES = ("subset", "subject", "domain", "task")
"""Columns of labels such as the subject, in tables without categories.

Ids may be unique only among the rows with the same label. The columns are those of
`podium.data.reading.question_columns.CATEGORIES`.
"""
MEDIA_COLUMNS = ("image", "images", "audio", "video")
"""Columns that name images, audio or video which models saw with the instruction.

The media are not in the table, so a judge cannot be shown them.
"""


def read_responses_table(sheet: Sheet) -> list[ResponseRow]:
    """Read a plain table with a row per response.

    If a row names media, its response has the reason `UNSEEN_MEDIA` instead of a text.

    Raises:
        UsageError: two columns could be the same field.
        DataError: a row has neither id nor instruction, or its response is not text or messages.
    """
    columns = _choose_columns(sheet)
    answers = []
    for record in sheet.records():
        response = _response_of_row(record, columns, sheet.show)
        media = [record.cells.get(name) for name in MEDIA_COLUMNS]
        if not all(map(is_empty, media)):
            response = replace(response, text=None, reason=UNSEEN_MEDIA)
        answers.append(response)
    return answers


def _response_of_row(record: Record, columns: dict[str, str | None], show: Show) -> ResponseRow:
    """Return the response in a row, as text or as the answer or transcript of its messages.

    If the column `error` holds a value other than an empty, false or 0 value, the response has the
    reason `ERRORED` and no text.

    Args:
        record: the row.
        columns: the column of each field; None if there is none.
        show: if the row has messages, says whether the response is the answer or the transcript.
    """
    error_column = columns["error"]
    error = None if error_column is None else record.cells[error_column]
    errored = not is_empty(error) and error not in ("", False, 0, "false", "False")
    model = record.cell_name(columns["model"])
    cell = record.cells.get(columns["response"] or "")
    # A text in a column of another name is a response, even if it looks like messages.
    may_be_messages = columns["response"] == "messages" or isinstance(cell, list)
    messages = messages_in(record, cell) if may_be_messages else None
    if messages is not None:
        chat = read_conversation(record, messages)
        question = _question_of_record(record, columns, chat)
        return build_chat_response(show, question, model, chat, errored=errored)
    text = None if errored else record.text(columns["response"])
    return build_response(_question_of_record(record, columns), model, text, errored=errored)


def read_instructions(sheet: Sheet) -> list[QuestionRow]:
    """Read a plain table with a row per item.

    Raises:
        DataError: an item has no instruction.
    """
    columns = _choose_columns(sheet)
    questions = [_question_of_record(record, columns) for record in sheet.records()]
    for question in questions:
        if question.instruction is None:
            problem = f"item {question.item!r} has no instruction"
            raise question.error(problem, "write what was asked, or remove the row")
    return questions


def _choose_columns(sheet: Sheet) -> dict[str, str | None]:
    """Return the column of each field of `COLUMN_NAMES`; None if there is none.

    A column `messages` beside another column of responses holds the prompt, and is not used.

    Raises:
        UsageError: two columns could be the same field.
    """
    column_of_field = {}
    for field, names in COLUMN_NAMES.items():
        columns = [name for name in names if name in sheet.columns]
        if field == "response" and len(columns) > 1 and "messages" in columns:
            columns.remove("messages")
        if len(columns) > 1:
            problem = f"the columns {' and '.join(columns)} could each be the {field}"
            raise UsageError(f"{problem}: rename or remove all but one")
        column_of_field[field] = columns[0] if columns else None
    return column_of_field


def _question_of_record(
    record: Record, columns: dict[str, str | None], chat: Conversation = NO_CHAT
) -> QuestionRow:
    """Return the question of a row.

    An instruction or a system prompt that the row lacks is taken from the conversation. If the row
    has no id, the id is a hash of the instruction. `QuestionRow.id_scope` is the value of the first
    column of `ID_SCOPES` that the table has.

    Raises:
        DataError: the row has neither an id nor an instruction.
    """
    instruction = record.text(columns["instruction"]) or chat.instruction
    item = record.cell_name(columns["item"])
    if not item and instruction:
        item = id_of(instruction)
    if not item:
        raise record.error(
            "no id and no instruction", "give each row the instruction that it answers, or an id"
        )
    further_fields = {name: record.cell_name(columns[name]) for name in ("category", "reference")}
    scope_column = next((name for name in ID_SCOPES if name in record.cells), None)
    further_fields["id_scope"] = record.cell_name(scope_column)
    return record.question(
        item, instruction, system=record.text(columns["system"]) or chat.system, **further_fields
    )


def read_alpaca_outputs(sheet: Sheet) -> list[ResponseRow]:
    """Read AlpacaEval outputs.

    The id of an item is a hash of its instruction. If a model answers the same instruction several
    times, each time is a different item, with `#2` and so on after the hash.

    Raises:
        DataError: a row has no instruction.
    """
    answer_counts: Counter[tuple[str | None, str]] = Counter()
    answers = []
    for record in sheet.records():
        instruction = record.text("instruction")
        if not instruction:
            raise record.error(
                "no instruction", "AlpacaEval outputs name the instruction in every row"
            )
        model = record.cell_name("generator")
        # A label replaces the name of the model when all files are read.
        model_and_instruction = (sheet.label or model, instruction)
        answer_counts[model_and_instruction] += 1
        item = id_of(instruction)
        if answer_counts[model_and_instruction] > 1:
            item += f"#{answer_counts[model_and_instruction]}"
        question = record.question(item, instruction, category=record.cell_name("dataset"))
        answers.append(build_response(question, model, record.text("output")))
    return answers


def read_arena_hard_answers(sheet: Sheet) -> list[ResponseRow]:
    """Read arena-hard answers, v0.1 (choices with one turn) or v2 (messages).

    An answer `$ERROR$` has the reason `ERRORED` and no text.

    Raises:
        DataError: a row has no id, or not exactly one choice with one turn.
    """
    model_column = "model" if "model" in sheet.columns else "model_id"
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
        # Arena-hard writes this text if the call of the model failed.
        errored = chat.answer == "$ERROR$"
        answers.append(
            build_chat_response(
                sheet.show, question, record.cell_name(model_column), chat, errored=errored
            )
        )
    return answers


def read_arena_hard_questions(sheet: Sheet) -> list[QuestionRow]:
    """Read questions of arena-hard v0.1.

    The category is the column `cluster`, or else `category`.

    Raises:
        DataError: a question has no id, or not exactly one turn.
    """
    questions = []
    for record in sheet.records():
        instruction = _text_of_turn(record, _only_entry(record, record.cells["turns"], "turns"))
        category = record.cell_name("cluster") or record.cell_name("category")
        questions.append(record.question(_arena_hard_item(record), instruction, category=category))
    return questions


def _arena_hard_item(record: Record) -> str:
    """Return the id of the question, from the column `uid` or, without it, `question_id`.

    Raises:
        DataError: the id is empty.
    """
    column = "uid" if "uid" in record.cells else "question_id"
    item = record.cell_name(column)
    if item is None:
        raise record.error(f"no {column}", "give each row the id of its question")
    return item


def _only_entry(record: Record, values: Any, name: str) -> Any:
    """Return the only entry of a list.

    Raises:
        DataError: the value is no list, or has not exactly one entry.
    """
    if not isinstance(values, list) or len(values) != 1:
        count = len(values) if isinstance(values, list) else "no"
        raise record.error(
            f"{count} {name}", f"podium judges one turn: give a list of one for {name}"
        )
    return values[0]


def _text_of_turn(record: Record, turn: Any) -> str | None:
    """Return the text of a turn or message.

    A turn is a text, or a mapping with the text as its `content`. The content may itself be a
    mapping, with the text without reasoning as its `answer`. The result is None if there is no
    text.

    Raises:
        DataError: the value is not text.
    """
    text = turn
    for key in ("content", "answer"):
        if isinstance(text, dict):
            text = text.get(key)
    return None if is_empty(text) else record.as_text("content", text)
