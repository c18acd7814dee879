"""Render reports as text lines for terminals, files and pipes.

A table that is too wide drops or shortens what its report's layout allows, but never a digit. Cells are rich's `Text`,
because rich reads [brackets] in plain strings as markup.
"""

import os
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from typing import Any, Literal

from rich.box import Box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from podium.nouns.estimate import Estimate
from podium.printable import printable
from podium.report.model import Fact, Report, ReportLayout, Section, Table

PLAIN_WIDTH = 120
"""Width in characters if no terminal gives one."""
NARROW = 100
"""Width below which the clusters of a fact are left out."""
INDENT = 2
GAP = 3
"""Space between the columns of a table; one less between those of facts, and in a table that is too wide."""
SHORTEST_NAME = 12
SHORTEST_LABEL = 20
FEWEST_WORDS = 20
"""Least width of a column of words beside figures."""
BOX = Box("    \n    \n ── \n    \n ── \n    \n    \n    \n")
"""A rule below the header, and where a table has rules."""
FRAME = 2
"""Width of both edges of a framed table."""


def terminal_text(reports: Sequence[Report], terminal: bool = False, width: int | None = None) -> str:
    """Render reports as text.

    Args:
        reports: all of one layout.
        terminal: whether the text goes to a terminal; only then are styles used, unless NO_COLOR is set.
        width: in characters; by default that of the terminal, else 120 or what the widest ledger needs.
    """
    if width is None:
        tables = [report.table for report in reports if report.table and report.form is ReportLayout.LEDGER]
        needed = [_width(_as_text(replace(table, axis=None))) + FRAME for table in tables]
        size = shutil.get_terminal_size((PLAIN_WIDTH, 24))
        width = size.columns if terminal else max([PLAIN_WIDTH, *needed])
    if any(report.form is ReportLayout.SHEET for report in reports):
        return "".join(_sheet(report, width) for report in reports)
    styled = terminal and not os.environ.get("NO_COLOR")
    lines = [line for report in reports for line in _page(report, width, styled)]
    return "".join(f"{line}\n" for line in lines)


def _page(report: Report, width: int, styled: bool) -> list[str]:
    """Render one report as lines."""
    card = report.form is ReportLayout.CARD
    room, table_lines = (width, _folded_table) if card else (None, _framed_table)
    lines = [*_paragraphs(report.answer, width), ""] if report.answer else []
    lines += _lines_of(_text(report.title, "bold"), room, styled) if report.title else []
    lines += table_lines(report.table, width, styled) if report.table else []
    lines += [line for note in report.notes for line in _lines_of(_text(note, "dim"), room, styled)]
    lines.append("")
    for section in report.sections:
        lines += _lines_of(_text(section.title, "bold"), width, styled)
        lines += _facts(section.facts, width)
        for table in section.tables:
            lines += ["", *(_lines_of(_indent(_text(table.title)), width) if table.title else [])]
            lines += table_lines(table, width, styled)
        lines += [*(line for note in section.notes for line in _lines_of(_indent(_text(note)), width)), ""]
    return [line for line, before in zip(lines, ["", *lines], strict=False) if line or before] if card else lines


def _sheet(report: Report, width: int) -> str:
    """Render paragraphs and tables separated by empty lines."""
    parts = [_part(section, width) for section in report.parts]
    answer = ["\n".join(_paragraphs(report.answer, width))] if report.answer else []
    return "\n\n".join([*answer, *parts]) + "\n"


def _part(section: Section, width: int) -> str:
    """Render one section."""
    lines = [*_paragraphs([section.title], width), *_facts(section.facts, width)]
    for table in section.tables:
        lines += ["", *_bare_table(table, width), "", *_paragraphs(table.legend, width)]
    return "\n".join([*lines, *_paragraphs(section.notes, width)]).rstrip()


def _lines_of(thing: RenderableType, width: int | None, styled: bool = False) -> list[str]:
    """Render a rich object as lines; without a width, lines are not wrapped."""
    buffer = StringIO()
    console = Console(
        file=buffer, width=width or PLAIN_WIDTH, force_terminal=styled, highlight=False, markup=False, emoji=False
    )
    console.print(thing, soft_wrap=width is None)
    return [line.rstrip() for line in buffer.getvalue().splitlines()]


def _text(text: str, style: str = "") -> Text:
    """Return a rich text without markup."""
    return Text(printable(text), style=style)


