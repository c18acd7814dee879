"""Tables as humans have them: ids of any size, names of any kind, scores in any shape, and files
that are none."""

import gzip
import json
import os
import subprocess
import sys

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import podium
from podium.notices.notice_text import notice_texts
from podium.notices.option_forms import typed_as, typed_in_command

HEADER = "item,model_a,model_b,credit\n"
LARGE = 2**53


def refusal(*sources, **options):
    with pytest.raises(podium.PodiumError) as caught:
        podium.read_battles(*sources, **options)
    return str(caught.value)


def rows_with(items, **more):
    return [
        {"item": item, "model_a": "x", "model_b": "y", "credit": k % 2, **more}
        for k, item in enumerate(items)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["votes.jsonl", "votes.json", "votes.parquet"])
def test_large_integer_ids_stay_distinct_beside_an_empty_id(tmp_path, name):
    rows, path = rows_with([LARGE, LARGE + 1, None]), tmp_path / name
    if name.endswith("parquet"):
        columns = {key: pa.array([row[key] for row in rows]) for key in rows[0]}
        pyarrow.parquet.write_table(pa.table(columns), path)
    else:
        path.write_text(
            "\n".join(map(json.dumps, rows)) if name.endswith("l") else json.dumps(rows)
        )
    assert podium.read_battles(str(path)).table["item"].tolist()[:2] == [str(LARGE), str(LARGE + 1)]


@pytest.mark.slow
def test_ids_of_a_foreign_format_are_not_rounded_either(save):
    rows = [
        {"question_id": item, "model_a": "x", "model_b": "y", "winner": "tie"}
        for item in (LARGE + 1, None)
    ]
    assert podium.read_battles(save("a.jsonl", rows)).table["item"].tolist()[0] == str(LARGE + 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["votes.jsonl", "votes.json"])
def test_true_and_the_word_and_one_are_three_items(save, name):
    rows = rows_with([True, "True", 1])
    assert podium.read_battles(save(name, rows)).counts().items == 3


@pytest.mark.slow
def test_a_whole_number_written_as_a_float_is_the_same_item(save):
    assert podium.read_battles(save("v.jsonl", rows_with([7, 7.0, "7"]))).counts().items == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["v.jsonl", "v.json"])
def test_json_nested_five_thousand_deep_is_no_traceback(save, name):
    deep = (
        '{"item": "i", "model_a": "x", "model_b": "y", "credit": 1, "z": '
        f"{'[' * 5000}{']' * 5000}}}"
    )
    if name == "v.json":
        assert "v.json: nested too deeply" in refusal(save(name, deep))
    else:
        assert len(podium.read_battles(save(name, deep))) == 1


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", ["v.jsonl", "v.json"])
def test_an_id_of_five_thousand_digits_is_a_text(save, name):
    digits = "1" * 5000
    row = f'{{"item": {digits}, "model_a": "x", "model_b": "y", "credit": 1}}'
    assert podium.read_battles(save(name, row)).table["item"].tolist() == [digits]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", ["v.jsonl", "v.json", "v.csv"])
def test_a_credit_of_four_hundred_digits_is_rejected(save, name):
    digits = "1" * 401
    row = f'{{"item": "i", "model_a": "x", "model_b": "y", "credit": {digits}}}'
    message = refusal(save(name, f"{HEADER}i,x,y,{digits}\n" if name == "v.csv" else row))
    assert name in message
    assert len(message) < 400


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", ["v.jsonl", "v.json"])
def test_half_a_character_is_written_as_its_code(save, name):
    row = '{"item": "a\\ud83d", "model_a": "x", "model_b": "y", "credit": 1}'
    assert podium.read_battles(save(name, row)).table["item"].tolist() == ["a\\ud83d"]


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0", "\u3000"])
def test_a_blank_name_is_no_name(save, blank):
    assert "row 1: model_b" in refusal(save("v.csv", f'{HEADER}1,x,"{blank}",1\n'))


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), [("a b", "a  b"), ("Q1", "q1"), ("\u00e9", "e\u0301")])
def test_similar_item_ids_are_reported(save, one, other):
    battles = podium.read_battles(save("v.csv", f"{HEADER}{one},x,y,1\n{other},x,y,0\n"))
    assert battles.counts().items == 2
    assert any("white space, case or Unicode form" in note for note in notice_texts(battles.notes))


