"""Algorithm 1 of the Soft-Elo paper, against a slow transcription without shortcuts, and what must
not change it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, root
from scipy.special import expit
from turned_battles import mirror

from podium import Judge, NotIdentifiedError, calibrate, read_battles, simulate
from podium.notices.notice_text import notice_texts

LAMBDA = 0.01
SETTINGS = settings(max_examples=12, deadline=None)


def labelled(models=7, items=30, seed=0, **judge):
    """Human-labelled judgments of a world, with human ties, unparsed replies and rows without a
    margin."""
    world = simulate(models, items, seed=seed, spread=0.7)
    frame = world.judgments(
        Judge(**{"scale": 2.0, "position_bias": 0.4, "tie": 0.3, "unparsed": 0.03} | judge),
        human=True,
    )
    rng = np.random.default_rng(seed)
    pair = frame["item"] + frame["model_a"] + frame["model_b"]
    drawn = dict(zip(pair.unique(), rng.random(pair.nunique()), strict=True))
    luck = pair.map(drawn)
    frame["human"] = frame["human"].mask(luck < 0.15, 0.5).mask(luck > 0.95)
    frame["margin"] = frame["margin"].mask((luck > 0.5) & (luck < 0.55))
    return frame


def algorithm_1(battles):
    """Transcribe Algorithm 1, row by row: human, hard and soft Elo of every model, and the beta of
    its fold."""
    table = battles.table
    hard = np.where(table["swap"] == "flip", 0.5, (np.sign(table["credit"] - 0.5) + 1) / 2)
    rows = pd.DataFrame(
        {
            "a": table["model_a"].astype(str),
            "b": table["model_b"].astype(str),
            "human": table["human"],
            "hard": np.where(table["credit"].isna(), np.nan, hard),
            "s": table["margin"].where(table["credit"].notna()),
        }
    )
    found = {}
    for m in battles.models:
        others = [name for name in battles.models if name != m]
        rest, own = rows[(rows.a != m) & (rows.b != m)], rows[(rows.a == m) | (rows.b == m)]
        beta = fitted_beta(rest)
        elo = {}
        for kind in ("human", "hard", "soft"):
            y_rest, y_own = (
                part[kind] if kind != "soft" else expit(beta * part.s) for part in (rest, own)
            )
            theta = dict(zip(others, anchors(rest, y_rest, others), strict=True))
            elo[kind] = 1500 + 400 / np.log(10) * alone(own, y_own, m, theta)
        found[m] = (elo["human"], elo["hard"], elo["soft"], beta)
    return found


def fitted_beta(rest):
    """Line 4: the maximum of the likelihood on human non-ties."""
    used = rest[rest.human.notna() & (rest.human != 0.5) & rest.s.notna()]
    return brentq(
        lambda beta: np.sum(used.s * (used.human - expit(beta * used.s))),
        0,
        50,
        xtol=1e-15,
        rtol=1e-14,
    )


def anchors(rest, y, others):
    """Line 6: Bradley-Terry on a dense design matrix, with the penalty (lambda / 2) |theta|^2."""
    known = y.notna()
    design = np.array(
        [
            [(a == k) - (b == k) for k in others]
            for a, b in zip(rest.a[known], rest.b[known], strict=True)
        ],
        float,
    )
    target = y[known].to_numpy()

    def gradient(theta):
        return design.T @ (target - expit(design @ theta)) - LAMBDA * theta

    def jacobian(theta):
        p = expit(design @ theta)
        return -(design.T * (p * (1 - p))) @ design - LAMBDA * np.eye(len(others))

    theta = root(gradient, np.zeros(len(others)), jac=jacobian, tol=1e-13).x
    return theta - theta.mean()


def alone(own, y, m, theta):
    """Line 7: one strength, the others held fixed, with the authors' penalty on it."""
    known = y.notna()
    earned = np.where(own.a == m, y, 1 - y)[known]
    against = np.array([theta[b if a == m else a] for a, b in zip(own.a, own.b, strict=True)])[
        known
    ]
    return brentq(
        lambda t: np.sum(earned - expit(t - against)) - LAMBDA * t, -30, 30, xtol=1e-14, rtol=1e-14
    )


