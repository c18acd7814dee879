"""Charts of rankings, matchups and calibrations as altair objects.

Only the theme sets colours, so that a page can show a chart in light and in dark.
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
from podium.show.pictures.style import LIGHT_COLOURS, load_extra, theme

alt: Any = load_extra("altair")
WIDTH = 460
"""Width of a chart in points."""
LONGEST_LABEL = 220
"""Names of models on an axis are cut if they are wider than this, in points."""
MOST_NAMED = 40
"""Charts of more models than this have narrow rows, and their heat maps have no names on the
axes."""
MOST_WITH_FIGURES = 14
"""The cells of a heat map show their figures only up to this number of models."""
LARGEST_BUBBLE = 260
"""Largest area of a bubble, for a share of 100%, in square points."""


def forest(standings: Sequence[Standings]) -> Any:
    """Draw a forest plot: scores, rank sets and intervals of models.

    Sampling intervals are thick, conformal ones thin and dashed. Consecutive standings of one slice
    and scale share a chart; several charts stand one below the other. Rank sets are written only in
    a chart of a single ranker.
    """
    by_scale = groupby(standings, key=lambda each: (each.slice, each.scale.name))
    charts = [_forest_of(list(group)) for _, group in by_scale]
    if len(charts) == 1:
        return charts[0]
    return alt.vconcat(*charts)


def _data_of(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as the data of a chart.

    They are not checked against the schema of Vega-Lite, which allows any object as a row and takes
    a tenth of a millisecond for each.
    """
    with alt.utils.schemapi.debug_mode(False):
        return alt.InlineData(values=rows)


def _model_axis(models: Sequence[str], **axis: Any) -> Any:
    """Return the vertical axis with a row per model, in the given order.

    Args:
        models: names of the models, the first at the top.
        **axis: further arguments of altair's `Axis`.
    """
    return alt.Y(
        "model:N", sort=models, title=None, axis=alt.Axis(labelLimit=LONGEST_LABEL, **axis)
    )


HAS_BOTH_ENDS = "isValid(datum.low) && isValid(datum.high)"
"""Vega's expression that selects the rows in which both ends of the interval are known."""
INTERVAL_LINE = {"strokeWidth": 2.5}
"""Line of a sampling interval."""
CONFORMAL_LINE = {"strokeWidth": 1, "strokeDash": [4, 3]}
"""Line of a conformal interval."""


def _chart_height(models: Sequence[str]) -> int:
    """Return the height in points of a chart with a row per model."""
    return (12 if len(models) > MOST_NAMED else 24) * len(models)


def _forest_of(group: Sequence[Standings]) -> Any:
    """Draw the forest plot of standings with the same slice and scale.

    The models are in the order of the first standings. Several rankers are distinguished by colour
    and shape, and a single one has its rank sets beside the intervals.
    """
    first = group[0]
    rankers = [standings.ranker for standings in group]
    rows = [row for standings in group for row in forest_rows(standings)]
    order = [printable(entry.model) for entry in first.entries]
    height: float = _chart_height(order)
    title = f"{first.scale.title}, {percent(first.level)} intervals"
    ticks = alt.Axis(format="d" if first.scale.is_elo else "", tickCount=6, labelFlush=False)
    x = alt.X("score:Q", scale=alt.Scale(zero=False), axis=ticks, title=title)
    chart = alt.Chart(_data_of(rows)).encode(y=_model_axis(order), tooltip=_tooltip_fields(rows))
    if len(rankers) == 1:
        points = chart.mark_point(filled=True, size=55).encode(x=x)
    else:
        height = 1.4 * height
        legend = {"scale": alt.Scale(domain=rankers), "title": None}
        chart = chart.encode(
            yOffset=alt.YOffset("ranker:N", sort=rankers), color=alt.Color("ranker:N", **legend)
        )
        points = chart.mark_point(filled=True, size=55).encode(
            x=x, shape=alt.Shape("ranker:N", **legend)
        )
    layers = [*_interval_layers(chart, rows, title), points]
    has_rank_sets = any(row["rank set"] for row in rows)
    if len(rankers) == 1 and has_rank_sets:
        rank_sets = chart.mark_text(align="left", dx=10)
        layers.append(rank_sets.encode(x=alt.value("width"), text="rank set:N"))
    picture = alt.layer(*layers).properties(width=WIDTH, height=height)
    if first.shown_slice is not None:
        picture = picture.properties(title=[printable(first.shown_slice)])
    return picture


