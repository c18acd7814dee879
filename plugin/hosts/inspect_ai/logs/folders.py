"""Choose the logs that count, read their rows, and find missing shards of a tournament.

Of the attempts of one run, the newest complete one counts. Of the runs of one question (one model
on one task with one set of settings, or one tournament), the newest counts. A shard is a part of a
tournament that one process plays.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from inspect_ai.log import EvalLog
from pydantic_core import to_jsonable_python

from podium.check_kinds import CHECKS
from podium.comparability.asked_items import AskedRun
from podium.comparability.joined_names import note_names_joined
from podium.comparability.questions import PairedTasks, pair_tasks
from podium.comparability.run_settings import name_runs, notes_on_labels
from podium.comparability.targets_of_runs import split_by_targets
from podium.data.asked_judges import notes_on_answers, notes_on_refused
from podium.data.formats.archives import archives_kept_open
from podium.data.formats.files import find_files, local_files
from podium.data.formats.headline_metrics import metrics_asked_for
from podium.data.formats.run_folders import FiledRun, choose_runs
from podium.data.stopped_judges import CANNOT_JUDGE
from podium.data.tasks_of_items import TaskFacts, task_of_item
from podium.errors import DataError, OtherQuestionError
from podium.garbage_collection import garbage_collection_paused
from podium.hookspecs import GatheredBattles, Reading
from podium.hosts.inspect_ai.inspect_ai_compatibility import flatten_arguments
from podium.hosts.inspect_ai.logs.asked_inputs import AskedInputs
from podium.hosts.inspect_ai.logs.eval_scores import LeftOut, cluster_of_log
from podium.hosts.inspect_ai.logs.failed_models import count_failed_models
from podium.hosts.inspect_ai.logs.judged_runs import judged_runs, task_of_tournament
from podium.hosts.inspect_ai.logs.judgment_rows import log_rows
from podium.hosts.inspect_ai.logs.log_files import is_beside_logs, is_log
from podium.hosts.inspect_ai.logs.missing_by_task import tasks_of_tournament
from podium.hosts.inspect_ai.logs.podium_entries import (
    TournamentMetadata,
    is_tournament,
    read_tournament,
)
from podium.hosts.inspect_ai.logs.prompts_in_inputs import describe_added_texts
from podium.hosts.inspect_ai.logs.run_records import run_in_log
from podium.hosts.inspect_ai.logs.scored_runs import (
    ScoredRun,
    accept_reductions,
    notes_on_left_out,
    notes_on_lists,
    notes_on_means,
    notes_on_reductions,
    select_metrics,
    unequal_estimates,
)
from podium.hosts.inspect_ai.logs.stop_reasons import reason_of_stop
from podium.hosts.inspect_ai.logs.stored_samples import read_by_inspect, summaries_of
from podium.hosts.inspect_ai.logs.unscored_tasks import (
    UnscoredTaskError,
    leave_out_unscored_tasks,
    note_on_unscored_log,
    nothing_to_rank_error,
)
from podium.hosts.inspect_ai.logs.verdicts_or_scores import (
    CountedRows,
    RowsOfLog,
    choose_verdicts_or_scores,
)
from podium.names import joined_name
from podium.notices.notice import Notice, note_of_error
from podium.responses.response_files import ChosenLogs, UnansweredRun
from podium.run_record import RunRecord
from podium.scorers.judge_names import short_judge_names
from podium.wording import some

NO_MATTER = frozenset({"name", "responses", "cache", "pack", "reask", "shard", "allow"})
"""Arguments of a tournament that `plan_in` leaves out.

They change neither battles nor verdicts, or the plan holds them in another field.
"""


CARRIED_KEYS = (
    "missing",
    "missing_by_task",
    "answer",
    "ladder",
    "judges",
    "measures",
    "cluster",
    "one_sided",
)
"""Keys in `attrs` of a log's rows that are passed on to the reader of battles."""
LogFrame = tuple[FiledRun, pd.DataFrame]
"""A log and its rows."""


class CountedLogs(NamedTuple):
    """The logs that count.

    Attributes:
        logs: these logs.
        records: the settings of the ordinary evals among them, by path.
        notes: notes on the other logs, and on those that are not whole.
        lost: notes on logs that cannot be used.
        failed: the logs without a finished sample.
    """

    logs: list[FiledRun]
    records: Mapping[Path, RunRecord]
    notes: list[Notice]
    lost: list[Notice]
    failed: Sequence[FiledRun] = ()


class ReadLogs(NamedTuple):
    """The rows that count, of several logs.

    Attributes:
        frames: pairs of a log and its rows.
        evals: the ordinary evals whose scores count, with how their epochs were reduced.
        runs: the settings of these evals.
        inputs: what the samples of all ordinary evals asked.
    """

    frames: list[LogFrame]
    evals: list[ScoredRun]
    runs: list[RunRecord]
    inputs: AskedInputs


class PlannedLog(NamedTuple):
    """A tournament's log, with its metadata and rows."""

    run: FiledRun
    tournament: TournamentMetadata
    frame: pd.DataFrame


