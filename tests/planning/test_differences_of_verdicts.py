"""Differences of verdicts against an anchor: the model of three levels, and what a pilot
recorded."""

import numpy as np
import pandas as pd
import pytest

from podium import read_battles, simulate
from podium.planning.replays import recording_of
from podium.planning.sample_size import recorded_differences, three_levels, verdict_cube
from podium.rankers.informativeness import informativeness


@pytest.mark.parametrize("ties", [0.0, 0.15, 0.39, 0.8])
def test_equal_models_are_distinguishable_as_often_as_the_closed_form_says(ties: float) -> None:
    """Two independent verdicts are equal with probability t^2 + 2 ((1 - t) / 2)^2; without ties,
    1/2 (section 4.3)."""
    assert three_levels(ties, 0.0).informative == pytest.approx(1 - ties**2 - (1 - ties) ** 2 / 2)


@pytest.mark.parametrize(("ties", "edge"), [(0.0, 0.05), (0.39, 0.05), (0.2, 0.3)])
def test_the_edge_is_the_one_asked_for(ties: float, edge: float) -> None:
    found = three_levels(ties, edge)
    assert (found.edge, found.shares.sum()) == (pytest.approx(edge), pytest.approx(1))


def test_shares_are_those_of_the_win_rates_against_the_anchor() -> None:
    """By hand: without ties, one wins 3/4 and the other 1/4; so P(+2) = 9/16 and P(-2) = 1/16."""
    found = three_levels(0.0, 0.9 - 0.5)
    assert found.shares.tolist() == pytest.approx([1 / 16, 0, 6 / 16, 0, 9 / 16])


def test_another_share_keeps_the_edge() -> None:
    found = three_levels(0.39, 0.1).with_share(0.45)
    assert (found.edge, found.informative, found.shares.sum()) == pytest.approx((0.1, 0.45, 1))


def test_recorded_differences_by_hand() -> None:
    """Against c: a wins, ties, loses; b wins, wins, is unparsed. The differences a - b are 0, and
    -1 of two items."""
    rows = [("1", "a", "c", 1.0), ("2", "a", "c", 0.5), ("3", "a", "c", 0.0)]
    rows += [("1", "b", "c", 1.0), ("2", "b", "c", 1.0), ("3", "b", "c", None)]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    one, other = recorded_differences(recording_of(read_battles(frame)))
    assert (one.values.tolist(), one.shares.tolist()) == ([-1.0, 0.0], [0.5, 0.5])
    assert (other.values.tolist(), other.shares.tolist()) == ([0.0, 1.0], [0.5, 0.5])


@pytest.mark.slow
def test_their_informative_shares_are_the_rankers_informativeness() -> None:
    """Oracle: the ranker. A full round robin compares each pair on every item, so the mean over
    pairs is its share."""
    battles = simulate(5, 40, seed=1).battles()
    battles = read_battles(battles.to_frame().drop(columns=["margin", "swap"]), merge=False)
    shares = [one.informative for one in recorded_differences(recording_of(battles))]
    by_anchor = np.array(shares).reshape(5, -1).mean(axis=1)
    oracle = {
        e.model: e.score for e in informativeness(battles, rng=np.random.default_rng(0)).entries
    }
    assert dict(zip(battles.models, by_anchor, strict=True)) == pytest.approx(oracle)


@pytest.mark.slow
def test_five_levels_come_from_the_margin() -> None:
    rows = [("1", "a", "c", 1.0, 2.0), ("1", "b", "c", 1.0, 1.0)]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "margin"])
    found = verdict_cube(recording_of(read_battles(frame)))[0]
    assert (found[0, 2], found[2, 0], found[1, 2]) == (2, -2, 1)
    assert np.isnan(found[0, 1])
