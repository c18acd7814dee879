"""Read the gold standard of `--gold`: a ranking, or battles decided by humans."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from podium.diagnosis.ratings import AnyRatings, GivenRatings, fit_ratings
from podium.errors import DataError
from podium.formats.containers import read_records
from podium.nouns.battles import LARGEST, Battles
from podium.reading.judgments import read_battles
from podium.text import some, text_of

REMEDY = (
    "give a table with the columns model and score, a ranking of `podium rank --format json`, or battles "
    "(`podium convert` writes them from a foreign table)"
)
SCORES = ("score", "elo", "rating")
"""Columns that may hold the scores of a ranking."""


@dataclass(frozen=True)
class Gold:
    """A gold standard: scores of the systems on a scale (`elo` or another), or battles decided by humans."""

    source: str
    scores: Mapping[str, float] | None = None
    scale: str = "elo"
    battles: Battles | None = None

    @cached_property
    def source_ratings(self) -> AnyRatings:
        """The ratings; raises `NotIdentifiedError` or `NotConvergedError` if the battles give none."""
        if self.scores is not None:
            names = tuple(sorted(self.scores))
            return GivenRatings(names, np.array([self.scores[name] for name in names]))
        if self.battles is None:
            raise ValueError("a gold standard holds scores or battles")
        return fit_ratings(self.battles)


def read_gold(source: str) -> Gold:
    """Read a gold standard: ranking JSON, a table of model and score (elo, rating), or battles; raises DataError."""
    path = Path(source)
    if path.is_file():
        from podium.nouns.json_files import read_ranking

        ranking = read_ranking(path, REMEDY)
        if ranking is not None and ranking.standings:
            first = ranking.standings[0]
            scores = {entry.model: entry.score for entry in first.entries if entry.score is not None}
            return Gold(source, scores, first.scale)
        frame = read_records(path)
        column = next((name for name in SCORES if name in frame), None)
        if column and "model" in frame and "item" not in frame:
            return Gold(source, _scores(source, frame["model"], frame[column]))
    try:
        return Gold(source, battles=read_battles(source))
    except DataError as error:
        if error.row is not None:
            raise
        raise DataError(f"neither a ranking nor battles: {error.problem}", source=source, remedy=REMEDY) from None


def _scores(source: str, models: pd.Series, scores: pd.Series) -> dict[str, float]:
    """Return the scores of a table by model; raises DataError for a score that is unusable, or a repeated model."""
    numbers = pd.to_numeric(scores, errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(np.isnan(numbers) | (np.abs(numbers) > LARGEST))
    if len(wrong):
        problem = f"score {text_of(scores.iloc[wrong[0]])!r} of {models.iloc[wrong[0]]!r} is not a number, or too large"
        remedy = "give every system a score, or leave its row out"
        raise DataError(problem, source=source, row=f"row {int(wrong[0]) + 1}", remedy=remedy)
    names = [str(text_of(model)) for model in models]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"more than one score of {some(twice)}", source=source, remedy="keep one row per system")
    return dict(zip(names, map(float, numbers), strict=True))
