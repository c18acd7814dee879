"""The one reader of replies: the verdict is the judge's last own statement of one, unless another
statement contradicts it, the text before it attributes it to somebody else, or the text after it
takes it back."""

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from podium.scorers import reply_words as words
from podium.scorers.comparisons import find_comparisons
from podium.scorers.reply import Reply, no_verdict
from podium.scorers.reply_structure import MASK, Span, own_words
from podium.scorers.verdict_statements import (
    LINE,
    LIST_MARK,
    MOST_STATEMENTS,
    SENTENCE_START,
    TOKEN,
    Pattern,
    Statement,
    find_statements,
    is_introduction,
    is_introductory,
    states_other_letter,
)

LONGEST_REST = 10_000
"""Characters after a verdict; longer texts are no explanation."""
SHORTEST_LEAD, LONGEST_LEAD = 3, 200
"""Characters of the line before a verdict that are looked at."""
SHORT_LINE = 30
LONGEST_GAP = 500
"""Characters before a verdict in which the last line with words is looked for."""
NEAR = 250
"""Characters before a verdict in which a comparison may contradict it."""
BROKEN_BRACKETS = re.compile(
    r"\[\[[^\[\],\n]{0,20}(?:\](?!\])|\[|\n|\Z)|(?<!\[)\[[^\[\],\n]{1,20}\]\]"
)
BRACKETED = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]")
TWO_ON_A_LINE = re.compile(
    r"^[^\w\n\[]*+\[\[([^\[\]\n]++)\]\][^\w\n\[]++\[\[(?!\1\]\])[^\[\]\n]++\]\][^\w\n]*$",
    re.MULTILINE,
)
COMPLETE = re.compile(rf"[.!?…。！？:：)）\]\"”»’{MASK}|]\Z")
OPEN_ENDS = frozenset(words.OPEN_ENDS.split())
LAST_WORD = re.compile(r"(\w+(?:['’]\w+)?)\W*\Z")
CONDITION_STARTS = re.compile(
    r"(?i)\W*(?:if|had|were|should|unless|supposing|assuming|suppose|provided|in case|wenn|falls|hätte|wäre|si"
    r"|supposons|suponiendo|если|допустим)\b|\W*(?:如果|假如|若)"
)
HEADING = re.compile(
    r"[\[(<=#*_~-]+[^.!?:]*\b(?:response|answer|candidate|assistant) [AB]\b[^.!?:]*[\])>=#*_~-]+",
    re.IGNORECASE,
)
"""A line between signs that names a response, whose text may follow."""
WHICH = re.compile(
    r"(?:^|[.!?:]\s)\W*(?:so\s)?(?!.*\bworse)(?:which|welche|laquelle|quelle|cuál|какой|哪)",
    re.IGNORECASE,
)
"""A question that the verdict after it answers."""
LABEL = re.compile(r"\W*(?:response )?[AB]\W*[:)]|[^:\n]{1,40}: +\S", re.IGNORECASE)
COLON = re.compile(r"[:：][*_ \t]*\n")
QUOTED_TEXT = re.compile(
    r"(?i)\b(?:samples?|cop(?:y|ies)|again|verbatim|frame|text|quot(?:e|ing|es)|ends?|ending|says|reads|writes|states|contains|"
    r"includes?|message|end(?:et|s)|enthält|contient|contiene|содержит)\b|内容|写道"
)
RESPONSE = re.compile(
    r"(?i)(?<![A-Za-z])[AB](?![A-Za-z])|\b(?:its?|responses?|first|second|one|antwort|réponse|respuesta|ответ\w*)\b|回答"
)
"""With `QUOTED_TEXT`, in a line that ends with a colon: opens a quotation without quotation
marks."""
SENTENCE_END = re.compile(r"[.!?][*_\"”’)\]]*(?=\s)|[。！？]|\n")
RETRACTION_START = re.compile(
    rf"[\s*_<>\-–—(\[#~\"“.,;:]*(?:{words.RETRACTION_STARTS})", re.IGNORECASE
)
# Searched in texts in lower case, which is faster than to ignore case.
ABOUT_NEXT, RETRACTION = map(re.compile, (words.ABOUT_NEXT, words.RETRACTIONS))
SELF_REFERENCE, HARMLESS = map(re.compile, (words.SELF_REFERENCE, words.HARMLESS_SELF_REFERENCE))
EXPLANATION = re.compile(words.EXPLANATION, re.IGNORECASE)
SAME_LINE = re.compile(r"[ \t]*(?:[:：;–—-]|\(no )[ \t]*\w+ \w+ \w| [a-zа-яё]")
"""A sign or a word in lower case after a verdict, before its explanation on the same line."""
SUBJECT = re.compile(rf"{words.SUBJECTS}|\b(?:{words.TIES})\b", re.IGNORECASE)
CONTINUES = re.compile(
    r"[ \t]*\n\s*(?![a-z_]+ ?:|(?:because|since|as|response|the|it|a|b|both|weil|denn|car|parce|porque)\b)"
    r"[a-zа-яёäöüàâçéèêîôû]"
)
"""A line after the verdict that goes on in lower case, so that the verdict is part of a
sentence."""
ATTRIBUTION = re.compile(
    r"\n\s*(?:--+|[—–]|-(?= the))\s*(?:the )?(?:\w+ )?(?:response|answer|author)\W*(?:[AB]\W*)?\Z",
    re.IGNORECASE,
)
"""A last line that says whose words stand before it: `-- Response A`."""
PRONOUN_LOSES = re.compile(
    rf"\W*(?:it|sie|elle|él|ella|он)(?: |(?='s))?(?:{words.LOSES})", re.IGNORECASE
)
LAST_NAME = re.compile(
    rf"(?:(?<![A-Za-z0-9_°])(?P<letter>[ABC])|(?P<first>{words.FIRST})|(?P<second>{words.SECOND}))[*_\"')\]]*"
    r"[.!。！ ,]*(?:please|instead|it is|bitte|sorry|then|actually|rather|after all)?[.! ]*\Z"
)
ABOUT_LETTER = re.compile(rf"\b(?:{words.PREPOSITIONS})\b\W*(?:\w+\W+){{0,2}}?\Z", re.IGNORECASE)
"""Words before a letter at the end of a sentence that make it no verdict."""
WORDS = re.compile(r"\w")
Counts = Callable[[Statement, bool, bool], bool]
"""Whether a value without a name counts: by its statement, and whether its line is the first and
the last one."""
Compares = Literal["ends", "last", "never"]
Parse = Callable[[str], str | None]


