"""Inspect logs as podium reads them: responses to be judged, verdicts to be ranked, scores to be compared.

The samples of a log are read one at a time, and of each no more than its scores: a big log need not fit into memory.
Inspect's own reader makes objects of everything in a sample, of its transcript too, and a ranking needs a hundredth.
"""

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import ChatMessage
from inspect_ai.scorer import Score, value_to_float
from pydantic import TypeAdapter

from podium.errors import DataError
from podium.formats.records import shorten
from podium.hosts.inspect_ai.compatibility import kept_in_store
from podium.hosts.inspect_ai.log_contents import (
    ANSWER,
    ASKED,
    FIRST,
    LEFT_OUT,
    NAMESPACE,
    PLANNED,
    REPLACED,
    RESPONSE,
    ROUND,
    SCHEDULED,
    SHARD,
    answers_in,
    battles_of,
    is_tournament,
    judgment_rows,
)
from podium.hosts.inspect_ai.media import media_as_text, media_in, text_with_places, why_not_shown
from podium.responses.answers import QuestionRow, ResponseRow, answer
from podium.responses.assembly import AGREE
from podium.scorers.reply import UNSHOWN

LETTERS = {"C", "I", "P", "N"}
WORDS = {"yes", "no", "true", "false"}
"""What Inspect takes for numbers: correct, incorrect, partly, no answer; and what stands for 1 and 0."""
FAILED = "failed"
"""Why a battle is unparsed of which a call failed for good."""
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
    with _named_in_errors(path):
        return read_eval_log(str(path), **options)


def _can_open(path: Path) -> bool:
    """Whether an archive can be read without Inspect."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {member.compress_type for member in archive.infolist()} <= COMPRESSIONS
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def _samples_in_archive(path: Path) -> Iterator[Scored]:
    with zipfile.ZipFile(path) as archive:
        # A sample that was run again is there twice under one name, and the name stands for the later one.
        names = {name for name in archive.namelist() if name.startswith(FOLDER) and name.endswith(SUFFIX)}
        for name in sorted(names, key=_place):
            with _named_in_errors(path):
                kept = json.loads(archive.read(name))
                if "score" in kept:  # as very old logs have it
                    fields = {key: kept[key] for key in kept.keys() - UNUSED}
                    sample = _without_transcript(EvalSample.model_validate(fields))
                else:
                    error, scores = kept.get("error"), SCORES.validate_python(kept.get("scores") or {})
                    why = error and error["message"]
                    sample = Scored(kept["id"], kept["epoch"], kept.get("metadata") or {}, scores, why)
            yield sample


def _place(name: str) -> tuple[int, str]:
    """Return what a sample is sorted by: its epoch, then its id, numbers in the order of their size."""
    item, _, epoch = name.removeprefix(FOLDER).removesuffix(SUFFIX).rpartition(EPOCH)
    return int(epoch) if epoch.isdecimal() else 0, item.zfill(20) if item.isdecimal() else item


def _without_transcript(sample: EvalSample) -> Scored:
    error = sample.error.message if sample.error else None
    return Scored(sample.id, sample.epoch, sample.metadata, sample.scores or {}, error)


@contextmanager
def _named_in_errors(path: Path) -> Iterator[None]:
    """Say that a log is damaged: every decoder, of archives, of compression, of JSON, has errors of its own."""
    try:
        yield
    except Exception as error:
        problem = f"not a whole Inspect log ({shorten(str(error))})"
        raise DataError(problem, source=str(path), remedy="give a log that Inspect can open") from None


def responses_in(path: Path) -> list[ResponseRow]:
    """Return what a model answered in an ordinary eval, a response per sample and epoch; or models in a tournament.

    A tournament's log holds the answers that were asked for on demand, and no recorded ones.

    Raises:
        DataError: it is no whole log.
    """
    header = read_by_inspect(path, header_only=True)
    if is_tournament(header):
        samples = read_by_inspect(path, exclude_fields=UNUSED - {"store"}).samples or []
        if any(ASKED in sample.metadata and NAMESPACE not in sample.store for sample in samples):
            samples = read_by_inspect(path, exclude_fields={"messages"}).samples or []
        return bought_answers(samples, str(path))
    samples = samples_with_media(path, UNUSED - {"messages"})
    return [_answer(sample, path, header) for sample in samples if sample.input]


def samples_with_media(path: Path, unused: AbstractSet[str]) -> list[EvalSample]:
    """Return the samples of a log; images and the like, which it keeps apart, in their places.

    Args:
        unused: fields of a sample that nobody needs.

    Raises:
        DataError: it is no whole log.
    """
    samples = read_by_inspect(path, exclude_fields=set(unused)).samples or []
    if not any(media_in(sample.input) for sample in samples):
        return samples
    return read_by_inspect(path, resolve_attachments=True, exclude_fields=unused - {"attachments"}).samples or []


def bought_answers(samples: Iterable[EvalSample], source: str) -> list[ResponseRow]:
    """Return the answers that a tournament's log holds, each once, however often the judge was asked."""
    rows: dict[tuple[str, str], ResponseRow] = {}
    for sample in samples:
        known: dict[str, Any] = {name: sample.metadata.get(name) for name in AGREE}
        kept = kept_in_store(sample, NAMESPACE) if ASKED in sample.metadata else None
        for (name, item), own in answers_in(sample.metadata, kept).items():
            asked = QuestionRow(item, **known, source=source, row=f"sample {sample.id}")
            rows[name, item] = answer(asked, name, own.get("text"), errored="failed" in own)
    return list(rows.values())


