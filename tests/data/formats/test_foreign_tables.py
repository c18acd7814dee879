"""Tables in no known format: --columns, --credit-map, --unknown, --shown, --fill, and orders given
as booleans."""

import numpy as np
import pandas as pd
import pytest

import podium
from podium.data.reading.table import FRAME, remedy_of_columns
from podium.errors import DataError

COLUMNS = {"item": "prompt", "model_a": "first", "model_b": "second", "credit": "verdict"}
MAP = {"1": 1.0, "0": 0.5, "-1": 0.0}
TEXT = "prompt,first,second,verdict,rater\np1,x,y,{}\n"


def read(save, verdict, **options):
    text = f"prompt,first,second,verdict,rater\np1,x,y,{verdict},ann\n"
    return podium.read_battles(save("votes.csv", text), columns=COLUMNS, **options)


@pytest.mark.slow
@pytest.mark.parametrize(("verdict", "credit"), [("1", 1.0), ("1.0", 1.0), ("0", 0.5), ("-1", 0.0)])
def test_the_map_translates_verdicts_however_numbers_are_written(save, verdict, credit):
    row = read(save, verdict, credit_map=MAP).to_frame().iloc[0]
    assert (row["item"], row["model_a"], row["model_b"], row["credit"]) == ("p1", "x", "y", credit)


@pytest.mark.slow
def test_an_empty_verdict_is_unparsed(save):
    assert read(save, "", credit_map=MAP).counts().unparsed == 1


def test_a_verdict_outside_the_map_is_an_error_with_the_remedy(save):
    with pytest.raises(DataError) as caught:
        read(save, "2", credit_map=MAP)
    for part in ("votes.csv, row 1", "'2'", "not in --credit-map", "--unknown unparsed"):
        assert part in str(caught.value)


@pytest.mark.slow
def test_a_verdict_outside_the_map_can_be_unparsed(save):
    battles = read(save, "2", credit_map=MAP, unknown="unparsed")
    assert battles.unparsed_reasons() == {"unknown verdict": 1}


@pytest.mark.slow
def test_words_in_the_map_are_words(save):
    assert read(save, "left", credit_map={"left": 1.0}).table["credit"].tolist() == [1.0]


def test_without_a_map_the_column_is_the_credit(save):
    assert read(save, "0.25").table["credit"].tolist() == [0.25]


def test_foreign_columns_of_a_foreign_table_are_kept(save):
    assert read(save, "1").table["rater"].tolist() == ["ann"]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(("shown", "order"), [("a", "ab"), ("b", "ba")])
def test_shown_says_the_order(save, shown, order):
    assert read(save, "1", shown=shown).to_frame()["order"].tolist() == [order]


def test_an_unknown_order_is_left_empty(save):
    assert read(save, "1", shown="unknown").table["order"].isna().all()


def test_shown_does_not_overrule_an_order_column(save):
    text = "model_a,model_b,credit,order\nx,y,1,ba\n"
    assert podium.read_battles(save("b.csv", text), shown="a").to_frame()["order"].tolist() == [
        "ba"
    ]


def test_a_named_column_that_does_not_exist_is_a_usage_error(save):
    with pytest.raises(
        podium.UsageError,
        match=r"votes.csv: there is no column 'question'; columns: prompt, first, second",
    ):
        podium.read_battles(
            save("votes.csv", TEXT.format("1,ann")), columns=COLUMNS | {"item": "question"}
        )


def test_a_map_without_a_credit_column_is_a_usage_error(save):
    with pytest.raises(
        podium.UsageError,
        match=r"m\.csv: --credit-map translates the column credit, which is missing",
    ):
        podium.read_battles(save("m.csv", "model_a,model_b,margin\nx,y,1\n"), credit_map=MAP)


def test_a_named_column_shadows_one_of_the_contracts_name(save):
    text = "credit,model_a,model_b,verdict\n0,x,y,1\n"
    table = podium.read_battles(save("v.csv", text), columns={"credit": "verdict"}).table
    assert table["credit"].tolist() == [1.0]


