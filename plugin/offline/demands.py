"""All rules together: an instruction in, what can be checked out."""

from podium.offline.constraint import Constraint
from podium.offline.reading import words
from podium.offline.rules import (
    answering,
    arithmetic,
    counts,
    edges,
    json_object,
    letters,
    lists,
    quotation,
    sorting,
    spelling,
    vocabulary,
)

RULES = (
    answering.constraints,
    counts.constraints,
    lists.constraints,
    vocabulary.constraints,
    edges.constraints,
    letters.constraints,
    json_object.constraints,
    quotation.constraints,
    sorting.constraints,
    arithmetic.constraints,
    spelling.constraints,
)
READ = 8_000
"""Characters of an instruction that are read."""
MOST = 40
"""Constraints that are checked."""


def demands(instruction: str, reference: str | None = None) -> tuple[Constraint, ...]:
    """Return what an instruction demands and a rule can check, at least that there is an answer.

    Args:
        instruction: as the entrants got it.
        reference: an answer that is right, where the prompt shows one; a response should hold it.

    >>> [one.name for one in demands("Name a colour in one word.")]
    ['answers', 'one word']
    """
    found = {one.name: one for rule in RULES for one in rule(instruction[:READ])}
    if reference is not None and reference.strip():
        return (*list(found.values())[: MOST - 1], _agreement(reference))
    return tuple(found.values())[:MOST]


def _agreement(reference: str) -> Constraint:
    wanted = _folded(reference)
    return Constraint("agrees with the reference", lambda text: wanted in _folded(text))


def _folded(text: str) -> str:
    return " ".join(words(text)).casefold()
