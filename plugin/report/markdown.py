"""Render reports as Markdown, without interval bars; markup in texts is escaped."""

import re
from collections.abc import Sequence
from dataclasses import replace

from podium.printable import printable
from podium.report.model import Report, ReportLayout, Section, Table

MARKUP = re.compile(r"[\\`*<\[|]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that Markdown reads as markup; an underscore inside a word is none."""
RULE = {"l": "---", "r": "---:"}


def markdown_text(reports: Sequence[Report]) -> str:
    """Render reports as Markdown."""
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
    return [*lines, "", *(f"{literal(note)}  " for note in section.notes)]


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
    lines += [f"- {literal(note)}" for note in section.notes]
    return [*lines, ""] if section.notes else lines


def _facts(section: Section) -> list[str]:
    """Render facts as a table."""
    return [line for table in section.fact_tables for line in ("", *table_lines(replace(table, align="lrrr")))]
