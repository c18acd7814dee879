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
    folder: Path,
    arguments: str,
    right: Sequence[int],
    tasks: Sequence[str] = TASKS,
    name: str = "results.json",
) -> Path:
    """Write the run of a model on tasks; `right` has 1 for each document with a right answer.

    The results file has the name that was given as --output_path.
    """
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
    (folder / name).write_text(json.dumps(results, indent=2))
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


@pytest.mark.slow
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


def test_samples_in_one_line_are_read(tmp_path: Path) -> None:
    time = "2026-01-02T03-04-05.678901"
    for model, right in {"a": [1, 1], "b": [1, 0]}.items():
        folder = write_old_run(tmp_path / model, f"pretrained=org/{model}", right, TASKS[:1])
        [samples] = folder.glob("*.jsonl")
        rows = json.loads(samples.read_text())
        samples.unlink()
        (folder / "results.json").rename(folder / f"results_{time}.json")
        (folder / f"samples_{TASKS[0]}_{time}.json").write_text(json.dumps(rows))
    assert means_by_task(tmp_path) == {None: {"a": 1.0, "b": 0.5}}


def test_in_one_folder_the_names_of_files_tell_the_models(tmp_path: Path) -> None:
    write_old_run(tmp_path / "out", "pretrained=org/a", [1, 1], TASKS[:1])
    write_old_run(tmp_path / "out", "pretrained=org/b", [1, 0], TASKS[:1])
    assert means_by_task(tmp_path) == {None: {"org__a": 1.0, "org/b": 0.5}}


@pytest.mark.slow
def test_results_files_have_the_names_that_the_user_gave(tmp_path: Path) -> None:
    write_old_run(tmp_path / "out", "pretrained=org/a", [1, 1], TASKS[:1], "first.json")
    write_old_run(tmp_path / "out", "pretrained=org/b", [1, 0], TASKS[:1], "second.json")
    of_task = {"org/a": 1.0, "org/b": 0.5}
    assert means_by_task(tmp_path) == {None: of_task}
    named = [tmp_path / "out" / name for name in ("first.json", "second.json")]
    assert means_by_task(named) == {None: of_task}


def write_results_of_03(path: Path, model: str) -> None:
    """Write a results file as lm-eval 0.3 does, which has no samples."""
    figures = {"acc": 0.5, "acc_stderr": 0.1, "acc_norm": 0.4, "acc_norm_stderr": 0.1}
    results = {
        "results": {"arc_easy": figures, "hendrycksTest-anatomy": figures},
        "versions": {"arc_easy": 0, "hendrycksTest-anatomy": 0},
        "config": {"model": "hf-causal", "model_args": f"pretrained={model}", "num_fewshot": 5},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=2))


def test_results_of_lm_eval_03_lack_samples_whatever_else_is_in_the_folder(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_results_of_03(tmp_path / name / "arc.json", f"org/{name}")
        write_results_of_03(tmp_path / name / "mmlu.json", f"org/{name}")
    (tmp_path / "summary.json").write_text(json.dumps({"a": [1, 2], "b": [1]}))
    with pytest.raises(podium.DataError) as refusal:
        podium.read_battles(tmp_path)
    assert str(refusal.value) == (
        f"nothing to compare: org/a, org/b, org/c have no samples beside {tmp_path}/a/arc.json, "
        "and 5 more: run lm_eval with --log_samples. Remedy: give the samples of two models or "
        "more on the same documents of a task"
    )


@pytest.mark.slow
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
