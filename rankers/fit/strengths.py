"""Bradley-Terry log-strengths with their errors, and the ratings of a ladder as their prior."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from podium.data.ladder import Ladder
from podium.defaults import REGULARIZATION
from podium.distributions import expit
from podium.errors import UsageError
from podium.rankers.fit.cells import BattleData, cluster_shares, load_battles
from podium.rankers.fit.coded import (
    CodedBattles,
    Matrix,
    as_dense,
    centre_columns,
    centred_gram,
    surplus_by_cluster,
)
from podium.rankers.fit.graph import (
    Graph,
    comparison_graph,
    separated_in_resamples,
    separated_models,
)
from podium.rankers.fit.newton import (
    RESAMPLE_TOLERANCE,
    DesignMatrix,
    Likelihood,
    Optimum,
    information_solver,
    maximize,
    maximize_samples,
)
from podium.rankers.fit.pairs import PairCells, Pairs
from podium.rankers.fit.scale import POINTS, EloScale
from podium.rankers.fit.unequal_weights import residual_factors

ADDED_VARIANCE = 1e-10
"""This is added to the variances of a ladder's ratings, in logits squared, so that their covariance
can be inverted. A rating that was given as exact then has a standard error of 0.002 Elo."""
NEARLY_ALL_WON = 0.95
"""If a newcomer is above all rated models and won at least this share of its battles with them,
its interval has no upper end. If it is below all of them and lost at least this share, its
interval has no lower end."""


@dataclass(frozen=True, slots=True)
class LadderPrior:
    """The prior of log-strengths by a ladder of rated models; the others are newcomers.

    Attributes:
        mean: log-strengths by the ladder, 0 for newcomers, shape (models,).
        covariance: covariance of the rated models' log-strengths, shape (rated, rated).
        precision: inverse of `covariance`, with rows and columns of zeros for newcomers, shape
            (models, models).
        is_rated: which models the ladder rates, shape (models,).
        origin: Elo of log-strength 0.
    """

    mean: np.ndarray
    covariance: np.ndarray
    precision: np.ndarray
    is_rated: np.ndarray
    origin: float

    @property
    def scale(self) -> EloScale:
        """The ladder's Elo scale."""
        return EloScale(np.zeros(len(self.mean)), self.origin)

    def join_rated(self, pairs: Pairs) -> Pairs:
        """Return the pairs with one tie between each rated model and the rated model next by code.

        The tie replaces the battles of the two models, and stands for the ladder, which bounds the
        difference between any two rated models. `Pairs.items` of the result is None. The result is
        used for the connectivity only.
        """
        codes = np.flatnonzero(self.is_rated)
        a = codes[:-1]
        b = codes[1:]
        credit_of_tie = np.full(len(a), 0.5)
        weight_of_tie = np.ones(len(a))
        pair_key = pairs.first * pairs.models + pairs.second
        is_replaced = np.isin(pair_key, a * pairs.models + b)
        other_pairs = pairs.take(~is_replaced)
        return Pairs(
            first=np.append(other_pairs.first, a),
            second=np.append(other_pairs.second, b),
            credit=np.append(other_pairs.credit, credit_of_tie),
            weight=np.append(other_pairs.weight, weight_of_tie),
            models=pairs.models,
        )

    def sides_beyond(self, pairs: Pairs, theta: np.ndarray) -> np.ndarray:
        """Return which newcomers are beyond all rated models, shape (models,).

        The value is 1 for a newcomer that is above all rated models and wins nearly all battles
        with them (`NEARLY_ALL_WON`). It is -1 for a newcomer that is below all of them and loses
        nearly all of these battles. For a newcomer without battles against rated models, which
        other newcomers connect with them, only the log-strength decides. The value is 0 for any
        other model.

        Args:
            pairs: sums of the battles of each pair.
            theta: log-strengths, shape (models,).
        """
        rated = self.is_rated
        against_rated = pairs.take(rated[pairs.first] != rated[pairs.second])
        credit = against_rated.sum_by_model(
            against_rated.credit, against_rated.weight - against_rated.credit
        )
        weight = against_rated.sum_by_model(against_rated.weight, against_rated.weight)
        wins_nearly_all = credit >= NEARLY_ALL_WON * weight
        loses_nearly_all = credit <= (1 - NEARLY_ALL_WON) * weight
        is_above = (theta > theta[rated].max()) & wins_nearly_all
        is_below = (theta < theta[rated].min()) & loses_nearly_all
        side = is_above.astype(int) - is_below.astype(int)
        return np.where(rated, 0, side)


