"""A few bad rows are left out, counted and shown; many of them stop the file."""

import json

import pytest

import podium
import podium.data.query
import podium.data.reading.judgments

HEADER = "item,model_a,model_b,credit"


def rows_of(models=("x", "y"), number=100):
    """Return the rows of each model against z."""
    rows = []
    for model in models:
        rows += [f"q{k},{model},z,{k % 3 // 2}" for k in range(number)]
    return rows


def save_table(path, rows):
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return str(path)


def read_with_losses(path):
    battles = podium.read_battles(path)
    return battles, [note.fields for note in battles.lost if note.code == "bad-rows"]


def test_a_battle_of_a_model_with_itself_is_left_out_and_shown(tmp_path):
    rows = rows_of()
    path = save_table(tmp_path / "votes.csv", [*rows[:7], "q7,z,z,1", *rows[7:]])
    battles, [fields] = read_with_losses(path)
    assert len(battles) == len(rows)
    assert fields["places"] == {"row 8": "model_b 'z' plays against itself"}
    assert fields["source"] == path


@pytest.mark.slow
@pytest.mark.parametrize("row", ["q7,x", "q7,x,z,1,0", '"q7"x,x,z,1'])
def test_a_malformed_row_is_left_out_and_the_others_keep_their_numbers(tmp_path, row):
    rows = rows_of()
    path = save_table(tmp_path / "votes.csv", [*rows[:7], row, *rows[7:], "q1,z,z,0"])
    battles, [fields] = read_with_losses(path)
    assert len(battles) == len(rows)
    assert list(fields["places"]) == ["row 8", "row 202"]


@pytest.mark.slow
def test_rows_of_both_kinds_are_listed_in_the_order_of_the_file(tmp_path):
    rows = rows_of(("x", "y"), 200)
    bad = ["q1,x,x,1", "q2,x", "q3,z,z,1", "q4,y"]
    mixed = [*rows[:8], bad[0], *rows[8:50], bad[1], *rows[50:98], bad[2], *rows[98:], bad[3]]
    battles, [fields] = read_with_losses(save_table(tmp_path / "votes.csv", mixed))
    assert list(fields["places"]) == ["row 9", "row 52", "row 101", "row 404"]
    assert len(battles) == len(rows)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("line", ['{"item": "q3", "mod', "[1]", "7"])
def test_a_line_that_is_no_record_is_left_out(tmp_path, line):
    lines = [
        json.dumps(dict(zip(HEADER.split(","), row.split(","), strict=True))) for row in rows_of()
    ]
    path = tmp_path / "votes.jsonl"
    path.write_text("\n".join([*lines[:7], "", line, *lines[7:]]) + "\n")
    battles, [fields] = read_with_losses(str(path))
    assert len(battles) == len(lines)
    assert list(fields["places"]) == ["line 9"]


def test_a_line_is_shown_as_it_is_written(tmp_path):
    record = {"item": "q1", "model_a": "x", "model_b": "z", "credit": 1}
    path = tmp_path / "votes.jsonl"
    path.write_text(f"{json.dumps(record)}\n" * 100 + "null\n")
    _, [fields] = read_with_losses(str(path))
    assert fields["places"] == {"line 101": "not a JSON object: 'null'"}


def test_the_command_shows_the_rows_and_ends_with_exit_code_3(tmp_path, request):
    path = save_table(tmp_path / "votes.csv", [*rows_of(), "q7,x,x,1", "q8,x"])
    answer = request.getfixturevalue("podium")("rank", path)
    assert answer.code == 3
    said = " ".join(answer.err.split())
    first = "2 rows left out: row 201: model_b 'x' plays against itself; row 202: not a whole table"
    assert first in said


@pytest.mark.slow
@pytest.mark.parametrize("bad", ["q7,x,x,1", "q7,x"])
def test_more_than_two_percent_of_a_models_rows_stop_the_file(tmp_path, bad):
    rows = [*rows_of(("x",), 100), *rows_of(("y",), 900)]
    assert read_with_losses(save_table(tmp_path / "few.csv", [*rows, bad, bad]))[1]
    path = save_table(tmp_path / "many.csv", [*rows, bad, bad, bad])
    with pytest.raises(podium.DataError, match=r"many\.csv, row 1001: "):
        podium.read_battles(path)


