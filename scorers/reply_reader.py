"""The reader of replies that all realizations with a text reply share.

The verdict is the last statement of a verdict in the judge's own words. It does not count if
another statement contradicts it, if the text before it attributes it to somebody else, or if the
text after it takes it back.

A view is the text of the reply in which everything but the judge's own words is masked
(`reply_structure.own_words`). Positions in the view are positions in the reply.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Literal, NamedTuple

from podium.scorers import reply_words as words
from podium.scorers.attributed_texts import attributes_text_before
from podium.scorers.comparisons import TIE, find_comparisons
from podium.scorers.conceded_limits import is_refused, without_conceded_limit
from podium.scorers.contradictions import EXPLANATION, VerdictPlace, contradicts, is_unrelated
from podium.scorers.described_pairs import is_described_beside_other, is_named_decision
from podium.scorers.echoed_prompts import without_echo
from podium.scorers.introduced_texts import is_introduced
from podium.scorers.reply import Reply, no_verdict
from podium.scorers.reply_structure import MASK, Span, mask, own_words
from podium.scorers.stated_marks import is_marked_name, is_preferred_by_marks
from podium.scorers.stated_scores import is_score, preferred_by_scores
from podium.scorers.verdict_statements import (
    LINE,
    LIST_MARK,
    MOST_STATEMENTS,
    TOKEN,
    Pattern,
    Statement,
    find_statements,
    is_introduction,
    is_introductory,
    names_basis,
    start_of_last_sentence,
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
SEARCHED_FOR_LINE = 500
"""Number of characters before a verdict in which the last line with words is searched."""
SEARCHED_BEFORE = 250
"""Number of characters before a verdict that are searched for a comparison against it."""
# `[[A`, `[[A]` and `[A]]`: brackets that are not closed, or were not opened.
BROKEN_BRACKETS = re.compile(
    r"\[\[[^\[\],\n]{0,20}(?:\](?!\]|\s*\Z)|\[|\n|\Z)|(?<!\[)\[[^\[\],\n]{1,20}\]\]"
)
BRACKETED = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]")
"""A short text in double square brackets, such as `[[A]]`; the group is the text."""
# A line of two different levels and nothing else: `[[A>B]] / [[B>A]]`.
TWO_LEVELS_ON_LINE = re.compile(
    r"^[^\w\n\[]*+\[\[(?P<level>[^\[\]\n]++)\]\]"
    r"[^\w\n\[]++\[\[(?!(?P=level)\]\])[^\[\]\n]++\]\][^\w\n]*$",
    re.MULTILINE,
)
REPEATED_VALUE = re.compile(
    r"\s*(?P<value>[^\s,;.](?:[^\n,;.]{0,38}?[^\s,;.])??)(?:[\s,;.]+(?P=value))+[\s,;.]*\Z"
)
"""A value that stands several times, and nothing else, as small models write: `[[6]] [[6]]`."""
LONGEST_REPEATED = 4000
"""Longer replies are not searched for a value that only repeats."""
# A command such as `\boxed`, or an underscore.
LATEX_COMMAND = re.compile(r"\\\w+|_")
CORRECTION = re.compile(
    r"(?:\]\]|verdict:[ *]*[ABC][ *]*|\})(?P<gap>\s*\n[ \t]*\n)[ \t*_]*"
    r"(?:correction[*_ ]*[:：]|(?=(?:wait|hmm?)\b[^\n]{0,400}\bi (?:therefore )?correct my\b))",
    re.IGNORECASE,
)
"""A paragraph that corrects the verdict directly before it, such as `Correction: ...`."""
COMPLETE_END = re.compile(
    rf"[.!?…。！？:：)）\]\"”»’{MASK}|\u2600-\u27bf\u2b50\ufe0f\U0001f300-\U0001faff]\Z"
)
"""The sign with which a complete sentence or line ends."""
OPEN_ENDS = frozenset(words.OPEN_ENDS.split())
"""Last words of a line, such as `the`, after which its sentence goes on in the next line."""
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
WHICH_QUESTION = re.compile(
    r"(?:^|[.!?:]\s)\W*(?:so\s)?(?!.*\b(?:worse|worst|weaker|less|least|fewer|poor\w*|lose\w*"
    r"|wrong|reject\w*|errors?|mistakes?|faults?|flaws?|problems?|issues?)\b)"
    r"(?:which(?=.*\b(?:better|best|prefer\w*|wins?|winner|stronger|superior|favou?r\w*|more|most"
    r"|higher|choose|chosen|pick|good|right|correct)\b)|welche|laquelle|quelle|cuál|какой|哪)",
    re.IGNORECASE,
)
"""A question that the verdict after it answers, such as `Which response is better?`"""
DESCRIPTION = re.compile(
    r"\W*(?:response )?[AB](?:\W*[:：)✅❌✓✗👍👎]| [–—-] \w)"
    r"|[^:\n]{1,40}(?:: +|\s*(?:→|[=-]>)\s*)\S"
    r"|.*\b[AB] ?= ?\d"
    r"|(?=.*\bresponse a\b).*\bresponse b\b",
    re.IGNORECASE,
)
"""A line that describes the responses, such as `A: short`, `Accuracy: good` or `A = 7`, or that
names both."""
# The end of a sentence or line, with closing signs.
SENTENCE_END = re.compile(r"[.!?][*_\"”’)\]]*(?=\s)|[。！？]|\n")
# The beginning of a sentence that takes the verdict back: `Wait,`, `Actually,`.
RETRACTION_START = re.compile(
    rf"[\s*_<>\-–—(\[#~\"“.,;:]*(?:{words.RETRACTION_STARTS})", re.IGNORECASE
)
# These are searched in texts in lower case, which is faster than a pattern that ignores case.
# A phrase which says that the next line is not the judge's own verdict, or that introduces it.
ANNOUNCEMENT = re.compile(words.ABOUT_NEXT)
HYPOTHETICAL = re.compile(words.HYPOTHETICAL)
"""Words that make a verdict hypothetical, such as `the best possible grade would`."""
RETRACTION = re.compile(words.RETRACTIONS)
"""Words that take a verdict back, such as `scratch that`."""
SELF_REFERENCE = re.compile(words.SELF_REFERENCE)
"""Words with which the judge speaks of itself, such as `I` or `ich`."""
HARMLESS_SELF_REFERENCE = re.compile(words.HARMLESS_SELF_REFERENCE)
"""Words of the judge about itself that do not touch the verdict: `I hope this helps`."""
EXPLANATION_ON_LINE = re.compile(r"[ \t]*(?:[:：;–—-]|\(no )[ \t]*\w+ \w+ \w| [a-zа-яё]")
"""The beginning of an explanation on the same line: `A: it is correct`, `A because ...`."""
# A topic of an explanation, or a word for a tie.
EXPLANATION_TOPIC = re.compile(rf"{words.SUBJECTS}|\b(?:{words.TIES})\b", re.IGNORECASE)
DENIAL = re.compile(
    r"\W*(?:this|that|it)(?:['’]s| is| was)(?: (?:just|simply|plainly|all|quite))?"
    r" (?:wrong|incorrect|mistaken|false|not (?:right|correct|true))\b"
    r"(?! (?:of|in|for|about|with)\b)",
    re.IGNORECASE,
)
"""The first sentence after a verdict, such as `That is wrong.`, which denies the verdict."""
CONTINUED_LINE = re.compile(
    r"[ \t]*\n\s*(?![a-z_]+ ?:"
    r"|(?:because|since|as|response|the|it|a|b|both|weil|denn|car|parce|porque)\b)"
    r"[a-zа-яёäöüàâçéèêîôû]"
)
"""A next line in lower case. The verdict before it is then only a part of a sentence."""
# A sentence after the verdict that says the opposite: `It is worse.`
PRONOUN_LOSES = re.compile(
    rf"\W*(?:it|sie|elle|él|ella|он)(?: |(?='s))?(?:{words.LOSES})", re.IGNORECASE
)
# The name of a response at the end of a sentence: `No, the second one, sorry.`
LAST_NAME = re.compile(
    r"(?:(?<![A-Za-z0-9_°])(?P<letter>[ABC])"
    rf"|(?P<first>{words.FIRST})|(?P<second>{words.SECOND}))[*_\"')\]]*"
    r"[.!。！ ,]*(?:please|instead|it is|bitte|sorry|then|actually|rather|after all)?[.! ]*\Z"
)
LETTER_NAME = re.compile(r"[AB](?<![\w'’].)(?![\w'’])")
"""A response that is named by its letter."""
PREPOSITION_BEFORE_NAME = re.compile(
    rf"\b(?:{words.PREPOSITIONS})\b\W*(?:\w+\W+){{0,2}}?\Z", re.IGNORECASE
)
"""Words before a name at the end of a sentence that make it no verdict, as in `better than B`."""
ANY_WORD = re.compile(r"\w")
DIGIT = re.compile(r"\d")
CountsUnnamed = Callable[[Statement, bool, bool], bool]
"""Function that returns whether a value counts although no word such as `verdict` names it.

