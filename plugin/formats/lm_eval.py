"""lm-eval's output folders: scores of several models on the same documents, compared document by document."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from podium.errors import DataError, UsageError
from podium.formats.lm_eval_judged import judged_in
from podium.formats.lm_eval_layout import (
    Results,
    Samples,
    beside,
    by_cell,
    is_samples,
    newest,
    refuse_strangers,
    results_of,
    samples_at,
    samples_beside,
    without_samples,
)
from podium.formats.lm_eval_metrics import Direction, chosen, direction, unlike_reported
from podium.formats.lm_eval_scores import Scores, Value, scores_of
from podium.hookspecs import Gathered, Reading
from podium.text import some

if TYPE_CHECKING:
    from podium.formats.files import Found

TASK_COLUMNS = ("task", "category")
"""Columns that hold the task: a condition on one spares reading the other tasks."""
Values = Mapping[str, Sequence[Value]]
"""By entrant."""


@dataclass(slots=True)
class Claimed:
    """Files of lm-eval's among those that were found.

    Attributes:
        samples: to be read.
        silent: results of runs, by folder and entrant; those with samples are taken out.
        paths: of all of them.
        notes: newer runs without samples.
    """

    samples: list[Samples] = field(default_factory=list)
    silent: list[tuple[str, Results]] = field(default_factory=list)
    paths: set[Path] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


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


def gather(found: Sequence["Found"], reading: Reading) -> Gathered:
    """Read the samples files among what was found, and leave the other files alone.

    Scores are compared where task, document and target agree; a document's place and its prompt do not matter. Where
    podium's filter left verdicts, those are read, unless a metric is asked for.

    Raises:
        UsageError: names that stand for several models, or a task or metric that is not there.
        DataError: a damaged file, or nothing to compare.
        NotIdentifiedError: several metrics, and nothing says which.
    """
    claimed = _claimed(found)
    if not claimed.paths:
        return Gathered()
    lost = [without_samples(entrant, one) for entrant, one in claimed.silent]
    files = _of_tasks(claimed.samples, reading.where)
    if not files:
        raise _nothing(lost)
    files, notes = (_refused_strangers(files), []) if reading.all_runs else newest(files)
    notes = claimed.notes + notes
    judged = judged_in([] if reading.metrics else files)
    if judged.sheets:
        told = (*notes, *judged.notes)
        return Gathered(judged.sheets, frozenset(claimed.paths), told, (*lost, *judged.lost))
    scores, empty = _scores(files)
    lost += empty
    if not scores:
        raise _nothing(lost)
    choice = chosen(scores, reading.metrics)
    lost += [note for one in scores for note in _damages(one)]
    parts = [
        _compared(task, metric, scores, reading.all_runs)
        for task, metrics in choice.metrics.items()
        for metric in metrics
    ]
    lost += [note for part in parts for note in part.lost]
    if not any(part.comparable for part in parts):
        raise _nothing(lost)
    notes += [*_unnamed(files), *choice.notes, *(note for part in parts for note in part.notes), *_weights(parts)]
    sheets = tuple(sheet for part in parts for sheet in part.sheets)
    return Gathered(sheets, frozenset(claimed.paths), tuple(notes), tuple(lost))


def _claimed(found: Sequence["Found"]) -> Claimed:
    claimed = Claimed()
    for one in found:
        names = {path for path in one.paths if is_samples(path)}
        results = [each for each in map(results_of, one.paths) if each is not None]
        if not one.searched:
            names |= {path for each in results for path in samples_beside(each)}
        if names or results:
            _claim(claimed, one.label, sorted(names), results)
    return claimed


def _claim(claimed: Claimed, label: str | None, paths: Sequence[Path], results: Sequence[Results]) -> None:
    """Add the files of one source.

    Raises:
        UsageError: a label, and several models.
    """
    known = beside(paths)
    own = [samples_at(path, label, [one for one in known if one.path.parent == path.parent]) for path in paths]
    names = sorted({one.results.model for one in own if one.results and one.results.model})
    if label is not None and len(names) > 1:
        raise UsageError(
            f"the label {label!r} stands for one entrant, and its files are of {len(names)}: {some(names, most=5)}; "
            "label their folders or results files one by one"
        )
    told = {one.results.path for one in own if one.results}
    for one in [one for one in results if one.path not in told]:
        last = _last_samples(one, own)
        if last is None:
            claimed.silent.append((label or one.model or one.path.parent.name, one))
        elif last.time < one.time:
            why = without_samples(f"the newest run of {last.entrant}", one)
            claimed.notes.append(f"{why}; until then those of {last.time} count")
    claimed.paths |= {*paths, *(one.path for one in results)}
    there = {one.path.resolve() for one in claimed.samples}
    claimed.samples += [one for one in own if one.path.resolve() not in there]


def _last_samples(results: Results, samples: Sequence[Samples]) -> Samples | None:
    """Return the newest samples of the same model in the same folder; None where no run of it has any."""
    own = [
        one
        for one in samples
        if one.path.parent == results.path.parent and one.results is not None and one.results.model == results.model
    ]
    return max(own, key=lambda one: one.time, default=None)


def _of_tasks(samples: Sequence[Samples], where: Sequence[tuple[str, str]]) -> list[Samples]:
    """Keep the tasks that conditions ask for.

    Raises:
        UsageError: one that is not there.
    """
    kept = list(samples)
    for value in [value for column, value in where if column in TASK_COLUMNS]:
        tasks = sorted({one.task for one in kept})
        if kept and value not in tasks:
            raise UsageError(f"no samples of the task {value!r}; tasks: {some(tasks)}")
        kept = [one for one in kept if one.task == value]
    return kept


def _refused_strangers(files: Sequence[Samples]) -> list[Samples]:
    """Return the runs of each entrant and task, the oldest first; refuse runs of models that are not the same."""
    cells = by_cell(files).values()
    for runs in cells:
        refuse_strangers(runs)
    return [one for runs in cells for one in runs]


def _nothing(lost: Sequence[str]) -> DataError:
    return DataError(
        f"nothing to compare: {some(lost, '; ', most=5) or 'no two models have scores on the same documents'}",
        remedy="give the samples of two models or more on the same documents of a task",
    )


def _scores(files: Sequence[Samples]) -> tuple[list[Scores], list[str]]:
    """Read the samples; say which files hold none."""
    read = [scores_of(one) for one in files]
    empty = [one.file for one in read if not one.documents]
    told = [f"{one.path}: no whole row of samples, so {one.entrant} is missing; run {one.task} again" for one in empty]
    return [one for one in read if one.documents], told


def _damages(one: Scores) -> list[str]:
    """Say what a samples file lacks."""
    path, promised = one.file.path, one.promised
    if one.cut is not None:
        return [f"{path}, {one.cut}: cut off, so its document is missing; run {one.file.task} again"]
    if promised is not None and one.documents < promised:
        return [f"{path} holds {one.documents:,} of {promised:,} documents; run {one.file.task} again"]
    return []


@dataclass(frozen=True, slots=True)
class Compared:
    """The scores of one task by one metric.

    Attributes:
        task: its name.
        documents: on which two entrants or more have a score.
        sheets: source and scores, a sheet per file.
        comparable: whether any two entrants share a document.
        notes: what people should know.
        lost: what could not be compared.
    """

    task: str
    documents: int
    sheets: tuple[tuple[str, pd.DataFrame], ...]
    comparable: bool
    notes: tuple[str, ...]
    lost: tuple[str, ...]


def _compared(task: str, metric: str, scores: Sequence[Scores], all_runs: bool) -> Compared:
    """Put together what all entrants' runs say of a task by a metric."""
    of_task = [one for one in scores if one.file.task == task]
    own = [one for one in of_task if metric in one.values]
    way = direction(task, metric, own)
    targets = _targets(own, metric)
    keyed = [(one, [_key(value, targets) for value in one.values[metric]]) for one in own]
    documents: dict[str, set[str]] = {}
    for one, keys in keyed:
        documents.setdefault(one.file.entrant, set()).update(keys)
    times = _repeats(own) if all_runs else {}
    sheets = tuple(
        (str(one.file.path), _sheet(one, metric, keys, way, times.get(one.file.path))) for one, keys in keyed
    )
    shared = _shared(documents)
    lost = [*_lacking(of_task, metric), *_strangers(task, documents, shared, own)]
    notes = [way.note, *_targets_told(task, metric, own, targets), *_overlap(task, documents, shared)]
    notes += [_unlike(metric, way, own)]
    return Compared(task, len(shared), sheets, bool(shared), tuple(note for note in notes if note), tuple(lost))


