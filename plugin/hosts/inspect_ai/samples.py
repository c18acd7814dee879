"""The samples of a log, one at a time, and of each no more than its scores: a big log need not fit into memory.

Inspect's own reader makes objects of everything in a sample, of its transcript too. A ranking needs a hundredth of it.
"""

import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.scorer import Score
from pydantic import TypeAdapter

from podium.errors import DataError

FOLDER, EPOCH, SUFFIX = "samples/", "_epoch_", ".json"
"""A member of an `.eval` archive that holds a sample is called `samples/ID_epoch_N.json`."""
COMPRESSIONS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, getattr(zipfile, "ZIP_ZSTANDARD", zipfile.ZIP_STORED)}
"""What can be read here; Inspect teaches an older `zipfile` the last."""
UNUSED = {"events", "store", "attachments", "messages"}
SCORES: TypeAdapter[dict[str, Score]] = TypeAdapter(dict[str, Score])


@dataclass(frozen=True, slots=True)
class Scored:
    """What came of a sample: scores by the name of the scorer, or why it failed; its metadata as its task gave them."""

    id: str | int
    epoch: int
    metadata: Mapping[str, Any]
    scores: Mapping[str, Score]
    error: str | None


def samples_of(path: Path) -> Iterator[Scored]:
    """Yield the samples of a log by epoch, then by id.

    Raises:
        DataError: it is no whole log.
    """
    if path.suffix == ".eval" and _can_open(path):
        return _samples_in_archive(path)
    return map(_without_transcript, read_by_inspect(path, exclude_fields=UNUSED).samples or [])


def read_by_inspect(path: Path, **options: Any) -> EvalLog:
    """Read a log as Inspect does.

    Raises:
        DataError: it is no whole log.
    """
    try:
        return read_eval_log(str(path), **options)
    except (ValueError, KeyError, OSError) as error:
        raise _not_whole(path, error) from None


def _can_open(path: Path) -> bool:
    """Whether an archive can be read without Inspect."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {member.compress_type for member in archive.infolist()} <= COMPRESSIONS
    except (zipfile.BadZipFile, OSError):
        return False


def _samples_in_archive(path: Path) -> Iterator[Scored]:
    with zipfile.ZipFile(path) as archive:
        # A sample that was run again is there twice under one name, and the name stands for the later one.
        names = {name for name in archive.namelist() if name.startswith(FOLDER) and name.endswith(SUFFIX)}
        for name in sorted(names, key=_place):
            try:
                sample = _sample_of(json.loads(archive.read(name)))
            except (ValueError, KeyError, zipfile.BadZipFile) as error:
                raise _not_whole(path, error) from None
            yield sample


def _place(name: str) -> tuple[int, str]:
    """Return what a sample is sorted by: its epoch, then its id, numbers in the order of their size."""
    item, _, epoch = name.removeprefix(FOLDER).removesuffix(SUFFIX).rpartition(EPOCH)
    return int(epoch) if epoch.isdecimal() else 0, item.zfill(20) if item.isdecimal() else item


def _sample_of(kept: dict[str, Any]) -> Scored:
    if "score" in kept:  # as very old logs have it
        return _without_transcript(EvalSample.model_validate({key: kept[key] for key in kept.keys() - UNUSED}))
    error = kept.get("error")
    scores = SCORES.validate_python(kept.get("scores") or {})
    return Scored(kept["id"], kept["epoch"], kept.get("metadata") or {}, scores, error and error["message"])


def _without_transcript(sample: EvalSample) -> Scored:
    error = sample.error.message if sample.error else None
    return Scored(sample.id, sample.epoch, sample.metadata, sample.scores or {}, error)


def _not_whole(path: Path, error: Exception) -> DataError:
    problem = f"not a whole Inspect log ({error})"
    return DataError(problem, source=str(path), remedy="give a log that Inspect can open")
