"""What the text around marks says about them: whether they stand for whole responses.

Marks under a heading such as `Formatting:`, after `Regarding style,` or before `but` do not.
"""

import re

from podium.scorers import contradiction_words as words
from podium.scorers.faults import has_fault
from podium.scorers.reply_words import RESPONSE_NOUNS
from podium.scorers.stated_scores import OTHER_COUNTS

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
"""Words of a heading that names no criterion."""
LABEL_WORDS = TOTAL_WORDS | frozenset(words.LABEL_WORDS.split())
"""Words of the label of a row or column that stands for whole responses."""
WORDS_IN_LABELS = frozenset(words.WORDS_IN_LABELS.split())
"""Articles and other words of a label that say nothing about its kind."""
WEAK_LABEL_WORDS = RATING_WORDS | {"grade", "grades"} | frozenset(RESPONSE_NOUNS.split())
"""Words of a label that stands for whole responses only if the table has no criterion."""
TOPIC_NOUNS = frozenset(words.TOPIC_NOUNS.split())
"""Words of a label, such as `Reasoning:`, that name a criterion if another label does."""
CLOSING_NOUNS = frozenset(words.CLOSING_NOUNS.split())
"""Words such as `Result:`, which are like `TOPIC_NOUNS` unless they stand last."""
CRITERIA = frozenset(words.CRITERIA.split())
"""Names of criteria of which more is better."""
HEADING_WORDS = NEUTRAL_WORDS | frozenset(words.HEADING_WORDS.split())
"""Words of a heading or line over marks that names no criterion."""
SEGMENT_END = re.compile(r"[.!?;][*_\"”’)\]]*\s|[。！？；]|\n")
"""The end of a sentence, of a part that ends with a semicolon, or of a line."""
LETTER = re.compile(r"(?<![\w'’])[AB](?![\w'’])")
"""The letter of a response; not that of `A's`."""
PAIR_WORD = re.compile(rf"(?i)\b(?:{words.PAIR_WORDS})\b")
"""A word for both responses, such as `both`."""
TOPIC_START = re.compile(rf"(?i)\W*(?:{words.TOPIC_STARTS})\b")
"""The beginning of a sentence that names a criterion, such as `As for the layout`."""
OPEN_END = re.compile(r"[:?：？][*_ \t]*\Z")
"""The end of a text that introduces what follows it: a colon or a question mark."""
HEADING = re.compile(r"(?m)^[ \t]*(?:#+[ \t]+[^\n]*|\*\*[^*\n]+\*\*:?[ \t]*)$")
"""A heading in Markdown, such as `### Style` or `**Style**`."""
CONCESSION = re.compile(rf"(?i)\b(?:{words.CONCESSIONS})\b")
"""A word that opposes what stands before it, such as `despite` or `but`."""
REDEEMED = re.compile(rf"(?i)\b(?:{words.CONCESSIONS})\b[^.!?\n]*?\b(?:{words.REDEEMING})(?!\w)")
"""A concession with praise after it, such as `although long, it is correct`."""
FOR_BOTH = re.compile(rf"(?i)\b(?:{words.WORDS_FOR_BOTH})\b")
"""A word that says a mark is of both responses, such as `both`."""
OPPOSING_SENTENCE = re.compile(
    rf"(?i)(?:[.!?][*_\"”’)]*\s+|\n)\W*(?P<sentence>(?:{words.OPPOSING_STARTS})\b[^.!?\n]*)"
)
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
    """Return whether a heading or the label of a row names no criterion: `Overall`, `My grades`.

    All of its words must be in `NEUTRAL_WORDS`; a label without words names none.
    """
    return all(word.lower() in NEUTRAL_WORDS for word in WORD.findall(label))


def is_total(label: str) -> bool:
    """Return whether a label says that its marks stand for whole responses: `Overall score`."""
    return is_neutral(label) and any(word.lower() in TOTAL_WORDS for word in WORD.findall(label))


def is_label_of_response(label: str, other_labels: list[str]) -> bool:
    """Return whether the label of a row or column says that its marks stand for whole responses.

    Such a label is empty, or all of its words (besides articles and the like) are words such as
    `Overall`, `Rating` or `Verdict`. One such as `Quality` or `Grade` counts if the table has no
    criterion.

    Args:
        label: the label.
        other_labels: the labels of the other rows or columns of the table.
    """
    if is_total(label):
        return True
    names = {word.lower() for word in WORD.findall(label)} - WORDS_IN_LABELS
    if names <= LABEL_WORDS:
        return True
    return names <= LABEL_WORDS | WEAK_LABEL_WORDS and not any(
        map(_is_label_of_criterion, other_labels)
    )


def _is_label_of_criterion(label: str) -> bool:
    """Return whether the label of a row or column names a criterion, such as `Correctness`."""
    names = {word.lower() for word in WORD.findall(label)} - WORDS_IN_LABELS
    return not names.issubset(LABEL_WORDS | WEAK_LABEL_WORDS)


