"""Credits from token probabilities; token-probs: the probability of a first word yes (JuStRank, section 4.2.2)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Literal

from podium.scorers.prompt import Settings, packaged_template
from podium.scorers.realization import Preference, Realization
from podium.scorers.reply import Rating, Reply, Token, Verdict, no_verdict, reply_with_chances

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
    """Decide `auto` for a whole run, whose credits must be of one kind: whether its first reply has probabilities."""
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


def read_reply(reply: Reply, settings: Settings) -> Rating:  # noqa: ARG001
    """Read P(yes) / (P(yes) + P(no)) at the first token that is not blank; a reply cut off after it counts."""
    first = token_at(reply, len(reply.text) - len(reply.text.lstrip())) if reply.text.strip() else None
    if reply.refused:
        return Rating(None, reason=reply.rejection)
    if first is None:
        silence = "truncated" if reply.truncated else "empty"
        return Rating(None, reason=NO_PROBABILITIES if reply.text.strip() else silence)
    masses = _masses(first.top, ("yes", "no"))
    if masses is None:
        return Rating(None, reason="refusal" if no_verdict(reply.text) == "refusal" else NO_PROBABILITIES)
    return Rating(min(1.0, masses["yes"] / sum(masses.values())), label=first.text.strip())


def write_reply(preference: Preference, settings: Settings) -> Reply:  # noqa: ARG001
    """Return a reply with the likelier word and the probabilities of both."""
    word = "yes" if preference.chance >= 0.5 else "no"
    return reply_with_chances(word, {"yes": preference.chance, "no": 1 - preference.chance})


TOKEN_PROBS = Realization(
    name="token-probs",
    kind="pointwise",
    template=partial(packaged_template, "token_probs"),
    read_reply=read_reply,
    write_reply=write_reply,
    probabilities="needed",
    tokens=256,
)
