"""A ranking as a table, JSON, CSV or Markdown."""

import os
import shutil
import sys
from io import StringIO
from pathlib import Path

import click
from rich.console import Console

from podium.cli.printable import printable
from podium.cli.tables import markdown, print_table, widest
from podium.cli.wording import name_of
from podium.errors import UsageError
from podium.ranking import Ranking

PLAIN_WIDTH = 120
"""Columns of a table that does not go to a terminal."""
STYLES = {".json": "json", ".csv": "csv", ".md": "md", ".txt": "table"}


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
            told.setdefault(warning, []).append(name_of(one))
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
        return "\n".join(markdown(one) for one in ranking.standings)
    return _tables(ranking, terminal)


def _tables(ranking: Ranking, terminal: bool) -> str:
    width = shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns if terminal else PLAIN_WIDTH
    width = width if terminal else max(width, *(widest(one) for one in ranking.standings))
    buffer = StringIO()
    # Styles go only to a terminal, and not where NO_COLOR is set: rich would still write bold.
    styled = terminal and not os.environ.get("NO_COLOR")
    console = Console(file=buffer, width=width, force_terminal=styled, highlight=False, markup=False, emoji=False)
    for one in ranking.standings:
        print_table(one, console, width)
    return "".join(f"{line.rstrip()}\n" for line in buffer.getvalue().splitlines())
