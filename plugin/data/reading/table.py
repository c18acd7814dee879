"""Check records: convert columns of a file to the types of the battles table, and check values.

A foreign column belongs to another tool: it has the name of a column of the battles table, but
another meaning, or a name that podium does not know.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from podium.data.battles import COLUMNS, LARGEST, criterion_columns
from podium.data.counting.relations import IDENTICAL, ROW, SWAPS, sql_literal
from podium.data.formats.bad_rows import BadRow, raise_if_too_many
from podium.data.formats.foreign import TO_FILL_IN
from podium.data.formats.records import JSON, REALS, TEXT, Column, Records, nan_as_empty
from podium.data.reading.reason_columns import with_reasons
from podium.errors import DataError
from podium.notices.option_forms import format_assignments
from podium.printable import shorten
from podium.text import parse_json
from podium.wording import some

NUMBERS = (
    "credit",
    "hard_credit",
    "margin",
    "score_a",
    "score_b",
    "human",
    "length_a",
    "length_b",
    "weight",
    "repeat",
)
"""Columns of the battles table with numbers."""
TEXTS = ("item", "judge", "voter", "metric", "order", "category", "reason", "swap")
"""Columns of the battles table with text, besides the names of models."""
ORDERS = ("ab", "ba", "merged")
"""Values of the column `order`: model_a first, model_b first, or both orders as one battle."""
SCORES = frozenset({"item", "model", "score"})
"""Columns that a table of scores must have."""
LONGEST_REASON = 60
"""Largest number of characters of a reason why a credit is empty. A longer text in a row with a
credit is a sentence that explains the verdict."""
FRAME = "the data frame"
"""Name of a data frame in messages."""
LIKELY_NAMES = {
    "item": ("prompt", "question", "question_id", "prompt_id", "instruction", "task_id", "id"),
    "model_a": ("model_1", "model1", "left", "system_a", "model_left", "model"),
    "model_b": ("model_2", "model2", "right", "system_b", "model_right", "baseline"),
    "judge": (
        "annotator",
        "rater",
        "labeler",
        "labeller",
        "evaluator",
        "worker",
        "reviewer",
        "grader",
        "assessor",
        "answerer",
        "listener",
        "voter",
    ),
    "credit": ("winner", "verdict", "preference", "vote", "label", "outcome", "result", "choice"),
}
"""For columns of the battles table, the names that other tools use, in lower case.

`_id` may follow the name. Messages propose such columns for `--columns`.
"""
OPTIONAL_COLUMNS = ("item", "judge")
"""Columns of `LIKELY_NAMES` that a table may lack."""
LIKELY_OF_SCORES = {
    "item": (
        *LIKELY_NAMES["item"],
        "sample_id",
        "doc_id",
        "example_id",
        "instance_id",
        "trace_id",
        "traceid",
        "utterance",
        "stimulus",
    ),
    "model": ("model_name", "model_id", "system", "submission", "agent", "engine", "llm"),
    "score": (
        "accuracy",
        "acc",
        "correct",
        "is_correct",
        "passed",
        "points",
        "value",
        "rating",
        "reward",
        "exact_match",
        "f1",
        "mos",
    ),
}
"""For columns of a table of scores, the names that other tools use, in lower case."""
COLUMN_OF_ITEMS = (
    "if each row is an item and each column a model, add a column item with a name or number for "
    "each row"
)
"""Remedy for a table that has only numbers."""
FIGURES_OF_TASKS = (
    "if each column is a task, give the scores of its items instead, since a figure per task says "
    "nothing of their number and spread: a row per item, and a column per model"
)
"""Remedy for a table with a row per model whose other columns are not known."""
BLANK = "\t\n\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""Invisible characters. To trim them is eight times as fast as a regular expression."""

PLAYS_ITSELF = "plays against itself"
NO_NUMBER = "is not a number"
"""Problems of two rules (`Rule.problem`), by which their errors are recognised."""


class Rule(NamedTuple):
    """A rule that all rows must keep.

    Attributes:
        column: the column whose value the message shows.
        broken: SQL condition that is true for a row that breaks the rule.
        problem: what is then wrong with the value, for the message.
        remedy: what the user can do, for the message.
    """

    column: str
    broken: str
    problem: str
    remedy: str


def is_pointwise(columns: Iterable[str]) -> bool:
    """Return whether columns are those of pointwise scores, not of battles.

    They are if they have all of `SCORES`, and no `model_a`.
    """
    return {*columns} >= SCORES and "model_a" not in columns


