"""A judge behind an OpenAI-compatible address whose server refuses options, reasons, or writes
noise.

The name of the model says how it behaves, as words joined by `+`:
- `no-temperature`, `no-logprobs`, `no-max_tokens`, `no-schema`: calls with the option are rejected;
- `odd-STATUS`: a call with a schema is rejected with that HTTP status, in words that do not say so;
- `noise-N`: the first N replies to a schema are noise; `talks`: all of them are;
- `reasons-N`: it takes N tokens to reason before its answer, which it does not show;
- `endless`: a list in its reply never ends, and is cut off;
- `small-N`: its context has room for N tokens of output, and a higher limit is rejected.

It prefers the longer response, and says so in the form that is asked for. A checklist is written
only to a schema, or to a prompt with a reminder.
"""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fenced_texts import texts_in_fences

REFUSED = {
    "no-temperature": (
        ("temperature",),
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) "
        "value is supported.",
    ),
    "no-logprobs": (
        ("logprobs", "top_logprobs"),
        "You are not allowed to request logprobs from this model.",
    ),
    "no-max_tokens": (
        ("max_tokens", "max_completion_tokens"),
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
    ),
    "no-schema": (
        ("response_format",),
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported.",
    ),
}
"""By habit: the options that are rejected, and the server's words."""
NOISE = "Both have their merits."
ODD = "Extra inputs are not permitted"


class RefusingServer:
    """What the server was asked, and how it answers."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.requests: list[dict[str, Any]] = []
        self.lock = threading.Lock()
        self.schemas: Counter[str] = Counter()

    def with_option(self, option: str) -> int:
        """Return how many requests had an option."""
        return sum(request.get(option) is not None for request in self.requests)

    def answer(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the status and the body of the answer to a request."""
        with self.lock:
            self.requests.append(request)
            habits = request["model"].split("+")
            schema = request.get("response_format")
            self.schemas[request["model"]] += schema is not None
            number = self.schemas[request["model"]]
        for habit in habits:
            options, words = REFUSED.get(habit, ((), ""))
            if any(request.get(option) is not None for option in options):
                return 400, {"error": {"message": words, "type": "invalid_request_error"}}
            if schema and habit.startswith("odd-"):
                error = {"message": ODD, "type": "invalid_request_error"}
                return int(habit.removeprefix("odd-")), {"error": error}
        limit = request.get("max_tokens") or request.get("max_completion_tokens")
        for habit in habits:
            name, _, amount = habit.partition("-")
            if name == "small" and limit and limit > int(amount):
                words = f"max_tokens is too large: the maximum context length is {amount} tokens"
                return 400, {"error": {"message": words, "type": "invalid_request_error"}}
            if name == "endless" and "questions" in json.dumps(schema or {}):
                return 200, completed('{"questions": ["Is it short?", "Is it', cut=True)
            if name == "reasons" and limit and limit < int(amount):
                return 200, completed("", cut=True)
            if schema and ((name == "noise" and number <= int(amount)) or name == "talks"):
                return 200, completed(NOISE, cut=name == "talks")
        return 200, completed(verdict_on(request))


def verdict_on(request: dict[str, Any]) -> str:
    """Return the reply to a prompt: a letter, a grade, or a checklist."""
    prompt = "\n".join(str(message["content"]) for message in request["messages"])
    shown = texts_in_fences(prompt)
    schema = (request.get("response_format") or {}).get("json_schema", {}).get("schema", {})
    if "response_a" not in shown and "response" not in shown:
        written = schema or "could not be read" in prompt
        if "question_1" in schema.get("properties", {}):
            return json.dumps({f"question_{k}": "Is it short?" for k in (1, 2, 3)})
        return json.dumps({"questions": ["Is it short?"]}) if written else NOISE
    if "response" in shown:
        return json.dumps({"grade": "50"}) if schema else "[[50]]"
    letter = "A" if len(shown["response_a"]) >= len(shown["response_b"]) else "B"
    if not schema:
        return letter
    before = [name for name in schema["properties"] if name != "verdict"]
    return json.dumps({**dict.fromkeys(before, "It is longer."), "verdict": letter})


def completed(text: str, *, cut: bool = False) -> dict[str, Any]:
    """Return the body of a reply."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "length" if cut else "stop",
    }
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}
    about = {"id": "call", "object": "chat.completion", "created": 0, "model": "refusing"}
    return {**about, "choices": [choice], "usage": usage}


@contextmanager
def refusing_server() -> Iterator[RefusingServer]:
    """Serve on a free port of this machine, and stop at the end."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, answer = served.answer(json.loads(body))
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = RefusingServer(f"http://127.0.0.1:{server.server_port}/v1")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
