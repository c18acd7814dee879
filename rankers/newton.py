"""Damped Newton maximization of a penalized likelihood: the only solver of the rankers.

The log-likelihood is the sum over rows of credit * logit - weight * log(1 + exp(logit)), or that of
another `Loss`, minus (b - m)' P (b - m) / 2, with logits X b + offset. Rankers differ in the design
X (differences of strengths, further columns, features), in the penalty P and in the loss. Credits
and weights may have a leading axis of samples (resamples of a bootstrap), each maximized
separately.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator, cg

from podium.errors import NotConvergedError, NotIdentifiedError

STEPS = 200
TOLERANCE = 1e-9
"""Logits; iteration stops after a smaller step. Newton steps converge quadratically: the error left
is far smaller."""
RESAMPLE_TOLERANCE = 1e-4
"""Logits; for resamples. The remaining error is at most about half its square: a millionth of a
point of Elo."""
ROUGH = 0.1
"""Logits; a smaller step ends the search for a start, which need not be better."""
NOISE = 1e-6
"""Logits; a step below this that no longer shrinks is rounding error of a weakly identified
design."""
LARGEST_UNDAMPED = 1.5
"""Logits; a step that changes no logit by more is taken whole: with r the largest change, it gains
at least 1 - (e^r - 1 - r) / r^2 of the predicted gain, because the likelihood is self-concordant
(Bach 2010)."""
ROUNDING = 1e-9
"""Share of the slope at a step's start by which rounding may make it seem to fall at its end."""
MOST_CHOLESKY = 1500
"""Parameters up to which a step is solved by Cholesky; above, by conjugate gradients."""
MOST_BATCHED = 100
"""Parameters up to which the steps of several samples are solved in one call; above, one by one by
Cholesky."""
FEW_SAMPLES = 4
"""Samples up to which their rows are summed one by one; above, by a product of sparse matrices."""
BLOCK_CELLS = 2_000_000
"""Numbers in an array of all samples that are fitted at once; larger arrays are slow to
allocate."""


class SingularError(NotConvergedError):
    """The linear system of a Newton step has no solution."""


Loss: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""A function of the rows' credits, weights and logits that returns the first derivative of the
log-likelihood by each logit (the surplus: credit minus expected credit) and minus the second (the
curvature), shape (samples, rows) each.

Rows may depend on each other (several outcomes of one event), as long as the information is the sum
over rows of curvature times X'X. Standard errors use `Strengths.cluster_scores`, which assume
`logistic`."""


def logistic(
    credit: np.ndarray, weight: np.ndarray, logits: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return surplus and curvature of credit log s(logit) + (weight - credit) log s(-logit)."""
    # Exactly antisymmetric when sides are swapped, and accurate where one of the two probabilities
    # is tiny.
    underdog = np.exp(-np.abs(logits))
    favourite = 1 / (1 + underdog)
    underdog /= 1 + underdog
    ahead = logits >= 0
    wins, losses = np.where(ahead, favourite, underdog), np.where(ahead, underdog, favourite)
    return credit * losses - (weight - credit) * wins, weight * (favourite * underdog)


