"""NaN is an empty cell in every table, however it is read and counted, and an error in credits and
weights of files."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import podium
from podium.data.counting import duck
from podium.data.counting.duck import Duck
from podium.data.reading import joined_tables

BATTLES = 60
NUMBERS = {
    "margin": [2.0, -1.0, None],
    "repeat": [2.0, 1.0, None],
    "length_a": [10.0, 20.0, None],
    "difficulty": [3.5, 0.25, None],
}
"""Columns of numbers and their values in turn; the last one is of no column that podium knows."""


def table_with(empty: list[float | None], *columns: str) -> pa.Table:
    """Return battles with columns of `NUMBERS`, whose empty cells have the given values in turn."""
    cells: dict[str, object] = {
        "item": [f"i{k // 6}" for k in range(BATTLES)],
        "model_a": ["x", "y", "z"] * (BATTLES // 3),
        "model_b": ["y", "z", "x"] * (BATTLES // 3),
        "order": ["ab", "ab", "ab", "ba", "ba", "ba"] * (BATTLES // 6),
    }
    if "credit" not in columns and "margin" not in columns:
        cells["credit"] = [1.0, 0.0, 0.5, 1.0] * (BATTLES // 4)
    rng = np.random.default_rng(4)
    for name in columns:
        numbers = [NUMBERS[name][k] for k in rng.integers(0, 3, BATTLES)]
        numbers = [
            empty[k % len(empty)] if each is None else each for k, each in enumerate(numbers)
        ]
        cells[name] = pa.array(numbers, pa.float64(), from_pandas=False)
    return pa.table(cells)


def result_of(battles: podium.Battles) -> tuple[object, ...]:
    """Return what is counted and ranked, and the cells as text, of battles."""
    standings = podium.rank(battles).standings[0]
    scores = {entry.model: round(float(entry.score), 6) for entry in standings.entries}
    frame = battles.table
    columns = [name for name in NUMBERS if name in frame]
    cells = frame[columns].astype(float).round(9).to_csv()
    text = [battles.rows.texts_of(name).tolist() for name in columns]
    return standings.counts, scores, [each.code for each in standings.warnings], cells, text


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("empty", [[np.nan], [np.nan, None]], ids=["nan", "nan-and-null"])
@pytest.mark.parametrize("rows", ["numbers", "queries", "arrays"])
def test_nan_of_a_file_is_an_empty_cell(name, empty, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(joined_tables, "FEW_ROWS", 0)
    monkeypatch.setattr(duck, "ROWS_IN_ARRAYS", BATTLES if rows == "arrays" else 0)
    monkeypatch.setattr(duck, "ROWS_IN_NUMBERS", BATTLES if rows == "numbers" else 0)
    group_numbers = Duck._group_numbers
    uses = []

    def group_and_record(*arguments):
        uses.append(group_numbers(*arguments))
        return uses[-1]

    monkeypatch.setattr(Duck, "_group_numbers", group_and_record)
    results = []
    for values in (empty, [None]):
        path = tmp_path / "votes.parquet"
        pq.write_table(table_with(values, name), path)
        results.append(result_of(podium.read_battles(path)))
    assert results[0] == results[1]
    assert uses == ([True] * len(uses) if rows == "numbers" else [])
    assert bool(uses) == (rows == "numbers")


@pytest.mark.parametrize("name", NUMBERS)
def test_nan_of_a_small_file_and_of_a_data_frame_is_an_empty_cell(name, tmp_path):
    path = tmp_path / "votes.parquet"
    pq.write_table(table_with([np.nan, None], name), path)
    expected = result_of(podium.read_battles(table_with([None], name).to_pandas()))
    assert result_of(podium.read_battles(path)) == expected
    arrow_frame = table_with([np.nan, None], name).to_pandas(types_mapper=pd.ArrowDtype)
    assert result_of(podium.read_battles(arrow_frame)) == expected


@pytest.mark.parametrize("name", ["credit", "hard_credit", "weight"])
def test_nan_of_a_credit_or_weight_in_a_file_is_an_error(name, tmp_path):
    path = tmp_path / "votes.parquet"
    cells = {"item": ["i", "j", "k"], "model_a": ["x"] * 3, "model_b": ["y"] * 3}
    cells |= {"credit": [1.0, 0.0, 0.5], name: [1.0, np.nan, 0.5]}
    arrays = {key: pa.array(values, from_pandas=False) for key, values in cells.items()}
    pq.write_table(pa.table(arrays), path)
    with pytest.raises(podium.DataError, match=rf"row 2: {name} is not a number \(NaN\)"):
        podium.read_battles(path)


def test_nan_of_a_margin_is_no_verdict(tmp_path):
    path = tmp_path / "votes.parquet"
    models = {"item": ["i", "j", "k"], "model_a": ["x"] * 3, "model_b": ["y"] * 3}
    pq.write_table(pa.table({**models, "margin": pa.array([1.0, np.nan, 0.0])}), path)
    battles = podium.read_battles(path)
    np.testing.assert_array_equal(battles.outcomes, [1.0, np.nan, 0.5])
    assert (battles.tally.judged, battles.tally.battles) == (2, 3)


def test_nan_is_no_name_of_an_item(tmp_path):
    path = tmp_path / "votes.parquet"
    items = pa.array([1.0, np.nan, np.nan])
    battles = {"model_a": ["x"] * 3, "model_b": ["y"] * 3, "credit": [1.0, 0.0, 1.0]}
    pq.write_table(pa.table({"item": items, **battles}), path)
    assert podium.read_battles(path).table["item"].isna().tolist() == [False, True, True]
