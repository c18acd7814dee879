"""A proxy in front of a server: it keeps what was asked and whether it was answered."""

import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread


@dataclass
class CountingProxy:
    """Its address, and the bodies of all requests; `before` is called with the number of each
    request, from 1."""

    address: str = ""
    asked: Counter[bytes] = field(default_factory=Counter)
    answered: Counter[bytes] = field(default_factory=Counter)
    before: Callable[[int], None] = lambda number: None
    lock: Lock = field(default_factory=Lock)


@contextmanager
def counting_proxy(server: str) -> Iterator[CountingProxy]:
    """Pass requests on to a server; where it does not answer, close the connection without an
    answer."""
    proxy = CountingProxy()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with proxy.lock:
                proxy.asked[body] += 1
                proxy.before(proxy.asked.total())
            request = urllib.request.Request(
                server + self.path, body, {"Content-Type": "application/json"}
            )
            try:
                with urllib.request.urlopen(request) as answer:
                    status, content = answer.status, answer.read()
            except urllib.error.HTTPError as error:
                status, content = error.code, error.read()
            except (OSError, HTTPException):
                return
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            with proxy.lock:
                proxy.answered[body] += status == 200

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=listener.serve_forever, daemon=True)
    thread.start()
    proxy.address = f"http://127.0.0.1:{listener.server_port}"
    try:
        yield proxy
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
