"""Read pointwise scores, and pair the scores of models on the same item to battles.

A table of scores has a row per item and model. A score matrix has a row per item and a column per
model, or a row per model and a column per item. A trial is what two scores must share to be paired:
item, judge, metric, repeat and response.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from podium.data.counting.duck import Duck
from podium.data.counting.relations import NO_SCORE, ROW, quote_name, text
from podium.data.formats.records import (
    TEXT,
    Column,
    Records,
    records_of,
    records_of_view,
)
from podium.data.formats.row_facts import facts_among, is_fact, is_weight
from podium.data.formats.total_rows import leave_out_totals
from podium.data.formats.unequal_trials import average_unequal_trials
from podium.errors import DataError, OneModelError
from podium.notices.notice import Notice
from podium.scorers.judge_record import JudgeKind, JudgeRecord
from podium.text import EMPTY

if TYPE_CHECKING:
    import pandas as pd


# podium's names of JuStRank's columns.
JUSTRANK_COLUMNS = {
    "arena_hard_question_id": "item",
    "system": "model",
    "judge_model": "judge",
    "judgment_score": "score",
}
# Columns of scores that become two columns of battles, such as `score_a` and `score_b`.
COLUMNS_PER_MODEL = ("model", "score", "length")
BATTLE_COLUMNS = (
    "model",
    "score",
    "margin",
    "credit",
    *(f"{name}_{side}" for name in COLUMNS_PER_MODEL for side in "ab"),
)
"""Columns of battles that are computed, and not copied from the scores."""
SAME_TRIAL = ("item", "judge", "metric", "repeat", "response", "category", "task")
"""Columns in which the scores of one trial agree."""
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
INSTRUCTION_NAMES = ("instruction", "prompt", "input", "question")
"""Columns with the question that a model was asked, as in `podium.responses.response_tables`."""
ANSWER_NAMES = ("response", "output")
"""Columns with the answer of a model, as in `podium.responses.response_tables`."""
CREDIT_OF_SCORE_LISTS = (
    "list_avg([list_avg([(sign(x - y) + 1) / 2 for y in b.scores]) for x in a.scores])"
)
"""SQL of the credit of model a by two lists of scores.

It is the mean credit over all pairs of a score of a and a score of b.
"""
CREDIT_OF_SCORES = "(sign(a.score - b.score) + 1) / 2"
"""SQL of the credit of model a by two scores: 1 if its score is larger, 0.5 if they are equal."""
CREDIT_OF_PROBABILITIES = "(a.score - b.score + 1) / 2"
"""SQL of the credit of model a by two probabilities to pass.

It is P(only a passes) + P(both or none pass) / 2 = (P(a passes) - P(b passes) + 1) / 2.
"""
MOST_BATTLES = 2_000_000
"""Largest number of battles for which each model is paired with each other one.

