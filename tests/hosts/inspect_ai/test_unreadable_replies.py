"""A server whose answer is no chat completion is reported in words, not by the type of an error."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anyio
import pytest
from inspect_ai.model import GenerateConfig, get_model

from podium.hosts.inspect_ai.judging.call_control import (
    cause_of,
    generate_output,
    name_of_failure,
)
from podium.hosts.inspect_ai.judging.unreadable_replies import as_unreadable_error


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    """A server that answers every call with the bytes in its attribute `body`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(self.server.body)))
            self.end_headers()
            self.wfile.write(self.server.body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


BODIES = {
    "the reply has no choices": [{"error": "nothing here"}, {"choices": None}, {}],
    "the reply is no chat completion": [[1, 2, 3], "A is better"],
}


def failure_of(server: ThreadingHTTPServer, body: bytes) -> Exception:
    """Return the error of a call that the server answers with this body."""
    server.body = body
    address = f"http://127.0.0.1:{server.server_port}/v1"
    model = get_model("openai-api/any/name", base_url=address, api_key="none", memoize=False)

    async def call() -> None:
        await generate_output(model, "a prompt", timeout=30, config=GenerateConfig(max_retries=0))

    with pytest.raises(Exception) as caught:
        anyio.run(call)
    return caught.value


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize(
    ("reason", "body"), [(reason, body) for reason, bodies in BODIES.items() for body in bodies]
)
def test_an_answer_that_is_no_chat_completion_is_named_with_its_server(server, reason, body):
    failure = failure_of(server, json.dumps(body).encode())
    assert name_of_failure(failure) == reason
    address = f"http://127.0.0.1:{server.server_port}/v1"
    assert cause_of(failure).startswith(f"{reason}: openai-api/any/name at {address}")
    assert failure.message == str(failure)  # Inspect shows it in place of the error's type


@pytest.mark.slow
def test_an_answer_that_is_cut_off_is_named_with_its_server(server):
    failure = failure_of(server, b'{"id": "x", "choices": [{"index": 0, "message": {"role"')
    assert name_of_failure(failure) == "the reply is no valid JSON"
    assert cause_of(failure).startswith("the reply is no valid JSON: openai-api/any/name at http")


def test_a_type_error_elsewhere_keeps_its_name():
    response = None
    try:
        list(response)
    except TypeError as error:
        failure = error
    model = get_model("mockllm/model", memoize=False)
    assert as_unreadable_error(model, failure) is None
    assert name_of_failure(failure) == "TypeError"