class Found(NamedTuple):
    """A verdict as it was read: its place in the text and its value as it is written."""

    place: int
    value: str


def read_statement(
    reply: Reply,
    value: Pattern,
    parse: Parse,
    counts: Counts,
    *,
    signs: Pattern | None = None,
    compares: Compares = "never",
) -> Found | str:
    """Return the verdict of a reply, or the reason why there is none.

    `value` matches a value, which `parse` converts to its canonical spelling (None if it is out of
    range). If a level in double square brackets was asked for, `signs` matches a sign that each
    line with one has. `compares` says where sentences such as `A is better` state the verdict: in
    the first and last line, or the last.
    """
    view = own_words(reply.text) if not reply.reason_of_silence else None
    if view is None:
        return reply.reason_of_silence or "no verdict"
    if not WORDS.search(view) or (
        signs and "[[" in view and BROKEN_BRACKETS.search(view, view.find("["))
    ):
        return no_verdict(reply.text)
    lines = [line.span() for line in LINE.finditer(view)]
    stated = find_statements(view, lines, value, signs)
    if len(stated) > MOST_STATEMENTS:
        return "several verdicts"
    with_words = (
        next(span for span in order if WORDS.search(view, *span)) for order in (lines, lines[::-1])
    )
    own = _own_statements(view, stated, tuple(with_words), counts, compares)
    if not own:
        return no_verdict(view)
    reading = _decide(
        view, own, [statement for statement in stated if statement.form == "mention"], parse
    )
    if (
        compares == "ends"
        and isinstance(reading, Found)
        and _has_other_letters(view, lines, reading)
    ):
        return "several verdicts"
    if signs and isinstance(reading, Found):
        if view.count("[[") > 1 and TWO_ON_A_LINE.search(view):
            return "several verdicts"
        later = {parse(level.strip()) for level in BRACKETED.findall(view, reading.place)}
        return "several verdicts" if later - {None, reading.value} else reading
    return reading


