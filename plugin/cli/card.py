"""A judge card as a table, JSON or Markdown."""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Literal

import click
from rich import box
from rich.cells import cell_len
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from podium.cli.printable import printable
from podium.cli.tables import literal, width_of
from podium.diagnosis.answer import Figure, Grid, Missing, Row
from podium.diagnosis.card import ACROSS, SECTIONS, Card, Diagnosis, Said
from podium.diagnosis.wording import EMPTY, ends, made_of, number

PLAIN_WIDTH = 120
NARROW = 100
"""Columns below which the number of items is left out of the rows; the title of the card says it."""
INDENT = 2
GAP = 2
SHORTEST_LABEL = 20
FEWEST_WORDS = 20
"""Columns that words get beside figures."""
MOST_REASONS = 4
Block = tuple[str, Said]
"""A title and what was said under it."""


def announce(found: Diagnosis) -> None:
    """Write warnings to stderr."""
    for warning in found.warnings:
        click.echo(printable(f"podium: warning: {warning}"), err=True)


def write(found: Diagnosis, style: str, output: Path | None) -> None:
    """Write the cards to a file, or to stdout."""
    if output is None:
        sys.stdout.write(as_text(found, style, sys.stdout.isatty()))
        return
    output.write_text(as_text(found, style), encoding="utf-8", errors="backslashreplace")
    click.echo(f"podium: wrote {output}", err=True)


