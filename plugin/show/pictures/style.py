"""The style of all pictures, and how pictures are written to files."""

from importlib import import_module
from types import ModuleType
from typing import Any

from podium.errors import UsageError, install_hint
from podium.storage.atomic_files import atomic_file
from podium.storage.remote import Place

FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"
"""Fonts of pictures, as a CSS list."""
LIGHT_COLOURS = {
    "ink": "#1c2127",
    "grey": "#646c76",
    "faint": "#dfe3e8",
    "paper": "#ffffff",
    "accent": "#1d5fbf",
}
"""Colours by role on a light background.

The roles are `ink` for text, `grey` and `faint` for what is not data, `paper` for the background,
and `accent` for data.
"""
DARK_COLOURS = {
    "ink": "#e8eaed",
    "grey": "#a2aab4",
    "faint": "#3a4048",
    "paper": "#15181c",
    "accent": "#8ab8ff",
}
"""Colours by role on a dark background, with the roles of `LIGHT_COLOURS`."""
SHARPNESS = 3.0
"""A PNG has this many pixels per point."""


def load_extra(name: str) -> ModuleType:
    """Import a library of the extra `report`, and return the module.

    Raises:
        UsageError: the library is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise UsageError(
            f"figures and pages need {name}, which is not installed: {install_hint('report')}"
        ) from None


def theme(colours: dict[str, str]) -> dict[str, Any]:
    """Return Vega-Lite's configuration: no frame, no ticks, and grid lines for the values only.

    Args:
        colours: colours by role, as in `LIGHT_COLOURS` and `DARK_COLOURS`.
    """
    ink = colours["ink"]
    grey = colours["grey"]
    faint = colours["faint"]
    paper = colours["paper"]
    accent = colours["accent"]
    label_colours = {"labelColor": ink, "titleColor": grey}
    text_style = label_colours | {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    }
    return {
        "font": FONT,
        "background": paper,
        "view": {"stroke": None},
        "axis": {
            **text_style,
            "domain": False,
            "ticks": False,
            "gridColor": faint,
            "labelPadding": 6,
            "titlePadding": 8,
        },
        "axisY": {"grid": False},
        "legend": {**text_style, "symbolStrokeWidth": 2, "orient": "top", "title": None},
        "title": {"color": ink, "fontSize": 13, "anchor": "start", "fontWeight": 600},
        "header": label_colours,
        "point": {"color": accent, "filled": True, "opacity": 1},
        "circle": {"color": accent, "opacity": 1},
        "line": {"color": grey, "strokeWidth": 1},
        "rule": {"color": accent},
        "text": {"color": grey, "fontSize": 11},
        "rect": {"stroke": paper, "strokeWidth": 1},
        "style": {"on strong": {"color": paper}, "on weak": {"color": ink}},
        "range": {"category": [accent, grey, ink], "diverging": [grey, paper, accent]},
    }


def save(chart: Any, place: Place) -> None:
    """Write a chart atomically as SVG, PNG or PDF. The suffix of the place decides the format.

    Raises:
        UsageError: vl-convert is not installed.
        OSError: the file cannot be written.
    """
    load_extra("vl_convert")
    scale = {"scale_factor": SHARPNESS} if place.suffix == ".png" else {}
    mode = "w" if place.suffix == ".svg" else "wb"
    with atomic_file(place) as picture, picture.open(mode) as stream:
        chart.save(stream, format=place.suffix.removeprefix("."), **scale)
