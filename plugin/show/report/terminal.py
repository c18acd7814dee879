"""Render reports as text; too wide tables lose bars, then spare columns, then names wrap; never a
digit is lost."""

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
"""Width in characters if no terminal gives one."""
MARGIN, INDENT = 1, 2
"""Space before the lines of a table with a header, and before those of facts."""
GAP = 3
"""Space between the columns of a table; one less between those of facts."""
NARROWEST = 20
"""Least width of a column of labels, names or sentences."""
BOLD, DIM, RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def terminal_text(
    reports: Sequence[Report], terminal: bool = False, width: int | None = None
) -> str:
    """Render reports as text, styled if it goes to a terminal; by default as wide as that or the
    widest main table."""
    if width is None:
        needed = [_width(_bare(report.table)) for report in reports if report.table]
        width = (
            shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns
            if terminal
            else max([PLAIN_WIDTH, *needed])
        )
    styled = terminal and not os.environ.get("NO_COLOR")
    texts = [
        "\n\n".join("\n".join(block) for block in _report_blocks(report, width, styled) if block)
        for report in reports
    ]
    return "\n\n\n".join(texts) + "\n"


def _report_blocks(report: Report, width: int, styled: bool) -> Iterator[list[str]]:
    """Yield blocks of lines, to be separated by empty lines: the answer, then title, tables and
    notes of each part."""
    bold, dim, reset = (BOLD, DIM, RESET) if styled else ("", "", "")
    yield _wrap(report.answer, width)
    for section in report.parts:
        titles = [
            f"{bold}{line}{reset}"
            for line in _wrap([section.title] if section.title else [], width)
        ]
        notes = [
            f"{dim}{line}{reset}" for line in _wrap((*section.notes, *section.warnings), width)
        ]
        yield [*titles, *_fact_lines(section.facts, width), *([] if section.tables else notes)]
        for table in section.tables:
            yield [*_wrap([table.title] if table.title else [], width), *_table_lines(table, width)]
            yield _wrap(table.legend, width)
        yield notes if section.tables else []


