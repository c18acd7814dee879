"""A model whose log failed: its battles with the other models are missing, in each task."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalError, read_eval_log, write_eval_log
from made_logs import ITEMS, RIGHT, write_quiz

import podium


def fail(path: Path) -> None:
    """Change a log to one that failed before any sample finished."""
    log = read_eval_log(str(path))
    log.status = "error"
    log.samples = []
    log.results = None
    log.error = EvalError(message="no quota", traceback="", traceback_ansi="")
    path.unlink()
    write_eval_log(log, str(path))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Return a folder with the logs of three models on two tasks."""
    for task in ("quiz", "poem"):
        for model, right in RIGHT.items():
            write_quiz(tmp_path, model, right, task=task)
    return tmp_path


def path_of(folder: Path, task: str, model: str) -> Path:
    """Return the log of a model on a task."""
    [path] = folder.glob(f"*_{task}_{model}.eval")
    return path


def test_the_battles_of_a_failed_model_are_missing(logs: Path, run_podium: Any) -> None:
    fail(path_of(logs, "quiz", "good"))
    quiz = [str(path) for path in sorted(logs.glob("*_quiz_*"))]
    assert podium.read_battles(*quiz).counts().missing == 2 * ITEMS
    code, out, err = run_podium("rank", *quiz)
    assert code == 3
    assert f"{2 * ITEMS} missing" in out
    assert "its status is error" in err


def test_two_failed_models_lack_the_battle_between_them_too(logs: Path) -> None:
    write_quiz(logs, "lab/more", 5)
    for model in ("good", "more"):
        fail(path_of(logs, "quiz", model))
    quiz = [str(path) for path in sorted(logs.glob("*_quiz_*"))]
    assert podium.read_battles(*quiz).counts().missing == 5 * ITEMS


@pytest.mark.slow
def test_a_model_is_missing_in_the_task_in_which_it_failed(logs: Path, run_podium: Any) -> None:
    fail(path_of(logs, "quiz", "good"))
    _, out, _ = run_podium("rank", str(logs), "--format", "json")
    rankings = {each["slice"]: each for each in json.loads(out)["rankings"]}
    numbers = {task: each["counts"]["missing"] for task, each in rankings.items()}
    assert numbers == {"quiz": 2 * ITEMS, "poem": 0}
    codes = {task: {own["code"] for own in each["warnings"]} for task, each in rankings.items()}
    assert "models-absent-from-task" in codes["quiz"] - codes["poem"]


def test_a_failed_log_beside_a_later_one_of_the_model_is_not_missing(logs: Path) -> None:
    path = path_of(logs, "quiz", "good")
    log = read_eval_log(str(path))
    log.eval.task_id = "earlier"
    earlier = path.with_name(f"2025-{path.name}")
    write_eval_log(log, str(earlier))
    fail(earlier)
    quiz = [str(path) for path in sorted(logs.glob("*_quiz_*"))]
    assert podium.read_battles(*quiz).counts().missing == 0
