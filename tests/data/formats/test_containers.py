"""Files that are not whole, not text, or not what their name promises."""

import gzip
import json
import re

import pytest

import podium

HEADER = "item,model_a,model_b,credit\n"
ROW = {"item": "1", "model_a": "x", "model_b": "y", "credit": 1}


def refusal(path, **options):
    with pytest.raises(podium.PodiumError) as caught:
        podium.read_battles(path, **options)
    return str(caught.value)


def credits_in(path):
    return podium.read_battles(path).table["credit"].tolist()


def test_an_empty_file_is_rejected_by_name(save):
    message = refusal(save("votes.csv", ""))
    assert "votes.csv: the file is empty. Remedy:" in message


def test_a_file_of_blank_lines_is_empty(save):
    assert "the file is empty" in refusal(save("votes.csv", "\n \n\n"))


def test_a_header_without_rows_is_rejected(save):
    assert "votes.csv: no rows. Remedy:" in refusal(save("votes.csv", HEADER))


def test_one_line_of_prose_is_rejected(save):
    assert "notes.txt: no rows below the header" in refusal(save("notes.txt", "hello world"))


def test_an_empty_json_list_is_rejected(save):
    assert "votes.json" in refusal(save("votes.json", []))


@pytest.mark.parametrize("bad", ["2,x,y", "2,x,y,1,7"])
def test_a_ragged_row_is_rejected_with_its_number(save, bad):
    message = refusal(save("votes.csv", f"{HEADER}1,x,y,1\n{bad}\n3,x,y,0\n"))
    assert "votes.csv, row 2" in message
    assert bad in message
    assert "every row needs every column" in message


@pytest.mark.slow
def test_a_ragged_row_far_down_is_still_numbered(save):
    text = HEADER + "1,x,y,1\n" * 200_000 + "2,x,y\n"
    [left_out] = podium.read_battles(save("votes.csv", text)).lost
    assert [*left_out.fields["places"]] == ["row 200001"]


def test_a_quote_that_never_closes_is_rejected_where_it_opens(save):
    assert "votes.csv, row 2" in refusal(save("votes.csv", f'{HEADER}1,x,y,1\n2,x,"y,1\n3,x,y,0\n'))


def test_a_column_named_twice_is_rejected(save):
    message = refusal(save("votes.csv", "item,model_a,model_a,credit\n1,x,y,1\n"))
    assert "votes.csv, header: column 'model_a' appears twice" in message


def test_a_truncated_line_is_rejected_with_its_number(save):
    message = refusal(save("votes.jsonl", json.dumps(ROW) + '\n\n{"item": "2", "mod'))
    assert "votes.jsonl, line 3: not a whole JSON record" in message
    assert '{"item": "2", "mod' in message
    assert "cut off" in message


def test_a_truncated_array_is_rejected_with_its_line(save):
    message = refusal(save("votes.json", f'[{json.dumps(ROW)},\n{{"item": "2"'))
    assert "votes.json, line 2: not whole JSON" in message
    assert "cut off or damaged" in message


@pytest.mark.parametrize("line", ["[1, 2]", '"text"', "3"])
def test_a_line_that_is_no_object_is_rejected(save, line):
    message = refusal(save("votes.jsonl", f"{json.dumps(ROW)}\n{line}\n"))
    assert "votes.jsonl, line 2: not a JSON object" in message


def test_a_list_of_numbers_is_no_list_of_records(save):
    assert "numbers.json: the JSON is not a list of records: '[1, 2]'" in refusal(
        save("numbers.json", "[1, 2]")
    )


def test_a_list_of_numbers_and_lists_is_no_list_of_records(save):
    assert "numbers.json: the JSON is not a list of records: '[1, [2]]'" in refusal(
        save("numbers.json", "[1, [2]]")
    )


