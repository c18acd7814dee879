"""Tables of scores in replies: a score for each criterion and response.

Judges write them as JSON, lists, tables or prose. A text is split into pieces, each of one kind:
the name of a criterion, the name of a response (a side), a number, another word, or a remark, which
is a word such as `total` whose numbers are not scores of a criterion.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from podium.scorers.reply_structure import MOST_BRACES, Span, mask
from podium.scorers.verdict_statements import LIST_MARK, is_introductory

Scores = dict[tuple[str, str], Decimal]
"""Scores by response (A, B) and criterion."""
# The name of a response: `A`, `Response A`, `model_b`; not the end of a word or of a tag (`</A`).
SIDE = (
    r"(?:(?:response|answer|assistant|model|option|antwort|réponse|respuesta|ответ|回答)s?[ _-]*)?"
    r"(?<![^\W\d_回答])(?<!</)(?P<side>[AB])(?![^\W_]|['’]\w)"
)
# Words whose numbers are not scores of a criterion, such as `total` and `comment`.
REMARK_WORD = (
    r"total|sum|mean|average|overall|(?:comment|note)s?|reason\w*|explanation|rationale"
    r"|justification|winner|verdict|better|preference|preferred"
)
# A number and its scale, if it has one: `7`, `7.5`, `7/10`, `7 out of 10`.
NUMBER = (
    r"(?<![\w.,])(?P<number>[-−]?\d+(?:\.\d+)?(?:e-?\d+)?)"
    r"(?P<scale>\s*(?:/|out of)\s*\d+|[-–]\d+)?(?![\w.]\w)"
)
COMMENT = re.compile(r"//[^\n\"]{0,200}$|/\*[^*\"]{0,200}\*/|\\", re.MULTILINE)
"""A comment in JSON, such as `// brief`, or a backslash."""
# A quoted number or letter, such as `"7"`, `"7/10"`, `"7 points"` or `"response A"`, is no value in
# words. A number before other words, as in `"7 reasons"`, is.
WORDS_AFTER_NUMBER = r"[\d.,]*\s+(?!(?:points?|out|of)\b)[a-z]{2}"
NUMBER_OR_LETTER = (
    rf"\s*\d(?!{WORDS_AFTER_NUMBER})"
    r"|(?:response )?[AB](?:[\"”]|'(?!\w))"
)
TEXT_VALUE = re.compile(
    rf"(?P<colon>[:：]\s*)[\"'“](?!{NUMBER_OR_LETTER})(?P<words>.*?)[\"'”](?=\s*[,，}}\]])",
    re.IGNORECASE,
)
"""The value of a JSON field in words, such as `: "brief and clear"`."""
OBJECT_LABEL = re.compile(rf"(?:\A|\n)[^\w\n]*(?:scores? (?:of|for) )?{SIDE}\W*\Z", re.IGNORECASE)
"""A line before an object that names the response of its scores, such as `Scores of A:`."""
NUMBER_DIGITS = re.compile(r"\d+")
BRACE = re.compile(r"[{}]")
SEARCHED_FOR_LABEL = 40
"""Number of characters before an object that are searched for `OBJECT_LABEL`."""
LONGEST_TABLE = 20_000
"""Longer replies are not searched for scores outside of objects."""
OUT_OF_TEN_POINTS = re.compile(r"\s*(?:/|out of)\s*10")
"""What may follow a score: ` / 10` or ` out of 10`."""
# Plain signs for the full-width signs of a JSON object.
FULL_WIDTH_JSON = str.maketrans("：，｛｝０１２３４５６７８９", ":,{}0123456789")


@dataclass(slots=True)
class ScoreTable:
    """Scores that were read from a reply.

    Attributes:
        scores: scores by response (A, B) and criterion.
        places: spans of the text in which the scores stand, in order.
        remarks: texts of the JSON fields that hold words instead of a score.
    """

    scores: Scores = field(default_factory=dict)
    places: list[Span] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def read_table(view: str, text: str, criteria: Sequence[str]) -> ScoreTable | str:
    """Read the scores from the JSON objects of a text or, if it has no braces, from its lines.

    Objects that name no criterion are ignored. Whether all scores are there is not checked. Lines
    that repeat all scores of the objects only add their places.

    Args:
        view: the judge's own words (`own_words` of the text).
        text: the reply.
        criteria: names of the criteria.

    Returns:
        The table, which may have no scores. If the reply is unparsed, the reason: `bad JSON` if an
        object is cut off or has other content, or if there are more than `MOST_BRACES` opening
        braces; `several verdicts` if two scores of a criterion and response differ; or `no verdict`
        if there are no braces and no line has scores or the text is longer than `LONGEST_TABLE`.
    """
    pieces = re.compile(
        rf"(?=[\w−-])(?:\b_?(?<!</)(?P<criterion>{'|'.join(criteria)})\b"
        rf"|(?P<remark>\b(?:{REMARK_WORD})\b)|{SIDE}|{NUMBER}|(?P<word>[^\W\d_]+))",
        re.IGNORECASE,
    )
    table = ScoreTable()
    if view.count("{") > MOST_BRACES:
        return "bad JSON"
    for span in _object_spans(view):
        reason = _add_object(table, view, text, span, pieces)
        if reason:
            return reason
    if table.places:
        _add_equal_lines(table, view, pieces)
        return table
    # A brace in a quotation is masked in the view. It shows, too, that JSON was meant.
    if "{" in text:
        return table
    return _table_of_lines(view, pieces)


def _add_object(
    table: ScoreTable, view: str, text: str, span: Span, pieces: re.Pattern[str]
) -> str | None:
    """Add the scores, the place and the remarks of one JSON object to a table.

    Of an object that names no criterion, only the remarks are added. A line directly before the
    object, such as `Scores of A:`, names the response of its scores, and belongs to the place.

    Args:
        table: the scores so far; changed in place.
        view: the judge's own words.
        text: the reply.
        span: start and end of the object.
        pieces: pattern of the name of a criterion or response, a number, a remark or another word.

    Returns:
        The reason why the reply is unparsed: `bad JSON` if the object is cut off or has other
        content, `several verdicts` if a score differs from the table's; None if the object fits.
    """
    start, end = span
    block = COMMENT.sub(" ", text[start:end].translate(FULL_WIDTH_JSON))
    table.remarks += [value["words"] for value in TEXT_VALUE.finditer(block)]
    block_without_texts = TEXT_VALUE.sub(r"\g<colon>", block)
    matches = list(pieces.finditer(block_without_texts))
    if not any(piece["criterion"] for piece in matches):
        return None
    label = OBJECT_LABEL.search(view, max(0, start - SEARCHED_FOR_LABEL), start)
    side = ""
    place = span
    if label:
        side = label["side"].upper()
        place = (label.start("side"), end)
    scores = _scores_of_pieces(matches, side, is_object=True)
    if scores is None:
        return "bad JSON"
    last_sign = block_without_texts.rstrip()[-1:]
    if end == len(view) and last_sign.isdigit():
        return "bad JSON"  # the reply ends with this number, which may lack digits
    for cell, score in scores.items():
        if table.scores.setdefault(cell, score) != score:
            return "several verdicts"
    table.places.append(place)
    return None


def _add_equal_lines(table: ScoreTable, view: str, pieces: re.Pattern[str]) -> None:
    """Add to a table the places of lines that repeat all scores of its objects.

    The lines stand before or after all objects. Lines with other scores are ignored.

    Args:
        table: the scores of at least one object; changed in place.
        view: the judge's own words.
        pieces: pattern of the name of a criterion or response, a number, a remark or another word.
    """
    first_start, _ = table.places[0]
    _, last_end = table.places[-1]
    outside = view[:first_start] + view[last_end:]
    if len(NUMBER_DIGITS.findall(outside)) < len(table.scores):
        return  # there are too few numbers to repeat all scores
    for start, end in ((0, first_start), (last_end, len(view))):
        table_of_lines = _table_of_lines(view[start:end], pieces)
        if isinstance(table_of_lines, ScoreTable) and table_of_lines.scores == table.scores:
            lines_start, lines_end = table_of_lines.places[0]
            table.places.append((start + lines_start, start + lines_end))
    table.places.sort()


def _table_of_lines(view: str, pieces: re.Pattern[str]) -> ScoreTable | str:
    """Read the scores from lines that name a criterion or begin with the name of a response.

    Args:
        view: the judge's own words.
        pieces: pattern of the name of a criterion or response, a number, a remark or another word.

    Returns:
        The table. If the reply is unparsed, the reason: `no verdict` if there are no scores or the
        text is longer than `LONGEST_TABLE`, `several verdicts` if the scores contradict each other.
    """
    if len(view) > LONGEST_TABLE:
        return "no verdict"
    # `A`, `Scores of A`, `| 1 | A` or `| Total |`.
    table_line_start = re.compile(
        rf"[^\w\n]*(?:(?:scores? (?:of|for) |\w+\W*[|\t][^\w\n]*)?{SIDE}"
        r"|(?:total|sum|average)\W*\|)",
        re.IGNORECASE,
    )
    pieces_of_table: list[re.Match[str]] = []
    lines_of_table = []
    table_end = 0  # the end of the last line with a number
    for line in re.finditer(r"[^\n]+", view):
        start, end = line.span()
        list_mark = LIST_MARK.match(view, start, end)
        words_start = list_mark.end() if list_mark else start
        pieces_of_line = list(pieces.finditer(view, words_start, end))
        has_criterion = any(piece["criterion"] for piece in pieces_of_line)
        if has_criterion or table_line_start.match(view, start, end):
            pieces_of_table += pieces_of_line
            lines_of_table.append((start, end))
            if any(piece["number"] for piece in pieces_of_line):
                table_end = end
    scores = _scores_of_pieces(pieces_of_table, "", is_object=False)
    if scores is None:
        return "several verdicts"
    if not scores:
        return "no verdict"
    first_line, _ = lines_of_table[0]
    first_name = next(piece.start() for piece in pieces_of_table if not piece["word"])
    # Words before the first name are left outside of the table, and checked like the other text.
    has_words_before = re.search(r"[^\W\d_]", view[first_line:first_name])
    table_start = first_name if has_words_before else first_line
    return ScoreTable(scores, [(table_start, table_end)])


def _scores_of_pieces(
    pieces: Iterable[re.Match[str]], side: str, *, is_object: bool
) -> Scores | None:
    """Assign numbers to the criterion and the response that are named before them.

    Numbers after a remark such as `total` are skipped until the next criterion. Outside of a JSON
    object, words and numbers without a cell are ignored.

    Args:
        pieces: names of criteria and of responses, remarks, numbers and words, in order.
        side: the response that is named before the pieces; empty if none is.
        is_object: whether the pieces are those of a JSON object.

    Returns:
        The scores. None if two numbers of one cell (a response and a criterion) differ, if a number
        has another scale than 10, or if an object has a number without a cell or a word that is not
        introductory (`is_introductory`).
    """
    scores: Scores = {}
    sides = [side] if side else []  # the responses of the next numbers
    criterion = ""  # the criterion of the next numbers
    number_count = 0  # how many numbers stood after the last name
    skips_numbers = False  # whether the next numbers belong to a remark
    last_kind = None
    for piece in pieces:
        kind = "number" if piece["number"] else piece.lastgroup
        if kind == "word":
            if is_object and not is_introductory(piece["word"].lower()):
                return None
            continue
        if kind == "side":
            is_heading = last_kind == "side" and not is_object  # such as `| A | B |`
            sides_before = sides[-2:] if is_heading else []
            sides = [*sides_before, piece["side"].upper()]
            number_count = 0
        elif kind == "criterion":
            criterion = piece["criterion"].lower()
            number_count = 0
            skips_numbers = False
        elif kind == "remark":
            skips_numbers = True
        elif not skips_numbers:
            cell = _cell_of_number(sides, criterion, number_count)
            if not _add_score(piece, cell, scores, is_object=is_object):
                return None
            number_count += 1
        last_kind = kind
    return scores


def _add_score(
    number: re.Match[str], cell: tuple[str, str] | None, scores: Scores, *, is_object: bool
) -> bool:
    """Add a number to the scores, and return whether the number fits the scores so far.

    It does not fit if it names a scale other than 10, such as `7/5`, or if its cell has another
    score. A number without a cell is not added; it fits unless it stands in a JSON object.

    Args:
        number: match of the number.
        cell: response and criterion of the number; None if they are not named.
        scores: the scores so far; changed in place.
        is_object: whether the number stands in a JSON object.
    """
    if number["scale"] and not OUT_OF_TEN_POINTS.fullmatch(number["scale"]):
        return False
    if cell is None:
        return not is_object
    score = Decimal(number["number"].replace("−", "-"))
    scores.setdefault(cell, score)
    return scores[cell] == score


def _cell_of_number(
    sides: list[str], criterion: str, numbers_before: int
) -> tuple[str, str] | None:
    """Return the cell (response and criterion) of a number; None if they are not named.

    The response is the one that was named last, and only the first number has a cell. If exactly
    both responses were named, as in the heading `| A | B |`, the first number belongs to the
    response that was named first, and the second number to the other.

    Args:
        sides: names of the responses before the number.
        criterion: name of the criterion; empty if none was named.
        numbers_before: how many numbers stand between the last name and this number.
    """
    if not criterion or numbers_before >= len(sides):
        return None
    if sorted(sides) == ["A", "B"]:
        return sides[numbers_before], criterion
    return (sides[-1], criterion) if numbers_before == 0 else None


def without_template(text: str) -> str:
    """Replace the objects whose only number is 0, as in the template of the prompt, by blanks.

    Line breaks stay, and so do objects without a number. Nothing is changed if the text has no
    other object, or more than `MOST_BRACES` opening braces.
    """
    spans = list(_object_spans(text)) if text.count("{") <= MOST_BRACES else []
    templates = [span for span in spans if set(NUMBER_DIGITS.findall(text, *span)) == {"0"}]
    return mask(text, templates, " ") if len(templates) < len(spans) else text


def _object_spans(view: str) -> Iterator[Span]:
    """Yield the spans of the outermost objects, braces included.

    An object that is never closed ends at the end of the text. Closing braces without an opening
    one are ignored.
    """
    depth = 0
    start = 0
    for brace in BRACE.finditer(view):
        if brace[0] == "{":
            if not depth:
                start = brace.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield start, brace.end()
    if depth:
        yield start, len(view)
