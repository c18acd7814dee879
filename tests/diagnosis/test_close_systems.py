"""Agreement of rankings of systems that are close: noise hides it, and resampling hides it once
more."""

import numpy as np
import pytest
from merged_worlds import battles_of

from podium import Judge, read_battles, simulate
from podium.diagnosis.clustered import farther_ends
from podium.diagnosis.decisiveness import pair_agreement
from podium.diagnosis.gold import gold_agreement, match_gold_pairs, resample_items
from podium.diagnosis.judges import side_by_side
from podium.diagnosis.subject import Gold, Subject
from podium.rankers.fit.scale import POINTS

WORLDS = 60
STRENGTHS = np.linspace(0.35, -0.35, 8)
"""Neighbours differ by 17 Elo."""


@pytest.mark.slow
def test_interval_of_tau_contains_complete_agreement_unlike_percentiles():
    """Simulation: the judge's true ranking is the gold ranking, so that tau is 1; 60 items, one
    order."""
    held = percentile = 0
    for seed in range(WORLDS):
        world = simulate(8, 60, seed=seed, strengths=tuple(STRENGTHS), item_sd=0.0)
        battles = battles_of(world, orders="ab")
        gold = Gold("gold.csv", dict(zip(battles.models, 1500 + POINTS * STRENGTHS, strict=True)))
        subject = Subject(None, battles, battles, gold=gold, seed=seed)
        found = gold_agreement(subject, resamples=100).tau
        held += found.low <= 1 <= found.high + 1e-9
        drawn = resample_items(match_gold_pairs(subject), 100, np.random.default_rng(seed))
        percentile += max(np.quantile(drawn.tau, 0.975), found.value) >= 1 - 1e-9
    assert held >= 0.9 * WORLDS
    assert percentile < 0.6 * WORLDS


@pytest.mark.parametrize(
    ("value", "interval", "expected"),
    [
        (0.6, (0.2, 0.7), (0.2, 1.0)),
        (0.6, (0.5, 0.95), (0.25, 0.95)),
        (-0.9, (-0.95, -0.4), (-1.0, -0.4)),
        (0.8, (0.9, 0.95), (0.65, 0.95)),
    ],
)
def test_wider_interval_ends_equal_hand_computed_ones(value, interval, expected):
    assert farther_ends(value, interval, (-1, 1)) == pytest.approx(expected)


def test_win_rates_of_one_half_do_not_depend_on_names():
    """By hand: right, half right (level in the gold standard), wrong; in either order of names."""
    judge, gold = np.array([0.9, 0.6, 0.3]), np.array([0.8, 0.5, 0.6])
    paper = ((1 - judge > 0.5) == (1 - gold > 0.5)).mean()
    assert float(pair_agreement(judge, gold)) == float(pair_agreement(1 - judge, 1 - gold)) == 0.5
    assert paper != ((judge > 0.5) == (gold > 0.5)).mean()


@pytest.mark.slow
def test_interval_of_two_identical_judges_contains_one(monkeypatch):
    """Simulation: two judges of the same models that differ only by noise; neighbours differ by 26
    Elo.

    Wrong variant: percentiles alone.
    """
    percentiles = {}

    def ends_beside_percentiles(value, interval, within):
        ends = farther_ends(value, interval, within)
        percentiles[ends] = max(value, interval[1])
        return ends

    monkeypatch.setattr("podium.diagnosis.clustered.farther_ends", ends_beside_percentiles)
    held = held_by_percentiles = 0
    for seed in range(WORLDS):
        world = simulate(6, 60, seed=seed, strengths=tuple(1.5 * STRENGTHS[:6]), item_sd=0.0)
        both = read_battles(world.judgments(Judge("one"), Judge("two"), orders="ab"))
        parts = dict(both.slices("judge"))
        found = side_by_side(
            [Subject(name, part, part, seed=seed) for name, part in parts.items()], resamples=100
        ).mean
        held += found.low <= 1 <= found.high + 1e-9
        held_by_percentiles += percentiles[found.low, found.high] >= 1 - 1e-9
    assert held >= 0.9 * WORLDS
    assert held_by_percentiles <= 0.6 * WORLDS
