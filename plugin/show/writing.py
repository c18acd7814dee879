"""Write results to stdout or a file, messages to stderr, and charts to a file."""

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from podium.printable import escape_cells, tell
from podium.rankers.ranking import Ranking
from podium.show.pictures.style import save
from podium.show.report.github_comment import github_text
from podium.show.report.html import html_text
from podium.show.report.markup import latex_text, markdown_text
from podium.show.report.ranking_view import (
    messages_on_hidden_tables,
    ranking_messages,
    shown_reports,
)
from podium.show.report.styles import Destination, View
from podium.show.report.terminal import terminal_text
from podium.storage.atomic_files import write_text
from podium.tables import Report

WRITERS: dict[str, Callable[[Sequence[Report]], str]] = {
    "table": terminal_text,
    "md": markdown_text,
    "github": github_text,
    "html": html_text,
    "latex": latex_text,
}
"""Functions that write reports as text, by style."""


def usual_reports(result: Any) -> Sequence[Report]:
    """Return what the method `reports` of a result gives, as a tuple."""
    return tuple(result.reports())


def write_ranking(ranking: Ranking, destination: Destination) -> None:
    """Write a ranking and its chart, with its warnings and failures on stderr.

    On stdout, `shown_reports` chooses the tables. Files have all tables. Only the style `table` (or
    none) without a file has the chosen tables.
    """
    messages = ranking_messages(ranking)
    view: View = usual_reports
    if destination.output is None and destination.style in (None, "table"):
        view = shown_reports
        messages += messages_on_hidden_tables(ranking)
    write_result(ranking, destination, messages=messages, view=view)


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
    """
    for message in messages:
        tell(message)
    style = destination.style or "table"
    output = destination.output
    if output is None and style == "table":
        print_reports(view(result))
    elif output is None:
        sys.stdout.write(styled_text(result, style, view))
    else:
        write_text(output, styled_text(result, style, view), errors="backslashreplace")
        tell(f"wrote {output}")
    if destination.figure is not None:
        save(result.plot(), destination.figure)
        tell(f"wrote {destination.figure}")


def styled_text(result: Any, style: str, view: View = usual_reports) -> str:
    """Render a result as text in a style.

    `style` is `json`, a style in `WRITERS`, or anything else for CSV. The styles in `WRITERS`
    render the reports that `view` makes. In CSV, cells that a spreadsheet would take for formulas
    are escaped.
    """
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
