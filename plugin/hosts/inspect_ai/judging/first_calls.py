"""The first calls to a model are made alone, so that what they show holds for all others."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

FIRST_CALL_TIMEOUT = 30.0
"""Seconds for which all other calls to a model wait for its first one."""


class FirstCalls:
    """Lets the first call to a model be made alone, and all later ones at the same time.

    So an option that the model refuses is tried once, and not by all calls that begin at the same
    time. The first call that asks for a reply in a JSON schema is made alone, too, even if a call
    for a text was made before it. Once it has shown enough, calls for a text need no first call.
    """

    def __init__(self) -> None:
        self._lock = anyio.Lock()
        # The forms of reply that calls may ask for at the same time: True for a schema.
        self._concurrent: set[bool] = set()

    def is_over(self, *, has_schema: bool) -> bool:
        """Return whether no later call of a form (JSON schema or text) can change anything here.

        Calls of the form, and calls for a text, may then all be made at the same time.
        """
        return {has_schema, False} <= self._concurrent

    @asynccontextmanager
    async def wait_for_first_call(
        self, *, has_schema: bool = False, is_settled: Callable[[], bool] = lambda: True
    ) -> AsyncIterator[None]:
        """Wait for the first call of a form (text or JSON); if the body makes it, let it run alone.

        Once a first call has failed, or others have waited for it for `FIRST_CALL_TIMEOUT` seconds,
        all calls of its form run at the same time. After a first call for JSON that has shown
        enough, calls for a text do so, too. A body that makes no call counts like one that does.

        Args:
            has_schema: whether the call asks for a reply in a JSON schema.
            is_settled: called after the body; returns whether the calls so far have shown enough.
                If not, the next call is made alone, too.
        """
        is_alone = False
        if has_schema not in self._concurrent:
            with anyio.move_on_after(FIRST_CALL_TIMEOUT) as waiting:
                await self._lock.acquire()
                is_alone = True
            if waiting.cancelled_caught:
                self._concurrent.add(has_schema)
        if is_alone and has_schema in self._concurrent:
            self._lock.release()
            is_alone = False
        try:
            yield
            if is_settled():
                # A call for JSON has tried all options of a call for a text, too.
                self._concurrent |= {has_schema, False}
        except Exception:
            self._concurrent.add(has_schema)
            raise
        finally:
            if is_alone:
                self._lock.release()
