"""Unparsed replies, ties, verdicts against their margin, and repeats, worked out by hand."""

import numpy as np
import pytest
from hand_worked import judgments, subject_of, values

from podium.diagnosis.consistency import consistency
from podium.diagnosis.figures import Missing


def card(rows, columns, **constant):
    return consistency(subject_of(judgments(rows, columns, **constant)))


REPEATS = [
    *((0, "ab", credit, k) for k, credit in enumerate((1, 1, 0))),
    *((1, "ab", credit, k) for k, credit in enumerate((0.5, 0.5))),
    (2, "ab", 1, 0),
    (2, "ba", 0, 0),
]
"""A judgment judged three times (one pair of three agrees), one judged twice alike, and two judged
once each."""


@pytest.mark.slow
def test_unparsed_replies_and_ties_have_their_own_denominators():
    found = card([(0, 1.0), (1, 0.5), (2, np.nan), (3, 0.5), (4, 0.0)], "item credit")
    assert values(unparsed=found.unparsed, ties=found.ties) == {"unparsed": 1 / 5, "ties": 2 / 4}
    taken_for_ties = 3 / 5
    assert found.ties.value != taken_for_ties
    assert (found.unparsed.n, found.ties.n) == (5, 4)


@pytest.mark.slow
def test_verdicts_that_contradict_their_margin_are_a_share_of_decisive_verdicts():
    """Of x's margins -1, 2, -3, 1, 0, the verdicts x, x, y, tie, x: the first alone goes against
    its margin."""
    rows = [(0, 1.0, -1.0), (1, 1.0, 2.0), (2, 0.0, -3.0), (3, 0.5, 1.0), (4, 1.0, 0.0)]
    found = card(rows, "item credit margin").against_margin
    assert (found.value, found.n) == (1 / 4, 4)


@pytest.mark.slow
def test_verdicts_that_change_with_the_order_are_flips_and_halves():
    """x wins both, loses both, ties both, flips, wins once: two of five pairs change; the unparsed
    pair is none."""
    verdicts = [(1, 1), (0, 0), (0.5, 0.5), (1, 0), (1, 0.5), (1, np.nan)]
    rows = [
        row
        for k, (first, then) in enumerate(verdicts)
        for row in ((k, "ab", first), (k, "ba", then))
    ]
    found = card(rows, "item order credit").changing
    assert (found.value, found.n) == (2 / 5, 5)
    flips_alone = 1 / 5
    assert found.value != flips_alone


@pytest.mark.slow
def test_every_repeated_judgment_counts_once_in_the_retest():
    found = card(REPEATS, "item order credit repeat")
    assert found.retest.value == pytest.approx((1 / 3 + 1) / 2)
    pooled_over_pairs = (1 + 1) / (3 + 1)
    assert found.retest.value != pytest.approx(pooled_over_pairs)
    assert (found.retest.n, found.retest.clusters) == (2, 2)


@pytest.mark.slow
def test_the_two_orders_of_a_pair_are_no_repeats():
    found = card([(0, "ab", 1), (0, "ba", 0)], "item order credit")
    assert isinstance(found.retest, Missing)
    assert "asked" not in found.retest.why
    assert found.retest.remedy == "repeats=2 in a tournament, or a column repeat"


def test_repeats_without_an_order_are_turned_to_one_response():
    """x beats y, and y loses to x: the same verdict twice."""
    found = card(
        [(0, 1, "x", "y"), (0, 0, "y", "x"), (1, 1, "x", "y"), (1, 1, "y", "x")],
        "item credit model_a model_b",
    )
    assert found.retest.value == 0.5


@pytest.mark.slow
def test_an_unparsed_repeat_agrees_with_nothing():
    found = card([*REPEATS, (1, "ab", np.nan, 2)], "item order credit repeat")
    assert found.retest.value == pytest.approx((1 / 3 + 1) / 2)


def test_rows_without_an_item_leave_repeats_unknown():
    found = card([(1.0,), (0.0,)], "credit")
    assert isinstance(found.retest, Missing)
    assert "item" in found.retest.remedy
    assert found.unparsed.value == 0


@pytest.mark.slow
def test_verdicts_without_margins_and_in_one_order_say_so():
    found = card([(0, 1.0)], "item credit")
    assert "margin" in found.against_margin.remedy
    assert "both orders" in found.changing.remedy
