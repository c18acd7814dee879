"""Damped Newton steps to the maximum of a penalised likelihood: the one solver of every ranker.

The likelihood is the sum over rows of credit * logit - weight * log(1 + exp(logit)), or another `Loss`, less
b' P b / 2, where the logits are X b + offset. What differs between rankers is the design X (differences of strengths,
further columns, features), the penalty P, and the loss. Credits and weights may have a leading axis of samples
(resamples of a bootstrap): each then has a maximum of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit

from podium.errors import NotConvergedError, NotIdentifiedError

STEPS = 200
CLOSE_ENOUGH = 1e-9
"""Logits; a Newton step this small squares itself away: the error left is far below it."""
NOISE = 1e-6
"""Logits; a step below this that no longer shrinks is rounding error of a weakly identified design."""
LARGEST_MOVE = 1.5
"""Logits; a step that changes none by more is taken whole: with r the largest change, it gains at least
1 - (e^r - 1 - r) / r^2 of what it promises, because the likelihood is self-concordant (Bach 2010)."""
ROUNDING = 1e-9
"""Share of the slope at a step's start by which it may seem to fall at its end."""
DENSE = 1500
"""Parameters up to which a step is solved by Cholesky; above, by conjugate gradients."""
BLOCK_CELLS = 20_000_000
"""Numbers in the matrices of the samples that are fitted at once."""


class SingularError(NotConvergedError):
    """The linear system of a Newton step has no solution."""


Loss: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From credit, weight and logits of all rows to the log-likelihood's first derivative by each logit (credit beyond the
expected), and to minus its second (curvature), shape (samples, rows) each.

Rows need not be independent of each other: several may describe the outcomes of one event, as long as the information
is a sum over rows of curvature times X' X."""