def _answer(sample: EvalSample, path: Path, log: EvalLog) -> ResponseRow:
    """Return the response of a sample; none where it, or its item, shows what the judge could not be shown."""
    question = question_of(sample, sample.id, str(path), log.eval.task)
    if not sample.error and (why := why_not_shown(sample)):
        return ResponseRow(question, log.eval.model, None, why, sample.epoch)
    said, has_failed = sample.output.completion, bool(sample.error)
    return answer(question, log.eval.model, said, errored=has_failed, number=sample.epoch)


def question_of(sample: EvalSample | Sample, item: str | int, source: str, task: str) -> QuestionRow:
    """Return what a sample, of a log or of a dataset, asks.

    Args:
        item: its id.
        source: the file, or what the dataset is called.
    """
    metadata, target = sample.metadata or {}, sample.target
    category = metadata.get("category")
    instruction, system = _prompt_of(sample.input)
    return QuestionRow(
        item=str(item),
        instruction=instruction,
        category=category if category is None or isinstance(category, str) else json.dumps(category, default=str),
        reference=(target if isinstance(target, str) else "\n".join(target)) or None,
        system=system,
        source=source,
        row=f"sample {item}",
        task=task,
        media=media_as_text(sample.input),
    )


def _prompt_of(given: str | list[ChatMessage]) -> tuple[str, str | None]:
    """Return what the model was asked, of a conversation each message with its role; and the system prompt, or None."""
    if isinstance(given, str):
        return given, None
    asked = [message for message in given if message.role != "system"]
    system = "\n\n".join(message.text for message in given if message.role == "system") or None
    texts = text_with_places(asked)
    if len(asked) == 1:
        return texts[0], system
    return "\n\n".join(f"[{message.role}]\n{text}" for message, text in zip(asked, texts, strict=True)), system


