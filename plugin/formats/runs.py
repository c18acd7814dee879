"""Which run a file is of: attempts of one evaluation, and runs of one question, told apart here for all readers."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from podium.text import some


@dataclass(frozen=True, slots=True)
class FiledRun:
    """One file's place among the runs.

    Attributes:
        path: the file.
        who, what: for humans: a model and its task, or a tournament and what it was played on.
        question: what was asked: runs that share it are repeats. Of a model it is its name and task; of a tournament a
            digest of models, prompts, responses, judge and settings, with the shard where it has one.
        time: when it began or was saved; later ones sort after earlier ones.
        evaluation: an id that all attempts of one evaluation share; empty where nothing says it.
        whole: whether it ended as it should.
        done: what was done of it, as far as it was counted.
        header: what the file says of itself, where its reader keeps that.
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


class ChosenRuns(NamedTuple):
    """What counts.

    Attributes:
        runs: those of a question together, the oldest first.
        failed: runs of which nothing is there.
        notes: of those that are left out.
    """

    runs: list[FiledRun]
    failed: list[FiledRun]
    notes: list[str]


def choose_runs(runs: Iterable[FiledRun], *, every: bool = False) -> ChosenRuns:
    """Choose the runs that count: of attempts and of repeats the newest whole one, or every repeat.

    Where none ended as it should, the one that came furthest counts.
    """
    attempts: dict[Hashable, list[FiledRun]] = {}
    for run in sorted(runs, key=lambda run: (run.who, run.what, run.time, str(run.path))):
        attempts.setdefault((run.question, run.evaluation) if run.evaluation else run.path, []).append(run)
    questions: dict[Hashable, list[FiledRun]] = {}
    failed, notes = [], []
    for tries in attempts.values():
        best = max(tries, key=_worth)
        if len(tries) > 1:
            why = f"{len(tries)} attempts of {best.who} on {best.what}"
            notes.append(f"{why}: {_left_out('the newest whole one', best, tries)}")
        if best.whole or best.done:
            questions.setdefault(best.question, []).append(best)
        else:
            failed.append(best)
    kept: list[FiledRun] = []
    for repeats in questions.values():
        newest = max(repeats, key=_worth)
        kept += repeats if every else [newest]
        if len(repeats) > 1 and not every:
            many = f"{newest.who} was run {len(repeats)} times on {newest.what}"
            notes.append(f"{many}: {_left_out('the newest', newest, repeats)}")
    return ChosenRuns(kept, failed, notes)


def _worth(run: FiledRun) -> tuple[bool, int, str]:
    return run.whole, 0 if run.whole else run.done, run.time


def _left_out(which: str, chosen: FiledRun, runs: Sequence[FiledRun]) -> str:
    others = some([run.path for run in runs if run is not chosen], most=3)
    return f"{which} counts ({chosen.path}), not {others}"
