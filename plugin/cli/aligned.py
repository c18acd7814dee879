"""A table of text: columns aligned for a terminal, or Markdown; and paragraphs as wide."""

import shutil
import textwrap
from collections.abc import Sequence

from rich.cells import cell_len

from podium.cli.tables import literal

PLAIN_WIDTH = 120
"""Columns where no terminal says how many there are."""
GAP = " " * 3
NARROW_GAP = " " * 2
Rows = Sequence[Sequence[str]]


def room(terminal: bool) -> int:
    """Return how many columns there are to write in."""
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns if terminal else PLAIN_WIDTH


def paragraphs(lines: Sequence[str], width: int) -> list[str]:
    """Break lines between words; those of a list go on under its words.

    >>> paragraphs(["- one two three"], 9)
    ['- one two', '  three']
    """
    return [part for line in lines for part in _wrapped(line, width)]


def fits(header: Sequence[str], rows: Rows, width: int) -> bool:
    """Whether a table needs no cell broken."""
    widths = _widths([header, *rows])
    return sum(widths) + len(GAP) * (len(widths) - 1) <= width


def aligned(header: Sequence[str], rows: Rows, left: int = 1, width: int | None = None) -> list[str]:
    """Return lines: header, rule, rows; the first `left` columns are aligned to the left, numbers to the right.

    A table wider than `width` has intervals below their figures, and names of columns broken between words.

    >>> print("\\n".join(aligned(["name", "tells so much"], [["x", "1.5 (1.0 … 2.0)"]], width=20)))
    name        tells
                   so
                 much
    ─────────────────
    x             1.5
          (1.0 … 2.0)
    """
    if width is None or fits(header, rows, width):
        gap = GAP
    else:
        header = [cell.replace(" ", "\n") for cell in header]
        rows = [[cell.replace(" (", "\n(") if k >= left else cell for k, cell in enumerate(row)] for row in rows]
        gap = NARROW_GAP
    widths = _widths([header, *rows])
    rule = "─" * (sum(widths) + len(gap) * (len(widths) - 1))
    body = [line for row in rows for line in _lines(row, widths, left, gap)]
    return [*_lines(header, widths, left, gap), rule, *body]


def markdown_table(header: Sequence[str], rows: Rows, left: int = 1) -> list[str]:
    """Return the lines of a Markdown table; what Markdown would read as markup is escaped."""
    first, *others = ["| " + " | ".join(map(literal, row)) + " |" for row in [header, *rows]]
    return [first, "|" + "---|" * left + "---:|" * (len(header) - left), *others]


def _wrapped(line: str, width: int) -> list[str]:
    indent = "  " if line.startswith(("- ", "→ ")) else ""
    found = textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return found or [line]


def _widths(rows: Rows) -> list[int]:
    """Return the columns that each cell takes; a Chinese character takes two."""
    return [max(cell_len(part) for row in rows for part in row[k].split("\n")) for k in range(len(rows[0]))]


def _lines(row: Sequence[str], widths: Sequence[int], left: int, gap: str) -> list[str]:
    """Return the lines of a row, one for each line of its tallest cell."""
    cells = [cell.split("\n") for cell in row]
    tall = max(map(len, cells))
    return [_line([cell[k] if k < len(cell) else "" for cell in cells], widths, left, gap) for k in range(tall)]


def _line(row: Sequence[str], widths: Sequence[int], left: int, gap: str) -> str:
    """Align names to the left and numbers to the right."""
    spaces = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
    cells = [
        cell + space if k < left else space + cell for k, (cell, space) in enumerate(zip(row, spaces, strict=True))
    ]
    return gap.join(cells).rstrip()
