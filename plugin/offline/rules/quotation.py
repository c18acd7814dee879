"""A given sentence that must be there word for word, and a response that must stand in quotation marks."""

import re

from podium.offline.constraint import Constraint
from podium.offline.reading import QUOTED

VERBATIM = re.compile(
    r"\b(?:quote|repeat|copy|include|cite)\b[^\"“\n]{0,60}\b(?:quote|quotation|sentence|line|text|verse|motto)\b[^\"“\n]{0,40}"
    r"[\"“](?P<text>[^\"”\n]{3,300})[\"”]",
    re.I,
)
WRAPPED = re.compile(
    r"\b(?:wrap|put|enclose|place)\b[^.\n]{0,60}\b(?:in|within|between)\s+(?:double\s+)?quotation marks", re.I
)


def constraints(instruction: str) -> list[Constraint]:
    """Find the quotations that are asked for.

    >>> [one.name for one in constraints('Include the quote "Less is more" somewhere.')]
    ['quotes Less is more']
    """
    found = [_verbatim(match["text"]) for match in VERBATIM.finditer(instruction)]
    if WRAPPED.search(QUOTED.sub(" ", instruction)):
        found.append(Constraint("in quotation marks", _is_wrapped))
    return found


def _verbatim(wanted: str) -> Constraint:
    bare = wanted.strip().rstrip(".")
    return Constraint(f"quotes {bare}", lambda text: bare in " ".join(text.split()))


def _is_wrapped(text: str) -> bool:
    bare = text.strip()
    return len(bare) > 2 and (bare[0], bare[-1]) in {('"', '"'), ("“", "”")}
