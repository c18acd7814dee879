"""Choose the runs that count among attempts of one evaluation, and repeats of one question."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podium.notices.notice import Notice


@dataclass(frozen=True, slots=True)
class FiledRun:
    """The run that a file records.

    Attributes:
        path: the file.
        who: the model, or what else ran.
        what: the task.
        question: what the run is of; runs of one question are repeats.
        time: when it was made; later texts sort behind earlier ones.
        evaluation: the evaluation; runs of one evaluation are attempts. Empty if unknown.
        whole: whether it ended normally.
        done: number of finished samples, if it did not.
        header: what the reader of the file keeps of it.
    """

    path: Path
    who: str
    what: str
    question: Hashable
    time: str
    evaluation: str = ""
    whole: bool = True
    done: int = 0
    header: Any = field(default=None, compare=False, repr=False)


def choose_runs(
    runs: Iterable[FiledRun], *, every: bool = False
) -> tuple[list[FiledRun], list[FiledRun], list[Notice]]:
    """Choose the newest complete run, else the fullest, of attempts and of repeats.

    Args:
        runs: the runs.
        every: choose all repeats of a question.

    Returns:
        the chosen runs, those of a question together, oldest first; evaluations without a finished
        sample; and notes on the runs left out.
    """
    attempts: dict[Hashable, list[FiledRun]] = {}
    for run in sorted(runs, key=lambda run: (run.who, run.what, run.time, str(run.path))):
        evaluation = (run.question, run.evaluation) if run.evaluation else run.path
        attempts.setdefault(evaluation, []).append(run)
    questions: dict[Hashable, list[FiledRun]] = {}
    failed = []
    notes = []
    for tries in attempts.values():
        best = max(tries, key=_preference)
        if len(tries) > 1:
            notes.append(_note_left_out("attempts", best, tries))
        if best.whole or best.done:
            questions.setdefault(best.question, []).append(best)
        else:
            failed.append(best)
    kept: list[FiledRun] = []
    for repeats in questions.values():
        if every:
            kept += repeats
            continue
        newest = max(repeats, key=_preference)
        kept.append(newest)
        if len(repeats) > 1:
            notes.append(_note_left_out("runs-repeated", newest, repeats))
    return kept, failed, notes


def _preference(run: FiledRun) -> tuple[bool, int, str]:
    """Return the sort key of runs: complete ones last, then by finished samples, then by time."""
    return run.whole, 0 if run.whole else run.done, run.time


def _note_left_out(code: str, chosen: FiledRun, runs: Sequence[FiledRun]) -> Notice:
    """Return the note on which run counts and which ones do not."""
    fields = {
        "who": chosen.who,
        "what": chosen.what,
        "runs": len(runs),
        "chosen": str(chosen.path),
        "others": [str(run.path) for run in runs if run is not chosen],
    }
    return Notice(code, fields)
