"""Render reports as HTML: a whole document, or a part for notebooks and pages.

Texts are escaped.
"""

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from podium.documents import register_html_writer
from podium.printable import printable
from podium.tables import Report, Section, Table

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The Content-Security-Policy of a document: no scripts and no requests."""
NAME_HEADER = "model"
"""Header of the column whose cells become row headers (`th`)."""


def html_text(reports: Sequence[Report]) -> str:
    """Render reports as a self-contained HTML document.

    Its title is the first sentence of an answer, or the first title, in the order of the reports.
    If no report has an answer or a title, it is `podium`.
    """
    texts = [text for report in reports for text in (*report.answer, report.title)]
    title = next(filter(None, texts), "podium")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape_html(title)}</title>"
        f"<style>{stylesheet()}</style></head>\n"
        f"<body><main>{html_part(reports)}</main></body></html>\n"
    )


def html_part(reports: Sequence[Report], heading: int = 2) -> str:
    """Render reports as HTML sections, each report with its answer first.

    Args:
        reports: the reports.
        heading: level of the heading of a report, for example 2 for `h2`. The headings of its
            further sections are one level lower.
    """
    parts = []
    for report in reports:
        answers = [f'<p class="answer">{escape_html(text)}</p>' for text in report.answer]
        main, *others = report.parts
        sections = [section_part(main, heading)]
        sections += [section_part(section, heading + 1) for section in others]
        parts.append("".join(answers) + "\n".join(sections))
    return "\n".join(parts)


def stylesheet() -> str:
    """Return the CSS of documents and pages, as text."""
    return files("podium.show.report").joinpath("report.css").read_text(encoding="utf-8")


def escape_html(text: str) -> str:
    """Return a text in which HTML shows markup and control characters as they are."""
    return escape(printable(text))


def table_part(table: Table) -> str:
    """Render a table as HTML with its legend, but without its bars.

    CSS classes align the columns and draw a line below the rows in `table.rules`. The cells of the
    column `model`, or else of the first column, are row headers.
    """
    attributes = ["" if letter == "l" else ' class="r"' for letter in table.align]
    if table.words:
        attributes[-1] = ' class="words"'
    header = "".join(
        f'<th scope="col"{attribute}>{escape_html(cell)}</th>'
        for cell, attribute in zip(table.header, attributes, strict=True)
    )
    name_column = table.header.index(NAME_HEADER) if NAME_HEADER in table.header else 0
    rows = []
    for k, row in enumerate(table.rows):
        cells = [
            _render_cell(cell, attribute, column == name_column)
            for column, (cell, attribute) in enumerate(zip(row, attributes, strict=True))
        ]
        row_attribute = ' class="cut"' if k in table.rules else ""
        rows.append(f"<tr{row_attribute}>{''.join(cells)}</tr>")
    head = f"<thead><tr>{header}</tr></thead>" if any(table.header) else ""
    caption = f"<caption>{escape_html(table.title)}</caption>" if table.title else ""
    legend = "".join(f'<p class="note">{escape_html(text)}</p>' for text in table.legend)
    body = f"<tbody>{''.join(rows)}</tbody>"
    box = '<div class="wide" tabindex="0" role="group" aria-label="table">'
    return f"{box}<table>{caption}{head}{body}</table></div>{legend}"


def section_part(section: Section, heading: int) -> str:
    """Render a section with its title as HTML.

    Args:
        section: the section.
        heading: level of its heading, for example 2 for `h2`.
    """
    title = f"<h{heading}>{escape_html(section.title)}</h{heading}>" if section.title else ""
    return f"<section>{title}{section_body(section)}</section>"


def section_body(section: Section) -> str:
    """Render a section's tables, notes and warnings as HTML, without its title.

    Facts come first, as a table.
    """
    tables = "".join(map(table_part, (*section.fact_tables, *section.tables)))
    return tables + notes_part(section.notes) + notes_part(section.warnings, "note warning")


def notes_part(notes: Sequence[str], kind: str = "note") -> str:
    """Render notes as HTML paragraphs; `kind` is their CSS class."""
    return "".join(f'<p class="{kind}">{escape_html(note)}</p>' for note in notes)


def _render_cell(text: str, attribute: str, is_name: bool) -> str:
    """Render a cell as HTML.

    Args:
        text: the cell's text.
        attribute: class attribute of the cell, with a space in front; empty if it has none.
        is_name: whether it is a row header.
    """
    tag = 'th scope="row"' if is_name else "td"
    return f"<{tag}{attribute}><bdi>{escape_html(text)}</bdi></{tag[:2]}>"


register_html_writer(html_part)
