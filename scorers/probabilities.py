"""Credits and scores from token probabilities."""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import Literal

from podium.scorers.reply import Reply, Token, Verdict

NO_PROBABILITIES = "no log-probabilities"
ENOUGH = 0.5
"""Smallest total probability of the offered answers."""
AROUND = " \t\r\n\"'()[]{}<>*_`#:;.,-▁Ġ"
"""Characters around an answer that are ignored."""
SPELT = str.maketrans("▁ĠĊ", "  \n")
"""Blanks as some tokenizers write them."""
KNOWN_FIRST = 8
"""First tokens that must match the text: fewer could also begin a model's reasoning."""

Mode = Literal["auto", "required", "off"]
FixedMode = Literal["required", "off"]
"""Whether token probabilities soften the verdicts of a run, after `auto` was decided."""


def settle_mode(reply: Reply) -> FixedMode:
    """Decide `auto` for a whole run by its first reply: `required` if that has token probabilities, else `off`.

    A run that mixed both would have credits of two kinds.
    """
    return "required" if any(token.top for token in reply.tokens) else "off"


def soften_verdict(reply: Reply, verdict: Verdict, mode: FixedMode, *, tie: bool = False) -> Verdict:
    """Replace the credit of a verdict by the probabilities of its letter.

    credit = (P(A) + P(C) / 2) / (P(A) + P(B) + P(C)) at the token of the letter, all spellings of a letter summed; C
    only with `tie`. Unparsed (`no log-probabilities`) if the token is unknown or less than half of its probability is
    on the letters. The mode `off`, and unparsed verdicts, change nothing.
    """
    if verdict.credit is None or mode == "off":
        return verdict
    token = token_at(reply, verdict.place)
    masses = _masses(token.top, ("a", "b", "c") if tie else ("a", "b")) if token else None
    if masses is None:
        return Verdict(None, reason=NO_PROBABILITIES)
    return replace(verdict, credit=min(1.0, (masses["a"] + masses.get("c", 0.0) / 2) / sum(masses.values())))


def share_of_answer(top: Mapping[str, float], answer: str, other: str) -> float | None:
    """Return the probability of one of two answers, all spellings summed; None below half of the total probability."""
    masses = _masses(top, (answer, other))
    return None if masses is None else min(1.0, masses[answer] / sum(masses.values()))


def token_at(reply: Reply, place: int | None) -> Token | None:
    """Return the token that holds the character at a position of the text; None if tokens and text do not match.

    Tokens may begin earlier than the text (with reasoning) and end with marks such as `<|end|>`. They match if they
    end as the line with the position does or, if the last tokens are not known, begin as the text does.
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
    """Sum the probability of each answer over its spellings; None if less than half is on the answers."""
    masses = dict.fromkeys(answers, 0.0)
    for spelling, probability in top.items():
        word = spelling.strip(AROUND).lower()
        if word in masses and isfinite(probability) and probability > 0:
            masses[word] += probability
    return masses if sum(masses.values()) >= ENOUGH else None
