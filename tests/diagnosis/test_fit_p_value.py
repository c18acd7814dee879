"""The smallest p-value of all pairs and models is adjusted by as much as they are correlated."""

import numpy as np
import pytest
from planted_boards import CLEAN, KINDS, make_board

import podium
from podium.diagnosis.fit import bradley_terry_fit
from podium.diagnosis.fit_p_value import ModelTest, smallest_adjusted_p
from podium.distributions import ndtr


def test_tests_of_one_and_the_same_residual_count_once():
    influence = np.random.default_rng(0).normal(size=(60, 1)) @ np.ones((1, 3))
    p = np.array([0.02, 0.02, 0.02])
    assert smallest_adjusted_p(p, [], influence) == pytest.approx(0.02, abs=0.005)


def test_independent_residuals_count_as_often_as_they_are():
    influence = np.eye(40)[:, :10]
    p = np.full(10, 0.9)
    p[3] = 0.01
    assert smallest_adjusted_p(p, [], influence) == pytest.approx(1 - 0.99**10, abs=0.01)


def test_a_model_with_one_pair_adds_nothing_to_this_pair():
    influence = np.random.default_rng(1).normal(size=(60, 1))
    p = float(2 * ndtr(-2.2))
    tests = [ModelTest("ash", p, np.array([0]), 1)]
    assert smallest_adjusted_p(np.array([p]), tests, influence) == pytest.approx(p, abs=0.005)


@pytest.mark.slow
def test_the_adjusted_p_value_is_never_above_bonferronis():
    for seed in range(5):
        found = bradley_terry_fit(podium.read_battles(make_board(KINDS["odd pair"].world, seed)))
        tested = [pair.p for pair in found.residuals if pair.p is not None]
        assert min(tested) <= found.p <= 2 * min(len(tested) * min(tested), found.worst.p) + 1e-12


def test_without_a_test_there_is_no_p_value():
    assert smallest_adjusted_p(np.array([np.nan]), [], np.zeros((5, 0))) is None


def p_values(world, seeds):
    boards = [podium.read_battles(make_board(world, seed)) for seed in seeds]
    return np.array([bradley_terry_fit(board).p for board in boards])


@pytest.mark.slow
def test_boards_without_a_fault_have_a_p_value_below_five_percent_in_about_that_share():
    p = p_values(CLEAN["one judge, both orders"], range(300))
    assert 0.02 <= np.mean(p <= 0.05) <= 0.09


@pytest.mark.slow
def test_an_odd_pair_is_found_at_one_percent_in_nine_of_ten_boards():
    """The level of one of five tests; Bonferroni's rule finds 4% fewer."""
    p = p_values(KINDS["odd pair"].world, range(3000, 3200))
    assert np.mean(p <= 0.01) >= 0.9
