"""Show a ranking: its reports, one per standings table, and its messages; and show battles."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from podium.data.battles import COLUMNS, Battles
from podium.data.counts import counts_text
from podium.diagnosis.checks.score_scale_checks import are_scales_unlike
from podium.documents import View, register_view
from podium.notices.catalogue_of_notices import RANKED_ALONE
from podium.notices.notice import Notice, select_codes
from podium.notices.notice_text import notice_text
from podium.numbers import (
    cell_text,
    interval_text,
    number_text,
    percent,
    range_text,
)
from podium.printable import readable
from podium.rankers.estimate import Estimate
from podium.rankers.ranking import GROUP, Entry, Ranking, Standings
from podium.show.answers.fixed_raters import fixed_raters_of
from podium.show.report.html import html_part
from podium.show.report.standings_notes import (
    CHOSEN_MARK,
    leader_with_interval,
    standings_notes,
)
from podium.show.report.styles import Destination
from podium.show.report.terminal import bar_column, terminal_text
from podium.show.report.writing import write_result
from podium.tables import EMPTY, Report, Table
from podium.text import text_of
from podium.wording import quantity

BAR_WIDTH = 28
"""Width of the column of interval bars, in characters."""
MOST_TABLES = 6
"""A terminal shows this many tables of tasks unless the user asks for one per task."""
NOTEBOOK_ROWS = 10
"""A notebook shows this many rows of a table of battles."""
CONFORMAL_KEYS = ("conformal_low", "conformal_high", "conformal_level", "interval_method")
"""Keys in `Entry.extra` that are shown together in one column."""
EXTRA_DIGITS = {GROUP: 0, "pairs": 0, "labels": 0} | dict.fromkeys(
    ("hard", "human", "human_low", "human_high", "judge"), 1
)
"""Number of decimals of figures in `Entry.extra`, by key. Other figures have 3."""


def ranking_text(ranking: Ranking) -> str:
    """Render a ranking as text, followed by its warnings and failures, a line each.

    Of many tables that the user did not ask for, the first `MOST_TABLES` are shown
    (`shown_reports`), and a last line gives the number of the others.
    """
    messages = ranking_messages(ranking, are_all_shown=False)
    notes = "".join(f"podium: {readable(message)}\n" for message in messages)
    return terminal_text(shown_reports(ranking)) + notes


def write_ranking(ranking: Ranking, destination: Destination) -> None:
    """Write a ranking and its chart, with its warnings and failures on stderr.

    On stdout, `shown_reports` chooses the tables. Files have all tables. Only the style `table`
    without a file has the chosen tables.
    """
    are_all_shown = destination.output is not None or destination.style != "table"
    messages = ranking_messages(ranking, are_all_shown=are_all_shown)
    view = ranking_reports if are_all_shown else shown_reports
    write_result(ranking, destination, messages=messages, view=view)


def ranking_messages(ranking: Ranking, *, are_all_shown: bool = True) -> list[str]:
    """Return the texts of `ranking_warnings`, then a text per ranker or slice that failed.

    Args:
        ranking: the ranking.
        are_all_shown: whether all tables are shown. If only `shown_reports` are, and it leaves out
            some, a text on these follows.
    """
    notice = None if are_all_shown else _notice_of_hidden_tables(ranking)
    messages = ranking_warnings(ranking)
    messages += [f"not ranked: {failure}" for failure in ranking.failures]
    if notice is not None:
        messages.append(f"{notice.severity}: {notice_text(notice)}")
    return messages


def ranking_warnings(ranking: Ranking) -> list[str]:
    """Return the text of each warning once, with its severity.

    If only some of the standings have a warning, its text begins with their names.

    Returns:
        Texts such as `warning: ...`, in the order of the standings.
    """
    owners: dict[Notice, list[str]] = {}
    for standings in ranking.standings:
        for warning in dict.fromkeys(standings.warnings):
            owners.setdefault(warning, []).append(standings_name(standings))
    texts = []
    for warning, names in owners.items():
        text = notice_text(warning)
        if len(names) < len(ranking.standings):
            text = f"{', '.join(names)}: {text}"
        texts.append(f"{warning.severity}: {text}")
    return texts


def ranking_reports(ranking: Ranking) -> tuple[Report, ...]:
    """Build one report per standings table.

    Only the first report has an answer. If tasks are ranked one by one although the user did not
    ask for it, the first report of each task has the answer for this task. A table that an earlier
    ranker has for the same battles is not shown again: a line says that both are the same.
    """
    first = ranking.standings[0]
    are_alone = _column_ranked_alone(ranking) is not None
    reports = []
    answered = set[str | None]()
    tables = [standings_report(standings) for standings in ranking.standings]
    for k, standings in enumerate(ranking.standings):
        is_first_of_slice = standings.slice not in answered
        has_answer = standings is first or (are_alone and is_first_of_slice)
        answered.add(standings.slice)
        same = _standings_with_same_table(k, ranking.standings, tables)
        report = tables[k]
        if same is not None:
            text = f"{standings_name(standings)}: the same table as {standings_name(same)}"
            report = replace(report, table=None, notes=(text,))
        answer = standings.answer if has_answer else ()
        reports.append(replace(report, answer=answer))
    return tuple(reports)


def _standings_with_same_table(
    place: int, standings: Sequence[Standings], reports: Sequence[Report]
) -> Standings | None:
    """Return the earlier standings of the same slice and scale whose table is the same, else None.

    Args:
        place: position of the standings that are compared with those before.
        standings: all standings.
        reports: the report of each.
    """
    standings_at_place = standings[place]
    for other, report in zip(standings[:place], reports, strict=False):
        is_of_same = (other.slice, other.scale) == (
            standings_at_place.slice,
            standings_at_place.scale,
        )
        if is_of_same and report.table == reports[place].table:
            return other
    return None


def shown_reports(ranking: Ranking) -> tuple[Report, ...]:
    """Build the reports that a terminal shows.

    These are all reports, or the first `MOST_TABLES` if tasks (or metrics) are ranked one by one
    although the user did not ask for it.
    """
    reports = ranking_reports(ranking)
    return reports[:MOST_TABLES] if _column_ranked_alone(ranking) else reports


def _notice_of_hidden_tables(ranking: Ranking) -> Notice | None:
    """Return the notice of the tables that `shown_reports` leaves out; None if it shows all."""
    column = _column_ranked_alone(ranking)
    hidden = len(ranking.standings) - MOST_TABLES
    if column is None or hidden <= 0:
        return None
    fields = {"hidden": hidden, "tables": len(ranking.standings), "column": column}
    return Notice("tables-hidden", fields)


def _column_ranked_alone(ranking: Ranking) -> str | None:
    """Return the column whose values are ranked one by one without being asked for.

    The result is None if nothing was ranked one by one, or if the user asked for it.
    """
    for standings in ranking.standings:
        for warning in standings.warnings:
            if warning.code in RANKED_ALONE:
                return str(warning.fields["column"])
    return None


def standings_report(standings: Standings) -> Report:
    """Build the report of one ranker on one slice.

    A line below a row marks a cut: every model above it is clearly ahead of every model below.
    The report has no answer.
    """
    columns = _columns_of_table(standings)
    rows = []
    bars = []
    for entry in standings.entries:
        rows.append(tuple(format_cell(entry) for format_cell in columns.values()))
        bars.append(_score_with_interval(entry))
    table = Table(
        title="",
        header=tuple(columns),
        rows=tuple(rows),
        align="rl" + "r" * (len(columns) - 2),
        spare=tuple(name for name in ("win rate", "se") if name != standings.scale.name),
        rules=_rows_of_cuts(standings),
        bars=bar_column(bars, BAR_WIDTH, standings.scale.axis_format),
    )
    interval = "no interval"
    if standings.interval:
        raters = fixed_raters_of(standings)
        about = "" if raters is None else f", for {raters}"
        interval = f"{percent(standings.level)} intervals: {standings.interval}{about}"
    # The number of informative items is known where battles are ties.
    ties = " · ties count as half" if "informative_items" in standings.diagnostics else ""
    return Report(
        f"{standings_heading(standings)} · {interval}{ties}",
        table=table,
        notes=tuple(standings_notes(standings)),
    )


def _rows_of_cuts(standings: Standings) -> frozenset[int]:
    """Return the numbers, from 0, of the rows above a cut, which have a line below.

    There is none if a model has no rank set, because it would stand above or below a line.
    """
    separation = standings.separation
    if separation is None or any(entry.rank_low is None for entry in standings.entries):
        return frozenset()
    row_of_model = {entry.model: k for k, entry in enumerate(standings.entries)}
    # A cut is before the place with its number, from 0.
    models_above_cuts = [separation.names[cut - 1] for cut in separation.cuts]
    return frozenset(row_of_model[model] for model in models_above_cuts)


def _score_with_interval(entry: Entry) -> Estimate | None:
    """Return the score of a model with its sampling interval; None if it has no score."""
    if entry.score is None:
        return None
    return Estimate(value=entry.score, low=entry.low, high=entry.high)


def standings_heading(standings: Standings) -> str:
    """Return `standings_name`, and whether slices overlap."""
    overlap = " · slices overlap" if select_codes(standings.warnings, ["slices-overlap"]) else ""
    return f"{standings_name(standings)}{overlap}"


def standings_name(standings: Standings) -> str:
    """Return the ranker's name, followed by the slice in brackets if there is one."""
    if standings.slice is None:
        return standings.ranker
    return f"{standings.ranker} [{standings.shown_slice}]"


