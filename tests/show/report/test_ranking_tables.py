"""Tables on terminals of any width."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import pandas as pd
import pytest

import podium
from podium.hookspecs import Ranker
from podium.plugins import catalogue
from podium.show.report.markup import markdown_text
from podium.show.report.ranking_view import ranking_reports
from podium.show.report.terminal import terminal_text
from podium.tables import Report, Table

EXAMPLE = Path(__file__).parents[3] / "examples" / "simulated" / "battles.csv"


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_narrow_terminal_cuts_no_number(width: int) -> None:
    ranking = podium.rank(EXAMPLE, "bradley-terry")
    lines = on_a_terminal(ranking, width)
    table = lines[next(k for k, line in enumerate(lines) if "model" in line and "rank" in line) :]
    rows = [line for line in table if "amber" in line and not line.startswith("†")]
    assert rows
    assert all("1629.9 … 1729.2" in line for line in rows)


def test_a_narrow_terminal_wraps_a_long_name() -> None:
    name = "a-name-of-very-many-words-that-no-terminal-can-hold"
    lines = on_a_terminal(podium.rank(renamed_amber(name), "bradley-terry"), 80)
    first = next(k for k, line in enumerate(lines) if "1629.9" in line)
    assert len(lines[first]) <= 80
    assert lines[first].split()[1] + lines[first + 1].strip() == name


def test_a_narrow_terminal_breaks_no_header_of_a_column_of_names() -> None:
    table = Table("", ("won by", "the credit"), (("a name of many words", "0.25 (0.125 … 0.375)"),))
    head, _, rule, *_ = terminal_text([Report("", table=table)], width=36).strip("\n").splitlines()
    assert (head.split("   ")[0], rule.strip("─ ")) == (" won by", "")


def on_a_terminal(ranking: podium.Ranking, width: int) -> list[str]:
    return terminal_text(ranking_reports(ranking), width=width).splitlines()


def renamed_amber(name: str) -> podium.Battles:
    frame = pd.read_csv(EXAMPLE).replace({"amber": name})
    return podium.read_battles(frame)


@pytest.fixture(scope="module")
def every_ranking() -> podium.Ranking:
    """Rank battles that hold all that any ranker asks for by all rankers."""
    battles = podium.read_battles(pd.DataFrame(rows_for_all()))
    return podium.rank(battles, sorted(catalogue.extensions_of(Ranker)), pool=True)


def rows_for_all() -> Iterator[dict[str, object]]:
    names = "amber", "birch", "cedar", "dune"
    for item, (a, b) in product(range(40), combinations(range(4), 2)):
        lead = (item * (a + 2) + b) % 7 - 3 + (b - a) / 4
        scores = {"score_a": 5 + lead / 2, "score_b": 5 - lead / 2, "margin": lead}
        sizes = {"length_a": 100 + 7 * item % 31, "length_b": 90 + 5 * item % 17}
        known = (
            scores
            | sizes
            | {"judge": f"judge-{(item + b) % 2}", "human": float((lead > 0) != (item % 5 == b))}
        )
        yield {
            "item": f"q{item}",
            "model_a": names[a],
            "model_b": names[b],
            "credit": float(lead > 0),
        } | known


@pytest.mark.slow
def test_every_ranker_is_in_the_tables_of_this_test(every_ranking: podium.Ranking) -> None:
    assert not every_ranking.failures
    assert {each.ranker for each in every_ranking.standings} == set(catalogue.extensions_of(Ranker))


def test_markdown_rows_have_as_many_cells_as_their_header_whatever_the_ranker(
    every_ranking: podium.Ranking,
) -> None:
    for report in ranking_reports(every_ranking):
        lines = [line for line in markdown_text([report]).splitlines() if line.startswith("|")]
        assert {line.count("|") for line in lines} == {lines[1].count("|")}


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 120, 200])
def test_terminal_rows_have_as_many_cells_as_their_header_whatever_the_ranker(
    every_ranking: podium.Ranking, width: int
) -> None:
    for report in ranking_reports(every_ranking):
        assert report.table is not None
        report = replace(report, answer=(), table=replace(report.table, rules=frozenset()))
        bare = replace(report, table=replace(report.table, bars=()))
        table = terminal_text([bare], width=width).split("\n\n")[1].splitlines()
        rule = next(k for k, line in enumerate(table) if set(line.strip()) == {"─"})
        header, *rows = [
            re.split(r" {3,}", line.strip()) for line in (table[0], *table[rule + 1 :])
        ]
        assert {len(row) for row in rows} == {len(header)}
        assert header[2] == (
            report.table.header[2] if rule == 1 else report.table.header[2].split()[0]
        )
        pictured = terminal_text([report], width=width).split("\n\n")[1].splitlines()[2:]
        pictures = {sum(line.count(sign) for sign in "●○") for line in pictured}
        assert pictures in ({0}, {1})
