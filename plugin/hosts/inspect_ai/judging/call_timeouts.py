"""A time limit for each call to a model, which Inspect does not have for models of roles."""

import math
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Literal, NamedTuple

import anyio
from inspect_ai.model import Model, ModelAPI

from podium.errors import UsageError
from podium.hosts.inspect_ai.inspect_ai_compatibility import limits_of_retries
from podium.notices.option_forms import option_text
from podium.storage.remote import without_secrets
from podium.wording import plural

CALL_TIMEOUT = 600.0
"""Seconds after which a call has failed, unless the user gives another limit."""
Setting = Literal["call_timeout", "attempt_timeout", "client_timeout"]
"""The setting with the time limit that is over; see `UnansweredError`."""
READ_TIMEOUTS = frozenset({"ReadTimeout", "ReadTimeoutError", "SocketTimeoutError"})
"""Names of errors of HTTP clients whose own time limit for an answer is over."""


class UnansweredError(RuntimeError):
    """An attempt to call a model got no answer in time. No provider repeats such attempts.

    Attributes:
        seconds: the time limit, or how long the provider's client waited.
        setting: the setting with the limit: `call_timeout` of podium, `attempt_timeout` of Inspect,
            or `client_timeout` of the provider's client.
    """

    def __init__(self, seconds: float, setting: Setting = "call_timeout") -> None:
        self.seconds = seconds
        self.setting = setting
        super().__init__(f"no answer within {seconds:,.3g} {plural('second', seconds)}")


class AttemptLimit(NamedTuple):
    """How long the attempts of a call may take.

    Attributes:
        seconds: the limit of each attempt; infinite if there is none.
        in_batch: whether the call waits for a batch of its provider, which has no limit.
        hears: called with the result or the error of each attempt; None if nobody is to hear it.
    """

    seconds: float
    in_batch: bool
    hears: Callable[[Any], None] | None = None


_LIMIT: ContextVar[AttemptLimit | None] = ContextVar("time limit of a call", default=None)
"""The limit of the running call; None outside of podium's calls."""


def check_call_timeout(seconds: Any) -> None:
    """Raise UsageError if a time limit is neither None nor a number of seconds above 0."""
    if seconds is None:
        return
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    is_valid = is_number and seconds > 0
    if not is_valid:
        raise UsageError(
            f"call_timeout={seconds}: give a number of seconds above 0, or null for no limit"
        )


@contextmanager
def limit_attempts(
    model: Model,
    seconds: float | None,
    *,
    in_batch: bool = False,
    hears: Callable[[Any], None] | None = None,
) -> Iterator[None]:
    """Limit the time of each attempt to call a model while the body runs.

    Only the provider's request counts, not the wait for a free connection or between attempts.

    Args:
        model: the model, which is changed in place so that it knows the limit.
        seconds: the limit; None for no limit.
        in_batch: whether the calls wait for batches of the provider, which have no limit.
        hears: called with the result or the error of each attempt; None if nobody is to hear it.
    """
    _let_watch(model.api)
    limit = math.inf if seconds is None else seconds
    before = _LIMIT.set(AttemptLimit(limit, in_batch, hears))
    try:
        yield
    finally:
        _LIMIT.reset(before)


def _let_watch(api: ModelAPI) -> None:
    """Change a provider in place, once, so that its calls end at the limit in `_LIMIT`.

    A call that ends so raises UnansweredError. Calls in a provider's batch have no limit.
    """
    generate = api.generate
    if getattr(generate, "is_watched", False):
        return

    @wraps(generate)
    async def generate_in_time(*arguments: Any, **options: Any) -> Any:
        """Make one attempt, without a limit if none is set or the call is in a batch.

        Raises:
            UnansweredError: the limit passes before an answer, or the client's own limit does.
        """
        limit = _LIMIT.get()
        if limit is None:
            return await generate(*arguments, **options)
        if limit.in_batch:
            try:
                return await generate(*arguments, **options)
            except Exception as error:
                # All calls of a batch that failed share this error, and Inspect formats its
                # traceback in each: it must not grow.
                raise error.with_traceback(None)  # noqa: B904
        begun = time.monotonic()
        with anyio.move_on_after(limit.seconds):
            try:
                return await generate(*arguments, **options)
            except Exception as error:
                if not _is_read_timeout(error):
                    raise
                waited = time.monotonic() - begun
            raise UnansweredError(waited, "client_timeout")
        raise UnansweredError(limit.seconds)

    heard: Any = _let_hear(generate_in_time)
    heard.is_watched = True
    api.generate = heard  # type: ignore[method-assign]


