"""Find and read what lm-eval writes with --log_samples.

The files `results_<time>.json` and `samples_<task>_<time>.jsonl` of one run share their time. All
models share a folder if the output path ends in `.json`.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from podium.data.formats.json_text import CutLineError, json_lines
from podium.data.formats.records import LONGEST_LINE, whole_number
from podium.data.formats.run_folders import FiledRun, choose_runs
from podium.errors import DataError, UsageError, named_in_errors
from podium.notices.notice import Notice
from podium.text import parse_json, text_of
from podium.wording import some

TIME = r"\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?"
DATE = r"(?P<date>\d{8}_\d{6})"
"""The time in names of lmms-eval, at their beginning."""
SAMPLES = re.compile(rf"(?:{DATE}_)?samples_(?P<task>.+?)(?:_(?P<time>{TIME}))?\.jsonl?$")
RESULTS = re.compile(rf"(?:.+_(?P<time>{TIME})|{DATE}_results)\.json$")
DETAILS = re.compile(rf"details_(?P<task>.+)_(?P<time>{TIME})\.parquet$")
"""Names of the details of the Open LLM Leaderboard."""
HELM = "per_instance_stats.json"
SAMPLE_FIELDS = frozenset({"doc_id", "doc", "arguments"})
LMMS_FIELDS = frozenset({"doc_id", "target", "filtered_resps", "input"})
"""Fields of a row of lmms-eval, which leaves out `doc` and `arguments`."""
IRRELEVANT_ARGUMENTS = frozenset(
    {"batch_size", "max_batch_size", "num_concurrent", "max_retries", "timeout", "device"}
)


@dataclass(frozen=True)
class Results:
    """A results file with its whole content."""

    path: Path
    content: Mapping[str, Any]

    @cached_property
    def model(self) -> str | None:
        """Name of the model, which lm-eval derives from its arguments."""
        return text_of(self.content.get("model_name"))

    @property
    def time(self) -> str:
        """Time when the run was saved, from the file's name."""
        named = RESULTS.match(self.path.name)
        return (named["time"] or named["date"]) if named else ""

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """Arguments that identify the model, without those such as the batch size."""
        given = self._assignments("model_args")
        return {key: value for key, value in given.items() if key not in IRRELEVANT_ARGUMENTS}

    @cached_property
    def generation(self) -> dict[str, str]:
        """Settings of generation that were given for the run, as text."""
        return {key: text_of(value) or "" for key, value in self._assignments("gen_kwargs").items()}

    def _assignments(self, name: str) -> Mapping[str, Any]:
        """Return an option of the run that is a mapping, or a text such as `a=1,b=2`."""
        given = self.value("config", name)
        if isinstance(given, str):
            # A comma in a value, as in `until=['a', 'b']`, has no name behind it.
            pairs = (part.partition("=") for part in re.split(r",(?=\s*\w+\s*=)", given) if part)
            return {key.strip(): value for key, _, value in pairs}
        return given if isinstance(given, Mapping) else {}

    def value(self, *keys: str) -> Any:
        """Return the value under nested keys; None if there is none."""
        value: Any = self.content
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


@dataclass(frozen=True, slots=True)
class Samples:
    """A samples file with the results of its run.

    Attributes:
        path: the file.
        task: name of the task.
        time: time of the run, from the file's name; empty if unknown.
        model: name of the model.
        has_label: whether the model's name is the user's label.
        results: the results file of the run, None if there is none.
    """

    path: Path
    task: str
    time: str
    model: str
    has_label: bool
    results: Results | None


def _read_results(paths: Iterable[Path]) -> list[Results]:
    """Read the results files of lm-eval among some files; others are left out."""
    read = []
    for path in paths:
        if not RESULTS.match(path.name) or not path.is_file():
            continue
        with suppress(ValueError):
            content = parse_json(path.read_bytes(), parse_int=whole_number)
            is_object = isinstance(content, dict) and "configs" in content
            if is_object and isinstance(content.get("results"), dict):
                read.append(Results(path, content))
    return read


def is_samples(path: Path) -> bool:
    """Return whether a file holds samples, by its name and its first line.

    The details of leaderboards are samples, too.
    """
    named = SAMPLES.match(path.name)
    if named is None:
        return is_details(path)
    if not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            first = parse_json(stream.readline(LONGEST_LINE))
    except (ValueError, OSError):
        return named["time"] is not None
    return isinstance(first, dict) and is_sample(first)


