"""Cells of tables and lines of sections that may have the marks of both responses.

Only a cell counts that stands for the whole response: the label of its row or column is empty, or
a word such as `Overall`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from podium.scorers.mark_contexts import (
    OPEN_END,
    is_desirable,
    is_label_of_response,
    is_neutral_heading,
    is_of_criterion,
    is_total,
)
from podium.scorers.stated_scores import NAME_CELL, SECTION_HEADING

TABLE = re.compile(r"(?m)(?:^[ \t]*\|[^\n]*(?:\n|\Z)|^[^|\n]*\|[^|\n]*\|[^\n]*(?:\n|\Z))+")
"""Neighbouring lines that begin with a vertical bar or have two."""
RULE = re.compile(r"[\s|:=-]+")
"""The line under the header of a table."""
LINE = re.compile(r"[^\n]+")
HEADING = re.compile(r"[ \t]*(?:(?P<signs>#+)[ \t]+[^\n]*|\*\*[^*\n]+\*\*:?[ \t]*)")
"""A heading in Markdown; group `signs` has its signs `#`, if any."""
WORD = re.compile(r"\w")


class Cell(NamedTuple):
    """A cell of a table, or a line under the name of a response.

    Attributes:
        side: the letter of the response.
        label: the label of its row or column; empty for a line.
        content: its text.
        place: where it, or its table, begins.
        end: where it, or its table, ends.
    """

    side: str
    label: str
    content: str
    place: int
    end: int


def without_tables(text: str) -> str:
    """Replace the tables of a text by line breaks; the text keeps its length."""
    if "|" not in text:
        return text
    return TABLE.sub(lambda table: "\n" * len(table[0]), text)


def cells_of_tables(text: str) -> Iterator[list[Cell]]:
    """Yield the cells of both responses in one row, or in one column, of a table.

    The label of the row or column names no criterion, nor does the line above the table. Under a
    line that names one, the label must be a word such as `Overall`.
    """
    for lists_of_cells in _cells_by_table(text):
        first_cell = lists_of_cells[0][0]
        has_topic = is_of_criterion(text, first_cell.place)
        labels = [cells[0].label for cells in lists_of_cells]
        for number, cells in enumerate(lists_of_cells):
            label = cells[0].label
            other_labels = labels[:number] + labels[number + 1 :]
            if is_total(label) or (not has_topic and is_label_of_response(label, other_labels)):
                yield cells


def criteria_of_tables(text: str) -> Iterator[list[list[Cell]]]:
    """Yield, for each table, the cells of both responses for each of its criteria.

    The table has at least two criteria, and more is better in each. Other rows and columns are left
    out if they stand for whole responses.
    """
    for lists_of_cells in _cells_by_table(text):
        criteria = [cells for cells in lists_of_cells if not is_total(cells[0].label)]
        if len(criteria) > 1 and all(is_desirable(cells[0].label) for cells in criteria):
            yield criteria


def _cells_by_table(text: str) -> Iterator[list[list[Cell]]]:
    """Yield, for each table, the cells of both responses in each of its rows or columns.

    The responses are the columns if the header names both, else the rows that begin with their
    names. Tables that do not name both responses so are skipped.
    """
    if "|" not in text:
        return
    for table in TABLE.finditer(text):
        lines = [line for line in table[0].split("\n") if line.strip() and not RULE.fullmatch(line)]
        rows = [line.strip().strip("|").split("|") for line in lines]
        span = table.span()
        columns = _columns_of_responses(rows[0]) if rows else {}
        if len(columns) == len("AB"):
            lists_of_cells = [*_cells_of_rows(rows[1:], columns, span)]
        else:
            lists_of_cells = [*_cells_of_columns(rows, span)]
        if lists_of_cells:
            yield lists_of_cells


def _columns_of_responses(header: list[str]) -> dict[str, int]:
    """Return the column, from 0, of each response (A or B) that a cell of the header names."""
    names = [(NAME_CELL.fullmatch(cell), column) for column, cell in enumerate(header)]
    return {name["side"]: column for name, column in names if name}


def _cells_of_rows(
    rows: list[list[str]], columns: dict[str, int], span: tuple[int, int]
) -> Iterator[list[Cell]]:
    """Yield the cells of the two responses in each row that is long enough.

    The label is the first cell of the row, or empty if the first column is that of a response.

    Args:
        rows: the cells of each row, without the header.
        columns: the column of each response.
        span: where the table begins and ends.
    """
    for row in rows:
        label = "" if 0 in columns.values() else row[0]
        if max(columns.values()) < len(row):
            yield [Cell(side, label, row[column], *span) for side, column in columns.items()]


def _cells_of_columns(rows: list[list[str]], span: tuple[int, int]) -> Iterator[list[Cell]]:
    """Yield the cells of the two responses in each column.

    Each response has a row that begins with its name; of several, the first counts. Nothing is
    yielded unless both have one. The label is the cell of the first row above the column, or empty
    if the table has no header. `span` is where the table begins and ends.
    """
    row_of_side: dict[str, list[str]] = {}
    for row in rows:
        name = NAME_CELL.fullmatch(row[0])
        if name:
            row_of_side.setdefault(name["side"], row)
    if len(row_of_side) < len("AB"):
        return
    first_row = rows[0]
    header = [] if NAME_CELL.fullmatch(first_row[0]) else first_row
    for column in range(1, min(map(len, row_of_side.values()))):
        label = header[column] if column < len(header) else ""
        yield [Cell(side, label, row[column], *span) for side, row in row_of_side.items()]


def lines_of_sections(text: str) -> Iterator[Cell]:
    """Yield the lines that follow a heading such as `### Response A`, with the response's name.

    Lines under a heading or directly after a line that names a criterion, such as `## Style` above
    the names or `Tone:`, are left out, unless they begin with a label such as `Overall:`.
    """
    side = ""
    depth = 0  # the number of signs `#` of the name's heading
    has_topic = False  # whether the last heading above the name gives a criterion
    is_answer = False  # whether the line before ends with a colon or question mark
    for line in LINE.finditer(text):
        if not WORD.search(line[0]) and not side:
            continue  # no words, and no name so far
        name = SECTION_HEADING.fullmatch(line[0])
        heading = HEADING.fullmatch(line[0])
        signs = len(heading["signs"] or "") if heading else 0
        if name:
            side = name["side"]
            depth = signs
            is_answer = False
        elif heading and (not side or (signs and signs <= depth)):
            # A heading that does not stand below the name of a response ends its section.
            side = ""
            has_topic = not is_neutral_heading(line[0])
        elif side:
            is_counted = not has_topic and not is_answer
            if is_counted or is_total(line[0].partition(":")[0]):
                yield Cell(side, "", line[0], *line.span())
            is_answer = OPEN_END.search(line[0]) is not None
