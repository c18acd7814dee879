"""Collect the folders of the runs that are ranked together: this run, and runs on disk.

One folder links to all of them. It is read as `podium rank` reads folders, so that both give the
same figures.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.data.formats.files import split_label
from podium.data.formats.lm_eval_layout import (
    SAMPLES_NAME,
    TIME,
    TOURNAMENTS,
    Samples,
    describe_samples,
    is_samples,
)
from podium.data.formats.lm_eval_selection import name_by_settings
from podium.errors import UsageError
from podium.hosts.lm_eval.lm_eval_compatibility import write_results
from podium.notices.notice import Notice
from podium.storage.atomic_files import atomic_file, atomic_folder

THIS_RUN = "this run"
"""Name of this run in messages."""
NAME_OF_UNSAVED_RUN = "this run (lm-eval saved no samples)"
"""Name of this run in the tournament's log if it has no output path."""


@dataclass(frozen=True, slots=True)
class RunFolders:
    """Folders of the runs to rank together.

    Attributes:
        model: the name of this run's model.
        sources: the folders, in the form in which `podium rank` takes them. This run's is first.
        origins: the name of each folder in messages: `this run`, which is first, or the folder that
            it links to.
        models: the names of all models, this run's first.
        notes: notes on the names of runs, and on earlier runs that this run replaces.
    """

    model: str
    sources: tuple[str, ...]
    origins: Mapping[str, str]
    models: tuple[str, ...]
    notes: tuple[Notice, ...]

    def name_origins(self, text: str) -> str:
        """Return a message in which each folder in `origins` is replaced by its name."""
        for folder, origin in self.origins.items():
            text = text.replace(folder, origin)
        return text

    def name_saved(self, text: str, output_path: str | None) -> str:
        """Return a text in which files of runs have the names under which the user has them.

        The folders here are removed after the ranking. lm-eval saves the samples of this run later,
        under a time that is not known yet: a `*` stands for the time. If lm-eval does not save
        them, the name says so.

        Args:
            text: the text.
            output_path: lm-eval's output path; None if it saves nothing.
        """
        this_run = next(iter(self.origins))
        saved = NAME_OF_UNSAVED_RUN
        if output_path:
            saved = str(_folder_of_saved(Path(this_run), output_path))
            timed = rf"({re.escape(this_run)}/samples_.+)_{TIME}\.jsonl"
            text = re.sub(timed, r"\1_*.jsonl", text)
        return self.name_origins(text.replace(this_run, saved))


def find_other_samples(against: Sequence[str], output_path: str | None) -> list[Samples]:
    """Return the files of samples of other runs, source by source.

    Args:
        against: folders of other runs, each optionally `label=path`. If there are none, the folder
            of the output path is searched, where no samples are no error.
        output_path: lm-eval's output path; None if it is not given.

    Raises:
        UsageError: neither is given, or a folder in `against` has no samples.
    """
    if not against and not output_path:
        raise UsageError(
            "nothing to rank this run against: name other runs with --ranker_against, "
            "or an --output_path"
        )
    if not against:
        return _samples_in(results_folder(str(output_path)), label=None)
    files: list[Samples] = []
    for source in against:
        label, path = split_label(source)
        if not Path(path).exists():
            raise UsageError(f"--ranker_against {source}: no such file or directory: {path}")
        samples = _samples_in(Path(path), label=label)
        if not samples:
            raise UsageError(
                f"--ranker_against {source}: there are no samples of lm-eval; "
                "give the output folder of a run with --log_samples"
            )
        files += samples
    return files


def results_folder(output_path: str) -> Path:
    """Return the folder of lm-eval's results.

    It is the output path, or the parent of an output path that ends in .json.
    """
    path = Path(output_path)
    return path.parent if path.suffix == ".json" else path


def podium_folder(output_path: str) -> Path:
    """Return the folder of podium's tournaments and pinned reference, beside that of the results.

    It need not exist. Its name is that of the folder of results with `TOURNAMENTS` after it.
    It is not in the folder of results, because `podium rank` reads whole folders.
    """
    folder = results_folder(output_path).absolute()
    return folder.with_name(f"{folder.name}{TOURNAMENTS}")


