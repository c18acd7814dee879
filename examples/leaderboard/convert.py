"""Convert published results of SWE-bench and LiveCodeBench to a table of items by models, which
`podium rank` reads.

`python examples/leaderboard/convert.py RESULTS... -o solved.csv`, RESULTS being any of

- reports of SWE-bench's harness, `MODEL.RUN.json` (swebench/harness/reporting.py); incomplete
  instances stay empty;
- `SUBMISSION/results/results.json` of the repository swe-bench/experiments. An instance that a
  submission does not list
  as resolved counts as 0: each was run on all. Instances that no file names are not in the table;
- LiveCodeBench's `MODEL/..._eval_all.json` (lcb_runner/benchmarks/code_generation.py); a score is
  the share of the
  responses to a question that pass, `pass@1`.

An argument `name=PATH` gives the model another name.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import pandas as pd

OUTCOMES = ("resolved_ids", "unresolved_ids", "empty_patch_ids", "error_ids")


def scores_in(content: Any) -> dict[str, float]:
    """Return the score of each item in one model's results; ValueError if they have none of the
    three shapes."""
    if (
        isinstance(content, list)
        and content
        and all({"question_id", "pass@1"} <= row.keys() for row in content)
    ):
        return {str(row["question_id"]): float(row["pass@1"]) for row in content}
    if isinstance(content, dict) and {*OUTCOMES} <= content.keys():
        return {item: float(name == "resolved_ids") for name in OUTCOMES for item in content[name]}
    if isinstance(content, dict) and isinstance(content.get("resolved"), list):
        named = {
            item: 0.0 for items in content.values() if isinstance(items, list) for item in items
        }
        return named | dict.fromkeys(content["resolved"], 1.0)
    raise ValueError("not results of SWE-bench or LiveCodeBench by item")


def name_of(path: Path) -> str:
    """Return the model that a file is of, by the file's name or by its folder."""
    if path.name == "results.json":
        return path.absolute().parents[1].name
    return path.absolute().parent.name if path.stem.endswith("_eval_all") else path.stem


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="+")
    parser.add_argument("-o", dest="output", type=Path, required=True)
    given = parser.parse_args()
    columns, lists_all = {}, {}
    for argument in given.results:
        label, _, place = argument.rpartition("=")
        name, content = (
            label or name_of(Path(place)),
            json.loads(Path(place).read_text(encoding="utf-8")),
        )
        if name in columns:
            parser.error(f"two files are of {name}: name one of them, as {name}-2={place}")
        try:
            columns[name] = pd.Series(scores_in(content))
        except ValueError as error:
            parser.error(f"{place}: {error}")
        lists_all[name] = isinstance(content, dict) and "resolved" in content
    table = pd.DataFrame(columns).rename_axis("item").sort_index()
    whole = [name for name, is_whole in lists_all.items() if is_whole]
    table[whole] = table[whole].fillna(0)
    table.to_csv(given.output)


if __name__ == "__main__":
    main()
