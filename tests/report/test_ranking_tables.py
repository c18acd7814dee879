"""Tables on terminals of any width."""

from pathlib import Path

import pandas as pd
import pytest

import podium
from podium.report.ranking_view import ranking_reports
from podium.report.terminal import terminal_text

EXAMPLE = Path(__file__).parents[2] / "examples" / "simulated" / "battles.csv"


@pytest.mark.slow
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
    return terminal_text(ranking_reports(ranking), width=width).splitlines()


def renamed_amber(name: str) -> podium.Battles:
    frame = pd.read_csv(EXAMPLE).replace({"amber": name})
    return podium.read_battles(frame)
