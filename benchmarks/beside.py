"""One benchmark of two versions of podium in turn: every figure, the time and the peak memory, as
ratios.

    python benchmarks/beside.py OTHER_CHECKOUT OTHER_PYTHON SCRIPT [OPTION...] [--turns 3]

    python benchmarks/beside.py ../before ../before/.venv/bin/python diagnose.py
    python benchmarks/beside.py ../before ../before/.venv/bin/python peers.py --without statsmodels

OTHER_CHECKOUT contains the other version, with its own benchmarks; OTHER_PYTHON is an environment
in which it is installed. Each turn runs the other version and then this one, so that what else the
machine does slows both alike. A ratio is this version over the other one; figures are medians over
the turns.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from tables import machine, show

HERE = Path(__file__).parents[1]
NUMBER = re.compile(r"(-?\d[\d,]*\.?\d*(?:e[+-]?\d+)?)(?: \(.*\))?")
FASTEST = 0.005
"""Seconds; a smaller time is noise, and has no ratio."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of a benchmark: its tables' figures by title, row and column; CPU seconds; peak
    memory, MiB."""

    figures: dict[tuple[str, str, str], float]
    cpu: float
    peak: float


def run(checkout: Path, python: str, script: list[str]) -> Outcome:
    """Run a benchmark of one checkout and read its Markdown tables.

    Raises:
        SystemExit: it failed.
    """
    command = [python, script[0], *script[1:], "--markdown"]
    process = subprocess.Popen(
        command, cwd=checkout / "benchmarks", stdout=subprocess.PIPE, text=True
    )
    output = process.stdout.read()  # type: ignore[union-attr]
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{' '.join(command)} in {checkout} failed")
    return Outcome(figures_of(output), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def figures_of(output: str) -> dict[tuple[str, str, str], float]:
    """Return every number that is a whole cell of a Markdown table, by title, row label and
    column."""
    figures: dict[tuple[str, str, str], float] = {}
    title, header = "", []
    for line in output.splitlines():
        cells = (
            [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        )
        if line.startswith("**"):
            title, header = line.strip("*"), []
        elif cells and not header:
            header = cells
        elif cells and not set(line) <= set("|-: "):
            label = "; ".join(cell for cell in cells if not NUMBER.fullmatch(cell)) or cells[0]
            for column, cell in zip(header, cells, strict=True):
                if match := NUMBER.fullmatch(cell):
                    figures[title, label, column] = float(match[1].replace(",", ""))
    return figures


def median_figures(outcomes: list[Outcome]) -> dict[tuple[str, str, str], float]:
    """Return the median of each figure over the turns."""
    values = defaultdict(list)
    for outcome in outcomes:
        for key, value in outcome.figures.items():
            values[key].append(value)
    return {key: statistics.median(each) for key, each in values.items()}


def ratio_of(ours: float, theirs: float) -> str:
    """Return ours / theirs as text, `-` where the other is next to nothing."""
    return f"{ours / theirs:.2f}" if theirs >= FASTEST else "-"


def main() -> None:
    """Run both versions in turn and print what they printed side by side."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path)
    parser.add_argument("python", type=lambda path: str(Path(path).absolute()))
    parser.add_argument("--turns", type=int, default=3)
    options, script = parser.parse_known_args()
    theirs, ours = [], []
    print(machine(time.strftime("%Y-%m-%d")))
    for _ in range(options.turns):
        theirs.append(run(options.checkout, options.python, script))
        ours.append(run(HERE, sys.executable, script))
    before, now = median_figures(theirs), median_figures(ours)
    rows = [
        [
            f"{key[1]} | {key[2]}",
            f"{before[key]:g}",
            f"{now[key]:g}",
            ratio_of(now[key], before[key]),
        ]
        for key in now
        if key in before
    ]
    for what, unit in (("cpu", "CPU seconds"), ("peak", "peak memory, MiB")):
        old, new = (
            statistics.median(getattr(outcome, what) for outcome in each) for each in (theirs, ours)
        )
        rows.append([f"whole process: {unit}", f"{old:.2f}", f"{new:.2f}", ratio_of(new, old)])
    show(
        f"{' '.join(script)}: medians of {options.turns} turns",
        ["figure", "other", "this", "ratio"],
        rows,
        markdown=False,
    )


if __name__ == "__main__":
    main()
