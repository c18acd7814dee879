"""Messages and progress of a command, on stderr."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from podium.printable import tell
from podium.progress import tracker

if TYPE_CHECKING:
    from podium.notices.notice import Notice


def warn(warning: str) -> None:
    """Write a warning to stderr, as `warning_line` writes it."""
    tell(warning_line(warning))


def warning_line(warning: str) -> str:
    """Return a warning as a message: `warning: ...`."""
    return f"warning: {warning}"


def notice_line(notice: "Notice") -> str:
    """Return a notice as a message that begins with its severity, as `warning: ...`."""
    from podium.notices.notice_text import notice_text

    return f"{notice.severity}: {notice_text(notice)}"


def notice_lines(notices: "Iterable[Notice]") -> list[str]:
    """Return notices as messages, each with its severity; see `notice_line`."""
    return list(map(notice_line, notices))


def tell_notices(notices: "Iterable[Notice]") -> None:
    """Write notices to stderr, a line each."""
    for line in notice_lines(notices):
        tell(line)


@contextmanager
def show_progress() -> Iterator[None]:
    """Show a progress bar on stderr for each long computation in the body.

    The bar disappears when the body has ended. Nothing is shown if stderr is not a terminal.
    """
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, TimeRemainingColumn

    console = Console(stderr=True)
    with Progress(
        *Progress.get_default_columns()[:2], TimeRemainingColumn(), console=console, transient=True
    ) as bar:

        def show_steps(steps: "Sequence[Any]", what: str) -> "Iterator[Any]":
            """Return the steps one by one; the bar, labelled `what`, moves on with each."""
            return iter(bar.track(steps, description=what))

        token = tracker.set(show_steps)
        try:
            yield
        finally:
            tracker.reset(token)
