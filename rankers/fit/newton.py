"""Damped Newton maximization of a penalized likelihood: the only solver of the rankers.

The log-likelihood of parameters b is the sum over rows of credit * logit - weight * log(1 +
exp(logit)), minus the penalty (b - m)' P (b - m) / 2. The logits are X b + offset. Another `Loss`
may replace the terms of the sum. Rankers differ in the design X (differences of strengths, further
columns, features), in the penalty P and in the loss. Credits and weights may have a leading axis
of samples (resamples of a bootstrap); the likelihood of each sample is maximized separately.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from podium.errors import NotConvergedError, NotIdentifiedError

if TYPE_CHECKING:
    from scipy import sparse

MOST_STEPS = 200
"""Largest number of Newton steps before a fit fails."""
TOLERANCE = 1e-9
"""Iteration stops after a step that changes every logit by less than this.

Newton steps converge quadratically, so the remaining error is far smaller.
"""
RESAMPLE_TOLERANCE = 1e-4
"""A fit to a resample stops after a step that changes every logit by less than this.

The remaining error is at most about half the square of the last step, a millionth of a point of
Elo.
"""
ROUGH_TOLERANCE = 0.1
"""`fit_one_strength` stops after a step of fewer logits than this: a start need not be more
precise."""
STALL_THRESHOLD = 1e-6
"""If a step changes every logit by less than this, and is more than half as large as the step
before, iteration stops: only rounding error of a weakly identified design is left."""
LARGEST_UNDAMPED = 1.5
"""A step that changes no logit by more than this is taken whole; a larger one may be halved.

With r the largest change, a whole step gains at least 1 - (e^r - 1 - r) / r^2 of the predicted
gain, because the likelihood is self-concordant (Bach 2010).
"""
SLOPE_ROUNDING = 1e-9
"""A step is halved only if the likelihood at its end falls by more than this share of the slope at
its start; a smaller fall is rounding error."""
MOST_BY_NUMPY = 64
"""Systems of up to this many equations are solved by NumPy. SciPy is faster for more, but its
import takes longer than a small ranking."""
MOST_CHOLESKY = 1500
"""With up to this many parameters a step is solved by Cholesky, with more by conjugate
gradients."""
MOST_BATCHED = 100
"""With up to this many parameters the steps of all samples are solved in one call, with more one
by one."""
FEW_SAMPLES = 4
"""For up to this many samples X' v is computed sample by sample, for more by a product of sparse
matrices."""
BLOCK_CELLS = 2_000_000
"""Samples are fitted in blocks whose largest array has about this many numbers; larger arrays are
slow to allocate."""


class SingularError(NotConvergedError):
    """The linear system of a Newton step has no solution."""


Loss: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""A function from credits, weights and logits to surplus and curvature, shape (samples, rows) each.

The surplus is the first derivative of the log-likelihood by each logit (credit minus expected
credit). The curvature is minus the second derivative. Rows may depend on each other (several
outcomes of one event), as long as the information is the sum over rows of curvature times X'X.
Standard errors use `Strengths.cluster_scores`, which assume `logistic`.
"""


