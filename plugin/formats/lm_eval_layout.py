"""Find and read what lm-eval writes with --log_samples: `results_<time>.json` and
`samples_<task>_<time>.jsonl` of one run share their time. All models share a folder if the output
path ends in `.json`."""

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

from podium.errors import DataError, UsageError
from podium.formats.json_text import CutLineError, json_lines
from podium.formats.records import LONGEST_LINE, whole_number
from podium.formats.runs import FiledRun, choose_runs
from podium.text import parse_json, some, text_of

TIME = r"\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?"
DATE = r"(?P<date>\d{8}_\d{6})"
"""The time in names of lmms-eval, at their beginning."""
SAMPLES = re.compile(rf"(?:{DATE}_)?samples_(?P<task>.+?)(?:_(?P<time>{TIME}))?\.jsonl?$")
RESULTS = re.compile(rf"(?:.+_(?P<time>{TIME})|{DATE}_results)\.json$")
DETAILS, HELM = (
    re.compile(rf"details_(?P<task>.+)_(?P<time>{TIME})\.parquet$"),
    "per_instance_stats.json",
)
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
    """A samples file with the results of its run; `has_label` says whether the model's name is the
    user's label."""

    path: Path
    task: str
    time: str
    model: str
    has_label: bool
    results: Results | None


def _read_results(paths: Iterable[Path]) -> list[Results]:
    read = []
    for path in [path for path in paths if RESULTS.match(path.name) and path.is_file()]:
        with suppress(ValueError):
            content = parse_json(path.read_bytes(), parse_int=whole_number)
            if (
                isinstance(content, dict)
                and isinstance(content.get("results"), dict)
                and "configs" in content
            ):
                read.append(Results(path, content))
    return read


def is_samples(path: Path) -> bool:
    """Return whether a file is a samples file, by its name and its first line, or the details of a
    leaderboard."""
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
    """Return the description of a leaderboard's details, from its folders and HELM's
    run_spec.json."""
    if named := DETAILS.match(path.name):
        folders = (re.fullmatch("details_(.+)", folder.name) for folder in path.absolute().parents)
        model = next((own[1].replace("__", "/", 1) for own in folders if own), None)
        name = label or model or path.absolute().parent.name
        return Samples(path, named["task"], named["time"], name, bool(label), None)
    spec = path.with_name("run_spec.json")
    try:
        content = parse_json(spec.read_bytes()) if spec.is_file() else {}
        run = content.get("name") or path.absolute().parent.name
        model = (content.get("adapter_spec") or {}).get("model") or next(
            iter(re.findall("model=([^,]+)", run)), run
        )
    except (ValueError, AttributeError, TypeError) as error:
        problem, remedy = (
            f"not the description of a run of HELM ({error})",
            "give the file as HELM wrote it",
        )
        raise DataError(problem, remedy=remedy, source=str(spec)) from None
    task = re.sub("(?<=:)model(_deployment)?=[^,]*,?|,model(_deployment)?=[^,]*", "", run).rstrip(
        ":"
    )
    return Samples(path, task, "", label or model, bool(label), None)


def samples_at(path: Path, label: str | None = None, beside: Iterable[Results] = ()) -> Samples:
    """Return the description of a samples file; the results file with the same time belongs to
    it."""
    if is_details(path):
        return _details_at(path, label)
    named = SAMPLES.match(path.name)
    task, time = (
        (named["task"], named["time"] or named["date"] or "")
        if named
        else (path.name.partition(".")[0], "")
    )
    run = next((results for results in beside if time and results.time == time), None)
    model = label or (run and run.model) or path.absolute().parent.name
    return Samples(path, task, time, model, label is not None, run)


def describe_samples(paths: Iterable[Path], label: str | None) -> list[Samples]:
    """Describe samples files, each with the results file of the same time in its folder; None if
    there is none."""
    paths = list(paths)
    beside = {
        folder: _read_results(sorted(folder.glob("*.json")))
        for folder in {path.parent for path in paths}
    }
    return [samples_at(path, label, beside[path.parent]) for path in paths]


def find_runs(
    paths: Sequence[Path], label: str | None, *, searched: bool
) -> tuple[list[Samples], list[Results]]:
    """Find the samples and results files of a source; unless a folder was searched, results stand
    for their samples."""
    results, names = _read_results(paths), {*paths}
    for run in [] if searched else results:
        names |= {*run.path.parent.glob(f"samples_*_{run.time}.jsonl")}
        names |= {*run.path.parent.glob(f"{run.time}_samples_*.jsonl")}
    return describe_samples(sorted(filter(is_samples, names)), label), results


