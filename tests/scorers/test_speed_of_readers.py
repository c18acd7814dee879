"""No reply makes a reader slow: the time grows with its length, whatever it is made of."""

import time

import pytest

from podium.plugins import catalogue
from podium.scorers.prompt import Settings
from podium.scorers.reply import Reply

VERDICTS = {
    "direct": "A",
    "cot": "Verdict: A",
    "labels": "[[A>B]]",
    "numeric": "[[85]]",
    "rubric": '{"A": {}, "B": {}}',
}
PIECES = (
    '"', "“", "'", "`", "```\n", "~~~\n", "{", "[[", "(", "<", "<<<", "<!--", "~~", "\n> ", "*",
    "_", "\n", " ", "A ", "a ", "Verdict: ", "Verdict: A\n", "[[A>>B]]\n", "85 ", "sorry ",
    "if ", ", so ", "A is ", "the ", "。", "是", "- ", "1. ", "<think>\n", "<|im_end|>",
    "User: ", "very ", "only ", "better ", ": ", "/", ",", "x", "\\boxed{", "is the clearly ",
    " \n", "\t", "//", "Its words:\n- x\n", "it says:\n\nI am\n", "```python\nx\n```\n",
    "<details>\n", "A: poor\nB: good\n", "| A | ❌ |\n", "Verdict: A: poor, B: good\n", "poor (A) ",
    "Any? None.\n",
)  # fmt: skip
LENGTH, SECONDS = 200_000, 0.3
"""Quadratic time would be minutes; linear time leaves room for a busy machine."""


@pytest.mark.slow
@pytest.mark.parametrize("name", VERDICTS)
def test_a_long_reply_of_one_repeated_piece_is_read_in_linear_time(name: str) -> None:
    one, verdict = catalogue.find_realization(name), VERDICTS[name]
    for piece in PIECES:
        text = piece * (LENGTH // len(piece))
        for whole in (text, f"{text}\n\n{verdict}", f"{verdict}\n{text}"):
            start = time.process_time()
            one.read_reply(Reply(whole), Settings())
            assert time.process_time() - start < SECONDS, (piece, whole[:5])