def is_desirable(label: str) -> bool:
    """Return whether the label of a row names a criterion of which more is better."""
    is_named = any(word.lower() in CRITERIA for word in WORD.findall(label))
    return is_named and not has_fault(label) and not OTHER_COUNTS.search(label)


def is_neutral_heading(line: str) -> bool:
    """Return whether a heading or line names no criterion: `Overall`, `Here is a score table:`.

    All of its words must be in `HEADING_WORDS`; a line without words names none.
    """
    return all(word.lower() in HEADING_WORDS for word in WORD.findall(line))


def is_of_criterion(text: str, place: int) -> bool:
    """Return whether the words before a place say that a mark there is about one criterion.

    The words are those of its clause; if these are neutral, the line or sentence before it, and the
    last heading. A neutral clause with a word for ratings, such as `grade`, is about the whole
    response, and a heading that names a response is no criterion. Clause, line and sentence are
    searched in the 300 characters before the place, the heading in the whole text before.

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


def may_be_criterion(text: str, place: int, *, is_last: bool) -> bool:
    """Return whether the label of a mark, such as `Reasoning:`, may name a criterion.

    Such a label names a criterion if another label of the reply does, which the caller checks. The
    label is the clause before the place if it has words; the result is False unless such a clause
    ends with a colon or question mark. Without words in the clause, the label is the last line or
    sentence with words. Only the 300 characters before the place are searched; without a label, the
    result is False.

    Args:
        text: the judge's own words.
        place: where the mark, or the name that it belongs to, begins.
        is_last: whether it stands after all others, so that `Result:` sums up.
    """
    *previous, lead = SEGMENT_END.split(text[max(0, place - SEARCHED_BEFORE) : place])
    if WORD.search(lead):
        label = lead if OPEN_END.search(lead) else ""
    else:
        label = next((segment for segment in reversed(previous) if WORD.search(segment)), "")
    names = {word.lower() for word in WORD.findall(label)} - WORDS_IN_LABELS
    nouns = TOPIC_NOUNS if is_last else TOPIC_NOUNS | CLOSING_NOUNS
    return bool(names) and names <= nouns


def _names_criterion(segment: str, end: str) -> bool:
    """Return whether a line or sentence before marks names what they are about.

    A question, a text that ends with a colon and a beginning such as `As for` name a criterion,
    unless all words are neutral (`is_neutral_heading`). Other text names one if it has at most 6
    words (in a line) or 4 (in a sentence) and names no response.

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
    """Return whether the rest of a mark's sentence limits the mark, as `, if dry` does.

    `rest` is the text after the mark; what follows the end of its sentence or line is ignored.
    """
    end = SEGMENT_END.search(rest)
    return CONCESSION.search(rest[: end.start()] if end else rest) is not None


def is_redeemed(rest: str) -> bool:
    """Return whether the rest of a low mark's sentence makes it weigh little: `, yet right`.

    `rest` is the text after the mark; what follows the end of its sentence or line is ignored.
    """
    end = SEGMENT_END.search(rest)
    return REDEEMED.search(rest[: end.start()] if end else rest) is not None


def is_outweighed(after: str, lower: str) -> bool:
    """Return whether a later sentence opposes the marks before it, as `However, ...` does.

    A sentence about both responses alike does not, nor one that blames the response with the lower
    mark only.

    Args:
        after: the text after the marks; its first 600 characters are searched.
        lower: the letter of the response with the lower mark.
    """
    for opposing in OPPOSING_SENTENCE.finditer(after[:SEARCHED_AFTER]):
        sentence = opposing["sentence"]
        named_letters = set(LETTER.findall(sentence))
        is_about_both = not named_letters and FOR_BOTH.search(sentence)
        if not is_about_both and not (named_letters == {lower} and has_fault(sentence)):
            return True
    return False


def is_blamed(after: str, preferred: str) -> bool:
    """Return whether the words after a mark blame its response.

    Args:
        after: the text after the mark of the response that the verdict does not prefer.
        preferred: the letter of the other response. The words up to this name are checked, at most
            600 characters of them.
    """
    other_name = re.search(rf"(?<![\w'’]){preferred}(?![\w])", after)
    description = after[: other_name.start()] if other_name else after
    return any(map(has_fault, SEGMENT_END.split(description[:SEARCHED_AFTER])))


def is_quoted_as_content(text: str, mark: str) -> bool:
    """Return whether a mark is what a response says: `bad is the right label`.

    One place in the text counts, in any case; `the right label is bad` counts, too. The text is
    that around the marks of both responses.
    """
    quoted = re.escape(mark)
    # Patterns of `MARK is right` and of `the right one is MARK`.
    mark_first = rf"{quoted}\W{{1,3}}(?:is|was)\W+(?:the |what )?(?:{words.RIGHT_WORDS})"
    mark_last = rf"\b(?:{words.RIGHT_WORDS})\b[^.!?\n]{{0,30}}(?:\bis|:|=)\W{{1,3}}{quoted}"
    return re.search(rf"(?i){mark_first}|{mark_last}", text) is not None
