"""Read pointwise scores, one row per item and model, and pair them to battles item by item."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from podium.data.counting.duck import Duck
from podium.data.counting.relations import NO_SCORE, ROW, quote_name, text
from podium.data.formats.records import TEXT, Column, Records, records_of, records_of_view
from podium.data.formats.unequal_trials import join_unequal_trials
from podium.errors import DataError, OtherQuestionError
from podium.notices.notice import Notice
from podium.printable import shorten
from podium.scorers.judge_record import JudgeKind, JudgeRecord
from podium.text import EMPTY

NAMES = {
    "arena_hard_question_id": "item",
    "system": "model",
    "judge_model": "judge",
    "judgment_score": "score",
}
SIDES = ("model", "score", "length")
BATTLE_COLUMNS = (
    "model",
    "score",
    "margin",
    "credit",
    *(f"{name}_{side}" for name in SIDES for side in "ab"),
)
"""Columns of battles that are not taken from the scores."""
SAME_TRIAL = ("item", "judge", "metric", "repeat", "response", "category", "task")
SHARED = ("item", "judge", "metric", "repeat", "response", "category")
"""Columns of a score matrix that are not models."""
ITEM_NAMES = (
    *("item", "item_id", "sample_id", "doc_id", "instance_id", "example_id", "query_id"),
    *("question_id", "task_id"),
)
MODEL_NAMES = ("model", "model_name", "system", "submission", "agent")
"""Columns, in any case, that name the rows of a score matrix; the other columns are the models, or
the items."""
INDEX_NAMES = ("", "Unnamed: 0")
"""Names of the column that pandas writes an index to."""
BINARY, FIRST_ROWS = [*EMPTY, "0", "1", "0.0", "1.0", "false", "true"], 100
INSTRUCTION_NAMES, ANSWER_NAMES = (
    ("instruction", "prompt", "input", "question"),
    ("response", "output"),
)
"""Columns of what a model was asked and what it answered; as in
`podium.responses.response_tables.NAMES`."""
ALL_PAIRS = "list_avg([list_avg([(sign(x - y) + 1) / 2 for y in b.scores]) for x in a.scores])"
"""SQL of the credit of two lists of scores: the mean over all pairs of a score of one and a score
of the other."""
MORE_WINS = "(sign(a.score - b.score) + 1) / 2"
"""SQL of the credit of two scores."""
CHANCE = "(a.score - b.score + 1) / 2"
"""SQL of the credit of two probabilities to pass: P(only a passes) + P(both or none pass) / 2."""
MOST_BATTLES = 2_000_000
"""Battles from which scores, where they alone matter, are paired with those of one other model
instead of all."""


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Rename JuStRank's columns to item, model, score and judge; a judge's name is its model and
    its realization, and `attrs["judges"]` has the record of each."""
    frame = records.rename(columns=NAMES)
    if {"judge", "judge_realization"} <= set(frame):
        model, realization = (frame[name].astype(str) for name in ("judge", "judge_realization"))
        frame["judge"] = model + " " + realization
        asked = pd.DataFrame({"name": frame["judge"], "model": model, "realization": realization})
        frame.attrs["judges"] = _justrank_judges(asked)
    return frame


def _justrank_judges(asked: pd.DataFrame) -> dict[str, JudgeRecord]:
    """Return the judges of rows with name, model and realization, by name."""
    judges = {}
    for name, model, realization in asked.drop_duplicates().itertuples(index=False):
        kind: JudgeKind = "reward" if realization.lower() == "reward" else "model"
        judges[name] = JudgeRecord(name, kind, model, realization=realization)
    return judges


