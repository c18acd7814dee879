"""What a number of items detects: variances per item of each design, and the power they promise."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from podium import Battles, NotIdentifiedError, World, rank, read_battles, simulate
from podium.planning.plan_record import PricedDesign, elo_of_edge
from podium.planning.planner import make_plan
from podium.planning.precision import (
    VerdictModel,
    assumed_verdicts,
    design_variance,
    pilot_verdicts,
    play_schedule,
    typical_variance,
)
from podium.planning.replays import recording_of, replay
from podium.rankers.errors.intervals import mean_interval
from podium.rankers.estimate import Estimate
from podium.rankers.fit.scale import POINTS
from podium.tournaments.schedule import TournamentDesign

ROUND_ROBIN = TournamentDesign("round_robin", "round_robin")
DESIGNS = ("round_robin", "anchor", "swim", "chain", "ring")
STRENGTHS = (-0.8, -0.3, 0.0, 0.4, 0.7)


@pytest.fixture(scope="module")
def pilot() -> Battles:
    return simulate(5, 60, seed=2).battles()


def variance_in(
    battles: Battles, design: TournamentDesign = ROUND_ROBIN, calls: int = 2
) -> Estimate:
    return design_variance(design, *pilot_verdicts(recording_of(battles)), calls, 0.95)


def round_robin_of(battles: Battles, **asked) -> PricedDesign:
    return next(line for line in make_plan(battles, **asked).lines if line.design == "round_robin")


def blocks(world: World, items: int) -> Iterator[Battles]:
    """Yield the simulated battles in blocks of items: independent experiments, simulated at
    once."""
    battles = world.battles()
    code = battles.table["item"].cat.codes.to_numpy()
    for start in range(0, len(world.quality), items):
        yield battles.select((code >= start) & (code < start + items))


def test_the_variance_of_a_round_robin_of_equals_by_hand() -> None:
    """Three equals, v = 1/4: Laplacians have the eigenvalue 3 v; a rating varies by w + 3 v (1 - 2
    w v) / (3 v)^2."""
    model = VerdictModel(("a", "b", "c"), np.zeros(3), 0.4, 1.0)
    met = np.ones((7, 3, 3)) - np.eye(3)
    eigenvalue, remaining = 3 / 4, 3 * (1 - 2 * 0.4 / 4) / 4
    by_hand = 2 * POINTS**2 * (0.4 + remaining / eigenvalue**2)
    assert typical_variance(met, model, 1) == pytest.approx(by_hand)


def test_the_inverse_information_is_the_variance_of_independent_verdicts() -> None:
    """Without item effects, and with the binomial's variance, the sandwich is the inverse of
    Fisher's information."""
    model = VerdictModel(("a", "b", "c"), np.array([-0.5, 0.1, 0.4]), 0.0, 1.0)
    met = play_schedule(TournamentDesign("chain", "chain"), model)
    weights = (met * model.information).sum(axis=0) / len(met)
    covariance = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    assert typical_variance(met, model, 1) == pytest.approx(POINTS**2 * np.trace(covariance))


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_the_error_is_near_that_of_a_replay_of_the_pilot(name: str) -> None:
    """Oracle: standard errors of the ranking; differences of centred ratings vary by 2 sum(se^2) /
    (n - 1)."""
    battles = simulate(5, 400, seed=2, strengths=STRENGTHS).battles()
    settings = {"anchor": "model-03"} if name == "anchor" else {}
    entries = replay(battles, name, **settings).ranking.standings[0].entries
    oracle = np.sqrt(2 * np.sum(np.array([entry.se for entry in entries]) ** 2) / 4)
    found = variance_in(battles, TournamentDesign(name, name, settings), 1 if name == "ring" else 2)
    assert np.sqrt(found.value / 400) == pytest.approx(oracle, rel=0.08)


@pytest.mark.slow
def test_both_orders_err_less_than_one(pilot: Battles) -> None:
    assert variance_in(pilot, calls=2).value < 0.9 * variance_in(pilot, calls=1).value


@pytest.mark.slow
def test_a_pilot_in_one_order_predicts_both_orders() -> None:
    """Items of both pilots are the same, and so is what one order or two would err."""
    world = simulate(5, 400, seed=3, strengths=STRENGTHS)
    both, single = (variance_in(world.battles(orders=orders)).value for orders in ("both", "ab"))
    assert single == pytest.approx(both, rel=0.1)


@pytest.mark.slow
def test_four_times_the_items_halve_the_error(pilot: Battles) -> None:
    errors = [round_robin_of(pilot, items=items).error.value for items in (100, 400)]
    assert errors[0] == pytest.approx(2 * errors[1])


@pytest.mark.slow
def test_items_and_the_smallest_gap_are_inverse(pilot: Battles) -> None:
    """On the items that an edge needs, the smallest gap is that edge."""
    needed = round_robin_of(pilot, ties=0.0).items
    found = round_robin_of(pilot, ties=0.0, items=int(needed.value)).gap
    assert found.value == pytest.approx(elo_of_edge(0.05, 0.0), rel=0.01)
    assert needed.low < needed.value < needed.high