def plan_in(log: EvalLog, tournament: TournamentMetadata) -> dict[str, Any]:
    """Return what decides the battles and verdicts of a log's tournament, as plain values.

    The keys are `tournament`, `responses`, `prompts`, `judges`, and `NAME=` for each argument of
    the task that is set and not in `NO_MATTER`. All shards of a tournament have the same plan.
    """
    spec = log.eval
    facts_of_plan = {
        "tournament": spec.task.rpartition("/")[2],
        "responses": str(spec.task_version),
        "prompts": tournament.prompts,
        "judges": spec.model_roles or {},
    }
    for name, value in flatten_arguments(spec.task_args).items():
        if name not in NO_MATTER and value is not None:
            facts_of_plan[f"{name}="] = value
    plain = json.dumps(
        facts_of_plan,
        default=lambda value: to_jsonable_python(value, exclude_none=True, fallback=str),
    )
    return dict(json.loads(plain))


def join_shards(logs: Sequence[LogFrame]) -> list[Notice]:
    """Count the battles of absent shards as missing, and return notes on these shards.

    The number is added to `missing` in `attrs` of the rows of each plan's first log. There is a
    note per plan with absent shards. Logs of ordinary evals are ignored.

    Raises:
        DataError: shards of one plan hold the same battles twice, or the shards are of different
            plans and some are absent.
    """
    plans: dict[str, list[PlannedLog]] = {}
    for run, frame in logs:
        tournament = read_tournament(run.header)
        if tournament is not None:
            plan = json.dumps(plan_in(run.header, tournament), sort_keys=True)
            plans.setdefault(plan, []).append(PlannedLog(run, tournament, frame))
    # The plans of which a log is a shard, as JSON, with their logs.
    divided = {}
    for plan, group in plans.items():
        if any(log.tournament.shard for log in group):
            divided[plan] = group
    notes = [*map(_count_missing_shards, divided.values())]
    if len(divided) > 1 and any(notes):
        first_plan, second_plan, *_ = divided
        names = _names_of_differing_values(json.loads(first_plan), json.loads(second_plan))
        first = divided[first_plan][0].run.path
        second = divided[second_plan][0].run.path
        problem = f"shards of different plans: {first} and {second} differ in {some(names)}"
        raise DataError(problem, remedy="give the shards of one plan, or all shards of each")
    return [note for note in notes if note]


