"""Let Spark read Parquet files with podium's columns. No row passes through the driver."""

from collections.abc import Mapping, Sequence
from typing import Any

from podium.data.counting.relations import CRITERION, ROW, SCORES, SWAPS, quote_name, sql_literal
from podium.data.counting.spark import Spark
from podium.data.counting.verdicts import Engine
from podium.data.formats.records import TEXT
from podium.data.formats.score_files import INSTRUCTION_NAMES
from podium.data.reading.question_columns import PROMPTS_IN_DOUBT
from podium.data.reading.table import NUMBERS, ORDERS, TEXTS, remedy_of_columns
from podium.errors import DataError, UsageError
from podium.notices.notice import Notice
from podium.question_finding import QuestionFinding
from podium.storage.remote import without_secrets
from podium.wording import quantity

NAMES = ("model_a", "model_b", *TEXTS)
"""Columns of text in the battles table."""
COPIES = Notice("copies-uncounted")
"""Note that rows which stand in several files were not searched."""
REMEDY = "repair or remove such rows, or rank the file with DuckDB, which names the row"
"""What to do about rows that break a rule."""


def is_parquet(sources: Sequence[Any]) -> bool:
    """Return whether all sources are texts that end in `.parquet`, which Spark reads itself.

    The result is False if a source is a `Path` or a data frame, and if there is no source.
    """
    return bool(sources) and all(
        isinstance(each, str) and each.endswith(".parquet") for each in sources
    )


def scan_parquet(
    spark: Spark, paths: Sequence[str], columns: Mapping[str, str] | None = None
) -> str:
    """Create a view of typed and checked judgments in Parquet files, and return its name.

    Args:
        spark: the session.
        paths: the files.
        columns: the files' names of columns, by podium's names.

    Raises:
        UsageError: a file cannot be read, or a named column is missing.
        DataError: a needed column is missing, or a value is invalid.
    """
    raw = spark.fresh("file")
    view = spark.fresh("judgments")
    spark.scan(raw, paths)
    types = spark.columns(raw)
    origin = _origins(types, columns or {})
    cells = {name: _typed_cell(name, old, types[old]) for name, old in origin.items()}
    if "credit" not in cells:
        cells["credit"] = "cast(null as double)"
    typed = ", ".join(f"{cell} as {quote_name(name)}" for name, cell in cells.items())
    spark.view(view, f"select monotonically_increasing_id() as {ROW}, {typed} from {raw}")
    _check_rows(spark, view, cells, " and ".join(map(without_secrets, paths[:3])))
    return view


def inputs_not_compared(engine: Engine, relation: str) -> tuple[QuestionFinding, ...]:
    """Return the finding that it is not known whether rows with one id are of one question.

    On Spark, items are not renamed by their inputs.

    Args:
        engine: the database.
        relation: a table or view of battles.

    Returns:
        A finding if ids have several texts in the column of inputs; empty if not, if there is no
        such column or several, or if it has few values, such as the names of prompts.
    """
    types = engine.columns(relation)
    names = [name for name in INSTRUCTION_NAMES if types.get(name) == TEXT]
    if "item" not in types or len(names) != 1:
        return ()
    known_rows = f"{relation} where item is not null and {names[0]} is not null"
    of_item = f"select item, count(distinct {names[0]}) as inputs from {known_rows} group by item"
    counts = "count(*) as items, count(case when inputs > 1 then 1 end) as conflicts"
    ((items, conflicts),) = engine.rows(f"select {counts} from ({of_item}) as of_item")
    ((inputs,),) = engine.rows(f"select count(distinct {names[0]}) from {known_rows}")
    if not conflicts or 2 * inputs <= items:
        return ()
    return (
        QuestionFinding(
            task="",
            pairing="undecided",
            items=items,
            conflicts=conflicts,
            reason=(names[0], PROMPTS_IN_DOUBT),
        ),
    )


