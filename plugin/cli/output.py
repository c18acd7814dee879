"""Write results to stdout or to the file of -o; messages and progress to stderr."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from podium.printable import tell
from podium.progress import tracker

if TYPE_CHECKING:
    from podium.nouns.ranking import Ranking
    from podium.report.model import Report
    from podium.storage.remote import Place

View: TypeAlias = Callable[[Any], "Sequence[Report]"]
"""From figures to what is shown of them."""


def warn(warning: str) -> None:
    """Write a warning to stderr."""
    tell(f"warning: {warning}")


def announce(ranking: "Ranking") -> None:
    """Write the warnings and failures of a ranking to stderr, each once."""
    from podium.report.ranking_view import standings_name

    for warning in dict.fromkeys(warning for standings in ranking.standings for warning in standings.warnings):
        names = [standings_name(standings) for standings in ranking.standings if warning in standings.warnings]
        whose = "" if len(names) == len(ranking.standings) else f"{', '.join(names)}: "
        warn(f"{whose}{warning}")
    for failure in ranking.failures:
        tell(f"not ranked: {failure}")


def print_reports(reports: "Sequence[Report]") -> None:
    """Write reports to stdout and flush."""
    from podium.report.terminal import terminal_text

    sys.stdout.write(terminal_text(reports, sys.stdout.isatty()))
    sys.stdout.flush()


def write_figures(figures: Any, view: View, style: str, output: "Place | None", warnings: Iterable[str] = ()) -> None:
    """Write warnings to stderr and results to a file or stdout, in the chosen style."""
    from podium.report.writers import styled_text
    from podium.storage.atomic_files import write_text

    for warning in warnings:
        warn(warning)
    if output is None:
        sys.stdout.write(styled_text(figures, style, view, sys.stdout.isatty()))
        return
    write_text(output, styled_text(figures, style, view), errors="backslashreplace")
    tell(f"wrote {output}")


def draw(figures: Any, place: "Place | None") -> None:
    """Write the chart of some results to the file of `--figure`, if given."""
    if place is not None:
        from podium.pictures.style import save

        save(figures.plot(), place)
        tell(f"wrote {place}")


@contextmanager
def show_progress() -> Iterator[None]:
    """Show a progress bar for long computations in the body; nothing if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, TimeRemainingColumn

    console = Console(stderr=True)
    with Progress(*Progress.get_default_columns()[:2], TimeRemainingColumn(), console=console, transient=True) as bar:
        token = tracker.set(lambda steps, what: iter(bar.track(steps, description=what)))
        try:
            yield
        finally:
            tracker.reset(token)
