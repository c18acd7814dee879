"""Loss that hits one model: the p-values against enumeration, and in simulations with known
truth."""

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

import podium
from podium.data.counts import Counts
from podium.diagnosis.checks.all_checks import adjust_tests, checks_of_battles
from podium.diagnosis.lost_battles import losses_by_model
from podium.rankers.ranking import Entry, Separation, Standings
from podium.score_scale import ELO
from podium.show.answers.trust import trust_sentence
from podium.show.answers.who import without_models

Battle = tuple[str, str, str, bool]


def p_values(battles: Sequence[Battle]) -> dict[str, float]:
    """Return the p-value of each model, given item, models and whether the battle is unparsed."""
    rows = [
        {"item": item, "model_a": a, "model_b": b, "credit": None if is_lost else 1.0}
        for item, a, b, is_lost in battles
    ]
    return {own.model: own.p for own in losses_by_model(podium.read_battles(pd.DataFrame(rows)))}


def round_robin(item: str, lost: set[str], models: str = "abcd") -> list[Battle]:
    """Return all battles of an item; `lost` names the unparsed ones by their models."""
    return [(item, a, b, a + b in lost) for a, b in combinations(models, 2)]


def enumerated_p(losses: Sequence[Sequence[int]], found: int) -> float:
    """Return the two-sided p-value of a sum: on each item, one of the listed numbers is drawn."""
    sums = np.array([sum(drawn) for drawn in product(*losses)])
    return min(1.0, 2 * min(np.mean(sums <= found), np.mean(sums >= found)))


@pytest.mark.slow
def test_p_values_are_those_of_all_ways_to_give_the_losses_of_an_item_to_its_models() -> None:
    battles = (
        round_robin("q0", {"ab", "ac"})
        + round_robin("q1", {"ab"})
        + round_robin("q2", {"ad", "ac", "ab"})
    )
    battles += round_robin("q3", set())
    losses = [(2, 1, 1, 0), (1, 1, 0, 0), (3, 1, 1, 1)]
    own = {"a": 6, "b": 3, "c": 2, "d": 1}
    assert p_values(battles) == pytest.approx(
        {name: enumerated_p(losses, own[name]) for name in own}
    )


def test_models_are_compared_with_those_that_have_as_many_battles_on_an_item() -> None:
    """The model that all others meet has no equal, and the others have one battle each."""
    battles = [(f"q{k}", "anchor", name, name == "a" and k < 4) for k in range(5) for name in "abc"]
    losses = [(1, 0, 0)] * 4
    assert p_values(battles) == pytest.approx(
        {"a": enumerated_p(losses, 4), **dict.fromkeys("bc", enumerated_p(losses, 0))}
    )


