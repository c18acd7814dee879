"""Marks of both responses that a reply gives beside its verdict."""

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
        "Response A: two out of ten\nResponse B: nine out of ten\n\nVerdict: A",
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