@dataclass(frozen=True)
class DesignMatrix:
    """The design matrix X, shape (rows, parameters): strengths, +1 for `first` and -1 for `second`,
    then `columns`; either may be missing. Rows identify only differences, so fitted strengths have
    mean zero."""

    columns: np.ndarray | None = None
    first: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    second: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    models: int = 0

    @property
    def parameters(self) -> int:
        """Number of columns of X."""
        return self.models + (0 if self.columns is None else self.columns.shape[1])

    @cached_property
    def sparse(self) -> sparse.csr_matrix:
        """X as a sparse matrix."""
        if not self.models:
            return sparse.csr_matrix(self.columns)
        rows = len(self.first)
        signs, codes = (
            np.tile([1.0, -1.0], rows),
            np.column_stack([self.first, self.second]).ravel(),
        )
        strengths = sparse.csr_matrix(
            (signs, codes, np.arange(0, 2 * rows + 1, 2)), shape=(rows, self.models)
        )
        return (
            strengths
            if self.columns is None
            else sparse.hstack([strengths, self.columns], format="csr")
        )

    def product(self, at: np.ndarray) -> np.ndarray:
        """Return X b, from shape (samples, parameters) to (samples, rows)."""
        if not self.models and self.columns is not None:
            return at @ self.columns.T
        gaps = at.take(self.first, axis=1) - at.take(self.second, axis=1)
        return gaps if self.columns is None else gaps + at[:, self.models :] @ self.columns.T

    def transpose_product(self, values: np.ndarray) -> np.ndarray:
        """Return X' v, from shape (samples, rows) to (samples, parameters)."""
        if self.columns is not None and not self.models:
            return values @ self.columns
        if len(values) > FEW_SAMPLES:
            return (self.sparse.T @ values.T).T
        first, second = (
            np.stack([np.bincount(side, row, self.models) for row in values])
            for side in (self.first, self.second)
        )
        strengths = first - second
        return strengths if self.columns is None else np.hstack([strengths, values @ self.columns])

    def information(self, curvature: np.ndarray) -> np.ndarray:
        """Return X' diag(c) X, (samples, rows) to (samples, parameters, parameters); with several
        samples, X has strengths or columns, not both, and each pair in one row only."""
        samples, size = len(curvature), self.models
        if self.columns is not None and not size:
            if self.columns.shape[1] == 1:
                return (curvature @ self.columns**2)[:, :, None]
            return (self.columns.T * curvature[:, None]) @ self.columns
        if samples == 1:
            cell = self.first * np.int64(size) + self.second
            met = np.bincount(cell, curvature[0], size * size).reshape(1, size, size)
            matrix: np.ndarray = -met - met.transpose(0, 2, 1)
        else:
            matrix = np.zeros((samples, size, size))
            matrix[:, self.first, self.second] = matrix[:, self.second, self.first] = -curvature
        np.einsum("kii->ki", matrix)[:] = -matrix.sum(axis=2)
        if self.columns is None:
            return matrix
        cross = np.concatenate(
            [self.transpose_product(column[None]) for column in self.columns.T * curvature[0]]
        )
        return np.vstack([np.hstack([matrix[0], cross[:, :size].T]), cross])[None]


@dataclass(frozen=True, slots=True)
class Likelihood:
    """A penalized likelihood; credit and weight are sums, (rows,) or (samples, rows), `penalty` is
    P or its diagonal, `offset` is added to logits; `mean` is m if P identifies all parameters; with
    None, m is zero and strengths are centred."""

    design: DesignMatrix
    credit: np.ndarray
    weight: np.ndarray
    penalty: np.ndarray
    offset: np.ndarray | float = 0.0
    loss: Loss = logistic
    mean: np.ndarray | None = None

    @property
    def centred_strengths(self) -> int:
        """Number of strengths of which nothing but differences is identified."""
        return self.design.models if self.mean is None else 0

    def logits(self, at: np.ndarray) -> np.ndarray:
        """Return X b + offset, from shape (samples, parameters) to (samples, rows)."""
        return self.design.product(at) + self.offset

    def penalty_gradient(self, at: np.ndarray) -> np.ndarray:
        """Return P (b - m), shape (samples, parameters)."""
        at = at if self.mean is None else at - self.mean
        return self.penalty * at if self.penalty.ndim == 1 else at @ self.penalty

    def information(self, curvature: np.ndarray) -> np.ndarray:
        """Return the negative Hessian, shape (samples, parameters, parameters)."""
        # The mean of the strengths, which no row identifies, gets a prior; on centred vectors the
        # inverse is the same.
        matrix, size = self.design.information(curvature), self.centred_strengths
        if self.penalty.ndim == 2 or len(self.penalty) == 1:
            matrix += self.penalty
        else:
            np.einsum("kii->ki", matrix)[:] += self.penalty
        if size:
            matrix[:, :size, :size] += (np.einsum("kii->k", matrix[:, :size, :size]) / size**2)[
                :, None, None
            ]
        return matrix

    def information_at(self, at: np.ndarray) -> np.ndarray:
        """Return the negative Hessian of one sample at a point, shape (parameters, parameters)."""
        return self.information(
            self.loss(self.credit[None], self.weight[None], self.logits(at[None]))[1]
        )[0]


@dataclass(frozen=True, slots=True)
class Optimum:
    """Parameters that maximize a likelihood, the gradient's largest component over the total
    weight, and the steps."""

    at: np.ndarray
    gradient: float
    steps: int


class _SampleFits(NamedTuple):
    """Data and current parameters of samples during iteration, shape (samples, rows or parameters)
    each."""

    credit: np.ndarray
    weight: np.ndarray
    at: np.ndarray
    logits: np.ndarray

    def select(self, which: np.ndarray) -> "_SampleFits":
        """Return the samples of a mask or of positions."""
        return _SampleFits(*(values[which] for values in self))


