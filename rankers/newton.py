"""The Bradley-Terry maximum by damped Newton steps on pair sums."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit

from podium.errors import NotConvergedError
from podium.rankers.graph import laplacian
from podium.rankers.pairs import Pairs

STEPS = 200
CLOSE_ENOUGH = 1e-9
"""Logits; a Newton step this small squares itself away: the error left is far below it."""
NOISE = 1e-6
"""Logits; a step below this that no longer shrinks is rounding error of a weakly identified graph."""
DENSE = 1500
"""Entrants up to which a step is solved by Cholesky; above, by conjugate gradients."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The maximum.

    Attributes:
        theta: log-strengths with mean zero, shape (entrants,).
        gradient: largest absolute component of the gradient, divided by the total weight.
        steps: Newton steps taken.
    """

    theta: np.ndarray
    gradient: float
    steps: int


def maximise(pairs: Pairs, regularization: float, start: np.ndarray | None = None) -> Optimum:
    """Maximise sum w [y log s(d) + (1 - y) log s(-d)] - (lambda / 2) |theta|^2, d = theta_low - theta_high.

    Args:
        pairs: pair sums of a connected comparison graph.
        regularization: lambda >= 0; 0 needs a strongly connected win graph.
        start: where to begin, shape (entrants,); zeros by default.

    Raises:
        NotConvergedError: no maximum within 200 steps.
    """
    theta = np.zeros(pairs.entrants) if start is None else start - start.mean()
    previous = np.inf
    for steps in range(1, STEPS + 1):
        gradient = _gradient(pairs, theta, regularization)
        step = _solve(pairs, theta, regularization, gradient)
        theta = theta + _damping(pairs, theta, step, gradient, regularization) * step
        theta -= theta.mean()
        size = np.abs(step).max()
        if size < CLOSE_ENOUGH or (size < NOISE and size > previous / 2):
            gradient = _gradient(pairs, theta, regularization)
            return Optimum(theta, float(np.abs(gradient).max() / pairs.weight.sum()), steps)
        previous = size
    raise NotConvergedError(
        f"no maximum after {STEPS} Newton steps (last step {size:.1e} logits); raise the regularization or add battles"
    )


def information(pairs: Pairs, theta: np.ndarray, regularization: float) -> np.ndarray:
    """Return the negative Hessian at theta, shape (entrants, entrants)."""
    matrix = laplacian(pairs.low, pairs.high, _curvature(pairs, theta), pairs.entrants)
    matrix[np.diag_indices(pairs.entrants)] += regularization
    return matrix


def pinned(matrix: np.ndarray) -> np.ndarray:
    """Make an information matrix invertible by giving the sum of ratings, which nothing identifies, a prior.

    On centred vectors the inverse is unchanged.
    """
    size = matrix.shape[-1]
    scale = np.trace(matrix, axis1=-2, axis2=-1) / size
    return matrix + (scale / size)[..., None, None]


def log_likelihood(pairs: Pairs, theta: np.ndarray, regularization: float) -> float:
    """Return the penalised log-likelihood at theta."""
    gap = theta[pairs.low] - theta[pairs.high]
    fit = np.sum(pairs.credit * gap - pairs.weight * np.logaddexp(0, gap))
    return float(fit - regularization / 2 * theta @ theta)


def _gradient(pairs: Pairs, theta: np.ndarray, regularization: float) -> np.ndarray:
    surplus = pairs.credit - pairs.weight * expit(theta[pairs.low] - theta[pairs.high])
    size = pairs.entrants
    return np.bincount(pairs.low, surplus, size) - np.bincount(pairs.high, surplus, size) - regularization * theta


def _curvature(pairs: Pairs, theta: np.ndarray) -> np.ndarray:
    gap = theta[pairs.low] - theta[pairs.high]
    return pairs.weight * expit(gap) * expit(-gap)


def _solve(pairs: Pairs, theta: np.ndarray, regularization: float, gradient: np.ndarray) -> np.ndarray:
    if pairs.entrants <= DENSE:
        matrix = pinned(information(pairs, theta, regularization))
        try:
            return linalg.cho_solve(linalg.cho_factor(matrix), gradient)
        except (linalg.LinAlgError, ValueError) as error:
            raise NotConvergedError(
                f"the linear system of a Newton step could not be solved ({error}); raise the regularization"
            ) from None
    return _solve_sparse(pairs, theta, regularization, gradient)


def _solve_sparse(pairs: Pairs, theta: np.ndarray, regularization: float, gradient: np.ndarray) -> np.ndarray:
    curvature, size = _curvature(pairs, theta), pairs.entrants
    diagonal = np.bincount(pairs.low, curvature, size) + np.bincount(pairs.high, curvature, size) + regularization
    edges = sparse.coo_matrix((curvature, (pairs.low, pairs.high)), shape=(size, size)).tocsr()
    matrix = sparse.diags(diagonal) - edges - edges.T
    level = diagonal.mean() / size
    operator = LinearOperator((size, size), matvec=lambda x: matrix @ x + level * x.sum())
    jacobi = LinearOperator((size, size), matvec=lambda x: x / diagonal)
    step, failed = cg(operator, gradient, rtol=1e-10, atol=0.0, maxiter=20 * size, M=jacobi)
    if failed:
        raise NotConvergedError("the linear system of a Newton step could not be solved; raise the regularization")
    return step


def _damping(pairs: Pairs, theta: np.ndarray, step: np.ndarray, gradient: np.ndarray, regularization: float) -> float:
    """Halve the step until it climbs.

    A step that changes no rating difference by more than 1.5 logits is taken whole: with r the largest change, it
    gains at least 1 - (e^r - 1 - r) / r^2 of what it promises, because the likelihood is self-concordant (Bach 2010).
    """
    if np.abs(step[pairs.low] - step[pairs.high]).max() <= 1.5:
        return 1.0
    promised = float(gradient @ step)
    here, factor = log_likelihood(pairs, theta, regularization), 1.0
    while factor > 1e-10:
        if log_likelihood(pairs, theta + factor * step, regularization) >= here + 1e-4 * factor * promised:
            return factor
        factor /= 2
    raise NotConvergedError("no step along the Newton direction raises the likelihood")
