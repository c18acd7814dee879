"""Agreement of judge and humans: statsmodels, brute force, cases worked by hand, and what must not
change it."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from statsmodels.stats.inter_rater import cohens_kappa

from podium import read_battles
from podium.rankers.calibration.agreement import kappa, measure_agreement
from podium.rankers.calibration.evidence import build_evidence
from podium.rankers.calibration.signals import read_signal

UNPARSED = np.nan


def frame_of(credit, human, margin=None, names=("x", "y")):
    rows = pd.DataFrame(
        {"item": [f"i{k:05d}" for k in range(len(credit))], "credit": credit, "human": human}
    )
    rows["model_a"], rows["model_b"] = names
    if margin is not None:
        rows["margin"] = np.array(margin, dtype=float)
    return rows.assign(reason=np.where(rows["credit"].isna(), "no verdict", None))


def agreement(frame, beta=None, kind="margin"):
    """With predictions of a given slope, or without."""
    battles = read_battles(frame)
    evidence = build_evidence(battles, read_signal(battles, kind))
    return measure_agreement(
        evidence, None if beta is None else evidence.signal.predict(np.array([beta]))
    )


def hard(credit, human):
    """Without margins: the sign of the verdict is the signal."""
    return agreement(frame_of(credit, human), kind="smoothing")


@pytest.mark.parametrize("seed", range(10))
def test_kappa_equals_statsmodels(seed):
    draws = np.random.default_rng(seed)
    judge = draws.choice([-1, 0, 1], 100, p=draws.dirichlet(np.ones(3)))
    human = np.where(draws.random(100) < 0.4, judge, draws.integers(-1, 2, 100))
    oracle = cohens_kappa(table_in_both_orientations(judge, human), return_results=False)
    assert kappa(judge, human) == pytest.approx(oracle, abs=1e-12)


def table_in_both_orientations(judge, human):
    """Return the table of two labels in which every battle stands twice, once from either side."""
    table = np.zeros((3, 3))
    for side in (1, -1):
        np.add.at(table, (side * judge + 1, side * human + 1), 1)
    return table


def test_kappa_of_three_classes_worked_by_hand():
    """Agreement 3/5; chance (2 * 2 + 1 * 1 + 2 * 2) / 25 = 9/25; (15 - 9) / (25 - 9)."""
    assert hard([1, 1, 0.5, 0, 0], [1, 0, 0.5, 0, 1]).kappa == pytest.approx(6 / 16)


def test_weighted_kappa_would_be_another():
    """The wrong variant: linear weights forgive a tie more than a reversal."""
    judge, human = np.array([1, 1, 0, -1, -1]), np.array([1, 0, 0, -1, 0])
    weighted = cohens_kappa(
        table_in_both_orientations(judge, human), wt="linear", return_results=False
    )
    assert kappa(judge, human) != pytest.approx(weighted, abs=1e-2)


def test_a_label_that_is_constant_has_the_kappa_that_it_has_under_other_names():
    """Pairs listed as correct, incorrect: four of five right are 0.8 * 2 - 1; 0 from the side of
    the first alone."""
    judge = np.array([1, 1, 1, 1, -1] * 20)
    assert kappa(judge, np.ones(100)) == pytest.approx(0.6)
    sides = np.where(np.arange(100) % 3, 1, -1)
    assert kappa(sides * judge, sides) == pytest.approx(0.6)


def test_a_judge_that_always_says_the_opposite_has_kappa_minus_one():
    assert hard([1, 0], [0, 1]).kappa == pytest.approx(-1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [
        1,
        4,
        10,
    ],
)
def test_kappa_is_unknown_where_judge_and_human_call_everything_a_tie(number):
    assert hard([0.5] * number, [0.5] * number).kappa is None
    assert hard([1] * number, [1] * number).kappa == 1


def test_kappa_is_unknown_without_battles():
    assert kappa(np.empty(0), np.empty(0)) is None


@pytest.mark.slow
def test_split_human_votes_count_by_majority():
    assert hard([1, 1, 0], [0.75, 0.6, 0.9]).agreement == pytest.approx(2 / 3)


@pytest.mark.slow
def test_ties_of_the_judge_and_of_human_are_not_decisive():
    """Five battles of both; two decisive, one of agreement."""
    found = hard([1, 0, 0.5, 1, 0.5], [1, 1, 1, 0.5, 0.5])
    assert (found.battles, found.decisive, found.agreement) == (5, 2, 0.5)


def test_battles_without_verdict_or_label_are_not_counted():
    found = hard([1, UNPARSED, 0, 1], [1, 1, UNPARSED, 0])
    assert (found.battles, found.decisive, found.agreement) == (2, 2, 0.5)


@pytest.mark.slow
def test_agreement_is_empty_without_decisive_battles():
    found = agreement(frame_of([0.5, 1], [1, 0.5], [0, 2]), beta=1.0)
    assert (found.agreement, found.auc, found.auc_p, found.ece, found.bins) == (
        None,
        None,
        None,
        None,
        (),
    )


def sized(seed, number=60, whole=True):
    """Verdicts of integer margins, so that sizes tie."""
    draws = np.random.default_rng(seed)
    margin = draws.integers(1, 6, number) * draws.choice([-1, 1], number)
    human = (draws.random(number) < expit(0.4 * margin)).astype(float)
    return frame_of(
        (np.sign(margin) + 1) / 2, human, margin if whole else margin + draws.normal(0, 0.1, number)
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_auc_equals_the_share_of_pairs_with_ties_half(seed):
    frame = sized(seed)
    size, agree = frame["margin"].abs().to_numpy(), (frame["credit"] == frame["human"]).to_numpy()
    difference = size[agree][:, None] - size[~agree][None, :]
    brute = np.mean((difference > 0) + 0.5 * (difference == 0))
    assert agreement(frame).auc == pytest.approx(brute, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("rising", "auc", "small"), [(True, 1.0, True), (False, 0.0, False)])
def test_the_p_value_of_auc_asks_whether_agreement_rises_with_the_margin(rising, auc, small):
    size = np.arange(1.0, 21)
    found = agreement(
        frame_of([1.0] * 20, (size > 10 if rising else size <= 10).astype(float), size)
    )
    assert found.auc == auc
    assert (found.auc_p < 1e-4) is small
    assert (found.auc_p > 0.999) is not small


@pytest.mark.slow
@pytest.mark.parametrize("agreements", [0, 1, 9, 10])
def test_auc_needs_two_agreements_and_two_disagreements(agreements):
    human = [1.0] * agreements + [0.0] * (10 - agreements)
    found = agreement(frame_of([1.0] * 10, human, range(1, 11)))
    assert (found.auc, found.auc_p) == (None, None)


@pytest.mark.slow
def test_auc_leaves_battles_without_margin_out():
    margins = [5, 4, 1, 2, np.nan, np.nan]
    found = agreement(frame_of([1] * 6, [1, 1, 0, 0, 0, 1], margins))
    assert (found.decisive, found.auc) == (6, 1.0)


@pytest.mark.slow
def test_one_bin_of_equal_predictions_has_the_error_worked_by_hand():
    """Predicted 0.75, and humans agree in 5 of 10."""
    found = agreement(frame_of([1] * 10, [1, 0] * 5, [1] * 10), beta=np.log(3))
    assert [one.battles for one in found.bins] == [10]
    assert found.ece == pytest.approx(0.25)
    only = found.bins[0]
    assert (only.predicted, only.agreement, only.mean_margin) == pytest.approx((0.75, 0.5, 1))


def test_ten_battles_of_their_own_bins_have_the_error_worked_by_hand():
    """The mean of |agreement - predicted|, each 0 or 1 against sigmoid(beta k)."""
    size, human = np.arange(1, 11), np.array([1, 0, 0, 1, 1, 1, 0, 1, 1, 1.0])
    found = agreement(frame_of([1] * 10, human, size), beta=0.3)
    assert [one.mean_margin for one in found.bins] == size.tolist()
    assert found.ece == pytest.approx(np.mean(np.abs(human - expit(0.3 * size))))


def test_errors_of_bins_do_not_cancel():
    """One bin too low by 0.25, one too high by 0.25, of equal mass: 0.25, where signed errors would
    give 0."""
    found = agreement(
        frame_of([1] * 8, [1] * 4 + [1, 1, 0, 0], [1] * 4 + [1.0001] * 4), beta=np.log(3)
    )
    assert found.ece == pytest.approx(0.25, abs=1e-4)


def test_bins_of_distinct_predictions_hold_a_tenth_each():
    frame = sized(0, 400, whole=False)
    assert [one.battles for one in agreement(frame, beta=0.4).bins] == [40] * 10


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 7, 10, 11, 23, 60])
@pytest.mark.parametrize("whole", [True, False])
def test_bins_add_up_to_the_decisive_battles(number, whole):
    found = agreement(sized(1, number, whole), beta=0.4)
    assert sum(one.battles for one in found.bins) == found.decisive == number


def test_bins_go_up_with_the_prediction():
    predicted = [one.predicted for one in agreement(sized(2, 300), beta=0.4).bins]
    assert predicted == sorted(predicted)
    assert predicted[-1] > predicted[0] > 0.5


def test_bins_leave_ties_and_battles_without_signal_out():
    """Of six battles: a tie of humans, one of the judge, one without margin, one unparsed."""
    frame = frame_of(
        [1, 0, 0.5, 1, 1, UNPARSED], [1, 1, 1, 0.5, 1, 1], [2, -1, 0, 3, np.nan, np.nan]
    )
    found = agreement(frame, beta=0.5)
    assert (found.decisive, sum(one.battles for one in found.bins)) == (3, 2)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    "beta",
    [
        0.5,
        0.1,
        1.0,
    ],
)
def test_agreement_bins_do_not_depend_on_the_favoured_response(beta):
    margin = np.tile([2.0, -2.0], 10)
    assert (
        len(agreement(frame_of((np.sign(margin) + 1) / 2, [1.0] * 20, margin), beta=beta).bins) == 1
    )


def simulated(seed=0, number=40_000, beta=0.8):
    """Humans who follow sigmoid(beta * margin) exactly."""
    draws = np.random.default_rng(seed)
    margin = draws.normal(0, 2, number)
    return frame_of(
        (np.sign(margin) + 1) / 2,
        (draws.random(number) < expit(beta * margin)).astype(float),
        margin,
    )


@pytest.mark.slow
def test_the_true_map_has_a_calibration_error_of_about_zero():
    assert agreement(simulated(), beta=0.8).ece < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_maps_too_bold_and_too_shy_have_a_larger_calibration_error(factor):
    assert agreement(simulated(), beta=0.8 * factor).ece > 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("constant", "error"), [(0.75, 0.15), (0.95, 0.05)])
def test_a_constant_credit_misses_by_its_distance_from_the_share_of_agreement(constant, error):
    """Nine of ten agree."""
    found = agreement(frame_of([1] * 20, [1] * 18 + [0, 0]), logit(constant), "smoothing")
    assert found.ece == pytest.approx(error)


@pytest.mark.slow
def test_without_predictions_there_is_no_calibration_error():
    found = agreement(sized(0))
    assert (found.ece, found.bins) == (None, ())


@pytest.mark.slow
def test_sign_conflicts_are_a_share_of_decisive_verdicts_with_a_margin():
    """Decisive with margin: +, -, 0, and two against it; not a tie, not one without margin; labels
    do not matter."""
    credit, margin = [1, 0, 1, 1, 0, 0.5, 1], [2, -1, 0, -3, 0.5, 4, np.nan]
    found = agreement(frame_of(credit, [1, UNPARSED, 1, UNPARSED, 0.5, 1, 1], margin))
    assert found.sign_conflicts == pytest.approx(2 / 5)


@pytest.mark.slow
def test_the_mean_margin_is_that_of_all_judged_battles_labelled_or_not():
    found = agreement(
        frame_of([1, 0, 0.5, UNPARSED, 1], [1, UNPARSED, 1, 1, 1], [2, -4, 0, 100, np.nan])
    )
    assert found.mean_abs_margin == pytest.approx(2)


@pytest.mark.slow
def test_without_margins_there_is_nothing_about_them():
    found = hard([1, 0, 1, 0], [1, 0, 0, 1])
    assert (found.mean_abs_margin, found.sign_conflicts, found.auc) == (None, None, None)


def tables():
    """Small random tables of 4 models; credits, labels and margins in quarters or empty."""
    quarter = st.integers(0, 4).map(lambda k: k / 4)
    row = st.tuples(
        st.integers(0, 5),
        st.sampled_from([(a, b) for a in "wxyz" for b in "wxyz" if a != b]),
        quarter,
        st.one_of(quarter, st.just(np.nan)),
        st.one_of(st.integers(-8, 8).map(lambda k: k / 4), st.just(np.nan)),
    )
    return st.lists(row, min_size=1, max_size=30)


def table_of(rows):
    first = (9, ("w", "x"), 1.0, 1.0, 0.25)
    columns = ["item", "model_a", "model_b", "credit", "human", "margin"]
    return pd.DataFrame(
        [(f"i{i}", *pair, *values) for i, pair, *values in [first, *rows]], columns=columns
    )


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(0, 2**31 - 1))
def test_swapping_a_with_b_and_shuffling_battles_change_nothing(rows, which):
    frame, draws = table_of(rows), np.random.default_rng(which)
    turn = draws.random(len(frame)) < 0.5
    other = frame.copy()
    other.loc[turn, ["model_a", "model_b"]] = frame.loc[turn, ["model_b", "model_a"]].to_numpy()
    other.loc[turn, ["credit", "human"]] = 1 - frame.loc[turn, ["credit", "human"]]
    other.loc[turn, "margin"] = -frame.loc[turn, "margin"]
    assert agreement(other.iloc[draws.permutation(len(frame))], beta=0.7) == agreement(
        frame, beta=0.7
    )


@pytest.mark.slow
def test_swapping_only_the_names_changes_the_agreement():
    """The wrong variant of a swap, which leaves labels where they were, is seen by the check
    above."""
    frame = sized(0)
    other = frame.copy()
    other.loc[:20, ["model_a", "model_b"]] = frame.loc[:20, ["model_b", "model_a"]].to_numpy()
    other.loc[:20, "credit"], other.loc[:20, "margin"] = (
        1 - frame.loc[:20, "credit"],
        -frame.loc[:20, "margin"],
    )
    assert agreement(other, beta=0.7) != agreement(frame, beta=0.7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_renaming_models_changes_nothing(seed):
    """Which of two models comes first by name turns every battle between them round."""
    frame = sized(seed, whole=False)
    found, renamed = (
        asdict(agreement(table, beta=0.4)) for table in (frame, frame.assign(model_a="z"))
    )
    for one, same in zip(renamed.pop("bins"), found.pop("bins"), strict=True):
        assert one == pytest.approx(same, abs=1e-12)
    assert renamed == pytest.approx(found, abs=1e-12)
