"""FastChat and Arena battles: winner model_a, model_b or a tie in many spellings."""

import json
import re

import pandas as pd
import pytest

import podium
from podium.notices.notice_text import notice_texts

HEADER = "question_id,model_a,model_b,winner,language\n"


def credit(save, winner):
    return (
        podium.read_battles(save("battles.csv", f"{HEADER}q1,alpha,beta,{winner},English\n"))
        .table["credit"]
        .iloc[0]
    )


@pytest.mark.parametrize(("winner", "expected"), [("model_a", 1.0), ("model_b", 0.0), ("tie", 0.5)])
def test_the_winner_earns_the_credit(save, winner, expected):
    assert credit(save, winner) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "spelling",
    ["tie (bothbad)", "tie(bothbad)", "tie (both bad)", "tie(all bad)", "both_bad", "bothbad"],
)
def test_both_bad_is_a_tie_in_every_spelling(save, spelling):
    assert credit(save, spelling) == 0.5


@pytest.mark.parametrize("winner", ["", "error", "invalid"])
def test_a_battle_without_winner_is_unparsed_with_its_reason(save, winner):
    battles = podium.read_battles(save("battles.csv", f"{HEADER}q1,alpha,beta,{winner},English\n"))
    assert battles.unparsed_reasons() == {"no winner": 1}


def test_an_unknown_winner_is_an_error_that_names_file_row_and_value(save):
    with pytest.raises(podium.DataError) as caught:
        podium.read_battles(
            save("battles.csv", f"{HEADER}q1,alpha,beta,tie,English\nq2,alpha,beta,draw,English\n")
        )
    for part in ("battles.csv", "row 2", "'draw'", "Remedy", "--credit-map"):
        assert part in str(caught.value)


def test_an_arena_battle_is_not_merged_with_its_mirror(save):
    text = f"{HEADER}q1,alpha,beta,model_a,English\nq1,beta,alpha,model_a,English\n"
    assert podium.read_battles(save("battles.csv", text)).counts().battles == 2


def test_question_and_language_become_item_and_category(save):
    row = (
        podium.read_battles(save("battles.csv", f"{HEADER}q1,alpha,beta,tie,English\n"))
        .to_frame()
        .iloc[0]
    )
    assert (row["item"], row["category"]) == ("q1", "English")


def test_foreign_columns_of_battles_are_kept(save):
    rows = [{"id": 1, "model_a": "x", "model_b": "y", "winner": "tie", "anony": True, "turn": 2}]
    table = podium.read_battles(save("battles.json", rows)).table
    assert (table["anony"].tolist(), table["turn"].tolist()) == ([True], [2])


def test_a_category_beside_a_language_stays(save):
    rows = [
        {
            "id": 1,
            "model_a": "x",
            "model_b": "y",
            "winner": "tie",
            "language": "en",
            "category": "code",
        }
    ]
    table = podium.read_battles(save("battles.jsonl", rows)).table
    assert (table["category"].tolist(), table["language"].tolist()) == (["code"], ["en"])


@pytest.mark.parametrize(("flags", "expected"), [("1,0,0", 1.0), ("0,1,0", 0.0), ("0,0,1", 0.5)])
def test_three_indicator_columns_say_the_winner(save, flags, expected):
    header = "id,model_a,model_b,prompt,winner_model_a,winner_model_b,winner_tie\n"
    table = podium.read_battles(save("train.csv", f"{header}30192,alpha,beta,p,{flags}\n")).table
    assert table["credit"].tolist() == [expected]
    assert table["item"].tolist() == ["30192"]


@pytest.mark.parametrize("flags", ["1,1,0", "0,0,0", "2,-1,0", "0.5,0,0.5", "inf,-inf,1"])
def test_indicators_that_name_no_single_winner_are_an_error(save, flags):
    header = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    with pytest.raises(
        podium.DataError, match=r"train.csv, row 1: winner indicators .* exactly one"
    ):
        podium.read_battles(save("train.csv", f"{header}1,alpha,beta,{flags}\n"))


def test_empty_indicators_are_unparsed(save):
    header = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    battles = podium.read_battles(
        save("train.csv", f"{header}1,alpha,beta,,,\n2,alpha,beta,1,0,0\n")
    )
    assert battles.counts().unparsed == 1


def test_a_table_without_question_says_that_rows_are_independent(save):
    battles = podium.read_battles(
        save("battles.csv", "model_a,model_b,winner\nx,y,model_a\nx,y,model_a\n")
    )
    assert notice_texts(battles.notes) == ("no item column: rows counted as independent",)
    assert battles.counts().items == 2


@pytest.mark.parametrize("flags", ["1,,0", "0,,1", ",1,0", "0,1,", ",0,1", "1,0,NaN"])
def test_a_row_with_any_empty_indicator_is_unparsed_and_has_no_credit(save, flags):
    header = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    battles = podium.read_battles(
        save("train.csv", f"{header}1,alpha,beta,{flags}\n2,alpha,beta,1,0,0\n")
    )
    assert (battles.counts().unparsed, battles.unparsed_reasons()) == (1, {"no winner": 1})
    assert battles.table["credit"].isna().tolist() == [True, False]


