"""A ranking in a few lines, for hosts whose own output is what the user has asked for."""

import textwrap
from collections.abc import Collection, Sequence
from dataclasses import replace

from podium.data.counts import counts_text
from podium.notices.notice_text import notice_text
from podium.numbers import percent, share_text
from podium.printable import readable
from podium.rankers.ranking import Ranking, Standings
from podium.rankers.standings import LEADER_INTERVAL
from podium.show.report.ranking_view import ranking_text, standings_report
from podium.show.report.terminal import PLAIN_WIDTH, terminal_text
from podium.tables import Report, Table
from podium.wording import quantity

MOST_LINES = 12
"""Largest number of lines that the ranking of one task adds to what a host prints."""
FEWEST_ROWS = 2
"""Fewest models that are shown, however many lines the texts have."""
ALL_IN_JSON = "shown, all in the JSON"
"""Ends the text on what is left out."""


def brief_ranking_text(
    ranking: Ranking, own_models: Collection[str], *, is_judged: bool, beside: int = 0
) -> str:
    """Render a ranking in a few lines; `ranking_text` if it has several tables.

    Together with the lines beside them, these are at most `MOST_LINES` lines, or a few more if
    `FEWEST_ROWS` models need them. The first models and those of this run are shown. If there is no
    room, the advice on what to do next is left out first, then all notes but the gravest, then the
    end of the answer.

    Args:
        ranking: the ranking.
        own_models: names of the models of this run.
        is_judged: whether judges compared the responses; else models are ranked by their scores.
        beside: number of lines that podium prints before and after the ranking.
    """
    if len(ranking.standings) != 1:
        return ranking_text(ranking)
    [standings] = ranking.standings
    messages = _messages_by_gravity(ranking, standings)
    models_ranked = len(standings.entries)
    # The header of the table and the line of counts are no rows.
    room = max(MOST_LINES - beside - 2, FEWEST_ROWS + 1)
    answer, notes = _fit_texts(standings, messages, room)
    rows = max(room - len(answer) - len(notes), FEWEST_ROWS)
    # To leave out one model alone would save a single line.
    if models_ranked == rows + 1:
        rows = max(rows - 1, FEWEST_ROWS)
    lines, hidden = _shown_rows(standings, own_models, rows)
    left_out = []
    if hidden:
        left_out.append(f"{models_ranked - hidden} of {quantity(models_ranked, 'model')}")
    if len(notes) < len(messages):
        left_out.append(f"{len(notes)} of {quantity(len(messages), 'note')}")
    sizes = _sizes_text(standings, is_judged=is_judged)
    if left_out:
        sizes = f"{' and '.join(left_out)} {ALL_IN_JSON} · {sizes}"
    return "\n".join([*answer, *lines, sizes, *notes]) + "\n"


def _messages_by_gravity(ranking: Ranking, standings: Standings) -> list[str]:
    """Return a text per ranker that failed, then a text per warning, then per note."""
    notices = dict.fromkeys(standings.warnings)
    # False comes before True.
    ordered = sorted(notices, key=lambda notice: notice.severity == "note")
    failures = [f"not ranked: {failure}" for failure in ranking.failures]
    return [*failures, *(f"{notice.severity}: {notice_text(notice)}" for notice in ordered)]


def _fit_texts(
    standings: Standings, messages: Sequence[str], room: int
) -> tuple[list[str], list[str]]:
    """Choose the lines of the answer and of the notes that leave room for a table.

    If there is no room for all, the advice on what to do next is left out. Then the last notes are
    left out, up to the gravest one. Then the answer is cut at its end.

    Args:
        standings: the standings.
        messages: the texts of the notes, each of which takes a line.
        room: number of lines of answer, notes and models together.

    Returns:
        The lines of the answer and the lines of the notes, the gravest first.
    """
    sentences = standings.answer
    # What was accepted ends the last sentence, and is kept where the advice is not.
    without_advice = sentences
    if len(sentences) > 2:
        claim, trust, *_ = sentences
        without_advice = (claim, *standings.accepted, trust)
        # The last sentence of the answer may only say how few items decide the first place.
        next_step = [standings.next_in_brief] if standings.next_in_brief else []
        sentences = (claim, trust, *next_step, *standings.accepted)
    notes = [f"podium: {readable(message)}" for message in messages]
    models = len(standings.entries)
    fewest = min(models, FEWEST_ROWS)
    # All of three models are worth more than the advice.
    least = models if models == FEWEST_ROWS + 1 else fewest
    answer = _answer_lines(sentences)
    if len(answer) + len(notes) + least > room:
        # One line is kept for the gravest note.
        most = max(room - fewest - min(len(notes), 1), 1)
        answer = _answer_lines(without_advice, most)
    return answer, notes[: max(room - fewest - len(answer), 0)]


def _answer_lines(sentences: Collection[str], most: int | None = None) -> list[str]:
    """Wrap sentences into the lines of one paragraph.

    The paragraph is cut after `most` lines, and ends with `...` then; with None, it is not cut.
    Of more than 4,000 characters, the middle is left out in any case.
    """
    text = readable(" ".join(sentences))
    return textwrap.wrap(
        text, PLAIN_WIDTH, break_on_hyphens=False, max_lines=most, placeholder=" ..."
    )


def _shown_rows(
    standings: Standings, own_models: Collection[str], most: int
) -> tuple[list[str], int]:
    """Return the lines of the table, its header first, and the number of models left out.

    Models of `own_models` below the cut take the places of the last rows; the first model is shown
    in any case, so that there may be more than `most` rows.

    Args:
        standings: the standings.
        own_models: names of the models that are shown even if the table is cut.
        most: largest number of rows.
    """
    names = [entry.model for entry in standings.entries]
    shown_rows = [*range(min(most, len(names)))]
    rows_left_out = [
        k for k, name in enumerate(names) if name in own_models and k not in shown_rows
    ]
    if rows_left_out:
        first_rows = max(most - len(rows_left_out), 1)
        shown_rows = [*shown_rows[:first_rows], *rows_left_out]
    table = standings_report(_without_mark(standings)).table
    if table is None:
        return [], 0
    rows = tuple(table.rows[k] for k in shown_rows)
    bare = Table(title="", header=table.header, rows=rows, align=table.align, spare=table.spare)
    lines = terminal_text([Report("", table=bare)]).splitlines()
    is_rule = [set(line.strip()) <= {"─"} for line in lines]
    plain = [line for line, rule in zip(lines, is_rule, strict=True) if line.strip() and not rule]
    return plain, len(names) - len(shown_rows)


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

    Args:
        standings: the standings.
        is_judged: whether judges compared the responses. All counts of battles are then given, and
            the share of flips; else the numbers of items and of missing battles.
    """
    name = standings.ranker
    if standings.slice is not None:
        name = f"{standings.ranker} of {standings.shown_slice}"
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
        sizes = f"{counts.size}{missing}"
    return f"{name}, {level}: {sizes}"
