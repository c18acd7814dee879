"""Pairings that are made when they are taken are those of plain loops."""

import pytest

from podium.data.pairings import Field, Pairing, PairingsByItem, pairings_on_items
from podium.tournaments.chained_pairs import chain_pairs
from podium.tournaments.parts import Budget
from podium.tournaments.round_robin import RoundRobin

MODELS = ("ash", "elm", "fir", "oak")
ITEMS = tuple(f"q{k}" for k in range(5))
ABSENT = {"q1": frozenset({"elm"}), "q3": frozenset(MODELS)}


@pytest.fixture
def lazy() -> PairingsByItem:
    """Return the pairings of a round robin in which some responses are absent."""
    pairings = RoundRobin().next(Field(MODELS, ITEMS, ABSENT), ()).pairings
    assert isinstance(pairings, PairingsByItem)
    return pairings


@pytest.fixture
def plain() -> tuple[Pairing, ...]:
    """Return the same pairings, made one by one."""
    return tuple(
        Pairing(item, a, b)
        for item in ITEMS
        for a, b in chain_pairs(MODELS)
        if not ABSENT.get(item, frozenset()) & {a, b}
    )


def test_pairings_of_a_round_robin_are_those_of_plain_loops(
    lazy: PairingsByItem, plain: tuple[Pairing, ...]
) -> None:
    assert (tuple(lazy), len(lazy)) == (plain, len(plain))
    assert lazy == plain
    assert plain == lazy
    assert lazy != plain[:-1]
    assert [lazy[k] for k in range(-len(plain), len(plain))] == [*plain, *plain]
    for part in (slice(None, 4), slice(2, None, 3), slice(None, None, -2), slice(9, 2)):
        assert lazy[part] == plain[part]
    with pytest.raises(IndexError):
        lazy[len(plain)]


def test_pairings_on_some_items_are_those_of_plain_loops(
    lazy: PairingsByItem, plain: tuple[Pairing, ...]
) -> None:
    items = {"q1", "q3", "q4"}
    expected = tuple(pairing for pairing in plain if pairing.item in items)
    assert tuple(pairings_on_items(lazy, items)) == expected
    assert pairings_on_items(plain, items) == expected


def test_battles_without_responses_are_counted_by_item(lazy: PairingsByItem) -> None:
    coming = RoundRobin().next(Field(MODELS, ITEMS, ABSENT), ())
    assert coming.pairings == lazy
    assert (coming.left_out, coming.left_out_of) == (9, {"q1": 3, "q3": 6})


def test_a_limit_cuts_pairings_that_are_not_made_yet(plain: tuple[Pairing, ...]) -> None:
    coming = Budget(RoundRobin(), 8).next(Field(MODELS, ITEMS, ABSENT), ())
    assert coming.pairings == plain[:8]


def test_items_share_their_pairs() -> None:
    pairings = RoundRobin().next(Field(MODELS, ITEMS, {}), ()).pairings
    assert isinstance(pairings, PairingsByItem)
    assert len({id(own) for own in pairings.pairs.values()}) == 1
