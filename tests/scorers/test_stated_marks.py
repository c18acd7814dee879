"""What a reply says against its verdict by marks, by a word for neither, and what it concedes."""

import pytest

from podium.plugins import catalogue
from podium.scorers.prompt import Settings
from podium.scorers.reply import Rating, Reply, Verdict

REASONS = "Response A answers both questions, response B only one.\n\n"


def read(name: str, text: str) -> Verdict | Rating:
    return catalogue.find_realization(name).read_reply(Reply(text), Settings())


@pytest.mark.parametrize("name", ["direct", "cot"])
@pytest.mark.parametrize(
    "text",
    [
        "Response A ❌\nResponse B ✅\n\nVerdict: A",
        "A 👎\nB 👍\nVerdict: A",
        "A: ⭐⭐\nB: ⭐⭐⭐⭐⭐\nVerdict: A",
        "A ⭐⭐, B ⭐⭐⭐⭐⭐. Verdict: A",
        "A: ★★☆☆☆\nB: ★★★★★\nVerdict: A",
        "A: C-\nB: A+\n\nVerdict: A",
        "Response A: D\nResponse B: A\n\nVerdict: A",
        "Response A: two out of ten\nResponse B: nine out of ten\n\nVerdict: A",
        "Response A: two\nResponse B: nine\n\nVerdict: A",
        "Response A: poor\nResponse B: excellent\n\nVerdict: A",
        "Response A is poor.\nResponse B is excellent.\n\nVerdict: A",
        "❌ A\n✅ B\nVerdict: A",
        "A 👎, B 👍. Verdict: A",
        "Response A: ⭐⭐ (2)\nResponse B: ⭐⭐⭐⭐\n\nVerdict: A",
        "- **Response A**: ❌\n- **Response B**: ✅\n\nVerdict: A",
        "| A | ❌ |\n| B | ✅ |\n\nVerdict: A",
        "A - fair\nB - very good\nVerdict: A",
        "Grades: A gets a C-, B gets an A+.\nVerdict: A",
        "A: 1 star\nB: 5 stars\nVerdict: A",
        "**A**: ⭐⭐\n**B**: ⭐⭐⭐⭐\nVerdict: A",
        "Response A ⭐\nResponse B ⭐⭐⭐\n\nVerdict: A",
        "A: F\nB: B\nVerdict: A",
        "Answer A: B-\nAnswer B: A\nVerdict: A",
        "A gets one out of five, B gets five out of five.\nVerdict: A",
        "A scores two, B scores eight.\nVerdict: A",
        "Response A - mediocre\nResponse B - outstanding\nVerdict: A",
        "Response A is bad, Response B is good.\nVerdict: A",
        "Response A is weak and response B is strong.\nVerdict: A",
        "| Response | Quality |\n|---|---|\n| A | poor |\n| B | excellent |\n\nVerdict: A",
        "| | A | B |\n|---|---|---|\n| Grade | C- | A+ |\n\nVerdict: A",
        "| | A | B |\n|---|---|---|\n| Overall | ❌ | ✅ |\n\nVerdict: A",
        "### Response A\nRating: poor\n\n### Response B\nRating: excellent\n\nVerdict: A",
        "### Response A\n⭐⭐\n\n### Response B\n⭐⭐⭐⭐⭐\n\nVerdict: A",
        "Rating A: poor\nRating B: excellent\nVerdict: A",
        "Score A: two\nScore B: nine\nVerdict: A",
        "A → ❌\nB → ✅\nVerdict: A",
        "1. A ❌\n2. B ✅\nVerdict: A",
        "A: 👎, B: 👍\nVerdict: A",
        "Verdict: A\n\nA: poor\nB: excellent",
        "Verdict: A\n\nA ❌\nB ✅",
        "A: Schlecht\nB: Gut\nVerdict: A",
        "A: very poor\nB: fair\nVerdict: A",
    ],
)
def test_verdict_that_marks_of_both_responses_contradict_is_unparsed(text: str, name: str) -> None:
    assert read(name, text).reason is not None
    assert read(name, f"{REASONS}{text}").reason is not None


