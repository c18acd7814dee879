"""The simulator does what it says: its verdicts have the mean that it calls exact."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from podium import Judge, UsageError, simulate

VAIN = Judge(length_bias=0.3, verbosity_bias=0.9, self_preference=0.7, favours=("model-02",))
FAULTY = Judge(scale=1.7, position_bias=0.6, length_bias=0.8, noise=0.7, tie=0.5)


def mean_credits(world, judge, orders="both"):
    frame = world.judgments(judge, orders=orders)
    mean = frame.groupby(["model_a", "model_b"])["credit"].mean()
    return {pair: float(value) for pair, value in mean.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "judge",
    [
        Judge(),
        FAULTY,
        Judge(noise=0.0, position_bias=0.4, tie=0.2),
        Judge(verdicts="soft", scale=2.0, noise=1.5),
        VAIN,
    ],
)
@pytest.mark.parametrize("orders", ["both", "ab"])
def test_mean_credits_of_many_items_approach_the_exact_ones(judge, orders):
    world = simulate(3, 60_000, seed=4)
    exact = world.expected_credits(judge, orders=orders)
    for (a, b), found in mean_credits(world, judge, orders).items():
        where = world.models.index(a), world.models.index(b)
        assert found == pytest.approx(exact[where], abs=0.008)


def test_expected_credits_of_a_pair_add_up_to_one():
    exact = simulate(5, 2, seed=1).expected_credits(FAULTY)
    assert exact + exact.T == pytest.approx(np.ones((5, 5)))


@pytest.mark.parametrize("noise", [0.0, 0.05, 1.0, 1.4, 1.5, 8.0])
def test_expected_credits_equal_adaptive_quadrature(noise):
    """Oracle: scipy.integrate.quad over the normal margin, split at its mean."""
    world, judge = simulate(2, 2, seed=2), Judge(noise=noise, position_bias=0.3, tie=0.2)
    gap, spread = world.strengths[0] - world.strengths[1], np.sqrt(2)

    def mean(lean):
        edges = sorted({-12.0, (-judge.tie - lean) / spread, (judge.tie - lean) / spread, 12.0})
        parts = [
            quad(
                lambda z: norm.pdf(z) * judge.mean_credit(np.float64(lean + spread * z)),
                low,
                high,
                epsabs=1e-13,
            )[0]
            for low, high in pairwise(edges)
        ]
        return sum(parts)

    exact = (mean(gap + 0.3) + 1 - mean(-gap + 0.3)) / 2
    assert world.expected_credits(judge)[0, 1] == pytest.approx(exact, abs=1e-9)


def test_a_verbosity_bias_moves_verdicts_and_leaves_margins_alone():
    world = simulate(3, 2_000, seed=3)
    plain, wordy = (world.judgments(Judge(verbosity_bias=bias)) for bias in (0.0, 2.0))
    longer = np.sign(wordy["length_a"] - wordy["length_b"])
    assert (plain["margin"] == wordy["margin"]).all()
    assert ((2 * wordy["credit"] - 1) * longer).mean() > (
        (2 * plain["credit"] - 1) * longer
    ).mean() + 0.1


def test_position_bias_favours_the_response_shown_first():
    world = simulate(3, 5_000, seed=3)
    frame = world.judgments(Judge(position_bias=1.0))
    first = np.where(frame["order"] == "ab", frame["credit"], 1 - frame["credit"])
    assert first.mean() > 0.55


def test_length_bias_favours_the_longer_response():
    world = simulate(3, 5_000, seed=3)
    frame = world.judgments(Judge(length_bias=2.0))
    longer = np.where(frame["length_a"] > frame["length_b"], frame["credit"], 1 - frame["credit"])
    assert longer.mean() > 0.54


@pytest.mark.slow
def test_human_labels_follow_quality_not_the_judge():
    world = simulate(2, 40_000, seed=5)
    frame = world.judgments(Judge(scale=9.0, position_bias=3.0), human=True)
    assert frame["human"].mean() == pytest.approx(world.expected_credits()[0, 1], abs=0.01)


def test_the_stated_share_is_unparsed_with_a_reason():
    frame = simulate(3, 4_000, seed=6).judgments(Judge(unparsed=0.1))
    assert frame["credit"].isna().mean() == pytest.approx(0.1, abs=0.01)
    assert (frame["reason"].notna() == frame["credit"].isna()).all()


def test_the_same_seed_gives_the_same_world_and_verdicts():
    pd.testing.assert_frame_equal(
        simulate(4, 9, seed=7).judgments(), simulate(4, 9, seed=7).judgments()
    )


def test_another_seed_gives_other_verdicts():
    first, second = (simulate(4, 9, seed=seed).judgments()["credit"] for seed in (7, 8))
    assert (first != second).any()


def test_repeats_are_numbered():
    frame = simulate(3, 2, seed=0).judgments(repeats=3)
    assert sorted(frame["repeat"].unique()) == [0, 1, 2]


def test_a_world_of_one_model_is_rejected():
    with pytest.raises(UsageError, match="at least two models"):
        simulate(1, 10)
