"""Tables on terminals of any width."""

from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

import podium
from podium.cli.tables import print_table

EXAMPLE = Path(__file__).parents[2] / "examples" / "simulated" / "battles.csv"


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_narrow_terminal_cuts_no_number(width: int) -> None:
    ranking = podium.rank(EXAMPLE, "bradley-terry")
    lines = on_a_terminal(ranking, width)
    assert all("1629.9 … 1729.2" in line for line in lines if "amber" in line)


def test_a_narrow_terminal_shortens_the_middle_of_a_long_name() -> None:
    ranking = podium.rank(renamed_amber("a-name-of-very-many-words-that-no-terminal-can-hold"), "bradley-terry")
    line = next(line for line in on_a_terminal(ranking, 80) if "1629.9" in line)
    assert ("…" in line.split("1679.5")[0], len(line) <= 80) == (True, True)


def on_a_terminal(ranking: podium.Ranking, width: int) -> list[str]:
    console = Console(file=StringIO(), width=width)
    print_table(ranking.standings[0], console, width)
    return console.file.getvalue().splitlines()


def renamed_amber(name: str) -> podium.Battles:
    frame = pd.read_csv(EXAMPLE).replace({"amber": name})
    return podium.read_battles(frame)
