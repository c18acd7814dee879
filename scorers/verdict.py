"""What a reply is before and after it is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field

REASONS = (
    "empty",
    "no verdict",
    "several verdicts",
    "out of range",
    "bad JSON",
    "refusal",
    "truncated",
    "no log-probabilities",
)
"""Why a reply is unread."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a reply.

    Attributes:
        text: as the judge wrote it.
        top: probability of the likeliest tokens at this place, by text, in (0, 1]; the chosen one among them.
    """

    text: str
    top: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge answered.

    Attributes:
        text: the completion.
        truncated: whether the judge was cut off.
        tokens: with log-probabilities, where the provider gives them; empty otherwise.
    """

    text: str
    truncated: bool = False
    tokens: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one presentation says of the response shown first; unread where it says nothing.

    Attributes:
        credit: what the first response earned, in [0, 1]; None = unread.
        margin: score of the first minus that of the second; None without scores.
        criteria: the same per criterion.
        label: the words that were read, as `A` or `B>>A`.
        reason: why it is unread, one of `REASONS`; None where it was read.
    """

    credit: float | None
    margin: float | None = None
    criteria: Mapping[str, float] = field(default_factory=dict)
    label: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Rating:
    """What a pointwise reply says of one response; unread where it says nothing.

    Attributes:
        score: on the realization's own scale; None = unread.
        label: the words that were read.
        reason: why it is unread, one of `REASONS`; None where it was read.
    """

    score: float | None
    label: str | None = None
    reason: str | None = None


def unread(reason: str) -> Verdict:
    """Return a verdict that says nothing, and why."""
    return Verdict(None, reason=reason)


def unrated(reason: str) -> Rating:
    """Return a rating that says nothing, and why."""
    return Rating(None, reason=reason)
