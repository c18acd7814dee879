"""Soft-Elo CSV: 0 = A wins."""

import ast

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import podium
from podium.data.battles import CRITERION
from podium.data.formats.verdict_files import MOST_CRITERIA_KEPT, read_soft_elo
from podium.notices.notice_text import notice_texts


def battles(save, *rows, columns="model_a,model_b,human_pref,judge_pref,scores_a,scores_b"):
    return podium.read_battles(save("soft.csv", "\n".join([columns, *rows]) + "\n"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preference", "credit"), [("0", 1.0), ("0.0", 1.0), ("1.0", 0.0), ("0.5", 0.5), ("0.25", 0.75)]
)
def test_a_preference_of_zero_is_a_win_of_a(save, preference, credit):
    table = battles(save, f"x,y,1.0,{preference},,").table
    assert table["credit"].tolist() == [credit]


@pytest.mark.slow
@pytest.mark.parametrize(("preference", "human"), [("0", 1.0), ("1", 0.0), ("0.5", 0.5)])
def test_a_human_preference_of_zero_is_a_win_of_a(save, preference, human):
    assert battles(save, f"x,y,{preference},0,,").table["human"].tolist() == [human]


def test_scores_as_python_literals_give_the_mean_difference(save):
    table = battles(
        save, "x,y,0,0,\"{'clarity': 9.0, 'depth': 8}\",\"{'clarity': 7.0, 'depth': 7}\""
    ).table
    assert table["margin"].tolist() == [1.5]


def test_scores_as_json_give_the_same_margin(save):
    row = 'x,y,0,0,"{""clarity"": 9.0, ""depth"": 8}","{""clarity"": 7.0, ""depth"": 7}"'
    assert battles(save, row).table["margin"].tolist() == [1.5]


@pytest.mark.slow
def test_the_margin_is_over_criteria_that_both_have(save):
    row = 'x,y,0,0,"{""clarity"": 9, ""depth"": 1}","{""clarity"": 6, ""tone"": 9}"'
    assert battles(save, row).table["margin"].tolist() == [3.0]


def test_a_criterion_without_score_is_not_shared(save):
    row = 'x,y,0,0,"{""clarity"": 9, ""depth"": null}","{""clarity"": 6, ""depth"": 9}"'
    assert battles(save, row).table["margin"].tolist() == [3.0]


@pytest.mark.slow
def test_each_criterion_has_its_own_margin(save):
    read = battles(
        save, "x,y,0,0,\"{'clarity': 9.0, 'depth': 8}\",\"{'clarity': 7.5, 'depth': 9}\""
    )
    assert read.criteria == ("clarity", "depth")
    assert read.table[["margin_clarity", "margin_depth"]].values.tolist() == [[1.5, -1.0]]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("criterion", ["depth", "tone"])
def test_criterion_missing_for_one_model_has_an_empty_margin(save, criterion):
    row = 'x,y,0,0,"{""clarity"": 9, ""depth"": 1}","{""clarity"": 6, ""tone"": 9}"'
    assert battles(save, row).table[f"margin_{criterion}"].isna().all()


def test_a_file_without_scores_has_no_criteria(save):
    assert battles(save, "x,y,0,0", columns="model_a,model_b,human_pref,judge_pref").criteria == ()


def test_a_rubric_of_its_own_per_instruction_keeps_only_the_mean():
    scores = [str({f"of instruction {k}": k}) for k in range(MOST_CRITERIA_KEPT + 1)]
    records = pd.DataFrame({"model_a": "x", "model_b": "y", "scores_a": scores, "scores_b": scores})
    assert [name for name in read_soft_elo(records) if name.startswith("margin")] == ["margin"]


@pytest.mark.parametrize(
    ("scores", "criterion"),
    [
        ("""{'a": 1, "b': 2}""", 'a": 1, "b'),
        ("""{"a': 1, 'b": 2}""", "a': 1, 'b"),
        (r"{'a\/b': 1}", r"a\/b"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*invalid escape sequence")
def test_quotes_and_backslashes_in_a_name_stay_part_of_it(scores, criterion):
    """With other quotes around them, these would be JSON of other criteria."""
    records = pd.DataFrame(
        {"model_a": ["x"], "model_b": ["y"], "scores_a": [scores], "scores_b": [scores]}
    )
    assert [name for name in read_soft_elo(records) if CRITERION in name] == [f"margin_{criterion}"]


NUMBER = st.one_of(
    st.integers(), st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: abs(x) < 1e300)
)


@pytest.mark.slow
@given(
    scores=st.dictionaries(
        st.text(max_size=8) | st.text("'\"\\{}:, 1", max_size=8), NUMBER, max_size=4
    )
)
def test_scores_as_python_prints_them_are_read_as_python_reads_them(scores):
    zeros = str(dict.fromkeys(scores, 0))
    records = pd.DataFrame(
        [("x", "y", str(scores), zeros)], columns=["model_a", "model_b", "scores_a", "scores_b"]
    )
    margins = {
        name.removeprefix(CRITERION): gap
        for name, (gap,) in read_soft_elo(records).items()
        if CRITERION in name
    }
    assert margins == {name: float(score) for name, score in ast.literal_eval(str(scores)).items()}


@pytest.mark.parametrize(
    "scores", ["{'c': NaN}", "{'c': null}", "{'c': true}", "{'c': 01}", "{'c': 1-2}"]
)
def test_words_of_json_between_single_quotes_are_no_scores(save, scores):
    with pytest.raises(podium.DataError, match=r"scores_a .* is not a dictionary of scores"):
        battles(save, f'x,y,0,0,"{scores}",')


def test_without_shared_criteria_there_is_no_margin(save):
    table = battles(save, 'x,y,0,0,"{""clarity"": 9}","{""tone"": 6}"').table
    assert np.isnan(table["margin"].iloc[0])


@pytest.mark.parametrize("scores", ["9.5", "9", "[9]", "nine", f"{{'c': 1{'0' * 400}}}"])
def test_scores_that_are_no_dictionary_are_an_error_not_a_gap(save, scores):
    with pytest.raises(
        podium.DataError, match=r"soft.csv, row 1: scores_a .* is not a dictionary of scores"
    ):
        battles(save, f'x,y,0,0,"{scores}",')


@pytest.mark.slow
def test_a_row_with_parse_error_is_unparsed_even_with_a_preference(save):
    columns = "instruction_id_hash,model_a,model_b,judge_pref,scores_a,scores_b,parse_error"
    read = battles(
        save, "h1,x,y,0.5,\"{'c': 1}\",\"{'c': 5}\",True", "h2,x,y,0,,,False", columns=columns
    )
    assert read.unparsed_reasons() == {"parse error": 1}
    assert np.isnan(read.table["credit"].iloc[0])


@pytest.mark.slow
def test_an_empty_preference_lets_the_margin_stand_in(save):
    read = battles(save, "x,y,,,\"{'c': 1}\",\"{'c': 5}\"")
    assert read.table["credit"].tolist() == [0.0]
    assert "the sign of the margin stands in" in notice_texts(read.notes)[-1]


def test_a_row_without_preference_and_scores_is_unparsed(save):
    assert battles(save, "x,y,0,,,", "x,y,0,1,,").counts().unparsed == 1


def test_a_preference_outside_its_range_is_an_error(save):
    with pytest.raises(
        podium.DataError, match=r"row 1: judge_pref '2' is outside \[0, 1\]. Remedy: 0 = A wins"
    ):
        battles(save, "x,y,0,2,,")


def test_item_lengths_language_and_foreign_columns_come_along(save):
    columns = "battle_id,instruction_id_hash,model_a,model_b,judge_pref,len_a,len_b,language,topic"
    row = battles(save, "7,h1,x,y,0,10,20,en,law", columns=columns).to_frame().iloc[0]
    assert (row["item"], row["length_a"], row["length_b"], row["category"]) == ("h1", 10, 20, "en")
    assert (row["battle_id"], row["topic"]) == ("7", "law")
