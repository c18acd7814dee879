"""Entrants that a calibration does not know, each placed alone against those it knows, with conformal intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from podium.battles import Battles
from podium.calibration import SMALLEST_SE, Calibration
from podium.rankers.calibration.bounds import Bounds, Quantile, quantile_for
from podium.rankers.calibration.conformal import needed
from podium.rankers.calibration.evidence import Evidence, evidence_of
from podium.rankers.calibration.leave_one_out import own_battles
from podium.rankers.calibration.placement import Own, bootstrap_se, place_one
from podium.rankers.calibration.signals import Signal
from podium.rankers.calibration.targets import weights_for
from podium.rankers.intervals import t_reach
from podium.rankers.labelling import SAME_SCORE, of_battles
from podium.rankers.pairs import pair_sums, win_rates
from podium.rankers.scale import MEAN, POINTS
from podium.ranking import Entry, Fit, Standings
from podium.text import some

MANY = 1.5
"""Times the calibrated entrants' median number of battles; with more, a standard error is unlike theirs."""
NARROW = 0.8
"""Share of the calibrated entrants' median standard error; one below it, and below all of theirs, is unlike them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entrant stands on the calibration's axis; None where it cannot be told.

    Attributes:
        model: its name.
        battles: with a soft target, against anyone.
        win_rate: mean over opponents of the mean soft target.
        elo: placed, or fixed by the calibration; None where nothing places it.
        own: battles against calibrated entrants; 0 for those themselves.
        items: clusters among those.
        se: bootstrap standard error, NaN where there is none.
        separated: whether everything was won, or everything lost.
        quantile: of the conformal scores that stand for it; None for calibrated entrants.
        hard: Elo of the hard labels, if it was asked for.
    """

    model: str
    battles: int
    win_rate: float | None
    elo: float | None
    own: int = 0
    items: int = 0
    se: float = np.nan
    separated: bool = False
    quantile: Quantile | None = None
    hard: float | None = None


def newcomers(battles: Battles, calibration: Calibration, credit: np.ndarray) -> tuple[str, ...]:
    """Return the entrants unknown to a calibration that have soft targets against known ones, sorted.

    Args:
        credit: soft targets, NaN where there is none, shape (battles,).
    """
    table = battles.table[~np.isnan(credit)]
    a, b = (table[side].astype(object) for side in ("model_a", "model_b"))
    knows_a, knows_b = (side.isin(_names(calibration)) for side in (a, b))
    return tuple(sorted({*a[~knows_a & knows_b], *b[knows_a & ~knows_b]}))


def place_newcomers(
    battles: Battles,
    calibration: Calibration,
    signal: Signal,
    bounds: Bounds,
    about: Mapping[str, Mapping[str, Any]],
    *,
    level: float,
    rng: np.random.Generator,
    hard: bool = False,
) -> Standings:
    """Place each newcomer alone against the calibration's anchors, never jointly.

    Args:
        battles: of newcomers against calibrated entrants; others are counted and left out.
        signal: of these battles.
        bounds: how the conformal quantile is taken.
        about: what is known of newcomers.
        level: of the sampling intervals, in (0, 1).
        rng: for the bootstrap.
        hard: add the Elo of the hard labels.

    Raises:
        UsageError: a stratum or a date is unknown.

    Source: Soft-Elo, section 3.3, equation 4, and Algorithm 1, line 7.
    """
    evidence = evidence_of(battles, signal, "item" if calibration.se_cluster == "item" else "row")
    credit = evidence.soft(weights_for(calibration.target, signal))
    places = _places(evidence, credit, calibration, bounds, about, rng, hard)
    placed = [one for one in places if one.quantile]
    return Standings(
        ranker="soft-elo",
        scale="elo",
        level=level,
        interval=f"{calibration.se_method} of own {evidence.unit}s, anchors and beta held fixed",
        entries=tuple(_entries(places, level, bounds.level_of(calibration), hard)),
        counts=battles.counts(),
        fit=Fit(converged=True, regularization=calibration.regularization),
        diagnostics={"conformal": _diagnostics(placed, calibration, bounds, evidence.unit), **of_battles(battles)},
        warnings=(
            *battles.notes,
            *_left_out(places, evidence, credit),
            *_about_placed(placed, evidence.unit, _repeated(battles, [one.model for one in placed])),
            *_narrow(placed, calibration),
        ),
    )


def _names(calibration: Calibration) -> frozenset[str]:
    return frozenset(one.model for one in calibration.anchors)


