"""Hard and soft non-transitivity on single items: every case by hand, closed forms, oracles and
coverage."""

from itertools import permutations, product
from math import comb, log

import numpy as np
import pandas as pd
import pytest
from correlated_verdicts import by_strength, covers, strengths, verdicts
from scipy.spatial.distance import jensenshannon
from scipy.special import expit

from podium import Judge, read_battles, simulate
from podium.diagnosis.figures import Missing, Statistic, as_dict
from podium.diagnosis.transitivity import (
    CLIP,
    chance_of_no_order,
    deviation,
    divergence,
    outcomes,
    transitivity,
)

CREDIT = {">": 1.0, "~": 0.5, "<": 0.0}
NON_TRANSITIVE = (
    ">>~",
    ">><",
    ">~~",
    ">~<",
    "~>~",
    "~><",
    "~~>",
    "~~<",
    "~<>",
    "~<~",
    "<~>",
    "<~~",
    "<<>",
    "<<~",
)
"""A against B, B against C, A against C. Source: Xu et al. 2025, appendix B.1, its two misprints
corrected."""
MISPRINTED = ("<>>", "<>~")
"""What the appendix prints for `<~>` and `<~~`; both are orders: B before A before C, and B before
A and C level."""


def triple(pattern, item="i"):
    pairs = (("A", "B"), ("B", "C"), ("A", "C"))
    return [(item, a, b, CREDIT[sign]) for (a, b), sign in zip(pairs, pattern, strict=True)]


def table(rows, columns="item model_a model_b credit", **options):
    return read_battles(pd.DataFrame(rows, columns=columns.split()), **options)


def pnt(battles, **options):
    found = transitivity(battles, **options).hard
    assert isinstance(found, Statistic)
    return found.value


@pytest.mark.slow
@pytest.mark.parametrize("pattern", NON_TRANSITIVE)
def test_each_of_the_14_non_transitive_cases_is_one(pattern):
    assert pnt(table(triple(pattern))) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern", sorted({"".join(p) for p in product(">~<", repeat=3)} - set(NON_TRANSITIVE))
)
def test_each_of_the_13_other_cases_is_transitive(pattern):
    assert pnt(table(triple(pattern))) == 0.0


@pytest.mark.slow
def test_the_misprinted_cases_would_fail():
    """Wrong variant: the list as the appendix prints it calls two orders non-transitive and misses
    two of the 14."""
    printed = (set(NON_TRANSITIVE) - {"<~>", "<~~"}) | set(MISPRINTED)
    wrong = [pattern for pattern in printed if pnt(table(triple(pattern))) != 1.0]
    assert sorted(wrong) == sorted(MISPRINTED)


def test_ties_reach_from_0_475_to_0_525_inclusive():
    credits = np.array([0.475, 0.525, 0.4749, 0.5251, 0.475 - 1e-9])
    assert outcomes(credits).tolist() == [1, 1, 0, 2, 0]
    exclusive = np.abs(credits - 0.5) < 0.025
    assert exclusive.tolist() != [True, True, False, False, False]


@pytest.mark.slow
def test_pnt_pools_triples_and_items_and_leaves_incomplete_triples_out():
    """Two of three complete triples are broken; the fourth lacks a verdict and the fifth is
    unparsed."""
    rows = [
        *triple(">><", "1"),
        *triple("~~>", "2"),
        *triple(">>>", "3"),
        *triple(">>>", "4")[:2],
        *triple(">>>", "5"),
    ]
    rows[-1] = (*rows[-1][:3], np.nan)
    found = transitivity(table(rows)).hard
    assert (found.value, found.n, found.clusters) == (2 / 3, 3, 3)
    unparsed_as_ties = 4 / 5
    assert found.value != unparsed_as_ties


