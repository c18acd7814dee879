"""Charts of rankings, matchups and calibrations as altair objects.

A chart says nothing of colours but through the theme, so that a page can show it in light and in
dark.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from podium.numbers import percent, range_text
from podium.printable import printable
from podium.rankers.calibration.calibration import Calibration
from podium.rankers.fit.cells import prepare_battles
from podium.rankers.head_to_head import matchup_table
from podium.rankers.ranking import Ranking, Standings
from podium.show.pictures.style import LIGHT, load_extra, theme

alt: Any = load_extra("altair")
WIDTH = 460
LONGEST_LABEL = 220
"""Points of an axis that names of models may take."""
MANY = 40
"""Models from which on rows are narrow."""
FEW = 14
"""Models up to which a cell has room for its figure."""
BUBBLE = 260


def forest(standings: Sequence[Standings]) -> Any:
    """Draw scores, rank sets, and sampling (thick) and conformal (thin) intervals; rankers of a
    scale side by side."""
    groups = [
        list(group)
        for _, group in groupby(standings, key=lambda each: (each.slice, each.scale.name))
    ]
    charts = [_forest_of(group) for group in groups]
    return charts[0] if len(charts) == 1 else alt.vconcat(*charts)


def _model_axis(models: Sequence[str], **axis: Any) -> Any:
    """Return the vertical axis of models in a given order."""
    return alt.Y(
        "model:N", sort=models, title=None, axis=alt.Axis(labelLimit=LONGEST_LABEL, **axis)
    )


BOUNDED = "isValid(datum.low) && isValid(datum.high)"
"""Rows with both ends of an interval, in Vega's expressions."""


def _height(models: Sequence[str]) -> int:
    return (12 if len(models) > MANY else 24) * len(models)


def _forest_of(group: Sequence[Standings]) -> Any:
    """Draw the forest plot of standings with the same scale."""
    first, several = group[0], len(group) > 1
    rows = [row for standings in group for row in forest_rows(standings)]
    order = [printable(entry.model) for entry in first.entries]
    chart = alt.Chart(alt.InlineData(values=rows)).encode(
        y=_model_axis(order), tooltip=_tooltip(rows)
    )
    if several:
        rankers = [standings.ranker for standings in group]
        shown = {"scale": alt.Scale(domain=rankers), "title": None}
        chart = chart.encode(
            yOffset=alt.YOffset("ranker:N", sort=rankers), color=alt.Color("ranker:N", **shown)
        )
    axis = {"title": f"{first.scale.title}, {percent(first.level)} intervals"}
    ticks = alt.Axis(format="d" if first.scale.is_elo else "", tickCount=6, labelFlush=False)
    layers = [
        chart.mark_rule(strokeWidth=2.5)
        .encode(x=alt.X("low:Q", **axis), x2="high:Q")
        .transform_filter(BOUNDED)
    ]
    for end, other, shape in (("low", "high", "triangle-right"), ("high", "low", "triangle-left")):
        if any(row[end] is not None and row[other] is None for row in rows):
            # An interval without a second end is drawn to the score, where a triangle says that it
            # goes on.
            opened = chart.transform_filter(f"isValid(datum.{end}) && !isValid(datum.{other})")
            layers.append(
                opened.mark_rule(strokeWidth=2.5).encode(x=alt.X(f"{end}:Q", **axis), x2="score:Q")
            )
            layers.append(
                opened.mark_point(filled=True, size=160, shape=shape).encode(
                    x=alt.X("score:Q", **axis)
                )
            )
    if any(row["conformal_low"] is not None for row in rows):
        conformal = chart.mark_rule(strokeWidth=1, strokeDash=[4, 3])
        layers.insert(
            0, conformal.encode(x=alt.X("conformal_low:Q", **axis), x2="conformal_high:Q")
        )
    x = alt.X("score:Q", scale=alt.Scale(zero=False), axis=ticks, **axis)
    point = chart.mark_point(filled=True, size=55).encode(x=x)
    layers.append(point.encode(shape=alt.Shape("ranker:N", **shown)) if several else point)
    if not several and any(row["rank set"] for row in rows):
        layers.append(
            chart.mark_text(align="left", dx=10).encode(x=alt.value("width"), text="rank set:N")
        )
    title = {} if first.slice is None else {"title": [printable(first.slice)]}
    return alt.layer(*layers).properties(
        width=WIDTH, height=_height(order) * (1.4 if several else 1), **title
    )


