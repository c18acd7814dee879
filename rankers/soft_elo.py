"""Soft-Elo: Bradley-Terry on calibrated probabilities instead of wins, ties and losses."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import expit

from podium.battles import Battles
from podium.calibration import Calibration, Target
from podium.errors import NotIdentifiedError, PodiumError, UsageError
from podium.rankers.bradley_terry import Rated, bounded, covariance, labelled, rate
from podium.rankers.calibration.agreement import agreement_of
from podium.rankers.calibration.bounds import Bounds
from podium.rankers.calibration.evidence import evidence_of
from podium.rankers.calibration.fitness import mismatches
from podium.rankers.calibration.signals import RIDGE, Kind, Signal, signal_of, usual_kind
from podium.rankers.calibration.targets import covariance_for, doubts, fit_target, given_target, soft_target
from podium.rankers.clusters import surpluses
from podium.rankers.coded import Cluster, Coded, code, require
from podium.rankers.elo import MEAN, POINTS, scale_of
from podium.rankers.intervals import by_sandwich
from podium.rankers.labelling import played_of
from podium.rankers.newcomers import newcomers, place_newcomers
from podium.rankers.newton import information, pinned
from podium.rankers.pairs import pair_sums
from podium.ranking import Standings


def soft_elo(
    battles: Battles,
    *,
    level: float = 0.95,
    rng: np.random.Generator,
    target: Kind | None = None,
    beta: float | None = None,
    constant: float | None = None,
    ridge: float = RIDGE,
    regularization: float = 0.01,
    cluster: Cluster = "item",
    hard: bool = False,
    pin: str | None = None,
    strata: str | None = None,
    halflife: float | None = None,
    conformal_level: float | None = None,
    center: tuple[str, ...] | None = None,
    calibration: Calibration | None = None,
    about: Mapping[str, Mapping[str, Any]] | None = None,
    whole: Battles | None = None,
) -> Standings:
    """Rank by Bradley-Terry on soft targets sigmoid(beta * margin), in Elo points.

    beta comes from the option, else from the calibration, else from the human labels in the battles; its error is in
    the intervals. Soft credits without margins are targets as they are. With a calibration, entrants that it does not
    know are placed one by one against those that it knows, on its own axis, with conformal intervals.

    Args:
        battles: of one judge, with margins (or soft credits).
        level: of intervals and rank sets, in (0, 1).
        rng: draws for rank sets and the bootstrap of placed entrants.
        target: the signal that is softened: `margin`, `smoothing`, `criteria`, `length` or `credit`.
        beta: logits per unit of margin; taken as exact.
        constant: credit of a win under `smoothing`, in (0.5, 1).
        ridge: of `criteria`, towards their mean.
        regularization: lambda, at least 0.
        cluster: `item`, or `row` for comparison.
        hard: add the Elo of the hard labels beside the soft one.
        pin: `MODEL:1000` shifts all scores; not with placed entrants.
        strata: a column of the table of entrants: conformal scores of the same stratum only.
        halflife: days after which a calibrated entrant counts half, by the column `date` of that table.
        conformal_level: by default that of the calibration.
        center: entrants whose mean is 1500; by default all.
        calibration: of this judge.
        about: what is known of each entrant (family, date).
        whole: all battles, of which `battles` are a slice: beta is fitted on them.

    Raises:
        NotIdentifiedError: nothing says how to turn verdicts into probabilities, or the battles do not join.
        NotConvergedError: a fit did not reach its maximum.
        UsageError: an impossible option.

    Source: Soft-Elo (Kargi and Salinas 2026), equations 1 and 5; one beta for all slices as in its appendix E.
    """
    require("cluster", cluster, ("item", "row"))
    chosen = choose(whole or battles, calibration, target, beta, constant, ridge, level)
    signal = signal_of(battles, chosen.kind, chosen.target.ridge or ridge)
    credit = soft_target(chosen.target, signal)
    told = [*chosen.warnings, *_unused(battles, signal)]
    bounds = Bounds(strata, halflife, conformal_level)
    if calibration and newcomers(battles, calibration, credit):
        if pin:
            raise UsageError("pin would move the placed entrants off the calibration's axis; leave it out")
        return place_newcomers(
            battles, calibration, signal, bounds, about or {}, level=level, rng=rng, hard=hard, warnings=told
        )
    told += _without_placement(calibration, bounds)
    coded = code(battles, credit=credit, cluster=cluster)
    played = replace(played_of(battles, coded), lacking=f"battle with a signal ({signal.kind})")
    rated = rate(played, pair_sums(coded), regularization)
    scale = scale_of(coded.entrants, center or bounded(coded.entrants, rated.graph), pin)
    fitted = surpluses(coded, expit(rated.theta[coded.a] - rated.theta[coded.b]))
    spread = covariance(rated, fitted) + target_error(coded, rated, chosen.target, signal, credit)
    estimate = by_sandwich(
        scale.scores(rated.theta), scale.covariance(spread), coded.clusters, level=level, cluster=coded.unit
    )
    estimate = replace(scale.pinned(estimate), method=_method(estimate.method, chosen.target))
    extra = _hard_scores(battles, coded.entrants, scale.centre, regularization) if hard else {}
    found = labelled(played, rated, estimate, level=level, rng=rng, ranker="soft-elo", extra=extra)
    return _with_target(found, chosen, told)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The map that is used, why it may be doubted, and where it comes from."""

    target: Target
    origin: str
    warnings: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """The signal it reads."""
        return self.target.kind  # type: ignore[return-value]


