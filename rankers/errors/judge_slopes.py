"""Bradley-Terry with a slope and a position effect per judge, fitted to battles of several judges.

Judge j prefers a to b with probability s(beta_j (theta_a - theta_b) + gamma_j o), where o is 1 if a
was shown first only, -1 if b was, and 0 where both orders were merged. The slopes have mean 1 over
the battles (by weight): with equal slopes and no position effect the model is Bradley-Terry on all
battles. A weak penalty draws slopes to 1, and strengths and position effects to 0.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg, sparse
from scipy.special import expit, log_expit

from podium.errors import NotConvergedError
from podium.rankers.fit.coded import CodedBattles, ratio_or_nan

STEPS = 200
TOLERANCE = 1e-9
"""Newton decrement per unit of weight at which the fit has converged; it falls quadratically."""
HALVINGS = 40


@dataclass(frozen=True, slots=True)
class JuryBattles:
    """Battles of several judges: `judge` is the code of each battle's judge, `order` 1, -1 or 0,
    (battles,)."""

    coded: CodedBattles
    judge: np.ndarray
    judges: tuple[str, ...]
    order: np.ndarray

    @property
    def slope_columns(self) -> slice:
        """Places of the slopes among the parameters of a fit, behind the strengths."""
        return slice(len(self.coded.models), len(self.coded.models) + len(self.judges))

    def take(self, rows: np.ndarray) -> "JuryBattles":
        """Return the battles of a mask or of positions; clusters, models and judges keep their
        codes."""
        return replace(
            self, coded=self.coded.take(rows), judge=self.judge[rows], order=self.order[rows]
        )

    def matchups(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct numbers of item and pair (item * models^2 + lower code * models +
        higher code), and the position of each battle among them, (battles,)."""
        a, b, models = self.coded.a, self.coded.b, np.int64(len(self.coded.models))
        key = (self.coded.cluster * models + np.minimum(a, b)) * models + np.maximum(a, b)
        distinct, place = np.unique(key, return_inverse=True)
        return distinct, place

    def means_by_judge(self, about_a: np.ndarray) -> np.ndarray:
        """Return means of values about a, turned to the lower-coded model, NaN if not judged,
        (matchups, judges)."""
        distinct, place = self.matchups()
        cell, size = place * len(self.judges) + self.judge, len(distinct) * len(self.judges)
        total = np.bincount(cell, np.where(self.coded.a < self.coded.b, about_a, -about_a), size)
        return ratio_or_nan(total, np.bincount(cell, minlength=size)).reshape(-1, len(self.judges))


