"""Which pairs strengths miss: hand-worked residuals, a jackknife, false alarms, coverage and
power."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.stats.multitest as multitest
from correlated_verdicts import by_strength, strengths, verdicts
from scipy.special import expit

from podium import Battles, NotIdentifiedError, read_battles
from podium.data.counting.battle_frame import BattleFrame
from podium.diagnosis.figures import Missing
from podium.diagnosis.fit import bradley_terry_fit, expected_without_penalty, influence_on_residuals
from podium.rankers.errors.intervals import holm
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.pairs import pair_sums, pairs_from_matrices
from podium.rankers.fit.strengths import fit_strengths

WORLDS = 200
THETA = strengths(6, 0.9)


def planted(gap=0.15):
    """Return win rates by strengths but for one pair."""
    rates = by_strength(THETA)
    rates[1, 4] += gap
    rates[4, 1] -= gap
    return rates


def exact_residuals(rates):
    """Return what infinitely many items give: the rates less the best strengths' rates."""
    size = len(rates)
    weight = np.triu(np.ones((size, size)), 1)
    theta = fit_strengths(pairs_from_matrices(np.triu(rates, 1), weight), 0.0).theta
    return rates - expit(theta[:, None] - theta[None, :])


def test_residuals_of_a_pure_cycle_equal_its_preferences():
    """Closed form: a ring of 0.7 gives equal strengths, so each pair is 0.2 off."""
    rows = [
        (str(k), a, b, float(k < 70))
        for a, b in (("A", "B"), ("B", "C"), ("C", "A"))
        for k in range(100)
    ]
    found = bradley_terry_fit(
        read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
    )
    assert [abs(one.residual) for one in found.residuals] == pytest.approx([0.2] * 3, abs=1e-6)
    assert [one.expected for one in found.residuals] == pytest.approx([0.5] * 3, abs=1e-6)
    assert found.missed == 3


def test_standard_errors_equal_the_jackknife_with_refitted_strengths():
    """Oracle: leave one item out and fit again."""
    battles = verdicts(planted(), 60, seed=4)
    coded = code_battles(battles)
    pairs = pair_sums(coded)
    rated = fit_battles(coded)
    ours = np.sqrt((influence_on_residuals(coded, rated) ** 2).sum(axis=0))
    left_out = []
    for item in range(60):
        keep = coded.cluster != item
        part = np.zeros((2, 6, 6))
        np.add.at(part[0], (coded.a[keep], coded.b[keep]), coded.credit[keep])
        np.add.at(part[1], (coded.a[keep], coded.b[keep]), 1.0)
        some = pairs_from_matrices(*part)
        theta = fit_strengths(some, 0.01).theta
        left_out.append(some.credit / some.weight - expit(theta[some.first] - theta[some.second]))
    jackknife = np.sqrt(
        59 / 60 * np.sum((np.array(left_out) - np.mean(left_out, axis=0)) ** 2, axis=0)
    )
    assert ours == pytest.approx(jackknife, rel=0.05)
    unfitted = np.sqrt(
        pairs.credit / pairs.weight * (1 - pairs.credit / pairs.weight) / pairs.weight
    )
    assert np.abs(unfitted / jackknife - 1).max() > 0.1


def test_expected_credits_are_those_of_a_fit_without_regularization():
    strengths = fit_battles(code_battles(verdicts(planted(), 60, seed=4)))
    pairs, free = strengths.pairs, fit_strengths(strengths.pairs, 0.0)
    oracle = free.expected_credit(pairs.first, pairs.second)
    assert expected_without_penalty(strengths) == pytest.approx(oracle, abs=1e-6)
    assert np.abs(strengths.expected_credit(pairs.first, pairs.second) - oracle).max() > 1e-5


@pytest.mark.slow
def test_regularization_marks_no_pair():
    """A always wins, so B and C are rated by their own battles: no win rate of theirs is a
    misfit."""
    wins = {("A", "B"): 200, ("B", "C"): 180, ("A", "C"): 200}
    rows = [(str(k), *pair, float(k < won)) for pair, won in wins.items() for k in range(200)]
    found = bradley_terry_fit(
        read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
    )
    assert (found.tested, found.missed) == (1, 0)


def test_holms_rule_equals_statsmodels():
    p = np.random.default_rng(0).uniform(size=30) ** 3
    assert holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1], abs=1e-15)


@pytest.fixture(scope="module")
def fair():
    """200 judges whose win rates follow strengths exactly."""
    return [verdicts(by_strength(THETA), 60, seed) for seed in range(WORLDS)]


@pytest.mark.slow
def test_fit_test_has_few_false_alarms_for_a_bradley_terry_judge(fair):
    """Nominal 5%, for any pair (Holm) and for all pairs together."""
    found = [bradley_terry_fit(one) for one in fair]
    assert np.mean([one.missed > 0 for one in found]) <= 0.08
    assert 0.02 <= np.mean([one.whole.p <= 0.05 for one in found]) <= 0.09


