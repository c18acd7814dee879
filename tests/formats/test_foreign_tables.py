"""Tables in no known format: --columns, --credit-map, --unknown, --shown."""

import numpy as np
import pytest

import podium

COLUMNS = {"item": "prompt", "model_a": "first", "model_b": "second", "credit": "verdict"}
MAP = {"1": 1.0, "0": 0.5, "-1": 0.0}
TEXT = "prompt,first,second,verdict,rater\np1,x,y,{}\n"


def read(save, verdict, **options):
    text = f"prompt,first,second,verdict,rater\np1,x,y,{verdict},ann\n"
    return podium.read_battles(save("votes.csv", text), columns=COLUMNS, **options)


@pytest.mark.parametrize(("verdict", "credit"), [("1", 1.0), ("1.0", 1.0), ("0", 0.5), ("-1", 0.0)])
def test_the_map_translates_verdicts_however_numbers_are_written(save, verdict, credit):
    row = read(save, verdict, credit_map=MAP).to_frame().iloc[0]
    assert (row["item"], row["model_a"], row["model_b"], row["credit"]) == ("p1", "x", "y", credit)


def test_an_empty_verdict_is_unread(save):
    assert read(save, "", credit_map=MAP).counts().unread == 1


def test_a_verdict_outside_the_map_is_an_error_with_the_remedy(save):
    with pytest.raises(podium.DataError) as caught:
        read(save, "2", credit_map=MAP)
    for part in ("votes.csv, row 1", "'2'", "not in --credit-map", "--unknown unread"):
        assert part in str(caught.value)


def test_a_verdict_outside_the_map_can_be_unread(save):
    battles = read(save, "2", credit_map=MAP, unknown="unread")
    assert battles.unread_reasons() == {"unknown verdict": 1}


def test_words_in_the_map_are_words(save):
    assert read(save, "left", credit_map={"left": 1.0}).table["credit"].tolist() == [1.0]


def test_without_a_map_the_column_is_the_credit(save):
    assert read(save, "0.25").table["credit"].tolist() == [0.25]


def test_foreign_columns_of_a_foreign_table_are_kept(save):
    assert read(save, "1").table["rater"].tolist() == ["ann"]


@pytest.mark.parametrize(("shown", "order"), [("a", "ab"), ("b", "ba")])
def test_shown_says_the_order(save, shown, order):
    assert read(save, "1", shown=shown).to_frame()["order"].tolist() == [order]


def test_an_unknown_order_is_left_empty(save):
    assert read(save, "1", shown="unknown").table["order"].isna().all()


def test_shown_does_not_overrule_an_order_column(save):
    text = "model_a,model_b,credit,order\nx,y,1,ba\n"
    assert podium.read_battles(save("b.csv", text), shown="a").to_frame()["order"].tolist() == ["ba"]


def test_a_named_column_that_does_not_exist_is_a_usage_error(save):
    with pytest.raises(
        podium.UsageError, match=r"votes.csv: there is no column 'question'; columns: prompt, first, second"
    ):
        podium.read_battles(save("votes.csv", TEXT.format("1,ann")), columns=COLUMNS | {"item": "question"})


def test_a_map_without_a_credit_column_is_a_usage_error(save):
    with pytest.raises(
        podium.UsageError, match=r"m\.csv: --credit-map translates the column credit, and there is none"
    ):
        podium.read_battles(save("m.csv", "model_a,model_b,margin\nx,y,1\n"), credit_map=MAP)


def test_a_named_column_shadows_one_of_the_contracts_name(save):
    text = "credit,model_a,model_b,verdict\n0,x,y,1\n"
    table = podium.read_battles(save("v.csv", text), columns={"credit": "verdict"}).table
    assert table["credit"].tolist() == [1.0]


def test_pointwise_scores_can_be_named(save):
    rows = [{"session_id": "s", "model_test": model, "score": score} for model, score in (("x", "7"), ("y", "5"))]
    battles = podium.read_battles(save("w.json", rows), columns={"item": "session_id", "model": "model_test"})
    assert battles.table["margin"].tolist() == [2.0]


def test_a_path_with_an_equals_sign_in_a_glob_is_not_a_label(save, tmp_path):
    save("judge=gpt/one.csv", "item,model_a,model_b,credit\n1,x,y,1\n")
    table = podium.read_battles(str(tmp_path / "judge=gpt" / "*.csv")).table
    assert "source" not in table


def test_a_label_becomes_the_column_source_where_no_model_is_named(save):
    path = save("b.csv", "item,model_a,model_b,credit\n1,x,y,1\n")
    assert podium.read_battles(f"monday={path}").table["source"].tolist() == ["monday"]


def test_a_margin_alone_is_enough(save):
    text = "item,model_a,model_b,margin\n1,x,y,2.5\n2,x,y,0\n3,x,y,-1\n4,x,y,\n"
    credit = podium.read_battles(save("m.csv", text)).table["credit"]
    np.testing.assert_array_equal(credit, [1, 0.5, 0, np.nan])