def by_loops(battles, tie=0.025):
    """Return broken and complete (triple, item) by plain loops over averaged credits and all
    possible ranks."""
    credit = {}
    for row in battles.table[battles.readable].itertuples():
        credit.setdefault((row.item, row.model_a, row.model_b), []).append(row.credit)
        credit.setdefault((row.item, row.model_b, row.model_a), []).append(1 - row.credit)
    mean = {key: sum(values) / len(values) for key, values in credit.items()}
    broken = complete = 0
    models = sorted(battles.models)
    for item in {key[0] for key in mean}:
        for a in models:
            for b in models:
                for c in models:
                    edges = [mean.get((item, *edge)) for edge in ((a, b), (b, c), (a, c))]
                    if not a < b < c or None in edges:
                        continue
                    signs = [
                        0 if abs(one - 0.5) <= tie + 1e-12 else (1 if one > 0.5 else -1)
                        for one in edges
                    ]
                    orders = product(range(3), repeat=3)
                    fits = any(
                        signs == [np.sign(y - x), np.sign(z - y), np.sign(z - x)]
                        for x, y, z in orders
                    )
                    broken, complete = broken + (not fits), complete + 1
    return broken, complete


@pytest.mark.slow
def test_pnt_equals_plain_loops_with_gaps_repeats_and_ties():
    battles = simulate(5, 12, seed=3).battles(Judge(tie=0.6, unparsed=0.1), repeats=2)
    broken, complete = by_loops(battles)
    found = transitivity(battles).hard
    assert (found.value, found.n) == (broken / complete, complete)


@pytest.mark.slow
def test_triples_do_not_depend_on_names_row_order_or_response_order():
    battles = simulate(5, 20, seed=1).battles(Judge(tie=0.4)).to_frame().drop(columns=["margin"])
    turned = battles.rename(columns={"model_a": "model_b", "model_b": "model_a"}).assign(
        credit=1 - battles["credit"]
    )
    renamed = turned.sample(frac=1, random_state=0)
    renamed[["model_a", "model_b"]] = renamed[["model_a", "model_b"]].replace("model-01", "zz")
    first, second = (transitivity(read_battles(one)) for one in (battles, renamed))
    assert first.hard == second.hard
    assert [one.hard for one in first.scenarios] == [one.hard for one in second.scenarios]


def test_sntd_of_perfectly_transitive_triples_is_0():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(0, 3, (3, 1000))
    assert deviation(expit(a - b), expit(b - c), expit(a - c)) == pytest.approx(
        np.zeros(1000), abs=1e-12
    )
    not_antisymmetric = deviation(expit(a - b), expit(b - c), expit(c - a))
    assert not_antisymmetric.max() > 0.1


def test_sntd_in_closed_form():
    """Level, level and 4 to 1: each credit is off by ln 4, so all three divergences are that of 0.5
    and 0.8.

    h(0.65) - (h(0.5) + h(0.8)) / 2 with h(p) = -p ln p - (1 - p) ln(1 - p).
    """

    def h(p):
        return -p * log(p) - (1 - p) * log(1 - p)

    truth = h(0.65) - (h(0.5) + h(0.8)) / 2
    found = float(deviation(0.5, 0.5, 0.8))
    assert found == pytest.approx(truth, abs=1e-12)
    for wrong in (truth / log(2), np.sqrt(truth), 3 * truth):
        assert found != pytest.approx(wrong, rel=0.01)


def test_divergences_equal_scipys_squared_distance():
    """Oracle: scipy.spatial.distance.jensenshannon, natural logarithm, which returns the root."""
    p, q = np.random.default_rng(1).uniform(0.001, 0.999, (2, 200))
    theirs = jensenshannon(np.stack([p, 1 - p]), np.stack([q, 1 - q])) ** 2
    assert divergence(p, q) == pytest.approx(theirs, abs=1e-12)


def test_sntd_is_the_same_for_every_order_of_the_three():
    rng = np.random.default_rng(2)
    for _ in range(20):
        gap = np.triu(rng.normal(0, 2, (3, 3)), 1)
        credit = expit(gap - gap.T)
        found = [
            float(deviation(credit[a, b], credit[b, c], credit[a, c]))
            for a, b, c in permutations(range(3))
        ]
        assert found == pytest.approx([found[0]] * 6, abs=1e-12)


