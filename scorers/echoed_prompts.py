"""Sentences of podium's prompts that a judge repeats before its verdict.

They are not the judge's own words, and are replaced by line breaks, so that positions stay the same
and what follows begins a line.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from podium.scorers.reply_structure import Span, mask

SENTENCE = re.compile(r"[^.?!:\n]+[.?!:]?")
WORD = re.compile(r"\w+")
FIRST_WORDS = re.compile(r"\W*+(\w++)\W++(\w++)\W++(\w++)\W++(\w++)")
# The words between these are copied as one piece: slots, letters of responses, and line breaks.
SEPARATOR = re.compile(r"\{\w+\}|\b[ABC]\b|\n")
SHORTEST_ECHO = 4
"""Smallest number of words of a sentence that counts as repeated."""
LONGEST_LINE = 300
"""Longer lines are not searched for repeated sentences."""


def without_echo(text: str) -> str:
    """Remove the sentences of a reply whose words all stand in a row in one of podium's prompts.

    Sentences of fewer than 4 words stay, and so do sentences with the letter of a response, and
    sentences before other words on their line: in `Answer with one letter and nothing else: A`, the
    letter may be repeated from the prompt, too.
    """
    return mask(text, _echoes(text), "\n")


def _echoes(text: str) -> Iterator[Span]:
    """Yield the spans of the repeated sentences at the ends of lines, without line breaks."""
    start = 0
    for line in text.split("\n"):
        sentences = list(SENTENCE.finditer(line)) if len(line) <= LONGEST_LINE else []
        first = len(sentences)
        while first and _is_echo(sentences[first - 1][0]):
            first -= 1
        for sentence in sentences[first:]:
            yield start + sentence.start(), start + sentence.end()
        start += len(line) + 1


def _is_echo(sentence: str) -> bool:
    """Return whether each of its words belongs to four that follow one another in a prompt."""
    beginning = FIRST_WORDS.match(sentence)
    if beginning is None or tuple(map(str.lower, beginning.groups())) not in prompt_phrases():
        return False
    words = WORD.findall(sentence.lower())
    covered = 0
    for start in range(len(words) - SHORTEST_ECHO + 1):
        if tuple(words[start : start + SHORTEST_ECHO]) in prompt_phrases():
            covered = start + SHORTEST_ECHO
        elif start >= covered:
            return False
    return covered == len(words)


@cache
def prompt_phrases() -> frozenset[tuple[str, ...]]:
    """Return all rows of four words in the packaged prompts, in lower case."""
    phrases = set()
    for prompt in files("podium.scorers").joinpath("prompts").iterdir():
        for piece in SEPARATOR.split(prompt.read_text(encoding="utf-8")):
            words = WORD.findall(piece.lower())
            for start in range(len(words) - SHORTEST_ECHO + 1):
                phrases.add(tuple(words[start : start + SHORTEST_ECHO]))
    return frozenset(phrases)