def _targets(own: Sequence[Scores], metric: str) -> dict[str, set[str]]:
    """Return the items that runs scored against different targets."""
    found: dict[str, set[str]] = {}
    for one in own:
        for value in one.values[metric]:
            found.setdefault(value.item, set()).add(value.target)
    return {item: targets for item, targets in found.items() if len(targets) > 1}


def _key(value: Value, targets: Mapping[str, set[str]]) -> str:
    """Return the item's id; where targets differ, each is an item of its own."""
    return f"{value.item}@{value.target[:6]}" if value.item in targets else value.item


def _targets_told(task: str, metric: str, own: Sequence[Scores], targets: Mapping[str, set[str]]) -> list[str]:
    if not targets:
        return []
    item = min(targets)
    places: dict[str, str] = {}
    for one in own:
        for value in one.values[metric]:
            if value.item == item:
                places.setdefault(value.target, f"{one.file.path}, {value.row}")
    return [
        f"{len(targets):,} documents of {task} have different targets in different runs, and scores against different "
        f"targets are not compared: {item} in {' and in '.join(places.values())}"
    ]


def _shared(documents: Mapping[str, set[str]]) -> set[str]:
    """Return the items on which two entrants or more have a row."""
    once: set[str] = set()
    twice: set[str] = set()
    for items in documents.values():
        twice |= once & items
        once |= items
    return twice


