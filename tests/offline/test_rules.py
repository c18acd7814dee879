"""Every rule, with a response that meets the demand and one that does not."""

import pytest

from podium.scorers.offline import demands, missed_demands

CASES = [
    ("Name it in exactly three words.", "a small boat", "a boat"),
    ("Answer in at most two sentences.", "One. Two.", "One. Two. Three."),
    ("Use at least three words.", "one two three", "one two"),
    ("Write between two and four words.", "one two three", "one two three four five"),
    ("Write 2 to 4 words.", "one two", "one"),
    ("Answer in 5 words or fewer.", "just this", "this is a little too long"),
    ("Use at least two and at most three words.", "one two", "one two three four"),
    ("Write a poem of four lines.", "a\nb\n\nc\nd", "a\nb\nc"),
    ("Write two paragraphs.", "one\none\n\ntwo", "one\ntwo"),
    ("Give exactly two bullet points.", "- a\n- b", "a, b"),
    ("Use at most ten characters.", "short", "not so short"),
    (
        "Give two bullet points, each of at most two words.",
        "- one\n- one two",
        "- one\n- one two three",
    ),
    ("Write two lines. Each line must have three words.", "a b c\nd e f", "a b c\nd e"),
    ('Include the word "tide".', "The tide is low.", "Tides come and go."),
    ('Use the words "sea" and "salt".', "Sea and salt.", "Sea and sand."),
    ('Mention the word "tide" twice.', "tide after tide", "tide"),
    ('Do not use the word "water".', "The sea.", "The water."),
    ('Never mention the words "red" or "blue".', "green", "blue"),
    ("Write in lower case.", "all small", "Not small"),
    ("Write in capital letters.", "ALL BIG", "All big"),
    ("Answer without commas.", "a and b", "a, b"),
    ("Do not use digits.", "three", "3"),
    ("Avoid exclamation marks or commas.", "so be it", "so be it!"),
    ("Reply with JSON.", '{"a": 1}', "a: 1"),
    ('Reply in JSON with the keys "a" and "b".', '{"a": 1, "b": 2}', '{"a": 1}'),
    ('Reply in JSON with the key "a".', '{"a": 1}', "5"),
    ('Reply in JSON with the key "a".', '{"a": 1}', "null"),
    ('Reply in JSON with the key "a".', '{"a": 1}', '```json\n{"a": 1}\n```'),
    ('Include the quote "Less is more".', 'They say "Less is more".', "They say less is better."),
    ("Sort alphabetically: pear, fig, apple.", "apple, fig, pear", "apple, pear, fig"),
    ("Sort alphabetically: pear, fig, apple.", "apple\nfig\npear", "apple, fig"),
    ("Sort these numbers in ascending order: 10, 9, 100.", "9, 10, 100", "10, 100, 9"),
    ("Sort these numbers from largest to smallest: 10, 9, 100.", "100 10 9", "9 10 100"),
    ("What is 17 * 23 + 9?", "It is 400.", "It is 391."),
    ("What is 1000 * 2?", "2,000", "200"),
    ("Tell a story.", "Once upon a time.", "I'm sorry, but I can't do that."),
    ("Tell a story.", "Once upon a time.", " \n"),
]


@pytest.mark.parametrize(("instruction", "good", "bad"), CASES)
def test_obedient_response_meets_every_demand(instruction, good, bad):  # noqa: ARG001
    assert missed_demands(good, demands(instruction)) == ()


@pytest.mark.parametrize(("instruction", "good", "bad"), CASES)
def test_disobedient_response_misses_a_demand(instruction, good, bad):  # noqa: ARG001
    assert missed_demands(bad, demands(instruction)) != ()


@pytest.mark.parametrize(
    "instruction",
    [
        "Tell me about the sea.",
        "What happened in 2020-2021?",
        "Include the name of the town.",
        'Who wrote "Write in lower case"?',
        "Why do times change?",
        "Is it 5 or 6 kilometres away?",
    ],
)
def test_an_instruction_without_such_demands_asks_for_an_answer_alone(instruction):
    assert [one.name for one in demands(instruction)] == ["answers"]


def test_a_reference_is_a_further_demand():
    asked = demands("Who?", reference="Ada Lovelace")
    assert [
        len(missed_demands(text, asked)) for text in ("It was ada lovelace.", "It was Ada.")
    ] == [0, 1]
    assert len(asked) == 2
