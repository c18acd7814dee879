"""Marks that a reply gives both responses beside its verdict, such as `A: poor, B: excellent`.

A mark is a sign, a row of stars, a letter grade, a number in words or an adjective of quality. It
counts only if it clearly stands for the whole response (`mark_contexts`). Scores in digits are read
by `stated_scores`.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from podium.scorers import mark_contexts
from podium.scorers.comparisons import OTHER_RESPONSE
from podium.scorers.mark_tables import (
    Cell,
    cells_of_tables,
    criteria_of_tables,
    lines_of_sections,
    without_tables,
)
from podium.scorers.stated_scores import (
    GIVING_VERBS,
    NAME,
    NOUN_BEFORE_NAME,
    OTHER_COUNTS,
)
from podium.wording import NUMBER_WORDS

# A sign or a verb between the name of a response and its mark.
NAME_TO_MARK = (
    r"[*_`\"')\]]*[ \t]*"
    rf"(?:[|:：=–—→(\[]|,(?=[ \t])|-(?=[ \t])|(?:(?:was|is)[ \t]+)?{GIVING_VERBS}\b|was\b)"
    r"[ \t|*_`\"'(:]*"
    r"(?:(?:an?|about|the|total|overall|final|score|rating|grade|mark|is|of|only|just)\b"
    r"[ \t:=*_]*)*"
)
BLANKS = r"[*_`\"')\]]*[ \t*_]*"
"""Closing signs, and blanks that may be missing."""
CLOSED_BLANKS = r"[*_`\"')\]]*[ \t]+"
"""Closing signs, and at least one blank."""
# The end of a mark's clause, after closing signs.
CLAUSE_END = (
    r"(?=[ \t*_`\"')|\]]*(?:[.;,!?。；，！？\n|(–—]|-[ \t]|\Z"
    r"|(?:and|while|whereas|vs|versus|overall|but|yet|though|although|if)\b"
    rf"|{NOUN_BEFORE_NAME}[AB]\b))"
)
MARK_TO_NAME = r"[*_`\"')\]]*(?:[ \t]*\([ \t]*|[ \t]+(?:for|to)[ \t]+)"
"""What stands between a mark and the name of its response: `poor (A)`, `excellent for B`."""
APPROVING_SIGN = "✅✓✔☑👍🟢🏆🥇"
REJECTING_SIGN = "❌✗✘✕✖❎👎🚫⛔🔴🥈"
# The next patterns match one mark of each kind, whose text is in the group `mark`.
SIGNS = rf"(?P<mark>[{APPROVING_SIGN}{REJECTING_SIGN}])[\ufe0f🏻-🏿]*"
"""An approving or rejecting sign, with the characters that choose its form or colour of skin."""
STARS = r"(?P<mark>(?:[⭐★🌟]\ufe0f?)+)[☆✩]*(?:[ \t]*\([^()\n]{1,12}\))?"
"""A row of stars, of which empty ones do not count: `★★★☆ (3/4)`; group `mark` is the full ones."""
GRADE = r"(?P<mark>[A-F][+−–-]?)(?![\w+])"
"""A grade such as `B+`, in group `mark`."""
SPELLED_NUMBERS = ("zero", *NUMBER_WORDS[1:])
NUMBER = (
    rf"(?P<mark>(?i:{'|'.join(SPELLED_NUMBERS)}))\b"
    r"(?:[ \t]+(?:out )?of (?:five|seven|ten|\d{1,3})\b|[ \t]*/[ \t]*\d{1,3}"
    r"|[ \t]+(?:points?|stars?)\b)?"
)
"""A number in words with its unit, such as `four out of five`; group `mark` is the number."""
QUALITY_LEVELS = (
    r"terrible|useless|worthless|awful|horrible|very poor|very bad|very weak|sehr schlecht"
    r"|ungenügend|很差|极差|最悪",
    r"poor|bad|weak|inadequate|unacceptable|unsatisfactory|schlecht|mangelhaft|mauvaise?|mal[ao]"
    r"|slab[ae]|плох\w+|差|较差|不好|悪い|나쁨",
    r"fair|average|mediocre|acceptable|adequate|passable|so-so|satisfactory|befriedigend|regular"
    r"|moyenne?|一般|普通|보통",
    r"good|solid|strong|gut|bonne?|bien|buen[ao]|buon[ao]|dobr[ae]|хорош\w+|好|良好|良い|좋음",
    r"very good|very strong|great|excellent|outstanding|perfect|superb|exceptional|sehr gut"
    r"|ausgezeichnet|hervorragend|très bonne?|excellente?|excelente|muy buen[ao]|ottim[ao]"
    r"|eccellente|отличн\w+|优秀|很好|极好|优异|優れている|とても良い|매우 좋음|flawless|brilliant"
    r"|perfekt",
)
"""Adjectives of quality, from the lowest level to the highest one."""
QUALITY = rf"(?P<mark>(?i:{'|'.join(QUALITY_LEVELS)}))\b"
"""An adjective of quality, such as `very good`, in group `mark`."""
LEVELS = tuple(re.compile(words, re.IGNORECASE) for words in QUALITY_LEVELS)
"""A pattern per level of quality, the lowest first."""
# A word such as `Rating:` before a mark that stands alone on a line.
WORD_BEFORE_MARK = (
    r"(?i:(?:(?:overall|final|total|my) )*(?:grade|rating|score|mark|overall|quality|total)"
    r"[*_ ]*[:：][*_ ]*)?"
)
GRADE_WORD = re.compile(
    r"(?i)\bgrades?\b|\bgraded\b"
    r"|\b(?:gets?|got|earns?|earned|receives?|received|deserves?)[ \t]+an?\b"
    r"|\b(?:give|gave|award)\b"
)
"""Words which say that letters are grades: `grade`, `gets a`."""
SCORE_WORD = re.compile(
    r"(?i)\b(?:scor(?:es?|ed)|ratings?|rated|marks?|grades?|points?|stars?"
    r"|of (?:five|seven|ten|\d+))\b|/[ \t]*\d"
)
"""Words which say that numbers in words are scores: `points`, `of ten`, `/ 10`."""
SEARCHED_END = 3000
"""Number of characters at the end of a reply that are searched for marks."""
SEARCHED_BEFORE = 60
"""Number of characters before a mark that are searched for a word such as `Grades:`."""
LETTERS = re.compile(r"\b[AB]\b")
BARE_LETTERS = frozenset("AB")
"""Grades that may be names of responses."""


class Mark(NamedTuple):
    """A mark of one response.

    Attributes:
        side: the letter of the response.
        mark: the mark as it is written.
        words: the text that shows what the mark is: its clause and its heading, or a table's label.
        start: where its clause begins.
        end: where the mark ends.
        is_all: whether the reply says nothing but marks and a verdict.
    """

    side: str
    mark: str
    words: str
    start: int
    end: int
    is_all: bool = False


Pair = tuple[Mark, Mark]
"""The marks of two different responses, in their order in the text."""


class Kind(NamedTuple):
    """A kind of marks.

    Attributes:
        after_name: the name of a response (group `side`) and its mark (group `mark`).
        before_name: a mark and the name of its response.
        alone: a mark without a name (group `mark`), alone in a line or in the cell of a table.
        value_of: function from a mark to its value, of which the higher one is better.
        is_clear: function that says whether two marks are of this kind, and no content.
    """

    after_name: re.Pattern[str]
    before_name: re.Pattern[str]
    alone: re.Pattern[str]
    value_of: Callable[[str], float]
    is_clear: Callable[[Pair], bool]


def _value_of_grade(grade: str) -> float:
    """Return the value of a letter grade, of which higher is better: 1 for A+, 0 for A, -1 for A-,
    -2 for B+, and so on. Any sign but a plus counts as a minus."""
    sign = 0
    if len(grade) > 1:
        sign = 1 if grade.endswith("+") else -1
    return -3 * "ABCDEF".index(grade[0]) + sign


def _level_of(word: str) -> int:
    """Return the level of an adjective of quality, from 0 (the worst): its place in `LEVELS`.

    The word must be one of the adjectives.
    """
    return next(level for level, words in enumerate(LEVELS) if words.fullmatch(word))


def _are_marks(pair: Pair) -> bool:
    """Return True: two signs, rows of stars or adjectives beside names are always marks."""
    del pair
    return True


def _are_letter_grades(pair: Pair) -> bool:
    """Return whether letters are grades, and not names or options.

    They are grades if one has a sign, as `B+` has, or if words such as `grade` or `gets a` stand
    with one. If both are plain letters A or B, the result is always False.
    """
    letters = {mark.mark for mark in pair}
    if letters.issubset(BARE_LETTERS):
        return False
    has_sign = any(len(letter) > 1 for letter in letters)
    return has_sign or any(GRADE_WORD.search(mark.words) for mark in pair)


def _are_spelled_scores(pair: Pair) -> bool:
    """Return whether numbers in words are scores.

    Each number must stand with a unit such as `points` or a word such as `score`, or the reply must
    say nothing but marks and a verdict.
    """
    return all(mark.is_all or SCORE_WORD.search(mark.words) for mark in pair)


def _kind(
    mark: str,
    value_of: Callable[[str], float],
    is_clear: Callable[[Pair], bool] = _are_marks,
    *,
    to_mark: str = NAME_TO_MARK,
    to_name: str = MARK_TO_NAME,
    after_name: str = CLAUSE_END,
) -> Kind:
    """Return a kind of marks.

    Args:
        mark: pattern of a mark.
        value_of: function from a mark to its value.
        is_clear: function that says whether two marks are of this kind (`Kind`).
        to_mark: pattern of what stands between a name and its mark.
        to_name: pattern of what stands between a mark and its name.
        after_name: pattern of what follows a name after its mark.
    """
    return Kind(
        after_name=re.compile(rf"{NAME}{to_mark}{mark}{CLAUSE_END}"),
        before_name=re.compile(rf"{mark}{to_name}{NOUN_BEFORE_NAME}{NAME}{after_name}"),
        alone=re.compile(rf"[^\w\n]*?{WORD_BEFORE_MARK}{mark}[^\w\n]*"),
        value_of=value_of,
        is_clear=is_clear,
    )


KINDS = (
    _kind(
        SIGNS,
        lambda sign: float(sign in APPROVING_SIGN),
        to_mark=rf"(?:{NAME_TO_MARK}|{BLANKS})",
        to_name=r"[ \t*_:]*",
        after_name="",
    ),
    _kind(
        STARS,
        lambda stars: len(stars.replace("\ufe0f", "")),
        to_mark=rf"(?:{NAME_TO_MARK}|{BLANKS})",
    ),
    _kind(
        GRADE,
        _value_of_grade,
        _are_letter_grades,
        to_mark=rf"(?:{NAME_TO_MARK}|{CLOSED_BLANKS}(?:an?[ \t]+|(?=[A-F][+−–-](?!\w))))",
    ),
    _kind(
        NUMBER,
        lambda word: SPELLED_NUMBERS.index(word.lower()),
        _are_spelled_scores,
        to_mark=rf"(?:{NAME_TO_MARK}|{CLOSED_BLANKS}(?=\w+[ \t]+(?:stars?|points?|(?:out )?of)\b))",
    ),
    _kind(
        QUALITY,
        _level_of,
        to_mark=rf"(?:{NAME_TO_MARK}|{CLOSED_BLANKS})",
        to_name=rf"(?:{MARK_TO_NAME}|[*_]*[ \t]*[:=→][ \t*_]*)",
    ),
)


def is_preferred_by_marks(view: str, side: str) -> bool:
    """Return whether marks of one kind prefer a response.

    They must clearly stand for the whole responses, and all clear marks of the kind must agree. Or
    a table has marks for several criteria, which all prefer that response. Only the last 3,000
    characters are searched.

    Args:
        view: the judge's own words.
        side: the letter of the response.
    """
    text = view[-SEARCHED_END:]
    # For speed: a mark stands beside the letter of its response.
    if side not in text:
        return False
    prose = without_tables(text)
    rows = [*cells_of_tables(text)]
    lines = [*lines_of_sections(prose)]
    for kind in KINDS:
        leaders = {_leader_of(pair, kind) for pair in _pairs_in_prose(prose, kind)}
        for cells in (lines, *rows):
            leaders |= {_leader_of(pair, kind) for pair in _pairs_of_cells(text, cells, kind)}
        if leaders - {""} == {side}:
            return True
    return _leads_all_criteria(text, side)


def _leads_all_criteria(text: str, side: str) -> bool:
    """Return whether `side` has the higher mark in every criterion of some table of the text.

    Each criterion of the table must have marks of both responses. The result is False if the text
    has no table with criteria.
    """
    for criteria in criteria_of_tables(text):
        leaders = {
            _leader_of(pair, kind)
            for kind in KINDS
            for cells in criteria
            for pair in _pairs_of_cells(text, cells, kind)
        }
        # Each criterion must have a pair of marks of some kind.
        are_all_marked = all(
            any(any(_pairs_of_cells(text, cells, kind)) for kind in KINDS) for cells in criteria
        )
        if leaders == {side} and are_all_marked:
            return True
    return False


def is_marked_name(view: str, place: int) -> bool:
    """Return whether the letter at a place names a response with a mark, and is no verdict.

    The other response must have another mark, as in `A: poor, B: excellent` or `poor (A), ...`, and
    the marks of the view must prefer one response (`is_preferred_by_marks`). `place` is the
    position of the letter in `view`, the judge's own words.
    """
    start = max(0, place - SEARCHED_BEFORE)
    is_marked = False
    for kind in KINDS:
        before = kind.before_name.finditer(view, start, place + 1)
        is_marked |= any(match.start("side") == place for match in before)
        is_marked |= kind.after_name.match(view, place) is not None
    return is_marked and any(is_preferred_by_marks(view, side) for side in "AB")


def _leader_of(pair: Pair, kind: Kind) -> str:
    """Return the letter of the response with the higher mark.

    The result is "" if the marks are equal, or not clearly of this kind (`Kind.is_clear`).
    """
    first, second = pair
    margin = kind.value_of(first.mark) - kind.value_of(second.mark)
    if not margin or not kind.is_clear(pair):
        return ""
    return first.side if margin > 0 else second.side


def _pairs_in_prose(text: str, kind: Kind) -> Iterator[Pair]:
    """Yield the pairs of marks that stand beside the names of both responses, for whole responses.

    Pairs are left out if they are about a criterion, or if words after them limit the marks.


    The marks before the names count, as in `poor (A)`, if both responses have one; otherwise, those
    after the names.
    """
    marks = [*_marks_beside_names(text, kind.before_name)]
    if len({mark.side for mark in marks}) < len("AB"):
        marks = [*_marks_beside_names(text, kind.after_name)]
    pairs = [*_neighbours(marks)]
    are_criteria = [mark_contexts.is_of_criterion(text, first.start) for first, _ in pairs]
    for number, (first, second) in enumerate(pairs):
        if are_criteria[number]:
            continue
        is_last = number == len(pairs) - 1
        has_label = mark_contexts.may_be_criterion(text, first.start, is_last=is_last)
        if has_label and any(are_criteria):
            continue
        if mark_contexts.changes_criterion(text[first.end : second.start]):
            continue
        if not _is_limited(text, (first, second), kind):
            yield first, second


def _is_limited(text: str, pair: Pair, kind: Kind) -> bool:
    """Return whether words after the marks limit the marks, so that they decide nothing.

    The higher mark may be conceded (`, if dry`) or the lower one redeemed (`, yet right`); a later
    sentence may outweigh both or blame the response with the lower mark; or a mark may be quoted as
    what a response says. The result is False for marks without a leader (`_leader_of`).
    """
    first, second = pair
    leader = _leader_of(pair, kind)
    if not leader:
        return False
    lower = OTHER_RESPONSE[leader]
    after = text[second.end :]
    for mark, rest in ((first, text[first.end : second.start]), (second, after)):
        is_weakened = (
            mark_contexts.is_conceded if mark.side == leader else mark_contexts.is_redeemed
        )
        if is_weakened(rest):
            return True
    if mark_contexts.is_outweighed(after, lower):
        return True
    end = next(mark.end for mark in pair if mark.side == leader)
    if mark_contexts.is_blamed(text[end:], lower):
        return True
    around = f"{text[: first.start]}\n{after}"
    return any(mark_contexts.is_quoted_as_content(around, mark.mark) for mark in pair)


def _marks_beside_names(text: str, pattern: re.Pattern[str]) -> Iterator[Mark]:
    """Yield the responses and their marks, in order.

    Marks after a word for other counts in their line, such as `errors`, are left out. `pattern`
    matches a mark and the name of its response, and has the groups `mark` and `side`.
    """
    without_marks = pattern.sub("", text)
    is_all = mark_contexts.is_neutral_heading(LETTERS.sub("", without_marks))
    for match in pattern.finditer(text):
        words = text[max(0, match.start() - SEARCHED_BEFORE) : match.end()]
        if not OTHER_COUNTS.search(words.rpartition("\n")[2]):
            yield Mark(match["side"], match["mark"], words, *match.span(), is_all)


def _pairs_of_cells(text: str, cells: list[Cell], kind: Kind) -> Iterator[Pair]:
    """Yield the pairs of marks of both responses among the cells that have nothing but a mark.

    Cells with a label for other counts, and pairs that the text after them outweighs, are left out.

    Args:
        text: the text in which the cells are.
        cells: cells of a table, or lines.
        kind: the kind of marks.
    """
    marks = []
    for cell in cells:
        match = kind.alone.fullmatch(cell.content)
        if match and not OTHER_COUNTS.search(cell.label):
            words = f"{cell.label} {cell.content}"
            marks.append(Mark(cell.side, match["mark"], words, cell.place, cell.end))
    for first, second in _neighbours(marks):
        leader = _leader_of((first, second), kind)
        lower = OTHER_RESPONSE.get(leader, "")
        if not mark_contexts.is_outweighed(text[second.end - 1 :], lower):
            yield first, second


def _neighbours(marks: list[Mark]) -> Iterator[Pair]:
    """Yield pairs of neighbouring marks of different responses, from the first mark on.

    A mark is in one pair only: of the marks A, B, A, the last one has no partner.
    """
    is_paired = False
    for first, second in pairwise(marks):
        is_paired = not is_paired and first.side != second.side
        if is_paired:
            yield first, second
