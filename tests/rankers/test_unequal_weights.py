"""Variances of weighted means of units with unequal weights, beside dense matrices."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import podium
from podium.rankers.fit.coded import centred_gram
from podium.rankers.fit.unequal_weights import effective_freedom, residual_factors


def shares(units, seed):
    weight = np.exp(np.random.default_rng(seed).normal(size=units))
    return weight / weight.sum()


@pytest.mark.parametrize("units", [2, 7, 40])
def test_equal_weights_have_the_usual_factor_and_degrees_of_freedom(units):
    share = np.full(units, 1 / units)
    assert residual_factors(share) ** 2 == pytest.approx(units / (units - 1))
    assert effective_freedom(share) == pytest.approx(units - 1)


@pytest.mark.parametrize("seed", range(3))
def test_factors_and_degrees_of_freedom_are_those_of_dense_matrices(seed):
    share = shares(15, seed)
    maker = np.eye(15) - share
    covariance = maker @ maker.T
    scale = share**2 / np.diag(covariance)
    assert residual_factors(share) ** 2 == pytest.approx(1 / np.diag(covariance))
    # The variance of a quadratic form of normal values is twice the trace of the square.
    expected = (scale @ np.diag(covariance)) ** 2 / (scale @ covariance**2 @ scale)
    assert effective_freedom(share) == pytest.approx(expected)
    assert effective_freedom(share) < 14


def test_variances_of_drawn_values_are_unbiased():
    share = shares(10, 0)
    values = np.random.default_rng(1).normal(size=(200_000, 10))
    mean = values @ share
    residuals = values - mean[:, None]
    variance = np.sum((share * residuals * residual_factors(share)) ** 2, axis=1)
    assert variance.mean() == pytest.approx(mean.var(), rel=0.02)


def test_a_unit_with_all_the_weight_has_no_variance():
    share = np.array([[1.0, 0.5], [0.0, 0.5]])
    assert residual_factors(share)[0].tolist() == pytest.approx([0, np.sqrt(2)])
    assert effective_freedom(share).tolist() == pytest.approx([0, 1])


def test_rows_of_several_blocks_are_centred_before_they_are_multiplied():
    rng = np.random.default_rng(2)
    rows = rng.normal(1, 1, (12, 3))
    factor = rng.uniform(0.5, 2, 12)
    centred = rows - rows.mean(axis=0)
    gram, number = centred_gram([rows[:5], rows[5:]], factor)
    assert number == 12
    assert gram == pytest.approx(centred.T @ np.diag(factor) @ centred)


def weighted_table(seed, items=30, models=4):
    """Return a round robin with scores on items whose weights are lognormal."""
    rng = np.random.default_rng(seed)
    rows = []
    for item, weight in enumerate(np.exp(rng.normal(0, 1, items))):
        score = rng.normal(np.linspace(0.9, -0.9, models), 1.0)
        for a, b in combinations(range(models), 2):
            won = float(rng.random() < 1 / (1 + np.exp(score[b] - score[a])))
            rows.append((f"q{item:02}", f"m{a}", f"m{b}", won, score[a], score[b], weight))
    columns = ["item", "model_a", "model_b", "credit", "score_a", "score_b", "weight"]
    return pd.DataFrame(rows, columns=columns)


@pytest.mark.fast_cases(1)
@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("ranker", "options", "measure"),
    [
        ("bradley-terry", {}, "elo"),
        ("bradley-terry", {"interval": "bootstrap", "resamples": 200}, "elo"),
        ("mean", {}, "score"),
        ("mean", {"interval": "bootstrap", "resamples": 200}, "score"),
    ],
)
def test_rankings_of_unequal_weights_claim_what_comparisons_claim(seed, ranker, options, measure):
    table = weighted_table(seed)
    separation = podium.rank(table, ranker, **options).standings[0].separation
    place = {name: k for k, name in enumerate(separation.names)}
    for a, b in combinations(sorted(place), 2):
        found = podium.compare(a, b, table, measure=measure).findings[0]
        is_claimed = place[b] in separation.beats[place[a]] or (
            place[a] in separation.beats[place[b]]
        )
        assert is_claimed == (found.p_if_chosen <= 0.05)


def test_the_lead_of_the_first_is_measured_in_its_standard_error():
    """One item of weight 2 among 40 is not enough for weights to count as unequal."""
    table = weighted_table(0, items=40).assign(weight=1.0)
    table.loc[table["item"] == "q00", "weight"] = 2.0
    standings = podium.rank(table, "mean").standings[0]
    first, second = (entry.model for entry in standings.entries[:2])
    by_item = {}
    for model in (first, second):
        as_a = table[table["model_a"] == model].set_index("item")["score_a"]
        as_b = table[table["model_b"] == model].set_index("item")["score_b"]
        by_item[model] = pd.concat([as_a, as_b]).groupby(level=0).first()
    weight = table.groupby("item")["weight"].first()
    share = (weight / weight.sum()).to_numpy()
    difference = (by_item[first] - by_item[second]).to_numpy()
    gap = share @ difference
    maker = np.eye(len(share)) - share
    error = np.sqrt(share**2 @ ((difference - gap) ** 2 / np.diag(maker @ maker.T)))
    assert standings.separation.gap == pytest.approx(gap)
    assert standings.separation.z == pytest.approx(gap / error)
