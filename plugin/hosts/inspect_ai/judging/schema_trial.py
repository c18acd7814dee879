"""A trial that shows whether a rejected call works without its JSON schema."""

from collections.abc import Awaitable, Callable

import anyio
from inspect_ai.model import ModelOutput
from inspect_ai.util import LimitExceededError

from podium.hosts.inspect_ai.judging.call_control import JudgeStoppedError, status_of

STATUS_OF_REJECTED_SCHEMA = frozenset({400, 422})
"""HTTP statuses with which servers reject a call for what it asks, whatever their words are."""

MOST_TRIALS = 3
"""Most trials with a judge whose trials show nothing."""


def may_reject_schema(error: Exception) -> bool:
    """Return whether a call with a JSON schema may have failed because of it, by its HTTP status.

    A JudgeStoppedError has no status: no call was made.
    """
    return status_of(error) in STATUS_OF_REJECTED_SCHEMA


class SchemaTrial:
    """Makes a call without a JSON schema after a call with one was rejected.

    Calls that are rejected meanwhile wait for the trial, and share what it shows. A trial that
    fails, or whose prompt is rejected, shows nothing: the server was busy, say, or takes no images.
    It is made again, at most `MOST_TRIALS` times in all. A trial that was cancelled, or ended by a
    limit of the run, does not count.
    """

    def __init__(self) -> None:
        self._lock = anyio.Lock()
        self._trials_left = MOST_TRIALS

    async def works_without(
        self, ask_for_text: Callable[[], Awaitable[object]], *, is_settled: Callable[[], bool]
    ) -> bool:
        """Make the trial, and return whether it was made now and its call was answered.

        False without a call if no trial is left, or if it is settled otherwise.

        Args:
            ask_for_text: makes the call and returns its output, or what a rejected prompt shows;
                it raises other errors.
            is_settled: returns whether it is known otherwise if the judge takes a schema.

        Raises:
            JudgeStoppedError, LimitExceededError: no more calls are made.
        """
        async with self._lock:
            if not self._trials_left or is_settled():
                return False
            try:
                answer = await ask_for_text()
            except (JudgeStoppedError, LimitExceededError):
                raise
            except Exception:
                self._trials_left -= 1
                return False
            self._trials_left -= 1
            return isinstance(answer, ModelOutput)
