"""Votes of voters or judges who have tastes of their own, on shared items."""

import numpy as np
import pandas as pd


def votes_of(seed, *, voters=20, votes=60, taste=0.7, items=200, models=2, lead=0.0, kind="voter"):
    """Return unbalanced votes of voters with tastes (sd `taste`, logits) on shared items."""
    rng = np.random.default_rng(seed)
    tastes = rng.normal(0, taste, (voters, models))
    number = rng.integers(votes // 2, votes * 3 // 2, voters)
    voter = np.repeat(np.arange(voters), number)
    item = rng.integers(0, items, len(voter))
    effect = rng.normal(0, 0.5, (items, models)) + lead * np.arange(models)
    a = rng.integers(0, models, len(voter))
    b = (a + 1 + rng.integers(0, models - 1, len(voter))) % models
    gap = tastes[voter, a] - tastes[voter, b] + effect[item, a] - effect[item, b]
    credit = (rng.random(len(voter)) < 1 / (1 + np.exp(-gap))).astype(float)
    columns = {
        "item": [f"i{k:03}" for k in item],
        "model_a": [f"m{k}" for k in a],
        "model_b": [f"m{k}" for k in b],
        "credit": credit,
        kind: [f"v{k:02}" for k in voter],
    }
    return pd.DataFrame(columns)