class NoRowError(DataError):
    """A table has no row."""


class AloneError(DataError):
    """A model plays against itself."""


def check(
    records: Records, *, skip_alone: bool = False, bad_rows: list[BadRow] | None = None
) -> Records | None:
    """Return records with typed columns after checking all values.

    The result has the number of its rows. It is None only if `skip_alone` says so.

    Args:
        records: battles, or scores of models.
        skip_alone: whether to return None if every battle is one of a model with itself.
        bad_rows: takes the battles of a model with itself, which are then left out if they are few
            (`raise_if_too_many`); None if such a battle is an error.

    Raises:
        NoRowError: there is no row.
        DataError: a column is missing, or a value is invalid.
    """
    try:
        if is_pointwise(records.columns):
            typed = with_reasons(_typed_columns(records, records.columns))
            remedy = "every score needs its item and model"
            empty = [
                Rule(name, _blank_condition(typed[name].sql), "is empty", remedy)
                for name in ("item", "model")
            ]
            return _scan_rows(records, typed, [*_number_rules(records), *empty], "false")
        records = _rename_foreign(records)
        typed = _typed_battles(records)
        rules = [*_number_rules(records), *_battle_rules(records, typed)]
        is_alone = f"{typed['model_a'].sql} = {typed['model_b'].sql}"
        try:
            return _scan_rows(records, typed, rules, is_alone, skip_alone)
        except AloneError as error:
            if bad_rows is None:
                raise
            # If its rows are many, the error is the same as without `bad_rows`.
            records = _without_battles_alone(records, typed, error, bad_rows)
        rules = [*_number_rules(records), *_battle_rules(records, typed)]
        return _scan_rows(records, typed, rules, is_alone)
    except DataError as error:
        raise error.with_place(records.source) from None


def _without_battles_alone(
    records: Records, typed: Mapping[str, Column], error: "AloneError", bad_rows: list[BadRow]
) -> Records:
    """Return records without the battles of a model with itself, which are put into `bad_rows`.

    The first of them has the given error, which names the number of these rows: it is raised if
    they turn out to be too many for a model.

    Args:
        records: the battles.
        typed: their typed columns.
        error: the error of the broken rule that a model does not play against itself.
        bad_rows: takes the battles.

    Raises:
        AloneError: there are too many; it is the given error.
    """
    a = typed["model_a"].sql
    is_alone = f"{a} = {typed['model_b'].sql}"
    ((number, alone),) = records.rows(f"count(*) as number, count(*) filter ({is_alone}) as alone")
    raise_if_too_many([BadRow(error)] * alone, number - alone)
    for row, name in records.rows(f"{ROW}, {a}", f"where {is_alone} order by {ROW}"):
        problem = f"model_b {shorten(repr(name))} plays against itself"
        place = records.name_row(row)
        bad = DataError(problem, source=records.source, row=place, remedy=error.remedy)
        bad_rows.append(BadRow(bad, model=name))
    bad_rows[0] = replace(bad_rows[0], error=error, problem=bad_rows[0].error.problem)
    return replace(records, scan=f"(select * from {records.scan} where not ({is_alone}))")


def _rename_foreign(records: Records) -> Records:
    """Append `_` to the names of the columns `swap`, `reason` and `identical` if they are foreign.

    A foreign column `swap` has flags. A foreign column `reason` explains verdicts in sentences. A
    foreign column `identical` has other values than true and false, or battles that are no ties.
    """
    columns = records.columns
    foreign = {}
    if IDENTICAL in columns:
        flag = f"lower({columns[IDENTICAL].text})"
        is_tie = f"{columns['credit'].number} = 0.5" if "credit" in columns else "false"
        other = f"{flag} not in ('true', 'false')"
        foreign[IDENTICAL] = f"({other} or {flag} = 'true' and ({is_tie}) is not true)"
    if "swap" in columns:
        foreign["swap"] = f"{columns['swap'].text} not in {_sql_list(SWAPS)}"
    if {"credit", "reason"} <= columns.keys():
        sentence = f"length({columns['reason'].text}) > {LONGEST_REASON}"
        foreign["reason"] = f"{columns['credit'].text} is not null and {sentence}"
    misnamed = {
        name for name, other in foreign.items() if records.rows("1", f"where {other} limit 1")
    }
    renamed = {}
    for name, column in columns.items():
        renamed[f"{name}_" if name in misnamed else name] = column
    return replace(records, columns=renamed)


