"""The data model of reports: sections of facts, tables and notes, whose texts writers escape."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from podium.errors import find_name

EMPTY = "–"
"""A cell without a value."""
ALWAYS = ("missing", "play")
"""Sections shown in every short view: what could not be computed, and what to type."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled value: words (interval None), or a figure with interval, size and clusters."""

    label: str
    value: str
    interval: str | None = None
    size: str = ""
    clusters: str = ""

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Label, value, interval and size as text."""
        return (
            self.label,
            self.value,
            self.interval or "",
            ", ".join(filter(None, (self.size, self.clusters))),
        )


@dataclass(frozen=True, slots=True)
class Table:
    """A header (all cells empty for none) and rows of cells.

    Attributes:
        align: a letter per column, `l` or `r`; by default the first is left and the others are
            right.
        words: whether the last column holds sentences, which may wrap and are aligned to the left
            on a terminal.
        rules: rows (from 0) with a rule below them.
        spare: columns to drop first if the table is too wide.
        bars: a last column for terminals, its header first (see `terminal.bar_column`).
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
        """Set the default alignment; raise ValueError if the table is not rectangular."""
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
    """A titled part of a report; its name is for `--section`, and its warnings are notes that HTML
    pages highlight."""

    name: str
    title: str
    facts: tuple[Fact, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def fact_tables(self) -> tuple[Table, ...]:
        """The facts as one table; empty without facts."""
        rows = tuple(fact.cells for fact in self.facts)
        return (Table("", ("", "estimate", "interval", "of"), rows, "lrrl"),) if rows else ()


@dataclass(frozen=True, slots=True)
class Report:
    """An answer of at most three sentences, the main table with notes, and further sections."""

    title: str
    answer: tuple[str, ...] = ()
    table: Table | None = None
    notes: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def parts(self) -> tuple[Section, ...]:
        """The main table and notes as a section, followed by the other sections."""
        tables = (self.table,) if self.table else ()
        return (Section("", self.title, tables=tables, notes=self.notes), *self.sections)


def shorten_report(
    report: Report, first: Sequence[str], section: str | None = None, *, full: bool = False
) -> Report:
    """Reduce a report to its answer and the first known section of `first`, or to one `section`
    (else UsageError)."""
    if full:
        return report
    names = list(dict.fromkeys(own.name for own in report.sections))
    if section is not None:
        find_name("section", section, names)
    best = section or next((name for name in first if name in names), None)
    shown = [own for own in report.sections if own.name in {best, *(() if section else ALWAYS)}]
    if section is None:
        others = ", ".join(name for name in names if name not in {best, *ALWAYS})
        more = (
            [f"The figures behind it: --section NAME of {others} · all of them: --full"]
            if others
            else []
        )
        shown[-1:] = [replace(own, notes=(*own.notes, *more)) for own in shown[-1:]]
    answer, notes = ((), ()) if section else (report.answer, report.notes)
    return replace(report, answer=answer, notes=notes, sections=tuple(shown))
