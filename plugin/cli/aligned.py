"""A table of text: columns aligned for a terminal, or Markdown."""

from collections.abc import Sequence

from rich.cells import cell_len

from podium.cli.tables import literal

GAP = " " * 3
Rows = Sequence[Sequence[str]]


def aligned(header: Sequence[str], rows: Rows, left: int = 1) -> list[str]:
    """Return lines: header, rule, rows; the first `left` columns are aligned to the left, numbers to the right."""
    widths = [max(cell_len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    rule = "─" * (sum(widths) + len(GAP) * (len(widths) - 1))
    lines = [_line(row, widths, left) for row in [header, *rows]]
    return [lines[0], rule, *lines[1:]]


def markdown_table(header: Sequence[str], rows: Rows, left: int = 1) -> list[str]:
    """Return the lines of a Markdown table; what Markdown would read as markup is escaped."""
    first, *others = ["| " + " | ".join(map(literal, row)) + " |" for row in [header, *rows]]
    return [first, "|" + "---|" * left + "---:|" * (len(header) - left), *others]


def _line(row: Sequence[str], widths: Sequence[int], left: int) -> str:
    """Align names to the left and numbers to the right; a Chinese character takes two columns."""
    spaces = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
    cells = [
        cell + space if k < left else space + cell for k, (cell, space) in enumerate(zip(row, spaces, strict=True))
    ]
    return GAP.join(cells).rstrip()
