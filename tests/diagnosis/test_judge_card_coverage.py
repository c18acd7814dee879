"""Every interval of the card covers the true value, and sound judges rarely get alarms.

Two judges in 200 worlds of 40 items each. An honest 95% interval covers at least 90% of those, but
for one in a thousand, and there are about forty; their mean says more. Truth is a closed form where
there is one, else the same figure in a world of very many items.
"""

import numpy as np
import pytest
from hand_worked import subject_of
from judged_worlds import FAIR, FAULTY, OWN, both, cards, coverage, truth, world

from podium import Judge
from podium.diagnosis.clustered import Clustered
from podium.diagnosis.human_agreement import measure_human_agreement
from podium.rankers.fit.scale import POINTS

pytestmark = pytest.mark.slow

HONEST = (0.90, 0.99)
CONSERVATIVE = {"human.calibration_error"}
"""Its interval covers at least as often as it says."""
EXACT = {"position.swaps.near.flip_decisive", "verbosity.longer_near_ties"}
"""Shares of the few battles near a tie, which are above 0.97 for one of the two judges.

Fewer than five battles then do not count, and the upper end has at least its level (Clopper and
Pearson).
"""
OVER_MODELS = {"verbosity.residuals"}
"""Models are drawn anew in its interval, and are always the same here; it has a test of its own."""
NO_FAULT = {
    "position.prefers_first": 0.5,
    "position.first_win_rate": 0.5,
    "position.margin_lead": 0.0,
    "position.effect": 0.0,
    "position.swaps.all.prefers_first": 0.5,
    "position.swaps.all.flips_to_first": 0.5,
    "position.swaps.clear.flips_to_first": 0.5,
    "position.swaps.near.flips_to_first": 0.5,
    "verbosity.longer_near_ties": 0.5,
    "verbosity.effect": 0.0,
    "verbosity.human": 0.0,
    "self_preference.excess": 0.0,
}
"""What a judge without a fault has."""


def expected(judge, item_sd, known):
    """Return the true value of every figure; those that are 0 or 1 by construction have no interval
    to test."""
    found = truth(judge, item_sd) | known
    return {
        name: value
        for name, value in found.items()
        if name not in OVER_MODELS
        and (name in known or 1e-3 < abs(value) < 1 - 1e-3 or abs(value) > 1.001)
    }


def uncovered(judge, item_sd, values, narrowed=1.0):
    """Return the figures whose intervals cover too rarely or too often."""
    found = cards(judge, item_sd)
    low, high = HONEST
    shares = {name: coverage(found, name, value, narrowed) for name, value in values.items()}
    return {
        name: share
        for name, share in shares.items()
        if not low <= share <= (1.0 if name in CONSERVATIVE | EXACT else high)
    }


def test_card_of_a_fair_judge_has_few_false_alarms_and_intervals_cover():
    """Items differ, and the judge scale corrections differences by 1.5: neither is taken for a
    fault.

    Intervals of half the width cover about two thirds: every one of them fails.
    """
    values = expected(FAIR, 1.0, NO_FAULT)
    assert set(NO_FAULT) <= set(values)
    assert len(values) > 35
    assert uncovered(FAIR, 1.0, values) == {}
    alarms = [1 - coverage(cards(FAIR, 1.0), name, value) for name, value in NO_FAULT.items()]
    assert 0.03 < np.mean(alarms) < 0.07
    assert set(uncovered(FAIR, 1.0, values, narrowed=0.5)) >= set(values) - CONSERVATIVE


def test_card_detects_planted_faults():
    """Closed forms: 0.5 logits for being first; no other truth has one beside position bias and
    ties."""
    known = {"position.effect": 0.5, "position.margin_lead": 0.5, "verbosity.human": 0.0}
    values = expected(FAULTY, 0.0, known)
    assert uncovered(FAULTY, 0.0, values) == {}
    found = cards(FAULTY, 0.0)
    faults = (
        "position.effect",
        "position.first_win_rate",
        "verbosity.longer_near_ties",
        "verbosity.effect",
    )
    missed = {name: coverage(found, name, NO_FAULT[name]) for name in faults}
    assert max(missed.values()) < 0.2
    assert coverage(found, "self_preference.excess", 0.0) < 0.6


def test_self_preference_length_and_scale_are_recovered_as_they_were_set():
    """Closed forms: 0.6 logits, 0.8 logits per unit of log-length, a scale of 1.5; no fault and no
    scale correction fail.
    """
    judge = Judge("gpt-9", scale=1.5, self_preference=0.6, verbosity_bias=0.8, favours=OWN)
    found = cards(judge, 0.0, 100, ("verbosity", "self_preference"))
    for name, value, wrong in (
        ("self_preference.excess", 0.6 * POINTS, 0.0),
        ("self_preference.slope", 1.5, 1.0),
        ("verbosity.effect", 0.8, 0.0),
    ):
        assert 0.88 <= coverage(found, name, value) <= 1.0, name
        assert coverage(found, name, wrong) < 0.8, name


def test_the_temperature_of_a_judge_without_noise_is_covered():
    """Closed form: beta = 1 / scale; intervals of half the width do not cover."""
    judge, held, narrow = Judge("gpt-9", scale=2.0, verdicts="soft"), [], []
    for seed in range(100):
        _, battles = both(world(seed), judge, repeats=1)
        found = measure_human_agreement(subject_of(battles)).temperature
        held.append(found.low <= 0.5 <= found.high)
        narrow.append(abs(found.value - 0.5) <= (found.high - found.low) / 4)
    assert 0.88 <= np.mean(held) <= 1.0
    assert np.mean(narrow) < 0.85


def test_intervals_that_forget_the_item_do_not_cover():
    """A judge that flips a whole item or none: pairs of an item are copies, and rows are not
    independent."""
    rng, clustered, by_row = np.random.default_rng(0), [], []
    for _ in range(400):
        flips = np.repeat(rng.random(30) < 0.3, 6)
        items = np.repeat(np.arange(30), 6)
        for found, sample in (
            (clustered, Clustered(items, "item")),
            (by_row, Clustered(np.arange(180), "row")),
        ):
            figure = sample.share(flips)
            found.append(figure.low <= 0.3 <= figure.high)
    assert 0.92 <= np.mean(clustered) <= 0.98
    assert np.mean(by_row) < 0.8
