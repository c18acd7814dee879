"""direct: the better response in one letter. cot: reasons first.

Source: the non-transitivity paper, appendix G.1.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from podium.scorers.comparisons import TIE
from podium.scorers.echoed_legends import without_letter_legend
from podium.scorers.prompt import Settings, packaged_template
from podium.scorers.realization import Preference, Realization
from podium.scorers.reply import Reply, Verdict, reply_with_probabilities
from podium.scorers.reply_reader import ComparisonLines, CountsUnnamed, read_statement
from podium.scorers.reply_words import FIRST, SECOND, TIES
from podium.scorers.schemas import choice_form
from podium.scorers.stated_marks import is_preferred_by_marks
from podium.scorers.verdict_statements import GAP, Statement

CREDIT = {"A": 1.0, "B": 0.0, TIE: 0.5}
"""Credit of the first response by letter."""
SINGLE_LETTER = rf"{GAP}([A-Za-z])(?![^\W_]|['’]\w)"
"""A letter that is not part of a word, with the blanks and emphasis before it, such as ` **A`."""
NAME_AT_LINE_END = rf"{GAP}((?i:{FIRST}|{SECOND}))(?=[^\w\n]*(?:\n|\Z))"
"""The name of a response in words at the end of a line, such as `the second one`."""
# A response in words or by its letter: group 1 is the words, group 2 the letter.
LETTER = re.compile(rf"{NAME_AT_LINE_END}|{SINGLE_LETTER}")
LETTER_OR_TIE = re.compile(rf"{GAP}((?i:{TIES}))(?!\w)|{LETTER.pattern}")
"""A letter, or a word for a tie such as `draw`, with the blanks and emphasis before it."""
FIRST_NAME = re.compile(FIRST, re.IGNORECASE)
"""The first response in words, such as `the first one`."""
SECOND_NAME = re.compile(SECOND, re.IGNORECASE)
"""The second response in words, such as `the second one`."""
WORD = re.compile(r"\w+")
LONGEST_LIST = 60
"""Replies with fewer characters are checked for being a mere list of letters, such as `A or B`."""


def read_reply(reply: Reply, settings: Settings) -> Verdict:
    """Read the letter of a reply, or the sentence that prefers a response.

    The letter stands in the first or last line, or after a word such as `verdict`. A sentence such
    as `A is better` counts in the first or last line only, and only if no letter counts. A reply
    that is a mere list of letters, such as `A or B`, is unparsed as `several verdicts`.
    """
    if _lists_letters(reply.text, settings):
        return Verdict(credit=None, reason=reply.reason_of_silence or "several verdicts")
    return _read_letter(reply, settings, is_letter_alone, comparison_lines="ends")


def _lists_letters(text: str, settings: Settings) -> bool:
    """Return whether a text is a mere list of letters that the judge may choose, as `A or B` is.

    Such a text has fewer than 60 characters. All of its words are letters that the judge may
    choose, in any case, and at least two words differ. A text with `<` or `>` is no list, nor is
    one with marks of which one is higher, such as stars.
    """
    if len(text) >= LONGEST_LIST or "<" in text or ">" in text:
        return False
    words = set(WORD.findall(text.upper()))
    if len(words) < 2 or not words <= set(_offered_letters(settings)):
        return False
    # For speed, marks are searched for last.
    return not any(is_preferred_by_marks(text, side) for side in "AB")


def write_reply(preference: Preference, settings: Settings) -> Reply:
    """Return a reply with the letter and the probabilities of all letters."""
    return reply_with_probabilities(
        letter_of(preference, settings), letter_probabilities(preference, settings)
    )


def is_letter_alone(statement: Statement, is_first: bool, is_last: bool) -> bool:
    """Return whether a letter counts although no word such as `verdict` names it.

    It counts if it begins the first line, is alone on any line, or is the last sentence of the last
    line. If it is alone with a noun such as `Response` before it, the line must be the first or the
    last one.

    Args:
        statement: the statement of the letter.
        is_first: whether it stands in the first line with words.
        is_last: whether it stands in the last line with words.
    """
    if statement.form == "leading":
        return is_first
    if statement.form == "closing":
        return is_last
    is_at_an_end = is_first or is_last
    return statement.form == "alone" and (is_at_an_end or not statement.has_noun)


def _is_last_letter(statement: Statement, _: bool, is_last: bool) -> bool:
    """Return whether a letter is alone on the last line, without a noun such as `Response`.

    This is the function `CountsUnnamed` of `cot`; its second argument is not used.
    """
    return statement.form == "alone" and is_last and not statement.has_noun


def _write_reasons(preference: Preference, settings: Settings) -> Reply:
    """Return a reply with the reasons, the line `Verdict: A`, and the letters' probabilities.

    The alternatives are at the last token, spelled with a blank before the letter.
    """
    text = f"{preference.reasons}\n\nVerdict: {letter_of(preference, settings)}".lstrip()
    probabilities = {
        f" {letter}": probability
        for letter, probability in letter_probabilities(preference, settings).items()
    }
    return reply_with_probabilities(text, probabilities)


def _read_letter(
    reply: Reply,
    settings: Settings,
    counts_unnamed: CountsUnnamed,
    comparison_lines: ComparisonLines,
) -> Verdict:
    """Return the verdict of the letter of a reply.

    The verdict is unparsed if the judge was not offered this letter. The `place` of the verdict is
    None if the reply gives it in words, such as `draw` or `the first one`.

    Args:
        reply: the reply.
        settings: says whether the letter C, a tie, is offered.
        counts_unnamed: function that says which letters count without a word such as `verdict`.
        comparison_lines: lines in which a sentence such as `A is better` counts as the verdict.
    """

    def parse(text: str) -> str | None:
        """Return the letter that a value means; None if the judge was not offered this letter.

        A single letter stands for itself, in any case. Longer values, as `LETTER_OR_TIE` matches
        them, are names such as `the first one` or words for a tie.
        """
        letter = text.upper() if len(text) == 1 else _letter_of_words(text)
        return letter if letter in _offered_letters(settings) else None

    value = LETTER_OR_TIE if settings.tie else LETTER
    reply = replace(reply, text=without_letter_legend(reply.text))
    stated = read_statement(reply, value, parse, counts_unnamed, comparison_lines=comparison_lines)
    if isinstance(stated, str):
        return Verdict(credit=None, reason=stated)
    is_letter = reply.text[stated.place].upper() == stated.value
    place = stated.place if is_letter else None
    return Verdict(credit=CREDIT[stated.value], label=stated.value, place=place)


def _letter_of_words(text: str) -> str:
    """Return the letter that words stand for: A for `the first one`, B for `the second`, else C.

    Words that name no response are taken for a tie.
    """
    if FIRST_NAME.fullmatch(text):
        return "A"
    return "B" if SECOND_NAME.fullmatch(text) else TIE


def _offered_letters(settings: Settings) -> str:
    """Return the letters that the judge may choose, as one string."""
    return f"AB{TIE}" if settings.tie else "AB"


def letter_of(preference: Preference, settings: Settings) -> str:
    """Return the letter of a preference: A, B, or C for a tie.

    If the degree is 0.5 and a tie is not offered, the letter is A.
    """
    if settings.tie and preference.degree == 0.5:
        return TIE
    return "A" if preference.degree >= 0.5 else "B"


def letter_probabilities(preference: Preference, settings: Settings) -> Mapping[str, float]:
    """Return the probability of each letter, such that P(A) + P(C) / 2 is the preference's chance.

    The letter that `letter_of` returns is the likeliest. P(C) is 0 if a tie is not offered.
    """
    # P(C) = tie_factor * min(chance, 1 - chance). With a factor of 2/3, P(C) is at most the larger
    # one of P(A) and P(B). With a factor of 1 and a chance of 0.5, P(C) is the largest.
    chance = preference.chance
    tie_factor = 1 if letter_of(preference, settings) == TIE else 2 / 3
    tie = tie_factor * min(chance, 1 - chance) if settings.tie else 0.0
    return {"A": chance - tie / 2, "B": 1 - chance - tie / 2, TIE: tie}


def letter_verdicts(settings: Settings) -> Mapping[str, Verdict]:
    """Return the verdict of each letter that the judge may choose."""
    return {
        letter: Verdict(credit=CREDIT[letter], label=letter)
        for letter in _offered_letters(settings)
    }


DIRECT = Realization(
    name="direct",
    kind="pairwise",
    template=partial(packaged_template, "direct"),
    read_reply=read_reply,
    write_reply=write_reply,
    options=frozenset({"tie", "checklist", "reference", "system"}),
    probabilities="soften",
    form=choice_form("verdict", letter_verdicts),
    tokens=256,
    margins=False,
    schema_first=True,
)
COT = replace(
    DIRECT,
    name="cot",
    template=partial(packaged_template, "cot"),
    read_reply=partial(_read_letter, counts_unnamed=_is_last_letter, comparison_lines="last"),
    write_reply=_write_reasons,
    form=choice_form("verdict", letter_verdicts, reasons=True, tokens=400),
    tokens=2048,
    schema_first=False,
)
