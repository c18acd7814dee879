"""Standings as a table for the terminal, and as Markdown."""

import re

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from podium.cli.picture import interval_bar
from podium.cli.wording import cells, denominators, title
from podium.ranking import Standings

PICTURE_WIDTH = 28
MODEL = 1
"""Position of the model's name in a row."""
SPARED_FIRST = ("win rate", "se")
SHORTEST_NAME = 12
MARKDOWN = re.compile(r"[\\`*<\[|]|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown would not show as it is; an underscore inside a word it does."""


def print_table(one: Standings, console: Console, width: int) -> None:
    """Print the title, the table and the denominators.

    Where the width is too small, the win rate and the standard error go first, then the middle of long names; numbers
    are never cut.
    """
    header, rows = _fitted(*cells(one), width)
    console.width = max(width, width_of(header, rows))
    console.print(Text(title(one), style="bold"), soft_wrap=True)
    console.print(_table(one, header, rows, width))
    console.print(Text(denominators(one), style="dim"), soft_wrap=True)
    console.print()


def widest(one: Standings) -> int:
    """Return the width below which something would have to go."""
    return width_of(*cells(one))


def markdown(one: Standings) -> str:
    """Return the same as Markdown; what Markdown would read as markup is escaped."""
    header, rows = cells(one)
    lines = [f"**{literal(title(one))}**", "", "| " + " | ".join(map(literal, header)) + " |"]
    lines.append("|" + "|".join("---" if k == 1 else "---:" for k in range(len(header))) + "|")
    lines += ["| " + " | ".join(map(literal, row)) + " |" for row in rows]
    return "\n".join([*lines, "", *(f"{literal(line)}  " for line in denominators(one).splitlines())]) + "\n"


def _fitted(header: list[str], rows: list[list[str]], width: int) -> tuple[list[str], list[list[str]]]:
    """Drop what can be spared, then shorten names, until the table fits or nothing is left to give."""
    for name in SPARED_FIRST:
        if width_of(header, rows) > width and name in header:
            k = header.index(name)
            header, rows = header[:k] + header[k + 1 :], [row[:k] + row[k + 1 :] for row in rows]
    excess = width_of(header, rows) - width
    if excess <= 0:
        return header, rows
    most = max(SHORTEST_NAME, max(cell_len(row[MODEL]) for row in rows) - excess)
    return header, [[*row[:MODEL], _shortened(row[MODEL], most), *row[MODEL + 1 :]] for row in rows]


def _shortened(name: str, most: int) -> str:
    """Leave out the middle of a long name."""
    if cell_len(name) <= most:
        return name
    tail = most // 2
    return set_cell_size(name, most - tail - 1).rstrip() + "…" + name[-tail:]


def width_of(header: list[str], rows: list[list[str]]) -> int:
    """Return the columns that a table takes; a Chinese character takes two."""
    widths = [max(cell_len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    return sum(widths) + 3 * len(widths) - 1


def _table(one: Standings, header: list[str], rows: list[list[str]], width: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    pictures = _pictures(one) if width_of(header, rows) + PICTURE_WIDTH + 3 <= width else None
    # Cells are `Text`: rich would read a plain string's [brackets] as markup.
    for k, name in enumerate(header):
        table.add_column(Text(name), justify="left" if k == 1 else "right", no_wrap=True)
    if pictures:
        table.add_column(_axis(one), no_wrap=True)
    for k, row in enumerate(rows):
        table.add_row(*map(Text, row), *([Text(pictures[k])] if pictures else []))
    return table


def _bounds(one: Standings) -> tuple[float, float] | None:
    values = [v for entry in one.entries for v in (entry.low, entry.score, entry.high) if v is not None]
    return (min(values), max(values)) if values and min(values) < max(values) else None


def _pictures(one: Standings) -> list[str] | None:
    bounds = _bounds(one)
    if bounds is None:
        return None
    return [interval_bar(e.low, e.score, e.high, bounds, PICTURE_WIDTH) for e in one.entries]


def _axis(one: Standings) -> str:
    bounds = _bounds(one)
    digits = 0 if one.scale == "elo" else 2
    left, right = (f"{bound:.{digits}f}" for bound in bounds or (0, 0))
    return left + " " * (PICTURE_WIDTH - len(left) - len(right)) + right


def literal(text: str) -> str:
    """Escape what Markdown would read as markup."""
    return MARKDOWN.sub(lambda sign: f"\\{sign[0]}", text)