def _lacking(of_task: Sequence[Scores], metric: str) -> list[str]:
    return [
        f"{one.file.path} has no {metric} (it has {' | '.join([*one.values, *one.unusable]) or 'no metric'}), so "
        f"{one.file.entrant} is not compared on {one.file.task}"
        for one in of_task
        if metric not in one.values
    ]


def _strangers(task: str, documents: Mapping[str, set[str]], shared: set[str], own: Sequence[Scores]) -> list[str]:
    """Name the entrants of which no document is shared with another."""
    if len(documents) < 2:
        only = next(iter(documents), "nobody")
        return [f"{task}: only {only} has samples of it, and nothing can be compared"]
    paths = {one.file.entrant: one.file.path for one in own}
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


def _unlike(metric: str, way: Direction, own: Sequence[Scores]) -> str | None:
    odd = unlike_reported(metric, own) if way.judge in (metric, f"{metric} (negated)") else []
    if not odd:
        return None
    return (
        f"the mean of {metric} over the documents is not the figure that lm-eval reports, which is aggregated "
        f"otherwise: {some(odd, most=3)}"
    )


def _repeats(own: Sequence[Scores]) -> dict[Path, int]:
    """Number the runs of each entrant in the order of time, from 1."""
    numbers: dict[str, int] = {}
    found = {}
    for one in own:
        numbers[one.file.entrant] = numbers.get(one.file.entrant, 0) + 1
        found[one.file.path] = numbers[one.file.entrant]
    return found


def _sheet(one: Scores, metric: str, keys: Sequence[str], way: Direction, repeat: int | None) -> pd.DataFrame:
    values = one.values[metric]
    frame = pd.DataFrame(
        {
            "item": keys,
            "model": one.file.entrant,
            "score": [None if value.score is None else way.sign * value.score for value in values],
            "judge": way.judge,
            "task": one.file.task,
            "category": one.file.task,
            "reason": [value.reason for value in values],
        },
        index=pd.Index([value.row.removeprefix("line ") for value in values], name="line"),
    ).astype({"score": float})
    return frame if repeat is None else frame.assign(repeat=repeat)


def _unnamed(files: Iterable[Samples]) -> list[str]:
    found = sorted({one.entrant: one.path.parent for one in files if one.unnamed}.items())
    if not found:
        return []
    shown = some([f"{name}={folder}" for name, folder in found], " ", most=5)
    return [
        f"lm_eval was run without the name of a model, and {len(found)} entrants are called as it drew at random; say "
        f"whose they are with labels: {shown}"
    ]


def _weights(parts: Sequence[Compared]) -> list[str]:
    """Say what each task weighs where several are ranked together."""
    sizes = {part.task: part.documents for part in parts if part.documents}
    if len(sizes) < 2:
        return []
    shown = some([f"{task}: {size:,}" for task, size in sizes.items()], most=10)
    return [f"{len(sizes)} tasks ({shown}): ranked together, every document counts the same; --by task ranks each"]