@pytest.mark.parametrize("name", ["picture.csv", "picture.json"])
def test_a_binary_file_is_rejected(save, name):
    message = refusal(save(name, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"))
    assert f"{name}: the file is binary. Remedy: give CSV" in message


def test_a_parquet_file_cut_short_is_rejected(save):
    assert "cut.parquet: not a whole Parquet file" in refusal(save("cut.parquet", b"PAR1abcdefgh"))


@pytest.mark.parametrize("keep", [-20, 15])
def test_a_gzip_file_cut_short_is_rejected(save, keep):
    whole = gzip.compress((HEADER + "1,x,y,1\n" * 1000).encode())
    assert "cut.csv.gz: not a whole gzip file" in refusal(save("cut.csv.gz", whole[:keep]))


@pytest.mark.slow
def test_a_line_of_a_hundred_megabytes_is_rejected(save):
    bulk = b'{"item": "2", "text": "' + b"x" * 100_000_000 + b'"}\n'
    message = refusal(save("votes.jsonl", json.dumps(ROW).encode() + b"\n" + bulk))
    assert "votes.jsonl, line 2: longer than 64 MiB" in message
    assert len(message) < 500


@pytest.mark.parametrize("name", ["votes.csv", "votes.json", "votes.jsonl"])
def test_text_that_is_not_utf_8_is_rejected(save, name):
    text = {"csv": f"{HEADER}1,é,y,1\n", "json": '[{"item": "é"}]', "jsonl": '{"item": "é"}'}[
        name.partition(".")[2]
    ]
    assert re.search(rf"{name}.*(UTF-8|utf-8)", refusal(save(name, text.encode("latin-1"))))


@pytest.mark.slow
def test_a_row_longer_than_a_block_is_read(save):
    assert credits_in(save("votes.csv", f"{HEADER}{'i' * 3_000_000},x,y,0\n2,x,y,1\n")) == [0, 1]


def test_a_blank_line_before_the_header_changes_nothing(save):
    battles = podium.read_battles(save("votes.csv", f"\n{HEADER}007,x,y,1\n"))
    assert battles.table["item"].tolist() == ["007"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["votes.csv", "votes.json", "votes.jsonl"])
def test_a_byte_order_mark_is_skipped(save, name):
    text = (
        f"{HEADER}1,x,y,1\n"
        if name == "votes.csv"
        else json.dumps([ROW] if name == "votes.json" else ROW)
    )
    assert credits_in(save(name, b"\xef\xbb\xbf" + text.encode())) == [1]


@pytest.mark.slow
def test_records_in_lines_are_recognised_under_the_name_json(save):
    lines = [ROW | {"text": "t" * 100_000}, ROW | {"item": "2", "credit": 0}]
    assert credits_in(save("votes.json", "\n".join(map(json.dumps, lines)))) == [1, 0]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("indent", [None, 1])
def test_an_object_of_columns_is_a_table(save, indent):
    columns = {name: [value, value] for name, value in ROW.items()} | {"item": ["1", "2"]}
    assert credits_in(save("votes.json", json.dumps(columns, indent=indent))) == [1, 1]


def test_one_object_over_several_lines_is_one_record(save):
    assert credits_in(save("votes.json", json.dumps(ROW, indent=1))) == [1]


def test_tabs_are_recognised(save):
    assert credits_in(save("votes.tsv", (HEADER + "1,x,y,0.5\n").replace(",", "\t"))) == [0.5]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["votes.csv.gz", "votes.jsonl.gz", "votes"])
def test_gzip_is_recognised_by_content(save, name):
    text = json.dumps(ROW) if "jsonl" in name else f"{HEADER}1,x,y,1\n"
    assert credits_in(save(name, gzip.compress(text.encode()))) == [1]


def test_parquet_is_recognised_by_content(save, tmp_path):
    save("votes.parquet", [ROW])
    (tmp_path / "votes.parquet").rename(tmp_path / "votes.dat")
    assert credits_in(str(tmp_path / "votes.dat")) == [1]


@pytest.mark.slow
def test_a_newline_inside_quotes_belongs_to_the_cell(save):
    battles = podium.read_battles(save("votes.csv", f'{HEADER}"one\ntwo",x,y,1\n2,x,y,0\n'))
    assert battles.counts().items == 2


def test_a_cell_that_says_na_is_text(save):
    assert podium.read_battles(save("votes.csv", f"{HEADER}NA,nan,null,1\n")).models == (
        "nan",
        "null",
    )
