"""Find and read the files that lm-eval writes with `--log_samples`.

A run writes a results file, `results_<time>.json`, and a samples file per task,
`samples_<task>_<time>.jsonl`, with the same time. If the output path ends in `.json`, the files of
all models are in one folder.

Versions 0.4.0 to 0.4.2 write `results.json` and `<arguments of the model>_<task>.jsonl`. A later
run in the same folder overwrites `results.json`, and samples of the same model and task. If the
output path ends in `.json`, the results file has the name that the user gave.

Version 0.3 writes only a results file, under any name, and no samples.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from podium.data.formats.json_text import CutLineError, json_lines
from podium.data.formats.records import LONGEST_LINE, whole_number
from podium.errors import DataError, named_in_errors
from podium.notices.notice import Notice
from podium.printable import shorten
from podium.run_record import Setting
from podium.text import parse_json, text_of

TIME = r"\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?"
"""Pattern of the time in names of lm-eval's files, such as `2024-05-01T12-30-59.123456`."""
LMMS_TIME = r"(?P<date>\d{8}_\d{6})"
"""Pattern of the time with which names of lmms-eval's files begin, such as `20240501_123059`."""
SAMPLES_NAME = re.compile(rf"(?:{LMMS_TIME}_)?samples_(?P<task>.+?)(?:_(?P<time>{TIME}))?\.jsonl?$")
"""Matches the name of a samples file, such as `samples_gsm8k_2025-01-02T03-04-05.123456.jsonl`."""
RESULTS_NAME = re.compile(rf"(?:.+_(?P<time>{TIME})|{LMMS_TIME}_results)\.json$")
"""Matches the name of a results file, such as `results_2025-01-02T03-04-05.123456.json`."""
RESULTS_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"results"\s*:\s*\{')
"""Matches the beginning of a results file, whatever its name."""
TOURNAMENTS = ".podium"
"""End of the name of the folder of tournaments, which lies beside the folder of results."""
OLD_RESULTS = "results.json"
"""Default name of the results file of lm-eval 0.4.0 to 0.4.2."""
HEAD_SIZE = 256
"""Number of first bytes that are read to recognise a results file under another name."""
OLD_RESULTS_KEYS = frozenset({"results", "versions", "config"})
"""Keys of a results file of lm-eval 0.3, which has no `configs`."""
DETAILS_NAME = re.compile(rf"details_(?P<task>.+)_(?P<time>{TIME})\.parquet$")
"""Matches the name of a file with details of the Open LLM Leaderboard."""
HELM_DETAILS = "per_instance_stats.json"
"""Name of a file with details of HELM."""
HELM_RUN_SPEC = "run_spec.json"
"""Name of the file in the same folder that describes the run of HELM."""
MODEL_OPTION = "model(?:_deployment)?=[^,]*"
"""Pattern of an option with the model in the name of a run of HELM."""
MODEL_IN_RUN_NAME = re.compile(rf"(?<=:){MODEL_OPTION},?|,{MODEL_OPTION}")
"""Matches such an option, with the comma that separates it from another option."""
SAMPLE_FIELDS = frozenset({"doc_id", "doc", "arguments"})
"""Fields by which a row of lm-eval's samples is recognised."""
LMMS_FIELDS = frozenset({"doc_id", "target", "filtered_resps", "input"})
"""Fields by which a row of lmms-eval is recognised. It has no `doc` and no `arguments`."""
IRRELEVANT_ARGUMENTS = frozenset(
    {
        "batch_size",
        "max_batch_size",
        "num_concurrent",
        "max_retries",
        "timeout",
        "device",
        "device_map",
        "parallelize",
        "tensor_parallel_size",
        "pipeline_parallel_size",
        "data_parallel_size",
        "gpu_memory_utilization",
        "max_memory_per_gpu",
        "max_cpu_memory",
        "swap_space",
        "offload_folder",
        "cache_dir",
        "download_dir",
        "trust_remote_code",
        "verify_certificate",
    }
)
"""Arguments of a model that change no answer."""
SECRET_ARGUMENT = re.compile("(^|_)(key|apikey|token|secret|password|headers?|authorization)$")
"""Matches names of arguments of a model whose value may be a secret. They change no answer."""


@dataclass(frozen=True)
class Results:
    """A results file.

    Attributes:
        path: path of the file.
        content: the whole JSON object in it.
    """

    path: Path
    content: Mapping[str, Any]

    @cached_property
    def model(self) -> str | None:
        """Name of the model, which lm-eval derives from the model's arguments; None if unknown."""
        name = text_of(self.content.get("model_name"))
        if name is None and self.is_old:
            # lm-eval 0.4.2 and older do not write the name.
            name = text_of(self.all_arguments.get("pretrained", self.all_arguments.get("model")))
        return name

    @property
    def is_old(self) -> bool:
        """Whether the file is in the layout of lm-eval 0.4.2 or older: its name has no time."""
        return RESULTS_NAME.match(self.path.name) is None

    def old_task_of(self, path: Path) -> str | None:
        """Return the task of a samples file in the layout of lm-eval 0.4.0 to 0.4.2.

        If the file's name ends with several tasks, such as `arc` and `my_arc`, the longest counts.

        Returns:
            None if this is no results file of that layout in the same folder, or if the name of the
            file ends with none of its tasks.
        """
        is_in_folder = path.parent == self.path.parent
        if not self.is_old or not is_in_folder or path.suffix != ".jsonl":
            return None
        configs = self.content.get("configs", {})
        tasks = [task for task in configs if path.stem.endswith(f"_{task}")]
        # The name of one task may end with that of another.
        return max(tasks, key=len, default=None)

    def old_arguments(self) -> str:
        """Return the arguments of the model as in the names of old samples files.

        They have `__` in place of `/` and `=`.
        """
        return re.sub("[/=]", "__", text_of(self.value("config", "model_args")) or "")

    @property
    def time(self) -> str:
        """Time when the run was saved, as in the name of the file; empty if the name has none."""
        name_match = RESULTS_NAME.match(self.path.name)
        return (name_match["time"] or name_match["date"]) if name_match else ""

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the model, without secrets and those that change no answer."""
        relevant = {}
        for name, value in self.all_arguments.items():
            if name not in IRRELEVANT_ARGUMENTS and not SECRET_ARGUMENT.search(name.lower()):
                relevant[name] = value
        return relevant

    @cached_property
    def all_arguments(self) -> Mapping[str, Any]:
        """All arguments of the model."""
        return self._assignments("model_args")

    @cached_property
    def generation(self) -> dict[str, str]:
        """Generation settings that the user gave for the run, as text by name."""
        return {key: text_of(value) or "" for key, value in self._assignments("gen_kwargs").items()}

    def _assignments(self, name: str) -> Mapping[str, Any]:
        """Return an option of the run as a mapping, which may be written as a text, `a=1,b=2`.

        Empty if the option is neither. Values in a text stay text.
        """
        option = self.value("config", name)
        if isinstance(option, str):
            # A comma separates two options only if a name and `=` follow. So `until=['a', 'b']` is
            # one option.
            pairs = (part.partition("=") for part in re.split(r",(?=\s*\w+\s*=)", option) if part)
            return {key.strip(): value for key, _, value in pairs}
        return option if isinstance(option, Mapping) else {}

    def value(self, *keys: str) -> Any:
        """Return the value under nested keys of the content; None if there is none."""
        value: Any = self.content
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


@dataclass(frozen=True, slots=True)
class Samples:
    """A samples file, and the results file of its run.

    Attributes:
        path: path of the samples file.
        task: name of the task.
        time: time of the run, from the name of the file; empty if unknown.
        model: name of the model.
        has_label: whether the model's name is the user's label.
        results: the results file of the run; None if there is none.
        named_settings: the settings that the model's name shows, because runs of the model differ
            in them.
    """

    path: Path
    task: str
    time: str
    model: str
    has_label: bool
    results: Results | None
    named_settings: tuple[Setting, ...] = ()


def _read_results(paths: Iterable[Path]) -> list[Results]:
    """Read the results files of lm-eval among some files.

    A file without the name of a results file is one if it begins as one. Files with other content
    or damaged JSON are left out.
    """
    results = []
    for path in paths:
        if path.suffix != ".json" or not path.is_file() or not _may_be_results(path):
            continue
        with suppress(ValueError):
            content = parse_json(path.read_bytes(), parse_int=whole_number)
            if _is_of_lm_eval(content):
                results.append(Results(path, content))
    return results


def _may_be_results(path: Path) -> bool:
    """Return whether a file has the name or the beginning of a results file."""
    if RESULTS_NAME.match(path.name) or path.name == OLD_RESULTS:
        return True
    with suppress(OSError), path.open("rb") as stream:
        return RESULTS_START.match(stream.read(HEAD_SIZE)) is not None
    return False


def _is_of_lm_eval(content: Any) -> bool:
    """Return whether the content of a JSON file is that of a results file of lm-eval."""
    if not isinstance(content, dict) or not isinstance(content.get("results"), dict):
        return False
    return isinstance(content.get("configs"), dict) or content.keys() >= OLD_RESULTS_KEYS


def is_summary_of_lighteval(path: Path) -> bool:
    """Return whether a file has the results of a run of lighteval, which are over all items."""
    if not RESULTS_NAME.match(path.name):
        return False
    with suppress(ValueError, OSError):
        content = parse_json(path.read_bytes(), parse_int=whole_number)
        return isinstance(content, dict) and content.keys() >= {"config_general", "results"}
    return False


def is_samples(path: Path) -> bool:
    """Return whether a file has samples, by its name and its first line.

    If the first line cannot be read, the name decides: it must have a time. Files with details of
    leaderboards count as samples, too, by their names alone.
    """
    name_match = SAMPLES_NAME.match(path.name)
    if name_match is None:
        return is_details(path)
    if not path.is_file():
        return False
    try:
        first = _first_value(path)
    except (ValueError, OSError):
        return name_match["time"] is not None
    return isinstance(first, dict) and is_sample(first)


def first_row(path: Path) -> dict[str, Any] | None:
    """Return the row in the first line of a file.

    Of a list of rows in one line, it is the first one.

    Returns:
        The row; None if the line is no JSON object, or if the file cannot be read.
    """
    with suppress(ValueError, OSError):
        first = _first_value(path)
        if isinstance(first, dict):
            return first
    return None


def _first_value(path: Path) -> Any:
    """Parse the first line of a file as JSON; of a list of samples in one line, the first one.

    Raises:
        ValueError: the line is not JSON.
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        value = parse_json(stream.readline(LONGEST_LINE))
    return value[0] if isinstance(value, list) and value else value


def is_sample(row: Mapping[str, Any]) -> bool:
    """Return whether a row has the fields of lm-eval's samples, or of lmms-eval's."""
    return row.keys() >= SAMPLE_FIELDS or row.keys() >= LMMS_FIELDS


def is_details(path: Path) -> bool:
    """Return whether the name of a file is that of details of HELM or the Open LLM Leaderboard."""
    return path.name == HELM_DETAILS or DETAILS_NAME.match(path.name) is not None


def files_beside_details(details: Iterable[Path], paths: Iterable[Path]) -> set[Path]:
    """Return the files that a leaderboard writes beside its details, and that have no items.

    They are HELM's specifications of runs, and lighteval's summaries.

    Args:
        details: the files with details; other files are ignored.
        paths: all files of the source.
    """
    known_details = [path for path in details if is_details(path)]
    beside = {path.with_name(HELM_RUN_SPEC) for path in known_details if path.name == HELM_DETAILS}
    if known_details:
        beside.update(filter(is_summary_of_lighteval, paths))
    return beside


def _details_at(path: Path, label: str | None) -> Samples:
    """Return the description of a file with the details of a leaderboard.

    The model is the user's label, or else it is named by the folders (`_model_of_details`).
    """
    name_match = DETAILS_NAME.match(path.name)
    if name_match is None:
        return _helm_details_at(path, label)
    model = label or _model_of_details(path.absolute().parent)
    return Samples(
        path=path,
        task=name_match["task"],
        time=name_match["time"],
        model=model,
        has_label=bool(label),
        results=None,
    )


def _model_of_details(folder: Path) -> str:
    """Return the model to which a folder with details belongs.

    A folder called `details_ORG__MODEL`, as on Hugging Face, names it, and so does the path from a
    folder `details` to the folder of a time, as lighteval writes it (`details/ORG/MODEL/TIME`).
    Otherwise, the folder itself names it, or the one above the folder of a time.
    """
    for parent in (folder, *folder.parents):
        match = re.fullmatch("details_(.+?)(?:_private)?", parent.name)
        if match:
            return match[1].replace("__", "/", 1)
    if re.fullmatch(TIME, folder.name):
        folder = folder.parent
    for parent in folder.parents:
        if parent.name == "details":
            return folder.relative_to(parent).as_posix()
    return folder.name


def read_run_spec(path: Path) -> dict[str, Any]:
    """Return what HELM's description of a run says; empty if there is none.

    Args:
        path: the file with the details of the run. The description is in the same folder.

    Raises:
        ValueError: the description is not JSON.
    """
    spec = path.with_name(HELM_RUN_SPEC)
    return parse_json(spec.read_bytes()) if spec.is_file() else {}


def _helm_details_at(path: Path, label: str | None) -> Samples:
    """Return the description of a file with the details of HELM.

    The model and the task are read from the file `run_spec.json` in the same folder, or from the
    name of the folder if there is no such file. The task is the name of the run without the model,
    such as `mmlu:subject=anatomy`. A label replaces the model.

    Raises:
        DataError: run_spec.json does not describe a run.
    """
    spec = path.with_name(HELM_RUN_SPEC)
    try:
        content = read_run_spec(path)
        run = content.get("name") or path.absolute().parent.name
        model = (content.get("adapter_spec") or {}).get("model")
        if not model:
            in_name = re.search("model=([^,]+)", run)
            model = in_name[1] if in_name else run
    except (ValueError, AttributeError, TypeError) as error:
        problem = f"not the description of a run of HELM ({error})"
        remedy = "give the file as HELM wrote it"
        raise DataError(problem, remedy=remedy, source=str(spec)) from None
    task = MODEL_IN_RUN_NAME.sub("", run)
    return Samples(
        path=path,
        task=task.rstrip(":"),
        time="",
        model=label or model,
        has_label=bool(label),
        results=None,
    )


def samples_at(
    path: Path, label: str | None = None, results_in_folder: Iterable[Results] = ()
) -> Samples:
    """Return the description of a samples file.

    Without a label, the model has the name in the results file, or else the name of the folder.
    Details of leaderboards are described by `_details_at`, and files in the layout of lm-eval 0.4.0
    to 0.4.2 by `_old_samples_at`. A file of any other name has its own name up to the first dot as
    task, no time and no results.

    Args:
        path: the file.
        label: the user's name for the model; None if there is none.
        results_in_folder: results files in the same folder. The one with the same time is of the
            same run.
    """
    if is_details(path):
        return _details_at(path, label)
    name_match = SAMPLES_NAME.match(path.name)
    if name_match is None:
        old_samples = _old_samples_at(path, label, results_in_folder)
        if old_samples is not None:
            return old_samples
        task = path.name.partition(".")[0]
        time = ""
    else:
        task = name_match["task"]
        time = name_match["time"] or name_match["date"] or ""
    run = next((results for results in results_in_folder if time and results.time == time), None)
    model_of_run = run.model if run else None
    model = label or model_of_run or path.absolute().parent.name
    return Samples(
        path=path, task=task, time=time, model=model, has_label=label is not None, results=run
    )


def _old_samples_at(path: Path, label: str | None, runs: Iterable[Results]) -> Samples | None:
    """Return the description of a samples file of lm-eval 0.4.0 to 0.4.2; None if it is none.

    If the results files are of other models, later runs have overwritten the one of this model. It
    is then named by its arguments in the name of the samples file, and the description has no
    results.

    Args:
        path: the file.
        label: the user's name for the model; None if there is none.
        runs: results files in the same folder.
    """
    runs_and_tasks: list[tuple[Results, str]] = []
    for run in runs:
        task_of_run = run.old_task_of(path)
        if task_of_run is not None:
            runs_and_tasks.append((run, task_of_run))
    for run, task in runs_and_tasks:
        if path.stem == f"{run.old_arguments()}_{task}":
            model = label or run.model or path.absolute().parent.name
            return Samples(
                path=path, task=task, time="", model=model, has_label=label is not None, results=run
            )
    if not runs_and_tasks:
        return None
    task = max((task for _, task in runs_and_tasks), key=len)
    arguments = path.stem.removesuffix(f"_{task}")
    model = label or arguments.removeprefix("pretrained__").removeprefix("model__")
    return Samples(
        path=path, task=task, time="", model=model, has_label=label is not None, results=None
    )


def describe_samples(paths: Iterable[Path], label: str | None) -> list[Samples]:
    """Return the descriptions of samples files, in the same order.

    Each has the results file with the same time in the same folder, if there is one.

    Args:
        paths: the files.
        label: the user's name for the model of all files; None if there is none.
    """
    paths = list(paths)
    folders = {path.parent for path in paths}
    results_by_folder = {folder: _read_results(sorted(folder.glob("*.json"))) for folder in folders}
    return [samples_at(path, label, results_by_folder[path.parent]) for path in paths]


def find_runs(
    paths: Sequence[Path], label: str | None, *, searched: bool
) -> tuple[list[Samples], list[Results]]:
    """Find the samples and results files of a source.

    Args:
        paths: files of the source.
        label: the user's name for the model.
        searched: whether the files were found in a folder. If the user named them, the samples of a
            results file are searched in its folder, too.

    Returns:
        The samples files, sorted by path, and the results files; other files are left out.
    """
    results = _read_results(paths)
    candidates = {*paths}
    for run in results:
        folder = run.path.parent
        if not searched and run.is_old:
            candidates.update(folder.glob("*.jsonl"))
        elif not searched:
            candidates.update(folder.glob(f"samples_*_{run.time}.jsonl"))
            candidates.update(folder.glob(f"{run.time}_samples_*.jsonl"))
    samples = {path for path in candidates if is_samples(path)}
    for run in results:
        samples.update(path for path in candidates if run.old_task_of(path))
    return describe_samples(sorted(samples), label), results


def notes_on_lacking_samples(runs: Sequence[tuple[str, Results]]) -> list[Notice]:
    """Return the warnings about runs that have a results file but no samples that can be read.

    One is about all runs whose samples were packed as .gz, one about those whose samples were not
    logged.

    Args:
        runs: the name of the model, for the message, and the results file of each run.
    """
    by_code: dict[str, list[tuple[str, Results]]] = {"samples-packed": [], "samples-not-logged": []}
    for name, results in runs:
        is_packed = any(results.path.parent.glob("*samples_*.gz"))
        code = "samples-packed" if is_packed else "samples-not-logged"
        by_code[code].append((name, results))
    notes = []
    for code, runs_of_code in by_code.items():
        if runs_of_code:
            models = list(dict.fromkeys(name for name, _ in runs_of_code))
            files = [str(results.path) for _, results in runs_of_code]
            notes.append(Notice(code, {"models": models, "results": files}))
    return notes


def sample_rows(path: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield the place and the content of each row of a samples file.

    A place is `line 3`, or `row 3` in a file with a list. If the last line is cut off, its content
    is None.

    Raises:
        DataError: another line, or a row of a list, is not a JSON object; or a list is damaged.
    """
    with path.open("rb") as stream, named_in_errors(path):
        if stream.peek(1)[:1] == b"[":
            for number, row in enumerate(_rows_of_list(stream.read()), 1):
                yield f"row {number}", row
        else:
            try:
                for place, row in json_lines(stream):
                    yield f"line {place}", row
            except CutLineError as error:
                yield error.row or "the last line", None


def _rows_of_list(content: bytes) -> list[dict[str, Any]]:
    """Parse a JSON list of objects.

    Raises:
        DataError: the text is not valid JSON, or an entry of the list is not an object.
    """
    remedy = "give the file as lm_eval wrote it"
    try:
        rows = parse_json(content)
    except ValueError as error:
        raise DataError(f"damaged JSON ({error})", remedy=remedy) from None
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            problem = f"{shorten(str(row))!r} is not a JSON object"
            raise DataError(problem, row=f"row {number}", remedy=remedy)
    return list(rows)


def read_doc_hash(row: Mapping[str, Any]) -> str:
    """Return the hash of a row's document. If the row has none, compute it as lm-eval does.

    Without a document, it is the hash of `null`.
    """
    recorded_hash = text_of(row.get("doc_hash"))
    if recorded_hash is not None:
        return recorded_hash
    text = json.dumps(row.get("doc"), indent=2, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def item_ids(task: str, documents: Sequence[tuple[str, str, float]]) -> list[str]:
    """Return the id of each row's item: the task, and 12 digits of the hash of the document.

    If a filter has several rows with the same hash, `#2` and so on is appended to the later ones,
    in the order of `doc_id`.

    Args:
        task: name of the task.
        documents: filter, hash of the document, and `doc_id` of each row.
    """
    occurrences: Counter[tuple[str, str]] = Counter()
    ids = [""] * len(documents)
    doc_ids = [doc_id for _, _, doc_id in documents]
    rows_by_doc_id = sorted(range(len(documents)), key=lambda k: doc_ids[k])
    for k in rows_by_doc_id:
        filter_name, document, _ = documents[k]
        occurrences[filter_name, document] += 1
        occurrence = occurrences[filter_name, document]
        ids[k] = f"{task}:{document[:12]}"
        if occurrence > 1:
            ids[k] += f"#{occurrence}"
    return ids


def place_in_set(row: Mapping[str, Any]) -> float:
    """Return a row's `doc_id`, which is the document's position in the data set; 0 if it is missing
    or no number."""
    place = row.get("doc_id")
    return float(place) if isinstance(place, int | float) else 0.0
