"""Probabilities of a reply's tokens: where a verdict begins, and what each allowed answer had there."""

import re
from collections.abc import Sequence
from itertools import accumulate
from math import isfinite
from typing import Literal

from podium.checks import CHECKS
from podium.scorers.reply import Reply, Token

NO_PROBABILITIES = "no log-probabilities"
MASS_CHECKS = (CHECKS["mass of text"], CHECKS["mass of schema"])
"""The checks whose threshold is the smallest total probability of the allowed answers, in a text and a JSON reply."""
ENOUGH, ENOUGH_OF_SCHEMA = (check.threshold for check in MASS_CHECKS)
ALTERNATIVES, FEW_ALTERNATIVES = 20, 5
"""Alternatives of a token that a provider is asked for: the most that OpenAI gives, and what every provider gives."""
AROUND = " \t\r\n\"'()[]{}<>*_`#:;.,-▁Ġ"
"""Characters around an answer that are ignored."""
SPELT = str.maketrans("▁ĠĊ", "  \n")
"""Blanks as some tokenizers write them."""
KNOWN_FIRST = 8
"""First tokens that must match the text: fewer could also begin a model's reasoning."""

Mode = Literal["auto", "required", "off"]
FixedMode = Literal["required", "off"]
"""Whether token probabilities grade the verdicts of a run, after `auto` was decided."""


def settle_mode(reply: Reply) -> FixedMode:
    """Decide `auto` for a whole run, whose credits must be of one kind: whether its first reply has probabilities."""
    return "required" if any(token.top for token in reply.tokens) else "off"


def masses_at(tokens: Sequence[Token], answers: Sequence[str], written: str = "") -> dict[str, float]:
    """Return the probability of each answer from the alternatives at the first token, all spellings summed.

    An alternative that begins several answers (`8` of `80` and `85`) is divided as the next tokens' alternatives are.
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
        parts = {begun[0]: 1.0} if len(begun) == 1 else masses_at(tokens[1:], begun, whole) if begun else {}
        total = sum(parts.values())
        for answer, part in parts.items():
            masses[answer] += probability * part / total if total else 0.0
    return masses


def tokens_of_field(reply: Reply, field: str) -> Sequence[Token]:
    """Return the tokens of a JSON reply from the one on in which the last value of a text field begins."""
    # The tokens are what the model wrote; the completion may lack its fences and blanks.
    text = "".join(token.text.translate(SPELT) for token in reply.tokens)
    starts = [match.end() for match in re.finditer(rf'"{field}"\s*:\s*"', text)]
    return _tokens_from(reply.tokens, starts[-1]) if starts else ()


def token_at(reply: Reply, place: int | None) -> Token | None:
    """Return the token that holds the character at a position of the text; None if tokens and text do not match."""
    if place is None:
        return None
    # Tokens may begin with reasoning and end with marks such as `<|end|>`. They match if they end as the line does or,
    # if the last ones are not known, begin as the text does.
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
    """Return the tokens from the one on that holds a character of their joined texts; none if they end before it."""
    ends = accumulate(len(token.text) for token in tokens)
    return tokens[sum(end <= place for end in ends) :]


def first_token(reply: Reply) -> Token | None:
    """Return the first token that is not blank; None if tokens and text do not match."""
    return token_at(reply, len(reply.text) - len(reply.text.lstrip())) if reply.text.strip() else None
