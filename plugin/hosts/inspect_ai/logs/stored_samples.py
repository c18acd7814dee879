"""Read the samples of log files one at a time. Damaged files raise DataError."""

import json
import re
import zipfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import ijson
from inspect_ai.log import (
    EvalLog,
    EvalSample,
    EvalSampleSummary,
    read_eval_log,
    read_eval_log_sample_summaries,
    resolve_sample_attachments,
)
from inspect_ai.scorer import Score
from pydantic import TypeAdapter

from podium.data.formats.archives import check_archive, opened_archive
from podium.data.formats.git_lfs import reject_lfs_pointer_file
from podium.errors import DataError, PodiumError, reject_stream
from podium.garbage_collection import garbage_collection_paused
from podium.hosts.inspect_ai.logs.asked_inputs import Input
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.hosts.inspect_ai.logs.message_texts import ATTACHMENT
from podium.hosts.inspect_ai.logs.podium_entries import REQUEST_KEY
from podium.hosts.inspect_ai.logs.sample_files import SampleFile
from podium.printable import shorten

MEMBER = re.compile(r"samples/(?P<name>(?P<item>.*?)(_epoch_(?P<epoch>[0-9]+))?)\.json", re.DOTALL)
"""Matches the name of a sample in an `.eval` archive, for example `samples/q7_epoch_2.json`.

The group `name` is `q7_epoch_2`, `item` is `q7`, and `epoch` is `2` (None if there is no epoch).
"""
AGENT_STARTED = re.compile(rb'"agent_span_id":\s*"')
"""Matches the JSON of a sample in which a tool call started an agent."""
UNUSED_FIELDS = {"events", "store", "attachments", "messages"}
"""Fields of a sample that no reader of scores needs."""
SCORED_FIELDS = frozenset(
    {"id", "epoch", "scores", "error", "invalidation", "metadata", "input", "choices", "target"}
)
"""Fields of a sample from which a `ScoredSample` is made."""
PROMPT_FIELDS = frozenset({"id", "input", "messages", "attachments"})
"""Fields of a sample that show its prompt, and its id."""
SCORES: TypeAdapter[dict[str, Score]] = TypeAdapter(dict[str, Score])
"""Parses the scores of a sample, by name of the scorer."""


class ScoredSample(NamedTuple):
    """A sample without its transcript.

    Attributes:
        id: id of the sample.
        epoch: number of the epoch, from 1.
        metadata: its metadata; empty if it has none.
        scores: the scores by scorer.
        error: message of the error with which the sample ended; None if there was none.
        invalidated: why the sample was invalidated ("" if no reason is given); None if valid.
        kept: podium's entry in the store if the sample failed or requested answers, else None.
        input: the input, a text or messages.
        choices: the choices of a question of multiple choice; empty for other questions.
        target: what responses are scored against, or several such texts.
        attachments: long texts that the input may refer to, by their names.
    """

    id: str | int
    epoch: int
    metadata: Mapping[str, Any]
    scores: Mapping[str, Score]
    error: str | None
    invalidated: str | None = None
    kept: Any = None
    input: Input = ""
    choices: Sequence[str] = ()
    target: str | Sequence[str] = ()
    attachments: Mapping[str, str] = {}


def read_by_inspect(path: Path, **options: Any) -> EvalLog:
    """Return a log as `inspect_ai.log.read_eval_log` reads it with these options.

    Raises:
        DataError: the log is damaged. The error names the damaged sample, if one is.
    """
    with checked_log(path):
        try:
            # Inspect makes an object for each sample in the archive, even to read the header.
            with garbage_collection_paused():
                return read_eval_log(str(path), **options)
        except Exception:
            if not options.get("header_only") and path.suffix == ".eval":
                # Inspect's error does not name the damaged sample, so this looks for it.
                deque(_parse_members(path, _parse_scored), maxlen=0)
            raise


def summaries_of(path: Path) -> list[EvalSampleSummary]:
    """Return the summaries of a log's samples, in the order in which Inspect returns them.

    Raises:
        DataError: the log is damaged.
    """
    with checked_log(path):
        return read_eval_log_sample_summaries(str(path))


@contextmanager
def checked_log(path: Path) -> Iterator[None]:
    """Check a log, then run the body, which opens and reads it; any damage becomes a DataError.

    The log must be no stream, and an `.eval` archive must be safe to unpack. Nothing else is
    checked: a folder, for example, fails only in the body.

    Raises:
        UsageError: the path is a pipe, a socket or a device.
        DataError: the archive unpacks to too many bytes, or the body raises an error that is not
            one of podium.
    """
    with _damage_as_data_error(path):
        if path.suffix == ".eval":
            check_archive(path)
        reject_stream(path)
        yield


