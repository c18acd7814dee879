"""JSON as pandas writes it, in every orientation."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import podium

BATTLES = pd.DataFrame(
    {
        "item": ["q1", "q2", "q3"],
        "model_a": ["x", "x", "y"],
        "model_b": ["y", "z", "z"],
        "credit": [1, 0.5, 0],
    }
)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("orient", ["split", "index", "columns", "records", "table"])
def test_a_table_is_the_same_in_every_orientation(tmp_path, orient):
    path = tmp_path / "votes.json"
    BATTLES.to_json(path, orient=orient)
    frame = podium.read_battles(path).to_frame()
    assert frame[[*BATTLES]].to_dict("list") == BATTLES.to_dict("list")


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("orient", ["split", "index"])
def test_a_foreign_table_is_the_same_in_either_orientation(tmp_path, orient):
    path = tmp_path / "votes.json"
    winners = ["left", "tie", "right"]
    sides = {"left": BATTLES["model_a"], "right": BATTLES["model_b"], "winner": winners}
    pd.DataFrame(sides).to_json(path, orient=orient)
    assert podium.read_battles(path).table["credit"].tolist() == [1.0, 0.5, 0.0]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("orient", ["split", "index"])
def test_names_of_rows_are_kept_in_a_column_without_a_name(tmp_path, orient):
    path = tmp_path / "votes.json"
    BATTLES.set_index("item").to_json(path, orient=orient)
    battles = podium.read_battles(path)
    assert battles.to_frame()["credit"].tolist() == [1.0, 0.5, 0.0]
    assert [*battles.values_of("_")] == ["q1", "q2", "q3"]


@pytest.mark.slow
def test_columns_are_not_taken_for_records(tmp_path):
    """The names of rows are names of columns that podium knows."""
    path = tmp_path / "scores.json"
    matrix = pd.DataFrame({"item": ["q1", "q2"], "m1": [0.1, 0.4], "m2": [0.7, 0.2]})
    matrix.to_json(path, orient="columns")
    assert podium.read_battles(path).models == ("m1", "m2")


def test_a_win_matrix_may_be_split(tmp_path):
    path = tmp_path / "wins.json"
    names = ["a", "b", "c"]
    wins = pd.DataFrame([[None, 3, 4], [1, None, 2], [0, 2, None]], names, names)
    wins.to_json(path, orient="split")
    battles = podium.read_battles(path, matrix="rows")
    assert len(battles) == 12


@pytest.mark.parametrize(
    "content",
    [
        {"columns": ["model_a", "model_b"], "index": [0, 1], "data": [["x", "y"]]},
        {"columns": ["model_a", "model_b"], "index": [0], "data": [["x"]]},
        {"columns": ["model_a", "model_a"], "index": [0], "data": [["x", "y"]]},
        {"columns": "model_a", "index": [0], "data": {}},
        {"0": {"model_a": "x"}, "1": []},
    ],
)
def test_objects_that_do_not_fit_are_an_error_that_names_the_file(tmp_path, content):
    path = tmp_path / "votes.json"
    path.write_text(json.dumps(content))
    with pytest.raises(podium.PodiumError, match=r"votes\.json"):
        podium.read_battles(path)


@pytest.mark.slow
def test_cells_of_columns_are_aligned_by_the_names_of_their_rows(tmp_path):
    path = tmp_path / "scores.json"
    item = {"0": "q1", "1": "q2", "2": "q3"}
    first = {"0": 1, "1": 0, "2": 0}
    second = {"2": 0.25, "1": 0.5, "0": 0.75}
    path.write_text(json.dumps({"item": item, "m1": first, "m2": second}))
    table = podium.read_battles(path).to_frame()
    assert table["credit"].tolist() == [1.0, 0.0, 0.0]
    assert table["score_b"].tolist() == [0.75, 0.5, 0.25]


def test_columns_with_other_rows_are_no_table(tmp_path):
    path = tmp_path / "scores.json"
    item = {"0": "q1", "1": "q2"}
    path.write_text(json.dumps({"item": item, "m1": {"0": 1, "1": 0}, "m2": {"1": 1, "2": 0}}))
    with pytest.raises(podium.DataError, match="do not have the same rows"):
        podium.read_battles(path)


@pytest.mark.slow
@pytest.mark.parametrize("orient", ["split", "index", "columns", "table"])
def test_the_names_of_the_rows_of_scores_can_be_their_items(tmp_path, orient):
    """The scores are no 0 and 1, so that nothing says that the rows are items."""
    path = tmp_path / "scores.json"
    names = [f"q{k}" for k in range(8)]
    scores = pd.DataFrame({"m1": np.arange(8) / 8, "m2": np.arange(8)[::-1] / 8}, index=names)
    scores.to_json(path, orient=orient)
    column = "index" if orient == "table" else ""
    with pytest.raises(podium.DataError, match=f"--columns item={column};") as caught:
        podium.read_battles(path)
    mapping = re.search(r"podium\.yaml: (\{.*\})", str(caught.value))[1]
    path.with_name("scores.podium.yaml").write_text(mapping, encoding="utf-8")
    table = podium.read_battles(path).to_frame()
    assert [*table["item"]] == names
    assert [*table["score_a"]] == [*scores["m1"]]
