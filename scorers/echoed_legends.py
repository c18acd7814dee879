"""The legend of the prompt, repeated in a reply: `A for response A`, or the list of all levels.

A legend states no verdict. It is replaced by blanks, so that positions stay the same.
"""

import re
from collections.abc import Callable, Iterator

from podium.scorers.reply_structure import mask

# `A for response A`, as the prompt of letters says, with the sign before the next entry (`,` or
# `, and`). The group `meaning` is what follows the letter, up to a full stop (group `stop`). The
# pattern begins with a set of characters, which is searched faster than a condition.
MEANS = r"[*_`\"')]*,?[ \t]+(?:(?:stands )?for|means|=|i\.e\.,?)"
RESPONSE_OF_LETTER = (
    r"[ \t]+(?:the )?(?i:response|answer|option)[ \t]+[*_`\"'(]*(?P=letter)(?![\w'’])[*_`\"')]*"
)
"""The noun and the letter of group `letter` again: ` response A` in `A for response A`."""
IS_BETTER = r"(?:[ \t]+(?:is[ \t]+)?better\b)?"
"""The end of an entry, such as ` is better`; it may be missing."""
# `A if response A is better,`. The lookbehind says that the letter is not the end of a word.
LETTER_ENTRY = re.compile(
    r"(?P<letter>[AB])(?<!\w.)"
    rf"(?P<meaning>{MEANS}{RESPONSE_OF_LETTER}{IS_BETTER}(?P<stop>[.!]?))"
    r"(?:[,;][ \t]*(?:and |or )?)?"
)
# `C if neither is better`.
TIE_ENTRY = re.compile(
    r"C(?<!\w.)[*_`\"')]*[ \t]+(?:if|for|means|=)[ \t]+neither"
    r"(?:[ \t]+(?:response[ \t]+)?is better)?(?:[ \t]+than[ \t]+the[ \t]+other)?"
)
SCALE = re.compile(
    r"(?i)(?:scale[ \t]*:[ \t]*)?(?:from )?\b[01] \([^()\n]{1,40}\) to \d{1,3} \([^()\n]{1,40}\)"
)
"""The scale of a number, such as `0 (worthless) to 100 (could not be better)`."""
LIST_SEPARATOR = re.compile(r"[,/|;]| or ")
FEWEST_LEVELS = 3
"""Smallest number of different levels in a legend."""
LONGEST_LEVEL = 40
"""Largest number of characters of a level in a legend."""
LONGEST_LINE = 160
"""Longer lines have no legend."""
LONGEST_REPLY = 20_000
"""Longer replies are not searched for a legend."""


def without_letter_legend(text: str) -> str:
    """Replace the legend of the letters, an entry for C included, by line breaks.

    If all entries are of one letter, such as `B for response B`, the letter stays: it is the
    verdict, and blanks replace what follows it. A text of more than 20,000 characters is returned
    as it is.
    """
    entries = list(LETTER_ENTRY.finditer(text)) if len(text) <= LONGEST_REPLY else []
    if not entries:
        return text
    if len({entry["letter"] for entry in entries}) == 1:
        for entry in entries:
            # What follows a full stop is a sentence of its own.
            sign = "\n" if entry["stop"] else " "
            text = mask(text, [entry.span("meaning")], sign)
        return text
    entries += TIE_ENTRY.finditer(text)
    return mask(text, sorted(entry.span() for entry in entries), "\n")


def without_scale(text: str) -> str:
    """Replace the scale of a number by blanks: it names the values of its ends (`SCALE`).

    A text of more than 20,000 characters is returned as it is.
    """
    if len(text) > LONGEST_REPLY or " to " not in text:
        return text
    return mask(text, (scale.span() for scale in SCALE.finditer(text)), " ")


def without_level_legend(text: str, parse: Callable[[str], str | None]) -> str:
    """Replace the legend of the levels by blanks.

    The legend is a line that lists at least three levels, or the lines that begin with a level and
    explain it, if they explain at least three levels. A line that begins with a level in double
    square brackets is no explanation. Texts of more than 20,000 characters and lines of more than
    160 are not searched.

    Args:
        text: the reply.
        parse: function from a word to the level that it spells; None if it is no level.
    """
    if len(text) > LONGEST_REPLY:
        return text
    blank_spans = []
    explained_levels = []
    for start, line in _lines_of_legends(text):
        span = (start, start + len(line))
        parts = LIST_SEPARATOR.split(line)
        if len(parts) >= FEWEST_LEVELS and max(map(len, parts)) <= LONGEST_LEVEL:
            listed = {parse(part.strip(" .()*")) for part in parts}
            if None not in listed and len(listed) >= FEWEST_LEVELS:
                blank_spans.append(span)
                continue
        first_word, _, meaning = line.strip(" -*").partition(" ")
        if not meaning or len(first_word) > LONGEST_LEVEL:
            continue
        if "[[" in first_word:
            continue  # a level in double square brackets is a verdict
        level = parse(first_word.strip(":*`"))
        if level is not None:
            explained_levels.append((level, span))
    if len({level for level, _ in explained_levels}) >= FEWEST_LEVELS:
        blank_spans += [span for _, span in explained_levels]
    return mask(text, sorted(blank_spans), " ")


def _lines_of_legends(text: str) -> Iterator[tuple[int, str]]:
    """Yield the start and the text of each line that is not blank and not longer than a legend."""
    start = 0
    for line in text.split("\n"):
        if len(line) <= LONGEST_LINE and line.strip():
            yield start, line
        start += len(line) + 1
