"""direct: which response is better, in one letter (Non-transitivity paper, appendix G.1: direct comparison)."""

import re
from collections.abc import Mapping
from functools import partial

from podium.scorers.prompt import Settings, packaged_template
from podium.scorers.realization import Preference, Realization
from podium.scorers.reply import EDGE, Reply, Verdict, no_verdict, reply_with_chances, unread_verdict

CREDIT = {"A": 1.0, "B": 0.0, "C": 0.5}
"""What the first response earns by the letter; C = neither is better."""
LETTER = re.compile(
    rf"{EDGE}(?:response[ \t]+)?[\[(\"']*([A-Z])(?![A-Z0-9])[\])\"'.]*{EDGE}\.?", re.IGNORECASE | re.ASCII
)
WORD = re.compile(r"\w+")


def read_reply(reply: Reply, settings: Settings) -> Verdict:
    """Read a reply that is one letter and nothing else."""
    if reply.reason_of_silence:
        return unread_verdict(reply.reason_of_silence)
    start = len(reply.text) - len(reply.text.lstrip())
    letter = LETTER.fullmatch(reply.text, start, len(reply.text.rstrip()))
    if letter:
        return verdict_of_letter(letter, settings)
    words = WORD.findall(reply.text.upper())
    several = len(words) > 1 and all(word in letters(settings) for word in words)
    return unread_verdict("several verdicts" if several else no_verdict(reply.text))


def write_reply(preference: Preference, settings: Settings) -> Reply:
    """Write the letter, with the probabilities of all."""
    return reply_with_chances(letter_of(preference, settings), chances_of_letters(preference, settings))


def verdict_of_letter(letter: re.Match[str], settings: Settings) -> Verdict:
    """Return the verdict of a letter (group 1), unread where it was not one of those to choose from."""
    name = letter[1].upper()
    if name not in letters(settings):
        return unread_verdict("out of range")
    return Verdict(CREDIT[name], label=name, place=letter.start(1))


def letters(settings: Settings) -> str:
    """Return the letters to choose from."""
    return "ABC" if settings.tie else "AB"


def letter_of(preference: Preference, settings: Settings) -> str:
    """Return the letter of a preference: C only where there is none, A where there is none and C is no choice."""
    if settings.tie and preference.degree == 0.5:
        return "C"
    return "A" if preference.degree >= 0.5 else "B"


def chances_of_letters(preference: Preference, settings: Settings) -> Mapping[str, float]:
    """Return the probabilities of all letters: P(A) + P(C) / 2 is the chance, none likelier than the one written."""
    most = 1 if letter_of(preference, settings) == "C" else 2 / 3
    tie = most * min(preference.chance, 1 - preference.chance) if settings.tie else 0.0
    return {"A": preference.chance - tie / 2, "B": 1 - preference.chance - tie / 2, "C": tie}


DIRECT = Realization(
    name="direct",
    kind="pairwise",
    template=partial(packaged_template, "direct"),
    read_reply=read_reply,
    write_reply=write_reply,
    options=frozenset({"tie", "checklist", "reference", "system"}),
    probabilities="soften",
)
