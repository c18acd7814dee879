"""Judges and models behind an OpenAI-compatible address, in a process of its own: it counts, waits
and fails.

    python stand_in.py        # prints its port, serves until it is ended

Who is shown two marked responses is a judge: verdicts are a function of the prompt alone, every
response carries a mark (`mark`), and the better mark wins the more often the further it is ahead,
with a slight preference for what is shown first. Everyone else is a model that adds two numbers,
right as often as the end of its name says (`elm-0.7`), and marks what it says. Faults are drawn by
a hash, not by time. `POST /script` says how to behave from now on, `GET /journal` returns every
call so far.
"""

import asyncio
import json
import math
import re
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

SUM = re.compile(r"(\d+) plus (\d+)")
MARK = re.compile(r"\[(\S+) by (\S+): quality=(-?[\d.]+)\]")
STEEPNESS, BIAS = 3.0, 0.2
ON_LETTERS = 0.98
"""Probability on the two letters; the rest stands on another word."""
HANG = 60.0
"""Seconds for which a call is left without an answer."""
BODIES = (
    "<html>busy</html>",
    '{"id": "x", "choi',
    "[]",
    '"fine"',
    "",
    '{"id": "x", "object": "chat.completion"}',
)
REPLIES = (
    "",
    "Both are fine.",
    "A B",
    "C",
    "\u2603" * 40,
    "I'm sorry, I can't help with that.",
    "Z" * 5000,
)


@dataclass(frozen=True)
class Script:
    """How the judge behaves.

    Attributes:
        latency: seconds before every answer.
        logprobs: whether answers come with log-probabilities, if asked for.
        faults: share of calls by kind: an HTTP status, `hang`, `close`, `body`, `reply`, `cut`
            (half of the answer).
        lasting: whether a prompt that fails once fails for ever; else every call is drawn anew.
        calls: after so many calls of all there are no faults; None = they never end.
        draw: which draw of all; what is shown and this alone decide.
        turned: whether it prefers the worse.
        always_first: whether it always prefers what is shown first.
    """

    latency: float = 0.0
    logprobs: bool = True
    faults: dict[str, float] = field(default_factory=dict)
    lasting: bool = False
    calls: int | None = None
    draw: int = 0
    turned: bool = False
    always_first: bool = False

    def fault(self, shown: str, ask: int, call: int) -> str | None:
        """Return what goes wrong when something is shown for the n-th time, in the n-th call of
        all."""
        if self.calls is not None and call >= self.calls:
            return None
        drawn = _uniform(f"{self.draw} {shown}" if self.lasting else f"{self.draw} {shown} {ask}")
        for kind, share in self.faults.items():
            drawn -= share
            if drawn < 0:
                return kind
        return None


@dataclass
class Call:
    """A call as the judge saw it.

    Attributes:
        model, key: who was asked, and a hash of model and prompt.
        item, first, second: the battle, by the marks in the prompt; of a model the sum, its name
            and nothing.
        fate: `answered`, or the fault; None while it waits.
        probability: that the first response is better.
        bearer: the key that came with it.
        begun, ended: seconds on the machine's clock; ended is None while it waits, or where nobody
            waited any longer.
    """

    model: str
    key: str
    item: str
    first: str
    second: str
    probability: float
    begun: float
    bearer: str = ""
    fate: str | None = None
    ended: float | None = None


