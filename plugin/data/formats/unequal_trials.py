"""Average the trials of an item if models have different numbers of scores on it.

A trial is one epoch or repeat of an item. A question is a task with a metric and a judge. Its
trials are averaged for all items or for none, so that all of its items have equal weights.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from podium.data.counting.duck import Duck
from podium.data.counting.relations import quote_name
from podium.notices.notice import Notice

NUMBERING_COLUMNS = ("repeat", "response")
"""Columns that number a model's scores on an item."""
QUESTION_COLUMNS = ("judge", "metric", "task")
"""Columns whose combinations are the questions."""
Condition = str
"""An SQL condition."""


def average_unequal_trials(
    engine: Duck, means: str, trial: Sequence[str], others: Sequence[str]
) -> tuple[str, list[Notice]]:
    """Average the trials of items in each question in which models have different trials.

    Args:
        engine: the database.
        means: name of a table with a row per trial and model. Its columns are `trial`, `model`,
            `score`, `place`, `averaged`, and those of `trial` and `others`.
        trial: columns that identify a trial.
        others: further columns.

    Returns:
        The name of a table, and notes. For questions with different trials, the table has a row per
        item and model; for other questions, it has the rows of `means`. Its further column `scores`
        has the list of scores from which each mean is computed. If no question has different
        trials, the table is `means`, without this column.
    """
    numbered = [quote_name(name) for name in NUMBERING_COLUMNS if name in trial]
    shared_columns = [quote_name(name) for name in trial if name not in NUMBERING_COLUMNS]
    if not numbered or not shared_columns:
        return means, []
    if len(engine.rows(f"select distinct {', '.join(numbered)} from {means} limit 2")) < 2:
        return means, []
    question = [quote_name(name) for name in QUESTION_COLUMNS if name in trial]
    unequal = _store_unequal_questions(engine, means, shared_columns, question)
    if not engine.rows(f"select 1 from {unequal} limit 1"):
        return means, []
    is_same_question = _same_question(question, "means")
    is_unequal = f"exists (select 1 from {unequal} as unequal where {is_same_question})"
    averaged_table = engine.fresh("joined")
    further_columns = [quote_name(name) for name in others if name not in trial]
    averaged_rows = _averaged_rows_query(
        means, shared_columns, numbered, further_columns, is_unequal
    )
    other_rows = f"select *, [score] as scores from {means} as means where not {is_unequal}"
    engine.store(averaged_table, f"{averaged_rows} union all by name {other_rows}")
    return averaged_table, _note_unequal(engine, means, unequal, shared_columns, question)


def _store_unequal_questions(
    engine: Duck, means: str, shared_columns: Sequence[str], question: Sequence[str]
) -> str:
    """Store the questions in which models were scored in different trials of an item.

    A model without a score on an item does not count for this item.

    Args:
        engine: the database.
        means: the table of `average_unequal_trials`.
        shared_columns: columns that identify an item.
        question: columns that identify a question; empty if all items are of one.

    Returns:
        The name of the table. Its columns are the columns of `question`, `items` (number of items)
        and `unequal` (number of items on which the trials differ).
    """
    questions = engine.fresh("unequal")
    keys = ", ".join(shared_columns)
    met = "list(trial order by trial) filter (score is not null)"
    by_model_query = f"select {keys}, {met} as met from {means} group by {keys}, model"
    lists = "count(distinct met) as different_lists"
    by_item_query = (
        f"select {keys}, {lists} from ({by_model_query}) where len(met) > 0 group by {keys}"
    )
    # Without columns, all items are of one question, and SQL needs a column for it.
    question_columns = ", ".join(question) or "true as only"
    grouped = f" group by {', '.join(question)}" if question else ""
    unequal = "count(*) filter (different_lists > 1)"
    counts = f"count(*) as items, {unequal} as unequal"
    query = (
        f"select {question_columns}, {counts} from ({by_item_query}){grouped} having {unequal} > 0"
    )
    engine.store(questions, query)
    return questions


def _averaged_rows_query(
    means: str,
    shared_columns: Sequence[str],
    numbered: Sequence[str],
    further_columns: Sequence[str],
    is_unequal: Condition,
) -> str:
    """Return the query of a row per item and model, for the questions whose trials are averaged.

    Args:
        means: the table of `average_unequal_trials`.
        shared_columns: columns that identify an item.
        numbered: columns that number the trials of an item.
        further_columns: further columns; a cell is empty if it differs between the trials.
        is_unequal: SQL condition that the trials of a row's question are averaged.
    """
    keys = ", ".join(shared_columns)
    first = [f"first({name} order by trial) as {name}" for name in numbered]
    agreed = [
        f"case when count(distinct {name}) = 1 then min({name}) end as {name}"
        for name in further_columns
    ]
    columns = ", ".join([*shared_columns, *first, *agreed])
    return (
        f"select min(min(trial)) over (partition by {keys}) as trial, model, "
        "avg(score) as score, "
        f"row_number() over (partition by {keys} order by model) as place, "
        f"sum(averaged) as averaged, {columns}, "
        "list(score) filter (score is not null) as scores "
        f"from {means} as means where {is_unequal} group by {keys}, model"
    )


def _note_unequal(
    engine: Duck, means: str, unequal: str, shared_columns: Sequence[str], question: Sequence[str]
) -> list[Notice]:
    """Return a note per question with different trials.

    The note names the task, and says on how many items the trials differ, and how many scores each
    model has on an item. It has another code if all models have equally many scores, but of
    different trials.

    Args:
        engine: the database.
        means: the table of `average_unequal_trials`.
        unequal: the table of `_store_unequal_questions`.
        shared_columns: columns that identify an item.
        question: columns that identify a question.
    """
    keys = ", ".join(shared_columns)
    numbers_query = (
        f"select {keys}, model, count(score) as number from {means} group by {keys}, model"
    )
    question_columns = [f"unequal.{name}" for name in question]
    figures = [
        "unequal.items",
        "unequal.unequal",
        "own.model",
        "min(own.number)",
        "max(own.number)",
    ]
    query = (
        f"select {', '.join([*question_columns, *figures])} from ({numbers_query}) as own "
        f"join {unequal} as unequal on {_same_question(question, 'own')} group by all order by all"
    )
    by_question: dict[tuple[Any, ...], dict[str, str]] = defaultdict(dict)
    for *question_values, model, least, most in engine.rows(query):
        number = f"{least} to {most}" if most > least else f"{least}"
        by_question[tuple(question_values)][model] = number
    notes = []
    for (*values, items, differing), models in by_question.items():
        name = _name_of_question(dict(zip(question, values, strict=True)))
        fields = {"items": items, "unequal": differing, "task": name, "numbers": models}
        # Models may have equally many scores and have been scored in different epochs.
        is_unequal = len(set(models.values())) > 1
        code = "unequal-scores" if is_unequal else "other-trials-scored"
        notes.append(Notice(code, fields))
    return notes


def _name_of_question(values: Mapping[str, Any]) -> str:
    """Return the task of a question; its judge or metric if it has no task, and else an empty text.

    Args:
        values: the question's value of each of `QUESTION_COLUMNS` that the table has, by the quoted
            name of the column; None if it has none.
    """
    names = [values.get(quote_name(column)) for column in ("task", "judge", "metric")]
    return next((str(name) for name in names if name is not None), "")


def _same_question(question: Sequence[str], table: str) -> Condition:
    """Return the SQL condition that a row of a table and a row of `unequal` have one question."""
    same = [f"unequal.{name} is not distinct from {table}.{name}" for name in question]
    return " and ".join(same) or "true"
