"""Logistic regression through the origin: how far a judge's signal moves people's preferences."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.clusters import gram
from podium.rankers.newton import STEPS, DesignMatrix, Likelihood, SingularError, maximise


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
    try:
        return maximise(Likelihood(DesignMatrix(x), weight * y, weight, penalty), start).at
    except (NotIdentifiedError, SingularError):
        raise NotIdentifiedError(
            "the map from the judge's signal to people's preferences has no finite maximum: the signal is always 0, or "
            "people agree with its sign every time, or one of its parts repeats another; more battles with human "
            "labels would bound it, or fewer parts"
        ) from None
    except NotConvergedError:
        raise NotConvergedError(
            f"no map from the judge's signal to people's preferences after {STEPS} Newton steps; a few signals may be "
            "very much larger than the others"
        ) from None


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
    bread = np.linalg.inv(Likelihood(DesignMatrix(x), weight * y, weight, penalty).information_at(weights))
    codes = np.unique(cluster, return_inverse=True)[1]
    clusters = int(codes.max()) + 1
    surplus = (weight * (y - expected))[:, None] * x
    scores = np.stack([np.bincount(codes, column, clusters) for column in surplus.T], axis=1)
    correction = clusters / (clusters - 1) if clusters > 1 else np.nan
    return Slopes(weights, correction * bread @ gram([scores])[0] @ bread, clusters, len(y))


def towards_mean(features: int, ridge: float) -> np.ndarray:
    """Return the penalty ridge * sum (b - mean b)^2, shape (features, features); the mean itself is free."""
    return ridge * (np.eye(features) - 1 / features)