def is_sample(row: Mapping[str, Any]) -> bool:
    """Return whether a row has the fields of lm-eval's samples, or of lmms-eval's."""
    return row.keys() >= SAMPLE_FIELDS or row.keys() >= LMMS_FIELDS


def is_details(path: Path) -> bool:
    """Return whether a file is HELM's or the first Open LLM Leaderboard's, by its name."""
    return path.name == HELM or DETAILS.match(path.name) is not None


def _details_at(path: Path, label: str | None) -> Samples:
    """Return the description of a file of a leaderboard's details."""
    named = DETAILS.match(path.name)
    if named is None:
        return _helm_details_at(path, label)
    folder = path.absolute().parent
    model = folder.name
    for each in (folder, *folder.parents):
        of_model = re.fullmatch("details_(.+)", each.name)
        if of_model:
            model = of_model[1].replace("__", "/", 1)
            break
    return Samples(path, named["task"], named["time"], label or model, bool(label), None)


def _helm_details_at(path: Path, label: str | None) -> Samples:
    """Return the description of a file of HELM's details, from the run_spec.json beside it.

    The task is the name of the run without its model, as `mmlu:subject=anatomy`.

    Raises:
        DataError: run_spec.json does not describe a run.
    """
    spec = path.with_name("run_spec.json")
    try:
        content = parse_json(spec.read_bytes()) if spec.is_file() else {}
        run = content.get("name") or path.absolute().parent.name
        model = (content.get("adapter_spec") or {}).get("model")
        if not model:
            in_name = re.search("model=([^,]+)", run)
            model = in_name[1] if in_name else run
    except (ValueError, AttributeError, TypeError) as error:
        problem = f"not the description of a run of HELM ({error})"
        remedy = "give the file as HELM wrote it"
        raise DataError(problem, remedy=remedy, source=str(spec)) from None
    task = re.sub("(?<=:)model(_deployment)?=[^,]*,?|,model(_deployment)?=[^,]*", "", run)
    return Samples(path, task.rstrip(":"), "", label or model, bool(label), None)


def samples_at(path: Path, label: str | None = None, beside: Iterable[Results] = ()) -> Samples:
    """Return the description of a samples file.

    Args:
        path: the file.
        label: the user's name for the model.
        beside: results files, of which that with the same time is of the same run.
    """
    if is_details(path):
        return _details_at(path, label)
    named = SAMPLES.match(path.name)
    if named:
        task = named["task"]
        time = named["time"] or named["date"] or ""
    else:
        task = path.name.partition(".")[0]
        time = ""
    run = next((results for results in beside if time and results.time == time), None)
    model_of_run = run.model if run else None
    model = label or model_of_run or path.absolute().parent.name
    return Samples(path, task, time, model, label is not None, run)


def describe_samples(paths: Iterable[Path], label: str | None) -> list[Samples]:
    """Describe samples files, each with the results file of the same time in its folder, if any."""
    paths = list(paths)
    folders = {path.parent for path in paths}
    beside = {folder: _read_results(sorted(folder.glob("*.json"))) for folder in folders}
    return [samples_at(path, label, beside[path.parent]) for path in paths]


def find_runs(
    paths: Sequence[Path], label: str | None, *, searched: bool
) -> tuple[list[Samples], list[Results]]:
    """Find the samples and results files of a source.

    Args:
        paths: files of the source.
        label: the user's name for the model.
        searched: whether a folder was searched. Otherwise a results file stands for its samples,
            which are looked for beside it.
    """
    results = _read_results(paths)
    names = {*paths}
    if not searched:
        for run in results:
            folder = run.path.parent
            names.update(folder.glob(f"samples_*_{run.time}.jsonl"))
            names.update(folder.glob(f"{run.time}_samples_*.jsonl"))
    return describe_samples(sorted(filter(is_samples, names)), label), results


def select_runs(
    files: Iterable[Samples], *, every: bool = False
) -> tuple[list[Samples], list[Notice]]:
    """Select the newest run of each model and task, or with `every` all runs, oldest first.

    Also return notes on the runs left out.
    """
    files, notes = name_by_settings(list(files))
    cells: dict[tuple[str, str], list[Samples]] = defaultdict(list)
    by_path = {file.path: file for file in files}
    for file in sorted(by_path.values(), key=lambda file: (file.time, str(file.path))):
        cells[file.model, file.task].append(file)
    for own in cells.values():
        _reject_ambiguous_runs(own)
    runs = []
    for (model, task), own in cells.items():
        runs += [FiledRun(file.path, model, task, (model, task), file.time) for file in own]
    chosen, _, left_out = choose_runs(runs, every=every)
    return [by_path[run.path] for run in chosen], [*notes, *left_out]


