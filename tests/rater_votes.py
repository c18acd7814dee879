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


def votes_with_heavy_voter(*, votes=600, crowd=12, kind="voter"):
    """Return votes of a crowd that prefers m0, and more of `arena_user_17`, who prefers m1."""
    rng = np.random.default_rng(3)
    parts = []
    for number, each, favourite in ((crowd, 12, "m0"), (1, votes, "m1")):
        part = votes_of(crowd, voters=number, votes=each, taste=0, items=100, models=3, kind=kind)
        for side, chance in (("model_a", 0.8), ("model_b", 0.2)):
            own = part[side] == favourite
            part.loc[own, "credit"] = (rng.random(own.sum()) < chance).astype(float)
        parts.append(part)
    parts[1][kind] = "arena_user_17"
    return pd.concat(parts, ignore_index=True)


def dense_enlargement(weight: pd.Series) -> float:
    """Return the factor that makes a variance clustered by rater unbiased, by dense matrices.

    `weight` is the weight of each rater in a mean.
    """
    share = (weight / weight.sum()).to_numpy()
    residual_covariance = _residual_maker(share) @ _residual_maker(share).T
    squares = share**2
    return float(squares.sum() / (squares @ np.diag(residual_covariance)))


def dense_freedom(weight: pd.Series) -> float:
    """Return Satterthwaite's degrees of freedom of a variance by raters, by dense matrices."""
    share = (weight / weight.sum()).to_numpy()
    covariance = _residual_maker(share) @ _residual_maker(share).T
    quadratic = np.diag(share**2 / np.diag(covariance)) @ covariance
    return float(np.trace(quadratic) ** 2 / np.trace(quadratic @ quadratic))


def _residual_maker(share: np.ndarray) -> np.ndarray:
    """Return the matrix that subtracts a weighted mean."""
    return np.eye(len(share)) - np.outer(np.ones(len(share)), share)
