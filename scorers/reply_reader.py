"""The reader of replies that all realizations with a text reply share.

The verdict is the last statement of a verdict in the judge's own words. It does not count if
another statement contradicts it, if the text before it attributes it to somebody else, or if the
text after it takes it back.

A view is the text of the reply in which everything but the judge's own words is masked
(`reply_structure.own_words`). Positions in the view are positions in the reply.
"""

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from podium.scorers import reply_words as words
from podium.scorers.comparisons import find_comparisons
from podium.scorers.contradictions import EXPLANATION, VerdictPlace, contradicts, is_unrelated
from podium.scorers.echoed_prompts import without_echo
from podium.scorers.reply import Reply, no_verdict
from podium.scorers.reply_structure import MASK, Span, own_words
from podium.scorers.stated_scores import is_score, preferred_by_scores
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
from podium.scorers.weak_preferences import find_weak_preference

LONGEST_REST = 10_000
"""Largest number of characters after a verdict. With more, the reply is unparsed, since the text is
too long for an explanation."""
SHORTEST_LEAD = 3
"""Lines with fewer characters, before a verdict, are not checked for being a complete sentence."""
LONGEST_LEAD = 200
"""Number of characters of the line before a verdict that are read, counted from its end."""
SHORT_LINE = 30
"""Only lines with fewer characters are searched for another letter than the verdict."""
LONGEST_GAP = 500
"""Number of characters before a verdict in which the last line with words is searched."""
NEAR = 250
"""Number of characters before a verdict that are searched for a comparison against it."""
# `[[A`, `[[A]` and `[A]]`: brackets that are not closed, or were not opened.
BROKEN_BRACKETS = re.compile(
    r"\[\[[^\[\],\n]{0,20}(?:\](?!\]|\s*\Z)|\[|\n|\Z)|(?<!\[)\[[^\[\],\n]{1,20}\]\]"
)
BRACKETED = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]")
# A line of two different levels and nothing else: `[[A>B]] / [[B>A]]`.
TWO_ON_A_LINE = re.compile(
    r"^[^\w\n\[]*+\[\[([^\[\]\n]++)\]\][^\w\n\[]++\[\[(?!\1\]\])[^\[\]\n]++\]\][^\w\n]*$",
    re.MULTILINE,
)
# A command such as `\boxed`, or an underscore.
LATEX_COMMAND = re.compile(r"\\\w+|_")
COMPLETE = re.compile(rf"[.!?…。！？:：)）\]\"”»’{MASK}|]\Z")
"""The sign with which a complete sentence or line ends."""
OPEN_ENDS = frozenset(words.OPEN_ENDS.split())
# The last word of a text (group 1).
LAST_WORD = re.compile(r"(\w+(?:['’]\w+)?)\W*\Z")
# The beginning of a condition: `If A were correct`.
CONDITION_STARTS = re.compile(
    r"(?i)\W*(?:if|had|were|should|unless|supposing|assuming|suppose|provided|in case|wenn|falls"
    r"|hätte|wäre|si|supposons|suponiendo|если|допустим)\b|\W*(?:如果|假如|若)"
)
HEADING = re.compile(
    r"[\[(<=#*_~-]+[^.!?:]*\b(?:response|answer|candidate|assistant) [AB]\b[^.!?:]*[\])>=#*_~-]+",
    re.IGNORECASE,
)
"""A heading that names a response, such as `### Response A`; its text may follow."""
WHICH = re.compile(
    r"(?:^|[.!?:]\s)\W*(?:so\s)?(?!.*\bworse)(?:which|welche|laquelle|quelle|cuál|какой|哪)",
    re.IGNORECASE,
)
"""A question that the verdict after it answers, such as `Which response is better?`"""
LABEL = re.compile(
    r"\W*(?:response )?[AB]\W*[:)✅❌✓✗👍👎]|[^:\n]{1,40}(?:: +|\s*(?:→|[=-]>)\s*)\S"
    r"|.*\b[AB] ?= ?\d"
    r"|(?=.*\bresponse a\b).*\bresponse b\b",
    re.IGNORECASE,
)
"""A line that describes the responses, such as `A: short`, `Accuracy: good` or `A = 7`, or that
names both."""
COLON = re.compile(r"[:：][*_ \t]*\n")
# A line that ends with a colon and matches both of these patterns, such as `Response A says:`,
# opens a quotation without quotation marks.
QUOTED_TEXT = re.compile(
    r"(?i)\b(?:samples?|cop(?:y|ies)|again|verbatim|frame|text|quot(?:e|ing|es)|ends?|ending|says"
    r"|reads|writes|states|contains|includes?|message|end(?:et|s)|enthält|contient|contiene"
    r"|содержит)\b|内容|写道"
)
RESPONSE = re.compile(
    r"(?i)(?<![A-Za-z])[AB](?![A-Za-z])"
    r"|\b(?:its?|responses?|first|second|one|antwort|réponse|respuesta|ответ\w*)\b|回答"
)
# The end of a sentence or line, with closing signs.
SENTENCE_END = re.compile(r"[.!?][*_\"”’)\]]*(?=\s)|[。！？]|\n")
# The beginning of a sentence that takes the verdict back: `Wait,`, `Actually,`.
RETRACTION_START = re.compile(
    rf"[\s*_<>\-–—(\[#~\"“.,;:]*(?:{words.RETRACTION_STARTS})", re.IGNORECASE
)
# These are searched in texts in lower case, which is faster than a pattern that ignores case.
ABOUT_NEXT = re.compile(words.ABOUT_NEXT)
RETRACTION = re.compile(words.RETRACTIONS)
SELF_REFERENCE = re.compile(words.SELF_REFERENCE)
HARMLESS = re.compile(words.HARMLESS_SELF_REFERENCE)
SAME_LINE = re.compile(r"[ \t]*(?:[:：;–—-]|\(no )[ \t]*\w+ \w+ \w| [a-zа-яё]")
"""The beginning of an explanation on the same line: `A: it is correct`, `A because ...`."""
# A topic of an explanation, or a word for a tie.
SUBJECT = re.compile(rf"{words.SUBJECTS}|\b(?:{words.TIES})\b", re.IGNORECASE)
CONTINUES = re.compile(
    r"[ \t]*\n\s*(?![a-z_]+ ?:"
    r"|(?:because|since|as|response|the|it|a|b|both|weil|denn|car|parce|porque)\b)"
    r"[a-zа-яёäöüàâçéèêîôû]"
)
"""A next line in lower case. The verdict before it is then only a part of a sentence."""
ATTRIBUTION = re.compile(
    r"\n\s*(?:--+|[—–]|-(?= the))\s*(?:the )?(?:\w+ )?(?:response|answer|author)\W*(?:[AB]\W*)?\Z",
    re.IGNORECASE,
)
"""A last line that says whose words stand before it: `-- Response A`."""
# A sentence after the verdict that says the opposite: `It is worse.`
PRONOUN_LOSES = re.compile(
    rf"\W*(?:it|sie|elle|él|ella|он)(?: |(?='s))?(?:{words.LOSES})", re.IGNORECASE
)
# The name of a response at the end of a sentence: `No, the second one, sorry.`
LAST_NAME = re.compile(
    rf"(?:(?<![A-Za-z0-9_°])(?P<letter>[ABC])|(?P<first>{words.FIRST})|(?P<second>{words.SECOND}))[*_\"')\]]*"
    r"[.!。！ ,]*(?:please|instead|it is|bitte|sorry|then|actually|rather|after all)?[.! ]*\Z"
)
LETTERED = re.compile(r"[AB](?<![\w'’].)(?![\w'’])")
"""A response that is named by its letter."""
ABOUT_LETTER = re.compile(rf"\b(?:{words.PREPOSITIONS})\b\W*(?:\w+\W+){{0,2}}?\Z", re.IGNORECASE)
"""Words before a name at the end of a sentence that make it no verdict, as in `better than B`."""
WORDS = re.compile(r"\w")
DIGIT = re.compile(r"\d")
Counts = Callable[[Statement, bool, bool], bool]
"""Function that returns whether a value counts although no word such as `verdict` names it.

Its arguments are the statement, whether it stands in the first line, and whether it stands in the
last line.
"""
Compares = Literal["ends", "last", "never"]
"""Lines in which a sentence such as `A is better` states the verdict (`read_statement`)."""
Parse = Callable[[str], str | None]
"""Function from a value as written to its canonical spelling; None if it is out of range."""


