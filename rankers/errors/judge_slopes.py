"""Bradley-Terry with a slope and a position effect per judge, fitted to battles of several judges.

Judge j prefers a to b with probability s(beta_j (theta_a - theta_b) + gamma_j o), where o is 1 if
a was shown first only, -1 if b was, and 0 where both orders were merged. The slopes have mean 1
over the battles (by weight): with equal slopes and no position effect the model is Bradley-Terry
on all battles. A weak penalty draws slopes to 1, and strengths and position effects to 0.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from podium.distributions import expit, log_expit
from podium.errors import NotConvergedError
from podium.rankers.fit.coded import CodedBattles, ratio_or_nan

if TYPE_CHECKING:
    from scipy import sparse


MOST_STEPS = 200
"""Largest number of Newton steps before a fit fails."""
TOLERANCE = 1e-9
"""The fit has converged if the gain that the next step promises is below the square of this, per
unit of weight."""
MOST_HALVINGS = 40
"""Largest number of halvings of a step before a fit fails."""


@dataclass(frozen=True, slots=True)
class JuryBattles:
    """Battles of several judges.

    Attributes:
        coded: the battles.
        judge: code of each battle's judge, shape (battles,).
        judges: names of the judges, by code.
        order: 1 if a was shown first, -1 if b was, 0 for merged orders, shape (battles,).
        items: code of each battle's item, shape (battles,); None if the clusters are the items.
    """

    coded: CodedBattles
    judge: np.ndarray
    judges: tuple[str, ...]
    order: np.ndarray
    items: np.ndarray | None = None

    @property
    def slope_columns(self) -> slice:
        """Positions of the slopes among the parameters of a fit, after the strengths."""
        models = len(self.coded.models)
        return slice(models, models + len(self.judges))

    def take(self, rows: np.ndarray) -> "JuryBattles":
        """Return the battles that a mask or positions select, shape (battles,) or (n,).

        Clusters, models and judges keep their codes, also those that have no battle left.
        """
        return replace(
            self,
            coded=self.coded.take(rows),
            judge=self.judge[rows],
            order=self.order[rows],
            items=None if self.items is None else self.items[rows],
        )

    def matchups(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct matchups, and which of them each battle belongs to.

        A matchup is a pair of models on an item, in either order. It is written as one number:
        item * models^2 + lower code * models + higher code.

        Returns:
            First, the numbers of the matchups, ascending, shape (matchups,). Second, the position
            of the matchup of each battle in this array, shape (battles,).
        """
        models = np.int64(len(self.coded.models))
        lower = np.minimum(self.coded.a, self.coded.b)
        higher = np.maximum(self.coded.a, self.coded.b)
        item = self.coded.cluster if self.items is None else self.items
        matchup = (item * models + lower) * models + higher
        numbers, matchup_of_battle = np.unique(matchup, return_inverse=True)
        return numbers, matchup_of_battle

    def clusters_of_matchups(self) -> np.ndarray:
        """Return the cluster of each matchup, in the order of `matchups`, shape (matchups,)."""
        numbers, matchup_of_battle = self.matchups()
        clusters = np.zeros(len(numbers), dtype=np.int64)
        clusters[matchup_of_battle] = self.coded.cluster
        return clusters

    def means_by_judge(self, about_a: np.ndarray) -> np.ndarray:
        """Return the mean of values by matchup and judge, shape (matchups, judges).

        `about_a` has a value about model a of each battle, shape (battles,), which has the opposite
        sign for b. Signs are turned so that means are about the model with the lower code. The mean
        is NaN where a judge did not judge a matchup.
        """
        numbers, matchup_of_battle = self.matchups()
        judges = len(self.judges)
        cell = matchup_of_battle * judges + self.judge
        cells = len(numbers) * judges
        about_lower = np.where(self.coded.a < self.coded.b, about_a, -about_a)
        total = np.bincount(cell, about_lower, cells)
        battle_count = np.bincount(cell, minlength=cells)
        mean = ratio_or_nan(total, battle_count)
        return mean.reshape(-1, judges)


