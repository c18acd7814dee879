"""Start-up time that `podium enable` adds to any Python program and to the hosts' commands.

    python benchmarks/start_up.py [--starts 200] [--markdown]

The benchmark creates an environment that sees the packages of the current one. podium is enabled in
it for one of three conditions. The second condition repeats the first, so that their difference
shows the noise of the measurement.
"""

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from tables import Timing, children_seconds, machine, show, timed_in_turn

from podium.cli import enable

OFF, OFF_REPEATED, ON = "off", "off, repeated", "on"
HOSTS = {"inspect_ai": "inspect_ai eval --limit", "lm_eval": "lm_eval run --limit"}
"""A command of each host that ends right after it parses its arguments: the option has no value."""


def main() -> None:
    """Time `python -c pass` and the hosts' commands, with podium off, off (repeated) and on, in
    turn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--starts",
        type=int,
        default=200,
        help="starts of `python -c pass`; a tenth of them of a host",
    )
    parser.add_argument("--no-hosts", action="store_true", help="time `python -c pass` only")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, symlinks=os.name != "nt")
        rows = [row("python -c pass", measured(Path(folder), ["-c", "pass"], options.starts))]
        site_packages(Path(folder), "outer.pth").write_text(
            f"import site; site.addsitedir({PURELIB!r})\n"
        )
        for name, command in HOSTS.items():
            if find_spec(name) and not options.no_hosts:
                timings = measured(
                    Path(folder), ["-m", *command.split()], max(options.starts // 10, 1)
                )
                rows.append(row(f"python -m {command}", timings))
    header = [
        "CPU milliseconds, median",
        OFF,
        OFF_REPEATED,
        ON,
        "off, repeated - off (95%)",
        "on - off (95%)",
    ]
    show("Start of a process", header, rows, markdown=options.markdown)
    print(f"\nthe startup line alone, in a running process: {line_alone():.1f} microseconds")


PURELIB = sysconfig.get_path("purelib")


def site_packages(folder: Path, name: str) -> Path:
    """Return the place of a file in the site-packages of an environment."""
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)})) / name


def measured(folder: Path, words: Sequence[str], starts: int) -> dict[str, Timing]:
    """Return the CPU time of a command in each condition."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / Path(sys.executable).name
    line = site_packages(folder, enable.NAME)

    def start(on: bool) -> Callable[[], None]:
        def run() -> None:
            if on:
                line.write_text(enable.startup_lines())
            else:
                line.unlink(missing_ok=True)
            subprocess.run(
                [python, *words], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )

        return run

    conditions = {OFF: start(False), OFF_REPEATED: start(False), ON: start(True)}
    return timed_in_turn(conditions, repeats=starts, budget=float("inf"), clock=children_seconds)


def row(name: str, timings: dict[str, Timing]) -> list[str]:
    """Return the medians, and the mean differences between runs of one round with their bootstrap
    intervals."""
    medians = [f"{1e3 * timings[condition].median:.1f}" for condition in (OFF, OFF_REPEATED, ON)]
    return [
        name,
        *medians,
        *(difference(timings[condition], timings[OFF]) for condition in (OFF_REPEATED, ON)),
    ]


def difference(one: Timing, other: Timing, resamples: int = 2_000) -> str:
    """Return the mean difference in milliseconds; 2.5% and 97.5% quantiles over resampled
    rounds."""
    differences = 1e3 * (np.array(one.seconds) - np.array(other.seconds))
    rounds = np.random.default_rng(1).integers(0, differences.size, (resamples, differences.size))
    low, high = np.quantile(differences[rounds].mean(axis=1), [0.025, 0.975])
    return f"{differences.mean():+.2f} ({low:+.2f} … {high:+.2f})"


def line_alone(repeats: int = 10_000) -> float:
    """Return the microseconds that the startup line takes in a program that is no host."""
    from timeit import timeit

    line = enable.startup_lines().splitlines()[-1]
    sys.orig_argv[:] = [sys.executable, "-c", "pass"]
    return 1e6 * timeit(lambda: exec(line), number=repeats) / repeats


if __name__ == "__main__":
    main()