def matrix_scores(records: Records) -> tuple[Records | None, list[Notice]]:
    """Read a score matrix, a row per item and a column per model (others hold text only), or a
    matrix of 0 and 1 with a row per model, with notes; None for any other table. DataError for a
    row that is repeated, and for a score outside [0, 1] where most are 0 or 1."""
    items, models = (_known_columns(records, names) for names in (ITEM_NAMES, MODEL_NAMES))
    if bool(items) == bool(models):
        return None, []
    shape, (rows, *_) = (_scores_by_item, items) if items else (_scores_by_model, models)
    columns = {name: column for name, column in records.columns.items() if name not in INDEX_NAMES}
    numbers = {
        name: column if name == rows else _without_truths(column)
        for name, column in columns.items()
    }
    plain = shape(replace(records, columns=columns), rows)
    matrix = plain or shape(replace(records, columns=numbers), rows)
    if matrix is None:
        return None, []
    item, model = matrix.columns["item"].text, matrix.columns["model"].text
    _reject_repeated_rows(matrix)
    _reject_odd_scores(matrix)
    scored = {name for (name,) in matrix.rows(f"distinct {model if items else item}")}
    rest = {
        name: column for name, column in columns.items() if name not in (rows, *SHARED, *scored)
    }
    return matrix, _note_truths(replace(records, columns=rest)) if plain else []


def _reject_repeated_rows(matrix: Records) -> None:
    """Raise DataError if two rows of a matrix have a score of one model on one item."""
    model, item = matrix.columns["model"].text, matrix.columns["item"].text
    shared = [matrix.columns[name].text for name in SHARED if name in matrix.columns]
    keys = ", ".join([model, *shared])
    what = f"{model}, {item}, min({ROW}), max({ROW})"
    rest = f"group by {keys} having count(*) > 1 order by min({ROW}), {model} limit 1"
    for name, document, first, last in matrix.rows(what, rest):
        problem = f"{name!r} has two scores on {document!r}"
        remedy = "remove the repeated row, or number the repeats in a column repeat"
        place = f"{matrix.name_row(first)} and {matrix.name_row(last)}"
        raise DataError(problem, remedy=remedy, source=matrix.source, row=place)


def _reject_odd_scores(matrix: Records) -> None:
    """Raise DataError for a score outside [0, 1] where most scores are 0 or 1."""
    item, model, score = (matrix.columns[name].text for name in ("item", "model", "score"))
    number = matrix.columns["score"].number
    is_outside = f"{number} not between 0 and 1"
    binary = f"count(*) filter ({number} in (0, 1))"
    ((scores, binary_scores, outside),) = matrix.rows(
        f"count({number}), {binary}, count(*) filter ({is_outside})"
    )
    if not outside or 2 * binary_scores < scores:
        return
    what = f"{ROW}, {model}, {item}, {score}"
    row, name, document, value = matrix.rows(what, f"where {is_outside} order by {ROW} limit 1")[0]
    problem = (
        f"the score {value} of {name!r} on {document!r} is outside [0, 1], and most scores are 0 "
        "or 1"
    )
    remedy = "correct it, empty the cell if it is unknown, or remove a column that holds no scores"
    raise DataError(problem, remedy=remedy, source=matrix.source, row=matrix.name_row(row))


def _note_truths(records: Records) -> list[Notice]:
    """Return a note on the columns of true and false among those that hold no scores; none without
    any."""
    words = {name: column.text for name, column in records.columns.items()}
    truths = [
        name
        for name, own in words.items()
        if records.rows(f"bool_and(lower({own}) in ('true', 'false'))")[0][0]
    ]
    return [Notice("true-and-false", {"columns": truths})] if truths else []


def name_rows_of_matrix(records: Records) -> tuple[Records, list[Notice]]:
    """Name the first column `item` (if there are at least as many rows as other columns) or
    `model`, with a note, if the others hold 0 and 1 alone and none has a known name."""
    first, *others = [name for name in records.columns if name not in SHARED] or [""]
    if len(others) < 2 or _known_columns(records, (*ITEM_NAMES, *MODEL_NAMES)):
        return records, []
    # Most other tables differ in their first rows.
    for scan in (f"(select * from {records.scan} limit {FIRST_ROWS})", records.scan):
        frame = replace(records, scan=scan, places=None).frame().astype(str)
        if not (
            frame[first].is_unique
            and np.isin(np.char.lower(frame[others].to_numpy(dtype=str)), BINARY).all()
        ):
            return records, []
    name, column = ("item", "model") if len(frame) >= len(others) else ("model", "item")
    fields = {"source": records.source, "row": name, "column": column, "name": first}
    code = "matrix-read-as" if first else "matrix-read-without-name"
    columns = {name if each == first else each: own for each, own in records.columns.items()}
    return replace(records, columns=columns), [Notice(code, fields)]