def _interval_layers(chart: Any, rows: Sequence[Mapping[str, Any]], title: str) -> list[Any]:
    """Return the layers that draw intervals: conformal ones, bounded ones, and those with one end.

    Layers without any interval are left out, except the layer of bounded ones.

    Args:
        chart: the chart of the rows, with its vertical axis.
        rows: rows of `forest_rows`.
        title: title of the horizontal axis.
    """
    layers = []
    if any(row["conformal_level"] is not None for row in rows):
        layers += _conformal_layers(chart, rows, title)
    bounded = chart.mark_rule(**INTERVAL_LINE).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    layers.append(bounded.transform_filter(HAS_BOTH_ENDS))
    if _has_interval_with_one_end(rows, known_end="low", unknown_end="high"):
        layers += _unbounded_layers(
            chart, known_end="low", unknown_end="high", shape="triangle-right", title=title
        )
    if _has_interval_with_one_end(rows, known_end="high", unknown_end="low"):
        layers += _unbounded_layers(
            chart, known_end="high", unknown_end="low", shape="triangle-left", title=title
        )
    return layers


def _conformal_layers(chart: Any, rows: Sequence[Mapping[str, Any]], title: str) -> list[Any]:
    """Return the layers that draw conformal intervals with two ends or one, as thin dashed lines.

    The arguments are those of `_interval_layers`.
    """
    is_bounded = "isValid(datum.conformal_low) && isValid(datum.conformal_high)"
    rules = chart.transform_filter(is_bounded).mark_rule(**CONFORMAL_LINE)
    low = alt.X("conformal_low:Q", title=title)
    layers = [rules.encode(x=low, x2="conformal_high:Q")]
    for known_end, unknown_end, shape in (
        ("conformal_low", "conformal_high", "triangle-right"),
        ("conformal_high", "conformal_low", "triangle-left"),
    ):
        if _has_interval_with_one_end(rows, known_end, unknown_end):
            layers += _unbounded_layers(
                chart, known_end, unknown_end, shape, title, line=CONFORMAL_LINE
            )
    return layers


def _has_interval_with_one_end(
    rows: Sequence[Mapping[str, Any]], known_end: str, unknown_end: str
) -> bool:
    """Return whether a row has a value for one end of its interval only.

    Args:
        rows: rows of `forest_rows`.
        known_end: field of the end that is known.
        unknown_end: field of the end that is None.
    """
    return any(row[known_end] is not None and row[unknown_end] is None for row in rows)


def _unbounded_layers(
    chart: Any,
    known_end: str,
    unknown_end: str,
    shape: str,
    title: str,
    line: Mapping[str, Any] = INTERVAL_LINE,
) -> list[Any]:
    """Return the layers with intervals that have one end only.

    Such an interval is drawn from its end to the score, where a triangle shows that it goes on.

    Args:
        chart: the chart of the rows, with its vertical axis.
        known_end: the end that is known, `low` or `high`.
        unknown_end: the end that is unknown.
        shape: Vega's name of the triangle.
        title: title of the horizontal axis.
        line: width and dashes of the line.
    """
    rows = chart.transform_filter(f"isValid(datum.{known_end}) && !isValid(datum.{unknown_end})")
    rules = rows.mark_rule(**line)
    triangles = rows.mark_point(filled=True, size=160, shape=shape)
    return [
        rules.encode(x=alt.X(f"{known_end}:Q", title=title), x2="score:Q"),
        triangles.encode(x=alt.X("score:Q", title=title)),
    ]


def forest_rows(standings: Standings) -> list[dict[str, Any]]:
    """Return the data of a forest plot, one row per model with a score, in the ranking's order.

    Ends of intervals are None if unknown or infinite, and `rank set` is empty if there is none. The
    keys are `ranker`, `rank`, `model`, `score`, `low`, `high`, `conformal_low`, `conformal_high`,
    `conformal_level`, `rank set` and `battles`.
    """
    rows = []
    for entry in standings.entries:
        if entry.score is None:
            continue
        row = {
            "ranker": standings.ranker,
            "rank": entry.rank,
            "model": printable(entry.model),
            "score": entry.score,
            "low": entry.low,
            "high": entry.high,
            "conformal_low": entry.extra.get("conformal_low"),
            "conformal_high": entry.extra.get("conformal_high"),
            "conformal_level": entry.extra.get("conformal_level"),
            "rank set": range_text(entry.rank_low, entry.rank_high) if entry.rank_low else "",
            "battles": entry.battles,
        }
        rows.append(row)
    return rows