def test_battles_without_shared_items_are_compared_by_fishers_exact_test() -> None:
    pairs = [(a, b) for a, b in combinations("abcde", 2) for _ in range(6)]
    lost = [("a" in pair and k % 2 == 0) or k % 11 == 0 for k, pair in enumerate(pairs)]
    found = p_values([(f"q{k}", *pair, lost[k]) for k, pair in enumerate(pairs)])
    for name in "abcde":
        own = np.array([name in pair for pair in pairs])
        table = [
            [np.sum(own & lost), np.sum(own & ~np.array(lost))],
            [np.sum(~own & lost), np.sum(~own & ~np.array(lost))],
        ]
        tails = [fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
        assert found[name] == pytest.approx(min(1.0, 2 * min(tails)))


def test_an_item_that_lost_all_its_battles_tells_nothing_of_a_model() -> None:
    everything = {a + b for a, b in combinations("abcd", 2)}
    battles = [
        battle
        for k in range(20)
        for battle in round_robin(f"q{k}", everything if k < 10 else set())
    ]
    assert p_values(battles) == dict.fromkeys("abcd", 1.0)


def test_one_response_that_no_prompt_can_hold_is_no_loss_of_its_model() -> None:
    """It takes three battles with it, and might have been the response of any of the four
    models."""
    battles = [
        battle
        for k in range(50)
        for battle in round_robin(f"q{k}", {"ab", "ac", "ad"} if k == 7 else set())
    ]
    assert min(p_values(battles).values()) == 0.5


def test_nothing_lost_is_nothing_to_test() -> None:
    assert p_values(round_robin("q0", set())) == {}


@pytest.mark.slow
def test_sums_of_thousands_of_losses_are_taken_for_normal() -> None:
    from podium.diagnosis import lost_battles

    rng = np.random.default_rng(0)
    battles = [
        (f"q{k}", a, b, rng.random() < 0.1 + 0.1 * (a == "a"))
        for k in range(300)
        for a, b in combinations("abcd", 2)
    ]
    exact = p_values(battles)
    largest, lost_battles.LARGEST_SUM = lost_battles.LARGEST_SUM, 100
    try:
        assert p_values(battles) == pytest.approx(exact, rel=0.05)
    finally:
        lost_battles.LARGEST_SUM = largest


MODELS, NAMED = 10, "m3"


def draw_world(
    seed: int, items: int, lost: float, lost_of_one: float = 0.0, lost_of_response: float = 0.0
) -> podium.Battles:
    """Draw verdicts of ten equal models by NumPy.

    Args:
        lost: share of all battles that are unparsed.
        lost_of_one: share of the battles that model `NAMED` would lose that are unparsed.
        lost_of_response: share of responses of which no battle is parsed.
    """
    rng = np.random.default_rng(seed)
    a, b = np.triu_indices(MODELS, 1)
    credit = (rng.random((items, len(a))) < 0.5) * 1.0
    is_loss = np.where(a == int(NAMED[1:]), credit == 0, (b == int(NAMED[1:])) & (credit == 1))
    broken = rng.random((items, MODELS)) < lost_of_response
    unparsed = (rng.random(credit.shape) < lost) | (
        is_loss & (rng.random(credit.shape) < lost_of_one)
    )
    credit[unparsed | broken[:, a] | broken[:, b]] = np.nan
    item, pair = (part.ravel() for part in np.indices(credit.shape))
    sides = {"model_a": np.char.mod("m%d", a[pair]), "model_b": np.char.mod("m%d", b[pair])}
    frame = pd.DataFrame({"item": np.char.mod("q%d", item), **sides, "credit": credit.ravel()})
    return podium.read_battles(frame)


def trust_of(battles: podium.Battles) -> str:
    return trust_sentence(adjust_tests(checks_of_battles(battles, {})))


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_nothing_is_claimed_of_a_model_whose_lost_battles_are_missing(ranker: str) -> None:
    """Without the test it leads, though all ten models are equal."""
    standings = podium.rank(draw_world(0, 150, 0.0, lost_of_one=0.3), ranker).standings[0]
    assert standings.entries[0].model == NAMED
    assert standings.answer[0] == (
        "All pairs of the nine models are too close to call on these 150 items. Nothing is "
        f"claimed about {NAMED}."
    )
    assert len(standings.answer) == 2


def far_ahead(lost_of_best: float, strength: float) -> podium.Battles:
    """Draw verdicts of five models of which the first wins with the probability `strength`, and
    loses more replies."""
    rng = np.random.default_rng(1)
    rows = [(item, a, b) for item in range(200) for a, b in combinations("abcde", 2)]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b"])
    is_best = frame["model_a"] == "a"
    frame["credit"] = (rng.random(len(frame)) < np.where(is_best, strength, 0.5)) * 1.0
    frame.loc[rng.random(len(frame)) < np.where(is_best, lost_of_best, 0.02), "credit"] = None
    return podium.read_battles(frame)


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_a_lead_that_the_lost_battles_cannot_explain_is_claimed(ranker: str) -> None:
    answer = podium.rank(far_ahead(0.06, 0.9), ranker).standings[0].answer
    assert answer[0].startswith("a is clearly ahead of all others")
    assert "of the battles of a are unparsed" in answer[1]


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_a_lead_that_the_lost_battles_explain_is_not_claimed(ranker: str) -> None:
    """With all lost battles counted as lost, the first model wins 0.65 x 0.75 = 49%."""
    answer = podium.rank(far_ahead(0.25, 0.65), ranker).standings[0].answer
    assert answer[0].endswith("Nothing is claimed about a.")


def test_what_is_claimed_of_other_models_stays_without_one() -> None:
    beats = ((1, 2, 3), (3,), (3,), ())
    separation = Separation(tuple("abcd"), (1, 3), beats, 2.9, 40, 72.0, 3.0, (72.0, 30.0, 110.0))
    entries = tuple(
        Entry(name, k + 1, 1, 4, 1500.0 - k, None, None, None, 1) for k, name in enumerate("abcd")
    )
    counts = Counts(40, 1, 1, 0, 0, None, None)
    whole = Standings("bradley-terry", ELO, 0.95, "x", entries, counts, separation=separation)
    first, third = (without_models(whole, {name}).separation for name in "ac")
    assert (first.names, first.cuts, first.beats, first.lead) == (
        ("b", "c", "d"),
        (2,),
        ((2,), (2,), ()),
        None,
    )
    assert (third.names, third.cuts, third.beats) == (("a", "b", "d"), (1, 2), ((1, 2), (2,), ()))
    assert third.lead == separation.lead


@pytest.mark.slow
@pytest.mark.parametrize(
    "loss", [{"lost": 0.01}, {"lost": 0.05}, {"lost": 0.0, "lost_of_response": 0.01}]
)
def test_loss_at_random_is_named_as_that_of_a_model_in_at_most_6_percent(
    loss: dict[str, float],
) -> None:
    named = ["of the battles of" in trust_of(draw_world(seed, 60, **loss)) for seed in range(100)]
    assert sum(named) <= 6


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0.0, 0.01])
def test_a_fifth_of_one_models_lost_battles_is_named_in_nearly_every_world(lost: float) -> None:
    texts = [trust_of(draw_world(seed, 60, lost, lost_of_one=0.2)) for seed in range(40)]
    assert sum(f"of the battles of {NAMED} are unparsed" in text for text in texts) >= 38


@pytest.mark.slow
def test_a_model_of_which_no_battle_could_be_read_is_named_and_the_others_are_ranked():
    """It has no score: nothing is claimed about it, and `rank` ends as for any other table."""
    rows = [
        (f"q{item}", a, b, np.nan if "c" in (a, b) else float(item % 4 > 0))
        for item in range(60)
        for a, b in [("a", "b"), ("a", "c"), ("b", "c")]
    ]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    answer = podium.rank(frame).standings[0].answer
    assert answer[0].startswith("a is clearly ahead of all others")
    assert answer[0].endswith("Nothing is claimed about c.")
