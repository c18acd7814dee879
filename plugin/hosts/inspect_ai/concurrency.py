"""Calls made at once, and replies asked for once that many battles share."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


async def make_calls(calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """Make calls at once and return what came of them, in their order.

    Inspect's `collect` does this too, and opens a span per call: two more events to record for each, and every call
    has one already.

    Raises:
        Exception: the first call that failed, as it failed; it ends the others.
    """
    results: dict[int, T] = {}

    async def keep_result(place: int, call: Callable[[], Awaitable[T]]) -> None:
        results[place] = await call()

    try:
        async with anyio.create_task_group() as group:
            for place, call in enumerate(calls):
                group.start_soon(keep_result, place, call)
    except ExceptionGroup as failures:
        first = failures.exceptions[0]
        raise first from first.__cause__
    return [results[place] for place in range(len(calls))]


class SharedReplies:
    """Replies that several battles share (ratings of a response, checklists of an item), by what they are of."""

    def __init__(self) -> None:
        self._replies: dict[tuple[Any, ...], Any] = {}
        self._locks: dict[tuple[Any, ...], anyio.Lock] = {}

    async def reply(self, key: tuple[Any, ...], ask: Callable[[], Awaitable[Any]]) -> Any:
        """Return what is asked for by the first who needs it; the others wait."""
        async with self._locks.setdefault(key, anyio.Lock()):
            if key not in self._replies:
                self._replies[key] = await ask()
        return self._replies[key]
