"""Sizes of sign tests: the paper's Table 2, closed forms, and the power that they promise."""

from math import ceil

import numpy as np
import pytest
from scipy.stats import binom, norm

from podium.planning.sample_size import informative_needed, items_needed, smallest_edge

TABLE_2 = [
    (0.05, 617, 1012, 1372),
    (0.10, 153, 251, 340),
    (0.15, 67, 110, 149),
    (0.20, 37, 61, 83),
    (0.25, 23, 38, 52),
]
"""Don-Yehiya et al. 2026, Table 2: edge, base, totals at 39% and at 55% ties; it prints 341 for 153
/ 0.45 = 340."""


@pytest.mark.parametrize(("edge", "base", "few_ties", "many_ties"), TABLE_2)
def test_table_2_of_the_anchor_paper(edge: float, base: int, few_ties: int, many_ties: int) -> None:
    assert informative_needed(edge) == base
    assert (items_needed(base, 1 - 0.39), items_needed(base, 1 - 0.55)) == (few_ties, many_ties)


def test_without_rounding_340_would_be_the_papers_341() -> None:
    """The wrong variant: 1 - 0.55 is a little below 0.45 in floating point, and ceil makes a whole
    item of it."""
    assert ceil(153 / (1 - 0.55)) == 341


def test_the_mean_informativeness_of_the_paper_needs_1143_items() -> None:
    """Section 4.3: about 200 more than the 930 that Wilcoxon's test needs, at 54% informative
    samples."""
    assert items_needed(informative_needed(0.05), 0.54) == 1143


@pytest.mark.parametrize("edge", [0.03, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("power", [0.8, 0.9])
def test_the_planned_size_reaches_the_promised_power(edge: float, power: float) -> None:
    """Simulation: 40,000 tests by the normal approximation that the formula is made of; binomial
    tolerance.

    Counts are whole, so the power of so few is a staircase: half a step is added to the tolerance.
    """
    n = informative_needed(edge, power=power)
    rng = np.random.default_rng(0)
    won = rng.binomial(n, 0.5 + edge, 40_000)
    z = (won - n / 2) / (np.sqrt(n) / 2)
    step = norm.pdf(0) / np.sqrt(n * (0.25 - edge**2))
    assert (z > norm.isf(0.05)).mean() == pytest.approx(
        power, abs=4 * np.sqrt(power * (1 - power) / 40_000) + step
    )


def test_two_sided_sign_test_size_misses_the_power() -> None:
    """The wrong variant: alpha halved asks for 783 items where 617 are enough, and their power is
    88%, not 80%."""
    n = informative_needed(0.05, alpha=0.025)
    assert n == 783
    assert binom.sf(binom.isf(0.05, n, 0.5), n, 0.55) > 0.86


@pytest.mark.parametrize("n", [20, 100, 617, 5000])
@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.95), (0.05, 0.5)])
def test_the_smallest_edge_needs_just_the_items_there_are(
    n: int, alpha: float, power: float
) -> None:
    """Closed form: the inverse of the formula. A hair less and another item is needed."""
    edge = smallest_edge(n, alpha=alpha, power=power)
    assert edge is not None
    assert informative_needed(edge + 1e-9, alpha=alpha, power=power) <= n
    assert informative_needed(edge * (1 - 1e-3), alpha=alpha, power=power) >= n
    assert informative_needed(edge * (1 - 2 / n), alpha=alpha, power=power) > n


def test_only_informative_items_count() -> None:
    assert smallest_edge(1000, 0.5) == smallest_edge(500)
    assert smallest_edge(1000, 0.5) > smallest_edge(1000)


def test_sign_test_of_two_items_has_no_power() -> None:
    assert smallest_edge(2) is None
