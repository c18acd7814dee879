"""Two judges of the same battles: agreement, the judge's drift, and the models' own where their
answers changed."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from podium import rank, read_battles
from podium.diagnosis.figures import Missing
from podium.diagnosis.judges import compare_rejudged
from podium.diagnosis.subject import Subject

NAMES = ("ash", "elm", "fir", "oak")
OLD = np.array([0.6, 0.2, -0.2, -0.6])
TASTE = np.array([-0.3, 0.3, 0.0, 0.0])
"""What the new judge likes otherwise, logits: 52 Elo each."""
GROWN = np.array([0.0, 0.0, 0.0, 0.8])
"""What oak's new answers are better by."""
ELO = 400 / np.log(10)


def verdicts(theta, items, judge, seed, lengths=100):
    rng = np.random.default_rng(seed)
    rows = []
    for item in items:
        for i in range(4):
            for j in range(i + 1, 4):
                credit = float(rng.random() < expit(theta[i] - theta[j]))
                length = (lengths, lengths + 5 * (j == 3 and lengths != 100))
                rows.append((f"q{item}", NAMES[i], NAMES[j], credit, judge, *length))
    return pd.DataFrame(
        rows, columns=["item", "model_a", "model_b", "credit", "judge", "length_a", "length_b"]
    )


def compare_judges_of(*tables):
    """Return the section on all judges of the given tables, as `podium diagnose` computes it."""
    battles = read_battles(pd.concat(tables, ignore_index=True))
    names = battles.table["judge"].astype(str).to_numpy()
    parts = [(judge, battles.select(names == judge)) for judge in battles.judges]
    return compare_rejudged([Subject(judge, part, part) for judge, part in parts])


@pytest.mark.slow
def test_drifts_are_differences_of_the_ratings_that_rank_gives():
    """Oracle: `podium.rank` of either judge alone."""
    old, new = (
        verdicts(theta, range(60), judge, k)
        for k, (theta, judge) in enumerate([(OLD, "a"), (OLD + TASTE, "b")])
    )
    found = compare_judges_of(old, new)
    scores = [
        {one.model: one.score for one in rank(read_battles(part)).standings[0].entries}
        for part in (old, new)
    ]
    for name in NAMES:
        assert found.judge[name].value == pytest.approx(scores[1][name] - scores[0][name], abs=1e-6)
    same = (old["credit"].to_numpy() == new["credit"].to_numpy()).mean()
    assert found.agreement.value == pytest.approx(same)
    assert (found.battles, found.most, found.changed) == (360, 360, 0)
    assert isinstance(found.models, Missing)


def test_identical_verdicts_have_no_drift_and_no_error():
    old = verdicts(OLD, range(30), "a", 1)
    found = compare_judges_of(old, old.assign(judge="b"))
    assert all(
        (one.value, one.low, one.high) == (pytest.approx(0, abs=1e-9),) * 3
        for one in found.judge.values()
    )
    assert found.agreement.value == 1.0


@pytest.mark.slow
def test_agreement_does_not_depend_on_response_order():
    old, new = verdicts(OLD, range(30), "a", 1), verdicts(OLD + TASTE, range(30), "b", 2)
    swapped = {
        "model_a": "model_b",
        "model_b": "model_a",
        "length_a": "length_b",
        "length_b": "length_a",
    }
    turned = new.rename(columns=swapped).assign(credit=1 - new["credit"])
    one, other = compare_judges_of(old, new), compare_judges_of(old, turned)
    assert [one.judge[name].value for name in NAMES] == pytest.approx(
        [other.judge[name].value for name in NAMES]
    )
    assert (one.changed, one.agreement.value) == (other.changed, other.agreement.value)


@pytest.mark.slow
def test_drift_of_the_judge_and_of_the_models_are_distinguishable_with_honest_intervals():
    """In 24 worlds of known truth all four intervals hold together in 21 or more, for judge and
    models each."""
    truth = {"judge": ELO * (TASTE - TASTE.mean()), "models": ELO * (GROWN - GROWN.mean())}
    held = {"judge": 0, "models": 0}
    shown = 0
    for world in range(24):
        old = verdicts(OLD, range(240), "a", 4 * world)
        same = verdicts(OLD + TASTE, range(120), "b", 4 * world + 1)
        changed = verdicts(OLD + TASTE + GROWN, range(120, 240), "b", 4 * world + 2, lengths=140)
        found = compare_judges_of(old, same, changed)
        assert (found.battles, found.changed) == (1440, 720)
        for name, drifts in (("judge", found.judge), ("models", found.models)):
            held[name] += all(
                drifts[who].low <= value <= drifts[who].high
                for who, value in zip(NAMES, truth[name], strict=True)
            )
        shown += found.models["oak"].low > 0
    assert held["judge"] >= 21
    assert held["models"] >= 21
    assert shown >= 15


@pytest.mark.slow
def test_incomparable_judges_are_reported():
    old = verdicts(OLD, range(20), "a", 1)
    assert "one judge only" in compare_judges_of(old).why
    assert "3 judges" in compare_judges_of(old, old.assign(judge="b"), old.assign(judge="c")).why
    assert (
        "no battle was judged by both"
        in compare_judges_of(old, verdicts(OLD, range(50, 60), "b", 1)).why
    )
    assert (
        "no row names its item"
        in compare_judges_of(
            *(part.drop(columns="item") for part in (old, old.assign(judge="b")))
        ).why
    )
    unknown = [part.drop(columns=["length_a", "length_b"]) for part in (old, old.assign(judge="b"))]
    assert compare_judges_of(*unknown).changed is None
    assert "not known" in compare_judges_of(*unknown).labelled_values()[0][1]
