"""Letters of a given word: how often one occurs, the word backwards, lines whose first letters spell it."""

import re

from podium.offline.constraint import Constraint
from podium.offline.reading import NUMBER_WORDS, lines

WORD = r"(?:the\s+words?\s+)?[\"'“`](?P<word>[^\W\d_]{2,40})[\"'”`]"
COUNT = re.compile(
    rf"\bhow many\b.{{0,30}}?\bletter\s+[\"'“`]?(?P<letter>[^\W\d_])[\"'”`]?\b.{{0,30}}?\bin\s+{WORD}", re.I
)
COUNT_PLURAL = re.compile(
    rf"\bhow many\s+(?:letters?\s+)?[\"'“`](?P<letter>[^\W\d_])[\"'”`]s?.{{0,30}}?\bin\s+{WORD}", re.I
)
BACKWARDS = re.compile(rf"\b(?:reverse|spell|write)\s+{WORD}(?P<after>\s+(?:backwards?|in reverse))?", re.I)
ACROSTIC = re.compile(rf"\bfirst letters?\b.{{0,40}}?\bspell(?:s|ing)?(?:\s+out)?\s+{WORD}", re.I)


def constraints(instruction: str) -> list[Constraint]:
    """Find what is asked about the letters of a word.

    >>> [one.name for one in constraints('How often: how many times does the letter "e" occur in "nevertheless"?')]
    ['says 4']
    """
    return [*_counted(instruction), *_reversed(instruction), *_acrostic(instruction)]


def _counted(instruction: str) -> list[Constraint]:
    match = COUNT.search(instruction) or COUNT_PLURAL.search(instruction)
    if not match:
        return []
    many = match["word"].lower().count(match["letter"].lower())
    ways = [str(many), *([NUMBER_WORDS[many]] if many < len(NUMBER_WORDS) else [])]
    pattern = re.compile(rf"(?<![\w.,])(?:{'|'.join(ways)})(?!\w|[.,]\d)", re.I)
    return [Constraint(f"says {many}", lambda text: pattern.search(text) is not None)]


def _reversed(instruction: str) -> list[Constraint]:
    match = BACKWARDS.search(instruction)
    if not match or not (match["after"] or match[0].lower().startswith("reverse")):
        return []
    backwards = match["word"][::-1].lower()
    return [Constraint(f"says {backwards}", lambda text: re.search(rf"\b{backwards}\b", text.lower()) is not None)]


def _acrostic(instruction: str) -> list[Constraint]:
    match = ACROSTIC.search(instruction)
    if not match:
        return []
    word = match["word"].lower()
    return [Constraint(f"first letters spell {word}", lambda text: "".join(_firsts(text)) == word)]


def _firsts(text: str) -> list[str]:
    return [next((sign for sign in line.lower() if sign.isalpha()), "") for line in lines(text)]
