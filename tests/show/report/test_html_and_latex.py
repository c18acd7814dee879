"""Reports as HTML and LaTeX: what is in a cell is text there too, and tables keep their shape."""

from html.parser import HTMLParser

import pytest

from podium import diagnose, rank, read_battles
from podium.planning.planner import make_plan
from podium.show.report.html import html_text
from podium.show.report.markup import latex_text
from podium.tables import Report, Table

TABLE = Table(
    "",
    ("rank", "model", "Elo"),
    (("1", "<b>&'\"</b></td>", "1,510.0"), ("2", "a_b$%#{}\\~^", "1490.0 (1480 … 1500)")),
    "rlr",
    rules=frozenset({0}),
    bars=("0  4", "├─●┤", ""),
)
REPORT = Report("title", ("An answer <i>.",), TABLE, ("warning: careful",))


class Cells(HTMLParser):
    """Collects the text of every row's cells."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, _: object) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self.rows.append([])

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def test_html_shows_cells_as_text_without_bars_and_aligns_numbers() -> None:
    text = html_text([REPORT])
    cells = Cells()
    cells.feed(text.split("<main>")[1])
    assert cells.rows[1:3] == [list(row) for row in TABLE.rows]
    assert '<tr class="cut">' in text
    assert text.count('class="r"') >= 4
    assert "<b>&" not in text
    assert "<script" not in text


def test_latex_escapes_signs_and_uses_booktabs() -> None:
    text = latex_text([REPORT])
    assert r"a\_b\$\%\#\{\}\textbackslash{}\textasciitilde{}\textasciicircum{}" in text
    assert r"1490.0 (1480 \ldots{} 1500) \\" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert [line.replace(r"\&", "").count(" & ") for line in rows] == [2, 2, 2]
    rules = [
        line for line in text.splitlines() if line in (r"\toprule", r"\midrule", r"\bottomrule")
    ]
    assert rules == [r"\toprule", r"\midrule", r"\midrule", r"\bottomrule"]


@pytest.mark.parametrize("text", ["​", "‮abc", "\x1b[31m"])
def test_marks_that_turn_or_hide_text_are_shown_as_escapes(text: str) -> None:
    report = Report(text)
    assert (text in html_text([report]), text in latex_text([report])) == (False, False)


@pytest.mark.slow
def test_results_have_notebook_representations() -> None:
    battles = read_battles("examples/simulated/battles.csv")
    apart = read_battles("examples/simulated/battles.csv", merge=False)
    nouns = (rank(battles), battles, diagnose(apart, battles), make_plan(models=5, items=100))
    for noun in nouns:
        shown = noun._repr_html_()
        assert ("<table>" in shown, "<script" in shown) == (True, False)