def _places(
    evidence: Evidence,
    credit: np.ndarray,
    calibration: Calibration,
    bounds: Bounds,
    about: Mapping[str, Mapping[str, Any]],
    rng: np.random.Generator,
    hard: bool,
) -> list[Place]:
    """Return a place for everyone in the battles, in the order of their names."""
    soft = _fixed(evidence, {one.model: one.soft_theta for one in calibration.anchors})
    verdicts = _fixed(evidence, {one.model: one.hard_theta for one in calibration.anchors})
    coded = evidence.coded(credit)
    rates, battles = win_rates(pair_sums(coded)), coded.battles_of()
    found, seed = [], int(rng.integers(2**63))
    for k, name in enumerate(evidence.entrants):
        hard_elo = _elo(evidence, k, evidence.hard, verdicts, calibration) if hard else None
        place = Place(
            name, int(battles[k]), _real(rates[k]), _elo(evidence, k, credit, soft, calibration), hard=hard_elo
        )
        own = own_battles(evidence, k, credit, soft)
        if np.isnan(soft[k]) and len(own.credit):
            quantile = quantile_for(calibration, bounds, name, about.get(name, {}))
            place = _with_errors(place, own, calibration, quantile, _generator(seed, name))
        found.append(place)
    return found


def _with_errors(
    place: Place, own: Own, calibration: Calibration, quantile: Quantile, rng: np.random.Generator
) -> Place:
    theta = place_one(own, calibration.regularization)
    se = bootstrap_se(own, theta, calibration.regularization, calibration.resamples, rng).se
    credit, weight = own.sums()
    met = weight > 0
    return replace(
        place,
        battles=len(own.credit),
        win_rate=float(np.mean(credit[met] / weight[met])),
        own=len(own.credit),
        items=own.clusters,
        se=se if se > SMALLEST_SE else np.nan,
        separated=own.separated,
        quantile=quantile,
    )


def _generator(seed: int, name: str) -> np.random.Generator:
    """Return a newcomer's own generator: its resamples do not depend on who else is placed."""
    return np.random.default_rng([seed, *name.encode()])


def _fixed(evidence: Evidence, theta: Mapping[str, float]) -> np.ndarray:
    """Return the calibrated entrants' log-strengths by code, NaN for others, shape (entrants,)."""
    return np.array([theta.get(name, np.nan) for name in evidence.entrants])


def _elo(
    evidence: Evidence, entrant: int, credit: np.ndarray, theta: np.ndarray, calibration: Calibration
) -> float | None:
    if not np.isnan(theta[entrant]):
        return float(MEAN + POINTS * theta[entrant])
    own = own_battles(evidence, entrant, credit, theta)
    return _real(MEAN + POINTS * place_one(own, calibration.regularization)) if len(own.credit) else None


def _entries(places: Sequence[Place], level: float, conformal_level: float, hard: bool) -> list[Entry]:
    """Rank everyone who has a place; those without one come last."""
    ranked = sorted(places, key=lambda one: (one.elo is None, -(one.elo or 0.0), one.model))
    scores = np.array([one.elo for one in ranked if one.elo is not None])
    return [
        Entry(
            model=one.model,
            rank=1 + int(np.sum(scores > one.elo + SAME_SCORE)) if one.elo is not None else len(scores) + 1,
            rank_low=None,
            rank_high=None,
            score=one.elo,
            **_interval(one, t_reach(one.items, level)),
            se=_real(one.se),
            battles=one.battles,
            win_rate=one.win_rate,
            separated=one.separated,
            extra=_conformal(one, conformal_level) | ({"hard": one.hard} if hard else {}),
        )
        for one in ranked
    ]


def _interval(one: Place, width: float) -> dict[str, float | None]:
    if one.elo is None or one.separated:
        return {"low": None, "high": None}
    return {"low": _real(one.elo - width * one.se), "high": _real(one.elo + width * one.se)}


def _conformal(one: Place, level: float) -> dict[str, float | None]:
    """Return the conformal columns; a level without ends is an infinite interval."""
    if one.quantile is None or one.elo is None or one.separated or np.isnan(one.se):
        return {"conformal_low": None, "conformal_high": None, "conformal_level": None}
    width = one.quantile.q * one.se
    return {
        "conformal_low": _real(one.elo - width),
        "conformal_high": _real(one.elo + width),
        "conformal_level": level,
    }