def _known_columns(records: Records, names: Sequence[str]) -> list[str]:
    """Return the columns that have one of the names, in any case, in the order of the names."""
    columns = {column.lower(): column for column in records.columns}
    return [columns[name] for name in names if name in columns]


def _without_truths(column: Column) -> Column:
    """Return a column of text with 1 and 0 in place of true and false."""
    number = (
        f"case lower({column.sql}) when 'true' then '1' when 'false' then '0' else {column.sql} end"
    )
    return Column(number, comma=column.comma) if column.type == TEXT else column


def _scores_by_item(records: Records, own: str) -> Records | None:
    """Read a matrix with a row per item, named in the column `own`, and a column per model; None
    for others."""
    columns = {"item" if name == own else name: column for name, column in records.columns.items()}
    others = {name: column for name, column in columns.items() if name not in SHARED}
    # Whether columns have cells that are no numbers, and whether they have numbers.
    strange = [
        "false" if own.is_number else f"coalesce(bool_or({own.is_strange}), false)"
        for own in others.values()
    ]
    numbers = [f"count({own.number}) > 0" for own in others.values()]
    (facts,) = records.rows(", ".join([*strange, *numbers])) if others else [()]
    kinds = dict(
        zip(others, zip(facts[: len(others)], facts[len(others) :], strict=True), strict=True)
    )
    models = {name: column for name, column in others.items() if kinds[name] != (True, False)}
    if len(models) < 2 or any(kinds[name][0] for name in models):
        return None
    cells = ", ".join(
        f"{{'model': {text(name)}, 'score': {column.number}}}" for name, column in models.items()
    )
    scan = f"(select *, unnest([{cells}]) as scored from {records.scan})"
    shared = {name: column for name, column in columns.items() if name not in models}
    scored = {"model": Column("scored.model"), "score": Column("scored.score", "DOUBLE")}
    return replace(records, scan=scan, columns=shared | scored)


def _scores_by_model(records: Records, own: str) -> Records | None:
    """Read a matrix with a row per model, named in the column `own`, and a column per item, most of
    whose cells are 0 or 1; None for others."""
    frame = records.frame().rename(columns={own: "model"})
    numbers = {
        name: pd.to_numeric(frame[name], errors="coerce")
        for name in frame
        if name not in ("model", *SHARED)
    }
    items = [name for name, cells in numbers.items() if cells.notna().any()]
    binary = sum(int(numbers[name].isin((0, 1)).sum()) for name in items)
    if len(items) < 2 or 2 * binary < sum(int(numbers[name].count()) for name in items):
        return None
    kept = [name for name in ("model", *SHARED) if name in frame]
    cells = frame.melt(kept, items, "item", "score", ignore_index=False)
    return records_of(records.engine, cells, records.source)


