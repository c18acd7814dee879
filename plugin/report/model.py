"""The data model of reports: sections of facts, tables, figures and notes.

Whoever knows the figures builds a `Report` of text, and a writer writes it; nothing is computed while it is shown.
Texts may hold names of models as they are: the writers escape what would move a cursor or read as markup.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from podium.errors import find_name

EMPTY = "–"
"""A cell that has no value."""
WARNING = "warning: "
"""What a note that warns begins with."""
ALWAYS = ("missing", "play")
"""Sections that every screen has: what could not be answered, and what to type."""


class ReportLayout(Enum):
    """The layout of a report."""

    LEDGER = "a table with its denominators; its lines are never broken, it gives up columns and parts of names"
    CARD = "facts in columns, tables below them; figures are never cut, words go on in the next line"
    SHEET = "paragraphs and tables; a table that is too wide has its intervals below their figures"


@dataclass(frozen=True, slots=True)
class Fact:
    """One labelled value of a section, with interval and size, or words.

    Attributes:
        value: words, or a figure with its unit; a dash where there is none.
        interval: its ends; empty or a dash where there are none; None of words.
        size: what it is made of, as "1,200 pairs".
        clusters: how many clusters those are, as "80 items"; left out where there is no room.
    """

    label: str
    value: str
    interval: str | None = None
    size: str = ""
    clusters: str = ""

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Label, value, interval and size as text."""
        return self.label, self.value, self.interval or "", ", ".join(filter(None, (self.size, self.clusters)))


@dataclass(frozen=True, slots=True)
class Bar:
    """An interval to draw; None marks unknown ends or middle.

    Attributes:
        mark: another value of the same thing, as the true one.
    """

    low: float | None
    middle: float | None
    high: float | None
    mark: float | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """A table column of bars on a common axis.

    Attributes:
        ends: of the axis, the least first.
        labels: of the ends, as text.
        width: columns of text that it takes.
    """

    bars: tuple[Bar, ...]
    ends: tuple[float, float]
    labels: tuple[str, str]
    width: int


@dataclass(frozen=True, slots=True)
class Table:
    """A header and rows of cells.

    Attributes:
        title: what to say above it; empty for nothing.
        header: names of the columns; all empty for none.
        rows: each with as many cells as the header.
        align: a letter a column, `l` or `r`; by default the first is left and the others are right.
        words: whether the last column holds sentences, which may wrap, and which a terminal aligns to the left.
        rules: rows (from 0) below which there is a rule.
        spare: columns that are given up first where there is no room.
        name: the column whose cells may lose their middle where there is no room; None for none.
        axis: a picture of each row, as a last column.
        legend: what the columns are, in sentences.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str = ""
    words: bool = False
    rules: frozenset[int] = frozenset()
    spare: tuple[str, ...] = ()
    name: int | None = None
    axis: Axis | None = None
    legend: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Settle the alignment; refuse a table that is not rectangular."""
        columns = len(self.header)
        if not self.align:
            object.__setattr__(self, "align", "l" + "r" * (columns - 1))
        for k, row in enumerate(self.rows):
            if len(row) != columns:
                raise ValueError(f"table {self.title!r}, row {k}: {len(row)} cells under {columns} columns: {row}")
        if len(self.align) != columns or set(self.align) - set("lr"):
            raise ValueError(f"table {self.title!r}: align={self.align!r} is not one of l and r for {columns} columns")
        if self.axis and len(self.axis.bars) != len(self.rows):
            raise ValueError(f"table {self.title!r}: {len(self.axis.bars)} bars for {len(self.rows)} rows")


@dataclass(frozen=True, slots=True)
class Figure:
    """Bars over labels, each with low, middle and high."""

    title: str
    bars: tuple[Bar, ...]
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse bars without a label."""
        if len(self.bars) != len(self.labels):
            raise ValueError(f"figure {self.title!r}: {len(self.bars)} bars for {len(self.labels)} labels")


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a report.

    Attributes:
        name: by which it is asked for.
        title: what humans read.
    """

    name: str
    title: str
    facts: tuple[Fact, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def fact_tables(self) -> tuple[Table, ...]:
        """The facts as a table, where there are any."""
        rows = tuple(fact.cells for fact in self.facts)
        return (Table("", ("", "estimate", "interval", "of"), rows, "lrrl"),) if rows else ()


@dataclass(frozen=True, slots=True)
class Report:
    """The answer, the main table, notes, and further sections.

    Attributes:
        title: of the whole.
        answer: in at most three sentences; shown first.
        table: the one that everybody looks at.
        notes: denominators, methods, warnings, which begin with `WARNING`.
        sections: in the order shown.
        form: how it is laid out.
    """

    title: str
    answer: tuple[str, ...] = ()
    table: Table | None = None
    notes: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    form: ReportLayout = ReportLayout.LEDGER

    @property
    def parts(self) -> tuple[Section, ...]:
        """The main table and notes as a section, followed by the other sections."""
        tables = (self.table,) if self.table else ()
        return (Section("", self.title, tables=tables, notes=self.notes), *self.sections)


def shorten_report(report: Report, first: Sequence[str], section: str | None = None, *, full: bool = False) -> Report:
    """Return a report reduced to the short view, one section, or everything.

    Args:
        first: names of sections, the best first: the first kind there is stands under the answer, before `ALWAYS`.
        section: the name of those asked for.

    Raises:
        UsageError: there is no section of this name.
    """
    if full:
        return report
    names = list(dict.fromkeys(own.name for own in report.sections))
    if section is not None:
        find_name("section", section, names)
    best = section or next((name for name in first if name in names), None)
    shown = [own for own in report.sections if own.name in {best, *(() if section else ALWAYS)}]
    if section is None:
        others = ", ".join(name for name in names if name not in {best, *ALWAYS})
        more = [f"The figures behind it: --section NAME of {others} · all of them: --full"] if others else []
        shown[-1:] = [replace(own, notes=(*own.notes, *more)) for own in shown[-1:]]
    answer, notes = ((), ()) if section else (report.answer, report.notes)
    return replace(report, answer=answer, notes=notes, sections=tuple(shown))