def logistic(credit: np.ndarray, weight: np.ndarray, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return surplus and curvature of credit log s(logit) + (weight - credit) log s(-logit)."""
    wins, losses = expit(logits), expit(-logits)
    # The same number with the other sign when sides are swapped, and exact where one of the two is next to nothing.
    return credit * losses - (weight - credit) * wins, weight * wins * losses


@dataclass(frozen=True, slots=True)
class DesignMatrix:
    """The matrix X: differences of entrants' strengths, further columns, or both, behind them.

    Rows tell differences of strengths only, so strengths are given mean zero.

    Attributes:
        columns: shape (rows, columns); None for none.
        first, second: entrant codes, whose strengths count +1 and -1, shape (rows,); empty without strengths.
        entrants: number of strengths.
    """

    columns: np.ndarray | None = None
    first: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    second: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    entrants: int = 0

    @property
    def parameters(self) -> int:
        """Number of columns of X."""
        return self.entrants + (0 if self.columns is None else self.columns.shape[1])

    def product(self, at: np.ndarray) -> np.ndarray:
        """Return X b, from shape (samples, parameters) to (samples, rows)."""
        gaps = at[:, self.first] - at[:, self.second]
        if self.columns is None:
            return gaps
        beside = at[:, self.entrants :] @ self.columns.T
        return gaps + beside if self.entrants else beside

    def transpose_product(self, values: np.ndarray) -> np.ndarray:
        """Return X' v, from shape (samples, rows) to (samples, parameters)."""
        if self.entrants and len(values) > 1:
            return (self.sparse().T @ values.T).T
        parts = [self._pulls(values[0])[None]] if self.entrants else []
        if self.columns is not None:
            parts.append(values @ self.columns)
        return np.hstack(parts)

    def information(self, curvature: np.ndarray) -> np.ndarray:
        """Return X' diag(c) X, from shape (samples, rows) to (samples, parameters, parameters).

        Several samples have strengths or columns, not both, and each pair of entrants in one row only.
        """
        size = self.entrants
        if len(curvature) == 1:
            return self._information(curvature[0])[None]
        if self.columns is not None:
            squares = self.columns[:, :, None] * self.columns[:, None, :]
            return np.tensordot(curvature, squares, axes=1)
        matrix, diagonal = np.zeros((len(curvature), size, size)), np.arange(size)
        matrix[:, self.first, self.second] = matrix[:, self.second, self.first] = -curvature
        matrix[:, diagonal, diagonal] = -matrix.sum(axis=2)
        return matrix

    def sparse(self) -> sparse.csr_matrix:
        """Return X."""
        if not self.entrants:
            return sparse.csr_matrix(self.columns)
        rows = len(self.first)
        signs, codes = np.tile([1.0, -1.0], rows), np.column_stack([self.first, self.second]).ravel()
        strengths = sparse.csr_matrix((signs, codes, np.arange(0, 2 * rows + 1, 2)), shape=(rows, self.entrants))
        return strengths if self.columns is None else sparse.hstack([strengths, self.columns], format="csr")

    def _information(self, curvature: np.ndarray) -> np.ndarray:
        if self.columns is None:
            return self._laplacian(curvature)
        weighted = curvature[:, None] * self.columns
        squares = self.columns.T @ weighted
        if not self.entrants:
            return squares
        cross = np.stack([self._pulls(column) for column in weighted.T], axis=1)
        return np.block([[self._laplacian(curvature), cross], [cross.T, squares]])

    def _laplacian(self, curvature: np.ndarray) -> np.ndarray:
        size = self.entrants
        met = np.bincount(self.first.astype(np.int64) * size + self.second, curvature, size * size).reshape(size, size)
        strengths = np.negative(met) - met.T
        ends = [np.bincount(side, curvature, size) for side in (self.first, self.second)]
        strengths[np.diag_indices(size)] = ends[0] + ends[1]
        return strengths

    def _pulls(self, values: np.ndarray) -> np.ndarray:
        """Return what a value per row adds up to for each strength, shape (entrants,)."""
        return np.bincount(self.first, values, self.entrants) - np.bincount(self.second, values, self.entrants)


@dataclass(frozen=True, slots=True)
class Likelihood:
    """A penalised likelihood of one sample, or of many.

    Attributes:
        design: X.
        credit: sum of weight times credit of each row, shape (rows,) or (samples, rows).
        weight: same shape.
        penalty: P: its diagonal, shape (parameters,), or the whole, shape (parameters, parameters).
        offset: of the logits, shape (rows,).
        loss: what credits say of logits.
        largest: a parameter without penalty that is larger in absolute value is taken to grow for ever.
    """

    design: DesignMatrix
    credit: np.ndarray
    weight: np.ndarray
    penalty: np.ndarray
    offset: np.ndarray | float = 0.0
    loss: Loss = logistic
    largest: float = np.inf

    def logits(self, at: np.ndarray) -> np.ndarray:
        """Return X b + offset, from shape (samples, parameters) to (samples, rows)."""
        return self.design.product(at) + self.offset

    def slope(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient, shape (samples, parameters), and the curvature of each row, shape (samples, rows)."""
        surplus, curvature = self.loss(self.credit, self.weight, self.logits(at))
        return self.design.transpose_product(surplus) - self._pull(at), curvature

    def information(self, curvature: np.ndarray) -> np.ndarray:
        """Return the negative Hessian, shape (samples, parameters, parameters).

        The mean of strengths, which no row tells, gets a prior: on centred vectors, the inverse is that without it.
        """
        matrix, diagonal = self.design.information(curvature), np.arange(self.design.parameters)
        if self.penalty.ndim == 1:
            matrix[:, diagonal, diagonal] += self.penalty
        else:
            matrix += self.penalty
        if size := self.design.entrants:
            scale = np.trace(matrix[:, :size, :size], axis1=1, axis2=2) / size
            matrix[:, :size, :size] += (scale / size)[:, None, None]
        return matrix

    def information_at(self, at: np.ndarray) -> np.ndarray:
        """Return the negative Hessian of one sample at a point, shape (parameters, parameters)."""
        return self.information(self.loss(self.credit[None], self.weight[None], self.logits(at[None]))[1])[0]

    def _pull(self, at: np.ndarray) -> np.ndarray:
        return self.penalty * at if self.penalty.ndim == 1 else at @ self.penalty


@dataclass(frozen=True, slots=True)
class Optimum:
    """The maximum.

    Attributes:
        at: parameters, strengths with mean zero, shape (parameters,).
        gradient: largest absolute component of the gradient, divided by the total weight.
        steps: Newton steps taken.
    """

    at: np.ndarray
    gradient: float
    steps: int


def maximise(likelihood: Likelihood, start: np.ndarray | None = None) -> Optimum:
    """Return the maximum of one sample.

    Args:
        likelihood: with credits of shape (rows,).
        start: where to begin, shape (parameters,); zeros by default.

    Raises:
        NotIdentifiedError: a parameter grows for ever.
        NotConvergedError: no maximum within 200 steps; `SingularError` where a step has no solution.
    """
    alone = replace(likelihood, credit=likelihood.credit[None], weight=likelihood.weight[None])
    at, steps = _climb(alone, start)
    gradient, _ = alone.slope(at)
    return Optimum(at[0], float(np.abs(gradient).max() / likelihood.weight.sum()), steps)


def maximise_many(likelihood: Likelihood, start: np.ndarray | None = None) -> np.ndarray:
    """Return the maximum of each sample, shape (samples, parameters), all from a common start.

    Args:
        likelihood: with credits of shape (samples, rows).
        start: shape (parameters,); zeros by default.

    Raises:
        NotIdentifiedError, NotConvergedError: a sample has no maximum.
    """
    size, (samples, rows) = likelihood.design.parameters, likelihood.credit.shape
    block = max(1, BLOCK_CELLS // max(size**2, rows))
    parts = [_of_samples(likelihood, slice(k, k + block)) for k in range(0, samples, block)]
    return np.concatenate([_climb(part, start)[0] for part in parts]) if parts else np.empty((0, size))


def _of_samples(likelihood: Likelihood, which: np.ndarray | slice) -> Likelihood:
    return replace(likelihood, credit=likelihood.credit[which], weight=likelihood.weight[which])


def _climb(likelihood: Likelihood, start: np.ndarray | None) -> tuple[np.ndarray, int]:
    """Take damped Newton steps, each sample until it has arrived; return all places, and the most steps taken."""
    size, samples = likelihood.design.parameters, len(likelihood.credit)
    at = np.zeros((samples, size)) if start is None else np.tile(start, (samples, 1))
    at = _centre_strengths(at, likelihood.design.entrants)
    active, previous = np.arange(samples), np.full(samples, np.inf)
    for steps in range(1, STEPS + 1):
        gradient, curvature = likelihood.slope(at[active])
        step = _newton_step(likelihood, curvature, gradient)
        move = np.abs(likelihood.design.product(step)).max(axis=1)
        step *= _damp_factors(likelihood, at[active], step, gradient, move)[:, None]
        at[active] = _centre_strengths(at[active] + step, likelihood.design.entrants)
        _refuse_unbounded(likelihood, at[active])
        left = ~((move < CLOSE_ENOUGH) | ((move < NOISE) & (move > previous / 2)))
        if not left.any():
            return at, steps
        active, previous = active[left], move[left]
        likelihood = likelihood if left.all() else _of_samples(likelihood, left)
    if (np.sum(gradient * step, axis=1)[left] <= CLOSE_ENOUGH * likelihood.weight.sum(axis=1)).all():
        raise NotIdentifiedError("no finite maximum: steps go on and gain next to nothing")
    raise NotConvergedError(
        f"no maximum after {STEPS} Newton steps (last step {move.max():.1e} logits); raise the regularization or add "
        "battles"
    )


def _centre_strengths(at: np.ndarray, entrants: int) -> np.ndarray:
    """Give strengths mean zero, in place."""
    if entrants:
        at[:, :entrants] -= at[:, :entrants].mean(axis=1, keepdims=True)
    return at


def _newton_step(likelihood: Likelihood, curvature: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Solve (X' C X + P) step = gradient for each sample, shape (samples, parameters)."""
    if likelihood.design.parameters > DENSE:
        return np.stack([_conjugate_gradients(likelihood, *system) for system in zip(curvature, gradient, strict=True)])
    matrix = likelihood.information(curvature)
    try:
        if len(matrix) == 1:
            return linalg.cho_solve(linalg.cho_factor(matrix[0]), gradient[0])[None]
        return np.linalg.solve(matrix, gradient[:, :, None])[:, :, 0]
    except (linalg.LinAlgError, ValueError) as error:
        raise SingularError(
            f"the linear system of a Newton step could not be solved ({error}); raise the regularization"
        ) from None


def _conjugate_gradients(likelihood: Likelihood, curvature: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    x, size, entrants = likelihood.design.sparse(), len(gradient), likelihood.design.entrants
    penalty = sparse.diags(likelihood.penalty) if likelihood.penalty.ndim == 1 else likelihood.penalty
    matrix = x.T @ sparse.diags(curvature) @ x + penalty
    diagonal = matrix.diagonal()
    level = np.where(np.arange(size) < entrants, diagonal[:entrants].mean() / entrants if entrants else 0.0, 0.0)
    operator = LinearOperator((size, size), matvec=lambda v: matrix @ v + level * v[:entrants].sum())
    jacobi = LinearOperator((size, size), matvec=lambda v: v / diagonal)
    step, failed = cg(operator, gradient, rtol=1e-10, atol=0.0, maxiter=20 * size, M=jacobi)
    if failed:
        raise SingularError("the linear system of a Newton step could not be solved; raise the regularization")
    return step


def _damp_factors(
    likelihood: Likelihood, at: np.ndarray, step: np.ndarray, gradient: np.ndarray, move: np.ndarray
) -> np.ndarray:
    """Halve each sample's step until it climbs to its end, or moves no logit by more than 1.5, shape (samples,).

    The likelihood is concave: where it still rises at the end of a step, it rose all along.
    """
    factor, left = np.ones(len(at)), np.flatnonzero(move > LARGEST_MOVE)
    while len(left):
        end, _ = _of_samples(likelihood, left).slope(at[left] + factor[left, None] * step[left])
        slopes = np.sum(np.stack([end, gradient[left]]) * step[left], axis=2)
        left = left[slopes[0] < -ROUNDING * slopes[1]]
        factor[left] /= 2
        left = left[factor[left] * move[left] > LARGEST_MOVE]
    return factor


def _refuse_unbounded(likelihood: Likelihood, at: np.ndarray) -> None:
    """Refuse parameters that would grow for ever."""
    loose = likelihood.penalty == 0 if likelihood.penalty.ndim == 1 else ~likelihood.penalty.any(axis=0)
    if np.isfinite(likelihood.largest) and np.abs(at[:, loose]).max(initial=0) > likelihood.largest:
        raise NotIdentifiedError(f"no finite maximum: a parameter is beyond {likelihood.largest:g} and still grows")
    if likelihood.penalty.any():
        return
    side, credit, weight = likelihood.design.product(at), likelihood.credit, likelihood.weight
    right = ((credit == weight) & (side >= 0)) | ((credit == 0) & (side <= 0))
    if (right.all(axis=1) & side.any(axis=1)).any():
        raise NotIdentifiedError("no finite maximum: every row is on the right side, and larger parameters fit better")