@dataclass(frozen=True)
class SlopeFit:
    """Strengths, slopes and position effects of a jury, with what follows from them.

    The fit is the maximum of the log-likelihood minus (lambda / 2) |parameters|^2. While it is
    searched, objects of this class also hold parameters before the maximum.

    Attributes:
        data: the battles.
        parameters: theta (mean 0), beta - 1 of each judge, and gamma of the `positioned` judges,
            shape (parameters,).
        regularization: lambda.
        positioned: codes of the judges with battles of known order.
        has_equal_slopes: whether all slopes beta are 1.
    """

    data: JuryBattles
    parameters: np.ndarray
    regularization: float
    positioned: np.ndarray
    has_equal_slopes: bool

    @property
    def theta(self) -> np.ndarray:
        """Log-strengths of a judge of slope 1, shape (models,)."""
        return self.parameters[: len(self.data.coded.models)]

    @property
    def slopes(self) -> np.ndarray:
        """Slope of each judge, shape (judges,)."""
        return 1.0 + self.parameters[self.data.slope_columns]

    @property
    def position(self) -> np.ndarray:
        """Log-odds that each judge adds to the response shown first, shape (judges,).

        It is 0 for a judge without a battle of known order.
        """
        effects = np.zeros(len(self.data.judges))
        effects[self.positioned] = self.parameters[self.data.slope_columns.stop :]
        return effects

    @cached_property
    def strength_gaps(self) -> np.ndarray:
        """Difference of log-strengths of each battle, shape (battles,)."""
        return self.theta[self.data.coded.a] - self.theta[self.data.coded.b]

    @cached_property
    def logits(self) -> np.ndarray:
        """Log-odds that a is preferred in each battle, shape (battles,)."""
        judge = self.data.judge
        return self.slopes[judge] * self.strength_gaps + self.position[judge] * self.data.order

    @cached_property
    def expected_credit(self) -> np.ndarray:
        """Expected credit of a in each battle, shape (battles,)."""
        return expit(self.logits)

    @property
    def surplus(self) -> np.ndarray:
        """Weight times (credit minus expected credit) of each battle, shape (battles,)."""
        return self.data.coded.weight * (self.data.coded.credit - self.expected_credit)

    @property
    def curvature(self) -> np.ndarray:
        """Weight times the variance of a 0/1 verdict in each battle, shape (battles,)."""
        return self.data.coded.weight * self.expected_credit * (1 - self.expected_credit)

    @cached_property
    def design(self) -> "sparse.csr_matrix":
        """Derivative of each battle's logit by the parameters, shape (battles, parameters).

        The columns are those of the strengths, of the slopes, and of the position effects of the
        `positioned` judges.
        """
        from scipy import sparse

        data = self.data
        slope = self.slopes[data.judge]
        slope_column = len(self.theta) + data.judge
        position_column_of_judge = np.full(len(data.judges), -1)
        position_columns = data.slope_columns.stop + np.arange(len(self.positioned))
        position_column_of_judge[self.positioned] = position_columns
        position_column = position_column_of_judge[data.judge]
        has_position = position_column >= 0
        battle = np.arange(len(slope))
        rows = [battle, battle, battle, battle[has_position]]
        columns = [data.coded.a, data.coded.b, slope_column, position_column[has_position]]
        values = [slope, -slope, self.strength_gaps, data.order[has_position]]
        cells = (np.concatenate(rows), np.concatenate(columns))
        shape = (len(battle), len(self.parameters))
        return sparse.csr_matrix((np.concatenate(values), cells), shape=shape)

    @cached_property
    def tangent(self) -> np.ndarray:
        """Orthonormal directions that keep the mean strength 0 and the mean slope 1.

        They are the columns of a matrix of shape (parameters, directions). The mean slope is
        weighted by the judges' battles. If `has_equal_slopes` is True, the directions keep each
        slope 1.
        """
        from scipy import linalg

        unit = np.eye(len(self.parameters))
        sum_of_strengths = unit[: len(self.theta)].sum(axis=0)
        slope_constraints = unit[self.data.slope_columns]
        if not self.has_equal_slopes:
            judges = len(self.data.judges)
            weight_of_judge = np.bincount(self.data.judge, self.data.coded.weight, judges)
            slope_constraints = weight_of_judge[None] @ slope_constraints
        return linalg.null_space(np.vstack([sum_of_strengths, slope_constraints]))

    @cached_property
    def gradient(self) -> np.ndarray:
        """Gradient of the penalized log-likelihood, shape (parameters,)."""
        return np.asarray(self.design.T @ self.surplus) - self.regularization * self.parameters

    def information(self, *, observed: bool) -> np.ndarray:
        """Return the negative Hessian of the penalized log-likelihood along `tangent`.

        The result has shape (directions, directions). `observed` is True for the Hessian itself,
        and False for its expectation.
        """
        weighted_design = self.design.multiply(self.curvature[:, None])
        matrix = (self.design.T @ weighted_design).toarray()
        matrix += self.regularization * np.eye(len(matrix))
        if observed:
            # The logit is bilinear: its second derivative by theta_a and beta_j is 1, by theta_b
            # and beta_j it is -1.
            # `np.add.at` adds the values of all battles that have the same cell.
            cross = np.zeros_like(matrix)
            slope_column = len(self.theta) + self.data.judge
            np.add.at(cross, (self.data.coded.a, slope_column), -self.surplus)
            np.add.at(cross, (self.data.coded.b, slope_column), self.surplus)
            matrix += cross + cross.T
        return self.tangent.T @ matrix @ self.tangent

    def share_of_penalty(self) -> float:
        """Return the largest variance of a slope, divided by its variance by the penalty alone.

        The first is the variance in the fit with the battles, the second is 1 / lambda. A result
        near 1 says that the battles hardly determine a slope.
        """
        inverse_along_tangent = np.linalg.pinv(self.information(observed=False))
        covariance = self.tangent @ inverse_along_tangent @ self.tangent.T
        variance_of_slopes = np.diag(covariance)[self.data.slope_columns]
        return self.regularization * float(variance_of_slopes.max())

    def value(self) -> float:
        """Return the penalized log-likelihood at this fit, in nats."""
        coded = self.data.coded
        log_probability = log_expit(self.logits)
        log_opposite = log_expit(-self.logits)
        terms = coded.credit * log_probability + (1 - coded.credit) * log_opposite
        return float(coded.weight @ terms) - self.regularization / 2 * float(
            np.sum(self.parameters**2)
        )

    @cached_property
    def influence(self) -> np.ndarray:
        """Influence of each item on the parameters, centred, shape (clusters, parameters)."""
        scores = (add_by_cluster(self.data.coded, self.surplus) @ self.design).toarray()
        along_tangent = scores @ self.tangent
        centred = along_tangent - along_tangent.mean(axis=0)
        solved = np.linalg.solve(self.information(observed=True), centred.T)
        return solved.T @ self.tangent.T

    def step_without_penalty(self) -> np.ndarray:
        """Return the first-order step from this fit to the maximum without the penalty, shape
        (parameters,)."""
        penalty = self.tangent.T @ (self.regularization * self.parameters)
        return self.tangent @ np.linalg.solve(self.information(observed=True), penalty)

    def covariance(self) -> np.ndarray:
        """Return the sandwich covariance by item of all parameters, with the factor G / (G - 1).

        The result has shape (parameters, parameters); it is zero for a single cluster.
        """
        clusters = self.data.coded.clusters
        return clusters / max(clusters - 1, 1) * self.influence.T @ self.influence


