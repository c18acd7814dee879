"""compar:IA: the winner is a name, and a flag says that both are equal."""

import pytest

import podium

HEADER = "model_a_name,model_b_name,conversation_pair_id,both_equal,chosen_model_name\n"


def read(save, *rows):
    return podium.read_battles(save("votes.csv", HEADER + "".join(f"{row}\n" for row in rows)))


def test_a_name_wins_and_a_flag_is_a_tie(save):
    battles = read(save, "x,y,p0,False,x", "x,y,p1,True,", "x,y,p2,false,y", "x,y,p3,1,")
    assert battles.table["credit"].tolist() == [1.0, 0.5, 0.0, 0.5]
    assert battles.table["item"].tolist() == ["p0", "p1", "p2", "p3"]


@pytest.mark.slow
def test_a_vote_without_winner_and_tie_is_unparsed(save):
    battles = read(save, "x,y,p0,False,x", "x,y,p1,False,", "x,y,p2,,")
    assert battles.unparsed_reasons() == {"no winner": 2}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "x,y,p1,False,z",
            "row 2: chosen_model_name 'z' is neither model of its row, 'x' or 'y'. "
            "Remedy: write the name in model_a_name or in model_b_name",
        ),
        (
            "x,y,p1,True,x",
            "row 2: chosen_model_name 'x' is chosen although both_equal is true. "
            "Remedy: empty chosen_model_name, or set both_equal to false",
        ),
        ("x,y,p1,maybe,", "row 2: both_equal 'maybe' is neither true nor false"),
        ("x,y,p1,2,", "row 2: both_equal '2' is neither true nor false"),
    ],
)
def test_contradictions_name_file_row_and_value(save, row, message):
    with pytest.raises(podium.DataError, match=f"votes.csv, {message}"):
        read(save, "x,y,p0,False,x", row)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    ("absent", "named"),
    [
        ("model_b_name", 'model_b: "?"'),
        ("both_equal", "credit: chosen_model_name"),
        ("chosen_model_name", "model_a: model_a_name"),
    ],
)
def test_a_missing_column_is_named_with_a_mapping(save, absent, named):
    columns = HEADER.strip().split(",")
    row = dict(zip(columns, ["x", "y", "p0", "False", "x"], strict=True))
    kept = [name for name in columns if name != absent]
    lines = [",".join(kept), *[",".join(row[name] for name in kept)] * 4]
    with pytest.raises(podium.DataError) as caught:
        podium.read_battles(save("votes.csv", "\n".join(lines) + "\n"))
    assert f"nearest: comparia, which also needs {absent}" in str(caught.value)
    assert named in str(caught.value)


@pytest.mark.slow
def test_voters_are_one_population_of_humans(podium, save):
    rows = [
        {
            "model_a_name": "x",
            "model_b_name": "y",
            "both_equal": k % 3 == 0,
            "chosen_model_name": "x" if k % 3 else None,
            "visitor_id": f"v{k % 2}",
            "conversation_pair_id": f"p{k}",
        }
        for k in range(9)
    ]
    done = podium("rank", save("votes.json", rows))
    assert done.code == 0, done.err
    assert "2 voters gave 9 verdicts" in done.err
    assert '"kind": "human"' in podium("rank", save("v.json", rows), "--format", "json").out


def test_conversations_have_lengths(save):
    talk = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "abc"}]
    row = {"model_a_name": "x", "model_b_name": "y", "both_equal": False}
    row |= {"chosen_model_name": "x", "conversation_a": talk, "conversation_b": talk * 2}
    table = podium.read_battles(save("votes.json", [row])).table
    assert (table["length_a"].tolist(), table["length_b"].tolist()) == ([3.0], [6.0])
