"""Rate one model against opponents of fixed strength (Soft-Elo, Algorithm 1, line 7)."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from podium.distributions import expit
from podium.rankers.errors.intervals import LEAST_USABLE_SHARE, resample_counts
from podium.rankers.fit.newton import DesignMatrix, Likelihood, maximize_samples
from podium.rankers.fit.scale import POINTS


@dataclass(frozen=True, slots=True)
class ModelBattles:
    """The battles of one model against opponents whose strengths are fixed.

    Attributes:
        opponent: code of the opponent, shape (battles,).
        credit: credit of the model in [0, 1], shape (battles,).
        weight: weights, shape (battles,).
        cluster: cluster codes, from 0 without gaps, shape (battles,).
        theta: log-strengths of the opponents, by code, shape (opponents,).
    """

    opponent: np.ndarray
    credit: np.ndarray
    weight: np.ndarray
    cluster: np.ndarray
    theta: np.ndarray

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return int(self.cluster.max()) + 1 if len(self.cluster) else 0

    @property
    def is_separated(self) -> bool:
        """Whether the model won all battles, or lost all, so that they do not bound its rating.

        The value is True without battles.
        """
        return bool(np.all(self.credit == 1) or np.all(self.credit == 0))

    def opponent_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of credit and of weight per opponent, shape (opponents,) each."""
        opponents = len(self.theta)
        credit = np.bincount(self.opponent, self.weight * self.credit, opponents)
        weight = np.bincount(self.opponent, self.weight, opponents)
        return credit, weight


def fit_single_strengths(
    theta: np.ndarray,
    credit: np.ndarray,
    weight: np.ndarray,
    regularization: float,
    start: float = 0.0,
) -> np.ndarray:
    """Return the log-strength of a model in each sample of its battles, such as a resample.

    It is the t that maximizes the sum over opponents k of
    c_k log s(t - theta_k) + (w_k - c_k) log s(theta_k - t), minus (lambda / 2) t^2, where s is the
    logistic function.

    Args:
        theta: log-strengths of the opponents, shape (opponents,).
        credit: sums c of weighted credit by opponent, shape (samples, opponents).
        weight: sums w of weight by opponent, shape (samples, opponents).
        regularization: lambda, at least 0.
        start: first guess.

    Returns:
        Log-strengths, shape (samples,). They are NaN for samples without a battle and, if lambda
        is 0, for samples in which all battles were won or all lost.

    Raises:
        NotConvergedError: a fit did not reach its maximum.

    Source: Soft-Elo, Algorithm 1, line 7, with the penalty of the authors' code.
    """
    strength = np.full(len(credit), np.nan)
    total_weight = weight.sum(axis=1)
    is_bounded = total_weight > 0
    if regularization == 0:
        total_credit = credit.sum(axis=1)
        is_bounded &= (total_credit > 0) & (total_credit < total_weight)
    # The logit against opponent k is t - theta_k: one feature, which is 1, and an offset.
    design = DesignMatrix(columns=np.ones((len(theta), 1)))
    penalty = np.array([float(regularization)])
    offset = -np.asarray(theta)
    likelihood = Likelihood(
        design=design,
        credit=credit[is_bounded],
        weight=weight[is_bounded],
        penalty=penalty,
        offset=offset,
    )
    strength[is_bounded] = maximize_samples(likelihood, np.array([start]))[:, 0]
    return strength


def fit_single_strength(battles: ModelBattles, regularization: float) -> float:
    """Return the log-strength of one model by its battles.

    It is NaN if there is no battle or, if lambda is 0, if all battles were won or all lost. A fit
    that did not reach its maximum raises NotConvergedError.
    """
    credit, weight = battles.opponent_sums()
    # All battles are one sample.
    [strength] = fit_single_strengths(
        battles.theta, credit=credit[None], weight=weight[None], regularization=regularization
    )
    return float(strength)


