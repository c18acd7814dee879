"""Statements anywhere in a reply that speak against its verdict, or that are not understood.

A reply counts only if all that it says about the verdict agrees: signs and words beside it, scores
of both responses, and other places where a verdict is named.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from podium.scorers import contradiction_words as words
from podium.scorers import reply_words
from podium.scorers.comparisons import OTHER
from podium.scorers.stated_scores import preferred_by_scores
from podium.scorers.verdict_signs import has_foreign_sign
from podium.scorers.verdict_statements import Form

NAMED = (
    r"(?:the |la |die |el )?"
    rf"(?:(?:{'|'.join(reply_words.RESPONSE_NOUNS.split())})\b[ \t]*)?"
)
NAMED_LETTER = re.compile(rf"(?i:{NAMED})([A-C])\b")
UNDECIDED_LINE = re.compile(
    rf"(?i)(?:{words.UNDECIDED})[ \t]*(?:of (?:them|the two|both)|yet)?[^\w\n]*\Z"
)
"""A value that chooses neither response, to the end of its line."""
NAMED_VERDICT = re.compile(
    rf"(?i)[^\w\n]*(?:(?:my|the|so|our|final|overall|last|own|and) )*(?:{words.DECISION_NOUNS})"
    r"[ \t*_]*(?:\bis\b)?[ \t*_]*[:：=→—-]+[^\w\n?]*(?P<said>[^\n]*)"
)
"""A line that names a verdict and gives a value, such as `Winner: neither`."""
GRADE = re.compile(
    rf"(?i)[^\w\n]*(?:(?:my|the|final|overall) )*(?:{words.GRADE_NOUNS})[ \t*_]*[:：=]+"
    r"[^\w\n?]*(?P<said>[^\n]*)"
)
"""A line that names a score or grade and gives a value, such as `Score: none`."""
NAMED_LOSER = re.compile(
    rf"(?im)^[^\w\n]*(?:(?:the|my|and) )*(?:{words.LOSING_NOUNS})"
    r"(?: (?:response|answer|one|option))?[ \t*_]*(?:is\b|[:：=→—-])[^\w\n]*"
    rf"{NAMED}(?P<side>[AB])\b"
)
"""A line that names the worse response, such as `Loser: A`."""
FAULT = re.compile(rf"(?i)(?<!\w)(?:{words.FAULTS})(?!\w)|{words.CHINESE_FAULTS}")
NO_FAULT = re.compile(rf"(?i)\b(?:{words.NO_FAULTS})(?!\w)|n['’]t\b")
CLAUSE = re.compile(
    r"[^.;!?\n。；！？]*?(?=[.;!?\n。；！？]|\Z|\b(?i:(?:response|answer|option) )?[AB]\b"
    r"|\b(?i:the other|other one|but|while|whereas|aber|mais|pero|но)\b)"
)
"""The rest of a clause, up to another name or a turn."""
WHOLE = re.compile(
    rf"(?i)\W*(?:this|that|it)(?:['’]s| is| was) (?:the|a) (?:\w+ )?(?:{words.LOSING_NOUNS})\b"
)
"""A sentence that calls the verdict the worse response: `This is the weaker one.`"""
ADDRESS = re.compile(rf"(?i)[\W_]*(?:{words.ADDRESSES})")
"""The beginning of a sentence with which somebody else tells the judge what to write."""
HEADED_TEXT = re.compile(
    r"(?im)^[^\w\n]*(?:the )?(?:response|answer|candidate|assistant|option) [AB]"
    rf"(?: (?:{words.SPEECH}))?(?:[^\w\n]*$|[*_ \t]*[:：])"
    r"|\b(?:text|end|ending|rest|copy|contents?|beginning|body|conclusion|transcript) of (?:the )?"
    r"(?:response|answer) [AB]\b|\b(?:response|answer) [AB](?: text)? follows\b"
)
"""A heading or phrase that introduces the text of one response, such as `Response B:`."""
SPEECH = re.compile(rf"(?im)^[^\w\n]*(?:the )?response (?:{words.SPEECH})[*_ \t]*[:：]")
"""The beginning of a line that reports what the only response says: `The response reads:`."""
EXAMPLE = re.compile(
    r"(?im)^[^\w\n]*(?:an? |the )?(?:examples?|few-shot|sample|template|format)(?: \d+)?"
    r"(?:[^\w\n]*[:：]| is\b)"
)
"""A heading that introduces an example, such as `Example:`."""
LETTER_A = re.compile(r"A(?<![\w'’].)(?!\w|['’](?!s\b))")
LETTER_B = re.compile(r"B(?<![\w'’].)(?!\w|['’](?!s\b))")
PAIR = re.compile(rf"(?i)\b(?:{words.PAIR})\b")
SENTENCE_BREAK = re.compile(r"[.!?][*_\"”’)\]]*\s+|\n")
BOXED = re.compile(r"\\boxed\{\s*(?:\\\w+\{)*([^{}\n]{1,40})\}")
SEPARATOR = re.compile(r"[*_`\"')\]]*[ \t]*([:：(=–—-]|\d)")
"""What separates the name of a response from its description: `A: short`, `A (short)`."""
EXPLANATION = re.compile(reply_words.EXPLANATION, re.IGNORECASE)
"""The beginning of a line that explains the verdict, such as `Reason:`."""
WORD = re.compile(r"\w+")
SEPARATING = re.compile(r"[:：=→—–]| -")
NEAR = 1000
"""Number of characters before a verdict that are searched for words of somebody else."""
CHAIN = re.compile(
    r"[ \t]*[<>=]+[ \t]*(?:response )?[AB]\b[ \t]*[<>=]|(?<=[AB][<>=][AB])[ \t]*[<>=]"
    r"|(?<=[AB] [<>=] [AB])[ \t]*[<>=]"
)
"""A comparison that goes on after the verdict, as in `A > B > A`."""
LONGEST_CLAUSE = 300
"""Number of characters after a verdict that are searched for blame, and of the longest line that
may name another verdict."""
LONGEST = 3000
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

    Args:
        view: the judge's own words.
        verdict: where the verdict stands.
    """
    if has_foreign_sign(view, verdict.start, verdict.end):
        return True
    if (
        CHAIN.match(view, verdict.end)
        or _names_other_verdict(view, verdict)
        or _has_other_box(view, verdict)
    ):
        return True
    if _is_dictated(view[max(0, verdict.start - NEAR) : verdict.start]):
        return True
    if _is_pasted(view[max(0, verdict.start - LONGEST) : verdict.start], bool(verdict.preferred)):
        return True
    if verdict.preferred not in OTHER:
        return False
    other = OTHER[verdict.preferred]
    if preferred_by_scores(view) == other:
        return True
    if _names_loser(view, verdict.preferred) or _is_faulted(view, verdict):
        return True
    return verdict.form == "leading" and _describes_both(view, verdict, other)


