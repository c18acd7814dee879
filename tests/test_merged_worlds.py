"""Worlds drawn for the statistics are, to the last digit, what reading their judgments gives."""

import numpy as np
import pandas as pd
import pytest
from merged_worlds import battles_of, scored_battles, unmerged_and_merged

from podium import Judge, read_battles, simulate
from podium.data.counting.verdicts import verdicts_of

FAULTY = Judge(
    "x", scale=1.8, position_bias=0.8, length_bias=0.5, tie=0.3, unparsed=0.3, verbosity_bias=0.4
)
JUDGES = {"fair": Judge(), "faulty": FAULTY, "soft": Judge(verdicts="soft", unparsed=0.05)}


def assert_same(drawn, read):
    assert list(drawn) == list(read)
    pd.testing.assert_frame_equal(drawn, read, check_exact=True)


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("how", [{}, {"human": True}, {"orders": "ab"}])
@pytest.mark.parametrize("judge", JUDGES)
def test_battles_are_those_that_a_world_reads(judge, how):
    world = simulate(4, 30, seed=3, categories=("essay", "code"))
    assert_same(
        battles_of(world, JUDGES[judge], **how).table, world.battles(JUDGES[judge], **how).table
    )


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("judge", JUDGES)
def test_judgments_are_those_that_a_world_shows(judge, repeats):
    world = simulate(["d", "a", "c", "b"], 30, seed=3)
    read = read_battles(world.judgments(JUDGES[judge], human=True, repeats=repeats), merge=False)
    apart, merged = unmerged_and_merged(world, JUDGES[judge], repeats=repeats)
    assert_same(apart.table, read.table)
    assert_same(merged.table, verdicts_of(read.table).table)


def test_battles_of_scores_are_those_that_a_table_of_scores_gives():
    world = simulate(4, 30, seed=3)
    item = np.repeat([f"i{k:03d}" for k in range(30)], 4)
    scores = {"item": item, "model": list(world.models) * 30, "score": world.quality.ravel()}
    assert_same(scored_battles(world).table, read_battles(pd.DataFrame(scores)).table)
