"""Strengths between the rounds: those of the ranker on the same battles, with the ranker's errors."""

from itertools import pairwise
from math import isnan

import numpy as np
import pandas as pd
import pytest
from playing import field_of, play

import podium
from podium.rankers.intervals import t_reach
from podium.tournaments.between_rounds import strengths_after
from podium.tournaments.round_robin import RoundRobin
from podium.tournaments.schedule import OVER, Outcome, Pairing, Round


def test_strengths_and_errors_between_rounds_are_those_of_the_ranker() -> None:
    field = field_of(5, 30)
    rounds = play(RoundRobin(), field)
    rows = [
        {"item": own.pairing.item, "model_a": own.pairing.a, "model_b": own.pairing.b, "credit": own.credit}
        for done in rounds
        for own in done.outcomes
    ]
    [standings] = podium.rank(podium.read_battles(pd.DataFrame(rows)), "bradley-terry").standings
    scores = {entry.model: entry.score for entry in standings.entries}
    now = strengths_after(rounds, field.entrants)
    elo = np.array([now.theta[name] for name in field.entrants]) * 400 / np.log(10)
    assert np.diff(elo) == pytest.approx(np.diff([scores[name] for name in field.entrants]), abs=1e-6)
    errors = {entry.model: entry.se for entry in standings.entries}
    own = np.sqrt(np.diag(now.covariance)) * 400 / np.log(10)
    assert own == pytest.approx([errors[name] for name in field.entrants], rel=1e-6)


def test_whoever_only_won_or_never_played_has_no_error() -> None:
    played = [Round(tuple(Outcome(Pairing(f"q{k}", "a", "b"), float(k > 3)) for k in range(10)))]
    played.append(Round(tuple(Outcome(Pairing(f"q{k}", "b", "c"), 1.0) for k in range(10))))
    now = strengths_after(played, ["a", "b", "c", "d"])
    assert now.gap("a", "b")[1] > 0
    assert isnan(now.gap("b", "c")[1])
    assert isnan(now.gap("a", "d")[1])
    assert now.theta["d"] == pytest.approx(0, abs=1e-12)


def test_one_item_tells_nothing_about_errors() -> None:
    field = field_of(3, 1)
    now = strengths_after(play(RoundRobin(), field), field.entrants)
    assert np.isnan(now.covariance).all()
    assert now.items == 1


def test_a_tournament_stops_as_soon_as_neighbours_are_told_apart() -> None:
    class Hasty:
        """One item a round, until the intervals of the gaps between neighbours leave out 0."""

        def next(self, field, played):
            now = strengths_after(played, field.entrants)
            order = sorted(field.entrants, key=now.theta.__getitem__)
            gaps = [now.gap(better, worse) for worse, better in pairwise(order)]
            reach = t_reach(now.items, 0.8)
            if len(played) == len(field.items) or all(gap > reach * error for gap, error in gaps):
                return OVER
            return RoundRobin().next(type(field)(field.entrants, field.items[: len(played) + 1], {}), played)

        def size(self, field):
            return RoundRobin().size(field)

    field = field_of(3, 200)
    rounds = play(Hasty(), field)
    assert 2 <= len(rounds) < 200
