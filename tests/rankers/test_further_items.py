"""How many more items would separate two models: N = n (((c + 0.84) / z)^2 - 1)."""

import numpy as np
import pytest

from podium.rankers.errors.rank_sets import further_items


@pytest.mark.parametrize(
    ("items", "critical", "z", "expected"),
    [
        (100, 2.16, 2.0, 125),  # (3 / 2)^2 = 2.25, by hand
        (100, 2.16, -2.0, 125),
        (100, 2.16, 3.0, 0),
        (100, 2.16, 9.0, 0),
        (8, 1.16, 1.0, 24),
        (7, 1.16, 1.0, None),  # fewer than 8 items
        (100, 2.16, 0.999, None),
        (100, 2.16, 0.0, None),
        (100, 2.16, float("nan"), None),
    ],
)
def test_the_formula_by_hand_of_either_sign_and_nothing_where_the_gap_is_below_its_error(
    items, critical, z, expected
):
    assert further_items(items, critical, z) == expected


def test_without_the_allowance_for_the_gaps_own_error_the_odds_are_even_at_best() -> None:
    """With the stated items, power is 80%; with n ((c / z)^2 - 1) more (the wrong variant) it is
    50%."""
    n, c, z = 200, 2.8, 1.6
    drawn = np.random.default_rng(4).normal(0, 1, 100_000)
    shares = [
        np.mean(drawn + z * np.sqrt((n + more) / n) > c)
        for more in (further_items(n, c, z), n * ((c / z) ** 2 - 1))
    ]
    assert shares == pytest.approx([0.8, 0.5], abs=0.01)
