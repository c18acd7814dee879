"""CPU seconds and memory of what people wait for: podium, podium before, and the best other tool.

    python benchmarks/speed.py                                    # this checkout
    python benchmarks/speed.py --before ../before --others ../others/bin/python --markdown
    python benchmarks/speed.py --only start --rounds 11           # some rows
    python benchmarks/speed.py --quick                            # a hundredth of the rows
    python benchmarks/speed.py --record verdicts.csv              # also the calls of the ring

`--before` is a second checkout. `--others` is the Python of an environment with evalica, choix,
pandas and duckdb; by default this one. Each run is a new process; user plus system time of it and
its children is counted, imports included. Sides take turns; figures are medians. Byte code is
written in a warm-up round that is not counted, as an installation writes it. Of a tournament inside
Inspect, imports are not counted (tournament.py, which measures other runs, too). With `--record`, a
second table has the calls of a ring tournament beside the fewest possible ones, in resampled worlds
of a recorded round robin (information_bound.py). Other sizes, Polars and memory limits are measured
by scale.py. `imports` is `import numpy, duckdb, rich`, which every ranking of a file needs.
"""

import argparse
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import scale
from tables import machine, show

if TYPE_CHECKING:
    import pandas as pd

HERE = Path(__file__).parents[1]
ROWS, LARGE = 1_000_000, 10_000_000
BATTLES = 1_000
"""Battles of a tournament, each with two calls."""
OWN_PYTHON = ("imports", "DuckDB", "bare Inspect")
"""What is run by this Python, and not by that of the other tools."""
IMPORTS = ("-c", "import numpy, duckdb, rich")
# A fit of string columns: the second one is timed, because the first one imports packages.
TIMED = """
import time
for _ in range(2):
    start = time.process_time()
    fit()
print(time.process_time() - start)
"""
FIT_STRINGS = """
import pandas as pd
from podium import read_battles
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.strengths import fit_strengths
table = pd.read_parquet("large.parquet")
def fit():
    fit_strengths(pair_sums(code_battles(read_battles(table))), 0.0)
"""
EVALICA = """
import evalica, numpy as np, pandas as pd
table = pd.read_{kind}
outcomes = np.array([evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.X], dtype=object)
def fit():
    winners = outcomes[(2 * table["credit"].to_numpy()).astype(int)]
    evalica.bradley_terry(table["model_a"].tolist(), table["model_b"].tolist(), winners.tolist())
"""
CHOIX = """
import choix, numpy as np, pandas as pd
table = pd.read_parquet("large.parquet")
def fit():
    codes, names = pd.factorize(pd.concat([table["model_a"], table["model_b"]]), sort=True)
    a, b = np.split(codes, 2)
    size, credit = len(names), table["credit"].to_numpy()
    won = np.bincount(a * size + b, credit, size * size).reshape(size, size)
    lost = np.bincount(a * size + b, 1 - credit, size * size).reshape(size, size)
    choix.ilsr_pairwise_dense(won + lost.T)
"""


@dataclass(frozen=True, slots=True)
class Row:
    """Something to measure.

    Attributes:
        part: name by which it is chosen.
        work: what is measured.
        command: arguments of Python with podium.
        other: name of what it is compared with; empty if there is nothing.
        other_command: arguments of Python for it.
        times: largest CPU time as a multiple of the other's; None if there is none.
        seconds: largest CPU time; None if there is none.
        is_printed: whether the processes print the CPU seconds that count.
    """

    part: str
    work: str
    command: tuple[str, ...]
    other: str = ""
    other_command: tuple[str, ...] = ()
    times: float | None = None
    seconds: float | None = None
    is_printed: bool = False