def _origins(types: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the file's name of each column, by podium's name.

    Args:
        types: type of each column of the file.
        columns: the files' names of columns, by podium's names, as the user gave them.

    Raises:
        UsageError: a column that the user named is missing, or the margin would have to be computed
            from other columns.
        DataError: a needed column is missing.
    """
    absent = [old for old in columns.values() if old not in types]
    if absent:
        raise UsageError(f"there is no column {absent[0]!r}; columns: {', '.join(types)}")
    origin = {name: name for name in types if name not in columns.values()} | dict(columns)
    missing = [name for name in ("model_a", "model_b") if name not in origin]
    missing += [] if {"credit", "margin"} & set(origin) else ["credit (or margin)"]
    scored = [name for name in origin if name.startswith(CRITERION) or name in SCORES]
    if scored and "margin" not in origin:
        remedy = "rank the file with DuckDB, or add a margin"
        raise UsageError(f"on Spark the margin is not made of {scored[0]}: {remedy}")
    if missing:
        raise DataError(
            f"no column {', '.join(missing)}; found: {', '.join(types)}",
            remedy=remedy_of_columns(types),
        )
    return origin


def _typed_cell(name: str, old: str, kind: str) -> str:
    """Return SQL that converts a column to its type in the battles table.

    NaN and empty names become NULL, and an empty weight becomes 1. A column that is not of the
    battles table is not converted.

    Args:
        name: podium's name of the column.
        old: the file's name of the column.
        kind: type of the column in the file.

    Raises:
        DataError: the type cannot be converted.
    """
    if name in NAMES:
        if kind in ("DOUBLE", "FLOAT"):
            raise DataError(
                f"column {old!r} holds floats; names are text or whole numbers",
                remedy="write it as text",
            )
        return f"nullif(cast({quote_name(old)} as string), '')"
    if name in NUMBERS:
        if kind == "VARCHAR":
            raise DataError(
                f"column {old!r} holds text, not numbers",
                remedy="rank it with DuckDB and a --credit-map",
            )
        number = f"cast({quote_name(old)} as double)"
        number = f"case when isnan({number}) then null else {number} end"
        return f"coalesce({number}, 1e0)" if name == "weight" else number
    if name == "response" and kind == "INTEGER":
        return f"cast({quote_name(old)} as bigint)"
    return quote_name(old)


def _check_rows(spark: Spark, view: str, cells: Mapping[str, str], source: str) -> None:
    """Check all rows in one scan.

    Args:
        spark: the session.
        view: name of the view with the rows.
        cells: SQL of the columns, by podium's name.
        source: name of the files in messages.

    Raises:
        DataError: there are no rows, or a row breaks a rule.
    """
    # A column, the SQL condition that breaks the rule, and what is then wrong with the value.
    rules = [
        ("model_a", "coalesce(trim(model_a), '') = ''", "is empty"),
        ("model_b", "coalesce(trim(model_b), '') = ''", "is empty"),
        ("model_b", "model_a = model_b", "plays against itself"),
        ("credit", "credit not between 0 and 1", "is outside [0, 1]"),
        ("hard_credit", "hard_credit not between 0 and 1", "is outside [0, 1]"),
        ("human", "human not between 0 and 1", "is outside [0, 1]"),
        ("weight", "not (weight > 0 and weight < 1e300)", "is not above 0, or without bound"),
        ("swap", f"swap not in ({', '.join(map(sql_literal, SWAPS))})", "is unknown"),
        ("order", f'"order" not in ({", ".join(map(sql_literal, ORDERS))})', "is unknown"),
    ]
    rules = [rule for rule in rules if rule[0] in cells]
    counts = ", ".join(f"count(case when {broken} then 1 end)" for _, broken, _ in rules)
    ((rows, *numbers),) = spark.rows(f"select count(*), {counts} from {view}")
    if not rows:
        raise DataError("no rows", source=source, remedy="give a file that holds verdicts")
    for (name, broken, problem), number in zip(rules, numbers, strict=True):
        if number:
            query = f"select {quote_name(name)} from {view} where {broken} limit 1"
            ((value,),) = spark.rows(query)
            shown = "" if value is None else f" {value!r}"
            raise DataError(
                f"{name}{shown} {problem} ({quantity(number, 'such row')})",
                source=source,
                remedy=REMEDY,
            )
