"""Rate one model against opponents with fixed strengths: the second step of Algorithm 1, and its
standard error."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import expit

from podium.rankers.errors.intervals import FEWEST_DRAWS, resample_counts
from podium.rankers.fit.newton import DesignMatrix, Likelihood, maximize_samples
from podium.rankers.fit.scale import POINTS


@dataclass(frozen=True, slots=True)
class ModelBattles:
    """One model's opponent codes, credits, weights and cluster codes, shape (battles,), and
    opponents' strengths."""

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
        """Whether every battle was won, or every battle lost: the data then do not bound the
        rating."""
        return bool(np.all(self.credit == 1) or np.all(self.credit == 0))

    def opponent_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of credit and of weight per opponent, shape (opponents,) each."""
        sums = (self.weight * self.credit, self.weight)
        credit, weight = (np.bincount(self.opponent, column, len(self.theta)) for column in sums)
        return credit, weight


def fit_single_strengths(
    theta: np.ndarray,
    credit: np.ndarray,
    weight: np.ndarray,
    regularization: float,
    start: float = 0.0,
) -> np.ndarray:
    """Return the t that maximizes sum_k [c_k log s(t - theta_k) + (w_k - c_k) log s(theta_k - t)] -
    (lambda / 2) t^2. Credit and weight are sums per opponent, shape (samples, opponents). NaN
    without a battle, and if lambda is 0 and all was won, or all lost. Source: Soft-Elo, Algorithm
    1, line 7, with the penalty of the authors' code."""
    strength, played = np.full(len(credit), np.nan), weight.sum(axis=1)
    rated = played > 0
    if regularization == 0:
        earned = credit.sum(axis=1)
        rated &= (earned > 0) & (earned < played)
    alone, penalty = DesignMatrix(np.ones((len(theta), 1))), np.array([float(regularization)])
    likelihood = Likelihood(alone, credit[rated], weight[rated], penalty, offset=-np.asarray(theta))
    strength[rated] = maximize_samples(likelihood, np.array([start]))[:, 0]
    return strength


def fit_single_strength(battles: ModelBattles, regularization: float) -> float:
    """Return the log-strength of one model, NaN without a battle."""
    credit, weight = battles.opponent_sums()
    return float(fit_single_strengths(battles.theta, credit[None], weight[None], regularization)[0])


def sandwich_se(battles: ModelBattles, theta: float, regularization: float) -> float:
    """Return the clustered sandwich standard error of a log-strength, Elo points, NaN for a
    separated model."""
    if battles.clusters < 2 or battles.is_separated:
        return np.nan
    # Summed opponent by opponent, so that the order of battles leaves no trace in the last digits.
    order = np.lexsort((battles.opponent, battles.cluster))
    surplus = battles.weight * (battles.credit - expit(theta - battles.theta[battles.opponent]))
    surplus = np.bincount(battles.cluster[order], surplus[order])
    chance, weight = expit(theta - battles.theta), battles.opponent_sums()[1]
    information = float(weight @ (chance * (1 - chance))) + regularization
    return float(POINTS * np.sqrt(np.var(surplus, ddof=1) * len(surplus)) / information)


def bootstrap_se(
    battles: ModelBattles,
    theta: float,
    regularization: float,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[float, int]:
    """Return the standard error over resamples of clusters, Elo, NaN if more than half are
    unbounded, and the number of those, which are left out. Source: Soft-Elo, section 3.3 (which
    draws battles)."""
    if battles.clusters < 2 or resamples < 2:
        return np.nan, 0
    counts = resample_counts(battles.clusters, resamples, rng)
    earns, loses = (
        np.bincount(battles.cluster, part, battles.clusters) > 0
        for part in (battles.credit > 0, battles.credit < 1)
    )
    bounded = (counts @ earns > 0) & (counts @ loses > 0)
    lost = resamples - int(bounded.sum())
    if bounded.sum() < max(2, FEWEST_DRAWS * resamples):
        return np.nan, lost
    place, shape = (battles.opponent, battles.cluster), (len(battles.theta), battles.clusters)
    credit, weight = (
        np.asarray(sparse.csr_matrix((values, place), shape=shape) @ counts[bounded].T).T
        for values in (battles.weight * battles.credit, battles.weight)
    )
    strengths = fit_single_strengths(battles.theta, credit, weight, regularization, theta)
    return float(POINTS * np.std(strengths, ddof=1)), lost


@dataclass(frozen=True, slots=True)
class ErrorMethod:
    """The method of standard errors: the sandwich, or a bootstrap of `resamples` draws."""

    resamples: int = 0
    seed: int = 0

    def __str__(self) -> str:
        return f"bootstrap:{self.resamples}" if self.resamples else "sandwich"

    def standard_error(
        self, battles: ModelBattles, theta: float, regularization: float
    ) -> tuple[float, int]:
        """Return the standard error of a log-strength, Elo points, and the resamples left out."""
        if not self.resamples:
            return sandwich_se(battles, theta, regularization), 0
        # Every model's draws start at the seed: they do not depend on names or other models.
        rng = np.random.default_rng(self.seed)
        return bootstrap_se(battles, theta, regularization, self.resamples, rng)