def collect_runs(
    folder: Path,
    run: Path,
    label: str | None,
    others: Sequence[Samples],
    *,
    are_read_apart: bool = False,
    every_run: bool = False,
    names_joined: bool = False,
) -> RunFolders:
    """Link the samples and results of other models on this run's tasks into a folder.

    Samples of other tasks are left out. Samples of this run's model are left out with a note, since
    this run replaces them, unless `every_run` is True.

    Args:
        folder: the folder, in which a subfolder is made per model and run.
        run: the folder of this run, which has samples.
        label: name of this run's model; None for the name of its folder.
        others: files of samples of other runs.
        are_read_apart: whether each folder is read by itself, as responses are. Names that are made
            of differing settings are then given as labels. Folders that are read together are named
            by their reader.
        every_run: whether earlier runs of this run's model with the same settings are linked into
            this run's folder, so that they count as repeats.
        names_joined: whether names of models that look the same are names of one model.

    Returns:
        The folders of this run and of the others.
    """
    this_run = _samples_in(run, label=label)
    tasks = {file.task for file in this_run}
    same_tasks = [file for file in others if file.task in tasks]
    files = [*this_run, *same_tasks]
    named_files, notes_on_settings = name_by_settings(files, names_joined=names_joined)
    samples = named_files[: len(this_run)]
    others = named_files[len(this_run) :]
    model = samples[0].model
    earlier = [file for file in others if file.model == model]
    replaced: dict[str, None] = {}
    if every_run:
        _link_files(earlier, run)
    else:
        replaced = dict.fromkeys(str(file.path.parent) for file in earlier)
    models: dict[tuple[str, Path], list[Samples]] = {}
    for file in others:
        if file.model != model:
            models.setdefault((file.model, file.path.absolute().parent), []).append(file)
    sources = [_source_of(samples[0], run, are_read_apart)]
    origins = {str(run): THIS_RUN}
    for number, ((_, origin), files) in enumerate(models.items(), 1):
        place = folder / f"{number}" / origin.name
        place.mkdir(parents=True)
        _link_files(files, place)
        sources.append(_source_of(files[0], place, are_read_apart))
        origins[str(place)] = str(files[0].path.parent)
    notes = tuple(Notice("runs-replaced", {"model": model, "place": place}) for place in replaced)
    notes_on_names = notes_on_settings if are_read_apart else []
    names = dict.fromkeys([model, *(name for name, _ in models)])
    return RunFolders(model, tuple(sources), origins, tuple(names), (*notes_on_names, *notes))


def _source_of(file: Samples, place: Path, are_read_apart: bool) -> str:
    """Return a folder in the form in which `podium rank` takes it: `MODEL=FOLDER`, or the folder.

    The name is given if the user gave it as a label, or if it is made of differing settings and the
    folders are read apart.
    """
    is_labelled = file.has_label or (are_read_apart and file.named_settings)
    return f"{file.model}={place}" if is_labelled else str(place)


def _link_files(files: Sequence[Samples], place: Path) -> None:
    """Link samples files, and the results files beside them, into a folder."""
    paths = {file.path for file in files}
    paths |= {file.results.path for file in files if file.results}
    for path in paths:
        (place / path.name).symlink_to(path.absolute())


def write_run(folder: Path, results: Mapping[str, Any], tracker: Any) -> Path:
    """Write this run into a new folder as lm-eval does, and return the folder of its model.

    Args:
        folder: the new folder, which appears only when it is complete.
        results: the results that lm-eval returned.
        tracker: lm-eval's tracker of the evaluation, which writes the files.

    Raises:
        UsageError: the run has no samples.
    """
    with atomic_folder(folder) as new_folder:
        write_results(new_folder, results, tracker)
    paths = [path for path in folder.rglob("*.jsonl") if SAMPLES_NAME.match(path.name)]
    if not paths:
        raise UsageError("lm-eval gave no samples of this run; there is nothing to rank")
    return paths[0].parent


def save_run(run: Path, output_path: str) -> tuple[Path, ...]:
    """Copy the files of `write_run` to where lm-eval will save its own; return the copies.

    That is a subfolder of the output path with the name of `run`, or the parent of an output path
    that ends in .json. Files of the same name are replaced.
    """
    folder = _folder_of_saved(run, output_path)
    folder.mkdir(parents=True, exist_ok=True)
    saved = tuple(folder / path.name for path in sorted(run.iterdir()) if path.is_file())
    for path in saved:
        with atomic_file(path) as copy:
            shutil.copyfile(run / path.name, copy)
    return saved


def _folder_of_saved(run: Path, output_path: str) -> Path:
    """Return the folder in which lm-eval will save the files of a run.

    It is a subfolder of the output path with the name of `run`, or the parent of an output path
    that ends in .json.
    """
    folder = results_folder(output_path)
    return folder / run.name if folder == Path(output_path) else folder


def _samples_in(path: Path, label: str | None) -> list[Samples]:
    """Return the samples files in a folder and its subfolders, sorted, or the one at a path.

    Empty if there are none.

    Args:
        path: a folder or a file.
        label: the user's name for the model; None for the name of the folder.
    """
    paths = [path]
    if not path.is_file():
        paths = sorted(file for file in path.rglob("samples_*") if file.is_file())
    return describe_samples([path for path in paths if is_samples(path)], label)
