"""The map from signal to preference against statsmodels, closed forms, and data that have no finite
map."""

from types import SimpleNamespace

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import t

from podium import NotIdentifiedError
from podium.rankers.calibration.evidence import Evidence
from podium.rankers.calibration.signals import Signal
from podium.rankers.errors.intervals import t_quantile

SHAPES = pytest.mark.parametrize("features", [1, 2, 5])


def preferences(features, seed=0, rows=300, items=40):
    """Features, verdicts that share an error within each item, and items."""
    rng = np.random.default_rng(seed)
    x, item = rng.normal(0.2, 1, (rows, features)), rng.integers(0, items, rows)
    shift = rng.normal(0, 1.5, items)[item]
    y = (rng.random(rows) < expit(x @ rng.uniform(0.2, 1, features) + shift)).astype(float)
    return x, y, item


def evidence(x, y, weight=None, penalty=None, item=None):
    """Battles of two models with this signal x and human label y."""
    rows, features = x.shape
    penalty = np.zeros((features, features)) if penalty is None else penalty
    signal = SimpleNamespace(
        kind="margin", x=x, is_known=np.ones(rows, dtype=bool), penalty=penalty
    )
    zeros = np.zeros(rows, dtype=int)
    return Evidence(
        first=zeros,
        second=zeros + 1,
        hard=np.sign(x[:, 0]) / 2 + 0.5,
        human=y,
        signal=signal,
        margin=x[:, 0],
        weight=np.ones(rows) if weight is None else weight,
        cluster=zeros if item is None else item,
        unit="item",
        models=("p", "q"),
    )


def ridge_penalty(features, ridge):
    return Signal("criteria", tuple("abcdefgh"[:features]), np.empty((0, features)), ridge).penalty


def plain_fit(x, y, weight=None, penalty=None):
    return evidence(x, y, weight, penalty).fit_weights()


def binomial(x, y, weight=None, **options):
    return sm.GLM(y, x, family=sm.families.Binomial(), freq_weights=weight).fit(
        tol=1e-14, **options
    )


def clustered(x, y, item, weight=None, penalty=None):
    """Weights, their covariance, and the number of clusters."""
    return evidence(x, y, weight, penalty, item).fit_with_covariance()


def score(x, y, weights):
    return x.T @ (y - expit(x @ weights))


def share_of_score(x, y, weights):
    """The gradient at a point, relative to the sum of its terms' sizes."""
    return np.abs(score(x, y, weights)).max() / np.abs(x * (y - expit(x @ weights))[:, None]).sum()


@SHAPES
def test_weights_equal_a_statsmodels_glm_without_intercept(features):
    x, y, _ = preferences(features)
    assert plain_fit(x, y) == pytest.approx(binomial(x, y).params, abs=1e-9)


def test_a_glm_with_an_intercept_has_other_weights():
    """The wrong variant: an intercept would favour whichever side has the lower code."""
    x, y, _ = preferences(2)
    assert plain_fit(x, y) != pytest.approx(binomial(sm.add_constant(x), y).params[1:], abs=1e-3)


@SHAPES
def test_fractional_preferences_equal_a_statsmodels_glm(features):
    x, _, _ = preferences(features)
    y = np.random.default_rng(1).choice([0, 0.25, 0.4, 0.75, 1], len(x))
    assert plain_fit(x, y) == pytest.approx(binomial(x, y).params, abs=1e-9)


@SHAPES
def test_weighted_battles_equal_frequency_weights_of_statsmodels(features):
    x, y, _ = preferences(features)
    weight = np.random.default_rng(2).uniform(0.1, 5, len(y))
    assert plain_fit(x, y, weight) == pytest.approx(binomial(x, y, weight).params, abs=1e-9)


@SHAPES
def test_the_clustered_covariance_equals_statsmodels_without_its_correction_times_ours(features):
    """B (sum_g s_g s_g') B with B the inverse information, times G / (G - 1); scores add up to 0 at
    the maximum."""
    x, y, item = preferences(features)
    theirs = binomial(
        x, y, cov_type="cluster", cov_kwds={"groups": item, "use_correction": False}
    ).cov_params()
    _, covariance, clusters = clustered(x, y, item)
    assert covariance == pytest.approx(theirs * clusters / (clusters - 1), rel=1e-7)


@SHAPES
def test_the_default_correction_of_statsmodels_is_ours_times_that_of_the_rows(features):
    """Theirs is G / (G - 1) (n - 1) / (n - k); ours leaves the second factor out."""
    x, y, item = preferences(features)
    theirs = binomial(x, y, cov_type="cluster", cov_kwds={"groups": item}).cov_params()
    assert clustered(x, y, item)[1] * (len(y) - 1) / (len(y) - features) == pytest.approx(
        theirs, rel=1e-7
    )


def test_errors_of_single_rows_are_too_small_where_items_share_theirs():
    """The wrong variant: each row a cluster of its own."""
    x, y, item = preferences(1, rows=2000, items=20)
    x = np.abs(x)
    rows, items = (clustered(x, y, cluster)[1][0, 0] for cluster in (np.arange(len(y)), item))
    assert rows < items / 4


