"""Time and memory of counting, 1e5 to 1e8 rows: podium compared with an older podium, bare DuckDB,
Polars and evalica.

    python benchmarks/scale.py                                   # 1e5 to 1e7 rows python
    benchmarks/scale.py --rows 1e8 --only podium,duckdb   # one size, some lines python
    benchmarks/scale.py --old-python PATH                 # also an older podium, from its own
    environment python benchmarks/scale.py --memory 700MB                    # limit the memory of
    podium and DuckDB

Tables have 100 models, 50 pairs per item, each pair in both orders, 3 % of the rows unparsed; they
are written once into the folder `--data`. Each row is one process, including its start and reading:
wall seconds, CPU seconds, and peak memory. `podium rank` counts, fits and prints; the others only
count (DuckDB, Polars: merge both orders and sum by pair; evalica: fit the rows as they are). The
column `battles` has the number that each counted.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tables import machine, show

MODELS = 100
PAIRS_AN_ITEM = 50
LARGEST = {"csv": 10_000_000, "old": 10_000_000, "evalica": 10_000_000}
"""Largest number of rows for each tool: beyond it, memory or time runs out."""
JUDGMENTS = f"""
    with battles as (
        select i // 2 as battle, i % 2 as turn, i // {2 * PAIRS_AN_ITEM} as item,
            ((i // 2) % {PAIRS_AN_ITEM} * {MODELS - 1}
                + hash(i // {2 * PAIRS_AN_ITEM}) % 4950) % 4950 as pair
        from range({{rows}}) as numbers(i)),
    sided as (
        select *, cast(floor((1 + sqrt(1 + 8 * pair)) / 2) as bigint) as a,
            hash(battle, turn) % 1000 / 1000 as luck
        from battles),
    drawn as (
        select *, pair - a * (a - 1) // 2 as b, 1 / (1 + exp(({MODELS} - 2 * a) / 50)) as share
        from sided)
    select format('item-{{{{:07d}}}}', item) as item,
        format('model-{{{{:02d}}}}', a) as model_a, format('model-{{{{:02d}}}}', b) as model_b,
        case when turn = 0 then 'ab' else 'ba' end as "order",
        case when luck < 0.03 then null when luck < 0.15 then 0.5
            when luck < 0.15 + 0.85 * share then 1.0 else 0.0 end as credit
    from drawn"""
COUNTED = """
    with sided as (
        select item, least(model_a, model_b) as low, greatest(model_a, model_b) as high,
            case when model_a < model_b then credit else 1 - credit end as credit,
            ("order" = 'ab') = (model_a < model_b) as low_first
        from read_parquet('{path}')),
    cells as (
        select item, low, high, count(*) as n, count(credit) as judged,
            coalesce(sum(credit), 0) as credit,
            max(sign(credit - 0.5)) as best, min(sign(credit - 0.5)) as worst,
            n = 2 and sum(cast(low_first as int)) = 1 as order_pair
        from sided group by item, low, high),
    battles as (
        select low, high, case when order_pair then 1 else n end as battles,
            case when order_pair then cast(judged = 2 as int) else judged end as weight,
            case when not order_pair then credit when judged = 2 then credit / 2 else 0 end
                as credit,
            order_pair and judged = 2 and best = worst as same
        from cells)
    select low, high, sum(battles) as battles, sum(weight) as weight, sum(credit) as credit,
        sum(cast(same as int)) as same
    from battles group by low, high"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process took."""

    wall: float
    cpu: float
    memory: float
    battles: int


def main() -> None:
    """Measure every line at every size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", default="1e5,1e6,1e7", help="sizes, for example 1e5,1e8")
    parser.add_argument("--only", default="", help=f"some of {','.join(LINES)}")
    parser.add_argument("--memory", help="memory limit of podium and DuckDB, for example 700MB")
    parser.add_argument("--old-python", help="the Python of an environment with an older podium")
    parser.add_argument("--data", help="folder for the tables; a temporary one by default")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--count", nargs=2, metavar=("LINE", "FILE"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.count:
        print(COUNTERS[chosen.count[0]](chosen.count[1], chosen.memory))
        return
    lines = chosen.only.split(",") if chosen.only else list(LINES)
    if unknown := set(lines) - set(LINES):
        parser.error(f"no line {', '.join(sorted(unknown))}; there are {', '.join(LINES)}")
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        data = Path(chosen.data or folder)
        for size in chosen.rows.split(","):
            rows = int(float(size))
            found = [measure(line, rows, data, chosen) for line in lines]
            show(
                f"{rows:,} rows",
                ("line", "wall s", "CPU s", "peak MiB", "battles"),
                found,
                markdown=chosen.markdown,
            )


def measure(line: str, rows: int, data: Path, chosen: argparse.Namespace) -> tuple[str, ...]:
    """Return the cells of one line, or why there are none."""
    if reason := why_not(line, rows, chosen):
        return LINES[line], reason, "", "", ""
    path = write_table(data, rows, "csv" if line == "csv" else "parquet")
    cost = cost_of([word.replace("FILE", str(path)) for word in command_of(line, chosen)])
    return (
        LINES[line],
        f"{cost.wall:.1f}",
        f"{cost.cpu:.1f}",
        f"{cost.memory:,.0f}",
        f"{cost.battles:,}",
    )


def why_not(line: str, rows: int, chosen: argparse.Namespace) -> str | None:
    """Say why a line is not measured; None where it is."""
    if rows > LARGEST.get(line, rows):
        return "too large"
    if line == "old" and not chosen.old_python:
        return "no --old-python"
    if line in ("polars", "evalica") and importlib.util.find_spec(line) is None:
        return "not installed"
    return None


def command_of(line: str, chosen: argparse.Namespace) -> list[str]:
    """Return the command of a line; FILE stands for the table."""
    memory = ["--memory", chosen.memory] if chosen.memory else []
    if line in ("podium", "csv"):
        return [sys.executable, "-m", "podium", "rank", "FILE", "--format", "json", *memory]
    if line == "old":
        return [chosen.old_python, "-m", "podium", "rank", "FILE", "--format", "json"]
    return [sys.executable, __file__, "--count", line, "FILE", *memory]


def cost_of(command: list[str]) -> Cost:
    """Run a command, and read from its output how many battles it counted.

    Raises:
        SystemExit: it fails.
    """
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)}:\n{errors.decode(errors='replace')}")
        output.seek(0)
        answer = json.load(output)
    battles = answer if isinstance(answer, int) else answer["rankings"][0]["counts"]["battles"]
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, battles)


def write_table(data: Path, rows: int, kind: str) -> Path:
    """Write the judgments, a piece at a time, unless they are there."""
    import duckdb

    path = data / f"judgments-{rows}.{kind}"
    if not path.exists():
        temporary = path.with_suffix(".temporary")
        with duckdb.connect() as connection:
            connection.execute("set memory_limit = '1GB'")
            connection.execute("set enable_progress_bar = false")
            query = JUDGMENTS.format(rows=rows)
            connection.execute(
                f"copy ({query}) to '{temporary}' (format "
                f"{kind}{', header' if kind == 'csv' else ''})"
            )
        temporary.replace(path)
    return path


def count_by_podium(path: str, memory: str | None) -> int:
    """Merge, count and sum with podium's own relations, without a fit."""
    from podium.data.counting.duck import Duck
    from podium.data.counting.relations import ROW
    from podium.data.counting.verdicts import Verdicts

    engine = Duck(memory)
    engine.view(
        "judgments",
        f"select file_row_number as {ROW}, * from read_parquet('{path}', file_row_number=true)",
    )
    verdicts = Verdicts(engine, "judgments")
    verdicts.pairs()
    return verdicts.tally.battles


def count_by_duckdb(path: str, memory: str | None) -> int:
    """Merge and sum with one query."""
    import duckdb

    with (
        tempfile.TemporaryDirectory() as folder,
        duckdb.connect(f"{folder}/spill.duckdb") as connection,
    ):
        connection.execute("set enable_progress_bar = false")
        if memory:
            connection.execute(f"set memory_limit = '{memory}'")
        pairs = connection.execute(COUNTED.format(path=path)).fetchall()
    return int(sum(row[2] for row in pairs))


def count_by_polars(path: str, memory: str | None) -> int:  # noqa: ARG001
    """Merge and sum with one lazy query."""
    import polars as pl

    forward = pl.col("model_a") < pl.col("model_b")
    sided = pl.scan_parquet(path).select(
        "item",
        low=pl.min_horizontal("model_a", "model_b"),
        high=pl.max_horizontal("model_a", "model_b"),
        credit=pl.when(forward).then("credit").otherwise(1 - pl.col("credit")),
        low_first=(pl.col("order") == "ab") == forward,
    )
    sign = (pl.col("credit") - 0.5).sign()
    cells = sided.group_by("item", "low", "high").agg(
        n=pl.len(),
        judged=pl.col("credit").count(),
        credit=pl.col("credit").sum(),
        best=sign.max(),
        worst=sign.min(),
        low_first=pl.col("low_first").sum(),
    )
    order_pair, both = (pl.col("n") == 2) & (pl.col("low_first") == 1), pl.col("judged") == 2
    battles = cells.select(
        "low",
        "high",
        battles=pl.when(order_pair).then(1).otherwise("n"),
        weight=pl.when(order_pair).then(both.cast(pl.Int64)).otherwise("judged"),
        credit=pl.when(~order_pair)
        .then("credit")
        .when(both)
        .then(pl.col("credit") / 2)
        .otherwise(0),
        same=order_pair & both & (pl.col("best") == pl.col("worst")),
    )
    pairs = battles.group_by("low", "high").agg(pl.col("battles", "weight", "credit", "same").sum())
    return int(pairs.collect(engine="streaming")["battles"].sum())


def count_by_evalica(path: str, memory: str | None) -> int:  # noqa: ARG001
    """Fit Bradley-Terry ratings to the rows as they are: the orders are not merged."""
    import evalica
    import pandas as pd

    table = pd.read_parquet(path, columns=["model_a", "model_b", "credit"]).dropna()
    winners = table["credit"].map(
        {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    )
    evalica.bradley_terry(table["model_a"], table["model_b"], winners)
    return len(table)


COUNTERS = {
    "counting": count_by_podium,
    "duckdb": count_by_duckdb,
    "polars": count_by_polars,
    "evalica": count_by_evalica,
}
LINES = {
    "podium": "podium rank",
    "counting": "podium's counting alone",
    "old": "podium rank of --old-python",
    "csv": "podium rank of CSV",
    "duckdb": "bare DuckDB",
    "polars": "Polars",
    "evalica": "evalica, nothing merged",
}


if __name__ == "__main__":
    main()
