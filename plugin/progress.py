"""Progress reporting of long computations, shown by the command line."""

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
Tracker = Callable[[Sequence[Any], str], Iterator[Any]]
"""A function that iterates over steps, and shows the progress of what the text names."""
tracker: ContextVar[Tracker] = ContextVar("tracker", default=lambda steps, _: iter(steps))
"""The active tracker; the default one shows nothing."""


def track(steps: Sequence[T], what: str) -> Iterator[T]:
    """Iterate over steps and report the progress to the active `tracker`.

    `what` names the computation in the display.
    """
    return tracker.get()(steps, what)