def forest_rows(standings: Standings) -> list[dict[str, Any]]:
    """Return the data of a forest plot, one row per model."""
    return [
        {"ranker": standings.ranker, "rank": entry.rank, "model": printable(entry.model)}
        | {name: getattr(entry, name) for name in ("score", "low", "high")}
        | {name: entry.extra.get(name) for name in ("conformal_low", "conformal_high")}
        | {
            "rank set": range_text(entry.rank_low, entry.rank_high) if entry.rank_low else "",
            "battles": entry.battles,
        }
        for entry in standings.entries
        if entry.score is not None
    ]


def rank_bubbles(names: Sequence[str], shares: np.ndarray) -> Any:
    """Draw how often each model takes each rank, as bubbles; shares of shape (models, models),
    models best first."""
    labels = list(map(printable, names))
    most = max(BUBBLE * min(1.0, 16 / max(len(names), 1)) ** 2, 30)
    x = alt.X("rank:O", title="rank", axis=alt.Axis(labelAngle=0, labelOverlap=True))
    size = alt.Size("share:Q", scale=alt.Scale(domain=[0, 1], range=[0, most]), legend=None)
    tooltip = ["model:N", "rank:O", alt.Tooltip("share:Q", format=".1%")]
    chart = alt.Chart(alt.InlineData(values=bubble_rows(labels, shares))).mark_circle()
    chart = chart.encode(x=x, y=_model_axis(labels), size=size, tooltip=tooltip)
    return chart.properties(width=WIDTH, height=_height(labels))


def bubble_rows(names: Sequence[str], shares: np.ndarray) -> list[dict[str, Any]]:
    """Return the rank shares of at least 1%, one row per bubble."""
    ranks = zip(*np.nonzero(shares >= 0.01), strict=True)
    return [
        {"model": names[k], "rank": int(j) + 1, "share": round(float(shares[k, j]), 4)}
        for k, j in ranks
    ]


def heat_map(matchups: pd.DataFrame, names: Sequence[str]) -> Any:
    """Draw win rates of row models against column models, of `matchup_table`, as a heat map in
    ranking order."""
    labels, size = list(map(printable, names)), len(names)
    angle = alt.Axis(labelAngle=-60, labelLimit=140, orient="top", labels=size <= MANY)
    scale = alt.Scale(padding=0)
    x = alt.X("against:N", title="against", axis=angle, sort=labels, scale=scale)
    y = _model_axis(labels, labels=size <= MANY).scale(padding=0)
    wins = alt.Scale(domain=[0, 1], domainMid=0.5, interpolate="rgb")
    tooltip = [
        "model:N",
        "against:N",
        alt.Tooltip("share:Q", format=".1%", title="wins"),
        "battles:Q",
        "items:Q",
    ]
    chart = alt.Chart(alt.InlineData(values=matchup_rows(matchups, names))).encode(
        x=x, y=y, tooltip=tooltip
    )
    layers = [chart.mark_rect().encode(color=alt.Color("share:Q", scale=wins, legend=None))]
    if size <= FEW:
        far = abs(alt.datum.share - 0.5) > 0.25
        for is_far, style in ((far, "on strong"), (~far, "on weak")):
            shown = chart.transform_filter(is_far).mark_text(style=style)
            layers.append(shown.encode(text=alt.Text("share:Q", format=".0%")))
    step = 36 if size <= FEW else max(4.0, WIDTH / size)
    return alt.layer(*layers).properties(width=step * size, height=min(step, 26.0) * size)


