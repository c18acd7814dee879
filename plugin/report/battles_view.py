"""Battles as a notebook shows them: the denominators, and the first few."""

from podium.nouns.battles import COLUMNS, Battles
from podium.report.html import notebook_part
from podium.report.model import Report, Table
from podium.report.numbers import reasons_text
from podium.text import text_of

FIRST = 10


def battles_html(battles: Battles) -> str:
    """Render battles for a notebook: the denominators and the first rows."""
    counts, shown = battles.counts(), battles.table.head(FIRST)
    names = tuple(name for name in COLUMNS if name in shown)
    rows = tuple(tuple(text_of(cell) or "" for cell in row) for row in shown[list(names)].astype(object).to_numpy())
    denominators = (
        f"{len(battles.models)} models, {counts.items:,} items, {counts.judgments:,} judgments, "
        f"{counts.battles:,} battles: {counts.readable:,} judged, {counts.unparsed:,} unparsed"
        f"{reasons_text(battles.unparsed_reasons())}"
    )
    align = "".join("r" if shown[name].dtype.kind == "f" else "l" for name in names)
    title = "battles" if counts.battles <= FIRST else f"battles, the first {FIRST} of {counts.battles:,}"
    return notebook_part((Report(title, table=Table("", names, rows, align), notes=(denominators,)),))
