"""A failed call is reported by its cause; a server that cannot be reached by the reason and its
address."""

import errno
import socket
import ssl
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import anyio
import pytest
from inspect_ai.model import GenerateConfig

from podium.hosts.inspect_ai.judging.call_control import (
    ConnectionFailedError,
    cause_of,
    generate_output,
)

ADDRESS = "http://127.0.0.1:9/v1"


class RetryError(Exception):
    """As tenacity's, which Inspect raises when it has used up its retries."""


class APIConnectionError(Exception):
    """As the errors of providers' clients: it holds the request, whose URL is longer than the
    address."""

    def __init__(self, url=f"{ADDRESS}/chat/completions"):
        super().__init__("Connection error.")
        self.request = SimpleNamespace(url=url)


class RateLimitError(APIConnectionError):
    """An answer of the server, although it holds a request as well."""


def raised_by_call(*chain, base_url=ADDRESS):
    """Return what `generate_output` raises if a model raises the first of a chain, each error
    caused by the next."""
    for error, cause in pairwise(chain):
        error.__cause__ = cause

    async def generate(messages, config):
        raise chain[0]

    model = SimpleNamespace(
        generate=generate, api=SimpleNamespace(base_url=base_url, generate=generate)
    )
    call = partial(generate_output, model, "a prompt", timeout=None, config=GenerateConfig())
    with pytest.raises(Exception) as caught:
        anyio.run(call)
    return caught.value


@pytest.mark.parametrize(
    ("causes", "why"),
    [
        (
            [OSError("all failed"), ConnectionRefusedError(errno.ECONNREFUSED, "('::1', 9)")],
            "connection refused",
        ),
        (
            [ExceptionGroup("", [OSError(errno.ENETUNREACH, "x"), OSError(1, "y")])],
            "network is unreachable",
        ),
        ([socket.gaierror(-2, "Name or service not known")], "name or service not known"),
        (
            [ssl.SSLCertVerificationError(1, "certificate verify failed")],
            "certificate verify failed",
        ),
        ([TimeoutError()], "timed out"),
        ([Exception("Server disconnected.")], "Server disconnected."),
    ],
)
def test_unreachable_server_is_reported_by_reason_and_address(causes, why):
    error = raised_by_call(RetryError("<Future>"), APIConnectionError(), *causes)
    assert isinstance(error, ConnectionFailedError)
    assert cause_of(error) == f"{why}: {ADDRESS}"
    assert error.message == f"{why}: {ADDRESS}"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://me:secret@other.host/v2/chat?key=secret", "http://other.host/v2/chat"),
        (f"{ADDRESS}/chat/completions", f"{ADDRESS}/chat/completions"),
    ],
)
def test_address_is_that_of_the_request_if_the_model_has_none_and_holds_no_secret(url, shown):
    error = raised_by_call(
        APIConnectionError(url), ConnectionRefusedError(errno.ECONNREFUSED, ""), base_url=None
    )
    assert str(error) == f"connection refused: {shown}"


def test_other_failures_are_raised_without_inspects_wrappers():
    cause = RateLimitError()
    assert raised_by_call(RetryError("<Future>"), cause, OSError(errno.ECONNREFUSED, "")) is cause
    assert cause_of(cause) == "RateLimitError: Connection error."


def test_connection_error_without_a_request_is_not_taken_for_that_of_the_model():
    cause = ConnectionError("no such document")
    assert raised_by_call(cause) is cause
