"""Every rule, with a response that meets the demand and one that does not."""

import pytest

from podium.offline.demands import demands
from podium.offline.scoring import scored

CASES = [
    ("Name it in exactly three words.", "a small boat", "a boat"),
    ("Answer in at most two sentences.", "One. Two.", "One. Two. Three."),
    ("Use at least three words.", "one two three", "one two"),
    ("Use fewer than three words.", "one two", "one two three"),
    ("Use more than two words.", "one two three", "one two"),
    ("Write between two and four words.", "one two three", "one two three four five"),
    ("Write 2 to 4 words.", "one two", "one"),
    ("Answer in 5 words or fewer.", "just this", "this is a little too long"),
    ("Use at least two and at most three words.", "one two", "one"),
    ("Use at least two and at most three words.", "one two", "one two three four"),
    ("Write a poem of four lines.", "a\nb\n\nc\nd", "a\nb\nc"),
    ("Write two paragraphs.", "one\none\n\ntwo", "one\ntwo"),
    ("Give exactly two bullet points.", "- a\n- b", "a, b"),
    ("Use at most ten characters.", "short", "not so short"),
    ("Give two bullet points, each of at most two words.", "- one\n- one two", "- one\n- one two three"),
    ("Write two lines. Each line must have three words.", "a b c\nd e f", "a b c\nd e"),
    ("Write two sentences of at most three words.", "So it is. Good.", "So it is. It is really good."),
    ("Explain it as a numbered list.", "1. a\n2. b", "1. a\n3. b"),
    ("Give a list of three fruits.", "fig, pear, plum", "fig, pear"),
    ("Give a bulleted list.", "- a\n- b", "a\nb"),
    ('Include the word "tide".', "The tide is low.", "Tides come and go."),
    ('Use the words "sea" and "salt".', "Sea and salt.", "Sea and sand."),
    ('Mention the word "tide" twice.', "tide after tide", "tide"),
    ('Use the word "tide" at least three times.', "tide tide tide tide", "tide tide"),
    ("Use the word tide.", "High tide.", "High water."),
    ('Do not use the word "water".', "The sea.", "The water."),
    ("Write without using the letter e.", "A sun and a moon.", "The sun."),
    ('Never mention the words "red" or "blue".', "green", "blue"),
    ('Start with "Dear all".', "Dear all, hi", "Hi, dear all"),
    ("Begin with the word Tide.", "Tide is high", "Tides are high"),
    ("End with a question mark.", "Is it?", "It is."),
    ('End with the words "for now".', "That is all, for now.", "For now, that is all."),
    ("Every word must start with the letter s.", "Seven small ships", "Seven big ships"),
    ('Do not start with "Sure".', "Here it is.", "Sure, here it is."),
    ("Write in lower case.", "all small", "Not small"),
    ("Write in capital letters.", "ALL BIG", "All big"),
    ("Answer without commas.", "a and b", "a, b"),
    ("Do not use digits.", "three", "3"),
    ("Avoid exclamation marks or commas.", "so be it", "so be it!"),
    ("Reply with JSON.", '{"a": 1}', "a: 1"),
    ('Reply in JSON with the keys "a" and "b".', '{"a": 1, "b": 2}', '{"a": 1}'),
    ("Reply in JSON with the keys name and age.", '{"name": 1, "age": 2}', '{"name": 1}'),
    ('Reply in JSON with exactly the keys "a" and "b".', '{"a": 1, "b": 2}', '{"a": 1, "b": 2, "c": 3}'),
    ('Reply in JSON with the key "a".', '{"a": 1}', '```json\n{"a": 1}\n```'),
    ('Include the quote "Less is more".', 'They say "Less is more".', "They say less is better."),
    ("Put your answer in double quotation marks.", '"Yes."', "Yes."),
    ("Sort alphabetically: pear, fig, apple.", "apple, fig, pear", "apple, pear, fig"),
    ("Sort alphabetically: pear, fig, apple.", "apple\nfig\npear", "apple, fig"),
    ("Put these in reverse alphabetical order: pear, fig, apple.", "pear, fig, apple", "apple, fig, pear"),
    ("Sort these numbers in ascending order: 10, 9, 100.", "9, 10, 100", "10, 100, 9"),
    ("Sort these numbers from largest to smallest: 10, 9, 100.", "100 10 9", "9 10 100"),
    ("List three trees in alphabetical order.", "ash\nbeech\noak", "oak\nash\nbeech"),
    ("What is 17 * 23 + 9?", "It is 400.", "It is 391."),
    ("Calculate 7 minus 2 times 3.", "1", "15"),
    ("What is 10 / 4?", "2.5", "25"),
    ("What is 1000 * 2?", "2,000", "200"),
    ('How many times does the letter "r" occur in "strawberry"?', "Three times.", "Twice."),
    ('How many times does the letter "r" occur in "strawberry"?', "3", "13"),
    ('Write the word "lantern" backwards.', "nretnal", "lantern"),
    ('Reverse the word "stop".', "It is pots.", "It is post."),
    ('Write lines whose first letters spell "sea".', "So\nEver\nAfter", "So\nAfter\nEver"),
    ("Tell a story.", "Once upon a time.", "I'm sorry, but I can't do that."),
    ("Tell a story.", "Once upon a time.", " \n"),
]


@pytest.mark.parametrize(("instruction", "good", "bad"), CASES)
def test_a_response_that_does_as_it_is_told_meets_every_demand(instruction, good, bad):  # noqa: ARG001
    assert scored(good, demands(instruction)).missed == ()


@pytest.mark.parametrize(("instruction", "good", "bad"), CASES)
def test_a_response_that_does_not_misses_a_demand(instruction, good, bad):  # noqa: ARG001
    assert scored(bad, demands(instruction)).missed != ()


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
    assert [scored(text, asked).share for text in ("It was ada lovelace.", "It was Ada.")] == [1.0, 0.5]


def test_the_score_is_the_share_of_the_demands_met():
    asked = demands("Write two words in lower case.")
    assert [scored(text, asked).share for text in ("so it", "So it", "So it is")] == [1, 2 / 3, 1 / 3]