@pytest.mark.parametrize("cell", ["NaN", "null", "<NA>", "  "])
@pytest.mark.parametrize(
    ("name", "header"), [("arena", "model_a,model_b,winner"), ("evalica", "left,right,winner")]
)
def test_a_winner_that_spells_an_empty_cell_is_unparsed(save, name, header, cell):
    battles = podium.read_battles(
        save(f"{name}.csv", f"{header}\nalpha,beta,{cell}\nalpha,beta,tie\n")
    )
    assert (battles.counts().unparsed, battles.unparsed_reasons()) == (1, {"no winner": 1})


def test_a_winner_none_is_an_error_because_it_may_mean_a_tie(save):
    with pytest.raises(podium.DataError, match="'none' is not a known verdict"):
        credit(save, "none")


def test_a_model_called_none_still_wins_by_its_name(save):
    battles = podium.read_battles(
        save("battles.csv", "model_a,model_b,winner\nnone,beta,none\nnone,beta,model_b\n")
    )
    assert battles.table["credit"].tolist() == [1.0, 0.0]


def arena_row(number, winner, **more):
    return {"question_id": f"q{number}", "model_a": "x", "model_b": "y", "winner": winner, **more}


def arena_rows():
    """Rows of which Arena's scripts count the first four, and leave out six."""
    counted = {"anony": True, "dedup_tag": {"high_freq": False, "sampled": True}}
    frequent = {"anony": True, "dedup_tag": {"high_freq": True, "sampled": False}}
    named = {"anony": False, "dedup_tag": {"high_freq": False, "sampled": True}}
    return [
        *(arena_row(k, "model_a", **counted) for k in range(4)),
        *(arena_row(k, "model_b", **frequent) for k in range(4, 6)),
        *(arena_row(k, "model_b", **named) for k in range(6, 10)),
    ]


@pytest.fixture(params=["json", "jsonl", "csv", "parquet"])
def arena_file(request, save, tmp_path):
    """The rows in a file of each kind. In a CSV file, Python printed the objects."""
    if request.param != "csv":
        return save(f"battles.{request.param}", arena_rows())
    path = tmp_path / "battles.csv"
    pd.DataFrame(arena_rows()).to_csv(path, index=False)
    return path


def test_rows_that_arenas_scripts_leave_out_count_and_are_named(podium, arena_file):
    """lm-sys/FastChat, elo_analysis.py: only rows with `anony` are rated."""
    done = podium("rank", arena_file)
    assert "10 battles" in done.out
    [line] = [line for line in done.err.splitlines() if "Arena's own scripts" in line]
    assert "leave out 6 of these 10 battles" in line
    assert "4 without anony=true, 2 without dedup_tag.sampled=true" in line


def test_the_option_in_the_line_leaves_them_out_and_says_how_many(podium, arena_file):
    line = podium("rank", arena_file).err
    option = re.search(r"--where .*true(?= leaves)", line)[0]
    done = podium("rank", arena_file, *option.split(), "--format", "json")
    ranking = json.loads(done.out)["rankings"][0]
    assert ranking["counts"]["battles"] == 4
    assert "6 of 10 battles are left out by anony=true, dedup_tag.sampled=true" in done.err
    assert "which count here" not in done.err


def test_the_option_in_python_is_one_mapping(arena_file):
    [text] = [
        text for text in notice_texts(podium.read_battles(arena_file).notes) if "Arena" in text
    ]
    assert "where={'anony': 'true', 'dedup_tag.sampled': 'true'}" in text
    chosen = podium.read_battles(arena_file, where={"anony": "true", "dedup_tag.sampled": "true"})
    assert len(chosen) == 4


def test_one_of_the_two_conditions_names_what_the_other_would_leave_out(podium, save):
    done = podium("rank", save("battles.json", arena_rows()), "--where", "anony=true")
    assert "4 of 10 battles are left out by anony=true" in done.err
    assert "leave out 2 of these 6 battles" in done.err


def test_other_values_of_the_flags_are_conditions_like_any_other(podium, save):
    done = podium("rank", save("battles.json", arena_rows()), "--where", "anony=false")
    assert "4 battles" in done.out
    assert "Arena" not in done.err


@pytest.mark.parametrize(
    "rows",
    [
        [row for row in arena_rows() if not row["anony"]],
        [row | {"dedup_tag": {"sampled": True}, "anony": True} for row in arena_rows()],
        [{k: v for k, v in row.items() if k not in ("anony", "dedup_tag")} for row in arena_rows()],
    ],
    ids=["no row would remain", "every row counts", "no flags"],
)
def test_no_word_is_said_where_the_scripts_would_leave_out_all_rows_or_none(podium, save, rows):
    assert "Arena" not in podium("rank", save("battles.json", rows)).err


def test_rows_without_the_field_are_left_out_as_by_the_notebook(podium, save):
    rows = arena_rows()
    rows[0]["dedup_tag"] = {"high_freq": False}
    rows[1]["dedup_tag"] = None
    path = save("battles.jsonl", rows)
    assert "leave out 8 of these 10" in podium("rank", path).err
