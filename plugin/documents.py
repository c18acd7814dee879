"""Results that can be written as JSON, and the registry of the views that show them.

A result (a ranking, a plan) does not know how it is shown. The module that makes reports, text or
charts of it registers them here; `podium.show.views` registers those of rankings, calibrations and
battles, and the writer of HTML.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from podium.errors import PodiumError
from podium.text import json_text

HtmlWriter = Callable[[Sequence[Any]], str]
"""A function from reports to HTML."""


@dataclass(frozen=True, slots=True)
class View:
    """How results of one class are shown; None where there is no such form.

    Attributes:
        reports: from a result to its reports (`podium.tables.Report`).
        text: from a result to what `print` shows; the usual representation without it.
        html: from a result to what notebooks show; its reports as HTML without it.
        chart: from a result to an altair chart.
    """

    reports: Callable[[Any], Sequence[Any]] | None = None
    text: Callable[[Any], str] | None = None
    html: Callable[[Any], str] | None = None
    chart: Callable[[Any], Any] | None = None


_VIEWS: dict[type, View] = {}
_HTML_WRITERS: list[HtmlWriter] = []


def register_view(kind: type, view: View) -> None:
    """Register how results of a class are shown; a later registration replaces an earlier one."""
    _VIEWS[kind] = view


def register_html_writer(write: HtmlWriter) -> None:
    """Register the function that renders reports for notebooks."""
    _HTML_WRITERS[:] = [write]


def reports_of(result: object) -> tuple[Any, ...]:
    """Return the reports that show a result; PodiumError if no view of its class makes reports."""
    view = _VIEWS.get(type(result), View())
    if view.reports is None:
        raise PodiumError(f"no reports of {type(result).__name__} are registered")
    return tuple(view.reports(result))


def text_of_result(result: object) -> str:
    """Return what `print` shows of a result; its usual representation if its view has no text."""
    view = _VIEWS.get(type(result), View())
    return repr(result) if view.text is None else view.text(result).rstrip("\n")


def html_of_result(result: object) -> str | None:
    """Return what notebooks show of a result; None, by which IPython falls back to its usual
    representation, if no view is registered."""
    view = _VIEWS.get(type(result), View())
    if view.html is not None:
        return view.html(result)
    if view.reports is None or not _HTML_WRITERS:
        return None
    return _HTML_WRITERS[0](view.reports(result))


def chart_of_result(result: object) -> Any:
    """Return the altair chart of a result; PodiumError if its view has none."""
    view = _VIEWS.get(type(result), View())
    if view.chart is None:
        raise PodiumError(f"no chart of {type(result).__name__} is registered")
    return view.chart(result)


class Document:
    """Base of results that can be written as JSON."""

    __slots__ = ()

    def reports(self) -> tuple[Any, ...]:
        """Return the reports that show this document."""
        return reports_of(self)

    def _repr_html_(self) -> str | None:
        """Return the HTML for notebooks."""
        return html_of_result(self)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain Python values."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return a JSON document, in which NaN and infinity never occur."""
        return json_text(self.to_dict())
