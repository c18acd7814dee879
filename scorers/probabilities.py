"""Token probabilities: how sure the judge was of the letter that it wrote."""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import Literal

from podium.scorers.reply import Reply, Token, Verdict

NO_PROBABILITIES = "no log-probabilities"
ENOUGH = 0.5
"""Share of the probability that must lie on the answers to choose from."""
AROUND = " \t\r\n\"'()[]{}<>*_`#:;.,-▁Ġ"
"""What a spelling of an answer may have around it."""
SPELT = str.maketrans("▁ĠĊ", "  \n")
"""How some tokenizers write blanks."""
KNOWN_FIRST = 8
"""First tokens that must be those of the text: fewer could also begin a model's thoughts."""

Mode = Literal["auto", "required", "off"]
Settled = Literal["required", "off"]
"""Whether token probabilities soften the verdicts of a run, once that is decided."""


def settle_mode(reply: Reply) -> Settled:
    """Return the mode of a whole run under `auto`, by its first reply: `required` where that has token probabilities.

    Decide once: a run that mixes letters and probabilities has credits of two kinds.
    """
    return "required" if any(token.top for token in reply.tokens) else "off"


def soften_verdict(reply: Reply, verdict: Verdict, mode: Settled, *, tie: bool = False) -> Verdict:
    """Give a verdict the credit that the probabilities of its letter say.

    credit = (P(A) + P(C) / 2) / (P(A) + P(B) + P(C)) at the token that holds the letter which was read, all spellings
    of a letter summed; C only where `tie`. An unparsed verdict stays unparsed.

    `reply`: as the judge wrote it; `verdict`: as a reader read it; its place says where the letter stands; `mode`:
    `off` leaves the verdict as it is; `tie`: whether C was one of the letters to choose from.

    Returns: The verdict, its credit soft; unparsed (`no log-probabilities`) where the token is not known or less than
    half of its probability lies on the letters.
    """
    if verdict.credit is None or mode == "off":
        return verdict
    token = token_at(reply, verdict.place)
    masses = _masses(token.top, ("a", "b", "c") if tie else ("a", "b")) if token else None
    if masses is None:
        return Verdict(None, reason=NO_PROBABILITIES)
    return replace(verdict, credit=min(1.0, (masses["a"] + masses.get("c", 0.0) / 2) / sum(masses.values())))


def share_of_answer(top: Mapping[str, float], answer: str, other: str) -> float | None:
    """Return the probability of an answer among two, all spellings summed; None below half of the mass."""
    masses = _masses(top, (answer, other))
    return None if masses is None else min(1.0, masses[answer] / sum(masses.values()))


def token_at(reply: Reply, place: int | None) -> Token | None:
    """Return the token that holds the character at a place of the text; None where the tokens do not tell.

    Tokens may begin earlier than the text (a model's own thoughts) and end with marks such as `<|end|>`; what
    counts is that they end as the line with the place does, or, where the last ones are not known, that the first
    ones begin as the text does.
    """
    if place is None:
        return None
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
    for token, spelling in zip(tokens, spellings, strict=True):
        position -= len(spelling)
        if position < 0:
            return token
    return None


def _masses(top: Mapping[str, float], answers: tuple[str, ...]) -> dict[str, float] | None:
    """Sum the probability of every answer over its spellings; None where less than half lies on them."""
    masses = dict.fromkeys(answers, 0.0)
    for spelling, probability in top.items():
        word = spelling.strip(AROUND).lower()
        if word in masses and isfinite(probability) and probability > 0:
            masses[word] += probability
    return masses if sum(masses.values()) >= ENOUGH else None
