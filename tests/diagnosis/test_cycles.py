"""Rings of win rates and model-level SNTD: closed forms, false alarms and coverage."""

from math import comb, log

import numpy as np
import pandas as pd
import pytest
from correlated_verdicts import by_strength, covers, strengths, verdicts
from hand_worked import subject_of
from scipy import stats

from podium import read_battles
from podium.diagnosis.figures import Missing, Statistic
from podium.diagnosis.fit import cycles, deviations_of_draws, find_triples, model_deviation
from podium.diagnosis.transitivity import deviation
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.pairs import cells_by_cluster, pair_sums

WORLDS = 200


def asked(battles, level=0.95):
    return cycles(subject_of(battles, level=level))


def asked_in_worlds(worlds):
    """Ask in many worlds, of fewer resamples each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("podium.diagnosis.fit.RESAMPLES", 200)
        return [asked(world) for world in worlds]


def ring(share, models=3):
    """Return win rates of a ring 0 > 1 > 2 > 0; all others are equals."""
    rates = np.full((models, models), 0.5)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        rates[a, b], rates[b, a] = share, 1 - share
    return rates


def counted(wins, of):
    """Return battles of A, B and C in which A beats B, B beats C and C beats A on a given number of
    items."""
    rows = [
        (f"{k}", a, b, 1.0 if k < won else 0.0)
        for (a, b), won in zip((("A", "B"), ("B", "C"), ("C", "A")), wins, strict=True)
        for k in range(of)
    ]
    return read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))


def triples_of_five():
    low, high = np.triu_indices(5, 1)
    place = {pair: k for k, pair in enumerate(zip(low.tolist(), high.tolist(), strict=True))}
    return np.array(
        [
            (place[a, b], place[b, c], place[a, c])
            for a in range(5)
            for b in range(a + 1, 5)
            for c in range(b + 1, 5)
        ]
    )


@pytest.mark.slow
def test_a_ring_is_found_and_read_in_the_direction_of_its_wins():
    found = asked(counted((70, 65, 60), 100))
    assert found.cycle_count == 1
    assert found.cycles[0].models == ("A", "B", "C")
    assert found.cycles[0].rates == pytest.approx((0.7, 0.65, 0.6))
    backward = asked(counted((30, 35, 40), 100)).cycles[0]
    assert backward.models == ("A", "C", "B")
    assert backward.rates == pytest.approx((0.6, 0.65, 0.7))


def test_the_weakest_link_decides_how_certain_a_ring_is():
    """One-sided clustered t of 60 of 100 by hand: 0.1 over sqrt(0.6 * 0.4 / 99), doubled for the
    two rings."""
    p = float(stats.t.sf(0.1 / np.sqrt(0.24 / 99), 99))
    found = asked(counted((70, 65, 60), 100)).cycles[0]
    assert (found.p, found.adjusted) == pytest.approx((p, 2 * p), rel=1e-9)
    strongest = float(stats.t.sf(0.2 / np.sqrt(0.21 / 99), 99))
    assert found.p != pytest.approx(strongest, rel=0.1)


def test_model_level_sntd_of_a_ring_in_closed_form():
    """Each of three rates 0.7 is implied to be sigmoid(-2 ln(7 / 3)) = 9 / 58 by the two others."""
    p, q = 0.7, 9 / 58

    def h(x):
        return -x * log(x) - (1 - x) * log(1 - x)

    truth = h((p + q) / 2) - (h(p) + h(q)) / 2
    found = asked(counted((70, 70, 70), 100))
    assert found.sntd == pytest.approx(truth, abs=1e-12)
    of_single_items = float(deviation(1.0, 1.0, 0.0))
    assert found.sntd != pytest.approx(of_single_items, rel=0.1)


def test_model_level_sntd_of_strengths_is_0_and_the_mean_over_triples():
    rates = by_strength(strengths(5))[np.triu_indices(5, 1)]
    triples = triples_of_five()
    assert len(triples) == comb(5, 3)
    assert float(model_deviation(rates, triples)) == pytest.approx(0, abs=1e-12)
    broken = rates.copy()
    broken[0] += 0.2
    one_by_one = [float(deviation(*broken[edge])) for edge in triples]
    assert float(model_deviation(broken, triples)) == pytest.approx(np.mean(one_by_one), abs=1e-15)


@pytest.fixture(scope="module")
def equals():
    """200 judges without any preference: their win rates are full of rings by chance."""
    return asked_in_worlds(verdicts(np.full((6, 6), 0.5), 40, seed) for seed in range(WORLDS))


@pytest.mark.slow
def test_cycle_test_has_few_false_alarms_for_a_transitive_judge(equals):
    assert np.mean([one.certain > 0 for one in equals]) <= 0.05


@pytest.mark.slow
def test_uncorrected_cycle_counts_would_have_many_false_alarms(equals):
    """Wrong variant: any ring among the estimated win rates."""
    assert np.mean([one.cycle_count > 0 for one in equals]) > 0.5


@pytest.mark.slow
def test_planted_cycle_is_distinguished_from_chance():
    found = asked_in_worlds(verdicts(ring(0.7), 100, seed) for seed in range(50))
    assert np.mean([one.certain == 1 for one in found]) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("rates", [by_strength(strengths(5)), ring(0.65, 5)])
def test_the_interval_beyond_noise_covers_the_true_sntd(rates):
    """In 100 worlds; the plain value, which the noise of 60 items inflates, lies above the
    truth."""
    exact = float(model_deviation(rates[np.triu_indices(5, 1)], triples_of_five()))
    found = asked_in_worlds(verdicts(rates, 60, seed) for seed in range(100))
    assert np.mean([covers(one.beyond_noise, exact) for one in found]) >= 0.9
    assert np.mean([one.sntd for one in found]) > 1.2 * exact + 1e-4
    corrected = np.mean([one.beyond_noise.value for one in found])
    assert corrected < np.mean([one.sntd for one in found])


@pytest.mark.slow
def test_percentile_interval_of_sntd_does_not_cover():
    """Wrong variant: quantiles of resampled SNTD never reach down to the 0 of a transitive
    judge."""
    hits = []
    for seed in range(20):
        coded = code_battles(verdicts(by_strength(strengths(5)), 60, seed))
        pairs = pair_sums(coded)
        cells, triples = cells_by_cluster(coded, pairs), find_triples(pairs)
        draws = deviations_of_draws(cells, triples, 100, np.random.default_rng(0))
        hits.append(np.quantile(draws, 0.025) <= 0.0)
    assert np.mean(hits) < 0.05


def test_pairs_of_few_items_are_no_win_rates():
    found = asked(counted((5, 5, 4), 6))
    assert isinstance(found.sntd, Missing)
    assert isinstance(found.beyond_noise, Missing)
    assert "10 items" in found.sntd.why


@pytest.mark.slow
def test_models_without_complete_triples_are_reported():
    rows = [("1", "A", "B", 1.0), ("1", "B", "C", 1.0), ("1", "C", "D", 0.0)]
    stated = asked(
        read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
    )
    assert isinstance(stated, Missing)
    assert "round robin" in stated.remedy


def test_the_same_seed_gives_the_same_interval():
    battles = verdicts(ring(0.6), 50, 0)
    first, second = asked(battles), asked(battles)
    assert isinstance(first.beyond_noise, Statistic)
    assert first == second
