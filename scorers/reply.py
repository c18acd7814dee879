"""Replies of judges, and the strict reading of a verdict or rating from them: a reply must hold exactly one in the form
that was asked for, otherwise it is unparsed, with the reason."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

UNSHOWN = "media not shown"
"""Reason if the judge does not take the images, audio or files of the prompt."""
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
"""Reasons of unparsed replies."""
ONE_ORDER_UNPARSED = "one order unparsed"
"""Reason of a battle if only one of the two orders could be read."""
EDGE = r"[ \t\r*_#`]*"
"""Blanks and emphasis around a verdict on its line."""
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
"""Characters; longer replies are not refusals, whatever they apologize for."""
BRACKETS = re.compile(
    rf"{EDGE}(?:(?:final[ \t]+)?(?:verdict|score|rating|answer|grade|label){EDGE}:{EDGE})?"
    rf"\[\[([^\[\]\n]{{1,40}})\]\]\.?{EDGE}",
    re.IGNORECASE | re.ASCII,
)
"""A word in double square brackets; the closing ones show that it is complete."""
INSIDE = re.compile(r"(?:\"\s*:|[,\[{\"])\Z")
"""Text before a JSON object that is part of another value, blanks left out."""
AFTER = tuple(',:]}"')
"""Characters after such an object."""
MOST_BRACES = 200
"""Largest number of opening braces in a readable reply."""
CHUNK = re.compile(r"\s*\S+|\s+$")


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a reply, with the probabilities in (0, 1] of the likeliest tokens at its place, itself included."""

    text: str
    top: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a judge, `truncated` if cut off; `tokens` have probabilities, if the provider gives them; `refused`
    says why the judge was not shown the media of the prompt."""

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
    """What a judgment says about the response shown first: `credit` in [0, 1] and `margin` (first minus second, None
    without scores), or a `reason` (of `REASONS`); `place` of the letter is None if it is no single letter."""

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
    """What a pointwise reply says about one response: a finite score on the realization's own scale or one of
    `REASONS`."""

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
    """Return the verdict of a difference of scores; the credit is its sign before rounding."""
    return Verdict((margin > 0) + (margin == 0) / 2, float(margin), criteria or {}, label)


def reply_with_chances(text: str, chances: Mapping[str, float]) -> Reply:
    """Return a reply whose last token had alternatives: `chances` has their spellings and probabilities."""
    chunks = CHUNK.findall(text)
    likely = {spelling: chance for spelling, chance in chances.items() if chance > 0}
    return Reply(text, tokens=(*(Token(chunk, {chunk: 1.0}) for chunk in chunks[:-1]), Token(chunks[-1], likely)))


def no_verdict(text: str) -> str:
    """Return the reason of a reply without verdict: `refusal` or `no verdict`."""
    return "refusal" if len(text) <= REFUSAL_LENGTH and REFUSAL.search(text) else "no verdict"


def last_line(reply: Reply, form: re.Pattern[str]) -> re.Match[str] | str:
    """Match a form that fills the last line, unquoted, with no other word (group 1) before; return why it does not."""
    if reply.reason_of_silence:
        return reply.reason_of_silence
    text = reply.text
    lines = [line.span() for line in LINE.finditer(text) if line[0].strip()]
    begun = [form.match(text, *span) for span in lines]
    if len({"".join(match[1].casefold().split()) for match in begun if match}) > 1:
        return "several verdicts"
    stated = form.fullmatch(text, *lines[-1])
    if stated is None or is_quoted(text[: stated.start()]) or not is_balanced(stated[0]):
        return no_verdict(text)
    return stated


def is_balanced(line: str) -> bool:
    """Return whether every bracket, quotation mark and emphasis in a line is closed."""
    opened: list[str] = []
    for sign in PAIRED.findall(line):
        if opened and sign not in "([{" and opened[-1] == CLOSES.get(sign, sign):
            opened.pop()
        else:
            opened.append(sign)
    return not opened


def is_quoted(before: str) -> bool:
    r"""Return whether a text ends within a quotation; apostrophes and inch marks open none.

    >>> is_quoted('It says "good" and "end with\n'), is_quoted('It says "good" of a 5" pipe.\n')
    (True, False)
    """
    is_open: dict[str, bool] = {}
    for mark in QUOTES.finditer(before):
        # In German, “ closes a quotation.
        is_open[KINDS.get(mark[0], mark[0])] = bool(mark["opens"]) and not (mark[0] == "“" and "„" in before)
    return any(is_open.values())


def only_object(reply: Reply, keys: frozenset[str]) -> dict[str, Any] | str:
    """Return the one JSON object with exactly these keys, a point as `Decimal`, or why there is none: prose may stand
    around it, but no repeated key, NaN, or object with only some of the keys."""
    text = reply.text
    if reply.reason_of_silence or "{" not in text:
        return reply.reason_of_silence or no_verdict(text)
    if text.count("{") > MOST_BRACES:
        return "bad JSON"
    objects = [each for each, _ in _objects_with_keys(text, keys)]
    # Beginnings of such objects, whether they can be parsed or not.
    openings = re.findall(rf"\{{\s*\"(?:{'|'.join(map(re.escape, sorted(keys)))})\"", text)
    if len(objects) != len(openings) or not objects:
        return "bad JSON"
    if any(each != objects[0] for each in objects[1:]):
        return "several verdicts"
    return objects[0] if objects[0].keys() == keys else "bad JSON"


def text_outside_objects(text: str, keys: frozenset[str]) -> str:
    """Return the text around the objects that have one of these keys."""
    for _, (start, end) in reversed(_objects_with_keys(text, keys)):
        text = f"{text[:start]}\n{text[end:]}"
    return text


def _objects_with_keys(text: str, keys: frozenset[str]) -> list[tuple[dict[str, Any], tuple[int, int]]]:
    """Return the objects that have one of the keys and are not nested or quoted, each with its start and end."""
    objects, end = [], 0
    for start in (brace.start() for brace in re.finditer(r"\{", text)):
        if start < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, ArithmeticError, RecursionError):
            continue
        is_part = INSIDE.search(text[:start].rstrip()) or text[end:].lstrip().startswith(AFTER)
        is_quotation = is_quoted(text[:start]) or text[text.rfind("\n", 0, start) + 1 :].lstrip().startswith(">")
        if value.keys() & keys and not is_part and not is_quotation:
            objects.append((value, (start, end)))
    return objects


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """Build a JSON object; ValueError if a key is repeated."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is repeated")
    return dict(pairs)


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_repeats, parse_constant=_refuse_constant, parse_float=Decimal)
