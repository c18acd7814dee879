"""Many Bradley-Terry maxima at once: Newton steps on a whole block of resamples, from a common start."""

import numpy as np
from scipy import sparse
from scipy.special import expit

from podium.rankers.newton import CLOSE_ENOUGH, maximise, pinned
from podium.rankers.pairs import Pairs, drawn

STEPS = 8
BLOCK_CELLS = 20_000_000


def maximise_many(
    pairs: Pairs, credit: np.ndarray, weight: np.ndarray, regularization: float, start: np.ndarray
) -> np.ndarray:
    """Return the maximum of each resample, shape (resamples, entrants).

    Undamped steps from the common start; a resample that has not settled after 8 is fitted alone, damped.

    Args:
        credit, weight: pair sums of each resample, shape (resamples, pairs).
        start: shape (entrants,).

    Raises:
        NotConvergedError: a resample has no maximum.
    """
    block = max(1, BLOCK_CELLS // max(pairs.entrants**2, len(pairs.low)))
    parts = range(0, len(credit), block)
    fitted = [_block(pairs, credit[k : k + block], weight[k : k + block], regularization, start) for k in parts]
    return np.concatenate(fitted) if fitted else np.empty((0, pairs.entrants))


def _block(
    pairs: Pairs, credit: np.ndarray, weight: np.ndarray, regularization: float, start: np.ndarray
) -> np.ndarray:
    theta = np.tile(start, (len(credit), 1))
    signs = _incidence(pairs)
    size = np.full(len(credit), np.inf)
    for _ in range(STEPS):
        expected = expit(theta[:, pairs.low] - theta[:, pairs.high])
        gradient = (signs.T @ (credit - weight * expected).T).T - regularization * theta
        matrix = _informations(pairs, weight * expected * (1 - expected), regularization)
        step = np.linalg.solve(pinned(matrix), gradient[:, :, None])[:, :, 0]
        theta = theta + np.clip(step, -5, 5)
        theta -= theta.mean(axis=1, keepdims=True)
        size = np.abs(step).max(axis=1)
        if size.max() < CLOSE_ENOUGH:
            break
    for k in np.flatnonzero(~(size < CLOSE_ENOUGH)):
        theta[k] = maximise(drawn(pairs, credit[k], weight[k]), regularization, start).theta
    return theta


def _incidence(pairs: Pairs) -> sparse.csr_matrix:
    rows = np.arange(len(pairs.low))
    values = np.concatenate([np.ones(len(rows)), -np.ones(len(rows))])
    columns = np.concatenate([pairs.low, pairs.high])
    return sparse.csr_matrix((values, (np.tile(rows, 2), columns)), shape=(len(rows), pairs.entrants))


def _informations(pairs: Pairs, curvature: np.ndarray, regularization: float) -> np.ndarray:
    """Return the negative Hessian of each resample, shape (resamples, entrants, entrants)."""
    size = pairs.entrants
    matrix = np.zeros((len(curvature), size, size))
    matrix[:, pairs.low, pairs.high] = matrix[:, pairs.high, pairs.low] = -curvature
    diagonal = np.arange(size)
    matrix[:, diagonal, diagonal] = regularization - matrix.sum(axis=2)
    return matrix
