"""Replies of judges, and what is read from them: a verdict or a rating, or the reason why a reply
is unparsed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite

UNSHOWN = "media not shown"
"""Reason if the judge does not take the images, audio or files of the prompt."""
TOO_LONG = "prompt too long"
"""Reason if the prompt does not fit the judge's context."""
NOT_SHOWN = (UNSHOWN, TOO_LONG)
"""Reasons of battles that are missing: the judge did not see them."""
REASONS_IN_TEXT = (
    "empty|no verdict|several verdicts|reported|retracted|out of range|bad JSON|refusal|truncated"
)
FILTERED = "content filter"
"""Reason if the provider's filter ended the reply, whatever text came before."""
REASONS = (*REASONS_IN_TEXT.split("|"), "no log-probabilities", FILTERED, *NOT_SHOWN)
"""Reasons of unparsed replies; `reported`: the verdict is somebody else's, a condition, a draft or
a question."""
FAILED = "failed"
"""Beginning of the reason if the call failed: `failed: HTTP 500`."""
ONE_ORDER_UNPARSED = "one order unparsed"
"""Reason of a battle if only one of the two orders could be read."""
REFUSAL = re.compile(
    r"(?i)\b(?:sorry|apologi[sz]e|apologies|as an ai|(?:can ?not|can['’]?t|won['’]?t|(?:am|['’]m|are) (?:unable|not "
    r"able)|(?:must|have to) decline|will not|refuse) (?:to )?(?:\w+ ){0,2}?"
    r"(?:help|assist|comply|compare|judge|evaluate|rate|answer|do|provide|continue|fulfil|choose|engage|complete))"
)
REFUSAL_LENGTH = 600
"""Characters; longer replies are not refusals, whatever they apologize for."""
LABEL = re.compile(r"([^<>=]+)([<>]+|=+)([^<>=]+)")
"""A label that compares two responses: a name, signs of one kind, a name."""
REVERSED = str.maketrans("<>", "><")
CHUNK = re.compile(r"\s*\S+|\s+$")


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a reply, with the probabilities in (0, 1] of the likeliest tokens at its place,
    itself included."""

    text: str
    top: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a judge, `truncated` if cut off; `tokens` have probabilities, if the provider
    gives them; `refused` has the words with which the prompt was rejected and `rejection` the
    reason, of `NOT_SHOWN`; `structured` replies were asked for with a JSON schema; `cost` is the
    money that the call took, None if unknown; `failed` names the error of a failed call, as `HTTP
    500`, and `refused` has its words; `withheld` is why the provider says that the text is no
    answer: `refusal` or `FILTERED`."""

    text: str
    truncated: bool = False
    tokens: tuple[Token, ...] = ()
    refused: str = ""
    rejection: str = UNSHOWN
    structured: bool = False
    cost: float | None = None
    failed: str = ""
    withheld: str = ""

    @property
    def reason_of_no_answer(self) -> str | None:
        """Why the text is no answer of the judge, whatever it says: a failed call, a filter or a
        refusal; or None."""
        return f"{FAILED}: {self.failed}" if self.failed else self.withheld or None

    @property
    def reason_of_silence(self) -> str | None:
        """Why there is nothing to read: one of `NOT_SHOWN`, `truncated`, `empty`, a
        `reason_of_no_answer`, or None."""
        if self.reason_of_no_answer:
            return self.reason_of_no_answer
        if self.refused or self.truncated:
            return self.rejection if self.refused else "truncated"
        return None if self.text.strip() else "empty"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judgment says about the response shown first: `credit` in [0, 1] and `margin` (first
    minus second, None without scores), or a `reason` (of `REASONS`); `place` of the letter is None
    if it is no single letter. Beside a credit graded by token probabilities are the `parsed` one
    and the probability `mass` of the allowed answers."""

    credit: float | None
    margin: float | None = None
    criteria: Mapping[str, float] = field(default_factory=dict)
    label: str | None = None
    reason: str | None = None
    place: int | None = None
    parsed: float | None = None
    mass: float | None = None

    def __post_init__(self) -> None:
        if (self.credit is None) == (self.reason is None):
            raise ValueError(
                f"a verdict has either a credit or a reason, not {self.credit} and {self.reason!r}"
            )
        if self.credit is not None and not 0 <= self.credit <= 1:
            raise ValueError(f"a credit lies in [0, 1]: {self.credit}")

    @property
    def outcome(self) -> float | None:
        """The parsed credit if the credit is graded: it decides what is a win, a tie or a flip."""
        return self.credit if self.parsed is None else self.parsed


@dataclass(frozen=True, slots=True)
class Rating:
    """What a pointwise reply says about one response: a finite score on the realization's own scale
    or one of `REASONS`; `parsed` and `mass` as of `Verdict`."""

    score: float | None
    label: str | None = None
    reason: str | None = None
    parsed: float | None = None
    mass: float | None = None

    def __post_init__(self) -> None:
        if (self.score is None) == (self.reason is None):
            raise ValueError(
                f"a rating has either a score or a reason, not {self.score} and {self.reason!r}"
            )
        if self.score is not None and not isfinite(self.score):
            raise ValueError(f"a score is finite: {self.score}")


def verdict_of_margin(
    margin: float | Fraction, criteria: Mapping[str, float] | None = None, label: str | None = None
) -> Verdict:
    """Return the verdict of a difference of scores; the credit is its sign before rounding."""
    return Verdict((margin > 0) + (margin == 0) / 2, float(margin), criteria or {}, label)


def reply_with_chances(text: str, chances: Mapping[str, float]) -> Reply:
    """Return a reply whose last token had alternatives: `chances` has their spellings and
    probabilities."""
    chunks = CHUNK.findall(text)
    likely = {spelling: chance for spelling, chance in chances.items() if chance > 0}
    return Reply(
        text,
        tokens=(*(Token(chunk, {chunk: 1.0}) for chunk in chunks[:-1]), Token(chunks[-1], likely)),
    )


def no_verdict(text: str) -> str:
    """Return the reason of a reply without verdict: `refusal` or `no verdict`."""
    return "refusal" if len(text) <= REFUSAL_LENGTH and REFUSAL.search(text) else "no verdict"


def reverse_label(label: str) -> str:
    """Return the label that says the same with the responses in the other order; a word without
    signs as it is.

    >>> reverse_label("A>>B"), reverse_label("A=B"), reverse_label("good")
    ('B<<A', 'B=A', 'good')
    """
    parts = LABEL.fullmatch(label)
    return label if parts is None else f"{parts[3]}{parts[2].translate(REVERSED)}{parts[1]}"
