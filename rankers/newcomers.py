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
from podium.rankers.fit.coded import Cluster
from podium.rankers.fit.pairs import win_rates
from podium.rankers.fit.scale import POINTS
from podium.rankers.ranking import Entry, Fit, Standings
from podium.rankers.standings import battle_diagnostics, rank_of
from podium.score_scale import ELO
from podium.wording import plural, quantity

MOST_BATTLES_RATIO = 1.5
"""A new model with more battles than this times the calibrated models' median gets the warning
that its conformal interval is too narrow."""
LEAST_SE_RATIO = 0.8
"""A new model gets the same warning if its standard error is below those of all calibrated models
and below this share of their median."""


ABOVE_CALIBRATED = "above"
"""Side of a new model whose rating is higher than those of all calibrated models."""
BELOW_CALIBRATED = "below"
"""Side of a new model whose rating is lower than those of all calibrated models."""


@dataclass(frozen=True, slots=True)
class PlacedModel:
    """A model on the Elo scale of a calibration.

    Attributes:
        model: name of the model.
        battles: number of battles with a soft credit. For a new model, only battles against
            calibrated models count.
        win_rate: win rate in these battles, None if there are none.
        elo: Elo rating, scale-corrected if the calibration has a factor. None for a model that is
            absent from the calibration and whose battles against calibrated models determine no
            rating.
        is_new: whether the model is absent from the calibration and has a battle against a
            calibrated model. Unless it is, `items`, `se` and `separated` have their defaults.
        items: number of items (clusters) in the model's battles.
        se: standard error in Elo points, NaN if unknown.
        separated: whether the model won all of its battles against calibrated models, or lost all
            of them.
        hard: Elo rating by hard verdicts, None if unknown or not requested.
    """

    model: str
    battles: int
    win_rate: float | None
    elo: float | None
    is_new: bool = False
    items: int = 0
    se: float = np.nan
    separated: bool = False
    hard: float | None = None

    def interval(self, half_width: float) -> tuple[float | None, float | None]:
        """Return the ends of the interval around `elo` with this half-width.

        Both ends are None if the rating is unknown or separated, or if the half-width is NaN or
        infinite.
        """
        if self.elo is None or self.separated:
            return None, None
        return finite_or_none(self.elo - half_width), finite_or_none(self.elo + half_width)


@dataclass(frozen=True, slots=True)
class CalibratedRange:
    """The range of the judge's ratings of the calibrated models, in Elo points.

    How judge and humans disagree is known in this range only: a judge that cannot tell the best
    models apart rates a better one too low, and no calibrated model shows it.

    Attributes:
        least: the lowest rating of a calibrated model, scale-corrected as those of new models.
        most: the highest one.
    """

    least: float
    most: float

    @classmethod
    def of_calibration(cls, calibration: Calibration) -> "CalibratedRange":
        """Return the range of the soft ratings of the calibrated models with a conformal score.

        If no model has a score, it is the range of all calibrated models.
        """
        correction = calibration.scale_correction.get("soft")
        factor = correction.value if correction else 1.0
        scored = {model.model for model in calibration.models if model.score("soft") is not None}
        of_scored = [
            calibrated.soft_theta
            for calibrated in calibration.anchors
            if calibrated.model in scored
        ]
        strengths = of_scored or [calibrated.soft_theta for calibrated in calibration.anchors]
        ratings = MEAN + POINTS * factor * np.array(strengths)
        return cls(float(ratings.min()), float(ratings.max()))

    def side_of(self, model: PlacedModel) -> str | None:
        """Return the side of all calibrated models on which a model is rated: `above` or `below`.

        The result is None if the model is rated within their range (its ends belong to the range),
        or has no bounded rating.
        """
        if model.elo is None or model.separated:
            return None
        if model.elo > self.most:
            return ABOVE_CALIBRATED
        if model.elo < self.least:
            return BELOW_CALIBRATED
        return None


