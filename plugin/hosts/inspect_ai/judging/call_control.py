"""Make model calls: name their errors, share answers, and stop if all calls fail alike."""

import os
import re
import ssl
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from inspect_ai.model import GenerateConfig, Model, ModelOutput

from podium.hosts.inspect_ai.end_of_command import CommandEnded
from podium.hosts.inspect_ai.inspect_ai_compatibility import (
    is_batched,
    let_batched_requests_fail_alone,
)
from podium.hosts.inspect_ai.judging.call_timeouts import (
    as_unanswered_error,
    limit_attempts,
    may_repeat,
    timeout_text,
)
from podium.hosts.inspect_ai.judging.unreadable_replies import (
    UnreadableReplyError,
    as_unreadable_error,
    is_decode_error,
)
from podium.hosts.inspect_ai.logs.stop_reasons import StopRecord
from podium.printable import shorten
from podium.storage.remote import without_secrets

if TYPE_CHECKING:
    from podium.hosts.inspect_ai.judging.reply_watch import ReplyWatch
    from podium.notices.notice import Notice


class ConnectionFailedError(ConnectionError):
    """A model's server could not be reached, or gave no answer in time.

    Args:
        reason: as the attribute.
        address: address of the server, and what else the message is to say after the reason.

    Attributes:
        reason: the message of the operating system, such as `connection refused`, or `no answer
            within 600 seconds`.
        message: the reason and the server's address. Inspect shows it.
    """

    def __init__(self, reason: str, address: str) -> None:
        self.reason = reason
        self.message = f"{reason}: {address}"
        super().__init__(self.message)


class BatchedCallError(RuntimeError):
    """A call of a provider's batch failed.

    If a batch fails as a whole, Inspect raises one error object in all its calls. Each call raises
    an error of its own instead, because the traceback of a shared one grows with each call.

    Attributes:
        reason: a short name of the failure, as `name_of_failure` returns it.
        status_code: its HTTP status; None if it has none.
        message: type and message of the cause. Inspect shows it.
    """

    def __init__(self, reason: str, cause: str, status_code: int | None) -> None:
        self.reason = reason
        self.status_code = status_code
        self.message = cause
        super().__init__(cause)


class DeadServerError(ConnectionFailedError):
    """A model's server has refused all calls since the run began; see `ReplyWatch`.

    Args:
        why: the whole message, which is also the reason.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why, address="")
        # The class above writes `REASON: ADDRESS`, and this reason is the whole message.
        self.message = why
        self.args = (why,)


async def generate_output(
    model: Model,
    messages: Any,
    *,
    config: GenerateConfig,
    watch: "ReplyWatch | None" = None,
    **options: Any,
) -> ModelOutput:
    """Call a model; if the call fails, raise the cause without Inspect's wrappers.

    Args:
        model: the model.
        messages: the prompt or messages.
        config: the settings of the call.
        watch: watches the replies of the model in this run; None if nobody does. Calls that wait
            for a batch are not watched.
        **options: `timeout`, the seconds that each attempt may take (None for no limit), and
            further arguments of `Model.generate`.

    Raises:
        DeadServerError: the server has refused all calls for some time, and never replied.
        ConnectionFailedError: the server could not be reached, or gave no answer in time.
        BatchedCallError: a call of a batch failed.
        UnreadableReplyError: the answer cannot be read. Any other failure is raised as it is.
    """
    if watch is None or is_batched(model, config.batch):
        return await _generate_repeatedly(model, messages, config=config, **options)

    def hear(result: Any) -> None:
        """Tell the watch of an attempt: of a failure if it is an error, else of a reply."""
        if isinstance(result, BaseException):
            watch.note_failure(result, status_of(result))
        else:
            watch.note_reply()

    with watch.waiting_call():
        try:
            return await _generate_repeatedly(model, messages, config=config, hears=hear, **options)
        except Exception:
            if not watch.is_dead:
                raise
    raise DeadServerError(watch.why_dead)


def watch_model(model: Model) -> "ReplyWatch":
    """Return a new watch of a model's replies, which has seen no reply yet."""
    # Imported here because Inspect's registry loads this file even if nothing is judged.
    from podium.hosts.inspect_ai.judging.reply_watch import ReplyWatch

    def describe(failure: BaseException) -> str:
        """Write the reason and address of a failed connection; of other errors, as `cause_of`."""
        cause = root_of(failure)
        return cause_of(_connection_failed_error(cause, model.api.base_url) or cause)

    return ReplyWatch(str(model), describe)