def _scan_rows(
    records: Records,
    typed: Mapping[str, Column],
    rules: Sequence[Rule],
    alone: str,
    skip_alone: bool = False,
) -> Records | None:
    """Return typed records after checking all rules in one scan.

    The records have the columns of `typed` and the number of rows. Foreign columns of JSON become
    whole numbers or booleans if all their values are, else text.

    Args:
        records: the records.
        typed: the columns with the types of the battles table.
        rules: the rules, the most important first.
        alone: SQL condition for a battle of a model with itself. No row is left out by it.
        skip_alone: whether to return None if all rows meet `alone`, even if they break a rule.

    Raises:
        NoRowError: there is no row.
        DataError: a row breaks a rule; the first broken rule is reported.
    """
    foreign = [name for name, column in typed.items() if column.type == JSON]
    wanted = ["count(*)", f"bool_and({alone})" if skip_alone else "false"]
    wanted += [f"min({ROW}) filter ({rule.broken})" for rule in rules]
    for name in foreign:
        cell = typed[name].text
        kind = f"json_type({typed[name].sql})"
        whole = f"{kind} in ('BIGINT', 'UBIGINT') and try_cast({cell} as bigint) is not null"
        wanted.append(f"bool_and({cell} is null or ({whole}))")
        wanted.append(f"bool_and({cell} is null or {kind} = 'BOOLEAN')")
    wanted += _hash_of_cells(records)
    (rows, is_alone, *answers), *_ = records.rows(", ".join(wanted))
    if not rows:
        raise NoRowError("no rows", remedy="give a file that holds verdicts")
    if skip_alone and is_alone:
        return None
    for rule, row in zip(rules, answers, strict=False):
        if row is not None:
            raise _broken_rule_error(records, rule, row)
    # After the rules, each foreign column has two facts in turn: whether its values are whole
    # numbers, and whether they are booleans.
    facts = answers[len(rules) : len(rules) + 2 * len(foreign)]
    plain = {}
    for name, is_whole, is_boolean in zip(foreign, facts[::2], facts[1::2], strict=True):
        cell = typed[name].text
        if is_whole:
            plain[name] = Column(f"cast({cell} as BIGINT)", "BIGINT")
        elif is_boolean:
            plain[name] = Column(f"cast({cell} as BOOLEAN)", "BOOLEAN")
        else:
            plain[name] = Column(cell, TEXT)
    return replace(records, columns={**typed, **plain}, number=rows)


def _hash_of_cells(records: Records) -> list[str]:
    """Return SQL that makes the database read every cell of a file, so that damaged ones are found.

    It is a hash that is not used. The list is empty for a data frame, whose cells are in memory.
    """
    cells = [column.sql for column in records.columns.values() if column.cells is None]
    return [f"bit_xor(hash({', '.join(cells)}))"] if cells else []


def _broken_rule_error(records: Records, rule: Rule, row: int) -> DataError:
    """Return the error for a broken rule.

    It names the number of rows that break the rule. It is an `AloneError` if a model plays against
    itself.

    Args:
        records: the rows.
        rule: the rule.
        row: number of the first row that breaks it, whose value the message shows.
    """
    rows = [number for (number,) in records.rows(ROW, f"where {rule.broken}")]
    count = len(rows)
    if records.places:
        # A row of counts has become many.
        place_of_row = records.places()
        count = len({place_of_row[number - 1] for number in rows})
    column = records.columns[rule.column]
    ((value,),) = records.rows(column.sql, f"where {ROW} = {row}")
    is_nan = value != value  # only NaN differs from itself
    if value is None or is_nan or value == "":
        shown = ""
    else:
        value_in_text = value if column.type == JSON else repr(value)
        shown = f" {shorten(value_in_text)}"
    more = f" ({count} such rows)" if count > 1 else ""
    problem = f"{rule.column}{shown} {rule.problem}{more}"
    place = records.name_row(row)
    kind = AloneError if rule.problem == PLAYS_ITSELF else DataError
    remedy = rule.remedy
    if rule.problem == NO_NUMBER:
        remedy = _remedy_of_field(records.source, rule.column, value) or remedy
    return kind(problem, remedy=remedy, row=place, column=rule.column)


