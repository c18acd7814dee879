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
# The words between these are copied as one piece: slots, letters of responses, and line breaks.
SEPARATOR = re.compile(r"\{\w+\}|\b[ABC]\b|\n")
SHORTEST_ECHO = 4
"""Smallest number of words of a sentence that counts as repeated."""
LONGEST_SENTENCE = 300


def without_echo(text: str) -> str:
    """Remove the sentences of a reply whose words all stand in a row in one of podium's prompts.

    Sentences of fewer than 4 words stay, and so do sentences with the letter of a response, and
    sentences before other words on their line: in `Answer with one letter and nothing else: A`, the
    letter may be repeated from the prompt, too.
    """
    return mask(text, _echoes(text), "\n")


def _echoes(text: str) -> Iterator[Span]:
    """Yield the spans of the repeated sentences at the ends of lines, without line breaks."""
    repeated: list[Span] = []
    for sentence in SENTENCE.finditer(text):
        is_short = len(sentence[0]) <= LONGEST_SENTENCE
        if is_short and _is_echo(WORD.findall(sentence[0].lower())):
            repeated.append(sentence.span())
        else:
            repeated = []
        if text[sentence.end() : sentence.end() + 1] in ("", "\n"):
            yield from repeated
            repeated = []


def _is_echo(words: list[str]) -> bool:
    """Return whether each of the words belongs to four that follow one another in a prompt."""
    if len(words) < SHORTEST_ECHO or tuple(words[:SHORTEST_ECHO]) not in prompt_phrases():
        return False
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
