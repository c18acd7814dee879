"""Rank sets of means of scores whose differences have one long tail: against scipy, and in worlds
without a gap."""

import numpy as np
import pytest
from scipy import stats

from podium.rankers.errors.difference import paired_difference, unskewed_t
from podium.rankers.errors.rank_sets import compare_all_pairs
from podium.rankers.pointwise import ScoreMatrix, estimate_means


def test_the_skewness_of_the_difference_of_two_means_is_scipys() -> None:
    scores = np.random.default_rng(1).lognormal(size=(50, 3))
    estimate = estimate_means(ScoreMatrix(scores, ("a", "b", "c")), 0.95)
    assert estimate.skewness is not None
    for first, second in ((0, 2), (2, 0), (1, 2)):
        theirs = stats.skew(scores[:, first] - scores[:, second], bias=False)
        assert estimate.skewness[first, second] == pytest.approx(theirs)
    assert (np.diag(estimate.skewness) == 0).all()


def test_the_corrected_t_of_skewed_differences_is_that_of_compare() -> None:
    gains = 0.8 - np.random.default_rng(2).lognormal(0, 0.5, 80)
    t, skewness = stats.ttest_1samp(gains, 0).statistic, stats.skew(gains, bias=False)
    corrected = stats.t.sf(unskewed_t(t, skewness, 80), 79)
    assert paired_difference(gains).p_above() == pytest.approx(max(corrected, stats.t.sf(t, 79)))


@pytest.mark.slow
def test_a_model_with_rare_large_losses_is_not_ranked_above_its_equal() -> None:
    """500 worlds of 100 items, 3% of them lost by 1 and the others won by 3/97; by t alone it was
    16% of them."""
    rng, wrong = np.random.default_rng(3), 0
    for _ in range(500):
        old = rng.normal(2, 1, 100)
        new = old + np.where(rng.random(100) < 0.03, -1, 3 / 97) + rng.normal(0, 0.02, 100)
        estimate = estimate_means(ScoreMatrix(np.stack([new, old], axis=1), ("new", "old")), 0.90)
        above = compare_all_pairs(estimate, level=0.90, rng=np.random.default_rng(0)).is_above
        wrong += above is not None and bool(above[0, 1])
    assert wrong / 500 <= 0.075
