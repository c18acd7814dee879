"""Tests of a difference: against scipy, published formulas, and worlds without one."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

from podium.rankers.errors.difference import (
    DifferenceTest,
    flip_tails,
    paired_difference,
    score_tails,
)
from podium.rankers.errors.elo_difference import elo_difference
from podium.rankers.errors.rate_difference import RateTests
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.fit.scale import POINTS

WORLDS = 1_000


def test_from_30_items_on_the_test_of_symmetric_differences_is_scipys_t_test():
    """Without skewness there is nothing to correct."""
    half = np.random.default_rng(1).normal(0, 1, 75)
    differences = 0.1 + np.concatenate([half, -half])
    found, theirs = paired_difference(differences), stats.ttest_1samp(differences, 0)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert found.interval(0.9) == pytest.approx(tuple(theirs.confidence_interval(0.9)), abs=1e-7)
    assert found.p_above(0.05) == pytest.approx(
        stats.ttest_1samp(differences, 0.05, alternative="greater").pvalue
    )


LOSSES = {
    "losses on 3% of items": (
        lambda rng, n: np.where(rng.random(n) < 0.03, -1, 3 / 97) + rng.normal(0, 0.02, n),
        0.06,
    ),
    "lognormal losses": (lambda rng, n: np.exp(0.5) - rng.lognormal(size=n), 0.075),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("items", [100, 200])
def test_rare_large_losses_are_not_taken_for_gains(name: str, items: int):
    """1,000 worlds with a mean of 0; t alone takes the candidate for better in 9.7 to 18.3% of
    10,000."""
    draw, most = LOSSES[name]
    rng = np.random.default_rng([30, items])
    found = [paired_difference(draw(rng, items)) for _ in range(WORLDS)]
    assert np.mean([own.p_above() <= 0.05 for own in found]) <= most
    assert np.mean([own.p_value <= 0.05 for own in found]) <= 0.075


@pytest.mark.parametrize("items", [20, 40, 100, 500])
def test_rarest_difference_is_sampled_with_the_stated_probability(items: int):
    """The binomial probability that none of the items has it."""
    differences = np.random.default_rng(6).normal(size=items)
    rarest = paired_difference(differences).rarest_seen()
    assert (
        stats.binom.pmf(0, items, 1 / rarest) <= 0.05 < stats.binom.pmf(0, items, 1 / (rarest + 1))
    )
    assert paired_difference(np.sign(differences), 1.0).rarest_seen() is None


def test_sign_flips_are_scipys_exact_permutation_test():
    values = np.random.default_rng(2).normal(0.4, 1, 12)
    theirs = stats.permutation_test(
        (values,), np.sum, permutation_type="samples", n_resamples=np.inf
    )
    assert 2 * min(flip_tails(values)) == pytest.approx(theirs.pvalue)
    assert flip_tails(np.zeros(4)) == (1.0, 1.0)
    assert flip_tails(np.array([0.1, 0.2, 0.3, 0.0]))[0] == 1 / 8


def test_two_valued_scores_are_tested_by_mcnemars_exact_test():
    differences = np.repeat([1.0, -1.0, 0.0], [9, 2, 30])
    assert paired_difference(differences, 1.0).p_value == pytest.approx(
        stats.binomtest(9, 11).pvalue
    )


def sign_tests(items):
    """Return wins, losses and ties of all records of items, shape (records, 3), and podium's tests
    of them."""
    won, lost = np.indices((items + 1, items + 1)).reshape(2, -1)
    possible = won + lost <= items
    records = np.stack([won, lost, items - won - lost], axis=1)[possible]
    return records, [
        paired_difference(np.repeat([1.0, -1.0, 0.0], record), 1.0) for record in records
    ]


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("items", [7, 20, 50])
def test_right_or_wrong_scores_are_found_to_differ_at_most_as_often_as_the_level(items):
    """Enumerated, at any share of differing items; of 50 that all differ, mid-p McNemar says so in
    6.5% at 5%."""
    records, tests = sign_tests(items)
    above = np.array([test.p_above() for test in tests])
    either = np.array([test.p_value for test in tests])
    for differing in [*np.arange(0.02, 1, 0.02), 1.0]:
        chance = stats.multinomial.pmf(
            records, items, [differing / 2, differing / 2, 1 - differing]
        )
        assert chance.sum() == pytest.approx(1)
        for level in (0.05, 0.0025):
            assert chance[above <= level].sum() <= level
            assert chance[either <= level].sum() <= level


def test_one_sided_p_values_of_right_or_wrong_scores_are_scipys():
    records, tests = sign_tests(12)
    for (won, lost, _), test in zip(records, tests, strict=True):
        if won + lost:
            theirs = stats.binomtest(int(won), int(won + lost), alternative="greater")
            assert test.p_above() == pytest.approx(theirs.pvalue)
        else:
            assert test.p_above() == 1


def tango(won, lost, items, difference):
    """Return Tango's statistic (1998), transcribed: its variance at the share of losses that is
    likeliest."""
    a, b = 2 * items, -won - lost + (2 * items - won + lost) * difference
    c = -lost * difference * (1 - difference)
    share = (np.sqrt(b**2 - 4 * a * c) - b) / (2 * a)
    return (won - lost - items * difference) / np.sqrt(
        items * (2 * share + difference * (1 - difference))
    )


@pytest.mark.parametrize(("won", "lost"), [(12, 0), (12, 5), (3, 9)])
def test_the_interval_of_paired_shares_is_tangos(won, lost):
    """The roots of a transcription of Tango's statistic, found by bisection."""
    z = stats.norm.isf(0.025)
    differences, value = (
        np.repeat([1.0, -1.0, 0.0], [won, lost, 100 - won - lost]),
        (won - lost) / 100,
    )
    low = optimize.brentq(lambda d: tango(won, lost, 100, d) - z, -0.5, value - 1e-9)
    high = optimize.brentq(lambda d: tango(won, lost, 100, d) + z, value + 1e-9, 0.9)
    assert paired_difference(differences, 1.0).interval(0.95) == pytest.approx(
        (low, high), abs=1e-6
    )


