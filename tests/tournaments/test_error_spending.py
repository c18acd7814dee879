"""Tests at all looks together are wrong as often as they may be: beside integrals of SciPy."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from podium.tournaments.error_spending import SPENT_SHARE, cumulative_shares, tail_probabilities
from podium.tournaments.stopping import Stopping


def probability_of_any(tails, information) -> float:
    """Return the probability that a Brownian motion crosses a critical value at any look."""
    information = np.asarray(information, dtype=float)
    smaller = np.minimum(information[:, None], information)
    larger = np.maximum(information[:, None], information)
    correlation = np.sqrt(smaller / larger)
    drawn = multivariate_normal(np.zeros(len(tails)), correlation, maxpts=2_000_000, abseps=1e-7)
    return 1 - float(drawn.cdf(norm.isf(tails)))


@pytest.mark.parametrize("visits", [(40,), (25, 50), (25, 32, 40, 50), (25, 100, 105, 400)])
@pytest.mark.parametrize("error", [0.05, 0.002])
def test_a_look_spends_its_share_and_all_spend_the_whole(visits, error: float) -> None:
    """Tests that ignore the overlap of the looks, the wrong variant, spend less."""
    tails = tail_probabilities(visits, error)
    shares = cumulative_shares(visits)
    for number in range(1, len(visits) + 1):
        spent = probability_of_any(tails[:number], visits[:number])
        assert spent == pytest.approx(SPENT_SHARE * error * shares[number - 1], rel=0.02)
    if len(visits) > 1:
        of_each_look = SPENT_SHARE * error * np.diff(shares, prepend=0)
        assert probability_of_any(of_each_look, visits) < 0.98 * SPENT_SHARE * error


def test_a_pair_that_learns_less_from_later_visits_is_wrong_less_often() -> None:
    visits = (25, 50, 100)
    tails = tail_probabilities(visits, 0.05)
    assert probability_of_any(tails, np.sqrt(visits)) < SPENT_SHARE * 0.05


def test_fewer_open_pairs_never_make_a_critical_value_larger() -> None:
    """The step-down test needs it at each look."""
    plan = Stopping(until="order").planned_looks(1906)
    tails = np.array([tail_probabilities(plan, 0.05 / pairs) for pairs in range(1, 40)])
    assert (np.diff(tails, axis=0) < 0).all()


def test_many_more_looks_than_doublings_make_critical_values_little_larger() -> None:
    """Unlike Bonferroni's bound over as many looks, with the same error as is made."""
    pairs = 12
    fine = Stopping(until="order").planned_looks(1906)
    coarse = Stopping(until="order", growth=2.0).planned_looks(1906)
    assert len(fine) > 2.5 * len(coarse)
    tails, of_coarse = (tail_probabilities(plan, 0.05 / pairs) for plan in (fine, coarse))
    assert norm.isf(tails[-1]) < 1.06 * norm.isf(of_coarse[-1])
    of_bonferroni = SPENT_SHARE * 0.05 / pairs * np.diff(cumulative_shares(fine), prepend=0)
    assert sum(tails) > 1.5 * of_bonferroni.sum()