def as_text(found: Diagnosis, style: str, terminal: bool = False) -> str:
    """Return the cards in one of the styles table, json, md."""
    if style == "json":
        return json.dumps(found.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if style == "md":
        return "\n".join(_markdown(*part) for part in _parts(found))
    return _tables(found, terminal)


def _parts(found: Diagnosis) -> Iterator[tuple[str, str, list[Block]]]:
    """Yield title, denominators and blocks of every card, and of what is said of all judges together."""
    for card in found.cards:
        yield _title(card, found.level), _denominators(card), _blocks(SECTIONS, card.answers)
    blocks = _blocks(ACROSS, found.across)
    if any(not isinstance(said, Missing) for _, said in blocks) or (blocks and len(found.cards) > 1):
        yield "all judges", "", blocks


def _blocks(sections: Sequence, answers: Mapping[str, Said]) -> list[Block]:
    return [(section.title, answers[section.name]) for section in sections]


def _title(card: Card, level: float) -> str:
    judge = printable(card.subject.judge) if card.subject.judge else "judge not named"
    return f"judge card · {judge} · {100 * level:.10g}% intervals"


def _denominators(card: Card) -> str:
    battles = card.subject.battles
    counts, reasons = battles.counts(), list(battles.unread_reasons().items())
    shown = [f"{printable(reason)}: {times:,}" for reason, times in reasons[:MOST_REASONS]]
    more = sum(times for _, times in reasons[MOST_REASONS:])
    why = f" ({', '.join([*shown, *([f'other: {more:,}'] if more else [])])})" if reasons else ""
    return (
        f"{len(battles.entrants)} entrants, {counts.items:,} items, {counts.presentations:,} presentations, "
        f"{counts.battles:,} battles: {counts.judged:,} judged, {counts.unread:,} unread{why}"
    )


def _tables(found: Diagnosis, terminal: bool) -> str:
    width = shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns if terminal else PLAIN_WIDTH
    buffer = StringIO()
    # Styles go only to a terminal, and not where NO_COLOR is set: rich would still write bold.
    styled = terminal and not os.environ.get("NO_COLOR")
    console = Console(file=buffer, width=width, force_terminal=styled, highlight=False, markup=False, emoji=False)
    for title, denominators, blocks in _parts(found):
        _print(console, title, denominators, blocks)
    lines = [line.rstrip() for line in buffer.getvalue().splitlines()]
    return "".join(f"{line}\n" for line, before in zip(lines, ["", *lines], strict=False) if line or before)


def _print(console: Console, title: str, denominators: str, blocks: Sequence[Block]) -> None:
    console.print(Text(title, style="bold"))
    if denominators:
        console.print(Text(denominators, style="dim"))
    console.print()
    for heading, said in blocks:
        if isinstance(said, Missing):
            continue
        console.print(Text(heading, style="bold"))
        console.print(_lines(said.rows(), console.width))
        for grid in said.grids():
            _print_grid(console, grid)
        console.print()
    _print_remarks(console, blocks)


def _lines(rows: Sequence[Row], width: int) -> Group:
    """Align figures in columns, and write facts in words across them."""
    cells = [None if isinstance(row.value, str) else _cells(row, width >= NARROW) for row in rows]
    widths = [max((cell_len(line[k]) for line in cells if line), default=0) for k in range(4)]
    room = width - INDENT - sum(widths[1:]) - 3 * GAP
    widths[0] = min(widths[0], max(room, SHORTEST_LABEL))
    parts = [_fact(row) if line is None else _aligned(line, widths) for row, line in zip(rows, cells, strict=True)]
    return Group(*(Padding(part, (0, 0, 0, INDENT)) for part in parts))


def _fact(row: Row) -> Text:
    return Text(f"{printable(row.label)}: {printable(str(row.value))}")


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> Table:
    """Return one line; only the label may wrap."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, GAP, 0, 0))
    for k, width in enumerate(widths):
        table.add_column(width=width, justify="right" if k in (1, 2) else "left", no_wrap=k > 0)
    table.add_row(*map(Text, cells))
    return table


def _cells(row: Row, items: bool) -> tuple[str, str, str, str]:
    """Return label, estimate, interval and denominator; a dash where the answer is missing."""
    label, value = printable(row.label), row.value
    if isinstance(value, str):
        return label, printable(value), "", ""
    if isinstance(value, Missing):
        return label, EMPTY, "", ""
    size = made_of(value) if items else f"{value.n:,} {value.of}"
    return label, number(value), ends(value), size


def _print_grid(console: Console, grid: Grid) -> None:
    """Print a table; one that is too wide breaks its cells between words, and cuts no number."""
    rows = [[printable(cell) for cell in row] for row in grid.rows]
    figures = len(grid.header) - grid.words
    width = width_of(list(grid.header[:figures]), [row[:figures] for row in rows]) + FEWEST_WORDS * grid.words
    fits = width + INDENT <= console.width
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for k, name in enumerate(grid.header):
        side: Literal["left", "right"] = "right" if 0 < k < figures else "left"
        table.add_column(Text(printable(name)), justify=side, no_wrap=fits and k < figures, overflow="fold")
    for row in rows:
        broken = [cell.replace(" (", "\n(") if 0 < k < figures and not fits else cell for k, cell in enumerate(row)]
        table.add_row(*map(Text, broken))
    console.print()
    if grid.title:
        console.print(Padding(Text(printable(grid.title)), (0, 0, 0, INDENT)))
    console.print(Padding(table, (0, 0, 0, 1)))


def _print_remarks(console: Console, blocks: Sequence[Block]) -> None:
    for heading, lines in (("not answered", _unanswered(blocks)), ("how the intervals are made", _methods(blocks))):
        if lines:
            console.print(Text(heading, style="bold"))
            for line in lines:
                console.print(Padding(Text(line), (0, 0, 0, INDENT)))
            console.print()


def _unanswered(blocks: Sequence[Block]) -> list[str]:
    """Say once for every reason which lines it leaves empty, and what would fill them."""
    told: dict[tuple[str, str], list[str]] = {}
    for heading, said in blocks:
        lacking = [(heading, said)] if isinstance(said, Missing) else [(row.label, row.value) for row in said.rows()]
        for label, value in lacking:
            if isinstance(value, Missing):
                told.setdefault((value.why, value.remedy), []).append(printable(label.strip()))
    return [
        f"{'; '.join(dict.fromkeys(labels))}: {printable(why)}" + (f". Remedy: {printable(remedy)}" if remedy else "")
        for (why, remedy), labels in told.items()
    ]


def _methods(blocks: Sequence[Block]) -> list[str]:
    """Say once for every method which lines it made."""
    told: dict[str, list[str]] = {}
    for _, said in blocks:
        for row in () if isinstance(said, Missing) else said.rows():
            if isinstance(row.value, Figure):
                told.setdefault(row.value.method, []).append(printable(row.label.strip()))
    return [f"{method}: {'; '.join(dict.fromkeys(labels))}" for method, labels in told.items()]


def _markdown(title: str, denominators: str, blocks: Sequence[Block]) -> str:
    """Return one card as Markdown; what Markdown would read as markup is escaped."""
    lines = [f"## {literal(title)}", "", *([literal(denominators), ""] if denominators else [])]
    for heading, said in blocks:
        if isinstance(said, Missing):
            continue
        rows = [_cells(row, items=True) for row in said.rows()]
        lines += [f"### {literal(printable(heading))}", "", *_piped(("", "estimate", "interval", "of"), rows), ""]
        for grid in said.grids():
            titled = [literal(printable(grid.title)), ""] if grid.title else []
            lines += [*titled, *_piped(grid.header, grid.rows), ""]
    for heading, told in (("not answered", _unanswered(blocks)), ("how the intervals are made", _methods(blocks))):
        if told:
            lines += [f"### {heading}", "", *(f"- {literal(line)}" for line in told), ""]
    return "\n".join(lines)


def _piped(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    first, *others = ["| " + " | ".join(literal(printable(cell)) for cell in row) + " |" for row in [header, *rows]]
    return [first, "|---|" + "---:|" * (len(header) - 1), *others]
