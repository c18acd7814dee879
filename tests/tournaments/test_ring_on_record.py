"""The ring on a real judge's full round robin, items drawn anew; more resamplings:
benchmarks/economy.py --record."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from close_worlds import LIKE_GPT_4, CloseWorld, is_wrong
from imagined_run import ImaginedRun
from scipy.stats import kendalltau

from podium import read_battles
from podium.data.pairings import Field, Outcome, Pairing, Round
from podium.rankers.fit.pairs import pairs_from_matrices
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import fit_strengths
from podium.tournaments.between_rounds import matchups_in, strengths_of_matchups
from podium.tournaments.chain import Chain
from podium.tournaments.ring import Ring
from podium.tournaments.swim import Swim

RECORD = Path(__file__).parents[3] / "shared" / "data" / "roundrobin_qlora_oa_gpt4.parquet"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.real_data,
    pytest.mark.skipif(
        not RECORD.is_file(), reason="the recorded judgments are not beside this checkout"
    ),
]
RESAMPLINGS = 100


@pytest.fixture(scope="module")
def earned() -> np.ndarray:
    """Return the credit of the response shown first, NaN if unparsed, shape (953, 7, 7)."""
    columns = {"item": "prompt", "model_a": "model_1", "model_b": "model_2", "credit": "verdict"}
    how = {
        "columns": columns,
        "credit_map": {"1": 1, "0": 0.5, "-1": 0},
        "shown": "a",
        "merge": False,
    }
    table = read_battles(RECORD, **how).table
    a, b = (table[side].cat.codes.to_numpy() for side in ("model_a", "model_b"))
    ahead = (table["order"] == "ab").to_numpy()
    credit = table["credit"].to_numpy()
    whole = np.full((len(table["item"].cat.categories), 7, 7), np.nan)
    places = table["item"].cat.codes.to_numpy()
    whole[places, np.where(ahead, a, b), np.where(ahead, b, a)] = np.where(
        ahead, credit, 1 - credit
    )
    return whole


def resampled_run(earned: np.ndarray, seed: int) -> ImaginedRun:
    """Return items drawn with replacement, each an item of its own; the truth is the whole
    record's."""
    read = ~np.isnan(earned)
    truth = fit_strengths(
        pairs_from_matrices(np.nansum(earned, axis=0), read.sum(axis=0).astype(float))
    ).theta
    drawn = np.random.default_rng(seed).integers(0, len(earned), len(earned))
    names = tuple(f"model {k}" for k in range(7))
    return ImaginedRun(
        Field(names, tuple(f"item {k}" for k in range(len(earned))), {}), earned[drawn], truth
    )


def squared_error(run: ImaginedRun, rounds: Sequence[Round]) -> float:
    """Return the mean squared error of the ratings that some battles give, against the whole
    record's, logits."""
    theta = np.array(list(strengths_of_matchups(matchups_in(rounds), run.field.models).values()))
    return float(np.mean((theta - run.truth) ** 2))


def anatomy(earned: np.ndarray) -> dict[str, float]:
    """Return shares of ties, of verdicts turned by swapping and of wins of the first, and variances
    of a credit.

    Args:
        earned: what the response shown first earned, shape (items, first, second), NaN where
            unparsed.

    Returns:
        `items`: variance by item and model; `rest`: by all else, orders averaged; `order`: what
            one order adds.
    """
    size = earned.shape[1]
    a, b = np.triu_indices(size, 1)
    forth, back = earned[:, a, b], 1 - earned[:, b, a]
    both = (forth + back) / 2
    left = np.zeros_like(earned)
    left[:, a, b] = np.nan_to_num(both - np.nanmean(both, axis=0))
    left[:, b, a] = -left[:, a, b]
    by_model = (left.sum(axis=2) ** 2).sum() / size / len(earned)
    rest = ((left[:, a, b] ** 2).sum() / len(earned) - by_model) / ((size - 1) * (size - 2) / 2)
    return {
        "ties": float((earned == 0.5).sum() / (earned >= 0).sum()),
        "turned": float(((forth - 0.5) * (back - 0.5) < 0).sum() / (both >= 0).sum()),
        "first": float((earned == 1).sum() / (earned >= 0).sum()),
        "items": (by_model / (size - 1) - rest) / size,
        "rest": rest,
        "order": float(np.nanmean((forth - back) ** 2)) / 4,
    }


