"""Pointwise scores: one row per item and model; battles are made item by item."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from podium.errors import DataError
from podium.formats.verdicts import credit_of, reasons
from podium.table import number, refuse
from podium.text import as_categorical

NAMES = {
    "arena_hard_question_id": "item",
    "system": "model",
    "judge_model": "judge",
    "judgment_score": "score",
}
SCORE_COLUMNS = frozenset({"item", "model", "score"})
SAME_TRIAL = ("item", "judge", "repeat", "category", "task")


@dataclass(frozen=True, slots=True)
class Paired:
    """Battles made of scores.

    Attributes:
        frame: columns of the battles table.
        missing: how many more battles there would be with a score for every model.
        averaged: scores that were averaged with another of the same model in the same trial.
        alone: scores beside which no other model was scored: they enter no battle.
    """

    frame: pd.DataFrame
    missing: int
    averaged: int
    alone: int

    def notes(self) -> list[str]:
        """Say what the table of battles does not show of the scores."""
        remarks = (
            (self.averaged, "scores of a model already scored on the same item were averaged with it"),
            (self.alone, "scores stand on items where no other model was scored: they enter no battle and no mean"),
        )
        return [f"{number} {text}" for number, text in remarks if number]


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Read scores under the names item, model, score[, judge]; JuStRank's realization is part of the judge."""
    frame = records.rename(columns=NAMES)
    if {"judge", "judge_realization"} <= set(frame):
        frame["judge"] = frame["judge"].astype(str) + " " + frame["judge_realization"].astype(str)
    return frame


def is_pointwise(frame: pd.DataFrame) -> bool:
    """Tell whether a reader gave scores instead of battles."""
    return set(frame) >= SCORE_COLUMNS and "model_a" not in frame


def check_scores(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return the frame with typed columns.

    Raises:
        DataError: a score is no number, or an item or model is empty.
    """
    try:
        typed = frame.assign(score=number(frame["score"]))
        for name in ("item", "model"):
            typed[name] = as_categorical(frame[name])
            refuse(frame[name], typed[name].isna().to_numpy(), "is empty", "every score needs its item and model")
    except DataError as error:
        raise error.with_place(source) from None
    return typed


def pair_up(scores: pd.DataFrame, source: str) -> Paired:
    """Make a battle of every two models that were scored in the same trial (item, judge, repeat, category, task).

    The higher score earns credit 1, equal ones 0.5; the margin is the difference. An empty score makes its
    battles unread. A model without a row on an item is missing there.

    Several scores of a model in one trial are averaged, empty ones left out.

    Raises:
        DataError: fewer than two models.
    """
    trial_columns = [name for name in SAME_TRIAL if name in scores]
    scores, averaged = _average_repeats(scores, trial_columns)
    trials = scores.groupby(trial_columns, sort=False, observed=True, dropna=False).ngroup().to_numpy()
    model = as_categorical(scores["model"])
    if len(model.categories) < 2:
        raise DataError(
            f"scores of one model only ({model.categories[0]!r})",
            source=source,
            remedy="give the scores of at least two models",
        )
    row = _rows_by_trial(trials, np.asarray(model.codes), len(model.categories))
    a, b = np.triu_indices(len(model.categories), 1)
    there = (row[:, a] >= 0) & (row[:, b] >= 0)
    where, pair = np.nonzero(there)
    first, second = row[where, a[pair]], row[where, b[pair]]
    battles = _battles(scores, model, first, second, trial_columns)
    alone = len(scores) - len(np.unique(np.concatenate([first, second])))
    return Paired(battles, int((~there).sum()), averaged, alone)


def _average_repeats(scores: pd.DataFrame, trial_columns: list[str]) -> tuple[pd.DataFrame, int]:
    """Average the scores of one model in one trial; return how many were merged into another."""
    cell = [*trial_columns, "model"]
    twice = scores.duplicated(cell, keep=False)
    if not twice.any():
        return scores, 0
    means = scores.groupby(cell, sort=False, observed=True, dropna=False)["score"].transform("mean")
    distinct = scores.assign(score=means).drop_duplicates(cell)
    return distinct, len(scores) - len(distinct)


def _rows_by_trial(trials: np.ndarray, model: np.ndarray, models: int) -> np.ndarray:
    """Return the row of each trial and model, -1 where there is none, shape (trials, models)."""
    row = np.full((int(trials.max()) + 1) * models, -1)
    row[trials * models + model] = np.arange(len(trials))
    return row.reshape(-1, models)


def _battles(
    scores: pd.DataFrame, model: pd.Categorical, first: np.ndarray, second: np.ndarray, trial_columns: list[str]
) -> pd.DataFrame:
    """Return a battle of the rows `first` and `second` each, positions in the table of scores, shape (battles,)."""
    score = scores["score"].to_numpy()
    margin = score[first] - score[second]
    frame = {name: scores[name].take(first).to_numpy() for name in trial_columns}
    frame |= {
        "model_a": model.take(first),
        "model_b": model.take(second),
        "credit": credit_of(margin),
        "margin": margin,
        "score_a": score[first],
        "score_b": score[second],
        "reason": _reasons(scores, first, second, np.isnan(margin)),
    }
    if "length" in scores:
        length = number(scores["length"])
        frame |= {"length_a": length[first], "length_b": length[second]}
    return pd.DataFrame(frame)


def _reasons(scores: pd.DataFrame, first: np.ndarray, second: np.ndarray, unread: np.ndarray) -> np.ndarray:
    """Return why a battle is unread: the recorded reason of the side without a score."""
    if "reason" not in scores:
        return reasons(unread, "no score")
    recorded = scores["reason"].astype(object).to_numpy()
    silent = np.isnan(scores["score"].to_numpy())
    why = np.where(silent[first], recorded[first], recorded[second])
    return np.where(unread, np.where(pd.isna(why), "no score", why), np.full(len(why), None))
