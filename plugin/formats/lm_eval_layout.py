"""What lm-eval writes with --log_samples, and where: known here once, for scores and for responses.

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
from podium.formats.containers import json_lines
from podium.text import some, text_of

TIME = r"\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?"
SAMPLES = re.compile(rf"samples_(?P<task>.+?)(?:_(?P<time>{TIME}))?\.jsonl(\.gz)?$")
RESULTS = re.compile(rf".+_(?P<time>{TIME})\.json$")
SAMPLE_FIELDS = frozenset({"doc_id", "doc", "arguments"})
"""What every row of samples has."""
DIGITS = 12
"""Of a document's hash in an item's id."""
NO_MATTER = frozenset({"batch_size", "max_batch_size", "num_concurrent", "max_retries", "timeout", "device"})
"""Arguments of a model that do not make it another model."""


NAMING = frozenset({"peft", "delta", "pretrained", "model", "path", "engine"})
"""Arguments of which lm-eval takes a model's name; without any, it draws one at random."""


@dataclass(frozen=True)
class Results:
    """What a results file says of a run.

    Attributes:
        path: where it is.
        content: all of it.
    """

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
        given = self._of("config").get("model_args")
        if isinstance(given, str):
            pairs = (part.partition("=") for part in given.split(",") if part)
            given = {key.strip(): value for key, _, value in pairs}
        return {key: value for key, value in (given or {}).items() if key not in NO_MATTER}

    def figure(self, task: str, metric: str) -> float | None:
        """Return the reported figure of `metric,filter`; None where there is none."""
        value = self._of("results", task).get(metric)
        return float(value) if isinstance(value, int | float) else None

    def higher_is_better(self, task: str, metric: str) -> bool | None:
        """Return which direction of a metric (its filter left out) is better; None where the file does not say."""
        value = self._of("higher_is_better", task).get(metric)
        return value if isinstance(value, bool) else None

    def documents(self, task: str) -> int | None:
        """Return how many documents of a task were evaluated; None where the file does not say."""
        value = self._of("n-samples", task).get("effective")
        return value if isinstance(value, int) else None

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks that were run, groups left out."""
        return tuple(self._of("configs"))

    def _of(self, *keys: str) -> Mapping[str, Any]:
        found: Any = self.content
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Samples:
    """A samples file.

    Attributes:
        path: where it is.
        task: what its name says.
        time: when its run was saved, as its name says; empty where it does not.
        entrant: whose they are: the label, else the model of the results beside, else the folder's name.
        labelled: whether the entrant's name is the user's word.
        results: of the same run; None where there are none.
    """

    path: Path
    task: str
    time: str
    entrant: str
    labelled: bool
    results: Results | None

    @property
    def unnamed(self) -> bool:
        """Whether lm-eval drew the model's name at random, for want of arguments."""
        return not self.labelled and self.results is not None and not NAMING & self.results.arguments.keys()


def results_of(path: Path) -> Results | None:
    """Read a results file; None for a file that is none, or is not whole."""
    if not RESULTS.match(path.name):
        return None
    try:
        content = json.loads(path.read_bytes())
    except ValueError:
        return None
    known = isinstance(content, dict) and isinstance(content.get("results"), dict) and "configs" in content
    return Results(path, content) if known else None


def is_samples(path: Path) -> bool:
    """Tell a samples file by its name and its first line."""
    named = SAMPLES.match(path.name)
    if named is None:
        return False
    try:
        with opened(path) as stream:
            first = json.loads(stream.readline())
    except (ValueError, OSError, EOFError, zlib.error):
        return named["time"] is not None
    return isinstance(first, dict) and first.keys() >= SAMPLE_FIELDS


