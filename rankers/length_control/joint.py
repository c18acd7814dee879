"""Bradley-Terry with a length term: many entrants, one preference of the judge for length."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from podium.battles import Battles
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.bradley_terry import bounded, labelled, rate, sound_draws
from podium.rankers.coded import Cluster, Coded, Labels
from podium.rankers.elo import POINTS, scale_of
from podium.rankers.intervals import Interval, by_bootstrap, by_sandwich, resample
from podium.rankers.labelling import played_of
from podium.rankers.length_control.fit import LengthFit, covariance, maximise
from podium.rankers.length_control.term import lengths_of, squashed
from podium.rankers.newton import Optimum
from podium.rankers.pairs import cells_by_cluster, pair_sums
from podium.ranking import Standings


def at_equal_length(
    battles: Battles,
    *,
    level: float,
    rng: np.random.Generator,
    regularization: float,
    labels: Labels,
    interval: Interval,
    resamples: int,
    cluster: Cluster,
    pin: str | None,
    center: tuple[str, ...] | None,
) -> Standings:
    """Rank by P(a beats b) = s(theta_a - theta_b + slope tanh((length_a - length_b) / sd)), at equal lengths.

    AlpacaEval's length term (Dubois et al. 2024), one slope for all entrants, in a joint fit; sd is the root mean
    square of the length differences, so that nothing depends on who is called a. The slope has no regularization.

    Raises:
        NotIdentifiedError: no lengths; or they cannot be told from strength; or what Bradley-Terry itself refuses.
        NotConvergedError: the fit did not reach its maximum.
    """
    known = lengths_of(battles, labels, cluster)
    coded, sd = known.coded, float(np.sqrt(np.mean(known.difference**2)))
    pairs = pair_sums(coded)
    played = played_of(battles, coded, pairs)
    plain = rate(played, pairs, regularization)
    term = squashed(known.difference, sd) if sd > 0 else np.zeros(len(coded.a))
    fit = maximise(coded, term, regularization, plain.theta)
    rated = replace(plain, optimum=Optimum(fit.theta, fit.gradient, fit.steps))
    scale = scale_of(coded.entrants, center or bounded(coded.entrants, rated.graph), pin)
    spread = covariance(coded, term, fit, regularization)
    estimate = by_sandwich(
        scale.scores(fit.theta), scale.covariance(spread[:-1, :-1]), coded.clusters, level=level, cluster=coded.unit
    )
    if interval == "bootstrap":
        cells = cells_by_cluster(coded, pairs)

        def drawn(counts: np.ndarray) -> np.ndarray:
            sound = sound_draws(cells, counts)
            return scale.scores(_resampled(coded, term, counts, sound, regularization, fit.theta))

        draws = resample(drawn, coded.clusters, resamples, rng, width=len(coded.a))
        estimate = by_bootstrap(scale.scores(fit.theta), draws, coded.clusters, level=level, cluster=coded.unit)
    found = labelled(played, rated, scale.pinned(estimate), level=level, rng=rng)
    used = _told(fit, spread, sd, level, coded) | {"left_out": known.without}
    return replace(found, diagnostics={**found.diagnostics, "length_control": used})


def _resampled(
    coded: Coded, term: np.ndarray, counts: np.ndarray, sound: np.ndarray, regularization: float, start: np.ndarray
) -> np.ndarray:
    """Return log-strengths of item resamples, NaN where there is no fit, shape (block, entrants)."""
    theta = np.full((len(counts), len(coded.entrants)), np.nan)
    for k in np.flatnonzero(sound):
        again = replace(coded, weight=coded.weight * counts[k][coded.cluster])
        try:
            theta[k] = maximise(again, term, regularization, start).theta
        except (NotIdentifiedError, NotConvergedError):
            continue
    return theta


def _told(fit: LengthFit, spread: np.ndarray, sd: float, level: float, coded: Coded) -> dict[str, Any]:
    """Return what was used: in Elo points, for a response that is longer by one sd."""
    points = float(POINTS * np.tanh(1))
    se = float(np.sqrt(spread[-1, -1]))
    reach = float(stdtrit(coded.clusters - 1, (1 + level) / 2)) * se if coded.clusters > 1 else None
    ends = (None, None) if reach is None else (points * (fit.slope - reach), points * (fit.slope + reach))
    return {
        "model": "bradley-terry with a length term",
        "sd": sd,
        "slope": fit.slope,
        "slope_se": se,
        "elo_per_sd": points * fit.slope,
        "elo_per_sd_low": ends[0],
        "elo_per_sd_high": ends[1],
        "level": level,
    }
