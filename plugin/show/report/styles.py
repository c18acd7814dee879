"""The styles in which results are written; a writer is imported when it is used, as `podium --help`
loads this file."""

from collections.abc import Callable, Sequence
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeAlias

from podium.errors import UsageError
from podium.printable import escape_cells
from podium.storage.remote import Place

if TYPE_CHECKING:
    from podium.tables import Report

View: TypeAlias = Callable[[Any], "Sequence[Report]"]
"""From figures to what is shown of them."""
STYLES = {
    "table": ".txt",
    "json": ".json",
    "csv": ".csv",
    "md": ".md",
    "html": ".html",
    "latex": ".tex",
}
"""All styles, each with the suffix that asks for it."""
WRITERS = {
    "table": "podium.show.report.terminal:terminal_text",
    "md": "podium.show.report.markup:markdown_text",
    "html": "podium.show.report.html:html_text",
    "latex": "podium.show.report.markup:latex_text",
}
"""Styles of reports: functions from reports to text."""
PICTURES = (".svg", ".png", ".pdf")
"""Suffixes of figures."""


def suffix_style(output: Place | None) -> str:
    """Return the output style of a file suffix; `table` without a file."""
    if output is None or not output.suffix:
        return "table"
    styles = {suffix: style for style, suffix in STYLES.items()}
    if output.suffix not in styles:
        raise UsageError(
            f"cannot tell the format from {output.name!r}: use {', '.join(styles)}, or pass --format"
        )
    return styles[output.suffix]


def styled_text(figures: Any, style: str, view: View) -> str:
    """Render results in a style: json, csv, or one of `WRITERS` from the reports of a view."""
    if style == "json":
        return figures.to_json() + "\n"
    if style == "csv":
        return escape_cells(figures.to_frame()).to_csv(index=False)
    return resolve_name(WRITERS[style])(view(figures))
