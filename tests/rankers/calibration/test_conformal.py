"""Conformal quantiles: exact indices, crepes, exact coverage by exchangeability, and half
splits."""

import math
from fractions import Fraction

import numpy as np
import pytest
from crepes import ConformalRegressor
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from podium.rankers.calibration.calibration import models_needed
from podium.rankers.calibration.conformal import half_splits, quantile

LEVELS = st.integers(1, 999).map(lambda thousandths: thousandths / 1000)
SCORES = st.lists(st.floats(0, 1e6), min_size=1, max_size=60).map(np.array)
BOUNDARIES = [(1, 0.5), (4, 0.8), (9, 0.9), (19, 0.95), (39, 0.975), (99, 0.99), (999, 0.999)]


def index(number, level):
    """ceil(level * (n + 1)), in exact arithmetic of the level as it is written."""
    return math.ceil(Fraction(repr(float(level))) * (number + 1))


def by_rank(scores, level):
    """The score of that rank; infinite if there are fewer."""
    rank = index(len(scores), level)
    return float(np.sort(scores)[rank - 1]) if rank <= len(scores) else math.inf


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("number", "level"), BOUNDARIES)
def test_the_fewest_scores_that_a_level_needs_are_exact(number, level):
    assert models_needed(level) == number


@pytest.mark.parametrize(("number", "level"), BOUNDARIES)
def test_with_the_fewest_scores_the_quantile_is_the_largest(number, level):
    scores = rng().permutation(number) + 1.0
    assert index(number, level) == number
    assert quantile(scores, level) == number


@pytest.mark.parametrize(("number", "level"), BOUNDARIES)
def test_with_one_score_fewer_the_quantile_is_infinite(number, level):
    assert index(number - 1, level) == number
    assert quantile(np.arange(number - 1.0), level) == math.inf


@pytest.mark.parametrize(
    ("number", "level", "expected"), [(10, 0.9, 10), (19, 0.9, 18), (20, 0.9, 19), (99, 0.5, 50)]
)
def test_indices_worked_by_hand(number, level, expected):
    """ceil(0.9 * 11) = ceil(9.9), 0.9 * 20, ceil(0.9 * 21) = ceil(18.9), 0.5 * 100."""
    assert index(number, level) == expected


def test_indices_in_floating_point_would_be_off_by_one():
    """The wrong variant: 0.07 * 100 is 7.000000000000001 there."""
    assert index(99, 0.07) == 7
    assert math.ceil(0.07 * 100) == 8


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(1, 999))
def test_a_level_needs_the_fewest_scores_whose_index_is_theirs(thousandths):
    level = thousandths / 1000
    fewest = models_needed(level)
    assert index(fewest, level) <= fewest
    assert fewest == 1 or index(fewest - 1, level) > fewest - 1


def crepes_half_width(scores, sigma, level):
    """Half the width of a normalised split conformal interval: residuals are scores times their
    sigmas."""
    residuals, sigmas = scores * sigma, sigma
    regressor = ConformalRegressor()
    regressor.fit(residuals, sigmas=sigmas)
    return regressor.predict_int(np.zeros(1), sigmas=np.ones(1), confidence=level)[0, 1]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the no. of calibration examples")
@settings(deadline=None, max_examples=200)
@given(st.integers(1, 150), st.integers(1, 999), st.integers(0, 100))
def test_quantiles_equal_crepes_where_no_product_is_whole(number, thousandths, seed):
    """crepes takes the floor of (1 - level) (n + 1), which rounding can only move at whole
    numbers."""
    assume((1000 - thousandths) * (number + 1) % 1000)
    draws, level = rng(seed), thousandths / 1000
    scores, sigma = draws.exponential(size=number), draws.uniform(0.5, 2, number)
    assert quantile(scores, level) == pytest.approx(
        crepes_half_width(scores, sigma, level), rel=1e-12
    )


@pytest.mark.parametrize(("number", "level"), [(19, 0.95), (99, 0.99), (39, 0.5)])
def test_quantiles_equal_crepes_where_its_whole_products_round_well(number, level):
    scores = rng().exponential(size=number)
    assert quantile(scores, level) == pytest.approx(
        crepes_half_width(scores, np.ones(number), level), rel=1e-12
    )


