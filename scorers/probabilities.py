"""Credits and scores graded by token probabilities: where a verdict begins, what each allowed
answer had there, and the mean of all answers."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from math import isfinite
from typing import Any, Literal

from podium.checks import CHECKS
from podium.scorers.prompt import Settings
from podium.scorers.realization import Realization
from podium.scorers.reply import Rating, Reply, Token, Verdict
from podium.scorers.schemas import Answers

NO_PROBABILITIES = "no log-probabilities"
MASS_CHECKS = (CHECKS["mass of text"], CHECKS["mass of schema"])
"""The checks whose threshold is the smallest total probability of the allowed answers, in a text
and a JSON reply."""
ENOUGH, ENOUGH_OF_SCHEMA = (check.threshold for check in MASS_CHECKS)
ALTERNATIVES, FEW_ALTERNATIVES = 20, 5
"""Alternatives of a token that a provider is asked for: the most that OpenAI gives, and what every
provider gives."""
AROUND = " \t\r\n\"'()[]{}<>*_`#:;.,-▁Ġ"
"""Characters around an answer that are ignored."""
SPELT = str.maketrans("▁ĠĊ", "  \n")
"""Blanks as some tokenizers write them."""
KNOWN_FIRST = 8
"""First tokens that must match the text: fewer could also begin a model's reasoning."""
OPEN = (None, "no verdict", "out of range")
"""Reasons that leave open what the first token says; by all others the judge has made no verdict of
its own."""

Mode = Literal["auto", "required", "off"]
FixedMode = Literal["required", "off"]
"""Whether token probabilities grade the verdicts of a run, after `auto` was decided."""


def settle_mode(reply: Reply) -> FixedMode:
    """Decide `auto` for a whole run, whose credits must be of one kind: whether its first reply has
    probabilities."""
    return "required" if any(token.top for token in reply.tokens) else "off"


def masses_at(
    tokens: Sequence[Token], answers: Sequence[str], written: str = ""
) -> dict[str, float]:
    """Return the probability of each answer from the alternatives at the first token, all spellings
    summed.

    An alternative that begins several answers (`8` of `80` and `85`) is divided as the next tokens'
    alternatives are.
    """
    masses = dict.fromkeys(answers, 0.0)
    for spelling, probability in tokens[0].top.items() if tokens else ():
        piece = spelling.translate(SPELT).strip(AROUND).lower()
        if not (written or piece) or not (isfinite(probability) and probability > 0):
            continue
        whole = written + piece
        begun = [answer for answer in answers if answer.lower().startswith(whole)]
        if not piece or (len(tokens) == 1 and len(begun) > 1):
            begun = [answer for answer in begun if answer.lower() == whole]
        parts = (
            {begun[0]: 1.0}
            if len(begun) == 1
            else masses_at(tokens[1:], begun, whole)
            if begun
            else {}
        )
        total = sum(parts.values())
        for answer, part in parts.items():
            masses[answer] += probability * part / total if total else 0.0
    return masses


def tokens_of_field(reply: Reply, field: str) -> Sequence[Token]:
    """Return the tokens of a JSON reply from the one on in which the last value of a text field
    begins."""
    # The tokens are what the model wrote; the completion may lack its fences and blanks.
    text = "".join(token.text.translate(SPELT) for token in reply.tokens)
    starts = [match.end() for match in re.finditer(rf'"{field}"\s*:\s*"', text)]
    return _tokens_from(reply.tokens, starts[-1]) if starts else ()


def token_at(reply: Reply, place: int | None) -> Token | None:
    """Return the token that holds the character at a position of the text; None if tokens and text
    do not match."""
    if place is None:
        return None
    # Tokens may begin with reasoning and end with marks such as `<|end|>`. They match if they end
    # as the line does or, if the last ones are not known, begin as the text does.
    tokens = list(reply.tokens)
    while tokens and tokens[-1].text.startswith("<") and tokens[-1].text.endswith(">"):
        tokens.pop()
    spellings = [token.text.translate(SPELT) for token in tokens]
    start = reply.text.rfind("\n", 0, place) + 1
    line = reply.text[start:].rstrip()
    written = "".join(spellings).rstrip()
    head = "".join(spellings[:KNOWN_FIRST])
    if written.endswith(line):
        position = len(written) - len(line) + place - start
    elif place < len(head.lstrip()) and reply.text.startswith(head.lstrip()):
        position = place + len(head) - len(head.lstrip())
    else:
        return None
    return next(iter(_tokens_from(tokens, position)), None)


