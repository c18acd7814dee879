"""The legend of the prompt, repeated in a reply: `A for response A`, or the list of all levels.

A legend states no verdict. It is replaced by blanks, so that positions stay the same.
"""

import re
from collections.abc import Callable, Iterator

from podium.scorers.reply_structure import mask

# `A for response A`, as the prompt of letters says, with the sign before the next entry. The
# pattern begins with a set of characters, which is searched faster than a condition.
ENTRY = re.compile(
    r"(?P<letter>[AB])(?<!\w.)(?P<meaning>[*_`\"')]*,?[ \t]+(?:(?:stands )?for|means|=|i\.e\.,?)"
    r"[ \t]+(?:the )?(?i:response|answer|option)[ \t]+[*_`\"'(]*(?P=letter)(?![\w'’])[*_`\"')]*"
    r"(?:[ \t]+(?:is[ \t]+)?better\b)?(?P<stop>[.!]?))"
    r"(?:[,;][ \t]*(?:and |or )?)?"
)
TIE_ENTRY = re.compile(
    r"C(?<!\w.)[*_`\"')]*[ \t]+(?:if|for|means|=)[ \t]+neither"
    r"(?:[ \t]+(?:response[ \t]+)?is better)?(?:[ \t]+than[ \t]+the[ \t]+other)?"
)
SCALE = re.compile(
    r"(?i)(?:scale[ \t]*:[ \t]*)?(?:from )?\b[01] \([^()\n]{1,40}\) to \d{1,3} \([^()\n]{1,40}\)"
)
"""The scale of a number, such as `0 (worthless) to 100 (could not be better)`."""
LISTED = re.compile(r"[,/|;]| or ")
SHORTEST_LEGEND = 3
"""Number of different levels with which a list is a legend."""
LONGEST_LEVEL = 40
LONGEST_LINE = 160
"""Longer lines, and replies of more than 20,000 characters, have no legend."""
LONGEST = 20_000


def without_letter_legend(text: str) -> str:
    """Blank the legend of the letters.

    If the text has one entry only, such as `B for response B`, its letter stays: it is the verdict.
    """
    entries = list(ENTRY.finditer(text)) if len(text) <= LONGEST else []
    if not entries:
        return text
    if len({entry["letter"] for entry in entries}) == 1:
        for entry in entries:
            # What follows a full stop is a sentence of its own.
            text = mask(text, [entry.span("meaning")], "\n" if entry["stop"] else " ")
        return text
    ties = [entry.span() for entry in TIE_ENTRY.finditer(text)]
    return mask(text, sorted([*(entry.span() for entry in entries), *ties]), "\n")


def without_scale(text: str) -> str:
    """Blank the scale of a number, which names the values of its ends."""
    if len(text) > LONGEST or " to " not in text:
        return text
    return mask(text, (scale.span() for scale in SCALE.finditer(text)), " ")


def without_level_legend(text: str, parse: Callable[[str], str | None]) -> str:
    """Blank lines that list at least three levels, or that explain one of at least three levels.

    Args:
        text: the reply.
        parse: function from a word to the level that it spells; None if it is no level.
    """
    if len(text) > LONGEST:
        return text
    lists = []
    explained = []
    for start, line in _lines_of_legends(text):
        span = (start, start + len(line))
        parts = LISTED.split(line)
        if len(parts) >= SHORTEST_LEGEND and max(map(len, parts)) <= LONGEST_LEVEL:
            listed = {parse(part.strip(" .()*")) for part in parts}
            if None not in listed and len(listed) >= SHORTEST_LEGEND:
                lists.append(span)
                continue
        first, _, meaning = line.strip(" -*").partition(" ")
        is_entry = meaning and len(first) <= LONGEST_LEVEL and "[[" not in first
        level = parse(first.strip(":*`")) if is_entry else None
        if level is not None:
            explained.append((level, span))
    if len({level for level, _ in explained}) >= SHORTEST_LEGEND:
        lists += [span for _, span in explained]
    return mask(text, sorted(lists), " ")


def _lines_of_legends(text: str) -> Iterator[tuple[int, str]]:
    """Yield the start and the text of each line that is not blank and not longer than a legend."""
    start = 0
    for line in text.split("\n"):
        if len(line) <= LONGEST_LINE and line.strip():
            yield start, line
        start += len(line) + 1
