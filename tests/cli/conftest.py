"""Run the command line in this process, as a user would type it."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from podium.cli.main import main

HEADER = "item,model_a,model_b,credit"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def podium(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Return `podium("rank", path, ...)`; the exit code is the one a shell would see."""

    def run(*words: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["podium", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        written = capsys.readouterr()
        return Answer(int(stop.value.code or 0), written.out, written.err)

    return run


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """Return `table(row, ...)`, which writes a battles table of those CSV rows."""

    def write(*rows: str, header: str = HEADER) -> Path:
        path = tmp_path / "battles.csv"
        path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def example() -> Path:
    """Return the simulated example: six entrants, 40 items, both orders, one judge."""
    return Path(__file__).parents[2] / "examples" / "simulated" / "battles.csv"
