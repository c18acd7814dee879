"""Errors and rank correlations of held-out ratings, their intervals over models, and differences of
targets."""

from dataclasses import astuple
from functools import cache

import numpy as np
import pytest
from scipy import stats

from podium import calibrate, rank, simulate
from podium.notices.notice_text import notice_texts
from podium.planning.simulation import Judge
from podium.rankers.calibration.accuracy import compare_accuracy, measure_accuracy, select_best
from podium.rankers.calibration.calibration import HeldOut
from podium.rankers.calibration.calibration_run import calibrate_targets
from podium.rankers.calibration.conformal import leave_one_score_out


def held(judge, human):
    """Return models with these ratings."""
    return [
        HeldOut(f"m{k}", h, s, s, 10.0, 10.0, 50)
        for k, (s, h) in enumerate(zip(judge, human, strict=True))
    ]


def drawn(seed, number=12, r=0.8):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=number)
    return r * human + np.sqrt(1 - r**2) * rng.normal(size=number), human


def test_figures_are_those_of_scipy_and_intervals_hold_them():
    judge, human = drawn(1)
    found = measure_accuracy(held(judge, human), "soft", 0.9)
    assert found.mae == pytest.approx(np.mean(np.abs(judge - human)))
    assert found.spearman == pytest.approx(stats.spearmanr(judge, human).statistic)
    assert found.kendall == pytest.approx(stats.kendalltau(judge, human).statistic)
    for value, (low, high) in (
        (found.mae, found.mae_interval),
        (found.spearman, found.spearman_interval),
        (found.kendall, found.kendall_interval),
    ):
        assert low < value < high
    sure = measure_accuracy(held(human, human + 1), "soft", 0.9)
    assert sure.spearman_interval[0] < sure.spearman_interval[1] == 1.0
    assert measure_accuracy(held(judge[:4], human[:4]), "soft", 0.9).kendall_interval is None


@pytest.mark.slow
def test_intervals_of_error_and_correlations_cover_and_narrower_ones_do_not():
    """Truth of a normal pair: E|gap|, 6 / pi asin(r / 2) and 2 / pi asin(r); 1,000 worlds of 12
    models, at 90%."""
    truths = {
        "mae": np.sqrt(2 / np.pi * 0.4),
        "spearman": 6 / np.pi * np.arcsin(0.4),
        "kendall": 2 / np.pi * np.arcsin(0.8),
    }
    hits, narrow = {name: [] for name in truths}, {name: [] for name in truths}
    for seed in range(1000):
        found = measure_accuracy(held(*drawn(seed)), "soft", 0.9)
        half = measure_accuracy(held(*drawn(seed)), "soft", 0.6)
        for name, truth in truths.items():
            for kept, figures in ((hits, found), (narrow, half)):
                low, high = getattr(figures, f"{name}_interval")
                kept[name].append(low <= truth <= high)
    assert min(np.mean(kept) for kept in hits.values()) > 0.86
    assert max(np.mean(kept) for kept in narrow.values()) < 0.75


def test_a_difference_of_targets_is_paired_over_models():
    judge, human = drawn(2)
    worse = judge + np.where(judge > human, 0.5, -0.5)
    found = compare_accuracy(held(worse, human), held(judge, human)[::-1], 0.9)
    assert astuple(found["mae"]) == pytest.approx((0.5, 0.5, 0.5))
    assert found["spearman"].value == pytest.approx(
        stats.spearmanr(worse, human).statistic - stats.spearmanr(judge, human).statistic
    )
    assert found["kendall"].low <= found["kendall"].value <= found["kendall"].high


@cache
def best_of_targets():
    """Choose among hard labels and seven targets, each plain and scale-corrected."""
    targets = calibrate_targets(
        simulate(6, 20, seed=3).battles(Judge(scale=2.0), human=True, orders="ab")
    )
    return select_best(targets, 0.9)


@pytest.mark.slow
def test_the_best_target_is_the_one_beyond_which_others_err():
    choice = best_of_targets()
    assert all(difference["mae"].value >= 0 for _, difference in choice.others)
    assert choice.best not in [contender for contender, _ in choice.others]
    assert len(choice.others) == 2 * (1 + 7) - 1


@pytest.mark.slow
def test_intervals_of_differences_from_the_best_are_wider_than_single_ones():
    choice = best_of_targets()
    contender, difference = choice.others[0]
    alone = compare_accuracy(
        contender.held, choice.best.held, choice.level, contender.kind, choice.best.kind
    )
    assert difference["mae"].high - difference["mae"].low > alone["mae"].high - alone["mae"].low


@pytest.mark.parametrize("number", [8, 9, 10, 13, 17])
def test_each_model_is_tried_where_halves_are_too_small(number):
    """One more than the 9 that the level needs; its coverage is ceil(level n) / n by
    construction."""
    rng = np.random.default_rng(number)
    residual, se = rng.normal(0, 30, number), rng.uniform(10, 20, number)
    found = leave_one_score_out(residual, se, 0.9)
    if number < 10:
        assert found is None
        return
    coverage, width = found
    assert coverage == np.ceil(0.9 * number) / number
    largest = np.sort(np.abs(residual) / se)[-2:]
    assert 2 * largest[0] * se.min() <= width <= 2 * largest[1] * se.max()


@pytest.mark.slow
def test_half_splits_and_leaving_one_out_take_turns():
    battles = simulate(11, 40, seed=4).battles(Judge(scale=1.5), human=True)
    found = calibrate(battles, scale_correction=False).conformal["soft"]
    assert (found.coverage, found.loo_coverage) == (None, 10 / 11)
    at_half = calibrate(battles, level=0.5, scale_correction=False).conformal["soft"]
    assert (at_half.coverage is None, at_half.loo_coverage) == (False, None)


def test_a_beta_from_labels_on_four_items_says_that_it_rests_on_four():
    table = simulate(5, 40, seed=5).judgments(Judge(scale=1.5), human=True, orders="ab")
    few = table.assign(human=table["human"].where(table["item"] <= "item-03"))
    reported = [
        warning
        for warning in notice_texts(rank(few, "soft-elo").standings[0].warnings)
        if "rests on human labels" in warning
    ]
    items = few.loc[few["human"].notna(), "item"].nunique()
    assert (len(reported), f"labels of {items} items only" in reported[0]) == (1, True)
    assert not any(
        "rests on human labels" in warning
        for warning in notice_texts(rank(table, "soft-elo").standings[0].warnings)
    )
