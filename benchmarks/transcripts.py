"""Time and memory of reading long agents' transcripts, beside a plain `json.loads` of the same
file.

    python benchmarks/transcripts.py [--samples 1000] [--turns 200] [--characters 1000000]
    [--markdown]

Each sample of the log is an agent of 200 turns, which calls a tool in each, and 1 MB of text. Every
way of reading runs in a process of its own, whose memory includes the imports of this script. The
second table compares ways to mark the pieces of these transcripts and of those in examples/agents:
what the marks take of the tokens that a judge is shown. Four characters are a token, and so is each
digit of a code.
"""

import argparse
import json
import random
import resource
import sys
import tempfile
import zipfile
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall
from tables import machine, show

from podium.hosts.inspect_ai.logs.response_reader import READER
from podium.responses.read import read_responses
from podium.responses.transcripts import Show, read_pieces
from podium.scorers.prompt import CHARACTERS_PER_TOKEN, NEXT_LINE

AGENTS = Path(__file__).parents[1] / "examples" / "agents" / "runs"
MARKS = {
    "two lines with the code": ("<{name} {code}>\n", "\n", "\n</{name} {code}>\n", 8),
    "one line with the code": ("<{name} {code}>\n", "\n", "\n", 8),
    "one line with four digits of the code": ("<{name} {code}>\n", "\n", "\n", 4),
    "`>` before each further line (podium)": ("{name}: ", NEXT_LINE, "\n", 0),
}
"""What stands before a piece, between its lines, and after it; and the digits of the code."""
WORDS = (
    "the",
    "rows",
    "of",
    "this",
    "table",
    "were",
    "read",
    "and",
    "one",
    "amount",
    "is",
    "empty",
)


def main() -> None:
    """Write a log, read it in each way, and print a row for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=1_000)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--characters", type=int, default=1_000_000)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "agent.eval"
        run_apart(write_log, log, options.samples, options.turns, options.characters)
        ways = {
            "json.loads of each sample": parse_json,
            "podium, the answers": answers,
            "podium, transcripts": transcripts,
        }
        rows = [
            [name, *(f"{figure:,.1f}" for figure in run_apart(measure, log, way))]
            for name, way in ways.items()
        ]
        title = (
            f"{options.samples:,} samples of {options.turns:,} turns and "
            f"{options.characters / 1e6:g} MB"
        )
        show(title, ["reading", "CPU seconds", "peak memory, MB"], rows, markdown=options.markdown)
        shares = zip(
            MARKS, run_apart(shares_of_marks, log), run_apart(shares_of_marks, AGENTS), strict=True
        )
        rows = [[name, *(f"{share:.0%}" for share in both)] for name, *both in shares]
        show(
            "share of the marks",
            ["marks of a piece", "long transcripts", "example"],
            rows,
            markdown=options.markdown,
        )


def run_apart(work: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns in a fresh process."""
    # The peak of a process includes that of the one that started it.
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def write_log(path: Path, samples: int, turns: int, characters: int) -> None:
    """Evaluate one scripted agent, and write a log with its sample as often as asked."""

    @solver
    def agent() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
            rng = random.Random(1)
            for k in range(turns):
                call = ToolCall(id=f"c{k}", function="read", arguments={"page": k})
                text = " ".join(rng.choices(WORDS, k=characters // turns // 4))[
                    : characters // turns
                ]
                state.messages.append(ChatMessageAssistant(content=f"Step {k}.", tool_calls=[call]))
                state.messages.append(
                    ChatMessageTool(content=text, tool_call_id=f"c{k}", function="read")
                )
            state.output = ModelOutput.from_content("mockllm/agent", "The mean is 82.")
            state.messages.append(state.output.message)
            return state

        return solve

    task = Task(dataset=[Sample(id="1", input="What is the mean?")], solver=agent(), name="table")
    [log] = eval(task, model="mockllm/agent", log_dir=str(path.parent / "one"), display="none")
    with (
        zipfile.ZipFile(log.location) as one,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as many,
    ):
        for member in one.namelist():
            content = one.read(member)
            if member.startswith("samples/"):
                sample = json.loads(content)
                for k in range(1, samples + 1):
                    many.writestr(f"samples/{k}_epoch_1.json", json.dumps({**sample, "id": str(k)}))
            else:
                many.writestr(member, content)


def parse_json(log: Path) -> None:
    """Parse the JSON of one sample after another."""
    with zipfile.ZipFile(log) as archive:
        for member in archive.namelist():
            json.loads(archive.read(member))


def answers(log: Path) -> None:
    """Read the last messages."""
    read_responses(log, readers=(READER,))


def transcripts(log: Path) -> None:
    """Read the transcripts within their budget."""
    read_responses(log, readers=(READER,), show=Show("auto"))


def measure(log: Path, way: Callable[[Path], None]) -> tuple[float, float]:
    """Return the CPU seconds of reading a log, and the peak memory of this process in MB."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    way(log)
    after = resource.getrusage(resource.RUSAGE_SELF)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, after.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def shares_of_marks(source: Path) -> list[float]:
    """Return the share of each form of marks in the tokens of the transcripts."""
    read = read_responses(source, readers=(READER,), show=Show("auto"))
    pieces = [
        piece
        for texts in read.texts.values()
        for text in texts.values()
        for piece in read_pieces(text)
    ]
    words, shares = sum(len(text) for _, text in pieces) / CHARACTERS_PER_TOKEN, []
    for before, between, after, digits in MARKS.values():
        marks = 0.0
        for name, text in pieces:
            codes = digits * (before + after).count("{code}")
            added = len((before + after).format(name=name, code="")) + text.count("\n") * (
                len(between) - 1
            )
            marks += added / CHARACTERS_PER_TOKEN + codes
        shares.append(marks / (marks + words))
    return shares


if __name__ == "__main__":
    main()