class Judge:
    """Answers, and keeps the journal."""

    def __init__(self) -> None:
        self.script = Script()
        self.calls: list[Call] = []
        self.asked: Counter[tuple[str, str]] = Counter()

    async def completion(
        self, request: dict[str, Any], bearer: str
    ) -> tuple[Call, int, str] | None:
        """Return status and body of one call; None where the connection is to be closed."""
        script, number = self.script, len(self.calls)
        call = noted(request, turned=script.turned)
        if script.always_first and call.second:
            call.probability = 1.0
        call.bearer = bearer
        self.calls.append(call)
        shown = f"{call.item} {call.first} {call.second}"
        self.asked[call.model, shown] += 1
        ask = self.asked[call.model, shown]
        fault = script.fault(shown, ask, number)
        await asyncio.sleep(HANG if fault == "hang" else script.latency)
        call.fate = fault or "answered"
        if fault in ("hang", "close"):
            return None
        if fault == "body":
            return call, 200, _one_of(BODIES, call.key)
        if fault and fault.isdigit():
            return (
                call,
                int(fault),
                json.dumps({"error": {"message": f"scripted {fault}", "type": "scripted"}}),
            )
        text = _one_of(REPLIES, f"{call.key} {ask}") if fault == "reply" else reply_to(call)
        # The probabilities of a garbled reply would not be those of letters.
        has_chances = bool(request.get("logprobs")) and script.logprobs and fault != "reply"
        whole = completed(call, text, has_chances)
        if request.get("response_format") and call.second and fault != "reply":
            whole = in_schema(whole, text)
        body = json.dumps(whole if "messages" in request else of_a_text(whole, text))
        return call, 200, body[: len(body) // 2] if fault == "cut" else body


def noted(request: dict[str, Any], *, turned: bool) -> Call:
    """Return what a request asks for, and what the judge thinks of it."""
    model, prompt = request["model"], prompt_of(request)
    key = sha256(f"{model}\0{prompt}".encode()).hexdigest()[:16]
    marks = MARK.findall(prompt)
    if len(marks) < 2:
        return Call(model, key, sum_in(prompt), model, "", skill(model), time.time())
    (item, first, better), (_, second, worse) = marks[:2]
    shown = (-float(better), -float(worse)) if turned else (float(better), float(worse))
    return Call(model, key, item, first, second, preference(*shown), time.time())


def prompt_of(request: dict[str, Any]) -> str:
    """Return what a request shows: the messages of a chat, or a text to go on with."""
    if "messages" in request:
        return "\n".join(str(message["content"]) for message in request["messages"])
    prompt = request["prompt"]
    return str(prompt if isinstance(prompt, str) else prompt[0])


def sum_in(prompt: str) -> str:
    """Return the last sum that a prompt asks for, as `3+4`."""
    found = SUM.findall(prompt)
    return "+".join(found[-1]) if found else "nothing"


def skill(model: str) -> float:
    """Return how often a model is right, which its name says."""
    reported = re.search(r"-([01]\.\d+)$", model)
    return float(reported[1]) if reported else 0.5


def reply_to(call: Call) -> str:
    """Return a judge's letter, or what a model answers: its sum, with a mark that says how good it
    is."""
    if call.second:
        return "A" if call.probability >= 0.5 else "B"
    right = sum(int(part) for part in call.item.split("+")) if "+" in call.item else 0
    luck = _uniform(f"{call.item} {call.model}")
    answer = right if luck < call.probability else right + 1
    return (
        f"The answer is {answer}. "
        f"{mark(call.item, call.model, call.probability + 0.5 * (0.5 - luck))}"
    )


def in_schema(whole: dict[str, Any], letter: str) -> dict[str, Any]:
    """Return an answer as the JSON object with the same letter and its probabilities."""
    [choice] = whole["choices"]
    text = json.dumps({"verdict": letter})
    before, after = text[: -len('A"}')], '"}'
    choice["message"]["content"] = text
    if choice["logprobs"]:
        sure = {"logprob": 0.0, "bytes": None, "top_logprobs": []}
        [stated] = choice["logprobs"]["content"]
        choice["logprobs"]["content"] = [
            {"token": before, **sure},
            stated,
            {"token": after, **sure},
        ]
    return whole


def of_a_text(whole: dict[str, Any], text: str) -> dict[str, Any]:
    """Return an answer in the older shape: a text gone on with, no chat."""
    return {
        **whole,
        "object": "text_completion",
        "choices": [{"index": 0, "text": text, "finish_reason": "stop"}],
    }


def preference(first: float, second: float) -> float:
    """Return the probability that the response shown first is the better one, by what the marks
    say."""
    return 1 / (1 + math.exp(-STEEPNESS * (first - second) - BIAS))


def completed(call: Call, text: str, logprobs: bool) -> dict[str, Any]:
    """Return the body of an answer."""
    top = {
        "A": ON_LETTERS * call.probability,
        "B": ON_LETTERS * (1 - call.probability),
        "The": 1 - ON_LETTERS,
    }
    known = [
        {"token": token, "logprob": math.log(max(p, 1e-9)), "bytes": None}
        for token, p in top.items()
    ]
    stated = {
        "token": text,
        "logprob": math.log(max(top.get(text, 1.0), 1e-9)),
        "bytes": None,
        "top_logprobs": known,
    }
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
        "logprobs": {"content": [stated]} if logprobs and text else None,
    }
    usage = {"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101}
    about = {
        "id": f"call-{call.key}",
        "object": "chat.completion",
        "created": 0,
        "model": call.model,
    }
    return {**about, "choices": [choice], "usage": usage}


def mark(item: str, model: str, quality: float) -> str:
    """Return the mark that a response must contain."""
    return f"[{item} by {model}: quality={quality:.3f}]"


async def serve(judge: Judge, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one connection, request after request."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            lines = head.decode("latin-1").split("\r\n")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines)
            }
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            bearer = headers.get("authorization", "").removeprefix("Bearer ")
            answer = await routed(judge, lines[0].split()[1], body, bearer)
            if answer is None:
                break
            call, status, text = answer
            writer.write(framed(status, text))
            await writer.drain()
            if call:
                call.ended = time.time()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def routed(
    judge: Judge, path: str, body: bytes, bearer: str
) -> tuple[Call | None, int, str] | None:
    """Answer one request."""
    if path.endswith("/completions"):
        return await judge.completion(json.loads(body), bearer)
    if path == "/script":
        judge.script = Script(**json.loads(body))
        return None, 200, "{}"
    if path == "/journal":
        return None, 200, json.dumps([asdict(call) for call in judge.calls])
    return None, 404, "{}"


def framed(status: int, text: str) -> bytes:
    """Return an HTTP answer."""
    content = text.encode()
    retry = "Retry-After: 0\r\n" if status == 429 else ""
    head = (
        f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{retry}Content-Length: "
        f"{len(content)}\r\n\r\n"
    )
    return head.encode() + content


class StandIn:
    """The judge, seen from a test."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.chat = f"{self.address}/v1/chat/completions"
        self.completions = f"{self.address}/v1/completions"

    def script(self, **behaviour: Any) -> None:
        """Say how to behave from now on; see `Script`."""
        self._fetched("/script", json.dumps(asdict(Script(**behaviour))).encode())

    def calls(self) -> list[Call]:
        """Return all calls so far."""
        return [Call(**one) for one in self._fetched("/journal")]

    def _fetched(self, path: str, body: bytes | None = None) -> Any:
        with urllib.request.urlopen(self.address + path, data=body, timeout=30) as answer:
            return json.loads(answer.read())


@contextmanager
def stand_in() -> Iterator[StandIn]:
    """Start a judge in a process of its own, and end it."""
    process = subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield StandIn(int(process.stdout.readline()))
    finally:
        process.kill()
        process.wait()


async def main() -> None:
    """Serve until ended."""
    judge = Judge()
    server = await asyncio.start_server(lambda *ends: serve(judge, *ends), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


def _uniform(text: str) -> float:
    return int.from_bytes(sha256(text.encode()).digest()[:8]) / 2**64


def _one_of(choices: tuple[str, ...], text: str) -> str:
    return choices[int(len(choices) * _uniform(text + " which"))]


if __name__ == "__main__":
    asyncio.run(main())
