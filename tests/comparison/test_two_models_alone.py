"""Of two models alone, Elo and the win rate are one quantity, with one test in all commands."""

import numpy as np
import pandas as pd
import pytest

import podium
from podium.rankers.fit.scale import POINTS

CREDITS = {
    "verdicts": (1.0, 0.5, 0.0),
    "nearly all won": (1.0, 1.0, 1.0, 1.0, 0.0),
    "few decided": (0.5, 0.5, 0.5, 0.5, 1.0),
    "graded": (0.9, 0.7, 0.4, 0.2),
}


def battles_of(kind: str, items: int, group_size: int | None) -> podium.Battles:
    """Draw battles of A and B on some items, in groups if a size is given."""
    rng = np.random.default_rng([items, group_size or 0])
    credit = rng.choice(CREDITS[kind], items)
    rows = {"item": range(items), "model_a": "A", "model_b": "B", "credit": credit}
    frame = pd.DataFrame(rows)
    if group_size is None:
        return podium.read_battles(frame)
    frame["passage"] = [f"p{k // group_size}" for k in range(items)]
    return podium.read_battles(frame, cluster="passage")


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("group_size", [None, 1, 3])
@pytest.mark.parametrize("items", [9, 24, 60])
@pytest.mark.parametrize("kind", CREDITS)
def test_rankers_and_measures_have_one_test(kind: str, items: int, group_size: int | None) -> None:
    battles = battles_of(kind, items, group_size)
    measures = podium.compare("A", "B", battles).findings[0].differences
    elo, rate = measures["elo"], measures["win-rate"]
    assert elo.p_value == pytest.approx(rate.p_value)
    shares = np.array(rate.interval(0.95)) + 0.5
    with np.errstate(divide="ignore"):
        assert elo.interval(0.95) == pytest.approx(POINTS * np.log(shares / (1 - shares)), abs=0.01)
    for ranker in ("bradley-terry", "win-rate"):
        [standings] = podium.rank(battles, ranker).standings
        first = next(entry for entry in standings.entries if entry.model == "A")
        ends = shares if ranker == "win-rate" else 1500 + np.array(elo.interval(0.95)) / 2
        found = [np.inf if end is None else end for end in (first.low, first.high)]
        assert np.abs(found) == pytest.approx(np.abs(ends), abs=0.01)
        assert (first.rank_low == first.rank_high) is (elo.p_value <= 0.05)