@pytest.mark.filterwarnings("ignore:the no. of calibration examples")
@pytest.mark.parametrize(("number", "level"), [(9, 0.9), (4, 0.8)])
def test_crepes_leaves_intervals_infinite_that_exact_arithmetic_closes(number, level):
    """The documented difference: 1 - 0.9 is 0.09999999999999998, and ten times that falls short of
    one."""
    scores = rng().exponential(size=number)
    assert crepes_half_width(scores, np.ones(number), level) == math.inf
    assert quantile(scores, level) == scores.max()


@pytest.mark.slow
@settings(deadline=None)
@given(SCORES, LEVELS, LEVELS)
def test_a_higher_level_never_gives_a_smaller_quantile(scores, one, other):
    assert quantile(scores, min(one, other)) <= quantile(scores, max(one, other))


@pytest.mark.slow
@settings(deadline=None)
@given(SCORES, LEVELS, st.integers(0, 100))
def test_the_order_of_scores_changes_nothing(scores, level, seed):
    shuffled = rng(seed).permutation(scores)
    assert quantile(shuffled, level) == quantile(scores, level)


@pytest.mark.slow
@settings(deadline=None)
@given(SCORES, LEVELS, st.floats(0.01, 100))
def test_units_of_the_scores_carry_over_to_the_quantile(scores, level, factor):
    assert quantile(factor * scores, level) == factor * quantile(scores, level)


@pytest.mark.slow
@settings(deadline=None)
@given(SCORES, LEVELS)
def test_quantiles_are_where_sorting_puts_them(scores, level):
    padded = [*sorted(scores), math.inf]
    assert quantile(scores, level) == padded[index(len(scores), level) - 1]


def test_scores_are_left_in_their_order():
    scores = np.array([3.0, 1.0, 2.0])
    quantile(scores, 0.5)
    assert scores.tolist() == [3.0, 1.0, 2.0]


@pytest.mark.slow
@settings(deadline=None)
@given(SCORES, LEVELS)
def test_the_quantile_is_the_score_of_an_exact_rank(scores, level):
    assert quantile(scores, level) == by_rank(scores, level)


def test_without_models_the_quantile_is_infinite():
    assert quantile(np.empty(0), 0.5) == math.inf


@pytest.mark.parametrize(("number", "level"), BOUNDARIES)
@pytest.mark.parametrize("spare", [-1, 0, 1])
def test_the_quantile_is_exact_at_the_boundary(number, level, spare):
    scores = np.arange(max(number + spare, 1), dtype=float)
    assert quantile(scores, level) == by_rank(scores, level)


@pytest.mark.parametrize(("number", "level"), [(99, 0.07), (24, 0.28), (99, 0.55)])
def test_products_that_round_up_past_a_whole_number_leave_the_quantile_exact(number, level):
    """0.07 * 100 is 7.000000000000001 in floating point, and so on."""
    scores = np.arange(float(number))
    assert level * (number + 1) > round(level * (number + 1))
    assert quantile(scores, level) == by_rank(scores, level)


def exact_coverage(number, level, rule=quantile):
    """Share of the n + 1 equally likely ranks of a newcomer at which its score lies within the
    others' quantile."""
    ranks = np.arange(number + 1.0)
    return np.mean([own <= rule(np.delete(ranks, k), level) for k, own in enumerate(ranks)])


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("number", [1, 4, 5, 8, 9, 10, 27, 55])
def test_coverage_of_exchangeable_scores_has_its_closed_form(number, level):
    """min(ceil(level (n + 1)), n + 1) / (n + 1): never below the level, nor above it by more than 1
    / (n + 1)."""
    found = exact_coverage(number, level)
    assert found == pytest.approx(index(number, level) / (number + 1))
    assert level - 1e-12 <= found < level + 1 / (number + 1)


def clipped(scores, level):
    return np.sort(scores)[min(index(len(scores), level), len(scores)) - 1]


def test_an_index_cut_down_to_the_number_of_scores_covers_too_little():
    """The wrong variant: with 5 scores, 5 / 6 instead of 90%; ours is infinite."""
    assert exact_coverage(5, 0.9, clipped) == pytest.approx(5 / 6)
    assert exact_coverage(5, 0.9, clipped) < 0.9 <= exact_coverage(5, 0.9)


