"""A judge beside a gold standard: hand-worked figures, oracles, coverage and false alarms over many
worlds."""

import numpy as np
import pandas as pd
import pytest
from correlated_verdicts import by_strength, covers, names, strengths, verdicts
from scipy import stats

from podium import read_battles
from podium.diagnosis.decisiveness import (
    decisiveness,
    decisiveness_of_draws,
    judge_curve,
    nan_standard_deviation,
    pair_agreement,
    squared_error,
    system_biases,
)
from podium.diagnosis.figures import Missing, Statistic
from podium.diagnosis.gold import gold_agreement, match_gold_pairs, resample_items
from podium.diagnosis.ratings import kendall_taus
from podium.diagnosis.subject import Gold, Subject
from podium.rankers.fit.scale import POINTS
from podium.score_scale import WIN_RATE

WORLDS = 200
SYSTEMS = 7
THETA = strengths(SYSTEMS)
LOW, HIGH = np.triu_indices(SYSTEMS, 1)
OWN = names(SYSTEMS)[3]


def gold_of(theta=THETA):
    return Gold("gold.csv", dict(zip(names(len(theta)), POINTS * theta, strict=True)))


def asked(battles, gold=None, model=None, resamples=100):
    return gold_agreement(Subject(model, battles, battles, gold=gold), resamples)


def pairs_beside(battles, gold):
    return match_gold_pairs(Subject(None, battles, battles, gold=gold))


def counted(*pairs):
    """Return battles of (a, b, wins of a, ties, losses of a), each on an item of its own."""
    rows = []
    for a, b, wins, ties, losses in pairs:
        for credit, number in ((1.0, wins), (0.5, ties), (0.0, losses)):
            rows += [(f"i{len(rows) + k}", a, b, credit) for k in range(number)]
    return read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))


GOLD = counted(("A", "B", 8, 5, 2), ("B", "C", 6, 0, 4), ("A", "C", 9, 30, 0), ("C", "D", 5, 1, 5))
"""Non-ties: A-B 10, B-C 10, A-C 9 (too few), C-D 10."""
JUDGED = counted(
    ("A", "B", 18, 7, 2), ("B", "C", 3, 1, 7), ("A", "C", 5, 0, 5), ("C", "D", 6, 0, 4)
)


def test_win_rates_accuracy_and_error_by_hand():
    """Judge 0.9, 0.3, 0.6 beside gold 0.8, 0.6, 0.5: A-C is left out, for it has nine gold battles
    without ties."""
    both = pairs_beside(JUDGED, Gold("gold", battles=GOLD))
    judge, gold = both.rates()
    assert (judge.tolist(), gold.tolist()) == (
        pytest.approx([0.9, 0.3, 0.6]),
        pytest.approx([0.8, 0.6, 0.5]),
    )
    found = asked(JUDGED, Gold("gold", battles=GOLD))
    assert (found.systems, found.pairs, found.gold_pairs) == (4, 3, 3)
    assert found.accuracy.value == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert found.mse == pytest.approx((0.1**2 + 0.3**2 + 0.1**2) / 3)
    ties_as_half = (8 + 2.5) / 15
    assert gold[0] != pytest.approx(ties_as_half)


def test_a_gold_ranking_gives_the_sigmoid_of_the_gap():
    """Closed form: 400 Elo points are odds of ten to one."""
    gold = Gold("gold.csv", {"A": 1400.0, "B": 1000.0, "C": 1000.0, "D": 600.0})
    _, rates = pairs_beside(JUDGED, gold).rates()
    pairs = {"A-B": 10 / 11, "A-C": 10 / 11, "B-C": 0.5, "C-D": 10 / 11}
    assert sorted(rates.tolist()) == pytest.approx(sorted(pairs.values()), abs=1e-12)


def test_biases_by_hand():
    """A wins 0.1 too much against both, C 0.3 too much against B: A +0.1, B -0.2, C +0.1."""
    low, high = np.array([0, 0, 1]), np.array([1, 2, 2])
    found = system_biases(low, high, np.array([0.1, 0.1, -0.3]), 3)
    assert found.tolist() == pytest.approx([0.1, -0.2, 0.1])
    assert float(nan_standard_deviation(found)) == pytest.approx(np.std([0.1, -0.2, 0.1], ddof=1))
    unsigned = [0.1, 0.2, 0.2]
    assert found.tolist() != pytest.approx(unsigned)
    unmet = system_biases(low, high, np.array([0.1, np.nan, np.nan]), 3)
    assert unmet[:2].tolist() == pytest.approx([0.1, -0.1])
    assert np.isnan(unmet[2])


