"""Replies of judges, and what is read from them.

That is a verdict or a rating, or the reason why a reply is unparsed.
"""

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
"""Reasons of unparsed replies.

With `reported`, the verdict is somebody else's, a condition, a draft or a question.
"""
FAILED = "failed"
"""Beginning of the reason if the call failed: `failed: HTTP 500`."""
CODES = frozenset({FAILED, *REASONS})
"""What the reason of a judgment begins with."""
ONE_ORDER_UNPARSED = "one order unparsed"
"""Reason of a battle if only one of the two orders could be read."""
BETWEEN_ORDERS = " / "
"""Stands between the reasons of a battle whose two orders are unparsed for different ones."""
REFUSAL = re.compile(
    r"(?i)\b(?:sorry|apologi[sz]e|apologies|as an ai|(?:can ?not|can['’]?t|won['’]?t"
    r"|(?:am|['’]m|are) (?:unable|not able)|(?:must|have to) decline|will not|refuse) (?:to )?"
    r"(?:\w+ ){0,2}?"
    r"(?:help|assist|comply|compare|judge|evaluate|rate|answer|do|provide|continue|fulfil|choose|engage|complete))"
)
REFUSAL_LENGTH = 600
"""Characters; longer replies are not refusals, whatever they apologize for."""
LABEL = re.compile(r"([^<>=]+)([<>]+|=+)([^<>=]+)")
"""A label that compares two responses: a name, signs of one kind, a name."""
REVERSED = str.maketrans("<>", "><")
CHUNK = re.compile(r"\s*\S+|\s+$")


@dataclass(frozen=True, slots=True)
class UnparsedReason:
    """Why a judgment is unparsed, as the column `reason` has it.

    Attributes:
        code: `FAILED`, or one of `REASONS`; None for a reason of somebody else's file.
        details: what is known beside the code, such as the error of a failed call.
    """

    code: str | None
    details: str = ""

    @classmethod
    def parse(cls, written: str) -> "UnparsedReason":
        """Parse the text of a column `reason`; of two orders, the first reason counts."""
        code, _, details = written.partition(":")
        if code in CODES:
            return cls(code, details.strip())
        first, _, _ = written.partition(BETWEEN_ORDERS)
        return cls(first if first in CODES else None)

    def __str__(self) -> str:
        return f"{self.code}: {self.details}" if self.details else str(self.code or "")


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a reply.

    Attributes:
        text: the text of the token.
        top: probabilities in (0, 1] of the likeliest tokens at its place, itself included; empty
            if the provider gives none.
    """

    text: str
    top: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a judge.

    Attributes:
        text: the text of the reply.
        truncated: whether the reply was cut off at the limit of output tokens.
        tokens: the tokens, if the provider gives them.
        refused: the words with which the provider rejected the prompt, or of a failed call.
        rejection: why the prompt was rejected, one of `NOT_SHOWN`.
        structured: whether the reply was asked for with a JSON schema.
        cost: the money that the call cost; None if unknown.
        failed: the error of a failed call, such as `HTTP 500`.
        withheld: why the provider says that the text is no answer, `refusal` or `FILTERED`.
    """

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
        """Why the text is no answer of the judge, whatever it says; None if it is one.

        The reason is a failed call, a filter or a refusal.
        """
        if self.failed:
            return str(UnparsedReason(FAILED, self.failed))
        return self.withheld or None

    @property
    def reason_of_silence(self) -> str | None:
        """Why there is nothing to read; None if there is.

        The reason is a `reason_of_no_answer`, one of `NOT_SHOWN`, `truncated` or `empty`.
        """
        if self.reason_of_no_answer:
            return self.reason_of_no_answer
        if self.refused:
            return self.rejection
        if self.truncated:
            return "truncated"
        return None if self.text.strip() else "empty"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judgment says about the response shown first.

    Attributes:
        credit: what the first response earned, in [0, 1]; None if the reply is unparsed.
        margin: score of the first response minus that of the second; None if there are no scores.
        criteria: margin by criterion.
        label: the verdict as the judge wrote it.
        reason: why the reply is unparsed, one of `REASONS`; None if it has a credit.
        place: position of the verdict in the text; None if the verdict is no single letter.
        parsed: the credit of the text, if `credit` is graded by token probabilities.
        mass: total probability of the allowed answers at the place of the verdict.

    Raises:
        ValueError: it has both a credit and a reason or neither, or the credit is out of range.
    """

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
    """What a pointwise reply says about one response.

    Attributes:
        score: a finite number on the realization's scale; None if the reply is unparsed.
        label: the score as the judge wrote it.
        reason: why the reply is unparsed, one of `REASONS`; None if it has a score.
        parsed: the score of the text, if `score` is graded by token probabilities.
        mass: total probability of the allowed answers at the place of the score.

    Raises:
        ValueError: it has both a score and a reason or neither, or the score is not finite.
    """

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
    """Return the verdict of a difference of scores.

    The credit is 1, 0.5 or 0 by the sign of the margin before it is rounded to a float.
    """
    credit = 0.5 if margin == 0 else float(margin > 0)
    return Verdict(credit, float(margin), criteria or {}, label)


def reply_with_chances(text: str, chances: Mapping[str, float]) -> Reply:
    """Return a reply whose last word has alternatives.

    Args:
        text: the text of the reply; each word is a token.
        chances: probabilities of the spellings of the last token.
    """
    *chunks, last = CHUNK.findall(text)
    tokens = [Token(chunk, {chunk: 1.0}) for chunk in chunks]
    likely = {spelling: chance for spelling, chance in chances.items() if chance > 0}
    return Reply(text, tokens=(*tokens, Token(last, likely)))


def no_verdict(text: str) -> str:
    """Return the reason of a reply without verdict: `refusal` or `no verdict`."""
    return "refusal" if len(text) <= REFUSAL_LENGTH and REFUSAL.search(text) else "no verdict"


def reverse_label(label: str) -> str:
    """Return the label that says the same with the responses in the other order.

    A word without signs stays as it is.

    >>> reverse_label("A>>B"), reverse_label("A=B"), reverse_label("good")
    ('B<<A', 'B=A', 'good')
    """
    parts = LABEL.fullmatch(label)
    if parts is None:
        return label
    left, signs, right = parts.groups()
    return f"{right}{signs.translate(REVERSED)}{left}"
