"""Read responses from lm-eval's samples, a row per document and filter."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from podium.data.formats import lm_eval_layout as layout
from podium.hookspecs import SourceFiles
from podium.notices.notice import Notice
from podium.responses.answers import UNSEEN, Record, ResponseRow, Sheet, build_response, is_empty
from podium.responses.chat import NO_CHAT, ROLES, Conversation, read_conversation
from podium.responses.transcripts import AgentWork
from podium.text import parse_json

MULTIMODAL = frozenset({"visual", "audio", "video"})
"""Keys of the parts of a request that are not text."""


def find_newest_samples(
    source: SourceFiles,
) -> tuple[list[layout.Samples], tuple[Path, ...], list[Notice]]:
    """Find the samples of the newest run of each model and task, the files that are not lm-eval's,
    and notes."""
    samples, results = layout.find_runs(source.paths, source.label, searched=source.searched)
    kept, notes = layout.select_runs(samples)
    folders = {file.path.parent for file in samples}
    for run in [run for run in results if run.path.parent not in folders]:
        notes.append(layout.lack_of_samples(source.label or run.model or run.path.parent.name, run))
    known = {file.path for file in samples} | {run.path for run in results}
    rest = tuple(path for path in source.paths if path not in known)
    return sorted(kept, key=lambda file: file.path), rest, notes


def is_generated(sheet: Sheet) -> bool:
    """Return whether the first sample holds generated text, not log-likelihoods."""
    first = sheet.frame.iloc[0]
    is_text = isinstance(response := _responses(first)[0], str) or is_empty(response)
    return is_text and len(_request(first["arguments"])) != 1


def read_responses_in_samples(sheet: Sheet) -> list[ResponseRow]:
    """Read all responses to each document before any filter; an item is task and document, the
    category the task."""
    own = layout.samples_at(sheet.path, sheet.label)
    records = list(sheet.records())
    # One row per document: filters differ in what they extract, not in the responses.
    first = min((record.name("filter") or "" for record in records), default="")
    records = [record for record in records if (record.name("filter") or "") == first]
    items = layout.item_ids(
        own.task,
        [
            ("", layout.read_doc_hash(record.cells), layout.place_in_set(record.cells))
            for record in records
        ],
    )
    answers = []
    for record, item in zip(records, items, strict=True):
        system, instruction, chat = _parse_prompt(record)
        work: AgentWork | None = AgentWork(sum(len(turn.calls) for turn in chat.turns), 1)
        if chat.turns and sheet.show.shows(chat.turns):
            # All turns of the prompt were written before the model was asked, examples or not.
            instruction, work = chat.as_instruction(), None
        more = {"category": own.task, "reference": record.name("target"), "system": system}
        question = record.question(item, instruction, rendered=True, **more)
        # The file names images and audio, but does not hold them.
        request = _request(record.cells["arguments"])
        unseen = any(isinstance(part, dict) and part.keys() & MULTIMODAL for part in request)
        for number, said in enumerate(_responses(record.cells), 1):
            text = record.as_text("response", said)
            shown = build_response(question, own.model, text, number=number, work=work)
            answers.append(replace(shown, text=None, reason=UNSEEN) if unseen else shown)
    return answers


def _parse_prompt(record: Record) -> tuple[str | None, str, Conversation]:
    """Return the system prompt, or None, the prompt (in a chat, the last message of the user), and
    the chat."""
    first = next(iter(_request(record.cells["arguments"])), None)
    first = first[0] if isinstance(first, list) and first else first
    if not isinstance(first, str):
        raise record.error("no prompt in arguments", "log the samples with lm-eval's --log_samples")
    messages, content = list[Any](), dict[Any, Any]()
    with suppress(ValueError):
        messages = parse_json(first) if first.startswith("[{") else []
    if all(isinstance(message, dict) and "role" in message for message in messages):
        content = {message["role"]: message.get("content") for message in messages}
    system, instruction = content.get("system"), content.get("user")
    if not isinstance(instruction, str):
        return None, first, NO_CHAT
    chat = read_conversation(record, messages) if content.keys() <= {*ROLES} else NO_CHAT
    return system if isinstance(system, str) else None, instruction, chat


def _request(arguments: Any) -> Sequence[Any]:
    """Return the arguments of the first request, a prompt and its settings, from the current or the
    older shape."""
    if isinstance(arguments, dict):
        request = arguments.get("gen_args_0")
        return list(request.values()) if isinstance(request, dict) else []
    first = arguments[0] if isinstance(arguments, list) and arguments else []
    return first if isinstance(first, list) else [first]


def _responses(cells: Any) -> list[Any]:
    """Return the responses to the first request, one per repeat; None for an empty one."""
    value = cells["resps"] if "resps" in cells else cells["filtered_resps"]
    if isinstance(value, list | tuple):
        value = value[0] if value else None
    return (list(value) or [None]) if isinstance(value, list | tuple) else [value]
