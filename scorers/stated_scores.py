"""Scores that a reply states for both responses beside its verdict, such as `A: 3/10, B: 9/10`.

They may be written in sentences, in lists, in rows of a table or in columns of a table.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from podium.scorers import reply_words as words

NAME = r"(?P<side>[AB])(?<![\w'’].)(?![\w'’](?!s (?:total|(?:\w+ )?(?:score|rating|grade))\b))"
"""The letter of a response. The pattern begins with a set of characters, which is searched faster
than a noun such as `Response` before it."""
NOUN_BEFORE_NAME = rf"(?:(?i:{'|'.join(words.RESPONSE_NOUNS.split())}|assistant)s?[ _-]?)?"
"""A noun before the letter of a response, such as `Response `; it may be missing."""
# A number of at most three digits, with its unit: `7`, `7.5`, `70%`, `7/10`.
NUMBER = (
    r"(?P<number>\d{1,3}(?:[.,]\d{1,2})?)(?:[ \t]*(?:%|/[ \t]*\d{1,3}|(?:out )?of \d{1,3}|分))?"
)
# What follows a number that is no score: the rest of a longer number or word (`7.25`, `7b`, `7-9`),
# a sentence in small letters, a noun or factor (`7 words`, `7x`), or a whole (`7 of the 10`).
NO_SCORE = (
    r"[\w.,]\d|[\w–-]|\.[ \t]+[a-z]|[ \t]*(?:words?|[:*x×]|[-–][ \t]*\d)"
    r"|[ \t]+of[ \t]+(?:the[ \t]+)?\d"
)
UNITS_OF_SCORE = "points?|pts|punkten?|stars?"
WORDS_AFTER_SCORE = (
    "vs?|versus|and|und|et|y|but|while|whereas|for|to|on|in|because|as|since|overall|over|so|from"
)
# What follows a number that is a score: a sign, the end of the text, a unit, a word such as `and`,
# or the name or sentence that comes next.
END_OF_NUMBER = (
    rf"(?!{NO_SCORE})"
    rf"(?=[ \t]*(?:[^\w \t]|\Z|(?:{UNITS_OF_SCORE}|{WORDS_AFTER_SCORE})\b|[AB]\b|[A-Z]))"
)
GIVING_VERBS = (
    r"(?:gets?|got|scores?|scored|earns?|earned|receives?|received|deserves?|is|at|with|rated"
    r"|reaches|bekommt|erhält|obtient|obtiene)"
)
"""Verbs between a response and its score, such as `gets`."""
# What may stand between a name and its score: a sign or a verb, and words such as `a total of`.
NAME_TO_SCORE = (
    rf"(?:['’]s\b)?[*_`\"'\])}}]*[ \t]*(?:[|:：=({{[–—→-]|{GIVING_VERBS}\b|(?<=['’]s )(?=\w))"
    r"[ \t|*_`\"'({\[:=]*"
    r"(?:(?:a|an|about|the|total|overall|final|score|rating|grade|points|mark|is|of)\b"
    r"[ \t:=*_]*)*"
)
# A mere blank between a name and its score, which then needs a unit or the end of its clause.
BLANK_TO_SCORE = r"[ \t*_]+(?=\d+ ?(?:%|/|out of|[,;|)\n.]|\Z|(?:and|vs)\b))"
# `A: 7` or `A gets 7 points`.
SCORE_AFTER_NAME = re.compile(rf"{NAME}(?:{NAME_TO_SCORE}|{BLANK_TO_SCORE}){NUMBER}{END_OF_NUMBER}")
# `7 points for A` or `7 (A)`.
SCORE_BEFORE_NAME = re.compile(
    rf"(?<![\w.,/]){NUMBER}[ \t]*(?:points?[ \t]*)?(?:(?:for|to)[ \t]+|\(){NOUN_BEFORE_NAME}{NAME}"
)
SECTION_HEADING = re.compile(rf"[^\w\n]*{NOUN_BEFORE_NAME}{NAME}[^\w\n]*(?:\(|:|\Z)")
"""A line that begins with the name of a response, whose score may stand on a later line:
`**Response A:**`."""
SECTION_SCORE = re.compile(
    rf"(?i)[^\w\n]*(?:(?:total|overall|final) ?)*(?:scores?|rating|grade|points|total)\W{{1,6}}"
    rf"{NUMBER}"
    r"(?![\w.,]\d|\w)"
)
"""A line with the score of a section, such as `Total score: 7/10`."""
NOUN_OF_SCORE = r"(?:score|rating|grade|points|total)"
"""A word for a score in the name of a field, such as `rating`."""
# The name of a field, such as `score_a` or `b_rating`.
NAME_OF_SCORE = rf"{NOUN_OF_SCORE}[ _-]?(?P<after>[ab])|(?P<before>[ab])[ _-]?{NOUN_OF_SCORE}"
SCORE_FIELD = re.compile(rf"(?i)[\"'](?:{NAME_OF_SCORE})[\"'][ \t]*:[ \t]*[\"']?{NUMBER}")
"""A field of a JSON object with the score of one response, such as `"score_a": 7`."""
TOTAL_WORD = re.compile(
    r"(?i)\b(?:total|sum|overall|average|mean|final|scores?|rating|gesamt|summe|durchschnitt"
    r"|moyenne|media|promedio|итого|сумма)\b|总分|总计|平均"
)
"""Words of a line whose scores stand for the whole response: `total`, `overall`."""
OTHER_COUNTS = re.compile(
    r"(?i)\b(?:rank\w*|plac(?:e|ed|es)|position|errors?|mistakes?|words?|penalt\w*|deduct\w*"
    r"|lower|fewer|length|lines?|sentences?|steps?|typos?|issues?|characters?|tokens?)\b"
)
"""Words of a line whose numbers are no scores, or of which the lower one is better: `rank`,
`errors`, `words`."""
NAME_CELL = re.compile(rf"[ \t*_]*{NOUN_BEFORE_NAME}{NAME}[^|\w]*(?:\w[^|]{{0,20}})?")
"""A cell with the name of a response, such as ` **Response A** `."""
NUMBER_CELL = re.compile(rf"[ \t*_]*{NUMBER}[ \t*_]*")
"""A cell with a score alone, such as ` 7.5 `."""
LONGEST_SIDE = 100
"""Number of characters on each side of a score that are searched for words about it."""
DIGIT = re.compile(r"\d")
SEARCHED_END = 3000
"""Number of characters at the end of a reply that are searched for scores."""


class Lead(NamedTuple):
    """The difference of two scores.

    Attributes:
        margin: score of A minus score of B.
        is_total: whether the scores stand for the whole responses.
    """

    margin: float
    is_total: bool


def preferred_by_scores(view: str) -> str | None:
    """Return the response with the higher score, A or B.

    The last scores that are called a total, average or score decide: the last ones in sentences, in
    tables, below headings and in JSON, which must agree. If no scores are called so, all pairs of
    scores must agree. Only the last 3,000 characters of the view are searched.

    Args:
        view: the judge's own words.

    Returns:
        The letter. None if there are no scores of both responses, if the scores are equal, or if
        the pairs do not agree.
    """
    text = view[-SEARCHED_END:]
    if not DIGIT.search(text):
        return None
    all_leads: list[Lead] = []
    last_totals: list[Lead] = []
    for find_leads in (
        _leads_of_sentences,
        _leads_of_columns,
        _leads_of_sections,
        _leads_of_fields,
    ):
        leads = list(find_leads(text))
        all_leads += leads
        last_totals += [lead for lead in leads if lead.is_total][-1:]
    deciding_leads = last_totals or all_leads
    preferred = {"A" if lead.margin > 0 else "B" for lead in deciding_leads if lead.margin}
    return preferred.pop() if len(preferred) == 1 else None


def is_score(view: str, place: int) -> bool:
    """Return whether the letter at a place names a scored response, and is no verdict.

    A score must follow the letter, as in `A: 4/10, B: 8/10`. The scores of the view must prefer one
    response (`preferred_by_scores`), so equal or contradictory scores give False. `place` is the
    position of the letter in `view`, the judge's own words.
    """
    return SCORE_AFTER_NAME.match(view, place) is not None and preferred_by_scores(view) is not None


def _leads_of_sentences(text: str) -> Iterator[Lead]:
    """Yield the leads of scores beside the names of responses.

    The scores before the names count, as in `7 points for A`, if both responses have one;
    otherwise, those after the names, as in `A: 7`. Lines with words for other counts, such as
    `errors`, are left out. Neighbours are a pair if they name different responses. A score has one
    partner only.
    """
    matches = list(SCORE_BEFORE_NAME.finditer(text))
    has_both_sides = len({match["side"] for match in matches}) == 2
    if not has_both_sides:
        matches = list(SCORE_AFTER_NAME.finditer(text))
    scores = []
    for match in matches:
        line = line_around(text, match)
        if not OTHER_COUNTS.search(line):
            scores.append(
                (match["side"], _number_of_match(match), TOTAL_WORD.search(line) is not None)
            )
    is_paired = False  # whether the next score is the partner of this one
    for (side, score, is_total), (next_side, next_score, next_is_total) in pairwise(scores):
        # A score that is the partner of the score before has no other partner.
        is_paired = not is_paired and side != next_side
        if is_paired:
            margin = score - next_score if side == "A" else next_score - score
            yield Lead(margin, is_total or next_is_total)


def line_around(text: str, match: re.Match[str]) -> str:
    """Return the line of a match, at most 100 characters on each side."""
    start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - LONGEST_SIDE)
    return text[start : match.end() + LONGEST_SIDE].partition("\n")[0]


def _leads_of_columns(text: str) -> Iterator[Lead]:
    """Yield the leads of the rows of tables with a column for each response.

    A row above names both responses. Rows with words for other counts, such as `errors`, and rows
    without a score in both columns are left out.
    """
    if "|" not in text:
        return
    columns: dict[str, int] = {}  # the column of each response in the current table
    for line in text.split("\n"):
        if "|" not in line:
            columns = {}
            continue
        cells = line.strip().strip("|").split("|")
        column_of_side = {}
        for column, cell in enumerate(cells):
            name = NAME_CELL.fullmatch(cell)
            if name:
                column_of_side[name["side"]] = column
        if len(column_of_side) == 2:
            columns = column_of_side
            continue
        has_all_columns = bool(columns) and max(columns.values()) < len(cells)
        if has_all_columns and not OTHER_COUNTS.search(line):
            score_a, score_b = (NUMBER_CELL.fullmatch(cells[columns[side]]) for side in "AB")
            if score_a and score_b:
                margin = _number_of_match(score_a) - _number_of_match(score_b)
                yield Lead(margin, TOTAL_WORD.search(line) is not None)


def _leads_of_fields(text: str) -> Iterator[Lead]:
    """Yield the lead of the scores in JSON fields, such as `"score_a": 7, "score_b": 3`.

    Of several scores of a response, the last one counts. There is no lead unless both responses
    have a score.
    """
    scores: dict[str, float] = {}
    for field in SCORE_FIELD.finditer(text):
        side = (field["after"] or field["before"]).upper()
        scores[side] = float(field["number"].replace(",", "."))
    if scores.keys() == {"A", "B"}:
        yield Lead(scores["A"] - scores["B"], is_total=True)


def _leads_of_sections(text: str) -> Iterator[Lead]:
    """Yield the lead of the last scores that stand under the names of the two responses.

    There is no lead unless both responses have a score.
    """
    side = ""
    scores: dict[str, float] = {}
    for line in text.split("\n"):
        name = SECTION_HEADING.match(line)
        if name:
            side = name["side"]
        score = SECTION_SCORE.match(line)
        if side and score:
            scores[side] = _number_of_match(score)
    if len(scores) == 2:
        yield Lead(scores["A"] - scores["B"], is_total=True)


def _number_of_match(number: re.Match[str]) -> float:
    """Return the number in the group `number` of a match. A comma stands for the decimal point."""
    return float(number["number"].replace(",", "."))
