"""Why a run stopped asking its judge, as a log keeps it and as it is written where it is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from pydantic import Field

from podium.hosts.inspect_ai.logs.log_files import NAMESPACE, PLAYED_FOR
from podium.hosts.inspect_ai.logs.podium_entries import LogContents
from podium.storage.remote import local_file, place_of

STOP_MESSAGE = "the judge is not asked any more"
"""The beginning of the error message that ends a whole run."""
CANNOT_JUDGE = ", because it cannot judge"
"""Follows `STOP_MESSAGE` if the judge's own replies have ended the run."""
HOW_TO_RESUME = ". Fix the cause, then `inspect eval-retry` on the log plays the rest"
"""Follows the reason at the end of a log's error message, unless a host says how to go on."""
STOP = f"{NAMESPACE}_stop"
"""Key of the `StopRecord` in the store of a sample, and in the metadata of a log."""


class StopRecord(LogContents):
    """Why a run stopped asking its judge.

    Attributes:
        why: the reason as text; None if it is a finding.
        code: code of the finding that the judge cannot judge; None if the reason is another one.
        fields: fields of the finding.
        eval_id: the eval that stopped, if a log's metadata have the record: `inspect eval-retry`
            copies them into the next log.
    """

    why: str | None = None
    code: str | None = None
    fields: dict[str, Any] = Field(default_factory=dict)
    eval_id: str | None = None

    @property
    def reason(self) -> str:
        """The reason as text: of the finding if there is one, else `why`.

        Options are written as they are typed where the text is read, not where the log was made.
        """
        from podium.notices.notice import Notice
        from podium.notices.notice_text import notice_text

        if self.code is None:
            return self.why or "no reason given"
        return notice_text(Notice(self.code, self.fields))

    def to_text(self, who: str = STOP_MESSAGE) -> str:
        """Return a sentence without full stop: `who`, and the reason after a colon.

        If the reason is a finding, `CANNOT_JUDGE` stands before the colon.

        Args:
            who: what the reason has led to: which judge is not asked any more.
        """
        verb = "" if self.code is None else CANNOT_JUDGE
        return f"{who}{verb}: {self.reason}"


@dataclass(frozen=True)
class StopReason:
    """Why a run stopped asking its judge.

    Attributes:
        text: the reason.
        cannot_judge: whether the judge's own replies have ended the run. Nothing is gained if the
            rest is played with the same judge.
        resuming: how to go on, as the end of a sentence; empty if that does not help, or if the
            host that played the run says it.
    """

    text: str
    cannot_judge: bool
    resuming: str = ""

    def __str__(self) -> str:
        return f"{self.text}{self.resuming}"


def reason_of_stop(record: EvalLog | EvalSample) -> StopReason | None:
    """Return why a run stopped asking its judge.

    None if the log or sample has no error, or if its error has another cause.

    Raises:
        DataError: the record of the stop is damaged.
    """
    if not record.error:
        return None
    stop_record = _kept_record(record)
    if stop_record is None:
        return _reason_in_message(record.error.message)
    cannot_judge = stop_record.code is not None
    is_played_by_host = isinstance(record, EvalLog) and PLAYED_FOR in (record.eval.metadata or {})
    is_whole = isinstance(record, EvalLog) and not cannot_judge and not is_played_by_host
    how_to_resume = HOW_TO_RESUME if is_whole else ""
    return StopReason(text=stop_record.to_text(), cannot_judge=cannot_judge, resuming=how_to_resume)


def write_stop(log: EvalLog, record_of_sample: Mapping[str, Any]) -> None:
    """Write the record that a sample of a stopped run has into the header of the log, in place.

    Args:
        log: the log, whose metadata are changed, too.
        record_of_sample: the record in the store of the sample.
    """
    from podium.hosts.inspect_ai.logs.ranking_in_log import write_header

    record = {**record_of_sample, "eval_id": log.eval.eval_id}
    log.eval.metadata = {**(log.eval.metadata or {}), STOP: record}
    place = place_of(log.location)
    path = local_file(place)
    header = read_eval_log(str(path), header_only=True)
    header.eval.metadata = log.eval.metadata
    write_header(place, path, header)


def _kept_record(record: EvalLog | EvalSample) -> StopRecord | None:
    """Return the record in the metadata of a log, or in the store of a sample; None if it has none.

    A record that another eval has left in the metadata is not one of this log.

    Raises:
        DataError: the record is damaged.
    """
    if isinstance(record, EvalLog):
        entry = (record.eval.metadata or {}).get(STOP)
        is_own = isinstance(entry, Mapping) and entry.get("eval_id") == record.eval.eval_id
        return StopRecord.parse(entry) if is_own else None
    entry = record.store.get(STOP)
    return StopRecord.parse(entry) if isinstance(entry, Mapping) else None


def _reason_in_message(message: str) -> StopReason | None:
    """Return the reason in an error message of a log without a record; None if there is none.

    Such a log was written by an earlier version, or its process was killed. Options are written as
    they were typed where the log was made.
    """
    if STOP_MESSAGE not in message:
        return None
    whole = message[message.index(STOP_MESSAGE) :].rstrip("\"')")
    text = whole.removesuffix(HOW_TO_RESUME)
    cannot_judge = text.startswith(f"{STOP_MESSAGE}{CANNOT_JUDGE}")
    return StopReason(text=text, cannot_judge=cannot_judge, resuming=whole[len(text) :])