def test_sntd_is_largest_for_a_ring_of_certain_verdicts():
    """Certain verdicts are off by three times their log-odds: each divergence is all but ln 2."""
    assert float(deviation(1.0, 1.0, 0.0)) == pytest.approx(log(2), abs=1e-4)
    assert float(deviation(1.0, 1.0, 0.0)) == float(deviation(1 - CLIP / 2, 1.0, CLIP / 3))


def test_sntd_over_items_is_the_mean_over_triples_and_items():
    battles = verdicts(by_strength(strengths(4)), 7, seed=0, soft=1.0)
    credit = {
        (row.item, row.model_a, row.model_b): row.credit for row in battles.table.itertuples()
    }
    items, models = sorted(set(battles.table["item"])), sorted(battles.models)
    each = [
        float(deviation(credit[i, a, b], credit[i, b, c], credit[i, a, c]))
        for i in items
        for a in models
        for b in models
        for c in models
        if a < b < c
    ]
    found = transitivity(battles)
    assert found.soft.value == pytest.approx(np.mean(each), abs=1e-12)
    assert found.soft.n == len(each) == 7 * comb(4, 3)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("credits", [(0, 0.5, 1), (0, 0.25, 0.5, 0.75, 1)])
def test_sntd_of_hard_verdicts_is_unknown_with_a_reason(credits):
    battles = verdicts(by_strength(strengths(4)), 30, seed=0)
    coarse = battles.to_frame().assign(credit=np.random.default_rng(0).choice(credits, 180))
    stated = transitivity(read_battles(coarse)).soft
    assert isinstance(stated, Missing)
    assert "clip" in stated.why


@pytest.mark.slow
def test_triples_separate_consistent_and_ambiguous_items():
    """Item 1 holds in both orders and is transitive; on item 2 one pair flips, and its tie breaks
    the order."""
    rows = []
    for item, flipped in (("1", False), ("2", True)):
        for a, b in (("A", "B"), ("B", "C"), ("A", "C")):
            flip = flipped and (a, b) == ("A", "C")
            rows += [(item, a, b, "ab", 1.0), (item, a, b, "ba", 0.0 if flip else 1.0)]
    found = transitivity(table(rows, "item model_a model_b order credit"))
    assert (found.consistent.hard.value, found.ambiguous.hard.value) == (0.0, 1.0)
    assert (found.consistent_share.value, found.consistent_share.n) == (0.5, 2)
    whole = found.hard.value
    assert whole not in (found.consistent.hard.value, found.ambiguous.hard.value)


def test_without_both_orders_nothing_is_called_consistent():
    found = transitivity(table(triple(">>>")))
    assert isinstance(found.consistent, Missing)
    assert isinstance(found.consistent_share, Missing)


@pytest.mark.slow
def test_gaps_in_strength_name_the_leads(monkeypatch):
    """Win rates of A, B, C: 1, 0.5 and 0, so both gaps are leads; a lead of more than all is a
    margin."""
    battles = table([*triple(">>>", "1"), *triple(">>>", "2")])
    for lead, scenario in ((0.4, "lead, lead"), (0.6, "margin, margin")):
        monkeypatch.setattr("podium.diagnosis.transitivity.SMALLEST_LEAD", lead)
        found = transitivity(battles)
        assert [one.name for one in found.scenarios if isinstance(one.hard, Statistic)] == [
            scenario
        ]
        assert (found.triplets[0].scenario, found.triplets[0].models) == (scenario, ("A", "B", "C"))
        assert hash(found) == hash(transitivity(battles))


@pytest.mark.slow
def test_an_unknown_deviation_is_a_dash_with_a_dash_for_its_interval():
    """Hard verdicts have no SNTD: neither the estimate nor the interval of its columns is an empty
    cell."""
    found = transitivity(table([*triple(">>>", "1"), *triple(">>>", "2")]))
    assert all(row[-2:] == ("–", "–") for row in found.tables()[0].rows)


