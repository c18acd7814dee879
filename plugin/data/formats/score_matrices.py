"""Read score matrices as tables with a score per item and model.

A score matrix has a row per item and a column per model, or a row per model and a column per item.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from podium.data.counting.relations import ROW, sql_literal
from podium.data.formats.records import TEXT, Column, Records, records_of
from podium.data.formats.row_facts import facts_among, is_fact, is_weight
from podium.data.formats.score_pairs import BATTLE_COLUMNS
from podium.data.formats.total_rows import leave_out_totals
from podium.errors import DataError
from podium.notices.notice import Notice
from podium.text import EMPTY

if TYPE_CHECKING:
    import pandas as pd


NON_MODEL_COLUMNS = ("item", "judge", "metric", "repeat", "response", "category")
"""Columns of a score matrix that are not models. A column `task` may be one."""
ITEM_COLUMN_NAMES = (
    "item",
    "item_id",
    "sample_id",
    "doc_id",
    "instance_id",
    "example_id",
    "query_id",
    "question_id",
    "task_id",
)
"""Names of the column with the items of a score matrix whose other columns are models."""
MODEL_COLUMN_NAMES = ("model", "model_name", "system", "submission", "agent")
"""Names of the column with the models of a score matrix whose other columns are items.

Upper and lower case make no difference for these names and for `ITEM_COLUMN_NAMES`.
"""
INDEX_COLUMN_NAMES = ("", "Unnamed: 0")
"""Names that the column with an index of pandas may have."""
BINARY_CELLS = [*EMPTY, "0", "1", "0.0", "1.0", "false", "true"]
"""Spellings of the cells of a matrix of 0 and 1, in lower case."""
FIRST_ROWS = 100
"""Number of rows that are tested before the whole table is read.

