"""The gold standard that `--gold` names: a ranking, or battles that people decided."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.battles import Battles
from podium.errors import DataError, UsageError
from podium.formats.containers import read_records
from podium.reading import read_battles
from podium.text import some, text_of

SCORES = ("score", "elo", "rating")
"""Columns that may hold the scores of a ranking."""


@dataclass(frozen=True, slots=True)
class Gold:
    """What the judge is measured by; either scores or battles are there.

    Attributes:
        source: the file.
        scores: of each system, higher is better; None where battles were given.
        scale: of the scores: `elo`, or whatever the ranking says.
        battles: what people decided; None where a ranking was given.
    """

    source: str
    scores: Mapping[str, float] | None = None
    scale: str = "elo"
    battles: Battles | None = None


def read_gold(source: str, ranker: str | None = None) -> Gold:
    """Read a ranking (podium's JSON, or a table of the columns model and score, elo or rating), or battles.

    Args:
        source: a file; for battles also a directory or a glob.
        ranker: which of several rankings in a JSON file; by default the first.

    Raises:
        UsageError: no such file, or it holds no such ranking.
        DataError: a score is none, or a system comes twice.
    """
    path = Path(source)
    if path.suffix == ".json" and path.is_file():
        held = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(held, dict) and "rankings" in held:
            return _from_ranking(source, held["rankings"], ranker)
    if path.is_file():
        frame = read_records(path)
        column = next((name for name in SCORES if name in frame), None)
        if column and "model" in frame and "item" not in frame:
            return Gold(source, _scores(source, frame["model"], frame[column]))
    return Gold(source, battles=read_battles(source))


def _from_ranking(source: str, rankings: Any, ranker: str | None) -> Gold:
    known = [one["ranker"] for one in rankings]
    chosen = next((one for one in rankings if ranker in (None, one["ranker"])), None)
    if chosen is None:
        raise UsageError(f"{source} has no ranking by {ranker!r}; it has {some(known) or 'none'}")
    rated = [one for one in chosen["models"] if one["score"] is not None]
    frame = pd.DataFrame({"model": [one["model"] for one in rated], "score": [one["score"] for one in rated]})
    return Gold(source, _scores(source, frame["model"], frame["score"]), chosen["scale"])


def _scores(source: str, models: pd.Series, scores: pd.Series) -> dict[str, float]:
    numbers = pd.to_numeric(scores, errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise DataError(
            f"score {text_of(scores.iloc[wrong[0]])!r} of {models.iloc[wrong[0]]!r} is not a finite number",
            source=source,
            row=f"row {int(wrong[0]) + 1}",
            remedy="give every system a score, or leave its row out",
        )
    names = [str(text_of(model)) for model in models]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"more than one score of {some(twice)}", source=source, remedy="keep one row per system")
    return dict(zip(names, map(float, numbers), strict=True))
