"""Several judges beside each other: correlations and names."""

import numpy as np
import pytest
from correlated_verdicts import by_strength, names, strengths, verdicts
from scipy.stats import kendalltau

from podium import rank, read_battles
from podium.diagnosis.figures import Missing
from podium.diagnosis.judges import side_by_side
from podium.diagnosis.subject import Gold, Subject
from podium.rankers.fit.scale import POINTS

THETA = strengths(6)


def subject(judge, theta=THETA, items=60, seed=0, gold=None):
    battles = verdicts(by_strength(theta), items, seed)
    return Subject(judge, battles, battles, gold=gold)


def asked(*subjects, **options):
    return side_by_side(subjects, **{"resamples": 60, **options})


def gold(theta=THETA):
    return Gold("gold.csv", dict(zip(names(len(theta)), POINTS * theta, strict=True)))


def test_equal_and_opposite_judges_correlate_perfectly():
    found = asked(
        subject("a", seed=1), subject("b", seed=1), subject("c", -THETA, items=300, seed=2)
    )
    tau = {(one.first, one.second): one.tau for one in found.correlations}
    assert (tau["a", "b"].value, tau["a", "b"].low, tau["a", "b"].high) == (1.0, 1.0, 1.0)
    assert tau["a", "c"].value <= -0.85
    assert found.mean.value == pytest.approx(np.mean([one.value for one in tau.values()]))


def test_correlations_equal_scipys():
    """Oracle: scipy.stats.kendalltau on Bradley-Terry scores."""
    subjects = [subject(name, seed=seed, items=15) for name, seed in (("a", 1), ("b", 2))]
    scores = [
        {e.model: e.score for e in rank(one.battles, "bradley-terry").standings[0].entries}
        for one in subjects
    ]
    theirs = kendalltau(*[[one[name] for name in sorted(one)] for one in scores]).statistic
    assert asked(*subjects).correlations[0].tau.value == pytest.approx(theirs, abs=1e-12)


@pytest.mark.slow
def test_items_that_judges_share_are_drawn_together():
    """The same judge twice always agrees with itself; with items of other names it does not."""
    one = subject("a", seed=3, items=20, theta=0.3 * THETA)
    frame = one.battles.to_frame()
    frame["item"] = "other-" + frame["item"].astype(str)
    apart = Subject("b", read_battles(frame), read_battles(frame))
    same = Subject("b", one.battles, one.battles)
    assert asked(one, same).correlations[0].tau.low == 1.0
    assert asked(one, apart).correlations[0].tau.low < 1.0


def test_judges_are_ordered_by_tau_with_the_gold_standard():
    better, worse = (
        subject("z", items=200, gold=gold()),
        subject("a", THETA[[1, 0, 3, 2, 5, 4]], items=200, gold=gold()),
    )
    found = asked(worse, better)
    assert [one.judge for one in found.judges] == ["z", "a"]
    assert found.judges[0].tau.value == pytest.approx(1.0)
    assert found.judges[1].tau.value == pytest.approx(1 - 2 * 3 / 15)


@pytest.mark.parametrize(
    ("subjects", "why"),
    [
        ([subject("a")], "one judge only"),
        ([subject("a"), subject("b", strengths(2))], "2 models are ranked by all"),
    ],
)
def test_incomparable_judges_are_reported(subjects, why):
    stated = asked(*subjects)
    assert isinstance(stated, Missing)
    assert why in stated.why


def test_without_a_gold_standard_correlations_are_still_there():
    found = asked(subject("a"), subject("b", seed=1))
    assert found.correlations[0].tau.value > 0.5
    assert isinstance(found.judges[0].tau, Missing)
    assert "--gold" in found.judges[0].tau.remedy


def test_a_single_item_has_correlations_and_no_intervals():
    answer = asked(subject("a", items=1, gold=gold()), subject("b", items=1, seed=1, gold=gold()))
    kendall_taus = [
        answer.mean,
        answer.correlations[0].tau,
        *(standing.tau for standing in answer.judges),
    ]
    assert all(-1 <= tau.value <= 1 and (tau.low, tau.high) == (None, None) for tau in kendall_taus)
    assert {tau.method for tau in kendall_taus} == {
        "too few usable resamples of the items: no interval"
    }
