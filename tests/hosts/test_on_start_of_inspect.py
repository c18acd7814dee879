"""Inspect itself in an environment where podium is enabled, beside one where it is not."""

import json
import re
import time
from collections import Counter
from difflib import ndiff
from pathlib import Path
from typing import Any

import pytest
from environment import Environment, outcome

import podium

pytest.importorskip("inspect_ai")

COMMANDS = ("eval", "eval-set", "eval-retry", "score")
HELP = f"""
from inspect_ai._cli.main import inspect
for name in {COMMANDS}:
    inspect.main([name, "--help"], standalone_mode=False)
"""
QUIZ = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import solver

RIGHT = {"weak": 3, "fair": 6, "good": 9}

@solver
def answering():
    async def solve(state, generate):
        k, name = int(state.sample_id[1:]), state.model.name
        is_right = (k * 5 + RIGHT[name]) % 12 < RIGHT[name]
        state.output = ModelOutput.from_content(name, "yes" if is_right else "no")
        state.completed = True
        return state

    return solve

@task
def quiz():
    samples = [Sample(id=f"q{k}", input=f"Question {k}?", target="yes") for k in range(12)]
    return Task(samples, solver=answering(), scorer=match())
"""
EVAL = (
    "eval",
    "quiz.py",
    "--model",
    "mockllm/weak,mockllm/fair,mockllm/good",
    "--log-format",
    "json",
)
PASSING = {
    *(
        "run_id",
        "eval_id",
        "eval_set_id",
        "task_id",
        "uuid",
        "id",
        "span_id",
        "parent_id",
        "message_id",
    ),
    *(
        "created",
        "started_at",
        "completed_at",
        "timestamp",
        "completed",
        "duration",
        "location",
        "pid",
    ),
    *("total_time", "working_time", "working_start", "log_updates", "scored_at", "etag"),
}
"""What differs from run to run of one command: identities and times."""


@pytest.fixture
def quiz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with an eval that three models can take without a call."""
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    (tmp_path / "quiz.py").write_text(QUIZ)
    return tmp_path


def lasting(value: Any) -> Any:
    """Return what of a log does not change from run to run."""
    if isinstance(value, dict):
        return {name: lasting(one) for name, one in value.items() if name not in PASSING}
    return [lasting(one) for one in value] if isinstance(value, list) else value


def logs_in(folder: Path) -> list[Path]:
    return sorted(one for one in folder.glob("*.json") if not one.name.startswith("podium-"))


def rankings_in(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(one.read_text()) for one in folder.glob("podium-*.ranking")]


def written_by_now(folder: Path) -> bool:
    """Whether there is a ranking, and not the first half of one."""
    try:
        return bool(rankings_in(folder))
    except ValueError:
        return False


@pytest.mark.slow
def test_help_has_the_option_after_enable_and_not_after_disable(tmp_path: Path) -> None:
    environment = Environment.made(tmp_path / "environment")
    program = environment.folder / "inspect"
    program.write_text(HELP)
    files = environment.listing()
    shown = []
    for step in (None, "enable", "disable"):
        assert step is None or environment.podium(step).returncode == 0
        shown.append(outcome(environment.python(program, "--help")))
    assert shown[0][0] == 0
    assert shown[2] == shown[0]
    assert environment.listing() == files
    lines = [
        line for line in ndiff(shown[0][1].splitlines(), shown[1][1].splitlines()) if line[0] != " "
    ]
    assert {line[0] for line in lines} == {"+"}
    options = Counter(line.split()[1] for line in lines if re.match(r"\+ {3}--", line))
    assert {"--ranker", "--ranker-judge"} <= options.keys()
    assert not [name for name in options if not name.startswith("--ranker")]
    assert set(options.values()) == {len(COMMANDS)}


@pytest.mark.slow
def test_run_without_ranker_prints_the_hosts_output_only(
    on: Environment, off: Environment, quiz: Path
) -> None:
    """What is printed, and every log, but for times and identities."""
    printed, logs = [], []
    for environment in (off, on):
        folder = quiz / "logs"
        done = environment.script(
            "inspect", *EVAL, "--max-tasks", "1", "--display", "plain", place=quiz
        )
        lines = [
            re.sub(r"\S+_quiz_\S+|\d+:\d\d:\d\d", "*", line) for line in done.stdout.splitlines()
        ]
        # How often progress is shown depends on how fast the machine is.
        printed.append(
            (
                done.returncode,
                [line.rstrip() for line in lines if "Steps:" not in line],
                done.stderr,
            )
        )
        logs.append(
            sorted(
                (json.loads(one.read_text()) for one in logs_in(folder)),
                key=lambda log: log["eval"]["model"],
            )
        )
        folder.rename(quiz / f"logs of {environment.folder.name}")
    assert printed[0][0] == 0
    assert len(logs[0]) == 3
    assert printed[1] == printed[0]
    assert lasting(logs[1]) == lasting(logs[0])


@pytest.mark.slow
def test_the_bare_command_ranks_as_podium_ranks_its_logs(on: Environment, quiz: Path) -> None:
    done = on.script(
        "inspect", *EVAL, "--display", "none", "--ranker", "bradley-terry,mean", place=quiz
    )
    assert done.returncode == 0, done.stderr
    [reported] = rankings_in(quiz / "logs")
    battles = podium.read_battles(*map(str, logs_in(quiz / "logs")))
    expected = podium.rank(battles, ["bradley-terry", "mean"]).to_dict()
    assert [one["models"] for one in reported["rankings"]] == [
        one["models"] for one in expected["rankings"]
    ]
    assert "bradley-terry" in done.stderr


@pytest.mark.slow
def test_detached_run_is_ranked_at_the_end(on: Environment, quiz: Path) -> None:
    done = on.script("inspect", *EVAL, "--detach", "--ranker=mean", place=quiz)
    assert done.returncode == 0, done.stderr
    deadline = time.monotonic() + 60
    while not written_by_now(quiz / "logs") and time.monotonic() < deadline:
        time.sleep(0.2)
    [reported] = rankings_in(quiz / "logs")
    assert [one["ranker"] for one in reported["rankings"]] == ["mean"]


@pytest.mark.slow
def test_podium_inspect_in_an_enabled_environment_has_the_option_once(on: Environment) -> None:
    shown = on.podium("inspect", "eval", "--help")
    assert (shown.returncode, shown.stdout.count("--ranker <")) == (0, 1)
