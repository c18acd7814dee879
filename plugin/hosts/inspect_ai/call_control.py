"""Control of model calls: the same call made once, a stop after calls that all fail alike, errors in one line."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import anyio

from podium.hosts.inspect_ai.log_contents import STOPPED

CALLS_BEFORE_STOPPING = 10
"""Calls that are made before the first answer; where all of them fail alike, no more are."""
NUMBERED = re.compile(r"\b(?=\w*\d)\w{4,}")
"""What differs between alike errors: the numbers of requests. Three digits are a status."""
LONGEST_CAUSE = 300
CUT_SHORT = 2
"""How often a call is made again whose answer is cut off in its JSON."""
SHUTDOWN_TIMEOUT = 5.0
"""Seconds in which a run ends of which one call said that there is no use in it."""
WRAPPERS = frozenset(("RetryError", "ModelGenerateError"))
T = TypeVar("T")


class OnceCache:
    """What several samples need, and one of them asks for.

    Attributes:
        shared: what came of it, by what it is of.
    """

    def __init__(self) -> None:
        self.answers: dict[tuple[Any, ...], Any] = {}
        self._locks: dict[tuple[Any, ...], anyio.Lock] = {}

    async def ask_once(self, key: tuple[Any, ...], ask: Callable[[], Awaitable[Any]]) -> Any:
        """Return what is asked for by the first that needs it; the others wait."""
        async with self._locks.setdefault(key, anyio.Lock()):
            if key not in self.answers:
                self.answers[key] = await ask()
        return self.answers[key]


class JudgeStoppedError(RuntimeError):
    """The judge is not asked any more: nothing that it is asked is answered."""

    is_raised = False


class CircuitBreaker:
    """The first ten calls: more are made once one of them is answered, and none where all fail alike.

    Args:
        ends_run: whether the first error that says so ends the run, so that others need not say it, too.
    """

    def __init__(self, *, ends_run: bool = False) -> None:
        self._ends_run = ends_run
        self._room = anyio.Semaphore(CALLS_BEFORE_STOPPING)
        self._failures: list[str] = []
        self._is_settled = False
        self._refusal: JudgeStoppedError | None = None

    async def call(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Make a call.

        Raises:
            JudgeStoppedError: the first calls failed alike.
            Exception: this one failed.
        """
        if not self._is_settled:
            await self._room.acquire()
            if not self._is_settled:
                return await self._try(ask)
            # Whoever waits behind may go on, too.
            self._room.release()
        if self._refusal is None:
            return await ask()
        if self._ends_run and self._refusal.is_raised:
            await anyio.sleep(SHUTDOWN_TIMEOUT)
        self._refusal.is_raised = True
        raise self._refusal

    async def _try(self, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            answer = await ask()
        except Exception as error:
            self._failures.append(cause_of(error))
            if len({NUMBERED.sub("", failure) for failure in self._failures}) > 1:
                self._settle()
            elif len(self._failures) == CALLS_BEFORE_STOPPING:
                why = f"{STOPPED}: its first {CALLS_BEFORE_STOPPING} calls all failed by {self._failures[0]}"
                self._settle(JudgeStoppedError(why))
            raise
        except BaseException:
            # It was cancelled, because the other order failed: its turn is another's.
            self._room.release()
            raise
        self._settle()
        return answer

    def _settle(self, refusal: "JudgeStoppedError | None" = None) -> None:
        if not self._is_settled:
            self._is_settled, self._refusal = True, refusal
            self._room.release()


def root_of(error: BaseException) -> BaseException:
    """Return what went wrong, without what Inspect wraps it in: used up retries, the whole prompt."""
    while type(error).__name__ in WRAPPERS and error.__cause__ is not None:
        error = error.__cause__
    return error


def cause_of(error: BaseException) -> str:
    """Return what went wrong in a line."""
    root = root_of(error)
    said = f"{type(root).__name__}: {' '.join(str(root).split())}"
    return said if len(said) <= LONGEST_CAUSE else f"{said[:LONGEST_CAUSE]} ..."


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
        stopped = [failure for failure in failures.exceptions if isinstance(failure, JudgeStoppedError)]
        first = [*stopped, *failures.exceptions][0]
        raise first from first.__cause__
    return [results[place] for place in range(len(calls))]


async def repeat_where_cut_short(ask: Callable[[], Awaitable[T]]) -> T:
    """Make a call; again where its answer was cut short on the way, which no provider's client repeats."""
    for _ in range(CUT_SHORT):
        try:
            return await ask()
        except Exception as error:
            root = root_of(error)
            if not (isinstance(root, json.JSONDecodeError) or str(root).startswith("JSONDecodeError")):
                raise
    return await ask()