def select_runs(
    files: Iterable[Samples], *, every: bool = False
) -> tuple[list[Samples], list[str]]:
    """Select the newest run of each model and task, or every run, oldest first; also return notes
    on those left out."""
    files, notes = name_by_settings(list(files))
    cells: dict[tuple[str, str], list[Samples]] = defaultdict(list)
    by_path = {file.path: file for file in files}
    for file in sorted(by_path.values(), key=lambda file: (file.time, str(file.path))):
        cells[file.model, file.task].append(file)
    for own in cells.values():
        _reject_ambiguous_runs(own)
    runs = [
        FiledRun(file.path, *cell, cell, file.time) for cell, own in cells.items() for file in own
    ]
    chosen, _, left_out = choose_runs(runs, every=every)
    return [by_path[run.path] for run in chosen], [*notes, *left_out]


def name_by_settings(files: Sequence[Samples]) -> tuple[list[Samples], list[str]]:
    """Add to the names of models the settings of generation in which runs on a task differ, with a
    note on each model; labels stay."""
    own = [
        (k, file, file.results.generation)
        for k, file in enumerate(files)
        if file.results and not file.has_label
    ]
    runs: dict[tuple[str, str], list[set[tuple[str, str]]]] = defaultdict(list)
    for _, file, given in own:
        runs[file.model, file.task].append({*given.items()})
    differing, names = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for (model, _), settings in runs.items():
        differing[model] |= {
            key for key, _ in settings[0].union(*settings) - settings[0].intersection(*settings)
        }
    renamed = list(files)
    for k, file, given in own:
        if keys := differing[file.model]:
            name = " ".join(
                [file.model, *(f"{key}={given[key]}" for key in sorted(keys & given.keys()))]
            )
            names[file.model].add(name)
            renamed[k] = replace(file, model=name, has_label=True)
    why = "runs of {} with other gen_kwargs count as different models: {}"
    return renamed, [why.format(model, some(sorted(given))) for model, given in names.items()]


def _reject_ambiguous_runs(runs: Sequence[Samples]) -> None:
    """Raise UsageError if runs of one name are in several folders or have different arguments."""
    (first, *others), results = (
        [run.path.parent for run in runs],
        [run.results for run in runs if run.results],
    )
    pairs = [
        (first, other, "lies in two folders")
        for other in others
        if other.absolute() != first.absolute()
    ]
    for later in results[1:]:
        before, now = results[0].arguments, later.arguments
        if names := sorted(key for key in {*before, *now} if before.get(key) != now.get(key)):
            pairs.append(
                (
                    results[0].path,
                    later.path,
                    f"was run with other arguments ({some(names, most=5)})",
                )
            )
    for place, other, why in pairs:
        # Without settings: a label is one word.
        short = runs[0].model.partition(" ")[0].rpartition("/")[2]
        remedy = f"label them ({short}-1={place} {short}-2={other}), or leave one out"
        raise UsageError(
            f"{runs[0].model!r} on {runs[0].task} {why}: {place} and {other}; {remedy}"
        )


def lack_of_samples(model: str, results: Results) -> str:
    """Return the message for a run of which only the results were written."""
    packed = any(results.path.parent.glob("*samples_*.gz"))
    remedy = "unpack its .gz files" if packed else "run lm_eval with --log_samples"
    return f"{model} has no samples beside {results.path}: {remedy}"


def sample_rows(path: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield place and content of each row of a samples file; None for a last line that is cut
    off."""
    with path.open("rb") as stream:
        if stream.peek(1)[:1] == b"[":
            yield from (
                (f"row {number}", row) for number, row in enumerate(parse_json(stream.read()), 1)
            )
            return
        try:
            for place, row in json_lines(stream):
                yield f"line {place}", row
        except CutLineError as error:
            yield error.row or "the last line", None
        except DataError as error:
            raise error.with_place(str(path)) from None


def read_doc_hash(row: Mapping[str, Any]) -> str:
    """Return the hash of a row's document, computed as by lm-eval if the row does not hold it."""
    if (said := text_of(row.get("doc_hash"))) is not None:
        return said
    text = json.dumps(row.get("doc"), indent=2, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def item_ids(task: str, documents: Sequence[tuple[str, str, float]]) -> list[str]:
    """Return each row's item, task and document, with `#2` and so on for repeats within a filter by
    `doc_id`."""
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
