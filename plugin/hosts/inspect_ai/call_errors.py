"""Errors of model calls: the cause without Inspect's wrappers; of a failed connection, why and to which address."""

import os
import ssl
from collections.abc import Iterator
from typing import Any

from inspect_ai.model import Model, ModelOutput

from podium.printable import shorten
from podium.storage.remote import without_secrets


class ConnectionFailedError(ConnectionError):
    """A model's server could not be reached; `message`, which Inspect shows and keeps, is the cause and the address."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


async def generate_output(model: Model, messages: Any, **options: Any) -> ModelOutput:
    """Call a model; raise the cause of a failure, as ConnectionFailedError if its server could not be reached."""
    try:
        return await model.generate(messages, **options)
    except Exception as error:
        failure = root_of(error)
        if why := _connection_failure(failure, model.api.base_url):
            failure = ConnectionFailedError(why)
    # Not inside `except`: an error must not become the context of its own cause.
    raise failure


def root_of(error: BaseException) -> BaseException:
    """Return the cause of an error without Inspect's wrappers, which show used up retries and the whole prompt."""
    while type(error).__name__ in ("RetryError", "ModelGenerateError") and error.__cause__ is not None:
        error = error.__cause__
    return error


def cause_of(error: BaseException) -> str:
    """Return type and message of an error's cause in one line of at most 320 characters."""
    root = root_of(error)
    kind = "" if isinstance(root, ConnectionFailedError) else f"{type(root).__name__}: "
    return shorten(f"{kind}{root}", 320)


def _connection_failure(error: BaseException, base_url: str | None) -> str | None:
    """Return why a server could not be reached and its address; None for other errors."""
    if not any(word in type(error).__name__ for word in ("Connect", "Timeout")):
        return None
    causes = list(_causes(error))
    requests = (vars(cause).get("request") or vars(cause).get("_request") for cause in causes)
    url = next((str(request.url) for request in requests if request is not None), None)
    if url is None:
        return None
    return f"{_reason(causes)}: {without_secrets(base_url if base_url and url.startswith(base_url) else url)}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what caused it, the innermost last; of a group of errors the first."""
    seen = set[int]()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.exceptions[0] if isinstance(cause, BaseExceptionGroup) else cause.__cause__ or cause.__context__


def _reason(causes: list[BaseException]) -> str:
    """Return the system's words for the first error that has some, as `connection refused`."""
    for cause in causes:
        if isinstance(cause, OSError) and cause.errno is not None:
            is_of_system = cause.errno > 0 and not isinstance(cause, ssl.SSLError)
            return os.strerror(cause.errno).lower() if is_of_system else (cause.strerror or str(cause)).lower()
    return "timed out" if any("Timeout" in type(cause).__name__ for cause in causes) else str(causes[-1])