@pytest.mark.slow
def test_planned_items_reach_the_promised_power() -> None:
    """Simulation: two models, 200 worlds of the planned size; a one-sided test has the promised
    power."""
    strengths = (200 / POINTS / 2, -200 / POINTS / 2)
    first, second = simulate(2, 10, strengths=strengths).estimand()
    edge = 1 / (1 + np.exp(second - first)) - 0.5
    large = simulate(2, 2000, seed=5, strengths=strengths).battles()
    items = int(round_robin_of(large, ties=0.0, edge=edge).items.value)
    reported = []
    for block in blocks(simulate(2, 200 * items, seed=99, strengths=strengths), items):
        a, b = sorted(
            rank(block, "bradley-terry").standings[0].entries, key=lambda entry: entry.model
        )
        reported.append((a.score - b.score) / (2 * a.se) > norm.isf(0.05))
    assert np.mean(reported) == pytest.approx(0.8, abs=3 * np.sqrt(0.16 / 200) + 0.02)


@pytest.mark.slow
def test_items_without_the_power_term_miss_the_promised_power(pilot: Battles) -> None:
    """The wrong variant: with z_alpha alone, items detect the gap in half of all cases only."""
    half, whole = (round_robin_of(pilot, power=power).items.value for power in (0.5, 0.8))
    assert half < 0.5 * whole


@pytest.mark.slow
def test_the_jackknife_covers_the_variance_of_a_large_pilot() -> None:
    """Coverage: 95% intervals from 40 pilots of 40 items against the variance from 2,000 items;
    binomial tolerance."""
    strengths = (-0.8, -0.2, 0.3, 0.7)
    truth = variance_in(simulate(4, 2000, seed=999, strengths=strengths).battles()).value
    found = [
        variance_in(block)
        for block in blocks(simulate(4, 40 * 40, seed=7, strengths=strengths), 40)
    ]
    hits = np.mean([variance.low <= truth <= variance.high for variance in found])
    assert hits >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 40)


def test_an_interval_of_means_is_students() -> None:
    """Oracle: scipy.stats.t.interval."""
    from scipy.stats import sem, t

    values = np.array([3.0, 4.0, 8.0])
    found = mean_interval(values, 0.9)
    assert found[1:] == pytest.approx(t.interval(0.9, 2, loc=5.0, scale=sem(values)))
    assert mean_interval(values[:1], 0.9) == (3.0, None, None)


def test_an_anchor_needs_more_items_than_all_pairs_and_fewer_battles(pilot: Battles) -> None:
    anchor, round_robin = (
        variance_in(pilot, TournamentDesign(name, name)).value for name in ("anchor", "round_robin")
    )
    assert round_robin < anchor < 10 / 4 * round_robin


def test_the_strongest_anchor_errs_more_than_a_middling_one(pilot: Battles) -> None:
    model, others = pilot_verdicts(recording_of(pilot))
    strongest = model.names[int(np.argmax(model.theta))]
    errors = [
        design_variance(
            TournamentDesign("", "anchor", {"anchor": name}), model, others, 2, 0.95
        ).value
        for name in (strongest, None)
    ]
    assert errors[0] > 1.2 * errors[1]


def test_three_items_are_too_few() -> None:
    with pytest.raises(NotIdentifiedError, match="the pilot has 3"):
        variance_in(simulate(4, 3, seed=1).battles())


def test_precision_reports_unbounded_ratings() -> None:
    rows = [{"item": f"q{k}", "model_a": "a", "model_b": "b", "credit": 1.0} for k in range(8)]
    with pytest.raises(NotIdentifiedError, match="bound no rating of a, b"):
        variance_in(read_battles(pd.DataFrame(rows)))


@pytest.mark.slow
def test_precision_reports_unbattled_models_and_disconnected_groups() -> None:
    rows = [
        {"item": f"q{k}", "model_a": a, "model_b": b, "credit": float(k % 2)}
        for k in range(8)
        for a, b in ("ab", "cd")
    ]
    with pytest.raises(NotIdentifiedError, match="group"):
        variance_in(read_battles(pd.DataFrame(rows)))
    for row in rows[1::2]:
        row["credit"] = None
    with pytest.raises(NotIdentifiedError, match="no readable battle of c, d"):
        variance_in(read_battles(pd.DataFrame(rows)))


def test_assumed_verdicts_have_the_ties_that_were_asked_for() -> None:
    """A tie takes 1/4 from the variance of a verdict: over all pairs, ties / 4."""
    with_ties, without = (assumed_verdicts(tuple("abcde"), ties) for ties in (0.3, 0.0))
    pairs = np.triu_indices(5, 1)
    variance = [
        (model.dispersion * model.information)[pairs].mean() for model in (with_ties, without)
    ]
    assert variance[1] - variance[0] == pytest.approx(0.3 / 4)


def test_a_schedule_is_played_as_the_tournament_plays_it() -> None:
    model = assumed_verdicts(tuple("abcd"), 0.15)
    each = {name: play_schedule(TournamentDesign(name, name), model) for name in DESIGNS}
    assert {name: met.sum() / 2 / len(met) for name, met in each.items()} == {
        "round_robin": 6, "anchor": 3, "swim": 4, "chain": 3, "ring": 4,
    }  # fmt: skip
    assert (each["anchor"][:, 2].sum(axis=1) == 3).all(), (
        "the anchor is the model of middling strength"
    )
    assert (each["ring"] == each["ring"].transpose(0, 2, 1)).all()


@pytest.mark.parametrize("ties", [0.0, 0.39])
def test_an_edge_in_elo_counts_ties_half(ties: float) -> None:
    """Closed form: a win rate of 1/2 + edge (1 - ties)."""
    rate = 0.5 * ties + 0.55 * (1 - ties)
    assert elo_of_edge(0.05, ties) == pytest.approx(400 * np.log10(rate / (1 - rate)))


def test_remaining_variance_is_never_negative() -> None:
    model = replace(assumed_verdicts(tuple("ab"), 0.0), item_variance=99.0)
    assert (model.remaining_variance(1) >= 0).all()
