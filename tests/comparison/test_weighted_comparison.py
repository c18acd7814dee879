"""Weights in a comparison: the Elo difference, the win rate, the scores and the tally say the
same."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import podium as api


def table_of(credit: np.ndarray, weight: np.ndarray) -> pd.DataFrame:
    items = [f"q{k:03d}" for k in range(len(credit))]
    return pd.DataFrame(
        {"item": items, "model_a": "x", "model_b": "y", "credit": credit, "weight": weight}
    )


def wins_of_weight_nine() -> pd.DataFrame:
    """Return 50 wins of weight 9 and 50 losses of weight 1."""
    won = np.repeat([1.0, 0.0], 50)
    return table_of(won, 1 + 8 * won)


def test_elo_and_win_rate_of_weighted_verdicts_agree():
    finding = api.compare("x", "y", wins_of_weight_nine()).findings[0]
    elo, rate = (finding.differences[name] for name in ("elo", "win-rate"))
    assert rate.value == pytest.approx(0.4)
    assert elo.value == pytest.approx(400 * np.log10(0.9 / 0.1), abs=0.2)
    # The ends of both intervals are the same win rates.
    ends = 1 / (1 + 10 ** (-np.array(elo.interval(0.95)) / 400)) - 0.5
    assert rate.interval(0.95) == pytest.approx(tuple(ends), abs=0.01)


def test_the_weighted_tally_stands_beside_the_items():
    comparison = api.compare("x", "y", wins_of_weight_nine())
    finding = comparison.findings[0]
    assert finding.tally == (50, 50, 0)
    assert comparison.answer[1] == "50 wins, 50 losses, 0 ties by item (by weight 450, 50, 0)."
    assert finding.to_dict()["by_weight"] == {"wins": 450, "losses": 50, "even": 0}
    assert "450–50–0" in str(comparison)
    assert "90.0% (" in str(comparison)


def test_verdicts_of_one_weight_have_no_weighted_tally():
    finding = api.compare("x", "y", wins_of_weight_nine().assign(weight=3.0)).findings[0]
    assert finding.tally_by_weight is None
    assert "weight" not in finding.to_dict()["item_results"][0]
    methods = {difference.method for difference in finding.differences.values()}
    assert methods == {"t test, paired by item"}


def scored(seed: int, items: int = 80) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return scores of two models with weights, the differences, and the weights."""
    rng = np.random.default_rng(seed)
    gain, weight = rng.normal(0.3, 1, items), rng.uniform(0.5, 3, items)
    old = rng.normal(size=items)
    names = [f"q{k:03d}" for k in range(items)]
    both = [
        pd.DataFrame({"item": names, "model": name, "score": score, "weight": weight})
        for name, score in (("new", old + gain), ("old", old))
    ]
    return pd.concat(both), gain, weight


@pytest.mark.slow
def test_weighted_scores_are_tested_by_items_times_their_weights():
    table, gain, weight = scored(60)
    finding = api.compare("new", "old", table).findings[0]
    assert finding.difference.method == "t test, paired by item, weighted"
    assert finding.difference.value == pytest.approx(np.average(gain, weights=weight))
    assert finding.difference.p_value == pytest.approx(stats.ttest_1samp(weight * gain, 0).pvalue)
    ours, theirs = finding.scores
    assert ours - theirs == pytest.approx(finding.difference.value)


@pytest.mark.slow
def test_the_interval_of_weighted_scores_is_near_that_of_a_weighted_regression():
    """A score test and a Wald test differ by terms of the order of one over the number of items."""
    table, gain, weight = scored(61, items=400)
    low, high = api.compare("new", "old", table).findings[0].interval
    fit = sm.WLS(gain, np.ones(len(gain)), weights=weight).fit(cov_type="HC1", use_t=True)
    assert (low, high) == pytest.approx(tuple(fit.conf_int()[0]), abs=0.01)


@pytest.mark.slow
def test_few_weighted_items_are_tested_by_sign_flips_of_what_they_contribute():
    table = table_of(np.array([1.0, 1, 1, 1, 1, 1, 0, 0]), np.array([5.0, 4, 3, 2, 2, 1, 1, 1]))
    finding = api.compare("x", "y", table, measure="win-rate").findings[0]
    contributions = (table["credit"] - 0.5) * table["weight"]
    how = {"permutation_type": "samples", "n_resamples": np.inf}
    theirs = stats.permutation_test((contributions.to_numpy(),), np.sum, **how).pvalue
    assert finding.difference.method == "sign flips, paired by item, weighted"
    assert finding.difference.p_value == pytest.approx(theirs)


@pytest.mark.slow
def test_weighted_equal_models_are_found_different_in_a_twentieth_of_the_worlds():
    """600 worlds of 60 items with weights from 1 to 9: between 2 and 8%."""
    rng, found = np.random.default_rng(62), 0
    for _ in range(600):
        credit, weight = rng.integers(0, 2, 60) * 1.0, rng.uniform(1, 9, 60)
        found += stats_p(credit, weight) <= 0.05
    assert 0.02 <= found / 600 <= 0.08


def stats_p(credit: np.ndarray, weight: np.ndarray) -> float:
    from podium.rankers.errors.difference import paired_difference

    return paired_difference(credit - 0.5, 0.5, 0.5, weight).p_value


@pytest.mark.slow
def test_a_gate_on_weighted_verdicts_uses_the_weights():
    met = api.compare("x", "y", wins_of_weight_nine(), require="not-worse=2points")
    assert met.gate.verdict == "PASS"
    assert (
        api.compare(
            "x", "y", wins_of_weight_nine().drop(columns="weight"), require="better"
        ).gate.exit_code
        == 5
    )


def repeated_battles() -> pd.DataFrame:
    """Return battles of two models, one to three on an item, won more often where there are
    more."""
    rng = np.random.default_rng(2)
    rows = []
    for item in range(40):
        number = 1 + item % 3
        won = rng.random(number) < (0.8 if number == 3 else 0.4)
        rows += [(f"q{item}", "x", "y", float(one), f"j{k}") for k, one in enumerate(won)]
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "judge"])


@pytest.mark.slow
def test_items_with_several_battles_count_as_in_a_ranking():
    table = repeated_battles()
    share = table["credit"].mean()
    assert table.groupby("item")["credit"].mean().mean() != pytest.approx(share, abs=0.01)
    [finding] = api.compare("x", "y", table, measure="win-rate", pool=True).findings
    assert finding.difference.value == pytest.approx(share - 0.5)
    assert finding.tally_by_weight is None, "no row has a weight"
    [standings] = api.rank(table, "win-rate", pool=True).standings
    entry = next(entry for entry in standings.entries if entry.model == "x")
    assert entry.score == pytest.approx(share)
    low, high = finding.interval
    assert (entry.low, entry.high) == pytest.approx((0.5 + low, 0.5 + high))
    assert standings.separation.gap == pytest.approx(2 * abs(share - 0.5))
