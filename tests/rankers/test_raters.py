"""Voters or judges with tastes: from 10 on, errors are clustered by item and by rater."""

import re
from math import ceil

import numpy as np
import pandas as pd
import pytest
from rater_votes import dense_enlargement, dense_freedom, votes_of
from scipy.stats import t as student

import podium
from podium.data.counting.duck import Duck
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.errors.raters import count_raters, raters_of

POINTS = 400 / np.log(10)
MODELS = 5


def dense_errors(table, regularization=0.01):
    """Return two-way standard errors in Elo by dense sums over clusters."""
    design = np.zeros((len(table), MODELS))
    for side, sign in (("model_a", 1), ("model_b", -1)):
        design[np.arange(len(table)), [int(name[1:]) for name in table[side]]] = sign
    y = table["credit"].to_numpy()
    theta = np.zeros(MODELS)
    for _ in range(100):
        p = 1 / (1 + np.exp(-design @ theta))
        hessian = (design * (p * (1 - p))[:, None]).T @ design + regularization * np.eye(MODELS)
        theta += np.linalg.solve(hessian, design.T @ (y - p) - regularization * theta)
    scores = pd.DataFrame(design * (y - p)[:, None])
    bread = np.linalg.inv(hessian)
    covariance = np.zeros((MODELS, MODELS))
    for keys, sign in ((["item"], 1), (["voter"], 1), (["item", "voter"], -1)):
        grouped = scores.groupby([table[key].to_numpy() for key in keys])
        sums = grouped.sum().to_numpy()
        sums = sums - sums.mean(axis=0)
        factor = np.full(len(sums), len(sums) / (len(sums) - 1))
        if keys == ["item"]:
            share = grouped.size().to_numpy() / len(table)
            factor = 1 / (1 - 2 * share + np.sum(share**2))
        if keys != ["item"]:
            factor = np.ones(len(sums))
        part = bread @ ((factor[:, None] * sums).T @ sums) @ bread
        if keys != ["item"]:
            root = np.sqrt([dense_enlargement(votes_on(table, k, keys)) for k in range(MODELS)])
            centring = np.eye(MODELS) - 1 / MODELS
            part = centring @ (part * np.outer(root, root)) @ centring
        covariance += sign * part
    return POINTS * np.sqrt(np.diag(covariance))


def votes_on(table, model, keys=("voter",)):
    """Return the number of votes on a model of each voter, or of each voter on each item."""
    name = f"m{model}"
    is_of_model = (table["model_a"] == name) | (table["model_b"] == name)
    return table[is_of_model].groupby([*keys]).size()


@pytest.mark.slow
def test_errors_are_those_of_dense_two_way_sums():
    table = votes_of(1, models=MODELS)
    standings = podium.rank(table).standings[0]
    errors = dense_errors(table)
    for entry in standings.entries:
        assert entry.se == pytest.approx(errors[int(entry.model[1:])], rel=1e-6)
        reach = (entry.high - entry.low) / 2
        freedom = dense_freedom(votes_on(table, int(entry.model[1:])))
        assert reach / entry.se == pytest.approx(student.ppf(0.975, freedom), rel=1e-6)
    assert standings.interval == "item- and voter-clustered sandwich"
    assert standings.diagnostics["raters"] == {"unit": "voter", "number": 20}


def test_the_number_of_further_voters_is_asked_for():
    answer = " ".join(podium.rank(votes_of(2, models=MODELS)).standings[0].answer)
    found = re.search(r"([0-9,]+) more voters with ([0-9,]+) further items would separate", answer)
    voters, items = (int(number.replace(",", "")) for number in found.groups())
    table = votes_of(2, models=MODELS)
    assert items == ceil(voters / 20 * table["item"].nunique())


@pytest.mark.slow
def test_win_rates_and_ratings_agree_about_the_width_that_voters_add():
    table = votes_of(2, models=MODELS, taste=1.0)
    alone = table.drop(columns="voter")
    ratios = []
    for ranker in ("bradley-terry", "win-rate"):
        two_way = {each.model: each.se for each in podium.rank(table, ranker).standings[0].entries}
        one_way = {each.model: each.se for each in podium.rank(alone, ranker).standings[0].entries}
        ratios.append([two_way[name] / one_way[name] for name in sorted(two_way)])
    assert np.mean(ratios) > 1.3
    assert ratios[0] == pytest.approx(ratios[1], rel=0.1)