def test_the_judge_of_the_simulated_worlds_is_like_the_recorded_one(earned: np.ndarray) -> None:
    """Shares within .03 and variances within a fifth; one with the noise of a coin (the wrong
    variant) is not."""
    run = resampled_run(earned, 0)
    world = partial(CloseWorld, (run.truth - run.truth.mean()) * POINTS, 3000, 1)
    recorded, alike, noisy = (
        anatomy(each)
        for each in (earned, world().earned, world(replace(LIKE_GPT_4, noise=1.0)).earned)
    )
    assert {share: alike[share] for share in ("ties", "turned", "first")} == pytest.approx(
        {share: recorded[share] for share in ("ties", "turned", "first")}, abs=0.03
    )
    variances = {part: recorded[part] for part in ("items", "rest", "order")}
    assert {part: alike[part] for part in variances} == pytest.approx(variances, rel=0.2)
    assert noisy["turned"] > recorded["turned"] + 0.05


def test_a_flat_ring_errs_as_swim_does_with_three_tenths_of_its_calls(earned: np.ndarray) -> None:
    """At most 1.1 times SWIM's error on the same items drawn; as many calls on both orders of half
    the items err more.

    The bars are the design's.
    """
    ring, halved, swim = [], [], []
    calls: Counter[str] = Counter()
    for seed in range(80):
        run = resampled_run(earned, seed)
        circles, whole = run.play(Ring(seed=seed)), run.play(Swim(seed=seed))
        half = run.play(Ring(seed=seed, items=len(earned) // 2))
        both = [
            Round(tuple(in_both_orders(run, own.pairing) for done in half for own in done.outcomes))
        ]
        for errors, rounds in ((ring, circles), (halved, both), (swim, whole)):
            errors.append(squared_error(run, rounds))
        calls["ring"] += len(circles[0].outcomes)
        calls["swim"] += 2 * sum(len(done.outcomes) for done in whole)
    assert calls["ring"] <= 0.3 * calls["swim"]
    assert np.sqrt(np.mean(ring) / np.mean(swim)) <= 1.1
    assert np.sqrt(np.mean(halved) / np.mean(swim)) > 1.1


def in_both_orders(run: ImaginedRun, own: Pairing) -> Outcome:
    """Return a battle as both orders have it, or the one that was read."""
    place = int(own.item.removeprefix("item "))
    legs = run.credits([place] * 2, [own._replace(first=first) for first in (own.a, own.b)])
    read = [leg for leg in legs if leg is not None]
    return Outcome(own._replace(first=None), float(np.mean(read)) if read else None)


@pytest.mark.parametrize(
    ("options", "most", "share"),
    [
        ({"until": "order", "margin": 30.0}, 4200, 0.98),
        ({"until": "top3", "margin": 20.0}, 3700, 0.95),
    ],
)
def test_ring_answers_with_a_sixth_of_swims_calls(
    earned: np.ndarray, options, most: int, share: float
) -> None:
    """SWIM takes 22,872 on this record. Bars of the design (`opponents=open`): mean calls, share
    answered, wrong.

    The wrong variant is the same rule in which no model leaves: a chain in both orders.
    """
    battles, answered, wrong, staying = [], [], [], []
    for seed in range(RESAMPLINGS):
        run, rule = resampled_run(earned, seed), Ring(seed=seed, opponents="open", **options)
        last = rule.progress_of(run.field, run.play(rule)).looks[-1]
        battles.append(last.battles)
        answered.append(not last.open.any())
        wrong.append(
            rule.top_count is None and is_wrong(last.settled, run.truth * POINTS, rule.margin)
        )
        if seed < 10:
            chain = Chain(seed=seed, **options)
            staying.append(2 * chain.progress_of(run.field, run.play(chain)).looks[-1].battles)
    assert np.mean(battles) <= most < np.mean(staying)
    assert np.mean(answered) >= share
    assert np.mean(wrong) <= 0.02


def test_order_on_recorded_items_equals_that_of_the_whole_record(earned: np.ndarray) -> None:
    """Tau .97 at 7,624 calls, a third of SWIM's, and .995 at its own end, within 9,300 calls.

    SWIM on a third of the items, which takes as many calls, is the wrong variant.
    """
    run = replace(resampled_run(earned, 0), earned=earned)
    taus: dict[str, list[float]] = {"cut": [], "end": [], "swim": []}
    battles = []
    for seed in range(20):
        rule = Ring(seed=seed, until="order")
        whole = run.play(rule)
        battles.append(sum(len(done.outcomes) for done in whole))
        cut = Round(tuple(one for done in whole for one in done.outcomes)[:7624])
        for name, rounds in (
            ("cut", [cut]),
            ("end", whole),
            ("swim", run.play(Swim(seed=seed, items=317))),
        ):
            theta = list(strengths_of_matchups(matchups_in(rounds), run.field.models).values())
            taus[name].append(kendalltau(theta, run.truth).statistic)
    assert np.mean(taus["cut"]) >= 0.97 > np.mean(taus["swim"])
    assert np.mean(taus["end"]) >= 0.995
    assert np.mean(battles) <= 9300
