"""Recorded battles as a schedule: all of this field, or a sample balanced over pairs."""

from collections import Counter
from itertools import pairwise

import pytest

from podium.data.pairings import Field, Outcome, Round, pairing
from podium.errors import UsageError
from podium.tournaments.recorded import Recorded

NAMES = ("ash", "elm", "fir", "oak")
UNEVEN = [pairing(f"q{k}", a, b) for a, b in pairwise(NAMES) for k in range(30)]
UNEVEN += [pairing(f"q{k}", "ash", "oak") for k in range(3)]
FIELD = Field(NAMES, tuple(f"q{k}" for k in range(30)), {})


def test_every_recorded_battle_is_played_once_whatever_their_order():
    coming = Recorded(battles=UNEVEN).next(FIELD, ())
    assert {*coming.pairings} == {*UNEVEN}
    assert len(coming.pairings) == len(UNEVEN) == Recorded(battles=UNEVEN).size(FIELD)
    assert Recorded(battles=[*reversed(UNEVEN), *UNEVEN]).next(FIELD, ()) == coming
    assert (
        not Recorded(battles=UNEVEN)
        .next(FIELD, [Round(tuple(Outcome(own, 1.0) for own in UNEVEN))])
        .pairings
    )


def test_a_sample_has_of_every_pair_the_same_number_as_far_as_the_record_goes():
    drawn = Recorded(battles=UNEVEN, sample=42).next(FIELD, ()).pairings
    assert Counter((own.a, own.b) for own in drawn) == {
        ("ash", "elm"): 13,
        ("elm", "fir"): 13,
        ("fir", "oak"): 13,
        ("ash", "oak"): 3,
    }
    assert {*drawn} <= {*UNEVEN}


def test_a_sample_smaller_than_the_pairs_is_balanced_over_models():
    names = tuple(f"m{k:02d}" for k in range(20))
    battles = [pairing("q1", a, b) for a in names for b in names if a < b]
    drawn = Recorded(battles=battles, sample=40).next(Field(names, ("q1",), {}), ()).pairings
    assert {*Counter(name for own in drawn for name in (own.a, own.b)).values()} == {3, 4, 5}
    assert {*Counter((own.a, own.b) for own in drawn).values()} == {1}


def test_samples_of_one_seed_are_nested_and_those_of_another_differ():
    small, large = (
        {*Recorded(battles=UNEVEN, sample=n).next(FIELD, ()).pairings} for n in (10, 40)
    )
    assert small < large
    assert {*Recorded(battles=UNEVEN, sample=10, seed=1).next(FIELD, ()).pairings} != small


def test_a_sample_beyond_the_record_is_the_record():
    assert Recorded(battles=UNEVEN, sample=10_000).size(FIELD) == len(UNEVEN)


def test_battles_of_others_are_left_out_and_none_is_rejected():
    field = Field(("ash", "elm"), ("q1", "q2"), {"q2": frozenset({"elm"})})
    assert Recorded(battles=UNEVEN).next(field, ()).pairings == (pairing("q1", "ash", "elm"),)
    with pytest.raises(UsageError, match="no recorded battle is of these models and items"):
        Recorded().next(FIELD, ())
    with pytest.raises(UsageError, match="sample=0"):
        Recorded(battles=UNEVEN, sample=0)