@pytest.mark.parametrize("items", [5, 54, 300])
def test_bounds_are_exact_where_no_item_differs_or_one_model_wins_all(items):
    """The bound of a share of which none, or all, of the items are: Clopper and Pearson's."""
    exact = stats.binomtest(items, items).proportion_ci(0.95, method="exact").low
    low, high = paired_difference(np.zeros(items), 1.0).interval(0.95)
    assert (low, high) == pytest.approx((exact - 1, 1 - exact), abs=1e-6)
    won = paired_difference(np.ones(items), 1.0)
    assert won.interval(0.95) == pytest.approx((2 * exact - 1, 1), abs=1e-6)
    lost = paired_difference(-np.ones(items), 1.0)
    assert lost.interval(0.95) == pytest.approx((-1, 1 - 2 * exact), abs=1e-6)
    weight = np.linspace(1, 3, items)
    weighted = paired_difference(np.ones(items), None, 1.0, weight)
    assert weighted.interval(0.95) == pytest.approx(won.interval(0.95))


@pytest.mark.parametrize(("won", "lost"), [(26, 4), (39, 1), (7, 5), (1, 19)])
def test_two_models_alone_have_one_test_of_elo_and_of_the_win_rate(won, lost):
    """Without ties, the interval is Wilson's, and the p-value binomial. The end beyond fewer than
    five wins or losses is Clopper and Pearson's."""
    credit = np.repeat([1.0, 0.0], [won, lost])
    items = won + lost
    codes = np.zeros(items, int)
    names = ("a", "b")
    coded = CodedBattles(
        codes, codes + 1, credit, np.ones(items), np.arange(items), items, "item", names
    )
    exact = stats.binomtest(won, items)
    wilson = exact.proportion_ci(0.95, method="wilson")
    clopper = exact.proportion_ci(0.95, method="exact")
    low = clopper.low if won < 5 else wilson.low
    high = clopper.high if lost < 5 else wilson.high
    shares = np.array([low, high])
    elo = elo_difference(coded, 0, 1)
    assert elo.p_value == pytest.approx(exact.pvalue)
    assert elo.interval(0.95) == pytest.approx(
        tuple(POINTS * np.log(shares / (1 - shares))), abs=1e-3
    )
    reverse = elo_difference(coded, 1, 0)
    assert reverse.interval(0.95) == pytest.approx(tuple(-np.array(elo.interval(0.95)))[::-1])
    rates = RateTests(coded).difference(0, 1)
    assert rates.interval(0.95) == pytest.approx(tuple(2 * shares - 1), abs=1e-6)
    assert rates.p_value == elo.p_value


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("items", [6, 20, 100])
@pytest.mark.parametrize("losses", [0.15, 0.5, 1.0, 1.5, 3.0])
def test_the_interval_of_few_losses_holds_the_truth(items, losses):
    """The coverage is the exact sum over the numbers of losses."""
    share = losses / items
    coverage = 0.0
    for lost in range(items + 1):
        differences = np.repeat([1.0, -1.0], [items - lost, lost])
        low, high = paired_difference(differences, 1.0).interval(0.95)
        if low - 1e-9 <= 1 - 2 * share <= high + 1e-9:
            coverage += stats.binom.pmf(lost, items, share)
    assert coverage > 0.94


