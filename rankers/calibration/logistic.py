"""Logistic regression through the origin: how far a judge's signal moves people's preferences."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.special import expit, stdtrit

from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.clusters import gram

STEPS = 200
CLOSE_ENOUGH = 1e-10
"""Logits, relative to the largest; a Newton step this small squares itself away."""
ROUNDING = 1e-12
"""Share of the likelihood by which a step may seem to lose."""


@dataclass(frozen=True, slots=True)
class Slopes:
    """Fitted weights and their error.

    Attributes:
        weights: logits per unit of each feature, shape (features,).
        covariance: cluster-robust, G / (G - 1), shape (features, features); NaN for a single cluster.
        clusters: G.
        rows: battles that were fitted.
    """

    weights: np.ndarray
    covariance: np.ndarray
    clusters: int
    rows: int


def fit(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: np.ndarray, start: np.ndarray | None = None
) -> np.ndarray:
    """Maximise sum w [y log s(x b) + (1 - y) log s(-x b)] - b' P b / 2 over b, shape (features,).

    Args:
        x: features without an intercept, shape (rows, features).
        y: in [0, 1], shape (rows,).
        weight: above 0, shape (rows,).
        penalty: P, positive semi-definite, shape (features, features).
        start: where to begin, shape (features,); zeros by default.

    Raises:
        NotIdentifiedError: no finite maximum exists.
        NotConvergedError: it was not reached.

    Source: Soft-Elo (Kargi and Salinas 2026), equation 6, for one feature and P = 0.
    """
    weights = np.zeros(x.shape[1]) if start is None else start
    value = _value(x, y, weight, penalty, weights)
    for _ in range(STEPS):
        logits = x @ weights
        if not penalty.any() and _separates(logits, y):
            raise _unbounded()
        expected = expit(logits)
        gradient = x.T @ (weight * (y - expected)) - penalty @ weights
        step = _solve(_information(x, weight * expected * (1 - expected), penalty), gradient)
        share, rounding = 1.0, ROUNDING * abs(value)
        while (reached := _value(x, y, weight, penalty, weights + share * step)) < value - rounding:
            share /= 2
        weights, value = weights + share * step, reached
        if np.abs(x @ step).max() <= CLOSE_ENOUGH * max(1.0, np.abs(logits).max()):
            return weights
    if np.abs(gradient).max() <= CLOSE_ENOUGH * np.abs(weight @ np.abs(x)).max():
        raise _unbounded()
    raise NotConvergedError(
        f"no map from the judge's signal to people's preferences after {STEPS} Newton steps; a few signals may be very "
        "much larger than the others"
    )


def slopes(x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: np.ndarray, cluster: np.ndarray) -> Slopes:
    """Fit, and give the cluster-robust covariance of the weights.

    Args:
        cluster: code of the item of each row, shape (rows,).

    Raises:
        NotIdentifiedError: no finite maximum exists.
        NotConvergedError: it was not reached.
    """
    weights = fit(x, y, weight, penalty)
    expected = expit(x @ weights)
    bread = np.linalg.inv(_information(x, weight * expected * (1 - expected), penalty))
    codes = np.unique(cluster, return_inverse=True)[1]
    clusters = int(codes.max()) + 1
    surplus = (weight * (y - expected))[:, None] * x
    scores = np.stack([np.bincount(codes, column, clusters) for column in surplus.T], axis=1)
    correction = clusters / (clusters - 1) if clusters > 1 else np.nan
    return Slopes(weights, correction * bread @ gram(scores) @ bread, clusters, len(y))


def reach(clusters: int, level: float) -> float:
    """Return the t quantile with clusters - 1 degrees of freedom, by which a standard error becomes an interval."""
    return float(stdtrit(clusters - 1, (1 + level) / 2)) if clusters > 1 else np.nan


def towards_mean(features: int, ridge: float) -> np.ndarray:
    """Return the penalty ridge * sum (b - mean b)^2, shape (features, features); the mean itself is free."""
    return ridge * (np.eye(features) - 1 / features)


def _value(x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: np.ndarray, weights: np.ndarray) -> float:
    """Return the penalised log-likelihood."""
    logits = x @ weights
    return float(weight @ (y * logits - np.logaddexp(0, logits)) - weights @ penalty @ weights / 2)


def _separates(logits: np.ndarray, y: np.ndarray) -> bool:
    """Whether every prediction lies on the right side: longer weights then fit ever better."""
    right = ((y == 1) & (logits >= 0)) | ((y == 0) & (logits <= 0))
    return bool(right.all() and logits.any())


def _information(x: np.ndarray, curvature: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    return (x * curvature[:, None]).T @ x + penalty


def _solve(matrix: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    try:
        return linalg.cho_solve(linalg.cho_factor(matrix), gradient)
    except (linalg.LinAlgError, ValueError):
        raise _unbounded() from None


def _unbounded() -> NotIdentifiedError:
    return NotIdentifiedError(
        "the map from the judge's signal to people's preferences has no finite maximum: the signal is always 0, or "
        "people agree with its sign every time, or one of its parts repeats another; more battles with human labels "
        "would bound it, or fewer parts"
    )
