"""Folders of lm-eval 0.4.0 to 0.4.2: `results.json` beside `ARGUMENTS_TASK.jsonl`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import podium
from podium.responses.read import read_responses

TASKS = ("arc", "my_arc")


def write_old_run(
    folder: Path, arguments: str, right: Sequence[int], tasks: Sequence[str] = TASKS
) -> Path:
    """Write the run of a model on tasks; `right` has 1 for each document with a right answer."""
    folder.mkdir(exist_ok=True)
    figure = sum(right) / len(right)
    results: dict[str, Any] = {
        "results": {task: {"acc,none": figure, "acc_stderr,none": 0.1} for task in tasks},
        "configs": {task: {"task": task, "num_fewshot": 0} for task in tasks},
        "versions": dict.fromkeys(tasks, 1.0),
        "n-shot": dict.fromkeys(tasks, 0),
        "config": {"model": "hf", "model_args": arguments, "limit": None},
        "git_hash": "1234567",
    }
    (folder / "results.json").write_text(json.dumps(results, indent=2))
    for task in tasks:
        rows = [sample_of(task, place, own) for place, own in enumerate(right)]
        named = arguments.replace("/", "__").replace("=", "__")
        (folder / f"{named}_{task}.jsonl").write_text(json.dumps(rows, indent=2))
    return folder


def sample_of(task: str, place: int, right: int) -> dict[str, Any]:
    """Return a row as these versions write it: without hashes and without a filter."""
    question = f"{task} {place}?"
    return {
        "doc_id": place,
        "doc": {"q": question},
        "target": "yes",
        "arguments": [[question, {"until": ["\n"]}]],
        "resps": [["yes" if right else "no"]],
        "filtered_resps": ["yes" if right else "no"],
        "acc": float(right),
    }


def means_by_task(source: Path | Sequence[Path]) -> dict[str | None, dict[str, float | None]]:
    """Return the mean of each model by task."""
    sources = [source] if isinstance(source, Path) else source
    ranking = podium.rank(podium.read_battles(*sources), "mean")
    return {
        one.slice: {entry.model: entry.score for entry in one.entries} for one in ranking.standings
    }


def test_two_folders_are_ranked_by_task(tmp_path: Path) -> None:
    write_old_run(tmp_path / "a", "pretrained=org/a,dtype=float", [1, 1, 1, 0])
    write_old_run(tmp_path / "b", "pretrained=org/b", [1, 0, 0, 0])
    of_task = {"org/a": 0.75, "org/b": 0.25}
    assert means_by_task(tmp_path) == {"arc": of_task, "my_arc": of_task}


def test_a_results_file_finds_its_samples(tmp_path: Path) -> None:
    a = write_old_run(tmp_path / "a", "pretrained=org/a", [1, 1], TASKS[:1])
    b = write_old_run(tmp_path / "b", "pretrained=org/b", [1, 0], TASKS[:1])
    named = [a / "results.json", b / "results.json"]
    assert means_by_task(named) == {None: {"org/a": 1.0, "org/b": 0.5}}


def test_in_one_folder_the_names_of_files_tell_the_models(tmp_path: Path) -> None:
    write_old_run(tmp_path / "out", "pretrained=org/a", [1, 1], TASKS[:1])
    write_old_run(tmp_path / "out", "pretrained=org/b", [1, 0], TASKS[:1])
    assert means_by_task(tmp_path) == {None: {"org__a": 1.0, "org/b": 0.5}}


def test_other_json_lines_beside_the_results_are_no_samples(tmp_path: Path) -> None:
    write_old_run(tmp_path / "a", "pretrained=org/a", [1, 1], TASKS[:1])
    write_old_run(tmp_path / "b", "pretrained=org/b", [1, 0], TASKS[:1])
    (tmp_path / "a" / "notes.jsonl").write_text('{"text": "nothing"}\n')
    assert means_by_task(tmp_path) == {None: {"org/a": 1.0, "org/b": 0.5}}


@pytest.mark.parametrize("folder", ["a", "b"])
def test_responses_are_read(tmp_path: Path, folder: str) -> None:
    path = write_old_run(tmp_path / folder, f"pretrained=org/{folder}", [1, 0], TASKS[:1])
    other = write_old_run(tmp_path / "other", "pretrained=org/other", [0, 0], TASKS[:1])
    responses = read_responses(path, other)
    assert {*responses.models} == {f"org/{folder}", "org/other"}