def test_no_losses_are_tested_by_the_normal_score():
    tails = score_tails(12, 0, 100, 0.0)
    assert tails[0] == pytest.approx(stats.norm.sf(np.sqrt(12)))


@pytest.mark.slow
@pytest.mark.parametrize("items", [1, 2, 5, 29, 30, 60])
def test_an_interval_reaches_beyond_zero_just_where_the_test_does_not_tell(items):
    rng = np.random.default_rng(items)
    for _ in range(20):
        kinds = [
            paired_difference(rng.normal(0.5, 1, items)),
            paired_difference(rng.integers(-1, 2, items).astype(float), 1.0, 1.0),
            paired_difference(
                np.where(rng.random(items) < 0.2, rng.integers(-4, 5, items) / 4, 0.0), None, 1.0
            ),
        ]
        for found in kinds:
            low, high = found.interval(0.9)
            assert low <= found.value <= high
            reported = low >= 0 if found.value > 0 else high <= 0
            assert reported and low <= high if found.p_value <= 0.1 else low <= 0 <= high, found


def test_difference_is_unknown_with_at_most_one_differing_item():
    assert paired_difference(np.array([3.0])).p_value == 1
    assert paired_difference(np.array([3.0])).interval(0.95) == (-np.inf, np.inf)
    assert paired_difference(np.zeros(50)).interval(0.95) == (-np.inf, np.inf)
    assert paired_difference(np.zeros(50), None, 1.0).interval(0.95)[1] < 0.1


def test_swapping_the_two_turns_the_difference_around():
    for values in (
        np.random.default_rng(3).exponential(size=20) - 0.4,
        np.repeat([1.0, -1.0, 0.0], [7, 2, 9]),
    ):
        ahead, behind = (
            paired_difference(sign * values, 1.0 if values[0] == 1 else None) for sign in (1, -1)
        )
        assert behind.p_value == pytest.approx(ahead.p_value)
        assert behind.interval(0.9) == pytest.approx(
            tuple(-end for end in reversed(ahead.interval(0.9))), abs=1e-6
        )


def battles_of(rng, items, models, *, gap=0.0, met=True, orders=2, soft=False):
    """Draw a round robin of which the first two are alike, unless there is a gap; items move each
    by a logit."""
    strengths = np.append([gap, 0.0], rng.normal(size=models - 2))
    a, b = np.triu_indices(models, 1)
    kept = (a > 0) | (b > 1) | met
    a, b = a[kept], b[kept]
    own = rng.normal(size=(items, models))
    margin = (strengths[a] - strengths[b]) + own[:, a] - own[:, b]
    credit = np.mean([margin + rng.logistic(size=margin.shape) > 0 for _ in range(orders)], axis=0)
    credit = 1 / (1 + np.exp(-margin)) if soft else credit
    item = np.repeat(np.arange(items), len(a))
    names = tuple(f"m{k}" for k in range(models))
    weight = np.ones(credit.size)
    return CodedBattles(
        np.tile(a, items), np.tile(b, items), credit.ravel(), weight, item, items, "item", names
    )


