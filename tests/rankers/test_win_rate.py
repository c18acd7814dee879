"""Win rates, means and medians against hand-worked cases and plain NumPy."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm, t
from statsmodels.stats.proportion import proportion_confint

from podium import Judge, NotIdentifiedError, UsageError, rank, read_battles, simulate
from podium.notices.notice_text import notice_texts
from podium.rankers.errors.intervals import bootstrap_estimate
from podium.rankers.errors.rank_sets import compare_all_pairs
from podium.rankers.fit.cells import pair_sums_with_items, prepare_battles
from podium.rankers.fit.coded import code_battles
from podium.rankers.pointwise import ScoreMatrix, estimate_medians, mean, median
from podium.rankers.win_rate import win_rate, win_rate_errors


def rng():
    return np.random.default_rng(0)


def table(rows):
    return read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))


def scores(standings):
    return {entry.model: entry.score for entry in standings.entries}


def test_each_opponent_counts_once_however_often_an_item_was_played():
    rows = [("i1", "a", "b", 1.0), ("i2", "a", "b", 1.0)] + [
        (f"i{k % 4}", "a", "c", 0.0) for k in range(12)
    ]
    assert scores(win_rate(table(rows), rng=rng()))["a"] == 0.5


def test_an_opponent_met_on_less_than_half_as_many_items_counts_less():
    """Closed form: against c on 9 items, against b on one, which counts 2 * 1 / 9 of c."""
    rows = [("i1", "a", "b", 1.0)] + [(f"i{k}", "a", "c", 0.0) for k in range(9)]
    standings = win_rate(table(rows), rng=rng())
    assert scores(standings)["a"] == pytest.approx((2 / 9) / (1 + 2 / 9))
    assert standings.diagnostics["opponent_weights"] == {"a": {"b": pytest.approx(2 / 9)}}
    assert any("b (as 0.22 of an opponent)" in text for text in notice_texts(standings.warnings))


def duel_of_two(*guests):
    """A thousand battles of a and b, and some battles more."""
    rows = [(f"i{k:03d}", "a", "b", float(k % 9 < 5)) for k in range(1000)]
    return {entry.model: entry for entry in win_rate(table([*rows, *guests]), rng=rng()).entries}


def test_a_lone_loss_to_a_newcomer_moves_a_rate_of_a_thousand_battles_by_next_to_nothing():
    before, after = duel_of_two()["a"], duel_of_two(("i003", "c", "a", 1.0))["a"]
    assert after.score == pytest.approx(before.score, abs=0.002)
    assert after.high - after.low == pytest.approx(before.high - before.low, rel=0.01)


def test_a_lone_battle_takes_its_error_from_the_other_pairs():
    """Closed form: a pair's one item has their variance, 1000 / 999 p (1 - p), whose root is the
    error of its rate."""
    p = duel_of_two()["a"].score
    assert duel_of_two(("i003", "c", "a", 1.0))["c"].se == pytest.approx(
        np.sqrt(1000 / 999 * p * (1 - p))
    )


def test_errors_are_the_same_from_a_database_and_from_rows():
    """Judges and repeats: several battles of a pair on an item."""
    world = simulate(5, 12, seed=2)
    frame = world.judgments(Judge("x"), Judge("y", tie=0.5), repeats=2, orders="ab")
    battles = read_battles(frame.sample(150, random_state=1).reset_index(drop=True))
    stored, coded = prepare_battles(battles), code_battles(battles)
    by_database, by_rows = (
        win_rate_errors(those, pair_sums_with_items(those)) for those in (stored, coded)
    )
    for database, rows in zip(by_database, by_rows, strict=True):
        assert database == pytest.approx(rows, rel=1e-10)


def test_the_anchor_scores_one_minus_the_mean_of_the_others():
    rows = [
        ("i1", "x", "anchor", 1.0),
        ("i2", "x", "anchor", 0.5),
        ("i1", "y", "anchor", 0.0),
        ("i1", "x", "y", 1.0),
    ]
    found = scores(win_rate(table(rows), rng=rng(), anchor="anchor"))
    assert found == {"x": 0.75, "y": 0.0, "anchor": 1 - (0.75 + 0.0) / 2}


def test_win_rates_against_an_anchor_use_only_its_battles():
    rows = [("i1", "x", "anchor", 1.0), ("i1", "y", "anchor", 0.0), ("i1", "x", "y", 1.0)]
    standings = win_rate(table(rows), rng=rng(), anchor="anchor")
    assert {e.model: e.battles for e in standings.entries} == {"x": 1, "y": 1, "anchor": 2}


def test_a_model_that_never_met_the_anchor_has_no_score():
    rows = [("i1", "x", "anchor", 1.0), ("i2", "x", "anchor", 0.0), ("i1", "x", "y", 1.0)]
    standings = win_rate(table(rows), rng=rng(), anchor="anchor")
    assert scores(standings)["y"] is None
    assert any(
        "y has no readable battle against anchor" in text
        for text in notice_texts(standings.warnings)
    )


def test_an_unknown_anchor_is_rejected_with_the_nearest_name():
    with pytest.raises(UsageError, match="did you mean 'anchor'"):
        win_rate(table([("i1", "x", "anchor", 1.0)]), rng=rng(), anchor="ancor")


def test_a_single_opponent_gives_the_standard_error_of_a_clustered_mean():
    """Closed form: sqrt(G / (G - 1) * sum of squared cluster totals) / N, worked by NumPy."""
    world = simulate(2, 30, seed=3)
    battles = world.battles()
    credit = battles.table["credit"].to_numpy()
    by_hand = np.sqrt(30 / 29 * np.sum((credit - credit.mean()) ** 2)) / 30
    assert win_rate(battles, rng=rng()).entries[0].se == pytest.approx(by_hand, rel=1e-12)


def pointwise(seed=0, items=12, missing=()):
    world = simulate(4, items, seed=seed)
    frame = pd.DataFrame(world.quality, columns=world.models).rename_axis("item").reset_index()
    frame = frame.melt("item", var_name="model", value_name="score").drop(index=list(missing))
    return read_battles(frame), frame


@pytest.mark.parametrize(("ranker", "rule"), [(mean, "mean"), (median, "median")])
def test_pointwise_scores_are_aggregated_per_model(ranker, rule):
    battles, frame = pointwise(items=13)
    assert scores(ranker(battles, rng=rng())) == pytest.approx(
        frame.groupby("model")["score"].agg(rule).to_dict()
    )


def test_the_standard_error_of_a_mean_is_the_textbook_one():
    battles, frame = pointwise()
    found = {entry.model: entry.se for entry in mean(battles, rng=rng()).entries}
    assert found == pytest.approx(frame.groupby("model")["score"].sem().to_dict())


def accuracy(right, items, model="a"):
    """Scores of a model with a given number of correct answers."""
    return [(f"i{k:02d}", model, float(k < right)) for k in range(items)]


def means_of(*rows):
    battles = read_battles(pd.DataFrame(rows, columns=["item", "model", "score"]))
    return {entry.model: entry for entry in mean(battles, rng=rng()).entries}


def test_an_accuracy_has_wilsons_interval_with_t():
    """Oracle: statsmodels' Wilson interval of one item less, at the level of the normal that has
    the quantile of t. With one wrong answer, the upper end is its exact one."""
    found = means_of(*accuracy(11, 12), *accuracy(5, 12, "b"))
    alpha = 2 * norm.sf(t.ppf(0.975, 11))

    def ends(right: int, **how: Any) -> tuple[float, float]:
        return proportion_confint(right / 12 * 11, 11, **how)

    wilson = [ends(right, alpha=alpha, method="wilson") for right in (11, 5)]
    exact = [ends(right, alpha=0.05, method="beta") for right in (11, 5)]
    assert (found["a"].low, found["a"].high) == pytest.approx((wilson[0][0], exact[0][1]))
    assert found["a"].high < 1
    assert (found["b"].low, found["b"].high) == pytest.approx((exact[1][0], wilson[1][1]))


@pytest.mark.slow
@pytest.mark.parametrize("items", [20, 100])
@pytest.mark.parametrize("wrong", [0.15, 0.5, 1.0, 1.5, 3.0])
def test_an_interval_of_few_wrong_answers_holds_the_truth(items, wrong):
    """The coverage is the exact sum over the numbers of wrong answers."""
    share = 1 - wrong / items
    coverage = 0.0
    for right in range(items - 13, items + 1):
        found = means_of(*accuracy(right, items), *accuracy(items // 2, items, "b"))["a"]
        if found.low <= share <= found.high:
            coverage += binom.pmf(items - right, items, wrong / items)
    assert coverage > 0.94


@pytest.mark.parametrize("score", [0.0001, 1e-12, 1 - 1e-9])
def test_a_constant_score_near_an_end_has_an_interval(score):
    own = [(f"i{k:02d}", "a", score) for k in range(20)]
    found = means_of(*own, *accuracy(5, 20, "b"))["a"]
    assert 0 <= found.low <= score <= found.high <= 1


def test_all_right_is_bounded_below_only():
    found = means_of(*accuracy(12, 12), *accuracy(5, 12, "b"))["a"]
    assert found.high == 1
    assert found.low == pytest.approx(1 / (1 + t.ppf(0.975, 11) ** 2 / 12))


def test_scores_beyond_one_keep_the_t_interval():
    found = means_of(*accuracy(11, 12), *[(f"i{k:02d}", "b", 2.0 * k) for k in range(12)])["a"]
    assert found.high - found.score == pytest.approx(found.score - found.low)
    assert found.high > 1


def test_a_mean_over_few_items_has_the_error_of_those():
    """Closed form: 5 of 40 items; the error over these alone, and 4 degrees of freedom."""
    own = [3.0, 9.0, 4.0, 7.0, 5.0]
    guest = [(f"i{k:02d}", "b", score) for k, score in enumerate(own)]
    found = means_of(*[(f"i{k:02d}", "a", float(k % 7)) for k in range(40)], *guest)["b"]
    assert found.se == pytest.approx(np.std(own, ddof=1) / np.sqrt(5))
    assert found.high - found.score == pytest.approx(t.ppf(0.975, 4) * found.se)


def test_the_median_of_an_even_number_lies_between_the_two_middle_scores():
    battles, frame = pointwise(items=10)
    assert scores(median(battles, rng=rng())) == pytest.approx(
        frame.groupby("model")["score"].median().to_dict()
    )


def table_of_scores(columns: dict[str, list[float]]) -> pd.DataFrame:
    """Return a row per item, with a column per model."""
    items = [f"q{k:03d}" for k in range(len(next(iter(columns.values()))))]
    return pd.DataFrame({"item": items, **columns})


def test_intervals_of_medians_are_order_statistics():
    """Of ten items, the second smallest and the second largest score hold 97.9%, the third 89%."""
    columns = {"a": [float(k) for k in range(10)], "b": [float(k % 4) for k in range(10)]}
    standings = rank(read_battles(table_of_scores(columns)), "median").standings[0]
    intervals = {row.model: (row.low, row.high) for row in standings.entries}
    assert intervals == {"a": (1.0, 8.0), "b": (0.0, 3.0)}
    assert standings.interval == "order statistics of items, exact"


def test_a_median_of_equal_scores_has_an_interval_and_one_of_few_items_that_of_resamples():
    columns = {"a": [1.0] * 12, "b": [0.0, 1.0] * 6}
    standings = rank(read_battles(table_of_scores(columns)), "median").standings[0]
    assert [(row.low, row.high) for row in standings.entries] == [(1.0, 1.0), (0.0, 1.0)]
    assert not any("no variation" in text for text in notice_texts(standings.warnings))
    few = {name: values[:5] for name, values in columns.items()}
    standings = rank(read_battles(table_of_scores(few)), "median").standings[0]
    assert "bootstrap" in standings.interval


def test_intervals_of_weighted_medians_are_those_of_resamples():
    columns = {"a": [float(k) for k in range(40)], "b": [float(k % 7) for k in range(40)]}
    long = table_of_scores(columns).melt("item", var_name="model", value_name="score")
    long["weight"] = [1.0 + k % 2 for k in range(40)] * 2
    standings = rank(read_battles(long), "median").standings[0]
    assert "bootstrap" in standings.interval


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("items", [8, 15, 60])
def test_intervals_of_medians_hold_the_median_of_skewed_scores(items, level):
    """The median of an exponential variable is log 2; the intervals hold it at least as often as
    they say."""
    draws = np.random.default_rng(items)
    held = 0
    for _ in range(150):
        values = draws.exponential(size=(items, 2))
        matrix = ScoreMatrix(values, ("a", "b"), np.ones(items), None, "item")
        found = estimate_medians(matrix, level, draws, 20)
        held += int(((found.low <= np.log(2)) & (np.log(2) <= found.high)).sum())
    assert held / 300 >= level - 3 * np.sqrt(level * (1 - level) / 300)


def test_resampled_medians_equal_numpy_on_the_repeated_items():
    from podium.rankers.pointwise import _resampled_medians, score_matrix

    matrix = score_matrix(pointwise(items=9)[0])
    counts = np.random.default_rng(1).multinomial(9, [1 / 9] * 9, 25)
    repeated = [np.median(np.repeat(matrix.values, times, axis=0), axis=0) for times in counts]
    assert _resampled_medians(matrix, counts.astype(float)) == pytest.approx(np.array(repeated))


def test_a_missing_score_is_not_a_zero():
    battles, frame = pointwise(missing=[3])
    assert scores(mean(battles, rng=rng())) == pytest.approx(
        frame.groupby("model")["score"].mean().to_dict()
    )


def test_missing_scores_are_reported():
    standings = mean(pointwise(missing=[3])[0], rng=rng())
    assert any(
        "models are scored on different items: " in text and " on 11 of 12" in text
        for text in notice_texts(standings.warnings)
    )
    assert standings.counts.missing == 3


def test_mean_without_scores_is_rejected():
    with pytest.raises(NotIdentifiedError, match="score_a, score_b"):
        mean(table([("i1", "a", "b", 1.0)]), rng=rng())


def test_an_unbeaten_guest_of_two_items_gets_the_bound_of_two():
    rows = [(f"i{k}", "a", "b", float(k % 2)) for k in range(40)] + [
        ("i0", "d", "a", 1.0),
        ("i1", "d", "a", 1.0),
    ]
    guest = next(entry for entry in win_rate(table(rows), rng=rng()).entries if entry.model == "d")
    assert guest.low == pytest.approx(0.025**0.5)


def test_models_that_met_different_opponents_are_warned_of():
    rows = [("i1", "a", "b", 1.0), ("i2", "b", "c", 1.0)]
    assert any(
        "different opponents" in text
        for text in notice_texts(win_rate(table(rows), rng=rng()).warnings)
    )


def test_denominators_against_an_anchor_count_its_battles():
    rows = [
        ("i1", "x", "anchor", 1.0),
        ("i1", "y", "anchor", None),
        ("i1", "x", "y", 1.0),
        ("i2", "x", "y", 0.0),
    ]
    counts = win_rate(table(rows), rng=rng(), anchor="anchor").counts
    assert (counts.battles, counts.unparsed) == (2, 1)


def test_a_bootstrap_of_few_items_is_widened():
    """Closed form: at 8 items the ends lie sqrt(8 / 7) t_7 / z times as far from the rate as the
    percentiles."""
    score, draws = np.array([0.5]), np.linspace(0.3, 0.7, 401)[:, None]
    few, many = (
        bootstrap_estimate(score, draws, size, level=0.95, cluster="item") for size in (8, 30)
    )
    factor = np.sqrt(8 / 7) * t.ppf(0.975, 7) / norm.ppf(0.975)
    assert few.high - 0.5 == pytest.approx(factor * (many.high - 0.5))


def test_an_interval_around_an_infinite_score_is_not_widened():
    """Half of the draws are finite; with few clusters, their end stays where it is."""
    score = np.array([np.inf])
    draws = np.where(np.arange(400) % 2, 300.0, np.inf)[:, None]
    estimate = bootstrap_estimate(score, draws, 8, level=0.95, cluster="item")
    assert (estimate.low[0], estimate.high[0]) == (300.0, np.inf)


@pytest.mark.parametrize(("gap", "reported"), [(1.0, False), (2.0, True)])
def test_medians_are_distinguishable_only_where_resamples_agree(gap, reported):
    """One resample in ten brings the second a step closer: two steps are sure, one is not."""
    second = 6.0 - gap + (np.arange(1000) % 10 == 0)
    draws = np.column_stack([np.where(np.arange(1000) % 100, 6.0, 6.5), second])
    estimate = bootstrap_estimate(
        np.array([6.0, 6.0 - gap]), draws, 200, level=0.95, cluster="item"
    )
    ranks = compare_all_pairs(replace(estimate, draws=draws), level=0.95, rng=rng())
    assert (ranks.worst_rank[0] < ranks.best_rank[1]) == reported


def test_below_five_items_a_bootstrap_gives_no_interval():
    draws = np.random.default_rng(1).normal(0.5, 0.1, (200, 2))
    refused = bootstrap_estimate(np.array([0.5, 0.5]), draws, 4, level=0.95, cluster="item")
    assert np.isnan(refused.low).all()
    assert "interval='sandwich'" in notice_texts(refused.warnings)[0]
    partly = bootstrap_estimate(
        np.array([0.5, 0.5]), draws, 40, level=0.95, cluster="item", items=np.array([40, 4])
    )
    assert np.isnan(partly.low).tolist() == [False, True]
    assert np.isnan(partly.se).tolist() == [False, True]
    assert notice_texts(partly.warnings) == (
        "models in fewer than 5 items have no bootstrap interval: 1",
    )


def test_a_bootstrap_that_misses_a_model_says_so():
    rows = [(f"i{k:02d}", "a", "b", float(k % 3 == 0)) for k in range(40)]
    rows += [("i00", "d", "a", 1.0), ("i01", "d", "a", 0.0)]
    standings = win_rate(table(rows), rng=rng(), interval="bootstrap", resamples=200)
    assert any(
        "no interval for d: most bootstrap resamples contain too few" in text
        for text in notice_texts(standings.warnings)
    )


def test_a_model_without_a_readable_battle_keeps_its_own_mean():
    """a0 was scored on one item, where b's reply could not be read: no battle, and yet a score."""
    rows = [
        ("i1", "a0", 9.0),
        ("i1", "b", None),
        ("i2", "b", 5.0),
        ("i2", "c", 1.0),
        ("i3", "b", 4.0),
        ("i3", "c", 2.0),
    ]
    battles = read_battles(pd.DataFrame(rows, columns=["item", "model", "score"]))
    assert scores(mean(battles, rng=rng())) == {"a0": 9.0, "b": 4.5, "c": 1.5}


@pytest.mark.parametrize("ranker", [mean, median])
@pytest.mark.parametrize("items", [40, 20])
def test_model_known_only_from_scores_is_ranked_by_its_scored_items(ranker, items):
    rows = [(f"i{k:02d}", "a", "b", float(k % 3), float(k % 5)) for k in range(40)]
    rows += [(f"i{k:02d}", "a", "x", np.nan, float(k % 4)) for k in range(items)]
    battles = read_battles(
        pd.DataFrame(rows, columns=["item", "model_a", "model_b", "score_a", "score_b"])
    )
    found = ranker(battles, level=0.95, rng=rng())
    assert scores(found).keys() == {"a", "b", "x"}
    assert not any("in fewer than 30 items" in text for text in notice_texts(found.warnings))


def test_score_on_an_unshared_item_is_reported():
    rows = [("i1", "a", 1.0), ("i1", "b", 2.0), ("i2", "a", 100.0)]
    standings = mean(
        read_battles(pd.DataFrame(rows, columns=["item", "model", "score"])), rng=rng()
    )
    assert any(
        text.startswith("1 score stands on items where no other model")
        for text in notice_texts(standings.warnings)
    )
