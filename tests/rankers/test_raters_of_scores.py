"""Scores that many judges or voters give: from 10 on, errors are clustered by item and by rater."""

import numpy as np
import pandas as pd
import pytest
from rater_votes import dense_enlargement, dense_freedom
from scipy.stats import t as student

import podium
from podium.comparison.compare_models import compare

MODELS = 3


def scores_of(seed, *, raters=20, items=40, taste=0.6, per_item=4, lead=0.0) -> pd.DataFrame:
    """Return scores of some raters on each item; raters have tastes, items effects."""
    rng = np.random.default_rng(seed)
    tastes = rng.normal(0, taste, (raters, MODELS))
    effects = rng.normal(0, 0.5, (items, MODELS)) + lead * np.arange(MODELS)
    rows = []
    for item in range(items):
        for rater in rng.choice(raters, per_item, replace=False):
            scores = 5 + effects[item] + tastes[rater] + rng.normal(0, 0.5, MODELS)
            for model in range(MODELS):
                rows.append((f"q{item:02}", f"m{model}", scores[model], f"r{rater:02}"))
    return pd.DataFrame(rows, columns=["item", "model", "score", "judge"])


def ranked(table: pd.DataFrame):
    """Return the standings of the means, with all raters together."""
    return podium.rank(podium.read_battles(table), "mean", pool=True).standings[0]


def dense_error(table: pd.DataFrame, model: str) -> float:
    """Return the two-way standard error of a mean by sums of pandas."""
    own = table[table["model"] == model].copy()
    number = own.groupby("item")["score"].transform("size")
    mean = own.groupby("item")["score"].mean().mean()
    own["influence"] = (own["score"] - mean) / number / own["item"].nunique()
    total = 0.0
    for keys, sign in ((["item"], 1), (["judge"], 1), (["item", "judge"], -1)):
        sums = own.groupby(keys)["influence"].sum()
        factor = len(sums) / (len(sums) - 1)
        if keys != ["item"]:
            factor = dense_enlargement((1 / number).groupby([own[key] for key in keys]).sum())
        total += sign * factor * float((sums**2).sum())
    return float(np.sqrt(total))


def reach_of(weight: pd.Series) -> float:
    """Return the 97.5% quantile of t with the degrees of freedom of raters with these weights."""
    return float(student.ppf(0.975, dense_freedom(weight)))


@pytest.mark.slow
def test_errors_are_those_of_dense_two_way_sums():
    table = scores_of(1)
    standings = ranked(table)
    for entry in standings.entries:
        assert entry.se == pytest.approx(dense_error(table, entry.model), rel=1e-6)
        own = table[table["model"] == entry.model]
        reach = reach_of(
            (1 / own.groupby("item")["score"].transform("size")).groupby(own["judge"]).sum()
        )
        assert (entry.high - entry.low) / 2 / entry.se == pytest.approx(reach, rel=1e-6)
    assert standings.diagnostics["raters"] == {"unit": "judge", "number": 20}
    assert standings.interval.startswith("item- and judge-clustered sandwich")


@pytest.mark.slow
def test_a_comparison_has_the_error_of_the_difference_by_both():
    table = scores_of(2)
    wide = table.pivot_table(index=["item", "judge"], columns="model", values="score").reset_index()
    difference = wide.assign(model="d", score=wide["m0"] - wide["m1"])
    battles = podium.read_battles(table)
    [finding] = compare("m0", "m1", battles, pool=True).findings
    low, high = finding.difference.interval(0.95)
    expected = dense_error(difference, "d")
    reach = reach_of(difference.groupby("judge").size())
    assert (high - low) / 2 / expected == pytest.approx(reach, rel=1e-6)
    assert finding.difference.method == "t test by items and judges"
    assert finding.raters is None


@pytest.mark.slow
def test_nine_judges_are_these_nine_judges():
    battles = podium.read_battles(scores_of(3, raters=9))
    [finding] = compare("m0", "m1", battles, pool=True).findings
    assert finding.raters == ("judge", 9)
    assert "raters" not in ranked(scores_of(3, raters=9)).diagnostics


@pytest.mark.slow
def test_a_judge_with_the_same_scores_twice_changes_nothing():
    """Rows of three models hold each score in two battles."""
    table = scores_of(4)
    two = table[table["model"] != "m2"]
    errors = {entry.model: entry.se for entry in ranked(two).entries}
    for entry in ranked(table).entries:
        if entry.model != "m2":
            assert entry.se == pytest.approx(errors[entry.model], rel=1e-9)


def votes_with_scores(seed: int) -> pd.DataFrame:
    """Return verdicts and scores of 4 of 12 voters on each of 40 items, with unequal weights."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(40), 4)
    voter = np.concatenate([rng.choice(12, 4, replace=False) for _ in range(40)])
    columns = {
        "item": [f"q{k:02}" for k in item],
        "model_a": "m0",
        "model_b": "m1",
        "credit": 1.0,
        "score_a": 5 + rng.normal(size=len(item)),
        "score_b": 5 + rng.normal(size=len(item)),
        "voter": [f"v{k:02}" for k in voter],
        "weight": rng.choice([1.0, 10.0], len(item)),
    }
    return pd.DataFrame(columns)


def error_of_difference(table: pd.DataFrame) -> float:
    """Return the standard error of podium's score difference, from its interval."""
    [finding] = compare("m0", "m1", podium.read_battles(table)).findings
    low, high = finding.difference.interval(0.95)
    assert finding.difference.raters == ("voter", 12)
    weight = table["weight"] / table.groupby("item")["weight"].transform("size")
    return (high - low) / 2 / reach_of(weight.groupby(table["voter"]).sum())


