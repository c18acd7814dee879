"""Which answer a prompt asks for, told by the words around its fences, never by what stands inside them."""

import re
from typing import Literal

from podium.scorers.fences import LINE

Form = Literal["direct", "cot", "labels", "rubric", "numeric", "likert", "token-probs", "checklist", "unknown"]
PAIR = ("RESPONSE A", "RESPONSE B")
PAIRWISE: tuple[tuple[Form, re.Pattern[str]], ...] = (
    ("labels", re.compile(r"A>>B")),
    ("rubric", re.compile(r"\bJSON\b")),
    ("cot", re.compile(r"\bVerdict\b.{0,200}\bone letter\b|\blast line\b", re.S)),
    ("direct", re.compile(r"\bone letter\b")),
)
POINTWISE: tuple[tuple[Form, re.Pattern[str]], ...] = (
    ("token-probs", re.compile(r"\byes or no\b", re.I)),
    ("likert", re.compile(r"\bfive words\b|\bterrible\b", re.I)),
    ("numeric", re.compile(r"\bnumber\b", re.I)),
)
ALONE: tuple[tuple[Form, re.Pattern[str]], ...] = (("checklist", re.compile(r"\"questions\"")),)
TIE = re.compile(r"\bC if\b")


def form_of(prompt: str, names: frozenset[str]) -> Form:
    """Return the answer format that is asked for.

    Args:
        prompt: all of it.
        names: of its fences.
    """
    forms = PAIRWISE if names >= set(PAIR) else POINTWISE if "RESPONSE" in names else ALONE
    for words in _asking(prompt):
        for form, sign in forms:
            if sign.search(words):
                return form
    return "unknown"


def may_tie(prompt: str) -> bool:
    """Whether C is one of the letters to choose from."""
    return any(TIE.search(words) for words in _asking(prompt))


def _asking(prompt: str) -> tuple[str, str]:
    """Return the words after the last fence, and those before the first: questions are asked at an end."""
    fences = list(LINE.finditer(prompt))
    if not fences:
        return prompt, ""
    own = [fence for fence in fences if fence[3] == fences[0][3]]
    return prompt[own[-1].end() :], prompt[: own[0].start()]
