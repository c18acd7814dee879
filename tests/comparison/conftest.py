"""The command line in this process, and worlds to compare in."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from podium.cli.main import main

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "simulated" / "battles.csv"


@pytest.fixture
def podium(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., SimpleNamespace]:
    """Return `podium("compare", ...)`; the exit code is the one a shell would see."""

    def run(*words: object) -> SimpleNamespace:
        monkeypatch.setattr(sys, "argv", ["podium", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        written = capsys.readouterr()
        return SimpleNamespace(code=int(stop.value.code or 0), out=written.out, err=written.err)

    return run


@pytest.fixture
def scores(tmp_path: Path) -> Callable[..., Path]:
    """Return `scores(name, values, ...)`, which writes a table of scores of one model."""

    def write(name: str, values: object, **columns: object) -> Path:
        array = np.asarray(values, dtype=float)
        frame = pd.DataFrame({"item": [f"q{k:03d}" for k in range(len(array))], "score": array, **columns})
        path = tmp_path / f"{name}.csv"
        frame.to_csv(path, index=False)
        return path

    return write
