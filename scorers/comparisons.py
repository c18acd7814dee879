"""Sentences in replies that prefer one response as a whole: `A wins`, `B is worse`, `I prefer the first one`."""

import re
from collections.abc import Iterator

from podium.scorers import reply_words as words
from podium.scorers.verdict_statements import TOKEN, Statement, is_introductory

LETTER = r"(?P<letter>(?-i:[AB]))(?<![A-Za-z0-9_].)(?![A-Za-z0-9_'’])[*_\"'\])]*"
ORDINAL = rf"(?:(?P<first>{words.FIRST})|(?P<second>{words.SECOND}))"
NOUN = rf"(?:(?:the|die|la|el|is|ist|est|es|{'|'.join(words.RESPONSE_NOUNS.split())}) ){{0,3}}[*_\"'\[(]*"
PREDICATE = rf"[ ,]*(?:(?P<wins>{words.WINS})|(?P<loses>{words.LOSES}))"
FORMS = tuple(
    (tuple(frozenset(spoken.split()) for spoken in triggers), re.compile(form, re.IGNORECASE))
    for *triggers, form in (
        (words.WINS_WORDS, LETTER + PREDICATE),
        (words.WINS_WORDS, words.ORDINAL_WORDS, rf"\b{ORDINAL}\b{PREDICATE}"),
        (words.PREFERS_WORDS, rf"\b{words.PREFERS}[ ,:]*{NOUN}(?:{LETTER}|{ORDINAL}\b)"),
        (words.EQUAL_WORDS, rf"(?P<equal>{words.EQUAL})"),
        (words.ONLY, rf"\b(?:{'|'.join(words.ONLY.split())}) {NOUN}{LETTER}(?= \w)"),
    )
)
"""Forms of comparisons, each with sets of words; a sentence of that form has a word of each set."""
ANY_WORD = frozenset().union(*(triggers[0] for triggers, _ in FORMS))
CHINESE = re.compile(r"[\u4e00-\u9fff]")
CHINESE_FORMS = tuple(
    map(
        re.compile,
        (
            rf"(?:{LETTER}|{ORDINAL})(?:(?P<wins>{words.CHINESE_WINS})|(?P<loses>{words.CHINESE_LOSES}))",
            rf"{words.CHINESE_PREFERS}(?:回答|答案)?[ ]?(?:{LETTER}|{ORDINAL})",
            rf"(?P<equal>{words.CHINESE_EQUAL})",
        ),
    )
)
CONCESSION = re.compile(words.CONCEDES, re.IGNORECASE)
NEGATION = re.compile(words.NEGATIONS, re.IGNORECASE)
ASPECT = re.compile(rf"(?!{words.EVERY}){words.ASPECTS}", re.IGNORECASE)
SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]?")
WORD = re.compile(r"\w+")
OTHER = {"A": "B", "B": "A"}


def find_comparisons(view: str, start: int, end: int) -> Iterator[Statement]:
    """Yield the sentences that prefer a response as a whole (A, B, or C for neither), `marked` if only introductory
    words stand before; conditions, concessions and single aspects are left out."""
    text = view[start:end]
    if ANY_WORD.isdisjoint(WORD.findall(text.lower())) and (text.isascii() or not CHINESE.search(text)):
        return
    for sentence in SENTENCE.finditer(view, start, end):
        begin, stop = sentence.span()
        for phrase in _in_sentence(view, begin, stop):
            before = view[begin : phrase.start()].rpartition(";")[2]
            groups = phrase.groupdict()
            is_aspect = not groups.get("equal") and ASPECT.match(view, phrase.end(), end)
            if CONCESSION.search(before) or NEGATION.search(phrase[0]) or is_aspect:
                continue
            value, place = _preferred_response(phrase, groups)
            is_whole = all(is_introductory(token["word"]) for token in TOKEN.finditer(before))
            yield Statement(phrase.start(), phrase.end(), place, value, "marked" if is_whole else "mention")


def _in_sentence(view: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield the comparisons in a sentence, in the forms whose words it has."""
    sentence = view[start:end]
    spoken = frozenset(WORD.findall(sentence.lower()))
    for triggers, form in FORMS:
        if all(not spoken.isdisjoint(any_of) for any_of in triggers):
            yield from form.finditer(view, start, end)
    if not sentence.isascii() and CHINESE.search(sentence):
        for form in CHINESE_FORMS:
            yield from form.finditer(view, start, end)


def _preferred_response(phrase: re.Match[str], groups: dict[str, str | None]) -> tuple[str, int]:
    """Return the letter that a comparison prefers, and the place of the name in it."""
    if groups.get("equal"):
        return "C", phrase.start()
    name = next(group for group in ("letter", "first", "second") if groups.get(group))
    letter = {"first": "A", "second": "B"}.get(name) or phrase[name]
    return (OTHER[letter] if groups.get("loses") else letter), phrase.start(name)
