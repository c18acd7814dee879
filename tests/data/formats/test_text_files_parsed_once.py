"""A text file with podium's own columns is parsed once, and its cells stay what they are."""

import json
from pathlib import Path
from typing import Any

import pytest

import podium
from podium.data.counting.duck import Duck
from podium.data.formats.containers import open_records

RECORDS: list[dict[str, Any]] = [
    {"item": "a", "model_a": "x", "model_b": "y", "credit": 1, "margin": 0.5, "note": None},
    {"item": "b", "model_a": "x", "model_b": "y", "credit": 0.5, "margin": -2, "note": {"k": [1]}},
    {"item": "1", "model_a": "x", "model_b": "y", "credit": 0.0, "margin": 3e-7},
]


def write_lines(path: Path, records: list[dict[str, Any]] = RECORDS) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def write_table(path: Path) -> Path:
    path.write_text("item,model_a,model_b,credit\na,x,y,1\nb,x,y,0.5\n1,x,y,0\n")
    return path


@pytest.mark.parametrize("name", ["votes.jsonl", "votes.csv"])
def test_the_cells_are_those_of_the_file(tmp_path: Path, name: str) -> None:
    write = write_lines if name.endswith("l") else write_table
    records = open_records(write(tmp_path / name), Duck())
    parsed = records.parse_once()
    assert records.is_text
    assert not parsed.is_text
    for column, cells in records.columns.items():
        own = parsed.columns[column]
        assert parsed.rows(own.text) == records.rows(cells.text)
        assert parsed.rows(own.number) == records.rows(cells.number)


def test_the_file_is_not_read_again(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "votes.jsonl")
    parsed = open_records(path, Duck()).parse_once()
    path.unlink()
    assert parsed.rows("count(*)") == [(3,)]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("text", "VARCHAR"),
        (2, "DOUBLE"),
        (2**60 + 1, "JSON"),
        (True, "JSON"),
        ([1], "JSON"),
        (float("inf"), "JSON"),
    ],
)
def test_only_texts_and_exact_numbers_lose_the_form_of_json(
    tmp_path: Path, value: Any, kind: str
) -> None:
    records = open_records(write_lines(tmp_path / "v.jsonl", [{"k": value}] * 2), Duck())
    assert records.parse_once().columns["k"].type == kind


def test_a_damaged_row_is_named_as_before(tmp_path: Path) -> None:
    path = write_table(tmp_path / "votes.csv")
    path.write_text(path.read_text() + 'c,x,"y,1\n')
    with pytest.raises(podium.DataError, match="row 4"):
        podium.read_battles(path)


@pytest.mark.parametrize("name", ["votes.jsonl", "votes.csv"])
def test_without_room_for_a_copy_the_file_is_parsed_whenever_it_is_read(
    tmp_path: Path, name: str
) -> None:
    write = write_lines if name.endswith("l") else write_table
    engine = Duck()
    records = open_records(write(tmp_path / name), engine)
    engine.folder.rmdir()
    unchanged = records.parse_once()
    assert unchanged is records
    assert unchanged.rows("count(*)") == [(3,)]
