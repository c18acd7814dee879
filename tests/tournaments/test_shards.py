"""Shards: together they play the schedule of the single run, by items."""

from collections import Counter

import pytest
from playing import battles, field_of, play

from podium.errors import UsageError
from podium.tournaments.anchor import Anchor
from podium.tournaments.chain import Chain
from podium.tournaments.parts import Budget, Part, Shard, read_shard, refuse_undividable
from podium.tournaments.recorded import Recorded
from podium.tournaments.ring import Ring
from podium.tournaments.round_robin import RoundRobin
from podium.tournaments.swim import Swim

ABSENT = {"q03": frozenset({"m01"}), "q07": frozenset({"m00", "m02"})}
FIELD = field_of(5, 50, ABSENT)
FLAT = {
    "round robin": RoundRobin(items=41),
    "chain": Chain(seed=3),
    "a named anchor": Anchor(anchor="m02"),
    "ring": Ring(items=44, seed=2),
    "a budget": Budget(RoundRobin(), 77),
    "a record": Recorded(battles=RoundRobin(items=40).next(FIELD, ()).pairings, sample=300),
}


def split_judge_name(rule, field, played, of):
    """Return what each shard plays of the next round."""
    coming = rule.next(field, played)
    seed = getattr(rule, "rule", rule).seed
    return [
        Shard(k, of).part_of(coming, Shard(k, of).items_of(field, seed)) for k in range(1, of + 1)
    ]


@pytest.mark.parametrize("of", [1, 3, 4])
@pytest.mark.parametrize("rule", FLAT.values(), ids=FLAT)
def test_shards_play_each_battle_of_the_single_run_once_by_items_of_their_own(rule, of):
    parts, [whole] = split_judge_name(rule, FIELD, (), of), play(rule, FIELD)
    assert Counter(own for part in parts for own in part.pairings) == Counter(battles([whole]))
    assert sum(part.left_out for part in parts) == rule.next(FIELD, ()).left_out
    items = [{own.item for own in part.pairings} for part in parts]
    assert sum(map(len, items)) == len(set().union(*items))
    assert max(map(len, items)) - min(map(len, items)) <= (3 if rule is FLAT["a budget"] else 2)


def test_a_part_is_one_round_and_nothing_after_it():
    [part, *_] = split_judge_name(Ring(), FIELD, (), 2)
    rule = Part(part)
    assert battles(play(rule, FIELD)) == list(part.pairings)
    assert rule.size(FIELD) == len(part.pairings)


@pytest.mark.parametrize("text", ["0/4", "5/4", "4", "1/0", "-1/4", "1/4/2", "a/b", ""])
def test_what_is_no_shard_is_rejected_with_what_to_write(text):
    with pytest.raises(UsageError, match="1/4, 2/4, 3/4 and 4/4"):
        read_shard(text)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Swim(), "swim chooses opponents by the verdicts on all items; play podium/ring"),
        (Anchor(), "play the pilot first .* then -T anchor=NAME in shards; or play podium/ring"),
        (Anchor(until="order"), "anchor=auto"),
        (
            Ring(until="top1"),
            "until=top1 decides by the verdicts of all shards; leave out shard= .* or leave out "
            "until=",
        ),
        (RoundRobin(until="order"), "leave out until= and play the whole schedule in shards"),
        (Ring(items=2), "there are 2 items"),
    ],
)
def test_what_cannot_be_divided_is_rejected_with_the_remedy(rule, words):
    with pytest.raises(UsageError, match=words):
        refuse_undividable(type(rule).__name__.lower(), rule, FIELD, Shard(1, 3))