def _remedy_of_field(source: str, name: str, value: Any) -> str | None:
    """Return the remedy that takes the first number in an object as the value of a column.

    Args:
        source: name of the table in messages.
        name: the column.
        value: the object, or JSON text of one.

    Returns:
        None if the value is no object, or none of its fields is a number.
    """
    fields = value
    if isinstance(value, str):
        with suppress(ValueError):
            fields = parse_json(value)
    if not isinstance(fields, Mapping):
        return None
    numbers = []
    for key, field in fields.items():
        # A path cannot name a key with a dot.
        is_number = isinstance(field, int | float) and not isinstance(field, bool)
        if is_number and "." not in key:
            numbers.append(key)
    if not numbers:
        return None
    paths = {name: f"{name}.{numbers[0]}"}
    typed = f"columns={paths}" if source == FRAME else format_assignments("columns", paths)
    more = f" ({some(numbers)} are its numbers)" if len(numbers) > 1 else ""
    return f"name the field that counts, for example {typed}{more}"


def _typed_columns(records: Records, names: Iterable[str]) -> dict[str, Column]:
    """Return columns with the types of the battles table. Unknown columns keep their types.

    A column `response` becomes whole numbers if all its values are, and is unknown otherwise. Lists
    become JSON text. NaN becomes empty in all columns of floats.

    Args:
        records: the records.
        names: names of their columns that are returned.
    """
    numbers = {*NUMBERS, *criterion_columns(names), "score", "length"}
    columns = {}
    for name in names:
        column = records.columns[name]
        if name == "response":
            # It is the number of the response only if all values are whole numbers. Otherwise, it
            # is a foreign column, for example with texts.
            is_count = f"({column.number} between 0 and 1e9 and {column.number} % 1 = 0)"
            is_no_count = f"{column.text} is not null and {is_count} is not true"
            if not records.rows("1", f"where {is_no_count} limit 1"):
                column = Column(f"cast({column.number} as bigint)", "BIGINT")
        elif name in numbers:
            column = Column(column.number, "DOUBLE")
        elif name == IDENTICAL:
            column = Column(f"coalesce(lower({column.text}) = 'true', false)", "BOOLEAN")
        elif name in TEXTS or name in ("model", "model_a", "model_b"):
            column = Column(column.text)
        elif column.type.endswith("]"):
            # Lists are kept as JSON text, like those of JSON files.
            column = Column(column.text)
        elif column.type in REALS:
            column = replace(column, sql=nan_as_empty(column.sql))
        columns[name] = column
    return columns


def guess_columns(columns: Iterable[str]) -> dict[str, str]:
    """Return the likely column of a table for each missing column of the battles table.

    If the columns are those of scores (`_are_scores`), it is that of a table of scores. The likely
    column is one with a usual name (`LIKELY_NAMES`, `LIKELY_OF_SCORES`). If there is none and the
    column is needed, it is `?`. The item of scores may also be the only column without another
    meaning.

    Args:
        columns: the columns that the table has.
    """
    name_by_lower_case = {name.lower(): name for name in columns}
    named = {}
    are_scores = _are_scores(name_by_lower_case.keys())
    likely = LIKELY_OF_SCORES if are_scores else LIKELY_NAMES
    for own_name, words in likely.items():
        names = [name_by_lower_case[word] for word in words if word in name_by_lower_case]
        if own_name in name_by_lower_case:
            continue
        if names:
            named[own_name] = names[0]
        elif own_name not in OPTIONAL_COLUMNS:
            named[own_name] = TO_FILL_IN
    if are_scores and "item" not in name_by_lower_case and "item" not in named:
        # Scores are paired by item. The only column without another meaning is likely to be it.
        others = [
            name
            for name in name_by_lower_case.values()
            if name.lower() not in {*COLUMNS, "model", "score", "length"}
        ]
        others = [name for name in others if name not in named.values()]
        named["item"] = others[0] if len(others) == 1 else TO_FILL_IN
    return named


def may_be_figures_of_tasks(guess: Mapping[str, str]) -> bool:
    """Return whether a table has a column `model` and none that is like a verdict.

    The other columns may then be tasks, with one figure of each model. The column may be called
    `Model` or `MODEL`, too.

    Args:
        guess: the likely column for each missing column, by `guess_columns`; `?` if unknown.
    """
    is_named_model = guess.get("model_a", "").lower() == "model"
    return (
        is_named_model and guess.get("model_b") == TO_FILL_IN and guess.get("credit") == TO_FILL_IN
    )