def _columns_of_table(standings: Standings) -> dict[str, Callable[[Entry], str]]:
    """Return the columns of a table: by header, the function that formats the cell of a model.

    The columns are rank, model, group (if groups never met), score, interval, standard error, rank
    set, battles and win rate. Conformal intervals, if there are any, take the place of rank sets.
    The ranker `win-rate` has no second column of win rates.
    Keys of `Entry.extra` follow as columns of their own, unless a column has this name already.
    """
    scale = standings.scale
    levels = [entry.extra.get("conformal_level") for entry in standings.entries]
    known_levels = [level for level in levels if level]
    conformal_level = known_levels[0] if known_levels else None
    sampling = f"sampling {percent(standings.level)}" if conformal_level else "interval"
    columns: dict[str, Callable[[Entry], str]] = {}
    has_order = not are_scales_unlike(standings.checks)

    def rank_text(entry: Entry) -> str:
        """Format the rank of a model; a dash if it has no score, or scores are no order."""
        return str(entry.rank) if has_order and entry.score is not None else EMPTY

    columns["rank"] = rank_text
    columns["model"] = lambda entry: f"{entry.model} *" if entry.separated else entry.model
    if standings.unconnected_groups:
        columns[GROUP] = partial(_extra_text, GROUP)
    columns[scale.title] = lambda entry: cell_text(entry.score, scale.format)
    leader_interval = leader_with_interval(standings).get("model")
    columns[sampling] = lambda entry: _marked_interval_text(
        entry, scale.format, entry.model == leader_interval
    )
    columns["se"] = lambda entry: cell_text(entry.se, scale.format)
    if conformal_level:
        name = f"conformal {percent(conformal_level)}"
        by_t = standings.diagnostics.get("conformal", {}).get("t", {})
        columns[name] = lambda entry: _conformal_text(entry, scale.format, entry.model in by_t)
    else:
        columns["rank set"] = lambda entry: range_text(entry.rank_low, entry.rank_high)
    columns["battles"] = lambda entry: f"{entry.battles:,}"
    if standings.ranker != "win-rate":
        columns.setdefault("win rate", lambda entry: number_text(entry.win_rate, digits=3))
    # All models have the same keys.
    for entry in standings.entries[:1]:
        for name in entry.extra:
            if name not in CONFORMAL_KEYS:
                columns.setdefault(name.replace("_", " "), partial(_extra_text, name))
    return columns