def rank_bubbles(names: Sequence[str], shares: np.ndarray) -> Any:
    """Draw how often each model takes each rank, as bubbles.

    Args:
        names: the models, best first.
        shares: share of draws in which a model (row) takes a rank (column), shape (models,
            models).
    """
    labels = list(map(printable, names))
    # Bubbles shrink with more than 16 models, down to an area of 30.
    scale = min(1.0, 16 / max(len(names), 1))
    largest_area = max(LARGEST_BUBBLE * scale**2, 30)
    x = alt.X("rank:O", title="rank", axis=alt.Axis(labelAngle=0, labelOverlap=True))
    areas = alt.Scale(domain=[0, 1], range=[0, largest_area])
    size = alt.Size("share:Q", scale=areas, legend=None)
    tooltip = ["model:N", "rank:O", alt.Tooltip("share:Q", format=".1%")]
    chart = alt.Chart(_data_of(bubble_rows(labels, shares))).mark_circle()
    chart = chart.encode(x=x, y=_model_axis(labels), size=size, tooltip=tooltip)
    return chart.properties(width=WIDTH, height=_chart_height(labels))


def bubble_rows(names: Sequence[str], shares: np.ndarray) -> list[dict[str, Any]]:
    """Return the data of `rank_bubbles`, a row per share of at least 1%.

    The keys are `model`, `rank` (from 1) and `share`. Rows are in the order of the models.
    """
    ranks = zip(*np.nonzero(shares >= 0.01), strict=True)
    return [
        {"model": names[k], "rank": int(j) + 1, "share": round(float(shares[k, j]), 4)}
        for k, j in ranks
    ]


def heat_map(matchups: pd.DataFrame, names: Sequence[str]) -> Any:
    """Draw win rates of row models against column models as a heat map.

    Cells show their win rates for at most `MOST_WITH_FIGURES` models, and the axes names for at
    most `MOST_NAMED`.

    Args:
        matchups: rows of `matchup_table`.
        names: the models, best first.
    """
    labels = list(map(printable, names))
    size = len(names)
    angle = alt.Axis(labelAngle=-60, labelLimit=140, orient="top", labels=(size <= MOST_NAMED))
    scale = alt.Scale(padding=0)
    x = alt.X("against:N", title="against", axis=angle, sort=labels, scale=scale)
    y = _model_axis(labels, labels=(size <= MOST_NAMED)).scale(padding=0)
    wins = alt.Scale(domain=[0, 1], domainMid=0.5, interpolate="rgb")
    tooltip = [
        "model:N",
        "against:N",
        alt.Tooltip("share:Q", format=".1%", title="wins"),
        "battles:Q",
        "items:Q",
    ]
    chart = alt.Chart(_data_of(matchup_rows(matchups, names))).encode(x=x, y=y, tooltip=tooltip)
    layers = [chart.mark_rect().encode(color=alt.Color("share:Q", scale=wins, legend=None))]
    if size <= MOST_WITH_FIGURES:
        # Text on a strong colour is light, text on a weak one dark.
        is_strong = abs(alt.datum.share - 0.5) > 0.25
        for condition, style in ((is_strong, "on strong"), (~is_strong, "on weak")):
            texts = chart.transform_filter(condition).mark_text(style=style)
            layers.append(texts.encode(text=alt.Text("share:Q", format=".0%")))
    step = 36 if size <= MOST_WITH_FIGURES else max(4.0, WIDTH / size)
    return alt.layer(*layers).properties(width=step * size, height=min(step, 26.0) * size)