def test_a_pair_level_in_the_gold_standard_agrees_by_half():
    """The paper's definition (both win rates above a half, or both not), with either system as the
    first."""
    judge, gold = np.array([0.6, 0.4, 0.5, 0.7, np.nan]), np.array([0.5, 0.5, 0.5, 0.6, 0.9])
    assert float(pair_agreement(judge, gold)) == (1 / 2 + 1 / 2 + 1 + 1) / 4
    assert float(pair_agreement(1 - judge, 1 - gold)) == float(pair_agreement(judge, gold))
    assert float(squared_error(judge, gold)) == pytest.approx((0.01 + 0.01 + 0 + 0.01) / 4)


def test_tau_equals_scipys_with_ties():
    """Oracle: scipy.stats.kendalltau (tau-b)."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, (2, 50, 9)).astype(float)
    theirs = [stats.kendalltau(a, b).statistic for a, b in zip(x, y, strict=True)]
    assert kendall_taus(x, y) == pytest.approx(theirs, abs=1e-12)
    tau_a = np.array(
        [stats.kendalltau(a, b, variant="c").statistic for a, b in zip(x, y, strict=True)]
    )
    assert kendall_taus(x, y) != pytest.approx(tau_a, abs=1e-3)


def test_tau_is_that_of_bradley_terry_rankings():
    battles = verdicts(by_strength(THETA), 200, 0)
    shuffled = THETA[[0, 2, 1, 3, 4, 6, 5]]
    found = asked(battles, gold_of(shuffled))
    assert found.tau.value == pytest.approx(1 - 2 * 2 / 21, abs=1e-12)
    assert found.tau.n == SYSTEMS


def judged(alpha=1.0, self_preference=0.0):
    """Return the exact win rates of a judge of this decisiveness, who adds so much to his own win
    rates."""
    rates = judge_curve(by_strength(THETA), alpha)
    own = names(SYSTEMS).index(OWN)
    rates[own] += self_preference
    rates[:, own] -= self_preference
    rates[own, own] = 0.5
    return rates


def truth_of(rates):
    """Return alpha, corrected biases and mean squared error of exact win rates."""
    gold = by_strength(THETA)[LOW, HIGH]
    judge = rates[LOW, HIGH]
    alpha = decisiveness(judge, gold)
    biases = system_biases(LOW, HIGH, judge - judge_curve(gold, alpha), SYSTEMS)
    return {
        "alpha": alpha,
        "biases": biases,
        "mse": float(np.mean((judge - gold) ** 2)),
        "delta": float(nan_standard_deviation(biases)),
    }


def worlds(rates, number, items=100):
    options = {"model": f"host/{OWN}", "resamples": 80}
    return [asked(verdicts(rates, items, seed), gold_of(), **options) for seed in range(number)]


@pytest.fixture(scope="module")
def fair():
    """200 judges whose win rates are the gold standard's."""
    return worlds(judged(), WORLDS)


@pytest.mark.slow
def test_gold_checks_have_few_false_alarms_for_a_sound_judge(fair):
    """Decisiveness 1, no bias of any system, no self-preference: at most 5% false alarms, and
    chance on top."""
    assert np.mean([covers(one.alpha_beyond_noise, 1.0) for one in fair]) >= 0.92
    assert np.mean([any(bias.p <= 0.05 for bias in one.biases) for one in fair]) <= 0.085
    assert np.mean([one.self_bias.favours_itself for one in fair]) <= 0.085
    assert np.mean([covers(one.delta_beyond_noise, 0.0) for one in fair]) >= 0.95
    assert np.mean([covers(one.mse_beyond_noise, 0.0) for one in fair]) >= 0.95


@pytest.mark.slow
def test_uncorrected_gold_checks_would_have_false_alarms(fair):
    """Wrong variants: delta and error without the correction for noise; each system tested by
    itself."""
    assert np.mean([one.delta for one in fair]) > 0.02
    assert np.mean([one.mse for one in fair]) > 0.002
    alone = [any(not covers(bias.corrected, 0.0) for bias in one.biases) for one in fair]
    assert np.mean(alone) > 0.15


@pytest.mark.slow
def test_paired_test_over_opponents_exceeds_its_level():
    """JuStRank's test takes opponents for independent: with 15 systems on common items 1/6 are
    significant at 5%."""
    theta = strengths(15)
    found = [
        asked(
            verdicts(by_strength(theta), 60, seed, shared=0.9),
            gold_of(theta),
            model="m07",
            resamples=50,
        ).self_bias
        for seed in range(60)
    ]
    assert np.mean([one.paired_p <= 0.05 for one in found]) > 0.1
    assert np.mean([one.favours_itself for one in found]) <= 0.12


@pytest.fixture(scope="module")
def faulty():
    """100 judges with decisiveness 3 before they favour themselves by 15 points."""
    rates = judged(3.0, 0.15)
    return worlds(rates, 100, items=150), truth_of(rates)