@pytest.mark.slow
def test_fewer_than_ten_voters_change_nothing():
    table = votes_of(3, models=MODELS, voters=9)
    with_voters = podium.rank(table).standings[0]
    without = podium.rank(table.drop(columns="voter")).standings[0]
    assert [each.se for each in with_voters.entries] == [each.se for each in without.entries]
    assert "raters" not in with_voters.diagnostics


def in_both_orders(table):
    """Return a judgment in each order of each battle, with the same verdict."""
    single = table.drop_duplicates(["item", "voter"])
    return pd.concat([single.assign(order="ab"), single.assign(order="ba")])


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("voters", [0, 1, 9, 10])
def test_orders_are_merged_to_find_raters_only_if_there_may_be_ten(monkeypatch, tmp_path, voters):
    votes = in_both_orders(votes_of(6, models=MODELS, voters=max(voters, 1)))
    votes = votes if voters else votes.drop(columns="voter")
    votes.to_csv(tmp_path / "votes.csv", index=False)
    battles = podium.read_battles(tmp_path / "votes.csv")
    stored, store = [], Duck.store

    def record(duck, name, query):
        stored.append(name.partition("_")[0])
        store(duck, name, query)

    monkeypatch.setattr(Duck, "store", record)
    raters = raters_of(battles)
    assert (raters.number if raters else 0) == (10 if voters == 10 else 0)
    merged = ["order", "battles"] if voters == 10 else []
    assert [name for name in stored if name in ("order", "battles")] == merged


def test_a_single_voter_is_this_voter():
    table = votes_of(3, voters=1, votes=200, models=3)
    [standings] = podium.rank(table).standings
    assert standings.answer[0].startswith("For this voter: ")
    [nameless] = podium.rank(table.drop(columns="voter")).standings
    assert "voter" not in nameless.answer[0]
    assert podium.compare(table, "m0", "m1").answer[0].startswith("For this voter: ")


def test_votes_without_a_name_are_not_counted_as_those_of_the_one_named_voter():
    table = pd.DataFrame(
        {
            "item": [f"q{k}" for k in range(40)],
            "model_a": "m0",
            "model_b": "m1",
            "winner": ["model_a", "model_b"] * 20,
            "voter": ["ann", None] * 20,
        }
    )
    assert count_raters(podium.read_battles(table)) is None
    of_ann = podium.read_battles(table[table["voter"] == "ann"])
    assert count_raters(of_ann) == ("voter", 1)


def test_a_tenth_voter_without_a_readable_verdict_is_no_rater():
    table = votes_of(7, models=MODELS, voters=10)
    table.loc[table["voter"] == "v09", "credit"] = np.nan
    assert raters_of(podium.read_battles(table)) is None


@pytest.mark.slow
def test_ten_judges_that_are_pooled_vary_too():
    table = votes_of(4, models=MODELS, voters=12).rename(columns={"voter": "judge"})
    standings = podium.rank(table, pool=True).standings[0]
    assert standings.interval == "item- and judge-clustered sandwich"
    assert standings.diagnostics["raters"] == {"unit": "judge", "number": 12}


@pytest.mark.slow
def test_voters_of_a_single_vote_each_have_the_errors_of_items():
    table = votes_of(5, models=MODELS, taste=0.0)
    table["voter"] = [f"v{k}" for k in range(len(table))]
    two_way = podium.rank(table).standings[0]
    one_way = podium.rank(table.drop(columns="voter")).standings[0]
    assert [each.se for each in two_way.entries] == pytest.approx(
        [each.se for each in one_way.entries], rel=1e-9
    )