class StatedVerdict(NamedTuple):
    """A verdict that was read.

    Attributes:
        place: position of the verdict in the text.
        value: its canonical spelling.
        statement: the statement that gives it.
    """

    place: int
    value: str
    statement: Statement


def read_statement(
    reply: Reply,
    value: Pattern,
    parse: Parse,
    counts: Counts,
    *,
    signs: Pattern | None = None,
    compares: Compares = "never",
    is_pairwise: bool = True,
) -> StatedVerdict | str:
    """Return the verdict of a reply, or the reason why there is none.

    Args:
        reply: the reply.
        value: pattern of a value as it is written.
        parse: function from a value to its canonical spelling (see `Parse`).
        counts: function that says whether a value without a name is a verdict (see `Counts`).
        signs: pattern of a sign that a line with a level has, such as `[`; other lines are
            skipped. It is given only if a level in double square brackets was asked for.
        compares: where sentences such as `A is better` state the verdict: at both `ends` (the first
            and the last line), in the `last` line, or `never`. They count only if no value does.
        is_pairwise: whether a value prefers a response. If not, it rates one, whatever its first
            letter is.
    """
    if reply.reason_of_silence:
        return reply.reason_of_silence
    view = own_words(without_echo(reply.text))
    if view is None:
        return "no verdict"
    has_broken_brackets = signs and "[[" in view and BROKEN_BRACKETS.search(view, view.find("["))
    if not WORDS.search(view) or has_broken_brackets:
        return no_verdict(reply.text)
    lines = [line.span() for line in LINE.finditer(view)]
    statements = find_statements(view, lines, value, signs)
    if len(statements) > MOST_STATEMENTS:
        return "several verdicts"
    ends = (_first_with_words(view, lines), _first_with_words(view, lines[::-1]))
    verdicts = _verdict_statements(view, statements, ends, counts, compares)
    if not verdicts:
        return no_verdict(view)
    mentions = [statement for statement in statements if statement.form == "mention"]
    preferred_by = response_of_value if is_pairwise else _no_response
    reading = _decide(view, verdicts, mentions, parse, preferred_by)
    if isinstance(reading, str):
        return reading
    place = _verdict_place(reading, preferred_by(reading.value))
    if compares == "ends" and _has_other_letters(view, lines, reading):
        return "several verdicts"
    if signs and _has_other_levels(view, reading, parse):
        return "several verdicts"
    return _reason_of_whole_reply(view, place, compares) or reading


