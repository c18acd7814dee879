"""CPU seconds of podium's commands in a new process, compared with an import of numpy, duckdb and
rich.

    python benchmarks/cold_start.py [--markdown]

User plus system time of a child process, imports included: the median of several runs after a
warm-up that fills the file cache, the fastest in brackets.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from tables import Timing, machine, show, timed

LEAST = "import numpy, duckdb, rich"
"""What every ranking of a file needs."""
HEAVY = ("numpy", "scipy", "pandas", "pyarrow", "rich")


def main() -> None:
    """Time the commands and look for heavy imports."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--markdown", action="store_true")
    markdown = parser.parse_args().markdown
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "verdicts.csv"
        path.write_text(verdicts(1_000))
        least = cpu_seconds([sys.executable, "-c", LEAST]).median
        rows = [row(name, command, goal, least) for name, command, goal in commands(path)]
    header = ["command", "CPU seconds", f"times `{LEAST}`", "goal", "met"]
    show("Cold start", header, rows, markdown=markdown)
    loaded = imported_by(["--help"])
    print(f"\nheavy packages imported by `podium --help`: {', '.join(loaded) or 'none'}")


def commands(path: Path) -> list[tuple[str, list[str], float | None]]:
    """Return what to run, with the goal as a multiple of the time of `LEAST`."""
    podium = [sys.executable, "-m", "podium.cli.main"]
    if (Path(sys.executable).parent / "podium").exists():
        podium = [str(Path(sys.executable).parent / "podium")]
    rank = [*podium, "rank", str(path), "--ranker", "bradley-terry"]
    others = []
    if find_spec("evalica"):
        others = [("python -c 'import evalica'", [sys.executable, "-c", "import evalica"], None)]
    return [
        ("python -c pass", [sys.executable, "-c", "pass"], None),
        ("podium --help", [*podium, "--help"], 1.0),
        ("python -c 'import pandas'", [sys.executable, "-c", "import pandas"], None),
        (f"python -c '{LEAST}'", [sys.executable, "-c", LEAST], None),
        *others,
        ("podium rank, 1,000-row CSV", rank, 3.0),
        ("podium diagnose, the same", [*podium, "diagnose", str(path)], 4.0),
        ("podium compare, the same", [*podium, "compare", "model-0", "model-1", str(path)], 4.0),
    ]


def row(name: str, command: Sequence[str], goal: float | None, least: float) -> list[str]:
    """Time one command and compare it with its goal, in multiples of `least` seconds."""
    spent = cpu_seconds(command)
    times = spent.median / least
    if goal is None:
        return [name, str(spent), f"{times:.2f}", "", ""]
    return [name, str(spent), f"{times:.2f}", f"<= {goal:g}", "yes" if times <= goal else "NO"]


def cpu_seconds(command: Sequence[str]) -> Timing:
    """Return the processor time of a command; a command that fails stops the benchmark."""

    def run() -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    return timed(run, repeats=11, clock=children_seconds)


def children_seconds() -> float:
    """Return the user and system time of all finished child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def imported_by(arguments: Sequence[str]) -> list[str]:
    """Return the heavy packages that a command line loads."""
    program = (
        "import sys\n"
        "from podium.cli.main import podium\n"
        f"podium({list(arguments)!r}, standalone_mode=False)\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return [name for name in HEAVY if name in done.stderr.split()]


def verdicts(rows: int) -> str:
    """Return a CSV of wins and losses between ten models on a hundred items."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 10, rows)
    b = (a + rng.integers(1, 10, rows)) % 10
    credit = rng.random(rows) < 1 / (1 + np.exp((a - b) / 5))
    lines = [
        f"item-{k % 100},model-{i},model-{j},{int(y)}"
        for k, (i, j, y) in enumerate(zip(a, b, credit, strict=True))
    ]
    return "\n".join(["item,model_a,model_b,credit", *lines]) + "\n"


if __name__ == "__main__":
    main()
