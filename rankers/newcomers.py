"""Models that a calibration does not know, each placed alone against those it knows, with conformal intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from podium.nouns.battles import Battles
from podium.nouns.calibration import SMALLEST_SE, Calibration, models_needed
from podium.nouns.ranking import Entry, Fit, Standings
from podium.rankers.calibration.bounds import Bounds, Quantile, newcomer_quantile
from podium.rankers.calibration.evidence import Evidence, build_evidence
from podium.rankers.calibration.leave_one_out import battles_of_model
from podium.rankers.calibration.placement import ErrorMethod, fit_single_strength
from podium.rankers.calibration.signals import Signal
from podium.rankers.calibration.targets import order_weights
from podium.rankers.cells import pair_sums_with_items
from podium.rankers.intervals import finite_or_none, t_quantile
from podium.rankers.pairs import win_rates
from podium.rankers.scale import MEAN, POINTS
from podium.rankers.standings import battle_diagnostics, rank_of
from podium.text import some

EXCHANGEABLE = "holds if a new model is exchangeable with the calibrated models; standard errors take "
MANY = 1.5
"""Times the calibrated models' median number of battles; with more, a standard error is unlike theirs."""
NARROW = 0.8
"""Share of the calibrated models' median standard error; one below it, and below all of theirs, is unlike them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model stands on the calibration's axis; None where it cannot be told.

    Attributes:
        model: its name.
        battles: with a soft target: against calibrated models if it was placed, else against anyone.
        win_rate: mean over opponents of the mean soft target.
        elo: placed, or fixed by the calibration, scale-corrected to human scale; None where nothing places it.
        items: clusters among its battles against calibrated models.
        se: standard error of that, NaN where there is none.
        reach: what the quantile multiplies.
        separated: whether everything was won, or everything lost.
        quantile: of the conformal scores that stand for it; None for those that were not placed.
        hard: Elo of the hard labels, if it was asked for.
    """

    model: str
    battles: int
    win_rate: float | None
    elo: float | None
    items: int = 0
    se: float = np.nan
    separated: bool = False
    quantile: Quantile | None = None
    hard: float | None = None
    reach: float = np.nan

    def interval(self, half: float) -> tuple[float | None, float | None]:
        """Return the ends so many Elo points to either side; None where there are none."""
        if self.elo is None or self.separated:
            return None, None
        return finite_or_none(self.elo - half), finite_or_none(self.elo + half)


def newcomers(battles: Battles, calibration: Calibration, credit: np.ndarray) -> tuple[str, ...]:
    """Return the models unknown to a calibration that have soft targets against known ones, sorted.

    `credit`: soft targets, NaN where there is none, shape (battles,).
    """
    table, names = battles.table[~np.isnan(credit)], {anchor.model for anchor in calibration.anchors}
    a, b = (table[side].astype(object) for side in ("model_a", "model_b"))
    knows_a, knows_b = (side.isin(names) for side in (a, b))
    return tuple(sorted({*a[~knows_a & knows_b], *b[knows_a & ~knows_b]}))


def place_newcomers(
    battles: Battles,
    calibration: Calibration,
    signal: Signal,
    bounds: Bounds,
    *,
    level: float,
    rng: np.random.Generator,
    hard: bool = False,
) -> Standings:
    """Place each newcomer alone against the calibration's anchors, never jointly.

    `battles`: of newcomers against calibrated models; others are counted and left out; `signal`: of these battles;
    `bounds`: how the conformal quantile is taken; `level`: of the sampling intervals, in (0, 1); `rng`: for a
    bootstrap, if the calibration has one; `hard`: add the Elo of the hard labels.

    Source: Soft-Elo, section 3.3, equation 4, and Algorithm 1, line 7.
    """
    bounds.require_human(calibration.scale_correction.get("soft"))
    evidence = build_evidence(battles, signal, "item" if calibration.se_cluster == "item" else "row")
    credit = evidence.soft(order_weights(calibration.target, signal))
    places = _places(evidence, credit, calibration, bounds, rng, hard)
    placed = [place for place in places if place.quantile]
    return Standings(
        ranker="soft-elo",
        scale="elo",
        level=level,
        interval=f"{calibration.se_method} of own {evidence.unit}s, anchors and beta held fixed",
        entries=tuple(_entries(places, level, bounds.level_of(calibration), hard)),
        counts=battles.counts(),
        fit=Fit(converged=True, regularization=calibration.regularization),
        diagnostics={
            "conformal": _conformal_summary(placed, calibration, bounds, evidence.unit),
            **battle_diagnostics(battles),
        },
        warnings=(
            *battles.notes,
            *_left_out(places, evidence, credit),
            *_doubts_of_placed(placed, evidence.unit, battles),
            *_narrow_intervals(placed, calibration),
        ),
    )


