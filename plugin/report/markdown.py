"""Render reports as Markdown, without interval bars; markup in texts is escaped."""

import re
from collections.abc import Sequence

from podium.printable import printable
from podium.report.model import Report, Table

MARKUP = re.compile(r"[\\`*<\[|]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that Markdown reads as markup; an underscore inside a word is none."""
RULE = {"l": "---", "r": "---:"}


def markdown_text(reports: Sequence[Report]) -> str:
    """Render reports as Markdown."""
    texts = []
    for report in reports:
        blocks = [" ".join(map(literal, report.answer))]
        for section in report.parts:
            blocks += [f"**{literal(section.title)}**"] if section.title else []
            for table in (*section.fact_tables, *section.tables):
                blocks += [literal(table.title), "\n".join(table_lines(table)), *map(literal, table.legend)]
            blocks.append("\n".join(f"{literal(note)}  " for note in section.notes).rstrip())
        texts.append("\n\n".join(filter(None, blocks)) + "\n")
    return "\n".join(texts)


def literal(text: str) -> str:
    """Escape Markdown markup."""
    return MARKUP.sub(lambda sign: f"\\{sign[0]}", printable(text))


def table_lines(table: Table) -> list[str]:
    """Return the lines of a table, without its title."""
    header, *rows = ["| " + " | ".join(map(literal, row)) + " |" for row in (table.header, *table.rows)]
    return [header, "|" + "".join(f"{RULE[letter]}|" for letter in table.align), *rows]
