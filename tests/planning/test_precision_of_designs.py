"""What a number of items will tell: variances per item, promised powers, widths of rank sets."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from podium import Battles, Judge, NotIdentifiedError, World, rank, read_battles, simulate
from podium.planning.plan import Quantity, elo_of_edge
from podium.planning.precision import (
    PerItem,
    Precision,
    _draw_in,
    middling_model,
    per_item,
    precision_in_pilot,
    precision_in_worlds,
    simulated_worlds,
)
from podium.rankers.intervals import mean_interval
from podium.rankers.scale import POINTS
from podium.tournaments.chain import Chain
from podium.verbs.replays import Recording, TournamentDesign, play, recording_of

ROUND_ROBIN = TournamentDesign("round_robin", "round_robin")


@pytest.fixture(scope="module")
def pilot() -> Recording:
    return recording_of(simulate(5, 60, seed=2).battles())


def blocks(world: World, items: int) -> Iterator[Battles]:
    """Yield the battles of a world in blocks of so many items: independent experiments, simulated at once."""
    battles = world.battles()
    code = battles.table["item"].cat.codes.to_numpy()
    for start in range(0, len(world.quality), items):
        yield battles.select((code >= start) & (code < start + items))


def test_the_variance_of_a_typical_pair_by_hand() -> None:
    """Covariance I - 1/3 of three centred ratings: every difference has variance 2."""
    assert PerItem(np.zeros(3), np.eye(3) - 1 / 3).variance == pytest.approx(2)


def test_the_error_is_that_of_the_ranking_by_bradley_terry(pilot: Recording) -> None:
    """Oracle: standard errors of `podium rank`; differences of centred ratings vary by 2 sum(se^2) / (n - 1)."""
    se = np.array([entry.se for entry in rank(pilot.battles, "bradley-terry").standings[0].entries])
    found = per_item(ROUND_ROBIN, pilot)
    assert np.sqrt(found.variance / 60) == pytest.approx(np.sqrt(2 * np.sum(se**2) / 4), rel=1e-9)


def test_four_times_the_items_halve_the_error(pilot: Recording) -> None:
    found = precision_in_pilot(ROUND_ROBIN, pilot, level=0.95)
    assert found.standard_error(400).value == pytest.approx(found.standard_error(100).value / 2)


def test_items_and_the_smallest_gap_are_inverse(pilot: Recording) -> None:
    found = precision_in_pilot(ROUND_ROBIN, pilot, level=0.95)
    gap = found.smallest_gap(500, alpha=0.05, power=0.8).value
    assert found.items_for(gap, alpha=0.05, power=0.8).value in (500, 501)


def test_a_larger_variance_needs_more_items(pilot: Recording) -> None:
    found = precision_in_pilot(ROUND_ROBIN, pilot, level=0.95).items_for(30, alpha=0.05, power=0.8)
    assert found.low < found.value < found.high


@pytest.mark.slow
def test_the_planned_items_reach_the_promised_power() -> None:
    """Simulation: two models, 200 worlds of the planned size; a one-sided test tells them with the power promised.

    The design is planned from worlds of the same kind. Tolerance: binomial, and the planned variance's own interval.
    """
    gap, judge = 200.0, Judge()
    strengths = (gap / POINTS / 2, -gap / POINTS / 2)
    planning = [recording_of(simulate(2, 100, seed=k, strengths=strengths).battles(judge)) for k in range(20)]
    planned = precision_in_worlds(lambda _: ROUND_ROBIN, planning, level=0.95)
    estimand = simulate(2, 10, strengths=strengths).estimand(judge)
    gap_of_the_estimand = float(POINTS * (estimand[0] - estimand[1]))
    items = int(planned.items_for(gap_of_the_estimand, alpha=0.05, power=0.8).value)
    told = []
    for block in blocks(simulate(2, 200 * items, seed=99, strengths=strengths), items):
        first, second = sorted(rank(block, "bradley-terry").standings[0].entries, key=lambda entry: entry.model)
        told.append((first.score - second.score) / (2 * first.se) > norm.isf(0.05))
    assert np.mean(told) == pytest.approx(0.8, abs=3 * np.sqrt(0.16 / 200) + 0.02)


def test_forgetting_the_power_would_break_that_promise(pilot: Recording) -> None:
    """The wrong variant: with z_alpha alone, items tell the gap in half of all cases only."""
    found = precision_in_pilot(ROUND_ROBIN, pilot, level=0.95)
    half = found.items_for(30, alpha=0.05, power=0.5).value
    assert half < 0.5 * found.items_for(30, alpha=0.05, power=0.8).value


@pytest.mark.slow
def test_the_jackknife_covers_the_variance_of_a_large_pilot() -> None:
    """Coverage: 95% intervals from 40 pilots of 40 items against the variance from 2,000 items; binomial tolerance."""
    strengths = (-0.8, -0.2, 0.3, 0.7)
    large = recording_of(simulate(4, 2000, seed=999, strengths=strengths).battles())
    truth = per_item(ROUND_ROBIN, large).variance
    hits = 0
    for block in blocks(simulate(4, 40 * 40, seed=7, strengths=strengths), 40):
        found = precision_in_pilot(ROUND_ROBIN, recording_of(block), level=0.95)
        hits += found.variance.low <= truth <= found.variance.high
    assert hits / 40 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 40)


def test_an_interval_of_means_is_students() -> None:
    """Oracle: scipy.stats.t.interval."""
    from scipy.stats import sem, t

    values = np.array([3.0, 4.0, 8.0])
    found = mean_interval(values, 0.9)
    assert found[1:] == pytest.approx(t.interval(0.9, 2, loc=5.0, scale=sem(values)))
    assert mean_interval(values[:1], 0.9) == (3.0, None, None)


def test_rank_sets_of_what_is_far_apart_have_one_rank() -> None:
    case = PerItem(np.array([1000.0, 1500.0, 2000.0]), np.eye(3) - 1 / 3)
    assert Precision(Quantity(2.0), (case,), "").rank_width(100, level=0.95, seed=0).value == 1


def test_rank_sets_of_equals_have_all_ranks() -> None:
    """Of three equals, a simultaneous 95% set excludes a rank in one experiment of twenty at most."""
    case = PerItem(np.full(3, 1500.0), 1e4 * (np.eye(3) - 1 / 3))
    assert Precision(Quantity(2e4), (case,), "").rank_width(100, level=0.95, seed=0).value > 2.8


@pytest.mark.slow
def test_rank_sets_narrow_with_the_items(pilot: Recording) -> None:
    found = precision_in_pilot(ROUND_ROBIN, pilot, level=0.95)
    widths = [found.rank_width(items, level=0.95, seed=0).value for items in (20, 200, 20_000)]
    assert widths[0] > widths[1] > widths[2] >= 1


@pytest.mark.slow
def test_a_pilots_spread_of_ratings_is_draw_in_by_what_chance_adds() -> None:
    """Over 100 pilots of 25 items, ratings drawn in vary as the truth does, and ratings as they are vary more."""
    strengths = np.array([-0.5, -0.2, 0.1, 0.6])
    truth = POINTS**2 * np.sum(simulate(4, 10, strengths=strengths).estimand() ** 2)
    found = [
        per_item(ROUND_ROBIN, recording_of(block))
        for block in blocks(simulate(4, 100 * 25, seed=3, strengths=strengths), 25)
    ]
    both = (found, [_draw_in(one, 25) for one in found])
    raw, drawn = (np.array([np.sum((one.elo - 1500) ** 2) for one in each]) for each in both)
    assert drawn.mean() == pytest.approx(truth, abs=3 * drawn.std() / 10)
    assert raw.mean() > truth + 3 * raw.std() / 10


def test_an_anchor_needs_more_items_than_all_pairs_and_fewer_battles(pilot: Recording) -> None:
    anchor = TournamentDesign("anchor", "anchor", {"anchor": middling_model(pilot)})
    found = [precision_in_pilot(one, pilot, level=0.95) for one in (anchor, ROUND_ROBIN)]
    items = [one.items_for(30, alpha=0.05, power=0.8).value for one in found]
    assert items[1] < items[0] < 10 / 4 * items[1]


def test_battles_that_are_not_on_record_are_said() -> None:
    battles = simulate(4, 20, seed=1).battles(pairs=[(0, 1), (0, 2), (0, 3)])
    with pytest.raises(NotIdentifiedError, match="60 of its 120 battles are not on record"):
        per_item(ROUND_ROBIN, recording_of(battles))


def test_three_items_are_too_few() -> None:
    with pytest.raises(NotIdentifiedError, match="the pilot has 3"):
        precision_in_pilot(ROUND_ROBIN, recording_of(simulate(4, 3, seed=1).battles()), level=0.95)


def test_ratings_that_nothing_bounds_are_said() -> None:
    rows = [{"item": f"q{k}", "model_a": "a", "model_b": "b", "credit": 1.0} for k in range(8)]
    import pandas as pd

    with pytest.raises(NotIdentifiedError, match="bound no rating of a, b"):
        per_item(ROUND_ROBIN, recording_of(read_battles(pd.DataFrame(rows))))


def test_worlds_have_the_ties_that_were_asked_for() -> None:
    [record] = simulated_worlds(5, ties=0.3, orders="as-given", number=1)
    tied = [one.credit == 0.5 for one in record.outcomes]
    assert np.mean(tied) == pytest.approx(0.3, abs=0.002)


def test_a_paths_precision_is_that_of_its_own_battles(pilot: Recording) -> None:
    played = play(Chain(), pilot)
    se = np.array([entry.se for entry in rank(played.battles, "bradley-terry").standings[0].entries])
    found = per_item(TournamentDesign("chain", "chain"), replace(pilot))
    assert np.sqrt(found.variance / 60) == pytest.approx(np.sqrt(2 * np.sum(se**2) / 4), rel=1e-9)


@pytest.mark.parametrize("ties", [0.0, 0.39])
def test_an_edge_in_elo_counts_ties_half(ties: float) -> None:
    """Closed form: a win rate of 1/2 + edge (1 - ties)."""
    rate = 0.5 * ties + 0.55 * (1 - ties)
    assert elo_of_edge(0.05, ties) == pytest.approx(400 * np.log10(rate / (1 - rate)))
