"""Responses in lm-eval's samples, a row per document and filter; `formats.lm_eval_layout` knows files and names."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from podium.formats.files import Found
from podium.formats.lm_eval_layout import (
    SAMPLE_FIELDS,
    beside,
    document_hash,
    is_samples,
    item_ids,
    newest,
    place_in_set,
    results_of,
    rows,
    samples_at,
    samples_beside,
    without_samples,
)
from podium.responses.answers import Answer, Question, answer
from podium.responses.sheets import Record, Sheet, empty


@dataclass(frozen=True, slots=True)
class Runs:
    """What lm-eval wrote among the files of a source.

    Attributes:
        entrants: whose each samples file is that counts.
        rest: the files that are not lm-eval's.
        notes: runs that are left out, or have no samples.
    """

    entrants: dict[Path, str]
    rest: tuple[Path, ...]
    notes: tuple[str, ...]


def runs_in(found: Found) -> Runs:
    """Find the samples files of a source: of each model and task the newest run; a results file stands for its run.

    Raises:
        UsageError: runs of one name are not reruns of one model.
    """
    samples = {path for path in found.paths if is_samples(path)}
    results = [one for one in map(results_of, found.paths) if one is not None]
    if not found.searched:
        samples |= {path for one in results for path in samples_beside(one)}
    claimed = samples | {one.path for one in results}
    known = beside(samples)
    read = [samples_at(path, found.label, [one for one in known if one.path.parent == path.parent]) for path in samples]
    kept, notes = newest(read)
    folders = {path.parent for path in samples}
    silent = [one for one in results if one.path.parent not in folders]
    notes += [without_samples(found.label or one.model or one.path.parent.name, one) for one in silent]
    rest = tuple(path for path in found.paths if path not in claimed)
    return Runs({one.path: one.entrant for one in sorted(kept, key=lambda one: one.path)}, rest, tuple(notes))


@dataclass(frozen=True, slots=True)
class SampleRows:
    """What a samples file holds.

    Attributes:
        sheet: its whole rows.
        times: how often a document was answered with text, at most (lm-eval's `repeats`).
        notes: a last line that is cut off.
    """

    sheet: Sheet
    times: int
    notes: tuple[str, ...]


def records(path: Path, entrant: str) -> SampleRows:
    """Read a samples file, a last line that is cut off left out.

    Raises:
        DataError: another line is not whole.
    """
    read = list(rows(path))
    whole = {place.removeprefix("line "): row for place, row in read if row is not None}
    notes = tuple(f"{path}, {place}: cut off, so its document is missing" for place, row in read if row is None)
    frame = pd.DataFrame(list(whole.values()), index=pd.Index(list(whole), name="line"))
    return SampleRows(Sheet(path, entrant, frame), max(map(_times, whole.values()), default=0), notes)


def _times(row: dict[str, Any]) -> int:
    """Return how often the first request was answered with text."""
    responses = row.get("resps")
    first = responses[0] if isinstance(responses, list) and responses else None
    return len(first) if isinstance(first, list) and all(isinstance(one, str) for one in first) else 1


def fits(sheet: Sheet) -> bool:
    """Whether these are samples of generated text; log-likelihoods, of choices or of a whole text, are no responses."""
    if not len(sheet.frame) or not sheet.columns >= SAMPLE_FIELDS or not sheet.columns & {"resps", "filtered_resps"}:
        return False
    first = _first(_responses(sheet.frame.iloc[0]))
    if len(_request(sheet.frame.iloc[0]["arguments"])) == 1:
        return False
    return isinstance(first, str) or empty(first)


def read(sheet: Sheet) -> list[Answer]:
    """Read the response to each document: all of it, whatever a filter extracts; of repeated responses the first.

    Items are known by task and document hash, so that runs with other prompts or limits meet; a document that occurs
    again is an item of its own. The category is the task.

    Raises:
        DataError: a row without a prompt or with a response that is no text.
    """
    own = samples_at(sheet.path, sheet.label, ())
    kept = _of_one_filter(list(sheet.records()))
    items = item_ids(own.task, [("", document_hash(one.cells), place_in_set(one.cells)) for one in kept])
    found = []
    for record, item in zip(kept, items, strict=True):
        asked = _question(record, item, own.task)
        text = _first(_responses(record.cells))
        found.append(answer(asked, own.entrant, record.as_text("response", text)))
    return found


def _of_one_filter(records: list[Record]) -> list[Record]:
    """Keep one row per document: filters change what is extracted, not what was said."""
    kept = min((record.name("filter") or "" for record in records), default="")
    return [record for record in records if (record.name("filter") or "") == kept]


def _question(record: Record, item: str, task: str) -> Question:
    system, instruction = prompt(record)
    target = record.name("target")
    return record.question(item, instruction, category=task, reference=target, system=system, rendered=True)


def prompt(record: Record) -> tuple[str | None, str]:
    """Return the system prompt, or None, and the prompt: in a chat, what the user said last.

    Raises:
        DataError: there is none.
    """
    first = next(iter(_request(record.cells["arguments"])), None)
    first = first[0] if isinstance(first, list) and first else first
    if not isinstance(first, str):
        raise record.error("no prompt in arguments", "log the samples with lm-eval's --log_samples")
    messages = _chat(first)
    said = {message.get("role"): message.get("content") for message in messages}
    if isinstance(said.get("user"), str):
        system = said.get("system")
        return system if isinstance(system, str) else None, str(said["user"])
    return None, first


def _request(arguments: Any) -> Sequence[Any]:
    """Return the arguments of the first request, in the shape of today or the older list: a prompt, then settings."""
    if isinstance(arguments, dict):
        request = arguments.get("gen_args_0")
        return list(request.values()) if isinstance(request, dict) else []
    first = arguments[0] if isinstance(arguments, list) and arguments else []
    return first if isinstance(first, list) else [first]


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