def logistic(
    credit: np.ndarray, weight: np.ndarray, logits: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return surplus and curvature of credit log s(logit) + (weight - credit) log s(-logit).

    Both have the shape of the arguments. If the models of a row are swapped, the surplus has
    exactly the opposite sign, and the curvature is exactly the same. Both are accurate even if a
    probability is tiny.
    """
    odds_of_underdog = np.exp(-np.abs(logits))
    p_favourite = 1 / (1 + odds_of_underdog)
    p_underdog = odds_of_underdog / (1 + odds_of_underdog)
    is_ahead = logits >= 0
    p_win = np.where(is_ahead, p_favourite, p_underdog)
    p_loss = np.where(is_ahead, p_underdog, p_favourite)
    surplus = credit * p_loss - (weight - credit) * p_win
    curvature = weight * (p_favourite * p_underdog)
    return surplus, curvature


@dataclass(frozen=True)
class DesignMatrix:
    """The design matrix X, shape (rows, parameters).

    Its first columns are those of the strengths, with +1 for the model `first` of a row and -1 for
    `second`. Then come `columns`. Either part may be missing. Rows identify only differences of
    strengths, so fitted strengths have mean zero.

    Attributes:
        columns: further columns, shape (rows, further parameters); None if there are none.
        first: code of the first model of each row, shape (rows,).
        second: code of the second model of each row, shape (rows,).
        models: number of strengths; 0 if there are none.
    """

    columns: np.ndarray | None = None
    first: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    second: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    models: int = 0

    @property
    def parameter_count(self) -> int:
        """Number of columns of X."""
        further_count = 0 if self.columns is None else self.columns.shape[1]
        return self.models + further_count

    @cached_property
    def sparse(self) -> "sparse.csr_matrix":
        """X as a sparse matrix: 1 and -1 for the two models of a row, then the further columns."""
        from scipy import sparse

        if not self.models:
            return sparse.csr_matrix(self.columns)
        rows = len(self.first)
        signs = np.tile([1.0, -1.0], rows)
        codes = np.column_stack([self.first, self.second]).ravel()
        row_starts = np.arange(0, 2 * rows + 1, 2)
        strengths = sparse.csr_matrix((signs, codes, row_starts), shape=(rows, self.models))
        if self.columns is None:
            return strengths
        return sparse.hstack([strengths, self.columns], format="csr")

    def product(self, parameters: np.ndarray) -> np.ndarray:
        """Return X b, from shape (samples, parameters) to (samples, rows)."""
        if not self.models and self.columns is not None:
            return parameters @ self.columns.T
        differences = parameters.take(self.first, axis=1) - parameters.take(self.second, axis=1)
        if self.columns is None:
            return differences
        return differences + parameters[:, self.models :] @ self.columns.T

    def transpose_product(self, values: np.ndarray) -> np.ndarray:
        """Return X' v, from shape (samples, rows) to (samples, parameters)."""
        if self.columns is not None and not self.models:
            return values @ self.columns
        if len(values) > FEW_SAMPLES:
            return (self.sparse.T @ values.T).T
        as_first = np.stack([np.bincount(self.first, row, self.models) for row in values])
        as_second = np.stack([np.bincount(self.second, row, self.models) for row in values])
        strengths = as_first - as_second
        if self.columns is None:
            return strengths
        return np.hstack([strengths, values @ self.columns])

    def information(self, curvature: np.ndarray) -> np.ndarray:
        """Return X' diag(c) X, shape (samples, parameters, parameters).

        Args:
            curvature: c, shape (samples, rows). For several samples, X must have either strengths
                or further columns, and each pair of models must be in one row only.
        """
        if not self.models and self.columns is not None:
            if self.columns.shape[1] == 1:
                return (curvature @ self.columns**2)[:, :, None]
            return (self.columns.T * curvature[:, None]) @ self.columns
        strengths = self._information_of_strengths(curvature)
        if self.columns is None:
            return strengths
        # Row k is X' diag(c) times the k-th further column.
        weighted_columns = self.columns.T * curvature[0]
        further_rows = np.concatenate(
            [self.transpose_product(column[None]) for column in weighted_columns]
        )
        with_strengths = further_rows[:, : self.models]
        rows_of_strengths = np.hstack([strengths[0], with_strengths.T])
        return np.vstack([rows_of_strengths, further_rows])[None]

    def _information_of_strengths(self, curvature: np.ndarray) -> np.ndarray:
        """Return the block of X' diag(c) X of the strengths, shape (samples, models, models).

        It is the Laplacian of the graph of pairs, weighted by their curvature.
        """
        samples = len(curvature)
        size = self.models
        if samples == 1:
            cell = self.first * np.int64(size) + self.second
            by_pair = np.bincount(cell, curvature[0], size * size).reshape(1, size, size)
            matrix: np.ndarray = -by_pair - by_pair.transpose(0, 2, 1)
        else:
            matrix = np.zeros((samples, size, size))
            matrix[:, self.first, self.second] = -curvature
            matrix[:, self.second, self.first] = -curvature
        diagonals = np.einsum("kii->ki", matrix)  # a view, shape (samples, models)
        diagonals[:] = -matrix.sum(axis=2)
        return matrix


@dataclass(frozen=True, slots=True)
class Likelihood:
    """A penalized likelihood.

    Attributes:
        design: the design matrix X.
        credit: sum of credits of each row, shape (rows,) or (samples, rows).
        weight: sum of weights of each row, of the same shape.
        penalty: P, shape (parameters, parameters), or its diagonal, shape (parameters,) or (1,).
        offset: added to logits, shape (rows,).
        loss: function that returns surplus and curvature of the rows.
        mean: m, shape (parameters,). It is given if P identifies all parameters. If it is None, m
            is zero and the strengths are centred.
    """

    design: DesignMatrix
    credit: np.ndarray
    weight: np.ndarray
    penalty: np.ndarray
    offset: np.ndarray | float = 0.0
    loss: Loss = logistic
    mean: np.ndarray | None = None

    @property
    def centred_strengths(self) -> int:
        """Number of strengths that are centred: all if `mean` is None, else 0.

        Strengths are centred if only their differences are identified.
        """
        return self.design.models if self.mean is None else 0

    def logits(self, parameters: np.ndarray) -> np.ndarray:
        """Return X b + offset, from shape (samples, parameters) to (samples, rows)."""
        return self.design.product(parameters) + self.offset

    def penalty_gradient(self, parameters: np.ndarray) -> np.ndarray:
        """Return P (b - m), shape (samples, parameters)."""
        deviation = parameters if self.mean is None else parameters - self.mean
        if self.penalty.ndim == 1:
            return self.penalty * deviation
        return deviation @ self.penalty

    def information(self, curvature: np.ndarray) -> np.ndarray:
        """Return the negative Hessian of the penalized log-likelihood.

        Its shape is (samples, parameters, parameters). If only differences of strengths are
        identified, it includes a prior of the mean strength, so that it has an inverse.

        Args:
            curvature: curvature of each row, shape (samples, rows); see `DesignMatrix.information`.
        """
        matrix = self.design.information(curvature)
        if self.penalty.ndim == 2 or len(self.penalty) == 1:
            matrix += self.penalty
        else:
            diagonals = np.einsum("kii->ki", matrix)  # a view, shape (samples, parameters)
            diagonals += self.penalty
        size = self.centred_strengths
        if size:
            # No row identifies the mean of the strengths, so that the matrix would be singular. A
            # prior of the mean makes it regular, and changes no product of its inverse with a
            # centred vector.
            strengths = matrix[:, :size, :size]  # a view
            prior = np.einsum("kii->k", strengths) / size**2  # the trace of each sample
            strengths += prior[:, None, None]
        return matrix

    def information_at(self, parameters: np.ndarray) -> np.ndarray:
        """Return the negative Hessian at given parameters, shape (parameters, parameters).

        Credits and weights are those of one sample, shape (rows,), and `parameters` has shape
        (parameters,). As in `information`, a prior of the mean strength may be included.
        """
        # Arrays of a likelihood have a first axis of samples, here of size 1.
        logits = self.logits(parameters[None])
        _, curvature = self.loss(self.credit[None], self.weight[None], logits)
        [information] = self.information(curvature)
        return information


@dataclass(frozen=True, slots=True)
class Optimum:
    """The maximum of a likelihood.

    Attributes:
        parameters: the parameters, shape (parameters,).
        gradient: the largest absolute component of the gradient, divided by the total weight.
        steps: number of Newton steps.
    """

    parameters: np.ndarray
    gradient: float
    steps: int


class _SampleFits(NamedTuple):
    """Data and current parameters of samples during iteration.

    `parameters` has shape (samples, parameters), and the other arrays have shape (samples, rows).
    """

    credit: np.ndarray
    weight: np.ndarray
    parameters: np.ndarray
    logits: np.ndarray

    def select(self, samples: np.ndarray) -> "_SampleFits":
        """Return a copy with the samples that a mask or positions select, in each array."""
        return _SampleFits(*(values[samples] for values in self))


def maximize(likelihood: Likelihood, start: np.ndarray | None = None) -> Optimum:
    """Maximize the likelihood of one sample, with credits and weights of shape (rows,).

    `start` are the parameters at which iteration starts, shape (parameters,); by default 0.

    Raises:
        NotIdentifiedError: the likelihood has no finite maximum.
        NotConvergedError: no maximum was found.
    """
    # From here on, there is a first axis of samples, of size 1.
    likelihood = replace(likelihood, credit=likelihood.credit[None], weight=likelihood.weight[None])
    parameters, steps = _iterate(likelihood, start)
    logits = likelihood.logits(parameters)
    surplus, _ = likelihood.loss(likelihood.credit, likelihood.weight, logits)
    gradient_of_data = likelihood.design.transpose_product(surplus)
    gradient = gradient_of_data - likelihood.penalty_gradient(parameters)
    return Optimum(
        parameters=parameters[0],
        gradient=float(np.abs(gradient).max() / likelihood.weight.sum()),
        steps=steps,
    )


def maximize_samples(
    likelihood: Likelihood, start: np.ndarray | None = None, tolerance: float = TOLERANCE
) -> np.ndarray:
    """Maximize the likelihood of each sample.

    Args:
        likelihood: credits and weights have shape (samples, rows).
        start: parameters at which all samples start, shape (parameters,); by default 0.
        tolerance: logits; iteration stops after a smaller step.

    Returns:
        The parameters, shape (samples, parameters).

    Raises:
        NotIdentifiedError: the likelihood has no finite maximum.
        NotConvergedError: no maximum was found.
    """
    size = likelihood.design.parameter_count
    samples, rows = likelihood.credit.shape
    largest_row = max(size**2, rows)
    block_size = max(1, BLOCK_CELLS // largest_row)
    # The empty array is the result if there are no samples.
    optima = [np.empty((0, size))]
    for start_of_block in range(0, samples, block_size):
        block = slice(start_of_block, start_of_block + block_size)
        credit = likelihood.credit[block]
        weight = likelihood.weight[block]
        parameters, _ = _iterate(
            replace(likelihood, credit=credit, weight=weight), start, tolerance
        )
        optima.append(parameters)
    return np.concatenate(optima)


def fit_one_strength(likelihood: Likelihood, parameters: np.ndarray, code: int) -> float:
    """Return roughly the most likely strength of one model, with all other parameters unchanged.

    A fit of all parameters can start at the result. Newton's steps are at most `LARGEST_UNDAMPED`
    logits long. They stop after a step below `ROUGH_TOLERANCE`, or after 200 steps.

    Args:
        likelihood: likelihood of one sample, with credits and weights of shape (1, rows). The
            penalty is a diagonal of shape (parameters,), and its mean is taken as 0.
        parameters: the parameters, shape (parameters,).
        code: code of the model.
    """
    design = likelihood.design
    penalty = likelihood.penalty[code]
    # 1 in rows in which the model is first, -1 in rows in which it is second, 0 in others.
    is_first = design.first == code
    is_second = design.second == code
    side_in_all_rows = is_first.astype(np.float64) - is_second
    rows = np.flatnonzero(side_in_all_rows)
    side = side_in_all_rows[rows]
    credit = likelihood.credit[0, rows]
    weight = likelihood.weight[0, rows]
    logits = likelihood.logits(parameters[None])[0, rows]
    strength = float(parameters[code])
    for _ in range(MOST_STEPS):
        surplus, curvature = likelihood.loss(credit, weight, logits)
        gradient = side @ surplus - penalty * strength
        newton_step = float(gradient / (curvature.sum() + penalty))
        step = min(max(newton_step, -LARGEST_UNDAMPED), LARGEST_UNDAMPED)
        strength += step
        logits = logits + step * side
        if abs(step) < ROUGH_TOLERANCE:
            break
    return strength


def _iterate(
    likelihood: Likelihood, start: np.ndarray | None, tolerance: float = TOLERANCE
) -> tuple[np.ndarray, int]:
    """Take damped Newton steps until each sample has converged.

    A sample has converged after a step below the tolerance, or if only rounding error is left
    (`STALL_THRESHOLD`).

    Args:
        likelihood: credits and weights have shape (samples, rows).
        start: parameters at which all samples start, shape (parameters,); None for 0.
        tolerance: logits; iteration of a sample stops after a smaller step.

    Returns:
        The parameters, shape (samples, parameters), and the number of steps of the sample that
        took most.

    Raises:
        NotIdentifiedError, NotConvergedError: as of `maximize_samples`.
    """
    parameters = _start_of_samples(likelihood, start)
    has_penalty = bool(np.count_nonzero(likelihood.penalty))
    active = np.arange(len(parameters))
    previous_move: np.ndarray | float = np.inf
    current = _SampleFits(
        likelihood.credit, likelihood.weight, parameters, likelihood.logits(parameters)
    )
    for steps in range(1, MOST_STEPS + 1):
        step, gradient = _damped_step(likelihood, current)
        # The largest change of a logit before damping decides whether a sample has converged.
        move = step.move
        current = current._replace(
            parameters=current.parameters + step.parameter_change,
            logits=current.logits + step.logit_change,
        )
        if not has_penalty:
            _check_separation(likelihood, current)
        is_moving = move >= tolerance
        if np.minimum.reduce(move) < STALL_THRESHOLD:
            is_stalled = (move < STALL_THRESHOLD) & (move > previous_move / 2)
            is_moving &= ~is_stalled
        previous_move = move
        moving_count = np.count_nonzero(is_moving)
        if moving_count == len(is_moving):
            continue
        parameters[active] = current.parameters
        if not moving_count:
            return _centre_strengths(parameters, likelihood.centred_strengths), steps
        active = active[is_moving]
        previous_move = move[is_moving]
        current = current.select(is_moving)
    # The first-order gain of the last step, for the samples that still move.
    gains = np.sum(gradient * step.parameter_change, axis=1)[is_moving]
    raise _convergence_error(gains, current.weight.sum(axis=1), float(move.max()))


def _start_of_samples(likelihood: Likelihood, start: np.ndarray | None) -> np.ndarray:
    """Return the parameters at which samples start, shape (samples, parameters).

    They are `start`, or 0 if it is None. If only differences of strengths are identified, the
    strengths are centred.
    """
    if start is None:
        origin = np.zeros((1, likelihood.design.parameter_count))
    else:
        origin = np.array(start, dtype=np.float64)[None]
    centred = _centre_strengths(origin, likelihood.centred_strengths)
    return np.repeat(centred, len(likelihood.credit), axis=0)


class _Step(NamedTuple):
    """A Newton step of several samples.

    Attributes:
        parameter_change: change of the parameters, shape (samples, parameters).
        logit_change: change of the logits, shape (samples, rows).
        move: largest change of a logit by the whole step, before damping, shape (samples,).
    """

    parameter_change: np.ndarray
    logit_change: np.ndarray
    move: np.ndarray


def _damped_step(likelihood: Likelihood, current: _SampleFits) -> tuple[_Step, np.ndarray]:
    """Return the next step of several samples, and the gradient before it.

    The gradient has shape (samples, parameters).

    Raises:
        SingularError: a step is not finite.
    """
    surplus, curvature = likelihood.loss(current.credit, current.weight, current.logits)
    design = likelihood.design
    gradient = design.transpose_product(surplus) - likelihood.penalty_gradient(current.parameters)
    parameter_change = _newton_step(likelihood, curvature, gradient)
    logit_change = design.product(parameter_change)
    move = np.maximum.reduce(np.abs(logit_change), axis=1)
    step = _Step(parameter_change, logit_change, move)
    largest_move = np.maximum.reduce(move)
    # NaN is not below infinity, either.
    if not largest_move < np.inf:
        raise SingularError(
            "a Newton step is not finite: a credit, weight or column is NaN, infinite or too large"
        )
    if largest_move <= LARGEST_UNDAMPED:
        return step, gradient
    factor = _damp_factors(likelihood, current, step, gradient)[:, None]
    return _Step(factor * parameter_change, factor * logit_change, move), gradient


def _convergence_error(
    gains: np.ndarray, weights: np.ndarray, move: float
) -> NotConvergedError | NotIdentifiedError:
    """Return the error of samples that did not converge.

    If their last steps gained nothing, the likelihood has no maximum: NotIdentifiedError.

    Args:
        gains: predicted gain of the last step, shape (samples,).
        weights: total weight, shape (samples,).
        move: largest change of a logit in the last step.
    """
    if (gains <= TOLERANCE * weights).all():
        return NotIdentifiedError(
            "no finite maximum: the parameters keep growing and the likelihood hardly changes"
        )
    return NotConvergedError(
        f"no maximum after {MOST_STEPS} Newton steps (last step {move:.1e} logits); raise the "
        "regularization or add battles"
    )


def _centre_strengths(parameters: np.ndarray, models: int) -> np.ndarray:
    """Subtract the mean from the first `models` columns of `parameters`, and return `parameters`.

    The array is changed in place.
    """
    if models:
        strengths = parameters[:, :models]  # a view
        strengths -= strengths.mean(axis=1, keepdims=True)
    return parameters


def _newton_step(likelihood: Likelihood, curvature: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Solve (X' C X + P) step = gradient for each sample, shape (samples, parameters).

    C has the elements of `curvature`, shape (samples, rows), on its diagonal.

    Raises:
        SingularError: the system of a sample has no solution.
    """
    parameter_count = likelihood.design.parameter_count
    if parameter_count > MOST_CHOLESKY:
        steps = []
        for curvature_of_sample, gradient_of_sample in zip(curvature, gradient, strict=True):
            steps.append(_conjugate_gradients(likelihood, curvature_of_sample, gradient_of_sample))
        return np.stack(steps)
    if len(curvature) > 1 and parameter_count > MOST_BATCHED:
        steps = []
        for k in range(len(curvature)):
            only_this = slice(k, k + 1)
            steps.append(_newton_step(likelihood, curvature[only_this], gradient[only_this]))
        return np.concatenate(steps)
    matrix = likelihood.information(curvature)
    # A zero is left to the solver below, which raises the error of a singular matrix.
    if parameter_count == 1 and matrix.all():
        return gradient / matrix[:, 0]
    try:
        if len(matrix) > 1:
            # Each right side is a matrix of one column.
            return np.linalg.solve(matrix, gradient[:, :, None])[:, :, 0]
        return solve_information(matrix[0], gradient[0])[None]
    except np.linalg.LinAlgError as error:
        raise _singular_error(str(error)) from error


def solve_information(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the x that solves matrix @ x = vector.

    The matrix is a negative Hessian, shape (parameters, parameters), and the vector has shape
    (parameters,). The matrix must not be used afterwards: it may be overwritten.

    Raises:
        SingularError: the matrix is not positive definite.
    """
    if len(matrix) <= MOST_BY_NUMPY:
        return information_solver(matrix)(vector)
    from scipy.linalg import lapack

    solution: np.ndarray
    _, solution, minor = lapack.dposv(matrix.T, vector, overwrite_a=True)
    if minor:
        raise _singular_error(f"{minor}-th leading minor of the array is not positive definite")
    return solution


def information_solver(matrix: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from v to the x that solves matrix @ x = v.

    The matrix is a negative Hessian. It must not be used afterwards: it may be overwritten. v and x
    have shape (parameters,) or (parameters, n).

    Raises:
        SingularError: the matrix is not positive definite.
    """
    try:
        if len(matrix) <= MOST_BY_NUMPY:
            np.linalg.cholesky(matrix)  # raises unless the matrix is positive definite
            return partial(np.linalg.solve, matrix)
        from scipy import linalg

        return partial(linalg.cho_solve, linalg.cho_factor(matrix, overwrite_a=True))
    except np.linalg.LinAlgError as error:
        raise _singular_error(str(error)) from error


def _singular_error(reason: str) -> SingularError:
    """Return the error of a linear system without a solution.

    `reason` is a clause without a full stop, which the message has in brackets.
    """
    return SingularError(
        f"the linear system of a Newton step could not be solved ({reason}); raise the "
        "regularization"
    )


def _conjugate_gradients(
    likelihood: Likelihood, curvature: np.ndarray, gradient: np.ndarray
) -> np.ndarray:
    """Solve (X' C X + P) step = gradient of one sample by conjugate gradients.

    Returns:
        The step, shape (parameters,).

    Raises:
        SingularError: the iteration did not converge.
    """
    from scipy import sparse
    from scipy.sparse.linalg import LinearOperator, cg

    size = len(gradient)
    penalty = likelihood.penalty
    if penalty.ndim == 1:
        penalty = sparse.diags(penalty)
    x = likelihood.design.sparse
    matrix = x.T @ sparse.diags(curvature) @ x + penalty
    diagonal = matrix.diagonal()
    # The prior of the mean strength, as in `Likelihood.information`.
    models = likelihood.centred_strengths
    prior = np.zeros(size)
    if models:
        prior[:models] = diagonal[:models].mean() / models

    def product(v: np.ndarray) -> np.ndarray:
        """Return the product of the negative Hessian, with the prior, and v."""
        return matrix @ v + prior * v[:models].sum()

    def divide_by_diagonal(v: np.ndarray) -> np.ndarray:
        """Return v over the diagonal, an approximation of the solution (Jacobi)."""
        return v / diagonal

    operator = LinearOperator((size, size), matvec=product)
    jacobi = LinearOperator((size, size), matvec=divide_by_diagonal)
    step, failed = cg(operator, gradient, rtol=1e-10, atol=0.0, maxiter=20 * size, M=jacobi)
    if failed:
        raise SingularError(
            "the linear system of a Newton step could not be solved; raise the regularization"
        )
    return step


def _damp_factors(
    likelihood: Likelihood, current: _SampleFits, step: _Step, gradient: np.ndarray
) -> np.ndarray:
    """Return the factors by which steps are multiplied, 1 or powers of 1/2, shape (samples,).

    A step is halved until the likelihood, which is concave, still rises at the end of the step, or
    until the step changes no logit by more than `LARGEST_UNDAMPED`.

    Args:
        likelihood: the likelihood.
        current: the samples before the step.
        step: the whole steps.
        gradient: gradient before the step, shape (samples, parameters).
    """
    factor = np.ones(len(gradient))
    predicted_gain = np.sum(gradient * step.parameter_change, axis=1)
    undecided = np.flatnonzero(step.move > LARGEST_UNDAMPED)
    while len(undecided):
        before = current.select(undecided)
        parameter_change = step.parameter_change[undecided]
        logit_change = step.logit_change[undecided]
        factor_of_each = factor[undecided, None]
        logits_at_end = before.logits + factor_of_each * logit_change
        surplus, _ = likelihood.loss(before.credit, before.weight, logits_at_end)
        penalty_gradient = likelihood.penalty_gradient(
            before.parameters + factor_of_each * parameter_change
        )
        # The slope of the penalized log-likelihood along the step, at its end.
        slope_of_likelihood = np.sum(surplus * logit_change, axis=1)
        slope_of_penalty = np.sum(penalty_gradient * parameter_change, axis=1)
        slope = slope_of_likelihood - slope_of_penalty
        # The end of the step is beyond the maximum along it.
        is_too_long = slope < -SLOPE_ROUNDING * predicted_gain[undecided]
        undecided = undecided[is_too_long]
        factor[undecided] /= 2
        may_overshoot = factor[undecided] * step.move[undecided] > LARGEST_UNDAMPED
        undecided = undecided[may_overshoot]
    return factor


def _check_separation(likelihood: Likelihood, current: _SampleFits) -> None:
    """Raise NotIdentifiedError if the current parameters separate wins from losses in a sample.

    Parameters b separate wins from losses if every row is a win with X b >= 0 or a loss with
    X b <= 0, and X b is not 0 in all rows. Without a penalty, the likelihood then has no maximum.
    """
    product = current.logits - likelihood.offset
    is_right_win = (current.credit == current.weight) & (product >= 0)
    is_right_loss = (current.credit == 0) & (product <= 0)
    predicts_all_rows = (is_right_win | is_right_loss).all(axis=1)
    is_separated = predicts_all_rows & product.any(axis=1)
    if is_separated.any():
        raise NotIdentifiedError(
            "no finite maximum: the outcomes are separated, so ever larger parameters fit better"
        )