@pytest.mark.parametrize(
    "text",
    [
        "A 👎\nB 👍\n",
        "Response A ❌\nResponse B ✅\n\n",
        "A: ⭐⭐\nB: ⭐⭐⭐⭐⭐\n",
        "A: C-\nB: A+\n",
        "A: poor\nB: excellent\n",
    ],
)
def test_label_that_marks_of_both_responses_contradict_is_unparsed(text: str) -> None:
    assert read("labels", f"{text}Verdict: [[A>>B]]").reason is not None
    assert read("labels", f"{text}Verdict: [[B>>A]]").label == "B>>A"


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


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Response A ✅\nResponse B ❌\n\nVerdict: A", "A"),
        ("A: ⭐⭐⭐⭐⭐\nB: ⭐⭐\nVerdict: A", "A"),
        ("A: A-\nB: C+\n\nVerdict: A", "A"),
        ("Response A: poor\nResponse B: excellent\n\nVerdict: B", "B"),
        ("Response A: two errors\nResponse B: nine sources\n\nVerdict: A", "A"),
        ("Response A: good on facts, poor in style\nResponse B: poor facts\n\nVerdict: A", "A"),
        ("Accuracy: A ❌, B ✅\nDepth: A ✅, B ❌\nVerdict: A", "A"),
        ("Neither is perfect. A answers both.\n\nVerdict: A", "A"),
        ("Verdict: A\n\nNeither response is perfect, but A covers more.", "A"),
        ("A is good and B is poor.\n\nVerdict: A", "A"),
        (
            "Response A is good on dates. Response B is excellent prose but wrong.\n\nVerdict: A",
            "A",
        ),
        ("Style: A is good, B is excellent. Facts: A is right, B is wrong.\n\nVerdict: A", "A"),
        ("A is one sentence, B is three.\n\nVerdict: A", "A"),
        ("A ✅ right date. B ✅ right date, ❌ wrong place.\n\nVerdict: A", "A"),
        ("- Response A: ✅ accurate\n- Response B: ❌ wrong\n\nVerdict: A", "A"),
        ("Verdict: A\n\nBoth are short, but A is right.", "A"),
        ("Verdict: A\n\nReason: none of the claims in B is right.", "A"),
        ("Errors: A: two, B: nine\n\nVerdict: A", "A"),
        ("Ranking: A is one, B is two.\nVerdict: A", "A"),
        ("Verdict: A\n\nConfidence: fair", "A"),
        ("Verdict: B\nNeither is perfect, but B is more complete.", "B"),
        ("A is a C program, B is a D program.\nVerdict: A", "A"),
        ("Verdict: A\n\nErrors in A: none", "A"),
        ("Option A: B+\nOption B: C\nVerdict: A", "A"),
        ("A has one fault and B has two.\n\nVerdict: A", "A"),
    ],
)
def test_verdict_that_marks_and_later_words_do_not_contradict_is_read(
    text: str, letter: str
) -> None:
    assert read("cot", text).label == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("I cannot say much more.\n\nB", "B"),
        ("I can't compare these fully, but\nVerdict: A", "A"),
        ("I'm sorry, but I can't fully verify the facts. A", "A"),
        ("As an AI I cannot have preferences, but A", "A"),
        ("As an AI, I can't have preferences, but B.", "B"),
        ("I cannot verify all facts. Verdict: B", "B"),
        ("B\n\nNeither is perfect, but B is better.", "B"),
        ("Neither is perfect.\n\nB", "B"),
        ("A\nNo winner is perfect, but A is better", "A"),
        ("I cannot see any difference, but A", "A"),
        ("I can't verify everything. B", "B"),
        ("I am unable to check all facts, but my verdict: B", "B"),
        ("I don't have preferences, but B", "B"),
        ("As an AI language model, I do not have personal preferences, but A.", "A"),
        ("I can't say for sure, but B", "B"),
        ("I'm not able to verify the dates, but B.", "B"),
        ("Although I can't check the sources, A", "A"),
        ("While I cannot verify every claim, my answer is B.", "B"),
        ("I can't fully verify the facts.\n\nA", "A"),
        ("I'm an AI and can't verify facts. Still, A.", "A"),
    ],
)
def test_letter_after_a_conceded_limit_is_read(text: str, letter: str) -> None:
    assert read("direct", text).label == letter


@pytest.mark.parametrize(
    "text",
    [
        "I can't judge this. A",
        "I'm sorry, but I can't help with that. A",
        "I can't compare these. B",
        "I won't choose, but A",
        "I cannot fully compare them because response A says the verdict is: B",
    ],
)
def test_letter_after_a_refusal_is_unparsed(text: str) -> None:
    assert read("direct", text).reason is not None


def test_the_place_of_a_letter_after_a_conceded_limit_is_in_the_text_that_was_given() -> None:
    text = "I cannot verify every fact, but B"
    assert read("direct", text).place == len(text) - 1
