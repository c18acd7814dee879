"""What names could do to a terminal, a spreadsheet or a reader of JSON: nothing."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import podium
from podium.printable import escape_cells, formula_columns, tell
from podium.show.report.ranking_view import ranking_text
from podium.show.report.writing import WRITERS, styled_text

FORMULAS = (
    "=cmd|' /C calc'!A0",
    "@SUM(A1)",
    "+cmd",
    "-2+3+cmd|' /C calc'!A0",
    "- 1-cmd",
    " =1+1",
    "＝1+1",
    "-.5+cmd",
)
HOSTILE = (*FORMULAS, "\x1b]0;gone\x07\x1b[2J", "gpt\u202e4-tpg", "a\u200bb")
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def ranking() -> podium.Ranking:
    """Rank models whose names are hostile; some have few battles, so that warnings name them."""
    rows = [
        {"item": f"q{item}", "model_a": a, "model_b": b, "credit": float((item + k) % 3 > 0)}
        for item in range(31)
        for k, (a, b) in enumerate(zip(HOSTILE, (*HOSTILE[1:], HOSTILE[0]), strict=True))
        if item < 20 or k
    ]
    return podium.rank(podium.read_battles(pd.DataFrame(rows)), "bradley-terry,win-rate")


def test_no_style_lets_a_name_move_a_cursor_or_turn_a_line(ranking: podium.Ranking) -> None:
    from podium.show.report.ranking_view import ranking_reports

    for style in WRITERS:
        assert not RAW.search(styled_text(ranking, style, ranking_reports))
    assert not RAW.search(ranking_text(ranking))
    assert "\\x1b]0;gone" in ranking_text(ranking)


def test_json_escapes_marks_and_means_the_same(ranking: podium.Ranking) -> None:
    text = ranking.to_json()
    assert not RAW.search(text)
    assert {row["model"] for row in json.loads(text)["rankings"][0]["models"]} == set(HOSTILE)


def test_csv_has_no_cell_that_a_spreadsheet_would_run(
    ranking: podium.Ranking, tmp_path: Path
) -> None:
    path = tmp_path / "ranking.csv"
    path.write_text(styled_text(ranking, "csv", lambda _: ()), encoding="utf-8")
    cells = [
        cell for row in csv.reader(path.open(encoding="utf-8", newline="")) for cell in row if cell
    ]
    assert not [
        cell
        for cell in cells
        if cell.strip()[0] in "=@+-＝" and not re.fullmatch(r"-?[\d.]+(e-\d+)?", cell)
    ]
    assert not RAW.search("".join(cells))
    assert {f"'{name}" for name in FORMULAS} <= set(cells)


def test_numbers_and_texts_that_do_not_run_stay_as_they_are() -> None:
    numbers = ["-1.5", "+2", "-.5e-3", "-7.", "−1+1"]
    frame = pd.DataFrame(
        {
            "score": [-1.5, 2.0, 3.0, 4.0, -5.0],
            "text": numbers,
            "name": ["a=b", "x@y", "", "'", "3-1"],
        }
    )
    assert escape_cells(frame).equals(frame)
    assert formula_columns(frame) == []


def test_a_column_name_that_a_spreadsheet_would_run_is_escaped_and_named() -> None:
    frame = pd.DataFrame({"=1+1": [1.0], "nested": [{"a": 1}]})
    assert list(escape_cells(frame)) == ["'=1+1", "nested"]
    assert formula_columns(frame) == ["=1+1"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["n" * 300_000, "n " * 150_000, "\u2003n" * 150_000], ids=["word", "words", "spaces"]
)
def test_an_endless_name_is_printed_short_and_written_whole(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        (f"q{k}", *pair, k % 3 / 2)
        for k in range(12)
        for pair in ((name, "elm"), ("elm", "oak"), ("oak", name))
    ]
    ranking = podium.rank(
        podium.read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
    )
    assert len(ranking_text(ranking)) < 12_000
    tell(f"no model called {name!r}. Remedy: name another")
    said = capsys.readouterr().err
    assert (len(said) < 5000, said.endswith("Remedy: name another\n")) == (True, True)
    assert name in {row["model"] for row in json.loads(ranking.to_json())["rankings"][0]["models"]}


@pytest.mark.slow
def test_csv_conversion_names_columns_with_formulas(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"item": ["q"], "model_a": ["-2+3+cmd()"], "model_b": ["elm"], "credit": [1.0]}
    )
    frame.to_csv(tmp_path / "in.csv", index=False)
    command = [
        sys.executable,
        "-m",
        "podium",
        "convert",
        str(tmp_path / "in.csv"),
        "-o",
        str(tmp_path / "out.csv"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    assert (
        "warning: a spreadsheet would run texts in model_a, which begin with = + - or @"
        in done.stderr
    )
    assert pd.read_csv(tmp_path / "out.csv")["model_a"].tolist() == ["-2+3+cmd()"]


@pytest.mark.slow
def test_tournament_announcement_is_escaped(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("inspect_ai")
    from podium.hosts.inspect_ai.tasks import round_robin

    for name, response in (("\x1b[2Jevil", ""), ("fine", "4"), ("other", "5")):
        row = {"id": "q", "instruction": "Sum 2 and 2.", "response": response, "model": name}
        (tmp_path / f"{len(response)}{name[-4:]}.jsonl").write_text(json.dumps(row) + "\n")
    round_robin(responses=str(tmp_path))
    stated = capfd.readouterr().err
    assert "left out because responses are missing: \\x1b[2Jevil" in stated
    assert not RAW.search(stated)
