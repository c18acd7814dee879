"""Differences of scores averaged over epochs, where many items do not differ: against scipy's
tests, in many worlds."""

import numpy as np
import pytest
from scipy import stats

from podium.rankers.errors.difference import SKEWNESS_FACTOR, SKEWNESS_NOISE, paired_difference

CONTESTED, ALPHA = 0.3, 0.05
WITHIN = 0.03
"""Points by which the power may be below that of the t test."""


def binary_scores(rng: np.random.Generator, items: int, epochs: int, gap: float) -> np.ndarray:
    """Draw differences of the shares of right answers: both are always right, or always wrong, on
    most items."""
    is_open = rng.random(items) < CONTESTED
    settled = (rng.random(items) < 0.6).astype(float)
    sides = (np.where(is_open, np.clip(0.5 + sign * gap, 0, 1), settled) for sign in (1, -1))
    candidate, baseline = (rng.binomial(epochs, chance) / epochs for chance in sides)
    return candidate - baseline


def graded_scores(rng: np.random.Generator, items: int, epochs: int, gap: float) -> np.ndarray:
    """Draw differences of normal scores of items that both find alike hard."""
    noise = rng.normal(size=(2, epochs, items)).mean(axis=1)
    return 2 * gap + noise[0] - noise[1]


DRAWS = {"binary": binary_scores, "graded": graded_scores}


def halls_p(differences: np.ndarray) -> float:
    """Return the two-sided p-value of Hall's transformed t (1992), transcribed."""
    n = len(differences)
    t, skewness = stats.ttest_1samp(differences, 0).statistic, stats.skew(differences, bias=False)
    if n < 30:
        error = np.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))
        skewness = np.sign(skewness) * max(abs(skewness) - SKEWNESS_NOISE * error, 0)
    a, ratio = SKEWNESS_FACTOR * skewness, t / np.sqrt(n)
    changed = np.sqrt(n) * (((1 + a * ratio / 3) ** 3 - 1) / a + a / (6 * n)) if a else t
    return 2 * stats.t.sf(abs(changed), n - 1)


def flips_p(differences: np.ndarray) -> float:
    """Return scipy's exact two-sided p-value over all changes of signs."""
    how = {"permutation_type": "samples", "n_resamples": np.inf}
    return stats.permutation_test((differences,), np.sum, **how).pvalue


ORACLES = {
    "sign flips, paired by item": flips_p,
    "t test, paired by item": lambda differences: stats.ttest_1samp(differences, 0).pvalue,
    "t test corrected for skewness, paired by item": halls_p,
}


@pytest.mark.parametrize("items", [8, 12, 20, 29, 40, 100])
@pytest.mark.parametrize("name", DRAWS)
def test_the_p_value_is_that_of_the_test_that_is_named(name, items):
    rng = np.random.default_rng([40, items])
    methods = set()
    for _ in range(6):
        differences = DRAWS[name](rng, items, 4, 0.1)
        if np.ptp(differences) == 0:
            continue
        found = paired_difference(differences, None, 1.0 if name == "binary" else np.inf)
        assert found.p_value == pytest.approx(min(1, ORACLES[found.method](differences)))
        methods.add(found.method)
    assert methods


def test_a_few_items_that_differ_among_many_are_tested_by_t():
    """Eight gains and two losses of forty items with two epochs: sign flips of these ten alone say
    .0625."""
    differences = np.repeat([0.5, 1.0, -0.5, 0.0], [5, 3, 2, 30])
    found = paired_difference(differences, None, 1.0)
    assert found.p_value <= 0.05
    assert found.p_value == pytest.approx(ORACLES[found.method](differences))
    assert found.interval(0.95)[0] > 0


def shares_found(
    name: str, items: int, epochs: int, gap: float, worlds: int
) -> tuple[float, float]:
    """Return the shares of worlds in which podium, and scipy's t test, find a difference at the 5%
    level."""
    rng = np.random.default_rng([41, items, epochs])
    drawn = [DRAWS[name](rng, items, epochs, gap) for _ in range(worlds)]
    drawn = [differences for differences in drawn if np.ptp(differences) > 0]
    most = 1.0 if name == "binary" else np.inf
    ours = sum(paired_difference(differences, None, most).p_value <= ALPHA for differences in drawn)
    theirs = sum(stats.ttest_1samp(np.array(drawn), 0, axis=1).pvalue <= ALPHA)
    return ours / worlds, theirs / worlds


def gap_of(items: int, epochs: int) -> float:
    """Return a gap that the t test finds in about half of the worlds."""
    return 0.18 * np.sqrt(60 / items) * np.sqrt(2 / epochs)


@pytest.mark.slow
@pytest.mark.parametrize("items", [20, 40, 100])
@pytest.mark.parametrize("name", DRAWS)
def test_scores_of_four_epochs_are_told_apart_as_often_as_by_t(name, items):
    ours, theirs = shares_found(name, items, 4, gap_of(items, 4), worlds=300)
    assert 0.2 < theirs < 0.98
    assert ours >= theirs - WITHIN


@pytest.mark.slow
@pytest.mark.parametrize("items", [20, 29, 30, 50, 100, 200, 500])
@pytest.mark.parametrize("epochs", [2, 4, 8])
@pytest.mark.parametrize("name", DRAWS)
def test_power_is_that_of_the_t_test_and_false_alarms_are_rare(name, epochs, items):
    """1,500 worlds each with and without a gap; the bound on false alarms is that of all
    metrics."""
    ours, theirs = shares_found(name, items, epochs, gap_of(items, epochs), worlds=1_500)
    assert ours >= theirs - WITHIN
    alarms, _ = shares_found(name, items, epochs, 0.0, worlds=1_500)
    assert alarms <= 0.075