@pytest.mark.slow
def test_decisiveness_and_self_preference_are_recovered(faulty):
    found, truth = faulty
    own = truth["biases"][names(SYSTEMS).index(OWN)]
    assert np.mean([covers(one.alpha_beyond_noise, truth["alpha"]) for one in found]) >= 0.88
    assert np.mean([covers(one.self_bias.bias, own) for one in found]) >= 0.9
    assert np.mean([covers(one.mse_beyond_noise, truth["mse"]) for one in found]) >= 0.88
    assert np.mean([covers(one.delta_beyond_noise, truth["delta"]) for one in found]) >= 0.88
    assert np.mean([one.self_bias.favours_itself for one in found]) >= 0.9


@pytest.mark.slow
def test_biases_of_all_systems_are_covered(faulty):
    found, truth = faulty
    by_name = dict(zip(names(SYSTEMS), truth["biases"], strict=True))
    hits = [covers(bias.corrected, by_name[bias.model]) for one in found for bias in one.biases]
    assert np.mean(hits) == pytest.approx(0.95, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.5, 3.0])
def test_known_decisiveness_is_recovered_within_its_interval(alpha):
    found = worlds(judged(alpha), 60)
    assert np.mean([covers(one.alpha_beyond_noise, alpha) for one in found]) >= 0.9


@pytest.mark.slow
def test_a_percentile_interval_of_alpha_would_miss():
    """Wrong variant: noise makes win rates extreme and alpha large, and resampling adds it a second
    time."""
    theta, hits = strengths(15), []
    for seed in range(40):
        both = pairs_beside(verdicts(by_strength(theta), 80, seed), gold_of(theta))
        drawn = resample_items(both, 60, np.random.default_rng(seed), computes_tau=False)
        low, high = np.quantile(
            decisiveness_of_draws(drawn.judge_rates, drawn.gold_rates), [0.025, 0.975]
        )
        hits.append(low <= 1.0 <= high)
    assert np.mean(hits) < 0.75


@pytest.mark.slow
def test_single_votes_are_less_decisive_than_means_of_both_orders():
    """Two verdicts of rate r, each by itself: where they do not cancel, r^2 / (r^2 + (1 - r)^2) of
    them are wins."""
    apart = []
    for order, seed in (("ab", 1), ("ba", 2)):
        frame = verdicts(by_strength(THETA), 300, seed, shared=0.0).to_frame()
        apart.append(frame.assign(order=order))
    table = pd.concat(apart, ignore_index=True)
    merged, votes = read_battles(table), read_battles(table, merge=False)
    found = gold_agreement(Subject(None, votes, merged, gold=gold_of()), 100)
    rates = by_strength(THETA)[LOW, HIGH]
    of_means = decisiveness(rates**2 / (rates**2 + (1 - rates) ** 2), rates)
    assert covers(found.single_alpha_beyond_noise, 1.0)
    assert covers(found.alpha_beyond_noise, of_means)
    assert not covers(found.alpha_beyond_noise, 1.0)
    assert found.single_alpha == asked(votes, gold_of()).alpha
    assert any("single votes" in label for label, _ in found.labelled_values())
    assert not any(
        "single votes" in label for label, _ in asked(merged, gold_of()).labelled_values()
    )


@pytest.mark.slow
def test_gold_battles_have_noise_of_their_own():
    """Gold battles are resampled: their intervals are wider than with the same gold win rates given
    for certain."""
    battles = verdicts(by_strength(THETA), 150, 1)
    human = verdicts(by_strength(THETA), 40, 2).to_frame()
    human["item"] = "other-" + human["item"].astype(str)
    noisy = asked(battles, Gold("human", battles=read_battles(human)), resamples=300)
    given = asked(battles, gold_of(), resamples=300)
    widths = [one.alpha_beyond_noise.high / one.alpha_beyond_noise.low for one in (noisy, given)]
    assert widths[0] > 1.2 * widths[1]
    assert "apart" in noisy.alpha_beyond_noise.method


@pytest.mark.slow
def test_human_labels_stand_in_for_a_gold_standard_and_share_the_items():
    battles = verdicts(by_strength(THETA), 60, 1)
    human = verdicts(by_strength(THETA), 60, 5).to_frame()["credit"].to_numpy()
    labelled = read_battles(battles.to_frame().assign(human=human))
    found = asked(labelled)
    assert found.gold == "human labels"
    assert "together" in found.mse_beyond_noise.method
    same = asked(read_battles(battles.to_frame().assign(human=battles.table["credit"].to_numpy())))
    assert (same.tau.value, same.accuracy.value, same.mse) == (1.0, 1.0, 0.0)
    assert same.mse_beyond_noise.high == 0.0


def test_without_a_gold_standard_it_says_what_would_help():
    stated = asked(verdicts(by_strength(THETA), 10, 0))
    assert isinstance(stated, Missing)
    assert "--gold" in stated.remedy


