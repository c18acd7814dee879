"""Simulated worlds in which a judge's scale is not human ratings: what calibration errs, and what
its intervals hold.

The tests draw a few of them; `benchmarks/ratings.py` draws as many as the figures of the
documentation rest on.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from conformal_ends import mirrored_ends

from podium import Battles, Calibration, Judge, calibrate, rank, read_battles, simulate
from podium.defaults import MEAN
from podium.planning.simulation import World
from podium.rankers.calibration.evidence import build_evidence
from podium.rankers.calibration.leave_one_out import build_model_battles
from podium.rankers.calibration.placement import fit_single_strength
from podium.rankers.calibration.signals import read_signal
from podium.rankers.fit.scale import POINTS

JUDGES = {
    "noisy": (Judge(scale=1, noise=2, length_bias=0.3), 1.0),
    "coarse": (Judge(scale=1, noise=1, length_bias=0.6, tie=0.7), 1.0),
    "position": (Judge(scale=1, noise=1, position_bias=1.5, length_bias=0.3), 1.0),
    "accurate": (Judge(scale=1, noise=0.5, length_bias=0.3), 0.3),
    "inflated": (Judge(scale=2, noise=0.7, length_bias=0.3), 1.0),
}
"""Judges by what is wrong with them, and the standard deviation of items in their worlds."""
MOST_RATIO = {"noisy": 0.60, "coarse": 0.80, "position": 0.75, "accurate": 0.80, "inflated": 1.05}
"""Error scale-corrected over Soft-Elo's that each may have at most."""


def drawn(frame: pd.DataFrame, battles: int, rng: np.random.Generator) -> pd.DataFrame:
    """Keep a random sample of battles, both orders of each."""
    battle = (
        frame.groupby(["item", "model_a", "model_b"], sort=False, observed=True).ngroup().to_numpy()
    )
    kept = rng.choice(battle.max() + 1, min(battles, battle.max() + 1), replace=False)
    return frame[np.isin(battle, kept)]


def held_out(name: str, seed: int, scale_correction: bool = True) -> Calibration:
    """Calibrate on 2,000 battles of 20 models."""
    judge, item_sd = JUDGES[name]
    world = simulate(20, 300, seed=seed, spread=0.8, item_sd=item_sd)
    frame = drawn(world.judgments(judge, human=True), 2000, np.random.default_rng(seed))
    return calibrate(read_battles(frame), scale_correction=scale_correction)


def error_ratio(name: str, seeds: range) -> float:
    """Return the mean error of scale-corrected ratings over that of Soft-Elo's."""
    found = [held_out(name, seed).accuracy["soft"] for seed in seeds]
    return float(np.sum([each.mae for each in found]) / np.sum([each.plain_mae for each in found]))


@dataclass(frozen=True)
class Placements:
    """Intervals of newcomers beside human ratings of them.

    Attributes:
        hits: whether each holds it, width: of each, Elo points; infinite ones hold and have no
            width.
    """

    hits: np.ndarray
    width: np.ndarray

    @property
    def coverage(self) -> float:
        """Share of intervals that hold the rating by humans."""
        return float(self.hits.mean())


def placements(
    judge: Judge,
    seeds: range,
    calibrated: int,
    battles: int,
    times: float = 1.0,
    draws: int = 1,
    **options: bool,
) -> Placements:
    """Place five newcomers outside every fold, in the given number of simulations and draws.

    Args:
        calibrated: models that are calibrated.
        battles: among those.
        times: how many times as many battles a newcomer has as each of them.
        options: of `calibrate`.
    """
    hits: list[bool] = []
    width: list[float] = []
    for seed in seeds:
        world, frame = world_of(judge, seed)
        for draw in range(draws):
            rng = np.random.default_rng([seed, draw])
            names = rng.permutation(world.models)
            old, new = {*names[:calibrated]}, {*names[calibrated : calibrated + 5]}
            a, b = frame["model_a"], frame["model_b"]
            among = drawn(frame[a.isin(old) & b.isin(old)], battles, rng)
            calibration = calibrate(read_battles(among), **options)
            each = round(times * 2 * battles / calibrated)
            for name in sorted(new):
                meets = ((a == name) & b.isin(old)) | ((b == name) & a.isin(old))
                arrival = read_battles(drawn(frame[meets], each, rng))
                rating = rating_by_human(arrival, calibration, name)
                [row] = [
                    row
                    for row in rank(arrival, "soft-elo", calibration=calibration, answers=False)
                    .standings[0]
                    .entries
                    if row.model == name
                ]
                low, high = mirrored_ends(row)
                unbounded = low is None or high is None
                hits.append(unbounded or low <= rating <= high)
                width.append(np.inf if unbounded else high - low)
    return Placements(np.array(hits), np.array(width))


def placements_outside(judge: Judge, seeds: range, *, sign: int) -> tuple[Placements, Placements]:
    """Place the three strongest of 20 models (`sign` 1) or the three weakest (-1), calibrating 15
    others.

    Returns:
        the intervals as they are, and the intervals that are as long on the open side as on the
        other.
    """
    given: list[bool] = []
    closed: list[bool] = []
    for seed in seeds:
        world, frame = world_of(judge, seed)
        names = np.array(world.models)[np.argsort(-sign * world.strengths)]
        old = {*names[5:]}
        a, b = frame["model_a"], frame["model_b"]
        rng = np.random.default_rng(seed)
        among = drawn(frame[a.isin(old) & b.isin(old)], 1500, rng)
        calibration = calibrate(read_battles(among))
        for name in names[:3]:
            meets = ((a == name) & b.isin(old)) | ((b == name) & a.isin(old))
            arrival = read_battles(drawn(frame[meets], 200, rng))
            rating = rating_by_human(arrival, calibration, name)
            standings = rank(arrival, "soft-elo", calibration=calibration, answers=False).standings
            [row] = [row for row in standings[0].entries if row.model == name]
            low, high = row.extra["conformal_low"], row.extra["conformal_high"]
            given.append((low is None or low <= rating) and (high is None or rating <= high))
            low, high = mirrored_ends(row)
            closed.append(low is None or low <= rating <= high)
    width = np.full(len(given), np.nan)
    return Placements(np.array(given), width), Placements(np.array(closed), width)


@lru_cache(1)
def world_of(judge: Judge, seed: int) -> tuple[World, pd.DataFrame]:
    """Return a world of 20 models and its verdicts, models as categories: masks of them are
    quick."""
    world = simulate(20, 300, seed=seed, spread=0.8, item_sd=1.0)
    frame = world.judgments(judge, human=True)
    return world, frame.astype({"model_a": "category", "model_b": "category"})


def rating_by_human(arrival: Battles, calibration: Calibration, name: str) -> float:
    """Rate a newcomer alone by human labels, against human ratings of the calibrated."""
    evidence = build_evidence(arrival, read_signal(arrival, "margin"))
    known = {anchor.model: anchor.human_theta for anchor in calibration.anchors}
    theta = np.array([known.get(model, np.nan) for model in evidence.models])
    own = build_model_battles(evidence, evidence.models.index(name), evidence.human, theta)
    return MEAN + POINTS * fit_single_strength(own, calibration.regularization)
