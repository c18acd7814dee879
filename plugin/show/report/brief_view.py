"""A ranking in a few lines, for hosts whose own output is what the user has asked for."""

import textwrap
from collections.abc import Collection
from dataclasses import replace

from podium.numbers import percent
from podium.printable import readable
from podium.rankers.ranking import Ranking, Standings
from podium.show.report.ranking_view import ranking_messages, ranking_text, standings_report
from podium.show.report.terminal import PLAIN_WIDTH, terminal_text
from podium.tables import Report, Table
from podium.wording import plural

MOST_LINES = 11
"""Largest number of lines of a brief ranking, if its answer and notes leave room for the table."""
FEWEST_ROWS = 3


def brief_ranking_text(ranking: Ranking, own: Collection[str]) -> str:
    """Render a ranking of scores in at most `MOST_LINES` lines; `ranking_text` if it has several
    tables.

    The first models and those of this run are shown, at least `FEWEST_ROWS`.

    Args:
        ranking: the ranking.
        own: names of the models of this run.
    """
    if len(ranking.standings) != 1:
        return ranking_text(ranking)
    [standings] = ranking.standings
    notes = [f"podium: {readable(message)}" for message in ranking_messages(ranking)]
    room = MOST_LINES - 2 - len(notes)
    rows = min(len(standings.entries), FEWEST_ROWS)
    answer = _answer_lines(standings.answer)
    rows = max(room - len(answer), rows)
    shown, hidden = _shown_rows(standings, own, rows)
    return "\n".join([*answer, *shown, _sizes_text(standings, hidden), *notes]) + "\n"


def _answer_lines(sentences: Collection[str]) -> list[str]:
    """Return sentences as wrapped lines of one paragraph."""
    return textwrap.wrap(readable(" ".join(sentences)), PLAIN_WIDTH, break_on_hyphens=False)


def _shown_rows(standings: Standings, own: Collection[str], most: int) -> tuple[list[str], int]:
    """Return the lines of the table, its header first, and the number of models left out.

    Args:
        standings: the standings.
        own: names of the models that are shown if the first ones leave room for one row.
        most: largest number of rows.
    """
    names = [entry.model for entry in standings.entries]
    kept = [*range(min(most, len(names)))]
    lacking = [k for k, name in enumerate(names) if name in own and k not in kept]
    if lacking:
        kept = [*kept[: max(most - len(lacking), 1)], *lacking]
    table = standings_report(standings).table
    if table is None:
        return [], 0
    rows = tuple(table.rows[k] for k in kept)
    bare = Table("", table.header, rows, align=table.align, spare=table.spare)
    lines = terminal_text([replace(Report(""), table=bare)]).splitlines()
    is_rule = [set(line.strip()) <= {"─"} for line in lines]
    plain = [line for line, rule in zip(lines, is_rule, strict=True) if line.strip() and not rule]
    return plain, len(names) - len(kept)


def _sizes_text(standings: Standings, hidden: int) -> str:
    """Write ranker, level and number of items, and how many models are not shown."""
    name = (
        standings.ranker if standings.slice is None else f"{standings.ranker} of {standings.slice}"
    )
    counts = standings.counts
    items = f"{counts.items:,} {plural('item', counts.items)}"
    level = f", {percent(standings.level)} intervals" if standings.interval else ""
    rest = f"; {hidden:,} more {plural('model', hidden)} in the JSON" if hidden else ""
    missing = f", {counts.missing:,} scores missing" if counts.missing else ""
    return f"{name}: {items}{missing}{level}{rest}"