@pytest.mark.parametrize(
    ("gold", "why"),
    [
        (
            Gold("r.json", dict(zip("ABCD", (0.9, 0.6, 0.4, 0.1), strict=True)), WIN_RATE),
            "scale 'win rate' gives no",
        ),
        (Gold("r.csv", dict(zip("ABCD", (1.2, 0.6, -0.4, -1.1), strict=True))), "lie within 2.3"),
    ],
)
def test_a_gold_ranking_on_another_scale_still_gives_tau_and_accuracy(gold, why):
    found = asked(JUDGED, gold)
    assert isinstance(found.tau, Statistic)
    assert isinstance(found.accuracy, Statistic)
    for stated in (
        found.mse,
        found.mse_beyond_noise,
        found.alpha,
        found.delta,
        found.biases,
        found.self_bias,
    ):
        assert isinstance(stated, Missing)
        assert why in stated.why


@pytest.mark.slow
def test_gold_battles_of_several_judges_are_rejected():
    frame = GOLD.to_frame().assign(judge=["x"] * 40 + ["y"] * (len(GOLD) - 40))
    stated = asked(JUDGED, Gold("gold", battles=read_battles(frame)))
    assert isinstance(stated, Missing)
    assert "several judges: x, y" in stated.why


def test_gold_models_with_other_spelling_are_reported():
    stated = asked(JUDGED, Gold("gold.csv", {"a": 1.0, "b": 2.0, "A": 3.0}))
    assert isinstance(stated, Missing)
    assert "1 model is known both" in stated.why


def test_a_judge_who_does_not_compete_has_no_self_bias():
    known = asked(
        JUDGED, Gold("gold.csv", {"A": 1700, "B": 1600, "C": 1500}), model="openai/a"
    ).self_bias
    assert known.model == "A"
    for model in (None, "openai/gpt-4"):
        unknown = asked(
            JUDGED, Gold("gold.csv", {"A": 1700, "B": 1600, "C": 1500}), model=model
        ).self_bias
        assert isinstance(unknown, Missing)


@pytest.mark.slow
def test_self_bias_is_corrected_for_the_judges_tested_together():
    battles = verdicts(judged(1.0, 0.1), 80, 3)
    others = battles.to_frame()
    others = [others.assign(judge=name) for name in names(SYSTEMS)[:2]]
    three_judges = Subject(OWN, battles, battles, read_battles(pd.concat(others)), gold_of())
    one, three = (
        asked(battles, gold_of(), model=OWN).self_bias,
        gold_agreement(three_judges, 100).self_bias,
    )
    assert three.tests == 3
    assert three.item_p == pytest.approx(min(1.0, 3 * one.item_p))
    assert three.paired_p == pytest.approx(min(1.0, 3 * one.paired_p))


def test_the_paired_p_equals_scipys_test_on_the_definition():
    """Oracle: scipy.stats.ttest_rel of the judge's win rates and the fitted ones, one-sided."""
    battles = verdicts(judged(1.5, 0.05), 80, 9)
    both = pairs_beside(battles, gold_of())
    judge, gold = both.rates()
    fitted = judge_curve(gold, decisiveness(judge, gold))
    own = both.models.index(OWN)
    ours = [
        (j, f) if a == own else (1 - j, 1 - f)
        for a, b, j, f in zip(LOW, HIGH, judge, fitted, strict=True)
        if own in (a, b)
    ]
    p = stats.ttest_rel(*np.array(ours).T, alternative="greater").pvalue
    found = asked(battles, gold_of(), model=OWN).self_bias
    assert found.paired_p == pytest.approx(p, rel=1e-9)
    assert found.bias.value == pytest.approx(np.mean([j - f for j, f in ours]), abs=1e-12)


def test_a_single_item_has_figures_and_no_intervals():
    rows = [("i", a, b, 1.0) for a, b in (("A", "B"), ("B", "C"), ("A", "C"), ("C", "D"))]
    battles = read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
    found = asked(battles, Gold("g", {"A": 1300.0, "B": 1200.0, "C": 1100.0, "D": 1000.0}))
    assert (found.tau.value, found.tau.low) == (1.0, None)
    assert isinstance(found.alpha, Missing)


@pytest.mark.slow
def test_alpha_of_a_single_item_is_missing_beyond_noise_for_that_reason():
    rows = [("i", *pair, credit) for pair in ("AB", "BC", "CD") for credit in (1.0, 1.0, 1.0, 0.0)]
    battles = read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
    found = asked(battles, Gold("g", {"A": 1300.0, "B": 1200.0, "C": 1100.0, "D": 1000.0}))
    assert found.alpha > 1
    assert "a single item" in found.alpha_beyond_noise.why
