"""What tests of logs share: models of known quality, verdicts worked out by hand, figures
compared."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from inspect_ai.log import EvalLog
from scripted_judge import preferred

import podium
from podium.hosts.inspect_ai.logs.podium_entries import credit_in
from podium.rankers.ranking import Ranking

MODELS = {"ash": 1.2, "elm": 1.9, "fir": 0.7, "oak": 2.4}
ITEMS = 6


def quality(model: str, item: int, models: Mapping[str, float] = MODELS) -> float:
    """Return how good a response is: models differ, and do so from item to item."""
    wave = ((item * 7 + sum(map(ord, model))) % 11 - 5) / 5
    return round(max(0.0, models[model] + wave), 3)


def place(log: EvalLog) -> Path:
    """Return where a log lies."""
    return Path(log.location.removeprefix("file://"))


def battles(log: EvalLog) -> list[Any]:
    """Return the samples that are battles, without those that repeat failed calls."""
    return [
        one
        for one in log.samples or []
        if "model_a" in one.metadata and "podium earlier" not in one.metadata
    ]


def final_battles(log: EvalLog) -> list[Any]:
    """Return the last sample of each battle: that which repeats its failed calls, if any failed."""
    last: dict[tuple[str, int], Any] = {}
    for one in sorted(log.samples or [], key=lambda sample: len(str(sample.id))):
        if "model_a" in one.metadata:
            last[str(one.id).replace("::again", ""), one.epoch] = one
    return [*last.values()]


def failed_battles(log: EvalLog) -> set[str]:
    """Return the battles, by sample id, whose sample failed, or the sample that repeats their
    failed calls."""
    return {
        str(one.id).removesuffix("::again")
        for one in log.samples or []
        if one.error and "model_a" in one.metadata
    }


def credit_of(sample: Any) -> float:
    """Return the full credit of a battle; NaN if it is unparsed."""
    credit = credit_in(verdict_of(sample))
    return math.nan if credit is None else credit


def verdict_of(sample: Any) -> Any:
    """Return podium's score of a battle."""
    return sample.scores["verdict"]


def by_hand(
    pairings: Sequence[tuple[str, str, str]], bias: float = 0.3, soft: bool = True
) -> pd.DataFrame:
    """Return the verdicts of the scripted judge, in both orders, worked out without podium's
    host."""
    rows = []
    for item, a, b in pairings:
        k = int(item[1:])
        ab = preferred(quality(a, k), quality(b, k), bias)
        ba = 1 - preferred(quality(b, k), quality(a, k), bias)
        for order, credit in (("ab", ab), ("ba", ba)):
            rows.append(
                {
                    "item": item,
                    "model_a": a,
                    "model_b": b,
                    "order": order,
                    "credit": credit if soft else float(credit > 0.5),
                }
            )
    return pd.DataFrame(rows)


def figures(ranking: Ranking | Mapping[str, Any]) -> dict[tuple[str, Any, str], dict[str, Any]]:
    """Return the rows of a ranking by ranker, slice and model."""
    reported = ranking if isinstance(ranking, Mapping) else ranking.to_dict()
    return {
        (one["ranker"], one["slice"], row["model"]): row
        for one in reported["rankings"]
        for row in one["models"]
    }


def assert_same_figures(found: Any, expected: Any) -> None:
    """Compare all figures of two rankings, but for the last digits."""
    found, expected = figures(found), figures(expected)
    assert found.keys() == expected.keys()
    for key, row in expected.items():
        assert found[key].keys() == row.keys()
        for name, value in row.items():
            assert found[key][name] == (
                pytest.approx(value, rel=1e-6) if isinstance(value, float) else value
            ), name


def ranked(table: Any, rankers: Any = "bradley-terry", **options: Any) -> Ranking:
    """Rank a table of verdicts."""
    return podium.rank(podium.read_battles(table), rankers, **options)