def samples_of(path: Path) -> Iterator[ScoredSample]:
    """Return the samples of a log by epoch, then by id.

    Samples of an archive are read one at a time, which takes little memory.

    Raises:
        DataError: the log is damaged. For an archive, the error is raised only while the result is
            iterated over.
    """
    if path.suffix == ".eval":
        return _parse_members(path, _parse_scored)
    return map(
        _scored_sample,
        read_by_inspect(path, exclude_fields=UNUSED_FIELDS - {"store"}).samples or [],
    )


def whole_samples(path: Path) -> Iterator[EvalSample]:
    """Return the samples of a log by epoch, then by id, with their messages and media.

    Samples in which a tool call started an agent also have their events. The store of a sample is
    left out. Samples of an archive are read one at a time, which takes little memory.

    Raises:
        DataError: the log is damaged. For an archive, the error is raised only while the result is
            iterated over.
    """
    if path.suffix == ".eval":
        return _parse_members(path, _parse_whole)
    unused = {"store"} if AGENT_STARTED.search(path.read_bytes()) else {"store", "events"}
    return iter(
        read_by_inspect(path, resolve_attachments=True, exclude_fields=unused).samples or []
    )


def samples_by_id(path: Path, number: int) -> list[dict[str, Any]]:
    """Return the first samples of a log: by epoch, then by id, in an `.eval` archive.

    In a log in JSON, they are the first in the order in which it stores them. Only these samples
    are read. A sample has `PROMPT_FIELDS`, and all its fields if it is small.

    Args:
        path: the log.
        number: the most samples that are returned.

    Raises:
        DataError: the log or one of these samples is damaged.
    """
    if path.suffix != ".eval":
        return first_samples(path, number)

    def parse(sample: SampleFile) -> dict[str, Any]:
        """Return the fields of a sample of which prompts are made, by name."""
        return sample.fields(PROMPT_FIELDS)

    with checked_log(path), opened_archive(path) as archive:
        members = sorted(_sample_members(archive), key=_sort_key)[:number]
        return [_parse_member(path, archive, each, parse) for each in members]


def first_samples(
    path: Path, number: int, fields: Set[str] = PROMPT_FIELDS
) -> list[dict[str, Any]]:
    """Return the samples that a log stored first, as plain values. Only these samples are read.

    Args:
        path: the log.
        number: the most samples that are returned.
        fields: names of the fields that are returned. Of a small sample, and of a log in JSON, all
            fields are returned.

    Raises:
        DataError: the log or one of these samples is damaged.
    """

    def parse(sample: SampleFile) -> dict[str, Any]:
        """Return the wanted fields of a sample, by name."""
        return sample.fields(fields)

    if path.suffix == ".eval":
        with checked_log(path), opened_archive(path) as archive:
            members = islice(_sample_members(archive), number)
            return [_parse_member(path, archive, each, parse) for each in members]
    with checked_log(path), path.open("rb") as stream:
        return list(islice(ijson.items(stream, "samples.item", use_float=True), number))


Parsed = TypeVar("Parsed")


def _parse_members(path: Path, parse: Callable[[SampleFile], Parsed]) -> Iterator[Parsed]:
    """Yield the parsed samples of an `.eval` archive, by epoch, then by id.

    Args:
        path: the archive.
        parse: makes a value of the file of a sample.

    Raises:
        DataError: the archive or a sample is damaged. The samples before it have been yielded.
    """
    with checked_log(path), opened_archive(path) as archive:
        for member in sorted(_sample_members(archive), key=_sort_key):
            yield _parse_member(path, archive, member, parse)


def _sample_members(archive: zipfile.ZipFile) -> Iterator[re.Match[str]]:
    """Yield the matches of `MEMBER` on the names in an archive, each name once.

    The archive has two entries of one name for a sample that was run again. Reading the name gives
    the later entry.
    """
    for name in dict.fromkeys(archive.namelist()):
        member = MEMBER.fullmatch(name)
        if member:
            yield member


def _parse_member(
    path: Path,
    archive: zipfile.ZipFile,
    member: re.Match[str],
    parse: Callable[[SampleFile], Parsed],
) -> Parsed:
    """Return the parsed sample of a member of an archive.

    Raises:
        DataError: the sample is damaged.
    """
    with _damage_as_data_error(path, member["name"]):
        return parse(SampleFile(archive, member[0]))


