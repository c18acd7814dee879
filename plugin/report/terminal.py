"""Reports as lines of text: for a terminal, and for files and pipes that take lines.

Where there is too little room a table gives up what its report's form allows, but no digit of a number. Cells are
rich's `Text`, for rich would read a plain string's [brackets] as markup.
"""

import os
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO

from rich.box import Box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from podium.report.drawing import PLAIN_WIDTH, interval_bar, side_by_side
from podium.report.model import Axis, Fact, Form, Measure, Note, Report, Section, Table
from podium.report.printable import printable

NARROW = 100
"""Columns below which the clusters of a measure are left out."""
INDENT = 2
GAP = 3
"""Columns between those of a table; 2 where it is too wide, and between those of facts."""
SHORTEST_NAME = 12
SHORTEST_LABEL = 20
FEWEST_WORDS = 20
"""Columns that words get beside figures."""
BOX = Box("    \n    \n ── \n    \n ── \n    \n    \n    \n")
"""A rule below the header, and where a table has rules."""
Cells = Sequence[Sequence[str]]


def terminal_text(reports: Sequence[Report], terminal: bool = False, width: int | None = None) -> str:
    """Write reports of one form as lines.

    Styles go only to a terminal, and not where NO_COLOR is set.

    Args:
        reports: all of one form.
        terminal: whether the lines go to a terminal.
        width: columns to write in; by default those of the terminal, else 120, or as many as the widest ledger needs.
    """
    needed = [_width(one.table) for one in reports if one.table and one.form is Form.LEDGER]
    if width is None:
        size = shutil.get_terminal_size((PLAIN_WIDTH, 24))
        width = size.columns if terminal else max([PLAIN_WIDTH, *needed])
    if any(report.form is Form.SHEET for report in reports):
        return "".join(_sheet(report, width) for report in reports)
    styled = terminal and not os.environ.get("NO_COLOR")
    lines = [line for report in reports for line in _page(report, width, styled)]
    return "".join(f"{line}\n" for line in lines)


def _page(report: Report, width: int, styled: bool) -> list[str]:
    """Return the lines of a ledger or a card."""
    card = report.form is Form.CARD
    room = width if card else None
    lines = [line for text in report.answer for line in _shown(Text(printable(text)), width)]
    lines += [""] if lines else []
    lines += _shown(Text(printable(report.title), style="bold"), room, styled)
    lines += _framed(report.table, report.form, width, styled) if report.table else []
    lines += [part for note in report.notes for part in _shown(_dim(note), room, styled)]
    lines += ["", *(line for section in report.sections for line in _section(section, report.form, width, styled))]
    return [line for line, before in zip(lines, ["", *lines], strict=False) if line or before] if card else lines


def _section(section: Section, form: Form, width: int, styled: bool) -> list[str]:
    lines = _shown(Text(printable(section.title), style="bold"), width, styled)
    lines += _facts(section.facts, width)
    for table in section.tables:
        title = Text(printable(table.title))
        lines += ["", *(_shown(_indented(title), width) if table.title else [])]
        lines += _framed(table, form, width, styled)
    lines += [*side_by_side(section.figures, width)]
    lines += [line for note in section.notes for line in _shown(_indented(Text(printable(note.line))), width)]
    return [*lines, ""]


def _framed(table: Table, form: Form, width: int, styled: bool) -> list[str]:
    """Return the lines of a table with an empty one before and after it."""
    if form is Form.CARD:
        return _shown(Padding(_folding(table, width), (0, 0, 0, 1)), width, styled)
    table = _fitted(table, width)
    lines = _shown(_grid(table), max(width, _width(table)), styled)
    if not table.legend:
        return lines
    return [*lines[:-1], *(printable(text) for text in table.legend)]


def _sheet(report: Report, width: int) -> str:
    """Return paragraphs and tables, an empty line between parts."""
    first = Section("", report.title, (), (report.table,) if report.table else (), (), report.notes)
    parts = [_part(section, width) for section in (first, *report.sections)]
    answer = ["\n".join(_paragraphs(report.answer, width))] if report.answer else []
    return "\n\n".join([*answer, *parts]) + "\n"


