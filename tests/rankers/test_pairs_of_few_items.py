"""Equal models on few items: how often some pair is called clearly different."""

import numpy as np
import pytest
from scipy.stats import binom

from podium.rankers.errors.intervals import sandwich_estimate
from podium.rankers.errors.rank_sets import compare_all_pairs

WORLDS = 500


def any_pair_differs(rng: np.random.Generator, models: int, items: int) -> bool:
    """Draw normal scores of equal models with a common part per item, and compare all pairs."""
    scores = rng.normal(size=(items, 1)) + rng.normal(size=(items, models))
    covariance = np.cov(scores.T) / items
    estimate = sandwich_estimate(scores.mean(0), covariance, items, level=0.95, cluster="item")
    compared = compare_all_pairs(estimate, level=0.95, rng=rng)
    return bool(np.any(compared.best_rank > 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "items"), [(5, 8), (5, 12), (10, 8), (10, 20), (20, 12), (20, 40)]
)
def test_pairs_of_equal_models_differ_in_about_five_percent_of_the_samples(models, items):
    """The bound is that of 6% with a 99% binomial margin; a common error of all pairs gave 6 to
    22%."""
    rng = np.random.default_rng([models, items])
    found = sum(any_pair_differs(rng, models, items) for _ in range(WORLDS))
    assert found <= binom.ppf(0.99, WORLDS, 0.06)