def pair_up(
    scores: Records, *, scores_only: bool = False, chances: Collection[str] = ()
) -> tuple[Records, int, list[Notice]]:
    """Build a battle for every two models scored in one trial; return them, the number of missing
    ones, and notes. With `scores_only`, more than `MOST_BATTLES` become a chain, in which every
    score stands. Scores of the metrics `chances` are probabilities, and the credit is the chance to
    win, ties counted as half."""
    engine = scores.engine
    trial = _trial_columns(scores)
    _reject_other_questions(scores)
    _reject_uneven_weights(scores, trial)
    single, kept, others = _store_trial_means(scores, trial)
    means, unequal = join_unequal_trials(engine, single, trial, [*kept, *others])
    counts = "count(distinct model), count(distinct trial), sum(averaged)"
    models, trials_met, averaged = engine.rows(f"select {counts} from {means}")[0]
    if models < 2:
        raise _single_model_error(engine, means, scores.source)
    battles = engine.fresh("battles")
    most = trials_met * models * (models - 1) // 2
    is_chain = scores_only and most > MOST_BATTLES
    credit = ALL_PAIRS if means != single else MORE_WINS
    if chances:
        credit = (
            f"case when a.metric in ({', '.join(map(text, sorted(chances)))}) then {CHANCE} else "
            f"{credit} end"
        )
    engine.store(
        battles, _trial_battles_query(means, trial, others, {*trial, *kept}, is_chain, credit)
    )
    (made,) = engine.rows(f"select count(*) from {battles}")[0]
    (alone,) = engine.rows(
        f"select count(*) from (select trial from {means} group by trial having count(*) = 1)"
    )[0]
    records = records_of_view(engine, battles, scores.source)
    remarks = {"scores-averaged": int(averaged), "scores-alone": int(alone)}
    missing = (trials_met * (models - 1) if is_chain else most) - made
    empty = "score is null" + (" and reason is null" if "reason" in kept else "")
    notes = [Notice(code, {"scores": number}) for code, number in remarks.items() if number]
    return records, missing, [*_note_missing_scores(engine, single, empty), *unequal, *notes]


def _trial_columns(scores: Records) -> list[str]:
    """Return the columns in which scores of one trial agree."""
    trial = [name for name in SAME_TRIAL if name in scores.columns]
    # A column of the responses' texts has the same name as the number of the response.
    if "response" in trial and not scores.columns["response"].is_number:
        trial.remove("response")
    return trial


