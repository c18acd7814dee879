"""A ranking as a table, JSON, CSV or Markdown."""

import shutil
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table

from podium.cli.picture import interval_bar
from podium.ranking import Entry, Ranking, Standings

PLAIN_WIDTH = 120
"""Columns of a table that does not go to a terminal."""
PICTURE_WIDTH = 28
STYLES = {".json": "json", ".csv": "csv", ".md": "md"}
EMPTY = "–"


def suffix_style(output: Path | None) -> str:
    """Return the style that a file's suffix asks for; `table` without one."""
    return STYLES.get(output.suffix, "table") if output else "table"


def announce(ranking: Ranking) -> None:
    """Write warnings and failures to stderr."""
    for one in ranking.standings:
        for warning in one.warnings:
            click.echo(f"podium: warning: {_name(one)}: {warning}", err=True)
    for failure in ranking.failures:
        click.echo(f"podium: not ranked: {failure}", err=True)


def write(ranking: Ranking, style: str, output: Path | None) -> None:
    """Write the ranking to a file, or to stdout."""
    if output is None:
        text = as_text(ranking, style, sys.stdout.isatty())
        sys.stdout.write(text)
        return
    output.write_text(as_text(ranking, style, False), encoding="utf-8")
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
    console = Console(file=buffer, width=width, force_terminal=terminal, highlight=False)
    for one in ranking.standings:
        console.print(_table(one, width), soft_wrap=False)
        console.print(_denominators(one), style="dim", markup=False)
        console.print()
    return buffer.getvalue()


def _widest(one: Standings) -> int:
    """Return the width below which a row would be cut."""
    header, rows = _cells(one)
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    return sum(widths) + 3 * len(widths) + 1


def _table(one: Standings, width: int) -> Table:
    table = Table(title=_title(one), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    header, rows = _cells(one)
    pictures = _pictures(one) if _widest(one) + PICTURE_WIDTH + 3 <= width else None
    for k, name in enumerate(header):
        table.add_column(name, justify="left" if k == 1 else "right", no_wrap=True)
    if pictures:
        table.add_column(_axis(one), no_wrap=True)
    for k, row in enumerate(rows):
        table.add_row(*row, *([pictures[k]] if pictures else []))
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
    return "Elo" if one.scale == "elo" else one.scale


def _row(entry: Entry, digits: int, with_rate: bool, extra: Sequence[str]) -> list[str]:
    interval = f"{_number(entry.low, digits)} … {_number(entry.high, digits)}"
    ranks = EMPTY if entry.rank_low is None else f"{entry.rank_low}–{entry.rank_high}"
    return [
        str(entry.rank) if entry.score is not None else EMPTY,
        entry.model + (" *" if entry.separated else ""),
        _number(entry.score, digits),
        EMPTY if entry.low is None and entry.high is None else interval,
        _number(entry.se, digits),
        ranks,
        f"{entry.battles:,}",
        *([_number(entry.win_rate, 3)] if with_rate else []),
        *(_number(entry.extra[name], 3 if name != "pairs" else 0) for name in extra),
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
    interval = f"{one.level:.0%} intervals: {one.interval}" if one.interval else "no interval"
    return f"{_name(one)} · {interval}"


def _name(one: Standings) -> str:
    return one.ranker if one.slice is None else f"{one.ranker} [{one.slice}]"


def _denominators(one: Standings) -> str:
    counts = one.counts
    missing = "" if counts.missing is None else f", {counts.missing:,} missing"
    sided = f" ({counts.one_sided:,} with one order unread)" if counts.one_sided else ""
    text = (
        f"{counts.items:,} items, {counts.presentations:,} presentations, {counts.battles:,} battles: "
        f"{counts.judged:,} judged, {counts.unread:,} unread{sided}{missing}"
    )
    swap = one.diagnostics.get("swap")
    if swap and (readable := swap["same"] + swap["half"] + swap["flip"]):
        same, half, flip = (f"{swap[name] / readable:.1%}" for name in ("same", "half", "flip"))
        text += f"\norder swapped: same verdict {same}, one tie {half}, flip {flip} of {readable:,}"
    if one.fit.separated:
        text += "\n* separated: the data do not bound this rating"
    return text


def _markdown(one: Standings) -> str:
    header, rows = _cells(one)
    lines = [f"**{_title(one)}**", "", "| " + " | ".join(header) + " |"]
    lines.append("|" + "|".join("---" if k == 1 else "---:" for k in range(len(header))) + "|")
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([*lines, "", *(f"{line}  " for line in _denominators(one).splitlines())]) + "\n"
