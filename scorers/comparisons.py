"""Sentences in replies that prefer one response as a whole: `A wins`, `B is worse`, `I prefer the
first one`."""

import re
from collections.abc import Iterator

from podium.scorers import reply_words as words
from podium.scorers.verdict_statements import LETTERS, TOKEN, Form, Statement, is_introductory

LETTER = r"(?P<letter>(?-i:[AB]))(?<![A-Za-z0-9_].)(?![A-Za-z0-9_'’])[*_\"'\])]*"
NAME = rf"(?:{LETTER}|(?:(?P<first>{words.FIRST})|(?P<second>{words.SECOND}))(?![a-zа-я]))"
NOUN = rf"(?:(?:the|die|la|el|is|ist|est|es|{'|'.join(words.RESPONSE_NOUNS.split())}) ){{0,3}}[*_\"'\[(]*"
FORMS = tuple(
    (frozenset(triggers.replace("|", " ").split()), re.compile(form, re.IGNORECASE))
    for triggers, form in (
        (
            words.WINS_WORDS,
            rf"(?<!\w){NAME}[ ,]*(?:(?P<wins>{words.WINS})|(?P<loses>{words.LOSES}))",
        ),
        (
            words.PREFERS_WORDS,
            rf"\b(?=\w){words.PREFERS}[ ,:]*{NOUN}{NAME}",
        ),
        (words.EQUAL_WORDS, rf"(?P<equal>{words.EQUAL})"),
        (words.ONLY, rf"\b(?:{words.ONLY}) {NOUN}{LETTER}(?= \w)"),
    )
)
"""Forms of comparisons, each with words of which a sentence of that form has one."""
CHINESE = re.compile(r"[\u4e00-\u9fff]")
CHINESE_FORM = re.compile(rf"{NAME}{words.CHINESE_WINS}")
CONDITION = re.compile(r"\W*(?:if|unless|wenn|falls|si|если)\b(?!.*(?:,|;) ?but)", re.IGNORECASE)
CONCESSION = re.compile(words.CONCEDES)
CONCESSIVE = re.compile(
    r"\W*(?:although|though|while|even though|whereas)\b[^,]*,\W*|[^,]*,? ?\b(?:but|yet|however)\b",
    re.IGNORECASE,
)
"""A clause that concedes something, before the main one."""
NEGATION = re.compile(words.NEGATIONS, re.IGNORECASE)
ASPECT = re.compile(rf"(?!{words.EVERY}){words.ASPECTS}", re.IGNORECASE)
SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]?")
WORD = re.compile(r"\w+")
OTHER = {"A": "B", "B": "A"}


def find_comparisons(view: str, start: int, end: int) -> Iterator[Statement]:
    """Yield the sentences that prefer a response as a whole (A, B, or C for neither), `marked` if
    only introductory words stand before; conditions, concessions and single aspects are left
    out."""
    for sentence in SENTENCE.finditer(view, start, end):
        begin, stop = sentence.span()
        if CONDITION.match(view, begin, stop):
            continue
        for phrase in _in_sentence(view, begin, stop):
            before = view[begin : phrase.start()]
            before = before[conceded.end() :] if (conceded := CONCESSIVE.match(before)) else before
            groups = phrase.groupdict()
            is_aspect = not groups.get("equal") and ASPECT.match(view, phrase.end(), end)
            if CONCESSION.search(before.lower()) or NEGATION.search(phrase[0]) or is_aspect:
                continue
            value, place = _preferred_response(phrase, groups)
            spoken = (token["word"] for token in TOKEN.finditer(before))
            form: Form = (
                "marked"
                if all(is_introductory(word) or word in LETTERS for word in spoken)
                else "mention"
            )
            yield Statement(phrase.start(), phrase.end(), place, value, form)


def _in_sentence(view: str, start: int, end: int) -> Iterator[re.Match[str]]:
    sentence = view[start:end]
    spoken = frozenset(WORD.findall(sentence.lower()))
    for triggers, form in FORMS:
        if not triggers.isdisjoint(spoken):
            yield from form.finditer(view, start, end)
    if not sentence.isascii() and CHINESE.search(sentence):
        yield from CHINESE_FORM.finditer(view, start, end)


def _preferred_response(phrase: re.Match[str], groups: dict[str, str | None]) -> tuple[str, int]:
    """Return the letter that a comparison prefers, and the place of the name in it."""
    if groups.get("equal"):
        return "C", phrase.start()
    name = next(group for group in ("letter", "first", "second") if groups.get(group))
    letter = {"first": "A", "second": "B"}.get(name) or phrase[name]
    return (OTHER[letter] if groups.get("loses") else letter), phrase.start(name)
