"""Interim analyses where items come in groups, which are then what varies."""

from dataclasses import replace

import numpy as np
import pytest
from playing import field_of, play

from podium.data.pairings import Field, Pairing
from podium.errors import UsageError
from podium.rankers.bradley_terry import bradley_terry
from podium.tournaments.anchor import Anchor
from podium.tournaments.chain import Chain
from podium.tournaments.decisions import build_tournament_answer
from podium.tournaments.ring import Ring
from podium.tournaments.round_robin import RoundRobin

RULES = [RoundRobin, Ring, Chain, Anchor]


def grouped_field(models: int, groups: int, each: int) -> Field:
    """Return a field whose items are in groups of `each` items."""
    field = field_of(models, groups * each)
    group_of = {item: f"g{k // each}" for k, item in enumerate(field.items)}
    return replace(field, groups=group_of, unit="passage")


class PassageJudge:
    """Judges by the passage: on it, each model has a strength of its own; items add noise."""

    def __init__(self, field: Field, seed: int) -> None:
        rng = np.random.default_rng(seed)
        groups = dict.fromkeys(field.groups.values())
        self.strength = {(name, own): rng.normal() for own in groups for name in field.models}
        self.rng = rng
        self.field = field

    def __call__(self, one: Pairing) -> float:
        own = self.field.groups[one.item]
        gap = self.strength[one.a, own] - self.strength[one.b, own]
        return float(self.rng.random() < 1 / (1 + np.exp(-gap)))


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_equal_models_are_decided_on_by_passage_and_not_by_item(rule) -> None:
    """Models that differ on passages alone, at random, are told apart if items count as
    independent."""
    field = grouped_field(3, 12, 20)
    wrong = {True: 0, False: 0}
    for seed in range(20):
        for is_grouped in wrong:
            own = field if is_grouped else replace(field, groups={}, unit="item")
            tournament = rule(until="order", seed=seed)
            rounds = play(tournament, own, PassageJudge(field, seed))
            last = tournament.progress_of(own, rounds).looks[-1]
            wrong[is_grouped] += bool((last.settled > 0).any())
    assert wrong[False] >= 6
    assert wrong[True] <= 4


def test_errors_of_a_look_are_those_of_a_ranking_by_groups(read) -> None:
    field = grouped_field(4, 15, 4)
    tournament = RoundRobin(until="error:1", start=60)
    rounds = play(tournament, field, PassageJudge(field, 1))
    look = tournament.progress_of(field, rounds).looks[-1]
    rows = [(*own.pairing[:3], own.credit) for each in rounds for own in each.outcomes]
    battles = read(rows, field)
    standings = bradley_terry(battles, rng=np.random.default_rng(0))
    half = {entry.model: (entry.high - entry.low) / 2 for entry in standings.entries}
    assert (look.clusters, look.unit) == (15, "passage")
    np.testing.assert_allclose(look.half_widths, [half[name] for name in sorted(half)], rtol=0.01)


@pytest.fixture
def read():
    """Return a reader of rows (item, model_a, model_b, credit) as battles with groups."""
    import pandas as pd

    import podium

    def read_rows(rows, field: Field):
        frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
        frame["passage"] = frame["item"].map(field.groups)
        return podium.read_battles(frame, cluster="passage")

    return read_rows


def test_ten_groups_are_enough_and_nine_are_not() -> None:
    with pytest.raises(UsageError, match="needs 10 passages to estimate an error, and there are 9"):
        RoundRobin(until="order").next(grouped_field(3, 9, 10), ())
    assert RoundRobin(until="order").next(grouped_field(3, 10, 10), ()).pairings


def test_a_model_with_responses_in_few_groups_is_not_decided_on() -> None:
    field = grouped_field(3, 12, 5)
    answered = [item for item in field.items if int(field.groups[item][1:]) < 8]
    absent = {item: frozenset({"m02"}) for item in field.items if item not in answered}
    field = replace(field, absent=absent)
    tournament = RoundRobin(until="order")
    assert tournament.has_enough_items(field, field.items).tolist() == [True, True, False]
    answer = build_tournament_answer(
        tournament, field, play(tournament, field, PassageJudge(field, 2))
    )
    assert "No decision about m02: fewer than 10 passages have responses." in answer.decisions


def test_the_answer_counts_groups() -> None:
    field = grouped_field(3, 12, 10)
    tournament = RoundRobin(until="order")
    answer = build_tournament_answer(
        tournament, field, play(tournament, field, PassageJudge(field, 3))
    )
    text = " ".join(answer.decisions)
    assert "on 12 passages" in text
    assert "more passage" in answer.advice or "How many passages" in answer.advice
    assert " items would" not in text