Its arguments are the statement, whether it stands in the first line, and whether it stands in the
last line.
"""
ComparisonLines = Literal["ends", "last", "never"]
"""Lines in which a sentence such as `A is better` states the verdict (`read_statement`)."""
Parse = Callable[[str], str | None]
"""Function from a value as written to its canonical spelling; None if it is out of range."""


class StatedVerdict(NamedTuple):
    """A verdict that was read.

    Attributes:
        place: position of the verdict in the text.
        value: canonical spelling of the verdict.
        statement: the statement that gives the verdict.
    """

    place: int
    value: str
    statement: Statement


def read_statement(
    reply: Reply,
    value_pattern: Pattern,
    parse: Parse,
    counts_unnamed: CountsUnnamed,
    *,
    level_signs: Pattern | None = None,
    comparison_lines: ComparisonLines = "never",
    is_pairwise: bool = True,
) -> StatedVerdict | str:
    """Return the verdict of a reply, or the reason why the reply is unparsed.

    Args:
        reply: the reply.
        value_pattern: pattern of a value as it is written.
        parse: function from a value to its canonical spelling (see `Parse`).
        counts_unnamed: function that says whether a value counts although no word such as `verdict`
            names it (see `CountsUnnamed`).
        level_signs: pattern of a sign that a line with a level has, such as `[`; other lines are
            skipped. It is given only if a level in double square brackets was asked for.
        comparison_lines: lines in which sentences such as `A is better` state the verdict: both
            `ends` (the first and the last line), the `last` line, or `never` (no line). Sentences
            count only if no value counts.
        is_pairwise: whether a value prefers a response. If not, a value rates one response, even if
            it begins with the letter A or B.
    """
    if reply.reason_of_silence:
        return reply.reason_of_silence
    view = own_words(without_echo(reply.text))
    if view is None:
        return "no verdict"
    view = without_conceded_limit(_without_repeats(view))
    if is_refused(view):
        return "no verdict"
    read = partial(
        _statement_in,
        text=reply.text,
        value_pattern=value_pattern,
        parse=parse,
        counts_unnamed=counts_unnamed,
        level_signs=level_signs,
        comparison_lines=comparison_lines,
        is_pairwise=is_pairwise,
    )
    return read(_without_corrected(view, read))


def _without_repeats(view: str) -> str:
    """Return a text that only repeats a value, as `A A A` does, with blanks after the first one.

    Any other text, and a text of more than 4,000 characters, is returned as it is.
    """
    repeated = REPEATED_VALUE.match(view) if len(view) <= LONGEST_REPEATED else None
    if repeated is None:
        return view
    return view[: repeated.end("value")].ljust(len(view))


def _statement_in(
    view: str,
    *,
    text: str,
    value_pattern: Pattern,
    parse: Parse,
    counts_unnamed: CountsUnnamed,
    level_signs: Pattern | None,
    comparison_lines: ComparisonLines,
    is_pairwise: bool,
) -> StatedVerdict | str:
    """Return the verdict in the judge's own words, or the reason why there is none.

    `view` has these words, and `text` is the reply; the others are arguments of `read_statement`.
    Broken brackets of a level leave no verdict, and with more than `MOST_STATEMENTS` statements the
    reason is `several verdicts`.
    """
    if not ANY_WORD.search(view):
        return no_verdict(text)
    may_have_levels = level_signs and "[[" in view
    if may_have_levels and BROKEN_BRACKETS.search(view, view.find("[")):
        return no_verdict(text)
    lines = [line.span() for line in LINE.finditer(view)]
    statements = find_statements(view, lines, value_pattern, level_signs)
    if len(statements) > MOST_STATEMENTS:
        return "several verdicts"
    ends = (_first_with_words(view, lines), _first_with_words(view, lines[::-1]))
    verdicts = _verdict_statements(view, statements, ends, counts_unnamed, comparison_lines)
    if not verdicts:
        return no_verdict(view)
    mentions = [statement for statement in statements if _is_mention(view, statement)]
    preferred_by = response_of_value if is_pairwise else _no_response
    stated_verdict = _settle_verdict(view, verdicts, mentions, parse, preferred_by)
    if isinstance(stated_verdict, str):
        return stated_verdict  # the reason why the reply is unparsed
    place = _verdict_place(stated_verdict, preferred_by(stated_verdict.value))
    if comparison_lines == "ends" and _has_other_letters(view, lines, stated_verdict):
        return "several verdicts"
    if level_signs and _has_other_levels(view, stated_verdict, parse):
        return "several verdicts"
    if is_introduced(text, view, stated_verdict.place):
        return "reported"
    if attributes_text_before(view[place.end :]):
        return "reported"
    return _reason_of_whole_reply(view, place, comparison_lines) or stated_verdict


def _without_corrected(view: str, read: Callable[[str], StatedVerdict | str]) -> str:
    """Return the view without the verdict that a later paragraph corrects, and all before it.

    Several corrections are left as they are. Only a verdict that would count without the correction
    is the judge's own, and can be corrected.

    Args:
        view: the judge's own words.
        read: reads the verdict in such words.
    """
    corrections = [*CORRECTION.finditer(view)]
    if len(corrections) != 1:
        return view
    [correction] = corrections
    if isinstance(read(view[: correction.start("gap")]), str):
        return view
    return mask(view, [(0, correction.end())], " ")


def _reason_of_whole_reply(
    view: str, place: VerdictPlace, comparison_lines: ComparisonLines
) -> str | None:
    """Return why the reply as a whole speaks against its verdict; None if it does not.

    The reason is `several verdicts` (`contradicts`), or `reported` if the text after the verdict is
    about something else (`is_unrelated`). The latter is checked only if the verdict prefers a
    response, and unless `comparison_lines` is `ends`.
    """
    if contradicts(view, place):
        return "several verdicts"
    if place.preferred and comparison_lines != "ends" and is_unrelated(view[place.end :]):
        return "reported"
    return None


def _no_response(value: str) -> str:
    """Return an empty text: a value that rates one response prefers no response."""
    del value
    return ""


def _verdict_place(stated_verdict: StatedVerdict, preferred: str) -> VerdictPlace:
    """Return where a verdict stands.

    Args:
        stated_verdict: the verdict.
        preferred: the response that it prefers (`response_of_value`); empty if it rates one.
    """
    statement = stated_verdict.statement
    if statement.is_sentence:
        start, end = statement.start, statement.end
    else:
        start, end = statement.place, statement.place + len(statement.value)
    return VerdictPlace(start, end, statement.form, preferred, statement.is_sentence)


def response_of_value(value: str) -> str:
    """Return the letter of the response that a value prefers; C for neither.

    The result is empty if the value rates one response: it is neither a letter nor a label.
    """
    if value[:1] not in ("A", "B", TIE):
        return ""
    return TIE if "=" in value else value[0]


def _first_with_words(view: str, lines: Sequence[Span]) -> Span:
    """Return the first span of `lines` whose line has a word. At least one line must have a
    word.
    """
    return next(span for span in lines if ANY_WORD.search(view, *span))


def _verdict_statements(
    view: str,
    statements: list[Statement],
    ends: tuple[Span, Span],
    counts_unnamed: CountsUnnamed,
    comparison_lines: ComparisonLines,
) -> list[Statement]:
    """Return the statements that count as verdicts.

    A statement of a value counts if it is `marked` or if `counts_unnamed` says so, unless it only
    names a response before its score, as in `A: 4/10, B: 8/10`, or before its mark or description,
    as in `A (fair), B (good)`. If no statement counts, the sentences count that prefer a response
    as a whole, such as `A is better`, in the lines that `comparison_lines` names, if only
    introductory words such as `Overall` stand before the comparison. If these lines are both
    `ends`, and the reply has no such sentence either, the only sentence that praises a response
    counts (`weak_preferences`). Lines of 10,000 characters or more are not searched for sentences.

    Args:
        view: the judge's own words.
        statements: all statements of a value.
        ends: the first and the last line with words.
        counts_unnamed: function that says whether a value counts although no word such as `verdict`
            names it (`CountsUnnamed`).
        comparison_lines: lines in which sentences that prefer a response count (`read_statement`).
    """
    (_, first_end), (last_start, _) = ends
    verdicts = []
    for statement in statements:
        is_first = statement.start <= first_end
        is_last = statement.end > last_start
        if statement.form == "leading" and is_score(view, statement.place):
            continue
        if statement.form != "marked" and is_marked_name(view, statement.place):
            continue
        if _only_names_response(view, statement):
            continue
        if statement.form == "marked" or counts_unnamed(statement, is_first, is_last):
            verdicts.append(statement)
    if len({statement.value for statement in verdicts}) > 1:
        verdicts = _without_marked_names(view, verdicts)
    if verdicts or comparison_lines == "never":
        return verdicts
    # The first and the last line may be the same one.
    searched_lines = set(ends) if comparison_lines == "ends" else {ends[1]}
    short_lines = [
        (start, end) for start, end in sorted(searched_lines) if end - start < LONGEST_REST
    ]
    sentences = chain.from_iterable(
        find_comparisons(view, start, end) for start, end in short_lines
    )
    comparisons = [sentence for sentence in sentences if not _only_names_response(view, sentence)]
    if comparisons or comparison_lines != "ends" or len(view) > LONGEST_REST:
        return [statement for statement in comparisons if statement.form == "marked"]
    weak_preference = find_weak_preference(view)
    return [weak_preference] if weak_preference else []


def _only_names_response(view: str, statement: Statement) -> bool:
    """Return whether a statement is the name of a response that is described beside the other."""
    lead = LIST_MARK.sub("", view[statement.start : statement.place])
    begins_line = len(TOKEN.findall(lead)) <= statement.has_noun
    return is_described_beside_other(view, statement.place, searches_next_line=begins_line)


def _is_mention(view: str, statement: Statement) -> bool:
    """Return whether a statement is no verdict but may contradict one.

    Such a statement is of the form `mention`, or the name of a response that is described beside
    the other and stands after a word such as `Winner:`.
    """
    if statement.form == "mention":
        return True
    return _only_names_response(view, statement) and is_named_decision(view, statement.place)


def _without_marked_names(view: str, verdicts: list[Statement]) -> list[Statement]:
    """Return the verdicts that do not only name a response before its score or mark.

    A heading before such a name, as in `Overall rating:\\nA: poor\\nB: excellent`, makes it look
    like a verdict. All are returned if all name a response so.
    """
    unmarked = [
        statement
        for statement in verdicts
        if not is_score(view, statement.place) and not is_marked_name(view, statement.place)
    ]
    return unmarked or verdicts


def _has_other_letters(view: str, lines: Sequence[Span], stated_verdict: StatedVerdict) -> bool:
    """Return whether another line states a letter that is not the verdict, and nothing else.

    Lines of 30 characters or more, lines of tables, and scores and marks that agree with the
    verdict are ignored.
    """
    for start, end in lines:
        is_verdict = start <= stated_verdict.place < end
        if is_verdict or end - start >= SHORT_LINE:
            continue
        line = view[start:end]
        if "|" in line or not states_other_letter(line, stated_verdict.value):
            continue
        has_score = DIGIT.search(line) and preferred_by_scores(view) == stated_verdict.value
        if not has_score and not is_preferred_by_marks(view, stated_verdict.value):
            return True
    return False


def _has_other_levels(view: str, stated_verdict: StatedVerdict, parse: Parse) -> bool:
    """Return whether a reply has a level in double square brackets that is not the verdict.

    The level stands after the verdict, or on a line of two different levels and nothing else.
    Brackets after the verdict around anything that is no level are ignored.
    """
    if view.count("[[") > 1 and TWO_LEVELS_ON_LINE.search(view):
        return True
    later_levels = {parse(level.strip()) for level in BRACKETED.findall(view, stated_verdict.place)}
    return bool(later_levels - {None, stated_verdict.value})


def _settle_verdict(
    view: str,
    verdicts: list[Statement],
    mentions: list[Statement],
    parse: Parse,
    preferred_by: Callable[[str], str],
) -> StatedVerdict | str:
    """Return the last statement of a verdict, or the reason why it does not count.

    The reason is `out of range` for a single statement whose value `parse` does not know,
    `several verdicts` if statements or mentions differ in value, or that of the text around
    (`_reason_of_context`, then `_reason_of_contradiction`).

    Args:
        view: the judge's own words.
        verdicts: the statements that count as verdicts; they are sorted in place.
        mentions: statements that do not count but may contradict the verdict.
        parse: function from a value to its canonical spelling; None if it is out of range.
        preferred_by: function from a value to the response that it prefers.
    """
    verdicts.sort(key=lambda statement: statement.start)
    last = verdicts[-1]
    final_value = parse(last.value)
    if final_value is None:
        return "out of range" if len(verdicts) == 1 else "several verdicts"
    values = [statement.value for statement in verdicts]
    # A mention of `I` is the pronoun.
    values += [statement.value for statement in mentions if statement.value != "I"]
    # A value that is out of range is another value, too: it stays as it is written.
    stated_values = {parse(value) or value for value in values}
    if stated_values != {final_value}:
        return "several verdicts"
    spans = [(statement.start, statement.end) for statement in verdicts]
    reason = _reason_of_context(view, spans)
    if reason is None:
        text_after = _text_after(view, spans)
        reason = _reason_of_contradiction(view, last, preferred_by(final_value), text_after)
    return reason or StatedVerdict(last.place, final_value, last)


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

    The verdicts do not count if the text before each of them says that it is not the judge's own
    (`reason_before`), or if the text after the first one takes it back (`reason_after`). If a
    verdict follows another one directly, the text before the other one decides.
    """
    reasons: list[str | None] = []
    previous_end = 0
    for start, end in spans:
        if reasons and not ANY_WORD.search(view, previous_end, start):
            reasons.append(reasons[-1])  # the verdict follows another one directly
        else:
            reasons.append(reason_before(view, start))
        previous_end = end
    if all(reasons):
        return reasons[-1]
    return reason_after(_text_after(view, spans))


