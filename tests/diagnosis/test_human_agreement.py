"""Agreement with humans against oracle libraries and hand-worked tables."""

import numpy as np
import pytest
from hand_worked import judgments, subject_of
from judged_worlds import both, world
from scipy.special import stdtrit
from scipy.stats import ttest_rel
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from statsmodels.stats.inter_rater import cohens_kappa

from podium import Judge
from podium.data.counting.battle_frame import BattleFrame
from podium.diagnosis.figures import Missing
from podium.diagnosis.human_agreement import agreement_lead, measure_human_agreement
from podium.rankers.calibration.calibration_run import judge_agreement
from podium.rankers.calibration.evidence import build_evidence
from podium.rankers.calibration.signals import read_signal
from podium.rankers.calibration.targets import fit_target


def card(battles, level=0.95):
    return measure_human_agreement(subject_of(battles, level=level))


def judged(items=60, seed=2, judge=None, item_sd=0.7):
    _, battles = both(
        world(seed, items, item_sd), judge or Judge("j", scale=1.5, tie=0.3), repeats=1
    )
    human = battles.table["human"].mask(np.arange(len(battles)) % 7 == 0, 0.5)
    return type(battles)(BattleFrame(battles.table.assign(human=human)))


@pytest.mark.slow
def test_accuracy_counts_ties_and_agreement_leaves_them_out():
    rows = [
        (0, 1.0, 1.0),
        (1, 1.0, 0.5),
        (2, 0.5, 0.5),
        (3, 0.0, 1.0),
        (4, 0.0, 0.0),
        (5, np.nan, 1.0),
        (6, 1.0, np.nan),
    ]
    found = card(judgments(rows, "item credit human"))
    assert (found.accuracy.value, found.accuracy.n) == (3 / 5, 5)
    assert (found.agreement.value, found.agreement.n) == (2 / 3, 3)
    with_unparsed_as_disagreement = 3 / 7
    assert found.accuracy.value != with_unparsed_as_disagreement


@pytest.mark.slow
def test_difference_of_human_agreement_has_a_paired_t_interval_over_items():
    """Oracle: scipy's paired t, one battle an item. The wrong variant, items that are not paired,
    is wider."""
    rng = np.random.default_rng(5)
    human = rng.integers(0, 2, 80).astype(float)
    good = np.where(rng.random(80) < 0.8, human, 1 - human)
    worse = np.where(rng.random(80) < 0.15, 1 - good, good)
    first, second, elsewhere = (
        subject_of(
            judgments([(start + k, own[k], human[k]) for k in range(80)], "item credit human")
        )
        for own, start in ((good, 0), (worse, 0), (worse, 80))
    )
    found, unpaired = agreement_lead(first, second), agreement_lead(first, elsewhere)
    oracle = ttest_rel(1.0 * (good == human), 1.0 * (worse == human)).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))
    assert found.value == pytest.approx(np.mean(good == human) - np.mean(worse == human))
    assert unpaired.high - unpaired.low > 1.2 * (found.high - found.low)


def test_kappa_and_its_error_are_cohens():
    """Oracles: scikit-learn for the value, statsmodels for the asymptotic variance (rows
    independent).

    Every battle stands in the table from both sides, which are one cluster: their variance is twice
    that of the table.
    """
    battles = judged()
    evidence = build_evidence(battles, read_signal(battles, "margin"))
    judge, human = (np.sign(values - 0.5).astype(int) for values in (evidence.hard, evidence.human))
    found = card(type(battles)(BattleFrame(battles.table.drop(columns="item"))))
    table = np.array(
        [[np.sum((judge == p) & (human == q)) for q in (-1, 0, 1)] for p in (-1, 0, 1)]
    )
    oracle, n = cohens_kappa(table + table[::-1, ::-1]), len(judge)
    doubled = [np.concatenate([labels, -labels]) for labels in (judge, human)]
    assert found.kappa.value == pytest.approx(cohen_kappa_score(*doubled))
    reach = stdtrit(n - 1, 0.975) * np.sqrt(2 * oracle.var_kappa * n / (n - 1))
    assert found.kappa.high - found.kappa.value == pytest.approx(reach, rel=1e-9)
    without_chance = np.sqrt(np.var(judge == human) / (n - 1)) * stdtrit(n - 1, 0.975)
    assert found.kappa.high - found.kappa.value != pytest.approx(without_chance, rel=0.01)


