"""Progress reporting of long computations, shown by the command line."""

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
Tracker = Callable[[Sequence[Any], str], Iterator[Any]]


def _silent(steps: Sequence[Any], what: str) -> Iterator[Any]:  # noqa: ARG001
    """Iterate without reporting."""
    return iter(steps)


tracker: ContextVar[Tracker] = ContextVar("tracker", default=_silent)


def track(steps: Sequence[T], what: str) -> Iterator[T]:
    """Iterate over steps and report the progress of `what` to the active listener."""
    return tracker.get()(steps, what)
