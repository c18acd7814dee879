"""Reports as Markdown; what Markdown would read as markup is escaped, and pictures of single rows are left out."""

import re
from collections.abc import Sequence
from dataclasses import replace

from podium.printable import printable
from podium.report.drawing import PLAIN_WIDTH, figure_lines
from podium.report.model import Figure, Report, ReportLayout, Section, Table

MARKUP = re.compile(r"[\\`*<\[|]|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown would not show as it is; an underscore inside a word it does."""
RULE = {"l": "---", "r": "---:"}


def markdown_text(reports: Sequence[Report]) -> str:
    """Write reports as Markdown."""
    return "\n".join(_card(report) if report.form is ReportLayout.CARD else _leaf(report) for report in reports)


def literal(text: str) -> str:
    """Escape Markdown markup."""
    return MARKUP.sub(lambda sign: f"\\{sign[0]}", printable(text))


def table_lines(table: Table) -> list[str]:
    """Return the lines of a table, without its title."""
    header, *rows = ["| " + " | ".join(map(literal, row)) + " |" for row in (table.header, *table.rows)]
    return [header, "|" + "".join(f"{RULE[letter]}|" for letter in table.align), *rows]


def _leaf(report: Report) -> str:
    """Render a flat report: bold titles, one line per note."""
    answer = [f"{' '.join(map(literal, report.answer))}\n"] if report.answer else []
    parts = ["\n".join(_part(section)) for section in report.parts]
    if report.form is ReportLayout.SHEET:
        parts = [part.rstrip() for part in parts]
    return "\n".join([*answer, "\n\n".join(parts)]) + "\n"


def _part(section: Section) -> list[str]:
    """Render a section as lines."""
    lines = [f"**{literal(section.title)}**", *_facts(section)]
    for table in section.tables:
        lines += ["", *table_lines(table)]
        lines += [part for text in table.legend for part in ("", literal(text))]
    return [*lines, *_figure_block(section.figures), "", *(f"{literal(note)}  " for note in section.notes)]


def _card(report: Report) -> str:
    """Render a judge card: headings, notes as lists."""
    lines = [*(f"{literal(text)}\n" for text in report.answer), f"## {literal(report.title)}", ""]
    lines += [part for note in report.notes for part in (literal(note), "")]
    lines += [*table_lines(report.table), ""] if report.table else []
    return "\n".join([*lines, *(line for section in report.sections for line in _section(section))])


def _section(section: Section) -> list[str]:
    """Render one section of a card as lines."""
    lines = [f"### {literal(section.title)}", *_facts(section), ""]
    for table in section.tables:
        lines += [*([literal(table.title), ""] if table.title else []), *table_lines(table), ""]
    lines += [*_figure_block(section.figures), *(f"- {literal(note)}" for note in section.notes)]
    return [*lines, ""] if section.notes else lines


def _facts(section: Section) -> list[str]:
    """Render facts as a table."""
    return [line for table in section.fact_tables for line in ("", *table_lines(replace(table, align="lrrr")))]


def _figure_block(figures: Sequence[Figure]) -> list[str]:
    """Render figures as a code block."""
    return ["", "```", *figure_lines(figures, PLAIN_WIDTH), "```"] if figures else []