@pytest.mark.parametrize(("number", "level"), [(9, 0.9), (27, 0.9), (20, 0.8)])
def test_simulated_scores_are_covered_as_the_closed_form_says(number, level):
    draws = rng().exponential(size=(4000, number + 1))
    found = np.mean([row[-1] <= quantile(row[:-1], level) for row in draws])
    assert found == pytest.approx(index(number, level) / (number + 1), abs=0.02)


def residuals(number, seed=0):
    draws = rng(seed)
    se = draws.uniform(5, 50, number)
    return se * draws.standard_normal(number), se


@pytest.mark.parametrize(("number", "level"), [(17, 0.9), (37, 0.95), (2, 0.8), (0, 0.9)])
def test_halves_too_small_for_the_level_are_not_split(number, level):
    assert half_splits(*residuals(number), level, 5, rng()) is None


@pytest.mark.parametrize(("number", "level"), [(18, 0.9), (38, 0.95), (8, 0.8)])
def test_halves_just_large_enough_are_split(number, level):
    _, width = half_splits(*residuals(number), level, 5, rng())
    assert np.isfinite(width).all()


def test_no_splits_give_none():
    assert half_splits(*residuals(50), 0.9, 0, rng()) is None


def test_an_odd_number_tests_on_one_more_than_it_calibrates_on():
    coverage, width = half_splits(*residuals(55), 0.9, 5, rng())
    assert (len(coverage), len(width)) == (5, 5)
    assert 28 * coverage == pytest.approx(np.round(28 * coverage))
    assert not np.allclose(27 * coverage, np.round(27 * coverage))


@pytest.mark.slow
@pytest.mark.parametrize(("number", "level"), [(60, 0.9), (60, 0.8), (55, 0.5)])
def test_half_splits_of_independent_residuals_cover_as_the_closed_form_says(number, level):
    half = number // 2
    found = [
        half_splits(*residuals(number, seed), level, 5, rng(seed))[0].mean() for seed in range(400)
    ]
    assert np.mean(found) == pytest.approx(index(half, level) / (half + 1), abs=0.015)


def test_coverage_on_the_calibrating_half_is_too_high():
    """The wrong variant: 9 of 9 scores lie within their own largest, where 9 of 10 of others do."""
    found = [half_splits(*residuals(18, seed), 0.9, 5, rng(seed))[0].mean() for seed in range(400)]
    scores = rng().exponential(size=9)
    assert np.mean(found) == pytest.approx(0.9, abs=0.015)
    assert np.mean(scores <= quantile(scores, 0.9)) != pytest.approx(0.9, abs=0.015)


def test_conformal_halves_partition_the_models():
    """Residuals 0 to 17, errors of 1, q the largest of 9: of the v + 1 residuals up to q = v, 9 are
    the used ones."""
    coverage, width = half_splits(np.arange(18.0), np.ones(18), 0.9, 50, rng())
    assert coverage == pytest.approx((width / 2 + 1 - 9) / 9)


def test_independently_drawn_halves_would_share_models():
    """The wrong variant fails the check of the test before."""
    draws = rng()
    used, held = (np.array([draws.permutation(18)[:9] for _ in range(50)]) for _ in range(2))
    q = used.max(axis=1)
    coverage = (held <= q[:, None]).mean(axis=1)
    assert coverage != pytest.approx((q + 1 - 9) / 9)


def test_widths_are_twice_q_times_the_median_error():
    """Every score is 2, so that q is 2 whatever the halves; errors are 10."""
    coverage, width = half_splits(np.full(40, -20.0), np.full(40, 10.0), 0.9, 5, rng())
    assert width == pytest.approx(np.full(5, 40.0))
    assert coverage == pytest.approx(np.ones(5))


def test_the_sign_of_residuals_changes_nothing():
    residual, se = residuals(40)
    plus, minus = (half_splits(sign * residual, se, 0.9, 5, rng()) for sign in (1, -1))
    assert [values.tolist() for values in plus] == [values.tolist() for values in minus]
