"""A hundred million battles in Parquet, streamed: seconds and peak memory, beside a bare Arrow group-by.

    python benchmarks/streaming.py                # 1e8 battles, about 700 MB of temporary disk
    python benchmarks/streaming.py --rows 1e7

The group-by only counts battles and adds up credits per pair of names: a lower bound for reading the file once. podium
reads it twice, fits, and gives item-clustered intervals. Each runs in a process of its own.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

ENTRANTS, ITEMS, BATCH = 200, 500_000, 1 << 20


def main() -> None:
    """Write the file, run both, print a line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e8)
    rows = int(parser.parse_args().rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battles.parquet"
        write(path, rows)
        print(f"{rows:,} battles, {ENTRANTS} entrants, {ITEMS:,} items, {path.stat().st_size / 2**20:,.0f} MiB\n")
        print(f"{'':32} {'seconds':>8} {'CPU s':>8} {'peak MiB':>9}")
        for name, run in (("Arrow group-by per pair", group_by), ("podium, Elo with intervals", stream)):
            report(name, run, path)


def write(path: Path, rows: int) -> None:
    """Write battles with known strengths, a row group per batch."""
    rng = np.random.default_rng(0)
    strengths = rng.normal(0, 1, ENTRANTS)
    names = pa.array([f"model-{k:03d}" for k in range(ENTRANTS)])
    items = pa.array([f"item-{k}" for k in range(ITEMS)])
    writer = None
    for start in range(0, rows, BATCH):
        size = min(BATCH, rows - start)
        a = rng.integers(0, ENTRANTS, size, dtype=np.int32)
        b = (a + rng.integers(1, ENTRANTS, size, dtype=np.int32)) % ENTRANTS
        won = rng.random(size) < 1 / (1 + np.exp(strengths[b] - strengths[a]))
        codes = {"item": rng.integers(0, ITEMS, size, dtype=np.int32), "model_a": a, "model_b": b}
        columns = {
            name: pa.DictionaryArray.from_arrays(pa.array(code, pa.int32()), items if name == "item" else names)
            for name, code in codes.items()
        }
        table = pa.table({**columns, "credit": won.astype(np.float64)})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()


def group_by(path: Path) -> None:
    """Add up credits per pair of names."""
    table = ds.dataset(path).scanner(columns=["model_a", "model_b", "credit"]).to_table()
    texts = [table.column(name).cast(pa.string()) for name in ("model_a", "model_b")]
    pairs = pa.table([*texts, table.column("credit")], names=["a", "b", "credit"])
    pairs.group_by(["a", "b"]).aggregate([("credit", "sum"), ("credit", "count")])


def stream(path: Path) -> None:
    """Rank."""
    from podium.streaming import rank_stream

    rank_stream([str(path)], ["bradley-terry"])


def report(name: str, run: Callable[[Path], None], path: Path) -> None:
    """Run in a fresh process and print its seconds and peak memory."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=measured, args=(run, path, sender))
    process.start()
    sender.close()  # so that a run that dies ends the wait instead of lasting for ever
    wall, cpu, peak = receiver.recv()
    process.join()
    print(f"{name:32} {wall:8.1f} {cpu:8.1f} {peak:9,.0f}")


def measured(run: Callable[[Path], None], path: Path, sender: "multiprocessing.connection.Connection") -> None:
    """Send wall seconds, CPU seconds and the peak memory in MiB."""
    start, used = time.perf_counter(), time.process_time()
    run(path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sender.send((time.perf_counter() - start, time.process_time() - used, peak))


if __name__ == "__main__":
    main()
