"""Judges that take turns: balanced over pairs, items and orders in every tournament, fixed by the
seed."""

from collections import Counter
from random import Random

import pytest
from playing import battles, field_of, play

from podium.data.pairings import Round
from podium.errors import UsageError
from podium.scorers.battle import judgments
from podium.tournaments.anchor import Anchor
from podium.tournaments.chain import Chain
from podium.tournaments.judge_rotation import JudgeRotation, name_jury, read_shares
from podium.tournaments.parts import Shard
from podium.tournaments.recorded import Recorded
from podium.tournaments.ring import Ring
from podium.tournaments.round_robin import RoundRobin
from podium.tournaments.swim import Swim

FIELD = field_of(6, 60)
JUDGES = ("one", "two", "three")
RULES = {
    "round_robin": RoundRobin(),
    "ring": Ring(),
    "ring that stops": Ring(until="order", margin=10),
    "chain": Chain(),
    "anchor": Anchor(anchor="m02"),
    "anchor by a pilot": Anchor(),
    "swim": Swim(),
    "recorded": Recorded(battles=RoundRobin().next(FIELD, ()).pairings, sample=400),
}
MOST = 2.5
"""How far a judge's battles in a group may be from its share of them."""


def rotation(judges="rotate", overlap=0.0, seed=0, **options):
    """Return a rotation of three judges; orders are the tournament's own."""
    shares = read_shares(judges, overlap, len(JUDGES))
    return JudgeRotation(JUDGES, shares, seed=seed, first_shown=lambda own: own.first, **options)


def turns(rounds: list[Round], own: JudgeRotation):
    """Return the judges of every battle, assigned round by round."""
    for done in rounds:
        own.assign([outcome.pairing for outcome in done.outcomes])
    return {each: own.judges_of(each) for each in battles(rounds)}


GROUPS = {
    "pair": lambda own: (own.a, own.b),
    "item": lambda own: own.item,
    "order": lambda own: own.first and (own.a, own.b, own.first),
    "all": type,
}


def unbalance(chosen, shares, group):
    """Return how far the judges of one group of battles are from their shares, at most over all
    groups."""
    counts: dict[object, Counter] = {}
    for own, judges in chosen.items():
        if (key := GROUPS[group](own)) is not None:
            counts.setdefault(key, Counter())["all" if len(judges) > 1 else judges[0]] += 1
    names = (*JUDGES, "all")
    return max(
        (
            abs(count[name] - share * count.total())
            for count in counts.values()
            for name, share in zip(names, shares, strict=True)
        ),
        default=0.0,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judges", "overlap"), [("rotate", 0.0), ("rotate:2,1,1", 0.0), ("rotate", 0.1)]
)
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_judges_are_balanced_by_pair_item_and_order_in_every_tournament(
    rule, group, judges, overlap
):
    chosen = turns(play(rule, FIELD), rotation(judges, overlap))
    assert unbalance(chosen, read_shares(judges, overlap, 3), group) <= (
        1.5 if group == "all" else MOST
    )


def test_a_draw_without_balance_would_fail_these_limits():
    """The limits can fail: chance alone is further from the shares, in every group."""
    draw = Random(0)
    drawn = {own: (draw.choice(JUDGES),) for own in battles(play(RULES["ring"], FIELD))}
    assert all(
        unbalance(drawn, read_shares("rotate", 0, 3), group) > MOST
        for group in ("pair", "order", "all")
    )


def test_the_seed_decides_and_neither_the_order_of_rows_nor_other_shards():
    [whole] = play(RULES["ring"], FIELD)
    first, rows = turns([whole], rotation()), [outcome.pairing for outcome in whole.outcomes]
    backwards = rotation()
    backwards.assign(rows[::-1])
    assert {own: backwards.judges_of(own) for own in rows} == first
    assert turns([whole], rotation(seed=1)) != first
    shared = rotation()
    shared.assign(rows)
    items = Shard(2, 3).items_of(FIELD, 0)
    part = [own for own in rows if own.item in items]
    shared.assign(part)
    assert {own: shared.judges_of(own) for own in part} == {own: first[own] for own in part}


