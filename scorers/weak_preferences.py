"""Sentences that praise one response in one respect, such as `B is more accurate`.

Such a sentence is the verdict only of a reply without any other statement, and only if no sentence
of the reply praises the other response.
"""

import re

from podium.scorers.comparisons import (
    CONCESSION,
    CONDITION,
    LETTER,
    NEGATION,
    NOUN,
    SENTENCE,
)
from podium.scorers.contradictions import has_fault
from podium.scorers.verdict_statements import Statement

MORE = (
    r"accurate|correct|complete|helpful|useful|relevant|precise|detailed|thorough|clear|faithful"
    r"|reliable|comprehensive|appropriate|suitable|informative|practical|concrete|specific"
)
DOES = (
    r"(?:answers|follows|meets|fits|addresses|matches|satisfies|fulfil?s|serves|handles|does|covers"
    r"|gives|solves|respects)"
)
RIGHT = r"(?:\w+[ \t]+)?(?:correct|right|accurate|complete|valid)"
# The beginning of a clause about the other response.
CONTRAST = r"[;,]?[ \t]+(?:and |but |while |whereas )?(?:response )?[AB][ \t]+"
PRAISE = re.compile(
    rf"(?i)\b{NOUN}{LETTER},?[ \t]+(?:"
    rf"(?:is|was|seems)[ \t]+(?:\w+[ \t]+){{0,2}}?(?:the[ \t]+)?more[ \t]+(?:{MORE})\b"
    rf"|{DOES}\b(?:[ \t]+\w+){{1,5}}?[ \t]+(?:better|best)\b"
    rf"|(?:is|was)[ \t]+{RIGHT}\b{CONTRAST}(?:is not|isn['’]t|is (?:\w+ )?(?:wrong|incorrect))\b"
    rf"|{DOES}\b[^.;,\n]{{1,60}}{CONTRAST}(?:does not|doesn['’]t|fails to)\b)"
)
"""Praise of a response.

The forms are, in this order: `B is more accurate`, `B follows the format better`, `B is correct, A
is not`, and `B answers the question, A doesn't`.
"""
ONLY = re.compile(
    rf"(?i)\bonly {NOUN}{LETTER}[ \t]+(?:(?:is|gets)[ \t]+(?:{RIGHT}|it right)|{DOES})\b"
)
"""Praise of the only response that does something: `only B answers the question`."""
NOT_BUT = re.compile(
    rf"(?im)^\W*not (?:response )?[*_]*[AB][*_]*(?:,? (?:but|rather)|[.,;])[ \t]+(?:but )?"
    rf"{NOUN}{LETTER}(?=[^\w\n?]*(?:\n|\Z))"
)
"""A line that rejects one response and takes the other: `Not A, but B.`"""
REST = re.compile(
    rf"(?i)(?:[ \t]+(?:{MORE}))?(?:,? and (?:more )?(?:{MORE}))?"
    r"(?:[ \t]+than (?:response )?[AB]\b)?(?: overall| here| of the two)?[^\w?]*\Z"
)
"""What may stand between a praise and the end of its sentence: `and complete`, `than A`."""
CLAUSE_END = re.compile(r"[.;!?\n]")
OPPOSED = re.compile(
    r"(?i)\b(?:but|yet|however|though|although|while|whereas|doubt|supposedly|allegedly|except)\b"
)
"""Words around a praise that may oppose it."""


def find_weak_preference(view: str) -> Statement | None:
    """Return the sentence that praises one response; None if none or both responses are praised.

    Conditions, concessions and negated sentences are left out. Nothing is returned if words such as
    `but` or `wrong` stand around a praise, or if its sentence goes on.

    Args:
        view: the judge's own words.
    """
    praises = [_statement_of_praise(contrast) for contrast in NOT_BUT.finditer(view)]
    for sentence in SENTENCE.finditer(view):
        start, end = sentence.span()
        if CONDITION.match(view, start, end) or sentence[0].endswith("?"):
            continue
        for praise in (*ONLY.finditer(view, start, end), *PRAISE.finditer(view, start, end)):
            before = view[start : praise.start()].lower()
            named = praise[0].split(";")[0].split(",")[0]
            if CONCESSION.search(before) or NEGATION.search(named):
                continue
            around = view[: praise.start()] + "\n" + view[praise.end() :]
            clauses = (named, *CLAUSE_END.split(around))
            is_opposed = any(OPPOSED.search(clause) or has_fault(clause) for clause in clauses)
            if is_opposed or not REST.match(view, praise.end(), end):
                return None
            praises.append(_statement_of_praise(praise))
    letters = {statement.value for statement in praises}
    return praises[0] if len(letters) == 1 else None


def _statement_of_praise(praise: re.Match[str]) -> Statement:
    """Return the statement that a sentence makes."""
    place = praise.start("letter")
    return Statement(*praise.span(), place, praise["letter"], "marked", is_sentence=True)
