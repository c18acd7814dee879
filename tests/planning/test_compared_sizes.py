"""How many items a comparison needs: closed forms, scipy's power, and the power of the tests in
simulations."""

import numpy as np
import pytest
from scipy.stats import binomtest, multinomial, norm
from statsmodels.stats.power import TTestPower

from podium.errors import UsageError
from podium.planning.compared_sizes import compared_size, sign_power
from podium.planning.plan_report import select_reports
from podium.planning.planner import make_plan
from podium.planning.sample_size import smallest_number
from podium.rankers.errors.difference import paired_difference
from podium.rankers.errors.elo_difference import elo_difference
from podium.rankers.fit.coded import CodedBattles

SIZES = {
    "3points, right or wrong": {"difference": "3points", "disagree": 0.15},
    "0.1 of a graded metric": {"difference": "0.1", "spread": 0.4},
    "40 Elo, 20% ties": {"difference": "40elo"},
}


def test_the_power_of_the_t_test_is_statsmodels():
    size = compared_size("0.1", ties=0.2, spread=0.4)
    theirs = TTestPower().power(0.1 / 0.4, size.items, 0.05, alternative="two-sided")
    assert size.power == pytest.approx(theirs, abs=1e-3)
    assert TTestPower().power(0.1 / 0.4, size.items - 1, 0.05) < 0.8 <= size.power


def test_the_items_of_the_sign_test_are_near_the_closed_form():
    """Connor 1987: n = ((z_a sqrt(psi) + z_b sqrt(psi - d^2)) / d)^2; the exact test takes some
    more."""
    size = compared_size("3points", ties=0.2, disagree=0.15)
    a, b = norm.isf(0.025), norm.isf(0.2)
    closed = ((a * np.sqrt(0.15) + b * np.sqrt(0.15 - 0.03**2)) / 0.03) ** 2
    assert 1 <= size.items / closed < 1.08


@pytest.mark.slow
@pytest.mark.parametrize(("difference", "disagree"), [(0.1, 0.15), (0.1, 0.4), (0.2, 0.2)])
def test_the_power_of_the_sign_test_is_that_of_an_enumeration(difference, disagree):
    """The probability of all wins and losses of 60 items that scipy's binomial test calls a
    gain."""
    shares = [(disagree + difference) / 2, (disagree - difference) / 2, 1 - disagree]
    found = 0.0
    for won in range(1, 61):
        for lost in range(min(won, 61 - won)):
            if binomtest(won, won + lost).pvalue <= 0.05:
                found += multinomial.pmf([won, lost, 60 - won - lost], 60, shares)
    assert sign_power(difference, disagree, 0.95, 60) == pytest.approx(found, abs=1e-8)


def drawn(name, rng, items):
    """Draw a record in which the difference is as planned, and test it."""
    if name.startswith("3points"):
        return paired_difference(rng.choice([1.0, -1.0, 0.0], items, p=[0.09, 0.06, 0.85]), 1.0)
    if name.startswith("0.1"):
        return paired_difference(rng.normal(0.1, 0.4, items))
    gain = 1 / (1 + 10 ** (-40 / 400)) - 0.5
    credit = rng.choice([1.0, 0.5, 0.0], items, p=[0.4 + gain, 0.2, 0.4 - gain])
    zeros = np.zeros(items, dtype=np.int64)
    coded = CodedBattles(
        zeros, zeros + 1, credit, np.ones(items), np.arange(items), items, "item", ("a", "b")
    )
    return elo_difference(coded, 0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_the_tests_of_compare_have_the_power_that_plan_promises(name):
    """1,000 worlds with the planned difference, seeds fixed: detected with the promised power, to
    Monte Carlo error."""
    size = compared_size(ties=0.2, **SIZES[name])
    rng = np.random.default_rng([18, size.items])
    found = [drawn(name, rng, size.items) for _ in range(1_000)]
    reported = np.mean([own.p_value <= 0.05 and own.value > 0 for own in found])
    assert reported == pytest.approx(size.power, abs=0.035)
    assert size.power == pytest.approx(0.8, abs=0.01)


def test_a_plan_for_a_difference_needs_no_models_and_says_the_items():
    plan = make_plan(difference="2points", disagree=0.1)
    assert plan.compared.items == compared_size("2points", ties=0.15, disagree=0.1).items
    assert plan.to_dict()["plan"]["compared"]["test"] == "exact sign test"
    [report] = select_reports(plan, None, full=False)
    assert report.answer[0].startswith(f"Compare on {plan.compared.items:,} items")
    assert not any(section.tables for section in report.sections)


@pytest.mark.parametrize("number", [2, 3, 524_289, 700_000, 1_000_000])
def test_all_numbers_up_to_the_largest_one_are_searched(number):
    assert smallest_number(lambda items: items >= number, 1_000_000) == number
    assert smallest_number(lambda items: items >= number, number) == number
    assert number == 2 or smallest_number(lambda items: items >= number, number - 1) is None


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"difference": "2"}, "2 has no unit"),
        ({"difference": "0points"}, "above 0"),
        ({"difference": "2points"}, "give either --disagree"),
        ({"difference": "20points", "disagree": 0.1}, "must lie between the difference"),
        ({"difference": "2points", "disagree": 0.1, "spread": 1.0}, "give either --disagree"),
        ({"difference": "900elo"}, "no model can be that far ahead"),
        ({"disagree": 0.1, "models": 3}, "describe a difference: give it"),
    ],
)
def test_a_difference_that_cannot_be_planned_for_is_rejected(options, complaint):
    with pytest.raises(UsageError, match=complaint):
        make_plan(**options)
