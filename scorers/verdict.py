"""What a reply is before and after it is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

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
        reason: why it is unread, of a reply one of `REASONS`; None where it was read.
        place: position in the reply's text of the letter that was read; None where no single letter says it.

    Raises:
        ValueError: the credit is outside [0, 1], or there are not exactly one of a credit and a reason.
    """

    credit: float | None
    margin: float | None = None
    criteria: Mapping[str, float] = field(default_factory=dict)
    label: str | None = None
    reason: str | None = None
    place: int | None = None

    def __post_init__(self) -> None:
        if (self.credit is None) == (self.reason is None):
            raise ValueError(f"a verdict has either a credit or a reason, not {self.credit} and {self.reason!r}")
        if self.credit is not None and not 0 <= self.credit <= 1:
            raise ValueError(f"a credit lies in [0, 1]: {self.credit}")


@dataclass(frozen=True, slots=True)
class Rating:
    """What a pointwise reply says of one response; unread where it says nothing.

    Attributes:
        score: on the realization's own scale; None = unread.
        label: the words that were read.
        reason: why it is unread, one of `REASONS`; None where it was read.

    Raises:
        ValueError: the score is not finite, or there are not exactly one of a score and a reason.
    """

    score: float | None
    label: str | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        if (self.score is None) == (self.reason is None):
            raise ValueError(f"a rating has either a score or a reason, not {self.score} and {self.reason!r}")
        if self.score is not None and not isfinite(self.score):
            raise ValueError(f"a score is finite: {self.score}")


def unread(reason: str) -> Verdict:
    """Return a verdict that says nothing, and why."""
    return Verdict(None, reason=reason)


def unrated(reason: str) -> Rating:
    """Return a rating that says nothing, and why."""
    return Rating(None, reason=reason)
