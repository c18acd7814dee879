"""A progress bar on stderr for long work; nothing when stderr is not a terminal."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Progress, TimeRemainingColumn

from podium.progress import tracker


@contextmanager
def show_progress() -> Iterator[None]:
    """Show the steps of long computations while the body runs."""
    if not sys.stderr.isatty():
        yield
        return
    console = Console(stderr=True)
    with Progress(*Progress.get_default_columns()[:2], TimeRemainingColumn(), console=console, transient=True) as bar:

        def follow(steps: Sequence[Any], what: str) -> Iterator[Any]:
            """Iterate over steps while updating the progress bar."""
            return iter(bar.track(steps, description=what))

        token = tracker.set(follow)
        try:
            yield
        finally:
            tracker.reset(token)
