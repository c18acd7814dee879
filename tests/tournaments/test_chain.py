"""Chain: a random path through all models on each item."""

from collections import Counter
from itertools import pairwise

import numpy as np
from playing import battles, field_of, play

from podium.data.pairings import Pairing
from podium.tournaments.chain import Chain


def by_item(found: list[Pairing]) -> dict[str, list[Pairing]]:
    return {
        item: [one for one in found if one.item == item]
        for item in dict.fromkeys(one.item for one in found)
    }


def visits(steps: list[Pairing]) -> Counter[str]:
    return Counter(name for one in steps for name in (one.a, one.b))


def test_an_item_costs_as_much_as_with_one_anchor() -> None:
    rounds = play(Chain(), field_of(7, 30))
    assert (len(rounds), len(battles(rounds))) == (1, 30 * 6)


def test_every_item_is_one_path_through_all_models() -> None:
    for steps in by_item(battles(play(Chain(), field_of(7, 30)))).values():
        assert sorted(visits(steps).values()) == [1, 1, 2, 2, 2, 2, 2]
        assert all({one.a, one.b} & {other.a, other.b} for one, other in pairwise(steps))


def test_all_pairs_meet_about_equally_often() -> None:
    """Each of 21 pairs lies on a path with probability 6 / 21; the bounds are five standard
    deviations."""
    found = Counter((one.a, one.b) for one in battles(play(Chain(), field_of(7, 2000))))
    mean, sd = 2000 * 6 / 21, np.sqrt(2000 * 6 / 21 * 15 / 21)
    assert (len(found), max(abs(number - mean) for number in found.values()) < 5 * sd) == (21, True)


def test_an_items_path_does_not_depend_on_the_other_items() -> None:
    few, many = (by_item(battles(play(Chain(), field_of(7, n)))) for n in (5, 30))
    assert few == {item: many[item] for item in few}


def test_chain_skips_and_counts_missing_responses() -> None:
    whole, gone = field_of(7, 3), frozenset({"m02", "m05"})
    coming = Chain().next(field_of(7, 3, {"q01": gone}), ())
    steps = by_item(list(coming.pairings))
    assert (len(steps["q01"]), coming.left_out, visits(steps["q01"]).keys() & gone) == (4, 2, set())
    assert steps["q00"] == by_item(battles(play(Chain(), whole)))["q00"]


def test_a_single_model_left_on_an_item_plays_nothing() -> None:
    coming = Chain().next(field_of(3, 1, {"q00": frozenset({"m00", "m01"})}), ())
    assert (coming.pairings, coming.left_out) == ((), 2)
