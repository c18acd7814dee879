"""Read responses from lm-eval's files of samples, which have a row per document and filter."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from podium.data.formats import lm_eval_layout as layout
from podium.data.formats.lm_eval_documents import (
    asked_document,
    columns_of_document,
    group_of_row,
    request_of,
    words_of_document,
)
from podium.data.formats.lm_eval_judged import verdicts_in_row
from podium.data.item_columns import short_values
from podium.responses.answers import (
    UNSEEN_MEDIA,
    Record,
    ResponseRow,
    Sheet,
    build_response,
    is_empty,
)
from podium.responses.chat import NO_CHAT, ROLES, Conversation, read_conversation
from podium.responses.transcripts import AgentWork, Show
from podium.text import parse_json

MULTIMODAL_KEYS = frozenset({"visual", "audio", "video"})
"""Keys of the parts of a request that are not text."""


def is_generated(sheet: Sheet) -> bool:
    """Return whether the samples have generated texts, not log-likelihoods.

    A request to generate has two arguments, or one in files of other programs. A request for the
    likelihood of a text has one, and its response is a number. The first row decides, unless its
    request has one argument: the result is then True if a row has a text that is no number.

    Args:
        sheet: the table of a samples file, with at least one row.
    """
    first = sheet.frame.iloc[0]
    response, *_ = _responses_to_request(first)
    if not isinstance(response, str) and not is_empty(response):
        return False
    if len(request_of(first["arguments"])) != 1:
        return True
    for _, row in sheet.frame.iterrows():
        response, *_ = _responses_to_request(row)
        if _is_other_than_number(response):
            return True
    return False


def _is_other_than_number(response: Any) -> bool:
    """Return whether a response is a text that is not a number; False for blank text."""
    if not isinstance(response, str):
        return False
    try:
        float(response)
    except ValueError:
        return bool(response.strip())
    return False


def read_responses_in_samples(sheet: Sheet) -> list[ResponseRow]:
    """Read all responses to each document, as the model wrote them before any filter.

    Each document of a task is an item, whose id is the task with a hash of the document
    (`layout.item_ids`). Its category is the name of the task. A document with verdicts of podium's
    filter is the item of these: that of the task with whose responses it was compared. Rows of one
    filter are read, the first by name.

    Raises:
        DataError: a row has no prompt, or a response is not text.
    """
    [file] = layout.describe_samples([sheet.path], sheet.label)
    rows = list(sheet.records())
    # Only the rows of one filter are read: filters extract different answers, but the responses
    # are the same.
    filters = [record.cell_name("filter") or "" for record in rows]
    first_filter = min(filters, default="")
    records = [row for row, name in zip(rows, filters, strict=True) if name == first_filter]
    documents = []
    for record in records:
        cells = record.cells
        documents.append(("", layout.read_doc_hash(cells), layout.place_in_set(cells)))
    items = layout.item_ids(file.task, documents)
    answers: list[ResponseRow] = []
    for record, item in zip(records, items, strict=True):
        task = file.task
        judged_item = _judged_item(record.cells)
        if judged_item is not None:
            item, task = judged_item
        answers += _responses_to_document(record, item, task, file.model, sheet.show)
    return answers


def _judged_item(cells: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the item and the category of the battles in a row's verdicts.

    None if the row has no verdicts, or if no battle has a category.
    """
    verdicts = verdicts_in_row(cells)
    if verdicts is None:
        return None
    categories = [battle["category"] for battle in verdicts["battles"] if battle.get("category")]
    return (str(verdicts["item"]), str(categories[0])) if categories else None


def _responses_to_document(
    record: Record, item: str, task: str, model: str, show: Show
) -> Iterator[ResponseRow]:
    """Yield the responses in the row of a document, numbered from 1.

    If the document has images, audio or video, the responses have the reason `UNSEEN_MEDIA` instead
    of a text. If the transcript of the prompt's chat is to be shown, the instruction is the whole
    chat, and what the model did (`ResponseRow.work`) is not known. Otherwise, this is one turn with
    the tool calls of the chat.

    Args:
        record: the row.
        item: id of the document's item.
        task: name of the task, which becomes the category.
        model: name of the model.
        show: says whether the chat in a prompt is shown as a transcript.
    """
    system, instruction, chat = _parse_prompt(record)
    calls = sum(len(turn.calls) for turn in chat.turns)
    work: AgentWork | None = AgentWork(calls, turns=1)
    if chat.turns and show.shows(chat.turns):
        # All turns of the prompt were written before the model was asked, examples or not.
        instruction = chat.as_instruction()
        work = None
    more: dict[str, Any] = {
        "category": task,
        "reference": record.cell_name("target"),
        "system": system,
        "columns": short_values(columns_of_document(record.cells)),
    }
    described = asked_document(record.row, record.cells)
    document = replace(described, item=item, words=words_of_document(record.cells))
    if record.cluster is not None:
        more["group"] = group_of_row(record.cells, record.cluster)
    question = record.question(item, instruction, rendered=True, document=document, **more)
    # The file names images and audio, but does not hold them.
    request = request_of(record.cells["arguments"])
    has_media = any(isinstance(part, dict) and part.keys() & MULTIMODAL_KEYS for part in request)
    for number, value in enumerate(_responses_to_request(record.cells), 1):
        text = record.as_text("response", value)
        response = build_response(question, model, text, number=number, work=work)
        if has_media:
            response = replace(response, text=None, reason=UNSEEN_MEDIA)
        yield response


def _parse_prompt(record: Record) -> tuple[str | None, str, Conversation]:
    """Return the system prompt or None, the instruction, and the chat.

    If the prompt is a chat with a message of the user, the instruction is the last such message.
    Otherwise, it is the whole prompt, there is no system prompt, and the chat is `NO_CHAT`. The
    chat is `NO_CHAT`, too, if it has an unknown role.

    Raises:
        DataError: the row has no prompt.
    """
    request = request_of(record.cells["arguments"])
    prompt = request[0] if request else None
    if isinstance(prompt, list) and prompt:
        prompt = prompt[0]
    if not isinstance(prompt, str):
        remedy = "log the samples with lm-eval's --log_samples"
        raise record.error("no prompt in arguments", remedy)
    messages: list[Any] = []
    if prompt.startswith("[{"):
        with suppress(ValueError):
            messages = parse_json(prompt)
    content: dict[Any, Any] = {}
    if all(isinstance(message, dict) and "role" in message for message in messages):
        # Of several messages with one role, the last one counts.
        content = {message["role"]: message.get("content") for message in messages}
    system = content.get("system")
    instruction = content.get("user")
    if not isinstance(instruction, str):
        return None, prompt, NO_CHAT
    chat = NO_CHAT
    if content.keys() <= {*ROLES}:
        chat = read_conversation(record, messages)
    system_prompt = system if isinstance(system, str) else None
    return system_prompt, instruction, chat


def _responses_to_request(cells: Any) -> list[Any]:
    """Return the responses to the first request, one per repeat; `[None]` if there is none.

    They are taken from the column `resps`, or `filtered_resps` if there is no such column.
    """
    by_request = cells["resps"] if "resps" in cells else cells["filtered_resps"]
    first = by_request
    if isinstance(by_request, list | tuple):
        first = by_request[0] if by_request else None
    if isinstance(first, list | tuple):
        return list(first) or [None]
    return [first]