def _names_other_verdict(view: str, verdict: VerdictPlace) -> bool:
    """Return whether a line other than that of the verdict names one, and gives another value.

    Before the verdict, only a value such as `neither` or `undecided` counts; after it, any value
    but the preferred response. A verdict for neither response is not checked.
    """
    if verdict.preferred == "C":
        return False
    pattern = NAMED_VERDICT if verdict.preferred else GRADE
    for start, line in _lines_with_values(view, verdict.start):
        named = pattern.match(line)
        if named is None or not named["said"]:
            continue
        if UNDECIDED_LINE.match(named["said"]):
            return True
        value = NAMED_LETTER.match(named["said"])
        is_other = value is None or value[1] != verdict.preferred
        if verdict.preferred and is_other and (value or start > verdict.start):
            return True
    return False


def _lines_with_values(view: str, place: int) -> Iterator[tuple[int, str]]:
    """Yield the start and the text of the lines near a place that have a sign such as a colon.

    The line of the place, and lines of more than 300 characters, are left out.
    """
    start = max(0, place - LONGEST)
    for line in view[start : place + LONGEST].split("\n"):
        end = start + len(line)
        is_short = len(line) <= LONGEST_CLAUSE
        if is_short and not start <= place <= end and SEPARATING.search(line):
            yield start, line
        start = end + 1


