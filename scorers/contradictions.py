"""Statements anywhere in a reply that speak against its verdict, or that are not understood.

A reply counts only if all that it says about the verdict agrees: signs and words beside it, scores
of both responses, and other places where a verdict is named.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from podium.scorers import contradiction_words as words
from podium.scorers import reply_words
from podium.scorers.comparisons import OTHER_RESPONSE, TIE
from podium.scorers.faults import has_fault
from podium.scorers.stated_marks import is_preferred_by_marks
from podium.scorers.stated_scores import OTHER_COUNTS, preferred_by_scores
from podium.scorers.verdict_signs import has_foreign_sign
from podium.scorers.verdict_statements import Form

# An article and a noun before the letter of a response, as in `the response A`.
WORDS_BEFORE_LETTER = (
    r"(?:the |la |die |el )?"
    rf"(?:(?:{'|'.join(reply_words.RESPONSE_NOUNS.split())})\b[ \t]*)?"
)
LETTER_WITH_NOUN = re.compile(rf"(?i:{WORDS_BEFORE_LETTER})(?P<letter>[A-C])\b")
"""A letter with the words before it, such as `the response A`."""
UNDECIDED_LINE = re.compile(
    rf"(?i)(?:{words.UNDECIDED})[ \t]*(?:of (?:them|the two|both)|yet)?[^\w\n]*\Z"
)
"""A value that chooses neither response, to the end of its line: `neither of them`."""
UNDECIDED_SENTENCE = re.compile(
    rf"(?i)[^\w\n]*(?:(?:{words.CLOSING_WORDS})[*_ \t]*[:：,=→—-]*[^\w\n]*)*(?:{words.UNDECIDED})"
    r"[ \t]*(?:of (?:them|the two|both)|response|answer|one)?[ \t]*"
    r"(?:yet|wins?|(?:really |clearly )?(?:is|does|do|are|was|would)(?: better| it| so)?)?"
    r"[^\w\n?]*\Z"
)
"""A sentence that chooses neither response, such as `Neither.` or `Final: neither`."""
NAMED_VERDICT = re.compile(
    rf"(?i)[^\w\n]*(?:(?:my|the|so|our|final|overall|last|own|and) )*(?:{words.DECISION_NOUNS})"
    r"[ \t*_]*(?:\bis\b)?[ \t*_]*[:：=→—-]+[^\w\n?]*(?P<value>[^\n]*)"
)
"""A line that names a verdict and gives a value, such as `Winner: neither`."""
NAMED_GRADE = re.compile(
    rf"(?i)[^\w\n]*(?:(?:my|the|final|overall) )*(?:{words.GRADE_NOUNS})[ \t*_]*[:：=]+"
    r"[^\w\n?]*(?P<value>[^\n]*)"
)
"""A line that names a score or grade and gives a value, such as `Score: none`."""
NAMED_LOSER = re.compile(
    rf"(?im)^[^\w\n]*(?:(?:the|my|and) )*(?:{words.LOSER_WORDS})"
    r"(?: (?:response|answer|one|option))?[ \t*_]*(?:is\b|[:：=→—-])[^\w\n]*"
    rf"{WORDS_BEFORE_LETTER}(?P<side>[AB])\b"
)
"""A line that names the worse response, such as `Loser: A`."""
CRITERION_WINNER = re.compile(
    r"(?m)^[^\w\n]*(?P<label>\w[\w '/&-]{0,40}?)[*_ \t]*[:：=–—→|-]+[^\w\n]*"
    rf"(?i:{WORDS_BEFORE_LETTER})(?P<side>[AB])(?![\w'’])[*_]*"
    r"(?:[ \t]+(?:is|was|clearly|much|slightly|far|the|better|best|stronger|wins|winner|ahead))*"
    r"[^\w\n:：|]*$"
)
"""A line that names the better response for one criterion, such as `Style: B is better`."""
UNDESIRABLE = re.compile(rf"\b(?:{words.LOSER_WORDS}|{words.DECISION_NOUNS})\b", re.IGNORECASE)
"""A label of lines that name no better response, such as `Errors`, or the response as a whole."""
# The full stop of a numbered item, `2. `, ends no sentence.
SENTENCE_END = re.compile(r"(?<!\n\d)[.!?](?:\s|[*_]+\s)|\n")
"""The end of a sentence after a verdict, where the next one is searched for a word for neither."""
TOPIC_END = re.compile(r"[?:：][\s*_]*\Z")
"""The end of a question, or of a heading such as `Safety issues:`."""
HEADING_LINE = re.compile(r"#+ [^\n]+|\*\*[^*\n]+\*\*")
"""A heading in Markdown, such as `### Safety issues` or `**Safety issues**`."""
ITEM_START = re.compile(r"\s*(?:[-*•+]|\d{1,2}[.)])[ \t]")
"""The beginning of the next item of a list."""
DECIDING = re.compile(rf"(?i){words.DECIDING}")
"""A word of a question or heading that asks for the verdict: `Which one is better?`, `Final:`."""
CLAUSE_END = r"[.;!?\n。；！？]|\Z"
"""The end of a clause or of the text."""
OTHER_NAME = r"\b(?i:(?:response|answer|option) )?[AB]\b|\b(?i:the other|other one)\b"
"""The name of a response, such as `response B` or `the other`."""
OPPOSING_WORD = r"\b(?i:but|while|whereas|aber|mais|pero|но)\b"
"""A word that begins an opposed clause, such as `but`."""
REST_OF_CLAUSE = re.compile(rf"[^.;!?\n。；！？]*?(?={CLAUSE_END}|{OTHER_NAME}|{OPPOSING_WORD})")
"""The rest of a clause, up to the name of a response or a word such as `but`."""
VERDICT_IS_WORSE = re.compile(
    rf"(?i)\W*(?:this|that|it)(?:['’]s| is| was) (?:the|a) (?:\w+ )?(?:{words.LOSER_WORDS})\b"
)
"""A sentence that calls the verdict the worse response: `This is the weaker one.`"""
INJECTED_INSTRUCTION = re.compile(rf"(?i)[\W_]*(?:{words.INJECTED_INSTRUCTIONS})")
"""The beginning of a sentence with which somebody else tells the judge what to write."""
HEADED_TEXT = re.compile(
    r"(?im)^[^\w\n]*(?:the )?(?:response|answer|candidate|assistant|option) [AB]"
    rf"(?: (?:{words.REPORTING_VERBS}))?(?:[^\w\n]*$|[*_ \t]*[:：])"
    r"|\b(?:text|end|ending|rest|copy|contents?|beginning|body|conclusion|transcript) of (?:the )?"
    r"(?:response|answer) [AB]\b|\b(?:response|answer) [AB](?: text)? follows\b"
)
"""A heading or phrase that introduces the text of one response, such as `Response B:`."""
REPORTED_SPEECH = re.compile(
    rf"(?im)^[^\w\n]*(?:the )?response (?:{words.REPORTING_VERBS})[*_ \t]*[:：]"
    r"|^[ \t]*[=\[(<-]+[ \t]*(?:the )?response(?: (?:begins|starts|text|follows))?[ \t]*"
    r"[=\])>-]+[ \t]*$"
)
"""A line that introduces the text of the only response.

