"""A ranking as one self-contained page: the answer, the checks, and the evidence."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from podium.data.counts import Counts
from podium.diagnosis.card import card_reports
from podium.numbers import share_text
from podium.rankers.ranking import Standings
from podium.show.answers.fixed_raters import fixed_raters_of
from podium.show.page.checks_without_battles import checks_table
from podium.show.page.material import PageContent
from podium.show.page.packing import (
    chart_in_page,
    charting_library,
    pack_columns,
    read_asset,
    render_page,
)
from podium.show.page.probes_table import board_values
from podium.show.pictures.charts import (
    bubble_rows,
    forest,
    heat_map,
    placement,
    rank_bubbles,
    reliability_diagram,
)
from podium.show.pictures.style import DARK_COLOURS, LIGHT_COLOURS, theme
from podium.show.report.audit_view import LEGEND
from podium.show.report.calibration_view import calibration_reports
from podium.show.report.disclosure import disclosure_reports
from podium.show.report.html import html_part, section_body, table_part
from podium.show.report.ranking_view import (
    ranking_reports,
    ranking_warnings,
    standings_heading,
    standings_name,
)
from podium.tables import Section, Table
from podium.wording import join_names, plural, quantity, some

SCRIPTS = ("tables.js", "charts.js", "battles.js")
"""Files of the scripts of the page, after the charting library."""
CAPTIONS = {
    "ranks": (
        "First place: {top}. Shares of 4,000 draws of Bradley-Terry ratings by their covariance "
        "over {units}."
    ),
    "beats": (
        "Win rates of the row's model against the column's, in ranking order: blue above one "
        "half, grey below; empty if the two have no judged battle."
    ),
    "placement": (
        "Held-out models: the judge's rating over the human rating; on the line both agree."
    ),
    "reliability": (
        "Each point has about a tenth of the decisive battles, or more where probabilities are "
        "equal; on the line the signal is a probability."
    ),
}
"""Text alternatives of charts. `_forest_caption` writes those of forest plots."""
HOW_TO_OPEN_BATTLES = " Click on a cell, or on a button below, to open its battles."
"""Follows the caption of win rates if the page lists battles."""


def _audits_in_page(content: PageContent) -> list[dict[str, Any]] | None:
    """Return the audits for the scripts of the page, as JSON values.

    The slice of each is named as people read it. The result is None without an audit.
    """
    if content.audit is None:
        return None
    boards = content.audit.boards
    return [board.to_dict() | {"slice": board.standings.shown_slice} for board in boards]


def report_page(content: PageContent) -> str:
    """Render the page of a ranking, with one part per standings table.

    The result is an HTML document.

    Raises:
        UsageError: a library of the extra `report` is not installed.
    """
    standings = content.ranking.standings
    first = standings[0]
    reports = ranking_reports(content.ranking)
    charts = _charts(content)
    listed = content.listed
    data = {
        "charts": {name: chart_in_page(chart) for name, (chart, _) in charts.items()},
        "themes": {"light": theme(LIGHT_COLOURS), "dark": theme(DARK_COLOURS)},
        "battles": {"rows": pack_columns(listed.rows), "pool": listed.pool} if listed else None,
        "order": [entry.model for entry in first.entries],
        "units": plural(first.counts.unit, 2),
        "audits": _audits_in_page(content),
    }
    answer = reports[0].answer or plain_answer(first)
    counts = first.counts
    heading = f"{quantity(len(first.entries), 'model')}, {counts.size}, {_battles_text(counts)}"
    rankings = []
    for k, (each, report) in enumerate(zip(standings, reports, strict=True)):
        rankings.append((standings_heading(each), section_body(report.parts[0]), f"forest-{k}"))
    return render_page(
        "report",
        scripts=[charting_library(), *map(read_asset, SCRIPTS)],
        data=data,
        title=f"{answer[0]} · podium",
        heading=heading,
        answer=answer,
        rankings=rankings,
        boards=_audited_boards(content, answer),
        legend=LEGEND,
        checks=_checks_part(content),
        content=content,
        unit=counts.unit,
        charts=charts,
        calibration=_calibration_part(content),
        judge=_judge_parts(content),
        costs=table_part(content.costs) if content.costs else "",
        provenance=table_part(_provenance_table(content)),
        disclosure=_disclosure_part(content),
    )


def _calibration_part(content: PageContent) -> str:
    """Render the calibration as HTML; empty without a calibration."""
    if content.calibration is None:
        return ""
    return html_part(calibration_reports(content.calibration), heading=3)


def _disclosure_part(content: PageContent) -> str:
    """Render the disclosure as HTML; empty without a disclosure."""
    if content.disclosure is None:
        return ""
    report, *_ = disclosure_reports(content.disclosure)
    return section_body(report.sections[0])


def _judge_parts(content: PageContent) -> list[tuple[str, str]]:
    """Return the title and the HTML content of each report of the judge cards.

    The content has neither the title nor the answer of the report. The list is empty without a
    diagnosis.
    """
    if content.diagnosis is None:
        return []
    reports = card_reports(content.diagnosis)
    return [(card.title, html_part([replace(card, title="", answer=())])) for card in reports]


def _audited_boards(content: PageContent, answer: Sequence[str]) -> list[dict[str, Any]]:
    """Return what the template shows of the audit of each ranking; empty without an audit.

    Sentences that are in the answer at the top of the page are not repeated.
    """
    if content.audit is None:
        return []
    boards = []
    for board in content.audit.boards:
        values = board_values(board)
        further_sentences = [sentence for sentence in board.answer if sentence not in answer]
        boards.append({**values, "answer": further_sentences})
    return boards


def plain_answer(first: Standings) -> tuple[str, ...]:
    """Write who is first, for standings without answer sentences.

    The models whose rank sets include rank 1 are named, at most six of them. Without rank sets,
    it is the model with the highest score. None is named if groups of models never met.

    Args:
        first: the standings.

    Returns:
        A tuple of one sentence.
    """
    if first.unconnected_groups:
        number = len(first.unconnected_groups)
        return (f"{number} groups of models never met, so that no model is first of all.",)
    candidates = [entry.model for entry in first.entries if entry.rank_low == 1]
    if len(candidates) == 1:
        return (f"First is {candidates[0]}.",)
    if candidates:
        return (f"The first place is too close to call between {some(candidates, most=6)}.",)
    return (
        f"{first.entries[0].model} has the highest score; there is no interval to compare it by.",
    )


def _charts(content: PageContent) -> dict[str, tuple[Any, str]]:
    """Return each chart of the page and its text alternative, by the chart's name.

    There is a forest plot per standings table, `forest-0` and so on; the first table of a slice and
    scale has a plot of all tables of this slice and scale. Bubbles need rank probabilities, the
    heat map win rates of pairs, the other charts a calibration; without these they are left out.
    """
    charts = {}
    standings = content.ranking.standings
    for k, standings_of_slice in enumerate(standings):
        on_same_axis = [
            other
            for other in standings
            if other.slice == standings_of_slice.slice
            and other.scale.name == standings_of_slice.scale.name
        ]
        # The chart of the first of these shows them all, the chart of another one only itself.
        is_first = on_same_axis[0] is standings_of_slice
        drawn_standings = on_same_axis if is_first else [standings_of_slice]
        charts[f"forest-{k}"] = (forest(drawn_standings), _forest_caption(drawn_standings))
    if content.matchups is not None:
        shares = content.rank_probabilities
        if shares is not None:
            shares_of_first = []
            for row in bubble_rows(content.names, shares):
                if row["rank"] == 1:
                    shares_of_first.append(f"{row['model']} {share_text(row['share'])}")
            top = some(shares_of_first, most=5)
            bubbles = rank_bubbles(content.names, shares)
            units = plural(standings[0].counts.unit, 2)
            charts["ranks"] = (bubbles, CAPTIONS["ranks"].format(top=top, units=units))
        caption = CAPTIONS["beats"] + (HOW_TO_OPEN_BATTLES if content.listed else "")
        charts["beats"] = (heat_map(content.matchups, content.names), caption)
    if content.calibration is not None:
        charts["placement"] = (placement(content.calibration), CAPTIONS["placement"])
        if content.calibration.agreement.bins:
            charts["reliability"] = (
                reliability_diagram(content.calibration),
                CAPTIONS["reliability"],
            )
    return charts


def _forest_caption(drawn_standings: Sequence[Standings]) -> str:
    """Return the text alternative of a forest plot.

    Intervals and rank sets are mentioned only if a model has one, and then also the judges or
    voters that they are about, if they leave out how these differ.
    """
    entries = [entry for each in drawn_standings for entry in each.entries]
    parts = []
    if any(entry.low is not None or entry.high is not None for entry in entries):
        parts.append("intervals")
    if any(entry.rank_low is not None for entry in entries):
        parts.append("rank sets")
    with_parts = f" with {join_names(parts)}" if parts else ""
    names = join_names([standings_name(each) for each in drawn_standings])
    # All standings of a chart are of the same verdicts.
    raters = fixed_raters_of(drawn_standings[0])
    about = f", for {raters}" if parts and raters else ""
    return f"Scores of {names}{with_parts}{about}; the table has the figures."


def _battles_text(counts: Counts) -> str:
    """Return the number of battles, followed by how many have a credit if not all have."""
    battles = f"{counts.battles:,} {plural('battle', counts.battles)}"
    return f"{battles}, {counts.readable:,} of them judged" if counts.unparsed else battles


def _checks_part(content: PageContent) -> str:
    """Render the checks and the warnings of a ranking as HTML.

    The table of checks is left out if there is an audit.
    """
    tables = () if content.audit else (checks_table(content.ranking.standings[0]),)
    failures = tuple(f"not ranked: {failure}" for failure in content.ranking.failures)
    warnings = tuple(ranking_warnings(content.ranking))
    return section_body(
        Section(name="", title="", tables=tables, notes=failures, warnings=warnings)
    )


def _provenance_table(content: PageContent) -> Table:
    """Build the table of sources, options and versions.

    Options that are None, empty or False are left out, and at most 30 sources are named.
    """
    provenance = content.ranking.provenance
    rows = [("sources", some(provenance.get("sources", ()), most=30))]
    for name, value in provenance.get("options", {}).items():
        if value not in (None, {}, [], False):
            values = value if isinstance(value, list | tuple) else [value]
            text = ", ".join(map(str, values))
            rows.append((name.replace("_", " "), text))
    versions = [f"{name} {version}" for name, version in provenance.get("versions", {}).items()]
    rows.append(("versions", ", ".join(versions)))
    return Table(title="", header=("", "as it was"), rows=tuple(rows), align="ll", words=True)
