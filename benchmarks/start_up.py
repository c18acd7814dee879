"""What `podium enable` costs at the start of a process: of any Python program, and of the hosts' commands.

    python benchmarks/start_up.py [--starts 200] [--markdown]

One environment of the benchmark's own, with the packages of the one at hand; podium is enabled in it for one of three
arms. The second arm is the first once more: its distance from the first is what the measurement cannot tell apart.
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
from cold_start import children_seconds
from tables import Timing, machine, show, timed_in_turn

from podium.cli import enable

OFF, AGAIN, ON = "off", "off again", "on"
HOSTS = {"inspect_ai": "inspect_ai eval --limit", "lm_eval": "lm_eval run --limit"}
"""A command of each that ends as soon as it has read what was typed: the option has no value."""


def main() -> None:
    """Time `python -c pass` and the hosts' commands, with podium off, off again and on, in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=200, help="starts of `python -c pass`; a tenth of them of a host")
    parser.add_argument("--no-hosts", action="store_true", help="time `python -c pass` only")
    parser.add_argument("--markdown", action="store_true")
    told = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, symlinks=os.name != "nt")
        rows = [row("python -c pass", measured(Path(folder), ["-c", "pass"], told.starts))]
        site_packages(Path(folder), "outer.pth").write_text(f"import site; site.addsitedir({PURELIB!r})\n")
        for name, command in HOSTS.items():
            if find_spec(name) and not told.no_hosts:
                timings = measured(Path(folder), ["-m", *command.split()], max(told.starts // 10, 1))
                rows.append(row(f"python -m {command}", timings))
    header = ["CPU milliseconds, median", OFF, AGAIN, ON, "off again - off (95%)", "on - off (95%)"]
    show("Start of a process", header, rows, markdown=told.markdown)
    print(f"\nthe line alone, in a process that has started: {line_alone():.1f} microseconds")


PURELIB = sysconfig.get_path("purelib")


def site_packages(folder: Path, name: str) -> Path:
    """Return the place of a file in the site-packages of an environment."""
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)})) / name


def measured(folder: Path, words: Sequence[str], starts: int) -> dict[str, Timing]:
    """Return the processor time of a command in each arm."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / Path(sys.executable).name
    line = site_packages(folder, enable.NAME)

    def start(on: bool) -> Callable[[], None]:
        def run() -> None:
            if on:
                line.write_text(enable.startup_lines())
            else:
                line.unlink(missing_ok=True)
            subprocess.run([python, *words], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        return run

    arms = {OFF: start(False), AGAIN: start(False), ON: start(True)}
    return timed_in_turn(arms, repeats=starts, budget=float("inf"), clock=children_seconds)


def row(name: str, timings: dict[str, Timing]) -> list[str]:
    """Return the medians, and the mean differences between runs of one round with their bootstrap intervals."""
    medians = [f"{1e3 * timings[arm].median:.1f}" for arm in (OFF, AGAIN, ON)]
    return [name, *medians, *(difference(timings[arm], timings[OFF]) for arm in (AGAIN, ON))]


def difference(one: Timing, other: Timing, resamples: int = 2_000) -> str:
    """Return the mean difference in milliseconds; 2.5% and 97.5% quantiles over resampled rounds."""
    apart = 1e3 * (np.array(one.seconds) - np.array(other.seconds))
    rounds = np.random.default_rng(1).integers(0, apart.size, (resamples, apart.size))
    low, high = np.quantile(apart[rounds].mean(axis=1), [0.025, 0.975])
    return f"{apart.mean():+.2f} ({low:+.2f} … {high:+.2f})"


def line_alone(repeats: int = 10_000) -> float:
    """Return the microseconds that the line takes where another program runs."""
    from timeit import timeit

    line = enable.startup_lines().splitlines()[-1]
    sys.orig_argv[:] = [sys.executable, "-c", "pass"]
    return 1e6 * timeit(lambda: exec(line), number=repeats) / repeats


if __name__ == "__main__":
    main()