def _indent(thing: RenderableType) -> Padding:
    """Indent a rich object."""
    return Padding(thing, (0, 0, 0, INDENT))


def _paragraphs(texts: Sequence[str], width: int) -> list[str]:
    """Wrap texts; list items get a hanging indent.

    >>> _paragraphs(["- one two three"], 9)
    ['- one two', '  three']
    """
    lines = []
    for text in map(printable, texts):
        indent = "  " if text.startswith(("- ", "→ ")) else ""
        lines += textwrap.wrap(
            text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [text]
    return lines


def _facts(facts: Sequence[Fact], width: int) -> list[str]:
    """Render facts in aligned columns; only labels wrap."""
    facts = [fact if width >= NARROW else replace(fact, clusters="") for fact in facts]
    cells = [None if fact.interval is None else tuple(map(printable, fact.cells)) for fact in facts]
    widths = [max((cell_len(row[k]) for row in cells if row), default=0) for k in range(4)]
    widths[0] = min(widths[0], max(width - INDENT - sum(widths[1:]) - 3 * (GAP - 1), SHORTEST_LABEL))
    words = [_text(f"{fact.label}: {fact.value}") for fact in facts]
    parts = [_columns(row, widths) if row else text for row, text in zip(cells, words, strict=True)]
    return [line for part in parts for line in _lines_of(_indent(part), width)]


def _columns(cells: Sequence[str], widths: Sequence[int]) -> Grid:
    """Build a rich grid of one row with fixed widths."""
    grid = Grid(box=None, pad_edge=False, show_header=False, padding=(0, GAP - 1, 0, 0))
    for k, width in enumerate(widths):
        grid.add_column(width=width, justify="right" if k in (1, 2) else "left", no_wrap=k > 0)
    grid.add_row(*map(Text, cells))
    return grid


def _framed_table(table: Table, width: int, styled: bool) -> list[str]:
    """Render a table with rules; columns are dropped if it is too wide."""
    table = _give_up_columns(table, width)
    headed = any(table.header)
    grid = _grid(table, box=BOX if headed else None, show_header=headed)
    lines = _lines_of(grid, max(width, _width(table) + FRAME), styled)
    return [*lines[:-1], *map(printable, table.legend)] if table.legend else lines


def _folded_table(table: Table, width: int, styled: bool) -> list[str]:
    """Render a table that wraps words in its cells if it is too wide."""
    table = _as_text(replace(table, axis=None))
    figures = len(table.header) - table.words
    needed = _width(_select_columns(table, range(figures))) + FRAME + FEWEST_WORDS * table.words
    fits = needed + INDENT <= width
    table = replace(table, align=table.align[:figures] + "l" * table.words)
    if not fits and not table.words:
        table = _spare_columns(table, width)
    wraps = [k >= figures or not fits for k in range(len(table.header))]
    grid = _grid(table if fits else _stack_intervals(table), wraps, box=BOX)
    return _lines_of(Padding(grid, (0, 0, 0, 1)), width, styled)


def _bare_table(table: Table, width: int) -> list[str]:
    """Render a table without rules; if it is too wide, intervals move below figures."""
    bare = _as_text(replace(table, axis=None))
    table = next((wider for wider in (_as_text(table), bare) if _width(wider) <= width), bare)
    if _width(table) <= width:
        return _lines_of(_grid(table, box=BOX, show_edge=False, header_style=""), width)
    tallest = max(name.count(" ") for name in table.header)
    names = [name.replace(" ", "\n") + "\n" * (tallest - name.count(" ")) for name in table.header]
    table = replace(_stack_intervals(table), header=tuple(names))
    grid = _grid(table, box=BOX, show_edge=False, header_style="", padding=(0, 1, 0, 0))
    return _lines_of(grid, max(width, _width(table)))


def _grid(table: Table, wraps: Sequence[bool] = (), **style: Any) -> Grid:
    """Build rich's table; only the given columns wrap."""
    grid = Grid(pad_edge=False, **style)
    for k, (name, letter) in enumerate(zip(table.header, table.align, strict=True)):
        side: Literal["left", "right"] = "left" if letter == "l" else "right"
        may_wrap = bool(wraps) and wraps[k]
        width = _longest_word(table, k) if may_wrap and side == "right" else None
        grid.add_column(Text(name), justify=side, no_wrap=not may_wrap, overflow="fold", width=width)
    for k, row in enumerate(table.rows):
        grid.add_row(*map(Text, row), end_section=k in table.rules)
    return grid


def _longest_word(table: Table, column: int) -> int:
    """Return the minimum width of a column without breaking words."""
    cells = [table.header[column], *(row[column] for row in table.rows)]
    return max(cell_len(word) for cell in cells for word in cell.split() or [""])


def _spare_columns(table: Table, width: int) -> Table:
    """Drop optional columns until no figure is broken."""
    for name in table.spare:
        figures = [k for k, letter in enumerate(table.align) if letter == "r"]
        needed = sum(_longest_word(table, k) + GAP for k in figures) + FRAME + INDENT + SHORTEST_NAME
        if needed > width and name in table.header:
            table = _select_columns(table, [k for k, other in enumerate(table.header) if other != name])
    return table


def _as_text(table: Table) -> Table:
    """Replace control characters and turn the bar column into text."""
    header, rows = tuple(map(printable, table.header)), [tuple(map(printable, row)) for row in table.rows]
    axis = table.axis
    if axis is None:
        return replace(table, header=header, rows=tuple(rows))
    left, right = axis.labels
    bars = [interval_bar(bar, axis.ends, axis.width, axis.mark(k)) for k, bar in enumerate(axis.bars)]
    return replace(
        table,
        header=(*header, left + right.rjust(axis.width - len(left))),
        rows=tuple((*row, bar) for row, bar in zip(rows, bars, strict=True)),
        align=table.align + "l",
        axis=None,
    )


def interval_bar(bar: Estimate | None, ends: tuple[float, float], width: int, mark: float | None = None) -> str:
    """Draw an interval in characters on a common axis; without ends its value is an open circle.

    >>> interval_bar(Estimate(2, 1, 3), (0, 4), 9)
    '  ├─●─┤  '
    >>> interval_bar(Estimate(2, 1, 3), (0, 4), 9, mark=4)
    '  ├─●─┤ ◇'
    """
    cells = [" "] * width
    if bar is None:
        return "".join(cells)
    value = _axis_cell(bar.value, ends, width)
    cells[value] = "○"
    if bar.low is not None and bar.high is not None:
        left, right = _axis_cell(bar.low, ends, width), _axis_cell(bar.high, ends, width)
        cells[left : right + 1] = ["─"] * (right + 1 - left)
        cells[left], cells[right], cells[value] = "├", "┤", "●"
    if mark is not None:
        place = _axis_cell(mark, ends, width)
        cells[place] = "◆" if place == value else "◇"
    return "".join(cells)


def _axis_cell(value: float, ends: tuple[float, float], width: int) -> int:
    """Return the character column of a value on an axis."""
    least, most = ends
    return round((value - least) / (most - least) * (width - 1))


def _stack_intervals(table: Table) -> Table:
    """Move intervals below their figures."""
    rows = [
        tuple(
            cell.replace(" (", "\n(") if letter == "r" else cell for cell, letter in zip(row, table.align, strict=True)
        )
        for row in table.rows
    ]
    return replace(table, rows=tuple(rows))


def _width(table: Table) -> int:
    """Return the width of a table without wrapping; wide characters count twice."""
    columns = zip(table.header, *table.rows, strict=True)
    widths = [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in columns]
    return sum(widths) + GAP * (len(widths) - 1)


def _give_up_columns(table: Table, width: int) -> Table:
    """Drop bars, then optional columns, then shorten names until the table fits."""
    pictured, table = _as_text(table), _as_text(replace(table, axis=None))
    if _width(pictured) + FRAME <= width:
        return pictured
    for name in table.spare:
        if _width(table) + FRAME > width and name in table.header:
            table = _select_columns(table, [k for k, other in enumerate(table.header) if other != name])
    excess, k = _width(table) + FRAME - width, table.name
    if excess <= 0 or k is None:
        return table
    longest = max(SHORTEST_NAME, max(cell_len(row[k]) for row in table.rows) - excess)
    tail, rows = longest // 2, []
    for row in table.rows:
        name = row[k]
        if cell_len(name) > longest:
            name = set_cell_size(name, longest - tail - 1).rstrip() + "…" + name[-tail:]
        rows.append((*row[:k], name, *row[k + 1 :]))
    return replace(table, rows=tuple(rows))


def _select_columns(table: Table, kept: Sequence[int]) -> Table:
    """Return a table with only some columns."""
    return replace(
        table,
        header=tuple(table.header[k] for k in kept),
        rows=tuple(tuple(row[k] for k in kept) for row in table.rows),
        align="".join(table.align[k] for k in kept),
    )
