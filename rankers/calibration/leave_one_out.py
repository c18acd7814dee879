"""Algorithm 1: each entrant rated alone against the others, whose ratings know nothing of it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from podium.errors import NotConvergedError, NotIdentifiedError
from podium.progress import track
from podium.rankers.calibration.evidence import Evidence
from podium.rankers.calibration.placement import Own, bootstrap_se, place_one
from podium.rankers.calibration.signals import slope
from podium.rankers.graph import graph_of, separated
from podium.rankers.pairs import Pairs, pair_sums
from podium.rankers.scale import MEAN, POINTS
from podium.rankers.strengths import fit_strengths

Credits = Callable[[int], np.ndarray]
"""From the entrant held out to the credits of low in every battle, NaN where unknown, shape (battles,)."""


@dataclass(frozen=True, slots=True)
class HeldOutScale:
    """The ratings of all entrants by one kind of credit.

    Attributes:
        elo: each held out, 1500 at the mean of the others, NaN where the others never met without it, shape
            (entrants,).
        se: bootstrap standard error of `elo` within the entrant's own battles, NaN where there is none or none was
            asked for, shape (entrants,).
        anchors: log-strengths of the joint fit, mean zero, shape (entrants,).
        battles: of each entrant, shape (entrants,).
        separated: whether the data do not bound the rating, shape (entrants,).
        lost: bootstrap resamples that were unbounded and left out, shape (entrants,).
        unbounded: who is separated among all entrants, shape (entrants,).
    """

    elo: np.ndarray
    se: np.ndarray
    anchors: np.ndarray
    battles: np.ndarray
    separated: np.ndarray
    lost: np.ndarray
    unbounded: np.ndarray


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How standard errors are drawn: so many resamples, each entrant from a generator of its own."""

    resamples: int
    seed: int

    def generator(self, entrant: int) -> np.random.Generator:
        """Return the entrant's generator; hard and soft fits see the same resamples."""
        return np.random.default_rng([self.seed, entrant])


def fold_weights(evidence: Evidence) -> np.ndarray:
    """Fit the map from signal to preference without each entrant in turn, shape (entrants, features).

    NaN for an entrant without whom the labels give no map: it cannot be held out.

    Raises:
        NotIdentifiedError: all labels together give no map.

    Source: Soft-Elo, Algorithm 1, lines 3 and 4.
    """
    pooled = evidence.weights()
    return np.stack([_weights_without(evidence, entrant, pooled) for entrant in range(len(evidence.entrants))])


def _weights_without(evidence: Evidence, entrant: int, pooled: np.ndarray) -> np.ndarray:
    nothing = np.full(len(pooled), np.nan)
    try:
        found = evidence.weights(~evidence.involves(entrant), pooled)
    except (NotIdentifiedError, NotConvergedError):
        return nothing
    # A slope of 0 or less would turn every target of this fold round.
    return found if slope(evidence.signal.kind, found) @ found > 0 else nothing


def leave_one_out(
    evidence: Evidence,
    pooled: np.ndarray,
    credits: Credits,
    regularization: float,
    bootstrap: Bootstrap | None = None,
    what: str = "leave one out",
) -> HeldOutScale:
    """Rate every entrant alone against the others.

    Args:
        pooled: credits of low for the joint fit, NaN where unknown, shape (battles,).
        credits: those of each fold.
        regularization: lambda.
        bootstrap: for standard errors; None for none.
        what: for the progress bar.

    Raises:
        NotIdentifiedError: lambda is 0 and some rating is unbounded.
        NotConvergedError: a fit did not reach its maximum.

    Source: Soft-Elo, Algorithm 1, lines 5 to 8; 1500 is the mean of the others, and nothing is recentred afterwards.
    """
    joint = pair_sums(evidence.coded(pooled))
    unbounded = separated(joint)
    outside = unbounded.copy()
    if regularization == 0 and outside.any():
        names = ", ".join(evidence.entrants[k] for k in np.flatnonzero(outside))
        raise NotIdentifiedError(f"no finite rating with regularization=0: separated: {names}; 0.01 is the default")
    anchors = fit_strengths(joint, regularization).theta
    size = len(evidence.entrants)
    theta, se = np.full(size, np.nan), np.full(size, np.nan)
    battles, lost = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for k in track(range(size), what):
        one = fold(evidence, k, credits(k), anchors, regularization)
        if one is None:
            continue
        own = one.own
        battles[k], theta[k] = len(own.credit), place_one(own, regularization)
        outside[k] |= one.separated
        if bootstrap:
            error = bootstrap_se(own, theta[k], regularization, bootstrap.resamples, bootstrap.generator(k))
            se[k], lost[k] = error.se, error.lost
    return HeldOutScale(MEAN + POINTS * theta, se, anchors, battles, outside, lost, unbounded)


@dataclass(frozen=True, slots=True)
class Fold:
    """One entrant against the others.

    Attributes:
        own: its battles, and the ratings of the others.
        separated: whether the data do not bound its rating, or that of one of the others, without it.
    """

    own: Own
    separated: bool


def fold(evidence: Evidence, entrant: int, credit: np.ndarray, start: np.ndarray, regularization: float) -> Fold | None:
    """Rate the others without an entrant, and return its own battles against them; None if they never met.

    Args:
        credit: of low, NaN where unknown, shape (battles,).
        start: log-strengths of all, from which the fit begins, shape (entrants,).

    Raises:
        NotIdentifiedError: the others have no finite ratings.
    """
    mine = evidence.involves(entrant)
    rest = without(pair_sums(evidence.coded(credit, ~mine)), entrant)
    if graph_of(rest).groups != 1 or not np.isin(np.arange(rest.entrants), [rest.low, rest.high]).all():
        return None
    try:
        theta = fit_strengths(rest, regularization, np.delete(start, entrant)).theta
    except NotConvergedError as error:
        raise NotIdentifiedError(f"without {evidence.entrants[entrant]}, no ratings of the others: {error}") from None
    own = own_battles(evidence, entrant, credit, np.insert(theta, entrant, np.nan))
    return Fold(own, own.separated or bool(separated(rest).any()))


def own_battles(evidence: Evidence, entrant: int, credit: np.ndarray, theta: np.ndarray) -> Own:
    """Return an entrant's battles against opponents of known strength.

    Args:
        credit: of low, NaN where unknown, shape (battles,).
        theta: log-strengths by code, NaN for those that are no opponents, shape (entrants,).
    """
    known = ~np.isnan(theta)
    first = (evidence.low == entrant) & known[evidence.high]
    second = (evidence.high == entrant) & known[evidence.low]
    rows = np.flatnonzero((first | second) & ~np.isnan(credit))
    opponent = np.where(first, evidence.high, evidence.low)[rows]
    earned = np.where(first, credit, 1 - credit)[rows]
    cluster = np.unique(evidence.cluster[rows], return_inverse=True)[1]
    return Own((np.cumsum(known) - 1)[opponent], earned, evidence.weight[rows], cluster, theta[known])


def without(pairs: Pairs, entrant: int) -> Pairs:
    """Take an entrant out of pair sums; the codes above it move down by one."""
    keep = (pairs.low != entrant) & (pairs.high != entrant)
    low, high = (code[keep] - (code[keep] > entrant) for code in (pairs.low, pairs.high))
    return Pairs(low, high, pairs.credit[keep], pairs.weight[keep], pairs.entrants - 1)
