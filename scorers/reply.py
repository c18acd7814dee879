"""Replies of judges, and what is read from a reply.

A reply gives a verdict or a rating, or the reason why it is unparsed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

UNSHOWN = "media not shown"
"""Reason if the judge does not accept the images, audio or files of the prompt."""
TOO_LONG = "prompt too long"
"""Reason if the prompt does not fit the judge's context."""
NOT_SHOWN = (UNSHOWN, TOO_LONG)
"""Reasons of battles that count as missing, because the judge did not see the responses."""
REASONS_IN_TEXT = (
    "empty",
    "no verdict",
    "several verdicts",
    "reported",
    "retracted",
    "out of range",
    "bad JSON",
    "refusal",
    "truncated",
)
"""Reasons that are found by reading the reply."""
CUT_IN_REASONING = "cut off while reasoning"
"""Reason if the reply was cut off, or ended, before its reasoning did."""
FILTERED = "content filter"
"""Reason if the provider's content filter ended the reply. The text of the reply is ignored."""
REASONS = (
    *REASONS_IN_TEXT,
    CUT_IN_REASONING,
    "no log-probabilities",
    FILTERED,
    *NOT_SHOWN,
)
"""Reasons of unparsed replies.

`reported` says that the reply states a verdict which is not the judge's own: it is somebody else's,
a condition, a draft or a question. `retracted` says that the judge takes the verdict back.
"""
FAILED = "failed"
"""Beginning of the reason if the call failed, as in `failed: HTTP 500`."""
CODES = frozenset({FAILED, *REASONS})
"""All texts with which the reason of a judgment can begin."""
ONE_ORDER_UNPARSED = "one order unparsed"
"""Reason of a battle if only one of the two orders could be read."""
SEPARATOR_OF_ORDERS = " / "
"""Separator of two reasons, if the two orders of a battle are unparsed for different reasons."""
# The next three are parts of `REFUSAL`.
APOLOGY = r"sorry|apologi[sz]e|apologies|as an ai"
INABILITY = (
    r"can ?not|can['’]?t|won['’]?t"
    r"|(?:am|['’]m|are) (?:unable|not able)|(?:must|have to) decline|will not|refuse"
)
"""Words of a judge that will not or cannot answer, such as `can't` or `must decline`."""
WORK_OF_JUDGE = (
    r"help|assist|comply|compare|judge|evaluate|rate|answer|do|provide|continue|fulfil"
    r"|choose|engage|complete"
)
REFUSAL = re.compile(
    rf"(?i)\b(?:{APOLOGY}|(?:{INABILITY}) (?:to )?(?:\w+ ){{0,2}}?(?:{WORK_OF_JUDGE}))"
)
"""A refusal of the judge, such as `Sorry, I can't help` or `I will not compare`."""
REFUSAL_LENGTH = 600
"""Largest number of characters of a refusal. In longer replies, the words of a refusal are
ignored."""
COMPARISON_LABEL = re.compile(r"(?P<left>[^<>=]+)(?P<signs>[<>]+|=+)(?P<right>[^<>=]+)")
"""A label that compares two responses, such as `A>>B`: a name, signs of one kind, a name."""
REVERSED_SIGNS = str.maketrans("<>", "><")
"""Translation that turns round signs of comparison."""
WORD_WITH_BLANKS = re.compile(r"\s*\S+|\s+$")
"""A word with the blanks before it, or the blanks at the end of the text."""


