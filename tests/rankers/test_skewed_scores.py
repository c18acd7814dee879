"""Rank sets of means of scores whose differences have one long tail: against scipy, and in worlds
without a gap."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import podium
from podium.rankers.errors.difference import (
    SKEWNESS_NOISE,
    normal_skewness_error,
    paired_difference,
    unskewed_t,
)
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


def smallest_clear_lead(noise: np.ndarray) -> float:
    """Return the smallest lead, to 0.001, by which the first of three models is clearly ahead of
    the second.

    Args:
        noise: what is added to the scores of each item, shape (items, 3).
    """
    for lead in np.arange(0.3, 1.5, 0.001):
        scores = noise + np.array([lead, 0.0, -5.0])
        estimate = estimate_means(ScoreMatrix(scores, ("new", "old", "last")), 0.95)
        above = compare_all_pairs(estimate, level=0.95, rng=np.random.default_rng(0)).is_above
        if above is not None and above[0, 1]:
            return float(lead)
    raise AssertionError("no lead is clear")


def test_skewness_as_small_as_its_noise_costs_no_power_of_few_items() -> None:
    """The difference of 20 items is as skewed as many normal samples; without the reduction of
    `without_skewness_noise`, its mirror image needs another lead."""
    noise = np.random.default_rng(12).normal(0, 0.5, (20, 3))
    noise -= noise.mean(axis=0)
    skewness = stats.skew(noise[:, 0] - noise[:, 1], bias=False)
    assert 0.2 < abs(skewness) < SKEWNESS_NOISE * normal_skewness_error(20)
    assert smallest_clear_lead(noise) == smallest_clear_lead(-noise)


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


def right_and_wrong(seed: int) -> pd.DataFrame:
    """Return scores of 0 and 1 of ten models from nearly always to nearly never right."""
    rng = np.random.default_rng(seed)
    shares = np.linspace(0.95, 0.08, 10)
    difficulty = rng.normal(0, 0.15, 40)
    right = rng.random((40, 10)) < np.clip(shares + difficulty[:, None], 0.01, 0.99)
    frame = pd.DataFrame(right * 1.0, columns=[f"m{k}" for k in range(10)])
    return frame.assign(item=[f"q{k}" for k in range(40)])


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("seed", range(12))
def test_a_large_lead_is_not_lost_by_the_correction(seed):
    """What the exact sign test separates far beyond Bonferroni's limit, the ranking separates."""
    scores = right_and_wrong(seed)
    [standings] = podium.rank(podium.read_battles(scores)).standings
    place = {entry.model: entry for entry in standings.entries}
    names = [name for name in scores if name != "item"]
    separated = 0
    for k, better in enumerate(names):
        for worse in names[k + 1 :]:
            lead = scores[better] - scores[worse]
            exact = stats.binomtest(int((lead > 0).sum()), int((lead != 0).sum()))
            if 45 * exact.pvalue > 1e-3:
                continue
            separated += 1
            assert standings.separation.names.index(worse) in beaten_by(standings, better)
            assert place[better].rank_low < place[worse].rank_high
    assert separated >= 5


def beaten_by(standings, model):
    """Return the positions of the models that a model is clearly ahead of."""
    separation = standings.separation
    return separation.beats[separation.names.index(model)]


def test_a_model_that_is_always_right_has_a_bound_by_resampling_too():
    scores = right_and_wrong(0).assign(m0=1.0)
    [standings] = podium.rank(podium.read_battles(scores), "mean", interval="bootstrap").standings
    first = standings.entries[0]
    exact = stats.binomtest(40, 40).proportion_ci(0.95, method="exact").low
    assert (first.model, first.low, first.high) == ("m0", pytest.approx(exact), 1.0)
    assert "no-variation" not in [warning.code for warning in standings.warnings]