def _let_hear(generate: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Return a function that also passes the result or error of each attempt to `hears`.

    `hears` is the function of `AttemptLimit`; without one, only the call is made.

    Args:
        generate: makes an attempt.
    """

    @wraps(generate)
    async def generate_and_hear(*arguments: Any, **options: Any) -> Any:
        """Make one attempt, and pass its result or error to the function that listens, if any."""
        limit = _LIMIT.get()
        hears = limit.hears if limit else None
        if hears is None:
            return await generate(*arguments, **options)
        try:
            result = await generate(*arguments, **options)
        except Exception as error:
            hears(error)
            raise
        # Providers return some errors beside a record of the call.
        hears(result[0] if isinstance(result, tuple) else result)
        return result

    return generate_and_hear


def _is_read_timeout(error: BaseException | None) -> bool:
    """Return whether an error, or one of its causes, is in `READ_TIMEOUTS`. False for None."""
    causes_so_far: list[BaseException] = []
    while error is not None and error not in causes_so_far:
        if type(error).__name__ in READ_TIMEOUTS:
            return True
        causes_so_far.append(error)
        error = error.__cause__ or error.__context__
    return False


def as_unanswered_error(model: Model, failure: BaseException) -> UnansweredError | None:
    """Return the error of a call without an answer in time; None if it failed otherwise.

    Args:
        model: the model that was called.
        failure: the failure. Inspect's own error counts if the role has an `attempt_timeout`.
    """
    if type(failure).__name__ == "AttemptTimeoutError":
        return UnansweredError(model.config.attempt_timeout or 0, "attempt_timeout")
    return failure if isinstance(failure, UnansweredError) else None


def may_repeat(model: Model, failure: UnansweredError, repeats: int, begun: float) -> bool:
    """Return whether a call without an answer is repeated.

    It is repeated once, unless no retries are allowed or the time for them is over: `--max-retries`
    and `--timeout`, or else `max_retries` and `timeout` of its role. At an `attempt_timeout` it is
    not repeated here, since Inspect has repeated it as often as these allow.

    Args:
        model: the model.
        failure: the last attempt.
        repeats: how often it was repeated.
        begun: when the first attempt began, by `time.monotonic`.
    """
    if failure.setting == "attempt_timeout":
        return False
    retries, timeout = limits_of_retries(model)
    has_time = timeout is None or time.monotonic() - begun < timeout
    most_repeats = 1 if retries is None else min(1, retries)
    return has_time and repeats < most_repeats


def timeout_text(model: Model, failure: UnansweredError, attempts: int) -> tuple[str, str]:
    """Return why a call failed, and where and what to do about it.

    Args:
        model: the model.
        failure: the last attempt.
        attempts: number of attempts that podium has made; those that Inspect repeats do not count.

    Returns:
        The reason, such as `no answer within 600 seconds`, and the model with its address and the
        setting that gives it longer.
    """
    times = "" if attempts == 1 else f", in each of {attempts} attempts"
    longer = f"a longer {failure.setting} of its role"
    if failure.setting == "call_timeout":
        longer = option_text("call_timeout", "SECONDS", "argument")
    where = name_with_address(model)
    return str(failure), f"{where}{times}; see whether its server works, or set {longer}"


def name_with_address(model: Model) -> str:
    """Return the name of a model, followed by ` at ADDRESS` if the address of its server is known.

    Secrets are removed from the address.
    """
    address = model.api.base_url
    return f"{model} at {without_secrets(address)}" if address else str(model)
