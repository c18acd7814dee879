"""Wins and losses with exactly known win rates, although the verdicts on one item hang together."""

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr

from podium import Battles
from podium.data.counting.battle_frame import BattleFrame


def strengths(models: int, spread: float = 1.0) -> np.ndarray:
    """Return equally spaced log-strengths from -spread to spread, shape (models,)."""
    return np.linspace(-spread, spread, models)


def by_strength(theta: np.ndarray) -> np.ndarray:
    """Return the Bradley-Terry win rates of row against column, shape (models, models)."""
    return expit(theta[:, None] - theta[None, :])


def names(models: int) -> list[str]:
    """Return names that sort like positions."""
    return [f"m{k:02d}" for k in range(models)]


def verdicts(
    rates: np.ndarray, items: int, seed: int, shared: float = 0.5, soft: float = 0.0
) -> Battles:
    """Draw one verdict per item and pair.

    A win is a normal variable below a threshold; the part that responses contribute is common to
    all battles of the response on the item, so battles of an item hang together while each has
    exactly the win rate asked for.

    Args:
        rates: of row against column, shape (models, models).
        items: how many.
        seed: the same seed gives the same verdicts.
        shared: share of the variance that is the responses'.
        soft: above 0, credits are sigmoid(log-odds of the rate + this times the normal variable)
            instead of wins.
    """
    rng = np.random.default_rng(seed)
    low, high = np.triu_indices(len(rates), 1)
    response = rng.standard_normal((items, len(rates)))
    alone = rng.standard_normal((items, len(low)))
    lean = (
        np.sqrt(shared / 2) * (response[:, high] - response[:, low]) + np.sqrt(1 - shared) * alone
    )
    rate = rates[low, high]
    credit = expit(np.log(rate / (1 - rate)) + soft * alone) if soft else (ndtr(lean) < rate) * 1.0
    label = pd.Index(names(len(rates)), dtype=object)
    item = pd.Index([f"i{k:05d}" for k in range(items)], dtype=object)
    frame = {
        "item": pd.Categorical.from_codes(np.repeat(np.arange(items), len(low)), item),
        "model_a": pd.Categorical.from_codes(np.tile(low, items), label),
        "model_b": pd.Categorical.from_codes(np.tile(high, items), label),
        "credit": credit.ravel(),
    }
    # What read_battles makes of such a table, in a twentieth of its time: hundreds of worlds are
    # drawn.
    return Battles(BattleFrame(pd.DataFrame(frame)))


def covers(figure, truth: float) -> bool:
    """Return whether the interval contains a value, rounding aside."""
    return figure.low - 1e-9 <= truth <= figure.high + 1e-9