def test_a_malformed_row_that_names_no_model_counts_for_the_rarest_one(tmp_path):
    rows = [*rows_of(("x",), 10), *rows_of(("y",), 900)]
    with pytest.raises(podium.DataError, match="not a whole table"):
        podium.read_battles(save_table(tmp_path / "votes.csv", [*rows, "q7,,"]))


def test_a_credit_out_of_range_or_an_unknown_label_stops_the_file(tmp_path):
    for value in ("1.5", "won"):
        path = save_table(tmp_path / "votes.csv", [*rows_of(), f"q7,x,z,{value}"])
        with pytest.raises(podium.DataError, match="row 201: credit"):
            podium.read_battles(path)


def test_a_malformed_row_of_counts_stops_the_file(tmp_path):
    path = tmp_path / "counts.csv"
    rows = ["x,y,1,0,0"] * 200
    path.write_text("\n".join(["model_a,model_b,wins_a,wins_b,ties", *rows, "x,y,1"]) + "\n")
    with pytest.raises(podium.DataError, match="row 201: not a whole table"):
        podium.read_battles(str(path))


@pytest.mark.slow
def test_bad_rows_of_human_labels_are_lost_parts_too(tmp_path):
    path = save_table(tmp_path / "votes.csv", rows_of())
    labels = save_table(tmp_path / "labels.csv", [*rows_of(), "q7,x"])
    query = podium.data.query.BattleQuery([path], human_labels=(labels,))
    battles = podium.data.reading.judgments.read_query(query)
    assert [note.code for note in battles.lost] == ["bad-rows"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_file_that_was_cut_off_stops_since_the_rows_after_it_are_lost(tmp_path, suffix):
    lines = [HEADER, *rows_of()]
    if suffix == "jsonl":
        names = HEADER.split(",")
        lines = [json.dumps(dict(zip(names, row.split(","), strict=True))) for row in rows_of()]
    path = tmp_path / f"cut.{suffix}"
    # The last line ends before its last cell.
    path.write_text("\n".join(lines[:150]).rpartition(",")[0])
    with pytest.raises(podium.DataError):
        podium.read_battles(str(path))


def test_a_malformed_row_in_which_a_name_is_lost_counts_for_every_model(tmp_path):
    rows = [*rows_of(("y",), 900), *rows_of(("rare",), 10)]
    path = save_table(tmp_path / "battles.csv", [*rows[:5], "q7,z", *rows[5:]])
    with pytest.raises(podium.DataError):
        podium.read_battles(path)


@pytest.mark.slow
@pytest.mark.parametrize("cut", [0, 1, 2, 3])
def test_a_row_that_is_left_out_does_not_change_the_numbers_of_repeats(tmp_path, cut):
    """The orders have the repeats 1 and 2, and 3 and 4: they meet as 1 and 2 all the same."""
    rows = []
    for k in range(60):
        for repeat, order in enumerate(("ab", "ab", "ba", "ba"), start=1):
            rows.append(
                {"item": f"q{k}", "model_a": "x", "model_b": "y", "credit": (k + repeat) % 2}
                | {"order": order, "repeat": repeat}
            )
    lines = [json.dumps(row) for row in rows]
    whole_path = tmp_path / "whole.jsonl"
    whole_path.write_text("\n".join(lines))
    whole = podium.read_battles(whole_path)
    path = tmp_path / "votes.jsonl"
    path.write_text("\n".join(line[:-3] if k == cut else line for k, line in enumerate(lines)))
    battles = podium.read_battles(path)
    assert {"bad-rows", "repeats-numbered"} <= {note.code for note in battles.notes}
    assert len(battles) == len(whole) == 120
    numbers = [
        {*each.to_frame()[["item", "repeat"]].itertuples(index=False, name=None)}
        for each in (battles, whole)
    ]
    assert numbers[0] == numbers[1]