def rows_to_measure(large: str, battles: int) -> list[Row]:
    """Return the rows.

    Args:
        large: name of the Parquet file of judgments.
        battles: number of battles of a tournament.
    """
    csv = podium("rank", "large.csv")
    jsonl = podium("rank", "large.jsonl")
    strings = ("-c", FIT_STRINGS + TIMED)
    from_frame = ("-c", EVALICA.format(kind="parquet('large.parquet')") + TIMED)
    counting = (str(HERE / "benchmarks" / "scale.py"), "--count", "duckdb", large)
    report = podium("report", "models.csv", "-o", "page.html")
    compare = podium("compare", "model-0000", "model-0001", "small.csv")
    return [
        Row("text", "JSONL, rank", jsonl, "podium, CSV", csv, 1.5),
        Row(
            "text",
            "JSONL, rank",
            jsonl,
            "evalica",
            read_by_evalica("json('large.jsonl', lines=True)"),
        ),
        Row("text", "CSV, rank", csv, "evalica", read_by_evalica("csv('large.csv')")),
        Row("strings", "pandas strings, fit", strings, "evalica", from_frame, 1, is_printed=True),
        Row(
            "strings",
            "pandas strings, fit",
            strings,
            "choix",
            ("-c", CHOIX + TIMED),
            is_printed=True,
        ),
        Row(
            "counting", "Parquet of judgments, rank", podium("rank", large), "DuckDB", counting, 2.2
        ),
        Row("report", "report of 100 models", report, seconds=4),
        Row("start", "rank, 1,200 rows", podium("rank", "small.csv"), "imports", IMPORTS, 3),
        Row(
            "start", "diagnose, 1,200 rows", podium("diagnose", "small.csv"), "imports", IMPORTS, 4
        ),
        Row("start", "compare, 1,200 rows", compare, "imports", IMPORTS, 4),
        *rows_of_tournaments(battles),
    ]


def rows_of_tournaments(battles: int) -> list[Row]:
    """Return the rows of a round robin inside Inspect, beside bare Inspect with as many calls.

    Both log alike: *less logged* is what `podium inspect` sets, for bare Inspect, too.
    """
    calls = f"{2 * battles:,} calls"
    runs = (
        ("single", f"{calls}, pack=false", "bare", 1.2),
        ("spared", f"{calls}, pack=false, less logged", "bare-spared", None),
        ("packed", f"{calls}, packed", "bare", 0.8),
    )
    rows = []
    for run, work, bare, bar in runs:
        command = tournament("--once", run, "--battles", str(battles))
        other = tournament("--once", bare, "--battles", str(battles))
        rows.append(Row("tournament", work, command, "bare Inspect", other, bar, is_printed=True))
    return rows


def tournament(*options: str) -> tuple[str, ...]:
    """Return the arguments of Python that run tournament.py."""
    return (str(HERE / "benchmarks" / "tournament.py"), *options)


def podium(*words: str) -> tuple[str, ...]:
    """Return the arguments of Python that run a command of podium."""
    return ("-m", "podium", *words)


def read_by_evalica(kind: str) -> tuple[str, ...]:
    """Return the arguments of Python that read a file by pandas and fit it once by evalica."""
    return ("-c", EVALICA.format(kind=kind) + "fit()")


def write_data(folder: Path, share: float) -> str:
    """Write the tables into a folder; return the name of the Parquet file of judgments."""
    sizes = {"large": (int(ROWS * share), 5_000, 200), "small": (1_200, 100, 6)}
    sizes["models"] = (20_000, 1_000, 100)
    for name, (battles, items, models) in sizes.items():
        table = draw_battles(battles, items, models)
        table.to_csv(folder / f"{name}.csv", index=False)
        if name == "large":
            table.to_parquet(folder / "large.parquet")
            table.to_json(folder / "large.jsonl", orient="records", lines=True)
    return scale.write_table(folder, int(LARGE * share), "parquet").name