def choose(
    battles: Battles,
    calibration: Calibration | None,
    target: Kind | None,
    beta: float | None,
    constant: float | None,
    ridge: float,
    level: float,
) -> Chosen:
    """Find the map from signal to probability: given, from a calibration, from human labels, or none needed.

    Raises:
        NotIdentifiedError: there is none; the message says what would help.
        UsageError: options that exclude each other.
    """
    if calibration:
        _refuse_both(calibration, target, beta, constant)
        return Chosen(calibration.target, "the calibration", tuple(mismatches(calibration, battles)))
    kind = target or ("smoothing" if constant is not None else usual_kind(battles))
    given = given_target(kind, beta, constant)
    if given:
        return Chosen(given, "the soft credits as they are" if kind == "credit" else "an option, taken as exact")
    evidence = evidence_of(battles, signal_of(battles, kind, ridge))
    if np.isnan(evidence.human).all():
        raise NotIdentifiedError(_no_map(kind))
    found = fit_target(evidence, level)
    told = doubts(found, agreement_of(evidence, soft_target(found, evidence.signal)))
    return Chosen(found, f"{found.battles:,} human preferences in these battles", tuple(told))


def target_error(coded: Coded, rated: Rated, target: Target, signal: Signal, credit: np.ndarray) -> np.ndarray:
    """Return what the error of the map's weights adds to the covariance of log-strengths, shape (entrants, entrants).

    The weights move the targets, and those the ratings: H^-1 J V J' H^-1, with V the covariance of the weights and J
    the derivative of the likelihood's score by them. Human labels are taken to be independent of the judge's error
    given its signal.
    """
    size = len(coded.entrants)
    spread = covariance_for(target, signal)
    if not spread.any():
        return np.zeros((size, size))
    x, y = signal.x[~np.isnan(credit)], coded.credit
    moved = (coded.weight * y * (1 - y))[:, None] * x
    jacobian = np.stack(
        [np.bincount(coded.a, column, size) - np.bincount(coded.b, column, size) for column in moved.T], axis=1
    )
    bread = linalg.cho_factor(pinned(information(rated.pairs, rated.theta, rated.regularization)))
    effect = linalg.cho_solve(bread, jacobian)
    return effect @ spread @ effect.T


def _refuse_both(calibration: Calibration, *options: object) -> None:
    if any(option is not None for option in options):
        raise UsageError(
            f"target, beta and constant say what the calibration says already ({calibration.target}); leave them out, "
            "or leave out the calibration"
        )


def _no_map(kind: Kind) -> str:
    needs = {
        "margin": "beta, the logits of preference per unit of the judge's margin, is unknown, and is never guessed",
        "smoothing": "the constant of label smoothing is unknown",
    }.get(kind, f"the weights of the target {kind} are unknown")
    option = {"margin": ", or --set beta=NUMBER", "smoothing": ", or --set constant=0.75"}.get(kind, "")
    return (
        f"{needs}. What would help: a column `human` in the battles (or --human-judge NAME), a file made by "
        f"`podium calibrate` (--calibration FILE){option}"
    )


def _unused(battles: Battles, signal: Signal) -> list[str]:
    """Count the judged battles that have no soft target."""
    judged = int(battles.readable.sum())
    lost = judged - int(signal.known.sum())
    if not lost:
        return []
    what = "margin" if signal.kind == "margin" else f"signal ({signal.kind})"
    return [f"{lost:,} of {judged:,} judged battles have no {what} and are left out"]


def _without_placement(calibration: Calibration | None, bounds: Bounds) -> list[str]:
    if calibration:
        return [
            "no conformal intervals: nobody whom the calibration does not know has battles against those it knows; all "
            "are rated together, by its beta"
        ]
    if bounds != Bounds():
        raise UsageError("strata, halflife and conformal_level need --calibration FILE")
    return []


def _method(method: str | None, target: Target) -> str | None:
    if method is None:
        return None
    return method + (", error of beta included" if target.covariance is not None else "")


def _hard_scores(
    battles: Battles, entrants: tuple[str, ...], centre: np.ndarray, regularization: float
) -> dict[str, np.ndarray]:
    """Return the Elo of the hard labels for the entrants of the soft fit, NaN where no fit exists."""
    coded = code(battles, labels="hard")
    scores = np.full(len(entrants), np.nan)
    try:
        rated = rate(played_of(battles, coded), pair_sums(coded), regularization)
    except PodiumError:
        return {"hard": scores}
    here = [k for k, name in enumerate(entrants) if name in coded.entrants]
    scores[here] = rated.theta[[coded.entrants.index(entrants[k]) for k in here]]
    return {"hard": MEAN + POINTS * (scores - np.nanmean(scores[centre]))}


def _with_target(found: Standings, chosen: Chosen, told: list[str]) -> Standings:
    target = chosen.target
    fit = replace(found.fit, beta=target.beta, beta_low=target.low, beta_high=target.high)
    about = {"target": str(target), "from": chosen.origin, "preferences": target.battles}
    return replace(found, fit=fit, diagnostics={**found.diagnostics, "soft": about}, warnings=(*found.warnings, *told))