def test_rounds_continue_the_counts_of_those_before_and_a_battle_keeps_its_judge():
    rounds = play(RULES["ring that stops"], FIELD)
    assert len(rounds) > 2
    own, known = rotation(), {}
    for done in (*rounds, *rounds):
        known |= turns([done], own)
        assert {each: own.judges_of(each) for each in known} == known
    assert known == turns(rounds, rotation())


def test_overlap_is_drawn_by_the_seed_and_judged_by_all():
    [whole] = play(RULES["round_robin"], FIELD)
    drawn = []
    for seed in (0, 1):
        chosen = turns([whole], rotation(overlap=0.1, seed=seed))
        drawn.append({own for own, judges in chosen.items() if judges == JUDGES})
        assert len(drawn[-1]) == pytest.approx(0.1 * len(chosen), abs=1)
    both = len(drawn[0] & drawn[1])
    assert both < 0.25 * len(drawn[0]), "seeds draw other battles"


def test_orders_drawn_at_random_are_balanced_too():
    shown = lambda own: judgments(own.item, own.a, own.b, orders="random")[0].first  # noqa: E731
    shares, [whole] = read_shares("rotate", 0, 3), play(RULES["round_robin"], FIELD)
    chosen = turns([whole], JudgeRotation(JUDGES, shares, seed=0, first_shown=shown))
    assert (
        unbalance(
            {own._replace(first=shown(own)): each for own, each in chosen.items()}, shares, "order"
        )
        <= MOST
    )


def test_a_pointwise_judge_rates_all_responses_to_its_items():
    [whole] = play(RULES["round_robin"], FIELD)
    chosen = turns([whole], rotation("rotate:2,1,1", by_item=True))
    of_item = {own.item: judges for own, judges in chosen.items()}
    assert all(of_item[own.item] == judges for own, judges in chosen.items())
    assert Counter(of_item.values()) == {("one",): 30, ("two",): 15, ("three",): 15}


@pytest.mark.parametrize(
    ("judges", "overlap", "number", "words"),
    [
        ("rotate", 0, 1, "judges=rotate: one judge cannot take turns; name two or more"),
        (
            "rotate:2,1",
            0,
            3,
            "judges=rotate:2,1: there are 3 judges; give a weight above 0 for each",
        ),
        ("rotate:2,0,1", 0, 3, "there are 3 judges"),
        ("rotate:2,x,1", 0, 3, "there are 3 judges"),
        ("rotate:2,nan,1", 0, 3, "there are 3 judges"),
        ("rotate:", 0, 3, "there are 3 judges"),
        ({"rotate": None}, 0, 3, "judges=rotate:: there are 3 judges"),
        ("turns", 0, 3, "judges=turns: write all, rotate, or rotate with a weight per judge"),
        ("rotate", 1.2, 3, "overlap=1.2: give a share of the battles from 0 to 1"),
        ("rotate", -0.1, 3, "overlap=-0.1"),
        ("rotate", "much", 3, "overlap=much"),
        ("rotate", True, 3, "overlap=True"),
        ("all", 0.1, 3, "overlap=0.1: with judges=all every battle is judged by all"),
    ],
)
def test_options_that_do_not_fit_are_rejected_in_a_sentence(judges, overlap, number, words):
    with pytest.raises(UsageError) as error:
        read_shares(judges, overlap, number)
    assert words in str(error.value)


def test_inspect_splits_weights_at_commas_and_they_are_read_nevertheless():
    assert read_shares(["rotate:2", 1, 1], 0.2, 3) == pytest.approx((0.4, 0.2, 0.2, 0.2))
    assert read_shares("all", 0, 2) == (0, 0, 1)


def test_a_jury_has_one_name_in_whichever_order_its_judges_stand():
    assert name_jury(["one", "two"]) == name_jury(["two", "one"]) != name_jury(["one", "three"])