def _names_of_differing_values(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the sorted keys whose values differ between two mappings, or that only one has."""
    return sorted(name for name in {*first, *second} if first.get(name) != second.get(name))


def _count_missing_shards(logs: Sequence[PlannedLog]) -> Notice | None:
    """Add the battles of shards without a log to `missing` in `attrs` of the first log's rows.

    Nothing is added if the logs are of the whole tournament, or if all shards have a log. If
    battles are added, `missing_by_task` becomes None: their tasks are not known.

    Args:
        logs: the logs of one plan.

    Returns:
        a note that names the shards without a log; None if there are none.

    Raises:
        DataError: some logs are of another number of shards, or of the whole tournament, so that
            the same battles would count twice.
    """
    # A log for each number of shards; 0 stands for the whole tournament.
    path_of: dict[int, Path] = {}
    for log in logs:
        number_of_shards = log.tournament.shard.of if log.tournament.shard else 0
        path_of[number_of_shards] = log.run.path
    if len(path_of) > 1:
        ways = []
        for of, path in path_of.items():
            what = f"one of {of} shards" if of else "the whole"
            ways.append(f"{path} ({what})")
        problem = f"the same battles would count twice: {' and '.join(ways)} are of one plan"
        raise DataError(problem, remedy="give the shards of one division, or the whole run alone")
    # Several runs of one shard, which count as repeats, are one entry here.
    headers = [log.tournament for log in logs]
    battles = {
        header.shard.number: header.scheduled + header.left_out
        for header in headers
        if header.shard
    }
    whole = headers[0].shard
    if whole is None:
        return None
    absent = [f"{k}/{whole.of}" for k in range(1, whole.of + 1) if k not in battles]
    if not absent:
        return None
    epochs = logs[0].run.header.eval.config.epochs or 1
    counts = logs[0].frame.attrs
    missing = max(whole.battles + whole.left_out - sum(battles.values()), 0) * epochs
    counts["missing"] = (counts.get("missing") or 0) + missing
    # The tasks of battles in shards without a log are not known.
    counts["missing_by_task"] = None
    return Notice("shards-missing", {"shards": absent, "battles": missing})


def choose_logs(
    labels: Mapping[Path, str | None],
    *,
    every: bool = False,
    names_joined: bool = False,
    first: Collection[Path] = (),
    by_scores: bool = False,
) -> CountedLogs:
    """Choose the logs that count. A single log always counts.

    Ordinary evals of one model that differ in a setting count as models of their own, whose names
    show the setting.

    Args:
        labels: paths of logs, and the label of each; None if it has no label.
        every: whether all runs of a question count, as repeats. If not, only the newest counts.
        names_joined: whether names of models that look the same are names of one model.
        first: finished logs that count before others of the same question.
        by_scores: whether logs of tasks without a scorer are left out. A single log is not.

    Raises:
        DataError: the only log given cannot be read.
    """
    runs, lost = _read_headers(labels, needed=labels if len(labels) == 1 else ())
    unscored: list[Notice] = []
    if by_scores and len(labels) > 1:
        runs, unscored = leave_out_unscored_tasks(runs)
    notes: list[Notice] = []
    if names_joined:
        runs, notes = _join_names_of_runs(runs)
    named_runs, records = _name_logs_by_settings(runs, labels)
    counted_logs = _choose_among(named_runs, every=every, is_single=(len(labels) == 1), first=first)
    labelled = {str(path) for path, label in labels.items() if label}
    notes += [*_notes_on_names(runs, named_runs), *notes_on_labels([*records.values()], labelled)]
    notes += [*counted_logs.notes, *unscored]
    if every:
        notes += _notes_on_limits(records)
    return CountedLogs(
        logs=counted_logs.logs,
        records=records,
        notes=notes,
        lost=[*lost, *counted_logs.lost],
        failed=counted_logs.failed,
    )


def _join_names_of_runs(runs: Sequence[FiledRun]) -> tuple[list[FiledRun], list[Notice]]:
    """Write the names of the models of ordinary evals as people see them (`joined_name`).

    Returns:
        The runs in the given order, those of tournaments unchanged; and a note on the names that
        became one.
    """
    joined = []
    names = []
    for run in runs:
        if not is_tournament(run.header):
            names.append(run.who)
            name = joined_name(run.who)
            run = replace(run, who=name, question=(name, run.what))
        joined.append(run)
    return joined, note_names_joined(names)


def _read_headers(
    labels: Mapping[Path, str | None], needed: Collection[Path]
) -> tuple[list[FiledRun], list[Notice]]:
    """Read the headers of logs.

    Args:
        labels: paths of logs, and the label of each; None if it has no label.
        needed: paths of the logs that must be readable.

    Returns:
        The runs in the given order, and notes on logs that cannot be read.

    Raises:
        DataError: a log in `needed` cannot be read.
    """
    runs: list[FiledRun] = []
    lost: list[Notice] = []
    for path, label in labels.items():
        try:
            runs.append(run_of(path, read_by_inspect(path, header_only=True), label))
        except DataError as error:
            if path in needed:
                raise
            lost.append(note_of_error(error, path))
    return runs, lost


def _choose_among(
    runs: Sequence[FiledRun], *, every: bool, is_single: bool, first: Collection[Path] = ()
) -> CountedLogs:
    """Choose the runs that count.

    Tournaments whose judge was stopped as unable to judge are left out beside others. A single log
    counts as it is, without notes. The field `records` of the result is empty.

    Args:
        runs: the runs.
        every: whether all runs of a question count. If not, only the newest counts.
        is_single: whether there is a single log, which always counts.
        first: paths of finished logs that count before others of the same question.
    """
    if is_single:
        return CountedLogs(logs=list(runs), records={}, notes=[], lost=[])
    runs, stopped = _without_stopped_judges(runs)
    chosen_runs, failed, notes = choose_runs(runs, every=every, preferred=first)
    for run in chosen_runs:
        if not run.whole:
            notes.append(Notice("run-cut", {"path": str(run.path), "status": run.header.status}))
    lost = stopped
    for run in failed:
        lines = run.header.error.message.strip().splitlines() if run.header.error else []
        status = f"{run.header.status} ({lines[-1]})" if lines else run.header.status
        lost.append(Notice("run-failed", {"path": str(run.path), "status": status}))
    return CountedLogs(logs=chosen_runs, records={}, notes=notes, lost=lost, failed=failed)


def _without_stopped_judges(runs: Sequence[FiledRun]) -> tuple[list[FiledRun], list[Notice]]:
    """Leave out tournaments whose judge was stopped as unable to judge, beside others.

    Returns:
        The other runs, and a note on each that was left out. All runs are returned, without notes,
        if no other tournament is left.
    """
    why_stopped: dict[Path, str] = {}
    for run in runs:
        why = reason_of_stop(run.header) if is_tournament(run.header) else None
        if why and why.cannot_judge:
            why_stopped[run.path] = str(why)
    others = [run for run in runs if run.path not in why_stopped]
    if not any(is_tournament(run.header) for run in others):
        return list(runs), []
    notes = [
        Notice("judge-stopped-beside", {"path": str(path), "why": why})
        for path, why in why_stopped.items()
    ]
    return others, notes


def _name_logs_by_settings(
    runs: Sequence[FiledRun], labels: Mapping[Path, str | None]
) -> tuple[list[FiledRun], dict[Path, RunRecord]]:
    """Give runs of one model that differ in settings names that show them; see `name_runs`.

    Args:
        runs: the runs. Those of tournaments keep their names.
        labels: paths of the logs, and the label of each; None if it has no label.

    Returns:
        The runs, of which those with other settings are of other questions; and the records of the
        ordinary evals, by path.
    """
    records = []
    for run in runs:
        # A run without a finished sample is left out, so its settings name no model.
        is_used = run.whole or run.done or len(runs) == 1
        if is_used and not is_tournament(run.header):
            records.append(run_in_log(run.path, run.header, run.who))
    labelled = {str(path) for path, label in labels.items() if label}
    records = describe_added_texts(records)
    named_records = {Path(record.source): record for record in name_runs(records, labelled)}
    return [_with_name(run, named_records.get(run.path)) for run in runs], named_records


def _notes_on_names(runs: Sequence[FiledRun], named_runs: Sequence[FiledRun]) -> list[Notice]:
    """Return a note on each model whose runs are named by their settings.

    Args:
        runs: the runs with the names of their models.
        named_runs: the same runs with their new names.
    """
    names: dict[str, set[str]] = {}
    for run, new in zip(runs, named_runs, strict=True):
        if new.who != run.who:
            names.setdefault(run.who, set()).add(new.who)
    return [
        Notice("settings-name-models", {"model": model, "names": sorted(model_labels)})
        for model, model_labels in names.items()
    ]


def _notes_on_limits(records: Mapping[Path, RunRecord]) -> list[Notice]:
    """Return a note on each model whose runs on a task were cut to different limits.

    A limit is the text of `--limit`, or `none`. The names of models in the records show settings
    that differ, so runs under one name have the same settings.

    Args:
        records: the records of ordinary evals by path.
    """
    limits: dict[tuple[str, str], dict[str, None]] = {}
    for run in records.values():
        limits.setdefault((run.model, run.task), {})[run.limit or "none"] = None
    notes = []
    for (model, task), limits_of_model in limits.items():
        if len(limits_of_model) > 1:
            fields = {"model": model, "task": task, "limits": sorted(limits_of_model)}
            notes.append(Notice("limits-differ", fields))
    return notes


def _with_name(run: FiledRun, record: RunRecord | None) -> FiledRun:
    """Return a run with the name of the model in its record; unchanged if it has no record."""
    if record is None:
        return run
    return replace(run, who=record.model, question=(record.model, run.what))


def find_logs(sources: Iterable[str]) -> CountedLogs:
    """Return the logs that count among those in files, folders or globs.

    Of several runs of one model with the same settings on one task, only the newest counts
    (`choose_logs`). Logs that cannot be read are in `lost` of the result.

    Raises:
        UsageError: a source cannot be found, or has no file of a log's suffix.
        DataError: there is a single log, and it cannot be read.
    """
    places = [
        local_files(find_files(source, (".eval",)), ("*.eval", "*.json")) for source in sources
    ]
    unlabelled: dict[Path, str | None] = {}
    for place in places:
        for path in place.paths:
            # Lists and rankings beside logs end with `.json`, too, and are no logs.
            if not is_beside_logs(path) and is_log(path):
                unlabelled[path] = None
    return choose_logs(unlabelled)


def choose_response_logs(sources: Sequence[Mapping[Path, str | None]]) -> ChosenLogs:
    """Return the logs of several sources to read responses from.

    Of each source, only the newest of several runs of one model with the same settings on one task
    is read. A single log of a source is always read. Models have the names that they
    have in a ranking of all sources. A tournament's log is read only if its source has no log of an
    ordinary eval.

    Raises:
        DataError: a log cannot be read, and its source has no other log.

    Args:
        sources: for each source, the paths of its logs, and the label of each.
    """
    asked_names = []
    for source in sources:
        asked_names.append(
            {path: label for path, label in source.items() if not is_beside_logs(path)}
        )
    labels = {path: label for source in asked_names for path, label in source.items()}
    needed: set[Path] = set()
    for source in asked_names:
        # A damaged log is an error if its source has no other log, and only noted if it has.
        if len(source) == 1:
            needed |= source.keys()
    runs, lost = _read_headers(labels, needed)
    runs, records = _name_logs_by_settings(runs, labels)
    names: dict[Path, str | None] = {}
    clusters: dict[Path, str | None] = {}
    notes = [*lost]
    unanswered: list[UnansweredRun] = []
    for source in asked_names:
        runs_of_source = [run for run in runs if run.path in source]
        counted_logs = _choose_among(runs_of_source, every=False, is_single=(len(source) == 1))
        evals = [run for run in counted_logs.logs if not is_tournament(run.header)]
        # Logs of tournaments count only in a source without other logs.
        for run in evals or counted_logs.logs:
            record = records.get(run.path)
            names[run.path] = record.model if record else source[run.path]
            clusters[run.path] = _cluster_of(run.header)
        notes += [*counted_logs.lost, *counted_logs.notes]
        for run in counted_logs.failed:
            if not is_tournament(run.header):
                reason = f"its log has status {run.header.status}"
                unanswered.append(UnansweredRun(model=run.who, task=run.what, reason=reason))
    return ChosenLogs(names, records, notes, clusters, unanswered)


def _cluster_of(log: EvalLog) -> str | None:
    """Return the column with the groups of a log's items; None if it has none.

    It is the key by which an eval clusters its own standard errors, or the column of a tournament.
    """
    tournament = read_tournament(log)
    return tournament.cluster if tournament else cluster_of_log(log)


def run_of(path: Path, log: EvalLog, label: str | None = None) -> FiledRun:
    """Return the run of a log: whose it is, which question it answers, and how much it holds.

    Args:
        path: the log.
        log: its header.
        label: name of the model, as the user gave it; None for the name in the log.

    Returns:
        The run. Its question is model and task of an ordinary eval; for a tournament, its plan with
        the cut of its samples (as JSON) and its shard.
    """
    spec = log.eval
    whole = log.status == "success"
    tournament = read_tournament(log)
    done = 0
    if not whole:
        with suppress(DataError):
            done = sum(each.completed and not each.error for each in summaries_of(path))
    who = label or spec.model
    what = spec.task
    question = (who, what)
    if tournament:
        who = f"the tournament {spec.task}"
        what = "the same responses"
        plan = plan_in(log, tournament)
        plan["cut"] = [spec.config.limit, spec.config.sample_id, spec.config.epochs]
        shard = str(flatten_arguments(spec.task_args).get("shard"))
        question = (json.dumps(plan, sort_keys=True), shard)
    cut_to = None if tournament else _samples_of_limit(log)
    # Inspect records whole seconds. Of logs of the same second, the later file is the newer one.
    saved = path.stat().st_mtime_ns if path.exists() else 0
    time = f"{spec.created} {log.stats.completed_at} {saved:020}"
    return FiledRun(
        path,
        who,
        what,
        question,
        time,
        spec.task_id,
        whole=whole,
        done=done,
        cut_to=cut_to,
        header=log,
    )


def _samples_of_limit(log: EvalLog) -> int | None:
    """Return the number of samples to which `--limit` or `--sample-id` cut an eval.

    None if all samples were asked, or if the log does not say how many there are.
    """
    dataset = log.eval.dataset
    if dataset.samples is None or dataset.sample_ids is None:
        return None
    asked_samples = len(dataset.sample_ids)
    return asked_samples if asked_samples < dataset.samples else None


@garbage_collection_paused()
@archives_kept_open()
def read_logs(labels: Mapping[Path, str | None], reading: Reading) -> GatheredBattles:
    """Read the rows of the logs that count.

    If the logs are of several tasks, ids of items begin with the task's name. There is one table
    per log, under the path of the log. Tasks are ranked separately (`apart`), unless all logs are
    of tournaments over the same several tasks.

    Args:
        labels: paths of logs, and the label of each; None if it has no label.
        reading: the user's options: which runs count, and which findings are accepted.

    Raises:
        DataError: no log has rows, or runs reduce their scores differently.
        OtherQuestionError: runs of a task share no input.
        UsageError: no log has a metric that is asked for, or verdicts and scores of one task are.
    """
    counted_logs = choose_logs(
        labels, every=reading.all_runs, names_joined=reading.names_joined, by_scores=True
    )
    notes, lost = counted_logs.notes, counted_logs.lost
    read = _read_rows_that_count(counted_logs, labels, reading)
    frames, evals = read.frames, read.evals
    paired, notes_on_targets = _pair_rows_of_logs(read, reading.allowed)
    notes += notes_on_targets
    if reading.all_runs:
        _number_repeats(frames)
    notes += join_shards(frames)
    empty = [log.path for log, frame in frames if frame.empty]
    lost += [Notice("empty-shard", {"path": str(path)}) for path in empty]
    frames = [(log, frame) for log, frame in frames if not frame.empty]
    if not frames:
        raise nothing_to_rank_error(len(labels), lost, notes)
    absent = _models_without_battles(frames)
    if absent:
        notes.append(Notice("models-absent", {"models": absent}))
    _name_tasks_in_items(frames)
    accepted = accept_reductions(evals, reading.allowed)
    notes += [*notes_on_reductions(evals), *notes_on_means(evals, frames)]
    chances = frozenset(unequal_estimates(evals))
    for _, frame in frames:
        frame.attrs["chances"] = chances
    sheets = tuple((str(log.path), frame) for log, frame in frames)
    runs_of_judges = judged_runs((log.header, str(frame["task"].iloc[0])) for log, frame in frames)
    is_joint = _name_tasks_of_tournament(frames)
    count_failed_models(frames, counted_logs.failed)
    return GatheredBattles(
        sheets=sheets,
        claimed=frozenset(labels),
        notes=tuple(notes),
        lost=tuple(lost),
        apart=None if is_joint else "task",
        accepted=(*paired.accepted, *accepted, *runs_of_judges.accepted),
        runs=(*read.runs, *runs_of_judges.runs),
        questions=(*paired.findings, *runs_of_judges.questions),
    )


def _read_rows_that_count(
    counted_logs: CountedLogs, labels: Mapping[Path, str | None], reading: Reading
) -> ReadLogs:
    """Read the logs, and return the rows that count: verdicts, or scores by the metrics asked for.

    Args:
        counted_logs: the logs. Notes on them are appended to its lists.
        labels: paths of all logs given, and the label of each; None if it has no label.
        reading: the user's options.

    Raises:
        DataError: the only log given cannot be read.
        OtherQuestionError: two epochs of a sample have different inputs.
        UsageError: no log has a metric that is asked for, or verdicts and scores of one task are.
    """
    logs, inputs = _read_each_log(counted_logs, labels, reading.cluster)
    counted_rows = choose_verdicts_or_scores(logs, reading)
    counted_logs.notes.extend(counted_rows.notes)
    counted_logs.lost.extend(counted_rows.lost)
    described = _describe_evals(counted_rows, inputs, counted_logs, labels)
    return _select_scores(described, reading, counted_logs, counted_rows)


def _read_each_log(
    counted_logs: CountedLogs, labels: Mapping[Path, str | None], cluster: str | None
) -> tuple[list[RowsOfLog], AskedInputs]:
    """Read the rows of each log, and the inputs of the ordinary evals.

    Args:
        counted_logs: the logs. Notes on them, and on those that cannot be read, are appended to its
            lists.
        labels: paths of all logs given, and the label of each; None if it has no label.
        cluster: the key of samples' metadata with the groups of items; None for the key by which
            the log's own standard errors are clustered.

    Raises:
        DataError: the only log given cannot be read.
        OtherQuestionError: two epochs of a sample have different inputs.
    """
    logs = []
    inputs = AskedInputs()
    for log in counted_logs.logs:
        try:
            rows = log_rows(log.path, inputs, cluster, log.header)
            if rows.verdicts is not None and not is_tournament(log.header):
                _name_model_of_log(rows.verdicts, log)
            logs.append(RowsOfLog(log, rows))
        except DataError as error:
            if len(labels) == 1 or isinstance(error, OtherQuestionError):
                raise
            if isinstance(error, UnscoredTaskError):
                counted_logs.lost.append(note_on_unscored_log(log.path, error))
            else:
                counted_logs.lost.append(note_of_error(error))
    return logs, inputs


def _describe_evals(
    counted_rows: CountedRows,
    inputs: AskedInputs,
    counted_logs: CountedLogs,
    labels: Mapping[Path, str | None],
) -> ReadLogs:
    """Return the rows that count, with the columns for task and name (`_with_task`).

    The lists `evals` and `runs` of the result are about the ordinary evals with scores.

    Args:
        counted_rows: the rows that count.
        inputs: what the samples of the ordinary evals asked.
        counted_logs: the logs. Notes on them are appended to its lists.
        labels: paths of all logs given, and the label of each; None if it has no label.
    """
    contents = ReadLogs(frames=[], evals=[], runs=[], inputs=inputs)
    for log, frame in counted_rows.frames:
        counted_logs.lost.extend(_notes_on_bad_judge(log))
        counted_logs.notes.extend(_notes_on_log(log, frame))
        name = labels[log.path]
        if "reduction" in frame.attrs:
            name = log.who
            left_out: LeftOut = frame.attrs["invalidated"]
            record = replace(counted_logs.records[log.path], invalidated=len(left_out.names))
            contents.evals.append(ScoredRun.of_frame(log, frame))
            contents.runs.append(record)
        contents.frames.append((log, _with_task(frame, log.header, name)))
    return contents


def _name_model_of_log(frame: pd.DataFrame, log: FiledRun) -> None:
    """Replace the name of an eval's own model in its verdicts by the name of its run, in place.

    The columns `model_a` and `model_b` are changed. Otherwise, runs of one model with different
    settings would be one model.
    """
    written_name = log.header.eval.model
    for column in ("model_a", "model_b"):
        if log.who != written_name and column in frame:
            frame[column] = frame[column].where(frame[column] != written_name, log.who)


def _select_scores(
    read: ReadLogs, reading: Reading, counted_logs: CountedLogs, counted_rows: CountedRows
) -> ReadLogs:
    """Return what was read, with only the scores by the metrics that count.

    Logs without a metric that counts are left out.

    Args:
        read: what was read.
        reading: says which metrics are asked for.
        counted_logs: the logs. A note on the metrics that do not count, and notes on the logs that
            are left out, are appended to its lists.
        counted_rows: the rows that count, and the scorers of verdicts, whose names may be asked
            for.

    Raises:
        UsageError: no log has a metric that is asked for.
    """
    measures = {
        measure for _, frame in read.frames for measure in frame.attrs.get("measures") or ()
    }
    asked_metrics = metrics_asked_for(reading)
    metrics, more = select_metrics(read.evals, measures, asked_metrics, counted_rows.judging)
    counted_logs.notes.extend(more)
    without = [*counted_rows.without, *(task for task, names in metrics.items() if not names)]
    if asked_metrics and without:
        counted_logs.notes.append(
            Notice("metric-of-no-run", {"tasks": without, "metrics": [*asked_metrics]})
        )
    counted_logs.lost.extend(notes_on_lists(read.evals))
    evals = []
    for scored in read.evals:
        figures = [figure for figure in scored.figures if figure.metric in metrics[scored.task]]
        if figures:
            evals.append(scored._replace(figures=figures))
        elif metrics[scored.task] and (scored.figures or not scored.scorers_of_lists):
            counted_logs.lost.append(_note_missing_metric(scored, metrics[scored.task]))
    paths_of_runs = {scored.run.path for scored in evals}
    left_out = {scored.run.path for scored in read.evals} - paths_of_runs
    frames = []
    for log, frame in read.frames:
        if log.path in paths_of_runs:
            attrs = frame.attrs
            frame = frame[frame["metric"].isin(metrics[log.header.eval.task])]
            frame.attrs = attrs
        if log.path not in left_out:
            frames.append((log, frame))
    runs = [run for run in read.runs if Path(run.source) not in left_out]
    return ReadLogs(frames, evals, runs, read.inputs)


def _note_missing_metric(run: ScoredRun, metrics: Collection[str]) -> Notice:
    """Return the note on a log that has no score by the metrics that count."""
    fields = {
        "path": str(run.run.path),
        "model": run.run.who,
        "task": run.task,
        "metric": " | ".join(sorted(metrics)),
        "known": " | ".join(run.shown_metrics) or "no metric",
    }
    return Notice("metric-missing", fields)


def _pair_rows_of_logs(
    read: ReadLogs, allowed: Collection[str]
) -> tuple[PairedTasks, tuple[Notice, ...]]:
    """Pair the items of each task by what was asked, and rename them in the rows in place.

    Items with different targets in different runs are not paired.

    Args:
        read: what was read.
        allowed: names of the findings that the user accepts.

    Returns:
        How the items were paired, and notes on different targets.

    Raises:
        OtherQuestionError: runs of a task share no input.
    """
    asked_runs = [AskedRun(run, read.inputs.by_log.get(Path(run.source), ())) for run in read.runs]
    paired = pair_tasks(asked_runs, allowed)
    split = split_by_targets(asked_runs, paired.names, allowed)
    paired = replace(paired, names=split.names, accepted=(*paired.accepted, *split.accepted))
    frames = {str(log.path): frame for log, frame in read.frames}
    for run, names in zip(read.runs, paired.names, strict=True):
        if names:
            items = frames[run.source]["item"]
            frames[run.source]["item"] = [names.get(item, item) for item in items]
    return paired, split.notes


def _models_without_battles(frames: Iterable[LogFrame]) -> list[str]:
    """Return the sorted models of the tournaments that have no row in any of the tables."""
    models = set[str]()
    models_with_rows = set[str]()
    for log, frame in frames:
        tournament = read_tournament(log.header)
        if tournament is not None:
            models |= {*tournament.models}
            models_with_rows |= {*frame["model_a"], *frame["model_b"]}
    return sorted(models - models_with_rows)


def _name_tasks_in_items(frames: Sequence[LogFrame]) -> None:
    """Change the column `item` in place to `TASK:ID` if the logs are of several tasks.

    Rows of logs that are themselves of several tasks keep their ids (`task_prefixes`).
    """
    prefix_of = task_prefixes([log for log, _ in frames])
    for log, frame in frames:
        prefix = prefix_of[log.path]
        if prefix:
            frame["item"] = prefix + frame["item"]


def _tasks_of_responses(log: EvalLog) -> tuple[str, ...]:
    """Return the sorted tasks of a tournament's responses; empty for an ordinary eval."""
    tournament = read_tournament(log)
    return tasks_of_tournament(tournament) if tournament else ()


def _name_tasks_of_tournament(frames: Sequence[LogFrame]) -> bool:
    """Give each row of a tournament the task of its item, in place, if it has several tasks.

    A tournament ranks its tasks together. Rows of logs of different tasks are ranked separately,
    so the column `task` of a tournament beside other logs keeps the name of all its tasks.

    Returns:
        whether all logs are of tournaments of the same several tasks, so that rows were changed.
    """
    tasks = {_tasks_of_responses(log.header) for log, _ in frames}
    if len(tasks) != 1:
        return False
    [names] = tasks
    if len(names) < 2:
        return False
    for log, frame in frames:
        task_of = {item: task_of_item(f"{item}", names) for item in frame["item"].unique()}
        tasks_of_items = {item: task for item, task in task_of.items() if task}
        frame["task"] = frame["item"].map(tasks_of_items).fillna(frame["task"])
        frame.attrs["facts_of_tasks"] = _facts_of_tasks(log, frame, names)
    return True


def _facts_of_tasks(
    log: FiledRun, frame: pd.DataFrame, tasks: Sequence[str]
) -> dict[str, TaskFacts]:
    """Return the missing battles and the absent models of each task of a tournament, by task.

    The number of missing battles is None if it is unknown.

    Args:
        log: the log of the tournament.
        frame: its rows, which have the column `task`.
        tasks: names of the tasks.
    """
    tournament = read_tournament(log.header)
    models = {*tournament.models} if tournament else set()
    missing = frame.attrs.get("missing_by_task") or {}
    facts = {}
    for task in tasks:
        rows = frame[frame["task"] == task]
        absent = models - {*rows["model_a"], *rows["model_b"]}
        facts[task] = TaskFacts(missing.get(task), tuple(sorted(absent)))
    return facts


def _number_repeats(frames: Iterable[LogFrame]) -> None:
    """Number repeats through all runs of a model and task, in the order of `frames`, in place.

    Runs belong together if their logs have the same `question`. The numbers of each run are raised
    by the numbers that earlier runs took, all of them alike. The column `repeat` is changed. In
    ordinary evals, it is the column `response` instead, which is added, with 1, if there is none.
    """
    before: Counter[Any] = Counter()
    for log, frame in frames:
        if not frame.empty:
            column = "repeat" if is_tournament(log.header) else "response"
            if column in frame:
                # Verdicts against a reference do not number the first response.
                frame[column] = frame[column].fillna(1).astype(int)
            else:
                frame[column] = 1
            number = int(frame[column].max() - frame[column].min()) + 1
            frame[column] += before[log.question]
            before[log.question] += number


def _notes_on_bad_judge(log: FiledRun) -> Iterator[Notice]:
    """Yield a note if the log is of a tournament whose judge was stopped as unable to judge."""
    why_stopped = reason_of_stop(log.header)
    if why_stopped and why_stopped.cannot_judge:
        yield Notice(CANNOT_JUDGE, {"path": str(log.path), "why": str(why_stopped)})


def _notes_on_log(log: FiledRun, frame: pd.DataFrame) -> Iterator[Notice]:
    """Yield the notes on one log that counts.

    They are, in this order: notes that the log keeps on agents; why the judge was stopped; samples
    that are left out; battles that were never played, or that the judge could not be shown;
    verdicts without graded credits; judges without a verdict; options that judges or models
    refused; and replies that had to be asked for again in a JSON schema. If the judge was stopped
    as unable to judge, `_notes_on_bad_judge` says so.

    Args:
        log: the log.
        frame: its rows. The numbers of battles without a verdict, by reason, are in its `attrs`.
    """
    tournament = read_tournament(log.header)
    path = str(log.path)
    if tournament:
        for entry in tournament.agents:
            yield Notice("shown-of-agents", {"path": path, "note": entry.text})
    why_stopped = reason_of_stop(log.header)
    if why_stopped and not why_stopped.cannot_judge:
        yield Notice("judge-stopped", {"path": path, "why": str(why_stopped)})
    yield from notes_on_left_out(log, frame)
    unplayed = frame.attrs.get("unplayed", 0)
    if unplayed:
        config = log.header.eval.config
        options = ("limit", "sample_id", "sample_shuffle")
        typed = [
            f"--{name.replace('_', '-')}" for name in options if getattr(config, name) is not None
        ]
        fields = {"path": path, "battles": unplayed, "options": " and ".join(typed)}
        code = "schedule-cut" if typed else "run-unfinished"
        yield Notice(code, fields)
    refused = frame.attrs.get("unshown")
    if refused:
        yield Notice("unshown", {"path": path, "battles": len(refused), "why": refused[0]})
    for name, number in frame.attrs.get("ungraded", {}).items():
        check = CHECKS[name]
        counts = {"number": number, "verdicts": len(frame), "mass": check.threshold}
        yield Notice(check.code, {"path": path, **counts})
    judges = frame.attrs.get("judges") or {}
    short = short_judge_names(judges.values())
    for judge, battles in frame.attrs.get("silent", {}).items():
        silent = {"path": path, "judge": short.get(judge, judge), "battles": battles}
        yield Notice("silent-judge", silent)
    yield from notes_on_refused(path, frame.attrs.get("refused", {}), judges)
    yield from notes_on_answers(path, frame.attrs.get("refused_by_models", {}))
    repeated = frame.attrs.get("by_schema")
    if repeated:
        counts = {"repeated": repeated, "verdicts": len(frame)}
        yield Notice("schema-needed", {"path": path, **counts})


def tasks_of(log: EvalLog) -> list[str]:
    """Return the tasks of a log's items: of a tournament, the tasks of its responses, in order.

    The list is empty for a tournament whose log does not name them.
    """
    tournament = read_tournament(log)
    return tournament.tasks if tournament else [log.eval.task]


def task_prefixes(logs: Sequence[FiledRun]) -> dict[Path, str]:
    """Return the prefix of the ids of items, by path of the log.

    It is `TASK:` for a log of one task if the logs together have several tasks. Otherwise it is
    empty.
    """
    tasks = {log.path: tasks_of(log.header) for log in logs}
    all_tasks = {task for tasks_of_log in tasks.values() for task in tasks_of_log}
    has_several_tasks = len(all_tasks) > 1
    prefixes = {}
    for path, names_of_tasks in tasks.items():
        prefixes[path] = (
            f"{names_of_tasks[0]}:" if has_several_tasks and len(names_of_tasks) == 1 else ""
        )
    return prefixes


def _with_task(frame: pd.DataFrame, log: EvalLog, name: str | None) -> pd.DataFrame:
    """Return the rows with a column for the task, and one for the name.

    The columns are `task`, and `model` in an ordinary eval or `source` in a tournament. Of the
    facts in `attrs`, those in `CARRIED_KEYS` are kept. An empty table is returned as it is.

    Args:
        frame: the rows, which are not changed.
        log: header of the log.
        name: name of the model, or label of the tournament; None adds no such column.
    """
    if frame.empty:
        return frame
    tournament = read_tournament(log)
    task = task_of_tournament(tournament, frame["item"]) if tournament else log.eval.task
    column = "source" if tournament else "model"
    frame_with_task = frame.assign(task=task)
    if name:
        frame_with_task[column] = name
    frame_with_task.attrs = {key: frame.attrs.get(key) for key in CARRIED_KEYS}
    return frame_with_task
