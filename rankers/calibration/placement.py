"""One model against opponents whose strengths are fixed: the second step of Algorithm 1, and its error."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import expit

from podium.rankers.intervals import FEWEST_DRAWS, resample_counts
from podium.rankers.newton import DesignMatrix, Likelihood, maximize_samples
from podium.rankers.scale import POINTS


@dataclass(frozen=True, slots=True)
class ModelBattles:
    """One model's battles.

    Attributes:
        opponent: code among `theta`, shape (battles,).
        credit: what the model earned, in [0, 1], shape (battles,).
        weight: above 0, shape (battles,).
        cluster: what the bootstrap draws (items or rows), coded from 0, shape (battles,).
        theta: strengths of the opponents, shape (opponents,).
    """

    opponent: np.ndarray
    credit: np.ndarray
    weight: np.ndarray
    cluster: np.ndarray
    theta: np.ndarray

    @property
    def clusters(self) -> int:
        """Number of things that the bootstrap draws."""
        return int(self.cluster.max()) + 1 if len(self.cluster) else 0

    def sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Return credit and weight per opponent, shape (opponents,) each."""
        earned, size = self.weight * self.credit, len(self.theta)
        return np.bincount(self.opponent, earned, size), np.bincount(self.opponent, self.weight, size)

    @property
    def is_separated(self) -> bool:
        """Whether every battle was won, or every battle lost: the data then do not bound the rating."""
        return bool(np.all(self.credit == 1) or np.all(self.credit == 0))


def place(
    theta: np.ndarray, credit: np.ndarray, weight: np.ndarray, regularization: float, start: float = 0.0
) -> np.ndarray:
    """Maximise sum_k [c_k log s(t - theta_k) + (w_k - c_k) log s(theta_k - t)] - (lambda / 2) t^2 over t.

    Args:
        theta: strengths of the opponents, held fixed, shape (opponents,).
        credit, weight: sums per opponent, shape (samples, opponents) each.
        regularization: lambda >= 0; 0 needs both some credit and some loss.
        start: where to begin.

    Returns:
        Log-strengths on the opponents' scale, shape (samples,); NaN where there is no battle, and where lambda is 0
        and everything was won, or everything lost.

    Raises:
        NotConvergedError: no maximum.

    Source: Soft-Elo, Algorithm 1, line 7, with the penalty of the authors' code.
    """
    strength, played = np.full(len(credit), np.nan), weight.sum(axis=1)
    rated = played > 0
    if regularization == 0:
        earned = credit.sum(axis=1)
        rated &= (earned > 0) & (earned < played)
    alone, penalty = DesignMatrix(np.ones((len(theta), 1))), np.array([float(regularization)])
    likelihood = Likelihood(alone, credit[rated], weight[rated], penalty, offset=-np.asarray(theta))
    strength[rated] = maximize_samples(likelihood, np.array([start]))[:, 0]
    return strength


def place_model(own: ModelBattles, regularization: float) -> float:
    """Return the log-strength of one model, NaN without a battle."""
    credit, weight = own.sums()
    return float(place(own.theta, credit[None], weight[None], regularization)[0])


def sandwich_se(own: ModelBattles, theta: float, regularization: float) -> float:
    """Return the standard error of a model's rating by the sandwich over its own clusters, Elo points.

    Opponents and targets are held fixed. NaN for fewer than two clusters, and where everything was won, or lost.

    Args:
        theta: the model's log-strength.
    """
    if own.clusters < 2 or own.is_separated:
        return np.nan
    # BattleData opponent by opponent, so that the order of battles leaves no trace in the last digits.
    order = np.lexsort((own.opponent, own.cluster))
    surplus = own.weight * (own.credit - expit(theta - own.theta[own.opponent]))
    surplus = np.bincount(own.cluster[order], surplus[order])
    chance, weight = expit(theta - own.theta), own.sums()[1]
    information = float(weight @ (chance * (1 - chance))) + regularization
    return float(POINTS * np.sqrt(np.var(surplus, ddof=1) * len(surplus)) / information)


def bootstrap_se(
    own: ModelBattles, centre: float, regularization: float, resamples: int, rng: np.random.Generator
) -> tuple[float, int]:
    """Return the standard error over resamples of the model's own clusters, and the resamples that are left out.

    Opponents and targets are held fixed. Resamples in which everything was won, or everything lost, are left out; the
    error is NaN for fewer than two clusters, or where fewer than half of the resamples are bounded.

    Args:
        centre: the model's rating, where the fits begin.

    Source: Soft-Elo, section 3.3 (there, battles are drawn); standard deviation with resamples - 1, Elo points.
    """
    if own.clusters < 2 or resamples < 2:
        return np.nan, 0
    counts = resample_counts(own.clusters, resamples, rng)
    earns, loses = (np.bincount(own.cluster, part, own.clusters) > 0 for part in (own.credit > 0, own.credit < 1))
    bounded = (counts @ earns > 0) & (counts @ loses > 0)
    lost = resamples - int(bounded.sum())
    if bounded.sum() < max(2, FEWEST_DRAWS * resamples):
        return np.nan, lost
    shape = (len(own.theta), own.clusters)
    credit, weight = (
        np.asarray(sparse.csr_matrix((values, (own.opponent, own.cluster)), shape=shape) @ counts[bounded].T).T
        for values in (own.weight * own.credit, own.weight)
    )
    theta = place(own.theta, credit, weight, regularization, centre)
    return float(POINTS * np.std(theta, ddof=1)), lost


@dataclass(frozen=True, slots=True)
class ErrorMethod:
    """How standard errors of placed models are found: by the sandwich, or from so many resamples."""

    resamples: int = 0
    seed: int = 0

    def __str__(self) -> str:
        return f"bootstrap:{self.resamples}" if self.resamples else "sandwich"

    def standard_error(self, own: ModelBattles, theta: float, regularization: float) -> tuple[float, int]:
        """Return the standard error, Elo points, and the resamples that are left out.

        Every model's draws start at the seed: they depend neither on its name nor on who else there is.
        """
        if not self.resamples:
            return sandwich_se(own, theta, regularization), 0
        rng = np.random.default_rng(self.seed)
        return bootstrap_se(own, theta, regularization, self.resamples, rng)
