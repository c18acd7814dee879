"""Graded credits and scores: the mean of the allowed answers, weighted by their probability at the verdict's token."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from podium.scorers.probabilities import (
    AROUND,
    ENOUGH,
    ENOUGH_OF_SCHEMA,
    NO_PROBABILITIES,
    first_token,
    masses_at,
    settle_mode,
    token_at,
    tokens_of_field,
)
from podium.scorers.prompt import Settings
from podium.scorers.realization import Realization
from podium.scorers.reply import Rating, Reply, Token, Verdict
from podium.scorers.schemas import Answers

OPEN = (None, "no verdict", "out of range")
"""Reasons that leave open what the first token says; by all others the judge has made no verdict of its own."""


def grade_reply(reply: Reply, said: Verdict | Rating, realization: Realization, settings: Settings) -> Verdict | Rating:
    """Replace a parsed credit or score by the mean of the allowed answers, if they hold enough of the probability.

    With less, the parsed answer counts alone, on the same scale; a reply that is unparsed stays so.
    """
    if settle_mode(reply) == "off":
        return said if said.reason else type(said)(None, reason=NO_PROBABILITIES)
    form = realization.form
    if reply.structured and form and form.choices:
        tokens = () if said.reason else tokens_of_field(reply, [*form.fields(settings)][-1])
        return _grade(said, form.choices(settings), tokens, ENOUGH_OF_SCHEMA)
    from podium.scorers.direct import letter_verdicts  # Inspect's registry loads this file, and reads no reply

    letters = letter_verdicts(settings)
    token = _token_of_letter(reply, said, "".join(letters), has_reasons=realization.has_reasons(settings))
    return _grade(said, letters, [token] if token else (), ENOUGH)


def _token_of_letter(reply: Reply, said: Verdict | Rating, letters: str, *, has_reasons: bool) -> Token | None:
    """Return the token of the parsed letter; if none was parsed and no reasons stand before it, the first token."""
    if isinstance(said, Verdict) and said.place is not None:
        return token_at(reply, said.place)
    first = None if has_reasons or said.reason not in OPEN else first_token(reply)
    # A letter that begins a reply without a verdict is the article: `A banana is yellow.`
    is_article = said.reason is not None and first is not None and first.text.strip(AROUND).upper() in letters
    return None if is_article else first


def _grade(said: Verdict | Rating, answers: Answers, tokens: Sequence[Token], enough: float) -> Verdict | Rating:
    """Return the mean of all answers, or of the parsed one if all hold less than `enough`; with the mass of all."""
    weights: Mapping[str, float] = masses_at(tokens, [*answers])
    mass = sum(weights.values()) if tokens else None
    if mass is None or mass < enough:
        weights = {code: 1.0 for code, own in answers.items() if own.label == said.label and said.reason is None}
    if not weights:
        return replace(said, mass=mass)
    means: Any = Counter()
    for code, weight in weights.items():
        share = weight / sum(weights.values())
        means.update({name: share * value for name, value in _values_of(answers, code).items()})
    if isinstance(said, Rating):
        return replace(said, **means, reason=None, parsed=said.score, mass=mass)
    return replace(said, **{**means, "credit": min(1.0, means["credit"])}, reason=None, parsed=said.credit, mass=mass)


def _values_of(answers: Answers, code: str) -> Mapping[str, float]:
    """Return score or credit and margin of an answer; the credit of a level is its place between both ends."""
    answer = answers[code]
    if isinstance(answer, Rating):
        return {"score": answer.score or 0.0}
    if answer.margin is None:
        return {"credit": answer.credit or 0.0}
    widest = max(abs(own.margin or 0.0) for own in answers.values() if isinstance(own, Verdict))
    return {"credit": (1 + answer.margin / widest) / 2, "margin": answer.margin}