def build_prior(ladder: Ladder, models: Sequence[str]) -> LadderPrior:
    """Build the prior for the models with these names.

    The ladder must rate at least one of the models. Log-strength 0 is the mean of those that it
    rates. If the ladder has no covariance, its errors are independent.
    """
    codes_of_rated = np.array([k for k, name in enumerate(models) if name in ladder.models])
    positions_in_ladder = [ladder.models.index(models[k]) for k in codes_of_rated]
    size = len(models)
    if ladder.covariance is None:
        covariance_in_elo = np.diag(np.square(ladder.se))
    else:
        covariance_in_elo = np.array(ladder.covariance)
    added = ADDED_VARIANCE * np.eye(len(positions_in_ladder))
    covariance = (
        covariance_in_elo[np.ix_(positions_in_ladder, positions_in_ladder)] / POINTS**2 + added
    )
    elo = np.array(ladder.elo)[positions_in_ladder]
    mean = np.zeros(size)
    mean[codes_of_rated] = (elo - elo.mean()) / POINTS
    precision = np.zeros((size, size))
    precision[np.ix_(codes_of_rated, codes_of_rated)] = np.linalg.inv(covariance)
    is_rated = np.isin(np.arange(size), codes_of_rated)
    return LadderPrior(mean, covariance, precision, is_rated, origin=float(elo.mean()))


