"""Tables of scores in replies: a score for each criterion and response, as JSON, lists, tables or
prose."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain

from podium.scorers.reply_structure import MOST_BRACES, Span
from podium.scorers.verdict_statements import LIST_MARK, is_introductory

Scores = dict[tuple[str, str], Decimal]
"""Scores by response (A, B) and criterion."""
SIDE = (
    r"(?:(?:response|answer|assistant|model|option|antwort|réponse|respuesta|ответ|回答)s?[ _-]*)?"
    r"(?<![^\W\d_回答])(?<!</)(?P<side>[AB])(?![^\W_]|['’]\w)"
)
REMARK = (
    r"total|sum|mean|average|overall|(?:comment|note)s?|reason\w*|explanation|rationale|justification|winner|verdict"
    r"|better|preference|preferred"
)
NUMBER = r"(?<![\w.,])(?P<number>[-−]?\d+(?:\.\d+)?(?:e-?\d+)?)(?P<scale>\s*(?:/|out of)\s*\d+|[-–]\d+)?(?![\w.]\w)"
COMMENT = re.compile(r"//[^\n\"]{0,200}$|/\*[^*\"]{0,200}\*/|\\", re.MULTILINE)
WORDS = re.compile(
    r"([:：]\s*)([\"'“])(?!\s*\d|(?:response )?[AB][\"'”])(.*?)[\"'”](?=\s*[,，}\]])", re.IGNORECASE
)
"""The value of a field in words."""
LABEL = re.compile(rf"(?:\A|\n)[^\w\n]*(?:scores? (?:of|for) )?{SIDE}\W*\Z", re.IGNORECASE)
"""A line before an object with the scores of one response."""
BRACE = re.compile(r"[{}]")
LONGEST_LABEL, LONGEST_TABLE = 40, 20_000
OUT_OF_TEN = re.compile(r"\s*(?:/|out of)\s*10")
FULL_WIDTH = str.maketrans("：，｛｝０１２３４５６７８９", ":,{}0123456789")


@dataclass(slots=True)
class ScoreTable:
    """Scores, the places that have them, and the words in fields between them."""

    scores: Scores = field(default_factory=dict)
    places: list[Span] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def read_table(view: str, text: str, criteria: Sequence[str]) -> ScoreTable | str:
    """Return the scores in objects of a text or, if it has none, in its lines; or the reason why
    they are unparsed."""
    pieces = re.compile(
        rf"(?=[\w−-])(?:\b_?(?<!</)(?P<criterion>{'|'.join(criteria)})\b|(?P<remark>\b(?:{REMARK})\b)|{SIDE}|{NUMBER}"
        r"|(?P<word>[^\W\d_]+))",
        re.IGNORECASE,
    )
    table = ScoreTable()
    if view.count("{") > MOST_BRACES:
        return "bad JSON"
    for start, end in _object_spans(view):
        label = LABEL.search(view, max(0, start - LONGEST_LABEL), start)
        block = COMMENT.sub(" ", text[start:end].translate(FULL_WIDTH))
        table.remarks += [words[3] for words in WORDS.finditer(block)]
        block = WORDS.sub(r"\1", block)
        matches = list(pieces.finditer(block))
        if not any(piece["criterion"] for piece in matches):
            continue
        block_scores = _scores_of_pieces(
            matches, label["side"].upper() if label else "", is_object=True
        )
        if block_scores is None or (end == len(view) and block.rstrip()[-1:].isdigit()):
            return "bad JSON"
        if any(table.scores.get(key, score) != score for key, score in block_scores.items()):
            return "several verdicts"
        table.scores |= block_scores
        start = label.start("side") if label else start
        table.places.append((start, end))
    return table if table.places or "{" in text else _table_of_lines(view, pieces)


def _table_of_lines(view: str, pieces: re.Pattern[str]) -> ScoreTable | str:
    """Return the scores in lines that have a criterion, or begin with a response."""
    if len(view) > LONGEST_TABLE:
        return "no verdict"
    begins = re.compile(
        rf"[^\w\n]*(?:(?:\w+\W*[|\t][^\w\n]*)?{SIDE}|(?:total|sum|average)\W*\|)", re.IGNORECASE
    )
    lines = (line.span() for line in re.finditer(r"[^\n]+", view))
    marks = ((span, LIST_MARK.match(view, *span)) for span in lines)
    rows = [
        (span, list(pieces.finditer(view, mark.end() if mark else span[0], span[1])))
        for span, mark in marks
    ]
    rows = [
        row
        for row in rows
        if begins.match(view, *row[0]) or any(piece["criterion"] for piece in row[1])
    ]
    scores = _scores_of_pieces(chain.from_iterable(row[1] for row in rows), "", is_object=False)
    if not scores:
        return "no verdict" if scores is not None else "several verdicts"
    start = next(piece.start() for row in rows for piece in row[1] if not piece["word"])
    line = rows[0][0][0]
    start = start if re.search(r"[^\W\d_]", view[line:start]) else line
    return ScoreTable(scores, [(start, rows[-1][0][1])])


def _scores_of_pieces(
    pieces: Iterable[re.Match[str]], side: str, *, is_object: bool
) -> Scores | None:
    """Assign numbers to the criterion and the response named before; None if they contradict each
    other, are of another scale or, in objects, if other names or numbers occur."""
    scores: Scores = {}
    sides, name, count, last, skips = [side] if side else [], "", 0, None, False
    for piece in pieces:
        kind = "number" if piece["number"] else piece.lastgroup
        if kind == "side":
            sides, count = (
                [*(sides[-2:] if last == kind and not is_object else []), piece["side"].upper()],
                0,
            )
        elif kind == "criterion":
            name, count, skips = piece["criterion"].lower(), 0, False
        elif kind == "remark":
            skips = True
        elif kind == "word":
            if is_object and not is_introductory(piece["word"].lower()):
                return None
            continue
        elif not skips:
            cell, score = (
                _place_of_score(sides, name, count),
                Decimal(piece["number"].replace("−", "-")),
            )
            is_other_scale = piece["scale"] and not OUT_OF_TEN.fullmatch(piece["scale"])
            if (
                is_other_scale
                or (cell is None and is_object)
                or (cell and scores.setdefault(cell, score) != score)
            ):
                return None
            count += 1
        last = kind
    return scores


def _place_of_score(sides: list[str], name: str, count: int) -> tuple[str, str] | None:
    """Return the response and criterion of the number after `count` others since the last name."""
    if not name or count >= len(sides) or (count and sides != ["A", "B"]):
        return None
    return (sides[count] if sides == ["A", "B"] else sides[-1], name)


def _object_spans(view: str) -> Iterator[Span]:
    """Yield the outermost objects in braces; one that is never closed ends with the text."""
    depth = start = 0
    for brace in BRACE.finditer(view):
        if brace[0] == "{":
            start = start if depth else brace.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield start, brace.end()
    if depth:
        yield start, len(view)
