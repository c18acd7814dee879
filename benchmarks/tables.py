"""Timings and aligned tables, shared by the benchmark scripts."""

import os
import platform
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Cells = Sequence[str]


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of several runs after a warm-up."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The fastest run."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The middle run: goals are judged by it."""
        return statistics.median(self.seconds)

    def scaled(self, factor: float) -> "Timing":
        """Return the timing of `factor` times the work."""
        return Timing(tuple(factor * one for one in self.seconds))

    def __str__(self) -> str:
        return f"{_short(self.median)} ({_short(self.best)})"


def timed(
    work: Callable[[], object],
    *,
    repeats: int = 11,
    budget: float = 7.0,
    warm: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> Timing:
    """Time one piece of work; see `timed_in_turn`."""
    return timed_in_turn({"": work}, repeats=repeats, budget=budget, warm=warm, clock=clock)[""]


def timed_in_turn(
    works: Mapping[str, Callable[[], object]],
    *,
    repeats: int = 11,
    budget: float = 7.0,
    warm: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timing]:
    """Run all functions once per round, so that other load on the machine affects all equally.

    Args:
        repeats: rounds.
        budget: seconds on the clock after which a work sits out further rounds; each runs at least
            once.
        warm: run each once before, untimed.
        clock: seconds, monotonic.
    """
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + warm):
        for name, work in works.items():
            if sum(seconds[name]) > budget:
                continue
            before = clock()
            work()
            if turn or not warm:
                seconds[name].append(clock() - before)
    return {name: Timing(tuple(each)) for name, each in seconds.items()}


def children_seconds() -> float:
    """Return the user and system time of all finished child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def show(title: str, header: Cells, rows: Sequence[Cells], *, markdown: bool) -> None:
    """Print a table, first column left, the others right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        [
            cell.ljust(w) if k == 0 else cell.rjust(w)
            for k, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    ]
    print(f"\n{'**' if markdown else ''}{title}{'**' if markdown else ''}\n")
    if markdown:
        rule = ["-" * w if k == 0 else "-" * (w - 1) + ":" for k, w in enumerate(widths)]
        print(
            "\n".join(f"| {' | '.join(line)} |" for line in [padded[0], rule, *padded[1:]]),
            flush=True,
        )
    else:
        rule = ["-" * w for w in widths]
        print(
            "\n".join("  ".join(line).rstrip() for line in [padded[0], rule, *padded[1:]]),
            flush=True,
        )


def machine(*versions: str) -> str:
    """Describe where this runs: cores, load, Python and the versions given."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = (
        f", load average {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    )
    system = f"{platform.system()} {platform.machine()}"
    return (
        f"{system}, {cores} cores{load}; "
        f"{', '.join([f'Python {platform.python_version()}', *versions])}"
    )


def _short(seconds: float) -> str:
    return (
        f"{seconds:.3f}" if seconds < 1 else f"{seconds:.2f}" if seconds < 10 else f"{seconds:.0f}"
    )
