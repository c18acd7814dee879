"""Read lm-eval's output folders: scores of several models on the same documents become pointwise
scores."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from podium.data.formats.leaderboard_details import read_details
from podium.data.formats.lm_eval_judged import gather_verdicts
from podium.data.formats.lm_eval_layout import (
    Results,
    Samples,
    find_runs,
    is_details,
    lack_of_samples,
    select_runs,
)
from podium.data.formats.lm_eval_repeats import accept_repeats
from podium.data.formats.lm_eval_run_records import run_of_samples
from podium.data.formats.lm_eval_scores import (
    Scores,
    choose_metrics,
    measure_of_files,
    note_other_means,
    read_scores,
)
from podium.errors import DataError, UsageError
from podium.hookspecs import GatheredBattles, Reading, SourceFiles
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_texts
from podium.wording import some


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Reject samples in a file of another name, because the name holds task and time of the run."""
    del records
    remedy = "give the folder as lm_eval wrote it, or call the file, unpacked, samples_TASK.jsonl"
    raise DataError("rows of lm-eval samples under another name", remedy=remedy)


def gather(sources: Sequence[SourceFiles], reading: Reading) -> GatheredBattles:
    """Read the samples of all sources.

    Verdicts of podium's filter are read if there are any and no metric is asked for, else scores.

    Args:
        sources: folders and files of lm-eval.
        reading: which tasks, metrics and runs count, and what findings are allowed.

    Raises:
        DataError: no two models have scores on the same documents.
        UsageError: a task or a metric that there is not.
    """
    samples: dict[Path, Samples] = {}
    paths = set[Path]()
    lost: list[Notice] = []
    for source in sources:
        of_source, results = _find_run_files(source, lost)
        paths.update(file.path for file in of_source)
        paths.update(run.path for run in results)
        samples = {file.path.resolve(): file for file in of_source} | samples
    if not paths:
        return GatheredBattles()
    chosen = _select_samples([*samples.values()], reading.where)
    files, notes = select_runs(chosen, every=reading.all_runs)
    if not files:
        raise _nothing_to_compare(lost)
    gathered = None
    if not reading.metrics:
        gathered = _gather_verdicts_of_filter(files)
    if gathered is None:
        gathered = _gather_scores(files, reading, lost)
    return replace(
        gathered,
        claimed=frozenset(paths),
        notes=(*notes, *gathered.notes),
        lost=(*lost, *gathered.lost),
    )


def _gather_verdicts_of_filter(files: Sequence[Samples]) -> GatheredBattles | None:
    """Read the verdicts of podium's filter in samples files; None if they hold none."""
    gathered = gather_verdicts([file for file in files if not is_details(file.path)])
    return gathered if gathered.sheets else None


def _gather_scores(
    files: Sequence[Samples], reading: Reading, lost_before: Sequence[Notice]
) -> GatheredBattles:
    """Read the scores in samples files by the metrics asked for, or by each task's only one.

    Args:
        files: the samples files.
        reading: metrics, runs, and findings that are allowed.
        lost_before: what was lost before, which the error repeats.

    Raises:
        DataError: no two models have scores on the same documents.
        UsageError: no task has a metric that is asked for.
    """
    lost: list[Notice] = []
    scores = _read_all_scores(files, lost)
    if not scores:
        raise _nothing_to_compare([*lost_before, *lost])
    metrics, notes = choose_metrics(scores, reading.metrics)
    sheets: list[tuple[str, pd.DataFrame]] = []
    sizes: dict[str, int] = {}
    accepted: list[str] = []
    for task, names in metrics.items():
        for name in names:
            measured = [each for each in scores if each.file.task == task and name in each.values]
            accepted += accept_repeats(task, name, measured, reading.allowed)
            rows, documents = _join_runs(task, name, scores, notes, lost)
            sheets += _sheets_of(rows, reading.all_runs)
            if documents:
                sizes[task] = documents
    if not sizes:
        raise _nothing_to_compare([*lost_before, *lost])
    if len(sizes) > 1:
        notes.append(Notice("tasks-count-alike", {"tasks": sizes}))
    return GatheredBattles(
        sheets=tuple(sheets),
        notes=tuple(notes),
        lost=tuple(lost),
        accepted=tuple(accepted),
        runs=tuple(run_of_samples(each.file) for each in scores if each.file.task in sizes),
    )


def _find_run_files(source: SourceFiles, lost: list[Notice]) -> tuple[list[Samples], list[Results]]:
    """Return the samples and results files of a source; append newest runs without samples to
    `lost`."""
    own, results = find_runs(source.paths, source.label, searched=source.searched)
    names = sorted({file.results.model for file in own if file.results and file.results.model})
    if source.label is not None and len(names) > 1:
        problem = (
            f"the label {source.label!r} stands for one model, and its files are of {len(names)}"
        )
        raise UsageError(
            f"{problem}: {some(names, most=5)}; label their folders or results files one by one"
        )
    sampled = {file.results.path for file in own if file.results}
    for run in [run for run in results if run.path not in sampled]:
        of_model = [file for file in own if file.results and file.results.model == run.model]
        if not any(
            file.path.parent == run.path.parent and file.time >= run.time for file in of_model
        ):
            lost.append(lack_of_samples(source.label or run.model or run.path.parent.name, run))
    return own, results


def _select_samples(samples: Sequence[Samples], where: Sequence[tuple[str, str]]) -> list[Samples]:
    """Select the samples files of the tasks that conditions name; UsageError if there is no such
    task."""
    kept = list(samples)
    for value in [value for column, value in where if column in ("task", "category")]:
        tasks = sorted({file.task for file in kept})
        if kept and value not in tasks:
            raise UsageError(f"no samples of the task {value!r}; tasks: {some(tasks)}")
        kept = [file for file in kept if file.task == value]
    return kept


