"""What lm-eval writes with --log_samples, and where: known here once, for scores, verdicts and responses.

`<out>/<model>/results_<time>.json` and `samples_<task>_<time>.jsonl` of one run share their time. With an output path
that ends in `.json` all models share a folder, and the results are called `<name>_<time>.json`. A samples file has a
row per document and filter.
"""

import gzip
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from podium.errors import DataError, UsageError
from podium.formats.json_text import json_lines
from podium.formats.runs import FiledRun, choose_runs
from podium.text import some, text_of

TIME = r"\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?"
SAMPLES = re.compile(rf"samples_(?P<task>.+?)(?:_(?P<time>{TIME}))?\.jsonl(\.gz)?$")
RESULTS = re.compile(rf".+_(?P<time>{TIME})\.json$")
SAMPLE_FIELDS = frozenset({"doc_id", "doc", "arguments"})
"""What every row of samples has."""
DIGITS = 12
"""Of a document's hash in an item's id."""
NAMING = ("peft", "delta", "pretrained", "model", "path", "engine")
"""Arguments of which lm-eval takes a model's name, in this order; without any, it draws one at random."""
NO_MATTER = frozenset({"batch_size", "max_batch_size", "num_concurrent", "max_retries", "timeout", "device"})
"""Arguments of a model that do not make it another model."""


@dataclass(frozen=True)
class Results:
    """What a results file says of a run: all of it is its `content`."""

    path: Path
    content: Mapping[str, Any]

    @cached_property
    def model(self) -> str | None:
        """Name of the model, which lm-eval takes from its arguments."""
        return text_of(self.content.get("model_name"))

    @property
    def time(self) -> str:
        """When the run was saved, as the file's name says."""
        named = RESULTS.match(self.path.name)
        return named["time"] if named else ""

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the model, without those that do not make it another model."""
        given = self._section("config").get("model_args")
        if isinstance(given, str):
            pairs = (part.partition("=") for part in given.split(",") if part)
            given = {key.strip(): value for key, _, value in pairs}
        return {key: value for key, value in (given or {}).items() if key not in NO_MATTER}

    def figure(self, task: str, metric: str) -> float | None:
        """Return the reported figure of `metric,filter`; None where there is none."""
        value = self._section("results", task).get(metric)
        return float(value) if isinstance(value, int | float) else None

    def higher_is_better(self, task: str, metric: str) -> bool | None:
        """Return which direction of a metric (its filter left out) is better; None where the file does not say."""
        value = self._section("higher_is_better", task).get(metric)
        return value if isinstance(value, bool) else None

    def documents(self, task: str) -> int | None:
        """Return how many documents of a task were evaluated; None where the file does not say."""
        value = self._section("n-samples", task).get("effective")
        return value if isinstance(value, int) else None

    def _section(self, *keys: str) -> Mapping[str, Any]:
        section: Any = self.content
        for key in keys:
            section = section.get(key) if isinstance(section, Mapping) else None
        return section if isinstance(section, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Samples:
    """A samples file.

    Attributes:
        path: where it is.
        task: what its name says.
        time: when its run was saved, as its name says; empty where it does not.
        model: whose they are: the label, else the model of the results beside, else the folder's name.
        has_label: whether the model's name is the user's word.
        results: of the same run; None where there are none.
    """

    path: Path
    task: str
    time: str
    model: str
    has_label: bool
    results: Results | None

    @property
    def has_random_name(self) -> bool:
        """Whether lm-eval drew the model's name at random, for want of arguments."""
        return not self.has_label and self.results is not None and self.results.arguments.keys().isdisjoint(NAMING)


def _results_at(paths: Iterable[Path]) -> list[Results]:
    """Read the results files among some files, those left out that are not whole."""
    read = []
    for path in [path for path in paths if RESULTS.match(path.name)]:
        try:
            content = json.loads(path.read_bytes())
        except ValueError:
            continue
        if isinstance(content, dict) and isinstance(content.get("results"), dict) and "configs" in content:
            read.append(Results(path, content))
    return read


def is_samples(path: Path) -> bool:
    """Tell a samples file by its name and its first line."""
    named = SAMPLES.match(path.name)
    if named is None:
        return False
    try:
        with open_bytes(path) as stream:
            first = json.loads(stream.readline())
    except (ValueError, OSError, EOFError, zlib.error):
        return named["time"] is not None
    return isinstance(first, dict) and first.keys() >= SAMPLE_FIELDS


def samples_at(path: Path, label: str | None = None, beside: Iterable[Results] = ()) -> Samples:
    """Describe a samples file; of the results files of its folder, the one of the same time belongs to it."""
    named = SAMPLES.match(path.name)
    task, time = (named["task"], named["time"] or "") if named else (path.name.partition(".")[0], "")
    run = next((results for results in beside if time and results.time == time), None)
    model = label or (run and run.model) or path.absolute().parent.name
    return Samples(path, task, time, model, label is not None, run)


