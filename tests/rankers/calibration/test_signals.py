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
    Signal,
    are_probabilities,
    beta_direction,
    default_kind,
    read_signal,
)
from podium.rankers.calibration.targets import build_given_target

KINDS: tuple[Kind, ...] = Kind.__args__
NONE = np.nan


def battles(credit, **columns):
    frame = pd.DataFrame(
        {"item": [f"i{k}" for k in range(len(credit))], "credit": credit, **columns}
    )
    frame["model_a"], frame["model_b"] = "x", "y"
    return read_battles(frame.assign(reason=np.where(frame["credit"].isna(), "no verdict", None)))


def shown_twice(*verdicts):
    """Each item in both orders, merged: credits of x in the first and the second."""
    rows = [
        row
        for k, (first, second) in enumerate(verdicts)
        for row in ((f"i{k}", "x", "y", first, "ab"), (f"i{k}", "x", "y", second, "ba"))
    ]
    return read_battles(
        pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "order"])
    )


def features(kind, read):
    return read_signal(read, kind).x


def predict(kind, x, weights):
    return Signal(kind, ("first", "second")[: x.shape[1]], x).predict(weights)


@pytest.mark.slow
def test_the_margin_is_a_feature_as_it_stands():
    found = read_signal(battles([1, 0, 0.5], margin=[2.5, -1, 0]), "margin")
    assert (found.names, found.x.tolist()) == (("margin",), [[2.5], [-1.0], [0.0]])


@pytest.mark.slow
def test_smoothing_reads_the_sign_of_the_verdict():
    found = read_signal(battles([1, 0.9, 0.5, 0.2, 0]), "smoothing")
    assert (found.names, found.x.tolist()) == (("verdict",), [[1.0], [1.0], [0.0], [-1.0], [-1.0]])


@pytest.mark.slow
def test_smoothing_reads_a_flip_as_a_tie_and_half_a_win_as_a_win():
    assert features(
        "smoothing", shown_twice((1, 0), (1, 0.5), (0.5, 0), (0.5, 0.5))
    ).ravel().tolist() == [0, 1, -1, 0]


def test_smoothing_reads_the_verdict_where_the_margin_says_otherwise():
    assert features("smoothing", battles([1.0], margin=[-2.0])).tolist() == [[1.0]]


@pytest.mark.slow
def test_criteria_have_a_feature_each_in_the_order_of_their_names():
    found = read_signal(battles([1, 0], margin_depth=[3, -2], margin_clarity=[1, 0.5]), "criteria")
    assert (found.names, found.x.tolist()) == (("clarity", "depth"), [[1.0, 3.0], [0.5, -2.0]])


@pytest.mark.slow
def test_soft_credits_are_a_feature_less_one_half():
    found = read_signal(battles([0.9, 0.5, 0.3]), "credit")
    assert found.names == ("credit",)
    assert found.x == pytest.approx(np.array([[0.4], [0], [-0.2]]))


ALL = {"margin": [1.0, 2.0], "margin_tone": [1.0, 2.0]}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_unparsed_battles_have_no_signal(kind):
    found = read_signal(battles([0.9, NONE], **ALL), kind)
    assert found.is_known.tolist() == [True, False]
    assert np.isnan(found.x[1]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "column"),
    [("margin", "margin"), ("criteria", "margin_tone")],
)
def test_a_battle_that_lacks_a_feature_has_no_signal(kind, column):
    found = read_signal(battles([1, 0], **{**ALL, column: [NONE, 2.0]}), kind)
    assert found.is_known.tolist() == [False, True]


@pytest.mark.slow
def test_battle_needs_all_criteria_for_a_signal():
    found = read_signal(
        battles([1, 0], margin_tone=[1.0, 2.0], margin_depth=[NONE, 1.0]), "criteria"
    )
    assert found.is_known.tolist() == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_only_criteria_are_penalised_and_only_for_differing(kind):
    found = read_signal(battles([0.9, 0.2], **ALL, margin_depth=[1.0, 0.0]), kind, ridge=4.0)
    expected = (
        [[2.0, -2.0], [-2.0, 2.0]] if kind == "criteria" else np.zeros((len(found.names),) * 2)
    )
    assert found.penalty == pytest.approx(np.array(expected))


def test_margins_are_the_usual_signal():
    assert default_kind(battles([0.9, 0.2], margin=[1, NONE])) == "margin"


@pytest.mark.slow
def test_soft_credits_are_the_usual_signal_where_there_are_no_margins():
    assert default_kind(battles([0.9, 0.2])) == "credit"


@pytest.mark.slow
def test_soft_credits_are_the_usual_signal_where_the_column_of_margins_is_empty():
    assert default_kind(battles([0.9, 0.2], margin=[NONE, NONE])) == "credit"


def test_hard_verdicts_alone_leave_margins_the_usual_signal():
    assert default_kind(battles([1, 0, 0.5])) == "margin"


@pytest.mark.slow
def test_a_win_and_a_tie_merge_into_a_quarter_which_is_no_soft_credit():
    read = shown_twice((1, 0.5), (0.5, 0), (1, 0), (1, 1))
    assert sorted(read.table["credit"]) == [0.25, 0.5, 0.75, 1.0]
    assert not are_probabilities(read).any()
    assert default_kind(read) == "margin"


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("credit", [0.1, 0.26, 0.999])
def test_one_probability_among_quarters_makes_credits_soft(credit):
    assert are_probabilities(battles([0.25, 0.75, credit])).any()


