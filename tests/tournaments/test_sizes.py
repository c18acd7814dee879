"""The size of a round robin is the number of battles that it plays."""

import pytest

from podium.data.pairings import Field
from podium.tournaments.round_robin import RoundRobin

MODELS = ("amber", "birch", "cedar", "dune")
ITEMS = tuple(f"q{k}" for k in range(30))


@pytest.mark.parametrize("items", [None, 12])
@pytest.mark.parametrize("absent", [{}, {"q3": frozenset({"birch"})}])
def test_a_round_robin_plays_as_many_battles_as_its_size(items, absent) -> None:
    field = Field(models=MODELS, items=ITEMS, absent=absent)
    rule = RoundRobin(items=items)
    assert rule.size(field) == len(rule.next(field, ()).pairings)