def test_figures_are_those_of_a_calibration():
    """Oracle: the agreement that `podium calibrate` prints."""
    battles = judged()
    oracle, found = judge_agreement(battles), card(battles)
    assert found.kappa.value == pytest.approx(oracle.kappa)
    assert found.agreement.value == pytest.approx(oracle.agreement)
    assert (found.accuracy.n, found.agreement.n) == (oracle.battles, oracle.decisive)


def test_the_auc_counts_equal_margins_half():
    """Oracle: scikit-learn; margins in whole numbers, so that many are equal."""
    battles = judged()
    battles = type(battles)(
        BattleFrame(battles.table.assign(margin=battles.table["margin"].round()))
    )
    evidence = build_evidence(battles, read_signal(battles, "margin"))
    judge, human = np.sign(evidence.hard - 0.5), np.sign(evidence.human - 0.5)
    decisive = (judge != 0) & (human != 0)
    size, agree = np.abs(evidence.margin[decisive]), (judge == human)[decisive]
    found = judge_agreement(battles).auc
    assert found == pytest.approx(roc_auc_score(agree, size))
    strictly_larger = np.mean(size[agree][:, None] > size[~agree][None, :])
    assert found != pytest.approx(strictly_larger, abs=1e-3)


def test_the_temperature_is_the_fitted_one_with_its_interval():
    battles = judged()
    oracle = fit_target(build_evidence(battles, read_signal(battles, "margin")), 0.9)
    found = card(battles, level=0.9).temperature
    assert (found.value, found.low, found.high, found.level) == (
        oracle.beta,
        oracle.low,
        oracle.high,
        0.9,
    )


def test_a_judges_temperature_is_recovered():
    """Truth: margins without noise are `scale` times what humans go by, so beta is 1 / scale; not
    1."""
    found = card(judged(400, judge=Judge("j", scale=2.5, verdicts="soft"))).temperature
    assert found.low < 0.4 < found.high < 1


@pytest.mark.slow
def test_the_calibration_error_adds_up_absolute_gaps():
    """Ten credits of 0.81 of which humans back six, ten of 0.63 of which they back nine: 0.5 * 0.21
    + 0.5 * 0.27."""
    rows = [(k, 0.81 if k < 10 else 0.63, float(k % 10 < (6 if k < 10 else 9))) for k in range(20)]
    found = card(judgments(rows, "item credit human"))
    assert found.calibration_error.value == pytest.approx(0.24)
    gaps_that_cancel = abs(0.5 * (0.6 - 0.81) + 0.5 * (0.9 - 0.63))
    assert found.calibration_error.value != pytest.approx(gaps_that_cancel)
    assert [(one.predicted, one.agreement.value, one.agreement.n) for one in found.bins] == [
        (pytest.approx(0.63), 0.9, 10),
        (pytest.approx(0.81), 0.6, 10),
    ]
    assert found.bins[0].mean_margin is None
    assert isinstance(found.temperature, Missing)


def test_agreement_rises_with_the_margin_in_ten_bins():
    found = card(judged(200))
    assert len(found.bins) == 10
    assert sum(one.agreement.n for one in found.bins) == found.agreement.n
    margins = [one.mean_margin for one in found.bins]
    assert margins == sorted(margins)
    assert found.bins[-1].agreement.value > found.bins[0].agreement.value + 0.2


def test_hard_verdicts_without_margins_leave_the_temperature_missing():
    rows = [(0, 1.0, 1.0), (1, 0.0, 1.0), (2, 0.5, 0.5)]
    found = card(judgments(rows, "item credit human"))
    lacking = (found.temperature, found.calibration_error)
    assert all(isinstance(one, Missing) and "margin" in one.remedy for one in lacking)
    assert found.accuracy.value == 2 / 3
    assert found.bins == ()


def test_margins_that_contradict_human_labels_give_no_temperature():
    rows = [(k, float(k % 2), 2.0 * (k % 2) - 1, float((k % 2 == 0) ^ (k == 3))) for k in range(12)]
    found = card(judgments(rows, "item credit margin human")).temperature
    assert isinstance(found, Missing)
    assert "humans prefer the response that the judge likes less" in found.why


def test_without_labels_the_section_is_missing():
    found = card(judgments([(0, 1.0)], "item credit"))
    assert isinstance(found, Missing)
    assert "--human-judge" in found.remedy


def test_ties_throughout_have_no_kappa():
    found = card(judgments([(0, 0.5, 0.5), (1, 0.5, 0.5)], "item credit human"))
    assert isinstance(found.kappa, Missing)
    assert found.accuracy.value == 1
