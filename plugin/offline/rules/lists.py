"""A numbered list that counts from one; a list of bullets."""

import re

from podium.offline.constraint import Constraint
from podium.offline.reading import NUMBER, NUMBERED, bullets, lines, listed, number

SIZE = re.compile(rf"\blist\s+of\s+(?:exactly\s+)?(?P<size>{NUMBER})\b", re.I)


def constraints(instruction: str) -> list[Constraint]:
    """Find the kind of list that is asked for.

    >>> [one.name for one in constraints("Explain it as a numbered list.")]
    ['numbered list']
    """
    found = []
    if re.search(r"\bnumbered\s+(?:list|items?|steps?|points?)\b", instruction, re.I):
        found.append(Constraint("numbered list", counts_from_one))
    if re.search(r"\b(?:bulleted list|list of bullets|as bullet points)\b", instruction, re.I):
        found.append(Constraint("list of bullets", lambda text: bool(bullets(text))))
    size = SIZE.search(instruction)
    if size:
        wanted = number(size["size"])
        found.append(Constraint(f"list of {wanted}", lambda text: len(listed(text)) == wanted))
    return found


def counts_from_one(text: str) -> bool:
    """Whether the numbers at the start of lines are 1, 2, 3 and so on.

    >>> counts_from_one("1. a\\n2. b"), counts_from_one("1. a\\n1. b")
    (True, False)
    """
    numbers = [int(match[1]) for line in lines(text) if (match := NUMBERED.match(line))]
    return bool(numbers) and numbers == list(range(1, len(numbers) + 1))
