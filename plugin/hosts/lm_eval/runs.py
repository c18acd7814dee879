"""The runs that are ranked together: this one, written as lm-eval writes it, and those that lie on disk.

They are laid out in one folder and read from there, as `podium rank` would read them: the numbers agree because it is
the same way that they go.
"""

import shutil
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.errors import UsageError
from podium.formats.files import split_label
from podium.formats.lm_eval_layout import SAMPLES, Samples, describe_samples, is_samples
from podium.hosts.lm_eval.silence import silence
from podium.storage.drafts import folder_written_whole, written_whole

THIS = "this run"


@dataclass(frozen=True, slots=True)
class RunFolders:
    """Runs laid out to be read.

    Attributes:
        model: the model that this run is.
        sources: what to read: a folder per model, `label=path` where there is a label.
        origins: where the files of each folder really are.
        notes: what was left out.
    """

    model: str
    sources: tuple[str, ...]
    origins: Mapping[str, str]
    notes: tuple[str, ...]

    def name_places(self, text: str) -> str:
        """Return a message with the real places of files."""
        for folder, origin in self.origins.items():
            text = text.replace(folder, origin)
        return text


def other_samples(against: Sequence[str], output_path: str | None) -> list[Samples]:
    """Describe the samples of other runs: in the folders that were named, else in the output path.

    Args:
        against: folders, each optionally `label=path`.
    """
    if not against:
        if not output_path:
            other = "name other runs with --ranker_against, or an --output_path"
            raise UsageError(f"nothing to rank this run against: {other}")
        return _samples_in(results_folder(output_path), None)
    files: list[Samples] = []
    for source in against:
        label, path = split_label(source)
        if not Path(path).exists():
            raise UsageError(f"--ranker_against {source}: no such file or directory: {path}")
        own = _samples_in(Path(path), label)
        if not own:
            raise UsageError(
                f"--ranker_against {source}: there are no samples of lm-eval; give the output folder of a run with "
                "--log_samples"
            )
        files += own
    return files


def results_folder(output_path: str) -> Path:
    """Return the folder in which lm-eval keeps the results of all models: its output path may name a file."""
    path = Path(output_path)
    return path.parent if path.suffix == ".json" else path


def lay_out(folder: Path, own: Path, label: str | None, others: Sequence[Samples]) -> RunFolders:
    """Lay out other runs beside this one: links to the samples of each model, with their results, in a folder.

    Args:
        folder: where to.
        own: the folder of this run, as `write_run` returned it.
        label: the name of this run's model, in place of lm-eval's.
        others: samples of other runs. Earlier runs of this model, and tasks that it did not run, are left out.
    """
    mine = _samples_in(own, label)
    model, tasks = mine[0].model, {file.task for file in mine}
    earlier = dict.fromkeys(str(file.path.parent) for file in others if file.model == model)
    kept = [file for file in others if file.model != model and file.task in tasks]
    sources, origins = [f"{label}={own}" if label else str(own)], {str(own): THIS}
    models: dict[tuple[str, Path], list[Samples]] = {}
    for file in kept:
        models.setdefault((file.model, file.path.absolute().parent), []).append(file)
    for number, ((other, origin), files) in enumerate(models.items(), 1):
        place = folder / f"{number}" / origin.name
        place.mkdir(parents=True)
        for path in {path for file in files for path in (file.path, file.results and file.results.path) if path}:
            (place / path.name).symlink_to(path.absolute())
        sources.append(f"{other}={place}" if files[0].has_label else str(place))
        origins[str(place)] = str(files[0].path.parent)
    notes = tuple(f"this run takes the place of earlier runs of {model} in {place}" for place in earlier)
    return RunFolders(model, tuple(sources), origins, notes)


def write_run(folder: Path, results: Mapping[str, Any], tracker: Any) -> Path:
    """Write this run as lm-eval writes it; return its folder.

    Args:
        results: what `simple_evaluate` returned, samples included; it is left as it is.
        tracker: the run's `EvaluationTracker`, which knows the model's name.
    """
    from lm_eval.loggers import EvaluationTracker

    samples = {task: [dict(row) for row in rows] for task, rows in results["samples"].items()}
    plain = {name: value for name, value in results.items() if name != "samples"}
    with silence(), folder_written_whole(folder) as draft:
        writer = EvaluationTracker(output_path=str(draft))
        writer.general_config_tracker = copy(tracker.general_config_tracker)
        writer.save_results_aggregated(results=plain, samples=samples)
        for task, rows in samples.items():
            writer.save_results_samples(task_name=task, samples=rows)
    paths = [path for path in folder.rglob("*.jsonl") if SAMPLES.match(path.name)]
    if not paths:
        raise UsageError("lm-eval gave no samples of this run; there is nothing to rank")
    return paths[0].parent


def save_run(run: Path, output_path: str) -> tuple[Path, ...]:
    """Save a run where lm-eval will save it, before it does; return the files.

    Args:
        run: its folder, as `write_run` returned it.
    """
    folder = results_folder(output_path)
    folder = folder if folder != Path(output_path) else folder / run.name
    folder.mkdir(parents=True, exist_ok=True)
    saved = tuple(folder / path.name for path in sorted(run.iterdir()) if path.is_file())
    for path in saved:
        with written_whole(path) as draft:
            shutil.copyfile(run / path.name, draft)
    return saved


def _samples_in(path: Path, label: str | None) -> list[Samples]:
    paths = [path] if path.is_file() else sorted(file for file in path.rglob("samples_*") if file.is_file())
    return describe_samples([path for path in paths if is_samples(path)], label)