def _reason_of_contradiction(
    view: str, last: Statement, preferred: str, text_after: str
) -> str | None:
    """Return `several verdicts` if the reply also prefers another response; else None.

    The reply prefers another response in a comparison in the 250 characters before the verdict or
    anywhere after it, in words such as `It is worse` directly after it, or in a later sentence that
    ends with the name of another response. Verdicts that name no response, such as grades, are not
    checked.

    Args:
        view: the judge's own words.
        last: the last statement of the verdict.
        preferred: the response that the verdict prefers; empty if it rates one.
        text_after: the text after the verdict.
    """
    if not preferred:
        return None
    if not ANY_WORD.search(text_after):
        text_after = ""
    comparisons = chain(
        find_comparisons(view, max(0, last.start - SEARCHED_BEFORE), last.place),
        find_comparisons(text_after, start=0, end=len(text_after)),
    )
    if any(statement.value != preferred for statement in comparisons):
        return "several verdicts"
    if preferred == TIE:
        # The checks below search the text for the other response. A tie has none.
        return None
    if PRONOUN_LOSES.match(text_after):
        return "several verdicts"
    if any(_ends_with_other(sentence, preferred) for sentence in _sentences(text_after)):
        return "several verdicts"
    return None


def _ends_with_other(sentence: str, preferred: str) -> bool:
    """Return whether a sentence after a verdict ends with the name of another response.

    Args:
        sentence: the sentence.
        preferred: letter of the response that the verdict prefers.
    """
    name = LAST_NAME.search(sentence.rstrip())
    if name is None or PREPOSITION_BEFORE_NAME.search(sentence[: name.start()]):
        return False
    if name["letter"]:
        return str(name["letter"]) != preferred
    if LETTER_NAME.search(sentence):
        return False  # as in `Response A skips the second one`
    return ("A" if name["first"] else "B") != preferred


