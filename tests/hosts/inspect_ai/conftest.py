"""A scripted judge, models of known quality, and a place of its own for every test."""

import json
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai")

import scripted_judge
from inspect_ai import Task, eval
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model._model import init_model_roles
from played_logs import ITEMS, MODELS, quality
from scripted_judge import Behaviour, Record

Play = Callable[..., EvalLog]
FOREIGN = ("PODIUM_RANKER", "INSPECT_EVAL_METADATA", "INSPECT_LOG_FORMAT", "INSPECT_EVAL_MODEL")


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the test a folder, a cache and a log directory of its own."""
    for name in FOREIGN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.chdir(tmp_path)
    # Judges of tests reply by script, and may always do so alike.
    monkeypatch.setattr("podium.hosts.inspect_ai.judging.judge_monitor.FIRST_LOOK", 10**6)


@pytest.fixture
def record() -> Record:
    """Return what is asked of the judges, empty at first."""
    scripted_judge.RECORD = Record()
    return scripted_judge.RECORD


@pytest.fixture
def behave(record: Record) -> Callable[..., str]:
    """Return a way to say how a judge behaves; it gives the judge's full name."""

    def tell(name: str = "judge", **manner: Any) -> str:
        record.behaviours[name] = Behaviour(**manner)
        return f"scripted/{name}"

    return tell


@pytest.fixture
def write_responses(tmp_path: Path) -> Callable[..., list[str]]:
    """Return a writer of one file per model."""

    def write(
        models: Mapping[str, float] = MODELS,
        items: int = ITEMS,
        texts: Mapping[tuple[str, int], str] | None = None,
        **columns: Any,
    ) -> list[str]:
        paths = []
        for name in models:
            rows = [
                {
                    "id": f"q{k}",
                    "instruction": f"Question {k}?",
                    "response": (texts or {}).get(
                        (name, k), f"answer {k} quality={quality(name, k, models)}"
                    ),
                    **{
                        column: value(k) if callable(value) else value
                        for column, value in columns.items()
                    },
                }
                for k in range(items)
            ]
            path = tmp_path / f"{name}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            paths.append(str(path))
        return paths

    return write


def roles(judge: str | Sequence[Any]) -> dict[str, Any]:
    """Return the roles of one judge or a jury; a role holds a list in newer versions only."""
    if not isinstance(judge, list) or "list" in str(
        signature(init_model_roles).parameters["roles"].annotation
    ):
        return {"judge": judge}
    return {
        f"judge{number if number > 1 else ''}": one for number, one in enumerate(judge, start=1)
    }


@pytest.fixture
def play(record: Record) -> Play:
    """Return a way to play a task; it gives the log as it stands on disk."""

    def run(task: Task, judge: str | Sequence[Any] = "scripted/judge", **options: Any) -> EvalLog:
        [log] = eval(task, model_roles=roles(judge), **options)
        return read_eval_log(log.location)

    return run


@pytest.fixture
def run_podium(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Return a way to run podium's command line; it gives the exit code, stdout and stderr."""
    from podium.cli.main import main

    def run(*words: str) -> tuple[int, str, str]:
        capfd.readouterr()
        monkeypatch.setattr("sys.argv", ["podium", *words])
        with pytest.raises(SystemExit) as end:
            main()
        code = end.value.code
        return code if isinstance(code, int) else int(code is not None), *capfd.readouterr()

    return run
