"""A name of a model that is an object or a list is an error, in every format."""

import json

import pandas as pd
import pytest

import podium


def own(name):
    return {"item": "q", "model_a": name, "model_b": "y", "credit": 1}


def scores(name):
    return {"item": f"q{name}", "model": name, "score": 1}


def arena(name):
    return {"question_id": "q", "model_a": "y", "model_b": name, "winner": "tie"}


def wildbench(name):
    choice = {"choice": "A+"}
    return {"session_id": "s", "model_A": name, "model_B": "y", "parsed_result": choice}


def wildbench_assigned(name):
    sides = {"A": name, "B": "y"}
    return {"session_id": "s", "assignment": sides, "parsed_result": {"choice": "A+"}}


def comparia(name):
    winner = {"chosen_model_name": "y", "both_equal": False}
    return {"id": "q", "model_a_name": "y", "model_b_name": name, **winner}


def alpaca(name):
    return {"instruction": "q", "generator_1": name, "generator_2": "y", "preference": 1}


def counts(name):
    return {"model_a": name, "model_b": "y", "wins_a": 1, "wins_b": 2}


def pairs(name):
    won = {"g1_winner": "model_1", "g2_winner": "model_1"}
    return {"question_id": 1, "model_1": name, "model_2": "y", "judge": "j", **won}


def evalica(name):
    return {"left": "y", "right": name, "winner": "left"}


FORMS = [own, scores, arena, wildbench, comparia, alpaca, counts, pairs, evalica]


@pytest.mark.fast_cases(9)
@pytest.mark.parametrize(
    ("name", "kind"), [({"a": 1}, "an object"), (["m"], "a list"), ({"id": "m"}, "an object")]
)
@pytest.mark.parametrize("form", FORMS)
def test_a_nested_name_is_an_error_with_file_row_value_and_remedy(tmp_path, form, name, kind):
    rows = [form("x"), form("x"), form(name), form("x")]
    path = tmp_path / "verdicts.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(podium.DataError) as caught:
        podium.read_battles(path)
    said = str(caught.value)
    assert "verdicts.json, row 3: " in said
    assert json.dumps(name, separators=(",", ":")) in said
    assert f"is {kind}, not the name of a model" in said
    assert "write the name of the model as text" in said


def test_a_nested_name_in_an_assignment_is_an_error(tmp_path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps([wildbench_assigned("x"), wildbench_assigned({"a": 1})]))
    with pytest.raises(podium.DataError, match=r"row 2: assignment .*\{.*not.* text"):
        podium.read_battles(path)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_nested_name_is_an_error_in_every_container(tmp_path, suffix):
    frame = pd.DataFrame([own({"a": 1}), own({"a": 2})])
    path = tmp_path / f"verdicts.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False)
    with pytest.raises(podium.DataError, match=r"1: model_a .* is an object, .*2 such rows"):
        podium.read_battles(path)


def test_a_nested_name_in_a_data_frame_is_an_error():
    frame = pd.DataFrame([own("x"), own(["m"])])
    with pytest.raises(podium.DataError, match=r"row 2: model_a .* is a list"):
        podium.read_battles(frame)


@pytest.mark.parametrize("name", ["[tuned] x", "{x}", "[1]", "x {'a': 1}"])
def test_a_name_with_brackets_is_a_name(name):
    battles = podium.read_battles(pd.DataFrame([own(name)]))
    assert battles.models == tuple(sorted([name, "y"]))


def test_a_name_inside_an_object_is_read_by_its_path(tmp_path):
    path = tmp_path / "verdicts.json"
    path.write_text(json.dumps([own({"id": "x"})]))
    battles = podium.read_battles(path, columns={"model_a": "model_a.id"})
    assert battles.models == ("x", "y")
