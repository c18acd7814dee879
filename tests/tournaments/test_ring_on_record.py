"""The ring on a real judge's full round robin, items drawn anew; more resamplings: benchmarks/economy.py --record."""

from pathlib import Path

import numpy as np
import pytest
from close_worlds import is_wrong

from podium import read_battles
from podium.planning.questions import ImaginedRun
from podium.rankers.pairs import pairs_of_squares
from podium.rankers.scale import POINTS
from podium.rankers.strengths import fit_strengths
from podium.tournaments.ring import Ring
from podium.tournaments.schedule import Field

RECORD = Path(__file__).parents[3] / "shared" / "data" / "roundrobin_qlora_oa_gpt4.parquet"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.real_data,
    pytest.mark.skipif(not RECORD.is_file(), reason="the recorded judgements are not beside this checkout"),
]
RESAMPLINGS = 100


@pytest.fixture(scope="module")
def earned() -> np.ndarray:
    """Return what the response shown first earned, NaN where unread, shape (953, 7, 7)."""
    columns = {"item": "prompt", "model_a": "model_1", "model_b": "model_2", "credit": "verdict"}
    how = {"columns": columns, "credit_map": {"1": 1, "0": 0.5, "-1": 0}, "shown": "a", "merge": False}
    table = read_battles(RECORD, **how).table
    a, b = (table[side].cat.codes.to_numpy() for side in ("model_a", "model_b"))
    ahead = (table["order"] == "ab").to_numpy()
    credit = table["credit"].to_numpy()
    whole = np.full((len(table["item"].cat.categories), 7, 7), np.nan)
    places = table["item"].cat.codes.to_numpy()
    whole[places, np.where(ahead, a, b), np.where(ahead, b, a)] = np.where(ahead, credit, 1 - credit)
    return whole


def drawn_again(earned: np.ndarray, seed: int) -> ImaginedRun:
    """Return items drawn with replacement, each an item of its own; the truth is the whole record's."""
    read = ~np.isnan(earned)
    truth = fit_strengths(pairs_of_squares(np.nansum(earned, axis=0), read.sum(axis=0).astype(float))).theta
    drawn = np.random.default_rng(seed).integers(0, len(earned), len(earned))
    names = tuple(f"model {k}" for k in range(7))
    return ImaginedRun(Field(names, tuple(f"item {k}" for k in range(len(earned))), {}), earned[drawn], truth)


@pytest.mark.parametrize(
    ("options", "most"), [({"until": "order", "margin": 30.0}, 4200), ({"until": "top3", "margin": 20.0}, 3700)]
)
def test_a_question_is_answered_with_a_sixth_of_swims_calls(earned: np.ndarray, options, most: int) -> None:
    """SWIM takes 22,872 on this record. Bars of the design: all answered, no claim wrong, mean calls."""
    battles, answered, wrong = [], [], []
    for seed in range(RESAMPLINGS):
        run, rule = drawn_again(earned, seed), Ring(seed=seed, **options)
        last = rule.progress_of(run.field, run.play(rule)).looks[-1]
        battles.append(last.battles)
        answered.append(not last.open.any())
        wrong.append(rule.first is None and is_wrong(last.settled, run.truth * POINTS, rule.margin))
    assert np.mean(battles) <= most
    assert np.mean(answered) >= 0.95
    assert not any(wrong)
