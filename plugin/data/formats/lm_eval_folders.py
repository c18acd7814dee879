"""Read lm-eval's output folders.

The scores of models on the documents of a task become pointwise scores. `lost` is the list of
losses: notes on files or runs that cannot be read or compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from podium.data.formats.headline_metrics import metrics_asked_for
from podium.data.formats.leaderboard_details import read_details
from podium.data.formats.lm_eval_groups import TaskGroup, find_groups, weights_of_documents
from podium.data.formats.lm_eval_judged import gather_verdicts
from podium.data.formats.lm_eval_layout import (
    Results,
    Samples,
    files_beside_details,
    find_runs,
    is_details,
    notes_on_lacking_samples,
)
from podium.data.formats.lm_eval_metric_choice import choose_metrics
from podium.data.formats.lm_eval_questions import pair_documents
from podium.data.formats.lm_eval_repeats import accept_repeats
from podium.data.formats.lm_eval_run_records import run_of_samples
from podium.data.formats.lm_eval_scores import (
    Scores,
    measure_of_files,
    note_means_of_shared,
    note_other_means,
    read_scores,
)
from podium.data.formats.lm_eval_selection import name_by_settings, select_runs
from podium.data.formats.lm_eval_shared_documents import SharedDocuments
from podium.data.formats.lm_eval_task_configs import scorers_of_metrics
from podium.data.formats.run_folders import find_repeats
from podium.errors import DataError, OneModelError, UsageError
from podium.hookspecs import GatheredBattles, Reading, SourceFiles
from podium.notices.notice import Notice, split_remedies
from podium.notices.notice_text import notice_texts
from podium.run_record import RunRecord
from podium.wording import some

if TYPE_CHECKING:
    import pandas as pd


def read(records: "pd.DataFrame") -> "pd.DataFrame":
    """Reject samples in a file with another name: task and time of the run are read from the name.

    Raises:
        DataError: in every case.
    """
    del records
    remedy = "give the folder as lm_eval wrote it, or call the file, unpacked, samples_TASK.jsonl"
    raise DataError("rows of lm-eval samples under another name", remedy=remedy)


def gather(sources: Sequence[SourceFiles], reading: Reading) -> GatheredBattles:
    """Read the samples of all sources.

    If no metric is asked for and the samples have verdicts of podium's filter, the verdicts are
    read. Otherwise, the scores are read. Of several runs of a model on a task, the newest of those
    on most documents counts, unless all runs are asked for.

    Args:
        sources: folders and files of lm-eval; other files in them are ignored.
        reading: says which tasks, metrics and runs count, and which findings are allowed.

    Returns:
        The rows by file, with `claimed`, the files of lm-eval in the sources. If the sources have
        no such file, everything is empty.

    Raises:
        DataError: no two models have scores on the same documents, or files contradict each other.
        NotIdentifiedError: it is not clear by which metric a task is to be ranked.
        UsageError: a task or a metric does not exist, or a label stands for several models.
    """
    samples: dict[Path, Samples] = {}
    paths = set[Path]()
    lost: list[Notice] = []
    for source in sources:
        samples_of_source, results = _find_run_files(source, lost)
        paths.update(file.path for file in samples_of_source)
        paths.update(run.path for run in results)
        paths_of_source = [file.path for file in samples_of_source]
        paths.update(files_beside_details(paths_of_source, source.paths))
        samples = {file.path.resolve(): file for file in samples_of_source} | samples
    if not paths:
        return GatheredBattles()
    named_samples, notes = name_by_settings([*samples.values()], names_joined=reading.names_joined)
    chosen_samples = _select_samples(named_samples, reading.where)
    files, left_out = select_runs(chosen_samples, every=reading.all_runs)
    notes += left_out
    if not files:
        raise _nothing_to_compare_error(lost)
    gathered = None
    if not reading.metrics:
        gathered = _gather_verdicts_of_filter(files)
    if gathered is None:
        gathered = _gather_scores(files, reading, [*lost, *left_out])
    return replace(
        gathered,
        claimed=frozenset(paths),
        notes=(*notes, *gathered.notes),
        lost=(*lost, *gathered.lost),
    )


def runs_in_folders(sources: Sequence[SourceFiles], reading: Reading) -> list[RunRecord]:
    """Return the records of the runs of all sources, named as in a ranking of them.

    There is a record per samples file; a file in two sources counts once.

    Args:
        sources: folders and files of lm-eval; other files in them are ignored.
        reading: says whether names that look the same are joined.
    """
    samples: dict[Path, Samples] = {}
    for source in sources:
        samples_of_source, _ = find_runs(source.paths, source.label, searched=source.searched)
        samples = {file.path.resolve(): file for file in samples_of_source} | samples
    named_samples, _ = name_by_settings([*samples.values()], names_joined=reading.names_joined)
    return [run_of_samples(file) for file in named_samples]


def _gather_verdicts_of_filter(files: Sequence[Samples]) -> GatheredBattles | None:
    """Read the verdicts of podium's filter in samples files; None if there are none."""
    gathered = gather_verdicts([file for file in files if not is_details(file.path)])
    return gathered if gathered.sheets else None


