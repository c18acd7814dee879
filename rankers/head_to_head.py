"""Win rates of each pair of models with intervals, and probabilities of ranks."""

import numpy as np
import pandas as pd

from podium.rankers.errors.intervals import t_quantile
from podium.rankers.fit.cells import BattleData, pair_sums_with_items
from podium.rankers.fit.pairs import cells_by_cluster, pair_positions

DRAWS = 4000
"""Number of draws for rank probabilities, whose standard error is then below 0.8 percentage
points."""
SMALLEST_EIGENVALUE = 1e-12
"""Smaller eigenvalues of a covariance, which rounding may leave, are raised to this before the root
is taken."""
MATCHUP_LEVEL = 0.95
"""Confidence level of the interval of each pair. The intervals are not simultaneous."""


def matchup_table(battles: BattleData) -> pd.DataFrame:
    """Return the mean credit of each model against each opponent, with intervals.

    Each pair that met has two rows, one for each of its models: all pairs from the side of their
    first model come first, then all pairs in the same order from the side of their second model.

    The standard error of a mean m over G clusters is sqrt(G / (G - 1) sum (S - m W)^2) / sum W,
    where S is the sum of weighted credits of a cluster and W its sum of weights.

    Returns:
        A table with the columns `model` and `against` (names), `share` (mean credit of `model`),
        `low` and `high` (its interval in [0, 1], t with G - 1 degrees of freedom; NaN below two
        items), `battles` (number of readable battles), and `items` (number of clusters in
        which they met).
    """
    pairs = pair_sums_with_items(battles)
    names = np.array(battles.models, dtype=object)
    items_of_pair = np.asarray(pairs.items)
    mean = pairs.credit / pairs.weight
    battle_count = np.zeros(len(mean))
    squares = np.zeros(len(mean))
    for block in battles.blocks():
        cells = cells_by_cluster(block, pairs)
        squares += np.bincount(cells.pair, cells.surplus_over(mean) ** 2, len(mean))
        pair_of_row = pair_positions(block, pairs)
        battle_count += np.bincount(pair_of_row, block.number, len(mean))
    # G / (G - 1), unknown for a single item.
    g_ratio = items_of_pair / np.maximum(items_of_pair - 1, 1)
    factor = np.where(items_of_pair > 1, g_ratio, np.nan)
    se = np.sqrt(factor * squares) / pairs.weight
    half_width = np.tile(t_quantile(items_of_pair, MATCHUP_LEVEL) * se, 2)
    share = np.concatenate([mean, 1 - mean])
    columns = {
        "model": names[np.concatenate([pairs.first, pairs.second])],
        "against": names[np.concatenate([pairs.second, pairs.first])],
        "share": share,
        "low": np.clip(share - half_width, 0, 1),
        "high": np.clip(share + half_width, 0, 1),
        "battles": np.tile(battle_count.astype(int), 2),
        "items": np.tile(items_of_pair, 2),
    }
    return pd.DataFrame(columns)


def rank_probabilities(
    score: np.ndarray, covariance: np.ndarray, rng: np.random.Generator, draws: int = DRAWS
) -> np.ndarray:
    """Return the share of normal draws of the scores in which each model has each rank.

    Each draw gives every model a rank of its own, as ties do not occur.

    Args:
        score: scores, shape (models,).
        covariance: their covariance, without NaN, shape (models, models).
        rng: draws the scores.
        draws: number of draws.

    Returns:
        Shares, shape (models, ranks), the best rank first.
    """
    eigenvalues, eigenvectors = np.linalg.eigh(covariance)
    root = eigenvectors * np.sqrt(np.maximum(eigenvalues, SMALLEST_EIGENVALUE))
    drawn_scores = score + rng.standard_normal((draws, len(score))) @ root.T
    models_by_rank = np.argsort(-drawn_scores, axis=1)
    counts = [
        np.bincount(models_at_rank, minlength=len(score)) for models_at_rank in models_by_rank.T
    ]
    return np.stack(counts, axis=1) / draws
