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
    SENTENCE,
    WORDS_BEFORE_NAME,
)
from podium.scorers.faults import has_fault
from podium.scorers.verdict_statements import Statement

# The next three are parts of `PRAISE`: `more accurate`, `answers`, and `only correct`.
PRAISING_ADJECTIVES = (
    r"accurate|correct|complete|helpful|useful|relevant|precise|detailed|thorough|clear|faithful"
    r"|reliable|comprehensive|appropriate|suitable|informative|practical|concrete|specific"
)
PRAISING_VERBS = (
    r"(?:answers|follows|meets|fits|addresses|matches|satisfies|fulfil?s|serves|handles|does|covers"
    r"|gives|solves|respects)"
)
"""Verbs of praise after the name of a response, such as `answers`."""
PRAISING_COMPLEMENT = r"(?:\w+[ \t]+)?(?:correct|right|accurate|complete|valid)"
"""Praise after `is`, such as `mostly correct`."""
# The beginning of a clause about the other response, such as `, while B`.
OTHER_SUBJECT = r"[;,]?[ \t]+(?:and |but |while |whereas )?(?:response )?[AB][ \t]+"
PRAISE = re.compile(
    rf"(?i)\b{WORDS_BEFORE_NAME}{LETTER},?[ \t]+(?:"
    r"(?:is|was|seems)[ \t]+(?:\w+[ \t]+){0,2}?(?:the[ \t]+)?more[ \t]+"
    rf"(?:{PRAISING_ADJECTIVES})\b"
    rf"|{PRAISING_VERBS}\b(?:[ \t]+\w+){{1,5}}?[ \t]+(?:better|best)\b"
    rf"|(?:is|was)[ \t]+{PRAISING_COMPLEMENT}\b{OTHER_SUBJECT}"
    r"(?:is not|isn['’]t|is (?:\w+ )?(?:wrong|incorrect))\b"
    rf"|{PRAISING_VERBS}\b[^.;,\n]{{1,60}}{OTHER_SUBJECT}(?:does not|doesn['’]t|fails to)\b)"
)
"""Praise of a response.

The forms are, in this order: `B is more accurate`, `B follows the format better`, `B is correct, A
is not`, and `B answers the question, A doesn't`.
"""
ONLY_PRAISED = re.compile(
    rf"(?i)\bonly {WORDS_BEFORE_NAME}{LETTER}[ \t]+"
    rf"(?:(?:is|gets)[ \t]+(?:{PRAISING_COMPLEMENT}|it right)|{PRAISING_VERBS})\b"
)
"""Praise of the only response that does something: `only B answers the question`."""
REJECTED_AND_CHOSEN = re.compile(
    rf"(?im)^\W*not (?:response )?[*_]*[AB][*_]*(?:,? (?:but|rather)|[.,;])[ \t]+(?:but )?"
    rf"{WORDS_BEFORE_NAME}{LETTER}(?=[^\w\n?]*(?:\n|\Z))"
)
"""A line that rejects one response and takes the other: `Not A, but B.`"""
SENTENCE_REST = re.compile(
    rf"(?i)(?:[ \t]+(?:{PRAISING_ADJECTIVES}))?(?:,? and (?:more )?(?:{PRAISING_ADJECTIVES}))?"
    r"(?:[ \t]+than (?:response )?[AB]\b)?(?: overall| here| of the two)?[^\w?]*\Z"
)
"""What may stand between a praise and the end of its sentence: `and complete`, `than A`."""
CLAUSE_END = re.compile(r"[.;!?\n]")
OPPOSING_WORD = re.compile(
    r"(?i)\b(?:but|yet|however|though|although|while|whereas|doubt|supposedly|allegedly|except)\b"
)
"""Words before or after a praise that may oppose it: `but`, `although`."""


def find_weak_preference(view: str) -> Statement | None:
    """Return the first sentence that praises a response, if only this response is praised.

    A line such as `Not A, but B` counts as praise of B, and is returned before any other praise.
    The result is None if no response or both are praised. Questions, conditions, concessions and
    negated sentences are left out. The result is also None if words such as `but` or `wrong` stand
    anywhere before or after another praise, or if the sentence of a praise goes on.

    Args:
        view: the judge's own words.
    """
    praises = [_statement_of_praise(line) for line in REJECTED_AND_CHOSEN.finditer(view)]
    for sentence in SENTENCE.finditer(view):
        start, end = sentence.span()
        if CONDITION.match(view, start, end) or sentence[0].endswith("?"):
            continue
        only_praised = ONLY_PRAISED.finditer(view, start, end)
        for praise in (*only_praised, *PRAISE.finditer(view, start, end)):
            words_before = view[start : praise.start()].lower()
            first_clause = re.split("[;,]", praise[0])[0]
            if CONCESSION.search(words_before) or NEGATION.search(first_clause):
                continue
            other_text = view[: praise.start()] + "\n" + view[praise.end() :]
            clauses = (first_clause, *CLAUSE_END.split(other_text))
            is_opposed = any(
                OPPOSING_WORD.search(clause) or has_fault(clause) for clause in clauses
            )
            if is_opposed or not SENTENCE_REST.match(view, praise.end(), end):
                return None
            praises.append(_statement_of_praise(praise))
    letters = {statement.value for statement in praises}
    return praises[0] if len(letters) == 1 else None


def _statement_of_praise(praise: re.Match[str]) -> Statement:
    """Return the statement that a praise makes: the praised response is the verdict."""
    place = praise.start("letter")
    return Statement(*praise.span(), place, praise["letter"], "marked", is_sentence=True)
