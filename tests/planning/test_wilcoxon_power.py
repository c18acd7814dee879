"""Wilcoxon's test on counts, and the number of items that simulation finds for it."""

import numpy as np
import pytest
from scipy.stats import wilcoxon

from podium import UsageError
from podium.planning.sample_size import (
    Differences,
    informative_needed,
    items_needed,
    pool_differences,
    rejections,
    select_edge,
    signed_rank_z,
    simulated_items,
    three_levels,
)

LEVELS = np.arange(-4.0, 5.0)


def samples(seed: int, items: int, number: int = 20) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.multinomial(items, rng.dirichlet(np.ones(len(LEVELS))), size=number).astype(float)


@pytest.mark.parametrize("items", [12, 100, 900])
def test_the_statistic_is_scipys_with_pratts_zeros(items: int) -> None:
    """Oracle: scipy.stats.wilcoxon on the differences written out."""
    counts = samples(items, items)
    found = signed_rank_z(LEVELS, counts)
    for one, z in zip(counts, found, strict=True):
        written = np.repeat(LEVELS, one.astype(int))
        oracle = wilcoxon(written, alternative="greater", zero_method="pratt", method="asymptotic")
        assert z == pytest.approx(oracle.zstatistic, abs=1e-10)


def test_dropping_zeros_first_is_another_test() -> None:
    """The wrong variant: Wilcoxon's own zeros give another statistic wherever there are any."""
    counts = samples(1, 100)
    dropped = signed_rank_z(LEVELS[LEVELS != 0], counts[:, LEVELS != 0])
    assert np.abs(dropped - signed_rank_z(LEVELS, counts)).max() > 0.05


def test_the_order_of_the_values_does_not_matter() -> None:
    counts = samples(2, 60)
    mixed = np.random.default_rng(0).permutation(len(LEVELS))
    assert signed_rank_z(LEVELS[mixed], counts[:, mixed]) == pytest.approx(signed_rank_z(LEVELS, counts), abs=1e-12)


def test_differences_that_are_all_zero_reject_nothing() -> None:
    assert signed_rank_z(np.array([0.0]), np.array([[50.0]])).tolist() == [0.0]


def test_without_a_difference_as_many_are_rejected_as_alpha_says() -> None:
    found = rejections([three_levels(0.3, 0.0)], 300, alpha=0.05, simulations=40_000, rng=np.random.default_rng(0))
    assert found / 40_000 == pytest.approx(0.05, abs=0.005)


@pytest.mark.slow
def test_the_simulated_size_reaches_the_power_on_fresh_samples() -> None:
    """Simulation with other draws, tested by scipy; binomial tolerance of 3,000 samples and of the size itself."""
    one = three_levels(0.3, 0.1)
    found = simulated_items([one], simulations=20_000)
    assert found is not None
    rng = np.random.default_rng(99)
    drawn = rng.choice(one.values, size=(3000, found.items), p=one.shares)
    oracle = wilcoxon(drawn, axis=1, alternative="greater", zero_method="pratt", method="asymptotic")
    assert (oracle.pvalue < 0.05).mean() == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 3000))
    assert found.low <= found.items <= found.high


@pytest.mark.slow
def test_the_interval_of_the_size_covers_it() -> None:
    """Over 20 seeds, the 95% intervals hold the size that 50,000 samples find; one miss in twenty is expected."""
    one = three_levels(0.3, 0.15)
    truth = simulated_items([one], simulations=50_000, seed=1)
    found = [simulated_items([one], simulations=500, seed=seed) for seed in range(2, 22)]
    assert truth is not None
    assert sum(each is not None and each.low <= truth.items <= each.high for each in found) >= 16


def test_sizes_of_wins_make_fewer_items_enough() -> None:
    """As in the paper, section 4.3: with five-level verdicts the sign test needs more items than Wilcoxon's."""
    shares = np.array([0.05, 0.18, 0.44, 0.18, 0.15])
    one = Differences(np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), shares)
    found = simulated_items([one])
    assert found is not None
    assert found.items < items_needed(informative_needed(one.edge), one.informative)


def test_pairs_that_win_more_often_and_lose_by_more_are_never_told() -> None:
    one = Differences(np.array([-3.0, 0.0, 1.0]), np.array([0.2, 0.55, 0.25]))
    assert one.edge == pytest.approx(1 / 18)
    assert simulated_items([one], simulations=1000) is None


def test_recorded_distributions_are_those_of_the_papers_window() -> None:
    """Appendix C, Listing 1: effect sizes in [e, e + 0.01)."""
    found = [Differences(np.array([-1.0, 1.0]), np.array([0.5 - e, 0.5 + e])) for e in (0.04, 0.0501, 0.0599, 0.061)]
    near, recorded = select_edge(found, 0.05)
    assert (recorded, near) == (True, found[1:3])


def test_where_no_pair_has_the_edge_all_lend_their_sizes() -> None:
    found = [Differences(np.array([-1.0, 0.0, 2.0]), np.array([0.2, 0.2, 0.6]))]
    [one], recorded = select_edge(found, 0.05)
    assert not recorded
    assert one.values.tolist() == [-2, -1, 0, 1, 2]
    assert one.shares.tolist() == pytest.approx([0.27, 0.09, 0.2, 0.11, 0.33])
    assert (one.edge, one.informative) == (pytest.approx(0.05), pytest.approx(0.8))


def test_pooled_shares_sum_to_one() -> None:
    rng = np.random.default_rng(3)
    found = [Differences(LEVELS, rng.dirichlet(np.ones(9))) for _ in range(5)]
    assert pool_differences(found, 0.1).shares.sum() == pytest.approx(1)


def test_no_distribution_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one distribution"):
        simulated_items([])
