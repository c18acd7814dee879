"""A ranking in a few lines, for hosts whose own output is what the user has asked for."""

import textwrap
from collections.abc import Collection
from dataclasses import replace

from podium.data.counts import counts_text
from podium.numbers import percent, share_text
from podium.printable import readable
from podium.rankers.ranking import Ranking, Standings
from podium.rankers.standings import LEADER_INTERVAL
from podium.show.report.ranking_view import ranking_messages, ranking_text, standings_report
from podium.show.report.terminal import PLAIN_WIDTH, terminal_text
from podium.tables import Report, Table
from podium.wording import quantity

MOST_LINES = 11
"""Largest number of lines of a brief ranking, if its answer and notes leave room for the table."""
MOST_LINES_JUDGED = 8
"""The same after a tournament, which has printed what it asks, and names its log."""
FEWEST_ROWS = 2


def brief_ranking_text(ranking: Ranking, own: Collection[str], *, is_judged: bool) -> str:
    """Render a ranking in at most `MOST_LINES` lines, or `MOST_LINES_JUDGED` if models were judged;
    `ranking_text` if it has several tables.

    The first models and those of this run are shown, at least `FEWEST_ROWS`.

    Args:
        ranking: the ranking.
        own: names of the models of this run.
        is_judged: whether judges compared the responses; else models are ranked by their scores.
    """
    if len(ranking.standings) != 1:
        return ranking_text(ranking)
    [standings] = ranking.standings
    notes = [f"podium: {readable(message)}" for message in ranking_messages(ranking)]
    most = MOST_LINES_JUDGED if is_judged else MOST_LINES
    # The header of the table and the line of counts are no rows.
    answer = _answer_lines(standings.answer)
    room = most - 2 - len(notes) - len(answer)
    models_ranked = len(standings.entries)
    rows = max(room, min(models_ranked, FEWEST_ROWS))
    # To leave out one model alone would save a single line.
    if models_ranked == rows + 1:
        rows = models_ranked
    shown, hidden = _shown_rows(standings, own, rows)
    sizes = _sizes_text(standings, is_judged=is_judged)
    if hidden:
        models = quantity(models_ranked, "model")
        sizes = f"{models_ranked - hidden} of {models} shown, all in the JSON · {sizes}"
    return "\n".join([*answer, *shown, sizes, *notes]) + "\n"


def _answer_lines(sentences: Collection[str]) -> list[str]:
    """Return sentences as wrapped lines of one paragraph."""
    return textwrap.wrap(readable(" ".join(sentences)), PLAIN_WIDTH, break_on_hyphens=False)


def _shown_rows(standings: Standings, own: Collection[str], most: int) -> tuple[list[str], int]:
    """Return the lines of the table, its header first, and the number of models left out.

    Args:
        standings: the standings.
        own: names of the models that are shown even if the table is cut.
        most: largest number of rows.
    """
    names = [entry.model for entry in standings.entries]
    kept = [*range(min(most, len(names)))]
    lacking = [k for k, name in enumerate(names) if name in own and k not in kept]
    if lacking:
        kept = [*kept[: max(most - len(lacking), 1)], *lacking]
    table = standings_report(_without_mark(standings)).table
    if table is None:
        return [], 0
    rows = tuple(table.rows[k] for k in kept)
    bare = Table("", table.header, rows, align=table.align, spare=table.spare)
    lines = terminal_text([Report("", table=bare)]).splitlines()
    is_rule = [set(line.strip()) <= {"─"} for line in lines]
    plain = [line for line, rule in zip(lines, is_rule, strict=True) if line.strip() and not rule]
    return plain, len(names) - len(kept)


def _without_mark(standings: Standings) -> Standings:
    """Return standings whose table does not mark the first model's interval.

    There is no room for the line that explains the mark; the JSON has its figures.
    """
    diagnostics = {
        name: figures for name, figures in standings.diagnostics.items() if name != LEADER_INTERVAL
    }
    return replace(standings, diagnostics=diagnostics)


def _sizes_text(standings: Standings, *, is_judged: bool) -> str:
    """Write ranker and level, and the numbers of items and battles.

    After a tournament, all counts of its battles are given.
    """
    name = (
        standings.ranker
        if standings.slice is None
        else f"{standings.ranker} of {standings.shown_slice}"
    )
    level = f"{percent(standings.level)} intervals" if standings.interval else "no intervals"
    counts = standings.counts
    if is_judged:
        sizes = counts_text(counts, standings.diagnostics.get("unparsed_reasons", {}))
        swap = standings.diagnostics.get("swap") or {}
        pairs = swap.get("same", 0) + swap.get("half", 0) + swap.get("flip", 0)
        if pairs:
            sizes += f", flip {share_text(swap['flip'] / pairs)} of {pairs:,}"
    else:
        missing = f", {quantity(counts.missing, 'battle')} missing" if counts.missing else ""
        sizes = f"{quantity(counts.items, 'item')}{missing}"
    return f"{name}, {level}: {sizes}"
