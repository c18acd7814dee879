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
    r"<\|(?:begin_of_solution|end_of_solution|START_RESPONSE|END_RESPONSE|END_RESPONSE_TURN"
    r"|return|end)\|>"
)
"""Marks that the same families put around the answer."""
CHANNEL = re.compile(r"\s*(?:<\|start\|>assistant)?<\|channel\|>")
"""The beginning of a text in channels: the reasoning in `analysis`, the answer in `final`."""
FINAL_CHANNEL = re.compile(
    r"<\|channel\|>final\b[^<>\n]{0,40}(?:<\|constrain\|>[^<>\n]{0,40})?<\|message\|>"
)
LATER_CHANNEL = re.compile(rf"<\|start\|>assistant{FINAL_CHANNEL.pattern}")
"""The final channel after reasoning that the chat template began."""
PLAIN_CHANNELS = re.compile(r"\s*(?:analysis.*?)?assistantfinal", re.DOTALL)
"""Channels of a decoder that leaves out the special tokens of their marks."""
SENTENCE_END = re.compile(r"(?:[.!?…。！？:：)\]*]|\A|\n)[ \t]*\Z")
ANSWER_START = re.compile(r"[ \t]*(?![a-z\s,.;:!?)\]\"'”’`])")
"""Before and after a closing mark in the middle of a line, if no sentence speaks of the mark."""


def strip_reasoning(text: str) -> str:
    r"""Return the answer without the reasoning before it; empty if the reasoning never ends.

    Reasoning begins the text or, if the chat template began it, ends with a closing mark at the end
    of a line or of a sentence. Marks in the middle of a sentence are part of the answer.

    >>> strip_reasoning("<think>Two and two.</think>\n\n4")
    '4'
    >>> strip_reasoning("Two and two.\n</think>\n4")
    '4'
    >>> strip_reasoning("<think>Two and"), strip_reasoning("Models write <think> first.")
    ('', 'Models write <think> first.')
    >>> strip_reasoning("Two and two.</think>4")
    '4'
    """
    start = start_of_answer(text)
    return AROUND_ANSWERS.sub("", text[start:]).strip() if start else text


def start_of_answer(text: str) -> int:
    """Return where the answer begins after the reasoning.

    0 if there is no reasoning, and the length of the text if the reasoning never ends.
    """
    if CHANNEL.match(text):
        finals = [mark.end() for mark in FINAL_CHANNEL.finditer(text)]
        return finals[-1] if finals else len(text)
    plain = PLAIN_CHANNELS.match(text)
    if plain:
        return plain.end()
    return _end_of_opened_reasoning(text) or _end_of_begun_reasoning(text)


def _end_of_opened_reasoning(text: str) -> int:
    """Return the end of the reasoning that begins the text with an opening mark; 0 without one."""
    start = 0
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters become two in lower case
        lowered = text
    while True:
        closing = _closing_mark(lowered, start)
        if closing is None:
            return start
        end = lowered.find(closing.lower(), start)
        if end < 0:
            return len(text)
        start = end + len(closing)


def _closing_mark(lowered: str, start: int) -> str | None:
    """Return the mark that closes the reasoning at a place of a text in lower case.

    None if no reasoning begins there; blanks before it are skipped.
    """
    place = len(lowered) - len(lowered[start:].lstrip())
    for opening, closing in MARKS:
        if lowered.startswith(opening.lower(), place):
            return closing
    return None


def _end_of_begun_reasoning(text: str) -> int:
    """Return the end of reasoning of which only the closing mark is there; else 0.

    The chat template wrote the opening mark into the prompt.
    """
    final = LATER_CHANNEL.search(text)
    if final:
        return final.end()
    for opening, closing in MARKS:
        before, mark, after = text.partition(closing)
        if mark and opening not in before and _closes_reasoning(before, after):
            return len(before) + len(mark)
    return 0


def _closes_reasoning(before: str, after: str) -> bool:
    """Return whether a closing mark ends reasoning and is no part of a sentence.

    It stands at the end of a line, or after a sentence and outside of a quotation.
    """
    if after.lstrip(" \t")[:1] in ("", "\n"):
        return True
    line = before.rpartition("\n")[2]
    is_quoted = line.count('"') % 2 or line.count("`") % 2 or line.count("“") > line.count("”")
    if is_quoted:
        return False
    return bool(SENTENCE_END.search(before[-10:]) and ANSWER_START.match(after))


def check_policy(reasoning: str) -> bool:
    """Return whether reasoning is stripped.

    Raises:
        UsageError: the policy is neither `strip` nor `keep`.
    """
    policies = get_args(Policy)
    if reasoning not in policies:
        raise UsageError(
            f"reasoning={reasoning}: there is no such choice; available: {', '.join(policies)}"
        )
    return reasoning == "strip"
