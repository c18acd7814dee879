"""Tables that commands are given."""

from collections.abc import Callable
from pathlib import Path

import pytest

HEADER = "item,model_a,model_b,credit"


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
    """Return the simulated example: six models, 40 items, both orders, one judge."""
    return Path(__file__).parents[2] / "examples" / "simulated" / "battles.csv"
