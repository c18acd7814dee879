"""One entrant against opponents whose strengths are fixed: the second step of Algorithm 1, and its bootstrap."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from podium.rankers.intervals import resample_counts
from podium.rankers.newton import Design, Likelihood, maximise_many
from podium.rankers.scale import POINTS

FEWEST_BOUNDED = 0.5
"""Share of resamples that must be bounded; below it there is no standard error."""


@dataclass(frozen=True, slots=True)
class Own:
    """One entrant's battles.

    Attributes:
        opponent: code among `theta`, shape (battles,).
        credit: what the entrant earned, in [0, 1], shape (battles,).
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
        size = len(self.theta)
        return (
            np.bincount(self.opponent, self.weight * self.credit, size),
            np.bincount(self.opponent, self.weight, size),
        )

    @property
    def separated(self) -> bool:
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
    found = np.full(len(credit), np.nan)
    earned, played = credit.sum(axis=1), weight.sum(axis=1)
    rated = (played > 0) & ((regularization > 0) | ((earned > 0) & (earned < played)))
    alone = Design(np.ones((len(theta), 1)))
    penalty = np.array([float(regularization)])
    likelihood = Likelihood(alone, credit[rated], weight[rated], penalty, offset=-np.asarray(theta))
    found[rated] = maximise_many(likelihood, np.array([start]))[:, 0]
    return found


def place_one(own: Own, regularization: float) -> float:
    """Return the log-strength of one entrant, NaN without a battle."""
    credit, weight = own.sums()
    return float(place(own.theta, credit[None], weight[None], regularization)[0])


@dataclass(frozen=True, slots=True)
class Error:
    """A bootstrap standard error.

    Attributes:
        se: Elo points; NaN for fewer than two clusters, or where fewer than half of the resamples are bounded.
        lost: resamples in which everything was won, or everything lost; they are left out.
    """

    se: float
    lost: int


def bootstrap_se(own: Own, centre: float, regularization: float, resamples: int, rng: np.random.Generator) -> Error:
    """Return the standard error over resamples of the entrant's own clusters; opponents and targets are held fixed.

    Args:
        centre: the entrant's rating, where the fits begin.

    Source: Soft-Elo, section 3.3 (there, battles are drawn); standard deviation with resamples - 1.
    """
    if own.clusters < 2 or resamples < 2:
        return Error(np.nan, 0)
    counts = resample_counts(own.clusters, resamples, rng)
    credit, weight = (_drawn(own, values, counts) for values in (own.weight * own.credit, own.weight))
    bounded = _bounded(own, counts)
    lost = resamples - int(bounded.sum())
    if bounded.sum() < max(2, FEWEST_BOUNDED * resamples):
        return Error(np.nan, lost)
    found = place(own.theta, credit[bounded], weight[bounded], regularization, centre)
    return Error(float(POINTS * np.std(found, ddof=1)), lost)


def _bounded(own: Own, counts: np.ndarray) -> np.ndarray:
    """Tell which resamples hold some credit and some loss, shape (resamples,)."""
    earns, loses = (np.bincount(own.cluster, part, own.clusters) > 0 for part in (own.credit > 0, own.credit < 1))
    return (counts @ earns > 0) & (counts @ loses > 0)


def _drawn(own: Own, values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return sums per opponent of each resample, shape (resamples, opponents)."""
    cells = sparse.csr_matrix((values, (own.opponent, own.cluster)), shape=(len(own.theta), own.clusters))
    return np.asarray(cells @ counts.T).T
