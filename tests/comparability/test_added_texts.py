"""What runs put around the same questions is found in their inputs."""

import pytest

from podium.comparability.added_texts import templates_around_questions

WORDS = ("river", "mountain", "copper", "whale", "falcon", "comet")
QUESTIONS = {f"{k}": f"Is a {word} older than {k} years?" for k, word in enumerate(WORDS, 3)}


def asked(template: str, questions: dict[str, str] = QUESTIONS) -> dict[str, str]:
    """Return the inputs that a template makes of questions."""
    return {item: template.format(question) for item, question in questions.items()}


@pytest.mark.parametrize(
    ("templates", "expected"),
    [
        (["{}", "Think. {}"], ["{input}", "Think. {input}"]),
        (["Be brief.\n{}", "Think.\n{}"], ["Be brief. {input}", "Think. {input}"]),
        (["{} Answer:", "{}\nSay yes or no."], ["{input} Answer:", "{input} Say yes or no."]),
        (["Q: {}\nA:", "{}"], ["Q: {input} A:", "{input}"]),
        (["One. {}", "Two. {}", "One. {}"], ["One. {input}", "Two. {input}", "One. {input}"]),
        (["Rule 1.\n{}\nGo.", "Rule 2.\n{}\nGo."], ["Rule 1. {input}", "Rule 2. {input}"]),
    ],
)
def test_the_texts_around_the_questions_are_found(templates, expected):
    assert templates_around_questions([asked(template) for template in templates]) == expected


def test_what_all_runs_have_next_to_the_question_belongs_to_it():
    runs = [asked(f"{first} then answer yes or no. {{}}") for first in ("Read,", "Think,")]
    assert templates_around_questions(runs) == ["Read, {input}", "Think, {input}"]


def test_equal_and_other_questions_have_no_template():
    others = dict(zip(QUESTIONS, reversed(QUESTIONS.values()), strict=True))
    assert templates_around_questions([asked("{}"), asked("{}")]) is None
    assert templates_around_questions([asked("{}"), asked("Think. {}", others)]) is None
    few = {item: QUESTIONS[item] for item in list(QUESTIONS)[:2]}
    assert templates_around_questions([asked("{}", few), asked("Think. {}", few)]) is None


def test_the_number_of_an_item_is_no_question():
    numbers = {item: item for item in QUESTIONS}
    runs = [asked("Add {} and one.", numbers), asked("Prove lemma {} again.", numbers)]
    assert templates_around_questions(runs) is None


def test_sums_are_questions():
    sums = {f"{k}": f"What is {k} plus {7 * k}?" for k in range(3, 8)}
    runs = [asked("{}", sums), asked("Think. {}", sums)]
    assert templates_around_questions(runs) == ["{input}", "Think. {input}"]


def test_some_questions_may_differ_in_a_number_alone():
    questions = {f"{k}": f"Is {WORDS[k % 4]} {k} open?" for k in range(12)}
    runs = [asked("Answer. {}", questions), asked("Think. {}", questions)]
    assert templates_around_questions(runs) == ["Answer. {input}", "Think. {input}"]