class Columns:
    """Rows that become a table, kept column by column: a hundred thousand of them need little memory."""

    def __init__(self) -> None:
        self.count = 0
        self._columns: dict[str, list[Any]] = {}
        self._texts: dict[str, str] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row, which may lack columns that others have."""
        for name, value in row.items():
            column = self._columns.setdefault(name, [])
            column.extend([None] * (self.count - len(column)))
            # Each text once: a log repeats the name of its judge in every verdict.
            column.append(self._texts.setdefault(value, value) if isinstance(value, str) else value)
        self.count += 1

    def values_of(self, name: str) -> list[Any]:
        """Return the distinct values of a column in the order of their first appearance."""
        return list(dict.fromkeys(self._columns.get(name, ())))

    def frame(self) -> pd.DataFrame:
        """Return the table; its index counts the rows from 1."""
        index = pd.RangeIndex(1, self.count + 1, name="row")
        whole = {name: [*own, *[None] * (self.count - len(own))] for name, own in self._columns.items()}
        return pd.DataFrame(whole, index=index)


def log_rows(path: Path) -> pd.DataFrame:
    """Return a log as rows: a row per judgment of a tournament's log, else a row per score of an ordinary eval.

    Of a tournament, `attrs["missing"]` counts the battles that were not played: for want of a response, because the
    run was cut (`attrs["unplayed"]`), or because the judge was not shown their media (`attrs["unshown"]`: its words).
    """
    log, columns = read_by_inspect(path, header_only=True), Columns()
    lost: list[Mapping[str, Any]] = []
    unshown: list[str] = []
    about, config = log.eval.metadata or {}, log.eval.config
    failure, answer, missing = None, None, int(about.get(f"{NAMESPACE}_{LEFT_OUT}", 0)) * (config.epochs or 1)
    scheduled, played = int(about.get(SCHEDULED, 0)) * (config.epochs or 1), 0
    for sample in samples_of(path):
        answer = sample.metadata.get(ANSWER, answer)
        replaced, without = sample.metadata.get(REPLACED, (0, 0))
        missing += sample.metadata.get(LEFT_OUT, 0) - without if ROUND in sample.metadata else 0
        scheduled += len(sample.metadata.get(ROUND, ())) - replaced
        played += 0 if ROUND in sample.metadata else len(battles_of(sample.metadata))
        rows = _rows_of(sample, log)
        shown = {_battle_of(row) for row in rows if row.get("reason") != UNSHOWN}
        for row in (row for row in rows if _battle_of(row) in shown):
            columns.add(row)
        # Battles of which the judge was shown nothing, in either order, with what it said to that.
        refused = {_battle_of(row): str(row.get("reply", UNSHOWN)) for row in rows if _battle_of(row) not in shown}
        unshown += refused.values()
        lost += _lost_battles(sample) if is_tournament(log) else []
        failure = failure or sample.error
    for judge in columns.values_of("judge"):
        for battle in lost:
            columns.add({**battle, "judge": judge})
    frame = columns.frame()
    if SHARD in about and not scheduled:
        # With few battles, a shard may have none.
        frame.attrs = {"missing": missing}
        return frame
    if frame.empty:
        raise _nothing_judged(path, log, failure or (f"{UNSHOWN}: {unshown[0]}" if unshown else None))
    if config.limit is not None or config.sample_id is not None:
        # The rounds to come were never announced.
        scheduled = max(scheduled, int(about.get(PLANNED, 0)) * (config.epochs or 1))
    unplayed = max(scheduled - played, 0)
    if is_tournament(log) or unshown:
        lacking = missing + unplayed + len(unshown)
        frame.attrs = {"missing": lacking, "unplayed": unplayed, "unshown": unshown, "answer": answer}
    return frame


def _nothing_judged(path: Path, log: EvalLog, failure: str | None) -> DataError:
    if is_tournament(log) and failure is None:
        why = log.error.message.strip().splitlines()[-1] if log.error and log.error.message.strip() else "none is there"
        return DataError(f"no battle was judged: {why}", source=str(path), remedy="mend that, and play again")
    if not is_tournament(log):
        return DataError("no scored samples", source=str(path), remedy="score the log with `inspect score` first")
    problem = f"no battle was judged; the first of those that failed: {failure}"
    return DataError(problem, source=str(path), remedy="mend that, and run `inspect eval-retry` on the log")


def _battle_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ("item", RESPONSE, "model_a", "model_b", "judge", "repeat"))


def _rows_of(sample: Scored, log: EvalLog) -> list[dict[str, Any]]:
    """Return the rows of one sample: its verdicts, or a row per value of its scores: some have several by name."""
    # A score that was appended reads the same replies again: the later reading counts, and only once.
    verdicts = (row for score in sample.scores.values() for row in judgment_rows(score))
    key = ("item", RESPONSE, "model_a", "model_b", "judge", "order", "repeat")
    rows = list({tuple(row.get(name) for name in key): row for row in verdicts}.values())
    if rows or is_tournament(log) or ROUND in sample.metadata:
        return rows
    common = {"item": f"{sample.id}", "model": log.eval.model}
    for name, score in sample.scores.items():
        judge = f"{log.eval.task} {name}"
        by_name: dict[str, Any] = {judge: score.value}
        if isinstance(score.value, Mapping):
            by_name = {f"{judge} {part}": value for part, value in score.value.items()}
        rows += [
            {**common, "score": number_of(value), "judge": judge, RESPONSE: sample.epoch}
            for judge, value in by_name.items()
        ]
    return rows


def number_of(value: Any) -> float | None:
    """Return a score as a number, as Inspect takes it; None for what is no number, where Inspect takes 0.

    >>> number_of("C"), number_of("A>B"), number_of(float("nan"))
    (1.0, None, None)
    """
    if isinstance(value, str) and value not in LETTERS and value.lower() not in WORDS:
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, str | int | float):
        return None
    number = value_to_float()(value)
    return number if isfinite(number) else None


def _lost_battles(sample: Scored) -> list[dict[str, Any]]:
    """Return the battles of a sample that failed: they were asked for, and there is no verdict."""
    if sample.error is None or sample.scores or ROUND in sample.metadata:
        return []
    unparsed = {"repeat": sample.epoch - 1, "credit": None, "reason": FAILED}
    lost = []
    for battle in battles_of(sample.metadata):
        names = (name for name in ("item", RESPONSE, "model_a", "model_b") if name in battle)
        # The order in which it was to be shown, where its tournament says so.
        order = "merged" if battle.get(FIRST) is None else "ab" if battle[FIRST] == battle["model_a"] else "ba"
        lost.append({**{name: battle[name] for name in names}, "order": order, **unparsed})
    return lost