@pytest.mark.slow
def test_pointwise_scores_can_be_named(save):
    rows = [
        {"session_id": "s", "model_test": model, "score": score}
        for model, score in (("x", "7"), ("y", "5"))
    ]
    battles = podium.read_battles(
        save("w.json", rows), columns={"item": "session_id", "model": "model_test"}
    )
    assert battles.table["margin"].tolist() == [2.0]


def test_a_path_with_an_equals_sign_in_a_glob_is_not_a_label(save, tmp_path):
    save("judge=gpt/one.csv", "item,model_a,model_b,credit\n1,x,y,1\n")
    table = podium.read_battles(str(tmp_path / "judge=gpt" / "*.csv")).table
    assert "source" not in table


@pytest.mark.slow
def test_a_label_becomes_the_column_source_where_no_model_is_named(save):
    path = save("b.csv", "item,model_a,model_b,credit\n1,x,y,1\n")
    assert podium.read_battles(f"monday={path}").table["source"].tolist() == ["monday"]


@pytest.mark.slow
def test_a_margin_alone_is_enough(save):
    text = "item,model_a,model_b,margin\n1,x,y,2.5\n2,x,y,0\n3,x,y,-1\n4,x,y,\n"
    credit = podium.read_battles(save("m.csv", text)).table["credit"]
    np.testing.assert_array_equal(credit, [1, 0.5, 0, np.nan])


def duels(save, name, rows, **options):
    """Read rows of item, model_a, first (whether model_a was shown first) and credit against a
    baseline."""
    columns = {"item": "prompt", "model_a": "model", "order": "first", "credit": "points"}
    records = [dict(zip(("prompt", "model", "first", "points"), row, strict=True)) for row in rows]
    return podium.read_battles(
        save(name, records), columns=columns, fill={"model_b": "baseline"}, **options
    )


@pytest.mark.slow
def test_fill_gives_every_row_one_value(save):
    rows = duels(save, "d.jsonl", [("p1", "x", True, 1), ("p2", "y", True, 0)]).to_frame()
    assert (rows["model_a"].tolist(), rows["model_b"].tolist()) == (
        ["x", "y"],
        ["baseline", "baseline"],
    )


def test_fill_can_name_the_judge(save):
    text = "item,model_a,model_b,credit\n1,x,y,1\n2,x,y,0\n"
    battles = podium.read_battles(save("b.csv", text), fill={"judge": "gpt-4"})
    assert battles.judges == ("gpt-4",)


def test_filled_columns_can_be_filtered_by(save):
    text = "item,model_a,model_b,credit\n1,x,y,1\n2,x,y,0\n"
    assert (
        len(
            podium.read_battles(
                save("b.csv", text), fill={"judge": "gpt-4"}, where={"judge": "gpt-4"}
            )
        )
        == 2
    )


def test_fill_replaces_a_renamed_column(save):
    """What was called model_b is model_a here; so the table has no model_b any more."""
    text = "item,model_b,credit\n1,x,1\n"
    table = podium.read_battles(
        save("b.csv", text), columns={"model_a": "model_b"}, fill={"model_b": "y"}
    ).to_frame()
    assert table[["model_a", "model_b"]].to_numpy().tolist() == [["x", "y"]]


def test_fill_is_listed_among_the_read_options(save):
    battles = duels(save, "d.jsonl", [("p1", "x", True, 1)])
    assert battles.reading["fill"] == {"model_b": "baseline"}


def test_fill_of_a_column_that_the_file_has_is_a_usage_error_with_the_remedy(save):
    text = "item,model_a,model_b,credit,judge\n1,x,y,1,ann\n"
    with pytest.raises(podium.UsageError) as caught:
        podium.read_battles(save("b.csv", text), fill={"judge": "gpt-4"})
    for part in ("b.csv: --fill judge", "has a column 'judge' already", "--columns"):
        assert part in str(caught.value)


