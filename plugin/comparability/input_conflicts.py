"""Say how two inputs with one id differ."""

from typing import NamedTuple

from podium.comparability.asked_items import EXCERPT, ItemRecord
from podium.printable import shorten
from podium.run_record import RunRecord
from podium.wording import shared_length

SHOWN_CHARACTERS = 60
"""A message shows at most this many characters of an input."""


class Conflict(NamedTuple):
    """An id that stands for different inputs in two runs.

    Attributes:
        first: the earlier run.
        other: the later run.
        here: the item in the later run.
        there: the item in the earlier run.
    """

    first: RunRecord
    other: RunRecord
    here: ItemRecord
    there: ItemRecord


def problem_of(conflict: Conflict) -> str:
    """Return the sentence that says which inputs differ, and where.

    It shows a part of both inputs. If these parts are equal, it says where the inputs differ.
    """
    first, other, here, there = conflict
    excerpt_here, excerpt_there = distinct_excerpts(here.excerpt, there.excerpt)
    asked_in = f"{first.model}, {there.place}" if first.model else there.place
    item = "" if here.place == f"sample {here.id}" else f" of item {here.id!r}"
    problem = (
        f"{other.model or 'the file'} has another input{item} here ({excerpt_here!r}) than in "
        f"{first.source} ({asked_in}) ({excerpt_there!r})"
    )
    if here.excerpt == there.excerpt and len(here.excerpt) < EXCERPT:
        problem += ", which differs in what is not shown: other fields, or media"
    elif here.excerpt == there.excerpt:
        problem += (
            f", which differs after the first {EXCERPT} characters, in other fields or in media"
        )
    return problem


def distinct_excerpts(here: str, there: str) -> tuple[str, str]:
    """Return short excerpts of two texts around the place where they first differ.

    Each has at most 60 characters of its text, after `... ` unless it is the beginning of the text.
    """
    start = max(shared_length(here, there) - SHOWN_CHARACTERS // 2, 0)
    before = "... " if start else ""
    excerpt_here, other = (
        f"{before}{shorten(text[start:], SHOWN_CHARACTERS)}" for text in (here, there)
    )
    return excerpt_here, other