@pytest.mark.parametrize(
    "text", ["left,right,winner\nx,y,x\nx,y,y\n", "model_a,model_b,winner\nx,y,x\nx,y,y\n"]
)
def test_winner_column_accepts_model_names(save, text):
    assert podium.read_battles(save("v.csv", text)).table["credit"].tolist() == [1, 0]


def test_a_table_of_weights_and_biases_is_columns_and_data(save):
    table = {
        "columns": ["item", "model_a", "model_b", "credit"],
        "data": [["1", "x", "y", 1], ["2", "x", "y", None]],
    }
    assert podium.read_battles(save("t.table.json", table)).counts().unparsed == 1


@pytest.mark.slow
def test_a_matrix_of_scores_is_a_row_per_item_and_a_column_per_model(save):
    battles = podium.read_battles(save("m.csv", "item,x,y z\n1,3,2\n2,1,1\n3,,2\n"))
    rows = battles.to_frame()
    assert rows[["model_a", "model_b"]].to_numpy().tolist() == [["x", "y z"]] * 3
    assert rows["credit"].fillna(-1).tolist() == [1, 0.5, -1]


def test_a_decimal_comma_is_read_where_commas_separate_nothing(save):
    text = "item;model_a;model_b;credit\n1;x;y;0,5\n2;x;y;1\n"
    assert podium.read_battles(save("v.csv", text)).table["credit"].tolist() == [0.5, 1]


def test_credits_in_words_give_a_map_to_copy(save):
    message = refusal(save("v.csv", f"{HEADER}1,x,y,win\n2,x,y,it's a draw\n"))
    for part in (
        "row 1: credit 'win' is not a number",
        "--credit-map",
        "it'\"'\"'s a draw=?",
        "win=1",
    ):
        assert part in message


@pytest.mark.slow
def test_slices_by_two_columns_are_named_by_both(save):
    sides = ("x,y", "y,z", "z,x")
    rows = [
        f"{item},{pair},1,{lang},{judge}"
        for item in "12"
        for pair in sides
        for lang in "de"
        for judge in "gh"
    ]
    path = save("v.csv", "item,model_a,model_b,credit,lang,judge\n" + "\n".join(rows))
    ranking = podium.rank(podium.read_battles(path), "win-rate", by="lang,judge")
    assert [each.slice for each in ranking.standings] == ["d, g", "d, h", "e, g", "e, h"]


@pytest.mark.slow
@pytest.mark.parametrize("tables", [["votes"], ["votes", "other"]])
def test_a_table_of_a_database_is_read(tmp_path, tables):
    path = tmp_path / "v.duckdb"
    with duckdb.connect(str(path)) as connection:
        for table in tables:
            connection.execute(
                f"create table {table} as select 'i' item, 'x' model_a, 'y' model_b, 1.0 credit"
            )
    assert len(podium.read_battles(f"{path}#votes")) == 1
    assert "tables: " in refusal(f"{path}#voets")


def test_a_table_that_is_not_named_is_asked_for_with_the_names(tmp_path):
    path = tmp_path / "v.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table a as select 1 x; create table b as select 1 x")
    assert "tables: a, b" in refusal(str(path))


@pytest.mark.slow
def test_a_header_longer_than_a_block_is_read(save):
    names = ",".join(f"column_{k}" for k in range(10_000))
    assert (
        len(
            podium.read_battles(save("v.csv", f"{HEADER.strip()},{names}\n1,x,y,1{',' * 10_000}\n"))
        )
        == 1
    )


