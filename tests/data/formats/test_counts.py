"""Counts of wins and ties: a battle for each of them."""

import pytest

import podium
from podium.notices.notice_text import notice_text


@pytest.mark.slow
def test_every_count_is_a_battle(save):
    text = "model_a,model_b,wins_a,wins_b,ties\na,b,18,2,5\nb,c,15,5,0\n"
    battles = podium.read_battles(save("counts.csv", text))
    assert len(battles) == 45
    frame = battles.to_frame()
    found = frame.groupby(["model_a", "model_b"])["credit"].agg(["size", "sum"])
    assert found.values.tolist() == [[25, 20.5], [20, 15.0]]


@pytest.mark.slow
def test_counts_rank_as_their_battles_do(save):
    rows = ["model_a,model_b,credit", *["a,b,1"] * 6, *["a,b,0"] * 2, *["a,b,0.5"] * 2]
    counted = podium.read_battles(save("c.csv", "model_a,model_b,wins_a,wins_b,draws\na,b,6,2,2\n"))
    played = podium.read_battles(save("p.csv", "\n".join(rows)))
    one, other = (podium.rank(each, "bradley-terry").standings[0] for each in (counted, played))
    assert [(e.model, e.score, e.se) for e in one.entries] == [
        (e.model, pytest.approx(e.score), pytest.approx(e.se)) for e in other.entries
    ]


@pytest.mark.slow
def test_items_and_other_columns_of_a_row_are_those_of_its_battles(save):
    text = "item,model_a,model_b,a_wins,b_wins,category\nq1,a,b,2,0,x\nq2,a,b,0,1,y\n"
    table = podium.read_battles(save("counts.csv", text)).table
    assert table["item"].tolist() == ["q1", "q1", "q2"]
    assert table["category"].tolist() == ["x", "x", "y"]


@pytest.mark.parametrize("cell", ["-1", "0.5", "many", "inf"])
def test_a_cell_that_is_no_count_names_file_row_and_value(save, cell):
    text = f"model_a,model_b,wins_a,wins_b,ties\na,b,3,2,1\na,c,{cell},1,0\n"
    with pytest.raises(podium.DataError, match=r"counts.csv, row 2: wins_a"):
        podium.read_battles(save("counts.csv", text))


@pytest.mark.parametrize(
    ("cells", "said"), [("0,0,0", "count 0 battles"), ("9e9,1,0", "9,000,000,001")]
)
def test_no_battles_or_too_many_are_an_error(save, cells, said):
    text = f"model_a,model_b,wins_a,wins_b,ties\na,b,{cells}\n"
    with pytest.raises(podium.DataError, match=said):
        podium.read_battles(save("counts.csv", text))


def test_two_columns_of_ties_are_an_error(save):
    text = "model_a,model_b,wins_a,wins_b,ties,draws\na,b,3,2,1,1\n"
    with pytest.raises(podium.DataError, match=r"counts.csv: both ties and draws would be"):
        podium.read_battles(save("counts.csv", text))


def test_a_model_whose_counts_are_all_zero_is_named(save):
    text = "model_a,model_b,wins_a,wins_b,ties\na,b,3,2,1\na,c,0,0,0\n"
    battles = podium.read_battles(save("counts.csv", text))
    [note] = [note for note in battles.notes if note.code == "models-without-battles"]
    assert note.fields["models"] == ["c"]
    assert "all counts of c are 0, so it has no battle and is not ranked" in notice_text(note)


def codes_of(*paths):
    return [note.code for note in podium.read_battles(*paths).notes]


@pytest.mark.slow
def test_the_battles_of_a_count_are_no_repeated_rows(save):
    text = "item,model_a,model_b,wins_a,wins_b,ties\nq1,a,b,4,2,1\nq2,a,b,0,3,1\n"
    assert codes_of(save("counts.csv", text)) == []
    played = "item,model_a,model_b,credit\nq1,a,b,1\nq1,a,b,1\n"
    assert codes_of(save("played.csv", played)) == ["rows-repeat"]


def test_equal_rows_of_counts_are_named(save):
    rows = "q1,a,b,4,2,1\nq2,a,b,0,3,1\nq1,a,b,4,2,1\n"
    battles = podium.read_battles(
        save("counts.csv", f"item,model_a,model_b,wins_a,wins_b,ties\n{rows}")
    )
    [note] = battles.notes
    said = "counts.csv: 1 row of counts repeats another row in every column; the battles count"
    assert said in notice_text(note)
    assert len(battles) == 18


@pytest.mark.parametrize(("rows", "place"), [("a,b,3,,1", "row 1: wins_b"), ("a,b,3,1,", "ties")])
def test_an_empty_cell_is_no_count_of_zero(save, rows, place):
    text = f"model_a,model_b,wins_a,wins_b,ties\n{rows}\nb,c,2,1,1\n"
    with pytest.raises(podium.DataError, match=place) as refused:
        podium.read_battles(save("counts.csv", text))
    assert "is empty, and a missing count is not 0. Remedy: write 0" in str(refused.value)


def test_rows_of_a_model_against_itself_are_counted_and_not_their_battles(save):
    text = "model_a,model_b,wins_a,wins_b,ties\na,a,18,1,5\nb,c,2,1,1\nc,c,3,4,0\n"
    with pytest.raises(podium.DataError, match=r"row 1: .*plays against itself \(2 such rows\)"):
        podium.read_battles(save("counts.csv", text))