def _places(
    evidence: Evidence,
    credit: np.ndarray,
    calibration: Calibration,
    bounds: Bounds,
    rng: np.random.Generator,
    hard: bool,
) -> list[Place]:
    """Return a place for everyone in the battles, in the order of their names."""
    coded, penalty = evidence.coded_by(credit), calibration.regularization
    rates, battles = win_rates(pair_sums_with_items(coded)), coded.battles_by_model()
    known = {anchor.model: (anchor.soft_theta, anchor.hard_theta) for anchor in calibration.anchors}
    # Log-strengths of the calibrated models by code, NaN for others.
    soft, verdicts = np.array([known.get(name, (np.nan, np.nan)) for name in evidence.models]).T
    places, method = [], ErrorMethod(calibration.resamples, int(rng.integers(2**63)))
    scale_correction = calibration.scale_correction.get("soft")
    factor = scale_correction.mean if scale_correction else 1.0
    quantile = newcomer_quantile(calibration, bounds)
    hard_factor = calibration.scale_correction["hard"].mean if "hard" in calibration.scale_correction else 1.0
    for k, name in enumerate(evidence.models):
        own = battles_of_model(evidence, k, credit, soft)
        theta = soft[k] if name in known else fit_single_strength(own, penalty)
        place = Place(name, int(battles[k]), finite_or_none(rates[k]), finite_or_none(MEAN + POINTS * factor * theta))
        if hard:
            judged = battles_of_model(evidence, k, evidence.hard, verdicts)
            theta_hard = verdicts[k] if name in known else fit_single_strength(judged, penalty)
            place = replace(place, hard=finite_or_none(MEAN + POINTS * hard_factor * theta_hard))
        if name not in known and len(own.credit):
            se, _ = method.standard_error(own, theta, penalty)
            se = factor * se if se > SMALLEST_SE else np.nan
            earned, weight = own.opponent_sums()
            place = replace(
                place,
                battles=len(own.credit),
                win_rate=float(np.mean(earned[weight > 0] / weight[weight > 0])),
                items=own.clusters,
                se=se,
                reach=bounds.reach(scale_correction, se),
                separated=own.is_separated,
                quantile=quantile,
            )
        places.append(place)
    return places


def _entries(places: Sequence[Place], level: float, conformal_level: float, hard: bool) -> list[Entry]:
    ranked = sorted(places, key=lambda place: (place.elo is None, -(place.elo or 0.0), place.model))
    scores = np.array([np.nan if place.elo is None else place.elo for place in ranked])
    ends = [place.interval(t_quantile(place.items, level) * place.se) for place in ranked]
    return [
        Entry(
            model=place.model,
            rank=rank_of(scores, k),
            rank_low=None,
            rank_high=None,
            score=place.elo,
            low=low,
            high=high,
            se=finite_or_none(place.se),
            battles=place.battles,
            win_rate=place.win_rate,
            separated=place.separated,
            extra=_conformal_columns(place, conformal_level) | ({"hard": place.hard} if hard else {}),
        )
        for k, (place, (low, high)) in enumerate(zip(ranked, ends, strict=True))
    ]


def _conformal_columns(place: Place, level: float) -> dict[str, float | str | None]:
    """Return the conformal columns; a level without ends is an infinite interval."""
    known = place.quantile is not None and place.elo is not None and not place.separated and not np.isnan(place.se)
    quantile = place.quantile if known else None
    low, high = place.interval(quantile.best * place.reach) if quantile else (None, None)
    ends = {"conformal_low": low, "conformal_high": high, "conformal_level": level if known else None}
    return ends | {"interval_method": quantile.method if quantile else None}