def _part(section: Section, width: int) -> str:
    lines = [*_paragraphs([section.title], width), *_facts(section.facts, width)]
    for table in section.tables:
        lines += ["", *_broken(table, width), "", *_paragraphs(table.legend, width)]
    if drawing := side_by_side(section.figures, width):
        lines += [*drawing, ""]
    return "\n".join([*lines, *_paragraphs([note.line for note in section.notes], width)]).rstrip()


def _shown(thing: RenderableType, width: int | None, styled: bool = False) -> list[str]:
    """Return what rich makes of a thing; without a width its lines are not broken."""
    buffer = StringIO()
    console = Console(
        file=buffer, width=width or PLAIN_WIDTH, force_terminal=styled, highlight=False, markup=False, emoji=False
    )
    console.print(thing, soft_wrap=width is None)
    return [line.rstrip() for line in buffer.getvalue().splitlines()]


def _dim(note: Note) -> Text:
    return Text(printable(note.line), style="dim")


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, INDENT))


def _paragraphs(texts: Sequence[str], width: int) -> list[str]:
    """Break lines between words; those of a list go on under its words.

    >>> _paragraphs(["- one two three"], 9)
    ['- one two', '  three']
    """
    return [line for text in texts for line in _wrap(printable(text), width)]


def _wrap(text: str, width: int) -> list[str]:
    indent = "  " if text.startswith(("- ", "→ ")) else ""
    lines = textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return lines or [text]


def _facts(facts: Sequence[Fact], width: int) -> list[str]:
    """Align figures in columns, and write facts in words across them; only a label may wrap."""
    rows = [_measured(fact.label, fact.value, width) for fact in facts if isinstance(fact.value, Measure)]
    widths = [max(cell_len(row[k]) for row in rows) for k in range(4)] if rows else []
    if rows:
        widths[0] = min(widths[0], max(width - INDENT - sum(widths[1:]) - 3 * (GAP - 1), SHORTEST_LABEL))
    lines = []
    for fact in facts:
        if isinstance(fact.value, Measure):
            part: RenderableType = _columns(_measured(fact.label, fact.value, width), widths)
        else:
            part = Text(f"{printable(fact.label)}: {printable(fact.value)}")
        lines += _shown(Padding(part, (0, 0, 0, INDENT)), width)
    return lines


def _measured(label: str, value: Measure, width: int) -> tuple[str, str, str, str]:
    """Return the cells of a fact; without the clusters, where there is little room."""
    size = value.denominator if width >= NARROW else value.size
    return printable(label), printable(value.estimate), printable(value.interval), printable(size)


def _columns(cells: Sequence[str], widths: Sequence[int]) -> Grid:
    grid = Grid(box=None, pad_edge=False, show_header=False, padding=(0, GAP - 1, 0, 0))
    for k, width in enumerate(widths):
        grid.add_column(width=width, justify="right" if k in (1, 2) else "left", no_wrap=k > 0)
    grid.add_row(*map(Text, cells))
    return grid


def _grid(table: Table) -> Grid:
    """Return a table whose cells are not broken."""
    header, rows = _cells(table)
    grid = Grid(box=BOX if any(header) else None, pad_edge=False, show_header=any(header))
    letters = table.align + "l"
    for name, letter in zip(header, letters, strict=False):
        grid.add_column(Text(name), justify="left" if letter == "l" else "right", no_wrap=True)
    for k, row in enumerate(rows):
        grid.add_row(*map(Text, row), end_section=k in table.rules)
    return grid


def _folding(table: Table, width: int) -> Grid:
    """Return a table that breaks its cells between words where it is too wide, and cuts no number."""
    header, rows = _cells(replace(table, axis=None))
    figures = len(header) - table.words
    needed = _natural(header[:figures], [row[:figures] for row in rows]) + 2 + FEWEST_WORDS * table.words
    fits = needed + INDENT <= width
    grid = Grid(box=BOX, pad_edge=False)
    for k, name in enumerate(header):
        right = table.align[k] == "r" and k < figures
        grid.add_column(Text(name), justify="right" if right else "left", no_wrap=fits and k < figures, overflow="fold")
    for k, row in enumerate(rows):
        cells = row if fits else [_stack(cell) if 0 < j < figures else cell for j, cell in enumerate(row)]
        grid.add_row(*map(Text, cells), end_section=k in table.rules)
    return grid