def _gather_scores(
    files: Sequence[Samples], reading: Reading, lost_before: Sequence[Notice]
) -> GatheredBattles:
    """Read the scores in samples files.

    The documents of a task are paired between its runs. Each task is one sheet per file and metric.
    The result has the runs and questions of the tasks that can be compared. If lm-eval reports a
    figure of a group of tasks, the rows are ranked by `group` (`find_groups`), and else by `task`.

    Args:
        files: the samples files.
        reading: says which metrics and runs count, and which findings are allowed. If no metric is
            named, lm-eval's first metric of each task is read.
        lost_before: losses so far and runs that are left out, which the error repeats.

    Raises:
        DataError: no two models have scores on the same documents.
        UsageError: no task has a metric that is asked for.
    """
    lost: list[Notice] = []
    scores = _read_all_scores(files, lost, reading.cluster)
    if not scores:
        raise _nothing_to_compare_error([*lost_before, *lost])
    metrics, notes = choose_metrics(scores, metrics_asked_for(reading))
    compared = pair_documents(scores, reading.allowed)
    scores = list(compared.scores)
    sheets: list[tuple[str, pd.DataFrame]] = []
    sizes: dict[str, int] = {}
    accepted = list(compared.accepted)
    for task, names in metrics.items():
        for name in names:
            measured = _files_with_metric(scores, task, name)
            accepted += accept_repeats(task, name, measured, reading.allowed)
            rows, documents = _join_runs(task, name, scores, notes, lost)
            sheets += _split_by_file(rows, reading.all_runs, reading.cluster)
            if documents:
                sizes[task] = documents
    lost = _join_incomplete_files(_join_lone_tasks(lost))
    if not sizes:
        raise _nothing_to_compare_error([*lost_before, *lost])
    groups, of_groups = find_groups(scores, metrics)
    notes += of_groups
    sheets = [(path, _with_group(sheet, groups, sizes)) for path, sheet in sheets]
    runs = [run for run in compared.runs if run.task in sizes]
    questions = [finding for finding in compared.findings if finding.task in sizes]
    return GatheredBattles(
        sheets=tuple(sheets),
        notes=tuple(notes),
        lost=tuple(lost),
        accepted=tuple(accepted),
        apart="group" if groups else "task",
        runs=tuple(_with_ranked_scorers(run, metrics[run.task]) for run in runs),
        questions=tuple(questions),
    )


def _files_with_metric(scores: Sequence[Scores], task: str, metric: str) -> list[Scores]:
    """Return the scores of those files of a task that have a metric, `metric,filter`."""
    files_of_task = [file_scores for file_scores in scores if file_scores.file.task == task]
    return [file_scores for file_scores in files_of_task if metric in file_scores.values]


def _join_lone_tasks(lost: Sequence[Notice]) -> list[Notice]:
    """Return the losses with one note per model on the tasks of which no other model has samples.

    A note on a single task of a model is kept. The joined note stands where the first one stood.
    """
    tasks: dict[str, list[str]] = {}
    for note in lost:
        if note.code == "one-model-samples":
            tasks.setdefault(note.fields["model"], []).append(note.fields["task"])
    joined = []
    for note in lost:
        model = note.fields.get("model", "")
        lone_tasks = tasks.get(model, []) if note.code == "one-model-samples" else []
        if len(lone_tasks) < 2:
            joined.append(note)
        elif note.fields["task"] == lone_tasks[0]:
            joined.append(
                Notice("one-model-samples-of-tasks", {"model": model, "tasks": lone_tasks})
            )
    return joined