def _own_statements(
    view: str, stated: list[Statement], ends: tuple[Span, ...], counts: Counts, compares: Compares
) -> list[Statement]:
    """Return the statements that count or, if there are none, sentences that compare the responses;
    `ends` are the first and the last line with words."""
    (_, first_end), (last_start, _) = ends
    own = [
        each
        for each in stated
        if each.form == "marked" or counts(each, each.start <= first_end, each.end > last_start)
    ]
    if own or compares == "never":
        return own
    lines = sorted(set(ends if compares == "ends" else ends[1:]))
    short = [(start, end) for start, end in lines if end - start < LONGEST_REST]
    compared = chain.from_iterable(find_comparisons(view, *span) for span in short)
    return [statement for statement in compared if statement.form == "marked"]


def _has_other_letters(view: str, lines: Sequence[Span], reading: Found) -> bool:
    """Return whether another short line, not of a table, states another letter."""
    short = (
        view[start:end]
        for start, end in lines
        if end - start < SHORT_LINE and not start <= reading.place < end
    )
    return any("|" not in line and states_other_letter(line, reading.value) for line in short)


def _decide(
    view: str, own: list[Statement], mentions: list[Statement], parse: Parse
) -> Found | str:
    """Return the last own statement, or why it does not count."""
    own.sort(key=lambda statement: statement.start)
    last = own[-1]
    final = parse(last.value)
    values = [each.value for each in own] + [each.value for each in mentions if each.value != "I"]
    others = {parse(value) or value for value in values}
    if final is None:
        return "out of range" if len(own) == 1 else "several verdicts"
    if others - {final}:
        return "several verdicts"
    spans = [(statement.start, statement.end) for statement in own]
    reason = _reason_of_context(view, spans) or _reason_of_contradiction(
        view, last, final, _text_after(view, spans)
    )
    return reason or Found(last.place, final)


def _text_after(view: str, spans: Sequence[Span]) -> str:
    """Return the text after the first span, without the other spans."""
    begins = [begin for begin, _ in spans[1:]] + [len(view)]
    return "".join(view[end:begin] for (_, end), begin in zip(spans, begins, strict=True))


def _reason_of_context(view: str, spans: Sequence[Span]) -> str | None:
    """Return why the text around equal verdicts makes none of them the judge's own, or takes them
    back."""
    if ATTRIBUTION.search(view, max(0, len(view) - NEAR)):
        return "reported"
    before = [reason_before(view, begin) for begin, _ in spans]
    return (before[-1] if all(before) else None) or reason_after(_text_after(view, spans))


def _reason_of_contradiction(view: str, last: Statement, final: str, rest: str) -> str | None:
    """Return `several verdicts` if a comparison near the verdict prefers another response."""
    if final[:1] not in ("A", "B", "C"):
        return None
    preferred = "C" if "=" in final else final[0]
    rest = rest if WORDS.search(rest) else ""
    near = chain(
        find_comparisons(view, max(0, last.start - NEAR), last.place),
        find_comparisons(rest, 0, len(rest)),
    )
    is_contradicted = any(statement.value != preferred for statement in near) or (
        preferred != "C"
        and (
            PRONOUN_LOSES.match(rest)
            or any(_ends_with_other(said, preferred) for said in _sentences(rest))
        )
    )
    return "several verdicts" if is_contradicted else None


def _ends_with_other(sentence: str, preferred: str) -> bool:
    """Return whether a sentence after a verdict ends with the name of another response."""
    reading = LAST_NAME.search(sentence.rstrip())
    if reading is None or ABOUT_LETTER.search(sentence[: reading.start()]):
        return False
    return (reading["letter"] or ("A" if reading["first"] else "B")) != preferred


def reason_around(view: str, spans: Sequence[Span]) -> str | None:
    """Return why objects at these places of a reply are not the judge's own verdict; None if they
    are."""
    start = spans[-1][0]
    line = view[view.rfind("\n", 0, start) + 1 : start]
    clause = LIST_MARK.sub("", line)
    clause = clause[_last_sentence(clause) :]
    if not all(
        is_introductory(token["word"]) for token in TOKEN.finditer(re.sub(r"\\\w+|_", " ", clause))
    ):
        return "reported"
    return _reason_of_context(view, spans)


