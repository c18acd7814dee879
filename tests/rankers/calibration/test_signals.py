"""Features of every kind of signal, and the probability that each becomes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logit

from podium import NotIdentifiedError, UsageError, read_battles
from podium.rankers.calibration.signals import (
    Kind,
    constant_weights,
    has_soft_credits,
    probability,
    signal_of,
    slope,
    usual_kind,
)

KINDS: tuple[Kind, ...] = Kind.__args__
NONE = np.nan


def battles(credit, **columns):
    frame = pd.DataFrame({"item": [f"i{k}" for k in range(len(credit))], "credit": credit, **columns})
    frame["model_a"], frame["model_b"] = "x", "y"
    return read_battles(frame.assign(reason=np.where(frame["credit"].isna(), "no verdict", None)))


def shown_twice(*verdicts):
    """Each item in both orders, merged: credits of x in the first and the second."""
    rows = [
        row
        for k, (first, second) in enumerate(verdicts)
        for row in ((f"i{k}", "x", "y", first, "ab"), (f"i{k}", "x", "y", second, "ba"))
    ]
    return read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "order"]))


def features(kind, read):
    return signal_of(read, kind).x


def test_the_margin_is_a_feature_as_it_stands():
    found = signal_of(battles([1, 0, 0.5], margin=[2.5, -1, 0]), "margin")
    assert (found.names, found.x.tolist()) == (("margin",), [[2.5], [-1.0], [0.0]])


def test_smoothing_reads_the_sign_of_the_verdict():
    found = signal_of(battles([1, 0.9, 0.5, 0.2, 0]), "smoothing")
    assert (found.names, found.x.tolist()) == (("verdict",), [[1.0], [1.0], [0.0], [-1.0], [-1.0]])


def test_smoothing_reads_a_flip_as_a_tie_and_half_a_win_as_a_win():
    assert features("smoothing", shown_twice((1, 0), (1, 0.5), (0.5, 0), (0.5, 0.5))).ravel().tolist() == [0, 1, -1, 0]


def test_smoothing_reads_the_verdict_where_the_margin_says_otherwise():
    assert features("smoothing", battles([1.0], margin=[-2.0])).tolist() == [[1.0]]


def test_criteria_have_a_feature_each_in_the_order_of_their_names():
    found = signal_of(battles([1, 0], margin_depth=[3, -2], margin_clarity=[1, 0.5]), "criteria")
    assert (found.names, found.x.tolist()) == (("clarity", "depth"), [[1.0, 3.0], [0.5, -2.0]])


def test_length_adds_the_log_ratio_of_lengths_to_the_margin():
    """log((99 + 1) / (9 + 1)): one character more, so that an empty response has a length."""
    found = signal_of(battles([1, 0], margin=[2, -1], length_a=[99, 0], length_b=[9, 0]), "length")
    assert found.names == ("margin", "length")
    assert found.x == pytest.approx(np.array([[2, np.log(10)], [-1, 0]]))


def test_soft_credits_are_a_feature_less_one_half():
    found = signal_of(battles([0.9, 0.5, 0.3]), "credit")
    assert found.names == ("credit",)
    assert found.x == pytest.approx(np.array([[0.4], [0], [-0.2]]))


ALL = {"margin": [1.0, 2.0], "margin_tone": [1.0, 2.0], "length_a": [5.0, 6.0], "length_b": [7.0, 8.0]}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_unparsed_battles_have_no_signal(kind):
    found = signal_of(battles([0.9, NONE], **ALL), kind)
    assert found.is_known.tolist() == [True, False]
    assert np.isnan(found.x[1]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "column"),
    [("margin", "margin"), ("criteria", "margin_tone"), ("length", "margin"), ("length", "length_b")],
)
def test_a_battle_that_lacks_a_feature_has_no_signal(kind, column):
    found = signal_of(battles([1, 0], **{**ALL, column: [NONE, 2.0]}), kind)
    assert found.is_known.tolist() == [False, True]


def test_of_several_criteria_all_must_be_there():
    found = signal_of(battles([1, 0], margin_tone=[1.0, 2.0], margin_depth=[NONE, 1.0]), "criteria")
    assert found.is_known.tolist() == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "jury"])
def test_of_one_judge_only_criteria_are_penalised_and_only_for_differing(kind):
    found = signal_of(battles([0.9, 0.2], **ALL, margin_depth=[1.0, 0.0]), kind, ridge=4.0)
    expected = [[2.0, -2.0], [-2.0, 2.0]] if kind == "criteria" else np.zeros((len(found.names),) * 2)
    assert found.penalty == pytest.approx(np.array(expected))


def test_margins_are_the_usual_signal():
    assert usual_kind(battles([0.9, 0.2], margin=[1, NONE])) == "margin"


def test_soft_credits_are_the_usual_signal_where_there_are_no_margins():
    assert usual_kind(battles([0.9, 0.2])) == "credit"


def test_soft_credits_are_the_usual_signal_where_the_column_of_margins_is_empty():
    assert usual_kind(battles([0.9, 0.2], margin=[NONE, NONE])) == "credit"


def test_hard_verdicts_alone_leave_margins_the_usual_signal():
    assert usual_kind(battles([1, 0, 0.5])) == "margin"


def test_a_win_and_a_tie_merge_into_a_quarter_which_is_no_soft_credit():
    read = shown_twice((1, 0.5), (0.5, 0), (1, 0), (1, 1))
    assert sorted(read.table["credit"]) == [0.25, 0.5, 0.75, 1.0]
    assert not has_soft_credits(read)
    assert usual_kind(read) == "margin"


@pytest.mark.parametrize("credit", [0.1, 0.26, 0.999])
def test_one_probability_among_quarters_makes_credits_soft(credit):
    assert has_soft_credits(battles([0.25, 0.75, credit]))


def test_credits_of_unparsed_battles_do_not_make_them_soft():
    assert not has_soft_credits(battles([1, 0, NONE]))


@pytest.mark.slow
@settings(deadline=None)
@pytest.mark.parametrize("kind", KINDS)
@given(st.lists(st.floats(-0.5, 0.5), min_size=2, max_size=2), st.lists(st.floats(-9, 9), min_size=2, max_size=2))
def test_turning_a_battle_round_gives_the_other_side_the_rest(kind, x, weights):
    x, weights = np.array([x]), np.array(weights)
    assert probability(kind, -x, weights) == pytest.approx(1 - probability(kind, x, weights), abs=1e-15)


def test_an_intercept_would_favour_a_side():
    """The wrong variant of a map fails the check above."""
    x = np.array([[1.0, 0.3]])
    lopsided = probability("margin", np.column_stack([x, [1.0]]), np.array([1, 1, 0.2]))
    turned = probability("margin", np.column_stack([-x, [1.0]]), np.array([1, 1, 0.2]))
    assert turned != pytest.approx(1 - lopsided, abs=1e-2)


@pytest.mark.parametrize("kind", ["margin", "criteria", "length", "smoothing"])
def test_features_become_the_logistic_of_their_weighted_sum(kind):
    found = probability(kind, np.array([[1.0, 2.0]]), np.array([0.5, -0.1]))
    assert found == pytest.approx([1 / (1 + np.exp(-0.3))])


def test_soft_credits_are_probabilities_as_they_are():
    credit = [0.9, 0.5, 0.3]
    assert probability("credit", features("credit", battles(credit)), np.ones(1)) == pytest.approx(credit)


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_signals_have_no_probability(kind):
    found = probability(kind, np.array([[0.1, 0.2], [NONE, NONE]]), np.ones(2))
    assert np.isnan(found).tolist() == [False, True]


@pytest.mark.slow
@settings(deadline=None)
@given(st.floats(0.501, 0.999))
def test_a_constant_is_exactly_the_credit_of_a_win(constant):
    signal = signal_of(battles([1, 0, 0.5]), "smoothing")
    found = probability("smoothing", signal.x, constant_weights(constant))
    assert found == pytest.approx([constant, 1 - constant, 0.5], abs=1e-15)
    assert found[2] == 0.5


@pytest.mark.parametrize("constant", [0.5, 1.0, 0.2, -1.0, 1.5, np.nan, np.inf])
def test_a_constant_that_is_no_credit_of_a_win_is_refused(constant):
    with pytest.raises(UsageError, match="lies between"):
        constant_weights(constant)


@pytest.mark.parametrize("kind", KINDS)
def test_beta_is_the_logit_that_a_unit_of_the_signal_moves(kind):
    """A unit of every criterion or judge, or of the first feature alone."""
    weights = np.array([0.7, 0.2])
    unit = np.array([[1.0, 1.0 if kind in ("criteria", "jury") else 0.0]])
    moved = logit(probability("margin", unit, weights))
    assert slope(kind, weights) @ weights == pytest.approx(moved[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("margin", "has a margin .judge score of a minus that of b."),
        ("criteria", "columns margin_<criterion>"),
        ("length", "has a margin .judge score of a minus that of b."),
        ("credit", "has a soft credit .a probability."),
    ],
)
def test_the_error_of_hard_verdicts_names_what_is_lacking(kind, names):
    with pytest.raises(NotIdentifiedError, match=f"none of the 3 judged battles .*{names}"):
        signal_of(battles([1, 0, 0.5, NONE]), kind)


def test_the_error_of_margins_without_lengths_names_their_columns():
    with pytest.raises(NotIdentifiedError, match="columns length_a, length_b"):
        signal_of(battles([1, 0], margin=[1, -1]), "length")


def test_the_error_of_one_length_names_the_columns_of_both():
    with pytest.raises(NotIdentifiedError, match="columns length_a, length_b"):
        signal_of(battles([1, 0], margin=[1, -1], length_a=[5, 6]), "length")


def test_the_error_of_merged_quarters_says_that_they_are_no_probabilities():
    with pytest.raises(NotIdentifiedError, match="all are wins, ties and losses"):
        signal_of(shown_twice((1, 0.5)), "credit")


@pytest.mark.parametrize("kind", ["margin", "length"])
def test_the_error_of_soft_credits_does_not_call_them_wins_ties_and_losses(kind):
    with pytest.raises(NotIdentifiedError) as error:
        signal_of(battles([0.9, 0.3]), kind)
    assert "wins, ties and losses only" not in str(error.value)


def test_an_unknown_kind_is_refused_with_those_known():
    with pytest.raises(UsageError, match="target='margins' is unknown; use one of margin, smoothing"):
        signal_of(battles([1, 0], margin=[1, -1]), "margins")


@pytest.mark.slow
@pytest.mark.parametrize(
    "ridge",
    [
        -1.0,
        np.nan,
        np.inf,
    ],
)
def test_a_ridge_that_is_no_finite_number_of_zero_or_more_is_refused(ridge):
    with pytest.raises(UsageError, match="ridge="):
        signal_of(battles([1, 0], margin_tone=[1, -1]), "criteria", ridge)