@dataclass(frozen=True)
class Strengths:
    """Fitted log-strengths theta and, if the design has further columns, their coefficients.

    They maximize the sum over battles of w [y log s(d) + (1 - y) log s(-d)], minus
    (lambda / 2) |theta|^2. Here y is the credit, w the weight, and d is theta_a - theta_b plus the
    further columns times their coefficients. The coefficients have no penalty.

    Attributes:
        pairs: sums of the battles of each pair.
        regularization: lambda. If there is a prior, lambda applies to newcomers only.
        likelihood: the likelihood. Its rows are battles if there are further columns, else pairs.
        optimum: the maximum: the strengths, then the coefficients.
        prior: prior by a ladder, which also sets the scale of the strengths; None if there is
            none.
    """

    pairs: Pairs
    regularization: float
    likelihood: Likelihood
    optimum: Optimum
    prior: LadderPrior | None = None

    @property
    def theta(self) -> np.ndarray:
        """Log-strengths, with mean zero unless there is a prior, shape (models,)."""
        return self.optimum.parameters[: self.pairs.models]

    @property
    def coefficients(self) -> np.ndarray:
        """Logits per unit of the further columns, shape (columns,)."""
        return self.optimum.parameters[self.pairs.models :]

    @cached_property
    def graph(self) -> Graph:
        """Connectivity of the pairs; a ladder connects the models that it rates (`join_rated`)."""
        if self.prior:
            return comparison_graph(self.prior.join_rated(self.pairs))
        return comparison_graph(self.pairs)

    def expected_credit(
        self, a: np.ndarray, b: np.ndarray, columns: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the expected credit of a against b, shape (n,).

        Args:
            a: codes of the first models, shape (n,).
            b: codes of the second models, shape (n,).
            columns: values of the further columns, shape (n, columns); zero by default.
        """
        logits = self.theta[a] - self.theta[b]
        if columns is not None:
            logits = logits + columns @ self.coefficients
        return expit(logits)

    def cluster_scores(self, coded: CodedBattles) -> Matrix:
        """Return the gradient of each cluster's log-likelihood at the maximum.

        The penalty is left out. The result has shape (clusters, parameters), and may be sparse. If
        there are further columns, `coded` must be the battles of the fit, in the same order.
        """
        columns = self.likelihood.design.columns
        if columns is None:
            return surplus_by_cluster(coded, self.expected_credit(coded.a, coded.b))
        expected = self.expected_credit(coded.a, coded.b, columns)
        scores_of_battles = (coded.weight * (coded.credit - expected))[:, None] * columns
        scores_of_columns = [
            np.bincount(coded.cluster, column, coded.clusters) for column in scores_of_battles.T
        ]
        scores_of_strengths = as_dense(surplus_by_cluster(coded, expected))
        return np.column_stack([scores_of_strengths, *scores_of_columns])

    def solve(self, values: np.ndarray) -> np.ndarray:
        """Return H^-1 v, where H is the negative Hessian at the maximum.

        v and the result have shape (parameters,) or (parameters, n).
        """
        return self._solver()(values)

    def influence(self, coded: CodedBattles) -> np.ndarray:
        """Return the influence of each cluster on each parameter, shape (clusters, parameters).

        The influence is the first-order change of the fitted parameter by the cluster's centred
        score. `coded` are the battles of the fit.
        """
        return self.solve(centre_columns(self.cluster_scores(coded)).T).T

    def covariance(self, battles: BattleData, *, by_weight: bool = False) -> np.ndarray:
        """Return the covariance of the parameters, H^-1 B H^-1.

        H is the negative Hessian, and B the sum over clusters of f^2 times the outer product of the
        cluster's centred score with itself. f^2 is G / (G - 1) for G clusters. A prior of precision
        P adds H^-1 P H^-1. The result has shape (parameters, parameters); it is zero, without a
        prior, for a single cluster.

        Args:
            battles: the battles.
            by_weight: whether f is that of `residual_factors` for the shares of the clusters in the
                weight of all battles. For clusters of equal weight, this changes nothing.
        """
        if battles.clusters < len(self.optimum.parameters):
            # With fewer clusters than parameters, solving for the scores of each cluster is less
            # work than for a square matrix.
            coded = load_battles(battles)
            factor = np.sqrt(_squared_factors(coded, by_weight))
            influence = self.influence(coded) * factor[:, None]
            covariance = influence.T @ influence
        else:
            blocks = (self.cluster_scores(block) for block in battles.blocks())
            # B of the formula, shape (parameters, parameters).
            gram, _ = centred_gram(blocks, _squared_factors(battles, by_weight))
            solve = self._solver()
            # H^-1 B, whose transpose is B H^-1, as both matrices are symmetric.
            half_solved = solve(gram)
            covariance = solve(half_solved.T)
        if self.prior is None:
            return covariance
        half_solved = self.solve(self.prior.precision)
        return covariance + self.solve(half_solved.T)

    def resampled_theta(self, cells: PairCells, counts: np.ndarray) -> np.ndarray:
        """Fit log-strengths to resamples, shape (draws, models).

        All log-strengths of a resample are NaN if it separates a model that all battles together
        do not separate.

        Args:
            cells: sums by cluster and pair.
            counts: how often each resample draws each cluster, shape (draws, clusters).
        """
        credit, weight = cells.resampled_sums(counts)
        theta = np.full((len(counts), self.pairs.models), np.nan)
        is_sound = are_sound(self.pairs, credit, weight)
        likelihood = pair_likelihood(
            self.pairs,
            regularization=self.regularization,
            credit=credit[is_sound],
            weight=weight[is_sound],
        )
        theta[is_sound] = maximize_samples(likelihood, self.theta, RESAMPLE_TOLERANCE)
        return theta

    def resampled_scores(self, scale: EloScale, cells: PairCells, counts: np.ndarray) -> np.ndarray:
        """Fit Elo scores to resamples, shape (draws, models).

        A score is NaN if the resample does not connect the model with the others, and infinite if
        the resample separates the model but all battles together do not. Models that all battles
        separate, too, have finite scores by the penalty. All scores of a resample are NaN if it
        bounds no model, or does not bound the pinned one. The origin of a resample is computed
        from the models that it bounds.

        Args:
            scale: the Elo scale.
            cells: sums by cluster and pair.
            counts: how often each resample draws each cluster, shape (draws, clusters).
        """
        credit, weight = cells.resampled_sums(counts)
        is_sound = are_sound(self.pairs, credit, weight)
        theta = np.full((len(counts), self.pairs.models), np.nan)
        # Resamples that separate models need a penalty for a finite fit, even if lambda is 0.
        penalty_of_unsound = max(self.regularization, REGULARIZATION)
        for rows, penalty in ((is_sound, self.regularization), (~is_sound, penalty_of_unsound)):
            if rows.any():
                likelihood = pair_likelihood(
                    self.pairs, regularization=penalty, credit=credit[rows], weight=weight[rows]
                )
                theta[rows] = maximize_samples(likelihood, self.theta, RESAMPLE_TOLERANCE)
        scores = scale.scores(theta)
        for draw in np.flatnonzero(~is_sound):
            unbounded_side = self._unbounded_sides(
                self.pairs, credit[draw], weight[draw], theta[draw]
            )
            is_unbounded = np.isnan(unbounded_side) | (unbounded_side != 0)
            is_pin_unbounded = scale.pinned is not None and is_unbounded[scale.pinned]
            if is_pin_unbounded or is_unbounded.all():
                scores[draw] = np.nan
                continue
            # Unbounded models get their strengths by all battles, shifted by the mean change of
            # the bounded ones, so that they do not move the origin.
            weights_of_bounded = np.where(is_unbounded, 0.0, scale.weights)
            # If no bounded model has a weight, the shift is 0 instead of a division by 0.
            total_weight = max(weights_of_bounded.sum(), 1e-300)
            shift = weights_of_bounded @ (theta[draw] - self.theta) / total_weight
            shifted_theta = np.where(is_unbounded, self.theta + shift, theta[draw])
            # Adding an infinite or unknown side makes the score infinite or unknown.
            scores[draw] = scale.scores(shifted_theta) + unbounded_side
        return scores

    def _unbounded_sides(
        self, pairs: Pairs, credit: np.ndarray, weight: np.ndarray, theta: np.ndarray
    ) -> np.ndarray:
        """Return how a resample leaves models unbounded that all battles together bound.

        The value is 0 for models that the resample bounds, and for models that all battles leave
        unbounded, too. It is inf for a model that only the resample leaves unbounded if the model
        is above the bounded ones, and -inf if it is below. It is NaN for such a model if the
        resample does not connect it with the bounded models. It is NaN for all models if the
        resample leaves models unbounded and bounds none. The result has shape (models,).

        Args:
            pairs: the pairs.
            credit: the resample's sums of credits, shape (pairs,).
            weight: the resample's sums of weights, shape (pairs,).
            theta: log-strengths fitted to the resample, shape (models,).
        """
        separated_by_all = separated_models(pairs)
        # Credit and weight get a first axis of resamples, here of size 1.
        [separated_by_resample] = separated_in_resamples(pairs, credit[None], weight[None])
        is_newly_unbounded = separated_by_resample & ~separated_by_all
        if not is_newly_unbounded.any():
            return np.zeros(pairs.models)
        is_bounded = ~is_newly_unbounded & ~separated_by_all
        if not is_bounded.any():
            return np.full(pairs.models, np.nan)
        group = comparison_graph(pairs.take(weight > 0)).group
        side = np.where(theta > theta[is_bounded].mean(), np.inf, -np.inf)
        is_apart = ~np.isin(group, group[is_bounded])
        side_or_unknown = np.where(is_apart, np.nan, side)
        return np.where(is_newly_unbounded, side_or_unknown, 0.0)

    def _solver(self) -> Callable[[np.ndarray], np.ndarray]:
        """Return the function from v to H^-1 v, where H is the negative Hessian at the maximum."""
        return information_solver(self.likelihood.information_at(self.optimum.parameters))


def _squared_factors(battles: BattleData, by_weight: bool) -> np.ndarray:
    """Return the factors f^2 of `Strengths.covariance`, shape (clusters,).

    They are the squares of `residual_factors` if `by_weight` is True. Otherwise all are G / (G - 1)
    for G clusters, and 1 for a single cluster.
    """
    if by_weight:
        return residual_factors(cluster_shares(battles)) ** 2
    clusters = battles.clusters
    return np.full(clusters, clusters / max(clusters - 1, 1))


def fit_strengths(
    pairs: Pairs,
    regularization: float = REGULARIZATION,
    start: np.ndarray | None = None,
    prior: LadderPrior | None = None,
) -> Strengths:
    """Fit log-strengths to pair sums whose comparison graph is connected.

    `identification.fit_battles` checks that it is.

    Args:
        pairs: sums of the battles of each pair.
        regularization: lambda, for newcomers only if there is a prior.
        start: log-strengths at which the fit starts, shape (models,); by default 0.
        prior: prior by the ratings of a ladder, if there is one.

    Raises:
        UsageError: lambda is negative or not finite.
        NotIdentifiedError: the likelihood has no finite maximum.
        NotConvergedError: the fit did not reach its maximum.
    """
    check_regularization(regularization)
    likelihood = pair_likelihood(pairs, regularization)
    if prior:
        penalty = prior.precision + np.diag(np.where(prior.is_rated, 0.0, likelihood.penalty))
        likelihood = replace(likelihood, penalty=penalty, mean=prior.mean)
    return Strengths(
        pairs=pairs,
        regularization=regularization,
        likelihood=likelihood,
        optimum=maximize(likelihood, start),
        prior=prior,
    )


def pair_likelihood(
    pairs: Pairs,
    regularization: float,
    credit: np.ndarray | None = None,
    weight: np.ndarray | None = None,
) -> Likelihood:
    """Return the likelihood of log-strengths with a row for each pair.

    `credit` and `weight` replace the sums of `pairs` by those of resamples, shape (samples,
    pairs).
    """
    if credit is None:
        credit = pairs.credit
    if weight is None:
        weight = pairs.weight
    design = DesignMatrix(columns=None, first=pairs.first, second=pairs.second, models=pairs.models)
    penalty = np.full(pairs.models, float(regularization))
    return Likelihood(design, credit, weight, penalty)


def column_likelihood(
    coded: CodedBattles, columns: np.ndarray, regularization: float
) -> Likelihood:
    """Return the likelihood of log-strengths and of coefficients of further columns.

    The log-strengths are the first parameters. The likelihood has a row for each battle. `columns`
    has shape (battles, further columns); their coefficients have no penalty.
    """
    design = DesignMatrix(columns=columns, first=coded.a, second=coded.b, models=len(coded.models))
    penalty_of_strengths = np.full(design.models, float(regularization))
    penalty_of_coefficients = np.zeros(columns.shape[1])
    penalty = np.append(penalty_of_strengths, penalty_of_coefficients)
    return Likelihood(
        design=design, credit=coded.weight * coded.credit, weight=coded.weight, penalty=penalty
    )


def are_sound(pairs: Pairs, credit: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the mask of sound resamples, shape (draws,).

    A resample is sound if it separates only models that all battles together separate, too.
    `credit` and `weight` are the sums of each resample, shape (draws, pairs).
    """
    # If wins and losses occur in the same pairs as in all battles, no further model is separated.
    has_same_wins = ((credit > 0) == (pairs.credit > 0)).all(axis=1)
    has_same_losses = ((credit < weight) == (pairs.credit < pairs.weight)).all(axis=1)
    is_sound = has_same_wins & has_same_losses
    is_undecided = ~is_sound
    separated = separated_in_resamples(pairs, credit[is_undecided], weight[is_undecided])
    newly_separated = separated & ~separated_models(pairs)
    is_sound[is_undecided] = ~newly_separated.any(axis=1)
    return is_sound


def check_regularization(regularization: float) -> None:
    """Raise UsageError if lambda is negative or not finite."""
    if not 0 <= regularization < np.inf:
        raise UsageError(
            f"regularization={regularization} is not a finite number of 0 or more "
            f"({REGULARIZATION} is the default)"
        )
