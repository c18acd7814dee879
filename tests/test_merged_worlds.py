"""Worlds drawn for the statistics are, to the last digit, what reading their presentations gives."""

import numpy as np
import pandas as pd
import pytest
from merged_worlds import battles_of, scored_battles

from podium import Judge, read_battles, simulate

FAULTY = Judge("x", scale=1.8, position_bias=0.8, length_bias=0.5, tie=0.3, unread=0.3, verbosity_bias=0.4)


@pytest.mark.parametrize("how", [{}, {"human": True}, {"orders": "ab"}])
@pytest.mark.parametrize("judge", [Judge(), FAULTY, Judge(verdicts="soft", unread=0.05)], ids=str)
def test_battles_are_those_that_a_world_reads(judge, how):
    world = simulate(4, 30, seed=3, categories=("essay", "code"))
    read = world.battles(judge, **how).table
    drawn = battles_of(world, judge, **how).table
    assert list(drawn) == list(read)
    pd.testing.assert_frame_equal(drawn, read, check_exact=True)


def test_battles_of_scores_are_those_that_a_table_of_scores_gives():
    world = simulate(4, 30, seed=3)
    item = [f"i{k:03d}" for k in range(30)]
    scores = {"item": np.repeat(item, 4), "model": list(world.entrants) * 30, "score": world.quality.ravel()}
    drawn, read = scored_battles(world).table, read_battles(pd.DataFrame(scores)).table
    assert list(drawn) == list(read)
    pd.testing.assert_frame_equal(drawn, read, check_exact=True)
