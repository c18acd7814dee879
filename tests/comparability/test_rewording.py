"""Are inputs with one id the same questions in other words?"""

import pytest

from podium.comparability.rewording import are_reworded

PLAIN = {str(k): f"What is {3 * k} plus {k * k}?" for k in range(12)}


@pytest.mark.parametrize(
    "framed",
    [
        lambda text: f"Briefly: {text}",
        lambda text: f"{text} Answer with a number, and give no reason.",
        lambda text: text.upper(),
        lambda text: f"[user]\n{text}",
    ],
)
def test_a_frame_around_a_question_leaves_it_the_same(framed):
    assert are_reworded(PLAIN, {item: framed(text) for item, text in PLAIN.items()})


@pytest.mark.parametrize(
    "other",
    [
        lambda k: f"What is {31 * k} plus {k * 7 + 50}?",
        lambda k: f"Name {k} rivers of Norway.",
        lambda k: f"What is {3 * ((k + 1) % 12)} plus {((k + 1) % 12) ** 2}?",
        lambda _: "Solve the exercise in the picture.",
    ],
    ids=["other numbers", "another subject", "shifted by one", "no words of its own"],
)
def test_other_questions_under_the_same_ids_are_no_rewording(other):
    assert not are_reworded(PLAIN, {str(k): other(k) for k in range(12)})


def test_few_questions_show_nothing():
    few = dict(list(PLAIN.items())[:3])
    assert not are_reworded(few, few)


def test_the_number_of_the_item_makes_no_same_question():
    first = {f"q{k}": f"Question {k}: what is the capital of country{k}?" for k in range(20)}
    second = {f"q{k}": f"Question {k}: what is the population of town{k + 100}?" for k in range(20)}
    assert not are_reworded(first, second)


def test_a_frame_around_a_question_of_numbers_makes_no_other_question():
    first = {f"q{k}": f"What is {k}?" for k in range(20)}
    second = {f"q{k}": f"Please tell me: What is {k}?" for k in range(20)}
    assert are_reworded(first, second)
    assert are_reworded(second, first)


def test_equal_questions_between_other_texts_are_the_same_questions() -> None:
    words = ("river", "mountain", "copper", "whale", "falcon")
    first = {f"{k}": f"Answer yes or no. Is a {word} old?" for k, word in enumerate(words)}
    second = {f"{k}": f"Think step by step. Is a {word} old?" for k, word in enumerate(words)}
    assert are_reworded(first, second)
