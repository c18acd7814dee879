"""Removal of the reasoning that models write before their answers."""

import re
from typing import Literal, get_args

from podium.errors import UsageError

Policy = Literal["strip", "keep"]
MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
    ("<|channel>thought", "<channel|>"),
    ("<unused94>thought", "<unused95>"),
)
"""Marks with which families of models begin and end their reasoning."""
AROUND_ANSWERS = re.compile(
    r"<\|(?:begin_of_solution|end_of_solution|START_RESPONSE|END_RESPONSE|END_RESPONSE_TURN|return|end)\|>"
)
"""Marks that the same families put around the answer."""
CHANNEL = re.compile(r"\s*(?:<\|start\|>assistant)?<\|channel\|>")
"""The beginning of a text whose parts stand in channels: the reasoning in `analysis`, the answer in
`final`."""
FINAL_CHANNEL = re.compile(
    r"<\|channel\|>final\b[^<>\n]{0,40}(?:<\|constrain\|>[^<>\n]{0,40})?<\|message\|>"
)
LATER_CHANNEL = re.compile(rf"<\|start\|>assistant{FINAL_CHANNEL.pattern}")
"""The final channel after reasoning that the chat template began."""
PLAIN_CHANNELS = re.compile(r"\s*(?:analysis.*?)?assistantfinal", re.DOTALL)
"""Channels of a decoder that leaves out the special tokens of their marks."""
SENTENCE_END = re.compile(r"(?:[.!?…。！？:：)\]*]|\A|\n)[ \t]*\Z")
ANSWER_START = re.compile(r"[ \t]*(?![a-z\s,.;:!?)\]\"'”’`])")
"""What stands before and behind a closing mark in the middle of a line, if no sentence speaks of
the mark."""


def strip_reasoning(text: str) -> str:
    r"""Return the answer without the reasoning before it; empty if the reasoning never ends.

    Reasoning begins the text or, if the chat template began it, ends with a closing mark at the end
    of a line or of a sentence. Marks in the middle of a sentence are part of the answer.

    >>> strip_reasoning("<think>Two and two.</think>\n\n4"), strip_reasoning("Two and two.\n</think>\n4")
    ('4', '4')
    >>> strip_reasoning("<think>Two and"), strip_reasoning("Models write <think> first.")
    ('', 'Models write <think> first.')
    >>> strip_reasoning("Two and two.</think>4")
    '4'
    """
    start = start_of_answer(text)
    return AROUND_ANSWERS.sub("", text[start:]).strip() if start else text


def start_of_answer(text: str) -> int:
    """Return where the answer begins after the reasoning: 0 without reasoning, the length if it
    never ends."""
    if CHANNEL.match(text):
        finals = [mark.end() for mark in FINAL_CHANNEL.finditer(text)]
        return finals[-1] if finals else len(text)
    if (plain := PLAIN_CHANNELS.match(text)) is not None:
        return plain.end()
    return _end_of_opened_reasoning(text) or _end_of_begun_reasoning(text)


def _end_of_opened_reasoning(text: str) -> int:
    """Return the end of the reasoning that begins the text with an opening mark; 0 without one."""
    start, low = 0, text.lower()
    if len(low) != len(text):  # a few letters become two in lower case
        low = text
    while begun := _opening_mark(low, start):
        end = low.find(begun[1].lower(), start)
        if end < 0:
            return len(text)
        start = end + len(begun[1])
    return start


def _opening_mark(low: str, start: int) -> tuple[str, str] | None:
    """Return the marks of the reasoning that begins at a place of a text in lower case; None if
    none does."""
    place = len(low) - len(low[start:].lstrip())
    return next((marks for marks in MARKS if low.startswith(marks[0].lower(), place)), None)


def _end_of_begun_reasoning(text: str) -> int:
    """Return the end of reasoning that the chat template began, so that only its closing mark is
    there; else 0."""
    if (final := LATER_CHANNEL.search(text)) is not None:
        return final.end()
    for opening, closing in MARKS:
        before, mark, after = text.partition(closing)
        if mark and opening not in before and _closes_reasoning(before, after):
            return len(before) + len(mark)
    return 0


def _closes_reasoning(before: str, after: str) -> bool:
    """Return whether a closing mark stands at the end of a line, or after a sentence that quotes
    nothing."""
    if after.lstrip(" \t")[:1] in ("", "\n"):
        return True
    line = before.rpartition("\n")[2]
    is_quoted = line.count('"') % 2 or line.count("`") % 2 or line.count("“") > line.count("”")
    return not is_quoted and bool(SENTENCE_END.search(before[-10:]) and ANSWER_START.match(after))


def check_policy(reasoning: str) -> bool:
    """Return whether reasoning is stripped; UsageError if the policy is neither `strip` nor
    `keep`."""
    if reasoning not in get_args(Policy):
        raise UsageError(
            f"reasoning={reasoning}: there is no such choice; available: {', '.join(get_args(Policy))}"
        )
    return reasoning == "strip"
