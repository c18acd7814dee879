"""Sentences in replies that prefer one response as a whole.

Examples are `A wins`, `B is worse` and `I prefer the first one`.
"""

import re
from collections.abc import Iterator

from podium.scorers import reply_words as words
from podium.scorers.verdict_statements import (
    LETTERS,
    TOKEN,
    Form,
    Statement,
    is_introduction,
    is_introductory,
)

# The lookbehind stands after the letter, because this is searched faster.
LETTER = r"(?P<letter>(?-i:[AB]))(?<![A-Za-z0-9_].)(?![A-Za-z0-9_'’])[*_\"'\])]*"
"""The letter A or B that is not part of a word, with closing signs: `A`, `**A**`."""
NAME = rf"(?:{LETTER}|(?:(?P<first>{words.FIRST})|(?P<second>{words.SECOND}))(?![a-zа-я]))"
"""The name of a response: a letter, or words such as `the first one`."""
RESPONSE_NOUNS = "|".join(words.RESPONSE_NOUNS.split())
# Words that may stand directly before the name of a response, as in `I prefer the response A`.
WORDS_BEFORE_NAME = rf"(?:(?:the|die|la|el|is|ist|est|es|{RESPONSE_NOUNS}) ){{0,3}}[*_\"'\[(]*"
# `A wins` or `A is worse`.
FORM_OF_WINNER = rf"(?<!\w){NAME}[ ,]*(?:(?P<wins>{words.WINS})|(?P<loses>{words.LOSES}))"
# `I prefer A`.
FORM_OF_PREFERENCE = rf"\b(?=\w){words.PREFERS}[ ,:]*{WORDS_BEFORE_NAME}{NAME}"
# `Both are equal`.
FORM_OF_TIE = rf"(?P<equal>{words.EQUAL})"
# `Only A works`.
FORM_OF_ONLY = rf"\b(?:{words.ONLY}) {WORDS_BEFORE_NAME}{LETTER}(?= \w)"


def _comparison_form(triggers: str, form: str) -> tuple[frozenset[str], re.Pattern[str]]:
    """Return the trigger words and the compiled pattern of a form of comparisons.

    A sentence is searched for the pattern only if it has one of the trigger words.

    Args:
        triggers: the trigger words, separated by blanks or `|`.
        form: the pattern.
    """
    return frozenset(triggers.replace("|", " ").split()), re.compile(form, re.IGNORECASE)


FORMS = (
    _comparison_form(words.WINS_WORDS, FORM_OF_WINNER),
    _comparison_form(words.PREFERS_WORDS, FORM_OF_PREFERENCE),
    _comparison_form(words.EQUAL_WORDS, FORM_OF_TIE),
    _comparison_form(words.ONLY, FORM_OF_ONLY),
)
"""The forms of comparisons.

Each one has trigger words, one of which a sentence must have, and the pattern of the comparison.
"""
CHINESE = re.compile(r"[\u4e00-\u9fff]")
CHINESE_FORM = re.compile(rf"{NAME}{words.CHINESE_WINS}")
"""A response that wins in Chinese, such as `A更好`."""
# The beginning of a condition: `If A were complete`. A `, but` ends the condition.
CONDITION = re.compile(r"\W*(?:if|unless|wenn|falls|si|если)\b(?!.*(?:,|;) ?but)", re.IGNORECASE)
# Words before a comparison that turn it into a condition or a concession, or negate it.
CONCESSION = re.compile(words.CONCEDES)
CONCESSIVE_CLAUSE = re.compile(
    r"\W*(?:although|though|while|even though|whereas|despite)\b[^,]*,\W*"
    r"|[^,]*,? ?\b(?:but|yet|however)\b",
    re.IGNORECASE,
)
"""A clause before the main clause: `Although B is shorter,` or `B is shorter, but`."""
HEADING = re.compile(r"\W*(?P<words>\w+(?: \w+)?)[*_]*[:：]\W*")
"""A heading before a comparison. It limits the comparison unless it names the verdict."""
NEGATION = re.compile(words.NEGATIONS, re.IGNORECASE)
"""A word that negates, such as `not` or `n't`."""
# Words after a comparison that limit it to one aspect, as in `A is better at grammar`. Words that
# name every aspect, as in `in every way`, do not limit it.
ASPECT = re.compile(rf"(?!{words.EVERY}){words.ASPECTS}", re.IGNORECASE)
SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]?")
WORD = re.compile(r"\w+")
TIE = "C"
"""Letter of a verdict that prefers neither response."""
# The other response, by letter.
OTHER_RESPONSE = {"A": "B", "B": "A"}


