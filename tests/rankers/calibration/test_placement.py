"""One model among opponents of known strength: against a root finder, and its bootstrap against the
sandwich."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit, logit

from podium.errors import NotConvergedError
from podium.rankers.calibration.placement import (
    ModelBattles,
    bootstrap_se,
    fit_single_strength,
    fit_single_strengths,
    sandwich_se,
)
from podium.rankers.fit.newton import DesignMatrix, Likelihood, maximize
from podium.rankers.fit.scale import POINTS

RESAMPLES = 4000


def rng():
    return np.random.default_rng(0)


def surplus(t, theta, credit, weight, regularization):
    """The score equation, each term without cancellation."""
    return (
        np.sum(credit * expit(theta - t) - (weight - credit) * expit(t - theta))
        - regularization * t
    )


def root(theta, credit, weight, regularization):
    return brentq(
        surplus, -60, 60, args=(theta, credit, weight, regularization), xtol=1e-13, rtol=1e-14
    )


def placed(theta, credit, weight, regularization, start=0.0):
    columns = (np.array(values, dtype=float) for values in (theta, credit, weight))
    theta, credit, weight = columns
    return float(fit_single_strengths(theta, credit[None], weight[None], regularization, start)[0])


def opponents(shares):
    """Strength, weight, and the share of credit that each opponent left."""
    one = st.tuples(st.floats(-15, 15), st.floats(0.1, 50), shares)
    return st.lists(one, min_size=1, max_size=8).map(lambda rows: np.array(rows).T)


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(opponents(st.floats(0.01, 0.99)), st.sampled_from([0.0, 0.01, 1.0]))
def test_ratings_equal_a_root_finders(rows, regularization):
    theta, weight, share = rows
    expected = root(theta, share * weight, weight, regularization)
    assert placed(theta, share * weight, weight, regularization) == pytest.approx(
        expected, abs=1e-7
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(opponents(st.sampled_from([0.0, 0.5, 1.0])), st.sampled_from([0.01, 1.0]))
def test_regularised_ratings_of_clean_records_equal_a_root_finders(rows, regularization):
    theta, weight, share = rows
    expected = root(theta, share * weight, weight, regularization)
    assert placed(theta, share * weight, weight, regularization) == pytest.approx(
        expected, abs=1e-7
    )


@pytest.mark.parametrize("strength", [-15.0, 0.0, 15.0])
@pytest.mark.parametrize("wins", [1, 5, 999])
def test_one_opponent_has_the_closed_form_rating(strength, wins):
    """Its strength plus the logit of the share won."""
    assert placed([strength], [wins], [1000], 0.0) == pytest.approx(
        strength + logit(wins / 1000), abs=1e-8
    )


@pytest.mark.parametrize(
    "gap",
    [
        1.0,
        10.0,
        15.0,
        20.0,
        30.0,
    ],
)
def test_wins_below_and_losses_above_place_it_in_the_middle(gap):
    """Closed form by symmetry, without regularization."""
    assert placed([-gap, gap], [1, 0], [1, 1], 0.0, start=0.3) == pytest.approx(0.0, abs=1e-7)


def test_half_lambda_not_lambda_multiplies_the_squared_rating():
    """w (y - s(t)) = lambda t at the maximum of the lambda / 2 convention; twice that for lambda,
    the wrong variant."""
    t = placed([0.0], [9], [10], 0.7)
    assert 9 - 10 * expit(t) == pytest.approx(0.7 * t, abs=1e-8)
    assert 9 - 10 * expit(t) != pytest.approx(2 * 0.7 * t, abs=1e-2)


@pytest.mark.parametrize("regularization", [0.0, 0.01])
def test_without_battles_there_is_no_rating(regularization):
    assert np.isnan(placed([0.0, 1.0], [0, 0], [0, 0], regularization))


@pytest.mark.parametrize("credit", [0.0, 1.0])
def test_without_regularization_a_clean_record_has_no_rating(credit):
    assert np.isnan(placed([-1.0, 2.0], [3 * credit, 4 * credit], [3, 4], 0.0))


@pytest.mark.parametrize("credit", [0.0, 1.0])
def test_with_regularization_a_clean_record_has_a_rating(credit):
    t = placed([-1.0, 2.0], [3 * credit, 4 * credit], [3, 4], 0.01)
    assert np.sign(t) == 2 * credit - 1


def test_many_samples_at_once_equal_one_by_one():
    theta, draws = np.array([-2.0, 0.0, 3.0]), rng()
    weight = draws.integers(0, 5, (200, 3)).astype(float)
    credit = weight * draws.choice([0, 0.5, 1], (200, 3))
    together = fit_single_strengths(theta, credit, weight, 0.0)
    alone = [placed(theta, c, w, 0.0) for c, w in zip(credit, weight, strict=True)]
    assert np.isnan(together).any()
    assert together == pytest.approx(np.array(alone), abs=1e-12, nan_ok=True)


@pytest.mark.slow
@settings(deadline=None)
@given(opponents(st.floats(0.01, 0.99)), st.floats(-40, 40))
def test_where_it_starts_does_not_matter(rows, start):
    theta, weight, share = rows
    apart = placed(theta, share * weight, weight, 0.01, start)
    assert apart == pytest.approx(placed(theta, share * weight, weight, 0.01), abs=1e-7)


@pytest.mark.slow
@settings(deadline=None)
@given(opponents(st.floats(0.01, 0.9)), st.data())
def test_more_credit_never_lowers_the_rating(rows, data):
    theta, weight, share = rows
    better = share.copy()
    better[data.draw(st.integers(0, len(share) - 1))] += 0.05
    assert placed(theta, better * weight, weight, 0.01) > placed(
        theta, share * weight, weight, 0.01
    )


@pytest.mark.slow
@settings(deadline=None)
@given(opponents(st.floats(0.01, 0.99)), st.floats(-5, 5))
def test_without_regularization_the_rating_moves_with_its_opponents(rows, shift):
    theta, weight, share = rows
    moved = placed(theta + shift, share * weight, weight, 0.0)
    assert moved == pytest.approx(placed(theta, share * weight, weight, 0.0) + shift, abs=1e-7)


def own_of(credit, opponent=None, weight=None, cluster=None, theta=(0.0,)):
    size = len(credit)
    return ModelBattles(
        opponent=np.zeros(size, dtype=int) if opponent is None else opponent,
        credit=np.array(credit, dtype=float),
        weight=np.ones(size) if weight is None else weight,
        cluster=np.arange(size) if cluster is None else cluster,
        theta=np.array(theta),
    )


def many(seed=0, items=400, each=1, spread=0.0):
    """Battles of one model of strength 0.4 that share an error within their item."""
    draws = np.random.default_rng(seed)
    theta = np.array([-1.0, 0.0, 0.5, 1.5])
    opponent, cluster = draws.integers(0, 4, items * each), np.repeat(np.arange(items), each)
    chance = expit(0.4 + spread * draws.normal(size=items)[cluster] - theta[opponent])
    credit = (draws.random(items * each) < chance).astype(float)
    return own_of(credit, opponent, draws.uniform(0.5, 2, items * each), cluster, theta)


def sandwich(own, cluster, regularization):
    """The square root of the sum of squared cluster scores, over the information."""
    p = expit(fit_single_strength(own, regularization) - own.theta[own.opponent])
    score = np.bincount(cluster, own.weight * (own.credit - p))
    information = np.sum(own.weight * p * (1 - p)) + regularization
    return POINTS * np.sqrt(np.sum((score - score.mean()) ** 2)) / information


def error(own, regularization=0.01, resamples=RESAMPLES):
    return bootstrap_se(
        own, fit_single_strength(own, regularization), regularization, resamples, rng()
    )[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_bootstrap_error_of_single_battles_equals_the_sandwich(seed):
    own = many(seed)
    assert error(own) == pytest.approx(sandwich(own, own.cluster, 0.01), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_bootstrap_error_of_items_equals_the_clustered_sandwich(seed):
    own = many(seed, each=6, spread=2.0)
    assert error(own) == pytest.approx(sandwich(own, own.cluster, 0.01), rel=0.05)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("each", [1, 6])
def test_the_analytic_error_is_the_clustered_sandwich_and_that_of_many_resamples(each):
    own = many(1, each=each, spread=2.0)
    analytic = sandwich_se(own, fit_single_strength(own, 0.01), 0.01)
    assert analytic == pytest.approx(
        sandwich(own, own.cluster, 0.01) * np.sqrt(own.clusters / (own.clusters - 1))
    )
    assert analytic == pytest.approx(error(own), rel=0.05)


def test_bootstrap_and_analytic_errors_are_undefined_for_the_same_data():
    for credit, cluster in (([1.0, 0.0, 1.0], [0, 0, 0]), ([1.0, 1.0, 1.0], [0, 1, 2])):
        assert np.isnan(sandwich_se(own_of(credit, cluster=np.array(cluster)), 0.5, 0.01))
    items = own_of([1.0, 0.0, 0.0] * 10, cluster=np.repeat(np.arange(10), 3))
    assert sandwich_se(items, fit_single_strength(items, 0.0), 0.0) == pytest.approx(0.0, abs=1e-6)


def test_the_sandwich_of_single_battles_misses_what_items_share():
    """The wrong variant: the same check fails without clusters."""
    own = many(each=6, spread=2.0)
    assert error(own) != pytest.approx(sandwich(own, np.arange(len(own.credit)), 0.01), rel=0.2)


def doubled(own, cluster):
    twice = np.repeat(np.arange(len(own.credit)), 2)
    return own_of(own.credit[twice], own.opponent[twice], own.weight[twice], cluster, own.theta)


@pytest.mark.slow
def test_a_copy_of_every_battle_within_its_item_leaves_the_error_of_items():
    own = many()
    assert error(doubled(own, np.repeat(own.cluster, 2)), 0.0) == pytest.approx(
        error(own, 0.0), rel=1e-7
    )


@pytest.mark.slow
def test_a_copy_of_every_battle_shrinks_the_error_of_rows_by_root_two():
    own = many()
    copies = doubled(own, np.arange(2 * len(own.credit)))
    assert error(copies, 0.0) == pytest.approx(error(own, 0.0) / np.sqrt(2), rel=0.05)


def test_battles_that_all_say_the_same_have_no_error():
    assert error(own_of([0.7] * 30), 0.0) == pytest.approx(0.0, abs=1e-6)


def test_items_of_the_same_content_have_no_error_though_battles_within_differ():
    own = own_of([1.0, 0.0, 0.0] * 10, cluster=np.repeat(np.arange(10), 3))
    assert error(own, 0.0) == pytest.approx(0.0, abs=1e-6)
    assert error(own_of([1.0, 0.0, 0.0] * 10), 0.0) > 10


def test_one_cluster_has_no_bootstrap_error():
    assert np.isnan(error(own_of([1.0, 0.0, 1.0], cluster=np.zeros(3, dtype=int))))


def test_one_resample_has_no_bootstrap_error():
    assert np.isnan(error(many(), resamples=1))


@pytest.mark.slow
def test_two_resamples_have_an_unbiased_variance():
    """Dividing by their number, the wrong variant, would halve it."""
    own = many(items=100)
    centre = fit_single_strength(own, 0.01)
    drawn = [
        bootstrap_se(own, centre, 0.01, 2, np.random.default_rng(seed))[0] for seed in range(2000)
    ]
    assert np.mean(np.square(drawn)) == pytest.approx(
        sandwich(own, own.cluster, 0.01) ** 2, rel=0.15
    )


@pytest.mark.parametrize("regularization", [0.0, 0.01])
def test_resamples_of_wins_only_are_counted_and_left_out(regularization):
    """One loss in 5 battles: 0.8 ** 5 of the resamples are without it; averaged in, they would be
    huge numbers."""
    own = own_of([1.0, 1.0, 1.0, 1.0, 0.0])
    se, lost = bootstrap_se(
        own, fit_single_strength(own, regularization), regularization, 4000, rng()
    )
    assert lost / 4000 == pytest.approx(0.8**5, abs=0.03)
    assert 0 < se < 150


def test_the_same_generator_draws_the_same_error():
    assert error(many(), resamples=50) == error(many(), resamples=50)


def test_weights_and_credits_add_up_per_opponent():
    own = own_of(
        [1.0, 0.5, 0.0], np.array([2, 0, 2]), np.array([3.0, 2.0, 4.0]), theta=(0.0, 0.0, 0.0)
    )
    credit, weight = own.opponent_sums()
    assert (credit.tolist(), weight.tolist()) == ([1.0, 0.0, 3.0], [2.0, 0.0, 7.0])


@pytest.mark.parametrize(
    ("credit", "separated"),
    [([1, 1], True), ([0, 0], True), ([1, 0], False), ([1, 0.5], False), ([0.9, 0.9], False)],
)
def test_a_record_of_wins_only_or_losses_only_is_separated(credit, separated):
    assert own_of(credit).is_separated is separated


@pytest.mark.parametrize("spoilt", [np.nan, np.inf])
@pytest.mark.parametrize("columns", [1, 2])
def test_a_newton_step_rejects_values_that_are_not_finite(spoilt, columns):
    rows = np.column_stack([np.ones(3), [0.0, 1.0, 2.0]])[:, :columns]
    weight = np.array([1.0, 1.0, spoilt])
    likelihood = Likelihood(DesignMatrix(rows), 0.5 * weight, weight, np.ones(columns))
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(NotConvergedError, match=r"not finite|could not be solved"),
    ):
        maximize(likelihood)
