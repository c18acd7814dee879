"""A tournament over Inspect's logs: its verdicts keep the tasks of the logs, and a model whose log
failed is missing, not absent."""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import (
    EvalError,
    EvalLog,
    EvalSample,
    ProvenanceData,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.model import ModelOutput
from made_logs import RIGHT, write_quiz
from played_logs import place

from podium.hosts.inspect_ai.logs.response_reader import READER
from podium.hosts.inspect_ai.tasks import chain, ring, round_robin
from podium.responses.read import read_responses

pytestmark = pytest.mark.slow


def write_answers(folder: Path, model: str, task: str) -> Path:
    """Write the log of a model with a response to each of three items."""
    path = write_quiz(folder, model, RIGHT[model], task=task)
    log = read_eval_log(str(path))
    samples: list[EvalSample] = []
    for number, sample in enumerate((log.samples or [])[:3], start=1):
        text = f"{model} on {sample.id}: quality {number + RIGHT[model]}"
        output = ModelOutput.from_content(model, text)
        changed = {"output": output, "input": f"{task}: item q{number}"}
        samples.append(sample.model_copy(update=changed))
    log.samples = samples
    write_eval_log(log, str(path))
    return path


def fail_log(path: Path, status: Any) -> None:
    """Change a log to one that ended with a status before any sample finished."""
    log: EvalLog = read_eval_log(str(path))
    log.status = status
    log.samples = []
    log.results = None
    log.error = EvalError(message="no quota", traceback="", traceback_ansi="")
    path.unlink()
    write_eval_log(log, str(path))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Return a folder with the logs of three models on each of two tasks."""
    folder = tmp_path / "answers"
    folder.mkdir()
    for model in RIGHT:
        for task in ("lab/quiz", "lab/quiz-hard"):
            (folder / task).mkdir(parents=True, exist_ok=True)
            write_answers(folder / task, model, task.replace("/", "_"))
    return folder


def test_verdicts_keep_the_tasks_of_the_logs(
    logs: Path, play: Any, behave: Any, run_podium: Any
) -> None:
    log = str(place(play(round_robin(responses=str(logs)), behave())))
    code, whole, err = run_podium("rank", log, "--ranker", "win-rate")
    assert code == 0, err
    assert "6 items" in whole
    check_ranking_by_task(run_podium, log, ("lab_quiz", "lab_quiz-hard"))


def check_ranking_by_task(run_podium: Any, log: str, tasks: Sequence[str]) -> None:
    """Check that a log is ranked by its tasks, and that the first task has three items."""
    code, by_task, err = run_podium("rank", log, "--ranker", "win-rate", "--by", "task")
    assert code == 0, err
    assert all(f"win-rate [{task}]" in by_task for task in tasks)
    code, one, err = run_podium("rank", log, "--ranker", "win-rate", "--where", f"task={tasks[0]}")
    assert code == 0, err
    assert "3 items" in one


def write_samples(folder: Path, model: str, task: str) -> None:
    """Write the samples of a run of lm-eval on three documents of a task."""
    place = folder / model
    place.mkdir(parents=True, exist_ok=True)
    rows = []
    for number in range(1, 4):
        prompt = f"{task}: item q{number}"
        rows.append(
            {
                "doc_id": number,
                "doc": {"question": prompt},
                "target": "5",
                "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {}}},
                "resps": [[f"{model} says {number}"]],
                "filtered_resps": [f"{model} says {number}"],
                "filter": "none",
                "metrics": ["exact_match"],
                "exact_match": 0.0,
                "doc_hash": sha256(prompt.encode()).hexdigest(),
                "prompt_hash": sha256(prompt.encode()).hexdigest(),
                "target_hash": "0" * 64,
            }
        )
    path = place / f"samples_{task}_2026-01-01T00-00-00.000000.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_verdicts_keep_the_tasks_of_samples_of_lm_eval(
    tmp_path: Path, play: Any, behave: Any, run_podium: Any
) -> None:
    for model in ("ash", "elm"):
        for task in ("quiz", "quiz_hard"):
            write_samples(tmp_path / "out", model, task)
    log = str(place(play(round_robin(responses=str(tmp_path / "out")), behave())))
    check_ranking_by_task(run_podium, log, ("quiz", "quiz_hard"))


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_a_model_whose_log_failed_is_missing_with_its_reason(
    logs: Path, status: str, play: Any, behave: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    [path] = (logs / "lab" / "quiz").glob("*good*")
    fail_log(path, status)
    responses = read_responses(str(logs / "lab" / "quiz"), readers=(READER,))
    reason = f"its log has status {status}"
    assert responses.missing_reasons() == {"lab/good": {reason: 3}}
    log = play(round_robin(responses=str(logs / "lab" / "quiz")), behave())
    assert f"lab/good ({reason}: 3)" in capsys.readouterr().err
    metadata = log.eval.metadata
    assert sorted(metadata["podium_models"]) == sorted(RIGHT)
    assert metadata["podium_left_out"] == 6


def test_each_epoch_of_a_failed_log_is_missing_for_that_reason(logs: Path) -> None:
    for path in (logs / "lab" / "quiz").glob("*"):
        log = read_eval_log(str(path))
        again = [sample.model_copy(update={"epoch": 2}) for sample in log.samples or []]
        log.samples = [*(log.samples or []), *again]
        write_eval_log(log, str(path))
    [path] = (logs / "lab" / "quiz").glob("*good*")
    fail_log(path, "error")
    responses = read_responses(str(logs / "lab" / "quiz"), readers=(READER,))
    assert responses.missing_reasons() == {"lab/good": {"its log has status error": 6}}


def test_a_model_that_answers_in_another_log_of_the_task_is_not_missing(logs: Path) -> None:
    [path] = (logs / "lab" / "quiz").glob("*good*")
    log = read_eval_log(str(path))
    log.eval.task_id = "earlier"
    earlier = path.with_name(f"2025-{path.name}")
    write_eval_log(log, str(earlier))
    fail_log(earlier, "error")
    responses = read_responses(str(logs / "lab" / "quiz"), readers=(READER,))
    assert responses.missing_reasons() == {}


def test_a_model_that_failed_on_one_of_two_tasks_is_missing_there(logs: Path) -> None:
    [path] = (logs / "lab" / "quiz").glob("*good*")
    fail_log(path, "error")
    responses = read_responses(str(logs), readers=(READER,))
    missing = responses.missing["lab/good"]
    assert {key.partition(":")[0] for key in missing} == {"lab_quiz"}
    assert len(missing) == 3


def slices_of(run_podium: Any, *words: str) -> dict[str | None, dict[str, Any]]:
    """Rank battles; return the standings of each slice as in JSON."""
    code, out, err = run_podium("rank", *words, "--ranker", "win-rate", "--format", "json")
    assert code == 0, err
    return {each["slice"]: each for each in json.loads(out)["rankings"]}


@pytest.mark.parametrize(
    ("task", "missing"), [(round_robin, 6), (chain, 3), (ring, 3)], ids=["all", "chain", "ring"]
)
def test_a_model_that_failed_on_one_of_two_tasks_is_missing_in_the_slice_of_this_task(
    logs: Path, task: Any, missing: int, play: Any, behave: Any, run_podium: Any
) -> None:
    [path] = (logs / "lab" / "quiz").glob("*good*")
    fail_log(path, "error")
    log = str(place(play(task(responses=str(logs)), behave())))
    by_task = slices_of(run_podium, log, "--by", "task")
    numbers = {name: each["counts"]["missing"] for name, each in by_task.items()}
    assert numbers == {"lab_quiz": missing, "lab_quiz-hard": 0}
    warnings = {name: [own["code"] for own in each["warnings"]] for name, each in by_task.items()}
    assert "models-absent-from-task" in warnings["lab_quiz"]
    assert "models-absent-from-task" not in warnings["lab_quiz-hard"]
    [alone] = slices_of(run_podium, log, "--where", "task=lab_quiz").values()
    assert alone["counts"]["missing"] == missing
    [absent] = [own for own in alone["warnings"] if own["code"] == "models-absent-from-task"]
    assert absent["fields"] == {"models": ["lab/good"]}


def test_invalidated_battles_are_missing_in_the_slice_of_their_task(
    logs: Path, play: Any, behave: Any, run_podium: Any
) -> None:
    path = place(play(round_robin(responses=str(logs)), behave()))
    log = read_eval_log(str(path))
    for sample in (log.samples or [])[:2]:
        assert sample.metadata["item"].startswith("lab_quiz:")
        sample.invalidation = ProvenanceData(author="me", reason="wrong")
    write_eval_log(log, str(path))
    by_task = slices_of(run_podium, str(path), "--by", "task")
    numbers = {name: each["counts"]["missing"] for name, each in by_task.items()}
    assert numbers == {"lab_quiz": 2, "lab_quiz-hard": 0}
