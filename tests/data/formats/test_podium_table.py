"""podium's own table: what is written is what is read."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import podium
from podium.data.formats.podium_table import write

SUFFIXES = ("csv", "parquet", "jsonl")


def full_table():
    return pd.DataFrame(
        {
            "item": ["i1", "i1", "007", "i3"],
            "model_a": ["x", "x", "null", "0"],
            "model_b": ["y", "y", "y", "x"],
            "credit": [1 / 3, 1e-17, np.nan, 1.0],
            "margin": [0.1 + 0.2, -1e-12, np.nan, 2.0],
            "order": ["ab", "ba", "ab", None],
            "judge": ["g", "g", "g", 'h, "quoted"\nline'],
            "repeat": [0, 0, 1, 2],
            "human": [1.0, np.nan, 0.5, 0.0],
            "category": ["é", None, "b", "c"],
            "length_a": [10, 20, np.nan, 30],
            "length_b": [11, 21, 5, 31],
            "weight": [1.0, 0.1, 2.0, 1.0],
            "reason": [None, None, "no verdict", None],
            "margin_tone": [0.1 + 0.7, -0.0, np.nan, 3.0],
            "margin_clarity & depth": [np.nan, 1 / 3, np.nan, 1.0],
            "colour": ["red", None, "blue", "green"],
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("merge", [True, False])
def test_what_is_written_is_read_back_to_the_last_digit(tmp_path: Path, suffix, merge):
    battles = podium.read_battles(full_table(), merge=merge)
    path = tmp_path / f"battles.{suffix}"
    write(battles.to_frame(), path)
    again = podium.read_battles(str(path), merge=merge)
    pd.testing.assert_frame_equal(
        battles.to_frame(), again.to_frame(), check_exact=True, check_dtype=False
    )
    assert battles.counts() == again.counts()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_criteria_keep_their_margins_when_written(tmp_path: Path, suffix):
    path = tmp_path / f"battles.{suffix}"
    write(podium.read_battles(full_table(), merge=False).to_frame(), path)
    again = podium.read_battles(str(path), merge=False)
    assert again.criteria == ("clarity & depth", "tone")
    assert again.table["margin_tone"].tolist()[::3] == [0.1 + 0.7, 3.0]


@pytest.mark.slow
def test_criteria_are_written_sorted_between_known_and_foreign_columns():
    columns = podium.read_battles(full_table(), merge=False).to_frame().columns.tolist()
    assert columns[-4:] == ["reason", "margin_clarity & depth", "margin_tone", "colour"]


def criteria_only(**more):
    sides = {"model_a": ["x", "x", "x"], "model_b": ["y", "y", "y"]}
    criteria = {"margin_tone": [3.0, -1.0, np.nan], "margin_clarity": [1.0, np.nan, np.nan]}
    return podium.read_battles(pd.DataFrame({**sides, **criteria, **more}), format="podium")


def test_without_a_margin_it_is_the_mean_over_the_criteria_present():
    np.testing.assert_array_equal(criteria_only().table["margin"], [2.0, -1.0, np.nan])


def test_a_table_of_criteria_alone_has_credits_by_the_sign_of_their_mean():
    np.testing.assert_array_equal(criteria_only().table["credit"], [1.0, 0.0, np.nan])


def test_a_margin_that_is_there_is_not_replaced_by_the_mean_over_criteria():
    assert criteria_only(margin=[7.0, 7.0, 7.0]).table["margin"].tolist() == [7.0, 7.0, 7.0]


@pytest.mark.slow
def test_a_file_without_weights_beside_one_with_them_has_weight_1():
    plain = pd.DataFrame({"item": ["i"], "model_a": ["x"], "model_b": ["y"], "credit": [1.0]})
    assert podium.read_battles(plain, plain.assign(item="k", weight=3.0)).table[
        "weight"
    ].tolist() == [1.0, 3.0]


def test_a_foreign_column_can_be_named_as_a_criterion():
    frame = pd.DataFrame(
        {"model_a": ["x"], "model_b": ["y"], "credit": [1.0], "gap in tone": ["2.5"]}
    )
    battles = podium.read_battles(frame, columns={"margin_tone": "gap in tone"})
    assert (battles.criteria, battles.table["margin"].tolist()) == (("tone",), [2.5])


def test_a_table_without_criteria_says_so():
    assert (
        podium.read_battles(full_table()[["model_a", "model_b", "credit", "margin"]]).criteria == ()
    )


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("arena.csv", "question_id,model_a,model_b,winner\n1,x,y,model_a\n2,x,y,\n"),
        (
            "arena55k.csv",
            "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n1,x,y,0,1,0\n",
        ),
        ("evalica.csv", "left,right,winner\nx,y,left\n"),
        ("soft.csv", "model_a,model_b,judge_pref,scores_a,scores_b\nx,y,0.3,{'c': 1},{'c': 0.7}\n"),
        (
            "900k.csv",
            "uid,judge_model,model_a_in_prompt,model_b_in_prompt,final_verdict\n1,j,x,y,m1>m2\n",
        ),
        ("points.csv", "item,model,score\n1,x,3\n1,y,5\n"),
    ],
)
def test_a_foreign_file_once_converted_is_podiums_own(save, tmp_path, suffix, name, text):
    battles = podium.read_battles(save(name, text), merge=False)
    path = tmp_path / f"converted.{suffix}"
    write(battles.to_frame(), path)
    again = podium.read_battles(str(path), merge=False)
    pd.testing.assert_series_equal(battles.table["credit"], again.table["credit"])
    assert again.unparsed_reasons() == battles.unparsed_reasons()


def test_foreign_columns_of_mixed_types_can_be_written_as_parquet(tmp_path: Path):
    frame = full_table().assign(mixed=pd.Series([1, "a", None, {"b": 2}], dtype=object))
    write(frame, tmp_path / "battles.parquet")
    again = podium.read_battles(str(tmp_path / "battles.parquet"), merge=False)
    assert again.table["mixed"].dropna().tolist() == ["1", "a", '{"b": 2}']


def test_an_unknown_suffix_is_a_usage_error_that_names_the_known(tmp_path: Path):
    with pytest.raises(
        podium.UsageError,
        match=r"cannot write 'battles.xlsx': name a .parquet, .csv or .jsonl file",
    ):
        write(full_table(), tmp_path / "battles.xlsx")
