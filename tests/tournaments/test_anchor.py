"""Anchor: named, several, or chosen by a pilot."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from playing import battles, coin, field_of, hard, pairs, play

from podium import NotIdentifiedError, UsageError, rank, read_battles
from podium.data.pairings import Field, Outcome, Pairing, Round
from podium.tournaments.anchor import Anchor, informativeness_of, most_informative
from podium.tournaments.round_robin import RoundRobin


def test_all_others_meet_the_anchor_on_every_item() -> None:
    rounds = play(Anchor(anchor="m03"), field_of(7, 30))
    assert (len(rounds), len(battles(rounds)), len(pairs(rounds))) == (1, 180, 6)
    assert all("m03" in pair for pair in pairs(rounds))


@pytest.mark.parametrize("given", ["m03,m05", ["m03", "m05"], "m05, m03"])
def test_two_anchors_meet_each_other_once_an_item(given: str | list[str]) -> None:
    assert len(battles(play(Anchor(anchor=given), field_of(7, 10)))) == 10 * 11


def test_an_anchor_whose_name_has_a_comma_is_one_model() -> None:
    field = replace(field_of(2, 3), models=("a,b", "c"))
    assert pairs(play(Anchor(anchor="a,b"), field, coin)) == [("a,b", "c")]


def test_an_unknown_anchor_is_rejected_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="no model called 'm3'; did you mean 'm"):
        Anchor(anchor="m3").next(field_of(7, 3), ())


def test_the_pilot_plays_all_pairs_on_ten_items() -> None:
    pilot = Anchor().next(field_of(7, 30), ()).pairings
    assert (len(pilot), len({one.item for one in pilot})) == (10 * 21, 10)


def test_the_anchors_round_takes_the_remaining_items() -> None:
    first, second = play(Anchor(), field_of(7, 30))
    tried, rest = ({one.pairing.item for one in done.outcomes} for done in (first, second))
    assert (len(tried), len(rest), tried & rest, len(second.outcomes)) == (10, 20, set(), 20 * 6)


def test_the_anchor_is_the_most_informative_of_the_pilot() -> None:
    """Oracle: the ranker `informativeness` on the battles of the pilot."""
    first, second = play(Anchor(), field_of(7, 30), hard)
    rows = [(one.pairing.item, one.pairing.a, one.pairing.b, one.credit) for one in first.outcomes]
    table = ["item", "model_a", "model_b", "credit"]
    ranking = rank(read_battles(frame(rows, table)), "informativeness")
    chosen = set.intersection(*({one.pairing.a, one.pairing.b} for one in second.outcomes))
    best = max(entry.score for entry in ranking.standings[0].entries)
    assert chosen <= {entry.model for entry in ranking.standings[0].entries if entry.score == best}
    assert len(chosen) == 1


def frame(rows: list[tuple[object, ...]], columns: list[str]):
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


def test_informativeness_is_the_share_of_pairs_distinguishable() -> None:
    """By hand: against a, b and c differ on q1 and agree on q2; against b and c, the other two
    differ on both."""
    credits = {("q1", "a", "b"): 1, ("q1", "a", "c"): 0, ("q1", "b", "c"): 1}
    credits |= {("q2", "a", "b"): 1, ("q2", "a", "c"): 1, ("q2", "b", "c"): 1}
    outcomes = [Outcome(Pairing(*battle), credit) for battle, credit in credits.items()]
    found = informativeness_of("abc", outcomes)
    assert found == {"a": (0.5, 2), "b": (1, 2), "c": (0.5, 2)}


def test_five_level_labels_are_distinguishable_by_their_margin() -> None:
    outcomes = [
        Outcome(Pairing("q", "a", "b"), 1.0, 2.0),
        Outcome(Pairing("q", "a", "c"), 1.0, 1.0),
    ]
    assert informativeness_of("abc", outcomes)["a"] == (1, 1)


def test_continuous_verdicts_are_compared_by_their_sign() -> None:
    outcomes = [Outcome(Pairing("q", "a", f"b{k:02d}"), 0.6 + k / 100) for k in range(30)]
    names = ["a", *(one.pairing.b for one in outcomes)]
    assert informativeness_of(names, outcomes)["a"] == (0, 30 * 29 / 2)


def test_of_equal_candidates_the_first_by_name_is_chosen() -> None:
    outcomes = [Outcome(Pairing("q", a, b), 1.0) for a, b in (("a", "b"), ("a", "c"), ("b", "c"))]
    assert most_informative("cba", outcomes) == "b"


def test_a_pilot_of_which_nothing_can_be_read_is_rejected_with_a_remedy() -> None:
    with pytest.raises(NotIdentifiedError, match=r"the 210 battles of the pilot .*name the anchor"):
        play(Anchor(), field_of(7, 30), lambda _: None)


def test_of_two_models_no_pilot_is_played() -> None:
    assert len(play(Anchor(), field_of(2, 30))) == 1


def test_a_pilot_of_all_items_is_the_whole_tournament() -> None:
    assert [len(done.outcomes) for done in play(Anchor(), field_of(4, 8))] == [48]


def test_verdicts_that_are_read_anew_do_not_change_the_anchor() -> None:
    field = field_of(7, 30)
    first, second = play(Anchor(), field, hard)
    anew = [1 - one.credit if k % 3 else None for k, one in enumerate(first.outcomes)]  # type: ignore[operator]
    turned = Round(
        tuple(one._replace(credit=credit) for one, credit in zip(first.outcomes, anew, strict=True))
    )
    assert Anchor().next(field, [turned, second]).pairings == ()


def test_a_pilot_that_was_stopped_goes_on_before_the_anchor_is_chosen() -> None:
    field = field_of(7, 30)
    whole = play(Anchor(), field)[0]
    begun = Round(whole.outcomes[:50])
    assert Anchor().next(field, [begun]).pairings == tuple(
        one.pairing for one in whole.outcomes[50:]
    )


def test_a_pilot_without_items_is_rejected() -> None:
    with pytest.raises(UsageError, match="pilot=0"):
        Anchor(pilot=0)


def test_battles_on_other_items_do_not_choose_the_anchor() -> None:
    """On other items m06 is the most informative; only the pilot decides."""
    field = field_of(7, 30)
    pilot, rest = play(Anchor(), field, hard)
    others = [
        one.pairing
        for one in play(RoundRobin(), field)[0].outcomes
        if one.pairing.item not in tried(pilot)
    ]
    elsewhere = [Outcome(one, 0.5 if one.b != "m06" else int(one.a[1:]) % 3 / 2) for one in others]
    [asked] = {
        anchor_of(rest.outcomes),
        anchor_of_rest(field, Round(tuple(elsewhere[:400])), pilot),
    }
    assert asked != "m06"


def tried(pilot: Round) -> set[str]:
    return {one.pairing.item for one in pilot.outcomes}


def anchor_of_rest(field: Field, earlier: Round, pilot: Round) -> str:
    """Return the anchor of the battles that follow earlier battles and the pilot."""
    coming = Anchor().next(field, [earlier, pilot]).pairings
    return anchor_of([Outcome(one, None) for one in coming])


def anchor_of(outcomes: Sequence[Outcome]) -> str:
    [name] = set.intersection(*({one.pairing.a, one.pairing.b} for one in outcomes))
    return name