def test_among_three_models_each_model_has_the_joint_test():
    """Three residuals have one free dimension, so all tests are the same; Bonferroni triples its
    p."""
    found = bradley_terry_fit(verdicts(by_strength(THETA[::2]), 60, 3))
    assert found.worst.p == pytest.approx(min(1.0, 3 * found.whole.p), rel=1e-6)


@pytest.mark.slow
def test_model_that_departs_a_little_everywhere_is_named_more_often_than_any_of_its_pairs(fair):
    """It wins 10 points more against three models and 10 fewer against two than its strength
    says."""
    rates = by_strength(THETA)
    rates[2, [0, 1, 3, 4, 5]] += [0.1, -0.1, 0.1, -0.1, 0.1]
    rates[:, 2] = 1 - rates[2]
    found = [bradley_terry_fit(verdicts(rates, 100, seed)) for seed in range(100)]
    assert np.mean([one.worst.p <= 0.05 and one.worst.model == "m02" for one in found]) >= 0.7
    assert np.mean([one.worst.p <= 0.05 for one in found]) > np.mean(
        [one.missed > 0 for one in found]
    )
    assert np.mean([bradley_terry_fit(one).worst.p <= 0.05 for one in fair]) <= 0.08


@pytest.mark.slow
def test_fit_test_without_holm_would_have_many_false_alarms(fair):
    """Wrong variant: any pair with p below 5% by itself."""
    found = [bradley_terry_fit(one) for one in fair[:100]]
    assert (
        np.mean(
            [any(pair.p is not None and pair.p <= 0.05 for pair in one.residuals) for one in found]
        )
        > 0.3
    )


@pytest.mark.slow
def test_fit_test_on_independent_rows_would_have_false_alarms():
    """Wrong variant: every verdict three times (an item's copies are one cluster), and nothing says
    the item."""
    copies = []
    for seed in range(40):
        table = verdicts(by_strength(THETA), 60, seed).table
        copies.append(Battles(BattleFrame(pd.concat([table] * 3, ignore_index=True))))
    by_row = [
        bradley_terry_fit(Battles(BattleFrame(one.table.drop(columns="item")))) for one in copies
    ]
    by_item = [bradley_terry_fit(one) for one in copies]
    assert np.mean([one.whole.p <= 0.05 for one in by_row]) > 0.3
    assert np.mean([one.whole.p <= 0.05 for one in by_item]) <= 0.15


@pytest.mark.slow
def test_intervals_cover_exact_residuals_and_the_planted_pair_is_named():
    truth = exact_residuals(planted())
    found = [bradley_terry_fit(verdicts(planted(), 150, seed)) for seed in range(100)]
    hits = []
    for one in found:
        for pair in one.residuals:
            a, b = int(pair.first[1:]), int(pair.second[1:])
            hits.append(pair.low <= truth[a, b] <= pair.high)
    assert np.mean(hits) == pytest.approx(0.95, abs=0.02)
    assert (
        np.mean(
            [{one.residuals[0].first, one.residuals[0].second} == {"m01", "m04"} for one in found]
        )
        >= 0.9
    )
    assert np.mean([one.whole.p <= 0.05 for one in found]) > 0.5


def test_pairs_that_are_hardly_judged_are_not_tested():
    battles = verdicts(by_strength(THETA), 6, 0)
    found = bradley_terry_fit(battles)
    assert (found.tested, found.missed, found.pairs) == (0, 0, 15)
    assert found.whole.why == "no joint test with 0 tested pairs on 6 items"


@pytest.mark.slow
def test_a_pair_that_only_won_is_tested_by_the_chance_of_that():
    """Where rates of 0.85 are expected, 150 wins of 150 happen with 0.85 ** 150; no variance is
    needed to see it."""
    rates = by_strength(np.array([-1.0, -0.3, 0.3, 1.0]))
    frame = verdicts(rates, 150, 1).to_frame()
    top = frame["model_a"].eq("m00") & frame["model_b"].eq("m03")
    found = bradley_terry_fit(read_battles(frame.assign(credit=frame["credit"].mask(top, 0.0))))
    miss = next(one for one in found.residuals if {one.first, one.second} == {"m00", "m03"})
    assert (miss.observed, miss.low) == (1.0, None)
    assert miss.p == pytest.approx(2 * miss.expected**150, rel=1e-9)


@pytest.mark.slow
def test_groups_that_never_met_are_an_error():
    rows = [("1", "A", "B", 1.0), ("1", "C", "D", 1.0)]
    with pytest.raises(NotIdentifiedError, match="never met"):
        bradley_terry_fit(
            read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
        )


@pytest.mark.slow
def test_fit_test_reports_that_a_tree_of_pairs_always_fits():
    rows = [(str(k), "A", other, float(k % 2)) for other in "BCD" for k in range(20)]
    stated = bradley_terry_fit(
        read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
    )
    assert isinstance(stated, Missing)
    assert "explain" in stated.why
