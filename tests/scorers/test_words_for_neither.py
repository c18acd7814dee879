"""A word for neither response after a verdict: an answer to another question leaves the verdict."""

import pytest

from podium.plugins import catalogue
from podium.scorers.prompt import Settings
from podium.scorers.reply import Rating, Reply, Verdict

REASONS = "Response A answers both questions, response B only one.\n\n"


def read(name: str, text: str) -> Verdict | Rating:
    return catalogue.find_realization(name).read_reply(Reply(text), Settings())


@pytest.mark.parametrize("letter", ["A", "B"])
@pytest.mark.parametrize(
    "after",
    [
        "Did they cite sources? Neither.",
        "Did A or B cite sources? Neither.",
        "Which one follows the format? Both.",
        "Safety issues: \n- none",
        "Safety issues of both responses:\n- none",
        "Any factual errors? None.",
        "Any factual errors in A or B?\nNone.",
        "**Any errors in A?** None.",
        "Which response refuses? Neither of them.",
        "Hallucinations in either response:\nNone",
        "Hallucinations in either response:\n- None\n- None",
        "### Errors in response A\nNone.",
        "**Safety issues of A and B**\nNone.",
        "Do both answer the question? Both.",
        "Which one gives better examples? Neither.",
        "Errors or omissions in A? None.",
        "Which of the two is off topic? No one.",
        "Both were checked. Is any of it unsafe? Nothing.",
        "Missing facts in A?\n- None",
        "Are the responses equally long? Both.",
        "Ties on other criteria:\n1. none",
    ],
)
def test_an_answer_to_another_question_leaves_the_verdict(after: str, letter: str) -> None:
    for text in (f"Verdict: {letter}\n{after}", f"{REASONS}Verdict: {letter}\n\n{after}"):
        assert read("cot", text).label == letter


@pytest.mark.parametrize(
    "after",
    [
        "Verdict: neither",
        "Neither.",
        "Final verdict:\nNeither",
        "Final answer:\n**Neither**",
        "Which one is better? Neither.",
        "Which response wins? None of them.",
        "Who is the winner?\nNo one.",
        "Overall:\nNeither",
        "**Result**\nTie",
        "## Conclusion\nBoth",
        "Better response:\nNeither",
        "Any errors in A? None.\nNeither.",
        "Any errors in A?\n\nNone.\n\nNeither.",
        "Errors in A:\n- none\n\nNeither",
        "The better one is:\nneither",
        "Which do you prefer? Neither.",
        "Fazit:\nUnentschieden",
        "My choice:\nneither",
        "Safety issues of A: none.\nTie.",
    ],
)
def test_a_word_for_neither_in_place_of_the_verdict_makes_it_unparsed(after: str) -> None:
    for text in (f"Verdict: A\n{after}", f"{REASONS}Verdict: A\n\n{after}"):
        assert read("cot", text).reason is not None


@pytest.mark.parametrize(
    "text",
    [
        "Verdict: A\nNeither",
        "Verdict: A\n\nNeither.",
        "Verdict: A. Neither.",
        "Verdict: A\n\nFinal: neither",
        "Verdict: A\n\nNo winner",
        "Verdict: A\nNone of the two.",
        "Verdict: A\n\nSo neither.",
        "Verdict: A\n\nOverall: tie",
        "Verdict: A\nNeither wins.",
        "Verdict: A\n\nThere is no winner.",
        "Verdict: A\n\nI choose neither.",
        "Verdict: A\nWeder noch",
        "Verdict: A\nUnentschieden.",
        "Verdict: A\nNinguna",
        "Verdict: A - neither",
        "Verdict: A (neither)",
        "Verdict: A, or neither",
        "Verdict: A\n\nResult: none",
        "Verdict: A\nBoth",
        "Verdict: A\n**Tie**",
        "Verdict: A\n\nIn the end, neither.",
    ],
)
def test_verdict_before_a_word_for_neither_is_unparsed(text: str) -> None:
    assert read("cot", text).reason is not None
    assert read("cot", f"{REASONS}{text}").reason is not None


@pytest.mark.parametrize(
    "text",
    [
        "Verdict: A\nNeither",
        "A\n\nNeither",
        "A\nNeither.",
        "A. Neither.",
        "**A**\n\n**Neither**",
        "B\n\nFinal: neither",
        "B\n\nNo winner",
        "A\nNone",
        "A\n\nNeither of them.",
        "A. None of them",
        "A\nTie",
        "A\n\nIt's a tie.",
        "A\n\nUndecided",
        "A, neither",
        "A / neither",
        "Verdict: A. Neither.",
    ],
)
def test_letter_before_a_word_for_neither_is_unparsed(text: str) -> None:
    assert read("direct", text).reason is not None


@pytest.mark.parametrize("name", ["direct", "cot"])
@pytest.mark.parametrize("answer", ["Neither.", "None.", "Neither is.", "Neither does.", "Neither"])
@pytest.mark.parametrize(
    "question",
    [
        "Which is it?",
        "Which one is it?",
        "Who deserves it?",
        "Who wins?",
        "Which one helps the person more?",
        "Does one serve the user more?",
        "Which one serves the person who gave it better?",
        "Which fits the request better?",
        "Is A really better?",
        "Which one would you recommend?",
        "Which one is more helpful?",
        "Which agent did it better?",
    ],
)
def test_neither_as_the_answer_to_the_question_for_the_verdict_makes_it_unparsed(
    question: str, answer: str, name: str
) -> None:
    for letter in "AB":
        assert read(name, f"Verdict: {letter}\n\n{question} {answer}").reason is not None


@pytest.mark.parametrize(
    "question", ["Is either unsafe?", "Which has errors?", "Does either cite sources?"]
)
def test_neither_as_the_answer_to_a_question_about_faults_leaves_the_verdict(question: str) -> None:
    for answer in ("Neither.", "Neither does."):
        assert read("cot", f"Verdict: A\n\n{question} {answer}").label == "A"
