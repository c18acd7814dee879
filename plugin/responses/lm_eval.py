"""lm-eval samples (`samples_<task>_<time>.jsonl`): a row per document and filter, the model named by the folder."""

import json
import re
from collections import Counter
from typing import Any

from podium.responses.alpaca_eval import numbered
from podium.responses.answers import Answer, Question, answer
from podium.responses.sheets import Record, Sheet, empty

NAME = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d{2}-\d{2}T[\d.:-]+)?\.jsonl?(\.gz)?$")
DIGITS = 12
"""Of a document's hash in an item's id."""


def fits(sheet: Sheet) -> bool:
    """Whether these are samples of generated text; log-likelihoods of choices are no responses."""
    if not sheet.columns >= {"doc_id", "doc", "arguments"} or not sheet.columns & {"resps", "filtered_resps"}:
        return False
    first = _first(_responses(sheet.frame.iloc[0]))
    return isinstance(first, str) or empty(first)


def read(sheet: Sheet) -> list[Answer]:
    """Read the response to each document, the same whatever the filter.

    Items are known by task and document hash, so that runs with other prompts or limits meet; a document that occurs
    again is an item of its own. The category is the task.

    Raises:
        DataError: a row without a prompt or with a response that is no text.
    """
    task, entrant = task_of(sheet), sheet.entrants(None, sheet.path.parent.name)[None]
    seen: Counter[str] = Counter()
    found = []
    for record in _of_one_filter(list(sheet.records())):
        document = (record.name("doc_hash") or f"doc-{record.name('doc_id')}")[:DIGITS]
        seen[document] += 1
        asked = _question(record, numbered(f"{task}:{document}", seen[document]), task)
        text = _first(_responses(record.cells))
        found.append(answer(asked, entrant, record.as_text("response", text)))
    return found


def _of_one_filter(records: list[Record]) -> list[Record]:
    """Keep one row per document: filters change what is extracted, not what was said."""
    kept = min((record.name("filter") or "" for record in records), default="")
    return [record for record in records if (record.name("filter") or "") == kept]


def task_of(sheet: Sheet) -> str:
    """Return the task that a file's name says, else the name itself."""
    named = NAME.match(sheet.path.name)
    return named["task"] if named else sheet.path.name.partition(".")[0]


def _question(record: Record, item: str, task: str) -> Question:
    system, instruction = prompt(record)
    target = record.name("target")
    return record.question(item, instruction, category=task, reference=target, system=system, rendered=True)


def prompt(record: Record) -> tuple[str | None, str]:
    """Return the system prompt, or None, and the prompt: in a chat, what the user said last.

    Raises:
        DataError: there is none.
    """
    first = _arguments(record)
    first = first[0] if isinstance(first, list) and first else first
    if not isinstance(first, str):
        raise record.error("no prompt in arguments", "log the samples with lm-eval's --log_samples")
    messages = _chat(first)
    said = {message.get("role"): message.get("content") for message in messages}
    if isinstance(said.get("user"), str):
        system = said.get("system")
        return system if isinstance(system, str) else None, str(said["user"])
    return None, first


def _arguments(record: Record) -> Any:
    """Return the first argument of the first request, in the shape of today or the older list."""
    arguments = record.cells["arguments"]
    if isinstance(arguments, dict):
        request = arguments.get("gen_args_0")
        return request.get("arg_0") if isinstance(request, dict) else None
    return _first(arguments)


def _chat(text: str) -> list[dict[str, Any]]:
    """Return the messages of a chat written as JSON; none where the text is a plain prompt."""
    try:
        messages = json.loads(text) if text.startswith("[{") else []
    except ValueError:
        return []
    return messages if all(isinstance(one, dict) and "role" in one for one in messages) else []


def _responses(cells: Any) -> Any:
    return cells["resps"] if "resps" in cells else cells["filtered_resps"]


def _first(value: Any) -> Any:
    """Return what stands first in a list, and first in a list in that; None where one is empty."""
    for _ in range(2):
        if isinstance(value, list | tuple):
            value = value[0] if value else None
    return value