def by_model(calibration):
    return {
        one.model: (one.human_elo, one.hard_elo, one.soft_elo, one.weights["margin"])
        for one in calibration.models
    }


@pytest.mark.slow
@pytest.mark.parametrize(("models", "items", "seed"), [(7, 30, 0), (4, 60, 1), (12, 12, 2)])
def test_every_rating_and_beta_equals_a_literal_transcription(models, items, seed):
    battles = read_battles(labelled(models, items, seed))
    found, expected = by_model(calibrate(battles, bootstrap=20)), algorithm_1(battles)
    assert found.keys() == expected.keys()
    for model, values in expected.items():
        assert found[model] == pytest.approx(values, rel=0, abs=1e-8)


@pytest.mark.slow
def test_transcription_differs_from_a_joint_fit():
    """A wrong variant: the joint soft fit, in which everyone's battles move everyone, lies
    elsewhere."""
    battles = read_battles(labelled())
    calibration = calibrate(battles, bootstrap=20)
    joint = {one.model: 1500 + 400 / np.log(10) * one.soft_theta for one in calibration.anchors}
    expected = algorithm_1(battles)
    assert max(abs(joint[model] - values[2]) for model, values in expected.items()) > 1


@pytest.mark.slow
def test_the_mean_absolute_error_is_that_of_the_transcription():
    battles = read_battles(labelled())
    expected = np.array([values[:3] for values in algorithm_1(battles).values()])
    accuracy = calibrate(battles, bootstrap=20, scale_correction=False).accuracy
    assert accuracy["hard"].mae == pytest.approx(
        np.mean(np.abs(expected[:, 1] - expected[:, 0])), abs=1e-8
    )
    assert accuracy["soft"].mae == pytest.approx(
        np.mean(np.abs(expected[:, 2] - expected[:, 0])), abs=1e-8
    )


def outcome(frame):
    """All numbers of a calibration but the sources, to the last bit."""
    content = calibrate(read_battles(frame), bootstrap=30, splits=2).to_dict()
    return {name: part for name, part in content.items() if name not in ("provenance", "warnings")}


@pytest.mark.slow
@given(st.integers(0, 1000))
@SETTINGS
def test_the_order_of_rows_changes_no_bit(seed):
    frame = labelled(5, 12)
    shuffled = frame.sample(frac=1, random_state=seed)
    assert outcome(shuffled) == outcome(frame)


@pytest.mark.slow
@given(st.integers(0, 1000))
@SETTINGS
def test_swapping_a_and_b_of_merged_battles_changes_nothing(seed):
    table = read_battles(labelled(5, 12)).to_frame().drop(columns="swap")
    turned = np.random.default_rng(seed).random(len(table)) < 0.5
    swapped = pd.concat([table[~turned], mirror(table[turned])])
    assert close(outcome(swapped), outcome(table))


