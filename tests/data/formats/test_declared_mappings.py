"""Columns and verdicts of unknown files that the user's options declare."""

import json

import pytest

import podium

NAMES = {"item": "q", "model_a": "left_model", "model_b": "right_model", "credit": "best"}
CHOICES = {"A++": 1, "A+": 1, "A=B": 0.5, "B+": 0, "B++": 0}


def credits_of(path, **options):
    return [*podium.read_battles(path, **options).to_frame()["credit"]]


def test_a_winner_given_by_name_needs_only_the_word_for_a_tie(save):
    rows = "1,A,B,A\n2,A,B,B\n3,B,A,draw\n4,B,A,A\n"
    path = save("votes.csv", f"q,left_model,right_model,best\n{rows}")
    assert credits_of(path, columns=NAMES, credit_map={"draw": 0.5}) == [1, 0, 0.5, 0]


def test_a_name_of_another_model_is_an_unknown_verdict(save):
    path = save("votes.csv", "q,left_model,right_model,best\n1,A,B,A\n2,A,B,C\n")
    with pytest.raises(podium.DataError, match="row 2: credit 'C' is not in --credit-map"):
        podium.read_battles(path, columns=NAMES, credit_map={"draw": 0.5})


def test_a_word_of_the_map_comes_before_a_model_of_that_name(save):
    path = save("votes.csv", "q,left_model,right_model,best\n1,A,B,A\n")
    assert credits_of(path, columns=NAMES, credit_map={"A": 0.25}) == [0.25]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["json", "jsonl", "parquet"])
def test_a_path_names_values_in_objects(save, suffix):
    """The model that `shown` calls A is model_a, and the choice is what it earned."""
    rows = []
    for k, choice in enumerate(CHOICES):
        shown = {"A": "x", "B": "y"} if k % 2 else {"A": "y", "B": "x"}
        rows.append({"id": f"q{k}", "shown": shown, "parsed": {"choice": choice}})
    path = save(f"votes.{suffix}", rows)
    columns = {"item": "id", "model_a": "shown.A", "model_b": "shown.B", "credit": "parsed.choice"}
    battles = podium.read_battles(path, columns=columns, credit_map=CHOICES, shown="a")
    frame = battles.to_frame()
    assert [*frame["model_a"]] == ["y", "x", "y", "x", "y"]
    assert [*frame["credit"]] == [1, 1, 0.5, 0, 0]


def test_a_path_in_texts_of_json_is_followed_too(save):
    objects = json.dumps({"choice": "x"}).replace('"', '""')
    path = save("votes.csv", f'item,model_a,model_b,parsed\n1,x,y,"{objects}"\n')
    assert credits_of(path, columns={"credit": "parsed.choice"}, credit_map={"tie": 0.5}) == [1]


def test_a_path_without_its_column_names_the_columns(save):
    path = save("votes.csv", "item,model_a,model_b,best\n1,x,y,x\n")
    with pytest.raises(podium.UsageError, match=r"no column 'parsed\.choice'; columns: item"):
        podium.read_battles(path, columns={"credit": "parsed.choice"})


def test_columns_of_counts_may_have_any_names(save):
    path = save("votes.csv", "m1,m2,w1,w2,d\na,b,18,2,5\n")
    columns = {"model_a": "m1", "model_b": "m2", "wins_a": "w1", "wins_b": "w2", "ties": "d"}
    assert sum(credits_of(path, columns=columns)) == 18 + 2.5


@pytest.mark.slow
def test_a_verdict_with_an_equals_sign_can_be_typed(save, request):
    path = save("votes.csv", "item,model_a,model_b,credit\n1,x,y,A=B\n2,x,y,won\n")
    podium_command = request.getfixturevalue("podium")
    answer = podium_command("rank", path, "--credit-map", "A=B=0.5,won=1")
    assert answer.code == 0
    refused = podium_command("rank", path)
    assert "--credit-map A=B=0.5,won=1" in " ".join(refused.err.split())


def test_the_error_for_an_unknown_file_guesses_columns_and_verdicts(save):
    path = save("votes.csv", "id,left,right,outcome\n1,a,b,left\n2,a,b,tie\n")
    guess = r"outcome --credit-map left=1,tie=0\.5; `podium list"
    with pytest.raises(
        podium.DataError, match=rf"item=id,model_a=left,model_b=right,credit={guess}"
    ):
        podium.read_battles(path)


FIRST = {"item": "q", "model_a": "ours", "model_b": "base", "first": "shown_as_A", "credit": "pick"}


def of_first(*rows):
    return "q,ours,base,shown_as_A,pick\n" + "".join(f"{row}\n" for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize(("x", "y"), [("x", "y"), ("a", "b"), ("model_a", "model_b")])
def test_an_assignment_column_turns_the_rows_in_which_model_b_was_shown_first(save, x, y):
    rows = [f"{k},x,y,{(x, y)[k % 2]},{label}" for k, label in enumerate(["A", "A", "B", "B", "T"])]
    path = save("votes.csv", of_first(*rows, f"9,x,y,{y},T"))
    frame = podium.read_battles(
        path, columns=FIRST, credit_map={"A": 1, "B": 0, "T": 0.5}, merge=False
    ).to_frame()
    assert frame["credit"].tolist() == [1, 0, 0, 1, 0.5, 0.5]
    assert frame["order"].tolist() == ["ab", "ba", "ab", "ba", "ab", "ba"]
    assert "first" not in frame


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("words", [("1", "0.25", "1"), ("A>B", "B>A", "A>B")])
def test_numbers_and_labels_are_turned_without_a_map(save, words):
    rows = zip("123", ("x", "y", "y"), words, strict=True)
    path = save("votes.csv", of_first(*(f"{k},x,y,{first},{word}" for k, first, word in rows)))
    expected = [1, 0.75, 0] if words[0] == "1" else [1, 1, 0]
    assert credits_of(path, columns=FIRST) == expected


def test_a_winner_by_name_is_not_turned(save):
    path = save("votes.csv", of_first("1,x,y,y,y", "2,x,y,y,x", "3,x,y,y,slightly"))
    assert credits_of(path, columns=FIRST, credit_map={"slightly": 0.75}) == [0, 1, 0.25]


@pytest.mark.slow
def test_an_assignment_may_be_a_path(save):
    rows = [
        {"q": k, "ours": "x", "base": "y", "who": {"A": first}, "pick": "A"}
        for k, first in enumerate("xy")
    ]
    columns = FIRST | {"first": "who.A"}
    path = save("votes.jsonl", rows)
    assert credits_of(path, columns=columns, credit_map={"A": 1, "B": 0}) == [1, 0]


@pytest.mark.parametrize(("first", "said"), [("z", "first 'z' is neither model"), ("", "first is")])
def test_an_assignment_of_another_model_is_an_error(save, first, said):
    path = save("votes.csv", of_first("1,x,y,x,A", f"2,x,y,{first},A"))
    with pytest.raises(podium.DataError, match=rf"votes.csv, row 2: {said}"):
        podium.read_battles(path, columns=FIRST, credit_map={"A": 1})


def test_words_that_no_map_translates_are_an_error_and_not_unparsed(save):
    path = save("votes.csv", of_first("1,x,y,y,good", "2,x,y,y,bad"))
    with pytest.raises(podium.DataError, match="credit 'good' is not a number"):
        podium.read_battles(path, columns=FIRST)


def test_an_assignment_and_the_option_shown_contradict_each_other(save):
    path = save("votes.csv", of_first("1,x,y,x,1"))
    with pytest.raises(podium.UsageError, match="leave out --shown"):
        podium.read_battles(path, columns=FIRST, shown="a")
