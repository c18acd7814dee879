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
from podium.wording import quantity

MARKER = "<!-- podium -->"
"""First line of each comment, by which a script finds the comment that it is to replace."""
OPEN_SECTIONS = frozenset({"", "gate", "warnings"})
"""Names of sections that do not fold. The empty name is that of the main table and its notes."""
MOST_CHARACTERS = 65_536
"""Largest number of characters that GitHub accepts in the body of a comment."""
ROOM_FOR_NOTE = 200
"""Number of characters that are kept free for the note on what is left out."""
LEFT_OUT_LINE = (
    "{what} left out, as a comment has at most {most:,} characters: `--format md` has all"
)
"""Last line of a comment that is too long."""
LINK = re.compile(r"@(?=\w)|#(?=\d)|\bGH-(?=\d)|(?<=:)//|\bwww(?=\.)", re.IGNORECASE)
"""Where a link begins or can be broken: a mention of a person or team (`@name`), an issue (`#12`,
`GH-12`), a web address."""
NOT_A_LINK = r"\g<0>&#8203;"
"""The text that was matched, followed by a space of no width, which ends the link."""
AMPERSAND = "&amp;"
"""Written for `&`, which would else begin a named character, as `&#64;` for `@`."""
MARKUP_OF_GITHUB = re.compile(r"[$~]|:(?=[\w+-]+:)")
"""What GitHub reads as markup beside that of Markdown: formulas, deleted text, pictures by name."""


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
    """Join blocks, and shorten them until the text is short enough.

    Foldable blocks are left out, the last first, then lines from the end of the longest block. A
    last line says how much is left out.

    Args:
        blocks: the blocks.
        foldable: positions of the blocks that may be left out, ascending.
    """
    kept_blocks = list(blocks)
    sections = 0
    lines = 0
    text = _join_blocks(kept_blocks)
    positions = [*foldable]
    while len(text) > MOST_CHARACTERS:
        if positions:
            kept_blocks[positions.pop()] = ""
            sections += 1
        else:
            lines += _cut_longest(kept_blocks, len(text) - MOST_CHARACTERS + ROOM_FOR_NOTE)
        parts = [quantity(sections, "section")] if sections else []
        if lines:
            parts.append(f"{quantity(lines, 'line')} of the longest table")
        are = "is" if sections + lines == 1 else "are"
        note = LEFT_OUT_LINE.format(what=f"{' and '.join(parts)} {are}", most=MOST_CHARACTERS)
        text = _join_blocks([*kept_blocks, note])
    return text


def _cut_longest(blocks: list[str], excess: int) -> int:
    """Leave out lines from the end of the longest block, and return their number.

    At least one line is left out. If the block has one line only, this line is cut as text, and
    counts as one.

    Args:
        blocks: the blocks, of which one is changed.
        excess: number of characters to leave out, as far as the block has as many.
    """
    lengths = [len(block) for block in blocks]
    longest = lengths.index(max(lengths))
    lines = blocks[longest].split("\n")
    kept_lines = len(lines)
    while kept_lines > 1 and excess > 0:
        kept_lines -= 1
        excess -= len(lines[kept_lines]) + 1
    if kept_lines == len(lines):
        # A single line is left, which is cut as text.
        kept_length = max(0, lengths[longest] - excess)
        blocks[longest] = blocks[longest][:kept_length]
        return 1
    blocks[longest] = "\n".join(lines[:kept_lines])
    return len(lines) - kept_lines


def _join_blocks(blocks: Sequence[str]) -> str:
    """Join the blocks that are not empty, with an empty line between them."""
    return "\n\n".join(filter(None, blocks)) + "\n"


def _answer_block(answer: Sequence[str]) -> str:
    """Render an answer as Markdown; empty without sentences.

    The first sentence is a line of its own in bold type; the others follow as one paragraph.
    """
    if not answer:
        return ""
    first, *others = map(_unlinked_text, answer)
    return "\n\n".join(filter(None, [f"**{first}**", " ".join(others)]))


def _open_section(section: Section) -> str:
    """Render a section as Markdown, with its title as a heading."""
    title = f"#### {_unlinked_text(section.title)}" if section.title else ""
    return "\n\n".join(filter(None, [title, *_contents(section)]))


def _folded_section(section: Section) -> str:
    """Render a section that is closed until a reader clicks on its title."""
    # Markdown is not read in this line of HTML.
    title = LINK.sub(NOT_A_LINK, escape(printable(section.title)))
    lines = [f"<details><summary>{title}</summary>", *_contents(section), "</details>"]
    return "\n\n".join(filter(None, lines))


def _contents(section: Section) -> list[str]:
    """Return the tables, legends and notes of a section as blocks of Markdown."""
    return [*section_blocks(section, _unlinked_text, _table_text)]


def _table_text(table: Table) -> str:
    """Render a table as Markdown whose cells have no links and no markup."""
    return markdown_table(table, _unlinked_text)


def _unlinked_text(text: str) -> str:
    """Return a text in which GitHub finds no markup and no links.

    Markup that needs the start of a line, such as `# `, is not changed.
    """
    escaped = escape_markdown(text.replace("&", AMPERSAND))
    without_markup = MARKUP_OF_GITHUB.sub(r"\\\g<0>", escaped)
    return LINK.sub(NOT_A_LINK, without_markup)
