"""A static site of many rankings: an index, a page per ranking, and Markdown for model cards.

A ranking is called as its file lies in the folder, as `gsm8k/judge-a/2026-11-01`; what a host wrote beside a log, by
its task and its time.
"""

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from podium.errors import DataError
from podium.nouns.ranking import Entry, Ranking, Standings
from podium.nouns.ranking_file import REMEDY, read_ranking
from podium.page.material import PageContent
from podium.page.packing import fill_template, read_asset
from podium.page.report_page import plain_answer, report_page
from podium.pictures.style import load_extra
from podium.printable import printable
from podium.report.html import table_part
from podium.report.markdown import markdown_text
from podium.report.model import EMPTY, Report, Section, Table
from podium.report.numbers import number_text, range_text
from podium.report.ranking_view import name_of, ranking_reports
from podium.text import plural, some

DATE = re.compile(r"\d{4}-?[01]\d-?[0-3]\d")
OF_A_HOST = re.compile(r"podium-(?P<time>[\dT+-]+)_(?P<task>.+)_\w{22}\.ranking$")
INDEX, CARD = "index.html", "leaderboard.md"
HEADER = ("ranking", "of", "judges", "first", "models", "judged", "items")


@dataclass(frozen=True, slots=True)
class Contest:
    """One standings table of one ranking in the folder.

    Attributes:
        name: of the ranking.
        page: where its page lies in the site.
        judges: who judged its battles; empty where the file does not say.
    """

    name: str
    page: PurePosixPath
    standings: Standings
    judges: Sequence[str] = ()

    @property
    def title(self) -> str:
        """The ranking, its ranker and its slice."""
        return f"{self.name} · {name_of(self.standings)}"

    @property
    def firsts(self) -> list[str]:
        """The models whose rank sets include rank 1; empty without rank sets."""
        return [printable(entry.model) for entry in self.standings.entries if entry.rank_low == 1]

    @property
    def answer(self) -> str:
        """The ranking's own answer sentences."""
        return " ".join(self.standings.answer or plain_answer(self.standings))


def rankings_in(folder: Path, site: Path | None = None) -> tuple[dict[str, Ranking], list[str]]:
    """Read the rankings of a folder by name, newest first; also return why files were skipped.

    Args:
        site: what lies below it was written by an earlier run, and is not read.

    Raises:
        DataError: there is none.
    """
    rankings: dict[str, Ranking] = {}
    failures = []
    for path in sorted(folder.rglob("*.json")):
        if site is not None and path.resolve().is_relative_to(site.resolve()):
            continue
        try:
            ranking = read_ranking(path)
        except DataError as error:
            failures.append(str(error))
            continue
        if ranking is not None and ranking.standings:
            rankings[_name(path.relative_to(folder).with_suffix(""), rankings)] = ranking
    if not rankings:
        raise DataError("no ranking", remedy=f"for each, {REMEDY}", source=str(folder))
    names = sorted(sorted(rankings, reverse=True), key=lambda name: DATE.sub("", name))
    return {name: rankings[name] for name in names}, failures


def _name(path: Path, known: Container[str]) -> str:
    """Return a ranking's name: its path, or task and time of a host's ranking if these are unique."""
    by_a_host = OF_A_HOST.fullmatch(path.name)
    name = path.with_name("{task} {time:.19}".format(**by_a_host.groupdict())) if by_a_host else path
    return path.as_posix() if name.as_posix() in known else name.as_posix()


def site_files(rankings: dict[str, Ranking]) -> Iterator[tuple[str, str]]:
    """Yield path and content of each file of the site.

    Raises:
        UsageError: altair, vl-convert or jinja2 is not installed.
    """
    pages = {name: PurePosixPath("rankings", f"{name}.html") for name in rankings}
    contests = [
        Contest(name, pages[name], each, ranking.provenance.get("judges", ()))
        for name, ranking in rankings.items()
        for each in ranking.standings
    ]
    yield INDEX, _index_page(contests)
    yield CARD, markdown_text([_report(contests)])
    for name, ranking in rankings.items():
        home = "../" * (len(pages[name].parts) - 1) + INDEX
        yield str(pages[name]), report_page(PageContent(ranking, home=home))
        yield f"rankings/{name}.json", ranking.to_json() + "\n"
        yield f"rankings/{name}.md", markdown_text(ranking_reports(ranking))