def test_fill_of_a_column_that_columns_names_is_a_usage_error(save):
    text = "item,model_a,model_b,credit,rater\n1,x,y,1,ann\n"
    with pytest.raises(
        podium.UsageError, match="--fill judge: the table has a column 'judge' already"
    ):
        podium.read_battles(
            save("b.csv", text), columns={"judge": "rater"}, fill={"judge": "gpt-4"}
        )


@pytest.mark.parametrize(
    ("name", "hint"), [("jugde", "did you mean 'judge'?"), ("colour", "available: category")]
)
def test_fill_of_an_unknown_column_is_a_usage_error_with_the_known_ones(save, name, hint):
    text = "item,model_a,model_b,credit\n1,x,y,1\n"
    with pytest.raises(
        podium.UsageError, match=r"b\.csv: no column of podium's table called"
    ) as caught:
        podium.read_battles(save("b.csv", text), fill={name: "z"})
    assert hint in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["d.parquet", "d.jsonl"])
def test_booleans_say_whether_model_a_was_shown_first(save, name):
    battles = duels(save, name, [("p1", "x", True, 1), ("p1", "x", False, 0)], merge=False)
    assert battles.to_frame()["order"].tolist() == ["ab", "ba"]


@pytest.mark.slow
@pytest.mark.parametrize(("yes", "no"), [("true", "false"), ("True", "False"), ("TRUE", "FALSE")])
def test_booleans_written_as_text_say_the_order(save, yes, no):
    text = f"item,model_a,model_b,credit,order\n1,x,y,1,{yes}\n2,x,y,0,{no}\n"
    assert podium.read_battles(save("b.csv", text)).to_frame()["order"].tolist() == ["ab", "ba"]


def test_booleans_alike_in_every_row_are_an_order(save):
    text = "item,model_a,model_b,credit,order\n1,x,y,1,false\n2,x,y,0,false\n"
    assert podium.read_battles(save("b.csv", text)).to_frame()["order"].tolist() == ["ba", "ba"]


def test_an_empty_cell_among_booleans_is_an_unknown_order(save):
    text = "item,model_a,model_b,credit,order\n1,x,y,1,true\n2,x,y,0,\n"
    order = podium.read_battles(save("b.csv", text)).table["order"]
    assert (order[0], order.isna().tolist()) == ("ab", [False, True])


@pytest.mark.slow
def test_booleans_merge_the_two_orders_of_a_pair(save):
    """Worked by hand: ahead in both orders; a flip; only one order asked."""
    rows = [
        ("p1", "x", True, 1),
        ("p1", "x", False, 0.5),
        ("p2", "x", True, 1),
        ("p2", "x", False, 0),
    ]
    battles = duels(save, "d.jsonl", [*rows, ("p3", "x", True, 0)])
    table = battles.table
    assert (table["credit"].tolist(), table["swap"].tolist()[:2]) == (
        [0.75, 0.5, 0],
        ["half", "flip"],
    )
    assert battles.counts().judgments == 5


def test_booleans_overrule_shown(save):
    text = "item,model_a,model_b,credit,order\n1,x,y,1,false\n"
    assert podium.read_battles(save("b.csv", text), shown="a").to_frame()["order"].tolist() == [
        "ba"
    ]


@pytest.mark.parametrize("word", ["yes", "1", "left"])
def test_an_order_that_is_neither_a_boolean_nor_known_is_an_error_with_the_known_ones(save, word):
    text = f"item,model_a,model_b,credit,order\n1,x,y,1,true\n2,x,y,1,{word}\n"
    with pytest.raises(DataError, match="use one of ab, ba, merged"):
        podium.read_battles(save("b.csv", text))


def test_orders_that_mix_booleans_and_names_are_an_error(save):
    text = "item,model_a,model_b,credit,order\n1,x,y,1,ab\n2,x,y,1,true\n"
    with pytest.raises(DataError, match="order 'true' is unknown"):
        podium.read_battles(save("b.csv", text))