def samples_at(path: Path, label: str | None, results: Iterable[Results]) -> Samples:
    """Describe a samples file.

    Args:
        results: read from its folder; the one of the same time belongs to it.
    """
    named = SAMPLES.match(path.name)
    task, time = (named["task"], named["time"] or "") if named else (path.name.partition(".")[0], "")
    run = next((one for one in results if time and one.time == time), None)
    entrant = label or (run and run.model) or path.absolute().parent.name
    return Samples(path, task, time, entrant, label is not None, run)


def beside(paths: Iterable[Path]) -> list[Results]:
    """Read the results files in the folders of samples files."""
    folders = sorted({path.parent for path in paths})
    read = [results_of(path) for folder in folders for path in sorted(folder.glob("*.json"))]
    return [one for one in read if one is not None]


def newest(files: Iterable[Samples]) -> tuple[list[Samples], list[str]]:
    """Keep the newest run of each entrant and task; return notes of the runs that are left out.

    Raises:
        UsageError: runs of one name are not reruns of one model: they lie in several folders, or its arguments differ.
    """
    kept, notes = [], []
    for runs in by_cell(files).values():
        refuse_strangers(runs)
        *older, last = runs
        kept.append(last)
        notes += [
            f"{last.entrant} was run {len(runs)} times on {last.task}: the newest counts ({last.path}), "
            f"not {some([one.path for one in older], most=3)}"
        ] * bool(older)
    return kept, notes


def by_cell(files: Iterable[Samples]) -> dict[tuple[str, str], list[Samples]]:
    """Return the runs of each entrant and task, the oldest first."""
    cells: dict[tuple[str, str], list[Samples]] = {}
    for one in sorted(files, key=lambda one: (one.entrant, one.task, one.time, str(one.path))):
        cells.setdefault((one.entrant, one.task), []).append(one)
    return cells


def refuse_strangers(runs: list[Samples]) -> None:
    """Refuse runs that share a name and are perhaps no runs of one model.

    Raises:
        UsageError: they lie in several folders, or the model's arguments differ.
    """
    first = runs[0]
    other = next((one for one in runs if one.path.absolute().parent != first.path.absolute().parent), None)
    if other is not None:
        why = "lies in two folders"
        ways: tuple[Path, ...] = (first.path.parent, other.path.parent)
    else:
        told = [one for one in runs if one.results is not None]
        other = next((one for one in told if _arguments(one) != _arguments(told[0])), None)
        if other is None:
            return
        names = sorted(key for key in _differing(_arguments(told[0]), _arguments(other)))
        why = f"was run with other arguments ({some(names, most=5)})"
        ways = tuple(one.results.path if one.results else one.path for one in (told[0], other))
    short = first.entrant.rpartition("/")[2]
    raise UsageError(
        f"{first.entrant!r} on {first.task} {why}: {ways[0]} and {ways[1]}; lm-eval names both alike: tell them "
        f"apart with labels ({short}-1={ways[0]} {short}-2={ways[1]}), or leave one out"
    )


def _arguments(one: Samples) -> dict[str, Any]:
    return one.results.arguments if one.results is not None else {}


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    return {key for key in {*one, *other} if one.get(key) != other.get(key)}


def without_samples(entrant: str, results: Results) -> str:
    """Say what a run lacks of which only the results were written."""
    return f"{entrant} has no samples beside {results.path}: run lm_eval with --log_samples"


def samples_beside(results: Results) -> list[Path]:
    """Return the samples files of a run."""
    beside = results.path.parent.glob(f"samples_*_{results.time}.jsonl*")
    return sorted(path for path in beside if is_samples(path))


def opened(path: Path) -> Any:
    """Open a file of bytes, gzipped or not."""
    return gzip.open(path) if path.name.endswith(".gz") else path.open("rb")


def rows(path: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield each row of a samples file with its place; None in place of a last line that is cut off.

    Raises:
        DataError: another line is not a whole record.
    """
    with opened(path) as stream:
        lines = json_lines(stream)
        try:
            for place, row in lines:
                yield f"line {place}", row
        except DataError as error:
            if stream.readline():
                raise error.located(str(path)) from None
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
