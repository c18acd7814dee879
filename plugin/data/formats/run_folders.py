"""Choose the runs that count.

Attempts are runs of one evaluation, such as a run that failed and the run that resumed it. Repeats
are complete runs of one question: for example, of one model on one task.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from podium.errors import RepeatedRuns
from podium.notices.notice import Notice
from podium.wording import quantity

CODES_ON_TASKS = {"attempts": "attempts-on-tasks", "runs-repeated": "runs-repeated-on-tasks"}
"""By the code of a note on one task of a model: the code of a note on several tasks."""


@dataclass(frozen=True, slots=True)
class FiledRun:
    """The run that a file records.

    Attributes:
        path: the file.
        who: the model, or another name of what was run, for messages.
        what: the task, for messages.
        question: key of what was asked, such as model and task. Runs with the same key are repeats.
        time: time of the run, as a text whose order is the order of time.
        evaluation: id of the evaluation; runs with the same id are attempts. Empty if unknown.
        whole: whether the run ended normally.
        done: number of finished samples, if the run did not end normally.
        cut_to: number of items that were asked, if the user limited the run to a part of the data
            (`--limit`); None if all were asked, or if it is unknown.
        header: any object that the reader of the file needs later.
    """

    path: Path
    who: str
    what: str
    question: Hashable
    time: str
    evaluation: str = ""
    whole: bool = True
    done: int = 0
    cut_to: int | None = None
    header: Any = field(default=None, compare=False, repr=False)


def choose_runs(
    runs: Iterable[FiledRun], *, every: bool = False, preferred: Collection[Path] = ()
) -> tuple[list[FiledRun], list[FiledRun], list[Notice]]:
    """Choose one run among the attempts of each evaluation, and one among the repeats.

    The newest complete run is chosen. If no run is complete, it is the one with most finished
    samples. A run on a part of the data does not displace one on more items. A run without the id
    of an evaluation is an evaluation of its own.

    Args:
        runs: the runs.
        every: whether to keep all repeats of a question, one attempt each.
        preferred: paths of complete runs that are chosen before others, on however many items.

    Returns:
        The chosen runs, grouped by question and then ordered by time; one run of each evaluation
        without a finished sample; and notes on the runs that are left out.
    """
    attempts: dict[Hashable, list[FiledRun]] = {}
    for run in sorted(runs, key=lambda run: (run.who, run.what, run.time, str(run.path))):
        evaluation = (run.question, run.evaluation) if run.evaluation else run.path
        attempts.setdefault(evaluation, []).append(run)
    questions: dict[Hashable, list[FiledRun]] = {}
    failed = []
    notes = []
    for runs_of_evaluation in attempts.values():
        chosen_run = max(runs_of_evaluation, key=_preference)
        if len(runs_of_evaluation) > 1:
            notes.append(_note_left_out("attempts", chosen_run, runs_of_evaluation))
        if chosen_run.whole or chosen_run.done:
            questions.setdefault(chosen_run.question, []).append(chosen_run)
        else:
            failed.append(chosen_run)
    kept_runs: list[FiledRun] = []
    for repeats in questions.values():
        if every:
            kept_runs += repeats
            continue
        chosen_run = max(repeats, key=lambda run: _preference(run, preferred))
        kept_runs.append(chosen_run)
        if len(repeats) > 1:
            notes.append(_note_left_out("runs-repeated", chosen_run, repeats))
    return kept_runs, failed, _join_notes(notes)


def _join_notes(notes: Sequence[Notice]) -> list[Notice]:
    """Return the notes on left-out runs, with one note on all tasks of a model.

    A model that was run several times on 57 tasks would have 57 notes. Notes are joined only if
    they have one code, and say that the same kind of run counts. The joined note has its code of
    `CODES_ON_TASKS`, and names the runs of the first task only.

    Args:
        notes: the notes, each on one task of a model.
    """
    by_model: dict[tuple[str, str, str], list[Notice]] = {}
    for note in notes:
        same = (note.code, note.fields["who"], note.fields["which"])
        by_model.setdefault(same, []).append(note)
    joined = []
    for (code, _, _), notes_of_model in by_model.items():
        first = notes_of_model[0]
        if len(notes_of_model) > 1:
            tasks = [note.fields["what"] for note in notes_of_model]
            first = Notice(CODES_ON_TASKS[code], {**first.fields, "tasks": tasks})
        joined.append(first)
    return joined


def _preference(
    run: FiledRun, preferred: Collection[Path] = ()
) -> tuple[bool, int, bool, float, str]:
    """Return a key by which the run to choose is the largest.

    Complete runs come first, then runs with more finished samples, then those in `preferred`, then
    runs on more items, then newer runs. Two runs on all data may have different numbers of items,
    because the data changed: the newer one is preferred.
    """
    finished_samples = 0 if run.whole else run.done
    items = inf if run.cut_to is None else run.cut_to
    return run.whole, finished_samples, run.path in preferred, items, run.time


def find_repeats(notes: Iterable[Notice]) -> RepeatedRuns | None:
    """Return two runs of the first model that was run several times.

    Attempts of one evaluation do not count as several runs. The two are its newest run, and the run
    that counts. If the newest run counts, the other one is the run before it.

    Args:
        notes: notes of `choose_runs`, and others.

    Returns:
        The runs; None if there is no such model.
    """
    for note in notes:
        if note.code in ("runs-repeated", CODES_ON_TASKS["runs-repeated"]):
            fields = note.fields
            newest = fields["newest"]
            is_newest_chosen = fields["chosen"] == newest
            earlier = fields["others"][-1] if is_newest_chosen else fields["chosen"]
            return RepeatedRuns(fields["who"], earlier, newest)
    return None


def _which_counts(chosen_run: FiledRun, newest: FiledRun) -> str:
    """Return a phrase that says which run counts, for notes, such as `the newest`.

    If the newest run does not count, the phrase gives the reason (`_preference`).
    """
    if chosen_run is newest:
        return "the newest"
    if chosen_run.whole and not newest.whole:
        return "one that finished"
    if not chosen_run.whole:
        return "the one with the most finished samples"
    if newest.cut_to is None:
        return "the one that was just made"
    has_more_items = chosen_run.cut_to is None or chosen_run.cut_to > newest.cut_to
    if not has_more_items:
        return "the one that was just made"
    items = "all items" if chosen_run.cut_to is None else quantity(chosen_run.cut_to, "item")
    return f"the one on {items} (the newest has {newest.cut_to:,})"


def _note_left_out(code: str, chosen_run: FiledRun, runs: Sequence[FiledRun]) -> Notice:
    """Return the note that says which run counts and which runs do not.

    Args:
        code: code of the note: `attempts` or `runs-repeated`.
        chosen_run: the run that counts.
        runs: all runs, with the chosen one.
    """
    newest = max(runs, key=lambda run: run.time)
    others = sorted(runs, key=lambda run: run.time)
    fields = {
        "who": chosen_run.who,
        "what": chosen_run.what,
        "runs": len(runs),
        "which": _which_counts(chosen_run, newest),
        "chosen": str(chosen_run.path),
        "newest": str(newest.path),
        "others": [str(run.path) for run in others if run is not chosen_run],
    }
    return Notice(code, fields)