def test_the_remedy_names_likely_columns() -> None:
    option = "--columns item=prompt,model_a=left,model_b=right,credit=winner"
    assert (
        remedy_of_columns(["prompt", "left", "right", "winner"])
        == f"name the columns, for example {option}"
    )
    call = (
        "podium.read_battles(frame, columns={'model_a': 'left', 'model_b': '?', 'credit': "
        "'winner'})"
    )
    assert remedy_of_columns(["left", "rival", "winner"], FRAME) == f"name the columns: {call}"


@pytest.mark.parametrize("verdict", ["[1,0]", '{"first":1}'])
def test_nested_cells_are_neither_scores_nor_a_crash(save, verdict):
    nested = f'{{"name":"p1","first":{verdict},"second":{verdict}}}'
    rows = nested + '\n{"name":"p2","first":[],"second":1}\n'
    with pytest.raises(DataError, match="no known format has the columns first, name, second"):
        podium.read_battles(save("votes.jsonl", rows))


def test_lists_in_a_parquet_file_are_no_numbers(tmp_path):
    path = tmp_path / "votes.parquet"
    pd.DataFrame({"model_a": ["x"], "model_b": ["y"], "credit": [[1, 0]]}).to_parquet(path)
    with pytest.raises(DataError, match=r"credit \[1, 0\] is not a number"):
        podium.read_battles(path)


@pytest.mark.parametrize(
    ("row", "task"),
    [
        ('{"id":"q1","response":"Yes."}', "podium/ring -T responses="),
        ('{"chosen":"a"}', "podium/recorded -T battles="),
    ],
)
def test_the_error_for_a_file_of_responses_names_the_task_that_judges_them(save, row, task):
    with pytest.raises(DataError, match=task):
        podium.read_battles(save("answers.jsonl", row + "\n"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "option"),
    [
        (["1", "0", "equal"], "equal=0.5,0=0,1=1"),
        (["0.5", "1", "L", "R"], "L=1,R=0,0.5=0.5,1=1"),
    ],
)
def test_a_map_that_an_error_proposes_has_the_numbers_too(tmp_path, rows, option):
    path = tmp_path / "votes.csv"
    lines = [f"x,y,{k},{credit}" for k, credit in enumerate(rows)]
    path.write_text("\n".join(["model_a,model_b,item,credit", *lines]))
    with pytest.raises(podium.DataError) as error:
        podium.read_battles(path)
    proposed = str(error.value).partition("--credit-map ")[2].strip("'")
    if "?" in proposed:
        proposed = proposed.replace("L=?", "L=1").replace("R=?", "R=0")
    assert proposed == option
    credit_map = {word: float(n) for word, _, n in (p.rpartition("=") for p in proposed.split(","))}
    assert podium.read_battles(path, credit_map=credit_map).counts().unparsed == 0


def test_no_map_is_proposed_for_many_numbers_beside_a_word(tmp_path):
    path = tmp_path / "votes.csv"
    lines = [f"x,y,{k},{k / 40}" for k in range(40)]
    path.write_text("\n".join(["model_a,model_b,item,credit", *lines, "x,y,40,equal"]))
    with pytest.raises(podium.DataError, match="write a number") as error:
        podium.read_battles(path)
    assert "--credit-map" not in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ranking.json", "podium-quiz.ranking"])
def test_a_ranking_is_named_as_one_and_no_columns_are_guessed(tmp_path, name):
    table = pd.DataFrame({"item": ["q1"], "model_a": ["x"], "model_b": ["y"], "credit": [1.0]})
    path = tmp_path / name
    path.write_text(podium.rank(table).to_json())
    with pytest.raises(DataError, match="a ranking that podium wrote") as caught:
        podium.read_battles(path)
    assert "podium report" in str(caught.value)
    assert "columns" not in str(caught.value)
