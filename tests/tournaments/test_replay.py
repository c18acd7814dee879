"""Replay: recorded verdicts as the judge of a tournament."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from podium import (
    Battles,
    Judge,
    NotIdentifiedError,
    UsageError,
    rank,
    read_battles,
    replay,
    simulate,
)
from podium.data.pairings import NextRound, Pairing
from podium.notices.notice_text import notice_texts
from podium.planning.replays import play, recording_of
from podium.tournaments.swim import Swim

ITEMS, MODELS = 40, 6


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Both orders of all pairs of six models on 40 items; a twentieth of the replies is
    unparsed."""
    return simulate(MODELS, ITEMS, seed=3).judgments(Judge(unparsed=0.05, tie=0.3))


@pytest.fixture(scope="module")
def battles(frame: pd.DataFrame) -> Battles:
    return read_battles(frame)


@pytest.mark.slow
def test_a_round_robin_reproduces_the_direct_ranking(battles: Battles) -> None:
    direct, found = (
        rank(battles, "bradley-terry,win-rate"),
        replay(battles, "round_robin", "bradley-terry,win-rate"),
    )
    for one, other in zip(direct.standings, found.ranking.standings, strict=True):
        assert (one.entries, one.fit, notice_texts(one.warnings)) == (
            other.entries,
            other.fit,
            notice_texts(other.warnings),
        )
        assert replace(one.counts, missing=0) == other.counts


@pytest.mark.slow
def test_replay_with_an_anchor_reproduces_its_win_rates(battles: Battles) -> None:
    direct = rank(battles, "win-rate", anchor="model-03").standings[0]
    found = replay(battles, "anchor", "win-rate", anchor="model-03").ranking.standings[0]
    assert direct.entries == found.entries


def test_the_price_counts_battles_and_calls(battles: Battles) -> None:
    price = replay(battles, "chain").price
    met = ITEMS * (MODELS - 1)
    assert (price.battles, price.calls, price.rounds, price.missing) == (met, 2 * met, 1, 0)
    assert (price.judged + price.unparsed, price.unparsed > 0) == (met, True)


@pytest.mark.slow
def test_swim_plays_in_as_many_rounds_as_pairs(battles: Battles) -> None:
    price = replay(battles, "swim").price
    assert (price.pairs, price.rounds, price.battles) == (9, 9, 9 * ITEMS)


@pytest.mark.slow
def test_standings_contain_the_cost(battles: Battles) -> None:
    found = replay(battles, "swim", items=10)
    reported = found.ranking.standings[0].diagnostics["replay"]
    assert (reported["tournament"], reported["settings"], reported["battles"]) == (
        "swim",
        {"seed": 0, "items": 10},
        90,
    )


@pytest.mark.slow
def test_battles_that_are_not_on_record_are_missing_and_no_ties(frame: pd.DataFrame) -> None:
    """Ratings agree to 1e-9: sums over rows and over cells are taken in another order."""
    lost = (frame["item"] < "item-10") & (frame["model_a"] == "model-01")
    found = replay(frame[~lost])
    assert (found.price.missing, found.price.battles) == (10 * 5, ITEMS * 15)
    assert found.price.unparsed == read_battles(frame[~lost]).counts().unparsed > 0
    assert found.ranking.standings[0].counts.missing == 50
    direct = rank(frame[~lost], "bradley-terry").standings[0].entries
    for one, other in zip(found.ranking.standings[0].entries, direct, strict=True):
        for name, value in asdict(other).items():
            close = isinstance(value, float)
            assert getattr(one, name) == (pytest.approx(value, rel=1e-9) if close else value), name
    credits = {one.pairing: one.credit for one in found.rounds[0].outcomes}
    assert credits[Pairing("item-00", "model-01", "model-02")] is None


@pytest.mark.slow
def test_unparsed_battles_are_unparsed_for_the_tournament_too(battles: Battles) -> None:
    found = replay(battles)
    unparsed = sum(one.credit is None for one in found.rounds[0].outcomes)
    assert (unparsed, unparsed > 0) == (battles.counts().unparsed, True)


