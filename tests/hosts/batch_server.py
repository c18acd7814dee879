"""The batch endpoint of one provider (OpenAI's files and batches), with the judge of `stand_in`."""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from stand_in import Call, completed, noted, reply_to


@dataclass
class Provider:
    """What the endpoint got, and how it behaves.

    Attributes:
        seconds: how long a batch takes.
        fails: whether a request of a batch fails; a function of its number, from 0.
        rejects: HTTP status with which batches are refused; None to accept them.
        files: contents by id.
        batches: per batch, when it was created and the calls in it.
        live: number of calls outside of batches.
    """

    seconds: float = 0.0
    fails: Callable[[int], bool] | None = None
    rejects: int | None = None
    files: dict[str, str] = field(default_factory=dict)
    batches: dict[str, tuple[float, list[Call]]] = field(default_factory=dict)
    live: int = 0
    address: str = ""

    @property
    def sizes(self) -> list[int]:
        """Return the number of calls of each batch, in the order of their creation."""
        return [len(calls) for _, calls in self.batches.values()]

    def calls(self) -> list[Call]:
        """Return all calls of all batches."""
        return [call for _, calls in self.batches.values() for call in calls]

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        """Return the status and the answer to a request."""
        if method == "POST" and path.endswith("/files"):
            name = f"file-{len(self.files)}"
            self.files[name] = _lines_of(body)
            about = {"filename": "b.jsonl", "purpose": "batch", "status": "processed"}
            return 200, {"id": name, "object": "file", "bytes": 1, "created_at": 0, **about}
        if method == "POST" and path.endswith("/batches"):
            if self.rejects:
                return self.rejects, {"error": {"message": "no batches today", "type": "x"}}
            return 200, self._created(json.loads(body)["input_file_id"])
        if found := re.search(r"/batches/(\S+)$", path):
            return 200, self._state_of(found[1])
        if found := re.search(r"/files/(\S+)/content$", path):
            return 200, self.files[found[1]]
        self.live += 1
        return 200, _completion_of(json.loads(body))

    def _created(self, file: str) -> dict[str, Any]:
        requests = [json.loads(line) for line in self.files[file].splitlines()]
        name = f"batch-{len(self.batches)}"
        self.batches[name] = (time.time(), [noted(one["body"], turned=False) for one in requests])
        right, wrong = [], []
        bad = {"error": {"message": "bad words", "type": "invalid_request_error"}}
        rejections = (
            {"response": {"status_code": 400, "request_id": "x", "body": bad}, "error": None},
            {"response": None, "error": {"code": "batch_expired", "message": "too late"}},
        )
        for number, one in enumerate(requests):
            about = {"id": f"r{number}", "custom_id": one["custom_id"]}
            if self.fails and self.fails(number):
                wrong.append({**about, **rejections[number % len(rejections)]})
                continue
            reply = _completion_of(one["body"])
            response = {"status_code": 200, "request_id": "x", "body": reply}
            right.append({**about, "response": response, "error": None})
        for kind, lines in (("output", right), ("error", wrong)):
            self.files[f"{kind}-{name}"] = "".join(json.dumps(line) + "\n" for line in lines)
        return self._state_of(name)

    def _state_of(self, name: str) -> dict[str, Any]:
        created, calls = self.batches[name]
        is_done = time.time() >= created + self.seconds
        error = f"error-{name}" if self.files[f"error-{name}"] else None
        files = {"output_file_id": f"output-{name}", "error_file_id": error} if is_done else {}
        return {
            "id": name,
            "object": "batch",
            "completion_window": "24h",
            "created_at": int(created),
            "endpoint": "/v1/chat/completions",
            "input_file_id": "file",
            "status": "completed" if is_done else "in_progress",
            "request_counts": {"completed": len(calls), "failed": 0, "total": len(calls)},
            **files,
        }


def _completion_of(request: dict[str, Any]) -> dict[str, Any]:
    call = noted(request, turned=False)
    text = reply_to(call)
    if request.get("response_format") and call.second:
        text = json.dumps({"verdict": text})
    return completed(call, text, False)


def _lines_of(body: bytes) -> str:
    """Return the lines of JSON in a form with a file."""
    lines = [line for line in body.decode().splitlines() if line.startswith('{"custom_id"')]
    return "\n".join(lines)


@contextmanager
def batch_server() -> Iterator[Provider]:
    """Serve a provider's batch endpoint from a thread of this process."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            """Answer one request."""
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, found = provider.answer(self.command, self.path, body)
            content = (found if isinstance(found, str) else json.dumps(found)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            """Answer one request."""
            self.do_POST()

        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.address = f"http://127.0.0.1:{server.server_port}/v1"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