async def _generate_repeatedly(
    model: Model,
    messages: Any,
    *,
    timeout: float | None,
    config: GenerateConfig,
    hears: Callable[[Any], None] | None = None,
    **options: Any,
) -> ModelOutput:
    """Call a model; if the call fails, raise the cause without Inspect's wrappers.

    A call whose JSON reply was cut off is repeated up to twice, because no provider's client does
    this. A call without an answer is repeated once (`may_repeat`).

    Args:
        model: the model.
        messages: the prompt or messages.
        timeout: seconds that each attempt may take, also those that Inspect repeats; None for no
            limit. It does not hold for calls that wait for a batch.
        config: the settings of the call.
        hears: called with the result or the error of each attempt; None if nobody is to hear it.
        **options: further arguments of `Model.generate`.

    Raises:
        ConnectionFailedError: the server could not be reached, or gave no answer in time.
        BatchedCallError: a call of a batch failed.
        UnreadableReplyError: the answer cannot be read. Any other failure is raised as it is.
    """
    waits_for_batch = is_batched(model, config.batch)
    if waits_for_batch:
        let_batched_requests_fail_alone()
    begun = time.monotonic()
    cut_off = 0
    unanswered = 0
    while True:
        try:
            with limit_attempts(model, timeout, in_batch=waits_for_batch, hears=hears):
                return await model.generate(messages, config=config, **options)
        except Exception as error:
            failure = root_of(error)
        # Errors are raised outside of `except`, so that Inspect's wrapper is not their context.
        late = as_unanswered_error(model, failure)
        if late:
            unanswered += 1
            if may_repeat(model, late, unanswered - 1, begun):
                continue
            reason, place_and_remedy = timeout_text(model, late, unanswered)
            raise ConnectionFailedError(reason, place_and_remedy)
        if is_decode_error(failure):
            cut_off += 1
            if cut_off < 3:
                continue
        failure = as_unreadable_error(model, failure) or failure
        if waits_for_batch:
            raise BatchedCallError(name_of_failure(failure), cause_of(failure), status_of(failure))
        raise _connection_failed_error(failure, model.api.base_url) or failure


ERRORS_WITH_REASON = (ConnectionFailedError, BatchedCallError, UnreadableReplyError)
"""podium's own errors of calls. Each has a `reason`, and its message is shown without its type."""
STATUS_NAMES = ("status_code", "status", "code")
"""Names of the attribute that holds the HTTP status of a failed call."""


def root_of(error: BaseException) -> BaseException:
    """Return the cause of an error without Inspect's wrappers, which repeat the whole prompt.

    An error that is no wrapper, or a wrapper without a cause, is returned as it is.
    """
    while type(error).__name__ in ("RetryError", "ModelGenerateError"):
        if error.__cause__ is None:
            break
        error = error.__cause__
    return error


def cause_of(error: BaseException) -> str:
    """Return the type and message of an error's cause, in one line of at most 320 characters.

    For a server that could not be reached, a call of a batch and an answer that cannot be read, it
    is the message alone.
    """
    root = root_of(error)
    is_own = isinstance(root, ERRORS_WITH_REASON)
    kind = "" if is_own else f"{type(root).__name__}: "
    return shorten(f"{kind}{root}", 320)