def matchup_rows(matchups: pd.DataFrame, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the data of a heat map: one row per ordered pair of models that met.

    Models that are not in `names` are left out. Rows have the columns of `matchups` as keys and the
    order of `names`; win rates have three decimals, None if unknown.
    """
    sides = ["model", "against"]
    in_order = {side: pd.Categorical(matchups[side], names) for side in sides}
    between = matchups.assign(**in_order).dropna(subset=sides).sort_values(sides)
    rows = between.to_dict("records")
    for row in rows:
        for side in sides:
            row[side] = printable(row[side])
        for name in ("share", "low", "high"):
            value = row[name]
            row[name] = None if np.isnan(value) else round(value, 3)
    return rows


def reliability_diagram(calibration: Calibration) -> Any:
    """Draw how often humans agreed with the judge over the agreement that its signal predicts.

    Each point has about a tenth of the decisive battles, or more where predictions are equal.
    """
    bins = calibration.agreement.bins
    rows = [
        {"predicted": each_bin.predicted, "agreed": each_bin.agreement, "battles": each_bin.battles}
        for each_bin in bins
    ]
    predicted_scale = alt.Scale(domain=[0.5, 1])
    x = alt.X(
        "predicted:Q", title="predicted agreement", scale=predicted_scale, axis=alt.Axis(format="%")
    )
    y = alt.Y(
        "agreed:Q", title="humans agreed", scale=alt.Scale(zero=False), axis=alt.Axis(format="%")
    )
    points = (
        alt.Chart(_data_of(rows))
        .mark_point(size=70)
        .encode(x=x, y=y, tooltip=_tooltip_fields(rows))
    )
    return alt.layer(_diagonal_line(x, y, (0.5, 1)), points).properties(width=WIDTH, height=260)


def placement(calibration: Calibration) -> Any:
    """Draw the judge's ratings of held-out models over human ratings, with conformal intervals.

    Models without a soft rating or a human rating are left out.
    """
    rows: list[dict[str, Any]] = []
    for held_out in calibration.models:
        if held_out.residual("soft") is None:
            continue
        low, high = calibration.interval_of(held_out)
        row = {"model": printable(held_out.model), "human": held_out.human_elo}
        rows.append(row | {"judge": held_out.rating("soft"), "low": low, "high": high})
    axis_options = {
        "scale": alt.Scale(zero=False),
        "axis": alt.Axis(format="d", tickCount=6, labelFlush=False),
    }
    axis = {"title": "Elo by the judge", **axis_options}
    x = alt.X("human:Q", title="Elo by humans", **axis_options)
    y = alt.Y("judge:Q", **axis)
    chart = alt.Chart(_data_of(rows)).encode(x=x, tooltip=_tooltip_fields(rows))
    human_ratings = [row["human"] for row in rows]
    ends = (min(human_ratings, default=0), max(human_ratings, default=1))
    diagonal = _diagonal_line(x, y, ends)
    intervals = chart.mark_rule(opacity=0.4, strokeWidth=2.5).encode(
        y=alt.Y("low:Q", **axis), y2="high:Q"
    )
    points = chart.mark_point(size=45).encode(y=y)
    return alt.layer(diagonal, intervals, points).properties(width=WIDTH, height=WIDTH)


def _diagonal_line(x: Any, y: Any, ends: tuple[float, float]) -> Any:
    """Draw the line on which the values of both axes are equal.

    Args:
        x: the horizontal axis of a chart.
        y: its vertical axis.
        ends: values at which the line begins and ends.
    """
    names = [channel.shorthand.removesuffix(":Q") for channel in (x, y)]
    return (
        alt.Chart(_data_of([dict.fromkeys(names, end) for end in ends]))
        .mark_line()
        .encode(x=x, y=y)
    )


def ranking_plot(ranking: Ranking) -> Any:
    """Return the forest plot of a ranking in podium's style."""
    return apply_style(forest(ranking.standings))


def calibration_plot(calibration: Calibration) -> Any:
    """Return the charts of a calibration in podium's style, one below the other.

    These are `placement` and, if the calibration has bins of agreement, `reliability_diagram`.
    """
    charts = [placement(calibration)]
    if calibration.agreement.bins:
        charts.append(reliability_diagram(calibration))
    return apply_style(alt.vconcat(*charts))


def battles_plot(battles: Any) -> Any:
    """Draw the win-rate heat map of battles.

    Models are sorted by their mean win rate over opponents, the highest first.

    Args:
        battles: a `Battles`.

    Raises:
        NotIdentifiedError: no battle has a readable verdict.
    """
    matchups = matchup_table(prepare_battles(battles))
    rates = matchups.groupby("model")["share"].mean()
    best_first = rates.sort_values(ascending=False, kind="stable").index.tolist()
    return apply_style(heat_map(matchups, best_first))


def apply_style(chart: Any) -> Any:
    """Return a chart with podium's style on a white background."""
    return chart.configure(**theme(LIGHT_COLOURS))


def _tooltip_fields(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the fields of a tooltip: those that have a value in some row.

    A field with a float in any row is written with four significant digits.
    """
    fields = []
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        if all(value in (None, "") for value in values):
            continue
        if any(isinstance(value, float) for value in values):
            fields.append(alt.Tooltip(f"{name}:Q", format=".4~r"))
        else:
            fields.append(alt.Tooltip(f"{name}:N"))
    return fields
