"""lm-eval's output folders: scores of several models on the same documents, compared document by document."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from podium.errors import DataError, UsageError
from podium.formats.lm_eval_judged import gather_verdicts
from podium.formats.lm_eval_layout import Results, Samples, find_runs, lack_of_samples, select_runs
from podium.formats.lm_eval_scores import (
    Direction,
    Scores,
    Value,
    choose_metrics,
    direction_of,
    read_scores,
    unlike_reported,
)
from podium.hookspecs import Gathered, Reading, SourceFiles
from podium.text import some

TASK_COLUMNS = ("task", "category")
"""Columns that hold the task: a condition on one spares reading the other tasks."""


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Refuse rows of samples in a file whose name does not say so: task and run are told by the name.

    Raises:
        DataError: always.
    """
    del records
    raise DataError(
        "rows of lm-eval samples under another name",
        remedy="give the folder as lm_eval wrote it, or call the file samples_TASK.jsonl",
    )


def gather(sources: Sequence[SourceFiles], reading: Reading) -> Gathered:
    """Read the samples files among what was found, and leave the other files alone.

    Scores are compared where task, document and target agree; a document's place and its prompt do not matter. Where
    podium's filter left verdicts, those are read, unless a metric is asked for.

    Raises:
        UsageError: names that stand for several models, or a task or metric that is not there.
        DataError: a damaged file, or nothing to compare.
        NotIdentifiedError: several metrics, and nothing says which.
    """
    claim = Claim()
    for source in sources:
        claim.add(source)
    if not claim.paths:
        return Gathered()
    files = _of_tasks(claim.samples, reading.where)
    if not files:
        raise _nothing_to_compare(claim.lost)
    files, left_out = select_runs(files, every=reading.all_runs)
    notes = claim.notes + left_out
    if not reading.metrics:
        verdicts = gather_verdicts(files)
        if verdicts.sheets:
            notes += verdicts.notes
            return Gathered(verdicts.sheets, frozenset(claim.paths), tuple(notes), (*claim.lost, *verdicts.lost))
    scores, empty = _scores_of(files)
    lost = claim.lost + empty
    if not scores:
        raise _nothing_to_compare(lost)
    metrics, without_metric = choose_metrics(scores, reading.metrics)
    lost += [note for of_file in scores for note in _damages(of_file)]
    parts = [_compare(task, name, scores, reading.all_runs) for task, names in metrics.items() for name in names]
    lost += [note for part in parts for note in part.lost]
    if not any(part.documents for part in parts):
        raise _nothing_to_compare(lost)
    notes += [*_random_names(files), *without_metric, *(note for part in parts for note in part.notes)]
    sheets = tuple(sheet for part in parts for sheet in part.sheets)
    return Gathered(sheets, frozenset(claim.paths), (*notes, *_weights(parts)), tuple(lost))


@dataclass(slots=True)
class Claim:
    """Files of lm-eval's among those that were found.

    Attributes:
        samples: to be read.
        paths: of all of them.
        notes: newer runs without samples.
        lost: entrants of which there are results and no samples.
    """

    samples: list[Samples] = field(default_factory=list)
    paths: set[Path] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def add(self, source: SourceFiles) -> None:
        """Add the files of one source.

        Raises:
            UsageError: it has a label, and holds several models.
        """
        own, results = find_runs(source.paths, source.label, searched=source.searched)
        names = sorted({file.results.model for file in own if file.results and file.results.model})
        if source.label is not None and len(names) > 1:
            raise UsageError(
                f"the label {source.label!r} stands for one entrant, and its files are of {len(names)}: "
                f"{some(names, most=5)}; label their folders or results files one by one"
            )
        sampled = {file.results.path for file in own if file.results}
        for run in [run for run in results if run.path not in sampled]:
            last = _last_samples(run, own)
            if last is None:
                self.lost.append(lack_of_samples(source.label or run.model or run.path.parent.name, run))
            elif last.time < run.time:
                why = lack_of_samples(f"the newest run of {last.entrant}", run)
                self.notes.append(f"{why}; until then those of {last.time} count")
        self.paths |= {*(file.path for file in own), *(run.path for run in results)}
        known = {file.path.resolve() for file in self.samples}
        self.samples += [file for file in own if file.path.resolve() not in known]