def name_by_settings(files: Sequence[Samples]) -> tuple[list[Samples], list[Notice]]:
    """Add to the names of models the settings of generation in which runs on a task differ.

    Names that are labels stay. Also return a note on each model that has new names.
    """
    runs: dict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
    for file in files:
        if file.results and not file.has_label:
            runs[file.model, file.task].append(file.results.generation)
    differing: dict[str, set[str]] = defaultdict(set)
    for (model, _), settings in runs.items():
        differing[model] |= _differing_keys(settings)
    renamed = []
    names: dict[str, set[str]] = defaultdict(set)
    for file in files:
        if not file.results or file.has_label or not differing[file.model]:
            renamed.append(file)
            continue
        given = file.results.generation
        keys = sorted(differing[file.model] & given.keys())
        name = " ".join([file.model, *(f"{key}={given[key]}" for key in keys)])
        names[file.model].add(name)
        renamed.append(replace(file, model=name, has_label=True))
    notes = [
        Notice("settings-name-models", {"model": model, "names": sorted(given)})
        for model, given in names.items()
    ]
    return renamed, notes


def _differing_keys(settings: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the keys whose values are not the same in all mappings, or that some of them lack."""
    pairs = [set(each.items()) for each in settings]
    in_some = set().union(*pairs)
    in_all = pairs[0].intersection(*pairs)
    return {key for key, _ in in_some - in_all}


def _reject_ambiguous_runs(runs: Sequence[Samples]) -> None:
    """Raise UsageError if runs of one name are in several folders or have different arguments."""
    folder = runs[0].path.parent
    pairs = []
    for run in runs[1:]:
        if run.path.parent.absolute() != folder.absolute():
            pairs.append((folder, run.path.parent, "lies in two folders"))
    results = [run.results for run in runs if run.results]
    for later in results[1:]:
        before = results[0].arguments
        now = later.arguments
        names = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
        if names:
            why = f"was run with other arguments ({some(names, most=5)})"
            pairs.append((results[0].path, later.path, why))
    for place, other, why in pairs:
        # Without settings: a label is one word.
        short = runs[0].model.partition(" ")[0].rpartition("/")[2]
        remedy = f"label them ({short}-1={place} {short}-2={other}), or leave one out"
        raise UsageError(
            f"{runs[0].model!r} on {runs[0].task} {why}: {place} and {other}; {remedy}"
        )


def lack_of_samples(model: str, results: Results) -> Notice:
    """Return the warning about a run of which only the results were written."""
    packed = any(results.path.parent.glob("*samples_*.gz"))
    code = "samples-packed" if packed else "samples-not-logged"
    return Notice(code, {"model": model, "results": str(results.path)})


def sample_rows(path: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield place and content of each row of a samples file.

    The content of a last line that is cut off is None.
    """
    with path.open("rb") as stream:
        if stream.peek(1)[:1] == b"[":
            for number, row in enumerate(parse_json(stream.read()), 1):
                yield f"row {number}", row
            return
        with named_in_errors(path):
            try:
                for place, row in json_lines(stream):
                    yield f"line {place}", row
            except CutLineError as error:
                yield error.row or "the last line", None


def read_doc_hash(row: Mapping[str, Any]) -> str:
    """Return the hash of a row's document, computed as by lm-eval if the row does not hold it."""
    kept = text_of(row.get("doc_hash"))
    if kept is not None:
        return kept
    text = json.dumps(row.get("doc"), indent=2, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def item_ids(task: str, documents: Sequence[tuple[str, str, float]]) -> list[str]:
    """Return the item of each row, made of task and document.

    Further rows of one document within a filter end in `#2` and so on, in the order of `doc_id`.

    Args:
        task: name of the task.
        documents: filter, hash of the document, and `doc_id` of each row.
    """
    seen: Counter[tuple[str, str]] = Counter()
    ids = [""] * len(documents)
    for k in sorted(range(len(documents)), key=lambda k: documents[k][2]):
        of_filter, document, _ = documents[k]
        seen[of_filter, document] += 1
        time = seen[of_filter, document]
        ids[k] = f"{task}:{document[:12]}" + (f"#{time}" if time > 1 else "")
    return ids


def place_in_set(row: Mapping[str, Any]) -> float:
    """Return a row's `doc_id`, its position in the data set; 0 if it has none."""
    place = row.get("doc_id")
    return float(place) if isinstance(place, int | float) else 0.0
