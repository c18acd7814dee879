"""Round robin: all pairs, on all items or on a sample."""

from itertools import combinations, groupby, pairwise

import pytest
from playing import battles, field_of, pairs, play

from podium import UsageError
from podium.tournaments.chained_pairs import chain_pairs
from podium.tournaments.round_robin import RoundRobin


@pytest.mark.parametrize(("models", "met"), [(2, 1), (7, 21), (20, 190)])
def test_every_pair_meets_on_every_item_in_one_round(models: int, met: int) -> None:
    rounds = play(RoundRobin(), field_of(models, 5))
    assert (len(rounds), len(pairs(rounds)), len(battles(rounds))) == (1, met, 5 * met)


def test_a_sample_plays_all_pairs_on_so_many_items() -> None:
    found = battles(play(RoundRobin(items=4), field_of(5, 20)))
    assert (len(found), len({one.item for one in found})) == (40, 4)


def test_samples_of_one_seed_are_nested() -> None:
    few, many = (
        {one.item for one in battles(play(RoundRobin(items=n), field_of(3, 20)))} for n in (4, 9)
    )
    assert (few < many, len(many)) == (True, 9)


def test_another_seed_draws_other_items() -> None:
    samples = {
        frozenset(one.item for one in battles(play(RoundRobin(items=4, seed=k), field_of(3, 20))))
        for k in range(5)
    }
    assert len(samples) == 5


def test_the_order_of_items_does_not_change_the_sample() -> None:
    field = field_of(3, 20)
    turned = type(field)(field.models, field.items[::-1], {})
    assert set(battles(play(RoundRobin(items=4), field))) == set(
        battles(play(RoundRobin(items=4), turned))
    )


def test_round_robin_skips_battles_of_another_tournament() -> None:
    field = field_of(4, 10)
    rounds = play(RoundRobin(items=3), field)
    assert len(RoundRobin().next(field, rounds).pairings) == 60 - 18


def test_battles_with_missing_responses_are_left_out_and_counted() -> None:
    coming = RoundRobin().next(field_of(4, 3, {"q01": frozenset({"m00", "m03"})}), ())
    assert (len(coming.pairings), coming.left_out) == (18 - 5, 5)


@pytest.mark.parametrize(
    ("options", "complaint"), [({"items": 0}, "items=0"), ({"items": 2, "seed": -1}, "seed=-1")]
)
def test_impossible_options_are_rejected(options: dict[str, int], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        RoundRobin(**options).next(field_of(3, 5), ())


@pytest.mark.parametrize("count", range(2, 13))
def test_the_pairs_of_an_item_are_in_as_few_chains_as_possible(count: int) -> None:
    """Pairs (a, b) and (c, d) fit into one chain only if b <= c or d <= a. The pairs of a model of
    the first half with one of the second half exclude one another, so each needs its own chain."""
    models = [f"model {k:02d}" for k in range(count)]
    chained = list(chain_pairs(models))
    assert sorted(chained) == list(combinations(models, 2))
    breaks = sum(before[1] != pair[0] for before, pair in pairwise(chained))
    assert breaks + 1 == (count // 2) * ((count + 1) // 2)


def test_battles_on_an_item_stand_beside_each_other_in_chains() -> None:
    played = battles(play(RoundRobin(), field_of(4, 3)))
    items = [battle.item for battle in played]
    assert [item for item, _ in groupby(items)] == sorted(set(items), key=items.index)
    on_first = [(battle.a, battle.b) for battle in played if battle.item == items[0]]
    assert on_first == list(chain_pairs(sorted({name for pair in on_first for name in pair})))
