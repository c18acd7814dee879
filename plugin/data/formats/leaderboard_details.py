"""Read the details of leaderboards, which are files with a score per item and metric.

They are HELM's `per_instance_stats.json`, and the `details_*.parquet` of the Open LLM Leaderboard
and of lighteval.
"""

import hashlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from podium.data.counting.duck import Duck
from podium.data.counting.relations import NO_VALUE
from podium.data.formats.lm_eval_documents import HashedDocuments
from podium.data.formats.lm_eval_layout import HELM_DETAILS, Samples
from podium.data.formats.lm_eval_scores import Scores
from podium.data.formats.verdict_cells import reasons_where
from podium.data.known_metrics import HELM_LOWER_IS_BETTER
from podium.errors import DataError
from podium.printable import shorten
from podium.text import parse_json, text_of
from podium.wording import some

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

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
LIGHTEVAL_PATHS = ("doc.query", "doc.choices", "metric")
"""Parts of these columns that are read."""
ITEM_DIGITS = 12
"""Number of digits of the id of an item, which is the beginning of a hash."""


def read_details(file: Samples) -> Scores:
    """Read the scores of a file on each item, by `metric,split`.

    The split is `none` for the Open LLM Leaderboard. Several trials of an item are averaged. If all
    of them are unknown, the score is NaN, with a reason.

    Raises:
        DataError: the file is not as the leaderboard published it.
    """
    import pandas as pd

    read = _helm_metrics if file.path.name == HELM_DETAILS else _parquet_metrics
    try:
        tables = read(file.path)
    except (ValueError, KeyError, TypeError, AttributeError, OSError, duckdb.Error) as error:
        problem = f"not the details of a leaderboard ({type(error).__name__}: {error})"
        remedy = "give the file as the leaderboard published it"
        raise DataError(problem, remedy=remedy, source=str(file.path)) from None
    values = {}
    for metric, table in tables.items():
        means = _means_of_items(table.assign(item=f"{file.task}:" + table["item"]))
        reason = reasons_where(means["score"].isna().to_numpy(), f"{NO_VALUE}{metric}")
        values[metric] = means.assign(target="", reason=reason)
    empty = pd.DataFrame({"item": [], "line": []}, dtype=object)
    items = pd.concat([empty, *(table[["item", "line"]] for table in values.values())])
    items = items.drop_duplicates("item")
    if file.path.name == HELM_DETAILS:
        return Scores(
            file=file,
            values=values,
            unusable={},
            cut_off_line=None,
            document_count=len(items),
            lower_is_better=HELM_LOWER_IS_BETTER,
        )
    # The id of an item is made from its text.
    documents = HashedDocuments(items["item"].tolist(), items["line"].tolist())
    return Scores(
        file=file,
        values=values,
        unusable={},
        cut_off_line=None,
        document_count=len(items),
        documents=documents,
    )


