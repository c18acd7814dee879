"""Read the details of leaderboards, which are files with a score per item and metric.

They are HELM's `per_instance_stats.json`, and the `details_*.parquet` of the Open LLM Leaderboard
and of lighteval.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet

from podium.data.counting.relations import NO_VALUE
from podium.data.formats.lm_eval_documents import AskedDocument
from podium.data.formats.lm_eval_layout import HELM_DETAILS, Samples
from podium.data.formats.lm_eval_scores import Scores
from podium.data.known_metrics import HELM_LOWER_IS_BETTER
from podium.errors import DataError
from podium.printable import shorten
from podium.text import parse_json, text_of
from podium.wording import some

ITEM_TEXT_COLUMNS = ("example", "question", "full_prompt")
"""Columns whose text identifies an item. The first one that a file has is used."""
NON_METRIC_COLUMNS = (
    "gold",
    "gold_index",
    "truncated",
    "non_truncated",
    "padded",
    "non_padded",
    "num_asked_few_shots",
)
"""Columns of numbers that are not metrics."""
LIGHTEVAL_COLUMNS = ("doc", "metric")
"""Columns of lighteval's newer files that are read, which are objects."""


def read_details(file: Samples) -> Scores:
    """Read the scores of a file on each item, by `metric,split`.

    The split is `none` for the Open LLM Leaderboard. Several trials of an item are averaged. If all
    of them are unknown, the score is NaN, with a reason.

    Raises:
        DataError: the file is not as the leaderboard published it.
    """
    import pandas as pd

    read_scores = _helm_scores if file.path.name == HELM_DETAILS else _parquet_scores
    try:
        rows = list(read_scores(file.path))
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        problem = f"not the details of a leaderboard ({type(error).__name__}: {error})"
        remedy = "give the file as the leaderboard published it"
        raise DataError(problem, remedy=remedy, source=str(file.path)) from None
    frame = pd.DataFrame(rows, columns=["metric", "item", "line", "score"])
    frame["item"] = f"{file.task}:" + frame["item"]
    values = {}
    for metric, rows_of_metric in frame.groupby("metric", sort=False):
        by_item = rows_of_metric.groupby("item", sort=False, as_index=False)
        means = by_item.agg({"line": "first", "score": "mean"})
        reason = means["score"].isna().map({True: f"{NO_VALUE}{metric}", False: None})
        values[str(metric)] = means.assign(target="", reason=reason)
    items = frame.drop_duplicates("item")
    if file.path.name == HELM_DETAILS:
        return Scores(file, values, {}, None, len(items), lower_is_better=HELM_LOWER_IS_BETTER)
    # The id of an item is made from its text.
    places = zip(items["item"], items["line"], strict=True)
    asked = [AskedDocument(item, "", line, is_known=True) for item, line in places]
    return Scores(file, values, {}, None, len(items), asked)


def _helm_scores(path: Path) -> Iterator[tuple[str, str, str, float | None]]:
    """Yield metric, item, place and score of each statistic in a file of HELM.

    Statistics of perturbed instances are left out.
    """
    for number, entry in enumerate(parse_json(path.read_bytes()), 1):
        for stat in entry["stats"]:
            name = stat["name"]
            if name.get("perturbation") is None and entry.get("perturbation") is None:
                metric = f"{name['name']},{name.get('split') or 'none'}"
                yield metric, str(entry["instance_id"]), f"row {number}", stat.get("mean")


def _parquet_scores(path: Path) -> Iterator[tuple[str, str, str, float | None]]:
    """Yield metric, item, place and score of each number in a file of the Open LLM Leaderboard.

    The numbers are those of the columns, except `NON_METRIC_COLUMNS`, and those in the mappings of
    the column `metrics`. The id of an item is a hash of its text. Newer files of lighteval are read
    by `_lighteval_scores`.
    """
    import pandas as pd

    if {*LIGHTEVAL_COLUMNS} <= {*pyarrow.parquet.read_schema(path).names}:
        yield from _lighteval_scores(path)
        return
    frame = pd.read_parquet(path)
    text = next(name for name in ITEM_TEXT_COLUMNS if name in frame)
    numbers = [
        name for name in frame.select_dtypes(["number", "bool"]) if name not in NON_METRIC_COLUMNS
    ]
    for number, row in enumerate(frame.to_dict("records"), 1):
        item = hashlib.sha256((text_of(row[text]) or "").encode()).hexdigest()[:12]
        scores: dict[Any, Any] = {name: row[name] for name in numbers}
        scores |= row.get("metrics") or {}
        for name, score in scores.items():
            known = None if score is None else float(score)
            yield f"{name},none", item, f"row {number}", known


def _lighteval_scores(path: Path) -> Iterator[tuple[str, str, str, float | None]]:
    """Yield metric, item, place and score of each number in the column `metric` of lighteval.

    The question and the choices in the column `doc` identify the item. A value of a metric that is
    no number is left out: it is a part of a figure that is computed over all items.

    Raises:
        DataError: no value of any metric is a number, or empty.
    """
    table = pyarrow.parquet.read_table(path, columns=list(LIGHTEVAL_COLUMNS))
    encode = json.JSONEncoder(default=str).encode
    other_values: dict[str, Any] = {}
    has_scores = False
    for number, row in enumerate(table.to_pylist(), 1):
        question = encode([row["doc"]["query"], row["doc"].get("choices")])
        item = hashlib.sha256(question.encode()).hexdigest()[:12]
        for name, score in row["metric"].items():
            if score is None or isinstance(score, bool | int | float):
                has_scores = True
                known = None if score is None else float(score)
                yield f"{name},none", item, f"row {number}", known
            else:
                other_values.setdefault(name, score)
    if other_values and not has_scores:
        values = [f"{name} is {shorten(repr(value))}" for name, value in other_values.items()]
        problem = f"no metric has numbers ({some(values, most=3)})"
        remedy = "give details of a task whose metrics are scores of single items"
        raise DataError(problem, source=str(path), remedy=remedy)
