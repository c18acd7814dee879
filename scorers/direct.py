"""direct: which response is better, in one letter (Non-transitivity paper, appendix G.1: direct comparison)."""

import re
from functools import partial

from podium.scorers.asking import Settings
from podium.scorers.reading import EDGE, no_verdict, says_nothing
from podium.scorers.realization import Realization
from podium.scorers.template import packaged
from podium.scorers.verdict import Reply, Verdict, unread

CREDIT = {"A": 1.0, "B": 0.0, "C": 0.5}
"""What the first response earns by the letter; C = neither is better."""
LETTER = re.compile(
    rf"{EDGE}(?:response[ \t]+)?[\[(\"']*([A-Z])(?![A-Z0-9])[\])\"'.]*{EDGE}\.?", re.IGNORECASE | re.ASCII
)
WORD = re.compile(r"\w+")


def read(reply: Reply, settings: Settings) -> Verdict:
    """Read a reply that is one letter and nothing else."""
    nothing = says_nothing(reply)
    if nothing:
        return unread(nothing)
    start = len(reply.text) - len(reply.text.lstrip())
    letter = LETTER.fullmatch(reply.text, start, len(reply.text.rstrip()))
    return by_letter(letter, settings) if letter else unread(_why_not(reply.text, settings))


def by_letter(letter: re.Match[str], settings: Settings) -> Verdict:
    """Return the verdict of a letter (group 1), unread where it was not one of those to choose from."""
    name = letter[1].upper()
    if name not in letters(settings):
        return unread("out of range")
    return Verdict(CREDIT[name], label=name, place=letter.start(1))


def letters(settings: Settings) -> str:
    """Return the letters to choose from."""
    return "ABC" if settings.tie else "AB"


def _why_not(text: str, settings: Settings) -> str:
    words = WORD.findall(text.upper())
    several = len(words) > 1 and all(word in letters(settings) for word in words)
    return "several verdicts" if several else no_verdict(text)


DIRECT = Realization(
    name="direct",
    kind="pairwise",
    template=partial(packaged, "direct"),
    read=read,
    yields=("credit",),
    max_tokens=16,
    options=frozenset({"tie", "checklist", "reference", "system"}),
    probabilities="soften",
)