def lacks_only_items(columns: Iterable[str], guess: Mapping[str, str]) -> bool:
    """Return whether a table may have a column per model, and none with the items.

    It may if only the item is missing, no column is like it, and there is no column `model` or
    `score`.

    Args:
        columns: the columns that the table has.
        guess: the likely column for each missing column.
    """
    return dict(guess) == {"item": TO_FILL_IN} and {"model", "score"}.isdisjoint(columns)


def remedy_of_columns(
    columns: Iterable[str], source: str = "", guess: Mapping[str, str] | None = None
) -> str:
    """Return the remedy for missing columns: an option `--columns` that the user can copy.

    If only the column with the models is known, the other ones may be figures of tasks. Then the
    remedy says what is needed instead of these.

    Args:
        columns: the columns that the table has.
        source: name of the table in messages. If it is `FRAME`, the remedy is written in Python.
        guess: the likely column for each missing column; by default that of `guess_columns`.
    """
    named = dict(guess_columns(columns) if guess is None else guess)
    if may_be_figures_of_tasks(named):
        return FIGURES_OF_TASKS
    if {*columns} <= {"model", "score"} and named == {"item": TO_FILL_IN}:
        return "add a column item, which says what each score is about: models are compared by item"
    if lacks_only_items(columns, named):
        return COLUMN_OF_ITEMS
    if source == FRAME:
        return f"name the columns: podium.read_battles(frame, columns={named})"
    if named.keys().isdisjoint({"model", "score"}) and {*named.values()} == {TO_FILL_IN}:
        named = {"model_a": "left", "model_b": "right", "credit": "outcome"}
    typed = format_assignments("columns", named)
    if named.keys() == {"item"}:
        return f"if each row is an item and each other column a model, name the items: {typed}"
    return f"name the columns, for example {typed}"


def _are_scores(names: AbstractSet[str]) -> bool:
    """Return whether columns with these names, in lower case, have a score per model and item.

    They have if there is a column `score`, or if both a model and a score have usual names
    (`LIKELY_OF_SCORES`). They have not if any column is like `model_b`.
    """
    if not {"model_b", *LIKELY_NAMES["model_b"]}.isdisjoint(names):
        return False
    if "score" in names:
        return True
    has_model = not {"model", *LIKELY_OF_SCORES["model"]}.isdisjoint(names)
    has_likely_score = not names.isdisjoint(LIKELY_OF_SCORES["score"])
    return has_model and has_likely_score


def _typed_battles(records: Records) -> dict[str, Column]:
    """Return the typed columns of battles. Columns of the battles table come first.

    If there is no margin, it is computed: the mean of the margins on criteria, or the difference of
    the scores. A row without a credit, whose margin is computed from scores, then has a reason, so
    that the margin does not replace the verdict. Reasons are also read from columns of errors
    (`with_reasons`). An empty weight is 1.

    Raises:
        DataError: the models are missing, or there is neither a credit nor a margin nor scores.
    """
    names = records.columns
    criteria = criterion_columns(names)
    missing = [name for name in ("model_a", "model_b") if name not in names]
    has_scores = {"score_a", "score_b"} <= set(names)
    has_verdicts = "credit" in names or "margin" in names or has_scores or bool(criteria)
    if not has_verdicts:
        missing.append("credit (or margin)")
    if missing:
        problem = f"no column {', '.join(missing)}; found: {', '.join(map(str, names))}"
        raise DataError(problem, remedy=remedy_of_columns(names, records.source))
    typed = {"credit": Column("cast(null as double)", "DOUBLE")} | _typed_columns(records, names)
    if "margin" not in names and criteria:
        total = " + ".join(f"coalesce({typed[name].sql}, 0)" for name in criteria)
        there = " + ".join(
            f"case when {typed[name].sql} is null then 0 else 1 end" for name in criteria
        )
        typed["margin"] = Column(f"({total}) / nullif({there}, 0)", "DOUBLE")
    elif "margin" not in names and has_scores:
        typed["margin"] = Column(f"{typed['score_a'].sql} - {typed['score_b'].sql}", "DOUBLE")
    is_of_scores = "margin" in typed and "margin" not in names and not criteria
    if is_of_scores and "credit" in names:
        # A margin computed from scores must not replace an empty verdict: a row without a credit
        # gets the reason "no verdict", unless the table has a reason for it.
        reason = typed["reason"].sql if "reason" in typed else "null"
        unexplained = f"case when {typed['credit'].sql} is null then 'no verdict' end"
        typed["reason"] = Column(f"coalesce({reason}, {unexplained})")
    typed = with_reasons(typed)
    if "weight" in typed:
        typed["weight"] = Column(f"coalesce({typed['weight'].sql}, 1.0)", "DOUBLE")
    names_of_battles = [*(name for name in COLUMNS if name in typed), *criteria]
    return {name: typed[name] for name in dict.fromkeys([*names_of_battles, *typed])}