def maximize(likelihood: Likelihood, start: np.ndarray | None = None) -> Optimum:
    """Maximize the likelihood of one sample."""
    likelihood = replace(likelihood, credit=likelihood.credit[None], weight=likelihood.weight[None])
    at, steps = _iterate(likelihood, start)
    surplus, _ = likelihood.loss(likelihood.credit, likelihood.weight, likelihood.logits(at))
    gradient = likelihood.design.transpose_product(surplus) - likelihood.penalty_gradient(at)
    return Optimum(at[0], float(np.abs(gradient).max() / likelihood.weight.sum()), steps)


def maximize_samples(
    likelihood: Likelihood, start: np.ndarray | None = None, tolerance: float = TOLERANCE
) -> np.ndarray:
    """Return the parameters that maximize the likelihood of each sample, shape (samples,
    parameters)."""
    size, (samples, rows) = likelihood.design.parameters, likelihood.credit.shape
    block = max(1, BLOCK_CELLS // max(size**2, rows))
    optima = [np.empty((0, size))]
    for part in (slice(k, k + block) for k in range(0, samples, block)):
        own = replace(likelihood, credit=likelihood.credit[part], weight=likelihood.weight[part])
        optima.append(_iterate(own, start, tolerance)[0])
    return np.concatenate(optima)


def fit_one_strength(likelihood: Likelihood, at: np.ndarray, code: int) -> float:
    """Return about the most likely strength of one model of one sample, all other parameters
    unchanged: a start for the fit of all."""
    design, penalty = likelihood.design, likelihood.penalty[code]
    side = (design.first == code).astype(np.float64) - (design.second == code)
    rows = np.flatnonzero(side)
    side, credit, weight = side[rows], likelihood.credit[0, rows], likelihood.weight[0, rows]
    strength, logits = float(at[code]), likelihood.logits(at[None])[0, rows]
    for _ in range(STEPS):
        surplus, curvature = likelihood.loss(credit, weight, logits)
        step = float((side @ surplus - penalty * strength) / (curvature.sum() + penalty))
        step = min(max(step, -LARGEST_UNDAMPED), LARGEST_UNDAMPED)
        strength, logits = strength + step, logits + step * side
        if abs(step) < ROUGH:
            break
    return strength


def _iterate(
    likelihood: Likelihood, start: np.ndarray | None, tolerance: float = TOLERANCE
) -> tuple[np.ndarray, int]:
    """Take damped Newton steps until each sample has converged; return the parameters and the
    number of steps."""
    design, samples = likelihood.design, len(likelihood.credit)
    origin = (
        np.zeros((1, design.parameters))
        if start is None
        else np.array(start, dtype=np.float64)[None]
    )
    at = np.repeat(_centre_strengths(origin, likelihood.centred_strengths), samples, axis=0)
    active, previous = np.arange(samples), np.inf
    has_penalty = bool(np.count_nonzero(likelihood.penalty))
    here = _SampleFits(likelihood.credit, likelihood.weight, at, likelihood.logits(at))
    for steps in range(1, STEPS + 1):
        surplus, curvature = likelihood.loss(here.credit, here.weight, here.logits)
        gradient = design.transpose_product(surplus) - likelihood.penalty_gradient(here.at)
        step = _newton_step(likelihood, curvature, gradient)
        change = design.product(step)
        move = np.maximum.reduce(np.abs(change), axis=1)
        largest = np.maximum.reduce(move)
        if not largest < np.inf:
            raise SingularError(
                "a Newton step is not finite: a credit, weight or column is NaN, infinite or too large"
            )
        if largest > LARGEST_UNDAMPED:
            factor = _damp_factors(
                likelihood, here, here._replace(at=step, logits=change), gradient
            )[:, None]
            step, change = factor * step, factor * change
        here = _SampleFits(here.credit, here.weight, here.at + step, here.logits + change)
        if not has_penalty:
            _check_separation(likelihood, here)
        left = move >= tolerance
        if np.minimum.reduce(move) < NOISE:
            left &= (move >= NOISE) | (move <= previous / 2)
        previous, number = move, np.count_nonzero(left)
        if number == len(left):
            continue
        at[active] = here.at
        if not number:
            return _centre_strengths(at, likelihood.centred_strengths), steps
        active, previous, here = active[left], move[left], here.select(left)
    gains = np.sum(gradient * step, axis=1)[left]
    raise _no_convergence(gains, here.weight.sum(axis=1), float(move.max()))


def _no_convergence(
    gains: np.ndarray, weights: np.ndarray, move: float
) -> NotConvergedError | NotIdentifiedError:
    """Return the error of samples that did not converge: without a maximum if their last steps
    gained nothing."""
    if (gains <= TOLERANCE * weights).all():
        return NotIdentifiedError(
            "no finite maximum: the parameters keep growing and the likelihood hardly changes"
        )
    return NotConvergedError(
        f"no maximum after {STEPS} Newton steps (last step {move:.1e} logits); raise the regularization or add battles"
    )


def _centre_strengths(at: np.ndarray, models: int) -> np.ndarray:
    """Subtract the mean from the strengths, in place."""
    if models:
        at[:, :models] -= at[:, :models].mean(axis=1, keepdims=True)
    return at


def _newton_step(likelihood: Likelihood, curvature: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Solve (X' C X + P) step = gradient for each sample, shape (samples, parameters)."""
    if likelihood.design.parameters > MOST_CHOLESKY:
        return np.stack(
            [
                _conjugate_gradients(likelihood, *system)
                for system in zip(curvature, gradient, strict=True)
            ]
        )
    if len(curvature) > 1 and likelihood.design.parameters > MOST_BATCHED:
        steps = [
            _newton_step(likelihood, c[None], g[None])
            for c, g in zip(curvature, gradient, strict=True)
        ]
        return np.concatenate(steps)
    matrix = likelihood.information(curvature)
    if matrix.size == len(matrix) == np.count_nonzero(matrix):
        return gradient / matrix[:, 0]
    try:
        if len(matrix) > 1:
            return np.linalg.solve(matrix, gradient[:, :, None])[:, :, 0]
        return solve_information(matrix[0], gradient[0])[None]
    except linalg.LinAlgError as error:
        raise _singular(str(error)) from error


def solve_information(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Solve a negative Hessian times x = vector by Cholesky; the matrix is overwritten."""
    _, solution, minor = lapack.dposv(matrix.T, vector, overwrite_a=True)
    if minor:
        raise _singular(f"{minor}-th leading minor of the array is not positive definite")
    return solution


def _singular(reason: str) -> SingularError:
    """Return the error of a linear system without a solution."""
    return SingularError(
        f"the linear system of a Newton step could not be solved ({reason}); raise the regularization"
    )


def _conjugate_gradients(
    likelihood: Likelihood, curvature: np.ndarray, gradient: np.ndarray
) -> np.ndarray:
    """Solve (X' C X + P) step = gradient of one sample by conjugate gradients, shape
    (parameters,)."""
    x, size, models = likelihood.design.sparse, len(gradient), likelihood.centred_strengths
    penalty = (
        sparse.diags(likelihood.penalty) if likelihood.penalty.ndim == 1 else likelihood.penalty
    )
    matrix = x.T @ sparse.diags(curvature) @ x + penalty
    diagonal = matrix.diagonal()
    level = np.where(
        np.arange(size) < models, diagonal[:models].mean() / models if models else 0.0, 0.0
    )
    operator = LinearOperator((size, size), matvec=lambda v: matrix @ v + level * v[:models].sum())
    jacobi = LinearOperator((size, size), matvec=lambda v: v / diagonal)
    step, failed = cg(operator, gradient, rtol=1e-10, atol=0.0, maxiter=20 * size, M=jacobi)
    if failed:
        raise SingularError(
            "the linear system of a Newton step could not be solved; raise the regularization"
        )
    return step


def _damp_factors(
    likelihood: Likelihood, here: _SampleFits, step: _SampleFits, gradient: np.ndarray
) -> np.ndarray:
    """Halve each step until the likelihood, which is concave, rises at its end or no logit changes
    by over 1.5."""
    factor, move = np.ones(len(gradient)), np.abs(step.logits).max(axis=1)
    predicted = np.sum(gradient * step.at, axis=1)
    left = np.flatnonzero(move > LARGEST_UNDAMPED)
    while len(left):
        origin, ahead, part = here.select(left), step.select(left), factor[left, None]
        surplus, _ = likelihood.loss(
            origin.credit, origin.weight, origin.logits + part * ahead.logits
        )
        pull = likelihood.penalty_gradient(origin.at + part * ahead.at)
        slope = np.sum(surplus * ahead.logits, axis=1) - np.sum(pull * ahead.at, axis=1)
        left = left[slope < -ROUNDING * predicted[left]]
        factor[left] /= 2
        left = left[factor[left] * move[left] > LARGEST_UNDAMPED]
    return factor


def _check_separation(likelihood: Likelihood, here: _SampleFits) -> None:
    """Raise NotIdentifiedError if parameters without a penalty separate wins from losses."""
    side = here.logits - likelihood.offset
    right = ((here.credit == here.weight) & (side >= 0)) | ((here.credit == 0) & (side <= 0))
    if (right.all(axis=1) & side.any(axis=1)).any():
        raise NotIdentifiedError(
            "no finite maximum: the outcomes are separated, so ever larger parameters fit better"
        )