def test_a_battle_of_weight_three_is_three_battles_of_its_item():
    x, y, item = preferences(2)
    weight = np.random.default_rng(3).integers(1, 4, len(y))
    thrice = np.repeat(np.arange(len(y)), weight)
    single, repeated = (
        clustered(x, y, item, weight.astype(float)),
        clustered(x[thrice], y[thrice], item[thrice]),
    )
    assert single[1] == pytest.approx(repeated[1], rel=1e-9)


def test_under_a_ridge_the_scores_of_items_are_centred_on_their_mean():
    """They add up to P b then, not to 0: a plain loop over items."""
    x, y, item = preferences(3, rows=60, items=8)
    penalty = ridge_penalty(3, 20.0)
    found = clustered(x, y, item, penalty=penalty)
    p = expit(x @ found[0])
    scores = np.array([score(x[item == g], y[item == g], found[0]) for g in np.unique(item)])
    away = scores - scores.mean(axis=0)
    bread = np.linalg.inv(x.T @ np.diag(p * (1 - p)) @ x + penalty)
    assert scores.sum(axis=0) == pytest.approx(penalty @ found[0], abs=1e-8)
    assert found[1] == pytest.approx(8 / 7 * bread @ (away.T @ away) @ bread, rel=1e-9)


def test_how_items_are_numbered_changes_nothing():
    x, y, item = preferences(2)
    assert clustered(x, y, 7 * item - 3)[1] == pytest.approx(clustered(x, y, item)[1], rel=1e-12)


def test_a_single_item_gives_weights_and_no_error():
    x, y, _ = preferences(2)
    found = clustered(x, y, np.zeros(len(y), dtype=int))
    assert found[0] == pytest.approx(plain_fit(x, y))
    assert np.isnan(found[1]).all()


def test_clusters_are_counted():
    x, y, item = preferences(1)
    assert clustered(x, y, item)[2] == len(set(item))


@pytest.mark.parametrize(("clusters", "level"), [(2, 0.9), (5, 0.95), (400, 0.99)])
def test_errors_become_intervals_by_student_quantiles(clusters, level):
    quantile = t_quantile(clusters, level)
    assert t.sf(quantile, clusters - 1) == pytest.approx((1 - level) / 2, rel=1e-12)


def test_single_cluster_gives_no_interval():
    assert np.isnan(t_quantile(1, 0.9))


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(1, 500), st.integers(1, 500), st.integers(0, 50))
def test_one_signed_feature_has_the_logit_of_the_share_of_agreement(agree, disagree, silent):
    """Closed form: x in {-1, 0, 1}, and rows at 0 say nothing."""
    sign = np.tile([1.0, -1.0], 600)
    x = np.concatenate([sign[: agree + disagree], np.zeros(silent)])
    y = np.concatenate(
        [sign[:agree] > 0, sign[agree : agree + disagree] < 0, np.ones(silent)]
    ).astype(float)
    assert plain_fit(x[:, None], y) == pytest.approx([logit(agree / (agree + disagree))], abs=1e-8)


def test_a_ridge_of_zero_equals_statsmodels():
    x, y, _ = preferences(4)
    assert plain_fit(x, y, penalty=ridge_penalty(4, 0.0)) == pytest.approx(
        binomial(x, y).params, abs=1e-9
    )


@pytest.mark.parametrize("features", [2, 5])
def test_a_large_ridge_gives_equal_weights_those_of_the_sum_of_features(features):
    x, y, _ = preferences(features)
    alone = plain_fit(x.sum(axis=1, keepdims=True), y)
    assert plain_fit(x, y, penalty=ridge_penalty(features, 1e8)) == pytest.approx(
        np.repeat(alone, features), abs=1e-5
    )


def test_a_ridge_towards_zero_would_flatten_the_mean_too():
    """The wrong variant of the penalty: weights vanish instead of becoming equal."""
    x, y, _ = preferences(3)
    alone = plain_fit(x.sum(axis=1, keepdims=True), y)
    towards_zero = plain_fit(x, y, penalty=1e8 * np.eye(3))
    assert towards_zero != pytest.approx(np.repeat(alone, 3), abs=1e-2)
    assert towards_zero == pytest.approx(np.zeros(3), abs=1e-5)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=6), st.floats(0, 100))
def test_the_ridge_is_the_sum_of_squares_about_the_mean(weights, ridge):
    b = np.array(weights)
    expected = ridge * float(np.sum((b - b.mean()) ** 2))
    assert b @ ridge_penalty(len(b), ridge) @ b == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("ridge", [1.0, 30.0])
