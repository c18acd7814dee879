"""Render reports as Markdown and as LaTeX (booktabs), without interval bars.

Markup in texts is escaped.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from podium.printable import printable
from podium.tables import EMPTY, Report, Section, Table

SIGN = r"[\\`*<\[|]"
UNDERSCORE_BEFORE_WORD = r"(?<![^\W_])_"
"""An underscore that no letter or digit precedes, as at the beginning of a word."""
UNDERSCORE_AFTER_WORD = r"_(?![^\W_])"
"""An underscore that no letter or digit follows, as at the end of a word."""
MARKUP = re.compile(f"{SIGN}|{UNDERSCORE_BEFORE_WORD}|{UNDERSCORE_AFTER_WORD}")
"""Matches a character that Markdown reads as markup.

An underscore between letters or digits (`model_a`) does not match, because Markdown shows it.
"""
MARKDOWN_RULE = {"l": "---", "r": "---:"}
"""Markdown below the header of a column, by its alignment."""
MARKDOWN_LINE_END = "  \n"
"""End of a line within a paragraph of Markdown."""
LATEX_SIGNS = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "…": r"\ldots{}",
    EMPTY: "--",
    "±": r"$\pm$",
    "·": r"$\cdot$",
    "²": r"\textsuperscript{2}",
}
"""LaTeX for the characters that must be escaped."""
PREAMBLE = r"% \usepackage{booktabs} \usepackage[T1]{fontenc}"


def markdown_text(reports: Sequence[Report]) -> str:
    """Render reports as Markdown, one below the other; `_blocks` says what each report holds."""
    texts = []
    for report in reports:
        blocks = _blocks(
            report,
            escape=escape_markdown,
            heading="**{}**",
            table_text=markdown_table,
            line_end=MARKDOWN_LINE_END,
        )
        texts.append("\n\n".join(filter(None, blocks)) + "\n")
    return "\n".join(texts)


def latex_text(reports: Sequence[Report]) -> str:
    """Render reports as LaTeX tables (booktabs) with their notes."""
    text = f"{PREAMBLE}\n"
    for report in reports:
        blocks = _blocks(
            report,
            escape=escape_latex,
            heading=r"\paragraph{{{}}}",
            table_text=_latex_table,
            line_end="\n\n",
        )
        text += "".join(f"{block}\n\n" for block in blocks if block)
    return text


def escape_markdown(text: str) -> str:
    """Return a text with a backslash before each character that Markdown reads as markup."""
    return MARKUP.sub(lambda sign: f"\\{sign[0]}", printable(text))


def escape_latex(text: str) -> str:
    """Return a text in which LaTeX shows its special characters as they are."""
    return "".join(LATEX_SIGNS.get(sign, sign) for sign in printable(text))


def _blocks(
    report: Report,
    escape: Callable[[str], str],
    heading: str,
    table_text: Callable[[Table], str],
    line_end: str,
) -> Iterator[str]:
    """Yield the blocks of a report: the answer, then title, tables, legends, notes of each part.

    A block may be empty.

    Args:
        report: the report.
        escape: escapes markup in a text.
        heading: template of a title, with one positional field.
        table_text: renders a table without its title.
        line_end: separates the notes, which are one block.
    """
    yield " ".join(map(escape, report.answer))
    for section in report.parts:
        yield heading.format(escape(section.title)) if section.title else ""
        yield from section_blocks(section, escape, table_text, line_end)


def section_blocks(
    section: Section,
    escape: Callable[[str], str],
    table_text: Callable[[Table], str],
    line_end: str = MARKDOWN_LINE_END,
) -> Iterator[str]:
    """Yield the blocks of a section below its title: tables, legends, notes. One may be empty.

    Args:
        section: the section.
        escape: escapes markup in a text.
        table_text: renders a table without its title.
        line_end: separates the notes, which are one block.
    """
    for table in (*section.fact_tables, *section.tables):
        yield from (escape(table.title), table_text(table), *map(escape, table.legend))
    yield line_end.join(map(escape, (*section.notes, *section.warnings)))


def markdown_table(table: Table, escape: Callable[[str], str] = escape_markdown) -> str:
    """Return a table as Markdown, without its title; `escape` escapes markup in cells."""
    header, *rows = [
        "| " + " | ".join(map(escape, row)) + " |" for row in (table.header, *table.rows)
    ]
    return "\n".join(
        [header, "|" + "".join(f"{MARKDOWN_RULE[letter]}|" for letter in table.align), *rows]
    )


def _latex_table(table: Table) -> str:
    """Return a table as LaTeX, without its title. A header of empty cells is left out.

    A line follows the header and the rows in `table.rules`, the last row excepted: the table ends
    with a line.
    """
    header, *rows = [
        " & ".join(map(escape_latex, row)) + r" \\" for row in (table.header, *table.rows)
    ]
    rules = table.rules - {len(table.rows) - 1}
    body = []
    for k, row in enumerate(rows):
        body.append(row)
        if k in rules:
            body.append(r"\midrule")
    head = [header, r"\midrule"] if any(table.header) else []
    begin = rf"\begin{{tabular}}{{{table.align}}}"
    end = r"\end{tabular}"
    return "\n".join([begin, r"\toprule", *head, *body, r"\bottomrule", end])