def _diagnostics(placed: Sequence[Place], calibration: Calibration, bounds: Bounds, unit: str) -> dict[str, Any]:
    quantiles = {one.model: one.quantile for one in placed if one.quantile}
    return {
        "level": bounds.level_of(calibration),
        "needed": needed(bounds.level_of(calibration)),
        "n": {name: one.used for name, one in quantiles.items()},
        "q": {name: _real(one.q) for name, one in quantiles.items()},
        "strata": bounds.strata,
        "halflife": bounds.halflife,
        "assumption": bounds.assumption(unit),
    }


def _left_out(places: Sequence[Place], evidence: Evidence, credit: np.ndarray) -> list[str]:
    """Say who has no place, and count the battles that place nobody."""
    found = []
    lost = [one.model for one in places if one.elo is None]
    if lost:
        found.append(
            f"no battles against calibrated entrants, so no place and no conformal interval: {some(lost)}. What would "
            "help: battles against any of the calibrated ones"
        )
    new = np.array([one.quantile is not None or one.elo is None for one in places])
    judged = ~np.isnan(credit)
    among = int(np.sum(judged & new[evidence.low] & new[evidence.high]))
    if among:
        found.append(f"{among:,} battles between new entrants are left out: each is placed alone")
    old = int(np.sum(judged & ~new[evidence.low] & ~new[evidence.high]))
    if old:
        found.append(f"{old:,} battles between calibrated entrants are left out: their ratings are fixed")
    return found


def _about_placed(placed: Sequence[Place], unit: str, repeated: Sequence[str]) -> list[str]:
    found = _infinite(placed)
    unbounded = [one.model for one in placed if one.separated]
    if unbounded:
        found.append(f"separated, the data do not bound the rating, the regularization does: {some(unbounded)}")
    single = [one.model for one in placed if np.isnan(one.se) and not one.separated]
    if single:
        found.append(f"a single {unit}, or no variation, gives no interval: {some(single)}")
    if unit == "row" and repeated:
        found.append(
            f"battles of {some(repeated)} share items and the calibration draws battles, not items: the sampling "
            "interval is too narrow (`podium calibrate --cluster item` draws items)"
        )
    return found


def _narrow(placed: Sequence[Place], calibration: Calibration) -> list[str]:
    """Say whose standard errors are smaller than those that the quantile was learnt on.

    A score is an error in standard errors. More battles shrink the standard error, and not the judge's disagreement
    with people: with twice the battles a 90% interval covered 81% in simulation, with ten times 54%.
    """
    known = [one for one in calibration.entrants if one.score("soft") is not None]
    if not known:
        return []
    se = np.array([one.soft_se for one in known], dtype=np.float64)
    bound, usual = min(float(se.min()), NARROW * float(np.median(se))), float(np.median([one.battles for one in known]))
    narrow = [
        f"{one.model} ({one.se:.1f}, {one.own:,} battles)" for one in placed if one.se < bound or one.own > MANY * usual
    ]
    if not narrow:
        return []
    battles = [one.battles for one in known]
    return [
        f"conformal interval too narrow: more battles, or smaller standard errors, than the calibrated entrants have "
        f"({se.min():.1f} to {se.max():.1f}, from {min(battles):,} to {max(battles):,} battles each), to which these "
        f"are not exchangeable: {some(narrow)}. More battles do not shrink the judge's disagreement with "
        "people; place them by about as many battles as the calibrated ones had"
    ]


def _infinite(placed: Sequence[Place]) -> list[str]:
    """Say whose conformal interval is infinite, and how many calibrated entrants it would take."""
    short: dict[tuple[int, int], list[str]] = {}
    for one in placed:
        if one.quantile and np.isinf(one.quantile.q):
            short.setdefault((one.quantile.used, one.quantile.needed), []).append(one.model)
    return [
        f"infinite conformal interval: {used} calibrated entrants stand for it, and the level needs "
        f"{f'at least {least}' if used < least else 'more of their weight'}: {some(names)}"
        for (used, least), names in short.items()
    ]


def _repeated(battles: Battles, names: Sequence[str]) -> list[str]:
    """Return those of the names that meet some item more than once."""
    if not battles.has_items:
        return []
    table = battles.table
    plays = {name: ((table["model_a"] == name) | (table["model_b"] == name)).to_numpy() for name in names}
    return [name for name, rows in plays.items() if table.loc[rows, "item"].dropna().duplicated().any()]


def _real(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