def reason_before(view: str, start: int) -> str | None:
    """Return `reported` if the text before a verdict makes it somebody else's, a condition, a plan
    or a question."""
    line = view.rfind("\n", 0, start) + 1
    before = LIST_MARK.sub("", view[max(line, start - LONGEST_LEAD) : start]).strip()
    if WORDS.search(before) or MASK in before:
        is_asked = before.endswith("?") and not WHICH.search(before)
        return "reported" if is_asked or ABOUT_NEXT.search(before.lower()) else None
    if opens_quotation(view, start):
        return "reported"
    previous = _previous_line(view, line)
    return None if previous is None or leads_to_own_verdict(previous) else "reported"


def opens_quotation(view: str, start: int) -> bool:
    """Return whether a line before a verdict, not the last one, announces a text of a response that
    may last to it."""
    for colon in COLON.finditer(view, max(0, start - NEAR), start):
        line = view[
            max(view.rfind("\n", 0, colon.start()) + 1, colon.start() - 200) : colon.start()
        ]
        clause = line[_last_sentence(line) :]
        following = view[colon.end() : colon.end() + 40].lstrip("\n \t")[:1]
        if (
            following not in ("", MASK, "-", "*", "+")
            and QUOTED_TEXT.search(clause)
            and RESPONSE.search(clause)
        ):
            return True
    return False


def _last_sentence(text: str) -> int:
    """Return the start of the last sentence, but not of one after a comma."""
    starts = [
        mark.end()
        for mark in SENTENCE_START.finditer(text.rstrip(".!?。！？ "))
        if mark[0][0] != ","
    ]
    return starts[-1] if starts else 0


def _previous_line(view: str, end: int) -> str | None:
    lines = view[max(0, end - LONGEST_GAP) : end].split("\n")
    return next(
        (
            line.strip()[-LONGEST_LEAD:]
            for line in lines[::-1]
            if WORDS.search(line) or MASK in line
        ),
        None,
    )


def leads_to_own_verdict(line: str) -> bool:
    """Return whether a line before a verdict is complete, or introduces the verdict as the judge's
    own."""
    bare = line.rstrip("*_`~ \t\r")
    clause = bare[_last_sentence(bare) :]
    if HEADING.fullmatch(line):
        return False
    if ABOUT_NEXT.search(bare.lower()) or bare.endswith((":", "：")):
        return is_introduction(clause)
    if bare.endswith("?"):
        return WHICH.search(clause) is not None
    is_finished = LIST_MARK.match(line) or LABEL.match(line)
    is_short = len(bare.strip("#>-* ")) < SHORTEST_LEAD
    if (
        is_short
        or COMPLETE.search(bare)
        or (is_finished and not (_is_open(bare) or CONDITION_STARTS.match(clause)))
    ):
        return True
    return is_introduction(clause)


def reason_after(rest: str) -> str | None:
    """Return why the text after a verdict takes it back; None if it explains the verdict or there
    is none."""
    if not WORDS.search(rest):
        return "reported" if MASK in rest and not rest.strip().startswith(MASK) else None
    if len(rest) > LONGEST_REST:
        return "several verdicts"
    if CONTINUES.match(rest):
        return "reported"
    low = rest.lower()
    speaks = SELF_REFERENCE.search(low) and any(
        SELF_REFERENCE.search(HARMLESS.sub("", said)) for said in _sentences(low)
    )
    if speaks or RETRACTION.search(low) or rest.rstrip().endswith("?"):
        return "retracted"
    sentences = [sentence for sentence in _sentences(rest) if WORDS.search(sentence)]
    if any(RETRACTION_START.match(sentence) for sentence in sentences):
        return "retracted"
    is_explained = sentences and (SAME_LINE.match(rest) or EXPLANATION.match(sentences[0]))
    if sentences and not (is_explained or SUBJECT.search(sentences[0])):
        return "retracted"
    ending = rest.rstrip()
    is_cut_off = ending.endswith((",", ";", "，")) or (
        not COMPLETE.search(ending) and _is_open(rest)
    )
    return "truncated" if is_cut_off else None


def _sentences(text: str) -> list[str]:
    starts = [0, *(end.end() for end in SENTENCE_END.finditer(text))]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _is_open(text: str) -> bool:
    """Return whether a sentence goes on after the last word of a text."""
    last = LAST_WORD.search(text)
    return last is not None and last[1] != "A" and last[1].lower() in OPEN_ENDS