def _join_incomplete_files(lost: Sequence[Notice]) -> list[Notice]:
    """Return the losses with one note on all samples files that lack documents.

    The note gives the numbers of documents file by file, or once if they are the same in all files.
    A note on a single file is kept. The joined note stands where the first one stood.
    """
    incomplete = [note for note in lost if note.code == "documents-missing"]
    if len(incomplete) < 2:
        return list(lost)
    files = []
    for note in incomplete:
        fields = note.fields
        files.append(f"{fields['path']} ({fields['documents']:,} of {fields['expected']:,})")
    tasks = [*dict.fromkeys(note.fields["task"] for note in incomplete)]
    sizes = {(note.fields["documents"], note.fields["expected"]) for note in incomplete}
    joined = Notice("documents-missing-in-files", {"files": files, "tasks": tasks})
    if len(sizes) == 1:
        [(documents, expected)] = sizes
        paths = [note.fields["path"] for note in incomplete]
        counts = {"documents": documents, "expected": expected}
        fields = {"files": paths, "tasks": tasks, **counts}
        joined = Notice("documents-missing-alike", fields)
    first = lost.index(incomplete[0])
    others = [note for note in lost if note.code != "documents-missing"]
    return [*others[:first], joined, *others[first:]]


def _with_ranked_scorers(run: RunRecord, metrics: Sequence[str]) -> RunRecord:
    """Return the record of a run whose scorers are only those of some metrics.

    Args:
        run: the record.
        metrics: the metrics by which models are ranked, `metric,filter`.
    """
    return replace(run, scorers=scorers_of_metrics(run.scorers, metrics))


def _with_group(
    sheet: "pd.DataFrame", groups: Mapping[str, TaskGroup], sizes: Mapping[str, int]
) -> "pd.DataFrame":
    """Return the rows of one task with the columns `group` and `weight`.

    The group is the task itself for a task without a group; there is no column `group` if no task
    has a group. The column `weight` is made only if all tasks of the group count the same; without
    it, all documents do.

    Args:
        sheet: the rows, at least one.
        groups: the group of each task that has one.
        sizes: number of documents by task.
    """
    if not groups:
        return sheet
    task = sheet["task"].iloc[0]
    group = groups.get(task)
    with_group = sheet.assign(group=group.name if group else task)
    if group and group.counted == "tasks":
        with_group["weight"] = weights_of_documents(group, sizes)[task]
    with_group.attrs = sheet.attrs
    return with_group


def _find_run_files(source: SourceFiles, lost: list[Notice]) -> tuple[list[Samples], list[Results]]:
    """Return the samples and results files of a source, also those beside files that were named.

    Args:
        source: the source.
        lost: losses so far; changed in place. Notes on runs without samples are added, unless their
            folders have samples of the same model from the same time or later.

    Raises:
        UsageError: the source has a label, and its files are of several models.
    """
    samples, results = find_runs(source.paths, source.label, searched=source.searched)
    with_results = [(file, file.results) for file in samples if file.results]
    names = sorted({run.model for _, run in with_results if run.model})
    if source.label is not None and len(names) > 1:
        raise UsageError(
            f"the label {source.label!r} stands for one model, and its files are of {len(names)}: "
            f"{some(names, most=5)}; label their folders or results files one by one"
        )
    results_paths = {run.path for _, run in with_results}
    lacking: list[tuple[str, Results]] = []
    for run in results:
        if run.path in results_paths:
            continue
        samples_of_model = [file for file, other in with_results if other.model == run.model]
        samples_in_folder = [
            file for file in samples_of_model if file.path.parent == run.path.parent
        ]
        if not any(file.time >= run.time for file in samples_in_folder):
            lacking.append((source.label or run.model or run.path.parent.name, run))
    lost += notes_on_lacking_samples(lacking)
    return samples, results


def _select_samples(samples: Sequence[Samples], where: Sequence[tuple[str, str]]) -> list[Samples]:
    """Select the samples files of the tasks that conditions name.

    Args:
        samples: the files.
        where: pairs of a column and a value, all of which must hold. Only the columns `task` and
            `category` are used; the category is the name of the task.

    Raises:
        UsageError: there is no such task.
    """
    selected = list(samples)
    for column, value in where:
        if column not in ("task", "category"):
            continue
        tasks = sorted({file.task for file in selected})
        if selected and value not in tasks:
            raise UsageError(f"no samples of the task {value!r}; tasks: {some(tasks)}")
        selected = [file for file in selected if file.task == value]
    return selected


