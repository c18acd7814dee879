"""Render reports as Markdown, without interval bars; markup in texts is escaped."""

import re
from collections.abc import Sequence

from podium.printable import printable
from podium.report.model import Report, Table

MARKUP = re.compile(r"[\\`*<\[|]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that Markdown reads as markup, apart from underscores inside a word."""
RULE = {"l": "---", "r": "---:"}


def markdown_text(reports: Sequence[Report]) -> str:
    """Render reports as Markdown."""
    texts = []
    for report in reports:
        blocks = [" ".join(map(escape_markdown, report.answer))]
        for section in report.parts:
            blocks += [f"**{escape_markdown(section.title)}**"] if section.title else []
            for table in (*section.fact_tables, *section.tables):
                blocks += [escape_markdown(table.title), _table_text(table), *map(escape_markdown, table.legend)]
            blocks.append("\n".join(f"{escape_markdown(note)}  " for note in section.notes).rstrip())
        texts.append("\n\n".join(filter(None, blocks)) + "\n")
    return "\n".join(texts)


def escape_markdown(text: str) -> str:
    """Escape Markdown markup."""
    return MARKUP.sub(lambda sign: f"\\{sign[0]}", printable(text))


def _table_text(table: Table) -> str:
    """Return a table as Markdown, without its title."""
    header, *rows = ["| " + " | ".join(map(escape_markdown, row)) + " |" for row in (table.header, *table.rows)]
    return "\n".join([header, "|" + "".join(f"{RULE[letter]}|" for letter in table.align), *rows])