def _marked_interval_text(entry: Entry, style: str, is_chosen: bool) -> str:
    """Format a model's interval.

    The mark says that the data chose the model as the first one.

    Args:
        entry: the row of the model.
        style: format specification of the ends.
        is_chosen: whether `CHOSEN_MARK` stands before the interval, because the data chose the
            model as the first one.
    """
    interval = interval_text(entry.low, entry.high, style)
    return f"{CHOSEN_MARK} {interval}" if is_chosen else interval


def _extra_text(name: str, entry: Entry) -> str:
    """Format the figure with the given key in `Entry.extra`; a dash if there is none."""
    value = entry.extra.get(name)
    if value is None:
        return EMPTY
    digits = EXTRA_DIGITS.get(name, 3)
    return f"{value:,.0f}" if digits == 0 else number_text(value, digits)


def _conformal_text(entry: Entry, style: str, is_by_t: bool) -> str:
    """Format a model's conformal interval.

    A model without one gets a dash, and an infinite interval `unbounded`.

    Args:
        entry: the row of the model.
        style: format specification of the ends.
        is_by_t: whether the interval is by Student's t; `(t)` is then added.
    """
    if entry.extra.get("conformal_level") is None:
        return EMPTY
    low = entry.extra.get("conformal_low")
    high = entry.extra.get("conformal_high")
    if low is None and high is None:
        return "unbounded"
    interval = interval_text(low, high, style)
    return f"{interval} (t)" if is_by_t else interval


def battles_html(battles: Battles) -> str:
    """Render battles for a notebook: the first ten rows of their table, and their counts.

    Only the columns in `COLUMNS` are shown.
    """
    counts = battles.counts()
    first_rows = battles.table.head(NOTEBOOK_ROWS)
    names = tuple(name for name in COLUMNS if name in first_rows)
    rows = []
    for row in first_rows[list(names)].astype(object).to_numpy():
        rows.append(tuple(text_of(cell) or "" for cell in row))
    sizes = f"{quantity(len(battles.models), 'model')}, "
    sizes += counts_text(counts, battles.unparsed_reasons())
    # Floats are aligned to the right.
    are_floats = [first_rows[name].dtype.kind == "f" for name in names]
    align = "".join("r" if is_float else "l" for is_float in are_floats)
    title = "battles"
    if counts.battles > NOTEBOOK_ROWS:
        title = f"battles, the first {NOTEBOOK_ROWS} of {counts.battles:,}"
    table = Table(title="", header=names, rows=tuple(rows), align=align)
    return html_part((Report(title, table=table, notes=(sizes,)),))


def draw_battles(battles: Battles) -> Any:
    """Return the chart of the win rates of pairs; altair, an extra, is imported here.

    Raises:
        UsageError: altair is not installed.
    """
    from podium.show.pictures.charts import battles_plot

    return battles_plot(battles)


def draw_ranking(ranking: Ranking) -> Any:
    """Return the forest plot of a ranking; altair, an extra, is imported here.

    Raises:
        UsageError: altair is not installed.
    """
    from podium.show.pictures.charts import ranking_plot

    return ranking_plot(ranking)


register_view(Battles, View(html=battles_html, chart=draw_battles))
register_view(Ranking, View(ranking_reports, ranking_text, chart=draw_ranking))