def close(one, other):
    """Compare nested numbers to 1e-7."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(close(x, y) for x, y in zip(one, other, strict=True))
    return one == pytest.approx(other, abs=1e-7) if isinstance(one, float) else one == other


@pytest.mark.slow
def test_renaming_models_renames_the_ratings():
    frame = labelled(5, 20)
    names = {
        name: f"{9 - k}-{name}"
        for k, name in enumerate(sorted({*frame["model_a"], *frame["model_b"]}))
    }
    renamed = frame.replace({"model_a": names, "model_b": names})
    before = by_model(calibrate(read_battles(frame), bootstrap=20))
    after = by_model(calibrate(read_battles(renamed), bootstrap=20))
    assert {
        names[model]: pytest.approx(values, abs=1e-8) for model, values in before.items()
    } == after


@pytest.mark.slow
def test_the_same_seed_gives_the_same_file():
    frame = labelled(5, 12)
    assert outcome(frame) == outcome(frame)


@pytest.mark.slow
def test_weights_count_as_copies_of_a_row():
    frame = read_battles(labelled(5, 12)).to_frame()
    twice = pd.concat([frame, frame.iloc[::2]])
    weighted = frame.assign(weight=np.where(np.arange(len(frame)) % 2 == 0, 2.0, 1.0))
    one, other = (
        by_model(calibrate(read_battles(table), bootstrap=20)) for table in (twice, weighted)
    )
    assert {model: pytest.approx(values, abs=1e-8) for model, values in one.items()} == other


@pytest.mark.slow
def test_a_model_that_joins_the_others_cannot_be_held_out():
    """Two groups that only the bridge has met: without it no scale is common, and it gets no
    rating, not a wild one."""
    world = simulate(["a1", "a2", "bridge", "b1", "b2"], 60, seed=3)
    pairs = [(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4)]
    calibration = calibrate(world.battles(Judge(), human=True, pairs=pairs), bootstrap=20)
    held = {one.model: one for one in calibration.models}
    assert (held["bridge"].human_elo, held["bridge"].hard_elo, held["bridge"].soft_elo) == (
        None,
        None,
        None,
    )
    assert held["a1"].soft_elo is not None
    assert any(
        "bridge" in warning and "held out" in warning
        for warning in notice_texts(calibration.warnings)
    )


def never_beaten(frame):
    """Humans prefer model-01 in every battle."""
    a, b = frame["model_a"] == "model-01", frame["model_b"] == "model-01"
    return read_battles(frame.assign(human=np.where(a, 1.0, np.where(b, 0.0, frame["human"]))))


@pytest.mark.slow
def test_model_without_human_losses_is_named_and_has_no_influence():
    """Its rating is the regularization's; as an anchor it would shift everyone's mean."""
    frame = labelled(6, 30, unparsed=0.0)
    calibration = calibrate(never_beaten(frame), bootstrap=20)
    others = frame[(frame["model_a"] != "model-01") & (frame["model_b"] != "model-01")]
    alone = by_model(calibrate(read_battles(others), bootstrap=20))
    assert by_model(calibration) == {
        model: pytest.approx(figures, rel=1e-9) for model, figures in alone.items()
    }
    assert any(
        "model-01" in warning and "unbounded" in warning
        for warning in notice_texts(calibration.warnings)
    )


@pytest.mark.slow
def test_model_whose_removal_unbounds_another_is_left_out_of_mean_and_quantile():
    """Humans always prefer model-02, but against model-01: without that one, its rating has no
    bound."""
    frame = labelled(6, 40, unparsed=0.0)
    a, b = frame["model_a"] == "model-02", frame["model_b"] == "model-02"
    one = (frame["model_a"] == "model-01") | (frame["model_b"] == "model-01")
    wins = np.where(a, 1.0, np.where(b, 0.0, frame["human"]))
    calibration = calibrate(
        read_battles(frame.assign(human=np.where(one, frame["human"], wins))), bootstrap=20
    )
    flagged = {held.model: held.separated for held in calibration.models if held.separated}
    assert flagged == {"model-01": ("human",)}
    assert calibration.accuracy["soft"].n == calibration.conformal["soft"].n == 5
    assert any("model-01 (human)" in warning for warning in notice_texts(calibration.warnings))


@pytest.mark.slow
def test_without_regularization_an_unbounded_rating_is_rejected():
    frame = labelled(6, 30, unparsed=0.0)
    a, b = frame["model_a"] == "model-01", frame["model_b"] == "model-01"
    always = frame.assign(credit=np.where(a, 1.0, np.where(b, 0.0, frame["credit"])))
    with pytest.raises(NotIdentifiedError, match="model-01"):
        calibrate(read_battles(always), bootstrap=20, regularization=0.0)


@pytest.mark.slow
def test_models_without_human_labels_are_named_and_left_out():
    frame = labelled(6, 30)
    frame["human"] = frame["human"].mask(
        (frame["model_a"] == "model-02") | (frame["model_b"] == "model-02")
    )
    calibration = calibrate(read_battles(frame), bootstrap=20)
    assert "model-02" not in {one.model for one in (*calibration.models, *calibration.anchors)}
    assert any(
        "model-02" in warning and "human labels" in warning
        for warning in notice_texts(calibration.warnings)
    )


def test_two_groups_that_never_met_are_rejected_with_their_names():
    world = simulate(["a1", "a2", "a3", "b1", "b2", "b3"], 40, seed=3)
    pairs = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]
    with pytest.raises(NotIdentifiedError, match=r"never met.*a1, a2, a3 \| b1, b2, b3"):
        calibrate(world.battles(Judge(), human=True, pairs=pairs), bootstrap=20)