If there are more battles, and the ranker needs only the scores of each model, the models of a trial
are paired in a chain: each model only with the next one.
"""


def read(records: "pd.DataFrame") -> "pd.DataFrame":
    """Rename JuStRank's columns to `item`, `model`, `score` and `judge`.

    The name of a judge consists of its model and its realization. The records of the judges are in
    `attrs["judges"]`. A table of scores with the names of podium is not changed.
    """
    import pandas as pd

    frame = records.rename(columns=JUSTRANK_COLUMNS)
    if {"judge", "judge_realization"} <= set(frame):
        model = frame["judge"].astype(str)
        realization = frame["judge_realization"].astype(str)
        frame["judge"] = model + " " + realization
        asked = pd.DataFrame({"name": frame["judge"], "model": model, "realization": realization})
        frame.attrs["judges"] = _justrank_judges(asked)
    return frame


def _justrank_judges(asked: "pd.DataFrame") -> dict[str, JudgeRecord]:
    """Return the records of judges, by name.

    Args:
        asked: a row per judgment with the judge's name, model and realization.
    """
    judges = {}
    for name, model, realization in asked.drop_duplicates().itertuples(index=False):
        kind: JudgeKind = "reward" if realization.lower() == "reward" else "model"
        judges[name] = JudgeRecord(name, kind, model, realization=realization)
    return judges


def matrix_scores(records: Records) -> tuple[Records | None, list[Notice]]:
    """Read a score matrix, if the table is one.

    A matrix has a column with a name of `ITEM_COLUMN_NAMES` or of `MODEL_COLUMN_NAMES`, but not of
    both. A matrix with a row per item has a column per model, and its other columns have only text,
    or names of facts about rows (`row_facts`), of which `weight` is used. A matrix with a row per
    model has a column per item, and most of its scores are 0 or 1. If the table is no matrix
    otherwise, `true` and `false` are read as 1 and 0.

    Returns:
        The scores, one per row; None if the table is no matrix. And notes on the columns that were
        read as models, and on those that were not read as scores.

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
    header = matrix.columns["model" if items else "item"].text
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
    shared = [matrix.columns[name].text for name in NON_MODEL_COLUMNS if name in matrix.columns]
    keys = ", ".join([model, *shared])
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
        f"count({number}), {binary_count}, count(*) filter ({is_outside})"
    )
    if not outside or 2 * binary_scores < scores:
        return
    selection = f"{ROW}, {model}, {item}, {score}"
    row, name, document, value = matrix.rows(
        selection, f"where {is_outside} order by {ROW} limit 1"
    )[0]
    problem = (
        f"the score {value} of {name!r} on {document!r} is outside [0, 1], "
        "and most scores are 0 or 1"
    )
    remedy = "correct it, empty the cell if it is unknown, or remove a column that holds no scores"
    raise DataError(problem, remedy=remedy, source=matrix.source, row=matrix.name_row(row))


def _note_truths(records: Records) -> list[Notice]:
    """Return a note on columns that have only true and false, if there are any.

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
    cells.

    Returns:
        The matrix, and a note on the name. Any other table is returned unchanged, without a note.
    """
    names = [
        name for name in records.columns if name not in NON_MODEL_COLUMNS and not is_fact(name)
    ]
    if len(names) < 3 or _columns_with_names(records, (*ITEM_COLUMN_NAMES, *MODEL_COLUMN_NAMES)):
        return records, []
    first, *others = names
    # Most other tables differ in their first rows.
    for scan in (f"(select * from {records.scan} limit {FIRST_ROWS})", records.scan):
        frame = replace(records, scan=scan, places=None).frame().astype(str)
        if not frame[first].is_unique:
            return records, []
        cells = np.char.lower(frame[others].to_numpy(dtype=str))
        if not np.isin(cells, BINARY_CELLS).all():
            return records, []
    name, column = "model", "item"
    if len(frame) >= len(others):
        name, column = "item", "model"
    fields = {"source": records.source, "row": name, "column": column, "name": first}
    code = "matrix-read-as" if first else "matrix-read-without-name"
    columns = {}
    for old, cells_of_column in records.columns.items():
        columns[name if old == first else old] = cells_of_column
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

    Columns that have only text, or names of facts about rows, are kept, and are not models.

    Args:
        records: the table.
        label: the column with the names of the items.

    Returns:
        The scores, one per row; None if the table has fewer than two columns of numbers, or a
        column with both numbers and text.
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
        f"{{'model': {text(name)}, 'score': {column.number}}}" for name, column in models.items()
    )
    scan = f"(select *, unnest([{cells}]) as scored from {records.scan})"
    # A column `length` of such a table is not the length of a response.
    shared = {
        name: column
        for name, column in columns.items()
        if name not in models and name not in BATTLE_COLUMNS and name != "length"
    }
    scored = {"model": Column("scored.model"), "score": Column("scored.score", "DOUBLE")}
    return replace(records, scan=scan, columns=shared | scored)


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
    known = sum(int(numbers[name].count()) for name in items)
    binary = sum(int(numbers[name].isin((0, 1)).sum()) for name in items)
    if len(items) < 2 or 2 * binary < known:
        return None
    _reject_weights_of_models(records, frame["model"])
    kept = [name for name in ("model", *NON_MODEL_COLUMNS) if name in frame]
    cells = frame.melt(kept, items, "item", "score", ignore_index=False)
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


