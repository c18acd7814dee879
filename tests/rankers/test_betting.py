"""Tests by betting: their wealth by hand, validity at every look, and what they allow for."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import podium
from podium.errors import UsageError
from podium.rankers.errors.betting import SHARES, betting_difference, betting_interval


def wealth_by_hand(values, null, least):
    """The mean wealth of the gamblers, one item after the other."""
    wealth = [1.0] * len(SHARES)
    for value in values:
        for k, share in enumerate(SHARES):
            wealth[k] *= 1 + share * (value - null) / (null - least)
    return sum(wealth) / len(wealth)


@pytest.mark.parametrize("null", [-0.5, 0.0, 0.2])
def test_p_values_are_those_of_the_wealth_of_gamblers(null):
    values = [0.5, -0.2, 1.0, 0.3, 0.0, 0.7, -1.0]
    test = betting_difference(np.array(values), 1.0)
    above = min(1.0, 1 / wealth_by_hand(values, null, -1.0))
    below = min(1.0, 1 / wealth_by_hand([-value for value in values], -null, -1.0))
    assert test.p_above(null) == pytest.approx(above, rel=1e-12)
    assert test.p_below(null) == pytest.approx(below, rel=1e-12)


def test_a_bet_on_two_values_is_fair_if_the_mean_is_the_assumed_one():
    """The expected wealth over all outcomes of 12 items, enumerated, is 1."""
    share, expected = 0.3, 0.0
    for wins in range(13):
        values = np.array([1.0] * wins + [0.0] * (12 - wins))
        p_value = betting_difference(values - share, 1.0).p_above(0.0)
        expected += binom.pmf(wins, 12, share) * min(
            1 / p_value, wealth_by_hand(values - share, 0.0, -1.0)
        )
    assert expected <= 1 + 1e-12


def test_order_of_items_single_groups_and_equal_weights_change_nothing():
    values = np.random.default_rng(1).uniform(-1, 1, 40)
    plain = betting_difference(values, 1.0)
    others = [
        betting_difference(values[::-1], 1.0),
        betting_difference(values, 1.0, np.full(40, 3.0)),
        betting_difference(values, 1.0, None, np.arange(40) * 7),
    ]
    for other in others:
        assert other.p_value == pytest.approx(plain.p_value, rel=1e-9)
        assert other.interval(0.95) == pytest.approx(plain.interval(0.95), abs=1e-7)


def test_copies_of_items_in_groups_are_no_evidence():
    values = np.random.default_rng(2).uniform(-0.2, 1, 30)
    plain = betting_difference(values, 1.0)
    copied = betting_difference(np.repeat(values, 20), 1.0, None, np.repeat(np.arange(30), 20))
    assert copied.items == 30
    assert copied.p_value == pytest.approx(plain.p_value, rel=1e-9)


def test_interval_holds_what_the_test_does_not_reject():
    values = np.random.default_rng(3).uniform(-0.3, 1, 80)
    test = betting_difference(values, 1.0)
    low, high = test.interval(0.9)
    assert test.p_above(low) == pytest.approx(0.05, abs=1e-6)
    assert test.p_below(high) == pytest.approx(0.05, abs=1e-6)


def test_means_of_only_right_answers_have_a_lower_end_below_the_rule_of_three():
    low, high = betting_interval(np.ones(100), np.ones(100), 0.05)
    exact = 0.025 ** (1 / 100)
    assert high == 1
    assert 0.9 < low < exact


@pytest.mark.slow
@pytest.mark.parametrize("draw", ["rare losses", "right or wrong"])
def test_looking_after_every_item_finds_a_false_difference_in_at_most_five_percent(draw):
    """1,000 worlds of 300 items and a true mean of 0; the bound has a 99% binomial margin."""
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(1000):
        values = np.where(rng.random(300) < 0.05, -1.0, 0.05 / 0.95)
        if draw == "right or wrong":
            values = rng.integers(-1, 2, 300).astype(float)
        found += any(betting_difference(values[:n], 1.0).p_above() <= 0.05 for n in range(1, 301))
    assert found <= binom.ppf(0.99, 1000, 0.05)


@pytest.fixture
def rare_loss(tmp_path):
    """Scores of which no sampled item shows a loss: gains of 0.01 on 40 items."""
    rng = np.random.default_rng(5)
    old = rng.uniform(0.2, 0.9, 40)
    path = tmp_path / "scores.csv"
    pd.DataFrame({"item": range(40), "new": old + 0.01, "old": old}).to_csv(path, index=False)
    return str(path)


@pytest.mark.slow
def test_a_gate_by_betting_does_not_pass_on_gains_that_a_rare_loss_could_undo(rare_loss):
    default = podium.compare("new", "old", rare_loss, require="better")
    betting = podium.compare("new", "old", rare_loss, require="better", method="betting")
    assert default.gate.verdict == "PASS"
    assert "(--method betting allows for it)" in default.answer[0]
    assert betting.gate.verdict == "UNDECIDED"
    assert "betting" in betting.findings[0].difference.method
    plain = podium.compare("new", "old", rare_loss, method="betting")
    assert any("may be added and the test made again" in sentence for sentence in plain.answer)


@pytest.mark.slow
def test_verdicts_are_compared_by_win_rate_and_elo_is_refused(tmp_path):
    path = tmp_path / "battles.csv"
    rows = [
        {"item": k, "model_a": "a", "model_b": "b", "credit": float(k % 10 > 0)} for k in range(60)
    ]
    pd.DataFrame(rows).to_csv(path, index=False)
    found = podium.compare("a", "b", str(path), method="betting").findings[0]
    assert found.measure == "win-rate"
    assert found.is_distinguishable
    assert found.further_items is None
    with pytest.raises(UsageError, match="measure win-rate"):
        podium.compare("a", "b", str(path), method="betting", measure="elo")


@pytest.mark.slow
def test_scores_without_bounds_are_refused(tmp_path):
    path = tmp_path / "scores.csv"
    pd.DataFrame({"item": range(9), "new": range(9), "old": range(1, 10)}).to_csv(path, index=False)
    with pytest.raises(UsageError, match="scores from 0 to 1"):
        podium.compare("new", "old", str(path), method="betting")
    with pytest.raises(UsageError, match="scores from 0 to 1"):
        podium.rank(podium.read_battles(str(path)), "mean", interval="betting")


def test_means_by_betting_have_rank_sets_and_no_standard_errors(tmp_path):
    rng = np.random.default_rng(6)
    right = (rng.random((80, 3)) < (0.95, 0.5, 0.45)).astype(float)
    path = tmp_path / "scores.csv"
    pd.DataFrame(right, columns=["a", "b", "c"]).assign(item=range(80)).to_csv(path, index=False)
    standings = podium.rank(podium.read_battles(str(path)), "mean", interval="betting").standings[0]
    sets = {entry.model: (entry.rank_low, entry.rank_high) for entry in standings.entries}
    assert sets == {"a": (1, 1), "b": (2, 3), "c": (2, 3)}
    for entry in standings.entries:
        assert entry.se is None
        assert entry.low < right.mean(axis=0)["abc".index(entry.model)] < entry.high


def test_the_name_of_the_test_says_that_items_have_weights():
    differences = np.array([0.2, 0.1, -0.1, 0.3])
    assert betting_difference(differences, 1.0).method == "betting, paired by item"
    weighted = betting_difference(differences, 1.0, np.array([1.0, 2.0, 1.0, 1.0]))
    assert weighted.method == "betting, paired by item, weighted"
