"""Marks that a reply gives both responses beside its verdict, such as `A: poor, B: excellent`.

A mark is a sign, a row of stars, a letter grade, a number in words or an adjective of quality. It
stands for the whole response: the name of the response begins a clause, and the mark ends it.
Scores in digits are read by `stated_scores`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from podium.scorers.stated_scores import (
    GIVING_VERBS,
    NAME,
    NAME_CELL,
    NOUN_BEFORE_NAME,
    OTHER_COUNTS,
    SECTION_HEADING,
    line_around,
)

# The beginning of a line or clause, with a word such as `Grades:`.
CLAUSE_START = (
    r"(?:^|(?<=[.;,!?|] )|(?<=\band )|(?<=\bbut )|(?<=\bwhile )|(?<=\bwhereas ))[^\w\n.;,!?]*"
    r"(?i:(?:grades?|ratings?|scores?|marks?|overall|quality|total|stars)[*_ ]*[:：][*_ ]*)?"
)
# A word such as `Rating` directly before the name of a response.
RATING_NOUN = r"(?i:(?:rating|score|grade|mark|quality)s?[ _-](?:of |for )?)?"
NAME_OF_RESPONSE = rf"{CLAUSE_START}{RATING_NOUN}{NOUN_BEFORE_NAME}{NAME}[*_`\"')\]]*"
# A sign or a verb between the name of a response and its mark.
SEPARATOR = (
    rf"[ \t]*(?:[|:：=–—→]|-(?=[ \t])|{GIVING_VERBS}\b)[ \t|*_`\"'(:]*"
    r"(?:(?:an?|about|the|total|overall|final|score|rating|grade|mark|is|of|only|just)\b"
    r"[ \t:=*_]*)*"
)
# The end of a clause, after closing signs.
CLAUSE_END = (
    r"(?=[ \t*_`\"')|\]]*(?:[.;,!?\n|(–—]|-[ \t]|\Z|(?:and|but|while|whereas|vs|versus|overall)\b))"
)
APPROVING_SIGN = "✅✓✔☑👍🟢🏆🥇"
REJECTING_SIGN = "❌✗✘✕✖❎👎🚫⛔🔴🥈"
SIGNS = rf"(?P<mark>[{APPROVING_SIGN}{REJECTING_SIGN}])[\ufe0f🏻-🏿]*"
STARS = r"(?P<mark>(?:[⭐★🌟]\ufe0f?)+)[☆✩]*(?:[ \t]*\([^()\n]{1,12}\))?"
GRADE = r"(?P<mark>[A-F][+−–-]?)(?![\w+])"
NUMBER_WORDS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
)
NUMBER = (
    rf"(?P<mark>(?i:{'|'.join(NUMBER_WORDS)}))\b"
    r"(?:[ \t]+(?:out )?of (?:five|seven|ten|\d{1,3})\b|[ \t]*/[ \t]*\d{1,3}"
    r"|[ \t]+(?:points?|stars?)\b)?"
)
QUALITY_LEVELS = (
    "terrible|awful|horrible|very poor|very bad|very weak|sehr schlecht|ungenügend",
    "poor|bad|weak|inadequate|unacceptable|unsatisfactory|schlecht|mangelhaft|mauvaise?|mal[ao]",
    "fair|average|mediocre|acceptable|adequate|passable|so-so|satisfactory|befriedigend|regular",
    "good|solid|strong|gut|bonne?|buen[ao]",
    "very good|very strong|great|excellent|outstanding|perfect|superb|exceptional|sehr gut"
    "|ausgezeichnet|hervorragend|très bonne?|excellente?|excelente|muy buen[ao]",
)
"""Adjectives of quality, from the lowest level to the highest one."""
QUALITY = rf"(?P<mark>(?i:{'|'.join(QUALITY_LEVELS)}))\b"
LEVELS = tuple(re.compile(words, re.IGNORECASE) for words in QUALITY_LEVELS)
# A sign before the name of a response: `❌ A`.
SIGN_BEFORE_NAME = re.compile(
    rf"(?m)(?:^|(?<=[.;,!?|] ))[ \t*_>-]*{SIGNS}[ \t*_:]*{NOUN_BEFORE_NAME}{NAME}"
)
# A word such as `Rating:` before a mark that stands alone on a line.
WORD_BEFORE_MARK = (
    r"(?i:(?:(?:overall|final|total|my) )*(?:grade|rating|score|mark|overall|quality|total)"
    r"[*_ ]*[:：][*_ ]*)?"
)
SEARCHED_END = 3000
"""Number of characters at the end of a reply that are searched for marks."""


class Kind(NamedTuple):
    """A kind of marks.

    Attributes:
        pattern: the name of a response (group `side`) and its mark (group `mark`).
        alone: a mark without a name (group `mark`), alone in a line or in the cell of a table.
        value_of: function from a mark to its value, of which the higher one is better.
    """

    pattern: re.Pattern[str]
    alone: re.Pattern[str]
    value_of: Callable[[str], float]


def _value_of_grade(grade: str) -> float:
    """Return the value of a letter grade: A+ is the highest one."""
    sign = 0 if len(grade) == 1 else 1 if grade.endswith("+") else -1
    return -3 * "ABCDEF".index(grade[0]) + sign


def _level_of(word: str) -> int:
    """Return the level of an adjective of quality."""
    return next(level for level, words in enumerate(LEVELS) if words.fullmatch(word))


def _kind(mark: str, value_of: Callable[[str], float], separator: str = SEPARATOR) -> Kind:
    """Return a kind of marks by the pattern of a mark."""
    pattern = rf"(?m){NAME_OF_RESPONSE}{separator}{mark}{CLAUSE_END}"
    alone = rf"[^\w\n]*?{WORD_BEFORE_MARK}{mark}[^\w\n]*"
    return Kind(re.compile(pattern), re.compile(alone), value_of)


KINDS = (
    _kind(SIGNS, lambda sign: float(sign in APPROVING_SIGN), rf"(?:{SEPARATOR}|[ \t*_]*)"),
    _kind(STARS, lambda stars: len(stars.replace("\ufe0f", "")), rf"(?:{SEPARATOR}|[ \t*_]*)"),
    _kind(GRADE, _value_of_grade),
    _kind(NUMBER, lambda word: NUMBER_WORDS.index(word.lower())),
    _kind(QUALITY, _level_of),
)
KIND_OF_SIGNS_BEFORE = KINDS[0]._replace(pattern=SIGN_BEFORE_NAME)
BARE_LETTERS = frozenset("AB")
"""Grades that may be names of responses."""


def contradicts_marks(view: str, other: str) -> bool:
    """Return whether marks of one kind prefer the response that a verdict does not prefer.

    All pairs of marks of that kind must agree: marks for several criteria may differ.

    Args:
        view: the judge's own words.
        other: the letter of the response that the verdict does not prefer.
    """
    text = view[-SEARCHED_END:]
    names = [*_named_lines(text)]
    rows = [*_rows_of_columns(text)]
    before = [*_marks_beside_names(text, KIND_OF_SIGNS_BEFORE)]
    has_signs_before = {side for side, _ in before} == {"A", "B"}
    for kind in KINDS:
        is_before = kind is KINDS[0] and has_signs_before
        marks = before if is_before else [*_marks_beside_names(text, kind)]
        groups = [marks, [*_marks_of_cells(names, kind)]]
        groups += [[*_marks_of_cells(row, kind)] for row in rows]
        leaders = {leader for group in groups for leader in _leaders_of_pairs(group, kind)}
        if leaders == {other}:
            return True
    return False


def _marks_beside_names(text: str, kind: Kind) -> Iterator[tuple[str, str]]:
    """Yield the responses and their marks of a kind, in order.

    Lines with words for other counts, such as `errors`, are left out.
    """
    for match in kind.pattern.finditer(text):
        if not OTHER_COUNTS.search(line_around(text, match)):
            yield match["side"], match["mark"]


def _named_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines that follow a heading such as `### Response A`, with the response's name."""
    side = ""
    for line in text.split("\n"):
        name = SECTION_HEADING.fullmatch(line)
        if name:
            side = name["side"]
        elif side:
            yield side, line


