"""Worlds in which some models have few battles: a newcomer beside a round robin, sparse designs, a
pilot."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from podium import simulate
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.pointwise import ScoreMatrix

NAMES = tuple(f"model-{k:02d}" for k in range(40))


@dataclass(frozen=True)
class Played:
    """Battles of one world, and the exact expected credit of row against column, shape (models,
    models)."""

    coded: CodedBattles
    credit: np.ndarray


def round_robin(items: int, models: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return item and both sides of every pair on every item."""
    low, high = np.triu_indices(models, 1)
    return np.repeat(np.arange(items), len(low)), np.tile(low, items), np.tile(high, items)


def beside_newcomer(
    seed: int, battles: int, items: int = 200, models: int = 8, spread: float = 0.7
) -> Played:
    """Return a round robin of all but the last model, which has this many battles, each on an item
    of its own."""
    rng = np.random.default_rng([seed, battles])
    item, a, b = round_robin(items, models - 1)
    own, opponents = rng.choice(items, battles, replace=False), rng.integers(0, models - 1, battles)
    newcomer = np.full(battles, models - 1)
    sides = np.append(a, newcomer), np.append(b, opponents)
    return _play(seed, items, models, spread, np.append(item, own), *sides)


def sparse_design(
    seed: int, pairs: int = 2, items: int = 200, models: int = 8, spread: float = 0.7
) -> Played:
    """Return some random pairs of each item."""
    low, high = np.triu_indices(models, 1)
    chosen = (
        np.random.default_rng([seed, pairs]).random((items, len(low))).argsort(axis=1)[:, :pairs]
    )
    sides = low[chosen].ravel(), high[chosen].ravel()
    return _play(seed, items, models, spread, np.repeat(np.arange(items), pairs), *sides)


def half_of_items(seed: int, items: int, models: int = 6, spread: float = 0.7) -> Played:
    """Return each pair on half of the items, drawn anew for each."""
    low, high = np.triu_indices(models, 1)
    chosen = (
        np.random.default_rng([seed, items])
        .random((len(low), items))
        .argsort(axis=1)[:, : items // 2]
    )
    sides = np.repeat(low, items // 2), np.repeat(high, items // 2)
    return _play(seed, items, models, spread, chosen.ravel(), *sides)


def random_rings(seed: int, items: int = 40, models: int = 12, spread: float = 0.7) -> Played:
    """Return one ring of all models an item, in random order."""
    order = np.random.default_rng([seed, 1]).random((items, models)).argsort(axis=1)
    item = np.repeat(np.arange(items), models)
    return _play(
        seed, items, models, spread, item, order.ravel(), np.roll(order, -1, axis=1).ravel()
    )


def anchor_by_pilot(
    seed: int, items: int = 200, pilot: int = 10, models: int = 8, spread: float = 0.7
) -> Played:
    """Return a round robin on a few items, and on all others everybody against the one whose rate
    is nearest half."""
    first = _play(seed, items, models, spread, *round_robin(pilot, models))
    coded = first.coded
    earned = np.bincount(coded.a, coded.credit, models) + np.bincount(
        coded.b, 1 - coded.credit, models
    )
    anchor = int(np.argmin(np.abs(earned - earned.mean())))
    others = np.delete(np.arange(models), anchor)
    item, a, b = round_robin(pilot, models)
    rest = np.repeat(np.arange(pilot, items), len(others))
    sides = np.append(a, np.tile(others, items - pilot)), np.append(b, np.full(len(rest), anchor))
    return _play(seed, items, models, spread, np.append(item, rest), *sides)


def whole(seed: int, items: int, models: int = 6, spread: float = 0.7) -> Played:
    """Return a round robin on all items."""
    return _play(seed, items, models, spread, *round_robin(items, models))


def answers(
    seed: int,
    share: float,
    items: int = 30,
    models: int = 8,
    epochs: int = 1,
    correlation: float = 0.0,
) -> tuple[ScoreMatrix, np.ndarray]:
    """Return mean scores of right and wrong answers, and the share that is right in truth.

    Args:
        share: right answers.
        epochs: answers an item and model.
        correlation: of two of them, by a beta-distributed share per item.
    """
    rng = np.random.default_rng([seed, epochs])
    shape = (items, models)
    size = 1 / correlation - 1 if correlation else np.inf
    chance = (
        rng.beta(share * size, (1 - share) * size, shape) if correlation else np.full(shape, share)
    )
    return ScoreMatrix(rng.binomial(epochs, chance) / epochs, NAMES[:models]), np.full(
        models, share
    )


def whole_scores(seed: int, items: int, models: int = 7) -> tuple[ScoreMatrix, np.ndarray]:
    """Return scores from 1 to 10 of models that are equal, half of them below 5.5, and the medians:
    5.5."""
    rng = np.random.default_rng([seed, items])
    item, own = rng.normal(size=(items, 1)), rng.normal(size=(items, models))
    return ScoreMatrix(np.clip(np.round(5.5 + item + 2 * own), 1, 10), NAMES[:models]), np.full(
        models, 5.5
    )


def _play(
    seed: int,
    items: int,
    models: int,
    spread: float,
    item: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
) -> Played:
    world = simulate(models, items, seed=seed, spread=spread)
    chance = np.random.default_rng(world.seed).random((items, models, models))
    low, high = np.minimum(a, b), np.maximum(a, b)
    won = chance[item, low, high] < expit(world.quality[item, low] - world.quality[item, high])
    credit = np.where(a < b, won, ~won) * 1.0
    met, cluster = np.unique(item, return_inverse=True)
    coded = CodedBattles(a, b, credit, np.ones(len(a)), cluster, len(met), "item", NAMES[:models])
    return Played(coded, world.expected_credits())