def dense_error_of_difference(table: pd.DataFrame) -> float:
    """Return the two-way error of the mean over items, weighted within and over items."""
    weight = table["weight"] / table.groupby("item")["weight"].transform("size")
    difference = table["score_a"] - table["score_b"]
    mean = np.average(difference, weights=weight)
    influence = weight * (difference - mean) / weight.sum()
    total = 0.0
    for keys, sign in ((["item"], 1), (["voter"], 1), (["item", "voter"], -1)):
        sums = influence.groupby([table[key] for key in keys]).sum()
        factor = len(sums) / (len(sums) - 1)
        if keys != ["item"]:
            factor = dense_enlargement(weight.groupby([table[key] for key in keys]).sum())
        total += sign * factor * float((sums**2).sum())
    return float(np.sqrt(total))


def test_the_error_of_a_comparison_has_the_weights_of_its_difference():
    table = votes_with_scores(1)
    assert error_of_difference(table) == pytest.approx(dense_error_of_difference(table), rel=1e-5)


def test_scores_beside_unparsed_verdicts_count_in_the_error():
    table = votes_with_scores(2).assign(weight=1.0)
    table.loc[::2, "credit"] = np.nan
    assert error_of_difference(table) == pytest.approx(dense_error_of_difference(table), rel=1e-5)


def test_voters_without_scores_are_no_raters_of_scores():
    """Three voters give scores: how voters differ is unknown, however many give verdicts."""
    table = votes_with_scores(3).drop(columns="weight")
    is_scored = table["voter"].isin(["v00", "v01", "v02"])
    table.loc[~is_scored, ["score_a", "score_b"]] = np.nan
    battles = podium.read_battles(table)
    [finding] = compare("m0", "m1", battles).findings
    assert finding.measure == "score"
    assert finding.difference.raters is None
    standings = podium.rank(battles, "mean").standings[0]
    assert "raters" not in standings.diagnostics
    assert standings.interval.startswith("item-clustered")


@pytest.mark.slow
def test_every_mean_has_an_error_if_covariances_do_not_add_up():
    """V(item) + V(rater) - V(both) may be negative for the level of all models alone."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        item, voter = np.divmod(np.arange(144), 12)
        columns = {
            "item": [f"q{k:02}" for k in item],
            "model_a": "m0",
            "model_b": "m1",
            "score_a": 5 + 0.1 * rng.normal(size=144),
            "score_b": 5 + 0.1 * rng.normal(size=144),
            "voter": [f"v{k:02}" for k in voter],
        }
        standings = podium.rank(podium.read_battles(pd.DataFrame(columns)), "mean").standings[0]
        assert all(entry.se is not None for entry in standings.entries), seed


@pytest.mark.slow
def test_intervals_of_differences_cover_and_are_hardly_wider_without_tastes():
    covered = {0.0: 0, 0.6: 0}
    widths = []
    worlds = 150
    for seed in range(worlds):
        for taste in covered:
            table = scores_of([5, seed], taste=taste, items=60)
            [by_both] = compare("m0", "m1", podium.read_battles(table), pool=True).findings
            low, high = by_both.difference.interval(0.95)
            covered[taste] += low <= 0 <= high
            if taste == 0:
                one = table.assign(judge="one")
                alone = one.groupby(["item", "model", "judge"], as_index=False)["score"].mean()
                [by_item] = compare("m0", "m1", podium.read_battles(alone)).findings
                ends = by_item.difference.interval(0.95)
                widths.append((high - low) / (ends[1] - ends[0]))
    assert covered[0.6] / worlds >= 0.91
    assert covered[0.0] / worlds >= 0.91
    assert 0.95 <= np.mean(widths) <= 1.10


@pytest.mark.slow
def test_scores_of_voters_have_the_errors_of_those_of_judges():
    """Each voter scored all models of an item: scores are paired before they are averaged."""
    table = scores_of(3, raters=14, taste=0.7, per_item=3)
    by_judge = ranked(table)
    by_voter = ranked(table.rename(columns={"judge": "voter"}))
    assert [entry.se for entry in by_voter.entries] == pytest.approx(
        [entry.se for entry in by_judge.entries], rel=1e-12
    )
    assert by_voter.interval.startswith("item- and voter-clustered")
    test = compare("m0", "m1", podium.read_battles(table.rename(columns={"judge": "voter"})))
    low, high = test.findings[0].interval
    assert (low <= 0 <= high) == (test.findings[0].p_adjusted >= 0.05)


def test_voters_of_one_model_each_are_averaged_and_not_named():
    """Each score is of another voter: no two scores are of one, so that nothing pairs by voter."""
    table = scores_of(4, raters=14, per_item=2).rename(columns={"judge": "voter"})
    table["voter"] = [f"r{k % 17:02}" for k in range(len(table))]
    once = table.drop_duplicates(["item", "voter"])
    battles = podium.read_battles(once)
    assert "voter" not in battles.columns
    plain = podium.read_battles(once.drop(columns="voter"))
    with_voters, without = (podium.rank(each, "mean").standings[0] for each in (battles, plain))
    assert [entry.score for entry in with_voters.entries] == [e.score for e in without.entries]
    assert [entry.se for entry in with_voters.entries] == [e.se for e in without.entries]