def newcomers(battles: Battles, calibration: Calibration, credit: np.ndarray) -> tuple[str, ...]:
    """Return the sorted names of the new models that have battles against calibrated models.

    New models are those that the calibration does not know. `credit` are soft credits, NaN for
    battles that do not count, shape (battles,).
    """
    table = battles.table[~np.isnan(credit)]
    names = {anchor.model for anchor in calibration.anchors}
    a = table["model_a"].astype(object)
    b = table["model_b"].astype(object)
    is_a_calibrated = a.isin(names)
    is_b_calibrated = b.isin(names)
    new_as_a = a[~is_a_calibrated & is_b_calibrated]
    new_as_b = b[is_a_calibrated & ~is_b_calibrated]
    return tuple(sorted({*new_as_a, *new_as_b}))


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
    """Rate each new model alone against the calibration's models, whose ratings are fixed.

    Battles between new models, and between calibrated ones, are left out, with a warning. The
    standings also have the calibrated models with battles, with the calibration's ratings and
    without intervals, and models that could not be rated. There are no rank sets.

    Args:
        battles: the battles.
        calibration: the calibration.
        signal: the judge's signal about model a of each battle.
        rule: how conformal intervals are made.
        level: confidence level of the intervals that are not conformal, in (0, 1).
        rng: draws the seed of the bootstrap.
        hard: whether to add the Elo of the hard verdicts as a column.

    Raises:
        NotIdentifiedError: the calibration weighs other features than the signal has.
        NotConvergedError: a fit did not reach its maximum.

    Source: Soft-Elo, section 3.3, equation 4, and Algorithm 1, line 7.
    """
    cluster: Cluster = "row" if calibration.se_cluster == "row" else "item"
    evidence = build_evidence(battles, signal, cluster)
    credit = soften_verdicts(calibration.target, evidence.signal)
    models = _place_models(evidence, credit, calibration, int(rng.integers(2**63)), hard)
    new = [model for model in models if model.is_new]
    calibrated = CalibratedRange.of_calibration(calibration)
    unit = evidence.unit
    error_method = f"{calibration.se_method} of own {unit}s"
    return Standings(
        ranker="soft-elo",
        scale=ELO,
        level=level,
        interval=f"{error_method}, anchors and beta held fixed",
        error_method=error_method,
        entries=tuple(_entries_of_models(models, rule, calibrated, level, hard)),
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
            *_warnings_of_outside(new, calibrated),
        ),
    )


def _conformal_summary(
    new: Sequence[PlacedModel], rule: ConformalRule, unit: str
) -> dict[str, Any]:
    """Return the figures of the conformal intervals for the JSON, and the assumption behind them.

    The keys are `level`, `needed` (number of calibrated models that an interval at this level
    needs), `n` (number of conformal scores), `q` (their quantile) and `t` (the quantile by t),
    which are mappings from the names of the new models (`t` is empty if the intervals use q), `of`
    (what the scores are), `scale_correction` (the factor, or None), and `assumption` (a sentence).

    `unit` is what a cluster is: a group of items, `item` or `row`.
    """
    independent = "battles" if unit == "row" else plural(unit, 2)
    names = [model.model for model in new]
    is_by_t = rule.quantile_used != rule.q
    return {
        "level": rule.level,
        "needed": models_needed(rule.level),
        "n": dict.fromkeys(names, rule.scores),
        "q": dict.fromkeys(names, finite_or_none(rule.q)),
        "t": dict.fromkeys(names, rule.t) if is_by_t else {},
        "of": rule.of,
        "scale_correction": rule.scale_correction.value if rule.scale_correction else None,
        "assumption": (
            "holds if a new model is exchangeable with the calibrated models; standard errors take "
            f"{independent} independent within a model"
        ),
    }


def _place_models(
    evidence: Evidence, credit: np.ndarray, calibration: Calibration, seed: int, hard: bool
) -> list[PlacedModel]:
    """Return the ratings of all models in the battles, in the order of their names.

    Calibrated models keep their ratings. New models are rated one by one by their battles against
    calibrated models.

    Args:
        evidence: the battles.
        credit: soft credits of first, NaN for battles that do not count, shape (battles,).
        calibration: the calibration, which fixes the ratings of the models that it knows.
        seed: seed of the bootstrap of standard errors.
        hard: whether to rate the models by their hard verdicts, too.
    """
    coded = evidence.coded_by(credit)
    penalty = calibration.regularization
    win_rate_of_model = win_rates(pair_sums_with_items(coded))
    battles_of_model = coded.battles_by_model()
    calibrated_thetas = {
        anchor.model: (anchor.soft_theta, anchor.hard_theta) for anchor in calibration.anchors
    }
    # Log-strengths of the calibrated models by code, NaN for others.
    no_thetas = (np.nan, np.nan)
    thetas = [calibrated_thetas.get(name, no_thetas) for name in evidence.models]
    soft_theta, hard_theta = np.array(thetas).T
    factors = {"soft": 1.0, "hard": 1.0}
    for kind, correction in calibration.scale_correction.items():
        factors[kind] = correction.value
    errors = ErrorMethod(calibration.resamples, seed)
    models = []
    for k, name in enumerate(evidence.models):
        model_battles, strength = _rate_against_calibrated(evidence, k, credit, soft_theta, penalty)
        elo = finite_or_none(MEAN + POINTS * factors["soft"] * strength)
        hard_elo = None
        if hard:
            _, hard_strength = _rate_against_calibrated(
                evidence, k, evidence.hard, hard_theta, penalty
            )
            hard_elo = finite_or_none(MEAN + POINTS * factors["hard"] * hard_strength)
        model = PlacedModel(
            name, int(battles_of_model[k]), finite_or_none(win_rate_of_model[k]), elo, hard=hard_elo
        )
        if name not in calibrated_thetas and len(model_battles.credit):
            se, _ = errors.standard_error(model_battles, strength, penalty)
            se_of_elo = factors["soft"] * se if se > SMALLEST_SE else np.nan
            model = _describe_newcomer(model, model_battles, se_of_elo)
        models.append(model)
    return models