def _last_samples(results: Results, samples: Sequence[Samples]) -> Samples | None:
    """Return the newest samples of the same model in the same folder; None where no run of it has any."""
    own = [
        file
        for file in samples
        if file.path.parent == results.path.parent and file.results and file.results.model == results.model
    ]
    return max(own, key=lambda file: file.time, default=None)


def _of_tasks(samples: Sequence[Samples], where: Sequence[tuple[str, str]]) -> list[Samples]:
    """Keep the tasks that conditions ask for.

    Raises:
        UsageError: one that is not there.
    """
    kept = list(samples)
    for value in [value for column, value in where if column in TASK_COLUMNS]:
        tasks = sorted({file.task for file in kept})
        if kept and value not in tasks:
            raise UsageError(f"no samples of the task {value!r}; tasks: {some(tasks)}")
        kept = [file for file in kept if file.task == value]
    return kept


def _nothing_to_compare(lost: Sequence[str]) -> DataError:
    return DataError(
        f"nothing to compare: {some(lost, '; ', most=5) or 'no two models have scores on the same documents'}",
        remedy="give the samples of two models or more on the same documents of a task",
    )


def _scores_of(files: Sequence[Samples]) -> tuple[list[Scores], list[str]]:
    """Read the samples; say which files hold none."""
    scores = [read_scores(file) for file in files]
    empty = [
        f"{of_file.file.path}: no whole row of samples, so {of_file.file.entrant} is missing; run {of_file.file.task} "
        "again"
        for of_file in scores
        if not of_file.documents
    ]
    return [of_file for of_file in scores if of_file.documents], empty


def _damages(scores: Scores) -> list[str]:
    """Say what a samples file lacks."""
    path, task, expected = scores.file.path, scores.file.task, scores.expected_documents
    if scores.cut is not None:
        return [f"{path}, {scores.cut}: cut off, so its document is missing; run {task} again"]
    if expected is not None and scores.documents < expected:
        return [f"{path} holds {scores.documents:,} of {expected:,} documents; run {task} again"]
    return []


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """The scores of one task by one metric.

    Attributes:
        task: its name.
        documents: on which two entrants or more have a score.
        sheets: source and scores, a sheet per file.
        notes: what people should know.
        lost: what could not be compared.
    """

    task: str
    documents: int
    sheets: tuple[tuple[str, pd.DataFrame], ...]
    notes: tuple[str, ...]
    lost: tuple[str, ...]


def _compare(task: str, metric: str, scores: Sequence[Scores], all_runs: bool) -> TaskComparison:
    """Put together what all entrants' runs say of a task by a metric."""
    of_task = [of_file for of_file in scores if of_file.file.task == task]
    own = [of_file for of_file in of_task if metric in of_file.values]
    way = direction_of(metric, own)
    targets = _differing_targets(own, metric)
    repeats = _repeats(own) if all_runs else {}
    documents: dict[str, set[str]] = {}
    sheets = []
    for of_file in own:
        keys = [_key(value, targets) for value in of_file.values[metric]]
        documents.setdefault(of_file.file.entrant, set()).update(keys)
        path = of_file.file.path
        sheets.append((str(path), _sheet(of_file, metric, keys, way, repeats.get(path))))
    shared = _shared_documents(documents)
    lost = [*_lacks_of_metric(of_task, metric), *_strangers(task, documents, shared, own)]
    notes = [*_targets_note(task, targets), *_overlap(task, documents, shared), *unlike_reported(metric, own)]
    notes = [way.note, *notes] if way.note else notes
    return TaskComparison(task, len(shared), tuple(sheets), tuple(notes), tuple(lost))


Targets = Mapping[str, Mapping[str, tuple[Path, str]]]
"""Where each target of an item stands first: the file, and its row."""


def _differing_targets(own: Sequence[Scores], metric: str) -> Targets:
    """Return the items that runs scored against different targets."""
    places: dict[str, dict[str, tuple[Path, str]]] = {}
    for scores in own:
        for value in scores.values[metric]:
            places.setdefault(value.item, {}).setdefault(value.target, (scores.file.path, value.row))
    return {item: targets for item, targets in places.items() if len(targets) > 1}


