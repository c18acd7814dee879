"""Columns of score matrices that are facts of their rows, such as a weight, and not models."""

import re
from collections.abc import Iterable
from dataclasses import replace

from podium.data.formats.records import Records

WEIGHT_NAMES = ("weight", "weights", "sample_weight", "sample_weights")
"""Names of the column with the weights of rows, in lower case."""
FACT_NAMES = frozenset(
    {
        # Names of counts.
        "n",
        "num",
        "number",
        "count",
        "counts",
        "total",
        "totals",
        "sum",
        "size",
        "samples",
        "n_samples",
        "num_samples",
        "votes",
        "n_votes",
        "turns",
        "n_turns",
        "num_turns",
        "shots",
        "n_shots",
        "tokens",
        "n_tokens",
        "num_tokens",
        "words",
        "chars",
        "length",
        "lengths",
        "len",
        "points",
        "max_points",
        "max_score",
        # Names of places in a sequence.
        "index",
        "idx",
        "row",
        "row_id",
        "line",
        "position",
        "rank",
        "order",
        "seed",
        "fold",
        "epoch",
        "epochs",
        "run",
        "trial",
        "attempt",
        "turn",
        "version",
        # Names of summaries of a row.
        "mean",
        "average",
        "avg",
        "median",
        "std",
        "stdev",
        "stderr",
        "se",
        "min",
        "max",
        "minimum",
        "maximum",
        "overall",
        "range",
        "variance",
        # Names of other properties.
        "difficulty",
        "level",
        "hardness",
        "grade",
        "year",
        "date",
        "timestamp",
        "time",
        "duration",
        "seconds",
        "latency",
        "cost",
        "price",
        "threshold",
        "target",
        "label",
        "gold",
        "answer",
    }
)
"""Names of columns that say something about a row of scores and are not models, in lower case."""
FACT_PATTERN = re.compile(
    "id|.+_id|iteration"
    "|(num_|n_)?steps"
    "|((num|n|input|output|prompt|completion|total)_)?tokens"
    "|cost_usd"
    "|(latency|duration|time|runtime|elapsed)(_(s|ms|secs?|seconds))?"
    "|scores?|rewards?|accuracy|acc|(is_)?correct|passed|success|rating|f1|exact_match"
)
"""Matches the whole name of other such columns, in lower case.

A table of one model's results has several of them, such as a score, a cost and a number of steps.
"""


def is_fact(name: str) -> bool:
    """Return whether a column has the name of a fact of rows, or of their weights.

    Outer blanks, and upper and lower case, make no difference.
    """
    lowered = name.strip().lower()
    return lowered in FACT_NAMES or bool(FACT_PATTERN.fullmatch(lowered)) or is_weight(name)


def is_weight(name: str) -> bool:
    """Return whether a column has a name of the weights of rows, as `is_fact` compares names."""
    return name.strip().lower() in WEIGHT_NAMES


def facts_among(names: Iterable[str]) -> list[str]:
    """Return the names that are those of facts of rows, without those of weights."""
    return [name for name in names if is_fact(name) and not is_weight(name)]


def name_weights(records: Records) -> Records:
    """Rename the column with the weights of rows to `weight`.

    A table is returned as it is if it has a column `weight`, several columns of weights or none, or
    if a cell of that column is no number.
    """
    names = [name for name in records.columns if is_weight(name)]
    if len(names) != 1 or names == ["weight"]:
        return records
    column = records.columns[names[0]]
    if not column.is_number and records.rows("1", f"where {column.non_number_condition} limit 1"):
        return records
    columns = {}
    for name, cells in records.columns.items():
        new_name = "weight" if name == names[0] else name
        columns[new_name] = cells
    return replace(records, columns=columns)
