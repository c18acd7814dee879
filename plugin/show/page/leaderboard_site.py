"""Write a site of many rankings: an index, a page per ranking, and a Markdown file.

The name of a ranking is the path of its file in the folder, without its suffix.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from podium.errors import DataError
from podium.numbers import cell_text, range_text
from podium.printable import printable
from podium.rankers.json_files import REMEDY, SUFFIXES, read_ranking
from podium.rankers.ranking import Entry, Ranking, Standings
from podium.show.page.material import PageContent
from podium.show.page.packing import read_asset, render_page
from podium.show.page.report_page import plain_answer, report_page
from podium.show.report.html import table_part
from podium.show.report.markup import markdown_text
from podium.show.report.ranking_view import ranking_reports, standings_heading, standings_name
from podium.tables import EMPTY, Report, Section, Table
from podium.wording import plural, some

DATE = re.compile(r"\d{4}-?[01]\d-?[0-3]\d")
"""Matches a date in the name of a ranking: `2026-01-31` or `20260131`."""
INDEX_FILE = "index.html"
"""Name of the index in the folder of the site."""
CARD_FILE = "leaderboard.md"
"""Name of the Markdown file with all rankings."""
SPACE_README = """---
title: {title}
emoji: 📊
colorFrom: gray
colorTo: blue
sdk: static
app_file: {index}
pinned: false
---

{card}"""
"""README.md of a static Hugging Face Space.

Its fields: https://huggingface.co/docs/hub/spaces-config-reference.
"""
PLACES_TITLE = "Scores and rank sets"
"""Title of the table of scores and rank sets."""
ANSWERS_TITLE = "Answers"
"""Title of the list of answers."""
HEADER = ("ranking", "of", "judges or metrics", "first", "models", "judged", "items")
"""Header of the table of rankings; `of` is the ranker with its slice, `judged` counts battles."""


@dataclass(frozen=True, slots=True)
class SiteEntry:
    """One standings table of one ranking.

    Attributes:
        name: name of the ranking.
        standings: the table.
        sources: names of the judges or metrics that it is made from.
    """

    name: str
    standings: Standings
    sources: Sequence[str] = ()

    @property
    def title(self) -> str:
        """The name of the ranking, its ranker and its slice, as one text."""
        return f"{self.name} · {standings_name(self.standings)}"

    @property
    def possible_leaders(self) -> list[str]:
        """The names of the models whose rank sets include rank 1, as they are printed.

        Control characters are escaped. The list is empty if there are no rank sets, and if groups
        of models never met.
        """
        if self.standings.unconnected_groups:
            return []
        return [printable(entry.model) for entry in self.standings.entries if entry.rank_low == 1]

    @property
    def answer(self) -> str:
        """The answer of the table as one text; `plain_answer` if the table has none."""
        return " ".join(self.standings.answer or plain_answer(self.standings))


OLDER_ENDING = ".ranking.json"
"""End of the names of rankings beside logs, before it became `.ranking`."""


def rankings_in(folder: Path, site: Path | None = None) -> tuple[dict[str, Ranking], list[str]]:
    """Read the rankings of a folder and its subfolders.

    Args:
        folder: the folder.
        site: folder of the site, whose files are not read; None if it is elsewhere.

    Returns:
        The rankings by name, and the reasons why damaged rankings were skipped. Skipped without a
        reason are other JSON files, rankings without a table, and rankings that an earlier version
        of podium wrote beside the log of another one. Rankings are sorted by name; of names that
        differ only in a date, the newest is first.

    Raises:
        DataError: no file holds a ranking.
    """
    rankings: dict[str, Ranking] = {}
    failures = []
    for path in sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES):
        if site is not None and path.resolve().is_relative_to(site.resolve()):
            continue  # a file of the site itself
        if path.name.endswith(OLDER_ENDING) and path.with_suffix("").exists():
            continue  # written by an earlier version beside the same log
        try:
            ranking = read_ranking(path)
        except DataError as error:
            failures.append(str(error))
            continue
        if ranking is not None and ranking.standings:
            rankings[path.relative_to(folder).with_suffix("").as_posix()] = ranking
    if not rankings:
        raise DataError("no ranking", remedy=f"for each, {REMEDY}", source=str(folder))
    newest_first = sorted(rankings, reverse=True)
    # Names that are equal without their dates stay in this order.
    names = sorted(newest_first, key=lambda name: DATE.sub("", name))
    return {name: rankings[name] for name in names}, failures


def site_files(rankings: dict[str, Ranking], space: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield path and content of each file of the site: an index, a card, and three per ranking.

    Paths are relative to the folder of the site. The files of a ranking are a page, its JSON and
    its Markdown.

    Args:
        rankings: rankings by name.
        space: title of a Hugging Face Space, for which a README is written; None for no README.

    Raises:
        UsageError: a library of the extra `report` is not installed.
    """
    entries = [
        SiteEntry(name, standings, ranking.judges_or_metrics)
        for name, ranking in rankings.items()
        for standings in ranking.standings
    ]
    places = _places_table(entries)
    index = _index_table(entries)
    title = (
        f"{len(places.rows)} {plural('model', len(places.rows))} in {_rankings_text(len(entries))}"
    )
    leaders = _describe_leaders(entries)
    yield INDEX_FILE, _render_index(title, leaders, entries, index, places)
    answers = tuple(f"{entry.title}: {entry.answer}" for entry in entries)
    sections = (
        Section(name="places", title=PLACES_TITLE, tables=(places,)),
        Section(name="answers", title=ANSWERS_TITLE, notes=answers),
    )
    card = markdown_text([Report(title, leaders, index, sections=sections)])
    yield CARD_FILE, card
    if space is not None:
        readme = {
            "title": json.dumps(printable(space), ensure_ascii=False),
            "index": INDEX_FILE,
            "card": card,
        }
        yield "README.md", SPACE_README.format(**readme)
    for name, ranking in rankings.items():
        home = "../" * (name.count("/") + 1) + INDEX_FILE
        yield f"rankings/{name}.html", report_page(PageContent(ranking, home=home))
        yield f"rankings/{name}.json", ranking.to_json() + "\n"
        yield f"rankings/{name}.md", markdown_text(ranking_reports(ranking))


