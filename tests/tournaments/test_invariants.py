"""What holds for every tournament, whatever the field and the verdicts."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from playing import Judge, battles, coin, play

from podium import NotIdentifiedError
from podium.data.pairings import Field, Pairing, Round, pairing
from podium.tournaments.anchor import Anchor
from podium.tournaments.chain import Chain
from podium.tournaments.ring import Ring
from podium.tournaments.round_robin import RoundRobin
from podium.tournaments.schedule import TournamentRule
from podium.tournaments.swim import Swim

TOURNAMENTS = {
    "round robin": lambda seed: RoundRobin(seed=seed),
    "round robin on a sample": lambda seed: RoundRobin(items=3, seed=seed),
    "first as anchor": lambda seed: FirstAnchor(seed),
    "anchor by a pilot": lambda seed: Anchor(pilot=2, seed=seed),
    "swim": lambda seed: Swim(seed=seed),
    "chain": lambda seed: Chain(seed=seed),
    "ring": lambda seed: Ring(seed=seed),
}
every_tournament = pytest.mark.parametrize(
    "tournament", TOURNAMENTS.values(), ids=TOURNAMENTS.keys()
)
Make = Callable[[int], TournamentRule]


class FirstAnchor:
    """The first model as the anchor: its name is known only with the field."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def next(self, field: Field, played: list[Round]):
        return Anchor(anchor=field.models[:1], seed=self.seed).next(field, played)

    def size(self, field: Field) -> int:
        return Anchor(anchor=field.models[:1], seed=self.seed).size(field)


@st.composite
def fields(draw: st.DrawFn, absent: bool = True) -> Field:
    """Draw a field of 2 to 7 models with awkward names and 1 to 6 items; some responses are
    absent."""
    names = st.text(st.sampled_from("ab:,é \n"), min_size=1, max_size=4)
    models = tuple(sorted(draw(st.sets(names, min_size=2, max_size=7))))
    items = tuple(draw(st.lists(names, min_size=1, max_size=6, unique=True)))
    gone = st.frozensets(st.sampled_from(models), max_size=len(models))
    return Field(
        models, items, draw(st.dictionaries(st.sampled_from(items), gone)) if absent else {}
    )


@st.composite
def judges(draw: st.DrawFn) -> Judge:
    """Draw a judge of hard or soft verdicts, a tenth of them unparsed."""
    seed, hard = draw(st.integers(0, 1000)), draw(st.booleans())

    def judge(one: Pairing) -> float | None:
        value = coin(one, seed)
        return None if value < 0.1 else round(2 * value) / 2 if hard else value

    return judge


def played(make: Make, seed: int, field: Field, judge: Judge) -> list[Round]:
    """Play the tournament; discard cases with an uninformative pilot."""
    try:
        return play(make(seed), field, judge)
    except NotIdentifiedError:
        assume(False)
        raise


@pytest.mark.slow
@every_tournament
@settings(max_examples=60, deadline=None)
@given(field=fields(), judge=judges(), seed=st.integers(0, 99))
def test_every_battle_can_be_played_and_is_asked_for_once(
    tournament: Make, field: Field, judge: Judge, seed: int
) -> None:
    found = battles(played(tournament, seed, field, judge))
    assert len(set(found)) == len(found)
    assert all(
        one == pairing(one.item, one.b, one.a, one.first) and field.can_play(one.item, one.a, one.b)
        for one in found
    )
    assert all({one.a, one.b} <= set(field.models) and one.item in field.items for one in found)


@pytest.mark.slow
@every_tournament
@settings(max_examples=60, deadline=None)
@given(field=fields(), judge=judges(), seed=st.integers(0, 99))
def test_the_size_is_never_exceeded(
    tournament: Make, field: Field, judge: Judge, seed: int
) -> None:
    assert len(battles(played(tournament, seed, field, judge))) <= tournament(seed).size(field)


@pytest.mark.fast_cases(2)
@every_tournament
@settings(max_examples=60, deadline=None)
@given(field=fields(absent=False), judge=judges(), seed=st.integers(0, 99))
def test_the_size_is_exact_where_every_response_is_there(
    tournament: Make, field: Field, judge: Judge, seed: int
) -> None:
    assert len(battles(played(tournament, seed, field, judge))) == tournament(seed).size(field)


@pytest.mark.slow
@every_tournament
@settings(max_examples=40, deadline=None)
@given(field=fields(), judge=judges(), seed=st.integers(0, 99))
def test_a_record_gives_the_same_schedule_from_every_point_on(
    tournament: Make, field: Field, judge: Judge, seed: int
) -> None:
    rounds = played(tournament, seed, field, judge)
    for k, done in enumerate(rounds):
        again = tournament(seed).next(field, rounds[:k]).pairings
        assert again == tuple(one.pairing for one in done.outcomes)
    assert tournament(seed).next(field, rounds).pairings == ()


@pytest.mark.slow
@every_tournament
@settings(max_examples=60, deadline=None)
@given(field=fields(), judge=judges(), seed=st.integers(0, 99), data=st.data())
def test_the_order_of_items_and_of_outcomes_changes_nothing(
    tournament: Make, field: Field, judge: Judge, seed: int, data: st.DataObject
) -> None:
    turned = replace(field, items=tuple(data.draw(st.permutations(field.items))))
    rounds = played(tournament, seed, field, judge)
    for k, done in enumerate(rounds):
        shuffled = [Round(tuple(data.draw(st.permutations(one.outcomes)))) for one in rounds[:k]]
        again = tournament(seed).next(turned, shuffled).pairings
        assert set(again) == {one.pairing for one in done.outcomes}


@pytest.mark.slow
@every_tournament
@settings(max_examples=60, deadline=None)
@given(field=fields(), judge=judges(), seed=st.integers(0, 99))
def test_new_names_in_the_same_order_change_nothing_but_names(
    tournament: Make, field: Field, judge: Judge, seed: int
) -> None:
    new = {name: f"model {k}" for k, name in enumerate(field.models)}
    old = {name: key for key, name in new.items()}
    absent = {item: frozenset(map(new.__getitem__, gone)) for item, gone in field.absent.items()}
    renamed = Field(tuple(new.values()), field.items, absent)
    before = battles(played(tournament, seed, field, judge))
    after = battles(
        played(
            tournament, seed, renamed, lambda one: judge(Pairing(one.item, old[one.a], old[one.b]))
        )
    )
    assert [
        Pairing(one.item, old[one.a], old[one.b], first=old.get(one.first)) for one in after
    ] == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["round robin", "round robin on a sample", "first as anchor", "chain"]
)
@settings(max_examples=60, deadline=None)
@given(field=fields(), seed=st.integers(0, 99))
def test_omitted_battles_are_those_with_missing_responses(
    name: str, field: Field, seed: int
) -> None:
    tournament = TOURNAMENTS[name](seed)
    here, whole = tournament.next(field, ()), tournament.next(replace(field, absent={}), ())
    assert len(here.pairings) + here.left_out == len(whole.pairings)