def _reason_of_whole_reply(view: str, place: VerdictPlace, compares: Compares) -> str | None:
    """Return why the reply as a whole speaks against its verdict; None if it does not."""
    if contradicts(view, place):
        return "several verdicts"
    if place.preferred and compares != "ends" and is_unrelated(view[place.end :]):
        return "reported"
    return None


def _no_response(value: str) -> str:
    """Return an empty text: a value that rates one response prefers none."""
    del value
    return ""


def _verdict_place(reading: StatedVerdict, preferred: str) -> VerdictPlace:
    """Return where a verdict stands.

    Args:
        reading: the verdict.
        preferred: the response that it prefers (`response_of_value`); empty if it rates one.
    """
    statement = reading.statement
    if statement.is_sentence:
        span = (statement.start, statement.end)
    else:
        span = (statement.place, statement.place + len(statement.value))
    return VerdictPlace(*span, statement.form, preferred, statement.is_sentence)


def response_of_value(value: str) -> str:
    """Return the letter of the response that a value prefers; C for neither.

    It is empty if the value is no letter or label but rates one response.
    """
    if value[:1] not in ("A", "B", "C"):
        return ""
    return "C" if "=" in value else value[0]


def _first_with_words(view: str, lines: Sequence[Span]) -> Span:
    """Return the first of some lines that has a word. At least one line must have one."""
    return next(span for span in lines if WORDS.search(view, *span))


