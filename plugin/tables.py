"""The data model of reports: sections of facts, tables and notes.

Texts are plain. The functions that write a report escape them for their format.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from podium.known_names import find_name

EMPTY = "–"
"""The text of a cell without a value."""
SECTIONS_ALWAYS_SHOWN = ("missing", "play")
"""Sections in every short report: what could not be computed, and which command plays battles."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled value.

    Attributes:
        label: what the value is.
        value: the value as text.
        interval: its interval as text; None if the value is words or has no interval.
        size: what the value was computed from, for example a number of battles.
        clusters: the number of clusters behind its interval, as text.
    """

    label: str
    value: str
    interval: str | None = None
    size: str = ""
    clusters: str = ""

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Label, value, interval, and size with the number of clusters, as four texts.

        What is unknown is an empty text.
        """
        return (
            self.label,
            self.value,
            self.interval or "",
            ", ".join(filter(None, (self.size, self.clusters))),
        )


@dataclass(frozen=True, slots=True)
class Table:
    """A header and rows of cells. If all cells of the header are empty, it is not shown.

    Attributes:
        align: a letter per column: `l` aligns it to the left, `r` to the right. By default, only
            the first column is aligned to the left.
        words: whether the last column holds sentences. On a terminal, they are wrapped and
            aligned to the left.
        rules: numbers of the rows that a horizontal line follows; the first row is 0.
        spare: headers of the columns that are dropped first if the table is too wide.
        bars: the cells of a last column of bars, its header first. Only terminals show it (see
            `terminal.bar_column`).
        legend: sentences that explain the columns.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str = ""
    words: bool = False
    rules: frozenset[int] = frozenset()
    spare: tuple[str, ...] = ()
    bars: tuple[str, ...] = ()
    legend: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Set the default alignment.

        Raises:
            ValueError: a row has more or fewer cells than the header, `align` has not one letter,
                `l` or `r`, for each column, or there is not one bar for each row.
        """
        columns = len(self.header)
        if not self.align:
            object.__setattr__(self, "align", "l" + "r" * (columns - 1))
        for k, row in enumerate(self.rows):
            if len(row) != columns:
                raise ValueError(
                    f"table {self.title!r}, row {k}: {len(row)} cells under {columns} columns: "
                    f"{row}"
                )
        if len(self.align) != columns or set(self.align) - set("lr"):
            raise ValueError(
                f"table {self.title!r}: align={self.align!r} is not one of l and r for {columns} "
                "columns"
            )
        if self.bars and len(self.bars) != len(self.rows) + 1:
            raise ValueError(
                f"table {self.title!r}: {len(self.bars) - 1} bars for {len(self.rows)} rows"
            )


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a report.

    Attributes:
        name: the name that `--section` takes.
        warnings: notes that HTML pages highlight.
    """

    name: str
    title: str
    facts: tuple[Fact, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def fact_tables(self) -> tuple[Table, ...]:
        """The facts as a tuple of one table; empty if there are no facts."""
        rows = tuple(fact.cells for fact in self.facts)
        return (
            (Table(title="", header=("", "estimate", "interval", "of"), rows=rows, align="lrrl"),)
            if rows
            else ()
        )


@dataclass(frozen=True, slots=True)
class Report:
    """What is shown of a result.

    Attributes:
        answer: at most three sentences.
        table: the main table; None if there is none.
        notes: sentences below the main table.
        sections: further parts.
    """

    title: str
    answer: tuple[str, ...] = ()
    table: Table | None = None
    notes: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def parts(self) -> tuple[Section, ...]:
        """The main table and notes as a section without a name, followed by the other sections.

        The title of the first section is that of the report; it is there also without a table.
        """
        tables = (self.table,) if self.table else ()
        return (Section(name="", title=self.title, tables=tables, notes=self.notes), *self.sections)


def shorten_report(
    report: Report, first: Sequence[str], section: str | None = None, *, full: bool = False
) -> Report:
    """Return a shorter report. Its main table stays in any case.

    Args:
        report: the report.
        first: names of sections, in the order of preference. The first one that the report has
            is kept, with the answer, the notes and the sections in `SECTIONS_ALWAYS_SHOWN`. A note
            below the last section names the others.
        section: name of the only section to keep, without answer and notes; UsageError if the
            report does not have it. None for the sections of `first`.
        full: whether to return the report unchanged.
    """
    if full:
        return report
    names = list(dict.fromkeys(section.name for section in report.sections))
    if section is not None:
        wanted = find_name("section", section, names)
        only = tuple(section for section in report.sections if section.name == wanted)
        return replace(report, answer=(), notes=(), sections=only)
    best = next((name for name in first if name in names), None)
    kept_names = {best, *SECTIONS_ALWAYS_SHOWN}
    kept_sections = [section for section in report.sections if section.name in kept_names]
    text_of_others = ", ".join(name for name in names if name not in kept_names)
    if kept_sections and text_of_others:
        hint = f"The figures behind it: --section NAME of {text_of_others} · all of them: --full"
        kept_sections[-1] = replace(kept_sections[-1], notes=(*kept_sections[-1].notes, hint))
    return replace(report, sections=tuple(kept_sections))