def _rows_of_columns(text: str) -> Iterator[list[tuple[str, str]]]:
    """Yield the rows of tables with a column for each response: each response with its cell."""
    columns: dict[str, int] = {}  # the column of each response in the current table
    for line in text.split("\n") if "|" in text else ():
        cells = line.strip().strip("|").split("|")
        names = {column: NAME_CELL.fullmatch(cell) for column, cell in enumerate(cells)}
        named_columns = {name["side"]: column for column, name in names.items() if name}
        if "|" not in line:
            columns = {}
        elif len(named_columns) == len("AB"):
            columns = named_columns
        elif columns and max(columns.values()) < len(cells) and not OTHER_COUNTS.search(line):
            yield [(side, cells[column]) for side, column in columns.items()]


def _marks_of_cells(cells: Iterable[tuple[str, str]], kind: Kind) -> Iterator[tuple[str, str]]:
    """Yield the responses of cells or lines that have nothing but a mark of a kind, with it."""
    for side, cell in cells:
        mark = kind.alone.fullmatch(cell)
        if mark:
            yield side, mark["mark"]


def _leaders_of_pairs(marks: list[tuple[str, str]], kind: Kind) -> Iterator[str]:
    """Yield the response with the higher mark of each pair; neighbours are a pair.

    A mark has one partner only. A pair of the letters A and B is left out: they may be names.
    """
    is_paired = False
    for (side, mark), (next_side, next_mark) in pairwise(marks):
        is_paired = not is_paired and side != next_side
        if not is_paired or {mark, next_mark} <= BARE_LETTERS:
            continue
        margin = kind.value_of(mark) - kind.value_of(next_mark)
        if margin:
            yield side if margin > 0 else next_side