def name_of_failure(error: BaseException) -> str:
    """Return a short name of a failed call's error, by which failures are counted.

    It is the HTTP status (`HTTP 500`) if there is one, else the reason of podium's own errors
    (`ERRORS_WITH_REASON`), such as `connection refused`, else the name of the error's class.
    """
    root = root_of(error)
    status = status_of(error)
    if status is not None:
        return f"HTTP {status}"
    if isinstance(root, ERRORS_WITH_REASON):
        return root.reason
    return type(root).__name__


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of an error's cause, 100 to 599; None if it has none.

    The clients of providers keep it in an attribute of the error or of its response, under one of
    the names in `STATUS_NAMES`. AWS's client keeps it in a dict.
    """
    root = root_of(error)
    response = getattr(root, "response", None)
    if isinstance(response, dict):
        metadata = response.get("ResponseMetadata")
        status = metadata.get("HTTPStatusCode") if isinstance(metadata, dict) else None
        return status if isinstance(status, int) else None
    for holder in (root, response):
        for name in STATUS_NAMES:
            status = getattr(holder, name, None)
            if isinstance(status, int) and 100 <= status < 600:
                return status
    return None


def _connection_failed_error(
    error: BaseException, base_url: str | None
) -> ConnectionFailedError | None:
    """Return a new error of a server that could not be reached; None for other errors.

    An error is of this kind if its class has `Connect` or `Timeout` in its name, and if the error
    or one of its causes holds the request with its address. Secrets are removed from the address.

    Args:
        error: the error of the call.
        base_url: the address of the server that the user gave, which is shown without the path of
            the request; None if there is none.
    """
    if not any(word in type(error).__name__ for word in ("Connect", "Timeout")):
        return None
    causes = [error]
    cause = _direct_cause(error)
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = _direct_cause(cause)
    requests = (vars(cause).get("request") or vars(cause).get("_request") for cause in causes)
    url = next((str(request.url) for request in requests if request is not None), None)
    if not url:
        return None
    shown_url = base_url if base_url and url.startswith(base_url) else url
    return ConnectionFailedError(_reason(causes), without_secrets(shown_url))


def _direct_cause(error: BaseException) -> BaseException | None:
    """Return what caused an error, or None; for a group of errors, the first of them.

    `CommandEnded` counts as no cause: jobs run in its context when the command ends.
    """
    if isinstance(error, BaseExceptionGroup):
        return error.exceptions[0]
    cause = error.__cause__ or error.__context__
    return None if isinstance(cause, CommandEnded) else cause


def _reason(causes: list[BaseException]) -> str:
    """Return why a server was not reached, from an error and its causes, at least one.

    It is the operating system's message in lower case for the first of them that has one, else
    `timed out` if one is a timeout, else the text of the last one.

    Args:
        causes: the error, then each cause of the one before.
    """
    for cause in causes:
        if isinstance(cause, OSError) and cause.errno is not None:
            if cause.errno > 0 and not isinstance(cause, ssl.SSLError):
                return os.strerror(cause.errno).lower()
            return (cause.strerror or str(cause)).lower()
    if any("Timeout" in type(cause).__name__ for cause in causes):
        return "timed out"
    return str(causes[-1])


CALLS_BEFORE_STOPPING = 10
"""Number of calls that may run or have failed before one is answered.

If all of them fail alike, no more are made.
"""
WORD_WITH_DIGIT = re.compile(r"\b(?=\w*\d)\w{4,}")
"""Matches a word of four or more characters with a digit, such as the id of a request.

