"""What is told of the bounds of a ladder's slope."""

import math

import pytest

from podium.rankers.ladder_placement import failed_ladder_checks


@pytest.mark.parametrize(
    ("ends", "shown"), [((0.0, 0.8), (0.0, 0.8)), ((None, None), (-math.inf, math.inf))]
)
def test_a_bound_of_zero_is_a_bound(
    ends: tuple[float | None, float | None], shown: tuple[float, float]
) -> None:
    ladder = {
        "other_scale": True,
        "slope": 0.4,
        "slope_low": ends[0],
        "slope_high": ends[1],
        "new": ["m"],
        "drifted": [],
    }
    [(name, figures)] = failed_ladder_checks(ladder)
    assert (name, figures["low"], figures["high"]) == ("ladder scale", *shown)
