"""A stand-in for models: answers at an OpenAI-compatible address with the recorded responses of
examples/tournament.

    python examples/lm_eval/serve.py [PORT]

The model's name (`rowan`, `linden`, ...) selects the recorded responses. An instruction without a
recorded response gets an empty one. Two more models are judges: `brief` prefers the shorter of two
responses, and `thorough` the longer one.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

RECORDED = Path(__file__).parents[1] / "tournament" / "responses"
PORT = 8123
JUDGES = ("brief", "thorough")
RESPONSE = re.compile(r"<(response_[ab]_\w+)>\n(.*?)\n</\1>", re.DOTALL)
"""Matches a response in a judge's prompt; its second group is the text."""


def recorded() -> dict[str, dict[str, str]]:
    """Return the responses, by model and instruction."""
    files = sorted(RECORDED.glob("*.jsonl"))
    rows = {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in files
    }
    return {
        name: {row["instruction"]: row["response"] for row in own} for name, own in rows.items()
    }


def judged(name: str, prompt: str) -> str:
    """Return the reply of one of `JUDGES`; of responses of equal length, the first shown wins."""
    first, second = (len(text) for _, text in RESPONSE.findall(prompt))
    is_first = first <= second if name == "brief" else first >= second
    return json.dumps({"verdict": "A" if is_first else "B"})


class Models(BaseHTTPRequestHandler):
    """HTTP handler that returns recorded responses, or replies of a judge."""

    protocol_version = "HTTP/1.1"
    responses = recorded()

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name, prompt = asked["model"], asked["messages"][-1]["content"]
        if name in JUDGES:
            text = judged(name, prompt)
        elif name in self.responses:
            text = self.responses[name].get(prompt, "")
        else:
            known = ", ".join((*self.responses, *JUDGES))
            self.answer(404, {"error": {"message": f"no model {name!r}; there are {known}"}})
            return
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.answer(200, {"object": "chat.completion", "model": name, "choices": [choice]})

    def answer(self, status: int, body: dict[str, object]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        """Do not log single requests."""


def main() -> None:
    """Serve until interrupted."""
    server = ThreadingHTTPServer(
        ("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else PORT), Models
    )
    print(
        f"{', '.join(Models.responses)} at http://127.0.0.1:{server.server_port}/v1/chat/completions",
        flush=True,
    )
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