def _index_page(contests: Sequence[Contest]) -> str:
    """Render the index page."""
    markup = load_extra("markupsafe").Markup
    return fill_template(
        "leaderboard.html",
        [read_asset("tables.js")],
        {},
        report=_report(contests),
        links=[quote(str(contest.page.with_suffix(""))) for contest in contests],
        said=[contest.answer for contest in contests],
        places=markup(table_part(_places_table(contests))),
        card=CARD,
    )


def _report(contests: Sequence[Contest]) -> Report:
    """Build the report of the index page."""
    models = {entry.model for contest in contests for entry in contest.standings.entries}
    rows = tuple(_row(contest) for contest in contests)
    return Report(
        title=f"{len(models)} models in {_rankings(len(contests))}",
        answer=_answer(contests),
        table=Table("", HEADER, tuple(tuple(map(printable, row)) for row in rows), "llllrrr"),
        sections=(
            Section("places", "Who stands where", tables=(_places_table(contests),)),
            Section("said", "What each says", notes=tuple(f"{each.title}: {each.answer}" for each in contests)),
        ),
    )


def _row(contest: Contest) -> tuple[str, ...]:
    """Build the index row of one contest."""
    standings, firsts = contest.standings, contest.firsts
    best = printable(standings.entries[0].model) if standings.entries else EMPTY
    first = some(firsts, most=4) if firsts else f"{best} (no rank sets)"
    figures = (len(standings.entries), standings.counts.readable, standings.counts.items)
    judges = some(contest.judges, most=4) if contest.judges else EMPTY
    return (contest.name, name_of(standings), judges, first, *(f"{figure:,}" for figure in figures))


def _answer(contests: Sequence[Contest]) -> tuple[str, ...]:
    """Write which models lead alone, in which rankings, and how many rankings have no single leader."""
    alone = Counter(contest.firsts[0] for contest in contests if len(contest.firsts) == 1)
    shared = sum(len(contest.firsts) > 1 for contest in contests)
    unknown = sum(not contest.firsts for contest in contests)
    leads = [f"{model} in {count}" for model, count in alone.most_common()]
    sentences = []
    if leads:
        sentences.append(f"Alone in the lead of {_rankings(len(contests))}: {some(leads, most=5)}.")
    if shared:
        where = f"In {shared} of {_rankings(len(contests))}" if shared < len(contests) else "In every ranking"
        sentences.append(f"{where} several models may be first: their battles do not tell them apart.")
    if unknown:
        sentences.append(f"{_rankings(unknown)} without rank sets: nothing says how surely their first is first.")
    return tuple(sentences)


def _rankings(number: int) -> str:
    """Write a number of rankings in words: `3 rankings`."""
    return f"{number:,} {plural('ranking', number)}"


def _places_table(contests: Sequence[Contest]) -> Table:
    """Build the table of each model's score and rank set in each ranking."""
    places = {
        (entry.model, k): _place(contest.standings, entry)
        for k, contest in enumerate(contests)
        for entry in contest.standings.entries
        if entry.score is not None or entry.rank_low
    }
    models = dict.fromkeys(entry.model for contest in contests for entry in contest.standings.entries)
    rows = tuple((printable(name), *(places.get((name, k), EMPTY) for k in range(len(contests)))) for name in models)
    legend = (
        "Scores, and in brackets rank sets: the places that a model's battles leave open, all of a ranking's at once. "
        "Scores of two columns are not on one scale, and none is blended of several.",
    )
    approximate = ("~ is a rank without a rank set.",) if any("~" in place for place in places.values()) else ()
    header = ("model", *(printable(contest.title) for contest in contests))
    return Table("", header, rows, legend=legend + approximate)


def _place(standings: Standings, entry: Entry) -> str:
    """Format a model's score with its rank set."""
    places = range_text(entry.rank_low, entry.rank_high) if entry.rank_low else f"~{entry.rank}"
    score = number_text(entry.score, 0 if standings.scale == "elo" else 3)
    return f"{score} ({places})" if entry.score is not None else places