@pytest.mark.slow
def test_credits_of_unparsed_battles_do_not_make_them_soft():
    assert not are_probabilities(battles([1, 0, NONE])).any()


@pytest.mark.slow
@settings(deadline=None)
@pytest.mark.parametrize("kind", KINDS)
@given(
    st.lists(st.floats(-0.5, 0.5), min_size=2, max_size=2),
    st.lists(st.floats(-9, 9), min_size=2, max_size=2),
)
def test_signal_of_a_swapped_battle_is_the_complement(kind, x, weights):
    x, weights = np.array([x]), np.array(weights)
    assert predict(kind, -x, weights) == pytest.approx(1 - predict(kind, x, weights), abs=1e-15)


def test_intercept_would_favour_one_response():
    """The wrong variant of a map fails the check above."""
    x = np.array([[1.0, 0.3]])
    lopsided = predict("margin", np.column_stack([x, [1.0]]), np.array([1, 1, 0.2]))
    turned = predict("margin", np.column_stack([-x, [1.0]]), np.array([1, 1, 0.2]))
    assert turned != pytest.approx(1 - lopsided, abs=1e-2)


@pytest.mark.parametrize("kind", ["margin", "criteria", "smoothing"])
def test_features_become_the_logistic_of_their_weighted_sum(kind):
    found = predict(kind, np.array([[1.0, 2.0]]), np.array([0.5, -0.1]))
    assert found == pytest.approx([1 / (1 + np.exp(-0.3))])


@pytest.mark.slow
def test_soft_credits_are_probabilities_as_they_are():
    credit = [0.9, 0.5, 0.3]
    assert predict("credit", features("credit", battles(credit)), np.ones(1)) == pytest.approx(
        credit
    )


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_signals_have_no_probability(kind):
    found = predict(kind, np.array([[0.1, 0.2], [NONE, NONE]]), np.ones(2))
    assert np.isnan(found).tolist() == [False, True]


@pytest.mark.slow
@settings(deadline=None)
@given(st.floats(0.501, 0.999))
def test_a_constant_is_exactly_the_credit_of_a_win(constant):
    signal = read_signal(battles([1, 0, 0.5]), "smoothing")
    found = signal.predict(np.array([logit(constant)]))
    assert found == pytest.approx([constant, 1 - constant, 0.5], abs=1e-15)
    assert found[2] == 0.5


@pytest.mark.parametrize("constant", [0.5, 1.0, 0.2, -1.0, 1.5, np.nan, np.inf])
def test_a_constant_that_is_no_credit_of_a_win_is_rejected(constant):
    with pytest.raises(UsageError, match="lies between"):
        build_given_target("smoothing", None, constant)


@pytest.mark.parametrize("kind", KINDS)
def test_beta_is_the_logit_that_a_unit_of_the_signal_moves(kind):
    """A unit of every criterion, or of the first feature alone."""
    weights = np.array([0.7, 0.2])
    unit = np.array([[1.0, 1.0 if kind == "criteria" else 0.0]])
    moved = logit(predict("margin", unit, weights))
    assert beta_direction(kind, weights) @ weights == pytest.approx(moved[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("margin", "has a margin .judge score of a minus that of b."),
        ("criteria", "columns margin_<criterion>"),
        ("credit", "has a soft credit .a probability."),
    ],
)
def test_the_error_of_hard_verdicts_names_what_is_lacking(kind, names):
    with pytest.raises(NotIdentifiedError, match=f"none of the 3 judged battles .*{names}"):
        read_signal(battles([1, 0, 0.5, NONE]), kind)


@pytest.mark.slow
def test_the_error_of_merged_quarters_says_that_they_are_no_probabilities():
    with pytest.raises(NotIdentifiedError, match="all are wins, ties and losses"):
        read_signal(shown_twice((1, 0.5)), "credit")


def test_the_error_of_soft_credits_does_not_call_them_wins_ties_and_losses():
    with pytest.raises(NotIdentifiedError) as error:
        read_signal(battles([0.9, 0.3]), "margin")
    assert "wins, ties and losses only" not in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "instead"), [("length", "length_control=true"), ("jury", "target=criteria")]
)
def test_a_removed_kind_names_what_replaces_it(kind, instead):
    with pytest.raises(UsageError, match=f"target={kind} was removed: .*{instead}"):
        read_signal(battles([1, 0], margin=[1, -1]), kind)


def test_an_unknown_kind_is_rejected_with_those_known():
    with pytest.raises(
        UsageError, match="target='margins' is unknown; use one of margin, smoothing"
    ):
        read_signal(battles([1, 0], margin=[1, -1]), "margins")


@pytest.mark.slow
@pytest.mark.parametrize(
    "ridge",
    [
        -1.0,
        np.nan,
        np.inf,
    ],
)
def test_a_ridge_that_is_no_finite_number_of_zero_or_more_is_rejected(ridge):
    with pytest.raises(UsageError, match="ridge="):
        read_signal(battles([1, 0], margin_tone=[1, -1]), "criteria", ridge)
