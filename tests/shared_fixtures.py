"""Fixtures that tests of several rooms share: the command line in this process, a writer of files,
a language model."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pytest
from language_model import LanguageModel, find_weights


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def podium(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Answer]:
    """Return `podium("rank", path, ...)`, as a user would type it; the exit code is the one a shell
    would see."""
    from podium.cli.main import main

    def run(*words: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["podium", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        written = capsys.readouterr()
        return Answer(int(stop.value.code or 0), written.out, written.err)

    return run


@pytest.fixture
def save(tmp_path: Path) -> Callable[[str, Any], str]:
    """Return a writer: text as it is; rows as JSON, JSONL or Parquet by the file's suffix."""

    def write(name: str, content: Any) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        elif path.suffix == ".parquet":
            pd.DataFrame(content).to_parquet(path)
        elif path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
        else:
            path.write_text(json.dumps(content), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture(scope="session")
def weights(request: pytest.FixtureRequest) -> Path:
    """Return the language model's file; skip the test where it is not installed, or fail with
    `--require-llm`."""
    found = find_weights()
    if found is None:
        stop = pytest.fail if request.config.getoption("require_llm") else pytest.skip
        stop("no language model is installed: see CONTRIBUTING.md")
    return found


@pytest.fixture(scope="session")
def language_model(weights: Path) -> Iterator[LanguageModel]:  # noqa: ARG001
    """Return a server of a real language model, one for all tests of this process."""
    model = LanguageModel()
    model.start()
    yield model
    model.kill()


@pytest.fixture(scope="session")
def every_eval_ever(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return `python -m every_eval_ever WORDS`, run in a folder; skip the test where its wheel
    cannot be downloaded.

    It asks for Python 3.12; what is used of it here runs on 3.11, so it is unpacked and not
    installed.
    """
    folder = tmp_path_factory.mktemp("every_eval_ever")
    how = (
        "--no-deps",
        "--python-version",
        "3.12",
        "--only-binary=:all:",
        "--timeout",
        "5",
        "--retries",
        "0",
    )
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        *how,
        "-d",
        folder,
        "every-eval-ever==0.3.*",
    ]
    subprocess.run(command, capture_output=True, check=False)
    wheel = next(folder.glob("*.whl"), None)
    if wheel is None:
        pytest.skip("every-eval-ever cannot be downloaded")
    ZipFile(wheel).extractall(folder)
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])

    def run(*words: object, folder: Path) -> subprocess.CompletedProcess[str]:
        typed = [sys.executable, "-m", "every_eval_ever", *map(str, words)]
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.run(
            typed, capture_output=True, text=True, check=False, cwd=folder, env=environment
        )

    return run