@pytest.mark.parametrize("soft", [False, True])
def test_elo_of_battles_between_two_is_the_t_test_of_their_mean_credit(soft):
    """Soft credits are symmetric, so that there is no skewness to correct."""
    coded = battles_of(np.random.default_rng(4), 80, 2, gap=0.4)
    if soft:
        half = np.random.default_rng(5).uniform(0, 0.35, 40)
        coded = replace(coded, credit=0.55 + np.concatenate([half, -half]))
    found = elo_difference(coded, 0, 1, regularization=0.0)
    theirs = stats.ttest_1samp(coded.credit, 0.5)
    assert found.p_value == pytest.approx(theirs.pvalue)
    ends = np.array(theirs.confidence_interval(0.95))
    test = stats.ttest_1samp(coded.credit, 0.55).pvalue
    assert 2 * min(found.tails(POINTS * np.log(0.55 / 0.45))) == pytest.approx(test)
    assert found.interval(0.95) == pytest.approx(
        tuple(POINTS * np.log(ends / (1 - ends))), abs=1e-3
    )


@pytest.mark.parametrize(("won", "items"), [(3, 20), (5, 100), (6, 7)])
def test_few_differing_items_bound_a_loss_no_better_than_the_conditional_test(won, items):
    """Given the items that differ, wins are binomial: no jump of the p-value at a difference of
    0."""
    differences = np.repeat([1.0, 0.0], [won, items - won])
    test = paired_difference(differences, 1.0, 1.0)
    exact = stats.binomtest(won, won, alternative="greater").pvalue
    assert test.p_above(-1e-9) == pytest.approx(exact, rel=1e-4)
    share = stats.binomtest(won, won).proportion_ci(0.95, method="exact").low
    assert test.interval(0.95)[0] == pytest.approx((2 * share - 1) * won / items, abs=1e-6)


def test_equal_credits_of_both_orders_have_an_exact_bound():
    """Of n items that all have a credit of 0.75, others are at most 1 - 0.025^(1/n) of all."""
    codes = np.zeros(12, int)
    coded = CodedBattles(
        codes, codes + 1, np.full(12, 0.75), np.ones(12), np.arange(12), 12, "item", ("a", "b")
    )
    low, high = RateTests(coded).difference(0, 1).interval(0.95)
    others = 1 - 0.025 ** (1 / 12)
    assert low == pytest.approx(0.5 * (1 - others) - others, abs=1e-6)
    assert high == pytest.approx(0.5 * (1 - others) + others, abs=1e-6)


def test_a_model_that_never_lost_has_a_lower_bound_only():
    """Ten of ten battles: the exact binomial bound of the share is .692 (Clopper and Pearson),
    which is 140 Elo."""
    coded = battles_of(np.random.default_rng(5), 10, 2, gap=40.0)
    found = elo_difference(coded, 0, 1)
    low, high = found.interval(0.95)
    assert found.value == high == np.inf
    assert found.p_value == pytest.approx(2 / 2**10)
    assert low == pytest.approx(140, abs=2)


@pytest.mark.parametrize("won", [20, 13])
@pytest.mark.parametrize("apart", [0, 20])
def test_undefeated_models_with_the_same_record_are_level(won: int, apart: int):
    """Rounding puts one ahead by twenty contributions of one sign, which a sign test would call a
    difference."""
    credit, own = np.tile(np.arange(20) < won, 2) * 1.0, np.repeat([0, 1], 20)
    item = np.tile(np.arange(20), 2) + apart * own
    coded = CodedBattles(
        own, np.full(40, 2), credit, np.ones(40), item, 20 + apart, "item", ("a", "b", "c")
    )
    for pair in ((0, 1), (1, 0)):
        found = elo_difference(coded, *pair)
        assert (found.value, found.p_value) == (0.0, 1.0)