def _rate_against_calibrated(
    evidence: Evidence, code: int, credit: np.ndarray, theta: np.ndarray, regularization: float
) -> tuple[ModelBattles, float]:
    """Return a model's battles against calibrated models, and its log-strength.

    A calibrated model keeps its log-strength. The log-strength of a new model is fitted to these
    battles; it is NaN if they determine none.

    Args:
        evidence: the battles.
        code: code of the model.
        credit: credit of first in each battle, NaN for battles that do not count, shape
            (battles,).
        theta: log-strengths of the calibrated models, NaN for others, shape (models,).
        regularization: lambda.
    """
    model_battles = build_model_battles(evidence, code, credit, theta)
    strength = float(theta[code])
    if np.isnan(strength):
        strength = fit_single_strength(model_battles, regularization)
    return model_battles, strength


def _describe_newcomer(model: PlacedModel, model_battles: ModelBattles, se: float) -> PlacedModel:
    """Return a new model with its standard error, its number of items, and its separation.

    The number of battles and the win rate are replaced by those of the battles against calibrated
    models. The win rate is the plain mean over these opponents.

    Args:
        model: name and ratings of the model.
        model_battles: the model's battles against calibrated models.
        se: standard error in Elo points, NaN if unknown.
    """
    credit, weight = model_battles.opponent_sums()
    has_met = weight > 0
    return replace(
        model,
        battles=len(model_battles.credit),
        win_rate=float(np.mean(credit[has_met] / weight[has_met])),
        is_new=True,
        items=model_battles.clusters,
        se=se,
        separated=model_battles.is_separated,
    )


def _entries_of_models(
    models: Sequence[PlacedModel],
    rule: ConformalRule,
    calibrated: CalibratedRange,
    level: float,
    hard: bool,
) -> Iterator[Entry]:
    """Yield the rows of the standings, the best model first, and models without a rating last.

    Calibrated models have a rating without intervals. If a row has a `conformal_level`, a conformal
    end of None stands for an infinite end.

    Args:
        models: the models.
        rule: how conformal intervals are made.
        calibrated: the range of the calibrated models' ratings.
        level: confidence level of the t intervals `low` and `high`, in (0, 1).
        hard: whether rows have the column `hard`.
    """
    unrated = [model for model in models if model.elo is None]
    rated = [model for model in models if model.elo is not None]
    # The best first; equal ratings are in the order of the names. No rating is None here.
    rated.sort(key=lambda model: (-(model.elo or 0.0), model.model))
    unrated.sort(key=lambda model: model.model)
    ranked = [*rated, *unrated]
    scores = np.array([model.elo for model in ranked], dtype=np.float64)  # None becomes NaN
    for k, model in enumerate(ranked):
        low, high = model.interval(t_quantile(model.items, level) * model.se)
        extra = _conformal_columns(model, rule, calibrated)
        if hard:
            extra["hard"] = model.hard
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
            extra=extra,
        )


def _conformal_columns(
    model: PlacedModel, rule: ConformalRule, calibrated: CalibratedRange
) -> dict[str, Any]:
    """Return the columns of a model's conformal interval; all are None if it has no interval.

    The columns are `conformal_low`, `conformal_high`, `conformal_level` and `interval_method`. Only
    new models with a bounded rating and a standard error have an interval. That of a model above
    all calibrated models has no upper end, and that of a model below all of them no lower end.
    Their errors are those of `ConformalRule.error_outside`.
    """
    is_bounded = model.elo is not None and not model.separated
    has_interval = model.is_new and is_bounded and not np.isnan(model.se)
    if not has_interval:
        names = ("conformal_low", "conformal_high", "conformal_level", "interval_method")
        return dict.fromkeys(names)
    side = calibrated.side_of(model)
    error = rule.error(model.se)
    if side is not None and model.elo is not None:
        end = calibrated.most if side == ABOVE_CALIBRATED else calibrated.least
        error = rule.error_outside(model.se, model.elo, end)
    low, high = model.interval(rule.quantile_used * error)
    if side == ABOVE_CALIBRATED:
        high = None
    elif side == BELOW_CALIBRATED:
        low = None
    return {
        "conformal_low": low,
        "conformal_high": high,
        "conformal_level": rule.level,
        "interval_method": rule.method,
    }


