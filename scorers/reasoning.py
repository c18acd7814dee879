"""Removal of the reasoning that models write before their answers."""

import re
from string import ascii_lowercase, ascii_uppercase
from typing import Literal, get_args

from podium.errors import UsageError

Policy = Literal["strip", "keep"]
REASONING_MARKS = (
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
MARKS_AROUND_ANSWERS = re.compile(
    r"<\|(?:begin_of_solution|end_of_solution|START_RESPONSE|END_RESPONSE|END_RESPONSE_TURN"
    r"|return|end)\|>"
)
"""Marks that the same families put around the answer: `<|START_RESPONSE|>`."""
CHANNEL = re.compile(r"\s*(?:<\|start\|>assistant)?<\|channel\|>")
"""The beginning of a text in channels: the reasoning in `analysis`, the answer in `final`."""
# The mark that begins the answer in a text in channels.
FINAL_CHANNEL = re.compile(
    r"<\|channel\|>final\b[^<>\n]{0,40}(?:<\|constrain\|>[^<>\n]{0,40})?<\|message\|>"
)
LATER_CHANNEL = re.compile(rf"<\|start\|>assistant{FINAL_CHANNEL.pattern}")
"""The mark of the final channel in a reply whose first channel began in the prompt."""
PLAIN_CHANNELS = re.compile(r"\s*(?:analysis.*?)?assistantfinal", re.DOTALL)
"""The marks of channels, and the reasoning, if the decoder left out the special tokens."""
SENTENCE_END = re.compile(r"(?:[.!?…。！？:：)\]*]|\A|\n)[ \t]*\Z")
ANSWER_START = re.compile(r"[ \t]*(?![a-z\s,.;:!?)\]\"'”’`])")
"""The text before (`SENTENCE_END`) and after a mark that closes reasoning in the middle of a line.

The text before ends a sentence, and the answer begins with a capital or another sign. Otherwise,
the mark is a word of a sentence, as in `Models write </think> last.`
"""

LOWER_CASE_OF_ASCII = str.maketrans(ascii_uppercase, ascii_lowercase)
"""Translation of the letters A to Z to lower case."""


def strip_reasoning(text: str) -> str:
    r"""Return the answer without the reasoning before it; empty if the reasoning never ends.

    Reasoning begins the text or, if the chat template began it, ends with a closing mark at the end
    of a line or of a sentence. Marks in the middle of a sentence are part of the answer. The marks
    around the answer (`MARKS_AROUND_ANSWERS`) and the blanks around it are removed, too. A text
    without reasoning is returned unchanged.

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
    if not start:
        return text
    return MARKS_AROUND_ANSWERS.sub("", text[start:]).strip()


def start_of_answer(text: str) -> int:
    """Return the position at which the answer begins after the reasoning.

    The position is 0 if there is no reasoning, and the length of the text if the reasoning never
    ends.
    """
    if CHANNEL.match(text):
        channel_ends = [mark.end() for mark in FINAL_CHANNEL.finditer(text)]
        return channel_ends[-1] if channel_ends else len(text)
    plain_channels = PLAIN_CHANNELS.match(text)
    if plain_channels:
        return plain_channels.end()
    end = _end_with_opening_mark(text)
    if end == 0:
        end = _end_without_opening_mark(text)
    return end


def _end_with_opening_mark(text: str) -> int:
    """Return the end of the reasoning that an opening mark begins; 0 if there is no such mark.

    Several blocks of reasoning may follow one another. If the last one is never closed, the end is
    that of the text.
    """
    start = 0
    lowered = text.lower()
    if len(lowered) != len(text):
        # A few letters, such as İ, become two in lower case. No mark has them.
        lowered = text.translate(LOWER_CASE_OF_ASCII)
    while True:
        closing = _closing_mark(lowered, start)
        if closing is None:
            return start
        closing_start = lowered.find(closing.lower(), start)
        if closing_start < 0:
            return len(text)
        start = closing_start + len(closing)


def _closing_mark(lowered: str, start: int) -> str | None:
    """Return the mark that closes the reasoning which begins at a position.

    Blanks at the position are skipped.

    Args:
        lowered: the text in lower case.
        start: the position.

    Returns:
        The closing mark of `REASONING_MARKS`; None if no reasoning begins at the position.
    """
    place = len(lowered) - len(lowered[start:].lstrip())
    for opening, closing in REASONING_MARKS:
        if lowered.startswith(opening.lower(), place):
            return closing
    return None


def _end_without_opening_mark(text: str) -> int:
    """Return the end of reasoning without an opening mark; 0 if there is no such reasoning.

    The opening mark is missing if the chat template wrote it into the prompt.
    """
    final = LATER_CHANNEL.search(text)
    if final:
        return final.end()
    for opening, closing in REASONING_MARKS:
        before, mark, after = text.partition(closing)
        if mark and opening not in before and _closes_reasoning(before, after):
            return len(before) + len(mark)
    return 0


def _closes_reasoning(before: str, after: str) -> bool:
    """Return whether a closing mark ends reasoning and is no part of a sentence.

    It ends reasoning at the end of a line, or after a sentence and outside of a quotation.

    Args:
        before: the text before the mark.
        after: the text after the mark.
    """
    if after.lstrip(" \t")[:1] in ("", "\n"):
        return True
    line = before.rpartition("\n")[2]
    has_open_quotation = line.count('"') % 2 == 1 or line.count("“") > line.count("”")
    has_open_code = line.count("`") % 2 == 1
    if has_open_quotation or has_open_code:
        return False
    return bool(SENTENCE_END.search(before[-10:]) and ANSWER_START.match(after))


def check_policy(reasoning: str) -> bool:
    """Check the policy for reasoning, and return whether it is to strip the reasoning.

    Raises:
        UsageError: the policy is neither `strip` nor `keep`.
    """
    policies = get_args(Policy)
    if reasoning not in policies:
        raise UsageError(
            f"reasoning={reasoning}: there is no such choice; available: {', '.join(policies)}"
        )
    return reasoning == "strip"