def _store_trial_means(scores: Records, trial: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """Store each model's mean score in each trial; return the table, and the columns that it keeps
    beside the trial's: those of battles, and others."""
    engine, columns = scores.engine, scores.columns
    trials = ", ".join(columns[name].sql for name in trial)
    of_battles = [name for name in ("reason", "length") if name in columns]
    others = [name for name in columns if name not in {*trial, *of_battles, *BATTLE_COLUMNS}]
    kept = {name: columns[name] for name in (*trial, *of_battles)}
    kept |= {name: Column(columns[name].text) for name in others}
    first = ", ".join(
        f"first({column.sql} order by {ROW}) as {quote_name(name)}" for name, column in kept.items()
    )
    model, score = columns["model"].sql, columns["score"].sql
    means = engine.fresh("scores")
    engine.store(
        means,
        f"select min(min({ROW})) over (partition by {trials}) as trial, {model} as model, "
        f"avg({score}) as score, row_number() over (partition by {trials} order by {model}) as "
        f"place, count(*) - 1 as averaged, {first} from {scores.scan} group by {trials}, {model}",
    )
    return means, of_battles, others


def _single_model_error(engine: Duck, means: str, source: str) -> DataError:
    """Return the error for scores of a single model."""
    name = engine.rows(f"select model from {means} limit 1")[0][0]
    more = (
        "a folder that holds them (`podium rank logs/`), or the files of others (reference logs) "
        "beside this one"
    )
    remedy = f"give the scores of two models or more: {more}"
    return DataError(f"scores of one model only ({name!r})", source=source, remedy=remedy)


def _reject_uneven_weights(scores: Records, trial: list[str]) -> None:
    """Raise DataError if the scores of one trial have different weights: a battle has one
    weight."""
    columns = scores.columns
    if "weight" not in columns:
        return
    weight, item = f"coalesce({columns['weight'].number}, 1.0)", columns["item"].text
    trials = ", ".join(columns[name].sql for name in trial)
    rest = f"group by {trials} having min({weight}) < max({weight}) order by min({ROW}) limit 1"
    uneven = scores.rows(f"min({item}), min({weight}), max({weight}), max({ROW})", rest)
    for name, low, high, row in uneven:
        problem = f"item {name!r} has the weights {low:g} and {high:g}"
        remedy = "give all scores of an item one weight"
        raise DataError(problem, remedy=remedy, source=scores.source, row=scores.name_row(row))


def _reject_other_questions(scores: Records) -> None:
    """Raise OtherQuestionError if rows of one item, in a table with models' answers, hold different
    questions.

    Without answers, the column of a prompt may be what a judge was asked: other words for every
    answer.
    """
    columns = scores.columns
    if not any(name in columns and not columns[name].is_number for name in ANSWER_NAMES):
        return
    asked = [name for name in INSTRUCTION_NAMES if name in columns]
    compared = {"instruction": asked[0]} if len(asked) == 1 else {}
    if "reference" in columns:
        compared["reference"] = "reference"
    groups = [columns[name].text for name in ("item", "task") if name in columns]
    model = columns["model"].text
    for what, name in compared.items():
        said = (
            f"trim(replace({columns[name].text}, chr(13) || chr(10), chr(10)), ' ' || chr(9) || "
            "chr(10) || chr(13))"
        )
        first, last = f"min({said})", f"max({said})"
        shown = f"{groups[0]}, {first}, {last}, arg_min({model}, {said}), arg_max({model}, {said})"
        place = f"arg_max({ROW}, {said})"
        rest = f"group by {', '.join(groups)} having {first} <> {last} order by min({ROW}) limit 1"
        for item, *texts, other, own, row in scores.rows(f"{shown}, {place}", rest):
            there, here = (repr(shorten(text, 60)) for text in texts)
            problem = (
                f"item {item!r} has another {what} for {own} here ({here}) than for {other} "
                f"({there})"
            )
            remedy = (
                "responses can be compared only where models were asked the same: rename the "
                "ids, or correct the rows"
            )
            raise OtherQuestionError(
                problem, remedy=remedy, source=scores.source, row=scores.name_row(row)
            )


def _note_missing_scores(engine: Duck, means: str, empty: str) -> list[Notice]:
    """Return a note on the scores that meet the condition `empty`, by model and item, most first;
    none without any."""
    by_model = (
        f"select model, list(item order by trial), count(*) as number from {means} where {empty} "
        "group by model"
    )
    lacking = engine.rows(f"{by_model} order by number desc, model")
    if not lacking:
        return []
    missing = sum(number for *_, number in lacking)
    ((scores,),) = engine.rows(f"select count(*) from {means}")
    items = {str(model): list(map(str, items)) for model, items, _ in lacking}
    return [Notice("scores-missing", {"missing": missing, "scores": scores, "items": items})]


def _trial_battles_query(
    means: str, trial: list[str], others: list[str], known: set[str], is_chain: bool, credit: str
) -> str:
    """Return the query of the battles of each trial; `others` are columns kept where the rows of
    both models agree."""
    reason = (
        f"coalesce(case when a.score is null then a.reason else b.reason end, {text(NO_SCORE)})"
    )
    explained = (
        "case when a.score - b.score is null then "
        f"{reason if 'reason' in known else text(NO_SCORE)} end"
    )
    columns = {name: f"a.{quote_name(name)}" for name in trial}
    columns |= {f"{name}_{side}": f"{side}.{name}" for name in ("model", "score") for side in "ab"}
    columns |= {"credit": credit, "margin": "a.score - b.score", "reason": explained}
    sides = {name: (f"a.{quote_name(name)}", f"b.{quote_name(name)}") for name in others}
    columns |= {name: f"case when {a} = {b} then {a} end" for name, (a, b) in sides.items()}
    columns |= {"length_a": "a.length", "length_b": "b.length"} if "length" in known else {}
    selected = ", ".join(f"{sql} as {quote_name(name)}" for name, sql in columns.items())
    place = f"row_number() over (order by a.trial, a.model, b.model) as {ROW}"
    pairs = "b.place = a.place + 1" if is_chain else "a.model < b.model"
    return (
        f"select {place}, {selected} from {means} a join {means} b on a.trial = b.trial and {pairs}"
    )