def _verdict_statements(
    view: str,
    statements: list[Statement],
    ends: tuple[Span, Span],
    counts: Counts,
    compares: Compares,
) -> list[Statement]:
    """Return the statements that count as verdicts.

    If there are none, return the sentences that prefer a response, such as `A is better`, or else
    the sentence that praises it (`weak_preferences`).

    Args:
        view: the judge's own words.
        statements: all statements of a value.
        ends: the first and the last line with words.
        counts: see `Counts`.
        compares: lines in which sentences that prefer a response count (`read_statement`).
    """
    (_, first_end), (last_start, _) = ends
    verdicts = []
    for statement in statements:
        is_first = statement.start <= first_end
        is_last = statement.end > last_start
        if statement.form == "leading" and is_score(view, statement.place):
            continue
        if statement.form == "marked" or counts(statement, is_first, is_last):
            verdicts.append(statement)
    if verdicts or compares == "never":
        return verdicts
    # The first and the last line may be the same one.
    searched = set(ends) if compares == "ends" else {ends[1]}
    short = [(start, end) for start, end in sorted(searched) if end - start < LONGEST_REST]
    compared = list(chain.from_iterable(find_comparisons(view, *span) for span in short))
    if compared or compares != "ends" or len(view) > LONGEST_REST:
        return [statement for statement in compared if statement.form == "marked"]
    weak = find_weak_preference(view)
    return [weak] if weak else []


def _has_other_letters(view: str, lines: Sequence[Span], reading: StatedVerdict) -> bool:
    """Return whether another line states a letter that is not the verdict, and nothing else.

    Lines of 30 characters or more, lines of tables, and scores that agree with the verdict are
    ignored.
    """
    for start, end in lines:
        is_verdict = start <= reading.place < end
        if is_verdict or end - start >= SHORT_LINE:
            continue
        line = view[start:end]
        if "|" in line or not states_other_letter(line, reading.value):
            continue
        if not DIGIT.search(line) or preferred_by_scores(view) != reading.value:
            return True
    return False


def _has_other_levels(view: str, reading: StatedVerdict, parse: Parse) -> bool:
    """Return whether a reply has another level in double square brackets than the verdict.

    The other level stands on a line with two levels only, or after the verdict. After the verdict,
    brackets around anything that is no level are ignored.
    """
    if view.count("[[") > 1 and TWO_ON_A_LINE.search(view):
        return True
    later = {parse(level.strip()) for level in BRACKETED.findall(view, reading.place)}
    return bool(later - {None, reading.value})


def _decide(
    view: str,
    verdicts: list[Statement],
    mentions: list[Statement],
    parse: Parse,
    preferred_by: Callable[[str], str],
) -> StatedVerdict | str:
    """Return the last statement of a verdict, or the reason why it does not count.

    Args:
        view: the judge's own words.
        verdicts: the statements that count as verdicts; they are sorted in place.
        mentions: statements that do not count but may contradict the verdict.
        parse: see `Parse`.
        preferred_by: function from a value to the response that it prefers.
    """
    verdicts.sort(key=lambda statement: statement.start)
    last = verdicts[-1]
    final = parse(last.value)
    if final is None:
        return "out of range" if len(verdicts) == 1 else "several verdicts"
    values = [statement.value for statement in verdicts]
    # A mention of `I` is the pronoun.
    values += [statement.value for statement in mentions if statement.value != "I"]
    if {parse(value) or value for value in values} - {final}:
        return "several verdicts"
    spans = [(statement.start, statement.end) for statement in verdicts]
    reason = _reason_of_context(view, spans)
    if reason is None:
        after = _text_after(view, spans)
        reason = _reason_of_contradiction(view, last, preferred_by(final), after)
    return reason or StatedVerdict(last.place, final, last)


def _text_after(view: str, spans: Sequence[Span]) -> str:
    """Return the text after the first of some spans, without the text of the other spans.

    The spans are in order, and there is at least one.
    """
    ends = [end for _, end in spans]
    next_starts = [start for start, _ in spans[1:]] + [len(view)]
    gaps = zip(ends, next_starts, strict=True)
    return "".join(view[end:next_start] for end, next_start in gaps)


def _reason_of_context(view: str, spans: Sequence[Span]) -> str | None:
    """Return why equal verdicts at these spans do not count; None if they count.

    They do not count if the reply ends with the name of another speaker (`ATTRIBUTION`), if the
    text before every one of them says that it is not the judge's own (`reason_before`; directly
    after another verdict, the text before that one counts), or if the
    text after the first one takes it back (`reason_after`).
    """
    if ATTRIBUTION.search(view, max(0, len(view) - NEAR)):
        return "reported"
    reasons: list[str | None] = []
    previous_end = 0
    for start, end in spans:
        follows_verdict = reasons and not WORDS.search(view, previous_end, start)
        reasons.append(reasons[-1] if follows_verdict else reason_before(view, start))
        previous_end = end
    if all(reasons):
        return reasons[-1]
    return reason_after(_text_after(view, spans))