def _nothing_to_compare_error(lost: Sequence[Notice]) -> DataError:
    """Return the error for samples that no two models have on the same documents.

    If a loss is about earlier runs of a model, it is a `OneModelError` that names two of them.

    Args:
        lost: the losses, which the message gives as reasons, those on earlier runs last.
    """
    on_earlier_runs = []
    others = []
    for note in lost:
        # Only a note on earlier runs of a model has repeats.
        if find_repeats([note]) is None:
            others.append(note)
        else:
            on_earlier_runs.append(note)
    bare, _ = split_remedies([*others, *on_earlier_runs])
    cause = (
        some(notice_texts(bare), "; ", most=5) or "no two models have scores on the same documents"
    )
    remedy = "give the samples of two models or more on the same documents of a task"
    problem = f"nothing to compare: {cause}"
    repeats = find_repeats(lost)
    if repeats is None:
        return DataError(problem, remedy=remedy)
    return OneModelError(problem, remedy=remedy, repeats=repeats)


def _read_all_scores(
    files: Sequence[Samples], lost: list[Notice], cluster: str | None
) -> list[Scores]:
    """Read the scores of samples files. Files without rows are left out.

    Args:
        files: the samples files.
        lost: losses so far; changed in place. Empty and incomplete files are added.
        cluster: the field of documents with the groups of items; None if there are no groups.
    """
    scores_of_files = []
    for file in files:
        scores = read_details(file) if is_details(file.path) else read_scores(file, cluster)
        if scores.document_count:
            scores_of_files.append(scores)
        else:
            fields = {"path": str(file.path), "model": file.model, "task": file.task}
            lost.append(Notice("no-whole-row", fields))
    for scores in scores_of_files:
        path = str(scores.file.path)
        task = scores.file.task
        if scores.cut_off_line is not None:
            fields = {"path": path, "place": scores.cut_off_line, "task": task}
            lost.append(Notice("cut-off-line", fields))
            continue
        expected = scores.expected_documents or 0
        if scores.document_count < expected:
            counts = {"documents": scores.document_count, "expected": expected}
            lost.append(Notice("documents-missing", {"path": path, "task": task, **counts}))
    return scores_of_files


def _join_runs(
    task: str, metric: str, scores: Sequence[Scores], notes: list[Notice], lost: list[Notice]
) -> "tuple[pd.DataFrame, int]":
    """Return the scores of all runs of a task, and the number of documents that two or more models
    have.

    The rows are those of all runs with the metric, also of documents that no other model has.
    Scores of which lower is better are negated.

    Args:
        task: the task.
        metric: `metric,filter`.
        scores: the scores of all files.
        notes: notes so far; changed in place.
        lost: losses so far; changed in place. Runs without the metric and runs without documents
            that other models have, too, are added.
    """
    import pandas as pd

    files_of_task = [file_scores for file_scores in scores if file_scores.file.task == task]
    measured = _files_with_metric(scores, task, metric)
    measure, note = measure_of_files(metric, measured)
    if note:
        notes.append(note)
    tables = []
    for file_scores in measured:
        source = {"model": file_scores.file.model, "path": str(file_scores.file.path)}
        tables.append(file_scores.values[metric].assign(**source))
    rows = _name_items_by_target(pd.concat(tables, ignore_index=True), task, notes)
    documents = SharedDocuments.of_rows(rows)
    lost += [_metric_missing(metric, file) for file in files_of_task if metric not in file.values]
    lost += _note_unshared(task, documents, measured)
    if documents.differ:
        fields = {"task": task, "sizes": documents.sizes, "common": documents.common}
        notes.append(Notice("different-documents", fields))
    notes += note_other_means(metric, measured)
    of_shared = rows[documents.is_shared_row]
    means = of_shared.groupby("path")["score"].mean()
    notes += note_means_of_shared(task, metric, measured, means)
    score = -rows["score"] if measure.is_negated else rows["score"]
    joined = rows.assign(score=score, metric=measure.name, task=task, category=task)
    joined.attrs["measures"] = (measure,)
    joined.attrs["item_columns"] = [
        *dict.fromkeys(name for file_scores in measured for name in file_scores.item_columns)
    ]
    joined.attrs["lower"] = frozenset[str]().union(
        *(file_scores.lower_is_better for file_scores in measured)
    )
    return joined, documents.shared