def _means_of_items(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the mean score of each item, and the place of its first row."""
    if table["item"].is_unique:
        return table
    by_item = table.groupby("item", sort=False, as_index=False)
    return by_item.agg({"line": "first", "score": "mean"})


def _helm_metrics(path: Path) -> "dict[str, pd.DataFrame]":
    """Return the statistics in a file of HELM by `metric,split`: item, place and score of each.

    Statistics of perturbed instances are left out. A file of another form raises ValueError,
    KeyError, TypeError or AttributeError.
    """
    rows = []
    for number, entry in enumerate(parse_json(path.read_bytes()), 1):
        for stat in entry["stats"]:
            name = stat["name"]
            if name.get("perturbation") is None and entry.get("perturbation") is None:
                metric = f"{name['name']},{name.get('split') or 'none'}"
                rows.append((metric, str(entry["instance_id"]), f"row {number}", stat.get("mean")))
    return _tables_by_metric(rows)


def _tables_by_metric(
    rows: Sequence[tuple[str, str, str, float | None]],
) -> "dict[str, pd.DataFrame]":
    """Return rows of metric, item, place and score as a table per metric.

    The columns are `item`, `line` (the place) and `score`, which is NaN where it is None.
    """
    import pandas as pd

    frame = pd.DataFrame(rows, columns=["metric", "item", "line", "score"])
    frame["score"] = frame["score"].astype(float)
    by_metric = frame.groupby("metric", sort=False)
    return {str(metric): table[["item", "line", "score"]] for metric, table in by_metric}


def _parquet_metrics(path: Path) -> "dict[str, pd.DataFrame]":
    """Return the numbers in a file of the Open LLM Leaderboard by `metric,none`.

    The numbers are those of the columns, except `NON_METRIC_COLUMNS`, and those in the mappings of
    the column `metrics`. The id of an item is a hash of its text. Newer files of lighteval are read
    by `_lighteval_metrics`. ValueError is raised if the file is not Parquet, or if no column has
    the text of an item.
    """
    import pandas as pd
    import pyarrow.parquet

    if {*LIGHTEVAL_COLUMNS} <= {*pyarrow.parquet.read_schema(path).names}:
        return _lighteval_metrics(path)
    frame = pd.read_parquet(path)
    text = next((name for name in ITEM_TEXT_COLUMNS if name in frame), None)
    if text is None:
        raise ValueError(f"no column {' or '.join(ITEM_TEXT_COLUMNS)}")
    numbers = [
        name for name in frame.select_dtypes(["number", "bool"]) if name not in NON_METRIC_COLUMNS
    ]
    rows = []
    for number, row in enumerate(frame.to_dict("records"), 1):
        question = text_of(row[text]) or ""
        item = hashlib.sha256(question.encode()).hexdigest()[:ITEM_DIGITS]
        scores: dict[Any, Any] = {name: row[name] for name in numbers}
        scores |= row.get("metrics") or {}
        for name, score in scores.items():
            score_or_none = None if score is None else float(score)
            rows.append((f"{name},none", item, f"row {number}", score_or_none))
    return _tables_by_metric(rows)


def _lighteval_metrics(path: Path) -> "dict[str, pd.DataFrame]":
    """Return the numbers in the column `metric` of a file of lighteval by `metric,none`.

    The question and the choices in the column `doc` identify the item. A metric whose values are no
    numbers is left out: they are parts of a figure that is computed over all items.

    Raises:
        DataError: no value of any metric is a number, or empty.
        ValueError: a row has no question or no metrics.
    """
    import pandas as pd
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        table = file.read(columns=list(LIGHTEVAL_PATHS))
    if not len(table):
        return {}
    metrics = _required_column(table, "metric")
    lines = [f"row {number}" for number in range(1, len(table) + 1)]
    base = pd.DataFrame({"item": _items_of_questions(table), "line": lines})
    tables = {}
    other_values = {}
    names = [field.name for field in metrics.type]
    for name, values in zip(names, metrics.flatten(), strict=True):
        if _are_numbers(values.type):
            score = values.cast("float64").to_numpy(zero_copy_only=False)
            tables[f"{name},none"] = base.assign(score=score)
        else:
            other_values[name] = values[0].as_py()
    if other_values and not tables:
        texts_of_values = [
            f"{name} is {shorten(repr(value))}" for name, value in other_values.items()
        ]
        problem = f"no metric has numbers ({some(texts_of_values, most=3)})"
        remedy = "give details of a task whose metrics are scores of single items"
        raise DataError(problem, source=str(path), remedy=remedy)
    return tables


def _required_column(table: "pa.Table", name: str) -> "pa.StructArray":
    """Return a column of objects.

    Raises:
        ValueError: the column is not of objects, or a row has none.
    """
    import pyarrow as pa

    column = table.column(name).combine_chunks()  # one array instead of a list of them
    if not pa.types.is_struct(column.type):
        raise ValueError(f"the column {name} has {column.type}, not objects")
    _require_filled(column, name)
    return column


def _require_filled(column: "pa.Array", name: str) -> None:
    """Check that all cells of a column are filled.

    Raises:
        ValueError: a cell is empty.
    """
    if column.null_count:
        row = column.is_null().index(True).as_py() + 1
        raise ValueError(f"row {row} has no {name}")


def _are_numbers(kind: "pa.DataType") -> bool:
    """Return whether a type is that of numbers, truth values or empty cells."""
    import pyarrow as pa

    types = pa.types
    is_number = types.is_integer(kind) or types.is_floating(kind)
    return bool(is_number or types.is_boolean(kind) or types.is_null(kind))


def _items_of_questions(table: "pa.Table") -> list[str]:
    """Return the id of the item of each row: a hash of the question and its choices.

    Raises:
        ValueError: a row has no question.
    """
    import pyarrow as pa

    documents = _required_column(table, "doc")
    queries = documents.field("query")
    _require_filled(queries, "doc.query")
    parts = {"query": queries}
    if "choices" in {field.name for field in documents.type}:
        parts["choices"] = documents.field("choices")
    hashed = f"left(sha256(cast(json_array({', '.join(parts)}) as varchar)), {ITEM_DIGITS})"
    with closing(Duck()) as engine:
        engine.register("questions", pa.table(parts))
        items = engine.connection.sql(f"select {hashed} as item from questions").to_arrow_table()
        return items.column("item").to_pylist()
