"""Conformal intervals hold the human rating of new models as often as they say, and two wrong ones
do not.

200 simulated worlds. In each, some models calibrate a judge that inflates differences and favours
long responses; new models, drawn like them, are placed from files' worth of battles against them.
The target is the rating that human ratings labels give the new model against the same anchors.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from conformal_ends import mirrored_ends
from merged_worlds import battles_of

from podium import Battles, Calibration, Judge, calibrate, rank, simulate
from podium.defaults import MEAN
from podium.rankers.calibration.conformal import quantile
from podium.rankers.calibration.evidence import build_evidence
from podium.rankers.calibration.leave_one_out import build_model_battles
from podium.rankers.calibration.placement import fit_single_strength
from podium.rankers.calibration.signals import read_signal
from podium.rankers.fit.scale import POINTS

pytestmark = pytest.mark.slow

WORLDS = 200
LEVELS = (0.5, 0.8, 0.9, 0.95)
JUDGE = Judge(scale=2.5, length_bias=2.0, noise=0.5)


class Played(NamedTuple):
    """One world: scores of the calibrated, errors and standard errors of the new, and what the
    rankings are made of."""

    scores: np.ndarray
    error: np.ndarray
    se: np.ndarray
    calibration: Calibration
    arrivals: Battles


def play(seed, calibrated, new):
    """Calibrate on the first models of a world, place the others, and rate those by human
    labels."""
    world = simulate(calibrated + new, 25, seed=seed, spread=0.8)
    battles = battles_of(world, JUDGE, orders="ab", human=True)
    first = set(world.models[:calibrated])
    a, b = (battles.table[side].isin(first).to_numpy() for side in ("model_a", "model_b"))
    calibration = calibrate(battles.select(a & b), bootstrap=60, seed=seed, scale_correction=False)
    arrivals = battles.select(a ^ b)
    human = human_ratings(arrivals, calibration)
    rows = [entry for entry in placed(arrivals, calibration, 0.9) if entry.model in human]
    return Played(
        np.array(
            [one.score("soft") for one in calibration.models if one.score("soft") is not None]
        ),
        np.array([entry.score - human[entry.model] for entry in rows]),
        np.array([entry.se for entry in rows]),
        calibration,
        arrivals,
    )


def placed(arrivals, calibration, level):
    """Return the entries of the ranking of new models."""
    ranking = rank(
        arrivals, "soft-elo", calibration=calibration, conformal_level=level, answers=False
    )
    return ranking.standings[0].entries


def human_ratings(arrivals, calibration):
    """Rate the new models alone by human labels, against the human ratings of the calibrated."""
    evidence = build_evidence(arrivals, read_signal(arrivals, "margin"))
    known = {one.model: one.human_theta for one in calibration.anchors}
    theta = np.array([known.get(name, np.nan) for name in evidence.models])
    return {
        name: MEAN
        + POINTS
        * fit_single_strength(
            build_model_battles(evidence, k, evidence.human, theta), calibration.regularization
        )
        for k, name in enumerate(evidence.models)
        if name not in known
    }


@cache
def worlds(calibrated, new):
    """Return many worlds; how beta settles with more labels is of no interest here, and takes a
    third of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("podium.rankers.calibration.evidence.SUBSETS_PER_SIZE", 1)
        return [play(seed, calibrated, new) for seed in range(WORLDS)]


def assert_at_least(level, shares):
    """The mean over worlds is the level or more, within three standard errors over worlds."""
    assert np.mean(shares) >= level - 3 * np.std(shares, ddof=1) / np.sqrt(len(shares))


def coverage(world, q):
    """Return the share of new models whose human rating lies within q standard errors."""
    return np.mean(np.abs(world.error) <= q * world.se)


@pytest.mark.parametrize("level", LEVELS)
def test_conformal_intervals_cover_at_every_level(level):
    assert_at_least(
        level, [coverage(world, quantile(world.scores, level)) for world in worlds(19, 4)]
    )


@pytest.mark.parametrize("level", [*LEVELS, 0.96])
def test_the_ranker_gives_the_intervals_whose_coverage_is_tested(level):
    """Through the public function: score +- q standard errors, and no ends where q is infinite (96%
    needs 24)."""
    for world in worlds(19, 4)[:10]:
        q = quantile(world.scores, level)
        for entry in placed(world.arrivals, world.calibration, level):
            if entry.extra["conformal_level"] is not None:
                ends = mirrored_ends(entry)
                bounded = (entry.score - q * entry.se, entry.score + q * entry.se)
                assert ends == (pytest.approx(bounded) if np.isfinite(q) else (None, None))


def test_four_calibrated_models_cover_at_four_in_five():
    assert_at_least(0.8, [coverage(world, quantile(world.scores, 0.8)) for world in worlds(4, 6)])


def test_a_quantile_clipped_to_the_largest_score_does_not_cover():
    with pytest.raises(AssertionError):
        assert_at_least(0.9, [coverage(world, np.max(world.scores)) for world in worlds(4, 6)])


def test_residuals_of_a_recentred_leave_one_out_do_not_cover():
    """Recentring after the placement shrinks held-out ratings by 1 - 1/M, and so their residuals; a
    new one's not."""
    shares = []
    for world in worlds(4, 6):
        shrunk = world.scores * (1 - 1 / len(world.scores))
        shares.append(coverage(world, quantile(shrunk, 0.8)))
    with pytest.raises(AssertionError):
        assert_at_least(0.8, shares)


def test_sampling_intervals_alone_do_not_hold_the_human_rating():
    """Two standard errors know nothing of how the judge differs from humans."""
    with pytest.raises(AssertionError):
        assert_at_least(0.95, [coverage(world, 1.96) for world in worlds(19, 4)])
