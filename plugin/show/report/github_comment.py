"""Render reports as the body of a comment on a pull request, in GitHub's Markdown.

The answer and the main table are open; other sections fold. Texts of a comment must not notify
people or link to issues, so that `@name` and `#12` in names of models and items are not links.
"""

import re
from collections.abc import Sequence
from html import escape

from podium.printable import printable
from podium.show.report.markup import escape_markdown, markdown_table, section_blocks
from podium.tables import Report, Section, Table

MARKER = "<!-- podium -->"
"""First line of each comment, by which a script finds the comment that it is to replace."""
OPEN_SECTIONS = frozenset({"", "gate", "warnings"})
"""Names of sections that do not fold. The empty name is that of the main table and its notes."""
MOST_CHARACTERS = 65_536
"""Largest number of characters that GitHub accepts in the body of a comment."""
LEFT_OUT = "{number} left out, as a comment has at most {most:,} characters: `--format md` has all"
"""Last line of a comment that is too long."""
LINK = re.compile(r"(?<!\w)@(?=\w)|(?<!&)#(?=\d)|(?<!\w)GH-(?=\d)", re.IGNORECASE)
"""The start of a mention of a person or team (`@name`), or of an issue (`#12`, `GH-12`)."""
NOT_A_LINK = r"\g<0>&#8203;"
"""The same start, followed by a space of no width, which ends the link."""


def github_text(reports: Sequence[Report]) -> str:
    """Render reports as one comment; sections that do not fit are left out from the end.

    Each report begins with its answer, the first sentence in bold type.
    """
    blocks = [MARKER]
    foldable = []
    for report in reports:
        blocks.append(_answer_block(report.answer))
        for section in report.parts:
            is_folded = section.name not in OPEN_SECTIONS
            if is_folded:
                foldable.append(len(blocks))
            blocks.append(_folded_section(section) if is_folded else _open_section(section))
    return _fit_to_comment(blocks, foldable)


def _fit_to_comment(blocks: Sequence[str], foldable: Sequence[int]) -> str:
    """Join blocks; leave out foldable ones, the last first, until the text is short enough.

    Args:
        blocks: the blocks.
        foldable: positions of the blocks that may be left out, ascending.
    """
    kept = list(blocks)
    text = _join_blocks(kept)
    for number, position in enumerate(reversed(foldable), start=1):
        if len(text) <= MOST_CHARACTERS:
            break
        kept[position] = ""
        sections = "1 section is" if number == 1 else f"{number} sections are"
        note = LEFT_OUT.format(number=sections, most=MOST_CHARACTERS)
        text = _join_blocks([*kept, note])
    return text


def _join_blocks(blocks: Sequence[str]) -> str:
    """Join the blocks that are not empty, with an empty line between them."""
    return "\n\n".join(filter(None, blocks)) + "\n"


def _answer_block(answer: Sequence[str]) -> str:
    """Return the sentences of an answer, the first one as a line of its own in bold type."""
    if not answer:
        return ""
    first, *others = map(_unlinked_text, answer)
    return "\n\n".join(filter(None, [f"**{first}**", " ".join(others)]))


def _open_section(section: Section) -> str:
    """Return a section with its title as a heading."""
    title = f"#### {_unlinked_text(section.title)}" if section.title else ""
    return "\n\n".join(filter(None, [title, *_contents(section)]))


def _folded_section(section: Section) -> str:
    """Return a section that is closed until a reader clicks on its title."""
    # Markdown is not read in this line of HTML.
    title = LINK.sub(NOT_A_LINK, escape(printable(section.title)))
    lines = [f"<details><summary>{title}</summary>", *_contents(section), "</details>"]
    return "\n\n".join(filter(None, lines))


def _contents(section: Section) -> list[str]:
    """Return the tables, legends and notes of a section."""
    return [*section_blocks(section, _unlinked_text, _table_text)]


def _table_text(table: Table) -> str:
    """Return a table without links."""
    return LINK.sub(NOT_A_LINK, markdown_table(table))


def _unlinked_text(text: str) -> str:
    """Return a text without markup and links."""
    return LINK.sub(NOT_A_LINK, escape_markdown(text))
