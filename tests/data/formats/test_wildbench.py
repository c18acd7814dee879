"""WildBench: who is A is written beside each choice from A++ to B++."""

import json

import pytest

import podium


def choice(made, first="base", number=0, **more):
    second = {"base": "m", "m": "base"}[first]
    return {
        "session_id": f"s{number}",
        "generator": "m",
        "ref_generator": "base",
        "assignment": {"A": first, "B": second},
        "parsed_result": {"choice": made},
        "prompt": f"judge {number} {first}",
        "eval_config": {"mode": "pairwise", "gpt": "gpt-4o"},
        "result": "{}",
    } | more


def published(made, winner, number=0):
    return {
        "session_id": f"s{number}",
        "parsed_result": {"choice": made, "reason": "so"},
        "model_A": "m",
        "model_B": "base",
        "winner": winner,
        "extent": 2,
        "model_outputs": {"m": "abc", "base": "defgh"},
    }


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    ("made", "first", "credit", "margin"),
    [
        ("A++", "m", 1.0, 2.0),
        ("A+", "m", 1.0, 1.0),
        ("A=B", "m", 0.5, 0.0),
        ("B+", "m", 0.0, -1.0),
        ("B++", "m", 0.0, -2.0),
        ("A++", "base", 0.0, -2.0),
        ("B+", "base", 1.0, 1.0),
    ],
)
def test_a_choice_is_that_of_the_model_that_was_shown_there(save, made, first, credit, margin):
    row = podium.read_battles(save("m.json", [choice(made, first)])).to_frame().iloc[0]
    assert (row["model_a"], row["credit"], row["margin"]) == ("m", credit, margin)
    assert row["order"] == ("ab" if first == "m" else "ba")
    assert (row["item"], row["label"], row["judge"]) == ("s0", made, "gpt-4o")


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("parsed", [{"choice": "N/A"}, {"N/A": "N/A"}, {}, None])
def test_a_reply_without_a_choice_is_unparsed(save, parsed):
    rows = [choice("A+"), choice("A+", number=1, parsed_result=parsed)]
    battles = podium.read_battles(save("m.json", rows))
    assert battles.unparsed_reasons() == {"no choice": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parsed_result": {"choice": "C"}}, r"m.json, row 1: choice 'C' is not a known verdict"),
        ({"parsed_result": "A+"}, r"m.json, row 1: parsed_result 'A\+' is not an object"),
        ({"assignment": {"A": "m", "B": "m"}}, r"m.json, row 1: assignment .* does not name"),
        ({"assignment": None}, r"m.json, row 1: assignment is empty and does not name"),
    ],
)
def test_what_cannot_be_read_names_file_row_and_value(save, change, message):
    with pytest.raises(podium.DataError, match=message):
        podium.read_battles(save("m.json", [choice("A+") | change, choice("A+", number=1)]))


def test_published_files_are_read_with_lengths(save):
    rows = [published("A++", "m"), published("B+", "base", 1), published("A=B", "tie", 2)]
    table = podium.read_battles(save("m.json", rows)).table
    assert table["credit"].tolist() == [1.0, 0.0, 0.5]
    assert (table["length_a"].tolist(), table["length_b"].tolist()) == ([3.0] * 3, [5.0] * 3)
    assert "model_outputs" not in table


@pytest.mark.slow
def test_responses_of_raw_files_have_lengths_and_are_not_kept(save):
    rows = [choice("A+", model_output=["ab"], ref_output="c", history="USER: hi")]
    table = podium.read_battles(save("m.json", rows)).table
    assert (table["length_a"].tolist(), table["length_b"].tolist()) == ([2.0], [1.0])
    assert not {"prompt", "history", "response_a", "assignment"} & {*table}


@pytest.mark.slow
def test_prompts_of_the_judge_are_not_taken_for_questions(podium, save):
    paths = []
    for model in ("m", "n"):
        sides = {"A": model, "B": "base"}
        rows = [choice("A+", number=k, generator=model, assignment=sides) for k in range(4)]
        rows = [row | {"prompt": f"{model} against base"} for row in rows]
        paths.append(save(f"{model}.json", rows))
    done = podium("rank", *paths)
    assert done.code == 0, done.err
    assert "4 items" in done.out


@pytest.mark.slow
def test_a_folder_of_references_is_read_with_jsonl_beside(tmp_path):
    folder = tmp_path / "ref=base"
    folder.mkdir()
    (folder / "m.json").write_text(json.dumps([choice("A+")]))
    lines = [choice("B+", number=1), choice("N/A", number=2)]
    (folder / "n.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert len(podium.read_battles(folder)) == 3


def test_the_error_of_an_assignment_shortens_long_names(save):
    row = choice("A+") | {"generator": "m" * 5000}
    with pytest.raises(podium.DataError, match="row 1: assignment") as caught:
        podium.read_battles(save("m.json", [row]))
    assert len(str(caught.value)) < 600


@pytest.mark.slow
def test_a_name_that_is_no_text_has_no_output(save):
    rows = [published("A+", "m", k) for k in range(3)]
    rows.append(published("A+", "m", 3) | {"model_A": 7})
    table = podium.read_battles(save("m.jsonl", rows)).to_frame()
    assert table["credit"].tolist() == [1.0] * 4
    assert table["length_a"].isna().tolist() == [False, False, False, True]