Most tables that are no matrix of 0 and 1 show this in their first rows.
"""


def matrix_scores(records: Records) -> tuple[Records | None, list[Notice]]:
    """Read a score matrix, if the table is one.

    A matrix has a column with a name of `ITEM_COLUMN_NAMES` or of `MODEL_COLUMN_NAMES`, but not of
    both. A matrix with a row per item has a column per model, and its other columns have only text,
    or names of facts about rows (`row_facts`), of which `weight` is used. A matrix with a row per
    model has a column per item, and most of its scores are 0 or 1. If the table is no matrix
    otherwise, `true` and `false` are read as 1 and 0. Of a matrix with a row per item, rows of
    means or sums are left out (`leave_out_totals`).

    Returns:
        The scores, one per row; None if the table is no matrix. And notes on the columns that were
        read as models, on those that were not read as scores, and on rows of means or sums that are
        left out.

    Raises:
        DataError: a row is repeated, most scores are 0 or 1 and one is outside of [0, 1], or a
            matrix with a row per model has weights.
    """
    items = _columns_with_names(records, ITEM_COLUMN_NAMES)
    models = _columns_with_names(records, MODEL_COLUMN_NAMES)
    if bool(items) == bool(models):
        return None, []
    read_scores = _scores_by_item if items else _scores_by_model
    label = items[0] if items else models[0]
    columns = {
        name: column for name, column in records.columns.items() if name not in INDEX_COLUMN_NAMES
    }
    plain_matrix = read_scores(replace(records, columns=columns), label)
    matrix = plain_matrix
    if matrix is None:
        numbers = {name: _truths_as_numbers(column) for name, column in columns.items()}
        numbers[label] = columns[label]
        matrix = read_scores(replace(records, columns=numbers), label)
    if matrix is None:
        return None, []
    _reject_repeated_rows(matrix)
    notes: list[Notice] = []
    if items:
        matrix, notes = leave_out_totals(matrix)
    _reject_odd_scores(matrix)
    of_columns = "model" if items else "item"
    header = matrix.columns[of_columns].text
    scored_names = {name for (name,) in matrix.rows(f"distinct {header}")}
    if items:
        models = [name for name in columns if name in scored_names]
        notes.append(Notice("columns-as-models", {"source": records.source, "models": models}))
    facts = facts_among(name for name in columns if name not in {label, *NON_MODEL_COLUMNS})
    if facts:
        fields = {"source": records.source, "columns": facts}
        notes.append(Notice("matrix-columns-left-out", fields))
    if plain_matrix is None:
        return matrix, notes
    used_columns = {label, *NON_MODEL_COLUMNS, *scored_names}
    unused = {name: column for name, column in columns.items() if name not in used_columns}
    return matrix, [*notes, *_note_truths(replace(records, columns=unused))]


def _reject_repeated_rows(matrix: Records) -> None:
    """Check that no two rows of a matrix have a score of the same model on the same item.

    Rows that differ in judge, metric, repeat, response or category are not the same.

    Raises:
        DataError: there are such rows; the error names both.
    """
    model = matrix.columns["model"].text
    item = matrix.columns["item"].text
    row_cells = [matrix.columns[name].text for name in NON_MODEL_COLUMNS if name in matrix.columns]
    keys = ", ".join([model, *row_cells])
    selection = f"{model}, {item}, min({ROW}), max({ROW})"
    rest = f"group by {keys} having count(*) > 1 order by min({ROW}), {model} limit 1"
    for name, document, first, last in matrix.rows(selection, rest):
        problem = f"{name!r} has two scores on {document!r}"
        remedy = "remove the repeated row, or number the repeats in a column repeat"
        place = f"{matrix.name_row(first)} and {matrix.name_row(last)}"
        raise DataError(problem, remedy=remedy, source=matrix.source, row=place)


def _reject_odd_scores(matrix: Records) -> None:
    """Raise DataError if at least half of the scores are 0 or 1 and one is outside of [0, 1]."""
    item = matrix.columns["item"].text
    model = matrix.columns["model"].text
    score = matrix.columns["score"].text
    number = matrix.columns["score"].number
    is_outside = f"{number} not between 0 and 1"
    binary_count = f"count(*) filter ({number} in (0, 1))"
    ((scores, binary_scores, outside),) = matrix.rows(
        f"count({number}) as scores, {binary_count} as binary_scores, "
        f"count(*) filter ({is_outside}) as outside"
    )
    if not outside or 2 * binary_scores < scores:
        return
    selection = f"{ROW}, {model}, {item}, {score}"
    ((row, name, document, value),) = matrix.rows(
        selection, f"where {is_outside} order by {ROW} limit 1"
    )
    problem = (
        f"the score {value} of {name!r} on {document!r} is outside [0, 1], "
        "and most scores are 0 or 1"
    )
    remedy = "correct it, empty the cell if it is unknown, or remove a column that holds no scores"
    raise DataError(problem, remedy=remedy, source=matrix.source, row=matrix.name_row(row))


def _note_truths(records: Records) -> list[Notice]:
    """Return a note that names the columns of true and false alone, if there are any.

    Empty cells in these columns do not count. The list is empty if there is no such column.

    Args:
        records: the columns that were not read as scores.
    """
    truths = []
    for name, column in records.columns.items():
        ((is_truth,),) = records.rows(f"bool_and(lower({column.text}) in ('true', 'false'))")
        if is_truth:
            truths.append(name)
    return [Notice("true-and-false", {"columns": truths})] if truths else []


def name_rows_of_matrix(records: Records) -> tuple[Records, list[Notice]]:
    """Name the first column of a matrix of 0 and 1 in which no column has a known name.

    The column becomes `item` if there are at least as many rows as other columns, else `model`. Its
    cells must be distinct, and there must be at least two other columns, all of 0, 1 and empty
    cells. Columns of `NON_MODEL_COLUMNS`, and those with names of facts of rows, do not count.

    Returns:
        The matrix, and a note on the name. Any other table is returned unchanged, without a note.
    """
    names = [
        name for name in records.columns if name not in NON_MODEL_COLUMNS and not is_fact(name)
    ]
    if len(names) < 3 or _columns_with_names(records, (*ITEM_COLUMN_NAMES, *MODEL_COLUMN_NAMES)):
        return records, []
    label, *others = names
    # Most other tables differ in their first rows.
    for scan in (f"(select * from {records.scan} limit {FIRST_ROWS})", records.scan):
        frame = replace(records, scan=scan, places=None).frame().astype(str)
        if not frame[label].is_unique:
            return records, []
        cells = np.char.lower(frame[others].to_numpy(dtype=str))
        if not np.isin(cells, BINARY_CELLS).all():
            return records, []
    has_row_per_item = len(frame) >= len(others)
    of_row = "item" if has_row_per_item else "model"
    of_column = "model" if has_row_per_item else "item"
    fields = {"source": records.source, "row": of_row, "column": of_column, "name": label}
    code = "matrix-read-as" if label else "matrix-read-without-name"
    columns = {}
    for name, cells_of_column in records.columns.items():
        new_name = of_row if name == label else name
        columns[new_name] = cells_of_column
    return replace(records, columns=columns), [Notice(code, fields)]


def _columns_with_names(records: Records, names: Sequence[str]) -> list[str]:
    """Return the columns that have one of the names, in the order of the names.

    Args:
        records: the table.
        names: the names, in lower case. Upper and lower case are the same.
    """
    columns = {column.lower(): column for column in records.columns}
    return [columns[name] for name in names if name in columns]


def _truths_as_numbers(column: Column) -> Column:
    """Replace true and false in a column of text by 1 and 0. Other columns are not changed."""
    if column.type != TEXT:
        return column
    cases = "when 'true' then '1' when 'false' then '0'"
    number = f"case lower({column.sql}) {cases} else {column.sql} end"
    return Column(number, comma=column.comma)


def _scores_by_item(records: Records, label: str) -> Records | None:
    """Read a matrix with a row per item and a column per model.

    Columns that have only text, or names of facts about rows, are kept, and are not models; those
    of `BATTLE_COLUMNS` and `length` are dropped. A column of empty cells is a model without scores.

    Args:
        records: the table.
        label: the column with the names of the items.

    Returns:
        The scores, one per row; None if the table has fewer than two models, or a column with both
        numbers and text.
    """
    columns = {}
    for name, column in records.columns.items():
        columns["item" if name == label else name] = column
    others = {
        name: column
        for name, column in columns.items()
        if name not in NON_MODEL_COLUMNS and not is_fact(name)
    }
    if len(others) < 2:
        return None
    conditions = []
    for column in others.values():
        has_text_condition = f"coalesce(bool_or({column.non_number_condition}), false)"
        conditions.append("false" if column.is_number else has_text_condition)
    conditions += [f"count({column.number}) > 0" for column in others.values()]
    (facts,) = records.rows(", ".join(conditions))
    has_text = dict(zip(others, facts[: len(others)], strict=True))
    has_numbers = dict(zip(others, facts[len(others) :], strict=True))
    # A column of empty cells is a model without scores.
    models = {
        name: column for name, column in others.items() if has_numbers[name] or not has_text[name]
    }
    if len(models) < 2 or any(has_text[name] for name in models):
        return None
    cells = ", ".join(
        f"{{'model': {sql_literal(name)}, 'score': {column.number}}}"
        for name, column in models.items()
    )
    scan = f"(select *, unnest([{cells}]) as scored from {records.scan})"
    # A column `length` of such a table is not the length of a response.
    shared_columns = {
        name: column
        for name, column in columns.items()
        if name not in models and name not in BATTLE_COLUMNS and name != "length"
    }
    scored = {"model": Column("scored.model"), "score": Column("scored.score", "DOUBLE")}
    return replace(records, scan=scan, columns=shared_columns | scored)


def _scores_by_model(records: Records, label: str) -> Records | None:
    """Read a matrix with a row per model and a column per item.

    Columns without any number, or with names of facts about rows, are dropped. A cell that is no
    number is an empty score.

    Args:
        records: the table.
        label: the column with the names of the models.

    Returns:
        The scores, one per row; None if the table has fewer than two columns with numbers, or if
        most numbers are neither 0 nor 1.

    Raises:
        DataError: a column or a row has the name of weights.
    """
    import pandas as pd

    frame = records.frame().rename(columns={label: "model"})
    numbers = {}
    for name in frame:
        if name not in ("model", *NON_MODEL_COLUMNS) and not is_fact(name):
            numbers[name] = pd.to_numeric(frame[name], errors="coerce")
    items = [name for name, cells in numbers.items() if cells.notna().any()]
    number_of_scores = sum(int(numbers[name].count()) for name in items)
    binary = sum(int(numbers[name].isin((0, 1)).sum()) for name in items)
    if len(items) < 2 or 2 * binary < number_of_scores:
        return None
    _reject_weights_of_models(records, frame["model"])
    id_columns = [name for name in ("model", *NON_MODEL_COLUMNS) if name in frame]
    cells = frame.melt(
        id_vars=id_columns,
        value_vars=items,
        var_name="item",
        value_name="score",
        ignore_index=False,
    )
    return records_of(records.engine, cells, records.source)


def _reject_weights_of_models(records: Records, models: "pd.Series") -> None:
    """Check that a matrix with a row per model has no weights.

    A column of weights would give models weights, which podium has not, and a row of weights would
    be ranked as a model.

    Args:
        records: the table.
        models: the names of its rows.

    Raises:
        DataError: a column or a row has the name of weights.
    """
    columns = [f"the column {name!r}" for name in records.columns if is_weight(name)]
    rows = [f"the row {name!r}" for name in models.astype(str) if is_weight(name)]
    for place in [*columns, *rows]:
        problem = f"{place} has the name of weights, and a matrix with a row per model has none"
        remedy = "turn the table: a row per item, with a column weight; or remove or rename it"
        raise DataError(problem, remedy=remedy, source=records.source)
