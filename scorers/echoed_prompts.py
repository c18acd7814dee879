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
FIRST_FOUR_WORDS = re.compile(r"\W*+(\w++)\W++(\w++)\W++(\w++)\W++(\w++)")
"""The first four words of a text, a group for each."""
# A slot, the letter of a response or a line break: phrases do not go across these.
SEPARATOR = re.compile(r"\{\w+\}|\b[ABC]\b|\n")
PHRASE_LENGTH = 4
"""Number of words of a phrase; a sentence with fewer words never counts as repeated."""
LONGEST_LINE = 300
"""Longer lines are not searched for repeated sentences."""


def without_echo(text: str) -> str:
    """Replace the sentences of a reply that repeat one of podium's prompts by line breaks.

    Every four consecutive words of such a sentence also follow one another in a prompt. Sentences
    of fewer than 4 words stay, and so do sentences with the letter of a response. Sentences before
    other words on their line stay, too: in `Answer with one letter and nothing else: A`, the letter
    may be repeated from the prompt. Lines of more than 300 characters stay as they are.
    """
    return mask(text, _echoes(text), "\n")


def _echoes(text: str) -> Iterator[Span]:
    """Yield the spans of the repeated sentences at the ends of lines, without line breaks."""
    start = 0
    for line in text.split("\n"):
        sentences = list(SENTENCE.finditer(line)) if len(line) <= LONGEST_LINE else []
        echo_start = len(sentences)
        while echo_start and _is_echo(sentences[echo_start - 1][0]):
            echo_start -= 1
        for sentence in sentences[echo_start:]:
            yield start + sentence.start(), start + sentence.end()
        start += len(line) + 1


def _is_echo(sentence: str) -> bool:
    """Return whether each word of a sentence belongs to a phrase of a prompt (`prompt_phrases`).

    A phrase has four words; the result is False for a sentence with fewer.
    """
    # Most sentences fail this check of the first phrase, which is faster than to find all words.
    beginning = FIRST_FOUR_WORDS.match(sentence)
    if beginning is None:
        return False
    first_phrase = tuple(word.lower() for word in beginning.groups())
    if first_phrase not in prompt_phrases():
        return False
    words = WORD.findall(sentence.lower())
    covered_words = 0  # how many of the first words belong to a phrase
    for start in range(len(words) - PHRASE_LENGTH + 1):
        if tuple(words[start : start + PHRASE_LENGTH]) in prompt_phrases():
            covered_words = start + PHRASE_LENGTH
        elif start >= covered_words:
            return False
    return covered_words == len(words)


@cache
def prompt_phrases() -> frozenset[tuple[str, ...]]:
    """Return all phrases of four consecutive words in the packaged prompts, in lower case."""
    phrases = set()
    for prompt in files("podium.scorers").joinpath("prompts").iterdir():
        for piece in SEPARATOR.split(prompt.read_text(encoding="utf-8")):
            words = WORD.findall(piece.lower())
            for start in range(len(words) - PHRASE_LENGTH + 1):
                phrases.add(tuple(words[start : start + PHRASE_LENGTH]))
    return frozenset(phrases)
