"""New models rated one by one against the models of a calibration, with conformal intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from podium.data.battles import Battles
from podium.defaults import MEAN
from podium.notices.notice import Notice
from podium.rankers.calibration.calibration import SMALLEST_SE, Calibration, models_needed
from podium.rankers.calibration.conformal import ConformalRule
from podium.rankers.calibration.evidence import Evidence, build_evidence
from podium.rankers.calibration.leave_one_out import build_model_battles
from podium.rankers.calibration.placement import ErrorMethod, ModelBattles, fit_single_strength
from podium.rankers.calibration.signals import Signal
from podium.rankers.calibration.targets import soften_verdicts
from podium.rankers.errors.intervals import finite_or_none, t_quantile
from podium.rankers.fit.cells import pair_sums_with_items
from podium.rankers.fit.pairs import win_rates
from podium.rankers.fit.scale import POINTS
from podium.rankers.ranking import Entry, Fit, Standings
from podium.rankers.standings import battle_diagnostics, rank_of
from podium.score_scale import ELO

EXCHANGEABLE = (
    "holds if a new model is exchangeable with the calibrated models; standard errors take "
)
MANY = 1.5
"""A new model with more battles than this times the calibrated models' median is not exchangeable
with them."""
NARROW = 0.8
"""Nor is one whose standard error is below all of theirs and below this share of their median."""


@dataclass(frozen=True, slots=True)
class PlacedModel:
    """A rating on a calibration's Elo scale, scale-corrected; None without `battles` (soft targets,
    of new models against calibrated ones only). Fields from `items` to `separated` describe new
    models only."""

    model: str
    battles: int
    win_rate: float | None
    elo: float | None
    is_new: bool = False
    items: int = 0
    se: float = np.nan
    separated: bool = False
    hard: float | None = None

    def interval(self, half: float) -> tuple[float | None, float | None]:
        """Return elo - half and elo + half; None without a bounded rating."""
        if self.elo is None or self.separated:
            return None, None
        return finite_or_none(self.elo - half), finite_or_none(self.elo + half)


def newcomers(battles: Battles, calibration: Calibration, credit: np.ndarray) -> tuple[str, ...]:
    """Return the models that a calibration does not know and that have soft credits against known
    ones, sorted."""
    table, names = (
        battles.table[~np.isnan(credit)],
        {anchor.model for anchor in calibration.anchors},
    )
    a, b = (table[side].astype(object) for side in ("model_a", "model_b"))
    knows_a, knows_b = (side.isin(names) for side in (a, b))
    return tuple(sorted({*a[~knows_a & knows_b], *b[knows_a & ~knows_b]}))


def rate_newcomers(
    battles: Battles,
    calibration: Calibration,
    signal: Signal,
    rule: ConformalRule,
    *,
    level: float,
    rng: np.random.Generator,
    hard: bool = False,
) -> Standings:
    """Rate each new model alone against the calibration's models, whose ratings are fixed; other
    battles are left out, with a warning. Source: Soft-Elo, section 3.3, equation 4, and Algorithm
    1, line 7."""
    evidence = build_evidence(
        battles, signal, "item" if calibration.se_cluster == "item" else "row"
    )
    credit = soften_verdicts(calibration.target, evidence.signal)
    models = _place_models(evidence, credit, calibration, int(rng.integers(2**63)), hard)
    new, unit = [model for model in models if model.is_new], evidence.unit
    return Standings(
        ranker="soft-elo",
        scale=ELO,
        level=level,
        interval=f"{calibration.se_method} of own {unit}s, anchors and beta held fixed",
        entries=tuple(_entries(models, rule, level, hard)),
        counts=battles.counts(),
        fit=Fit(converged=True, regularization=calibration.regularization),
        diagnostics={
            "conformal": _conformal_summary(new, rule, unit),
            **battle_diagnostics(battles),
        },
        warnings=(
            *battles.notes,
            *_placement_warnings(models, evidence, credit, rule, battles),
            *_narrow_warnings(new, calibration),
        ),
    )


def _conformal_summary(
    new: Sequence[PlacedModel], rule: ConformalRule, unit: str
) -> dict[str, Any]:
    return {
        "level": rule.level,
        "needed": models_needed(rule.level),
        "n": {model.model: rule.used for model in new},
        "q": {model.model: finite_or_none(rule.q) for model in new},
        "t": {model.model: rule.t for model in new if rule.best != rule.q},
        "of": rule.of,
        "scale_correction": rule.scale_correction.value if rule.scale_correction else None,
        "assumption": f"{EXCHANGEABLE}{'items' if unit == 'item' else 'battles'} independent within a model",
    }


def _place_models(
    evidence: Evidence, credit: np.ndarray, calibration: Calibration, seed: int, hard: bool
) -> list[PlacedModel]:
    """Return the ratings of all models in the battles, in the order of their names."""
    coded, penalty = evidence.coded_by(credit), calibration.regularization
    rates, battles = win_rates(pair_sums_with_items(coded)), coded.battles_by_model()
    known = {anchor.model: (anchor.soft_theta, anchor.hard_theta) for anchor in calibration.anchors}
    # Log-strengths of the calibrated models by code, NaN for others.
    soft, verdicts = np.array([known.get(name, (np.nan, np.nan)) for name in evidence.models]).T
    corrections = calibration.scale_correction
    factors = {
        kind: corrections[kind].value if kind in corrections else 1.0 for kind in ("soft", "hard")
    }

    def rate(
        k: int, kind: str, credit: np.ndarray, theta: np.ndarray
    ) -> tuple[ModelBattles, float, float | None]:
        own = build_model_battles(evidence, k, credit, theta)
        strength = theta[k] if evidence.models[k] in known else fit_single_strength(own, penalty)
        return own, strength, finite_or_none(MEAN + POINTS * factors[kind] * strength)

    models = []
    for k, name in enumerate(evidence.models):
        own, theta, elo = rate(k, "soft", credit, soft)
        hard_elo = rate(k, "hard", evidence.hard, verdicts)[2] if hard else None
        model = PlacedModel(name, int(battles[k]), finite_or_none(rates[k]), elo, hard=hard_elo)
        if name not in known and len(own.credit):
            se, _ = ErrorMethod(calibration.resamples, seed).standard_error(own, theta, penalty)
            se = factors["soft"] * se if se > SMALLEST_SE else np.nan
            earned, weight = own.opponent_sums()
            model = replace(
                model,
                battles=len(own.credit),
                win_rate=float(np.mean(earned[weight > 0] / weight[weight > 0])),
                is_new=True,
                items=own.clusters,
                se=se,
                separated=own.is_separated,
            )
        models.append(model)
    return models


def _entries(
    models: Sequence[PlacedModel], rule: ConformalRule, level: float, hard: bool
) -> Iterator[Entry]:
    """Yield the rows, the best model first; conformal ends that are None beside a level are
    infinite."""
    ranked = sorted(models, key=lambda model: (model.elo is None, -(model.elo or 0.0), model.model))
    scores = np.array([np.nan if model.elo is None else model.elo for model in ranked])
    for k, model in enumerate(ranked):
        low, high = model.interval(t_quantile(model.items, level) * model.se)
        has_interval = (
            model.is_new
            and model.elo is not None
            and not model.separated
            and not np.isnan(model.se)
        )
        ends = model.interval(rule.best * rule.error(model.se)) if has_interval else (None, None)
        extra = {
            "conformal_low": ends[0],
            "conformal_high": ends[1],
            "conformal_level": rule.level if has_interval else None,
            "interval_method": rule.method if has_interval else None,
        }
        yield Entry(
            model=model.model,
            rank=rank_of(scores, k),
            rank_low=None,
            rank_high=None,
            score=model.elo,
            low=low,
            high=high,
            se=finite_or_none(model.se),
            battles=model.battles,
            win_rate=model.win_rate,
            separated=model.separated,
            extra=extra | ({"hard": model.hard} if hard else {}),
        )


def _placement_warnings(
    models: Sequence[PlacedModel],
    evidence: Evidence,
    credit: np.ndarray,
    rule: ConformalRule,
    battles: Battles,
) -> Iterator[Notice]:
    """Yield warnings of models without a rating or a bounded interval, and of battles that rate no
    model."""
    if lost := [model.model for model in models if model.elo is None]:
        yield Notice("not-placed", {"models": lost})
    outside, judged = (
        np.array([model.is_new or model.elo is None for model in models]),
        ~np.isnan(credit),
    )
    if among := int(np.sum(judged & outside[evidence.first] & outside[evidence.second])):
        yield Notice("between-new-models", {"battles": among})
    if old := int(np.sum(judged & ~outside[evidence.first] & ~outside[evidence.second])):
        yield Notice("between-calibrated-models", {"battles": old})
    new, unit = [model for model in models if model.is_new], evidence.unit
    if new and np.isinf(rule.best):
        fields = {"used": rule.used, "needed": models_needed(rule.level)}
        names = [model.model for model in new]
        yield Notice("infinite-conformal-interval", {**fields, "models": names})
    if unbounded := [model.model for model in new if model.separated]:
        yield Notice("placed-separated", {"models": unbounded})
    if single := [model.model for model in new if np.isnan(model.se) and not model.separated]:
        yield Notice("placed-by-one", {"unit": unit, "models": single})
    if unit == "row" and battles.has_items:
        sides = (
            battles.table[["item", "model_a", "model_b"]].melt("item", value_name="model").dropna()
        )
        repeated = {*sides["model"][sides.duplicated(["item", "model"])]}
        if again := [model.model for model in new if model.model in repeated]:
            yield Notice("placed-on-shared-items", {"models": again})


def _narrow_warnings(new: Sequence[PlacedModel], calibration: Calibration) -> Iterator[Notice]:
    """Yield a warning of new models whose standard errors are smaller than those of the calibrated
    models."""
    # Without a scale correction, conformal scores are errors in units of the standard error. More
    # battles reduce that, but not the judge's disagreement: with twice the battles a 90% interval
    # covered 81%, with ten times 54%.
    scored = [model for model in calibration.models if model.score("soft") is not None]
    if not scored or "soft" in calibration.scale_correction:
        return
    se, battles = np.array([(model.soft_se, model.battles) for model in scored], dtype=np.float64).T
    smallest, most = (
        min(float(se.min()), NARROW * float(np.median(se))),
        MANY * float(np.median(battles)),
    )
    narrow = {
        model.model: f"{model.se:.1f}, {model.battles:,} battles"
        for model in new
        if model.se < smallest or model.battles > most
    }
    if narrow:
        fields = {
            "least_se": float(se.min()),
            "most_se": float(se.max()),
            "fewest": int(battles.min()),
            "most": int(battles.max()),
            "models": narrow,
        }
        yield Notice("conformal-too-narrow", fields)