def reason_around(view: str, spans: Sequence[Span]) -> str | None:
    """Return why objects at these spans of a reply are not the judge's own verdict.

    Returns:
        `reported` if the last sentence before the last object, on its line, has words that do not
        introduce a verdict, or if the text before each object shows that it is not the judge's own
        (`reason_before`). Otherwise, the reason that the text after the first object gives
        (`reason_after`), for example because it takes the verdict back.
        None if the objects are the judge's own verdict.
    """
    start = spans[-1][0]
    line_before = view[view.rfind("\n", 0, start) + 1 : start]
    lead = LIST_MARK.sub("", line_before)
    clause = LATEX_COMMAND.sub(" ", lead[start_of_last_sentence(lead) :])
    if not all(is_introductory(token["word"]) for token in TOKEN.finditer(clause)):
        return "reported"
    return _reason_of_context(view, spans)


def reason_before(view: str, start: int) -> str | None:
    """Return `reported` if the text before a verdict shows that it is not the judge's own.

    The verdict may be somebody else's, a condition, a plan or a question. If words stand before the
    verdict on its line, only these words are checked; otherwise, the last line before it. If it is
    the judge's own, the result is None.

    Args:
        view: the judge's own words.
        start: position of the verdict.
    """
    line_start = view.rfind("\n", 0, start) + 1
    lead = LIST_MARK.sub("", view[max(line_start, start - LONGEST_LEAD) : start]).strip()
    if ANY_WORD.search(lead) or MASK in lead:
        is_question = lead.endswith("?") and not WHICH_QUESTION.search(lead)
        return "reported" if is_question or ANNOUNCEMENT.search(lead.lower()) else None
    previous = _previous_line(view, line_start)
    if previous is None or leads_to_own_verdict(previous):
        return None
    return "reported"


