"""That there is an answer at all: always asked, whatever the instruction."""

import re

from podium.offline.constraint import Constraint

REFUSAL = re.compile(
    r"^\W*(?:(?:i'm|i am)\s+)?(?:sorry|unable to|not able to|i (?:can'?t|cannot|can not|won'?t|will not|must decline)|"
    r"as an ai|unfortunately,? i)\b",
    re.I,
)


def constraints(_instruction: str) -> list[Constraint]:
    """Return the one demand that every instruction makes."""
    return [Constraint("answers", answers)]


def answers(text: str) -> bool:
    """Whether a response is neither blank nor a refusal.

    >>> answers("Here it is."), answers("I'm sorry, but I cannot do that.")
    (True, False)
    """
    return bool(text.strip()) and not REFUSAL.match(text.replace("’", "'"))