def describe_samples(paths: Iterable[Path], label: str | None) -> list[Samples]:
    """Describe samples files, each with the results file of its run in its folder."""
    paths = list(paths)
    beside = {folder: _results_at(sorted(folder.glob("*.json"))) for folder in {path.parent for path in paths}}
    return [samples_at(path, label, beside[path.parent]) for path in paths]


def find_runs(paths: Sequence[Path], label: str | None, *, searched: bool) -> tuple[list[Samples], list[Results]]:
    """Tell lm-eval's files among those of a source: samples, and results that may have none.

    Args:
        paths: of all its files.
        searched: whether they lie in a folder that was searched; a results file that was named stands for its run.
    """
    results = _results_at(paths)
    names = {path for path in paths if is_samples(path)}
    if not searched:
        beside = (path for run in results for path in run.path.parent.glob(f"samples_*_{run.time}.jsonl*"))
        names |= {path for path in beside if is_samples(path)}
    return describe_samples(sorted(names), label), results


def select_runs(files: Iterable[Samples], *, every: bool = False) -> tuple[list[Samples], list[str]]:
    """Keep the newest run of each model and task, or every one, the oldest first; return notes of those left out.

    Raises:
        UsageError: runs of one name are not reruns of one model: they lie in several folders, or its arguments differ.
    """
    cells: dict[tuple[str, str], list[Samples]] = {}
    by_path = {file.path: file for file in files}
    for file in sorted(by_path.values(), key=lambda file: (file.time, str(file.path))):
        cells.setdefault((file.model, file.task), []).append(file)
    for own in cells.values():
        _refuse_strangers(own)
    runs = [FiledRun(file.path, *cell, cell, file.time) for cell, own in cells.items() for file in own]
    chosen = choose_runs(runs, every=every)
    return [by_path[run.path] for run in chosen.runs], chosen.notes


def _refuse_strangers(runs: Sequence[Samples]) -> None:
    """Refuse runs that share a name and are perhaps no runs of one model."""
    first = runs[0]
    for run in runs:
        if run.path.absolute().parent != first.path.absolute().parent:
            raise _two_models(first, "lies in two folders", first.path.parent, run.path.parent)
    results = [run.results for run in runs if run.results is not None]
    for later in results[1:]:
        before, now = results[0].arguments, later.arguments
        if before != now:
            names = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
            why = f"was run with other arguments ({some(names, most=5)})"
            raise _two_models(first, why, results[0].path, later.path)


def _two_models(run: Samples, why: str, place: Path, other: Path) -> UsageError:
    short = run.model.rpartition("/")[2]
    return UsageError(
        f"{run.model!r} on {run.task} {why}: {place} and {other}; lm-eval names both alike: tell them apart with "
        f"labels ({short}-1={place} {short}-2={other}), or leave one out"
    )


def lack_of_samples(model: str, results: Results) -> str:
    """Say what a run lacks of which only the results were written."""
    return f"{model} has no samples beside {results.path}: run lm_eval with --log_samples"


def open_bytes(path: Path) -> Any:
    """Open a file of bytes, gzipped or not."""
    return gzip.open(path) if path.name.endswith(".gz") else path.open("rb")


def sample_rows(path: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield each row of a samples file with its place; None in place of a last line that is cut off.

    Raises:
        DataError: another line is not a whole record.
    """
    with open_bytes(path) as stream:
        lines = json_lines(stream)
        try:
            for place, row in lines:
                yield f"line {place}", row
        except DataError as error:
            if stream.readline():
                raise error.with_place(str(path)) from None
            yield error.row or "the last line", None
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            problem = f"not a whole gzip file ({error})"
            raise DataError(problem, source=str(path), remedy="write or copy the file again") from None


def document_hash(row: Mapping[str, Any]) -> str:
    """Return the hash of a row's document, as lm-eval makes it where a row does not say it.

    Neither its place (which a limit shifts) nor its prompt (which a chat template changes) is part of it.
    """
    said = text_of(row.get("doc_hash"))
    if said is not None:
        return said
    text = json.dumps(row.get("doc"), indent=2, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def item_ids(task: str, documents: Sequence[tuple[str, str, float]]) -> list[str]:
    """Return the items' ids: task, document, and from its second occurrence on, which one it is.

    Occurrences are counted in the order of the set, filter by filter, however many processes wrote the rows.

    Args:
        documents: filter, hash and place in the set (`doc_id`) of each row.
    """
    seen: Counter[tuple[str, str]] = Counter()
    ids = [""] * len(documents)
    for k in sorted(range(len(documents)), key=lambda k: documents[k][2]):
        of_filter, document, _ = documents[k]
        seen[of_filter, document] += 1
        time = seen[of_filter, document]
        ids[k] = f"{task}:{document[:DIGITS]}" + (f"#{time}" if time > 1 else "")
    return ids


def place_in_set(row: Mapping[str, Any]) -> float:
    """Return a row's `doc_id`; 0 where it has none, so that the order of rows decides."""
    place = row.get("doc_id")
    return float(place) if isinstance(place, int | float) else 0.0