def matchup_rows(matchups: pd.DataFrame, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return one row per ordered pair of models that met, with the win rate in tenths of a
    percent."""
    sides = {side: pd.Categorical(matchups[side], names) for side in ("model", "against")}
    between = (
        matchups.assign(**sides)
        .dropna(subset=["model", "against"])
        .sort_values(["model", "against"])
    )
    return [
        row
        | {side: printable(row[side]) for side in sides}
        | {
            name: None if np.isnan(row[name]) else round(row[name], 3)
            for name in ("share", "low", "high")
        }
        for row in between.to_dict("records")
    ]


def reliability_diagram(calibration: Calibration) -> Any:
    """Draw human agreement against the agreement predicted by the judge's signal, in tenths of the
    battles."""
    bins = calibration.agreement.bins
    rows = [
        {"predicted": own.predicted, "agreed": own.agreement, "battles": own.battles}
        for own in bins
    ]
    ends = alt.Scale(domain=[0.5, 1])
    x = alt.X("predicted:Q", title="predicted agreement", scale=ends, axis=alt.Axis(format="%"))
    y = alt.Y(
        "agreed:Q", title="humans agreed", scale=alt.Scale(zero=False), axis=alt.Axis(format="%")
    )
    points = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(size=70)
        .encode(x=x, y=y, tooltip=_tooltip(rows))
    )
    return alt.layer(_diagonal(x, y, (0.5, 1)), points).properties(width=WIDTH, height=260)


def placement(calibration: Calibration) -> Any:
    """Draw the judge's ratings of held-out models against human ratings, with conformal
    intervals."""
    rows: list[dict[str, Any]] = [
        {"model": printable(held.model), "human": held.human_elo, "judge": held.rating("soft")}
        | dict(zip(("low", "high"), calibration.interval_of(held), strict=True))
        for held in calibration.models
        if held.residual("soft") is not None
    ]
    ends = {
        "scale": alt.Scale(zero=False),
        "axis": alt.Axis(format="d", tickCount=6, labelFlush=False),
    }
    axis = {"title": "Elo by the judge", **ends}
    x, y = alt.X("human:Q", title="Elo by humans", **ends), alt.Y("judge:Q", **axis)
    chart = alt.Chart(alt.InlineData(values=rows)).encode(x=x, tooltip=_tooltip(rows))
    human = [row["human"] for row in rows]
    diagonal = _diagonal(x, y, (min(human, default=0), max(human, default=1)))
    reach = chart.mark_rule(opacity=0.4, strokeWidth=2.5).encode(
        y=alt.Y("low:Q", **axis), y2="high:Q"
    )
    return alt.layer(diagonal, reach, chart.mark_point(size=45).encode(y=y)).properties(
        width=WIDTH, height=WIDTH
    )


def _diagonal(x: Any, y: Any, ends: tuple[float, float]) -> Any:
    """Draw the line of equal values on two encodings."""
    names = [channel.shorthand.removesuffix(":Q") for channel in (x, y)]
    return (
        alt.Chart(alt.InlineData(values=[dict.fromkeys(names, end) for end in ends]))
        .mark_line()
        .encode(x=x, y=y)
    )


def ranking_plot(ranking: Ranking) -> Any:
    """Draw the styled forest plot of a ranking."""
    return in_style(forest(ranking.standings))


def calibration_plot(calibration: Calibration) -> Any:
    """Draw the placement of held-out models and, if known, the reliability of the judge's
    signal."""
    charts = [
        placement(calibration),
        *([reliability_diagram(calibration)] if calibration.agreement.bins else []),
    ]
    return in_style(alt.vconcat(*charts))


def battles_plot(battles: Any) -> Any:
    """Draw the win-rate heat map of battles, models sorted by win rate."""
    matchups = matchup_table(prepare_battles(battles))
    rates = matchups.groupby("model")["share"].mean()
    return in_style(
        heat_map(matchups, rates.sort_values(ascending=False, kind="stable").index.tolist())
    )


def in_style(chart: Any) -> Any:
    """Apply podium's style on a white background."""
    return chart.configure(**theme(LIGHT))


def _tooltip(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return a tooltip with every field that has a value in any row."""
    names = [
        name
        for name in (rows[0] if rows else ())
        if any(row[name] not in (None, "") for row in rows)
    ]
    fractions = {name for name in names if any(isinstance(row[name], float) for row in rows)}
    typed = {name: alt.Tooltip(f"{name}:Q", format=".4~r") for name in fractions}
    return [typed.get(name) or alt.Tooltip(f"{name}:N") for name in names]