def _previous_line(view: str, end: int) -> str | None:
    """Return the last line before a position that has words or masked characters.

    Returns:
        The last 200 characters of the line. None if the 500 characters before the position have no
        such line.
    """
    lines = view[max(0, end - SEARCHED_FOR_LINE) : end].split("\n")
    for line in reversed(lines):
        if ANY_WORD.search(line) or MASK in line:
            return line.strip()[-LONGEST_LEAD:]
    return None


def leads_to_own_verdict(line: str) -> bool:
    """Return whether the verdict after a line is the judge's own.

    The verdict is the judge's own after a complete sentence, an item of a list, or an introduction
    of the verdict. It is not after a heading that names a response, after a question other than
    which response is better, or after a condition that goes on. A line that announces the next line
    must be an introduction. A line that ends with a colon must be one, or say what the verdict
    rests on (`names_basis`).
    """
    bare = line.rstrip("*_`~ \t\r")
    clause = bare[start_of_last_sentence(bare) :]
    if HEADING.fullmatch(line):
        return False
    goes_on = bare.endswith((":", "：")) or not COMPLETE_END.search(bare)
    if goes_on and HYPOTHETICAL.search(clause.lower()):
        return False
    # If the last sentence names a response, the sentences before it are not about the verdict.
    searched_text = clause if LETTER_NAME.search(clause) else bare
    is_announced = ANNOUNCEMENT.search(searched_text.lower()) is not None
    if is_announced:
        return is_introduction(clause)
    if bare.endswith((":", "：")):
        # A colon may also stand after what the verdict rests on, as in `On style and structure:`.
        return is_introduction(clause) or names_basis(clause)
    if bare.endswith("?"):
        return WHICH_QUESTION.search(clause) is not None
    is_short = len(bare.strip("#>-* ")) < SHORTEST_LEAD
    if is_short or COMPLETE_END.search(bare):
        return True
    is_item = LIST_MARK.match(line) or DESCRIPTION.match(line)
    if is_item and not _goes_on(bare) and not CONDITION_STARTS.match(clause):
        return True
    return is_introduction(clause)


