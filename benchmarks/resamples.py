"""Time of a large bootstrap: 1,000 models, a million battles, 200 resamples of items, compared with
an older podium.

    python benchmarks/resamples.py                                       # within 60 seconds on two
    cores python benchmarks/resamples.py --old-python PATH --timeout 300      # an older podium, in
    an environment of its own

Each line is a process of its own, start and reading included, as in `scale.py`. The battles are
single judgments of 20 pairs an item, so that nothing merges and every row is a battle.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from scale import cost_of
from tables import machine, show

BOOTSTRAP = ("--set", "interval=bootstrap", "--set", "resamples={resamples}", "--format", "json")
BATTLES = """
    with drawn as (
        select i // 20 as item, hash(i, 1) % {models} as a, hash(i, 2) % ({models} - 1) as other,
            hash(i, 3) % 1000 / 1000 as luck
        from range({battles}) as numbers(i)),
    paired as (select *, case when other < a then other else other + 1 end as b from drawn)
    select format('item-{{:06d}}', item) as item, format('model-{{:04d}}', a) as model_a,
        format('model-{{:04d}}', b) as model_b,
        case when luck < 1 / (1 + exp((cast(b as double) - a) / {models} * 4)) then 1.0 else 0.0 end
            as credit
    from paired"""


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--battles", type=float, default=1e6)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--old-python", help="the Python of an environment with an older podium")
    parser.add_argument(
        "--timeout", type=float, default=300, help="seconds after which an older podium is stopped"
    )
    parser.add_argument("--markdown", action="store_true")
    chosen = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        path = write_battles(Path(folder), chosen.models, int(chosen.battles))
        rows = [("podium rank", *cells(sys.executable, path, chosen.resamples, None))]
        if chosen.old_python:
            rows.append(
                ("older podium", *cells(chosen.old_python, path, chosen.resamples, chosen.timeout))
            )
    title = (
        f"{chosen.models:,} models, {int(chosen.battles):,} battles, {chosen.resamples} "
        "resamples of items"
    )
    show(title, ("line", "wall s", "CPU s", "peak MiB", "battles"), rows, markdown=chosen.markdown)


def cells(python: str, path: Path, resamples: int, timeout: float | None) -> tuple[str, ...]:
    """Return what one podium took, or that it was stopped."""
    words = [word.format(resamples=resamples) for word in BOOTSTRAP]
    waited = ["timeout", str(timeout)] if timeout else []
    try:
        cost = cost_of([*waited, python, "-m", "podium", "rank", str(path), *words])
    except SystemExit as error:
        return (
            str(error).strip().rpartition("\n")[2][:60] or f"not done in {timeout:g} s",
            "",
            "",
            "",
        )
    return f"{cost.wall:.1f}", f"{cost.cpu:.1f}", f"{cost.memory:,.0f}", f"{cost.battles:,}"


def write_battles(folder: Path, models: int, battles: int) -> Path:
    """Write the battles as Parquet."""
    import duckdb

    path = folder / "battles.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            f"copy ({BATTLES.format(models=models, battles=battles)}) to '{path}' (format parquet)"
        )
    return path


if __name__ == "__main__":
    main()
