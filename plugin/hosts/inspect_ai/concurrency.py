"""Calls made at once, without an entry of their own in the transcript: every call has one already."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

T = TypeVar("T")


async def make_calls(calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """Make calls at once and return what came of them, in their order.

    Inspect's `collect` does this too, and opens a span per call: two more events to record for each.

    Raises:
        Exception: the first call that failed, as it failed; it ends the others.
    """
    found: dict[int, T] = {}

    async def one(place: int, call: Callable[[], Awaitable[T]]) -> None:
        found[place] = await call()

    try:
        async with anyio.create_task_group() as group:
            for place, call in enumerate(calls):
                group.start_soon(one, place, call)
    except ExceptionGroup as failures:
        first = failures.exceptions[0]
        raise first from first.__cause__
    return [found[place] for place in range(len(calls))]