def test_json_of_a_triple_is_of_plain_values_and_an_unknown_one_is_none():
    [triplet] = as_dict(transitivity(table(triple(">>>"))))["triplets"]
    interval = {"hard_low": None, "hard_high": None}
    known = {"models": ["A", "B", "C"], "items": 1, "hard": 0.0, "scenario": "lead, lead"}
    assert triplet == known | interval | {"soft": None}
    assert type(triplet["items"]) is int


@pytest.mark.slow
def test_triples_are_measured_per_category():
    rows = [(*row, "math") for row in triple(">><", "1")] + [
        (*row, "prose") for row in triple(">>>", "2")
    ]
    found = transitivity(table(rows, "item model_a model_b credit category"))
    assert {one.name: one.hard.value for one in found.categories} == {"math": 1.0, "prose": 0.0}


@pytest.mark.slow
def test_random_verdicts_have_a_quarter_of_non_transitive_triples_and_more_with_ties():
    """Closed form: 2 of 8 without ties, 14 of 27 with a third of ties."""
    assert (chance_of_no_order(0.0), chance_of_no_order(1 / 3)) == pytest.approx(
        (2 / 8, 14 / 27), abs=1e-12
    )
    rng = np.random.default_rng(0)
    coin = verdicts(np.full((3, 3), 0.5), 3000, seed=1, shared=0.0)
    assert pnt(coin) == pytest.approx(chance_of_no_order(0.0), abs=0.03)
    tied = read_battles(coin.to_frame().assign(credit=rng.choice([0, 0.5, 1], 9000)))
    assert pnt(tied) == pytest.approx(chance_of_no_order(1 / 3), abs=0.03)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([("1", "A", "B", 1.0)], "2 models"),
        ([("1", "A", "B", 1.0), ("2", "B", "C", 1.0)], "all three verdicts on one item"),
        ([(None, "A", "B", 1.0), (None, "B", "C", 1.0)], "names its item"),
    ],
)
def test_triples_report_what_cannot_be_checked(rows, why):
    stated = transitivity(table(rows))
    assert isinstance(stated, Missing)
    assert why in stated.why
    assert stated.remedy


@pytest.fixture(scope="module")
def many():
    """PNT and SNTD with intervals in 200 worlds, and in one that is large enough to be the
    truth."""
    rates = by_strength(strengths(8, 0.6))
    hard = [transitivity(verdicts(rates, 40, seed)).hard for seed in range(200)]
    soft = [transitivity(verdicts(rates, 40, seed, soft=1.0)).soft for seed in range(200)]
    truth = (
        transitivity(verdicts(rates, 10_000, 999)).hard,
        transitivity(verdicts(rates, 10_000, 999, soft=1.0)).soft,
    )
    return hard, soft, truth


@pytest.mark.slow
def test_intervals_of_pnt_and_sntd_cover_the_truth(many):
    hard, soft, (true_hard, true_soft) = many
    assert np.mean([covers(one, true_hard.value) for one in hard]) >= 0.92
    assert np.mean([covers(one, true_soft.value) for one in soft]) >= 0.92


@pytest.mark.slow
def test_intervals_that_take_triples_of_an_item_for_independent_do_not(many):
    """Wrong variant: a binomial interval of all triples on all items."""
    hard, _, (truth, _) = many
    naive = [1.96 * np.sqrt(one.value * (1 - one.value) / one.n) for one in hard]
    hits = [abs(one.value - truth.value) <= reach for one, reach in zip(hard, naive, strict=True)]
    assert np.mean(hits) < 0.88


@pytest.mark.slow
def test_a_share_of_0_has_an_upper_bound():
    found = transitivity(table([row for k in range(30) for row in triple(">>>", str(k))])).hard
    assert found.low == 0.0
    assert 0.05 < found.high < 0.2
