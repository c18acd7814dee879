"""Rough tests of many pairs decide as the exact tests do, in a small part of their time."""

import numpy as np
import pandas as pd
import pytest

import podium
from podium.rankers.errors import rank_sets
from podium.rankers.errors.elo_difference import EloTests
from podium.rankers.errors.intervals import ROUGH_FACTOR
from podium.rankers.fit.coded import CodedBattles


def played(
    models: int, battles: int, items: int, losers: int, *, winners: int = 0, seed: int = 1
) -> CodedBattles:
    """Return random battles, with weights, in which some models lost or won everything."""
    rng = np.random.default_rng(seed)
    strength = np.sort(rng.normal(0, 0.8, models))[::-1]
    a = rng.integers(0, models, battles)
    b = (a + rng.integers(1, models, battles)) % models
    credit = (rng.random(battles) < 1 / (1 + np.exp(strength[b] - strength[a]))).astype(float)
    credit[rng.random(battles) < 0.1] = 0.5
    rank = np.clip(np.arange(models), winners - 1, models - losers)
    is_fixed = (np.minimum(rank[a], rank[b]) < winners) | (
        np.maximum(rank[a], rank[b]) >= models - losers
    )
    credit = np.where(is_fixed, (rank[a] < rank[b]).astype(float), credit)
    kept = ~is_fixed | (rank[a] != rank[b])
    weight = rng.uniform(0.5, 2, battles)
    cluster = np.unique(rng.integers(0, items, battles)[kept], return_inverse=True)[1]
    names = tuple(f"m{k:03}" for k in range(models))
    return CodedBattles(
        *(a[kept], b[kept], credit[kept], weight[kept], cluster),
        *(int(cluster.max()) + 1, "item", names),
    )


def pairs_to_test(tests: EloTests, separated: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of all pairs with one of some models that a test may find different."""
    models = len(tests.theta)
    pairs = {(min(i, j), max(i, j)) for i in separated for j in range(models) if i != j}
    first, second = np.array(sorted(pair for pair in pairs if tests.may_differ(*pair))).T
    return first, second


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize(
    ("models", "battles", "items", "losers", "winners"),
    [(6, 900, 80, 1, 0), (12, 1500, 60, 2, 1), (30, 3000, 200, 2, 1), (25, 9000, 400, 3, 0)],
)
def test_rough_p_values_are_close_to_the_exact_ones(
    models: int, battles: int, items: int, losers: int, winners: int
) -> None:
    tests = EloTests(played(models, battles, items, losers, winners=winners))
    separated = [*range(winners), *range(models - losers, models)]
    first, second = pairs_to_test(tests, separated)
    rough = tests.rough_tails(first, second)
    known = 0
    for pair, tails in zip(zip(first, second, strict=True), rough, strict=True):
        by_score, by_flips = tests.gap(*map(int, pair)).tails_at_zero
        if np.isnan(tails).any():
            continue
        known += 1
        assert by_flips is None
        smaller = int(np.argmin(by_score))
        ratio = np.log(tails[smaller] / by_score[smaller])
        # The error is relative to the size of the logarithm: far from all levels it may be large.
        assert abs(ratio) < min(0.1 - 0.01 * np.log(by_score[smaller]), np.log(ROUGH_FACTOR))
        assert tails[1 - smaller] == pytest.approx(by_score[1 - smaller], abs=0.01)
    assert known or len(first) < 20


def test_a_test_that_sign_flips_decide_has_no_rough_p_value() -> None:
    tests = EloTests(played(6, 200, 20, 1))
    first, second = pairs_to_test(tests, [5])
    assert np.isnan(tests.rough_tails(first, second)).all()


def test_pairs_whose_models_change_places_change_the_sides() -> None:
    tests = EloTests(played(30, 3000, 200, 2))
    first, second = pairs_to_test(tests, [28, 29])
    assert np.array_equal(
        tests.rough_tails(first, second), tests.rough_tails(second, first)[:, ::-1], equal_nan=True
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))]
)
def test_rankings_are_those_of_exact_tests(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    coded = played(20, 2500, 150, 2, winners=1, seed=seed)
    frame = pd.DataFrame(
        {
            "item": coded.cluster.astype(str),
            "model_a": [coded.models[k] for k in coded.a],
            "model_b": [coded.models[k] for k in coded.b],
            "credit": coded.credit,
            "weight": coded.weight,
        }
    )
    rough = podium.rank(podium.read_battles(frame)).standings[0]
    monkeypatch.setattr(rank_sets, "FEWEST_ROUGH", 10**9)
    exact = podium.rank(podium.read_battles(frame)).standings[0]
    assert rough.entries == exact.entries
    assert (rough.separation.cuts, rough.separation.beats) == (
        exact.separation.cuts,
        exact.separation.beats,
    )
    # Exact tests start at the results of others: their last digits depend on which are made.
    assert rough.separation.lead == pytest.approx(exact.separation.lead, rel=1e-9)