def _wrap(texts: Sequence[str], width: int) -> list[str]:
    """Wrap texts; list items get a hanging indent."""
    lines = []
    for text in map(readable, texts):
        indent = "  " if text.startswith(("- ", "→ ")) else ""
        lines += textwrap.wrap(
            text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [text]
    return lines


def _fact_lines(facts: Sequence[Fact], width: int) -> list[str]:
    """Render facts in aligned columns; only labels wrap."""
    cells = [
        None if fact.interval is None else tuple(map(readable_cell, fact.cells)) for fact in facts
    ]
    widths = [max((cell_len(row[k]) for row in cells if row), default=0) for k in range(4)]
    widths[0] = min(widths[0], max(width - INDENT - sum(widths[1:]) - 3 * (GAP - 1), NARROWEST))
    lines = []
    for fact, row in zip(facts, cells, strict=True):
        lines += (
            _row_lines(row, widths, "lrrl", GAP - 1)
            if row
            else _wrap([f"{fact.label}: {fact.value}"], width - INDENT)
        )
    return [" " * INDENT + line for line in lines]


def _table_lines(table: Table, width: int) -> list[str]:
    """Render a table: a rule below the header and below the rows that ask for one."""
    table = _fit(table, width)
    align = table.align[:-1] + "l" if table.words else table.align
    widths = _column_widths(table)
    excess = MARGIN + sum(widths) + GAP * (len(widths) - 1) - width
    if excess > 0:
        for k in sorted(
            (k for k, side in enumerate(align) if side == "l"), key=lambda k: -widths[k]
        ):
            narrow = min(widths[k], max(widths[k] - excess, NARROWEST))
            excess, widths[k] = excess - (widths[k] - narrow), narrow
    rule = "─" * (sum(widths) + GAP * (len(widths) - 1))
    lines = [*_row_lines(table.header, widths, align), rule] if any(table.header) else []
    for k, row in enumerate(table.rows):
        lines += _row_lines(row, widths, align)
        lines += [rule] if k in table.rules and k + 1 < len(table.rows) else []
    return [" " * MARGIN + line for line in lines] if any(table.header) else lines


def _row_lines(row: Sequence[str], widths: Sequence[int], align: str, gap: int = GAP) -> list[str]:
    """Render a row, on as many lines as its tallest cell has; text to the left wraps in its
    column."""
    cells = [
        (textwrap.wrap(cell, width) or [""])
        if side == "l" and cell_len(cell) > width
        else cell.split("\n")
        for cell, width, side in zip(row, widths, align, strict=True)
    ]
    lines = []
    for parts in zip_longest(*cells, fillvalue=""):
        pads = [" " * (width - cell_len(part)) for part, width in zip(parts, widths, strict=True)]
        texts = [
            part + pad if side == "l" else pad + part
            for part, pad, side in zip(parts, pads, align, strict=True)
        ]
        lines.append((" " * gap).join(texts).rstrip())
    return lines


def _fit(table: Table, width: int) -> Table:
    """Return the first form that fits: with bars, bare, without spare columns; else intervals are
    below figures."""
    bare, spare = _bare(table), table.spare
    forms = [_with_bars(table), *(_without_columns(bare, spare[:k]) for k in range(len(spare) + 1))]
    return next((form for form in forms if _width(form) <= width), _stack_intervals(forms[-1]))


def _column_widths(table: Table) -> list[int]:
    columns = zip(table.header, *table.rows, strict=True)
    return [
        max(cell_len(line) for cell in column for line in cell.split("\n")) for column in columns
    ]


def _width(table: Table) -> int:
    """Return the least width of a table with its margin; a column of sentences may wrap."""
    *widths, last = _column_widths(table)
    return (
        MARGIN + sum(widths) + (min(last, NARROWEST) if table.words else last) + GAP * len(widths)
    )


def _bare(table: Table) -> Table:
    """Return a table without bars, with readable cells."""
    rows = tuple(tuple(map(readable_cell, row)) for row in table.rows)
    return replace(table, header=tuple(map(readable_cell, table.header)), rows=rows, bars=())


def _with_bars(table: Table) -> Table:
    """Return a table with its bars as a column, and with readable cells."""
    bare = _bare(table)
    if not table.bars:
        return bare
    head, *bars = table.bars
    rows = tuple((*row, bar) for row, bar in zip(bare.rows, bars, strict=True))
    return replace(bare, header=(*bare.header, head), rows=rows, align=table.align + "l")


def bar_column(
    bars: Sequence[Estimate | None],
    width: int,
    label: str,
    ends: tuple[float, float] | None = None,
    marks: Sequence[float | None] = (),
) -> tuple[str, ...]:
    """Draw intervals and marks on a common axis: a header with its ends, by the format `label`, and
    a bar per row; empty if all values coincide."""
    values = [value for bar in bars if bar for value in (bar.low, bar.value, bar.high)]
    known = [value for value in (*values, *marks) if value is not None]
    least, most = ends or (min(known, default=0), max(known, default=0))
    if least == most:
        return ()
    left, right = format(least, label), format(most, label)
    places = zip(bars, marks or [None] * len(bars), strict=True)
    return (
        left + right.rjust(width - len(left)),
        *(interval_bar(bar, (least, most), width, mark) for bar, mark in places),
    )


def interval_bar(
    bar: Estimate | None, ends: tuple[float, float], width: int, mark: float | None = None
) -> str:
    """Draw an interval in characters on a common axis; without two ends its value is an open
    circle.

    >>> interval_bar(Estimate(2, 1, 3), (0, 4), 9)
    '  ├─●─┤  '
    >>> interval_bar(Estimate(2, 1, None), (0, 4), 9)
    '  ├─○    '
    >>> interval_bar(Estimate(2, 1, 3), (0, 4), 9, mark=4)
    '  ├─●─┤ ◇'
    """
    cells, (least, most) = [" "] * width, ends
    if bar is None:
        return "".join(cells)

    def place(value: float) -> int:
        return round((value - least) / (most - least) * (width - 1))

    value = place(bar.value)
    left = value if bar.low is None else place(bar.low)
    right = value if bar.high is None else place(bar.high)
    cells[left : right + 1] = ["─"] * (right + 1 - left)
    if bar.low is not None:
        cells[left] = "├"
    if bar.high is not None:
        cells[right] = "┤"
    cells[value] = "○" if bar.low is None or bar.high is None else "●"
    if mark is not None:
        cells[place(mark)] = "◆" if place(mark) == value else "◇"
    return "".join(cells)


def _stack_intervals(table: Table) -> Table:
    """Move intervals in brackets below their figures, and break the names of columns of figures at
    spaces."""
    names = [
        name.replace(" ", "\n") if side == "r" else name
        for name, side in zip(table.header, table.align, strict=True)
    ]
    tallest = max(name.count("\n") for name in names)
    header = [name + "\n" * (tallest - name.count("\n")) for name in names]
    rows = [
        tuple(
            cell.replace(" (", "\n(") if side == "r" else cell
            for cell, side in zip(row, table.align, strict=True)
        )
        for row in table.rows
    ]
    return replace(table, header=tuple(header), rows=tuple(rows))


def _without_columns(table: Table, names: Sequence[str]) -> Table:
    kept = [k for k, name in enumerate(table.header) if name not in names]
    header, *rows = (tuple(row[k] for k in kept) for row in (table.header, *table.rows))
    return replace(
        table, header=header, rows=tuple(rows), align="".join(table.align[k] for k in kept)
    )
