"""Analysis of variance against JuStRank's published one, statsmodels, and the coverage of its intervals."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy.special import ncfdtr

from podium import NotIdentifiedError
from podium.diagnosis.judges import CROSSED
from podium.diagnosis.variance import analyse, partial_interval

TABLE_2 = Path(__file__).with_name("justrank_table_2.csv")
"""Kendall's tau of 127 pipelines of LLM judges. Source: Gera et al. 2025 (JuStRank), table 2, without reward models."""


@pytest.fixture(scope="module")
def pipelines():
    return pd.read_csv(TABLE_2)


def of(frame, crossed=CROSSED, level=0.95):
    factors = {name: frame[name].tolist() for name in ("judge", "realization", "aggregation")}
    return analyse(frame["tau"].to_numpy(), factors, crossed, level)


def test_justranks_analysis_follows_from_its_table(pipelines):
    """Published (appendix D): partial eta squared 0.81, 0.51, 0.78 and 0.02; F 36.0, 26.6 and 10.1; p > 0.5.

    F of the judge model is 37.1 by sums of squares of type II, and 36.1 by type III, which the paper's SPSS uses;
    kendall_taus in the table have three decimals.
    """
    found = {one.name: one for one in of(pipelines).effects}
    assert round(found["judge"].partial, 2) == 0.81
    assert round(found["realization"].partial, 2) == 0.51
    assert round(found["judge x realization"].partial, 2) == 0.78
    assert round(found["aggregation"].partial, 2) == 0.02
    assert round(found["realization"].f, 1) == 26.6
    assert round(found["judge x realization"].f, 1) == 10.1
    assert found["judge"].f == pytest.approx(36.0, rel=0.035)
    assert max(found[name].p for name in ("judge", "realization", "judge x realization")) < 0.001
    assert found["aggregation"].p > 0.5


def test_main_effects_alone_would_not(pipelines):
    """Wrong variant: without the interplays the judge model has a partial share of 0.48, not 0.81."""
    found = {one.name: one for one in of(pipelines, crossed=()).effects}
    assert found["judge"].partial == pytest.approx(0.48, abs=0.01)


def test_type_ii_equals_statsmodels_on_an_unbalanced_design(pipelines):
    """Oracle: statsmodels anova_lm(typ=2)."""
    frame = pipelines.sample(100, random_state=1)
    terms = "C(judge) + C(realization) + C(aggregation)"
    theirs = sm.stats.anova_lm(smf.ols(f"tau ~ {terms}", frame).fit(), typ=2)
    ours = of(frame, crossed=())
    assert ours.residual == theirs.loc["Residual", "df"]
    for one in ours.effects:
        row = theirs.loc[f"C({one.name})"]
        assert (one.freedom, one.f, one.p) == pytest.approx((row["df"], row["F"], row["PR(>F)"]), rel=1e-8)


def test_shares_of_a_balanced_design_by_hand():
    """Values 0, 1, 2, 3.4 have the mean 1.6: rows 0.5 and 2.7 give 4.84, columns 1 and 2.2 give 1.44, 0.04 is left."""
    factors = {"judge": list("aabb"), "aggregation": list("xyxy")}
    found = analyse(np.array([0, 1, 2, 3.4]), factors, (), 0.95)
    assert [one.share for one in found.effects] == pytest.approx([4.84 / 6.32, 1.44 / 6.32])
    assert [one.partial for one in found.effects] == pytest.approx([4.84 / 4.88, 1.44 / 1.48])
    assert found.unexplained == pytest.approx(0.04 / 6.32)
    assert found.residual == 1


def test_ends_of_an_interval_put_f_at_the_tails():
    low, high = partial_interval(10.0, 3, 40, 0.95)
    for end, below in ((low, 0.975), (high, 0.025)):
        lean = end * (3 + 40 + 1) / (1 - end)
        assert ncfdtr(3, 40, lean, 10.0) == pytest.approx(below, abs=1e-8)
    assert partial_interval(0.1, 3, 40, 0.95)[0] == 0.0


def test_intervals_cover_true_shares():
    """400 draws of four groups of ten whose means differ; the truth is l / (l + n), l the sum of squared effects."""
    rng = np.random.default_rng(0)
    means = np.repeat([0.0, 0.3, 0.6, 1.0], 10)
    lean = float(np.sum((means - means.mean()) ** 2))
    truth, levels = lean / (lean + 40), [str(k) for k in range(4) for _ in range(10)]
    found = [analyse(means + rng.normal(size=40), {"judge": levels}, (), 0.95).effects[0] for _ in range(400)]
    assert np.mean([one.low <= truth <= one.high for one in found]) == pytest.approx(0.95, abs=0.025)
    assert np.mean([one.partial for one in found]) > 1.15 * truth


def test_without_an_effect_few_are_found():
    rng = np.random.default_rng(1)
    levels = {"judge": list("aaabbbccc"), "aggregation": list("xyzxyzxyz")}
    p = [analyse(rng.normal(size=9), levels, (), 0.95).effects[0].p for _ in range(400)]
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.025)


@pytest.mark.parametrize(
    ("values", "factors", "why"),
    [
        ([0.1, 0.2], {"judge": ["a", "a"]}, "no factor"),
        ([0.5, 0.5, 0.5], {"judge": ["a", "b", "b"]}, "all values are equal"),
        ([0.1, 0.5], {"judge": ["a", "b"]}, "nothing is left"),
    ],
)
def test_what_cannot_be_shared_out_is_said(values, factors, why):
    with pytest.raises(NotIdentifiedError, match=why):
        analyse(np.array(values), factors, (), 0.95)