def test_a_header_with_a_line_break_is_read(save):
    path = save("v.csv", 'item,model_a,model_b,"the\ncredit"\n1,x,y,1\n')
    assert podium.read_battles(path, columns={"credit": "the\ncredit"}).table[
        "credit"
    ].tolist() == [1]


def test_lines_that_end_in_two_ways_are_one_table(save):
    assert len(podium.read_battles(save("v.csv", f"{HEADER.strip()}\r\n1,x,y,1\n2,x,y,0\r\n"))) == 2


def test_an_opened_pipe_is_read_once():
    reader, writer = os.pipe()
    os.write(writer, gzip.compress(f"{HEADER}1,x,y,1\n".encode()))
    os.close(writer)
    assert len(podium.read_battles(f"/dev/fd/{reader}")) == 1
    os.close(reader)


@pytest.mark.slow
def test_a_dash_is_standard_input():
    command = [sys.executable, "-c", "import podium; print(len(podium.read_battles('-')))"]
    run = subprocess.run(
        command, input=f"{HEADER}1,x,y,1\n", capture_output=True, text=True, check=True
    )
    assert run.stdout == "1\n"


def test_a_packed_file_whose_checksum_is_wrong_is_rejected(save):
    packed = bytearray(gzip.compress(f"{HEADER}1,x,y,1\n".encode()))
    packed[-6] ^= 255
    assert "v.csv.gz: not a whole gzip file" in refusal(save("v.csv.gz", bytes(packed)))


@pytest.mark.parametrize("keep", [None, -5])
def test_zstd_is_recognised_by_content(save, keep):
    packed = pa.Codec("zstd").compress(f"{HEADER}1,x,y,1\n".encode(), asbytes=True)
    path = save("v.csv.zst", packed[:keep])
    if keep is None:
        assert len(podium.read_battles(path)) == 1
    else:
        assert "v.csv.zst: not a whole zstd file" in refusal(path)


def test_names_that_look_like_sql_are_names(tmp_path):
    folder = tmp_path / "a'b*[c]"
    folder.mkdir()
    odd = 'x"; drop table votes; --'
    frame = pd.DataFrame(
        [
            {
                "item": "i",
                "model_a": "x'",
                "model_b": 'y"',
                "credit": 1.0,
                odd: "v",
                "Item": 3,
                "": "e",
            }
        ]
    )
    frame.to_csv(folder / "v'*.csv", index=False)
    frame.to_csv(tmp_path / "v'1.csv", index=False)
    battles = podium.read_battles(folder / "v'*.csv", where={odd: "v"})
    assert (battles.models, battles.table[odd].tolist()) == (("x'", 'y"'), ["v"])
    assert battles.table["Item_"].tolist() == ["3"]


@pytest.mark.slow
def test_a_matrix_of_scores_may_hold_words_of_its_items_and_marks_of_missing_ones(save):
    path = save("w.csv", "item,lang,gpt-4o,claude-3\n1,en,8.0,8.3\n2,fr,7,6\n3,en,NA,5\n")
    battles = podium.read_battles(path)
    assert battles.models == ("claude-3", "gpt-4o")
    assert battles.table["lang"].tolist() == ["en", "fr", "en"]
    assert (battles.counts().readable, battles.counts().unparsed, battles.counts().missing) == (
        2,
        0,
        1,
    )


@pytest.mark.slow
def test_words_beside_scores_stay_with_battles_where_both_models_have_them(save):
    rows = "item,model,score,lang,run\n1,a,1,en,x\n1,b,2,en,y\n2,a,3,fr,x\n2,b,1,fr,x\n"
    table = podium.read_battles(save("long.csv", rows)).table
    assert table["lang"].tolist() == ["en", "fr"]
    assert table["run"].fillna("").tolist() == ["", "x"]


