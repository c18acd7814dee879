"""Output styles: functions from reports to text, each a line of `WRITERS` and, with its suffix, of `styles.REPORTS`."""

from collections.abc import Callable, Sequence
from typing import Any

from podium.errors import UsageError
from podium.printable import escape_cells
from podium.report.html import html_text
from podium.report.markup import latex_text, markdown_text
from podium.report.model import Report
from podium.report.styles import SUFFIXES
from podium.report.terminal import terminal_text
from podium.storage.remote import Place

WRITERS: dict[str, Callable[[Sequence[Report], bool], str]] = {
    "table": terminal_text,
    "md": lambda reports, _: markdown_text(reports),
    "html": lambda reports, _: html_text(reports),
    "latex": lambda reports, _: latex_text(reports),
}
"""From reports, and whether they go to a terminal, to text."""


def suffix_style(output: Place | None) -> str:
    """Return the output style of a file suffix; `table` without a file."""
    if output is None or not output.suffix:
        return "table"
    if output.suffix not in SUFFIXES:
        raise UsageError(f"cannot tell the format from {output.name!r}: use {', '.join(SUFFIXES)}, or pass --format")
    return SUFFIXES[output.suffix]


def styled_text(figures: Any, style: str, view: Callable[[Any], Sequence[Report]], terminal: bool = False) -> str:
    """Render results in a style: json, csv, or one of `WRITERS` from the reports of a view."""
    if style == "json":
        return figures.to_json() + "\n"
    if style == "csv":
        return escape_cells(figures.to_frame()).to_csv(index=False)
    return WRITERS[style](view(figures), terminal)