def _reason_of_contradiction(view: str, last: Statement, preferred: str, rest: str) -> str | None:
    """Return `several verdicts` if the text prefers another response than the verdict; else None.

    The text does in a comparison near the verdict, or in a later sentence that ends with the name
    of another response. Verdicts that name no response, such as grades, are not checked.

    Args:
        view: the judge's own words.
        last: the last statement of the verdict.
        preferred: the response that the verdict prefers; empty if it rates one.
        rest: the text after the verdict.
    """
    if not preferred:
        return None
    if not WORDS.search(rest):
        rest = ""
    near = chain(
        find_comparisons(view, max(0, last.start - NEAR), last.place),
        find_comparisons(rest, 0, len(rest)),
    )
    if any(statement.value != preferred for statement in near):
        return "several verdicts"
    if preferred == "C":
        return None
    if PRONOUN_LOSES.match(rest):
        return "several verdicts"
    if any(_ends_with_other(sentence, preferred) for sentence in _sentences(rest)):
        return "several verdicts"
    return None


def _ends_with_other(sentence: str, preferred: str) -> bool:
    """Return whether a sentence after a verdict ends with the name of another response.

    Args:
        sentence: the sentence.
        preferred: letter of the response that the verdict prefers.
    """
    name = LAST_NAME.search(sentence.rstrip())
    if name is None or ABOUT_LETTER.search(sentence[: name.start()]):
        return False
    letter = name["letter"]
    if letter is None:
        if LETTERED.search(sentence):
            return False  # as in `Response A skips the second one`
        letter = "A" if name["first"] else "B"
    return bool(letter != preferred)


def reason_around(view: str, spans: Sequence[Span]) -> str | None:
    """Return why objects at these spans of a reply are not the judge's own verdict.

    Returns:
        `reported` if the line before the last object has words that do not introduce a verdict, or
        a reason of `_reason_of_context`. None if the objects are the judge's own verdict.
    """
    start = spans[-1][0]
    line = view[view.rfind("\n", 0, start) + 1 : start]
    lead = LIST_MARK.sub("", line)
    clause = LATEX_COMMAND.sub(" ", lead[_last_sentence(lead) :])
    if not all(is_introductory(token["word"]) for token in TOKEN.finditer(clause)):
        return "reported"
    return _reason_of_context(view, spans)


def reason_before(view: str, start: int) -> str | None:
    """Return `reported` if the text before a verdict shows that it is not the judge's own.

    Else the result is None.
    The verdict may be somebody else's, a condition, a plan or a question. If words stand before it
    on its line, only these are checked; else the last line before it.

    Args:
        view: the judge's own words.
        start: position of the verdict.
    """
    line_start = view.rfind("\n", 0, start) + 1
    before = LIST_MARK.sub("", view[max(line_start, start - LONGEST_LEAD) : start]).strip()
    if WORDS.search(before) or MASK in before:
        is_question = before.endswith("?") and not WHICH.search(before)
        return "reported" if is_question or ABOUT_NEXT.search(before.lower()) else None
    if opens_quotation(view, start):
        return "reported"
    previous = _previous_line(view, line_start)
    if previous is None or leads_to_own_verdict(previous):
        return None
    return "reported"


def opens_quotation(view: str, start: int) -> bool:
    """Return whether a line before a verdict opens a quotation that may include the verdict.

    Such a line is `Response A ends:`. A masked quotation or a list after it does not count.

    Args:
        view: the judge's own words.
        start: position of the verdict.
    """
    for colon in COLON.finditer(view, max(0, start - NEAR), start):
        line_start = view.rfind("\n", 0, colon.start()) + 1
        line = view[max(line_start, colon.start() - LONGEST_LEAD) : colon.start()]
        clause = line[_last_sentence(line) :]
        first_sign = view[colon.end() : colon.end() + 40].lstrip("\n \t")[:1]
        if first_sign in ("", MASK, "-", "*", "+"):
            continue
        if QUOTED_TEXT.search(clause) and RESPONSE.search(clause):
            return True
    return False