NEVER_NAN = ("credit", "hard_credit", "weight")
"""Columns of numbers in which NaN is an error: it may be the result of a failed computation.

An empty credit is an unparsed reply, and an empty weight is 1. In other columns, NaN is an empty
cell. In a data frame of pandas, NaN is an empty cell in all columns, since pandas has no other one.
"""


def _number_rules(records: Records) -> list[Rule]:
    """Return the rules of columns with numbers: all are numbers, not too large, and no length is
    below 0."""
    names = [*criterion_columns(records.columns), *NUMBERS, "score", "length"]
    rules = []
    for name in names:
        if name not in records.columns:
            continue
        column = records.columns[name]
        if not column.is_number:
            remedy = "write a number, as 0.5, or leave it empty"
            rules.append(Rule(name, column.non_number_condition, NO_NUMBER, remedy))
        remedy = "leave the cell empty if the value is unknown"
        is_large = f"abs({column.number}) > {LARGEST}"
        rules.append(Rule(name, is_large, "is infinite or too large", remedy))
        if name in NEVER_NAN and column.type in REALS:
            is_nan = f"{column.sql} is not null and {column.number} is null"
            rules.append(Rule(name, is_nan, "is not a number (NaN)", remedy))
        if name.startswith("length"):
            rules.append(Rule(name, f"{column.number} < 0", "is below 0", remedy))
    return rules


def _battle_rules(records: Records, typed: Mapping[str, Column]) -> list[Rule]:
    """Return the rules for models, credits, reasons, weights, orders and swaps.

    The most important rules come first.

    Args:
        records: the battles as the file has them, with the names of its columns.
        typed: the typed columns, of which the conditions are made.
    """
    a = typed["model_a"].sql
    b = typed["model_b"].sql
    nameless = "every battle needs the names of both models"
    itself = "remove battles of a model with itself"
    credit = (
        "credit is what model_a earned: 1 win, 0.5 tie, 0 loss; "
        "translate other codes with --credit-map"
    )
    rules = [
        Rule("model_a", _blank_condition(a), "is empty", nameless),
        Rule("model_b", _blank_condition(b), "is empty", nameless),
        Rule("model_b", f"{a} = {b}", PLAYS_ITSELF, itself),
    ]
    for name in ("credit", "hard_credit", "human"):
        if name in records.columns:
            broken = f"{typed[name].sql} not between 0 and 1"
            rules.append(Rule(name, broken, "is outside [0, 1]", credit))
    if {"credit", "reason"} <= records.columns.keys():
        broken = f"{typed['credit'].sql} is not null and {typed['reason'].sql} is not null"
        remedy = "empty one of the two, or rename the column: a reason says why there is no credit"
        rules.append(Rule("reason", broken, "contradicts the credit of its row", remedy))
    if "weight" in typed:
        remedy = "weigh rows by numbers above 0, and remove those that are not to count"
        rules.append(Rule("weight", f"{typed['weight'].sql} <= 0", "is not above 0", remedy))
    values = {"order": ORDERS, "swap": tuple(SWAPS)}
    for name, known in values.items():
        if name in typed:
            remedy = f"use one of {', '.join(known)}, or leave it empty"
            broken = f"{typed[name].sql} not in {_sql_list(known)}"
            rules.append(Rule(name, broken, "is unknown", remedy))
    return rules


def _blank_condition(name: str) -> str:
    """Return the SQL condition that a name is empty or invisible.

    Args:
        name: SQL of the name, such as a column.
    """
    # For speed, the first character is tested first: it shows that most names are visible.
    shows = f"ord({name}) between 33 and 126"
    is_blank = f"{name} is null or trim({name}, {sql_literal(BLANK)}) = ''"
    return f"case when {shows} then false else {is_blank} end"


def _sql_list(words: Iterable[str]) -> str:
    """Return texts as a list in SQL, in brackets: `('ab', 'ba')`."""
    return f"({', '.join(map(sql_literal, words))})"
