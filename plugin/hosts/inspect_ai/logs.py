"""Inspect logs as podium reads them: responses to be judged, verdicts to be ranked, scores to be compared."""

import json
from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ChatMessage
from inspect_ai.scorer import Score, value_to_float

from podium.errors import DataError
from podium.formats.inspect_log import is_log
from podium.hosts.inspect_ai.log_format import LEFT_OUT, NAMESPACE, ROUND, presentations
from podium.hosts.inspect_ai.packing import battles_of
from podium.hosts.inspect_ai.rows import Rows
from podium.hosts.inspect_ai.samples import Scored, by_inspect, header_of, samples_of
from podium.responses.answers import Answer, Question, answer
from podium.responses.read import FileReader

UNUSED = {"events", "store", "attachments"}
SUFFIXES = (".eval", ".json")
LETTERS = {"C", "I", "P", "N"}
WORDS = {"yes", "no", "true", "false"}
"""What Inspect takes for numbers: correct, incorrect, partly, no answer; and what stands for 1 and 0."""
FAILED = "failed"
"""Why a battle is unread of which a call failed for good."""


def answers(path: Path) -> Iterator[Answer]:
    """Read what a model answered in an ordinary eval: one response per sample, the first epoch's.

    A tournament's log, which may lie in the same folder, holds none.

    Raises:
        DataError: it is no whole log.
    """
    log = by_inspect(path, exclude_fields=UNUSED)
    for sample in [] if is_tournament(log) else log.samples or []:
        if sample.epoch == 1 and sample.input:
            yield answer(_question(sample, path), log.eval.model, sample.output.completion, errored=bool(sample.error))


READER = FileReader(SUFFIXES, is_log, lambda path: list(answers(path)))
"""What `podium.responses.read_responses` needs to know of Inspect logs."""


def records(path: Path) -> pd.DataFrame:
    """Read a log as rows: a row per presentation of a tournament's log, else a row per score of an ordinary eval.

    Of a tournament, `attrs["missing"]` counts the battles that could not be played for want of a response.

    Raises:
        DataError: it is no whole log, or nothing in it is scored.
    """
    log, table = header_of(path), Rows()
    lost: list[Mapping[str, Any]] = []
    failure, missing = None, _left_out_at_first(log)
    for sample in samples_of(path):
        missing += sample.metadata.get(LEFT_OUT, 0) if _is_schedule(sample) else 0
        for row in rows_of(sample, log):
            table.add(row)
        lost += _lost(sample, log)
        failure = failure or sample.error
    for judge in table.seen("judge"):
        for battle in lost:
            table.add({**battle, "judge": judge})
    if not table.count:
        raise _nothing_scored(log, path, failure)
    frame = table.frame()
    frame.attrs = {"missing": missing} if is_tournament(log) else {}
    return frame


def _left_out_at_first(log: EvalLog) -> int:
    """Return how many battles of the first round could not be played, because a response is absent."""
    return int((log.eval.metadata or {}).get(f"{NAMESPACE}_{LEFT_OUT}", 0))


def _nothing_scored(log: EvalLog, path: Path, failure: str | None) -> DataError:
    if is_tournament(log) and failure is not None:
        problem = f"no battle was judged; the first of those that failed: {failure}"
        return DataError(problem, source=str(path), remedy="mend that, and run `inspect eval-retry` on the log")
    return DataError("no scored samples", source=str(path), remedy="score the log with `inspect score` first")


def rows_of(sample: Scored, log: EvalLog) -> list[dict[str, Any]]:
    """Return the rows of one sample: its verdicts, or its scores."""
    # A score that was appended reads the same replies again: the later reading counts, and only once.
    judged = {_presentation(row): row for score in sample.scores.values() for row in presentations(score)}
    if judged or _is_schedule(sample):
        return list(judged.values())
    if is_tournament(log):
        return []
    return [row for name, score in sample.scores.items() for row in _scored(name, score, sample, log)]


def _presentation(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("item", "model_a", "model_b", "judge", "order", "repeat"))


def is_tournament(log: EvalLog) -> bool:
    """Tell the log of a tournament from that of an ordinary eval."""
    return f"{NAMESPACE}_entrants" in (log.eval.metadata or {})


def _scored(name: str, score: Score, sample: Scored, log: EvalLog) -> Iterator[dict[str, Any]]:
    """Yield a row per value of a score: most have one, some have several by name."""
    several = isinstance(score.value, Mapping)
    values = list(score.value.items()) if isinstance(score.value, Mapping) else [(None, score.value)]
    for part, value in values:
        yield {
            "item": f"{sample.id}",
            "model": log.eval.model,
            "score": number_of(value),
            "judge": f"{log.eval.task} {name}" + (f" {part}" if several else ""),
            "repeat": sample.epoch,
        }


def number_of(value: Any) -> float | None:
    """Return a score as a number, as Inspect takes it; None for what is no number, where Inspect takes 0.

    >>> number_of("C"), number_of("A>B"), number_of(float("nan"))
    (1.0, None, None)
    """
    told = value.lower() if isinstance(value, str) else value
    if isinstance(told, str) and value not in LETTERS and told not in WORDS and not is_number(told):
        return None
    if not isinstance(value, str | int | float):
        return None
    number = value_to_float()(value)
    return number if isfinite(number) else None


def is_number(text: str) -> bool:
    """Whether a text is a finite number."""
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _lost(sample: Scored, log: EvalLog) -> list[dict[str, Any]]:
    """Return the battles of a sample that failed: they were asked for, and there is no verdict."""
    if not is_tournament(log) or sample.error is None or sample.scores or _is_schedule(sample):
        return []
    return [_failed(battle) for battle in battles_of(sample.metadata)]


def _failed(battle: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: battle[name] for name in ("item", "model_a", "model_b")}
    return {**known, "order": "merged", "repeat": 0, "credit": None, "reason": FAILED}


def _is_schedule(sample: Scored) -> bool:
    return ROUND in sample.metadata


def _question(sample: EvalSample, path: Path) -> Question:
    return Question(
        item=str(sample.id),
        instruction=_instruction(sample.input),
        category=_text(sample.metadata.get("category")),
        reference=_reference(sample.target),
        system=_system(sample.input),
        source=str(path),
        row=f"sample {sample.id}",
    )


def _instruction(given: str | list[ChatMessage]) -> str:
    """Return what the model was asked: a text, or the messages of a conversation, each with its role."""
    if isinstance(given, str):
        return given
    asked = [message for message in given if message.role != "system"]
    if len(asked) == 1:
        return asked[0].text
    return "\n\n".join(f"[{message.role}]\n{message.text}" for message in asked)


def _system(given: str | list[ChatMessage]) -> str | None:
    if isinstance(given, str):
        return None
    return "\n\n".join(message.text for message in given if message.role == "system") or None


def _reference(target: str | list[str]) -> str | None:
    return (target if isinstance(target, str) else "\n".join(target)) or None


def _text(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else json.dumps(value)