@dataclass(frozen=True, slots=True)
class UnparsedReason:
    """Why a judgment is unparsed, as the column `reason` says.

    Attributes:
        code: `FAILED`, or one of `REASONS`; None for a reason that podium did not write.
        details: further text, such as the error of a failed call; empty if there is none.
    """

    code: str | None
    details: str = ""

    @classmethod
    def parse(cls, written: str) -> "UnparsedReason":
        """Parse the text of a column `reason`.

        A text `CODE: DETAILS` has this code, and all that follows the colon are details. If the
        text has the reasons of two orders, joined by ` / `, and the first one has no details, only
        the first one counts. Of any other text, the code is None, and the details are empty.
        """
        code, _, details = written.partition(":")
        if code in CODES:
            return cls(code, details.strip())
        first, _, _ = written.partition(SEPARATOR_OF_ORDERS)
        if first in CODES:
            return cls(first)
        return cls(None)

    def __str__(self) -> str:
        """Return `CODE: DETAILS`, or the code alone without details; empty without a code."""
        return f"{self.code}: {self.details}" if self.details else str(self.code or "")


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a reply.

    Attributes:
        text: the text of the token.
        top: probabilities in (0, 1] of the likeliest tokens at this place, this token included;
            empty if the provider gives none.
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
        refused: the provider's message if the provider rejected the prompt, or the cause of a
            failed call; otherwise empty. A refusal by the judge is in `withheld` or in the text.
        rejection: why the prompt was rejected, one of `NOT_SHOWN`; used only if `refused` is set.
        structured: whether the reply was asked for with a JSON schema.
        cost: the cost of the call in money; None if unknown.
        failed: the error of a failed call, such as `HTTP 500`; empty if the call did not fail.
        withheld: `refusal` or `FILTERED` if the provider says that the text is not an answer, and
            `reported` if the text is a copy of a response (`copied_responses`); else empty.
        in_reasoning: whether a truncated reply ended before its reasoning did.
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
    in_reasoning: bool = False

    def __hash__(self) -> int:
        """Return a hash of the text, as mappings of probabilities have none.

        Equal replies have equal texts.
        """
        return hash(self.text)

    @property
    def reason_of_no_answer(self) -> str | None:
        """Why the text must not be read as an answer; None if it may be read.

        The reason is a failed call, a content filter, a refusal or a copied response.
        """
        if self.failed:
            return str(UnparsedReason(code=FAILED, details=self.failed))
        return self.withheld or None

    @property
    def reason_of_silence(self) -> str | None:
        """Why the text is not searched for a verdict; None if it is.

        The reason is the first of these that applies: `reason_of_no_answer`, the `rejection` of a
        rejected prompt, `CUT_IN_REASONING`, `truncated`, or `empty` (nothing but blanks).
        """
        if self.reason_of_no_answer:
            return self.reason_of_no_answer
        if self.refused:
            return self.rejection
        if self.truncated:
            return CUT_IN_REASONING if self.in_reasoning else "truncated"
        return None if self.text.strip() else "empty"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judgment says about the response shown first.

    Attributes:
        credit: 1 for a win of the first response, 0.5 for a tie, 0 for a loss; a graded credit may
            lie between them. None if the reply is unparsed.
        margin: score of the first response minus score of the second; None if there are no scores.
        criteria: margin by criterion.
        label: the verdict as the judge wrote it.
        reason: why the reply is unparsed, one of `REASONS`; None if it has a credit.
        place: position of the verdict in the text; None if the verdict is not a single letter.
        parsed: the credit of the text alone, if `credit` is graded by token probabilities; else
            None.
        mass: total probability of the allowed answers at the place of the verdict; None if unknown.

    Raises:
        ValueError: the verdict has both a credit and a reason or neither, or the credit is not in
            [0, 1].
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
        """Raise ValueError unless there is either a credit in [0, 1] or a reason."""
        if (self.credit is None) == (self.reason is None):
            raise ValueError(
                f"a verdict has either a credit or a reason, not {self.credit} and {self.reason!r}"
            )
        if self.credit is not None and not 0 <= self.credit <= 1:
            raise ValueError(f"a credit lies in [0, 1]: {self.credit}")

    @property
    def outcome(self) -> float | None:
        """The credit that decides what is a win, a tie or a flip; None if the reply is unparsed.

        It is the parsed credit if the credit is graded, else the credit.
        """
        return self.credit if self.parsed is None else self.parsed


@dataclass(frozen=True, slots=True)
class Rating:
    """What a pointwise reply says about one response.

    Attributes:
        score: a finite number on the realization's scale; None if the reply is unparsed.
        label: the score as the judge wrote it.
        reason: why the reply is unparsed, one of `REASONS`; None if it has a score.
        parsed: the score of the text alone, if `score` is graded by token probabilities; else None.
        mass: total probability of the allowed answers at the place of the score; None if unknown.

    Raises:
        ValueError: the rating has both a score and a reason or neither, or the score is not finite.
    """

    score: float | None
    label: str | None = None
    reason: str | None = None
    parsed: float | None = None
    mass: float | None = None

    def __post_init__(self) -> None:
        """Raise ValueError unless there is either a finite score or a reason."""
        if (self.score is None) == (self.reason is None):
            raise ValueError(
                f"a rating has either a score or a reason, not {self.score} and {self.reason!r}"
            )
        if self.score is not None and not isfinite(self.score):
            raise ValueError(f"a score is finite: {self.score}")


def verdict_of_margin(
    margin: "float | Fraction",
    criteria: Mapping[str, float] | None = None,
    label: str | None = None,
) -> Verdict:
    """Return the verdict of a difference of scores.

    The credit is 1, 0.5 or 0 by the sign of the margin before it is rounded to a float.

    Args:
        margin: score of the first response minus the score of the second.
        criteria: margin by criterion; None for none.
        label: the verdict as the judge wrote it.
    """
    credit = 0.5 if margin == 0 else float(margin > 0)
    return Verdict(credit=credit, margin=float(margin), criteria=criteria or {}, label=label)


def reply_with_probabilities(text: str, probabilities: Mapping[str, float]) -> Reply:
    """Return a reply whose last token has several alternatives.

    The last word of the text is the last token, whether or not it is one of the alternatives.

    Args:
        text: the text of the reply, with at least one word and without blanks at its end. Each
            word, with the blanks before it, is a token; all but the last have probability 1.
        probabilities: probabilities of the alternatives of the last token. Alternatives with a
            probability of 0 are left out.
    """
    *first_words, last_word = WORD_WITH_BLANKS.findall(text)
    tokens = [Token(word, {word: 1.0}) for word in first_words]
    alternatives = {spelling: value for spelling, value in probabilities.items() if value > 0}
    return Reply(text, tokens=(*tokens, Token(last_word, alternatives)))


def no_verdict(text: str) -> str:
    """Return the reason of a reply without verdict: `refusal` or `no verdict`.

    It is `refusal` if the text has at most 600 characters and words such as `I can't help`.
    """
    if len(text) <= REFUSAL_LENGTH and REFUSAL.search(text):
        return "refusal"
    return "no verdict"


def reverse_label(label: str) -> str:
    """Return the label with the same meaning that names the responses in the other order.

    A word without comparison signs is returned unchanged.

    >>> reverse_label("A>>B"), reverse_label("A=B"), reverse_label("good")
    ('B<<A', 'B=A', 'good')
    """
    parts = COMPARISON_LABEL.fullmatch(label)
    if parts is None:
        return label
    signs = parts["signs"].translate(REVERSED_SIGNS)
    return f"{parts['right']}{signs}{parts['left']}"
