"""Does a name stand for one model: are its responses to an item the same in all rows?"""

import pytest

import podium
from podium.diagnosis.checks.comparability_checks import check_responses


def battle(item, b, reference, **more):
    """Return a battle of the reference, whose response begins with a word, with a model."""
    texts = {"response_a": f"{reference} {item}", "response_b": f"{b} says {item}"}
    return {"item": str(item), "model_a": "reference", "model_b": b, "credit": 1.0} | texts | more


def rows_of(words, **more):
    """Return battles of the reference with models b, c ...; it gave another word to each."""
    return [
        battle(k, model, word, **more)
        for model, word in zip("bcd", words, strict=False)
        for k in range(20)
    ]


@pytest.mark.slow
def test_different_responses_under_one_name_are_flagged_with_an_example(save):
    path = save("battles.jsonl", rows_of(["long", "short"]))
    [check] = check_responses(podium.read_battles(path))
    assert check.is_flagged
    assert check.models == ("reference", "b", "c")
    assert "20 of 20 items" in check.finding_text
    assert "'long 0'" in check.finding_text
    assert "line 21" in check.finding_text
    assert "'short 0'" in check.finding_text


@pytest.mark.slow
def test_one_response_to_each_item_is_nothing_to_say(save):
    rows = rows_of(["long", "long", "long"])
    rows[0]["response_a"] += " \n"
    assert check_responses(podium.read_battles(save("battles.jsonl", rows))) == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "again"),
    [
        ("caf\u00e9 au lait", "cafe\u0301 au lait"),
        ("one  two", "one two"),
        ("one\r\ntwo", "one\ntwo"),
    ],
)
def test_unicode_form_and_white_space_make_no_other_response(save, written, again):
    path = save("battles.jsonl", rows_of([written, again]))
    assert check_responses(podium.read_battles(path)) == ()


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("column", ["repeat", "response", "epoch"])
def test_responses_that_a_column_counts_are_repeats(save, column):
    rows = [
        row | {column: place // 20}
        for place, row in enumerate(rows_of(["first", "second"], order="ab"))
    ]
    assert check_responses(podium.read_battles(save("battles.jsonl", rows))) == ()


def test_a_response_that_was_made_again_is_no_other_model(save):
    rows = rows_of(["long", "long"])
    rows[0]["response_a"] = "another"
    assert check_responses(podium.read_battles(save("battles.jsonl", rows))) == ()


def test_the_outputs_of_alpaca_eval_are_compared_and_left_out(save):
    rows = [
        {
            "instruction": f"Question {place}?",
            "output_1": f"{model} met this answer to {place}",
            "output_2": f"{model} answers {place}",
            "generator_1": "davinci",
            "generator_2": model,
            "preference": 1,
        }
        for model in ("wren", "finch")
        for place in range(12)
    ]
    made = podium.read_battles(save("annotations.json", rows))
    assert [check.models[0] for check in check_responses(made)] == ["davinci"]
    assert not [name for name in made.columns if name.startswith("response_")]
    assert {"length_a", "length_b"} <= made.columns


@pytest.mark.slow
def test_compare_names_it_too(podium, save):
    said = podium("compare", "b", "c", save("battles.jsonl", rows_of(["long", "short"])))
    assert "reference has different responses to 20 of 20 items" in said.out + said.err