def add_by_cluster(coded: CodedBattles, values: np.ndarray) -> "sparse.csr_matrix":
    """Return the matrix M such that M @ X sums rows by cluster, each times its value.

    M has shape (clusters, battles). X has a row for each battle, which is multiplied by the
    battle's element of `values`, shape (battles,).
    """
    from scipy import sparse

    return sparse.csr_matrix(
        (values, (coded.cluster, np.arange(len(values)))), shape=(coded.clusters, len(values))
    )


def fit_slopes(
    data: JuryBattles, theta: np.ndarray, regularization: float, *, equal: bool = False
) -> SlopeFit:
    """Fit strengths, slopes and position effects by Newton's method.

    Args:
        data: battles of several judges.
        theta: log-strengths at which the fit starts, by Bradley-Terry on all battles, shape
            (models,).
        regularization: lambda of the penalty.
        equal: whether all slopes are 1.

    Raises:
        NotConvergedError: there is no maximum, for example if judges contradict each other on all
            battles, or the slopes are not identified.
    """
    ordered_battles = np.bincount(data.judge, data.order != 0, len(data.judges))
    positioned = np.flatnonzero(ordered_battles)
    # Strengths are followed by the slopes minus 1, and by the position effects.
    slopes_and_effects = np.zeros(len(data.judges) + len(positioned))
    start = np.append(theta - theta.mean(), slopes_and_effects)
    fit = SlopeFit(
        data=data,
        parameters=start,
        regularization=regularization,
        positioned=positioned,
        has_equal_slopes=equal,
    )
    for _ in range(MOST_STEPS):
        step, decrement = _ascending_step(fit)
        if decrement <= TOLERANCE**2 * data.coded.weight.sum():
            return fit
        fit = _damp(fit, step, decrement)
    raise NotConvergedError(
        f"the judges' slopes have no maximum after {MOST_STEPS} Newton steps; rank by bradley-terry"
    )


def _ascending_step(fit: SlopeFit) -> tuple[np.ndarray, float]:
    """Return an ascending step and the gain that it promises.

    The step is Newton's by the observed information, or by the expected one if the observed one is
    not positive definite. It has shape (parameters,).

    Raises:
        NotConvergedError: neither information is positive definite.
    """
    from scipy import linalg

    gradient = fit.tangent.T @ fit.gradient
    for observed in (True, False):
        information = fit.information(observed=observed)
        try:
            step = linalg.cho_solve(linalg.cho_factor(information), gradient)
            return fit.tangent @ step, float(gradient @ step)
        except linalg.LinAlgError:
            continue
    raise NotConvergedError(
        "the judges' slopes are not identified: give every judge battles of all models"
    )


def _damp(fit: SlopeFit, step: np.ndarray, gain: float) -> SlopeFit:
    """Return the fit after the largest of 1, 1/2, 1/4, ... steps that raises the likelihood.

    The log-likelihood must rise by at least 1e-4 of the gain that the step promises (Armijo's
    rule). `gain` is the gain that the whole step promises.

    Raises:
        NotConvergedError: none of the `MOST_HALVINGS` steps raises the log-likelihood as much.
    """
    before = fit.value()
    rounding = 1e-12 * abs(before)
    for halving in range(MOST_HALVINGS):
        divisor = 2**halving
        trial = replace(fit, parameters=fit.parameters + step / divisor)
        least_value = before + 1e-4 * gain / divisor - rounding
        if trial.value() >= least_value:
            return trial
    raise NotConvergedError(
        "the fit of the judges' slopes does not rise any more; rank by bradley-terry"
    )
