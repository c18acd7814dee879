"""Results that can be written as JSON, and the registry of the views that show them.

The class of a result (a ranking, a plan) does not know how it is shown. Another module makes its
reports, text or charts, and registers the functions here as a `View` when it is imported.
`podium.show.views` imports those of rankings, audits, calibrations and battles.
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
    """The functions that show results of one class.

    Attributes:
        reports: makes the reports (`podium.tables.Report`) of a result; None if it has none.
        text: makes the text that `print` shows; None for `repr`.
        html: makes the HTML that notebooks show; None for the HTML of `reports`.
        chart: makes an altair chart of a result; None if it has none.
    """

    reports: Callable[[Any], Sequence[Any]] | None = None
    text: Callable[[Any], str] | None = None
    html: Callable[[Any], str] | None = None
    chart: Callable[[Any], Any] | None = None


_VIEWS: dict[type, View] = {}
"""The registered views, by class of the result. Subclasses are not looked up."""
_HTML_WRITERS: list[HtmlWriter] = []
"""The registered function that renders reports as HTML; empty if there is none."""


def register_view(kind: type, view: View) -> None:
    """Register how results of a class are shown; a later registration replaces an earlier one."""
    _VIEWS[kind] = view


def register_html_writer(write: HtmlWriter) -> None:
    """Register the function that renders reports for notebooks, in place of an earlier one."""
    _HTML_WRITERS[:] = [write]


def reports_of(result: object) -> tuple[Any, ...]:
    """Return the reports that show a result.

    Raises:
        PodiumError: no view of its class makes reports.
    """
    view = _VIEWS.get(type(result), View())
    if view.reports is None:
        raise PodiumError(f"no reports of {type(result).__name__} are registered")
    return tuple(view.reports(result))


def text_of_result(result: object) -> str:
    """Return what `print` shows of a result, without line breaks at the end.

    The text is the `repr` of the result if its view makes no text.
    """
    view = _VIEWS.get(type(result), View())
    return repr(result) if view.text is None else view.text(result).rstrip("\n")


def html_of_result(result: object) -> str | None:
    """Return the HTML that notebooks show of a result.

    The HTML is that of its view or, if the view makes none, that of its reports. The result is None
    if the view has neither, or if no function that renders reports is registered; IPython then
    shows the `repr`.
    """
    view = _VIEWS.get(type(result), View())
    if view.html is not None:
        return view.html(result)
    if view.reports is None or not _HTML_WRITERS:
        return None
    return _HTML_WRITERS[0](view.reports(result))


def chart_of_result(result: object) -> Any:
    """Return the altair chart of a result.

    Raises:
        PodiumError: no view of its class makes charts.
    """
    view = _VIEWS.get(type(result), View())
    if view.chart is None:
        raise PodiumError(f"no chart of {type(result).__name__} is registered")
    return view.chart(result)


class Document:
    """Base of results that can be written as JSON."""

    __slots__ = ()

    def reports(self) -> tuple[Any, ...]:
        """Return the reports that show this document.

        Raises:
            PodiumError: no view of its class makes reports.
        """
        return reports_of(self)

    def _repr_html_(self) -> str | None:
        """Return the HTML for notebooks; None if there is none (see `html_of_result`)."""
        return html_of_result(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the document as plain Python values. Each subclass defines this method."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return the document as JSON text.

        Raises:
            ValueError: a number is NaN or infinite.
        """
        return json_text(self.to_dict())
