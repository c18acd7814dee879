"""Name the runs of lm-eval by their settings, and select those that count."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from podium.comparability.joined_names import note_names_joined
from podium.comparability.run_settings import name_runs, notes_on_labels
from podium.data.formats.lm_eval_layout import Samples
from podium.data.formats.lm_eval_run_records import documents_of_limit, run_of_samples
from podium.data.formats.run_folders import FiledRun, choose_runs
from podium.errors import UsageError
from podium.names import joined_name
from podium.notices.notice import Notice
from podium.run_record import RunRecord, settings_as_pairs


def name_by_settings(
    files: Sequence[Samples], *, names_joined: bool = False
) -> tuple[list[Samples], list[Notice]]:
    """Name the runs of one model that differ in a setting by this setting: `m (shots=5)`.

    All tasks of a results file get the same name. Names that are labels of the user are not
    changed, and neither are those of models whose runs differ in no setting.

    Args:
        files: the samples files.
        names_joined: whether names that look the same are names of one model.

    Returns:
        The files, in the same order, with their names and `named_settings`; and notes on the names
        that were joined, on each label whose runs differ in settings, and on each model with new
        names.
    """
    notes = []
    if names_joined:
        notes = note_names_joined(file.model for file in files)
        files = [replace(file, model=joined_name(file.model)) for file in files]
    records = [run_of_samples(file) for file in files]
    if names_joined:
        records = [_with_joined_arguments(record) for record in records]
    labelled_paths = {str(file.path) for file in files if file.has_label}
    results_paths = {str(file.path): str(file.results.path) for file in files if file.results}
    named_files = []
    new_names: dict[str, set[str]] = defaultdict(set)
    for file, run in zip(files, name_runs(records, labelled_paths, results_paths), strict=True):
        if run.model != file.model:
            new_names[file.model].add(run.model)
        named_files.append(replace(file, model=run.model, named_settings=run.named_settings))
    notes += notes_on_labels(records, labelled_paths)
    for model, names_of_model in new_names.items():
        notes.append(
            Notice("settings-name-models", {"model": model, "names": sorted(names_of_model)})
        )
    return named_files, notes


def _with_joined_arguments(run: RunRecord) -> RunRecord:
    """Return a run with `joined_name` applied to the texts among its model arguments.

    One of these may be the name of the model, which would otherwise differ invisibly.
    """
    arguments = {}
    for name, written in run.model_arguments:
        value = json.loads(written)
        arguments[name] = joined_name(value) if isinstance(value, str) else value
    return replace(run, model_arguments=settings_as_pairs(arguments))


def select_runs(
    files: Iterable[Samples], *, every: bool = False
) -> tuple[list[Samples], list[Notice]]:
    """Select a run of each model and task: the newest of those on most documents.

    A run that `--limit` cut counts only if there is none on more documents. Among runs that were
    not cut, the newest counts.

    Args:
        files: the samples files, named by their settings. A file that is given twice counts once.
        every: whether to select all runs instead, in the order of time.

    Returns:
        The selected files, grouped by model and task, and notes on the runs that are left out.

    Raises:
        UsageError: runs with the same name are in several folders.
    """
    files_by_question: dict[tuple[str, str], list[Samples]] = defaultdict(list)
    by_path = {file.path: file for file in files}
    for file in sorted(by_path.values(), key=lambda file: (file.time, str(file.path))):
        files_by_question[file.model, file.task].append(file)
    runs = []
    for question, repeats in files_by_question.items():
        _reject_several_folders(repeats)
        for file in repeats:
            run = FiledRun(
                path=file.path,
                who=file.model,
                what=file.task,
                question=question,
                time=file.time,
                cut_to=documents_of_limit(file),
            )
            runs.append(run)
    chosen_files, _, left_out = choose_runs(runs, every=every)
    return [by_path[run.path] for run in chosen_files], left_out


def _reject_several_folders(runs: Sequence[Samples]) -> None:
    """Check that runs with the same model and task are in one folder.

    Folders whose paths look the same count as one.

    Raises:
        UsageError: they are in several folders.
    """
    folder = runs[0].path.parent
    for run in runs[1:]:
        other = run.path.parent
        other_name = joined_name(str(other.absolute()))
        if other_name == joined_name(str(folder.absolute())):
            continue
        # A label is one word. Therefore, the proposed one is the model's name without settings.
        without_settings, _, _ = runs[0].model.partition(" ")
        _, _, label = without_settings.rpartition("/")
        remedy = f"label them ({label}-1={folder} {label}-2={other}), or leave one out"
        raise UsageError(
            f"{runs[0].model!r} on {runs[0].task} lies in two folders: {folder} and {other}; "
            f"{remedy}"
        )
