"""The Beta CDF fit: points drawn from it, its definition, and what cannot be fitted."""

import numpy as np
import pytest
from scipy.optimize import brute
from scipy.stats import beta

from podium import NotIdentifiedError
from podium.diagnosis.decisiveness import (
    absolute_error,
    decisiveness,
    decisiveness_of_draws,
    judge_curve,
)

GOLD = np.array([0.03, 0.12, 0.2, 0.33, 0.41, 0.48, 0.55, 0.62, 0.71, 0.84, 0.93])


@pytest.mark.parametrize("alpha", [0.3, 0.598, 1.0, 1.84, 5.49, 40.0])
def test_points_drawn_from_the_curve_give_their_alpha_back(alpha):
    assert decisiveness(judge_curve(GOLD, alpha), GOLD) == pytest.approx(alpha, rel=1e-5)


@pytest.mark.parametrize("alpha", [0.598, 1.84, 5.49])
def test_swapped_judge_and_gold_standard_do_not_recover_alpha(alpha):
    """Wrong variant: a decisive judge would be called indecisive."""
    turned = decisiveness(GOLD, judge_curve(GOLD, alpha))
    assert turned != pytest.approx(alpha, rel=0.2)
    assert (turned > 1) == (alpha < 1)


def test_the_curve_is_the_beta_distribution_function():
    """Oracle: scipy.stats; and the closed form of alpha = 2, 3 x^2 - 2 x^3."""
    assert judge_curve(GOLD, 3.7) == pytest.approx(beta.cdf(GOLD, 3.7, 3.7), abs=1e-14)
    assert judge_curve(GOLD, 2.0) == pytest.approx(3 * GOLD**2 - 2 * GOLD**3, abs=1e-14)


def noisy(seed, alpha=2.5, spread=0.08):
    rng = np.random.default_rng(seed)
    return np.clip(judge_curve(GOLD, alpha) + rng.normal(0, spread, len(GOLD)), 0.01, 0.99)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_the_fit_is_the_least_weighted_absolute_error(seed):
    """Oracle: scipy.optimize.brute over 20,000 values of alpha, on the definition written out."""
    judge = noisy(seed)

    def by_definition(log_alpha):
        fitted = beta.cdf(GOLD, *(2 * [float(np.exp(np.squeeze(log_alpha)))]))
        return float(np.sum(np.abs(judge - 0.5) * np.abs(judge - fitted)))

    best = float(
        np.exp(np.squeeze(brute(by_definition, [(np.log(0.2), np.log(50))], Ns=2_000, finish=None)))
    )
    assert decisiveness(judge, GOLD) == pytest.approx(best, rel=5e-3)
    assert absolute_error(judge, GOLD, best) == pytest.approx(
        by_definition(np.log(best)), abs=1e-12
    )


def test_decisiveness_fit_depends_on_its_weights():
    """Wrong variant: without the distance from a half, another alpha is best."""
    judge = noisy(3)
    grid = np.exp(np.linspace(np.log(0.2), np.log(50), 2_000))
    unweighted = grid[np.argmin([np.sum(np.abs(judge - judge_curve(GOLD, one))) for one in grid])]
    assert decisiveness(judge, GOLD) != pytest.approx(unweighted, rel=0.02)


def test_which_of_the_two_systems_is_named_first_changes_nothing():
    judge = noisy(1)
    assert decisiveness(1 - judge, 1 - GOLD) == pytest.approx(decisiveness(judge, GOLD), rel=1e-6)


def test_resamples_are_fitted_like_the_data():
    """Their alpha errs hardly more than the best one; mostly it is the same to one part in a
    hundred."""
    judge = np.stack([noisy(seed) for seed in range(30)])
    exact = np.array([decisiveness(one, GOLD) for one in judge])
    for gold in (GOLD, np.tile(GOLD, (30, 1))):
        found = decisiveness_of_draws(judge, gold)
        for one, ours, best in zip(judge, found, exact, strict=True):
            assert absolute_error(one, GOLD, ours) <= 1.005 * absolute_error(one, GOLD, best)
        assert np.mean(np.abs(found / exact - 1) < 0.01) >= 0.9


def test_pairs_that_were_not_drawn_are_left_out():
    judge = noisy(2)
    judge[4] = np.nan
    kept = np.arange(len(GOLD)) != 4
    assert decisiveness_of_draws(judge[None], GOLD)[0] == pytest.approx(
        decisiveness(judge[kept], GOLD[kept]), rel=0.01
    )


@pytest.mark.parametrize(
    ("judge", "gold", "why"),
    [
        (np.round(GOLD), GOLD, "nearly all 0 or 1"),
        (0.5 + 0.01 * (GOLD > 0.5), GOLD, "nearly all a half"),
        (np.full(3, 0.5), np.array([0.2, 0.3, 0.6]), "of a half"),
        (np.array([0.9, 0.1]), np.array([0.5, 0.5]), "of a half"),
        (
            np.array([0.9, 0.6, 0.4]),
            np.array([1.0, 1.0, 0.0]),
            "the gold win rates are all 0, a half, or 1",
        ),
    ],
)
def test_credits_that_no_alpha_fits_are_reported(judge, gold, why):
    with pytest.raises(NotIdentifiedError, match=why):
        decisiveness(judge, gold)