It is `The response reads:`, or in signs such as `[Response begins]`.
"""
HEADED_RESPONSE = re.compile(
    r"(?im)^#+[ \t]*(?:the )?response[^\w\n]*\n\s*\w"
    r"(?!(?:.|\n)*\b(?:responses?|answers?|it|this|user)\b)"
)
"""A heading that names the only response, over a text that does not speak of it."""
EXAMPLE_HEADING = re.compile(
    r"(?im)^[^\w\n]*(?:an? |the )?(?:examples?|few-shot|sample|template|format)(?: \d+)?"
    r"(?:[^\w\n]*[:：]| is\b)"
)
"""A heading that introduces an example, such as `Example:`."""
# A letter that is not part of a word. The possessive `A's` counts. The lookbehind stands after the
# letter, because a pattern that begins with a letter is searched faster.
LETTER_A = re.compile(r"A(?<![\w'’].)(?!\w|['’](?!s\b))")
LETTER_B = re.compile(r"B(?<![\w'’].)(?!\w|['’](?!s\b))")
PAIR_WORD = re.compile(rf"(?i)\b(?:{words.PAIR_WORDS})\b")
"""A word for both responses, such as `both`."""
NAMED_SIDE = re.compile(r"(?<![\w'’])[AB](?!\w)")
"""The letter of a response, in a sentence."""
SENTENCE_BREAK = re.compile(r"[.!?][*_\"”’)\]]*\s+|\n")
"""The end of a sentence with the blanks after it, or the end of a line."""
# `\boxed{A}` or `\boxed{\text{A}}`.
BOXED = re.compile(r"\\boxed\{\s*(?:\\\w+\{)*(?P<value>[^{}\n]{1,40})\}")
VERDICT_FIELD = re.compile(
    r"(?i)[\"'](?P<name>verdict|winner|answer|decision|choice|level|label|better|preference)[\"']"
    r"[ \t]*:[ \t]*[\"']?(?P<value>[^\"',{}\n]{1,40})"
)
"""A field of a JSON object that gives the verdict on two responses: `"winner": "A"`."""
RATING_FIELD = re.compile(
    r"(?i)[\"'](?P<name>score|rating|grade|verdict|answer|level|points)[\"']"
    r"[ \t]*:[ \t]*[\"']?(?P<value>[^\"',{}\n]{1,40})"
)
"""A field of a JSON object that gives the grade of one response: `"score": 7`."""
NAME_SEPARATOR = re.compile(r"[*_`\"')\]]*[ \t]*(?P<sign>[:：(=–—-]|\d)")
"""What separates the name of a response from its description: `A: short`, `A (short)`."""
EXPLANATION = re.compile(reply_words.EXPLANATION, re.IGNORECASE)
"""The beginning of a line that explains the verdict, such as `Reason:`."""
WORD = re.compile(r"\w+")
# A sign that separates a noun from its value, as in `Winner: A`.
VALUE_SIGN = re.compile(r"[:：=→—–]| -")
SEARCHED_FOR_INSTRUCTIONS = 1000
"""Number of characters before a verdict that are searched for words of somebody else."""
COMPARISON_GOES_ON = re.compile(
    r"[ \t]*[<>=]+[ \t]*(?:response )?[AB]\b[ \t]*[<>=]|(?<=[AB][<>=][AB])[ \t]*[<>=]"
    r"|(?<=[AB] [<>=] [AB])[ \t]*[<>=]"
)
"""A comparison that goes on after the verdict, as in `A > B > A`."""
LONGEST_CLAUSE = 300
"""Number of characters after a verdict that are searched for blame, and of the longest line that
may name another verdict."""
SEARCHED_AROUND = 3000
"""Number of characters on each side of a verdict that are searched."""


class VerdictPlace(NamedTuple):
    """Where a verdict stands.

    Attributes:
        start: position of the value, or of the sentence that states it.
        end: end of the value, or of the sentence that states it.
        form: the form of the statement (`Statement`).
        preferred: the response that the verdict prefers: A, B or C for neither; empty if it rates
            one response.
        is_sentence: whether a sentence such as `A is better` states the verdict.
    """

    start: int
    end: int
    form: Form
    preferred: str
    is_sentence: bool


def contradicts(view: str, verdict: VerdictPlace) -> bool:
    """Return whether the reply speaks against its verdict, or says what is not understood.

    It does so if signs beside the verdict, another line, box or JSON field give another value; if
    the words before the verdict seem to be somebody else's (an instruction to the judge, an example
    or a response); or if scores or words of blame favor the other response.
    The scores and words are checked only if the verdict prefers A or B.

    Args:
        view: the judge's own words.
        verdict: where the verdict stands.
    """
    text_before = view[max(0, verdict.start - SEARCHED_AROUND) : verdict.start]
    if has_foreign_sign(view, verdict.start, verdict.end):
        return True
    if COMPARISON_GOES_ON.match(view, verdict.end):
        return True
    if verdict.form == "closing" and _is_closing_in_doubt(text_before, verdict.preferred):
        return True
    if _names_other_verdict(view, verdict) or _has_other_box(view, verdict):
        return True
    if _has_other_field(view, is_pairwise=bool(verdict.preferred)):
        return True
    if _is_dictated(view[max(0, verdict.start - SEARCHED_FOR_INSTRUCTIONS) : verdict.start]):
        return True
    if _is_pasted(text_before, is_pairwise=bool(verdict.preferred)):
        return True
    if verdict.preferred not in OTHER_RESPONSE:
        return False
    other = OTHER_RESPONSE[verdict.preferred]
    if preferred_by_scores(view) == other or is_preferred_by_marks(view, other):
        return True
    if _wins_criteria(view, other):
        return True
    if _names_loser(view, verdict.preferred) or _is_faulted(view, verdict):
        return True
    return verdict.form == "leading" and _describes_both(view, verdict, other)


def _is_closing_in_doubt(text_before: str, preferred: str) -> bool:
    """Return whether it is in doubt that the last sentence of a reply, a bare letter, is a verdict.

    The result is True if a sentence before the letter chooses neither response. It is also True
    unless the sentence directly before the letter names this response only and does not blame it,
    as in `A is correct. A.` (After `Only one of them is wrong. A.`, the letter may be that of the
    worse response.) Without words before the letter, and for the letter C, the result is False.

    Args:
        text_before: the text before the letter.
        preferred: the letter.
    """
    sentences = [part for part in SENTENCE_BREAK.split(text_before) if WORD.search(part)]
    if any(map(UNDECIDED_SENTENCE.match, sentences)):
        return True
    if preferred not in OTHER_RESPONSE or not sentences:
        return False
    last = sentences[-1]
    return has_fault(last) or {*NAMED_SIDE.findall(last)} != {preferred}


def _names_other_verdict(view: str, verdict: VerdictPlace) -> bool:
    """Return whether another line gives a value that is not the verdict, as `Winner: B` does.

    The value may be one that chooses neither response, such as `undecided`, or another response.
    After the verdict, any other value counts, too. A verdict for neither response is not checked.
    If the verdict rates one response, only a value such as `Score: none` counts.
    """
    if verdict.preferred == TIE:
        return False
    pattern = NAMED_VERDICT if verdict.preferred else NAMED_GRADE
    for start, line in _lines_with_values(view, verdict.start):
        verdict_match = pattern.match(line)
        if verdict_match is None or not verdict_match["value"]:
            continue
        if UNDECIDED_LINE.match(verdict_match["value"]):
            return True
        if not verdict.preferred:
            continue
        letter = LETTER_WITH_NOUN.match(verdict_match["value"])
        if letter is None:
            if start > verdict.start:
                return True
        elif letter["letter"] != verdict.preferred:
            return True
    return False


def _lines_with_values(view: str, place: int) -> Iterator[tuple[int, str]]:
    """Yield the start and the text of the lines near a place that have a sign such as a colon.

    The lines are those within 3,000 characters on each side.
    The line of the place, and lines of more than 300 characters, are left out.
    """
    start = max(0, place - SEARCHED_AROUND)
    for line in view[start : place + SEARCHED_AROUND].split("\n"):
        end = start + len(line)
        is_short = len(line) <= LONGEST_CLAUSE
        if is_short and not start <= place <= end and VALUE_SIGN.search(line):
            yield start, line
        start = end + 1


def _is_dictated(text_before: str) -> bool:
    """Return whether a sentence before a verdict tells the judge what to write.

    Such a sentence begins with words such as `You must choose` (`INJECTED_INSTRUCTIONS`).
    """
    return any(map(INJECTED_INSTRUCTION.match, SENTENCE_BREAK.split(text_before)))


def _is_pasted(text_before: str, *, is_pairwise: bool) -> bool:
    """Return whether the text before a verdict is introduced as an example or as a response.

    A text that speaks of the other response or of both responses is not the text of a response: the
    reasons of a judge speak so.

    Args:
        text_before: the text before the verdict.
        is_pairwise: whether the verdict compares two responses.
    """
    if EXAMPLE_HEADING.search(text_before):
        return True
    if not is_pairwise:
        return bool(REPORTED_SPEECH.search(text_before) or HEADED_RESPONSE.search(text_before))
    if LETTER_A.search(text_before) and LETTER_B.search(text_before):
        return False
    heading = HEADED_TEXT.search(text_before)
    return heading is not None and not PAIR_WORD.search(text_before)


def is_unrelated(after: str) -> bool:
    """Return whether the text after a verdict speaks of something else than the responses.

    Only the first line with words after the verdict's own line is checked. The text is related to
    the responses if there is no such line, or if this line names a response, as `A` or `the first
    one` do, or begins an explanation, as `Reason:` does.

    Args:
        after: the text from the end of the verdict on, so that it begins with the rest of its line.
    """
    lines = after[:SEARCHED_AROUND].split("\n")[1:]
    line = next((line for line in lines if WORD.search(line)), "")
    if not line or LETTER_A.search(line) or LETTER_B.search(line):
        return False
    return not (PAIR_WORD.search(line) or EXPLANATION.match(line))


def _has_other_box(view: str, verdict: VerdictPlace) -> bool:
    r"""Return whether a reply puts different values into `\boxed{}` on the verdict's line.

    On other lines, boxes of single letters count, too, if the verdict prefers a response: they may
    name the other one. Other boxes there hold figures of the reasoning.
    """
    if "\\boxed" not in view:
        return False
    line_start = view.rfind("\n", 0, verdict.start) + 1
    line_end = view.find("\n", verdict.start)
    values = set()
    for box in BOXED.finditer(view):
        is_beside = line_start <= box.start() and (line_end < 0 or box.end() <= line_end)
        value = box["value"].strip()
        names_response = bool(verdict.preferred) and len(value) == 1
        if is_beside or names_response:
            values.add(value.upper())
    return len(values) > 1


def _has_other_field(view: str, *, is_pairwise: bool) -> bool:
    """Return whether JSON fields of one name give different values, as in two objects on a line.

    Scores are checked only if one response is rated: of two responses, each has its own. The result
    is False if the reply has fewer than two opening braces.
    """
    if view.count("{") < 2:
        return False
    pattern = VERDICT_FIELD if is_pairwise else RATING_FIELD
    values_of_name: dict[str, set[str]] = {}
    for field in pattern.finditer(view):
        values_of_name.setdefault(field["name"].lower(), set()).add(field["value"].strip().upper())
    return any(len(values) > 1 for values in values_of_name.values())


def _wins_criteria(view: str, side: str) -> bool:
    """Return whether several lines such as `Style: B` name the response `side`, and none the other.

    The last 3,000 characters are searched. Lines about faults or whole responses do not count.
    """
    lines = CRITERION_WINNER.finditer(view[-SEARCHED_AROUND:])
    sides = [line["side"] for line in lines if _is_of_quality(line["label"])]
    return len(sides) > 1 and set(sides) == {side}


def _is_of_quality(label: str) -> bool:
    """Return whether a label names a criterion, and not faults or the responses as a whole."""
    return not (UNDESIRABLE.search(label) or OTHER_COUNTS.search(label) or has_fault(label))


def _names_loser(view: str, preferred: str) -> bool:
    """Return whether a line calls the preferred response the worse one, such as `Loser: A`.

    The last 3,000 characters are searched.
    """
    return any(line["side"] == preferred for line in NAMED_LOSER.finditer(view[-SEARCHED_AROUND:]))


def _is_faulted(view: str, verdict: VerdictPlace) -> bool:
    """Return whether the words after a verdict blame the response that it prefers.

    The words are the rest of the clause, as in `A: misses the point` or `A: undecided`, or a later
    sentence such as `Neither.` or `This is the weaker one`. The rest of the clause is not checked
    if a sentence such as `A is better` states the verdict. At most 300 characters of the clause and
    3,000 of the later text are searched.
    """
    clause = REST_OF_CLAUSE.match(view, verdict.end, verdict.end + LONGEST_CLAUSE)
    if clause and not verdict.is_sentence:
        description = clause[0].lstrip("*_`\"' )]:=–—-(,/")
        if has_fault(description) or UNDECIDED_LINE.match(description):
            return True
    after = view[verdict.end : verdict.end + SEARCHED_AROUND]
    if any(map(UNDECIDED_SENTENCE.match, _sentences_on_verdict(after))):
        return True
    return any(map(VERDICT_IS_WORSE.match, SENTENCE_END.split(after)))


def _sentences_on_verdict(after: str) -> Iterator[str]:
    """Yield the sentences after a verdict that may speak of the verdict.

    An answer to the judge's own question, such as `Any errors? None.`, does not, nor do the lines
    under a heading such as `Safety issues:`, unless the question or the heading asks for the
    verdict (`DECIDING`).

    Args:
        after: the text after the verdict.
    """
    starts = [0, *(mark.end() for mark in SENTENCE_END.finditer(after))]
    is_answer = False  # whether the next sentence answers a question or stands under a heading
    for start, end in zip(starts, [*starts[1:], len(after)], strict=True):
        sentence = after[start:end].strip()
        if not WORD.search(sentence):
            continue
        is_topic = TOPIC_END.search(sentence) or HEADING_LINE.fullmatch(sentence)
        if is_topic and not UNDECIDED_SENTENCE.match(sentence):
            is_answer = not DECIDING.search(sentence)
            continue
        if not is_answer:
            yield after[start:end]
        is_answer = is_answer and ITEM_START.match(after, end) is not None


def _describes_both(view: str, verdict: VerdictPlace, other: str) -> bool:
    """Return whether the verdict is only the name before a description, as in `A: short, B: long`.

    Then the name of the other response begins a later clause, with the same sign after it, in the
    3,000 characters after the verdict.
    """
    separator = NAME_SEPARATOR.match(view, verdict.end)
    if separator is None:
        return False
    sign = r"\d" if separator["sign"].isdigit() else re.escape(separator["sign"])
    other_name = rf"(?:^|[\n,;.|/)]|[ \t]-)[^\w\n]*(?:[Rr]esponse )?{other}[*_`\"')\]]*[ \t]*{sign}"
    return re.search(other_name, view[verdict.end : verdict.end + SEARCHED_AROUND]) is not None
