"""Read the pairwise verdicts of WildBench, which are choices from `A++` to `B++`.

WildBench's `src/eval.py` writes which model was shown as A in `assignment`, and the files that it
publishes have the columns `model_A` and `model_B`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from podium.data.formats.answer_lengths import answer_length
from podium.data.formats.records import row_name
from podium.data.formats.verdict_cells import (
    parse_words,
    reasons_where,
    reject_cells,
    reject_non_objects,
)
from podium.errors import DataError
from podium.printable import shorten
from podium.text import as_text, map_distinct, text_of

CHOICES = {"A++": 2.0, "A+": 1.0, "A=B": 0.0, "B+": -1.0, "B++": -2.0}
"""Margin of the response shown as A by choice."""
NO_CHOICE = frozenset({"N/A"})
"""Choice of a reply that could not be parsed."""
DROPPED_COLUMNS = (
    "assignment",
    "parsed_result",
    "result",
    "prompt",
    "history",
    "eval_config",
    "meta_data",
    "model_output",
    "ref_output",
    "model_outputs",
    "generator",
    "ref_generator",
    "model_A",
    "model_B",
    "winner",
    "extent",
)
"""Columns that are left out of the result.

They are those whose content other columns have after reading, and those of long texts.
"""


def read_wildbench(records: pd.DataFrame) -> pd.DataFrame:
    """Read WildBench's pairwise verdicts. Model a is `generator`, else `model_A`.

    `A++` has margin 2 for the response shown as A, and the credit of a win, as `A+` has. A choice
    `N/A`, and a row without a choice, are unparsed. Unless there is a column `judge`, the judge is
    the model in `eval_config`, if it is known.

    Raises:
        DataError: a choice is unknown, or the assignment of a row does not name its two models.
    """
    models = _models_shown(records)
    choice = _choices_in_cells(records["parsed_result"])
    known_choices = ", ".join(CHOICES)
    margin, unparsed = parse_words(
        choice, CHOICES, NO_CHOICE, remedy=f"known choices: {known_choices}; N/A if there is none"
    )
    margin = np.where(models["order"] == "ba", -margin, margin)
    frame = records.drop(columns=[name for name in DROPPED_COLUMNS if name in records])
    frame = frame.rename(columns={"session_id": "item"}).assign(**models, label=choice)
    if "eval_config" in records and "judge" not in frame:
        judge = map_distinct(records["eval_config"], lambda config: _value_in(config, "gpt"))
        frame = frame.assign(judge=judge) if judge.notna().any() else frame
    for side, texts in _judged_texts(records, models).items():
        frame[f"response_{side}"] = texts
        frame[f"length_{side}"] = map_distinct(texts, answer_length)
    reason = reasons_where(unparsed, "no choice")
    return frame.assign(credit=(np.sign(margin) + 1) / 2, margin=margin, reason=reason)


def _models_shown(records: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the columns `model_a`, `model_b` and `order` by name.

    Without assignments, model a is `model_A`, and it was shown first. With them, model a is
    `generator` or, if there is no such column, the model shown as A.

    Raises:
        DataError: an assignment does not name the two models of its row.
    """
    if "assignment" not in records:
        order = pd.Series("ab", index=records.index)
        return {"model_a": records["model_A"], "model_b": records["model_B"], "order": order}
    assignment = records["assignment"]
    is_nested = map_distinct(assignment, _has_nested_name).to_numpy(dtype=bool)
    remedy = "write the names of the models as text"
    reject_cells(assignment, is_nested, "has an object or a list as a name, not text", remedy)
    model_by_letter = {
        "A": map_distinct(assignment, lambda cell: _value_in(cell, "A")),
        "B": map_distinct(assignment, lambda cell: _value_in(cell, "B")),
    }
    model_a = as_text(records["generator"]) if "generator" in records else model_by_letter["A"]
    model_b = (
        as_text(records["ref_generator"]) if "ref_generator" in records else model_by_letter["B"]
    )
    is_forward = (model_by_letter["A"] == model_a) & (model_by_letter["B"] == model_b)
    is_turned = (model_by_letter["A"] == model_b) & (model_by_letter["B"] == model_a)
    names_other_models = ~(is_forward | is_turned).to_numpy()
    if names_other_models.any():
        first = int(np.argmax(names_other_models))
        assignment_text = shorten(text_of(assignment.iloc[first]) or "is empty and")
        names = " and ".join(
            f"{name} {shorten(repr(models.iloc[first]))}"
            for name, models in (("generator", model_a), ("ref_generator", model_b))
        )
        problem = f"assignment {assignment_text} does not name {names}"
        remedy = 'write {"A": the model shown first, "B": the other one}'
        raise DataError(problem, row=row_name(records.index, first), remedy=remedy)
    order = pd.Series(np.where(is_forward, "ab", "ba"), index=records.index)
    return {"model_a": model_a, "model_b": model_b, "order": order}


def _choices_in_cells(parsed: pd.Series) -> pd.Series:
    """Return the choice in each cell of `parsed_result`; None if it has none.

    Raises:
        DataError: a cell is neither an object nor empty.
    """
    remedy = 'write {"choice": "A+"}, or leave it empty if the judge gave none'
    reject_non_objects(parsed, "is not an object with a choice", remedy)
    return (
        map_distinct(parsed, lambda cell: _value_in(cell, "choice")).astype(object).rename("choice")
    )


def _has_nested_name(assignment: Any) -> bool:
    """Return whether an assignment names a model by an object or a list."""
    names = assignment.values() if isinstance(assignment, Mapping) else ()
    return any(isinstance(name, Mapping | list | tuple | np.ndarray) for name in names)


def _value_in(cell: Any, key: str) -> str | None:
    """Return the value of a key in an object as text; None if there is none."""
    value = cell.get(key) if isinstance(cell, Mapping) else None
    return None if value is None else str(value)


def _judged_texts(records: pd.DataFrame, models: Mapping[str, pd.Series]) -> dict[str, pd.Series]:
    """Return the responses of model a and model b, by side (`a`, `b`); empty if there are none.

    They are in the columns `model_output` and `ref_output`, or in objects with an output by name of
    the model in the column `model_outputs`. A cell is None if it has no text.

    Args:
        records: the rows.
        models: the columns `model_a` and `model_b`.
    """
    if {"model_output", "ref_output"} <= {*records}:
        return {
            "a": records["model_output"].map(_first_text),
            "b": records["ref_output"].map(_first_text),
        }
    if "model_outputs" not in records:
        return {}
    texts = {}
    for side in "ab":
        cells = zip(records["model_outputs"], models[f"model_{side}"], strict=True)
        outputs_of_side = []
        for outputs, model in cells:
            is_known = isinstance(outputs, Mapping) and isinstance(model, str)
            output = outputs.get(model) if is_known else None
            outputs_of_side.append(_first_text(output))
        texts[side] = pd.Series(outputs_of_side, index=records.index, dtype=object)
    return texts


def _first_text(output: Any) -> str | None:
    """Return an output that is a text, or the first element of a list if that is a text.

    The result is None for anything else.
    """
    if isinstance(output, list | np.ndarray):
        output = output[0] if len(output) else None
    return output if isinstance(output, str) else None
