"""The bound of benchmarks/information_bound.py, beside closed forms."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from information_bound import KL, best_allocation


@pytest.mark.parametrize("models", [2, 3, 6])
def test_with_equal_gaps_all_pairs_get_equal_shares(models: int) -> None:
    """An estimated gap then has the variance (M - 1) v over the number of calls."""
    variance, gap = np.full((models, models), 3.7), np.full((models, models), 0.3)
    best = best_allocation(variance, gap, ~np.eye(models, dtype=bool))
    assert best.largest == pytest.approx((models - 1) * 3.7 / 0.3**2, rel=1e-6)
    assert best.least == pytest.approx(best.largest, rel=1e-6)
    shares = best.share[~np.eye(models, dtype=bool)]
    assert shares == pytest.approx(2 / (models * (models - 1)), rel=1e-3)


def test_no_allocation_of_a_grid_is_better() -> None:
    """Three models with unlike gaps and variances; the equal allocation is much worse."""
    variance = np.array([[1.0, 4.0, 9.0], [4.0, 1.0, 5.0], [9.0, 5.0, 1.0]])
    gap = np.array([[1.0, 0.2, 1.1], [0.2, 1.0, 0.9], [1.1, 0.9, 1.0]])
    best = best_allocation(variance, gap, ~np.eye(3, dtype=bool))
    pairs = ((0, 1), (0, 2), (1, 2))
    values = {}
    grid = np.arange(1, 60) / 60
    for share in ((x, y, 1 - x - y) for x in grid for y in grid if x + y < 0.999):
        laplacian = np.zeros((3, 3))
        for (a, b), own in zip(pairs, share, strict=True):
            edge = np.eye(3)[a] - np.eye(3)[b]
            laplacian += own / variance[a, b] * np.outer(edge, edge)
        inverse = np.linalg.pinv(laplacian)
        of_pairs = [
            (inverse[a, a] + inverse[b, b] - 2 * inverse[a, b]) / gap[a, b] ** 2 for a, b in pairs
        ]
        values[share] = max(of_pairs)
    assert best.least == pytest.approx(best.largest, rel=0.01)
    assert best.least <= min(values.values()) <= 1.02 * best.largest
    assert max(values.values()) > 1.5 * best.largest


def test_the_relative_entropy_is_that_of_five_and_95_percent() -> None:
    assert pytest.approx(0.05 * np.log(0.05 / 0.95) + 0.95 * np.log(0.95 / 0.05)) == KL
