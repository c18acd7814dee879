"""Write results to stdout or a file, messages to stderr, and charts to a file."""

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from podium.printable import escape_cells, tell
from podium.show.pictures.style import save
from podium.show.report.github_comment import github_text
from podium.show.report.html import html_text
from podium.show.report.markup import latex_text, markdown_text
from podium.show.report.styles import Destination, View
from podium.show.report.terminal import terminal_text
from podium.storage.atomic_files import write_text
from podium.tables import Report

WRITERS: dict[str, Callable[[Sequence[Report]], str]] = {
    "md": markdown_text,
    "github": github_text,
    "html": html_text,
    "latex": latex_text,
}
"""Functions that write reports as text, by style; without `table`, which `terminal_text` writes."""


def usual_reports(result: Any) -> Sequence[Report]:
    """Return what the method `reports` of a result gives, as a tuple."""
    return tuple(result.reports())


def write_result(
    result: Any,
    destination: Destination,
    *,
    messages: Iterable[str] = (),
    view: View = usual_reports,
) -> None:
    """Write a result, and its chart if one is asked for.

    Args:
        result: the result. For the style `json` its method `to_json` writes it, for `csv`
            `to_frame`, and for all other styles `view`. Its method `plot` draws the chart.
        destination: file, style and file of the chart. Without a file, the result is written to
            stdout.
        messages: lines that are written to stderr first.
        view: makes the reports that show the result.

    Raises:
        OSError: a file cannot be written.
        UsageError: a library for charts is not installed, or nothing can be written to a remote
            place.
        DataError: the store of a remote place cannot be reached.
    """
    for message in messages:
        tell(message)
    style = destination.style or "table"
    output = destination.output
    is_terminal = output is None and sys.stdout.isatty()
    text = styled_text(result, style, view, is_terminal=is_terminal)
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_text(output, text, errors="backslashreplace")
        tell(f"wrote {output}")
    if destination.figure is not None:
        save(result.plot(), destination.figure)
        tell(f"wrote {destination.figure}")


def styled_text(
    result: Any, style: str, view: View = usual_reports, *, is_terminal: bool = False
) -> str:
    """Render a result as text in a style.

    In CSV, cells that a spreadsheet would take for formulas are escaped.

    Args:
        result: the result.
        style: `table`, `json`, a style in `WRITERS`, or anything else for CSV.
        view: makes the reports that `table` and the styles in `WRITERS` render.
        is_terminal: whether a terminal shows the text, so that a table has colours and bold.
    """
    if style == "table":
        return terminal_text(view(result), is_terminal)
    if style in WRITERS:
        return WRITERS[style](view(result))
    if style == "json":
        return str(result.to_json()) + "\n"
    return escape_cells(result.to_frame()).to_csv(index=False)


def print_reports(reports: Sequence[Report]) -> None:
    """Write reports to stdout as plain text, and flush.

    The text has colours and bold only if stdout is a terminal.
    """
    sys.stdout.write(terminal_text(reports, sys.stdout.isatty()))
    sys.stdout.flush()
