"""Reject objects and lists where a file should have the name of a model."""

import re
from typing import TYPE_CHECKING

from podium.data.counting.relations import ROW, sql_literal
from podium.data.formats.records import TEXT, Column, Records
from podium.errors import DataError
from podium.printable import shorten

if TYPE_CHECKING:
    import pandas as pd

COLUMNS_OF_NAMES = (
    "model",
    "model_a",
    "model_b",
    "model_1",
    "model_2",
    "model_A",
    "model_B",
    "model_a_name",
    "model_b_name",
    "chosen_model_name",
    "model_a_in_prompt",
    "model_b_in_prompt",
    "generator",
    "generator_1",
    "generator_2",
    "ref_generator",
    "left",
    "right",
    "baseline",
    "system",
    "response_model",
)
"""Columns of the formats that hold names of models."""
NESTED_TEXT = r"""^(\{|\[)\s*["']"""
"""Matches the beginning of a text that is an object or a list, as JSON or as Python prints it."""


def may_hold_nested_names(frame: "pd.DataFrame") -> bool:
    """Return whether a cell with a name of a model is an object or a list, or looks like one.

    The cells are those of `COLUMNS_OF_NAMES`. A text looks like one if it begins as `NESTED_TEXT`
    says.
    """
    for name in COLUMNS_OF_NAMES:
        if name not in frame:
            continue
        try:
            distinct = frame[name].unique()
        except (TypeError, NotImplementedError):
            # Objects and lists have no distinct values.
            return True
        if any(isinstance(each, str) and re.match(NESTED_TEXT, each) for each in distinct):
            return True
    return False


def _may_be_nested(records: Records, column: Column) -> bool:
    """Return whether a name in a column may be an object or a list.

    Only the texts of a data frame are known without a query; the result is True for other columns.
    """
    frame = records.engine.coded_frame(records.scan)
    coded = None if frame is None else frame.texts.get(column.text)
    return coded is None or any(text.startswith(("{", "[")) for text in coded.texts)


def _begins_like_nested(column: Column) -> str:
    """Return the SQL condition that the first character of a cell is `[` or `{`."""
    return f"ord({column.text}) in (91, 123)"


def _nested_condition(column: Column) -> str:
    """Return the SQL condition that a cell is an object, a list, or a text that looks like one."""
    is_nested = f"regexp_matches({column.text}, {sql_literal(NESTED_TEXT)})"
    if column.json is not None and column.type != TEXT:
        is_nested = f"json_type({column.json}) in ('OBJECT', 'ARRAY') or {is_nested}"
    return f"{_begins_like_nested(column)} and ({is_nested})"


def require_plain_names(records: Records) -> None:
    """Check that no name of a model is an object or a list.

    Args:
        records: the rows of a file, as they stand in it.

    Raises:
        DataError: a name is an object or a list, also one that is written as text.
    """
    searched = []
    wanted = []
    for name in COLUMNS_OF_NAMES:
        column = records.columns.get(name)
        if column is None or column.is_number or not _may_be_nested(records, column):
            continue
        # For speed, the first characters are tested alone: nearly always they are other ones, and
        # the database tests each different text of a Parquet file once.
        if not records.rows("1", f"where {_begins_like_nested(column)} limit 1"):
            continue
        is_nested = f"filter ({_nested_condition(column)})"
        searched.append(name)
        wanted.append(
            f"count(*) {is_nested}, min({ROW}) {is_nested}, "
            f"arg_min({column.text}, {ROW}) {is_nested}"
        )
    if not searched:
        return
    (answers,) = records.rows(", ".join(wanted))
    # Each column has three answers in turn: how many cells are nested, the first row with one, and
    # this cell.
    for name, count, row, value in zip(
        searched, answers[::3], answers[1::3], answers[2::3], strict=True
    ):
        if count:
            kind = "an object" if value.startswith("{") else "a list"
            more = f" ({count} such rows)" if count > 1 else ""
            problem = f"{name} {shorten(repr(value))} is {kind}, not the name of a model{more}"
            remedy = "write the name of the model as text"
            place = records.name_row(row)
            raise DataError(problem, row=place, remedy=remedy, column=name)