def pair_up(
    scores: Records, *, scores_only: bool = False, probability_metrics: Collection[str] = ()
) -> tuple[Records, int, list[Notice]]:
    """Build a battle for every two models that were scored in one trial.

    Several scores of a model in one trial are averaged, with a note. Model a is the one whose name
    sorts first. The credit of a model is 1 if its score is larger, and 0.5 if both are equal. There
    are two exceptions: scores that are probabilities (`probability_metrics`), and trials that are
    averaged because models have different numbers of them.

    Args:
        scores: a row per score.
        scores_only: whether the ranker needs only the scores of each model. If there are more
            battles than `MOST_BATTLES`, the models of a trial are then paired in a chain.
        probability_metrics: names of metrics whose scores are probabilities to pass. Their credit
            is the probability to win, with ties counted as half (`CREDIT_OF_PROBABILITIES`).

    Returns:
        The battles; the number of missing battles (a battle is missing if one of its two models has
        no row in the trial, but has one in another trial of the same task); and notes.

    Raises:
        DataError: the scores are of one model, or scores of one trial have different weights.
    """
    engine = scores.engine
    trial = _trial_columns(scores)
    _reject_uneven_weights(scores, trial)
    trial_means, kept, others = _store_trial_means(scores, trial)
    trial_means = _number_trials_in_order(scores, trial, trial_means)
    means, unequal = average_unequal_trials(engine, trial_means, trial, [*kept, *others])
    models, averaged = engine.rows(f"select count(distinct model), sum(averaged) from {means}")[0]
    if models < 2:
        raise _single_model_error(engine, means, scores.source)
    battles = engine.fresh("battles")
    pairs, neighbours = _count_pairs(engine, means, "task" if "task" in trial else None)
    is_chain = scores_only and pairs > MOST_BATTLES
    credit = CREDIT_OF_SCORE_LISTS if means != trial_means else CREDIT_OF_SCORES
    if probability_metrics:
        metrics = ", ".join(map(text, sorted(probability_metrics)))
        credit = (
            f"case when a.metric in ({metrics}) then {CREDIT_OF_PROBABILITIES} else {credit} end"
        )
    query = _trial_battles_query(means, trial, others, {*trial, *kept}, is_chain, credit)
    engine.store(battles, query)
    ((battle_count,),) = engine.rows(f"select count(*) from {battles}")
    expected = neighbours if is_chain else pairs
    is_empty = "score is null and reason is null" if "reason" in kept else "score is null"
    notes = [*_note_missing_scores(engine, trial_means, is_empty), *unequal]
    if averaged:
        notes.append(Notice("scores-averaged", {"scores": int(averaged)}))
    notes += _note_scores_alone(engine, means)
    return records_of_view(engine, battles, scores.source), expected - battle_count, notes


def _count_pairs(engine: Duck, means: str, task: str | None) -> tuple[int, int]:
    """Count the battles if every model of a task had a row in each of the task's trials.

    A model without any row in a task was not run on it, so it has no battles there.

    Args:
        engine: the database.
        means: the table of mean scores.
        task: the column with the task; None if all trials are of one task.

    Returns:
        The number of all pairs of models, and of pairs in a chain, over all trials.
    """
    counts = "count(distinct model) as models, count(distinct trial) as trials"
    by_task = f"select {counts} from {means}"
    if task is not None:
        by_task += f" group by {task}"
    pairs = "trials * models * (models - 1) // 2"
    [sums] = engine.rows(f"select sum({pairs}), sum(trials * (models - 1)) from ({by_task})")
    return int(sums[0]), int(sums[1])


def _trial_columns(scores: Records) -> list[str]:
    """Return the columns of the table in which the scores of one trial agree (`SAME_TRIAL`)."""
    trial = [name for name in SAME_TRIAL if name in scores.columns]
    # A column `response` that does not hold numbers has the texts of the responses.
    if "response" in trial and not scores.columns["response"].is_number:
        trial.remove("response")
    return trial


