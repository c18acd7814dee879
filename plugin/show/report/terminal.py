"""Render reports as text.

A table that is too wide is shown without its bars, then without its spare columns. If it is still
too wide, intervals move below their figures and names wrap. No digit is lost.
"""

import os
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from rich.cells import cell_len

from podium.printable import readable, readable_cell
from podium.rankers.estimate import Estimate
from podium.tables import Fact, Report, Table

PLAIN_WIDTH = 120
"""Width of the text in characters if the width of the terminal is unknown."""
MARGIN = 1
"""Number of spaces before the lines of a table with a header."""
INDENT = 2
"""Number of spaces before the lines of facts."""
GAP = 3
"""Number of spaces between the columns of a table. Columns of facts have one less."""
NARROWEST_COLUMN = 20
"""Columns of labels, names or sentences are not made narrower than this, in characters."""
BOLD = "\x1b[1m"
"""Sequence that makes a terminal write in bold type."""
DIM = "\x1b[2m"
"""Sequence that makes a terminal write in a dim colour."""
RESET = "\x1b[0m"
"""Sequence that ends bold type and dim colour."""


def terminal_text(
    reports: Sequence[Report], terminal: bool = False, width: int | None = None
) -> str:
    """Render reports as text.

    Args:
        reports: the reports.
        terminal: whether the text goes to a terminal; titles are then bold, and notes dim, unless
            the environment variable NO_COLOR is set.
        width: width in characters. The default is the width of the terminal. Without a terminal,
            it is the width of the widest main table without bars, but at least 120.
    """
    if width is None and terminal:
        width = shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns
    elif width is None:
        needed = [_table_width(_without_bars(report.table)) for report in reports if report.table]
        width = max([PLAIN_WIDTH, *needed])
    styled = terminal and not os.environ.get("NO_COLOR")
    texts = []
    for report in reports:
        blocks = ["\n".join(lines) for lines in _report_blocks(report, width, styled) if lines]
        texts.append("\n\n".join(blocks))
    return "\n\n\n".join(texts) + "\n"


def _report_blocks(report: Report, width: int, styled: bool) -> Iterator[list[str]]:
    """Yield blocks of lines: the answer, then title, facts, tables and notes of each part.

    The caller puts empty lines between them. A block may be empty.

    Args:
        report: the report.
        width: width in characters.
        styled: whether titles are bold and notes dim.
    """
    bold = BOLD if styled else ""
    dim = DIM if styled else ""
    reset = RESET if styled else ""
    yield _wrap(report.answer, width)
    for section in report.parts:
        titles = [f"{bold}{line}{reset}" for line in _wrap_title(section.title, width)]
        facts = _fact_lines(section.facts, width)
        plain_notes = _wrap((*section.notes, *section.warnings), width)
        notes = [f"{dim}{line}{reset}" for line in plain_notes]
        if not section.tables:
            yield [*titles, *facts, *notes]
            continue
        yield [*titles, *facts]
        for table in section.tables:
            yield [*_wrap_title(table.title, width), *_table_lines(table, width)]
            yield _wrap(table.legend, width)
        yield notes


def _wrap_title(title: str, width: int) -> list[str]:
    """Wrap a title into lines; an empty title gives no line."""
    return _wrap([title], width) if title else []