def swap_models(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the same verdicts, model_a and model_b having changed places."""
    turned = frame.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    order = turned["order"].map({"ab": "ba", "ba": "ab"})
    return turned.assign(credit=1 - turned["credit"], margin=-turned["margin"], order=order)


def test_tournament_gets_the_credit_of_the_first_model_by_name(frame: pd.DataFrame) -> None:
    battles = read_battles(
        pd.concat([frame.iloc[:60], swap_models(frame.iloc[60:120])]), merge=False
    )
    outcomes = {one.pairing: one for one in recording_of(battles).outcomes}
    assert len(outcomes) == len(battles) == 120
    for row in battles.table.itertuples():
        first = row.model_a < row.model_b
        one = outcomes[Pairing(row.item, *sorted((row.model_a, row.model_b)))]
        if np.isnan(row.credit):
            assert (one.credit, one.margin) == (None, None)
        else:
            assert one.credit == pytest.approx(row.credit if first else 1 - row.credit)
            assert one.margin == pytest.approx(row.margin if first else -row.margin)


def test_repeats_of_a_battle_are_averaged_for_the_tournament_and_all_ranked() -> None:
    rows = [("q", "a", "b", 1.0), ("q", "b", "a", 1.0), ("q", "a", "b", 1.0), ("q", "a", "b", None)]
    found = replay(
        pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]), rankers="win-rate"
    )
    assert (found.price.battles, found.price.calls, len(found.battles)) == (1, 4, 4)
    assert found.rounds[0].outcomes[0].credit == pytest.approx(2 / 3)


@pytest.mark.slow
@pytest.mark.parametrize("tournament", ["round_robin", "anchor", "swim", "chain"])
def test_result_does_not_depend_on_row_order_or_response_order(
    frame: pd.DataFrame, tournament: str
) -> None:
    turned = swap_models(frame)
    other = pd.concat([frame.iloc[::3], turned.iloc[1::3], frame.iloc[2::3]]).sample(
        frac=1, random_state=1
    )
    before, after = replay(frame, tournament), replay(other, tournament)
    assert before.price == after.price
    assert [entry.model for entry in before.ranking.standings[0].entries] == [
        entry.model for entry in after.ranking.standings[0].entries
    ]
    scores = [
        [entry.score for entry in one.ranking.standings[0].entries] for one in (before, after)
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)


def test_rounds_fed_one_by_one_or_at_once_give_the_same_schedule(battles: Battles) -> None:
    record = recording_of(battles)
    rounds = play(Swim(seed=5), record).rounds
    for k, done in enumerate(rounds):
        assert Swim(seed=5).next(record.field, rounds[:k]).pairings == tuple(
            one.pairing for one in done.outcomes
        )


def test_newcomers_find_the_battles_of_those_ranked_before_given(battles: Battles) -> None:
    found = replay(battles, "swim", rated="model-01,model-02,model-03,model-04")
    assert (found.price.given, found.price.pairs, found.price.battles) == (
        6 * ITEMS,
        2 + 3,
        5 * ITEMS,
    )
    assert len(found.battles) == 11 * ITEMS


@pytest.mark.slow
def test_ratings_instead_of_battles_place_newcomers(battles: Battles) -> None:
    ratings = {"model-01": 1500.0, "model-02": 1550.0, "model-03": 1450.0, "model-04": 1400.0}
    assert replay(battles, "swim", ratings=ratings).price.pairs == 5


@pytest.mark.slow
def test_another_seed_is_another_tournament(battles: Battles) -> None:
    assert replay(battles, "chain", seed=1).rounds != replay(battles, "chain", seed=2).rounds


@pytest.mark.slow
def test_hyphens_and_underscores_in_a_tournaments_name_are_the_same(battles: Battles) -> None:
    assert (
        replay(battles, "round-robin", items=3).price
        == replay(battles, "round_robin", items=3).price
    )


def test_an_option_of_both_reaches_tournament_and_ranker(battles: Battles) -> None:
    found = replay(battles, "anchor", "win-rate", anchor="model-02")
    assert (found.settings["anchor"], found.ranking.standings[0].scale.name) == (
        "model-02",
        "win rate against model-02",
    )


def test_an_option_with_a_name_reaches_that_one_only(battles: Battles) -> None:
    found = replay(battles, "anchor", "win-rate", **{"anchor.anchor": "model-02"})
    assert (found.settings["anchor"], found.ranking.standings[0].scale.name) == (
        "model-02",
        "win rate",
    )


@pytest.mark.slow
@pytest.mark.parametrize("anchor", ["auto", "model-02,model-04", ("model-02", "model-04")])
def test_an_anchor_that_a_pilot_finds_and_several_are_no_model_to_a_ranker(
    battles: Battles, anchor: Any
) -> None:
    found = replay(battles, "anchor", "win-rate", anchor=anchor)
    assert (found.settings["anchor"], found.ranking.standings[0].scale.name) == (anchor, "win rate")


def test_an_unknown_option_is_rejected_with_its_owner(battles: Battles) -> None:
    with pytest.raises(UsageError, match="'pilot' is an option of anchor, not of bradley-terry"):
        replay(battles, "swim", pilot=3)


def test_an_unknown_tournament_is_rejected_with_the_nearest(battles: Battles) -> None:
    with pytest.raises(UsageError, match="no tournament called 'swin'; did you mean 'swim'"):
        replay(battles, "swin")


def test_a_table_without_items_cannot_be_replayed() -> None:
    table = pd.DataFrame(
        [("a", "b", 1.0), ("b", "a", 1.0)], columns=["model_a", "model_b", "credit"]
    )
    with pytest.raises(NotIdentifiedError, match="no item column"):
        replay(table)


@pytest.mark.slow
def test_rows_without_an_item_are_never_played() -> None:
    rows = [("q", "a", "b", 1.0), (None, "a", "b", 0.0), ("p", "a", "b", 0.0)]
    found = replay(
        pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]), rankers="win-rate"
    )
    assert (found.price.battles, len(found.battles)) == (2, 2)


@pytest.mark.slow
def test_several_judges_are_rejected_unless_pooled(frame: pd.DataFrame) -> None:
    two = pd.concat([frame, frame.assign(judge="second")])
    with pytest.raises(NotIdentifiedError, match="2 judges"):
        replay(two)
    assert replay(two, pool=True).price.calls == 2 * replay(frame).price.calls


class Greedy:
    """A tournament with a fault."""

    def __init__(self, *pairings: Pairing) -> None:
        self.pairings = pairings

    def next(self, *_: object) -> NextRound:
        return NextRound(self.pairings)

    def size(self, *_: object) -> int:
        return 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pairings", "complaint"),
    [
        ([Pairing("item-00", "model-01", "model-02")], "asks for a battle twice"),
        ([Pairing("item-00", "model-01", "model-02")] * 2, "asks for a battle twice"),
        ([Pairing("item-00", "model-02", "model-01")], "no such battle"),
        ([Pairing("item-00", "model-01", "stranger")], "no such battle"),
    ],
)
def test_a_tournament_that_asks_for_what_cannot_be_is_stopped(
    battles: Battles, pairings: list[Pairing], complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        play(Greedy(*pairings), recording_of(battles))
