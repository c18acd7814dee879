"""Time to read 100,000 rows of each format of others, beside a table of podium's own.

`python benchmarks/readers.py` prints the seconds of each, and their ratio, in one run. The files
hold the same battles, as JSON lines.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tables import timed

import podium

Record = dict[str, Any]
MODELS = tuple(f"model-{k}" for k in range(20))
CREDITS = (1.0, 0.5, 0.0)


def battle(k: int) -> tuple[str, str, str, float]:
    """Return the item, both models, and the credit of the k-th battle."""
    first = k % len(MODELS)
    second = (first + 1 + k // len(MODELS) % (len(MODELS) - 1)) % len(MODELS)
    return f"item-{k // 190}", MODELS[first], MODELS[second], CREDITS[k % 3]


def own_row(k: int) -> Record:
    """Return a row of podium's own table."""
    item, a, b, credit = battle(k)
    return {"item": item, "model_a": a, "model_b": b, "credit": credit, "judge": "g"}


def wildbench_row(k: int) -> Record:
    """Return a row of WildBench's pairwise files."""
    item, a, b, credit = battle(k)
    choice = {1.0: "A+", 0.5: "A=B", 0.0: "B++"}[credit]
    models = {"generator": a, "ref_generator": b, "assignment": {"A": a, "B": b}}
    return {"session_id": item, **models, "parsed_result": {"choice": choice}}


def comparia_row(k: int) -> Record:
    """Return a vote of compar:IA."""
    item, a, b, credit = battle(k)
    chosen = {1.0: a, 0.5: None, 0.0: b}[credit]
    vote = {"chosen_model_name": chosen, "both_equal": credit == 0.5}
    return {"conversation_pair_id": item, "model_a_name": a, "model_b_name": b, **vote}


def counts_row(k: int) -> Record:
    """Return the counts of one battle."""
    _, a, b, credit = battle(k)
    counts = {"wins_a": credit == 1, "wins_b": credit == 0, "ties": credit == 0.5}
    return {"model_a": a, "model_b": b, **{name: int(n) for name, n in counts.items()}}


def mt_bench_row(k: int) -> Record:
    """Return a row of MT-bench's human judgments."""
    item, a, b, credit = battle(k)
    winner = {1.0: "model_a", 0.5: "tie (inconsistent)", 0.0: "model_b"}[credit]
    return {"question_id": item, "model_a": a, "model_b": b, "winner": winner, "judge": "g"}


ROWS: dict[str, Callable[[int], Record]] = {
    "podium": own_row,
    "wildbench": wildbench_row,
    "compar:IA": comparia_row,
    "counts": counts_row,
    "MT-bench": mt_bench_row,
}


def main() -> None:
    """Write a file of each format, read it, and print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"{options.rows:,} rows; median seconds (best), and the ratio to podium's own table")
    own = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, row in ROWS.items():
            path = Path(folder, f"{name.replace(':', '')}.jsonl")
            lines = (json.dumps(row(k)) for k in range(options.rows))
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            timing = timed(
                lambda path=path: podium.read_battles(str(path)), repeats=options.repeats
            )
            own = own or timing.median
            print(f"{name:10}  {timing!s:20}  {timing.median / own:.2f}")


if __name__ == "__main__":
    main()
