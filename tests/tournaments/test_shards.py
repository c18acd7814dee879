"""Shards: together they play the schedule of the single run, by items, and a look at a time where it stops."""

from collections import Counter
from functools import partial

import pytest
from playing import battles, coin, field_of, play, soft

from podium.errors import UsageError
from podium.tournaments.anchor import Anchor
from podium.tournaments.budget import Budget
from podium.tournaments.chain import Chain
from podium.tournaments.claims import answer_of
from podium.tournaments.recorded import Recorded
from podium.tournaments.ring import Ring
from podium.tournaments.round_robin import RoundRobin
from podium.tournaments.schedule import Outcome
from podium.tournaments.shards import Part, Shard, read_shard, refuse_undividable, rounds_on_record
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
    return [Shard(k, of).part_of(coming, Shard(k, of).items_of(field, seed)) for k in range(1, of + 1)]


def by_number(noise, one):
    """Judge by number, all gaps alike, with noise of each battle's own."""
    return min(1.0, max(0.0, (0.8 if one.a > one.b else 0.2) + noise * (coin(one) - 0.5)))


@pytest.mark.parametrize("of", [1, 3, 4])
@pytest.mark.parametrize("rule", FLAT.values(), ids=FLAT)
def test_shards_play_each_battle_of_the_single_run_once_by_items_of_their_own(rule, of):
    parts, [whole] = split_judge_name(rule, FIELD, (), of), play(rule, FIELD)
    assert Counter(own for part in parts for own in part.pairings) == Counter(battles([whole]))
    assert sum(part.left_out for part in parts) == rule.next(FIELD, ()).left_out
    items = [{own.item for own in part.pairings} for part in parts]
    assert sum(map(len, items)) == len(set().union(*items))
    assert max(map(len, items)) - min(map(len, items)) <= (3 if rule is FLAT["a budget"] else 2)


@pytest.mark.parametrize("options", [{"until": "top1"}, {"until": "order"}, {"until": "error:60"}])
@pytest.mark.parametrize("kind", [Ring, RoundRobin])
def test_looks_over_three_shards_are_those_of_the_single_run_and_so_are_the_claims(kind, options):
    """Each shard works the schedule out again, from the outcomes of all shards in any order."""
    if kind is RoundRobin:
        options = {"until": options["until"]}
    rule = Budget(kind(start=25, **options), 600)
    single, looks = play(rule, FIELD), []
    while parts := [
        part for part in split_judge_name(rule, FIELD, rounds_on_record(rule, FIELD, (), looks), 3) if part.pairings
    ]:
        ended = [Outcome(own, soft(own)) for part in reversed(parts) for own in reversed(part.pairings)]
        looks.append({own.pairing: own for own in ended})
    assert len(looks) == len(single)
    assert [done.outcomes for done in rounds_on_record(rule, FIELD, (), looks)] == [done.outcomes for done in single]
    assert answer_of(rule, FIELD, rounds_on_record(rule, FIELD, (), looks)) == answer_of(rule, FIELD, single)


def test_looks_whose_verdicts_lead_elsewhere_are_refused():
    """Scored again with another judge's words, the first look lets others leave."""
    rule = Ring(until="top1", start=25)
    clear = partial(by_number, 0.15)
    first, second, *_ = ({own.pairing: own for own in done.outcomes} for done in play(rule, FIELD, clear))
    turned = {own: Outcome(own, 1 - (done.credit or 0)) for own, done in first.items()}
    with pytest.raises(UsageError, match=r"look 2 holds .* scored again.*play from look 2 on into another folder"):
        rounds_on_record(rule, FIELD, (), [turned, second])


def test_a_part_is_one_round_and_nothing_after_it():
    [part, *_] = split_judge_name(Ring(), FIELD, (), 2)
    rule = Part(part, 0)
    assert battles(play(rule, FIELD)) == list(part.pairings)
    assert rule.size(FIELD) == len(part.pairings)


@pytest.mark.parametrize("text", ["0/4", "5/4", "4", "1/0", "-1/4", "1/4/2", "a/b", ""])
def test_what_is_no_shard_is_refused_with_what_to_write(text):
    with pytest.raises(UsageError, match="1/4, 2/4, 3/4 and 4/4"):
        read_shard(text)


@pytest.mark.parametrize(
    ("rule", "look", "words"),
    [
        (Swim(), None, "swim chooses opponents by the verdicts on all items; play podium/ring"),
        (Anchor(), None, "play the pilot first .* then -T anchor=NAME in shards; or play podium/ring"),
        (Anchor(until="order"), 1, "anchor=auto"),
        (Ring(until="top1"), None, "play a look at a time: -T look=1"),
        (Ring(), 2, "add until="),
        (Ring(items=2), None, "there are 2 items"),
    ],
)
def test_what_cannot_be_divided_is_refused_with_the_remedy(rule, look, words):
    with pytest.raises(UsageError, match=words):
        refuse_undividable(type(rule).__name__.lower(), rule, FIELD, Shard(1, 3), look)