def draw_battles(battles: int, items: int, models: int) -> "pd.DataFrame":
    """Draw wins and losses of random pairs of models on random items."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(20240501)
    a = rng.integers(0, models, battles)
    b = (a + rng.integers(1, models, battles)) % models
    quality = rng.normal(0, 1, models)
    won = rng.random(battles) < 1 / (1 + np.exp(quality[b] - quality[a]))
    names = np.array([f"model-{k:04d}" for k in range(models)])
    item = np.array([f"item-{k:06d}" for k in range(items)])[rng.integers(0, items, battles)]
    columns = {"item": item, "model_a": names[a], "model_b": names[b], "credit": won * 1.0}
    return pd.DataFrame(columns)


def link_package(checkout: Path, folder: Path) -> Path:
    """Make a folder from which Python imports the podium of a checkout."""
    package = folder / "podium"
    package.mkdir(parents=True)
    for path in (checkout / "plugin").iterdir():
        (package / path.name).symlink_to(path.resolve())
    for name in ("scorers", "rankers"):
        (package / name).symlink_to((checkout / name).resolve())
    return folder


@dataclass(frozen=True, slots=True)
class Side:
    """One of the sides that take turns.

    Attributes:
        python: the Python that runs it.
        words: its arguments.
        packages: folder from which podium is imported; None for the one of that Python.
    """

    python: str
    words: tuple[str, ...]
    packages: Path | None


def cost_of(side: Side, folder: Path, *, is_printed: bool) -> tuple[float, float]:
    """Run a side in a folder; return its CPU seconds and its peak memory in MiB.

    Raises:
        SystemExit: it failed.
    """
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "XDG_CACHE_HOME": str(folder)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "code")
    environment["PYTHONPATH"] = str(side.packages or "")
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [side.python, *side.words], cwd=folder, env=environment, stdout=output, stderr=errors
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            raise SystemExit(f"{side.words}:\n{errors.read().decode(errors='replace')}")
        seconds = float(output.read()) if is_printed else usage.ru_utime + usage.ru_stime
    return seconds, usage.ru_maxrss / 1024


def measure(
    sides: dict[str, Side], folder: Path, rounds: int, *, is_printed: bool
) -> dict[str, tuple[float, float]]:
    """Return the median CPU seconds and memory of each side; the first round does not count."""
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for turn in range(rounds + 1):
        for name, side in sides.items():
            cost = cost_of(side, folder, is_printed=is_printed)
            if turn:
                costs[name].append(cost)
    return {
        name: (statistics.median(seconds), statistics.median(memory))
        for name, (seconds, memory) in (
            (name, zip(*each, strict=True)) for name, each in costs.items()
        )
    }


def cells_of(row: Row, found: dict[str, tuple[float, float]]) -> list[str]:
    """Return the cells of a row of the table."""
    now = found["podium"][0]
    bar = met = ""
    if row.seconds is not None:
        bar, met = f"{row.seconds:g} s", "yes" if now <= row.seconds else "NO"
    elif row.times is not None:
        bar = f"{row.times:g} times {row.other}"
        met = "yes" if now <= row.times * found[row.other][0] else "NO"
    other = f"{row.other} {found[row.other][0]:.2f}" if row.other else ""
    memory = "" if row.is_printed else f"{found['podium'][1]:,.0f}"
    before = f"{found['before'][0]:.2f}" if "before" in found else ""
    return [row.work, before, f"{now:.2f}", memory, other, bar, met]


def main() -> None:
    """Measure the chosen rows and print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="a second checkout")
    parser.add_argument("--others", default=sys.executable, help="Python of the other tools")
    parser.add_argument(
        "--only", default="text,strings,counting,report,start,tournament", help="parts"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows")
    parser.add_argument("--record", help="round robin whose items the worlds of the ring resample")
    parser.add_argument("--markdown", action="store_true")
    chosen = parser.parse_args()
    print(machine())
    table = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: the memory of this one would count as that of its children.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            large = pool.apply(write_data, (folder, 0.01 if chosen.quick else 1))
        packages = {"podium": link_package(HERE, folder / "now")}
        if chosen.before:
            packages["before"] = link_package(chosen.before.resolve(), folder / "earlier")
        for row in rows_to_measure(large, BATTLES // 100 if chosen.quick else BATTLES):
            if row.part in chosen.only.split(","):
                sides = sides_of(row, packages, chosen.others)
                found = measure(sides, folder, chosen.rounds, is_printed=row.is_printed)
                table.append(cells_of(row, found))
                print(*table[-1], sep="; ", file=sys.stderr, flush=True)
        if chosen.record:
            for name, package in packages.items():
                print(f"\nCalls of the ring, {name}:", flush=True)
                count_ring_calls(Path(chosen.record).resolve(), package, markdown=chosen.markdown)
    header = ["CPU seconds", "before", "podium", "peak MiB", "other", "bar", "met"]
    show("What people wait for", header, table, markdown=chosen.markdown)


def count_ring_calls(record: Path, package: Path, *, markdown: bool) -> None:
    """Print the table of information_bound.py for a record.

    Args:
        record: the recorded round robin.
        package: folder from which podium is imported.
        markdown: whether the table is in Markdown.
    """
    words = [str(HERE / "benchmarks" / "information_bound.py"), "--record", str(record)]
    words += ["--markdown"] * markdown
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(package)}
    subprocess.run([sys.executable, *words], env=environment, check=True)


def sides_of(row: Row, packages: dict[str, Path], others: str) -> dict[str, Side]:
    """Return the sides of a row: podium, podium before, and the other."""
    sides = {name: Side(sys.executable, row.command, folder) for name, folder in packages.items()}
    if row.other:
        is_podium = row.other.startswith("podium")
        python = sys.executable if is_podium or row.other in OWN_PYTHON else others
        sides[row.other] = Side(
            python, row.other_command, packages["podium"] if is_podium else None
        )
    return sides


if __name__ == "__main__":
    main()
