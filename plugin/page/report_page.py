"""A ranking as one self-contained page: the answer, the trust checks, and the evidence."""

from dataclasses import replace
from typing import Any

from podium.nouns.ranking import Standings
from podium.page.checks_table import checks_table
from podium.page.material import PageContent
from podium.page.packing import chart_in_page, charting_library, fill_template, read_asset
from podium.pictures.charts import bubble_rows, forest, heat_map, placement, rank_bubbles, reliability
from podium.pictures.style import DARK, LIGHT, load_extra, theme
from podium.report.calibration_view import calibration_reports
from podium.report.html import html_part, notes_part, section_part, table_part
from podium.report.model import WARNING, Report, Table
from podium.report.numbers import share_text
from podium.report.ranking_view import name_of, ranking_reports
from podium.text import some

SCRIPTS = ("tables.js", "charts.js", "battles.js")


def report_page(material: PageContent) -> str:
    """Render the page of a ranking.

    Raises:
        UsageError: altair, vl-convert or jinja2 is not installed.
    """
    markup = load_extra("markupsafe").Markup
    first = material.ranking.standings[0]
    counts = first.counts
    reports = ranking_reports(material.ranking)
    charts = _charts(material)
    data = {
        "charts": {name: chart_in_page(chart) for name, chart in charts.items()},
        "themes": {"light": theme(LIGHT), "dark": theme(DARK)},
        "battles": material.listed.document if material.listed else None,
        "order": [entry.model for entry in first.entries],
    }
    return fill_template(
        "report.html",
        [charting_library(), *map(read_asset, SCRIPTS)],
        data,
        title=f"{len(first.entries)} models, {counts.readable:,} judged battles on {counts.items:,} items",
        answer=reports[0].answer or plain_answer(first),
        rankings=[
            (name_of(standings), markup(_ranking_part(report)), f"forest-{k}")
            for k, (standings, report) in enumerate(zip(material.ranking.standings, reports, strict=True))
        ],
        checks=markup(_checks_part(material)),
        material=material,
        charts=charts,
        captions=_captions(material),
        calibration=markup(html_part(calibration_reports(material.calibration), 3)) if material.calibration else "",
        judge=[
            (
                report.title,
                markup(notes_part(report.notes) + "".join(section_part(each, 3) for each in report.sections)),
            )
            for report in material.judge
        ],
        costs=markup(table_part(material.costs)) if material.costs else "",
        provenance=markup(table_part(_provenance_table(material))),
    )


def plain_answer(first: Standings) -> tuple[str, ...]:
    """Write a simple answer from the scores, for rankings without answer sentences."""
    shared = [entry.model for entry in first.entries if entry.rank_low == 1]
    if len(shared) == 1:
        return (f"First is {shared[0]}.",)
    if shared:
        return (f"First is one of {some(shared, most=6)}: these battles do not tell more.",)
    return (f"{first.entries[0].model} has the highest score; no interval says how surely.",)


def _charts(material: PageContent) -> dict[str, Any]:
    """Build the charts of the page, by name."""
    charts = {}
    standings = material.ranking.standings
    for k, each in enumerate(standings):
        beside = [other for other in standings if (other.slice, other.scale) == (each.slice, each.scale)]
        charts[f"forest-{k}"] = forest(beside if beside[0] is each else [each])
    if material.meetings is not None:
        if material.rank_probabilities is not None:
            charts["ranks"] = rank_bubbles(material.names, material.rank_probabilities)
        charts["beats"] = heat_map(material.meetings, material.names)
    if material.calibration is not None:
        charts["placement"] = placement(material.calibration)
        if material.calibration.agreement.bins:
            charts["reliability"] = reliability(material.calibration)
    return charts


def _captions(material: PageContent) -> dict[str, str]:
    """Write a text alternative for each chart."""
    first = material.ranking.standings[0]
    captions = {
        f"forest-{k}": f"Scores of {name_of(each)} with intervals and rank sets; the table has the figures."
        for k, each in enumerate(material.ranking.standings)
    }
    if material.meetings is not None and material.rank_probabilities is not None:
        rows = bubble_rows(material.names, material.rank_probabilities)
        top = [f"{row['model']} {share_text(row['share'])}" for row in rows if row["rank"] == 1]
        captions["ranks"] = (
            f"First place: {some(top, most=5)}. Shares of 4,000 draws of Bradley-Terry ratings by their covariance "
            "over items."
        )
    captions["beats"] = (
        "A row's wins over a column's, models in ranking order: blue above one half, grey below; empty where two never "
        "met. A click on a cell, or the names below, opens its battles."
    )
    captions["placement"] = "Models that the calibration did not know, over human ratings; on the line both agree."
    captions["reliability"] = "A point is a tenth of the battles; on the line the signal is a probability."
    return captions | {"unit": "Elo" if first.scale == "elo" else first.scale}


def _ranking_part(report: Report) -> str:
    """Render the ranking table with its denominators, without bars."""
    table = table_part(replace(report.table, axis=None)) if report.table else ""
    return table + notes_part(report.notes)


def _checks_part(material: PageContent) -> str:
    """Render the table of checks, then the warnings."""
    first = material.ranking.standings[0]
    warnings = dict.fromkeys(text for each in material.ranking.standings for text in each.warnings)
    failures = (f"not ranked: {text}" for text in material.ranking.failures)
    notes = [WARNING + text for text in (*warnings, *failures)]
    return table_part(material.checks or checks_table(first, None, {})) + notes_part(notes)


def _provenance_table(material: PageContent) -> Table:
    """Build the table of sources, options and versions."""
    known = material.ranking.provenance
    options = {name: value for name, value in known.get("options", {}).items() if value not in (None, {}, [], False)}
    rows = [("sources", some(known.get("sources", ()), most=30))]
    rows += [
        (name.replace("_", " "), ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
        for name, value in options.items()
    ]
    rows += [("versions", ", ".join(f"{name} {version}" for name, version in known.get("versions", {}).items()))]
    return Table("", ("", "as it was"), tuple(rows), "ll", words=True)