Errors that differ only in such words count as alike. A number of three digits may be an HTTP
status, so it does not match.
"""
SHUTDOWN_TIMEOUT = 5.0
"""Seconds that further calls wait for the run to end, after one raised JudgeStoppedError."""
T = TypeVar("T")


class JudgeStoppedError(RuntimeError):
    """No more calls are made to a model: the first ones all failed alike, or it cannot judge.

    Attributes:
        record: why, as a log keeps it.
    """

    def __init__(self, why: str | None = None, finding: "Notice | None" = None) -> None:
        """Set the reason.

        Args:
            why: the reason as text; ignored if there is a finding.
            finding: the finding that the judge cannot judge; None if there is none.
        """
        if finding is None:
            self.record = StopRecord(why=why)
        else:
            self.record = StopRecord(code=finding.code, fields={**finding.fields})
        super().__init__(self.record.to_text())
        self._reason = (why, finding)

    def copy(self) -> "JudgeStoppedError":
        """Return an equal error without a traceback.

        Each call raises an error of its own: the traceback of a shared one would grow with each
        call, and Inspect renders it for every sample.
        """
        return JudgeStoppedError(*self._reason)


def stopped_text(name: str, error: JudgeStoppedError) -> str:
    """Return the reason of an error after `NAME is not asked any more`.

    Args:
        name: name of the model in the message.
        error: the error by which its calls are refused.
    """
    return error.record.to_text(f"{name} is not asked any more")


_EARLIER_CAUSE: ContextVar[str] = ContextVar("earlier_cause", default="")
"""Why the running call failed in an earlier run; empty if it is not repeated."""


@contextmanager
def repeating_failed_call(cause: str) -> Iterator[None]:
    """Repeat a call that failed in an earlier run while the body runs.

    If it fails as before, its prompt may be the reason. A `CircuitBreaker` then does not count the
    failure, so that such calls do not end a run in which others would be answered.

    Args:
        cause: why the call failed (`cause_of`); empty if it did not fail.
    """
    token = _EARLIER_CAUSE.set(cause)
    try:
        yield
    finally:
        _EARLIER_CAUSE.reset(token)


def _failed_so_before(error: Exception) -> bool:
    """Return whether the running call failed in an earlier run by the same error.

    Errors are the same if their texts (`cause_of`) differ only in words with digits.
    """
    earlier_cause = _EARLIER_CAUSE.get()
    if not earlier_cause:
        return False
    # Words with digits, such as ids of requests, differ between equal errors.
    earlier_words = WORD_WITH_DIGIT.sub("", earlier_cause)
    return WORD_WITH_DIGIT.sub("", cause_of(error)) == earlier_words


class CircuitBreaker:
    """Makes the first ten calls, and more only if one is answered or they fail differently.

    Once one of the first calls is answered, or two of them fail differently, all further calls are
    made. If the first ten fail alike, all further calls are refused. Calls that fail as in an
    earlier run (`repeating_failed_call`) do not count.

    Args:
        ends_run: whether the error of the first refused call ends the run. Later calls then wait
            `SHUTDOWN_TIMEOUT` seconds before they are refused, so that the run can end first.
    """

    def __init__(self, *, ends_run: bool = False) -> None:
        self._ends_run = ends_run
        # Until the breaker is settled, at most so many calls run or have failed.
        self._first_calls = anyio.Semaphore(CALLS_BEFORE_STOPPING)
        self._failures: list[str] = []
        # Whether it is decided if further calls are made, and the error that refuses them.
        self._is_settled = False
        self._refusal: JudgeStoppedError | None = None
        # Whether a call was refused before.
        self._has_refused = False

    async def call(self, ask: Callable[[], Awaitable[T]], *, waits: bool = True) -> T:
        """Make a call and return its answer, or refuse it.

        Until it is decided whether further calls are made, a call waits if ten others run or have
        failed.

        Args:
            ask: makes the call; its errors are raised.
            waits: whether the call waits. One that comes into a provider's batch must not: a batch
                may take hours, and has all calls that are made meanwhile.

        Raises:
            JudgeStoppedError: the call is refused, because the first ten calls failed alike, or
                because the server is dead (`DeadServerError`).
        """
        if not self._is_settled:
            if not waits:
                return await self._try_call(ask)
            await self._first_calls.acquire()
            # It may have been settled while this call waited.
            if not self._is_settled:
                return await self._try_call(ask)
            # Let the next waiting call go on, too.
            self._first_calls.release()
        if self._refusal is None:
            try:
                return await ask()
            except DeadServerError as error:
                # All judges share this breaker unless they take turns: another one has replied,
                # which settled it, and this one never has.
                self._refusal = JudgeStoppedError(error.message)
        if self._ends_run and self._has_refused:
            await anyio.sleep(SHUTDOWN_TIMEOUT)
        self._has_refused = True
        raise self._refusal.copy()

    async def _try_call(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Make one of the first calls and return its answer; decide by it whether more are made.

        Its error is raised also if it is the last of the first calls: only later calls are refused.

        Raises:
            JudgeStoppedError: the server is dead (`DeadServerError`), which refuses all further
                calls.
        """
        try:
            answer = await ask()
        except DeadServerError as error:
            refusal = JudgeStoppedError(error.message)
            self._settle(refusal)
            raise refusal from None
        except Exception as error:
            if _failed_so_before(error):
                self._first_calls.release()
                raise
            self._failures.append(cause_of(error))
            different_failures = {WORD_WITH_DIGIT.sub("", failure) for failure in self._failures}
            if len(different_failures) > 1:
                self._settle()
            elif len(self._failures) == CALLS_BEFORE_STOPPING:
                first_calls = f"its first {CALLS_BEFORE_STOPPING} calls all failed"
                self._settle(JudgeStoppedError(f"{first_calls} by {self._failures[0]}"))
            raise
        except BaseException:
            # The call was cancelled, because the other order failed. Another call takes its place.
            self._first_calls.release()
            raise
        self._settle()
        return answer

    def _settle(self, refusal: JudgeStoppedError | None = None) -> None:
        """Decide for all further calls: they are made, or raise `refusal` if it is given.

        A call of a batch may be answered after ten others of it have failed. Calls are made again
        then. Any other second decision is ignored. A waiting call goes on.
        """
        if not self._is_settled:
            self._is_settled = True
            self._refusal = refusal
            self._first_calls.release()
        elif refusal is None:
            self._refusal = None