def _broken(table: Table, width: int) -> list[str]:
    """Return a table's lines; one that is too wide has intervals below figures, and names of columns in words."""
    if table.axis and _natural(*_cells(table)) > width:
        table = replace(table, axis=None)
    header, rows = _cells(table)
    fits = _natural(header, rows) <= width
    grid = Grid(box=BOX, pad_edge=False, show_edge=False, header_style="", padding=(0, 1) if fits else (0, 1, 0, 0))
    letters = table.align + "l" * bool(table.axis)
    if not fits:
        header = [name.replace(" ", "\n") for name in header]
        rows = [[_stack(cell) if letters[k] == "r" else cell for k, cell in enumerate(row)] for row in rows]
    tallest = max(name.count("\n") for name in header)
    for name, letter in zip(header, letters, strict=True):
        top = name + "\n" * (tallest - name.count("\n"))
        grid.add_column(Text(top), justify="left" if letter == "l" else "right", no_wrap=True)
    for k, row in enumerate(rows):
        grid.add_row(*map(Text, row), end_section=k in table.rules)
    return _shown(grid, max(width, _natural(header, rows)))


def _stack(cell: str) -> str:
    """Put an interval below its figure."""
    return cell.replace(" (", "\n(")


def _cells(table: Table) -> tuple[list[str], list[list[str]]]:
    """Return header and rows as they are shown, the pictures included."""
    header = [printable(name) for name in table.header]
    rows = [[printable(cell) for cell in row] for row in table.rows]
    if table.axis is None:
        return header, rows
    return [*header, _scale(table.axis)], [[*row, bar] for row, bar in zip(rows, _bars(table.axis), strict=True)]


def _scale(axis: Axis) -> str:
    left, right = axis.labels
    return left + " " * (axis.width - len(left) - len(right)) + right


def _bars(axis: Axis) -> list[str]:
    return [interval_bar(bar, axis.ends, axis.width) for bar in axis.bars]


def _natural(header: Sequence[str], rows: Cells) -> int:
    """Return the columns that a table takes if no cell is broken; a Chinese character takes two."""
    widths = [max(cell_len(part) for row in [header, *rows] for part in row[k].split("\n")) for k in range(len(header))]
    return sum(widths) + GAP * (len(widths) - 1)


def _width(table: Table) -> int:
    """Return the columns of a framed table without its pictures."""
    return _natural(*_cells(replace(table, axis=None))) + 2


def _fitted(table: Table, width: int) -> Table:
    """Drop pictures, then what can be spared, then the middle of names, until nothing is left to give."""
    if table.axis and _width(table) + GAP + table.axis.width > width:
        table = replace(table, axis=None)
    for name in table.spare:
        if _width(table) > width and name in table.header:
            table = _drop_column(table, table.header.index(name))
    excess, k = _width(table) - width, table.name
    if excess <= 0 or k is None:
        return table
    longest = max(SHORTEST_NAME, max(cell_len(printable(row[k])) for row in table.rows) - excess)
    rows = tuple((*row[:k], _shorten(printable(row[k]), longest), *row[k + 1 :]) for row in table.rows)
    return replace(table, rows=rows)


def _drop_column(table: Table, k: int) -> Table:
    rows = tuple((*row[:k], *row[k + 1 :]) for row in table.rows)
    header, align = (*table.header[:k], *table.header[k + 1 :]), table.align[:k] + table.align[k + 1 :]
    return replace(table, header=header, rows=rows, align=align)


def _shorten(name: str, longest: int) -> str:
    """Leave out the middle of a long name."""
    if cell_len(name) <= longest:
        return name
    tail = longest // 2
    return set_cell_size(name, longest - tail - 1).rstrip() + "…" + name[-tail:]