def sandwich_se(battles: ModelBattles, theta: float, regularization: float) -> float:
    """Return the clustered sandwich standard error of a log-strength, in Elo points.

    The standard error is sqrt(G var(e)) / (information + lambda) for G clusters, where e_g is the
    surplus of cluster g: the weighted credit of the model minus its expectation. The result is NaN
    for a separated model, and for fewer than two clusters. `theta` is the log-strength of the
    model; the log-strengths of the opponents count as exact.
    """
    if battles.clusters < 2 or battles.is_separated:
        return np.nan
    # Sums are taken in a fixed order, so that the order of battles does not change the last
    # digits.
    order = np.lexsort((battles.opponent, battles.cluster))
    expected = expit(theta - battles.theta[battles.opponent])
    surplus_of_battle = battles.weight * (battles.credit - expected)
    surplus = np.bincount(battles.cluster[order], surplus_of_battle[order])
    expected_by_opponent = expit(theta - battles.theta)
    variance_by_opponent = expected_by_opponent * (1 - expected_by_opponent)
    _, weight = battles.opponent_sums()
    information = float(weight @ variance_by_opponent) + regularization
    variance_of_score = np.var(surplus, ddof=1) * len(surplus)
    return float(POINTS * np.sqrt(variance_of_score) / information)


def bootstrap_se(
    battles: ModelBattles,
    theta: float,
    regularization: float,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[float, int]:
    """Return the standard error of a log-strength over resamples of clusters, in Elo points.

    Args:
        battles: the battles of the model.
        theta: the model's log-strength by all its battles, at which fits start.
        regularization: lambda.
        resamples: number of resamples.
        rng: draws the clusters.

    Returns:
        The standard error, and the number of resamples that are left out because the model wins
        or loses all of their battles. The standard error is NaN if too few resamples remain (fewer
        than two, or than the share `LEAST_USABLE_SHARE`). For fewer than two clusters or resamples,
        the result is NaN and 0.

    Source: Soft-Elo, section 3.3 (which draws battles).
    """
    if battles.clusters < 2 or resamples < 2:
        return np.nan, 0
    counts = resample_counts(battles.clusters, resamples, rng)
    earns_credit = np.bincount(battles.cluster, battles.credit > 0, battles.clusters) > 0
    loses_credit = np.bincount(battles.cluster, battles.credit < 1, battles.clusters) > 0
    # How many of the clusters of each resample earn or lose credit.
    number_earning = counts @ earns_credit
    number_losing = counts @ loses_credit
    is_bounded = (number_earning > 0) & (number_losing > 0)
    left_out = resamples - int(is_bounded.sum())
    if is_bounded.sum() < max(2, LEAST_USABLE_SHARE * resamples):
        return np.nan, left_out
    bounded_counts = counts[is_bounded]
    credit = _resampled_sums_of_opponents(battles, battles.weight * battles.credit, bounded_counts)
    weight = _resampled_sums_of_opponents(battles, battles.weight, bounded_counts)
    strengths = fit_single_strengths(
        battles.theta, credit=credit, weight=weight, regularization=regularization, start=theta
    )
    return float(POINTS * np.std(strengths, ddof=1)), left_out


def _resampled_sums_of_opponents(
    battles: ModelBattles, values: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Return sums of values by opponent in each resample, shape (resamples, opponents).

    Args:
        battles: the battles.
        values: a value of each battle, shape (battles,).
        counts: how often each cluster is drawn, shape (resamples, clusters).
    """
    position = (battles.opponent, battles.cluster)
    shape = (len(battles.theta), battles.clusters)
    sums = sparse.csr_matrix((values, position), shape=shape) @ counts.T
    return np.asarray(sums).T


@dataclass(frozen=True, slots=True)
class ErrorMethod:
    """The method of standard errors.

    Attributes:
        resamples: number of resamples of the bootstrap; 0 for the sandwich.
        seed: seed of the resamples.
    """

    resamples: int = 0
    seed: int = 0

    def __str__(self) -> str:
        return f"bootstrap:{self.resamples}" if self.resamples else "sandwich"

    def standard_error(
        self, battles: ModelBattles, theta: float, regularization: float
    ) -> tuple[float, int]:
        """Return the standard error of a log-strength, and the number of resamples left out.

        The standard error is in Elo points, and NaN if unknown; see `sandwich_se` and
        `bootstrap_se`. The number is 0 for the sandwich.
        """
        if not self.resamples:
            return sandwich_se(battles, theta, regularization), 0
        # The generator is new for each model, so that its resamples do not depend on the names and
        # the number of other models.
        rng = np.random.default_rng(self.seed)
        return bootstrap_se(battles, theta, regularization, self.resamples, rng)