@pytest.mark.slow
def test_intervals_of_voters_with_tastes_cover_and_without_tastes_are_hardly_wider():
    inside, width, alone = [], [], []
    for seed in range(100):
        with_taste = podium.read_battles(votes_of(seed, models=MODELS))
        entries = bradley_terry(with_taste, rng=np.random.default_rng(0)).entries
        inside += [each.low <= 1500 <= each.high for each in entries]
        table = votes_of(seed, models=MODELS, taste=0.0)
        for source, widths in ((table, width), (table.drop(columns="voter"), alone)):
            battles = podium.read_battles(source)
            entries = bradley_terry(battles, rng=np.random.default_rng(0)).entries
            widths += [each.high - each.low for each in entries]
    assert np.mean(inside) >= 0.92
    assert np.mean(width) / np.mean(alone) <= 1.1


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_equal_models_are_seldom_told_apart_by_voters_of_unequal_diligence(ranker):
    """Two of 20 voters give most of the votes; with n - 1 degrees of freedom, nearly all fail."""
    votes = np.maximum(1, np.exp(1.5 * np.random.default_rng(3).normal(size=20)) * 40).astype(int)
    claims = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        voter = np.repeat(np.arange(20), votes)
        tastes = rng.normal(0, 0.5, (20, 4))
        a = rng.integers(0, 4, len(voter))
        b = (a + rng.integers(1, 4, len(voter))) % 4
        gap = tastes[voter, a] - tastes[voter, b]
        columns = {
            "item": [f"i{k}" for k in range(len(voter))],
            "model_a": [f"m{k}" for k in a],
            "model_b": [f"m{k}" for k in b],
            "credit": (rng.random(len(voter)) < 1 / (1 + np.exp(-gap))).astype(float),
            "voter": [f"v{k:02}" for k in voter],
        }
        table = pd.DataFrame(columns)
        standings = podium.rank(table, ranker).standings[0]
        claims += bool(standings.separation and any(standings.separation.beats))
    assert claims <= 5


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_a_model_that_a_single_voter_judged_has_no_interval_and_the_warning_says_why(ranker):
    table = votes_of(1, models=3, voters=12)
    new = votes_of(2, models=2, voters=1, votes=60).replace({"m0": "m3"})
    table = pd.concat([table, new.assign(item=[f"new {k}" for k in range(len(new))])])
    standings = podium.rank(table, ranker).standings[0]
    [entry] = [entry for entry in standings.entries if entry.model == "m3"]
    assert entry.low is None
    assert entry.high is None
    codes = [warning.code for warning in standings.warnings]
    assert codes.count("single-rater") == 1
    assert "few-in-resamples" not in codes
    assert (entry.rank_low, entry.rank_high) == (1, 4)


def votes_with_a_busy_voter(*, share, voters=20, votes=1_200):
    """Return votes of which one voter gave a share; each model is better than the one before."""
    busy = round(share * votes)
    each = (votes - busy) // (voters - 1)
    alone = votes_of(1, models=3, voters=1, votes=2 * busy, lead=0.5)[:busy]
    crowd = votes_of(2, models=3, voters=voters - 1, votes=each, lead=0.5)
    alone = alone.assign(voter="busy")
    return pd.concat([crowd, alone], ignore_index=True)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_a_voter_who_gave_most_votes_is_why_the_intervals_tell_little(ranker):
    standings = podium.rank(votes_with_a_busy_voter(share=0.6), ranker).standings[0]
    [notice] = [each for each in standings.warnings if each.code == "busy-raters"]
    assert notice.fields["number"] == 20
    assert 1 < notice.fields["effective"] < 4
    assert "a few of the voters gave most of the verdicts" in standings.answer[-1]
    even = podium.rank(votes_with_a_busy_voter(share=0.05), ranker).standings[0]
    assert "busy-raters" not in [each.code for each in even.warnings]


@pytest.mark.parametrize("measure", ["elo", "win-rate"])
def test_no_further_items_are_named_if_one_voter_gave_most_votes(measure):
    table = votes_with_a_busy_voter(share=0.6)
    compared = podium.compare(table, "m1", "m0", measure=measure)
    assert compared.findings[0].further_items is None
    assert "a few of the voters gave most of the verdicts" in compared.answer[-1]