def reason_after(text_after: str) -> str | None:
    """Return why a verdict does not count, given the text after it; None if the verdict counts.

    Returns:
        - `retracted` if the text takes the verdict back, is about something else, or ends with a
          question mark.
        - `reported` if the verdict is only a part of a longer sentence, or if the text consists of
          a quotation and signs before it.
        - `truncated` if the text ends in the middle of a sentence.
        - `several verdicts` if the text has more than 10,000 characters.
        - None if the text explains the verdict or is empty.
    """
    if text_after.rstrip().endswith("?"):
        return "retracted"
    if not ANY_WORD.search(text_after):
        # Quotations are masked: the text is a quotation with signs before it, or signs alone.
        has_later_quotation = MASK in text_after and not text_after.strip().startswith(MASK)
        return "reported" if has_later_quotation else None
    if len(text_after) > LONGEST_REST:
        return "several verdicts"
    if CONTINUED_LINE.match(text_after):
        return "reported"
    lowered = text_after.lower()
    if _speaks_of_judge(lowered) or RETRACTION.search(lowered):
        return "retracted"
    sentences = [sentence for sentence in _sentences(text_after) if ANY_WORD.search(sentence)]
    if any(RETRACTION_START.match(sentence) for sentence in sentences):
        return "retracted"
    if sentences:
        if DENIAL.match(sentences[0]):
            return "retracted"
        is_explained = EXPLANATION_ON_LINE.match(text_after) or EXPLANATION.match(sentences[0])
        if not is_explained and not EXPLANATION_TOPIC.search(sentences[0]):
            return "retracted"
    ending = text_after.rstrip()
    is_cut_off = ending.endswith((",", ";", "，"))
    is_open = _goes_on(text_after) and not COMPLETE_END.search(ending)
    if is_cut_off or is_open:
        return "truncated"
    return None


def _speaks_of_judge(lowered: str) -> bool:
    """Return whether a text in lower case speaks of the judge itself, as `I` and `my` do.

    Phrases that explain a verdict, such as `I checked both`, are ignored.
    """
    if not SELF_REFERENCE.search(lowered):
        return False
    sentences = (HARMLESS_SELF_REFERENCE.sub("", sentence) for sentence in _sentences(lowered))
    return any(SELF_REFERENCE.search(sentence) for sentence in sentences)


def _sentences(text: str) -> list[str]:
    """Split a text into sentences and lines, with their final signs."""
    starts = [0, *(mark.end() for mark in SENTENCE_END.finditer(text))]
    ends = [*starts[1:], len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def _goes_on(text: str) -> bool:
    """Return whether the last word of a text, such as `the`, shows that its sentence goes on.

    These are the words of `OPEN_ENDS`. A capital A counts as a letter and not as the article.
    """
    last = LAST_WORD.search(text)
    return last is not None and last[1] != "A" and last[1].lower() in OPEN_ENDS
