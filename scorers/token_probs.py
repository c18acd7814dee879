"""token-probs: the probability that a judge says yes to a response (JuStRank, section 4.2.2)."""

import re
from functools import partial

from podium.scorers.direct import is_letter_alone
from podium.scorers.probabilities import (
    MASS_OF_TEXT,
    NO_PROBABILITIES,
    first_token,
    masses_at,
    token_at,
)
from podium.scorers.prompt import Settings, packaged_template
from podium.scorers.realization import Preference, Realization
from podium.scorers.reply import Rating, Reply, reply_with_probabilities
from podium.scorers.reply_reader import read_statement
from podium.scorers.verdict_statements import GAP

# The answer yes or no, with the blanks and emphasis before it.
ANSWER = re.compile(rf"{GAP}((?i:yes|no))\b")
SCORE = {"yes": 1.0, "no": 0.0}
"""Score by the word of the reply."""
REJECTED_REASONS = ("retracted", "reported", "several verdicts", "refusal")
"""Reasons with which a reply is unparsed, whatever its token probabilities are."""


def read_reply(reply: Reply, settings: Settings) -> Rating:  # noqa: ARG001
    """Read P(yes) / (P(yes) + P(no)) as a rating.

    The probabilities are those at the first token that is not blank. If P(yes) + P(no) is too small
    there (`MASS_OF_TEXT`), they are those at the token of the parsed answer. A reply that was cut
    off after the first token can be read, too.

    Returns:
        The rating. `parsed` is 1 if the text says yes, 0 if it says no, and None if neither word
        was parsed. `mass` is P(yes) + P(no). If the mass is too small at both tokens, the rating is
        unparsed with the reason `NO_PROBABILITIES` and the mass at the first token. Replies that
        are rejected, empty, or unparsed for a reason of `REJECTED_REASONS` have no mass.
    """
    if reply.refused or not reply.text.strip():
        return Rating(score=None, reason=reply.reason_of_silence)
    stated = read_statement(reply, ANSWER, str.lower, is_letter_alone, is_pairwise=False)
    if stated in REJECTED_REASONS:
        return Rating(score=None, reason=str(stated))
    tokens = [first_token(reply)]
    parsed = None
    if not isinstance(stated, str):
        tokens.append(token_at(reply, stated.place))
        parsed = SCORE[stated.value]
    masses_by_token = [masses_at([token], tuple(SCORE)) for token in tokens if token]
    for masses in masses_by_token:
        mass = sum(masses.values())
        if mass >= MASS_OF_TEXT.threshold:
            return Rating(score=min(1.0, masses["yes"] / mass), parsed=parsed, mass=mass)
    first_mass = sum(masses_by_token[0].values()) if masses_by_token else 0
    return Rating(score=None, reason=NO_PROBABILITIES, mass=first_mass)


def write_reply(preference: Preference, settings: Settings) -> Reply:  # noqa: ARG001
    """Return a reply with the likelier word and the probabilities of both."""
    word = "yes" if preference.chance >= 0.5 else "no"
    return reply_with_probabilities(word, {"yes": preference.chance, "no": 1 - preference.chance})


TOKEN_PROBS = Realization(
    name="token-probs",
    kind="pointwise",
    template=partial(packaged_template, "token_probs"),
    read_reply=read_reply,
    write_reply=write_reply,
    probabilities="needed",
    tokens=256,
)
