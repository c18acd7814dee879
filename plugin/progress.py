"""A place for the command line to hang a progress bar on long computations."""

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
Tracker = Callable[[Sequence[Any], str], Iterator[Any]]


def _silent(steps: Sequence[Any], what: str) -> Iterator[Any]:  # noqa: ARG001
    return iter(steps)


tracker: ContextVar[Tracker] = ContextVar("tracker", default=_silent)


def track(steps: Sequence[T], what: str) -> Iterator[T]:
    """Iterate over steps, telling whoever listens how far the work called `what` is."""
    return tracker.get()(steps, what)
