"""Voters whose removal changes the leader, by brute force over tables without each voter."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rater_votes import votes_of

import podium
from podium.diagnosis.checks.rater_checks import check_leading_rater
from podium.rankers import decisive_raters
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.decisive_raters import (
    means_without_raters,
    rates_without_raters,
    strengths_without_raters,
)
from podium.rankers.pointwise import mean
from podium.rankers.win_rate import win_rate

MODELS = 4
RANKERS = {
    "bradley-terry": (bradley_terry, strengths_without_raters),
    "win-rate": (win_rate, rates_without_raters),
    "mean": (mean, means_without_raters),
}


def uneven_votes(seed: int, voters: int = 12) -> pd.DataFrame:
    """Return votes of which the first voter gave a third; each row has the scores of both."""
    table = votes_of(seed, models=MODELS, voters=voters, votes=20, taste=1.0, items=40)
    heavy = votes_of(seed + 500, models=MODELS, voters=1, votes=120, taste=2.0, items=40)
    together = pd.concat([table, heavy.assign(voter="heavy")], ignore_index=True)
    rng = np.random.default_rng(seed)
    shift = together["voter"].map(
        {name: rng.normal(size=MODELS) for name in sorted(set(together["voter"]))}
    )
    for side in ("a", "b"):
        code = together[f"model_{side}"].str[1:].astype(int)
        own = [values[k] for values, k in zip(shift, code, strict=True)]
        together[f"score_{side}"] = np.array(own) + rng.normal(size=len(together))
    return together


def leader_of(table: pd.DataFrame, ranker: str) -> tuple[str, float]:
    """Return the first model of a ranking and its lead over the second."""
    battles = podium.read_battles(table)
    entries = RANKERS[ranker][0](battles, rng=np.random.default_rng(0)).entries
    return entries[0].model, entries[0].score - entries[1].score


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
def test_the_decisive_voters_are_those_of_brute_force(ranker: str, seed: int) -> None:
    table = uneven_votes(seed)
    leader, _ = leader_of(table, ranker)
    changed = {}
    for voter in sorted(set(table["voter"])):
        new, lead = leader_of(table[table["voter"] != voter], ranker)
        if new != leader:
            changed[voter] = new
        assert lead > 0
    found = RANKERS[ranker][1](podium.read_battles(table)).decisive_rater(leader)
    assert (found.number if found else 0) == len(changed)
    if found:
        assert changed[found.name] == found.new_leader


@pytest.mark.slow
def test_brute_force_finds_some_and_not_all() -> None:
    found = [
        without(podium.read_battles(uneven_votes(seed))).decisive_rater(
            leader_of(uneven_votes(seed), ranker)[0]
        )
        for ranker, (_, without) in RANKERS.items()
        for seed in range(6)
    ]
    assert 0 < sum(each is not None for each in found) < len(found)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("ranker", RANKERS)
def test_with_many_voters_the_most_influential_ones_are_left_out(
    ranker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found_all, found_few = [], []
    for seed in range(6):
        table = uneven_votes(seed, voters=30)
        leader, _ = leader_of(table, ranker)
        battles = podium.read_battles(table)
        found_all.append(RANKERS[ranker][1](battles).decisive_rater(leader))
        with monkeypatch.context() as patched:
            patched.setattr(decisive_raters, "MOST_FITTED", 5)
            found_few.append(RANKERS[ranker][1](battles).decisive_rater(leader))
    assert [each and each.name for each in found_few] == [each and each.name for each in found_all]
    assert any(found_all)


def test_scores_of_one_voter_count_each_item_and_model_once() -> None:
    rows = [
        (f"q{item}", model, float(item % 3 + (model == "m1")), judge)
        for item in range(6)
        for model in ("m0", "m1", "m2")
        for judge in ("j0", "j1")
    ]
    table = pd.DataFrame(rows, columns=["item", "model", "score", "judge"])
    scores = means_without_raters(podium.read_battles(table))
    assert scores.verdicts.tolist() == [18, 18]


def test_one_judge_is_not_left_out() -> None:
    table = votes_of(1, models=MODELS, voters=1, kind="judge")
    assert strengths_without_raters(podium.read_battles(table)) is None


@pytest.mark.slow
def test_the_decisive_voter_of_several_pairs_is_that_of_brute_force() -> None:
    table = uneven_votes(1)
    scores = strengths_without_raters(podium.read_battles(table))
    order = [scores.models[k] for k in np.argsort(-scores.score)]
    pairs = [(order[0], order[3]), (order[1], order[2]), (order[2], order[3])]
    leads = {}
    for voter in sorted(set(table["voter"])):
        battles = podium.read_battles(table[table["voter"] != voter])
        entries = bradley_terry(battles, rng=np.random.default_rng(0)).entries
        score = {entry.model: entry.score for entry in entries}
        for ahead, behind in pairs:
            leads[voter, ahead, behind] = score[behind] - score[ahead]
    (voter, ahead, behind), lead = max(leads.items(), key=lambda item: item[1])
    assert lead > 0
    assert scores.pairs_in_order(pairs) == pairs
    found = scores.decisive_rater_of_pairs(pairs)
    assert (found.name, found.leader, found.new_leader) == (voter, ahead, behind)
    assert found.number == len({key[0] for key, value in leads.items() if value > 0})
    turned = [(second, first) for first, second in pairs]
    assert scores.pairs_in_order(turned) == []
    assert scores.decisive_rater_of_pairs([]) is None


def test_a_voter_is_named_whose_removal_changes_a_clear_place_below_the_first() -> None:
    """m0 leads for all voters; m1 is ahead of m2 only by one voter of many votes."""
    rng = np.random.default_rng(4)
    rows = []
    for voter, votes in [*((f"v{k}", 90) for k in range(3)), ("heavy", 700)]:
        for k in range(votes):
            a, b = [("m0", "m1"), ("m0", "m2"), ("m1", "m2")][k % 3]
            chance = 0.95 if a == "m0" else 0.85 if voter == "heavy" else 0.35
            rows.append((f"{voter}-{k}", a, b, float(rng.random() < chance), voter))
    table = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "voter"])
    standings = podium.rank(table).standings[0]
    [check] = [each for each in standings.checks if each.name == "decisive rater"]
    assert check.is_flagged
    assert check.finding_text == (
        "without voter heavy (700 votes), m2 would be ahead of m1, which now leads it"
    )


def test_no_check_is_made_where_plain_scores_have_another_leader() -> None:
    table = uneven_votes(1)
    battles = podium.read_battles(table)
    scores = strengths_without_raters(battles)
    order = [scores.models[k] for k in np.argsort(-scores.score)]
    second_first = (order[1], order[0], *order[2:])
    beats = (tuple(range(1, MODELS)), *((),) * (MODELS - 1))
    standings = podium.rank(battles, "bradley-terry").standings[0]
    separation = replace(standings.separation, names=second_first, cuts=(1,), beats=beats)
    checks = check_leading_rater(battles, replace(standings, separation=separation))
    assert not any(check.name == "decisive rater" and not check.is_flagged for check in checks)
