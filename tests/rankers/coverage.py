"""How often intervals cover a known truth, over many simulated worlds."""

from collections.abc import Callable
from functools import cache

import numpy as np
from merged_worlds import battles_of

from podium import Battles, Judge, Standings, World, simulate
from podium.defaults import MEAN
from podium.rankers.fit.scale import POINTS

STRENGTHS = (-1.5, -0.8, -0.3, 0.0, 0.4, 0.9, 1.3)
WORLDS = 200


def worlds(
    items: int, number: int = WORLDS, strengths: tuple[float, ...] = STRENGTHS
) -> list[World]:
    """Return worlds that differ by seed only."""
    return [
        simulate(len(strengths), items, seed=seed, strengths=strengths, item_sd=1.5)
        for seed in range(number)
    ]


@cache
def played(
    items: int,
    number: int = WORLDS,
    strengths: tuple[float, ...] = STRENGTHS,
    judge: Judge | None = None,
) -> list[tuple[World, Battles]]:
    """Return those worlds with their battles, made once per test process."""
    return [(world, battles_of(world, judge)) for world in worlds(items, number, strengths)]


def elo_truth(world: World, judge: Judge | None = None) -> dict[str, float]:
    """Return the Elo of the exact estimand, by model."""
    return dict(zip(world.models, MEAN + POINTS * world.estimand(judge), strict=True))


def win_rate_truth(world: World) -> dict[str, float]:
    """Return each model's exact mean credit over its opponents."""
    credit = world.expected_credits()
    others = (credit.sum(axis=1) - np.diag(credit)) / (len(credit) - 1)
    return dict(zip(world.models, others, strict=True))


def covered(standings: Standings, truth: dict[str, float]) -> list[bool]:
    """Return for each model whether its interval contains its true value."""
    return [entry.low <= truth[entry.model] <= entry.high for entry in standings.entries]


def coverage(
    rank: Callable[[Battles, np.random.Generator], Standings],
    items: int,
    truth: Callable[[World], dict[str, float]] = elo_truth,
    number: int = WORLDS,
    judge: Judge | None = None,
) -> float:
    """Return the share of intervals that hold the truth, over models and worlds."""
    hits: list[bool] = []
    for seed, (world, battles) in enumerate(played(items, number, judge=judge)):
        hits += covered(rank(battles, np.random.default_rng(seed)), truth(world))
    return float(np.mean(hits))
