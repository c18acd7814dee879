"""Writers of reports: whatever is shown, at any width, the tables stay rectangular and no digit is
lost."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.rankers.estimate import Estimate
from podium.show.report.markup import markdown_text
from podium.show.report.terminal import bar_column, terminal_text
from podium.show.report.writing import WRITERS, styled_text
from podium.tables import Fact, Report, Section, Table

CELL_BREAK = re.compile(r"(?<!\\)\|")
HOSTILE = st.text("ab |*_`<[\\\n\x1b…中(", max_size=12)
NUMBERS = st.floats(-9999, 9999).map(
    lambda value: f"{value:.1f} ({value - 1:.1f} … {value + 1:.1f})"
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Draw tables of a name and figures, with pictures or without, whose names may be anything."""
    columns, rows = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    header = ("name", *(f"column {k}" for k in range(columns)))
    cells = tuple((draw(HOSTILE), *(draw(NUMBERS) for _ in range(columns))) for _ in range(rows))
    bars = (
        bar_column([Estimate(2, 1, 3)] * rows, 12, ".0f", ends=(0, 4))
        if draw(st.booleans())
        else ()
    )
    rules = frozenset(draw(st.sets(st.integers(0, rows - 1))))
    return Table("title", header, cells, rules=rules, spare=("column 1",), bars=bars)


def reports_of(table: Table) -> list[Report]:
    """Return the table alone and in a section."""
    section = Section("s", "section", (Fact("label", "1", "0 … 2", "9 items"),), (table,))
    return [Report("report", ("An answer.",), table, ("a note",), (section,))]


@settings(max_examples=40, deadline=None)
@given(tables())
def test_every_row_of_markdown_has_as_many_cells_as_its_header(table: Table) -> None:
    for report in reports_of(table):
        lines = [line for line in markdown_text([report]).splitlines() if line.startswith("|")]
        cells = [len(CELL_BREAK.findall(line)) - 1 for line in lines]
        facts = [4, 4, 4]
        own = [len(table.header)] * (len(table.rows) + 2)
        assert cells == own + facts + own


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(20, 200))
def test_every_row_of_a_terminal_has_all_its_figures_at_any_width(table: Table, width: int) -> None:
    """Only what a table offers to give up may go: its pictures and a spare column."""
    lasting = [
        cell
        for row in table.rows
        for name, cell in zip(table.header[1:], row[1:], strict=True)
        if name != "column 1"
    ]
    for report in reports_of(table):
        words = "".join(terminal_text([report], width=width).split())
        for cell in lasting:
            value = cell.split(" (")[0]
            assert words.count(value) >= 2


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(20, 200))
def test_columns_stand_below_each_other(table: Table, width: int) -> None:
    """Where nothing is broken, every row is as wide as the rule below the header, or its last cell
    is empty."""
    lines = terminal_text([Report("report", table=table)], width=width).splitlines()
    rules = [len(line) for line in lines if set(line.strip()) == {"─"}]
    assert len(set(rules)) == 1


@pytest.mark.parametrize("rows", [(("a",),), (("a", "b", "c"),)])
def test_a_table_that_is_not_rectangular_is_rejected(rows: tuple[tuple[str, ...], ...]) -> None:
    with pytest.raises(ValueError, match=r"table 'wins', row 0: \d cells under 2 columns"):
        Table("wins", ("model", "Elo"), rows)


def test_columns_without_an_alignment_are_rejected() -> None:
    with pytest.raises(ValueError, match="align='lx' is not one of l and r for 2 columns"):
        Table("wins", ("model", "Elo"), (), align="lx")


def test_bars_without_a_row_are_rejected() -> None:
    with pytest.raises(ValueError, match="1 bars for 0 rows"):
        Table("wins", ("model",), (), bars=bar_column([Estimate(1, 0, 2)], 9, ".0f"))


@pytest.mark.parametrize("style", sorted(WRITERS))
def test_answer_facts_and_warnings_are_written_in_every_style(style: str) -> None:
    facts = (Fact("fine", "yes"), Fact("share", "49.0%", "48.0 … 50.0", "1,200 pairs", "80 items"))
    section = Section("s", "of a section", facts, notes=("warning: take care",))
    text = styled_text(
        None, style, lambda _: [Report("a report", ("amber leads.",), sections=(section,))]
    )
    share = r"49.0\%" if style == "latex" else "49.0%"
    for part in (
        "amber leads.",
        "a report",
        "of a section",
        "fine",
        share,
        "80 items",
        "warning: take care",
    ):
        assert part in text
    assert text.index("amber leads.") < text.index("a report") < text.index("of a section")


def test_a_rule_stands_below_the_rows_that_ask_for_one() -> None:
    table = Table(
        "", ("model", "Elo"), (("amber", "1600"), ("birch", "1500")), rules=frozenset({0})
    )
    lines = terminal_text([Report("ranking", table=table)]).splitlines()
    assert [set(line.strip()) == {"─"} for line in lines[2:]] == [
        False,
        True,
        False,
        True,
        False,
        False,
        False,
    ][: len(lines) - 2]
