"""Which logs of a folder count: a run's newest whole attempt, and of runs of one question the newest, or all."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
from inspect_ai.log import EvalLog, read_eval_log_sample_summaries

from podium.errors import DataError, UsageError
from podium.formats.files import find_files, local_files
from podium.formats.runs import FiledRun, choose_runs
from podium.hookspecs import GatheredBattles, Reading
from podium.hosts.inspect_ai.compatibility import flatten_arguments
from podium.hosts.inspect_ai.log_contents import MODELS, RESPONSE, TASKS, is_beside_logs, is_log, is_tournament
from podium.hosts.inspect_ai.logs import log_rows, read_by_inspect
from podium.hosts.inspect_ai.shard_logs import digest_of, join_shards, plan_in
from podium.text import some


def choose_logs(
    labels: Mapping[Path, str | None], *, every: bool = False
) -> tuple[list[FiledRun], list[str], list[str]]:
    """Choose among logs; the only one counts whatever became of it.

    Args:
        labels: of each log what to call its model, or None.
        every: whether all runs of a question count, as repeats.

    Returns:
        The logs that count, notes of those that do not, and what failed or could not be read.

    Raises:
        DataError: the only log is not whole.
        UsageError: `every`, and runs of a model differ in their settings.
    """
    runs, lost = [], []
    for path, label in labels.items():
        try:
            runs.append(run_of(path, read_by_inspect(path, header_only=True), label))
        except DataError as error:
            if len(labels) == 1:
                raise
            lost.append(f"left out: {error}")
    if len(labels) == 1:
        return runs, [], []
    chosen = choose_runs(runs, every=every)
    cut = [run for run in chosen.runs if not run.whole]
    notes = [f"{run.path}: the run ended with status {run.header.status}; what is there counts" for run in cut]
    there = [run for run in runs if run not in chosen.failed]
    notes = [*chosen.notes, *notes, *_other_settings(there, every)]
    return chosen.runs, notes, [*lost, *map(_failure, chosen.failed)]


def find_logs(sources: Iterable[str]) -> list[FiledRun]:
    """Return the logs that count of those that files, folders or globs hold; errors as of `choose_logs`."""
    places = [local_files(find_files(source, (".eval",)), ("*.eval", "*.json")) for source in sources]
    paths = {path: None for place in places for path in place.paths if not is_beside_logs(path) and is_log(path)}
    return choose_logs(paths)[0]


def _failure(run: FiledRun) -> str:
    said = run.header.error.message.strip().splitlines() if run.header.error else []
    why = f" ({said[-1]})" if said else ""
    failed = f"left out: {run.path}: no sample of it ended well, its status is {run.header.status}{why}"
    return f"{failed}; `inspect eval-retry` runs it again"


def run_of(path: Path, log: EvalLog, label: str | None = None) -> FiledRun:
    """Return which run a log is of.

    Args:
        label: what to call its model.
    """
    spec, whole = log.eval, log.status == "success"
    done = 0
    if not whole:
        with suppress(ValueError, KeyError, OSError):
            done = sum(each.completed and not each.error for each in read_eval_log_sample_summaries(str(path)))
    common: dict[str, Any] = {"time": _when(path, log), "evaluation": spec.task_id, "whole": whole, "done": done}
    common["header"] = log
    if not is_tournament(log):
        model = label or spec.model
        return FiledRun(path, model, spec.task, (model, spec.task), **common)
    cut = [spec.config.limit, spec.config.sample_id, spec.config.epochs]
    arguments = flatten_arguments(spec.task_args)
    question = (digest_of({**plan_in(log), "cut": cut}), str(arguments.get("shard")))
    return FiledRun(path, f"the tournament {spec.task}", "the same responses", question, **common)


def _when(path: Path, log: EvalLog) -> str:
    """Return what sorts a log after those before it: Inspect notes whole seconds, so that the file decides a draw."""
    saved = path.stat().st_mtime_ns if path.exists() else 0
    return f"{log.eval.created} {log.stats.completed_at} {saved:020}"


def _other_settings(runs: Iterable[FiledRun], every: bool) -> list[str]:
    """Say where runs of one model and task differ in more than their time."""
    groups: dict[Any, list[FiledRun]] = {}
    for run in runs:
        groups.setdefault(run.question, []).append(run)
    notes = []
    for group in groups.values():
        settings = [_settings_of(run.header) for run in group]
        every_name = {name for own in settings for name in own}
        names = sorted(name for name in every_name if len({own.get(name) for own in settings}) > 1)
        if not names or is_tournament(group[0].header):
            continue
        first, last = group[0], group[-1]
        short = first.who.rpartition("/")[2]
        said = f"runs of {first.who} on {first.what} differ in {some(names, most=5)}"
        remedy = f"labels make them models of their own ({short}-1={first.path} {short}-2={last.path})"
        if every:
            raise UsageError(f"{said}, so they are no repeats: {remedy}, or give the newest alone (--runs newest)")
        notes.append(f"{said}: {remedy}")
    return notes


def _settings_of(log: EvalLog) -> dict[str, Any]:
    """Return what makes two runs of a model on a task differ."""
    spec = log.eval
    generation = log.plan.config.model_dump(exclude_none=True)
    settings = {**spec.task_args, **(spec.model_args or {}), **generation, **(spec.solver_args or {})}
    settings |= {"solver": spec.solver, "version": spec.task_version, "limit": spec.config.limit}
    known = {name: value for name, value in settings.items() if value is not None}
    return {name: json.dumps(value, sort_keys=True, default=str) for name, value in known.items()}


def read_logs(labels: Mapping[Path, str | None], reading: Reading) -> GatheredBattles:
    """Return the rows of the logs that count; ids of several tasks are told apart by the task.

    Raises:
        DataError: there is nothing to rank in any of them.
        UsageError: runs that are asked for as repeats are none.
    """
    logs, notes, lost = choose_logs(labels, every=reading.all_runs)
    frames = []
    repeats: Counter[Any] = Counter()
    for log in logs:
        try:
            frame = log_rows(log.path)
        except DataError as error:
            if len(labels) == 1:
                raise
            lost.append(f"left out: {error}")
            continue
        if frame.empty:
            frames.append((log, frame))
            continue
        kept = {name: frame.attrs.get(name) for name in ("missing", "answer")}
        notes += _notes_of_missing(log, frame.attrs.get("unplayed", 0), frame.attrs.get("unshown", ()))
        if reading.all_runs:
            # A tournament that is played again asks the judge again; a model that is run again answers again.
            column = "repeat" if is_tournament(log.header) else RESPONSE
            own = int(frame[column].max() - frame[column].min()) + 1
            frame[column] += repeats[log.question]
            repeats[log.question] += own
        frame = _name_task(frame, log.header, labels[log.path])
        frame.attrs = kept
        frames.append((log, frame))
    notes += join_shards([(log.path, log.header, frame) for log, frame in frames])
    silent = [log.path for log, frame in frames if frame.empty]
    lost += [f"left out: {path}: its shard has no battle; give the logs of the other shards" for path in silent]
    frames = [(log, frame) for log, frame in frames if not frame.empty]
    if not frames:
        raise DataError(
            f"nothing to rank in {len(labels)} logs: {some(lost, '; ', most=5)}",
            remedy="run what failed again with `inspect eval-retry`, or give other logs",
        )
    notes += _note_of_absent(frames)
    prefix_of = task_prefixes([log for log, _ in frames])
    for log, frame in frames:
        if prefix_of[log.path]:
            frame["item"] = prefix_of[log.path] + frame["item"]
    sheets = tuple((str(log.path), frame) for log, frame in frames)
    return GatheredBattles(sheets, frozenset(labels), tuple(notes), tuple(lost), apart="task")


def _notes_of_missing(log: FiledRun, unplayed: int, refused: Sequence[str]) -> Iterator[str]:
    """Say what was not played of a tournament, and why; what the judge was not shown, and what it said to that."""
    config = log.header.eval.config
    options = {"--limit": config.limit, "--sample-id": config.sample_id, "--sample-shuffle": config.sample_shuffle}
    typed = [name for name, value in options.items() if value is not None]
    if unplayed:
        cut = f"{' and '.join(typed)} cut the schedule: -T limit=N plays N whole items"
        why = cut if typed else "the run did not end"
        yield f"{log.path}: {unplayed:,} battles were not played and are missing; {why}"
    if refused:
        why = f"the judge was not shown their images, audio or files ({refused[0]!r})"
        yield f"{log.path}: {len(refused):,} battles are missing: {why}; take a judge that sees what the models saw"


def _note_of_absent(frames: Iterable[tuple[FiledRun, pd.DataFrame]]) -> Iterator[str]:
    """Name the models of tournaments of whom no battle is there: a ranking would pass them over in silence."""
    played = [(log, frame) for log, frame in frames if is_tournament(log.header)]
    models = {name for log, _ in played for name in (log.header.eval.metadata or {})[MODELS]}
    absent = sorted(models - {name for _, frame in played for side in ("model_a", "model_b") for name in frame[side]})
    if absent:
        yield f"no battle of {some(absent, most=5)} is there: no ranking of these logs has them"


def tasks_of(log: EvalLog) -> list[str]:
    """Return the tasks that a log's items are of; of a tournament those of its responses, where they are known."""
    return list((log.eval.metadata or {}).get(TASKS, [])) if is_tournament(log) else [log.eval.task]


def task_prefixes(logs: Sequence[FiledRun]) -> dict[Path, str]:
    """Return what stands before a log's ids: the name of its task, where the logs are of several; else nothing."""
    tasks = {log.path: tasks_of(log.header) for log in logs}
    several = len({task for own in tasks.values() for task in own}) > 1
    return {path: f"{own[0]}:" if several and len(own) == 1 else "" for path, own in tasks.items()}


def _name_task(frame: pd.DataFrame, log: EvalLog, label: str | None) -> pd.DataFrame:
    """Say the task; the label is the name of the model, or of the tournament's source."""
    if not is_tournament(log):
        return frame.assign(task=log.eval.task, **({"model": label} if label else {}))
    tasks = tasks_of(log)
    of = f"tournament of {', '.join(tasks)}" if tasks else "tournament"
    return frame.assign(task=of, **({"source": label} if label else {}))


def choose_files(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Return the logs to read responses from, and notes of the others."""
    logs, notes, lost = choose_logs({path: None for path in paths if not is_beside_logs(path)})
    # Beside ordinary evals a tournament has nothing to add: what is judged in it are their responses.
    ordinary = [log for log in logs if not is_tournament(log.header)]
    return [log.path for log in ordinary or logs], [*lost, *notes]
