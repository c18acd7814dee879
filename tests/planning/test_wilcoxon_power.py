"""Wilcoxon's test on counts, and the number of items that its power asks for."""

import numpy as np
import pytest
from scipy.stats import norm, wilcoxon

from podium.planning.sample_size import (
    Differences,
    informative_needed,
    items_needed,
    pool_differences,
    select_edge,
    signed_rank_items,
    signed_rank_power,
    signed_rank_z,
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
    assert signed_rank_z(LEVELS[mixed], counts[:, mixed]) == pytest.approx(
        signed_rank_z(LEVELS, counts), abs=1e-12
    )


def test_differences_that_are_all_zero_reject_nothing() -> None:
    assert signed_rank_z(np.array([0.0]), np.array([[50.0]])).tolist() == [0.0]


def test_without_a_difference_as_many_are_rejected_as_alpha_says() -> None:
    assert signed_rank_power(three_levels(0.3, 0.0), 300) == pytest.approx(0.05, abs=1e-4)


@pytest.mark.parametrize(("ties", "edge"), [(0.0, 0.25), (0.3, 0.1), (0.7, 0.15)])
def test_the_power_is_that_of_simulated_samples(ties: float, edge: float) -> None:
    """20,000 samples of the size found; binomial tolerance, and 0.01 for the normal limit."""
    differences = three_levels(ties, edge)
    items = signed_rank_items([differences])
    assert items is not None
    counts = (
        np.random.default_rng(99).multinomial(items, differences.shares, size=20_000).astype(float)
    )
    rejected = (signed_rank_z(differences.values, counts) > norm.isf(0.05)).mean()
    assert rejected == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 20_000) + 0.01)
    assert signed_rank_power(differences, items) == pytest.approx(
        rejected, abs=4 * np.sqrt(0.16 / 20_000) + 0.01
    )


def test_power_over_several_distributions_is_their_mean() -> None:
    """The size lies between those of the two, and is not that of their mean distribution."""
    pool = [three_levels(0.3, edge) for edge in (0.08, 0.2)]
    sizes = [signed_rank_items([each]) for each in pool]
    assert sizes[1] < signed_rank_items(pool) < sizes[0]
    items = signed_rank_items(pool)
    assert np.mean([signed_rank_power(each, items) for each in pool]) >= 0.8


def test_a_difference_that_never_varies_is_certain() -> None:
    one = Differences(np.array([1.0]), np.array([1.0]))
    assert signed_rank_power(one, 20) == 1.0


def test_sizes_of_wins_make_fewer_items_enough() -> None:
    """As in the paper, section 4.3: with five-level verdicts the sign test needs more items than
    Wilcoxon's."""
    shares = np.array([0.05, 0.18, 0.44, 0.18, 0.15])
    one = Differences(np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), shares)
    found = signed_rank_items([one])
    assert found is not None
    assert found < items_needed(informative_needed(one.edge), one.informative)


def test_wilcoxon_power_is_unknown_for_more_wins_by_smaller_margins() -> None:
    one = Differences(np.array([-3.0, 0.0, 1.0]), np.array([0.2, 0.55, 0.25]))
    assert one.edge == pytest.approx(1 / 18)
    assert signed_rank_items([one]) is None


def test_recorded_distributions_are_those_of_the_papers_window() -> None:
    """Appendix C, Listing 1: effect sizes in [e, e + 0.01)."""
    found = [
        Differences(np.array([-1.0, 1.0]), np.array([0.5 - e, 0.5 + e]))
        for e in (0.04, 0.0501, 0.0599, 0.061)
    ]
    near, recorded = select_edge(found, 0.05)
    assert (recorded, near) == (True, found[1:3])


def test_wilcoxon_power_pools_all_pairs_if_none_has_the_gap() -> None:
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