class ModelCalls:
    """Makes calls with one circuit breaker per model name, and shares answers between samples.

    Args:
        ends_run: whether the error of the first refused call ends the run.

    Attributes:
        stopped: names of the models of which a message said that they are not asked any more.
            Callers add them.
    """

    def __init__(self, *, ends_run: bool = False) -> None:
        self.stopped: set[str] = set()
        self._breakers: dict[str, CircuitBreaker] = defaultdict(
            partial(CircuitBreaker, ends_run=ends_run)
        )
        self._watches: dict[str, ReplyWatch] = {}
        self._answers: dict[tuple[Any, ...], Any] = {}
        self._failures: dict[tuple[Any, ...], Exception] = {}
        self._locks: dict[tuple[Any, ...], anyio.Lock] = defaultdict(anyio.Lock)

    async def ask_once(self, key: tuple[Any, ...], ask: Callable[[], Awaitable[Any]]) -> Any:
        """Return the answer under a key, which is asked for once.

        The first caller makes the call. Callers that come meanwhile wait, and fail with its error
        if it fails. A caller that comes after a failure makes the call again.

        Args:
            key: identifies the call. The answer is kept under it until the run ends.
            ask: makes the call; its errors are raised.
        """
        # A failure before this call does not count: the caller may be a retry.
        earlier_failure = self._failures.get(key)
        async with self._locks[key]:
            if key not in self._answers:
                failure = self._failures.get(key)
                happened_meanwhile = failure is not earlier_failure
                if failure is not None and happened_meanwhile:
                    raise failure
                try:
                    self._answers[key] = await ask()
                except Exception as error:
                    self._failures[key] = error
                    raise
        return self._answers[key]

    def watch_of(self, model: Model) -> "ReplyWatch":
        """Return the watch of a model's replies in this run, which all its calls share."""
        name = str(model)
        if name not in self._watches:
            self._watches[name] = watch_model(model)
        return self._watches[name]

    async def call(
        self,
        name: str,
        ask: Callable[[], Awaitable[T]],
        *,
        waits: bool = True,
    ) -> T:
        """Make a call to a model and return its answer.

        Args:
            name: the name of the model or judge, which has its own circuit breaker.
            ask: makes the call; its errors are raised.
            waits: whether the call waits while ten others of the first calls run or have failed.

        Raises:
            JudgeStoppedError: the call is refused.
        """
        return await self._breakers[name].call(ask, waits=waits)


async def make_calls(calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """Make calls concurrently and return their results in the order of the calls.

    The first failure cancels the other calls, and is raised. If several calls fail at once, the
    first JudgeStoppedError among their errors is raised, else the first error.
    """
    # A single call needs no task of its own, and its error is the only one.
    if len(calls) == 1:
        return [await calls[0]()]
    # Inspect's `collect` does this too, but records two more events for each call.
    results: dict[int, T] = {}

    async def keep_result(place: int, call: Callable[[], Awaitable[T]]) -> None:
        """Make a call and keep its result under its place in `calls`."""
        results[place] = await call()

    try:
        async with anyio.create_task_group() as group:
            for place, call in enumerate(calls):
                group.start_soon(keep_result, place, call)
    except ExceptionGroup as failures:
        stopped = [
            failure for failure in failures.exceptions if isinstance(failure, JudgeStoppedError)
        ]
        gravest = stopped[0] if stopped else failures.exceptions[0]
        raise gravest from gravest.__cause__
    return [results[place] for place in range(len(calls))]