def test_a_record_with_two_values_of_one_key_is_rejected(save):
    row = '{"item": "1", "item": "2", "model_a": "x", "model_b": "y", "credit": 1}'
    assert "v.jsonl, record 1: a record has two values of 'item'" in refusal(save("v.jsonl", row))
    assert "v.json: a record has two values of 'item'" in refusal(save("v.json", f"[{row}]"))


@pytest.mark.slow
@pytest.mark.parametrize("at", range(2, 98, 4))
def test_a_damaged_parquet_file_is_named(tmp_path, at):
    path = tmp_path / "votes.parquet"
    pd.DataFrame(rows_with(range(300))).to_parquet(path)
    content = bytearray(path.read_bytes())
    place = len(content) * at // 100
    path.write_bytes(bytes(content[:place] + content[place + 7 :]))
    assert "votes.parquet" in refusal(str(path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "rater", ["annotator", "rater", "labeler", "evaluator", "worker", "Annotator_ID"]
)
def test_raters_that_count_as_one_judge_are_named_beside_the_item_with_the_line_to_type(
    save, rater
):
    path = save(
        "v.csv",
        f"prompt_id,left,right,winner,{rater}\n1,x,y,left,ann\n1,x,y,right,bob\n2,y,x,left,ann\n",
    )
    with typed_as(typed_in_command):
        item, judge = notice_texts(podium.read_battles(path).notes)
    assert item.endswith("if prompt_id is the item, say --columns item=prompt_id")
    assert judge == (
        f"no judge column: the 2 in {rater} count as one judge; if {rater} is the judge, say "
        f"--columns judge={rater}; if these are human voters, --columns voter={rater}"
    )
    named = podium.read_battles(path, columns={"item": "prompt_id", "judge": rater})
    assert (named.judges, named.counts().items, notice_texts(named.notes)) == (
        ("ann", "bob"),
        2,
        (),
    )


@pytest.mark.slow
def test_a_table_with_items_says_which_column_may_be_the_judge(save):
    path = save("v.csv", "item,model_a,model_b,credit,rater\n1,x,y,1,ann\n2,x,y,0,bob\n")
    problem = (
        "no judge column: the 2 in rater count as one judge; if rater is the judge, say "
        "columns={'judge': 'rater'}; if these are human voters, columns={'voter': 'rater'}"
    )
    assert notice_texts(podium.read_battles(path).notes) == (problem,)
    assert (
        notice_texts(
            podium.read_battles(
                save("v.csv", "item,model_a,model_b,credit,rater\n1,x,y,1,ann\n2,x,y,0,ann\n")
            ).notes
        )
        == ()
    )


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_nested_cells_that_are_equal_in_many_rows_are_read_in_each(save, suffix):
    rows = [
        {"item": k, "model_a": "x", "model_b": "y", "credit": k % 2, "tags": [["u"], None][k % 2]}
        for k in range(6)
    ]
    frame = podium.read_battles(save(f"v.{suffix}", rows)).to_frame()
    assert frame["tags"].isna().tolist() == [False, True] * 3
    assert frame["credit"].tolist() == [0, 1] * 3


def test_blank_lines_are_counted_in_the_place_of_a_row(save):
    rows = [
        {"question_id": k, "model_a": "x", "model_b": "y", "winner": word}
        for k, word in enumerate(["tie", "model_a", "odd"])
    ]
    lines = [json.dumps(row) for row in rows]
    assert "v.jsonl, line 3" in refusal(save("v.jsonl", "\n".join(lines)))
    assert "w.jsonl, line 5" in refusal(save("w.jsonl", "\n\n".join(lines) + "\n"))


@pytest.mark.slow
@pytest.mark.parametrize("command", ["rank", "audit", "diagnose"])
def test_every_command_reads_standard_input(command):
    rows = "".join(f"{k},x,y,{k % 2}\n{k},y,z,{k % 3 > 0:d}\n" for k in range(40))
    typed = [sys.executable, "-m", "podium", command, "-"]
    run = subprocess.run(typed, input=HEADER + rows, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "40 items" in run.stdout