def _placement_warnings(
    models: Sequence[PlacedModel],
    evidence: Evidence,
    credit: np.ndarray,
    rule: ConformalRule,
    battles: Battles,
) -> Iterator[Notice]:
    """Yield warnings about models without a rating or interval, and battles that rate no model.

    Battles between two new models, and between two calibrated models, rate no model. If rows count
    as independent, new models with several battles on an item are named, too. `credit` are soft
    credits, NaN for battles that do not count, shape (battles,).
    """
    not_placed = [model.model for model in models if model.elo is None]
    if not_placed:
        yield Notice("not-placed", {"models": not_placed})
    # A model without a rating is not calibrated, either.
    is_outside = np.array([model.is_new or model.elo is None for model in models])
    is_judged = ~np.isnan(credit)
    first_outside = is_outside[evidence.first]
    second_outside = is_outside[evidence.second]
    between_new = int(np.sum(is_judged & first_outside & second_outside))
    if between_new:
        yield Notice("between-new-models", {"battles": between_new})
    between_old = int(np.sum(is_judged & ~first_outside & ~second_outside))
    if between_old:
        yield Notice("between-calibrated-models", {"battles": between_old})
    new = [model for model in models if model.is_new]
    if new and np.isinf(rule.quantile_used):
        fields = {"used": rule.scores, "needed": models_needed(rule.level)}
        names = [model.model for model in new]
        yield Notice("infinite-conformal-interval", {**fields, "models": names})
    unbounded = [model.model for model in new if model.separated]
    if unbounded:
        yield Notice("placed-separated", {"models": unbounded})
    without_se = [model.model for model in new if np.isnan(model.se) and not model.separated]
    if without_se:
        yield Notice("placed-by-one", {"unit": evidence.unit, "models": without_se})
    if evidence.unit == "row" and battles.has_items:
        repeated_models = _models_with_repeated_items(battles)
        on_shared_items = [model.model for model in new if model.model in repeated_models]
        if on_shared_items:
            yield Notice("placed-on-shared-items", {"models": on_shared_items})


def _models_with_repeated_items(battles: Battles) -> set[str]:
    """Return the names of the models that have several battles on at least one item.

    Rows without an item or a model are left out.
    """
    columns = battles.table[["item", "model_a", "model_b"]]
    # A row for each model of each battle, with the item.
    models_of_items = columns.melt("item", value_name="model").dropna()
    is_repeated = models_of_items.duplicated(["item", "model"])
    return set(models_of_items["model"][is_repeated])


def _warnings_of_outside(
    new: Sequence[PlacedModel], calibrated: CalibratedRange
) -> Iterator[Notice]:
    """Yield a warning that names the new models above all calibrated models, then one for below.

    There is no warning for a side without new models.
    """
    for side in (ABOVE_CALIBRATED, BELOW_CALIBRATED):
        names = [model.model for model in new if calibrated.side_of(model) == side]
        if names:
            yield Notice("outside-calibrated-models", {"models": names, "side": side})


def _narrow_warnings(new: Sequence[PlacedModel], calibration: Calibration) -> Iterator[Notice]:
    """Yield a warning of new models whose conformal interval is probably too narrow.

    Such models have smaller standard errors than the calibrated models (`LEAST_SE_RATIO`), or more
    battles (`MOST_BATTLES_RATIO`). There is no warning if the calibration corrects the scale of
    soft ratings, or if no calibrated model has a conformal score.
    """
    # Without a scale correction, a conformal score is an error divided by the standard error. More
    # battles reduce the standard error, but not the judge's disagreement with humans. In
    # simulations, a 90% interval covered 81% if the new model had twice as many battles as the
    # calibrated ones, and 54% if it had ten times as many.
    scored = [model for model in calibration.models if model.score("soft") is not None]
    if not scored or "soft" in calibration.scale_correction:
        return
    se = np.array([model.soft_se for model in scored], dtype=np.float64)
    battles = np.array([model.battles for model in scored], dtype=np.float64)
    least_se = min(float(se.min()), LEAST_SE_RATIO * float(np.median(se)))
    most_battles = MOST_BATTLES_RATIO * float(np.median(battles))
    narrow = {
        model.model: f"{model.se:.1f}, {quantity(model.battles, 'battle')}"
        for model in new
        if model.se < least_se or model.battles > most_battles
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