def _key(value: Value, targets: Targets) -> str:
    """Return the item's id; where targets differ, each is an item of its own."""
    return f"{value.item}@{value.target[:6]}" if value.item in targets else value.item


def _targets_note(task: str, targets: Targets) -> list[str]:
    if not targets:
        return []
    item = min(targets)
    places = " and in ".join(f"{path}, {row}" for path, row in targets[item].values())
    return [
        f"{len(targets):,} documents of {task} have different targets in different runs, and scores against different "
        f"targets are not compared: {item} in {places}"
    ]


def _shared_documents(documents: Mapping[str, set[str]]) -> set[str]:
    """Return the items on which two entrants or more have a row."""
    seen: set[str] = set()
    shared: set[str] = set()
    for items in documents.values():
        shared |= seen & items
        seen |= items
    return shared


def _lacks_of_metric(of_task: Sequence[Scores], metric: str) -> list[str]:
    return [
        f"{scores.file.path} has no {metric} (it has {' | '.join([*scores.values, *scores.unusable]) or 'no metric'}), "
        f"so {scores.file.entrant} is not compared on {scores.file.task}"
        for scores in of_task
        if metric not in scores.values
    ]


def _strangers(task: str, documents: Mapping[str, set[str]], shared: set[str], own: Sequence[Scores]) -> list[str]:
    """Name the entrants of which no document is shared with another."""
    if len(documents) < 2:
        only = next(iter(documents), "nobody")
        return [f"{task}: only {only} has samples of it, and nothing can be compared"]
    paths = {scores.file.entrant: scores.file.path for scores in own}
    return [
        f"{paths[name]}: no document or target of {name} is in another's samples of {task}: another version, split or "
        "selection of the task? (documents that hold images hash differently in every run)"
        for name, items in documents.items()
        if not items & shared
    ]


def _overlap(task: str, documents: Mapping[str, set[str]], shared: set[str]) -> list[str]:
    """Say how many documents each entrant has, where they are not the same for all."""
    compared = {name: items for name, items in documents.items() if items & shared}
    if len(compared) < 2 or len(set(map(frozenset, compared.values()))) == 1:
        return []
    common = len(set.intersection(*compared.values()))
    sizes = [f"{name}: {len(items):,}" for name, items in compared.items()]
    return [f"{task}: not all have the same documents ({some(sizes, most=10)}); {common:,} are common to all"]


def _repeats(own: Sequence[Scores]) -> dict[Path, int]:
    """Number the runs of each entrant in the order of time, from 1."""
    runs: dict[str, list[Path]] = {}
    for scores in own:
        runs.setdefault(scores.file.entrant, []).append(scores.file.path)
    return {path: number for paths in runs.values() for number, path in enumerate(paths, 1)}


def _sheet(scores: Scores, metric: str, keys: Sequence[str], way: Direction, repeat: int | None) -> pd.DataFrame:
    values = scores.values[metric]
    frame = pd.DataFrame(
        {
            "item": keys,
            "model": scores.file.entrant,
            "score": [None if value.score is None else way.sign * value.score for value in values],
            "judge": way.judge,
            "task": scores.file.task,
            "category": scores.file.task,
            "reason": [value.reason for value in values],
        },
        index=pd.Index([value.row.removeprefix("line ") for value in values], name="line"),
    ).astype({"score": float})
    return frame if repeat is None else frame.assign(repeat=repeat)


def _random_names(files: Iterable[Samples]) -> list[str]:
    folders = sorted({file.entrant: file.path.parent for file in files if file.has_random_name}.items())
    if not folders:
        return []
    labels = some([f"{name}={folder}" for name, folder in folders], " ", most=5)
    return [
        f"lm_eval was run without the name of a model, and {len(folders)} entrants are called as it drew at random; "
        f"say whose they are with labels: {labels}"
    ]


def _weights(parts: Sequence[TaskComparison]) -> list[str]:
    """Say what each task weighs where several are ranked together."""
    sizes = {part.task: part.documents for part in parts if part.documents}
    if len(sizes) < 2:
        return []
    shown = some([f"{task}: {size:,}" for task, size in sizes.items()], most=10)
    return [f"{len(sizes)} tasks ({shown}): ranked together, every document counts the same; --by task ranks each"]
