"""Comparisons whose verdicts are of many voters or judges, who have tastes of their own."""

import re

import numpy as np
import pandas as pd
import pytest
from rater_votes import dense_enlargement, dense_freedom, votes_of
from scipy.stats import t as student

import podium
from podium.comparison.compare_models import compare
from podium.rankers.errors.two_way_difference import rate_error

POINTS = 400 / np.log(10)


def finding_of(table, **options):
    [finding] = compare("m0", "m1", podium.read_battles(table), **options).findings
    return finding


@pytest.mark.slow
def test_the_error_of_a_rate_is_that_of_dense_two_way_sums():
    table = votes_of(3)
    values = np.where(table["model_a"] == "m0", table["credit"], 1 - table["credit"])
    residual = pd.Series((values - values.mean()) / len(values))
    total = 0.0
    for keys, sign in ((["item"], 1), (["voter"], 1), (["item", "voter"], -1)):
        sums = residual.groupby([table[key] for key in keys]).sum()
        factor = len(sums) / (len(sums) - 1)
        if keys != ["item"]:
            factor = dense_enlargement(table.groupby(keys).size())
        total += sign * factor * float((sums**2).sum())
    codes = [table[key].astype("category").cat.codes.to_numpy() for key in ("item", "voter")]
    error, freedom = rate_error(values, np.ones(len(values)), *codes)
    assert error == pytest.approx(np.sqrt(total), rel=1e-9)
    assert freedom == pytest.approx(dense_freedom(table.groupby("voter").size()), rel=1e-9)
    test = finding_of(table, measure="win-rate").difference
    low, high = test.interval(0.95)
    assert (high - low) / 2 / error == pytest.approx(student.ppf(0.975, freedom), rel=1e-6)
    assert test.raters == ("voter", 20)


@pytest.mark.slow
@pytest.mark.parametrize("models", [2, 5])
def test_an_elo_difference_is_that_of_the_ranking(models):
    table = votes_of(4, models=models)
    finding = finding_of(table)
    standings = podium.rank(table).standings[0]
    scores = {entry.model: entry.score for entry in standings.entries}
    assert finding.difference.value == pytest.approx(scores["m0"] - scores["m1"], abs=1e-6)
    if models == 2:
        [first, _] = standings.entries
        low, high = finding.interval
        assert (high - low) / 2 == pytest.approx(first.high - first.low, rel=1e-6)


@pytest.mark.slow
def test_equal_models_are_rarely_called_different():
    """Errors by item alone call them different in more than a fifth of these worlds."""
    tables = [votes_of([7, seed]) for seed in range(150)]
    by_both = np.array([finding_of(table).is_distinguishable for table in tables])
    without = [finding_of(table.drop(columns="voter")).is_distinguishable for table in tables]
    assert by_both.mean() <= 0.09
    assert np.mean(without) >= 0.2


@pytest.mark.slow
def test_without_tastes_intervals_are_hardly_wider():
    ratios = []
    for seed in range(40):
        table = votes_of([8, seed], taste=0.0, lead=0.5)
        widths = []
        for own in (table, table.drop(columns="voter")):
            low, high = finding_of(own).interval
            widths.append(high - low)
        ratios.append(widths[0] / widths[1])
    assert 0.95 <= np.mean(ratios) <= 1.10


@pytest.mark.slow
def test_the_number_of_further_voters_is_asked_for(podium, tmp_path):
    votes_of(4).to_csv(tmp_path / "votes.csv", index=False)
    said = podium("compare", "m0", "m1", str(tmp_path / "votes.csv"))
    assert "t test by items and voters" in said.out
    assert re.search("more voters with [0-9,]+ further items would separate them", said.out)
    assert "For these" not in said.out


def test_nine_voters_are_these_nine_voters(podium, tmp_path):
    votes_of(4, voters=9).to_csv(tmp_path / "votes.csv", index=False)
    said = podium("compare", "m0", "m1", str(tmp_path / "votes.csv"))
    assert said.out.startswith("For these nine voters: ")
    assert "and voters" not in said.out


@pytest.mark.slow
def test_pooled_judges_are_raters(podium, tmp_path):
    votes_of(4, voters=12, kind="judge").to_csv(tmp_path / "votes.csv", index=False)
    said = podium("compare", "m0", "m1", str(tmp_path / "votes.csv"), "--pool")
    assert "t test by items and judges" in said.out


@pytest.mark.slow
def test_few_items_have_at_least_the_p_value_of_the_test_by_items():
    for seed in range(10):
        table = votes_of([9, seed], items=12, votes=6)
        one, two = (
            finding_of(own, measure="win-rate").difference
            for own in (table, table.drop(columns="voter"))
        )
        assert one.p_value >= two.p_value - 1e-12


def test_betting_speaks_of_these_voters():
    finding = finding_of(votes_of(4), measure="win-rate", method="betting")
    assert finding.raters == ("voter", 20)
    assert finding.difference.raters is None


@pytest.mark.parametrize("voters", [9, 12])
def test_a_pair_that_one_of_several_voters_judged_speaks_of_this_voter(voters):
    """Of ten voters on, how voters differ is included: the word of one is no claim."""
    crowd = votes_of(4, models=3, voters=voters)
    crowd = crowd[~crowd[["model_a", "model_b"]].isin(["m2"]).any(axis=1)]
    alone = votes_of(5, models=2, voters=1, votes=40, lead=3.0).replace({"m0": "m2"})
    table = pd.concat([crowd, alone.assign(item="x" + alone["item"])])
    compared = compare("m1", "m2", podium.read_battles(table), measure="win-rate")
    if voters < 10:
        assert compared.findings[0].raters == ("voter", 1)
        assert compared.answer[0].startswith("For this voter: ")
    else:
        assert compared.findings[0].raters is None
        assert "too close to call: p = 1" in compared.answer[0]