def _render_index(
    title: str, leaders: Sequence[str], entries: Sequence[SiteEntry], index: Table, places: Table
) -> str:
    """Render the index of the site.

    Args:
        title: title of the page.
        leaders: sentences on the models that lead.
        entries: the standings tables, in the order of the rows of `index`.
        index: the table of rankings.
        places: the table of scores and rank sets.

    Raises:
        UsageError: jinja2 is not installed.
    """
    links = [(quote(f"rankings/{entry.name}"), entry.answer) for entry in entries]
    return render_page(
        "leaderboard",
        scripts=[read_asset("tables.js")],
        data={},
        title=f"{title} · podium",
        heading=title,
        answer=leaders,
        header=HEADER,
        rankings=list(zip(links, index.rows, strict=True)),
        card=CARD_FILE,
        places=table_part(places),
    )


def _index_table(entries: Sequence[SiteEntry]) -> Table:
    """Build the table with a row per standings table, with the columns of `HEADER`.

    The column `first` names at most four models that may be first. Without rank sets, it names the
    model with the highest score and says so; if groups of models never met, it gives their number.
    """
    rows = []
    for entry in entries:
        standings = entry.standings
        sources = printable(some(entry.sources, most=4)) if entry.sources else EMPTY
        first = some(entry.possible_leaders, most=4)
        if not entry.possible_leaders:
            first = f"{printable(standings.entries[0].model)} (no rank sets)"
        if standings.unconnected_groups:
            first = f"{len(standings.unconnected_groups)} groups that never met"
        row = (
            printable(entry.name),
            printable(standings_heading(standings)),
            sources,
            first,
            f"{len(standings.entries):,}",
            f"{standings.counts.readable:,}",
            f"{standings.counts.items:,}",
        )
        rows.append(row)
    return Table(title="", header=HEADER, rows=tuple(rows), align="llllrrr")


def _describe_leaders(entries: Sequence[SiteEntry]) -> tuple[str, ...]:
    """Write in how many rankings each model leads clearly, and in how many no model does.

    A model leads clearly if only its rank set includes rank 1. Each standings table counts as a
    ranking. At most five models are named, those that lead most often. A sentence is left out if
    its number is 0.
    """
    leaders = Counter(
        each.possible_leaders[0] for each in entries if len(each.possible_leaders) == 1
    )
    all_rankings = _rankings_text(len(entries))
    without_leader = len(entries) - leaders.total()
    lead_counts = [f"{model} in {count}" for model, count in leaders.most_common()]
    sentences = []
    if lead_counts:
        sentences.append(f"Clear leaders in {all_rankings}: {some(lead_counts, most=5)}.")
    if without_leader:
        scope = f"{without_leader} of {all_rankings}" if lead_counts else "every ranking"
        sentences.append(f"In {scope} no model is known to lead clearly.")
    return tuple(sentences)


def _rankings_text(number: int) -> str:
    """Write a number of rankings, such as `3 rankings`."""
    return f"{number:,} {plural('ranking', number)}"


def _places_table(entries: Sequence[SiteEntry]) -> Table:
    """Build the table of scores and rank sets, with a row per model and a column per entry.

    A cell is a dash if the model is not in the ranking. Models are in the order in which they first
    occur.
    """
    header = ["model"]
    cells_by_model: list[dict[str, str]] = []
    models: dict[str, None] = {}
    for board in entries:
        standings = board.standings
        header.append(printable(board.title))
        cells = {entry.model: _format_score(standings, entry) for entry in standings.entries}
        cells_by_model.append(cells)
        models |= dict.fromkeys(cells)
    rows = []
    for name in models:
        rows.append((printable(name), *(cells.get(name, EMPTY) for cells in cells_by_model)))
    legend = (
        "Scores, with rank sets in brackets: the ranks that the data do not exclude, "
        "simultaneous within a ranking. Each column has its own scale, and no score is averaged "
        "over rankings.",
    )
    return Table(title="", header=tuple(header), rows=tuple(rows), legend=legend)


def _format_score(standings: Standings, entry: Entry) -> str:
    """Format a model's score with its rank set in brackets.

    A dash stands for an unknown score or rank set.
    """
    score = cell_text(entry.score, standings.scale.brief_format)
    return f"{score} ({range_text(entry.rank_low, entry.rank_high)})"
