"""Read results of promptfoo: a row per test, prompt and provider, with a score."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from podium.data.counting.relations import NO_VALUE, sql_literal
from podium.data.formats.compared_answers import ANSWER_DIGEST, are_answers_compared
from podium.data.formats.records import Column, Records, column_called, row_name
from podium.data.formats.verdict_cells import parse_numbers, reasons_where, reject_non_objects
from podium.errors import DataError
from podium.printable import shorten
from podium.text import as_text, map_distinct, text_of

FAILED_CALL = 2
"""Value of `failureReason` of a test whose provider failed, so that nothing was graded."""
WHOLE_SCORE = "score"
"""Name of the metric with the whole score of a test; named scores have metrics of their own."""
OWN_VARIABLES = ("_", "sessionId")
"""Beginnings of the names of variables that promptfoo adds."""
READ_COLUMNS = frozenset(
    {"promptIdx", "testIdx", "provider", "score", "failureReason", "error", "namedScores"}
    | {"latencyMs", "cost"}
)
"""Columns of a file that are read as they are."""
KEPT_COLUMNS = (
    "model",
    "item",
    "input",
    "score",
    "metric",
    "reason",
    "latencyMs",
    "cost",
    ANSWER_DIGEST,
)
"""Columns of the result. Others, such as the response, are left out because of their size."""


def frame_of_results(records: Records) -> pd.DataFrame:
    """Return the results as a data frame with what `read_promptfoo` needs of them.

    Responses, prompts and the details of gradings, which are most of a file, are not read. The
    columns are those of `READ_COLUMNS` that the file has, and `prompt.label`, `is_graded` (whether
    the result has a grading) and `input` (the variables as text). `prompt.label` and `input` are
    absent if the file has none. If answers are compared (`are_answers_compared`) and the file has
    responses, `ANSWER_DIGEST` has the MD5 digest of each output.
    """
    columns = {name: cells for name, cells in records.columns.items() if name in READ_COLUMNS}
    label = column_called(records, "prompt.label")
    if label is not None:
        columns["prompt.label"] = label
    grading = records.columns.get("gradingResult")
    is_graded = "false"
    if grading is not None and grading.json is not None:
        is_graded = f"json_type({grading.json}) = 'OBJECT'"
    columns["is_graded"] = Column(f"coalesce({is_graded}, false)", "BOOLEAN")
    variables = records.columns.get("vars")
    if variables is not None:
        columns["input"] = Column(_text_of_variables(variables))
    answer = column_called(records, "response.output") if are_answers_compared() else None
    if answer is not None:
        # The text "1" and the number 1 are different answers, as they are in JSON.
        columns[ANSWER_DIGEST] = Column(f"md5(cast({answer.json or answer.text} as varchar))")
    return replace(records, columns=columns).frame()


def _text_of_variables(variables: Column) -> str:
    """Return SQL of the variables as text, without those that promptfoo adds at each run.

    Objects are written as JSON with sorted keys. Other cells are written as text.
    """
    if variables.json is None:
        return variables.text
    objects = variables.json
    is_own = " or ".join(f"starts_with(name, {sql_literal(start)})" for start in OWN_VARIABLES)
    names = f"list_sort(list_filter(json_keys({objects}), lambda name: not ({is_own})))"
    pointer = "'/' || replace(replace(name, '~', '~0'), '/', '~1')"
    member = f"to_json(name) || ':' || json_extract({objects}, {pointer})"
    members = f"list_transform({names}, lambda name: {member})"
    written = f"'{{' || array_to_string({members}, ',') || '}}'"
    # Most objects are written so already, and to write them again takes three times as long.
    is_same = f"json_keys({objects}) = {names}"
    as_it_is = f"cast({objects} as varchar)"
    return f"coalesce(case when {is_same} then {as_it_is} else {written} end, {variables.text})"


def read_promptfoo(records: pd.DataFrame) -> pd.DataFrame:
    """Read the results of an evaluation of promptfoo, as `frame_of_results` selects them.

    The item is the number of the test, and its input the variables. The model is the label of the
    provider, or its id if it has no label. A provider with several prompts becomes a model per
    prompt. If tests have named scores, each name is a metric, and the whole score is the metric
    `score`. A test whose call failed has no score, and no answer that is compared with others.

    Raises:
        DataError: a provider has no name, a score is not a number, or the named scores of a test
            are not an object.
    """
    frame = pd.DataFrame(index=records.index)
    frame["model"] = _names_of_models(records)
    frame["item"] = as_text(records["testIdx"])
    if "input" in records:
        frame["input"] = as_text(records["input"])
    failed = _is_failed_call(records)
    score = parse_numbers(records["score"])
    frame["score"] = np.where(failed, np.nan, score)
    has_no_score = frame["score"].isna().to_numpy()
    if has_no_score.any():
        frame["reason"] = reasons_where(has_no_score, f"{NO_VALUE}{WHOLE_SCORE}")
    for name in ("latencyMs", "cost"):
        if name in records:
            frame[name] = records[name]
    if ANSWER_DIGEST in records:
        frame[ANSWER_DIGEST] = records[ANSWER_DIGEST].mask(failed, None)
    named_score_tables = _named_scores(records, frame, failed)
    if not named_score_tables:
        return frame
    scores = pd.concat([frame.assign(metric=WHOLE_SCORE), *named_score_tables])
    known_columns = {*frame, "metric"}
    return scores[[name for name in KEPT_COLUMNS if name in known_columns]]


def _names_of_models(records: pd.DataFrame) -> pd.Series:
    """Return the model of each row: the provider, and the prompt if the provider has several.

    A name with a prompt is `PROVIDER (prompt=PROMPT)`. The provider is named by its label, or by
    its id if it has no label. The prompt is named by at most 40 characters of its label. If it has
    no label, or if several prompts have the same label, it is named by its number.

    Raises:
        DataError: a provider has neither a label nor an id.
    """
    provider = map_distinct(records["provider"], _name_of_provider)
    is_nameless = provider.isna().to_numpy()
    if is_nameless.any():
        position = int(np.argmax(is_nameless))
        provider_text = shorten(str(records["provider"].iloc[position]))
        problem = f"provider {provider_text!r} has neither an id nor a label"
        place = row_name(records.index, position)
        raise DataError(problem, row=place, remedy='write {"id": "openai:gpt-4o"}')
    prompt_number = as_text(records["promptIdx"])
    pairs = pd.DataFrame({"provider": provider, "number": prompt_number}).drop_duplicates()
    names = pairs.loc[pairs["number"].notna(), "provider"]
    has_several_prompts = provider.isin(names[names.duplicated()])
    if not has_several_prompts.any():
        return provider
    label = pd.Series(None, index=records.index, dtype=object)
    if "prompt.label" in records:
        label = as_text(records["prompt.label"])
    # A label is clear if no other prompt of the provider has it.
    short_label = label.map(lambda text: shorten(text, 40), na_action="ignore")
    prompts = pd.DataFrame({"provider": provider, "label": short_label, "number": prompt_number})
    numbers_of_label = prompts.groupby(["provider", "label"])["number"].transform("nunique")
    is_clear = short_label.notna() & (numbers_of_label == 1)
    prompt_name = short_label.where(is_clear, "no. " + prompt_number)
    return provider.where(~has_several_prompts, provider + " (prompt=" + prompt_name + ")")


def _name_of_provider(provider: Any) -> str | None:
    """Return the label of a provider, else its id; None if it has neither.

    A provider that is written as text, not as an object, is this text. Any other cell has no name.
    """
    if isinstance(provider, Mapping):
        return text_of(provider.get("label")) or text_of(provider.get("id"))
    return text_of(provider) if isinstance(provider, str) else None


def _value_of_key(cell: Any, key: str) -> Any:
    """Return the value of a key in an object; None if there is none."""
    return cell.get(key) if isinstance(cell, Mapping) else None


def _is_failed_call(records: pd.DataFrame) -> np.ndarray:
    """Return the mask of the rows whose provider failed, shape (rows,).

    A row without a `failureReason`, as in older files, counts as failed if it has an error and no
    grading.
    """
    reason = np.full(len(records), np.nan)
    if "failureReason" in records:
        reason = parse_numbers(records["failureReason"])
    has_error = np.zeros(len(records), dtype=bool)
    if "error" in records:
        has_error = map_distinct(records["error"], text_of).notna().to_numpy()
    is_graded = records["is_graded"].to_numpy()
    return (reason == FAILED_CALL) | (np.isnan(reason) & has_error & ~is_graded)


def _named_scores(
    records: pd.DataFrame, frame: pd.DataFrame, failed: np.ndarray
) -> list[pd.DataFrame]:
    """Return a table like `frame` for each named score, with its name as the metric.

    A test without a score of this name has no row in the table. A failed call has no score; it has
    a row if the same test has a score of this name in another row of the file. The list is empty if
    there are no named scores.

    Args:
        records: the rows of the file.
        frame: the same rows as `read_promptfoo` has read them.
        failed: mask of the rows whose call failed, shape (rows,).

    Raises:
        DataError: a named score is not a number, or a cell is neither an object nor empty.
    """
    if "namedScores" not in records:
        return []
    remedy = 'write {"tone": 0.5}, or leave it empty if there are none'
    reject_non_objects(records["namedScores"], "is not an object with scores", remedy)
    scores = map_distinct(
        records["namedScores"], lambda cell: cell if isinstance(cell, Mapping) else {}
    )
    names: set[str] = set()
    for scores_of_test in scores:
        names.update(name for name, score in scores_of_test.items() if score is not None)
    tables = []
    for name in sorted(names):
        scores_of_name = map_distinct(scores, partial(_value_of_key, key=name))
        numbers = parse_numbers(scores_of_name.rename(f"namedScores.{name}"))
        has_score = scores_of_name.notna().to_numpy() & ~failed
        metric = f"{name} (named score)" if name == WHOLE_SCORE else name
        lacks_score = failed & frame["item"].isin(frame["item"][has_score]).to_numpy()
        score = np.where(failed, np.nan, numbers)
        reason = reasons_where(lacks_score, f"{NO_VALUE}{metric}")
        tables.append(
            frame.assign(score=score, metric=metric, reason=reason)[has_score | lacks_score]
        )
    return tables
