"""Logs of tasks that have no scorer: nothing ranks their models but a judge."""

from collections.abc import Collection, Sequence
from pathlib import Path

from podium.data.formats.run_folders import FiledRun
from podium.errors import DataError
from podium.hosts.inspect_ai.logs.podium_entries import is_tournament
from podium.hosts.inspect_ai.logs.stored_samples import first_samples
from podium.notices.notice import Notice, select_codes, split_remedies
from podium.notices.notice_text import notice_texts
from podium.notices.option_forms import judging_command
from podium.wording import join_names, quantity, some, word_for

WITHOUT_SCORER = "tasks-without-scorer"
"""Code of the note on tasks that have no scorer."""


FIRST_SAMPLES = 5
"""Number of samples in which scores are looked for."""


class UnscoredTaskError(DataError):
    """A log is of a task that has no scorer, so that it has no score to rank by."""


def unscored_task_error(path: Path, task: str) -> UnscoredTaskError:
    """Return the error for a log of a task that has no scorer."""
    remedy = f"let a judge compare the responses of its models: `{judge_command([path])}`"
    return UnscoredTaskError(no_scorer_problem([task]), remedy=remedy)


def no_scorer_problem(tasks: Sequence[str]) -> str:
    """Return the statement that tasks, one or more, have no scorer."""
    noun = word_for(len(tasks), "task", "tasks")
    verb = word_for(len(tasks), "has", "have")
    return f"the {noun} {join_names(tasks)} {verb} no scorer"


def judge_command(paths: Collection[Path]) -> str:
    """Return the command that lets a judge compare the responses in logs.

    Logs of one task in one folder, with the names that Inspect gives them, are named together.
    """
    return judging_command(dict.fromkeys(_logs_like(path) for path in sorted(paths)))


def _logs_like(path: Path) -> str:
    """Return a glob for the logs of the same task in the same folder, by the name of a log.

    If the name has not the form that Inspect gives it (DATE_TASK_ID), the path itself is
    returned.
    """
    # Inspect names logs DATE_TASK_ID.eval.
    parts = path.stem.split("_")
    if len(parts) != 3:
        return str(path)
    _, task, _ = parts
    return str(path.with_name(f"*_{task}_*{path.suffix}"))


def leave_out_unscored_tasks(
    runs: Sequence[FiledRun],
) -> tuple[list[FiledRun], list[Notice]]:
    """Leave out the logs of tasks of which no log has a scorer.

    Returns:
        The other logs, and a note on the tasks; no note if each task has a scorer.
    """
    scored = {run.header.eval.task for run in runs if _has_scorer(run)}
    scored_runs = [run for run in runs if run.header.eval.task in scored]
    alone = [run for run in runs if run.header.eval.task not in scored]
    if not alone:
        return scored_runs, []
    fields = {
        "tasks": sorted({run.header.eval.task for run in alone}),
        "logs": len(alone),
        "command": judge_command([run.path for run in alone]),
    }
    return scored_runs, [Notice(WITHOUT_SCORER, fields)]


def _has_scorer(run: FiledRun) -> bool:
    """Return whether a log has scores, or its task has a scorer. True for a tournament.

    Scores are looked for in the results and the first samples. True also for a log whose samples
    cannot be read.
    """
    header = run.header
    is_scored = bool(header.results and header.results.scores)
    if header.eval.scorers or is_scored or is_tournament(header):
        return True
    # A log that older versions of Inspect wrote may have scores of samples alone. A log that cannot
    # be read is kept, so that its error is told.
    try:
        samples = first_samples(run.path, FIRST_SAMPLES, frozenset({"scores"}))
    except DataError:
        return True
    return any(sample.get("scores") for sample in samples)


def note_on_unscored_log(path: Path, error: UnscoredTaskError) -> Notice:
    """Return the note that a log is left out, because it has no scores and its task has some."""
    why = f"{path}: {error.problem}, and other logs of the task have scores"
    return Notice("left-out", {"why": why, "remedy": ""})


def nothing_to_rank_error(logs: int, lost: Sequence[Notice], notes: Sequence[Notice]) -> DataError:
    """Return the error for logs of which none can be ranked, with one remedy for all.

    Args:
        logs: number of the logs given.
        lost: notes on logs that cannot be used.
        notes: other notes; that on tasks without a scorer gives a reason.
    """
    bare, remedies = split_remedies(lost)
    reasons = [*notice_texts(bare)]
    for note in select_codes(notes, [WITHOUT_SCORER]):
        reasons.append(no_scorer_problem(note.fields["tasks"]))
        remedies.append(f"let a judge compare the responses: `{note.fields['command']}`")
    if lost and not remedies:
        remedies = ["run what failed again with `inspect eval-retry`, or give other logs"]
        if len(select_codes(lost, ["scores-are-lists"])) == len(lost):
            remedies = ["score the logs again with `inspect score`, or give other logs"]
    problem = f"nothing to rank in {quantity(logs, 'log')}: {some(reasons, '; ', most=5)}"
    return DataError(problem, remedy="; ".join(remedies))
