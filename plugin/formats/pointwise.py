"""Read pointwise scores, one row per item and model, and pair them to battles item by item."""

from dataclasses import replace

import pandas as pd

from podium.counting.relations import ROW, quote_name, text
from podium.errors import DataError
from podium.formats.records import Column, Records, records_of_view

NAMES = {"arena_hard_question_id": "item", "system": "model", "judge_model": "judge", "judgment_score": "score"}
SIDES = ("model", "score", "length")
BATTLE_COLUMNS = ("model", "score", "margin", "credit", *(f"{name}_{side}" for name in SIDES for side in "ab"))
"""Columns of battles that are not taken from the scores."""
SAME_TRIAL = ("item", "judge", "repeat", "response", "category", "task")
SHARED = frozenset({"item", "judge", "repeat", "response", "category"})
"""Columns of a score matrix that are not models."""


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Rename JuStRank's columns to item, model, score and judge; its realization becomes part of the judge."""
    frame = records.rename(columns=NAMES)
    if {"judge", "judge_realization"} <= set(frame):
        frame["judge"] = frame["judge"].astype(str) + " " + frame["judge_realization"].astype(str)
    return frame


def matrix_scores(records: Records) -> Records | None:
    """Read a score matrix, a row per item and a column per model (others hold text only); None for any other table."""
    if "item" not in records.columns:
        return None
    others = {name: column for name, column in records.columns.items() if name not in SHARED}
    # Whether columns have cells that are no numbers, and whether they have numbers.
    strange = ["false" if own.is_number else f"coalesce(bool_or({own.is_strange}), false)" for own in others.values()]
    numbers = [f"count({own.number}) > 0" for own in others.values()]
    (facts,) = records.rows(", ".join([*strange, *numbers])) if others else [()]
    kinds = dict(zip(others, zip(facts[: len(others)], facts[len(others) :], strict=True), strict=True))
    models = {name: column for name, column in others.items() if kinds[name] != (True, False)}
    if len(models) < 2 or any(kinds[name][0] for name in models):
        return None
    cells = ", ".join(f"{{'model': {text(name)}, 'score': {column.number}}}" for name, column in models.items())
    scan = f"(select *, unnest([{cells}]) as scored from {records.scan})"
    shared = {name: column for name, column in records.columns.items() if name not in models}
    scored = {"model": Column("scored.model"), "score": Column("scored.score", "DOUBLE")}
    return replace(records, scan=scan, columns=shared | scored)


def pair_up(scores: Records) -> tuple[Records, int, list[str]]:
    """Build a battle for every two models scored in one trial; return them, the number of missing ones, and notes."""
    engine, columns = scores.engine, scores.columns
    trial = [name for name in SAME_TRIAL if name in columns]
    trials = ", ".join(columns[name].sql for name in trial)
    kept = {name: columns[name] for name in (*trial, "reason", "length") if name in columns}
    others = [name for name in columns if name not in {*kept, *BATTLE_COLUMNS}]
    kept |= {name: Column(columns[name].text) for name in others}
    first = ", ".join(f"first({column.sql} order by {ROW}) as {quote_name(name)}" for name, column in kept.items())
    model, score = columns["model"].sql, columns["score"].sql
    means = engine.fresh("scores")
    engine.store(
        means,
        f"select min(min({ROW})) over (partition by {trials}) as trial, {model} as model, avg({score}) as score, "
        f"count(*) as rows, {first} from {scores.scan} group by {trials}, {model}",
    )
    counts = "count(distinct model), count(distinct trial), sum(rows) - count(*)"
    models, trials_met, averaged = engine.rows(f"select {counts} from {means}")[0]
    if models < 2:
        name = engine.rows(f"select model from {means} limit 1")[0][0]
        remedy = (
            "a folder that holds them (`podium rank logs/`), or the files of others (reference logs) beside this one"
        )
        remedy = f"give the scores of two models or more: {remedy}"
        raise DataError(f"scores of one model only ({name!r})", source=scores.source, remedy=remedy)
    battles = engine.fresh("battles")
    engine.store(battles, _trial_battles_query(means, trial, others, set(kept)))
    (made,) = engine.rows(f"select count(*) from {battles}")[0]
    (alone,) = engine.rows(f"select count(*) from (select trial from {means} group by trial having count(*) = 1)")[0]
    records = records_of_view(engine, battles, scores.source)
    remarks = (
        (int(averaged), "scores of a model already scored on the same item were averaged with it"),
        (alone, "scores stand on items where no other model was scored: they enter no battle and no mean"),
    )
    missing = trials_met * models * (models - 1) // 2 - made
    return records, missing, [f"{number} {words}" for number, words in remarks if number]


def _trial_battles_query(means: str, trial: list[str], others: list[str], known: set[str]) -> str:
    """Return the query of the battles of each trial; `others` are columns kept where the rows of both models agree."""
    reason = "coalesce(case when a.score is null then a.reason else b.reason end, 'no score')"
    explained = f"case when a.score - b.score is null then {reason if 'reason' in known else text('no score')} end"
    columns = {name: f"a.{quote_name(name)}" for name in trial}
    columns |= {f"{name}_{side}": f"{side}.{name}" for name in ("model", "score") for side in "ab"}
    columns |= {"credit": "(sign(a.score - b.score) + 1) / 2", "margin": "a.score - b.score", "reason": explained}
    sides = {name: (f"a.{quote_name(name)}", f"b.{quote_name(name)}") for name in others}
    columns |= {name: f"case when {a} = {b} then {a} end" for name, (a, b) in sides.items()}
    columns |= {"length_a": "a.length", "length_b": "b.length"} if "length" in known else {}
    selected = ", ".join(f"{sql} as {quote_name(name)}" for name, sql in columns.items())
    place = f"row_number() over (order by a.trial, a.model, b.model) as {ROW}"
    return f"select {place}, {selected} from {means} a join {means} b on a.trial = b.trial and a.model < b.model"
