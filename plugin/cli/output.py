"""A ranking as a table, JSON, CSV or Markdown."""

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path

import click
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from podium.cli.picture import interval_bar
from podium.cli.printable import printable
from podium.errors import UsageError
from podium.merging import ONE_ORDER_UNREAD
from podium.ranking import Entry, Ranking, Standings

PLAIN_WIDTH = 120
"""Columns of a table that does not go to a terminal."""
PICTURE_WIDTH = 28
STYLES = {".json": "json", ".csv": "csv", ".md": "md", ".txt": "table"}
EMPTY = "–"
MOST_REASONS = 4
MARKDOWN = re.compile(r"[\\`*<\[|]|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown would not show as it is; an underscore inside a word it does."""


def suffix_style(output: Path | None) -> str:
    """Return the style that a file's suffix asks for; `table` without a file or a suffix.

    Raises:
        UsageError: the suffix is of none of the styles.
    """
    if output is None or not output.suffix:
        return "table"
    if output.suffix not in STYLES:
        raise UsageError(f"cannot tell the format from {output.name!r}: use {', '.join(STYLES)}, or pass --format")
    return STYLES[output.suffix]


def announce(ranking: Ranking) -> None:
    """Write warnings and failures to stderr; a warning that several standings share is written once."""
    told: dict[str, list[str]] = {}
    for one in ranking.standings:
        for warning in dict.fromkeys(one.warnings):
            told.setdefault(warning, []).append(_name(one))
    for warning, names in told.items():
        whose = "" if len(names) == len(ranking.standings) else f"{', '.join(names)}: "
        click.echo(printable(f"podium: warning: {whose}{warning}"), err=True)
    for failure in ranking.failures:
        click.echo(printable(f"podium: not ranked: {failure}"), err=True)


def write(ranking: Ranking, style: str, output: Path | None) -> None:
    """Write the ranking to a file, or to stdout."""
    if output is None:
        sys.stdout.write(as_text(ranking, style, sys.stdout.isatty()))
        return
    output.write_text(as_text(ranking, style), encoding="utf-8", errors="backslashreplace")
    click.echo(f"podium: wrote {output}", err=True)


def as_text(ranking: Ranking, style: str, terminal: bool = False) -> str:
    """Return the ranking in one of the styles table, json, csv, md."""
    if style == "json":
        return ranking.to_json() + "\n"
    if style == "csv":
        return ranking.to_frame().to_csv(index=False)
    if style == "md":
        return "\n".join(_markdown(one) for one in ranking.standings)
    return _tables(ranking, terminal)


def _tables(ranking: Ranking, terminal: bool) -> str:
    width = shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns if terminal else PLAIN_WIDTH
    width = max(width, *(_widest(one) for one in ranking.standings))
    buffer = StringIO()
    # Styles go only to a terminal, and not where NO_COLOR is set: rich would still write bold.
    styled = terminal and not os.environ.get("NO_COLOR")
    console = Console(file=buffer, width=width, force_terminal=styled, highlight=False, markup=False, emoji=False)
    for one in ranking.standings:
        console.print(Text(_title(one), style="bold"), soft_wrap=True)
        console.print(_table(one, width), soft_wrap=False)
        console.print(Text(_denominators(one), style="dim"), soft_wrap=True)
        console.print()
    return "".join(f"{line.rstrip()}\n" for line in buffer.getvalue().splitlines())


def _widest(one: Standings) -> int:
    """Return the width below which a row would be cut; a Chinese character takes two columns."""
    header, rows = _cells(one)
    widths = [max(cell_len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    return sum(widths) + 3 * len(widths) + 1


def _table(one: Standings, width: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    header, rows = _cells(one)
    pictures = _pictures(one) if _widest(one) + PICTURE_WIDTH + 3 <= width else None
    # Cells are `Text`: rich would read a plain string's [brackets] as markup.
    for k, name in enumerate(header):
        table.add_column(Text(name), justify="left" if k == 1 else "right", no_wrap=True)
    if pictures:
        table.add_column(_axis(one), no_wrap=True)
    for k, row in enumerate(rows):
        table.add_row(*map(Text, row), *([Text(pictures[k])] if pictures else []))
    return table


def _cells(one: Standings) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a ranking as text."""
    extra = list(one.entries[0].extra) if one.entries else []
    rates = [] if one.scale == "win rate" else ["win rate"]
    header = ["rank", "model", _scale(one), "interval", "se", "rank set", "battles", *rates]
    digits = 1 if one.scale == "elo" else 3
    rows = [_row(entry, digits, bool(rates), extra) for entry in one.entries]
    return [*header, *(name.replace("_", " ") for name in extra)], rows


def _scale(one: Standings) -> str:
    return "Elo" if one.scale == "elo" else printable(one.scale)


def _row(entry: Entry, digits: int, with_rate: bool, extra: Sequence[str]) -> list[str]:
    interval = f"{_number(entry.low, digits)} … {_number(entry.high, digits)}"
    ranks = EMPTY if entry.rank_low is None else f"{entry.rank_low}–{entry.rank_high}"
    return [
        str(entry.rank) if entry.score is not None else EMPTY,
        printable(entry.model) + (" *" if entry.separated else ""),
        _number(entry.score, digits),
        EMPTY if entry.low is None and entry.high is None else interval,
        _number(entry.se, digits),
        ranks,
        f"{entry.battles:,}",
        *([_number(entry.win_rate, 3)] if with_rate else []),
        *(_number(entry.extra.get(name), 3 if name != "pairs" else 0) for name in extra),
    ]


def _number(value: float | None, digits: int) -> str:
    return EMPTY if value is None else f"{value:,.{digits}f}" if digits == 0 else f"{value:.{digits}f}"


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


def _title(one: Standings) -> str:
    interval = f"{100 * one.level:.10g}% intervals: {one.interval}" if one.interval else "no interval"
    return f"{_name(one)} · {interval}"


def _name(one: Standings) -> str:
    return one.ranker if one.slice is None else f"{one.ranker} [{printable(one.slice)}]"


def _denominators(one: Standings) -> str:
    counts, reasons = one.counts, one.diagnostics.get("unread_reasons", {})
    why = f" ({_reasons(reasons)})" if reasons else ""
    kept = counts.one_sided - reasons.get(ONE_ORDER_UNREAD, 0)
    halves = f", {kept:,} of them in one order only" if kept else ""
    missing = "" if counts.missing is None else f", {counts.missing:,} missing"
    text = (
        f"{counts.items:,} items, {counts.presentations:,} presentations, {counts.battles:,} battles: "
        f"{counts.judged:,} judged{halves}, {counts.unread:,} unread{why}{missing}"
    )
    swap = one.diagnostics.get("swap")
    if swap and (readable := swap["same"] + swap["half"] + swap["flip"]):
        same, half, flip = (f"{swap[name] / readable:.1%}" for name in ("same", "half", "flip"))
        text += f"\norder swapped: same verdict {same}, one tie {half}, flip {flip} of {readable:,}"
    if one.fit.separated:
        text += "\n* separated: the data do not bound this rating"
    return text


def _reasons(reasons: Mapping[str, int]) -> str:
    """Return the most frequent reasons with their counts."""
    shown = [f"{printable(reason)}: {number:,}" for reason, number in list(reasons.items())[:MOST_REASONS]]
    more = sum(list(reasons.values())[MOST_REASONS:])
    return ", ".join([*shown, *([f"other: {more:,}"] if more else [])])


def _markdown(one: Standings) -> str:
    header, rows = _cells(one)
    lines = [f"**{_literal(_title(one))}**", "", "| " + " | ".join(map(_literal, header)) + " |"]
    lines.append("|" + "|".join("---" if k == 1 else "---:" for k in range(len(header))) + "|")
    lines += ["| " + " | ".join(map(_literal, row)) + " |" for row in rows]
    return "\n".join([*lines, "", *(f"{_literal(line)}  " for line in _denominators(one).splitlines())]) + "\n"


def _literal(text: str) -> str:
    """Escape what Markdown would read as markup."""
    return MARKDOWN.sub(lambda sign: f"\\{sign[0]}", text)
