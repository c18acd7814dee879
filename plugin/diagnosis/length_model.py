"""Bradley-Terry with a term for length: what an extra response length is worth, strength held fixed."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.special import expit

from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.coded import Coded
from podium.rankers.graph import laplacian

REGULARIZATION = 0.01
STEPS = 200
CLOSE_ENOUGH = 1e-9
LARGEST_MOVE = 1.5
"""Logits; a Newton step no longer than this climbs (self-concordance, Bach 2010)."""


@dataclass(frozen=True, slots=True)
class LengthEffect:
    """The weight of a feature beside strengths.

    Attributes:
        weight: logits per unit of the feature.
        influence: of each battle on it, shape (battles,).
    """

    weight: float
    influence: np.ndarray


def length_effect(coded: Coded, z: np.ndarray) -> LengthEffect:
    """Maximise sum w [y log s(e) + (1 - y) log s(-e)] - (lambda / 2) |theta|^2, e = theta_a - theta_b + g z, over both.

    Args:
        coded: battles.
        z: log-length of a's response minus that of b's, shape (battles,).

    Raises:
        NotIdentifiedError: the lengths differ in no pair of responses, or always as strengths do.
        NotConvergedError: no maximum within 200 steps.
    """
    size = len(coded.entrants)
    _require_variation(coded, z, size)
    weights = np.zeros(size + 1)
    for _ in range(STEPS):
        expected = expit(_logits(coded, z, weights))
        gradient = _gradient(coded, z, coded.weight * (coded.credit - expected), size)
        gradient[:size] -= REGULARIZATION * weights[:size]
        factor = _factor(_information(coded, z, coded.weight * expected * (1 - expected), size))
        step = linalg.cho_solve(factor, gradient)
        longest = float(np.abs(_logits(coded, z, step)).max())
        weights = weights + step * min(1.0, LARGEST_MOVE / max(longest, CLOSE_ENOUGH))
        if longest < CLOSE_ENOUGH:
            expected = expit(_logits(coded, z, weights))
            return LengthEffect(float(weights[-1]), _influence(coded, z, expected, factor, size))
    raise NotConvergedError(f"no maximum of strengths and length after {STEPS} Newton steps; add battles")


def _logits(coded: Coded, z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return weights[coded.a] - weights[coded.b] + weights[-1] * z


def _gradient(coded: Coded, z: np.ndarray, surplus: np.ndarray, size: int) -> np.ndarray:
    return np.append(np.bincount(coded.a, surplus, size) - np.bincount(coded.b, surplus, size), surplus @ z)


def _information(coded: Coded, z: np.ndarray, curvature: np.ndarray, size: int) -> np.ndarray:
    """Return the negative Hessian; the mean strength, which nothing identifies, is held by the penalty."""
    matrix = np.zeros((size + 1, size + 1))
    matrix[:size, :size] = _laplacian(coded, curvature, size)
    matrix[np.arange(size), np.arange(size)] += REGULARIZATION
    cross = np.bincount(coded.a, curvature * z, size) - np.bincount(coded.b, curvature * z, size)
    matrix[:size, size] = matrix[size, :size] = cross
    matrix[size, size] = curvature @ z**2
    return matrix


def _laplacian(coded: Coded, weight: np.ndarray, size: int) -> np.ndarray:
    square = np.bincount(coded.a.astype(np.int64) * size + coded.b, weight, size * size).reshape(size, size)
    low, high = np.nonzero(np.triu(square + square.T, 1))
    return laplacian(low, high, (square + square.T)[low, high], size)


def _require_variation(coded: Coded, z: np.ndarray, size: int) -> None:
    """Refuse lengths that differ in no pair of responses, or only from model to model."""
    cross = np.bincount(coded.a, z, size) - np.bincount(coded.b, z, size)
    met = _laplacian(coded, np.ones(len(z)), size)
    explained = cross @ np.linalg.lstsq(met, cross, rcond=None)[0]
    if z @ z - explained > CLOSE_ENOUGH * (z @ z):
        return
    raise NotIdentifiedError(
        "nothing tells length from strength: lengths never differ, or only from model to model; more items with "
        "responses of different lengths would"
    )


def _factor(matrix: np.ndarray) -> tuple[np.ndarray, bool]:
    try:
        return linalg.cho_factor(matrix)
    except (linalg.LinAlgError, ValueError) as error:
        raise NotConvergedError(f"a Newton step on strengths and length could not be solved: {error}") from None


def _influence(
    coded: Coded, z: np.ndarray, expected: np.ndarray, factor: tuple[np.ndarray, bool], size: int
) -> np.ndarray:
    direction = linalg.cho_solve(factor, np.eye(size + 1)[-1])
    return coded.weight * (coded.credit - expected) * _logits(coded, z, direction)
