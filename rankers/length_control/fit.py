"""The fit of a length term beside strengths, and its error."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.special import expit

from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.clusters import centred, surpluses
from podium.rankers.coded import Coded
from podium.rankers.newton import pinned

STEPS = 100
CLOSE_ENOUGH = 1e-10
FAR = 50.0
"""Logits per unit of the length term; beyond, length alone tells the verdicts and no maximum exists."""
COLLINEAR = 1e-9
"""Share of the length term's information that entrants leave, below which it cannot be told from their strengths."""


@dataclass(frozen=True, slots=True)
class LengthFit:
    """Ratings at equal length, and what length is worth to the judge.

    Attributes:
        theta: log-strengths with mean zero, shape (entrants,).
        slope: logits that the longer response gains as its lead in length grows without bound.
        gradient: largest absolute component of the gradient, divided by the total weight.
        steps: Newton steps taken.
    """

    theta: np.ndarray
    slope: float
    gradient: float
    steps: int


def maximise(coded: Coded, term: np.ndarray, regularization: float, start: np.ndarray) -> LengthFit:
    """Maximise the likelihood with a length term by damped Newton steps; lambda holds the strengths only.

    Args:
        term: of each battle, positive where a's response is longer, shape (battles,).
        start: log-strengths, shape (entrants,).

    Raises:
        NotIdentifiedError: within pairs, lengths do not vary; or length alone tells the verdicts.
        NotConvergedError: no maximum.
    """
    at = np.append(start - start.mean(), 0.0)
    _refuse_collinear(coded, term, at)
    for steps in range(1, STEPS + 1):
        gradient = _gradient(coded, term, at, regularization)
        try:
            step = linalg.cho_solve(linalg.cho_factor(information(coded, term, at, regularization)), gradient)
        except linalg.LinAlgError as error:
            raise NotConvergedError(f"no maximum with a length term ({error}); raise the regularization") from None
        at = at + _damping(coded, term, at, step, regularization) * step
        at[:-1] -= at[:-1].mean()
        if abs(at[-1]) > FAR:
            raise NotIdentifiedError(
                "the longer response wins so regularly that no finite length term fits best: ratings at equal length "
                "need battles that the shorter response wins"
            )
        if np.abs(step).max() < CLOSE_ENOUGH:
            gradient = _gradient(coded, term, at, regularization)
            return LengthFit(at[:-1], float(at[-1]), float(np.abs(gradient).max() / coded.weight.sum()), steps)
    raise NotConvergedError(f"no maximum with a length term after {STEPS} Newton steps; raise the regularization")


def covariance(coded: Coded, term: np.ndarray, fit: LengthFit, regularization: float) -> np.ndarray:
    """Return the cluster-robust covariance of strengths and slope, shape (entrants + 1, entrants + 1)."""
    at = np.append(fit.theta, fit.slope)
    expected = expit(_gaps(coded, term, at))
    own = np.bincount(coded.cluster, coded.weight * (coded.credit - expected) * term, coded.clusters)
    strengths = surpluses(coded, expected)
    dense = strengths.toarray() if hasattr(strengths, "toarray") else strengths
    scores = centred(np.column_stack([dense, own]))
    bread = linalg.cho_factor(information(coded, term, at, regularization))
    influence = linalg.cho_solve(bread, scores.T)
    return coded.clusters / max(coded.clusters - 1, 1) * (influence @ influence.T)


def slope_influence(coded: Coded, term: np.ndarray, fit: LengthFit, regularization: float) -> np.ndarray:
    """Return what each battle adds to the error of the slope, shape (battles,)."""
    at = np.append(fit.theta, fit.slope)
    surplus = coded.weight * (coded.credit - expit(_gaps(coded, term, at)))
    direction = linalg.solve(information(coded, term, at, regularization), np.eye(len(at))[-1], assume_a="pos")
    return surplus * _gaps(coded, term, direction)


def _gaps(coded: Coded, term: np.ndarray, at: np.ndarray) -> np.ndarray:
    return at[coded.a] - at[coded.b] + at[-1] * term


def _gradient(coded: Coded, term: np.ndarray, at: np.ndarray, regularization: float) -> np.ndarray:
    surplus = coded.weight * (coded.credit - expit(_gaps(coded, term, at)))
    size = len(coded.entrants)
    strengths = np.bincount(coded.a, surplus, size) - np.bincount(coded.b, surplus, size) - regularization * at[:-1]
    return np.append(strengths, surplus @ term)


def information(coded: Coded, term: np.ndarray, at: np.ndarray, regularization: float) -> np.ndarray:
    """Return the negative Hessian, the sum of strengths pinned, shape (entrants + 1, entrants + 1)."""
    gap, size = _gaps(coded, term, at), len(coded.entrants)
    curvature = coded.weight * expit(gap) * expit(-gap)
    matrix = np.empty((size + 1, size + 1))
    met = np.bincount(coded.a.astype(np.int64) * size + coded.b, curvature, size * size).reshape(size, size)
    met += met.T
    strengths = np.diag(met.sum(axis=1) + regularization) - met
    matrix[:-1, :-1] = pinned(strengths)
    matrix[-1, :-1] = np.bincount(coded.a, curvature * term, size) - np.bincount(coded.b, curvature * term, size)
    matrix[:-1, -1] = matrix[-1, :-1]
    matrix[-1, -1] = curvature @ term**2
    return matrix


def _refuse_collinear(coded: Coded, term: np.ndarray, at: np.ndarray) -> None:
    """Refuse lengths that are the same in all battles of a pair, or differ as strengths would."""
    matrix = information(coded, term, at, 0.0)
    total, cross = matrix[-1, -1], matrix[:-1, -1]
    left = total - cross @ np.linalg.lstsq(matrix[:-1, :-1], cross, rcond=None)[0]
    if left <= COLLINEAR * total:
        raise NotIdentifiedError(
            "length cannot be told from strength: between two entrants the same one is always longer by as much; "
            "battles on items with other lengths would tell"
        )


def _damping(coded: Coded, term: np.ndarray, at: np.ndarray, step: np.ndarray, regularization: float) -> float:
    """Halve the step until the likelihood does not fall."""
    before, damping = _log_likelihood(coded, term, at, regularization), 1.0
    enough = before - 1e-12 * abs(before)
    while damping > 1e-6 and _log_likelihood(coded, term, at + damping * step, regularization) < enough:
        damping /= 2
    return damping


def _log_likelihood(coded: Coded, term: np.ndarray, at: np.ndarray, regularization: float) -> float:
    gap = _gaps(coded, term, at)
    fit = coded.weight @ (coded.credit * gap - np.logaddexp(0, gap))
    return float(fit - regularization / 2 * at[:-1] @ at[:-1])
