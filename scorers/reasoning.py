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
    ("<unused94>thought", "<unused95>"),
)
"""Marks with which families of models begin and end their reasoning."""
AROUND_ANSWERS = re.compile(
    r"<\|(?:begin_of_solution|end_of_solution|START_RESPONSE|END_RESPONSE|END_RESPONSE_TURN|return|end)\|>"
)
"""Marks that the same families put around the answer."""


def strip_reasoning(text: str) -> str:
    r"""Return the answer without the reasoning before it; empty if the reasoning never ends.

    Reasoning begins the text or, if the chat template began it, ends with a closing mark at the end of a line. Marks in
    the middle of an answer are part of the answer.

    >>> strip_reasoning("<think>Two and two.</think>\n\n4"), strip_reasoning("Two and two.\n</think>\n4")
    ('4', '4')
    >>> strip_reasoning("<think>Two and"), strip_reasoning("Models write <think> first.")
    ('', 'Models write <think> first.')
    """
    answer = text
    while begun := next(
        (marks for marks in MARKS if answer.lstrip()[: len(marks[0])].lower() == marks[0].lower()), None
    ):
        end = answer.lower().find(begun[1].lower())
        answer = "" if end < 0 else answer[end + len(begun[1]) :]
    if answer is text:
        for opening, closing in MARKS:
            before, mark, after = text.partition(closing)
            if mark and opening not in before and after.lstrip(" \t")[:1] in ("", "\n"):
                answer = after
                break
    return text if answer is text else AROUND_ANSWERS.sub("", answer).strip()


def check_policy(reasoning: str) -> bool:
    """Return whether reasoning is stripped; UsageError if the policy is neither `strip` nor `keep`."""
    if reasoning not in get_args(Policy):
        raise UsageError(f"reasoning={reasoning}: there is no such choice; available: {', '.join(get_args(Policy))}")
    return reasoning == "strip"