@dataclass(frozen=True)
class SlopeFit:
    """The maximum of the log-likelihood - (lambda / 2) |at|^2: `at` holds theta (mean 0), beta - 1,
    and gamma of the `positioned` judges. With `equal`, all slopes beta are 1."""

    data: JuryBattles
    at: np.ndarray
    regularization: float
    positioned: np.ndarray
    equal: bool

    @property
    def theta(self) -> np.ndarray:
        """Log-strengths of a judge of slope 1, shape (models,)."""
        return self.at[: len(self.data.coded.models)]

    @property
    def slopes(self) -> np.ndarray:
        """Slope of each judge, shape (judges,)."""
        return 1.0 + self.at[self.data.slope_columns]

    @property
    def position(self) -> np.ndarray:
        """Log-odds that each judge adds to the response shown first, 0 if no order is known, shape
        (judges,)."""
        effects = np.zeros(len(self.data.judges))
        effects[self.positioned] = self.at[self.data.slope_columns.stop :]
        return effects

    @cached_property
    def gaps(self) -> np.ndarray:
        """Difference of log-strengths of each battle, shape (battles,)."""
        return self.theta[self.data.coded.a] - self.theta[self.data.coded.b]

    @cached_property
    def logits(self) -> np.ndarray:
        """Log-odds that a is preferred in each battle, shape (battles,)."""
        judge = self.data.judge
        return self.slopes[judge] * self.gaps + self.position[judge] * self.data.order

    @cached_property
    def expected_credit(self) -> np.ndarray:
        """Expected credit of a in each battle, shape (battles,)."""
        return expit(self.logits)

    @property
    def surplus(self) -> np.ndarray:
        """Weighted credit minus expected credit, shape (battles,)."""
        return self.data.coded.weight * (self.data.coded.credit - self.expected_credit)

    @property
    def curvature(self) -> np.ndarray:
        """Weighted variance of a 0/1 verdict, shape (battles,)."""
        return self.data.coded.weight * self.expected_credit * (1 - self.expected_credit)

    @cached_property
    def design(self) -> sparse.csr_matrix:
        """Derivative of each battle's logit by the parameters, shape (battles, parameters)."""
        data, slope = self.data, self.slopes[self.data.judge]
        rows, column = np.arange(len(slope)), np.full(len(data.judges), -1)
        column[self.positioned] = data.slope_columns.stop + np.arange(len(self.positioned))
        shown = column[data.judge] >= 0
        columns = [
            data.coded.a,
            data.coded.b,
            len(self.theta) + data.judge,
            column[data.judge][shown],
        ]
        values = np.concatenate([slope, -slope, self.gaps, data.order[shown]])
        cells = np.concatenate([rows, rows, rows, rows[shown]]), np.concatenate(columns)
        return sparse.csr_matrix((values, cells), shape=(len(rows), len(self.at)))

    @cached_property
    def tangent(self) -> np.ndarray:
        """Orthonormal directions that keep the mean strength 0 and the mean slope 1, shape
        (parameters, directions)."""
        data, each = self.data, np.eye(len(self.at))
        slopes = each[data.slope_columns]
        if not self.equal:
            slopes = np.bincount(data.judge, data.coded.weight, len(slopes))[None] @ slopes
        return linalg.null_space(np.vstack([each[: len(self.theta)].sum(axis=0), slopes]))

    @cached_property
    def gradient(self) -> np.ndarray:
        """Gradient of the penalized log-likelihood, shape (parameters,)."""
        return np.asarray(self.design.T @ self.surplus) - self.regularization * self.at

    def information(self, *, observed: bool) -> np.ndarray:
        """Return the negative Hessian, or its expectation, along `tangent`, shape (directions,
        directions)."""
        matrix = (self.design.T @ self.design.multiply(self.curvature[:, None])).toarray()
        matrix += self.regularization * np.eye(len(matrix))
        if observed:
            # The logit is bilinear: its second derivative by theta_a and beta_j is 1, by theta_b
            # and beta_j it is -1.
            cross, data = np.zeros_like(matrix), self.data
            np.add.at(cross, (data.coded.a, len(self.theta) + data.judge), -self.surplus)
            np.add.at(cross, (data.coded.b, len(self.theta) + data.judge), self.surplus)
            matrix += cross + cross.T
        return self.tangent.T @ matrix @ self.tangent

    def share_of_penalty(self) -> float:
        """Return the largest model-based variance of a slope, over that of the penalty alone."""
        inverse = self.tangent @ np.linalg.pinv(self.information(observed=False)) @ self.tangent.T
        return self.regularization * float(np.diag(inverse)[self.data.slope_columns].max())

    def value(self) -> float:
        """Return the penalized log-likelihood."""
        coded = self.data.coded
        terms = coded.credit * log_expit(self.logits) + (1 - coded.credit) * log_expit(-self.logits)
        return float(coded.weight @ terms) - self.regularization / 2 * float(np.sum(self.at**2))

    @cached_property
    def influence(self) -> np.ndarray:
        """Influence of each item on the parameters, shape (clusters, parameters)."""
        scores = (
            add_by_cluster(self.data.coded, self.surplus) @ self.design
        ).toarray() @ self.tangent
        solved = np.linalg.solve(self.information(observed=True), (scores - scores.mean(axis=0)).T)
        return solved.T @ self.tangent.T

    def step_without_penalty(self) -> np.ndarray:
        """Return the step, to first order, from this fit to the maximum without the penalty, shape
        (parameters,)."""
        penalty = self.tangent.T @ (self.regularization * self.at)
        return self.tangent @ np.linalg.solve(self.information(observed=True), penalty)

    def covariance(self) -> np.ndarray:
        """Return the sandwich covariance by item of all parameters, with the factor G / (G - 1)."""
        clusters = self.data.coded.clusters
        return clusters / max(clusters - 1, 1) * self.influence.T @ self.influence


def add_by_cluster(coded: CodedBattles, values: np.ndarray) -> sparse.csr_matrix:
    """Return a matrix that adds up rows of battles, times values, by cluster, shape (clusters,
    battles)."""
    return sparse.csr_matrix(
        (values, (coded.cluster, np.arange(len(values)))), shape=(coded.clusters, len(values))
    )


def fit_slopes(
    data: JuryBattles, theta: np.ndarray, regularization: float, *, equal: bool = False
) -> SlopeFit:
    """Fit strengths, slopes and position effects, starting at the log-strengths of Bradley-Terry on
    all battles; NotConvergedError if there is no maximum, as where judges contradict each other
    throughout."""
    positioned = np.flatnonzero(np.bincount(data.judge, data.order != 0, len(data.judges)))
    start = np.append(theta - theta.mean(), np.zeros(len(data.judges) + len(positioned)))
    fit = SlopeFit(data, start, regularization, positioned, equal)
    for _ in range(STEPS):
        step, decrement = _ascending_step(fit)
        if decrement <= TOLERANCE**2 * data.coded.weight.sum():
            return fit
        fit = _damp(fit, step, decrement)
    raise NotConvergedError(
        f"the judges' slopes have no maximum after {STEPS} Newton steps; rank by bradley-terry"
    )


def _ascending_step(fit: SlopeFit) -> tuple[np.ndarray, float]:
    """Return an ascending step and the gain that it promises, by the observed information if it is
    positive."""
    gradient = fit.tangent.T @ fit.gradient
    for observed in (True, False):
        try:
            step = linalg.cho_solve(linalg.cho_factor(fit.information(observed=observed)), gradient)
            return fit.tangent @ step, float(gradient @ step)
        except linalg.LinAlgError:
            continue
    raise NotConvergedError(
        "the judges' slopes are not identified: give every judge battles of all models"
    )


def _damp(fit: SlopeFit, step: np.ndarray, gain: float) -> SlopeFit:
    """Return the fit after the largest of 1, 1/2, 1/4, ... steps that raises the likelihood as far
    as promised."""
    before = fit.value()
    for halving in range(HALVINGS):
        trial = replace(fit, at=fit.at + step / 2**halving)
        if trial.value() >= before + 1e-4 * gain / 2**halving - 1e-12 * abs(before):
            return trial
    raise NotConvergedError(
        "the fit of the judges' slopes does not rise any more; rank by bradley-terry"
    )