def _nothing_to_compare(lost: Sequence[Notice]) -> DataError:
    """Return the error for samples without two models on the same documents, with the reasons."""
    reasons = some(notice_texts(lost), "; ", most=5)
    problem = f"nothing to compare: {reasons or 'no two models have scores on the same documents'}"
    return DataError(
        problem, remedy="give the samples of two models or more on the same documents of a task"
    )


def _read_all_scores(files: Sequence[Samples], lost: list[Notice]) -> list[Scores]:
    """Read the scores of samples files; append empty and incomplete files to `lost`."""
    scores = [read_details(file) if is_details(file.path) else read_scores(file) for file in files]
    empty = [each.file for each in scores if not each.documents]
    lost += [
        Notice("no-whole-row", {"path": str(own.path), "model": own.model, "task": own.task})
        for own in empty
    ]
    scores = [each for each in scores if each.documents]
    for each in scores:
        path, task = each.file.path, each.file.task
        if each.cut is not None:
            cut = {"path": str(path), "place": each.cut, "task": task}
            lost.append(Notice("cut-off-line", cut))
        elif each.documents < (expected := each.expected_documents or 0):
            counts = {"documents": each.documents, "expected": expected}
            lost.append(Notice("documents-missing", {"path": str(path), "task": task, **counts}))
    return scores


def _join_runs(
    task: str, metric: str, scores: Sequence[Scores], notes: list[Notice], lost: list[Notice]
) -> tuple[pd.DataFrame, int]:
    """Return the scores of all runs of a task and the number of shared documents; append notes and
    losses."""
    of_task = [of_file for of_file in scores if of_file.file.task == task]
    own = [of_file for of_file in of_task if metric in of_file.values]
    measure, note = measure_of_files(metric, own)
    notes += [note] if note else []
    tables = [
        each.values[metric].assign(model=each.file.model, path=str(each.file.path)) for each in own
    ]
    rows = _split_by_target(pd.concat(tables, ignore_index=True), task, notes)
    documents = {str(name): set(items) for name, items in rows.groupby("model", sort=False)["item"]}
    models = rows.groupby("item")["model"].nunique()
    shared = set(models.index[models > 1])
    for each in [each for each in of_task if metric not in each.values]:
        fields = {
            "path": str(each.file.path),
            "metric": metric,
            "known": " | ".join([*each.values, *each.unusable]) or "no metric",
            "model": each.file.model,
            "task": task,
        }
        lost.append(Notice("metric-missing", fields))
    lost += _note_unshared(task, documents, shared, own)
    compared = {name: items for name, items in documents.items() if items & shared}
    if len(set(map(frozenset, compared.values()))) > 1:
        sizes = {name: len(items) for name, items in compared.items()}
        common = len(set.intersection(*compared.values()))
        notes.append(
            Notice("different-documents", {"task": task, "sizes": sizes, "common": common})
        )
    notes += note_other_means(metric, own)
    score = -rows["score"] if measure.is_negated else rows["score"]
    measured = rows.assign(score=score, metric=measure.name, task=task, category=task)
    measured.attrs["measures"] = (measure,)
    return measured, len(shared)


def _split_by_target(rows: pd.DataFrame, task: str, notes: list[Notice]) -> pd.DataFrame:
    """Give a document an item per target if its target differs between runs, and append a note."""
    is_split = rows.groupby("item")["target"].transform("nunique") > 1
    if not is_split.any():
        return rows
    firsts = rows[is_split].drop_duplicates(["item", "target"])
    item = firsts["item"].min()
    places = firsts.loc[firsts["item"] == item, ["path", "line"]].agg(", ".join, axis=1)
    fields = {
        "documents": firsts["item"].nunique(),
        "task": task,
        "item": item,
        "places": list(places),
    }
    notes.append(Notice("different-targets", fields))
    return rows.assign(
        item=rows["item"].where(~is_split, rows["item"] + "@" + rows["target"].str[:6])
    )


def _sheets_of(rows: pd.DataFrame, all_runs: bool) -> list[tuple[str, pd.DataFrame]]:
    """Split rows into a table per file; with `all_runs`, column `response` numbers a model's runs
    by time, from 1."""
    rows = rows.set_index(rows["line"].str.removeprefix("line ").rename("line"))
    columns = ["item", "model", "score", "metric", "task", "category", "reason"]
    if all_runs:
        columns.append("response")
        rows["response"] = rows.groupby("model")["path"].transform(
            lambda paths: pd.factorize(paths)[0] + 1
        )
    sheets = list[tuple[str, pd.DataFrame]]()
    for path, sheet in rows.groupby("path", sort=False):
        own = sheet[columns]
        own.attrs["measures"] = rows.attrs["measures"]
        sheets.append((str(path), own))
    return sheets


def _note_unshared(
    task: str, documents: Mapping[str, set[str]], shared: set[str], own: Sequence[Scores]
) -> list[Notice]:
    """Return notes that name the models whose documents no other model has."""
    if len(documents) < 2:
        only = next(iter(documents), "no model")
        return [Notice("one-model-samples", {"task": task, "model": only})]
    paths = {scores.file.model: str(scores.file.path) for scores in own}
    return [
        Notice("unshared-documents", {"path": paths[name], "model": name, "task": task})
        for name, items in documents.items()
        if not items & shared
    ]