def _parse_scored(sample: SampleFile) -> ScoredSample:
    """Parse a sample without its transcript.

    The entries of podium in its store are read only if the sample failed or requests answers.
    """
    stored_fields = sample.fields(SCORED_FIELDS)
    scores = SCORES.validate_python(stored_fields.get("scores") or {})
    error = stored_fields.get("error")
    invalidation = stored_fields.get("invalidation")
    why_invalidated = None
    if invalidation is not None:
        why_invalidated = invalidation.get("reason") or ""
    entries = None
    metadata = stored_fields.get("metadata") or {}
    if error or REQUEST_KEY in metadata:
        entries = (sample.fields({"store"}).get("store") or {}).get(NAMESPACE)
    return ScoredSample(
        id=stored_fields["id"],
        epoch=stored_fields["epoch"],
        metadata=metadata,
        scores=scores,
        error=error and error["message"],
        invalidated=why_invalidated,
        kept=entries,
        input=stored_fields.get("input") or "",
        choices=stored_fields.get("choices") or (),
        target=stored_fields.get("target") or (),
        attachments=_attachments_of(sample, stored_fields),
    )


def _attachments_of(sample: SampleFile, stored_fields: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the attachments of a sample by name, to which its input may refer.

    They are empty for a large sample whose input, choices and target refer to none.

    Args:
        sample: the file of the sample.
        stored_fields: its fields `input`, `choices` and `target`, if it has them.
    """
    shown_to_model = [stored_fields.get(name) for name in ("input", "choices", "target")]
    if sample.is_large and ATTACHMENT not in json.dumps(shown_to_model):
        return {}
    return sample.fields({"attachments"}).get("attachments") or {}


def _parse_whole(sample: SampleFile) -> EvalSample:
    """Parse a sample with its messages, and with its events if a tool call started an agent."""
    unused = {"store"} if sample.holds(AGENT_STARTED) else {"store", "events", "events_data"}
    fields = sample.fields(frozenset(EvalSample.model_fields) - unused)
    used_fields = {name: value for name, value in fields.items() if name not in unused}
    return resolve_sample_attachments(EvalSample.model_validate(used_fields))


def _sort_key(member: re.Match[str]) -> tuple[int, str]:
    """Return the sort key of an archive's member: its epoch, then its item."""
    item, epoch = member.group("item", "epoch")
    return order_of_sample(int(epoch or 0), item)


def order_of_sample(epoch: int, item: str) -> tuple[int, str]:
    """Return epoch and id of a sample as a sort key.

    Ids that consist of at most 20 digits sort by their size as numbers.
    """
    padded = item.zfill(20) if item.isdecimal() else item
    return epoch, padded


def _scored_sample(sample: EvalSample) -> ScoredSample:
    """Convert a sample that Inspect has read to a `ScoredSample`, without attachments."""
    sample_input: Input
    if isinstance(sample.input, str):
        sample_input = sample.input
    else:
        sample_input = [message.model_dump() for message in sample.input]
    has_entries = sample.error is not None or REQUEST_KEY in sample.metadata
    return ScoredSample(
        id=sample.id,
        epoch=sample.epoch,
        metadata=sample.metadata,
        scores=sample.scores or {},
        error=sample.error.message if sample.error else None,
        invalidated=reason_of_invalidation(sample),
        kept=sample.store.get(NAMESPACE) if has_entries else None,
        input=sample_input,
        choices=sample.choices or (),
        target=sample.target,
    )


def reason_of_invalidation(sample: EvalSample) -> str | None:
    """Return why a sample was invalidated, "" if no reason is given; None if it is valid."""
    return None if sample.invalidation is None else sample.invalidation.reason or ""


@contextmanager
def _damage_as_data_error(path: Path, sample: str | None = None) -> Iterator[None]:
    """Raise DataError for an error in the body, such as errors of archives and JSON.

    The error names the log, and the sample if `sample` is given. Errors of podium are raised as
    they are.
    """
    try:
        yield
    except PodiumError:
        raise
    except Exception as error:
        reject_lfs_pointer_file(path)
        problem = f"not a whole Inspect log ({shorten(str(error))})"
        row = None if sample is None else f"sample {shorten(sample)}"
        raise DataError(
            problem, source=str(path), row=row, remedy="give a log that Inspect can open"
        ) from None
