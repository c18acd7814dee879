"""What the text around marks says about them: whether they stand for whole responses.

Marks under a heading such as `Formatting:`, after `Regarding style,` or before `but` do not.
"""

import re

from podium.scorers import contradiction_words as words
from podium.scorers.faults import has_fault
from podium.scorers.reply_words import RESPONSE_NOUNS

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
RATING_WORDS = frozenset(words.RATING_WORDS.split())
"""Words of a heading over marks of whole responses: `Overall grades:`."""
TOTAL_WORDS = frozenset(words.TOTAL_WORDS.split())
NEUTRAL_WORDS = (
    RATING_WORDS
    | TOTAL_WORDS
    | frozenset(words.NEUTRAL_WORDS.split())
    | frozenset(RESPONSE_NOUNS.split())
)
HEADING_WORDS = NEUTRAL_WORDS | frozenset(words.HEADING_WORDS.split())
SEGMENT_END = re.compile(r"[.!?;][*_\"”’)\]]*\s|\n")
LETTER = re.compile(r"(?<![\w'’])[AB](?![\w'’])")
PAIR_WORD = re.compile(rf"(?i)\b(?:{words.PAIR_WORDS})\b")
TOPIC_START = re.compile(rf"(?i)\W*(?:{words.TOPIC_STARTS})\b")
"""The beginning of a sentence that names a criterion, such as `As for the layout`."""
OPEN_END = re.compile(r"[:?：？][*_ \t]*\Z")
HEADING = re.compile(r"(?m)^[ \t]*(?:#+[ \t]+[^\n]*|\*\*[^*\n]+\*\*:?[ \t]*)$")
"""A heading in Markdown, such as `### Style` or `**Style**`."""
CONCESSION = re.compile(rf"(?i)\b(?:{words.CONCESSIONS})\b")
OPPOSING_SENTENCE = re.compile(rf"(?i)(?:[.!?][*_\"”’)]*\s+|\n)\W*(?:{words.OPPOSING_STARTS})\b")
"""A sentence after the marks that weighs something else more, such as `However, B is off topic`."""
LONGEST_TOPIC = 6
"""Largest number of words of a line above marks that is a heading although no sign says so."""
LONGEST_TOPIC_SENTENCE = 4
"""Largest number of words of a sentence before marks that is a heading, such as `Step 1: tone.`"""
SEARCHED_BEFORE = 300
"""Number of characters before a mark that are searched for its heading."""
SEARCHED_AFTER = 600
"""Number of characters after a mark that are searched for a concession."""


def is_neutral(label: str) -> bool:
    """Return whether a heading or the label of a row names no criterion: `Overall`, `My grades`."""
    return all(word.lower() in NEUTRAL_WORDS for word in WORD.findall(label))


def is_total(label: str) -> bool:
    """Return whether a label says that its marks stand for whole responses: `Overall score`."""
    return is_neutral(label) and any(word.lower() in TOTAL_WORDS for word in WORD.findall(label))


def is_neutral_heading(line: str) -> bool:
    """Return whether a heading or line names no criterion: `Overall`, `Here is a score table:`."""
    return all(word.lower() in HEADING_WORDS for word in WORD.findall(line))


def is_of_criterion(text: str, place: int) -> bool:
    """Return whether the words before a place say that a mark there is about one criterion.

    The words are those of its clause; if these are neutral, the line or sentence before it, and the
    last heading.

    Args:
        text: the judge's own words.
        place: where the mark, or the name that it belongs to, begins.
    """
    *previous, lead = SEGMENT_END.split(text[max(0, place - SEARCHED_BEFORE) : place])
    if not is_neutral(lead):
        return True
    if any(word.lower() in RATING_WORDS for word in WORD.findall(lead)):
        return False
    headings = HEADING.findall(text, 0, place)
    if headings and not is_neutral_heading(headings[-1]) and not LETTER.search(headings[-1]):
        return True
    start = place - len(lead)
    for segment in reversed(previous):
        start = text.rfind(segment, 0, start)
        if WORD.search(segment):
            return _names_criterion(segment, text[start + len(segment) :][:1])
    return False


def _names_criterion(segment: str, end: str) -> bool:
    """Return whether a line or sentence before marks names what they are about.

    Args:
        segment: the line or sentence without its final sign.
        end: the sign or line break that ends it.
    """
    if is_neutral_heading(segment):
        return False
    if end == "?" or OPEN_END.search(segment) or TOPIC_START.match(segment):
        return True
    if LETTER.search(segment) or PAIR_WORD.search(segment):
        return False
    longest = LONGEST_TOPIC if end in ("", "\n") else LONGEST_TOPIC_SENTENCE
    return len(WORD.findall(segment)) <= longest


def changes_criterion(between: str) -> bool:
    """Return whether the text between the marks of two responses gives the second another topic.

    Args:
        between: the text from the end of the first mark to the name of the second response.
    """
    *previous, lead = SEGMENT_END.split(between)
    if not is_neutral(lead):
        return True
    return any(OPEN_END.search(part) or TOPIC_START.match(part) for part in previous)


def is_conceded(rest: str) -> bool:
    """Return whether the rest of a mark's sentence limits the mark, as `, if dry` does."""
    end = SEGMENT_END.search(rest)
    return CONCESSION.search(rest[: end.start()] if end else rest) is not None


def is_outweighed(after: str) -> bool:
    """Return whether a later sentence opposes the marks before it, as `However, ...` does."""
    return OPPOSING_SENTENCE.search(after[:SEARCHED_AFTER]) is not None


def is_blamed(after: str, preferred: str) -> bool:
    """Return whether the words after a mark blame its response.

    Args:
        after: the text after the mark of the response that the verdict does not prefer.
        preferred: the letter of the other response. The words up to this name are checked.
    """
    other_name = re.search(rf"(?<![\w'’]){preferred}(?![\w])", after)
    description = after[: other_name.start()] if other_name else after
    return any(map(has_fault, SEGMENT_END.split(description[:SEARCHED_AFTER])))


def is_quoted_as_content(text: str, mark: str) -> bool:
    """Return whether a mark is what a response says: `bad is the right label`."""
    quoted = re.escape(mark)
    is_right = rf"{quoted}\W{{1,3}}(?:is|was)\W+(?:the |what )?(?:{words.RIGHT_WORDS})"
    right_is = rf"\b(?:{words.RIGHT_WORDS})\b[^.!?\n]{{0,30}}(?:\bis|:|=)\W{{1,3}}{quoted}"
    return re.search(rf"(?i){is_right}|{right_is}", text) is not None