def _is_dictated(before: str) -> bool:
    """Return whether a sentence before a verdict tells the judge what to write (`ADDRESSES`)."""
    return any(map(ADDRESS.match, SENTENCE_BREAK.split(before)))


def _is_pasted(before: str, is_pairwise: bool) -> bool:
    """Return whether the text before a verdict is introduced as an example or as a response.

    It is not the text of a response if it speaks of the other response or of both, as the reasons
    of a judge do.

    Args:
        before: the text before the verdict.
        is_pairwise: whether the verdict compares two responses.
    """
    if EXAMPLE.search(before):
        return True
    if not is_pairwise:
        return SPEECH.search(before) is not None
    if LETTER_A.search(before) and LETTER_B.search(before):
        return False
    heading = HEADED_TEXT.search(before)
    return heading is not None and not PAIR.search(before)


def is_unrelated(after: str) -> bool:
    """Return whether the text after a verdict speaks of something else than the responses.

    Only its first line with words is checked. It must name a response, as `A` or `the first one`
    do, or begin an explanation, as `Reason:` does.
    """
    lines = after[:LONGEST].split("\n")[1:]
    line = next((line for line in lines if WORD.search(line)), "")
    if not line or LETTER_A.search(line) or LETTER_B.search(line):
        return False
    return not (PAIR.search(line) or EXPLANATION.match(line))


def _has_other_box(view: str, verdict: VerdictPlace) -> bool:
    r"""Return whether a reply puts different values into `\boxed{}` on the verdict's line.

    Boxes of single letters on other lines count, too.
    """
    if "\\boxed" not in view:
        return False
    line_start = view.rfind("\n", 0, verdict.start) + 1
    line_end = view.find("\n", verdict.start)
    values = set()
    for box in BOXED.finditer(view):
        is_beside = line_start <= box.start() and (line_end < 0 or box.end() <= line_end)
        if is_beside or (verdict.preferred and len(box[1].strip()) == 1):
            values.add(box[1].strip().upper())
    return len(values) > 1


def _names_loser(view: str, preferred: str) -> bool:
    """Return whether a line calls the preferred response the worse one, such as `Loser: A`."""
    return any(line["side"] == preferred for line in NAMED_LOSER.finditer(view[-LONGEST:]))


def _is_faulted(view: str, verdict: VerdictPlace) -> bool:
    """Return whether the words after a verdict blame the response that it prefers.

    These are the words up to the end of the clause or another name, as in `A: misses the point`,
    and a sentence such as `This is the weaker one`.
    """
    clause = CLAUSE.match(view, verdict.end, verdict.end + LONGEST_CLAUSE)
    if clause and not verdict.is_sentence:
        said = clause[0].lstrip("*_`\"' )]:=–—-(")
        if has_fault(said) or UNDECIDED_LINE.match(said):
            return True
    rest = view[verdict.end : verdict.end + LONGEST]
    return any(map(WHOLE.match, re.split(r"[.!?]\s|\n", rest)))


def has_fault(clause: str) -> bool:
    """Return whether a clause has words of blame that are neither negated nor conceded."""
    fault = FAULT.search(clause)
    return fault is not None and not NO_FAULT.search(clause[: fault.end() + 10])


def _describes_both(view: str, verdict: VerdictPlace, other: str) -> bool:
    """Return whether the verdict is only the name before a description, as in `A: short, B: long`.

    It is if the name of the other response begins a clause and the same sign stands after it.
    """
    separator = SEPARATOR.match(view, verdict.end)
    if separator is None:
        return False
    sign = r"\d" if separator[1].isdigit() else re.escape(separator[1])
    name = rf"(?:^|[\n,;.|/)]|[ \t]-)[^\w\n]*(?:[Rr]esponse )?{other}[*_`\"')\]]*[ \t]*{sign}"
    return re.search(name, view[verdict.end : verdict.end + LONGEST]) is not None
