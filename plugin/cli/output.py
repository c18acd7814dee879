"""Write results to stdout or to the file of -o; messages and progress to stderr."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from podium.printable import tell
from podium.progress import tracker
from podium.show.report.styles import View, styled_text

if TYPE_CHECKING:
    from podium.rankers.ranking import Ranking
    from podium.storage.remote import Place
    from podium.tables import Report


def warn(warning: str) -> None:
    """Write a warning to stderr."""
    tell(f"warning: {warning}")


def announce(ranking: "Ranking") -> None:
    """Write the warnings and failures of a ranking to stderr, each once."""
    from podium.show.report.ranking_view import ranking_messages

    for message in ranking_messages(ranking):
        tell(message)


def print_reports(reports: "Sequence[Report]") -> None:
    """Write reports to stdout and flush."""
    from podium.show.report.terminal import terminal_text

    sys.stdout.write(terminal_text(reports, sys.stdout.isatty()))
    sys.stdout.flush()


def usual_view(figures: Any) -> "Sequence[Report]":
    """Return the reports of results, with the views of podium's own results registered."""
    import podium.show.views  # noqa: F401 - registers them

    return figures.reports()


def write_figures(
    figures: Any,
    style: str,
    output: "Place | None",
    warnings: Iterable[str] = (),
    view: View = usual_view,
) -> None:
    """Write warnings to stderr and results to a file or stdout, in the chosen style."""
    from podium.storage.atomic_files import write_text

    for warning in warnings:
        warn(warning)
    if output is not None:
        write_text(output, styled_text(figures, style, view), errors="backslashreplace")
        tell(f"wrote {output}")
    elif style == "table":
        print_reports(view(figures))
    else:
        sys.stdout.write(styled_text(figures, style, view))


def draw(figures: Any, place: "Place | None") -> None:
    """Write the chart of some results to the file of `--figure`, if given."""
    if place is not None:
        import podium.show.views  # noqa: F401 - registers the charts
        from podium.show.pictures.style import save

        save(figures.plot(), place)
        tell(f"wrote {place}")


@contextmanager
def show_progress() -> Iterator[None]:
    """Show a progress bar for long computations in the body; nothing if stderr is not a
    terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, TimeRemainingColumn

    console = Console(stderr=True)
    with Progress(
        *Progress.get_default_columns()[:2], TimeRemainingColumn(), console=console, transient=True
    ) as bar:
        token = tracker.set(lambda steps, what: iter(bar.track(steps, description=what)))
        try:
            yield
        finally:
            tracker.reset(token)