def _wrap(texts: Sequence[str], width: int) -> list[str]:
    """Wrap texts into lines; the further lines of a list item (`- `, `→ `) are indented.

    Words are not broken. Control characters and line breaks are escaped. Words from 300 characters
    on and texts of more than 4,000 characters lose their middle. An empty text gives an empty line.
    """
    lines = []
    for text in map(readable, texts):
        indent = "  " if text.startswith(("- ", "→ ")) else ""
        lines += textwrap.wrap(
            text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [text]
    return lines


def _fact_lines(facts: Sequence[Fact], width: int) -> list[str]:
    """Render facts in aligned columns. If they are too wide, only the labels wrap.

    A fact without an interval is rendered as `label: value`, outside the columns.
    """
    # A fact without an interval has no row.
    cells: list[tuple[str, ...] | None] = []
    for fact in facts:
        cells.append(None if fact.interval is None else tuple(map(readable_cell, fact.cells)))
    rows = [row for row in cells if row]
    widths = []
    # Label, value, interval and size.
    for k in range(4):
        lengths = [cell_len(row[k]) for row in rows]
        widths.append(max(lengths, default=0))
    gap = GAP - 1
    label_width, *other_widths = widths
    width_of_gaps = gap * len(other_widths)
    largest_label_width = width - INDENT - sum(other_widths) - width_of_gaps
    label_width = min(label_width, max(largest_label_width, NARROWEST_COLUMN))
    widths = [label_width, *other_widths]
    lines = []
    for fact, row in zip(facts, cells, strict=True):
        if row:
            lines += _row_lines(row, widths, "lrrl", gap)
        else:
            lines += _wrap([f"{fact.label}: {fact.value}"], width - INDENT)
    return [" " * INDENT + line for line in lines]


def _table_lines(table: Table, width: int) -> list[str]:
    """Render a table, with a line below its header and below the rows in `table.rules`.

    If no form of the table fits the width, its left-aligned columns are narrowed, the widest one
    first, and their cells wrap. The table may still be wider. A header of empty cells is left out.
    """
    table = _form_that_fits(table, width)
    align = table.align[:-1] + "l" if table.words else table.align
    widths = _column_widths(table)
    width_of_gaps = GAP * (len(widths) - 1)
    excess = MARGIN + sum(widths) + width_of_gaps - width
    if excess > 0:
        left_aligned = [k for k, letter in enumerate(align) if letter == "l"]
        left_aligned.sort(key=lambda k: -widths[k])
        for k in left_aligned:
            narrow = min(widths[k], max(widths[k] - excess, NARROWEST_COLUMN))
            excess -= widths[k] - narrow
            widths[k] = narrow
    rule = "─" * (sum(widths) + width_of_gaps)
    has_header = any(table.header)
    lines = [*_row_lines(table.header, widths, align), rule] if has_header else []
    for k, row in enumerate(table.rows):
        lines += _row_lines(row, widths, align)
        if k in table.rules and k + 1 < len(table.rows):
            lines.append(rule)
    if not has_header:
        return lines
    return [" " * MARGIN + line for line in lines]


def _row_lines(row: Sequence[str], widths: Sequence[int], align: str, gap: int = GAP) -> list[str]:
    """Render a row, on as many lines as its tallest cell has.

    Only cells that are aligned to the left wrap. Other cells have a line per line break.

    Args:
        row: the cells.
        widths: width of each column in characters.
        align: `l` or `r` for each column.
        gap: number of spaces between columns.
    """
    cells = []
    for cell, width, letter in zip(row, widths, align, strict=True):
        if letter == "l" and cell_len(cell) > width:
            cells.append(textwrap.wrap(cell, width) or [""])
        else:
            cells.append(cell.split("\n"))
    lines = []
    for parts in zip_longest(*cells, fillvalue=""):
        texts = []
        for part, width, letter in zip(parts, widths, align, strict=True):
            padding = " " * (width - cell_len(part))
            texts.append(part + padding if letter == "l" else padding + part)
        lines.append((" " * gap).join(texts).rstrip())
    return lines


def _form_that_fits(table: Table, width: int) -> Table:
    """Return the widest form of a table that fits the width.

    The forms are, in this order: with bars; without bars; and without the first, the first two and
    so on of its spare columns. If none fits, the result is the last form with intervals below their
    figures, which may be too wide as well.
    """
    bare = _without_bars(table)
    forms = [_with_bars(table)]
    for number_left_out in range(len(table.spare) + 1):
        forms.append(_without_columns(bare, table.spare[:number_left_out]))
    for form in forms:
        if _table_width(form) <= width:
            return form
    return _stack_intervals(forms[-1])


def _column_widths(table: Table) -> list[int]:
    """Return the width of each column: that of its widest line, in cells of a terminal.

    The header counts, too.
    """
    widths = []
    for column in zip(table.header, *table.rows, strict=True):
        lines = "\n".join(column).split("\n")
        widths.append(max(map(cell_len, lines)))
    return widths


def _table_width(table: Table) -> int:
    """Return the width of a table with its margin, in characters, if only sentences wrap.

    A last column of sentences counts with at most `NARROWEST_COLUMN`.
    """
    *widths, last = _column_widths(table)
    if table.words:
        last = min(last, NARROWEST_COLUMN)
    return MARGIN + sum(widths) + last + GAP * len(widths)


def _without_bars(table: Table) -> Table:
    """Return a copy of a table without bars, and with readable cells."""
    rows = tuple(tuple(map(readable_cell, row)) for row in table.rows)
    return replace(table, header=tuple(map(readable_cell, table.header)), rows=rows, bars=())


def _with_bars(table: Table) -> Table:
    """Return a copy of a table with its bars as a last column, and with readable cells."""
    bare = _without_bars(table)
    if not table.bars:
        return bare
    bar_header, *bars = table.bars
    rows = tuple((*row, bar) for row, bar in zip(bare.rows, bars, strict=True))
    return replace(bare, header=(*bare.header, bar_header), rows=rows, align=table.align + "l")


def bar_column(
    bars: Sequence[Estimate | None],
    width: int,
    label: str,
    ends: tuple[float, float] | None = None,
    marks: Sequence[float | None] = (),
) -> tuple[str, ...]:
    """Draw intervals and marks on a common axis.

    Args:
        bars: a value with its interval per row; None for a row without a bar.
        width: width of the column in characters.
        label: format specification of the ends of the axis, which the header shows.
        ends: ends of the axis; by default the smallest and the largest of all values, ends of
            intervals and marks.
        marks: a further value per row, drawn as a diamond; None for a row without a mark. By
            default there are no marks.

    Returns:
        A header with the ends of the axis, and a bar per row; empty if the ends are equal.
    """
    values: list[float | None] = [*marks]
    for bar in bars:
        if bar:
            values += [bar.low, bar.value, bar.high]
    known_ends = [value for value in values if value is not None]
    if ends is None:
        ends = (min(known_ends, default=0), max(known_ends, default=0))
    least, most = ends
    if least == most:
        return ()
    left = format(least, label)
    right = format(most, label)
    column = [left + right.rjust(width - len(left))]
    for bar, mark in zip(bars, marks or [None] * len(bars), strict=True):
        column.append(interval_bar(bar, (least, most), width, mark))
    return tuple(column)


def interval_bar(
    bar: Estimate | None, ends: tuple[float, float], width: int, mark: float | None = None
) -> str:
    """Draw an interval in characters on an axis.

    The value is a filled circle, or an open one if an end of the interval is unknown. The mark is
    a diamond, which is filled and replaces the circle if it is in the place of the value.

    Args:
        bar: the value with its interval; None for a text of spaces.
        ends: the ends of the axis, which must differ. The value, the mark and the ends of the
            interval lie between them.
        width: number of characters of the text.
        mark: a further value; None for no mark.

    >>> interval_bar(Estimate(2, 1, 3), (0, 4), 9)
    '  ├─●─┤  '
    >>> interval_bar(Estimate(2, 1, None), (0, 4), 9)
    '  ├─○    '
    >>> interval_bar(Estimate(2, 1, 3), (0, 4), 9, mark=4)
    '  ├─●─┤ ◇'
    """
    least, most = ends
    cells = [" "] * width
    if bar is None:
        return "".join(cells)

    def column_of(value: float) -> int:
        """Return the column of a value on the axis, from 0."""
        return round((value - least) / (most - least) * (width - 1))

    value_column = column_of(bar.value)
    left_column = value_column if bar.low is None else column_of(bar.low)
    right_column = value_column if bar.high is None else column_of(bar.high)
    cells[left_column : right_column + 1] = ["─"] * (right_column + 1 - left_column)
    if bar.low is not None:
        cells[left_column] = "├"
    if bar.high is not None:
        cells[right_column] = "┤"
    cells[value_column] = "○" if bar.low is None or bar.high is None else "●"
    if mark is not None:
        cells[column_of(mark)] = "◆" if column_of(mark) == value_column else "◇"
    return "".join(cells)


def _stack_intervals(table: Table) -> Table:
    """Return a copy of a table in which intervals stand below their figures.

    Headers are broken at spaces. Columns that are aligned to the left stay as they are.
    """
    names = _replace_in_figures(table.header, table.align, old=" ", new="\n")
    tallest = max(name.count("\n") for name in names)
    header = [name + "\n" * (tallest - name.count("\n")) for name in names]
    rows = [_replace_in_figures(row, table.align, old=" (", new="\n(") for row in table.rows]
    return replace(table, header=tuple(header), rows=tuple(rows))


def _replace_in_figures(row: Sequence[str], align: str, old: str, new: str) -> tuple[str, ...]:
    """Replace a text in the cells of a row that are aligned to the right."""
    return tuple(
        cell.replace(old, new) if letter == "r" else cell
        for cell, letter in zip(row, align, strict=True)
    )


def _without_columns(table: Table, names: Sequence[str]) -> Table:
    """Return a copy of a table without the columns with the given headers."""
    columns = [k for k, name in enumerate(table.header) if name not in names]
    return replace(
        table,
        header=tuple(table.header[k] for k in columns),
        rows=tuple(tuple(row[k] for k in columns) for row in table.rows),
        align="".join(table.align[k] for k in columns),
    )