def _metric_missing(metric: str, scores: Scores) -> Notice:
    """Return the note that a run does not have a metric. It names the metrics of the run."""
    fields = {
        "path": str(scores.file.path),
        "metric": metric,
        "known": " | ".join([*scores.values, *scores.unusable]) or "no metric",
        "model": scores.file.model,
        "task": scores.file.task,
    }
    return Notice("metric-missing", fields)


def _name_items_by_target(rows: "pd.DataFrame", task: str, notes: list[Notice]) -> "pd.DataFrame":
    """Return rows in which a document whose target differs between runs is an item per target.

    Such an item is `ITEM@` with the first 6 characters of the target. Other items keep their ids.
    An empty target counts as a target of its own.

    Args:
        rows: scores of all runs on a task.
        task: the task.
        notes: notes so far; a note on such documents is added in place.
    """
    if rows["target"].nunique() < 2:
        return rows
    has_several_targets = rows.groupby("item")["target"].transform("nunique") > 1
    if not has_several_targets.any():
        return rows
    first_rows = rows[has_several_targets].drop_duplicates(["item", "target"])
    item = first_rows["item"].min()
    places = first_rows.loc[first_rows["item"] == item, ["path", "line"]].agg(", ".join, axis=1)
    fields = {
        "documents": first_rows["item"].nunique(),
        "task": task,
        "item": item,
        "places": list(places),
    }
    notes.append(Notice("different-targets", fields))
    item_with_target = rows["item"] + "@" + rows["target"].str[:6]
    items = rows["item"].mask(has_several_targets, item_with_target)
    return rows.assign(item=items)


def _split_by_file(
    rows: "pd.DataFrame", all_runs: bool, cluster: str | None
) -> "list[tuple[str, pd.DataFrame]]":
    """Split rows into a table per file.

    The columns are `item`, `model`, `score`, `metric`, `task`, `category`, `reason` and the columns
    of items in `attrs["item_columns"]`. The index is the place of the row in the file as text, `3`
    for `line 3` (another place is kept whole). The `attrs` have `measures` and `lower`.

    Args:
        rows: the scores of all files.
        all_runs: whether all runs of a model count. A column `response` then numbers them by time,
            from 1.
        cluster: the column with the groups of items, made of the column `group` if that exists and
            the tables have no other column of this name; None if there are no groups.

    Returns:
        Pairs of the path and the table of a file.
    """
    import pandas as pd

    rows = rows.set_index(rows["line"].str.removeprefix("line ").rename("line"))
    columns = ["item", "model", "score", "metric", "task", "category", "reason"]
    columns += rows.attrs["item_columns"]
    if all_runs:
        columns.append("response")
        # The files of a model are in the order of their times. They are numbered from 1.
        rows["response"] = 1 + rows.groupby("model")["path"].transform(
            lambda paths: pd.factorize(paths)[0]
        )
    if cluster is not None and "group" in rows and cluster not in columns:
        rows[cluster] = rows["group"]
        columns.append(cluster)
    sheets = list[tuple[str, pd.DataFrame]]()
    for path, sheet in rows.groupby("path", sort=False):
        sheet_of_file = sheet[columns]
        sheet_of_file.attrs |= {name: rows.attrs[name] for name in ("measures", "lower")}
        sheets.append((str(path), sheet_of_file))
    return sheets


def _note_unshared(task: str, documents: SharedDocuments, files: Sequence[Scores]) -> list[Notice]:
    """Return notes on the models that share no document with another model.

    If there is only one model, the only note says so.

    Args:
        task: the task.
        documents: the documents of the models.
        files: the scores of the files.
    """
    if len(documents.models) < 2:
        only_model = next(iter(documents.models), "no model")
        return [Notice("one-model-samples", {"task": task, "model": only_model})]
    paths = {scores.file.model: str(scores.file.path) for scores in files}
    return [
        Notice("unshared-documents", {"path": paths[name], "model": name, "task": task})
        for name in documents.models
        if name not in documents.sizes
    ]
