"""JudgeBench: the second judgment is about swapped places; the label says which response is
right."""

import pytest

import podium
from podium.notices.notice_text import notice_texts


def decided(first, second, label="A>B", judge_model="o1-mini", **more):
    return {
        "pair_id": "p1",
        "original_id": 1420,
        "source": "mmlu-pro-law",
        "question": "q",
        "response_model": "gpt-4o",
        "response_A": "a",
        "response_B": "b",
        "label": label,
        "judge_name": "arena_hard",
        "judgments": [
            {"judgment": {"judge_model": judge_model}, "decision": one} for one in (first, second)
        ],
    } | more


def credit_of_the_right_one(save, *decisions, label="A>B"):
    row = (
        podium.read_battles(save("out.jsonl", [decided(*decisions, label=label)]))
        .to_frame()
        .iloc[0]
    )
    return row["credit"] if row["model_a"] == "correct" else 1 - row["credit"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "label", "credit"),
    [
        ("A>B", "B>A", "A>B", 1.0),
        ("B>A", "A>B", "A>B", 0.0),
        ("A>B", "B>A", "B>A", 0.0),
        ("B>A", "A>B", "B>A", 1.0),
        ("A>B", "A>B", "A>B", 0.5),
        ("A=B", "A=B", "A>B", 0.5),
        ("A>B", "A=B", "A>B", 0.75),
    ],
)
def test_the_second_decision_is_about_swapped_places(save, first, second, label, credit):
    assert credit_of_the_right_one(save, first, second, label=label) == credit


@pytest.mark.slow
def test_the_label_is_the_human_verdict(save):
    row = (
        podium.read_battles(save("out.jsonl", [decided("A>B", "B>A", label="B>A")]))
        .to_frame()
        .iloc[0]
    )
    assert (row["model_a"], row["human"]) == ("incorrect", 0.0)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("decisions", "reason"), [((None, "A>B"), "one order unparsed"), ((None, None), "no decision")]
)
def test_a_missing_decision_is_unparsed(save, decisions, reason):
    assert podium.read_battles(save("out.jsonl", [decided(*decisions)])).unparsed_reasons() == {
        reason: 1
    }


@pytest.mark.slow
def test_a_single_judgment_is_a_battle(save):
    row = decided("A>B", None)
    row["judgments"] = row["judgments"][:1]
    assert podium.read_battles(save("out.jsonl", [row])).table["credit"].tolist() == [1.0]


@pytest.mark.slow
def test_two_models_with_one_realization_are_two_judges(save):
    one = save("one.jsonl", [decided("A>B", "B>A", judge_model="small")])
    two = save("two.jsonl", [decided("B>A", "A>B", judge_model="large")])
    battles = podium.read_battles(one, two)
    assert battles.judges == ("arena_hard large", "arena_hard small")
    assert notice_texts(battles.notes) == ()


def test_a_label_that_names_no_winner_is_an_error(save):
    with pytest.raises(podium.DataError, match=r"out.jsonl, line 1: label 'A=B' names no winner"):
        podium.read_battles(save("out.jsonl", [decided("A>B", "B>A", label="A=B")]))


@pytest.mark.slow
def test_source_is_the_category_and_foreign_columns_are_kept(save):
    row = podium.read_battles(save("out.jsonl", [decided("A>B", "B>A")])).to_frame().iloc[0]
    assert (row["item"], row["category"]) == ("p1", "mmlu-pro-law")
    assert (row["original_id"], row["response_model"]) == (1420, "gpt-4o")