def find_comparisons(view: str, start: int, end: int) -> Iterator[Statement]:
    """Yield the comparisons in a text, from `start` to `end`, that prefer a response as a whole.

    Questions, conditions, concessions, negated comparisons, and comparisons of single aspects are
    left out. A sentence may have several comparisons.

    Yields:
        Statements that span the comparison. Their value is the preferred response, A or B, or C if
        neither is preferred, and their place is that of the name in the comparison. Their form is
        `marked` if only introductory words stand before the comparison, else `mention`.
    """
    for sentence in SENTENCE.finditer(view, start, end):
        sentence_start, sentence_end = sentence.span()
        if CONDITION.match(view, sentence_start, sentence_end) or sentence[0].endswith("?"):
            continue
        for phrase in _phrases_of_sentence(view, sentence_start, sentence_end):
            words_before = view[sentence_start : phrase.start()]
            concession = CONCESSIVE_CLAUSE.match(words_before)
            if concession:
                words_before = words_before[concession.end() :]
            heading = HEADING.fullmatch(words_before)
            if heading and not is_introduction(heading["words"]):
                continue  # as in `Style: B wins`
            if CONCESSION.search(words_before.lower()) or NEGATION.search(phrase[0]):
                continue
            groups = phrase.groupdict()
            if not groups.get("equal") and ASPECT.match(view, phrase.end(), end):
                continue
            value, place = _preferred_response(phrase, groups)
            form: Form = "marked" if _only_introduces(words_before) else "mention"
            yield Statement(
                start=phrase.start(),
                end=phrase.end(),
                place=place,
                value=value,
                form=form,
                is_sentence=True,
            )


def _only_introduces(text: str) -> bool:
    """Return whether a text has only introductory words and letters of responses, or no words."""
    spoken = (token["word"] for token in TOKEN.finditer(text))
    return all(is_introductory(word) or word in LETTERS for word in spoken)


def _phrases_of_sentence(view: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield the matches of every form of comparisons in the sentence from `start` to `end`."""
    sentence = view[start:end]
    spoken_words = frozenset(WORD.findall(sentence.lower()))
    for triggers, form in FORMS:
        if not triggers.isdisjoint(spoken_words):
            yield from form.finditer(view, start, end)
    if not sentence.isascii() and CHINESE.search(sentence):
        yield from CHINESE_FORM.finditer(view, start, end)


def _preferred_response(phrase: re.Match[str], groups: dict[str, str | None]) -> tuple[str, int]:
    """Return the letter that a comparison prefers, and the position of the name in the text.

    If neither response is preferred, these are C and the start of the comparison.

    Args:
        phrase: match of the comparison.
        groups: the named groups of the match. `equal` is set if neither response is preferred,
            and `loses` if the named response is the worse one.
    """
    if groups.get("equal"):
        return TIE, phrase.start()
    # Exactly one of these groups has matched: the name is a letter or words.
    name = next(group for group in ("letter", "first", "second") if groups.get(group))
    if name == "first":
        letter = "A"
    elif name == "second":
        letter = "B"
    else:
        letter = phrase["letter"]
    preferred = OTHER_RESPONSE[letter] if groups.get("loses") else letter
    return preferred, phrase.start(name)
