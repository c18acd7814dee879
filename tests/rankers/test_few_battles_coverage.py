"""Intervals hold where some entrants have few battles; benchmarks/coverage.py has the same cases in 1,000 worlds."""

import pytest
from interval_cases import CASES, MEDIANS, shares_of

pytestmark = pytest.mark.worlds
WORLDS = 150
SLACK = 0.04
"""Two standard errors of a share in 150 worlds; the 1,000 of the benchmark hold without it."""


@pytest.mark.parametrize("name", CASES)
def test_intervals_hold_where_battles_are_few_and_did_not_or_made_everybody_pay(name):
    case = CASES[name]
    found, before = (shares_of(world, WORLDS) for world in (case.right, case.wrong))
    assert min(found.others, found.last) >= case.least - SLACK
    assert min(before.others, before.last) < case.least or before.width > 1.2 * found.width


@pytest.mark.parametrize("name", MEDIANS)
def test_rank_sets_of_equal_medians_hold_and_did_not(name):
    case = MEDIANS[name]
    right, wrong = (shares_of(world, WORLDS, ranks=True).sets for world in (case.right, case.wrong))
    assert right >= case.least
    assert wrong < case.least
