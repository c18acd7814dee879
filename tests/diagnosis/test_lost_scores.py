"""Blank scores, and rows that are absent from a table that is complete otherwise."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import podium
from podium.check_results import Check, Result
from podium.diagnosis.card import diagnose
from podium.diagnosis.checks.all_checks import adjust_tests, checks_of_battles
from podium.diagnosis.checks.loss_checks import check_lost_replies, check_lost_scores

MODELS = ("alder", "birch", "cedar", "dune")
Frame = pd.DataFrame


def scores(seed: int = 1, items: int = 200, models: tuple[str, ...] = MODELS) -> Frame:
    """Draw scores of 0 and 1; alder is the weakest."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        ease = rng.normal(0, 0.1)
        for name in models:
            rate = (0.6 if name == "alder" else 0.7) + ease
            rows.append({"item": f"q{item}", "model": name, "score": float(rng.random() < rate)})
    return pd.DataFrame(rows)


def verdicts(
    seed: int = 1, items: int = 60, models: int = 4, orders: tuple[str, ...] = ("ab",)
) -> Frame:
    """Draw verdicts on a round robin of equal models m0, m1 and so on."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        for a, b in combinations(range(models), 2):
            for order in orders:
                names = {"item": f"q{item}", "model_a": f"m{a}", "model_b": f"m{b}", "judge": "J"}
                rows.append({**names, "order": order, "credit": float(rng.random() < 0.5)})
    return pd.DataFrame(rows)


def some_failures(frame: Frame, share: float = 0.5, seed: int = 3) -> pd.Series:
    """Return a mask of some scores of 0 of alder."""
    drawn = np.random.default_rng(seed).random(len(frame)) < share
    return frame["model"].eq("alder") & frame["score"].eq(0) & drawn


def blank(frame: Frame) -> Frame:
    return frame.assign(score=frame["score"].mask(some_failures(frame)))


def absent(frame: Frame) -> Frame:
    return frame[~some_failures(frame)]


def wide(frame: Frame) -> Frame:
    return blank(frame).pivot(index="item", columns="model", values="score").reset_index()


def checks_of(frame: Frame) -> dict[str, Check]:
    made = checks_of_battles(podium.read_battles(frame), {})
    return {check.name: check for check in adjust_tests(made)}


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("lose", [blank, absent, wide])
@pytest.mark.parametrize("models", [MODELS, MODELS[:2]])
def test_scores_that_one_model_lacks_are_flagged_in_every_command(lose, models) -> None:
    frame = lose(scores(models=models))
    battles = podium.read_battles(frame)
    found = podium.compare("alder", "birch", battles, require="not-worse=90points")
    cards = diagnose(podium.read_battles(frame, merge=False), battles).cards
    ranking = podium.rank(battles).standings[0]
    for checks in (ranking.checks, found.checks, cards[0].checks):
        [check] = [check for check in checks if check.name == "lost scores"]
        assert check.is_flagged
        assert check.models == ("alder",)
    assert "Nothing is claimed about alder." in ranking.answer[0]
    assert found.gate.verdict == "UNDECIDED"
    assert "of the scores of alder are missing" in found.answer[1]


def test_two_models_without_the_losses_are_compared() -> None:
    found = podium.compare("birch", "cedar", blank(scores()), require="not-worse=40points")
    assert found.gate.verdict == "PASS"


@pytest.mark.parametrize("lost", [5, 9])
def test_the_p_value_of_two_models_is_that_of_a_sign_test(lost: int) -> None:
    frame = scores(models=MODELS[:2])
    of_alder = frame.index[frame["model"] == "alder"]
    frame.loc[of_alder[:lost], "score"] = np.nan
    made = checks_of_battles(podium.read_battles(frame), {})
    [check] = [check for check in made if check.name == "lost scores"]
    assert check.p == pytest.approx(min(1, 2 * binomtest(lost, lost).pvalue))


def test_a_model_that_lacks_only_the_last_items_may_have_been_stopped() -> None:
    frame = scores()
    number = frame["item"].str[1:].astype(int)
    for models in (MODELS, MODELS[:2]):
        cut = frame[frame["model"].isin(models) & ~(frame["model"].eq("alder") & (number >= 150))]
        check = checks_of(cut)["lost scores"]
        assert check.result is Result.NOT_KNOWN
        assert check.reason == "the first or last items have no scores of alder"


def test_further_blank_scores_do_not_hide_that_the_first_items_are_absent() -> None:
    frame = scores()
    number = frame["item"].str[1:].astype(int)
    frame = frame[~(frame["model"].eq("alder") & (number < 40))]
    frame.loc[frame.index[frame["model"].eq("alder")][:3], "score"] = np.nan
    check = checks_of(frame)["lost scores"]
    assert check.result is Result.NOT_KNOWN
    assert check.reason == "the first or last items have no scores of alder"


def lost_battles_of_m0(frame: Frame, share: float = 0.4) -> Frame:
    """Drop some rows of battles, or of one of their orders, that m0 lost."""
    drawn = np.random.default_rng(4).random(len(frame)) < share
    return frame[~(frame["model_a"].eq("m0") & frame["credit"].eq(0) & drawn)]


@pytest.mark.slow
@pytest.mark.parametrize("orders", [("ab",), ("ab", "ba")])
def test_verdicts_of_one_model_that_have_no_row_are_flagged(orders: tuple[str, ...]) -> None:
    frame = lost_battles_of_m0(verdicts(orders=orders))
    battles = podium.read_battles(frame)
    found = podium.compare("m0", "m1", battles, require="not-worse=300elo")
    check = checks_of(frame)["lost replies"]
    assert check.is_flagged
    assert check.models == ("m0",)
    assert found.gate.verdict == "UNDECIDED"
    results = "battles" if len(orders) == 1 else "judgments"
    assert f"of the {results} of m0 are missing" in found.answer[1]
    [card] = diagnose(podium.read_battles(frame, merge=False), battles).cards
    assert [each.result for each in card.checks if each.name == "lost replies"] == [Result.FLAGGED]


def test_verdicts_without_a_row_are_flagged_whether_or_not_orders_are_merged() -> None:
    frame = verdicts(orders=("ab", "ba"))
    is_lost = np.random.default_rng(5).random(len(frame)) < 0.2
    is_of_m0 = frame["model_a"].eq("m0") & frame["credit"].eq(0)
    left = frame[~(is_lost & is_of_m0)]
    for merge in (True, False):
        (check,) = check_lost_replies(podium.read_battles(left, merge=merge))
        assert check.result is Result.FLAGGED
        assert check.models == ("m0",)


def random_pairs(seed: int) -> Frame:
    frame = verdicts(seed)
    return frame.sample(frac=0.4, random_state=seed)


def newcomer_of_verdicts(seed: int) -> Frame:
    frame = verdicts(seed)
    is_late = frame["item"].str[1:].astype(int) >= 20
    return frame[~(frame["model_b"].eq("m3") & is_late)]


def anchor(seed: int) -> Frame:
    frame = verdicts(seed)
    return frame[frame["model_a"].eq("m0")]


def two_of_four_on_each_item(seed: int) -> Frame:
    """Return one battle an item, of models drawn by their results so far."""
    frame = verdicts(seed, items=40)
    rng = np.random.default_rng(seed)
    wins = dict.fromkeys([f"m{k}" for k in range(4)], 0.0)
    kept = []
    for _, rows in frame.groupby("item", sort=False):
        first = max(wins, key=lambda name: wins[name] + rng.random())
        rows = rows[rows["model_a"].eq(first) | rows["model_b"].eq(first)]
        row = rows.sample(1, random_state=int(rng.integers(1 << 30)))
        winner = row["model_a" if row["credit"].item() else "model_b"].item()
        wins[winner] += 0.3
        kept.append(row)
    return pd.concat(kept)


def newcomer_of_scores(seed: int) -> Frame:
    frame = scores(seed)
    drawn = np.random.default_rng(seed).random(len(frame)) < 0.6
    return frame[~(frame["model"].eq("alder") & drawn)]


def own_subsets(seed: int) -> Frame:
    frame = scores(seed)
    share = frame["model"].map({"alder": 0.3, "birch": 0.2, "cedar": 0.1, "dune": 0.05})
    return frame[np.random.default_rng(seed).random(len(frame)) >= share]


def three_of_four_models_an_item(seed: int) -> Frame:
    frame = scores(seed)
    left_out = frame["item"].str[1:].astype(int).mod(4)
    return frame[frame["model"].map(MODELS.index) != left_out]


def stopped(seed: int) -> Frame:
    frame = scores(seed)
    return frame[~(frame["model"].eq("alder") & (frame["item"].str[1:].astype(int) >= 130))]


def hard_items_blank(seed: int) -> Frame:
    """Return scores of which one in ten is blank, and one in two on some items of all models."""
    frame = scores(seed)
    number = frame["item"].str[1:].astype(int)
    share = np.where(number < 30, 0.5, 0.1)
    drawn = np.random.default_rng(seed).random(len(frame)) < share
    return frame.assign(score=frame["score"].mask(drawn))


def rows_gone_at_random(seed: int) -> Frame:
    return verdicts(seed, orders=("ab", "ba")).sample(frac=0.95, random_state=seed)


CLEAN = [
    random_pairs,
    newcomer_of_verdicts,
    anchor,
    two_of_four_on_each_item,
    newcomer_of_scores,
    own_subsets,
    three_of_four_models_an_item,
    stopped,
    hard_items_blank,
    rows_gone_at_random,
]


def number_flagged(draw: Callable[[int], Frame], worlds: int) -> int:
    flagged = 0
    for seed in range(worlds):
        battles = podium.read_battles(draw(seed))
        made = [*check_lost_replies(battles), *check_lost_scores(battles)]
        flagged += any(check.is_flagged for check in adjust_tests(made))
    return flagged


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("draw", CLEAN)
def test_a_design_is_not_flagged(draw: Callable[[int], Frame]) -> None:
    assert number_flagged(draw, 3) == 0


@pytest.mark.slow
@pytest.mark.parametrize("draw", CLEAN)
def test_at_most_one_clean_world_in_twenty_is_flagged(draw: Callable[[int], Frame]) -> None:
    assert number_flagged(draw, 60) <= 3
