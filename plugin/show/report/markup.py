"""Render reports as Markdown and as LaTeX (booktabs), without interval bars.

Markup in texts is escaped.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from podium.printable import printable
from podium.tables import EMPTY, Report, Section, Table

SIGN = r"[\\`*<\[|]"
"""Matches a character that is markup anywhere."""
UNDERSCORE_BEFORE_WORD = r"(?<![^\W_])_"
"""Matches an underscore that no letter or digit precedes, such as the first one of "_a_b"."""
UNDERSCORE_AFTER_WORD = r"_(?![^\W_])"
"""Matches an underscore that no letter or digit follows, such as the last one of "a_b_"."""
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
"""First line of the LaTeX, which names the packages that the tables need."""


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
    """Render reports as LaTeX, with the answers, tables (booktabs) and notes of each."""
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
    """Return a text with Markdown's inline markup (`MARKUP`) and control characters escaped.

    Markup at the start of a line, such as `# ` or `- `, is not changed.
    """
    return MARKUP.sub(lambda sign: f"\\{sign[0]}", printable(text))


def escape_latex(text: str) -> str:
    """Return a text with LaTeX special characters and control characters escaped."""
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
    """Yield the blocks of a section below its title.

    For each table these are its title, the table and the sentences of its legend; then all notes
    and warnings are one block. A block may be empty. The facts are the first table.

    Args:
        section: the section.
        escape: escapes markup in a text.
        table_text: renders a table without its title.
        line_end: separates the notes, which are one block.
    """
    for table in (*section.fact_tables, *section.tables):
        yield escape(table.title)
        yield table_text(table)
        for sentence in table.legend:
            yield escape(sentence)
    yield line_end.join(map(escape, (*section.notes, *section.warnings)))


def markdown_table(table: Table, escape: Callable[[str], str] = escape_markdown) -> str:
    """Render a table as Markdown, without its title, legend and bars.

    Args:
        table: the table.
        escape: escapes markup in a cell.
    """
    header, *rows = [
        "| " + " | ".join(map(escape, row)) + " |" for row in (table.header, *table.rows)
    ]
    rules = [MARKDOWN_RULE[letter] for letter in table.align]
    line_below_header = f"|{'|'.join(rules)}|"
    return "\n".join([header, line_below_header, *rows])


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