def test_the_penalised_maximum_equals_a_general_optimisers(ridge):
    """Half the ridge enters the likelihood."""
    x, y, _ = preferences(3)

    def loss(b):
        logits = x @ b
        return np.sum(np.logaddexp(0, logits) - y * logits) + ridge / 2 * np.sum(
            (b - b.mean()) ** 2
        )

    found = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-7})
    assert plain_fit(x, y, penalty=ridge_penalty(3, ridge)) == pytest.approx(found.x, abs=1e-6)


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(st.floats(1e-3, 1e3), st.integers(0, 20))
def test_units_of_the_signal_divide_the_weights(factor, seed):
    x, y, _ = preferences(2, seed)
    assert factor * plain_fit(factor * x, y) == pytest.approx(plain_fit(x, y), rel=1e-8)


def test_ten_times_the_margins_give_a_tenth_of_the_weights_and_of_their_errors():
    x, y, item = preferences(3)
    once, ten = clustered(x, y, item), clustered(10 * x, y, item)
    assert 10 * ten[0] == pytest.approx(once[0], rel=1e-9)
    assert 100 * ten[1] == pytest.approx(once[1], rel=1e-8)


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_turning_battles_round_and_shuffling_them_change_nothing(seed):
    x, y, item = preferences(2)
    rng = np.random.default_rng(seed)
    order, turn = rng.permutation(len(y)), rng.random(len(y)) < 0.5
    turned = np.where(turn[:, None], -x, x)[order], np.where(turn, 1 - y, y)[order], item[order]
    once, again = clustered(x, y, item), clustered(*turned)
    assert again[0] == pytest.approx(once[0], abs=1e-10)
    assert again[1] == pytest.approx(once[1], rel=1e-8)


def undamped(x, y, start, steps=20):
    """Newton's method as in a textbook."""
    with np.errstate(all="ignore"):
        for _ in range(steps):
            p = expit(x * start)
            start = start + np.sum(x * (y - p)) / np.sum(x * x * p * (1 - p))
    return start


def test_a_start_far_from_the_maximum_finds_it_where_undamped_steps_run_away():
    x, y = np.ones(100), np.repeat([1.0, 0.0], [75, 25])
    assert evidence(x[:, None], y).fit_weights(start=np.array([8.0])) == pytest.approx(
        [np.log(3)], abs=1e-9
    )
    assert not abs(undamped(x, y, 8.0) - np.log(3)) < 1e-3


@pytest.mark.parametrize("features", [1, 3])
def test_signals_that_always_agree_with_humans_have_no_finite_map(features):
    x = np.abs(np.random.default_rng(0).normal(0.5, 1, (50, features)))
    with pytest.raises(NotIdentifiedError, match="humans agree with its sign every time"):
        plain_fit(x, np.ones(50))


def test_signals_that_always_contradict_human_labels_have_no_finite_map():
    with pytest.raises(NotIdentifiedError, match="no finite maximum"):
        plain_fit(np.linspace(0.1, 3, 50)[:, None], np.zeros(50))


def test_one_feature_that_always_agrees_is_enough_to_have_no_finite_map():
    x, y, _ = preferences(1)
    rare = np.where(np.arange(len(y)) < 10, 2 * y - 1, 0.0)
    with pytest.raises(NotIdentifiedError, match="no finite maximum"):
        plain_fit(np.column_stack([x, rare]), y)


def test_one_disagreement_bounds_the_map():
    x = np.linspace(0.1, 3, 50)[:, None]
    y = np.ones(50)
    y[20] = 0
    assert score(x, y, plain_fit(x, y)) == pytest.approx([0.0], abs=1e-8)


def test_preferences_short_of_certainty_bound_a_map_that_always_agrees():
    x = np.linspace(0.1, 3, 50)[:, None]
    assert score(x, np.full(50, 0.9), plain_fit(x, np.full(50, 0.9))) == pytest.approx(
        [0.0], abs=1e-8
    )


@pytest.mark.parametrize("features", [1, 3])
def test_a_signal_that_is_always_zero_has_no_map(features):
    with pytest.raises(NotIdentifiedError, match="always 0"):
        plain_fit(np.zeros((20, features)), np.tile([0.0, 1.0], 10))


@pytest.mark.parametrize("size", [10.0, 100.0, 1000.0])
def test_logistic_fit_reaches_the_maximum_with_a_large_contradicting_margin(size):
    x, y, _ = preferences(1)
    x, y = np.append(x[:, 0], size)[:, None], np.append(y, 0.0)
    assert share_of_score(x, y, plain_fit(x, y)) < 1e-8


@pytest.mark.parametrize(
    "size",
    [
        10.0,
        100.0,
        1000.0,
    ],
)
def test_a_large_margin_with_humans_is_fitted_to_the_maximum(size):
    x, y, _ = preferences(1)
    x, y = np.append(x[:, 0], size)[:, None], np.append(y, 1.0)
    assert share_of_score(x, y, plain_fit(x, y)) < 1e-8


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000))
def test_heavy_tailed_margins_are_fitted_to_the_maximum(seed):
    rng = np.random.default_rng(seed)
    x = np.clip(rng.standard_cauchy((100, 1)), -500, 500)
    y = np.append((rng.random(98) < expit(0.05 * x[:98, 0])).astype(float), [0.4, 0.6])
    assert share_of_score(x, y, plain_fit(x, y)) < 1e-8
