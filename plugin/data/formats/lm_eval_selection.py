"""Name the runs of lm-eval by their settings, and select those that count."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from podium.comparability.run_settings import name_runs
from podium.data.formats.lm_eval_layout import Samples
from podium.data.formats.lm_eval_run_records import run_of_samples
from podium.data.formats.run_folders import FiledRun, choose_runs
from podium.errors import UsageError
from podium.notices.notice import Notice


def name_by_settings(files: Sequence[Samples]) -> tuple[list[Samples], list[Notice]]:
    """Name the runs of one model that differ in a setting by this setting: `m (shots=5)`.

    All tasks of a results file get the same name. Names that are labels of the user are not
    changed, and neither are those of models whose runs differ in no setting.

    Returns:
        The files, in the same order, with their names and `named_settings`, and a note on each
        model with new names.
    """
    records = [run_of_samples(file) for file in files]
    labelled = {str(file.path) for file in files if file.has_label}
    evaluations = {str(file.path): str(file.results.path) for file in files if file.results}
    named = []
    names: dict[str, set[str]] = defaultdict(set)
    for file, run in zip(files, name_runs(records, labelled, evaluations), strict=True):
        if run.model != file.model:
            names[file.model].add(run.model)
        named.append(replace(file, model=run.model, named_settings=run.named_settings))
    notes = [
        Notice("settings-name-models", {"model": model, "names": sorted(given)})
        for model, given in names.items()
    ]
    return named, notes


def select_runs(
    files: Iterable[Samples], *, every: bool = False
) -> tuple[list[Samples], list[Notice]]:
    """Select the newest run of each model and task.

    Args:
        files: the samples files, named by their settings. A file that is given twice counts once.
        every: whether to select all runs instead, in the order of time.

    Returns:
        The selected files, grouped by model and task, and notes on the runs that are left out.

    Raises:
        UsageError: runs with the same name are in several folders.
    """
    by_question: dict[tuple[str, str], list[Samples]] = defaultdict(list)
    by_path = {file.path: file for file in files}
    for file in sorted(by_path.values(), key=lambda file: (file.time, str(file.path))):
        by_question[file.model, file.task].append(file)
    runs = []
    for question, repeats in by_question.items():
        _reject_several_folders(repeats)
        runs += [FiledRun(file.path, *question, question, file.time) for file in repeats]
    chosen, _, left_out = choose_runs(runs, every=every)
    return [by_path[run.path] for run in chosen], left_out


def _reject_several_folders(runs: Sequence[Samples]) -> None:
    """Check that runs with the same model and task are in one folder.

    Raises:
        UsageError: they are in several folders.
    """
    folder = runs[0].path.parent
    for run in runs[1:]:
        other = run.path.parent
        if other.absolute() == folder.absolute():
            continue
        # The proposed label is the model's name without settings, since a label is one word.
        short = runs[0].model.partition(" ")[0].rpartition("/")[2]
        remedy = f"label them ({short}-1={folder} {short}-2={other}), or leave one out"
        raise UsageError(
            f"{runs[0].model!r} on {runs[0].task} lies in two folders: {folder} and {other}; "
            f"{remedy}"
        )
