"""Pair the scores of models on the same item to battles.

A trial is what two scores must share to be paired: item, judge, metric, repeat and response; also
the voter, if voters scored several models on an item.
"""

from collections.abc import Collection, Sequence

from podium.data.counting.duck import Duck
from podium.data.counting.relations import NO_SCORE, ROW, quote_name, sql_literal
from podium.data.formats.records import Records, records_of_view
from podium.data.formats.unequal_trials import average_unequal_trials
from podium.errors import DataError, OneModelError
from podium.notices.notice import Notice

COLUMNS_PER_MODEL = ("model", "score", "length")
"""Columns of scores that become two columns of battles, such as `score_a` and `score_b`."""
BATTLE_COLUMNS = (
    "model",
    "score",
    "margin",
    "credit",
    *(f"{name}_{side}" for name in COLUMNS_PER_MODEL for side in "ab"),
)
"""Columns of battles that are computed, and not copied from the scores."""
SAME_TRIAL = ("item", "judge", "voter", "metric", "repeat", "response", "category", "task")
"""Columns in which the scores of one trial agree."""
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


def pair_up(
    scores: Records, *, scores_only: bool = False, probability_metrics: Collection[str] = ()
) -> tuple[Records, int, list[Notice]]:
    """Build a battle for every two models that were scored in one trial.

    Several scores of a model in one trial are averaged, with a note. Model a is the one whose name
    sorts first. The credit of a model is 1 if its score is larger, and 0.5 if both are equal. There
    are two exceptions: scores that are probabilities (`probability_metrics`), and trials that are
    averaged because models have different numbers of them. A battle with an empty score has no
    credit, and a `reason`.

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
    trial_means, kept_columns, others = _store_trial_means(scores, trial)
    trial_means = _number_trials_in_order(scores, trial, trial_means)
    means, unequal = average_unequal_trials(engine, trial_means, trial, [*kept_columns, *others])
    ((models, averaged),) = engine.rows(f"select count(distinct model), sum(averaged) from {means}")
    if models < 2:
        raise _single_model_error(engine, means, scores.source)
    battles = engine.fresh("battles")
    task = "task" if "task" in trial else None
    pairs, neighbours = _count_pairs(engine, means, task)
    is_chain = scores_only and pairs > MOST_BATTLES
    credit = CREDIT_OF_SCORE_LISTS if means != trial_means else CREDIT_OF_SCORES
    if probability_metrics:
        metrics = ", ".join(map(sql_literal, sorted(probability_metrics)))
        credit = (
            f"case when a.metric in ({metrics}) then {CREDIT_OF_PROBABILITIES} else {credit} end"
        )
    query = _trial_battles_query(means, trial, others, {*trial, *kept_columns}, is_chain, credit)
    engine.store(battles, query)
    ((battle_count,),) = engine.rows(f"select count(*) from {battles}")
    expected = neighbours if is_chain else pairs
    is_empty = "score is null and reason is null" if "reason" in kept_columns else "score is null"
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
    by_task_query = f"select {counts} from {means}"
    if task is not None:
        by_task_query += f" group by {task}"
    pairs = "trials * models * (models - 1) // 2"
    in_chain = "trials * (models - 1)"
    ((all_pairs, chained_pairs),) = engine.rows(
        f"select sum({pairs}) as pairs, sum({in_chain}) as in_chain from ({by_task_query})"
    )
    return int(all_pairs), int(chained_pairs)


def _trial_columns(scores: Records) -> list[str]:
    """Return the columns of the table in which the scores of one trial agree (`SAME_TRIAL`).

    The voter is left out if most scores are by voters who scored one model only on the item: scores
    of several voters are then averaged before they are paired. A column `response` is left out if
    it does not hold numbers: it then has the texts of responses.
    """
    trial = [name for name in SAME_TRIAL if name in scores.columns]
    if "voter" in trial and not _have_voters_several_models(scores, trial):
        trial.remove("voter")
    # A column `response` that does not hold numbers has the texts of the responses.
    if "response" in trial and not scores.columns["response"].is_number:
        trial.remove("response")
    return trial


def _have_voters_several_models(scores: Records, trial: Sequence[str]) -> bool:
    """Return whether at least half of the scores are by voters of several models in a trial.

    Scores without a voter are not counted. The result is False if no score has a voter.

    Args:
        scores: a row per score.
        trial: columns in which the scores of one trial agree, with `voter`.
    """
    columns = scores.columns
    keys = ", ".join(columns[name].sql for name in trial)
    by_trial_query = (
        f"select count(*) as scores, count(distinct {columns['model'].sql}) as models "
        f"from {scores.scan} where {columns['voter'].sql} is not null group by {keys}"
    )
    sums = (
        "coalesce(sum(scores) filter (models > 1), 0) as paired, coalesce(sum(scores), 0) as number"
    )
    ((paired, number),) = scores.engine.rows(f"select {sums} from ({by_trial_query})")
    return bool(number) and 2 * paired >= number


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
    left_out = {*trial, *optional_columns, *BATTLE_COLUMNS}
    # A mean over voters has no voter.
    left_out |= {"voter"} - {*trial}
    others = [name for name in columns if name not in left_out]
    kept_columns = {name: columns[name].sql for name in (*trial, *optional_columns)}
    kept_columns |= {name: columns[name].text for name in others}
    further_cells = []
    for name, sql in kept_columns.items():
        cell = f"arg_min_null({sql}, {ROW})"
        if name in trial:
            # A column that does not vary has one value, and is not grouped by.
            cell = sql if name in varying else f"any_value({sql})"
        further_cells.append(f"{cell} as {quote_name(name)}")
    model = columns["model"].sql
    score = columns["score"].sql
    means = engine.fresh("scores")
    engine.store(
        means,
        f"select min(min({ROW})) over (partition by {trials}) as trial, "
        f"{model} as model, avg({score}) as score, "
        f"row_number() over (partition by {trials} order by {model}) as place, "
        f"count(*) - 1 as averaged, {', '.join(further_cells)} "
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
    ((cells, models, trials),) = engine.rows(
        f"select count(*), count(distinct model), count(distinct trial) from {means}"
    )
    if cells == models * trials:
        return means
    model = scores.columns["model"].sql
    keys = ", ".join(scores.columns[name].sql for name in _varying_columns(scores, trial))
    first_rows_query = (
        f"select min(min({ROW})) over (partition by {keys}) as trial, {model} as model, "
        f"min({ROW}) as own from {scores.scan} group by {keys}, {model}"
    )
    own_places_query = (
        f"select trial, row_number() over (partition by model order by own) as own_place "
        f"from ({first_rows_query})"
    )
    places_query = (
        "select trial, row_number() over (order by max(own_place), trial) as number "
        f"from ({own_places_query}) group by trial"
    )
    ordered = engine.fresh("scores")
    engine.store(
        ordered,
        f"select m.* replace (p.number as trial) from {means} m "
        f"join ({places_query}) p using (trial)",
    )
    return ordered


def _varying_columns(scores: Records, trial: Sequence[str]) -> list[str]:
    """Return the columns of the trial whose values differ between rows.

    They suffice to group rows by trial. If there is none, the first column is returned, so that
    there is a column to group by.
    """
    constant_conditions = []
    for name in trial:
        cell = scores.columns[name].sql
        is_filled = f"count({cell}) in (0, count(*))"
        has_one_value = f"min({cell}) is not distinct from max({cell})"
        constant_conditions.append(f"{is_filled} and {has_one_value}")
    [are_constant] = scores.rows(", ".join(constant_conditions))
    varying = [
        name for name, is_constant in zip(trial, are_constant, strict=True) if not is_constant
    ]
    return varying or [*trial[:1]]


def _single_model_error(engine: Duck, means: str, source: str) -> OneModelError:
    """Return the error for scores of a single model."""
    ((name,),) = engine.rows(f"select model from {means} limit 1")
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


def _note_missing_scores(engine: Duck, means: str, is_missing: str) -> list[Notice]:
    """Return a note on the missing scores by model and item, if any are missing.

    Args:
        engine: the database.
        means: the table of mean scores.
        is_missing: SQL condition that a score is missing.
    """
    missing_items = "model, list(item order by trial), count(*) as number"
    by_model_query = f"select {missing_items} from {means} where {is_missing} group by model"
    missing_by_model = engine.rows(f"{by_model_query} order by number desc, model")
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
    alone_query = (
        f"select trial, min(model) as model from {means} group by trial having count(*) = 1"
    )
    by_model = engine.rows(
        "select model, count(*) as number, min(trial) as first, max(trial) as last "
        f"from ({alone_query}) group by model order by model"
    )
    if not by_model:
        return []
    first = min(start for _, _, start, _ in by_model)
    last = max(end for _, _, _, end in by_model)
    ((until_last, from_first),) = engine.rows(
        f"select count(distinct trial) filter (trial <= {last}) as until_last, "
        f"count(distinct trial) filter (trial >= {first}) as from_first from {means}"
    )
    scores = sum(number for _, number, _, _ in by_model)
    models = {str(model): int(number) for model, number, _, _ in by_model}
    # No other trial is before the last of these trials, or after the first of them.
    is_cut = scores in (until_last, from_first)
    return [Notice("scores-alone", {"scores": scores, "models": models, "is_cut": is_cut})]


def _trial_battles_query(
    means: str,
    trial: list[str],
    others: list[str],
    trial_columns: set[str],
    is_chain: bool,
    credit: str,
) -> str:
    """Return the query of the battles of each trial.

    Args:
        means: the table of mean scores.
        trial: columns of the trial.
        others: further columns; a cell is kept if it is the same for both models.
        trial_columns: all columns of the table; `reason` and `length` are used if present.
        is_chain: whether each model is paired only with the next one.
        credit: SQL of the credit of model a.
    """
    reason = sql_literal(NO_SCORE)
    if "reason" in trial_columns:
        reason = f"coalesce(case when a.score is null then a.reason else b.reason end, {reason})"
    columns = {name: f"a.{quote_name(name)}" for name in trial}
    columns["model_a"] = "a.model"
    columns["model_b"] = "b.model"
    columns["score_a"] = "a.score"
    columns["score_b"] = "b.score"
    columns["credit"] = credit
    columns["margin"] = "a.score - b.score"
    columns["reason"] = f"case when a.score - b.score is null then {reason} end"
    for name in others:
        cell_a = f"a.{quote_name(name)}"
        cell_b = f"b.{quote_name(name)}"
        columns[name] = f"case when {cell_a} = {cell_b} then {cell_a} end"
    if "length" in trial_columns:
        columns |= {"length_a": "a.length", "length_b": "b.length"}
    selected = ", ".join(f"{sql} as {quote_name(name)}" for name, sql in columns.items())
    place = f"row_number() over (order by a.trial, a.model, b.model) as {ROW}"
    pairs = "b.place = a.place + 1" if is_chain else "a.model < b.model"
    return (
        f"select {place}, {selected} from {means} a join {means} b on a.trial = b.trial and {pairs}"
    )
