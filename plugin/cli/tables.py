"""Standings as a table for the terminal, and as Markdown."""

import re

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from podium.cli.picture import interval_bar
from podium.cli.wording import cells, denominators, title
from podium.ranking import Standings

PICTURE_WIDTH = 28
MARKDOWN = re.compile(r"[\\`*<\[|]|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown would not show as it is; an underscore inside a word it does."""


def print_table(one: Standings, console: Console) -> None:
    """Print the title, the table and the denominators; no row is ever cut."""
    console.print(Text(title(one), style="bold"), soft_wrap=True)
    console.print(_table(one, console.width), soft_wrap=False)
    console.print(Text(denominators(one), style="dim"), soft_wrap=True)
    console.print()


def widest(one: Standings) -> int:
    """Return the width below which a row would be cut; a Chinese character takes two columns."""
    header, rows = cells(one)
    widths = [max(cell_len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    return sum(widths) + 3 * len(widths) + 1


def markdown(one: Standings) -> str:
    """Return the same as Markdown; what Markdown would read as markup is escaped."""
    header, rows = cells(one)
    lines = [f"**{_literal(title(one))}**", "", "| " + " | ".join(map(_literal, header)) + " |"]
    lines.append("|" + "|".join("---" if k == 1 else "---:" for k in range(len(header))) + "|")
    lines += ["| " + " | ".join(map(_literal, row)) + " |" for row in rows]
    return "\n".join([*lines, "", *(f"{_literal(line)}  " for line in denominators(one).splitlines())]) + "\n"


def _table(one: Standings, width: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    header, rows = cells(one)
    pictures = _pictures(one) if widest(one) + PICTURE_WIDTH + 3 <= width else None
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


def _literal(text: str) -> str:
    """Escape what Markdown would read as markup."""
    return MARKDOWN.sub(lambda sign: f"\\{sign[0]}", text)
