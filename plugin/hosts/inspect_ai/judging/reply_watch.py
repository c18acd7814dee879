"""Watch whether a model's server replies: find out that it is dead, and tell of long silence."""

import errno
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio

from podium.printable import tell
from podium.wording import plural

DEAD_AFTER = 20.0
"""Seconds of refused calls after which a server counts as dead, if no reply has ever arrived."""
DEAD_STATUSES = frozenset({401, 404})
"""HTTP statuses that no repeated call will change: a wrong key, or a wrong address or model."""
UNREACHABLE_ERRORS = frozenset({errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH})
"""Errors of the operating system if nothing listens at an address."""
SECONDS_BETWEEN_LINES = 60.0
"""While no reply arrives, a line is printed every so many seconds."""


class ReplyWatch:
    """Knows of one model since when its server has refused all calls, and when it replied last.

    Args:
        model: name of the model, for messages.
        describe: writes a failure for messages.
    """

    def __init__(self, model: str, describe: Callable[[BaseException], str] = str) -> None:
        self.model = model
        self.describe = describe
        self._has_replied = False
        self._refused_since: float | None = None
        self._last_failure: BaseException | None = None
        self._scopes: set[anyio.CancelScope] = set()
        self._silent_since = 0.0
        self._timer: threading.Timer | None = None

    @contextmanager
    def waiting_call(self) -> Iterator[anyio.CancelScope]:
        """Count a call as waiting while the body runs; cancel the body if the server is dead.

        A cancelled body ends without an error, so the caller has to look at `is_dead`.
        """
        if not self._scopes:
            self._silent_since = time.monotonic()
        with anyio.CancelScope(deadline=self._deadline()) as scope:
            self._scopes.add(scope)
            self._arm()
            try:
                yield scope
            finally:
                self._scopes.discard(scope)

    def note_reply(self) -> None:
        """Note that a reply has arrived: the server is never taken for dead from now on."""
        self._has_replied = True
        self._refused_since = None
        self._silent_since = time.monotonic()
        self._set_deadlines()

    def note_failure(self, failure: BaseException, status: int | None) -> None:
        """Note that an attempt of a call failed, which may set when the server counts as dead.

        The time that counts begins with the first attempt that is refused: its status is in
        `DEAD_STATUSES`, or nothing listens at the address. Any other failure ends it, because the
        server does reply. After a first reply, no time counts.

        Args:
            failure: its error.
            status: its HTTP status; None if it has none.
        """
        self._last_failure = failure
        if self._has_replied:
            return
        if status not in DEAD_STATUSES and not _is_unreachable(failure):
            # The server does reply, though not with a verdict.
            self._refused_since = None
        elif self._refused_since is None:
            self._refused_since = time.monotonic()
        self._set_deadlines()

    @property
    def is_dead(self) -> bool:
        """Whether the server has refused all calls for `DEAD_AFTER` seconds, and never replied.

        The seconds begin with the first refused attempt (`note_failure`).
        """
        since = self._refused_since
        return since is not None and time.monotonic() - since >= DEAD_AFTER

    @property
    def why_dead(self) -> str:
        """The reason why no more calls are made to a dead server."""
        why = self.describe(self._last_failure) if self._last_failure else "no reply"
        return f"no reply has arrived, and all calls of {DEAD_AFTER:g} seconds failed: {why}"

    def _deadline(self) -> float:
        """Return when waiting calls are cancelled, on anyio's clock; infinite if never."""
        if self._refused_since is None:
            return math.inf
        seconds_left = self._refused_since + DEAD_AFTER - time.monotonic()
        return anyio.current_time() + max(seconds_left, 0.0)

    def _set_deadlines(self) -> None:
        """Give all waiting calls the deadline at which the server counts as dead."""
        deadline = self._deadline()
        for scope in self._scopes:
            scope.deadline = deadline

    def _arm(self) -> None:
        """Let a line be told after `SECONDS_BETWEEN_LINES`, unless that is arranged already."""
        if self._timer is None:
            # A thread tells it, because no task may outlive the call that begins it.
            self._timer = threading.Timer(SECONDS_BETWEEN_LINES, self._tell_of_silence)
            self._timer.daemon = True
            self._timer.start()

    def _tell_of_silence(self) -> None:
        """Print since when no reply has arrived, if that is long, and arrange for the next line.

        It is long from half of `SECONDS_BETWEEN_LINES` on: a reply may have come since the timer
        was set. If no call waits, nothing is printed or arranged.
        """
        self._timer = None
        waiting = len(self._scopes)
        if not waiting:
            return
        silent = time.monotonic() - self._silent_since
        if silent >= SECONDS_BETWEEN_LINES / 2:
            text = f"no reply from {self.model} for {silent:,.0f} seconds"
            text += f", {waiting:,} {plural('call', waiting)} waiting"
            if self._last_failure is not None:
                text += f"; the last failed: {self.describe(self._last_failure)}"
            tell(text)
        self._arm()


def _is_unreachable(failure: BaseException) -> bool:
    """Return whether nothing listens at the address of a call, or its host name is unknown.

    The error and all its causes are looked at, also those in groups of errors.
    """
    causes_so_far: list[BaseException] = []
    pending: list[BaseException | None] = [failure]
    while pending:
        error = pending.pop()
        if error is None or error in causes_so_far:
            continue
        causes_so_far.append(error)
        if isinstance(error, socket.gaierror):
            return True
        if isinstance(error, OSError) and error.errno in UNREACHABLE_ERRORS:
            return True
        if isinstance(error, BaseExceptionGroup):
            pending += error.exceptions
        pending += [error.__cause__, error.__context__]
    return False