METRICS = {
    "accuracy .9, 5 items": (
        5,
        lambda rng, n: ((rng.random(n) < 0.9).astype(float) - (rng.random(n) < 0.9), 1.0),
    ),
    "accuracy .9, 20 items": (
        20,
        lambda rng, n: ((rng.random(n) < 0.9).astype(float) - (rng.random(n) < 0.9), 1.0),
    ),
    "accuracy .5, 200 items": (
        200,
        lambda rng, n: ((rng.random(n) < 0.5).astype(float) - (rng.random(n) < 0.5), 1.0),
    ),
    "normal, 10 items": (10, lambda rng, n: (rng.normal(size=n), None)),
    "normal, 30 items": (30, lambda rng, n: (rng.normal(size=n), None)),
    "normal, 100 items": (100, lambda rng, n: (rng.normal(size=n), None)),
    "beta against beta, 100 items": (
        100,
        lambda rng, n: (rng.beta(0.5, 0.5, n) - rng.beta(5, 5, n), None),
    ),
    "normal, 300 items": (300, lambda rng, n: (rng.normal(size=n), None)),
    "one long tail, 10 items": (10, lambda rng, n: (rng.exponential(size=n) - 1, None)),
    "one long tail, 20 items": (20, lambda rng, n: (rng.exponential(size=n) - 1, None)),
    "one long tail, 40 items": (40, lambda rng, n: (rng.exponential(size=n) - 1, None)),
    "mostly even, 100 items": (
        100,
        lambda rng, n: (np.where(rng.random(n) < 0.2, rng.integers(-4, 5, n) / 4, 0), None),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", METRICS)
def test_false_alarms_on_metrics_are_at_most_what_is_promised(name):
    """1,000 worlds without a difference in the mean, seeds fixed: at most 7.5%, and at least 2.5%
    by t from 100."""
    items, draw = METRICS[name]
    rng = np.random.default_rng([18, items])
    found = [paired_difference(*draw(rng, items)) for _ in range(WORLDS)]
    share = np.mean([own.p_value <= 0.05 for own in found])
    assert share <= 0.075
    by_t = all(own.method.startswith("t test") for own in found)
    assert share >= 0.025 or not (by_t and items >= 100)


VERDICTS = {
    "two models, 10 items": {"items": 10, "models": 2},
    "two models, 30 items": {"items": 30, "models": 2},
    "two models, one order, 20 items": {"items": 20, "models": 2, "orders": 1},
    "two models, 100 items": {"items": 100, "models": 2},
    "four models, 20 items": {"items": 20, "models": 4},
    "four models, 100 items": {"items": 100, "models": 4},
    "soft credits, three models, 20 items": {"items": 20, "models": 3, "soft": True},
    "never met, four models, 60 items": {"items": 60, "models": 4, "met": False},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", VERDICTS)
def test_false_alarms_on_battles_are_at_most_what_is_promised(name):
    """As of metrics; two of the models are alike, and items move every model."""
    rng = np.random.default_rng([19, len(name)])
    found = [elo_difference(battles_of(rng, **VERDICTS[name]), 0, 1) for _ in range(WORLDS)]
    share = np.mean([own.p_value <= 0.05 for own in found])
    assert share <= 0.075
    assert share >= 0.025 or VERDICTS[name]["items"] < 100


@pytest.mark.slow
def test_a_t_test_that_took_battles_for_independent_would_alarm_too_often():
    """What the test above would say of a wrong variant: four battles an item, taken one by one."""
    rng, alarms = np.random.default_rng(20), 0
    for _ in range(WORLDS):
        credit = np.repeat(rng.normal(size=25), 4) + 0.3 * rng.normal(size=100)
        alarms += paired_difference(credit).p_value <= 0.05
    assert alarms / WORLDS > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("items", [12, 60, 150])
def test_intervals_cover_a_difference_as_often_as_they_say(items):
    """400 worlds of graded scores with a mean difference of 0.3: 95% intervals hold it in 92 to
    99%."""
    rng = np.random.default_rng([21, items])
    found = [paired_difference(rng.normal(0.3, 1, items)) for _ in range(400)]
    covers = [own.p_above(0.3) > 0.025 and own.p_below(0.3) > 0.025 for own in found]
    assert 0.92 <= np.mean(covers) <= 0.99


def test_an_unbounded_difference_is_no_difference_of_zero():
    nothing = DifferenceTest(0.0, 0, "none", lambda _: (1.0, 1.0))
    assert nothing.p_value == 1
    assert nothing.interval(0.95) == (-np.inf, np.inf)