def _last_sentence(text: str) -> int:
    """Return the start of the last sentence of a text. Commas do not separate sentences here."""
    start = 0
    for mark in SENTENCE_START.finditer(text.rstrip(".!?。！？ ")):
        if not mark[0].startswith(","):
            start = mark.end()
    return start


def _previous_line(view: str, end: int) -> str | None:
    """Return the last line before a position that has words or masked characters.

    Returns:
        The last 200 characters of the line. None if the 500 characters before the position have no
        such line.
    """
    lines = view[max(0, end - LONGEST_GAP) : end].split("\n")
    for line in reversed(lines):
        if WORDS.search(line) or MASK in line:
            return line.strip()[-LONGEST_LEAD:]
    return None


def leads_to_own_verdict(line: str) -> bool:
    """Return whether the verdict after a line is the judge's own.

    It is if the line is a complete sentence, an item of a list, or an introduction of the verdict.
    It is not after a heading that names a response, or after a question other than which response
    is better. A line that announces the next one, or ends with a colon, must be an introduction.
    """
    bare = line.rstrip("*_`~ \t\r")
    clause = bare[_last_sentence(bare) :]
    if HEADING.fullmatch(line):
        return False
    # What a sentence says of a response is no longer about the verdict that follows.
    about = clause if LETTERED.search(clause) else bare
    if ABOUT_NEXT.search(about.lower()) or bare.endswith((":", "：")):
        return is_introduction(clause)
    if bare.endswith("?"):
        return WHICH.search(clause) is not None
    is_short = len(bare.strip("#>-* ")) < SHORTEST_LEAD
    if is_short or COMPLETE.search(bare):
        return True
    is_item = LIST_MARK.match(line) or LABEL.match(line)
    if is_item and not _is_open(bare) and not CONDITION_STARTS.match(clause):
        return True
    return is_introduction(clause)


def reason_after(rest: str) -> str | None:
    """Return why a verdict does not count, given the text after it; None if the verdict counts.

    Returns:
        `retracted` if the text takes the verdict back, is about something else, or ends with a
        question mark. `reported` if the verdict is only a part of a longer sentence, or if the
        text has no words and a quotation that does not begin it. `truncated` if the text ends in
        the middle of a sentence. `several verdicts` if it has more than 10,000 characters. None if
        it explains the verdict or is empty.
    """
    if not WORDS.search(rest):
        has_later_quotation = MASK in rest and not rest.strip().startswith(MASK)
        return "reported" if has_later_quotation else None
    if len(rest) > LONGEST_REST:
        return "several verdicts"
    if CONTINUES.match(rest):
        return "reported"
    lowered = rest.lower()
    if _speaks_of_judge(lowered) or RETRACTION.search(lowered) or rest.rstrip().endswith("?"):
        return "retracted"
    sentences = [sentence for sentence in _sentences(rest) if WORDS.search(sentence)]
    if any(RETRACTION_START.match(sentence) for sentence in sentences):
        return "retracted"
    if sentences:
        is_explained = SAME_LINE.match(rest) or EXPLANATION.match(sentences[0])
        if not is_explained and not SUBJECT.search(sentences[0]):
            return "retracted"
    ending = rest.rstrip()
    is_cut_off = ending.endswith((",", ";", "，"))
    if is_cut_off or (_is_open(rest) and not COMPLETE.search(ending)):
        return "truncated"
    return None


def _speaks_of_judge(lowered: str) -> bool:
    """Return whether a text in lower case speaks of the judge itself, as `I` and `my` do.

    Phrases that explain a verdict, such as `I checked both`, are ignored.
    """
    if not SELF_REFERENCE.search(lowered):
        return False
    sentences = (HARMLESS.sub("", sentence) for sentence in _sentences(lowered))
    return any(SELF_REFERENCE.search(sentence) for sentence in sentences)


def _sentences(text: str) -> list[str]:
    """Split a text into sentences and lines, with their final signs."""
    starts = [0, *(mark.end() for mark in SENTENCE_END.finditer(text))]
    ends = [*starts[1:], len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def _is_open(text: str) -> bool:
    """Return whether the last word of a text, such as `the`, shows that its sentence goes on.

    These are the words of `OPEN_ENDS`. A capital A counts as a letter and not as the article.
    """
    last = LAST_WORD.search(text)
    return last is not None and last[1] != "A" and last[1].lower() in OPEN_ENDS