def _tokens_from(tokens: Sequence[Token], place: int) -> Sequence[Token]:
    """Return the tokens from the one on that holds a character of their joined texts; none if they
    end before it."""
    ends = accumulate(len(token.text) for token in tokens)
    return tokens[sum(end <= place for end in ends) :]


def first_token(reply: Reply) -> Token | None:
    """Return the first token that is not blank; None if tokens and text do not match."""
    return (
        token_at(reply, len(reply.text) - len(reply.text.lstrip())) if reply.text.strip() else None
    )


def grade_reply(
    reply: Reply, said: Verdict | Rating, realization: Realization, settings: Settings
) -> Verdict | Rating:
    """Replace a parsed credit or score by the mean of the allowed answers, if they hold enough of
    the probability.

    With less, the parsed answer counts alone, on the same scale; a reply that is unparsed stays so.
    """
    if settle_mode(reply) == "off":
        return said if said.reason else type(said)(None, reason=NO_PROBABILITIES)
    form = realization.form
    if reply.structured and form and form.choices:
        tokens = () if said.reason else tokens_of_field(reply, [*form.fields(settings)][-1])
        return _grade(said, form.choices(settings), tokens, ENOUGH_OF_SCHEMA)
    # Inspect's registry loads this file, and reads no reply.
    from podium.scorers.direct import letter_verdicts

    letters = letter_verdicts(settings)
    token = _token_of_letter(
        reply, said, "".join(letters), has_reasons=realization.has_reasons(settings)
    )
    return _grade(said, letters, [token] if token else (), ENOUGH)


def _token_of_letter(
    reply: Reply, said: Verdict | Rating, letters: str, *, has_reasons: bool
) -> Token | None:
    """Return the token of the parsed letter; if none was parsed and no reasons stand before it, the
    first token."""
    if isinstance(said, Verdict) and said.place is not None:
        return token_at(reply, said.place)
    first = None if has_reasons or said.reason not in OPEN else first_token(reply)
    # A letter that begins a reply without a verdict is the article: `A banana is yellow.`
    is_article = (
        said.reason is not None
        and first is not None
        and first.text.strip(AROUND).upper() in letters
    )
    return None if is_article else first


def _grade(
    said: Verdict | Rating, answers: Answers, tokens: Sequence[Token], enough: float
) -> Verdict | Rating:
    """Return the mean of all answers, or of the parsed one if all hold less than `enough`; with the
    mass of all."""
    weights: Mapping[str, float] = masses_at(tokens, [*answers])
    mass = sum(weights.values()) if tokens else None
    if mass is None or mass < enough:
        weights = {
            code: 1.0
            for code, own in answers.items()
            if own.label == said.label and said.reason is None
        }
    if not weights:
        return replace(said, mass=mass)
    means: Any = Counter()
    for code, weight in weights.items():
        share = weight / sum(weights.values())
        means.update({name: share * value for name, value in _values_of(answers, code).items()})
    if isinstance(said, Rating):
        return replace(said, **means, reason=None, parsed=said.score, mass=mass)
    return replace(
        said,
        **{**means, "credit": min(1.0, means["credit"])},
        reason=None,
        parsed=said.credit,
        mass=mass,
    )


def _values_of(answers: Answers, code: str) -> Mapping[str, float]:
    """Return score or credit and margin of an answer; the credit of a level is its place between
    both ends."""
    answer = answers[code]
    if isinstance(answer, Rating):
        return {"score": answer.score or 0.0}
    if answer.margin is None:
        return {"credit": answer.credit or 0.0}
    widest = max(abs(own.margin or 0.0) for own in answers.values() if isinstance(own, Verdict))
    return {"credit": (1 + answer.margin / widest) / 2, "margin": answer.margin}