def _conformal_summary(placed: Sequence[Place], calibration: Calibration, bounds: Bounds, unit: str) -> dict[str, Any]:
    quantiles = {place.model: place.quantile for place in placed if place.quantile}
    return {
        "level": bounds.level_of(calibration),
        "needed": models_needed(bounds.level_of(calibration)),
        "n": {name: quantile.used for name, quantile in quantiles.items()},
        "q": {name: finite_or_none(quantile.q) for name, quantile in quantiles.items()},
        "t": {name: quantile.t for name, quantile in quantiles.items() if quantile.best != quantile.q},
        "of": bounds.of,
        "scale_correction": calibration.scale_correction["soft"].mean
        if "soft" in calibration.scale_correction
        else None,
        "assumption": f"{EXCHANGEABLE}{'items' if unit == 'item' else 'battles'} independent within a model",
    }


def _left_out(places: Sequence[Place], evidence: Evidence, credit: np.ndarray) -> list[str]:
    """Say who has no place, and count the battles that place nobody."""
    warnings = []
    if lost := [place.model for place in places if place.elo is None]:
        warnings.append(
            f"no battles against calibrated models, so no place and no conformal interval: {some(lost)}. What would "
            "help: battles against any of the calibrated ones"
        )
    new, judged = np.array([bool(place.quantile) or place.elo is None for place in places]), ~np.isnan(credit)
    if among := int(np.sum(judged & new[evidence.low] & new[evidence.high])):
        warnings.append(f"{among:,} battles between new models are left out: each is placed alone")
    if old := int(np.sum(judged & ~new[evidence.low] & ~new[evidence.high])):
        warnings.append(f"{old:,} battles between calibrated models are left out: their ratings are fixed")
    return warnings


def _doubts_of_placed(placed: Sequence[Place], unit: str, battles: Battles) -> list[str]:
    warnings = []
    quantile = next((place.quantile for place in placed if place.quantile), None)
    if quantile and np.isinf(quantile.best):
        warnings.append(
            f"infinite conformal interval: {quantile.used} calibrated models stand for it, and the level needs at "
            f"least {quantile.needed}: {some([place.model for place in placed])}"
        )
    if unbounded := [place.model for place in placed if place.separated]:
        warnings.append(f"separated, the data do not bound the rating, the regularization does: {some(unbounded)}")
    if single := [place.model for place in placed if np.isnan(place.se) and not place.separated]:
        warnings.append(f"a single {unit}, or no variation, gives no interval: {some(single)}")
    if unit == "row" and (again := [place.model for place in placed if _meets_items_again(battles, place.model)]):
        warnings.append(
            f"battles of {some(again)} share items and the calibration draws battles, not items: the sampling "
            "interval is too narrow (`podium calibrate --cluster item` draws items)"
        )
    return warnings


def _narrow_intervals(placed: Sequence[Place], calibration: Calibration) -> list[str]:
    """Say whose standard errors are smaller than those that the quantile was learnt on, where scores are in those.

    A score is an error in standard errors. More battles shrink the standard error, and not the judge's disagreement
    with humans: with twice the battles a 90% interval covered 81% in simulation, with ten times 54%.
    """
    scored = [model for model in calibration.models if model.score("soft") is not None]
    if not scored or "soft" in calibration.scale_correction:
        return []
    se = np.array([model.soft_se for model in scored], dtype=np.float64)
    battles = np.array([model.battles for model in scored], dtype=np.float64)
    smallest, usual = min(float(se.min()), NARROW * float(np.median(se))), float(np.median(battles))
    narrow = [
        f"{place.model} ({place.se:.1f}, {place.battles:,} battles)"
        for place in placed
        if place.se < smallest or place.battles > MANY * usual
    ]
    if not narrow:
        return []
    return [
        f"conformal interval too narrow: more battles, or smaller standard errors, than the calibrated models have "
        f"({se.min():.1f} to {se.max():.1f}, from {battles.min():,.0f} to {battles.max():,.0f} battles each), to which "
        f"these are not exchangeable: {some(narrow)}. More battles do not shrink the judge's disagreement with "
        "humans; place them by about as many battles as the calibrated ones had"
    ]


def _meets_items_again(battles: Battles, name: str) -> bool:
    table = battles.table
    plays = (table["model_a"] == name) | (table["model_b"] == name)
    return battles.has_items and bool(table.loc[plays, "item"].dropna().duplicated().any())
