"""Simulated worlds with few labels by humans and many verdicts: what ratings err beside the truth.

The tests draw a few; `benchmarks/ratings.py structured` draws as many as the documented figures
rest on.
"""

from dataclasses import dataclass

import numpy as np

from podium import Judge, NotIdentifiedError, rank, read_battles, simulate
from podium.rankers.fit.scale import POINTS

JUDGES = {
    "noisy": Judge(scale=1, noise=2, length_bias=0.3),
    "inflated": Judge(scale=2, noise=0.7, length_bias=0.3),
    "long-winded": Judge(scale=1, noise=1, length_bias=2),
}


@dataclass(frozen=True)
class FewLabelErrors:
    """Mean absolute errors, Elo points, and the share of 95% intervals that hold the truth."""

    structured: float
    alone: float
    soft: float
    coverage: float


def drawn_frame(name, labels, seed, uncertain=False):
    """Return 1,200 battles of 12 models, labelled in a given number per model, and the true
    log-strengths.

    Args:
        uncertain: label where the judge is least sure, instead of at random.
    """
    world = simulate(12, 300, seed=seed, spread=0.8, item_sd=1.0)
    frame = world.judgments(JUDGES[name], human=True)
    rng = np.random.default_rng(seed)
    battle = frame.groupby(["item", "model_a", "model_b"], sort=False).ngroup().to_numpy()
    kept = rng.choice(battle.max() + 1, 1200, replace=False)
    frame, battle = frame[np.isin(battle, kept)], battle[np.isin(battle, kept)]
    number = 12 * labels // 2
    if uncertain:
        sure = np.abs(frame.assign(battle=battle).groupby("battle")["credit"].mean() - 0.5)
        asked = sure.index[np.argsort(sure + rng.random(len(sure)) * 1e-6)][:number]
    else:
        asked = rng.choice(kept, number, replace=False)
    truth = POINTS * world.estimand(Judge(scale=1, noise=1))
    return frame.assign(human=frame["human"].where(np.isin(battle, asked))), dict(
        zip(world.models, truth, strict=True)
    )


def errors(name, labels, seed):
    """Return what one world's ratings err."""
    frame, truth = drawn_frame(name, labels, seed)
    battles = read_battles(frame)
    entries = rank(battles, "structured-bradley-terry").standings[0].entries
    held = [entry.low <= 1500 + truth[entry.model] <= entry.high for entry in entries]
    alone = {
        entry.model: entry.extra["human"] for entry in entries if entry.extra["human"] is not None
    }
    try:
        soft = {
            entry.model: entry.score for entry in rank(battles, "soft-elo").standings[0].entries
        }
    except NotIdentifiedError:
        soft = {}
    return FewLabelErrors(
        error_beside({entry.model: entry.score for entry in entries}, truth),
        error_beside(alone, truth),
        error_beside(soft, truth),
        float(np.mean(held)),
    )


def error_beside(scores, truth):
    """Return the mean absolute error of centred scores; NaN where there are none."""
    if not scores:
        return np.nan
    found, true = (np.array([each[name] for name in scores]) for each in (scores, truth))
    return float(np.mean(np.abs(found - found.mean() - true + true.mean())))


def mean_errors(name, labels, seeds):
    """Return the means over worlds; those without a Soft-Elo are left out of its mean."""
    found = [errors(name, labels, seed) for seed in seeds]
    figures = ("structured", "alone", "soft", "coverage")
    return FewLabelErrors(
        *(float(np.nanmean([getattr(each, figure) for each in found])) for figure in figures)
    )
