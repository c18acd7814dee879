"""Read results of promptfoo: a row per test, prompt and provider, with a score."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from podium.data.counting.relations import NO_VALUE
from podium.data.formats.records import row_name
from podium.data.formats.verdict_files import parse_numbers, reasons_where, reject_non_objects
from podium.errors import DataError
from podium.printable import shorten
from podium.text import as_text, text_of

FAILED_CALL = 2
"""Value of `failureReason` of a test whose provider failed, so that nothing was graded."""
SCORE = "score"
"""Name of the metric of a test's whole score, beside those of its named scores."""
OWN_VARIABLES = ("_", "sessionId")
"""Beginnings of the names of variables that promptfoo adds."""
KEPT = ("model", "item", "input", "score", "metric", "reason", "latencyMs", "cost")
"""Columns of the result. The others, such as the response, are left out because of their size."""


def read_promptfoo(records: pd.DataFrame) -> pd.DataFrame:
    """Read the results of an evaluation of promptfoo.

    The item is the number of the test, and its input the variables. The model is the label of the
    provider, else its id; a provider with several prompts is a model for each of them. If tests
    have named scores, each is a metric, and the whole score is the metric `score`. A test whose
    call failed has no score.

    Raises:
        DataError: a provider has no name, a score is not a number, or the named scores of a test
            are not an object.
    """
    frame = pd.DataFrame(index=records.index)
    frame["model"] = _names_of_models(records)
    frame["item"] = as_text(records["testIdx"])
    if "vars" in records:
        frame["input"] = records["vars"].map(_text_of_variables)
    failed = _is_failed_call(records)
    score = parse_numbers(records["score"])
    frame["score"] = np.where(failed, np.nan, score)
    frame["reason"] = reasons_where(frame["score"].isna().to_numpy(), f"{NO_VALUE}{SCORE}")
    for name in ("latencyMs", "cost"):
        if name in records:
            frame[name] = records[name]
    named = _named_scores(records, frame, failed)
    if not named:
        return frame
    parts = [frame.assign(metric=SCORE), *named]
    return pd.concat(parts)[[name for name in KEPT if name in frame or name == "metric"]]


def _names_of_models(records: pd.DataFrame) -> pd.Series:
    """Return the model of each row: the provider, and the prompt if the provider has several.

    The provider is named by its label, else by its id. The prompt is named by its label, of at most
    40 characters, or by its number if the label is missing or that of several prompts.

    Raises:
        DataError: a provider has neither a label nor an id.
    """
    names = []
    for position, provider in enumerate(records["provider"]):
        name = _name_of_provider(provider)
        if name is None:
            problem = f"provider {shorten(str(provider))!r} has neither an id nor a label"
            place = row_name(records.index, position)
            raise DataError(problem, row=place, remedy='write {"id": "openai:gpt-4o"}')
        names.append(name)
    provider = pd.Series(names, index=records.index, dtype=object)
    number = as_text(records["promptIdx"])
    several = number.groupby(provider).transform("nunique") > 1
    if not several.any():
        return provider
    label = pd.Series(None, index=records.index, dtype=object)
    if "prompt" in records:
        label = records["prompt"].map(lambda prompt: text_of(_value_of(prompt, "label")))
    # Prompts without a label, and different prompts with the same one, are told apart by number.
    short = label.map(lambda text: shorten(text, 40), na_action="ignore")
    distinct = pd.DataFrame({"provider": provider, "label": short, "number": number})
    numbers_of_label = distinct.groupby(["provider", "label"])["number"].transform("nunique")
    is_clear = short.notna() & (numbers_of_label == 1)
    shown = short.where(is_clear, "no. " + number)
    return provider.where(~several, provider + " (prompt=" + shown + ")")


def _text_of_variables(cell: Any) -> str | None:
    """Return the variables of a test as text, without those that promptfoo adds at each run."""
    if not isinstance(cell, Mapping):
        return text_of(cell)
    return text_of({name: cell[name] for name in cell if not name.startswith(OWN_VARIABLES)})


def _name_of_provider(provider: Any) -> str | None:
    """Return the label of a provider, else its id; None if it has neither."""
    if isinstance(provider, Mapping):
        return text_of(provider.get("label")) or text_of(provider.get("id"))
    return text_of(provider) if isinstance(provider, str) else None


def _value_of(cell: Any, key: str) -> Any:
    """Return the value of a key in an object; None if there is none."""
    return cell.get(key) if isinstance(cell, Mapping) else None


def _is_failed_call(records: pd.DataFrame) -> np.ndarray:
    """Return the mask of the rows whose provider failed, shape (rows,).

    A row without a `failureReason`, as in older files, failed if it has an error and no grading.
    """
    empty = pd.Series(None, index=records.index, dtype=object)
    reason = parse_numbers(records.get("failureReason", empty))
    has_error = records.get("error", empty).map(text_of).notna().to_numpy()
    gradings = records.get("gradingResult", empty)
    is_graded = np.array([isinstance(grading, Mapping) for grading in gradings], dtype=bool)
    return (reason == FAILED_CALL) | (np.isnan(reason) & has_error & ~is_graded)


def _named_scores(
    records: pd.DataFrame, frame: pd.DataFrame, failed: np.ndarray
) -> list[pd.DataFrame]:
    """Return a table like `frame` for each named score, a metric; empty if there are none.

    A test without a score of this name has no row in its table. A call that failed has no score,
    and has a row if the same test has a score of this name in another row of the file.

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
    scores = records["namedScores"].map(lambda cell: cell if isinstance(cell, Mapping) else {})
    names = sorted({name for cell in scores for name in cell if cell[name] is not None})
    tables = []
    for name in names:
        of_name = scores.map(lambda cell, name=name: cell.get(name))
        numbers = parse_numbers(of_name.rename(f"namedScores.{name}"))
        known = of_name.notna().to_numpy() & ~failed
        metric = f"{name} (named score)" if name == SCORE else name
        lacks = failed & frame["item"].isin(frame["item"][known]).to_numpy()
        score = np.where(failed, np.nan, numbers)
        reason = reasons_where(lacks, f"{NO_VALUE}{metric}")
        tables.append(frame.assign(score=score, metric=metric, reason=reason)[known | lacks])
    return tables
