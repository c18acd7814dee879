"""What a judge replied, and what is read in it: a verdict on two responses, a rating of one, or why neither.

A reply is read strictly: exactly one verdict in the form that was asked for, alone where it was asked for, or it is
unparsed, with the reason.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

UNSHOWN = "media not shown"
"""Why a reply says nothing of which the judge refused the images, audio or files."""
REASONS = (
    "empty",
    "no verdict",
    "several verdicts",
    "out of range",
    "bad JSON",
    "refusal",
    "truncated",
    "no log-probabilities",
    UNSHOWN,
)
"""Why a reply is unparsed."""
ONE_ORDER_UNPARSED = "one order unparsed"
"""Why a battle is unparsed of which just one of the two orders could be read."""
EDGE = r"[ \t\r*_#`]*"
"""What may stand around a verdict on its line: blanks and emphasis."""
SIGNS = r"[*_`\[\](){}\"']*"
"""Emphasis, brackets and quotation marks."""
PAIRED = re.compile(r"\*+|_+|`+|[\[\](){}\"']")
CLOSES = {")": "(", "]": "[", "}": "{"}
QUOTES = re.compile(r"(?P<opens>(?<![^\s(\[:])[\"'](?=\S|\n|\Z)|[„“‘])|[\"'”’]")
KINDS = {"„": '"', "“": '"', "”": '"', "‘": "'", "’": "'"}
LINE = re.compile(r"[^\n]+")
REFUSAL = re.compile(
    r"\b(?:sorry|apologi[sz]e|apologies|as an ai|(?:can ?not|can['’]?t|won['’]?t|(?:am|['’]m|are) (?:unable|not able)"
    r"|(?:must|have to) decline|will not|refuse) (?:to )?(?:\w+ ){0,2}?"
    r"(?:help|assist|comply|compare|judge|evaluate|rate|answer|do|provide|continue|fulfil|choose|engage|complete))",
    re.IGNORECASE,
)
REFUSAL_LENGTH = 600
"""Characters: a longer reply says something, whatever it apologises for."""
BRACKETS = re.compile(
    rf"{EDGE}(?:(?:final[ \t]+)?(?:verdict|score|rating|answer|grade|label){EDGE}:{EDGE})?"
    rf"\[\[([^\[\]\n]{{1,40}})\]\]\.?{EDGE}",
    re.IGNORECASE | re.ASCII,
)
"""A word in double square brackets. The closing ones show that it is whole: `[[8` is not a reading of `[[87]]`."""
INSIDE = re.compile(r"(?:\"\s*:|[,\[{\"])\Z")
"""What stands before an object that is part of something, blanks left out."""
AFTER = tuple(',:]}"')
"""What stands after one, blanks left out."""
MOST_BRACES = 200
"""Opening braces to look at."""
CHUNK = re.compile(r"\s*\S+|\s+$")


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
        refused: why the judge was not shown what the prompt is about: it takes no images; empty where it was.
    """

    text: str
    truncated: bool = False
    tokens: tuple[Token, ...] = ()
    refused: str = ""

    @property
    def reason_of_silence(self) -> str | None:
        """Why there is nothing to read: `media not shown`, `truncated`, `empty`, or None."""
        if self.refused or self.truncated:
            return UNSHOWN if self.refused else "truncated"
        return None if self.text.strip() else "empty"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one judgment says of the response shown first; unparsed where it says nothing.

    Attributes:
        credit: what the first response earned, in [0, 1]; None = unparsed.
        margin: score of the first minus that of the second; None without scores.
        criteria: the same per criterion.
        label: the words that were read, as `A` or `B>>A`.
        reason: why it is unparsed, of a reply one of `REASONS`; None where it was read.
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
    """What a pointwise reply says of one response; unparsed where it says nothing.

    Attributes:
        score: on the realization's own scale; None = unparsed.
        label: the words that were read.
        reason: why it is unparsed, one of `REASONS`; None where it was read.

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


def verdict_of_margin(
    margin: float | Fraction, criteria: Mapping[str, float] | None = None, label: str | None = None
) -> Verdict:
    """Return the verdict of a difference of scores: the credit is its sign, before rounding."""
    return Verdict((margin > 0) + (margin == 0) / 2, float(margin), criteria or {}, label)


def reply_with_chances(text: str, chances: Mapping[str, float]) -> Reply:
    """Return a reply and its tokens, of which only the last was ever in doubt.

    `text`: all of it; `chances`: what the last token might have been, as it would be spelt there, to its probability.
    """
    chunks = CHUNK.findall(text)
    likely = {spelling: chance for spelling, chance in chances.items() if chance > 0}
    return Reply(text, tokens=(*(Token(chunk, {chunk: 1.0}) for chunk in chunks[:-1]), Token(chunks[-1], likely)))


def no_verdict(text: str) -> str:
    """Return what to call a reply that holds no verdict: `refusal` or `no verdict`."""
    return "refusal" if len(text) <= REFUSAL_LENGTH and REFUSAL.search(text) else "no verdict"


def last_line(text: str, form: re.Pattern[str]) -> re.Match[str] | str:
    """Return the form on the last line of a text, or why it is not there.

    The form must fill its line. Lines that begin with it and say another word (group 1) make `several verdicts`; the
    same word may be said twice. A verdict quoted within a sentence, or behind `>`, is none.

    `text`: a reply that is not empty; `form`: matches a whole line; group 1 is the word.
    """
    lines = [line.span() for line in LINE.finditer(text) if line[0].strip()]
    begun = [form.match(text, *span) for span in lines]
    if len({"".join(match[1].casefold().split()) for match in begun if match}) > 1:
        return "several verdicts"
    stated = form.fullmatch(text, *lines[-1])
    if stated is None or is_quoted(text[: stated.start()]) or not is_balanced(stated[0]):
        return no_verdict(text)
    return stated


def is_balanced(line: str) -> bool:
    """Whether every bracket, quotation mark and emphasis in a line is closed.

    >>> is_balanced("**Verdict:** [A]"), is_balanced("[A"), is_balanced('Verdict: B"')
    (True, False, False)
    """
    opened: list[str] = []
    for sign in PAIRED.findall(line):
        if opened and sign not in "([{" and opened[-1] == CLOSES.get(sign, sign):
            opened.pop()
        else:
            opened.append(sign)
    return not opened


def is_quoted(before: str) -> bool:
    r"""Whether a text ends within a quotation: the last mark of some kind opens one, and is no apostrophe or inch.

    >>> is_quoted('It says "good" and "end with\n'), is_quoted('It says "good" of a 5" pipe.\n')
    (True, False)
    """
    is_open: dict[str, bool] = {}
    for mark in QUOTES.finditer(before):
        # In German the mark that opens elsewhere closes.
        is_open[KINDS.get(mark[0], mark[0])] = bool(mark["opens"]) and not (mark[0] == "“" and "„" in before)
    return any(is_open.values())


def word_in_brackets(reply: Reply) -> tuple[str | None, str]:
    """Return the word in double square brackets, alone on the last line, and why there is none."""
    if reply.reason_of_silence:
        return None, reply.reason_of_silence
    stated = last_line(reply.text, BRACKETS)
    return (None, stated) if isinstance(stated, str) else (stated[1].strip(), "")


def only_object(text: str, keys: frozenset[str]) -> dict[str, Any] | str:
    """Return the one JSON object that has these keys and no other, or why it cannot be told.

    Prose and one code fence may stand around it, no second object may.

    An object that repeats a key, holds NaN or Infinity, or has one of the keys and not all, makes the reply
    unreadable; the same object twice is one. Numbers with a point come as `Decimal`.
    """
    starts = [brace.start() for brace in re.finditer(r"\{", text)]
    if not starts:
        return no_verdict(text)
    if len(starts) > MOST_BRACES:
        return "bad JSON"
    claims = [claim for claim, _ in _claims(text, starts, keys)]
    # What looks like the beginning of such an object, whether it can be parsed or not.
    openings = re.findall(rf"\{{\s*\"(?:{'|'.join(map(re.escape, sorted(keys)))})\"", text)
    if len(claims) != len(openings) or not claims:
        return "bad JSON"
    if any(claim != claims[0] for claim in claims[1:]):
        return "several verdicts"
    return claims[0] if claims[0].keys() == keys else "bad JSON"


def text_outside_objects(text: str, keys: frozenset[str]) -> str:
    """Return what stands around the objects that have one of these keys."""
    for _, (start, end) in reversed(_claims(text, [brace.start() for brace in re.finditer(r"\{", text)], keys)):
        text = f"{text[:start]}\n{text[end:]}"
    return text


def _claims(text: str, starts: list[int], keys: frozenset[str]) -> list[tuple[dict[str, Any], tuple[int, int]]]:
    """Return the objects that have one of the keys and are no part or quotation, each with its ends."""
    claims, end = [], 0
    for start in starts:
        if start < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, ArithmeticError, RecursionError):
            continue
        is_part = INSIDE.search(text[:start].rstrip()) or text[end:].lstrip().startswith(AFTER)
        is_quotation = is_quoted(text[:start]) or text[text.rfind("\n", 0, start) + 1 :].lstrip().startswith(">")
        if value.keys() & keys and not is_part and not is_quotation:
            claims.append((value, (start, end)))
    return claims


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is repeated")
    return dict(pairs)


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_repeats, parse_constant=_refuse_constant, parse_float=Decimal)
