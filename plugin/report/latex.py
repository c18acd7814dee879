"""Render reports as LaTeX tables (booktabs), without interval bars."""

from collections.abc import Sequence

from podium.printable import printable
from podium.report.model import EMPTY, Report, Table

SIGNS = {
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
PREAMBLE = r"% \usepackage{booktabs} \usepackage[T1]{fontenc}"


def latex_text(reports: Sequence[Report]) -> str:
    """Render reports as LaTeX tables (booktabs) with their notes."""
    lines = [PREAMBLE]
    for report in reports:
        lines += [" ".join(map(escape_latex, report.answer)), ""] if report.answer else []
        for section in report.parts:
            lines += [rf"\paragraph{{{escape_latex(section.title)}}}", ""] if section.title else []
            lines += [line for table in (*section.fact_tables, *section.tables) for line in _latex_table(table)]
            lines += [line for note in section.notes for line in (escape_latex(note), "")]
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    """Escape LaTeX special characters."""
    return "".join(SIGNS.get(sign, sign) for sign in printable(text))


def _latex_table(table: Table) -> list[str]:
    """Render a table as lines."""
    header = [_render_row(table.header), r"\midrule"] if any(table.header) else []
    rules = table.rules - {len(table.rows) - 1}
    body = [line for k, row in enumerate(table.rows) for line in (_render_row(row), *[r"\midrule"] * (k in rules))]
    title = [escape_latex(table.title), ""] if table.title else []
    ends = rf"\begin{{tabular}}{{{table.align}}}", r"\end{tabular}"
    legend = [line for text in table.legend for line in (escape_latex(text), "")]
    return [*title, ends[0], r"\toprule", *header, *body, r"\bottomrule", ends[1], "", *legend]


def _render_row(cells: Sequence[str]) -> str:
    """Render a table row."""
    return " & ".join(map(escape_latex, cells)) + r" \\"