def _store_trial_means(scores: Records, trial: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """Store each model's mean score in each trial, as a table of the engine.

    The columns of the table are `trial` (the first row of the trial), `model`, `score`, `place` (of
    the model in the trial, from 1), `averaged` (number of further scores in the mean), and the
    columns of the trial. Cells of other columns are those of the first row.

    Returns:
        The name of the table, and two lists of its further columns: `reason` and `length` if
        present; and all other columns, which are kept as text.
    """
    engine = scores.engine
    columns = scores.columns
    varying = _varying_columns(scores, trial)
    trials = ", ".join(columns[name].sql for name in varying)
    optional_columns = [name for name in ("reason", "length") if name in columns]
    others = [name for name in columns if name not in {*trial, *optional_columns, *BATTLE_COLUMNS}]
    kept = {name: columns[name].sql for name in (*trial, *optional_columns)}
    kept |= {name: columns[name].text for name in others}
    first = []
    for name, sql in kept.items():
        cell = f"arg_min_null({sql}, {ROW})"
        if name in trial:
            cell = sql if name in varying else f"any_value({sql})"
        first.append(f"{cell} as {quote_name(name)}")
    model = columns["model"].sql
    score = columns["score"].sql
    means = engine.fresh("scores")
    engine.store(
        means,
        f"select min(min({ROW})) over (partition by {trials}) as trial, "
        f"{model} as model, avg({score}) as score, "
        f"row_number() over (partition by {trials} order by {model}) as place, "
        f"count(*) - 1 as averaged, {', '.join(first)} "
        f"from {scores.scan} group by {trials}, {model}",
    )
    return means, optional_columns, others


def _number_trials_in_order(scores: Records, trial: Sequence[str], means: str) -> str:
    """Number trials that some models lack in the order in which the models that have them do.

    By the first row alone, trials that only the first file lacks would stand at the end. A trial's
    place is the largest of its places among the trials of each model that has it.

    Args:
        scores: a row per score.
        trial: columns in which the scores of one trial agree.
        means: the table of `_store_trial_means`.

    Returns:
        The name of a table as `means`; `means` itself if every model has all trials.
    """
    engine = scores.engine
    cells, models, trials = engine.rows(
        f"select count(*), count(distinct model), count(distinct trial) from {means}"
    )[0]
    if cells == models * trials:
        return means
    model = scores.columns["model"].sql
    keys = ", ".join(scores.columns[name].sql for name in _varying_columns(scores, trial))
    rows = (
        f"select min(min({ROW})) over (partition by {keys}) as trial, {model} as model, "
        f"min({ROW}) as own from {scores.scan} group by {keys}, {model}"
    )
    own_places = (
        f"select trial, row_number() over (partition by model order by own) as own_place "
        f"from ({rows})"
    )
    places = (
        "select trial, row_number() over (order by max(own_place), trial) as number "
        f"from ({own_places}) group by trial"
    )
    ordered = engine.fresh("scores")
    engine.store(
        ordered,
        f"select m.* replace (p.number as trial) from {means} m join ({places}) p using (trial)",
    )
    return ordered


def _varying_columns(scores: Records, trial: Sequence[str]) -> list[str]:
    """Return the columns of the trial that do not have one value in all rows; at least one.

    The others need not be grouped by.
    """
    is_constant = []
    for name in trial:
        cell = scores.columns[name].sql
        is_filled = f"count({cell}) in (0, count(*))"
        is_constant.append(f"{is_filled} and min({cell}) is not distinct from max({cell})")
    [constant] = scores.rows(", ".join(is_constant))
    varying = [name for name, is_one in zip(trial, constant, strict=True) if not is_one]
    return varying or [*trial[:1]]


def _single_model_error(engine: Duck, means: str, source: str) -> OneModelError:
    """Return the error for scores of a single model."""
    name = engine.rows(f"select model from {means} limit 1")[0][0]
    more = (
        "a folder that holds them (`podium rank logs/`), "
        "or the files of others (reference logs) beside this one"
    )
    remedy = f"give the scores of two models or more: {more}"
    return OneModelError(f"scores of one model only ({name!r})", source=source, remedy=remedy)


def _reject_uneven_weights(scores: Records, trial: list[str]) -> None:
    """Check that the scores of each trial have the same weight, since a battle has one weight.

    A missing weight counts as 1. A table without a column `weight` is accepted.

    Args:
        scores: a row per score.
        trial: columns in which the scores of one trial agree.

    Raises:
        DataError: two scores of a trial have different weights.
    """
    columns = scores.columns
    if "weight" not in columns:
        return
    weight = f"coalesce({columns['weight'].number}, 1.0)"
    item = columns["item"].text
    trials = ", ".join(columns[name].sql for name in trial)
    rest = f"group by {trials} having min({weight}) < max({weight}) order by min({ROW}) limit 1"
    uneven = scores.rows(f"min({item}), min({weight}), max({weight}), max({ROW})", rest)
    for name, low, high, row in uneven:
        problem = f"item {name!r} has the weights {low:g} and {high:g}"
        remedy = "give all scores of an item one weight"
        raise DataError(problem, remedy=remedy, source=scores.source, row=scores.name_row(row))


def has_answers(scores: Records) -> bool:
    """Return whether a table has a column with the answers of models."""
    columns = scores.columns
    return any(name in columns and not columns[name].is_number for name in ANSWER_NAMES)


def _note_missing_scores(engine: Duck, means: str, is_missing: str) -> list[Notice]:
    """Return a note on the missing scores by model and item, if any are missing.

    Args:
        engine: the database.
        means: the table of mean scores.
        is_missing: SQL condition that a score is missing.
    """
    missing_items = "model, list(item order by trial), count(*) as number"
    by_model = f"select {missing_items} from {means} where {is_missing} group by model"
    missing_by_model = engine.rows(f"{by_model} order by number desc, model")
    if not missing_by_model:
        return []
    missing = sum(number for *_, number in missing_by_model)
    ((scores,),) = engine.rows(f"select count(*) from {means}")
    items = {str(model): list(map(str, items)) for model, items, _ in missing_by_model}
    return [Notice("scores-missing", {"missing": missing, "scores": scores, "items": items})]


def _note_scores_alone(engine: Duck, means: str) -> list[Notice]:
    """Return a note on the scores of trials that have one model, if there are any.

    Its fields also say how many scores of each model stand alone, and whether their trials are one
    run at the start or the end of all.

    Args:
        engine: the database.
        means: the table of mean scores.
    """
    alone = f"select trial, min(model) as model from {means} group by trial having count(*) = 1"
    by_model = engine.rows(
        f"select model, count(*), min(trial), max(trial) from ({alone}) group by model "
        "order by model"
    )
    if not by_model:
        return []
    first = min(start for *_, start, _ in by_model)
    last = max(end for *_, end in by_model)
    ((until_last, from_first),) = engine.rows(
        f"select count(distinct trial) filter (trial <= {last}), "
        f"count(distinct trial) filter (trial >= {first}) from {means}"
    )
    scores = sum(number for _, number, *_ in by_model)
    models = {str(model): int(number) for model, number, *_ in by_model}
    is_cut = scores in (until_last, from_first)
    return [Notice("scores-alone", {"scores": scores, "models": models, "is_cut": is_cut})]


def _trial_battles_query(
    means: str, trial: list[str], others: list[str], known: set[str], is_chain: bool, credit: str
) -> str:
    """Return the query of the battles of each trial.

    Args:
        means: the table of mean scores.
        trial: columns of the trial.
        others: further columns; a cell is kept if it is the same for both models.
        known: all columns of the table; `reason` and `length` are used if present.
        is_chain: whether each model is paired only with the next one.
        credit: SQL of the credit of model a.
    """
    reason = text(NO_SCORE)
    if "reason" in known:
        reason = f"coalesce(case when a.score is null then a.reason else b.reason end, {reason})"
    columns = {name: f"a.{quote_name(name)}" for name in trial}
    columns |= {"model_a": "a.model", "model_b": "b.model"}
    columns |= {"score_a": "a.score", "score_b": "b.score"}
    columns["credit"] = credit
    columns["margin"] = "a.score - b.score"
    columns["reason"] = f"case when a.score - b.score is null then {reason} end"
    for name in others:
        cell_a = f"a.{quote_name(name)}"
        cell_b = f"b.{quote_name(name)}"
        columns[name] = f"case when {cell_a} = {cell_b} then {cell_a} end"
    if "length" in known:
        columns |= {"length_a": "a.length", "length_b": "b.length"}
    selected = ", ".join(f"{sql} as {quote_name(name)}" for name, sql in columns.items())
    place = f"row_number() over (order by a.trial, a.model, b.model) as {ROW}"
    pairs = "b.place = a.place + 1" if is_chain else "a.model < b.model"
    return (
        f"select {place}, {selected} from {means} a join {means} b on a.trial = b.trial and {pairs}"
    )
