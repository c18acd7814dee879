"""Time of reading files of every format, compared with podium's own table in the same kind of file.

    python benchmarks/readers.py                       # 100,000 rows of each
    python benchmarks/readers.py --rows 1e4 --only wildbench,counts

Each file is read by `podium.read_battles`, and its battles are counted, in a process that has read
a small file before. The tables have three models and three pairs per item. The goal is at most
twice the time of podium's own table.
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from tables import machine, show, timed_in_turn

from podium import read_battles

PAIRS = (("x", "y"), ("y", "z"), ("z", "x"))
GOAL = 2.0
"""Largest ratio of the time to that of podium's own table."""
Row = dict[str, Any]


def own(k: int) -> Row:
    """Return a row of podium's own table."""
    a, b = PAIRS[k % 3]
    return {"item": f"item-{k // 3}", "model_a": a, "model_b": b, "credit": (1, 0.5, 0)[k % 3]}


def arena(k: int) -> Row:
    """Return a vote of Arena, with a conversation of one turn."""
    a, b = PAIRS[k % 3]
    talk = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "so" * (k % 9)}]
    winner = ("model_a", "tie", "model_b")[k % 3]
    voter = {"judge": f"arena_user_{k % 997}", "conversation_a": talk, "conversation_b": talk}
    return {"question_id": f"q{k}", "model_a": a, "model_b": b, "winner": winner} | voter


def inconsistent(k: int) -> Row:
    """Return a verdict of MT-bench on both orders."""
    a, b = PAIRS[k % 3]
    winner = ("model_a", "tie (inconsistent)", "tie")[k % 3]
    judge = ["gpt-4", "pair-v2"]
    return {"question_id": k // 3, "model_a": a, "model_b": b, "winner": winner, "judge": judge}


def appended(k: int) -> Row:
    """Return a judgment of MT-bench; every second one is of a later run."""
    a, b = PAIRS[k // 2 % 3]
    sides = {"model_1": a, "model_2": b, "g1_winner": "model_1", "g2_winner": "tie"}
    return {"question_id": k // 6, **sides, "judge": ["gpt-4", "pair-v2"], "turn": 1}


def wildbench(k: int) -> Row:
    """Return a choice of WildBench."""
    a, b = PAIRS[k % 3]
    choice = {"choice": ("A++", "A=B", "B+")[k % 3]}
    assignment = {"A": a, "B": b} if k % 2 else {"A": b, "B": a}
    made = {"generator": a, "ref_generator": b, "assignment": assignment}
    return {"session_id": f"s{k // 3}", **made, "parsed_result": choice}


def comparia(k: int) -> Row:
    """Return a vote of compar:IA."""
    a, b = PAIRS[k % 3]
    names = {"model_a_name": a, "model_b_name": b, "conversation_pair_id": f"p{k}"}
    return names | {"both_equal": k % 3 == 1, "chosen_model_name": (a, None, b)[k % 3]}


def counts(k: int) -> Row:
    """Return the counts of a pair on an item: one battle."""
    a, b = PAIRS[k % 3]
    of_row = {"wins_a": int(k % 3 == 0), "wins_b": int(k % 3 == 1), "ties": int(k % 3 == 2)}
    return {"item": f"item-{k // 3}", "model_a": a, "model_b": b} | of_row


def listed(k: int) -> Row:
    """Return a row of podium's own table whose category is a list."""
    return own(k) | {"category": ["math", "code"][: 1 + k % 2]}


def scores(k: int) -> Row:
    """Return a score of a model, as podium's own tables have them."""
    return {"item": f"item-{k // 3}", "model": "xyz"[k % 3], "score": k % 7 / 7}


def promptfoo(k: int) -> Row:
    """Return a result of promptfoo."""
    graded = {"score": k % 7 / 7, "success": True, "failureReason": 0, "namedScores": {}}
    place = {"testIdx": k // 3, "promptIdx": k % 3, "vars": {"riddle": f"riddle {k // 3}"}}
    return place | {"provider": {"id": "xyz"[k % 3], "label": ""}} | graded


ROWS: dict[str, tuple[Callable[[int], Row], Callable[[int], Row], str]] = {
    "arena, voters, conversations": (arena, own, "jsonl"),
    "arena, tie (inconsistent)": (inconsistent, own, "jsonl"),
    "mt-bench-pair, appended": (appended, own, "jsonl"),
    "wildbench": (wildbench, own, "json"),
    "comparia": (comparia, own, "csv"),
    "counts": (counts, own, "csv"),
    "categories that are lists": (listed, own, "jsonl"),
    "pandas, orient=split": (own, own, "split"),
    "pandas, orient=index": (own, own, "index"),
    "promptfoo": (promptfoo, scores, "json"),
}
"""By name, the rows, those of the own table that they are compared with, and the kind of file."""


def write(path: Path, rows: Iterator[Row], kind: str) -> None:
    """Write rows as CSV, JSON lines, a JSON document, or in an orientation of pandas."""
    if kind == "jsonl":
        with path.open("w") as stream:
            stream.writelines(json.dumps(row) + "\n" for row in rows)
    elif kind == "json":
        path.write_text(json.dumps(list(rows)))
    elif kind == "csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    else:
        pd.DataFrame(rows).to_json(path, orient=kind)


def main() -> None:
    """Time every reader beside podium's own table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", default="1e5", help="rows of each file")
    parser.add_argument("--only", default="", help="beginnings of names, separated by commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--markdown", action="store_true")
    chosen = parser.parse_args()
    number = int(float(chosen.rows))
    wanted = tuple(chosen.only.split(","))
    print(machine())
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (of_format, of_own, kind) in ROWS.items():
            if not name.startswith(wanted):
                continue
            suffix = kind if kind in ("csv", "jsonl") else "json"
            paths = [Path(folder) / f"{which}.{suffix}" for which in ("format", "own")]
            write(paths[0], map(of_format, range(number)), kind)
            plain = "json" if kind in ("split", "index") else kind
            write(paths[1], map(of_own, range(number)), plain)
            works = {path.stem: lambda path=path: len(read_battles(path)) for path in paths}
            times = timed_in_turn(works, repeats=chosen.repeats, budget=60)
            ratio = times["format"].median / times["own"].median
            verdict = "ok" if ratio <= GOAL else "above the goal"
            seconds = (str(times["format"]), str(times["own"]))
            found.append((name, plain, *seconds, f"{ratio:.2f}", verdict))
    header = ("reader", "file", "median (best) s", "own table s", "ratio", f"goal {GOAL:g}")
    show(f"{number:,} rows", header, found, markdown=chosen.markdown)


if __name__ == "__main__":
    main()
