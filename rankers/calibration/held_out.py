"""Models held out one by one, with the scale correction of the judge's ratings.

Each model is rated by humans and by the judge. A margin is noisy, so the map from margins to
preferences pulls every battle to 0.5. The noise averages out over a model's battles, the pull does
not. So the judge's ratings are on another scale than human ratings, by a factor that can be
estimated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import softmax

from podium.rankers.calibration.accuracy import measure_accuracy
from podium.rankers.calibration.calibration import (
    Accuracy,
    AnchorStrengths,
    HeldOut,
    ScaleCorrection,
    Target,
)
from podium.rankers.calibration.evidence import Evidence
from podium.rankers.calibration.leave_one_out import HeldOutScale, fit_fold_weights, leave_one_out
from podium.rankers.calibration.placement import ErrorMethod
from podium.rankers.calibration.targets import (
    fit_target,
    held_out_log_loss,
    order_weights,
    soften_verdicts,
)
from podium.rankers.errors.intervals import finite_or_none

FEWEST = 3
"""Models from which on a slope and the scatter around it are estimated."""
LOG_KAPPA = np.linspace(-2.5, 4.0, 300)
PRIOR_SCALE = 0.5
"""Of the Cauchy prior on log kappa: half of it lies between factors of 0.6 and 1.6."""
SMALLEST = 0.05
"""Factor below which the judge's ratings carry no information about human ratings."""


def estimate_scale_correction(judge: np.ndarray, human: np.ndarray) -> ScaleCorrection:
    """Estimate the factor kappa in human = kappa * judge + error.

    The estimate is the posterior mean, with a 90% interval. The prior of log kappa is Cauchy with
    scale 0.5, so that kappa is positive. Jeffreys' prior of the error's variance is integrated
    out. Fewer than three models give 1, without an interval.

    Args:
        judge: log-strengths by the judge, of any origin, shape (models,).
        human: log-strengths by humans, of any origin, shape (models,).
    """
    number = len(judge)
    if number < FEWEST:
        return ScaleCorrection(1.0, n=number)
    s = judge - judge.mean()
    h = human - human.mean()
    square_of_judge = s @ s
    square_of_human = h @ h
    kappa = np.exp(LOG_KAPPA)
    # The sum of (h - kappa s)^2, with one pass over the models for all nodes.
    squares = square_of_human - 2 * kappa * (s @ h) + kappa**2 * square_of_judge
    squares = np.maximum(squares, 1e-12 * max(square_of_human, 1e-300))
    log_prior = np.log1p((LOG_KAPPA / PRIOR_SCALE) ** 2)
    log_density = -(number - 1) / 2 * np.log(squares) - log_prior
    weight = softmax(log_density)
    mean = float(weight @ kappa)
    reached = np.cumsum(weight)
    return ScaleCorrection(
        mean,
        float(np.interp(0.05, reached, kappa)),
        float(np.interp(0.95, reached, kappa)),
        n=number,
        sd=float(np.sqrt(weight @ (kappa - mean) ** 2)),
    )


def is_uninformative(
    judge: np.ndarray, human: np.ndarray, scale_correction: ScaleCorrection
) -> bool:
    """Return whether the judge's ratings do not rise with human ratings, or may not."""
    if scale_correction.low is None:
        return False
    rises = float((judge - judge.mean()) @ (human - human.mean())) > 0
    return not rises or scale_correction.low < SMALLEST


def estimate_spread(residual: np.ndarray, variance: np.ndarray) -> float:
    """Return the standard deviation of residuals beyond their sampling variance; often 0.

    It is the c^(1/2) that maximizes the normal likelihood of residuals with variance v + c.

    Args:
        residual: residuals, shape (n,).
        variance: their sampling variances v, shape (n,).
    """
    if len(residual) < 2:
        return 0.0

    def loss(c: float) -> float:
        return float(np.sum(np.log(variance + c) + residual**2 / (variance + c)))

    def derivative(c: float) -> float:
        return float(np.sum(1 / (variance + c) - (residual / (variance + c)) ** 2))

    most = float(np.mean(residual**2)) * 4 + 1e-9
    precision = {"xatol": 1e-6 * most}
    minimum = minimize_scalar(loss, bounds=(0.0, most), method="bounded", options=precision)
    c = float(minimum.x)
    # A minimum is flat: the zero of the derivative is known to many more digits.
    if derivative(0.9 * c) < 0 < derivative(1.1 * c):
        c = float(brentq(derivative, 0.9 * c, 1.1 * c, xtol=1e-12 * c))
    return float(np.sqrt(c)) if loss(c) < loss(0.0) else 0.0


BOTH = ("hard", "soft")


@dataclass(frozen=True, slots=True)
class HeldOutRun:
    """Models held out one by one.

    Attributes:
        evidence: the battles.
        target: the map from signal to soft credit, fitted to all battles or given.
        weights: weights of the map of each fold, NaN if there is none, shape (models, features).
        scales: held-out ratings by kind of credit: `human`, `hard`, `soft`.
        plain: the models with the judge's ratings as they are.
        corrected: the models with scale-corrected ratings.
        factors: scale correction of `hard` and `soft`; a kind whose ratings do not rise with
            human ratings has none.
    """

    evidence: Evidence
    target: Target
    weights: np.ndarray
    scales: Mapping[str, HeldOutScale]
    plain: tuple[HeldOut, ...]
    corrected: tuple[HeldOut, ...]
    factors: Mapping[str, ScaleCorrection]

    def anchors(self) -> tuple[AnchorStrengths, ...]:
        """Return the log-strengths of the joint fits."""
        columns = [scale.anchors.tolist() for scale in self.scales.values()]
        return tuple(map(AnchorStrengths, self.evidence.models, *columns))

    def accuracy(self, held: Sequence[HeldOut], level: float) -> dict[str, Accuracy]:
        """Return the accuracy of `hard` and `soft` ratings of held-out models.

        Both have the error of ratings without a scale correction. Those of `soft` also have the
        log loss of its predictions.
        """
        accuracy = {}
        for kind in BOTH:
            plain = measure_accuracy(self.plain, kind, level)
            accuracy[kind] = replace(measure_accuracy(held, kind, level), plain_mae=plain.mae)
        if self.target.kind != "credit" and self.evidence.preference.any():
            loss = held_out_log_loss(self.evidence, self.weights)
            accuracy["soft"] = replace(accuracy["soft"], log_loss=loss)
        return accuracy


def hold_out_models(
    evidence: Evidence,
    given: Target | None,
    level: float,
    regularization: float,
    method: ErrorMethod,
) -> HeldOutRun:
    """Rate each model alone by human, hard and soft credits.

    Args:
        evidence: the battles.
        given: the map to soft credits; None fits it, for each model on the battles of the others.
        level: confidence level of beta's interval, in (0, 1).
        regularization: lambda of all ratings.
        method: method of the standard errors of the judge's ratings.
    """
    signal = evidence.signal
    if given is None:
        target = fit_target(evidence, level)
        weights = fit_fold_weights(evidence)
    else:
        target = given
        weights = np.tile(order_weights(given, signal), (len(evidence.models), 1))

    def credits_of_fold(k: int) -> np.ndarray:
        return signal.predict(weights[k])

    human = evidence.human
    hard = evidence.hard
    pooled = soften_verdicts(target, signal)
    scales = {
        "human": leave_one_out(evidence, human, regularization, ErrorMethod(), "human"),
        "hard": leave_one_out(evidence, hard, regularization, method, "hard"),
        "soft": leave_one_out(evidence, pooled, regularization, method, "soft", credits_of_fold),
    }
    plain = tuple(
        _held_out_model(name, k, scales, dict(zip(signal.names, weights[k].tolist(), strict=True)))
        for k, name in enumerate(evidence.models)
    )
    corrected, factors = _correct_scales(plain, scales)
    return HeldOutRun(evidence, target, weights, scales, plain, corrected, factors)


def _held_out_model(
    name: str, code: int, scales: Mapping[str, HeldOutScale], weights: Mapping[str, float]
) -> HeldOut:
    """Return the record of a model: ratings by kind of credit, and the map fitted without it.

    `weights` are those of the map by feature, NaN if there is no such map.
    """
    human = scales["human"]
    hard = scales["hard"]
    soft = scales["soft"]
    has_map = not any(np.isnan(weight) for weight in weights.values())
    return HeldOut(
        model=name,
        human_elo=finite_or_none(human.elo[code]),
        hard_elo=finite_or_none(hard.elo[code]),
        soft_elo=finite_or_none(soft.elo[code]),
        human_se=finite_or_none(human.se[code]),
        hard_se=finite_or_none(hard.se[code]),
        soft_se=finite_or_none(soft.se[code]),
        battles=int(soft.battles[code]),
        weights=dict(weights) if has_map else {},
        separated=tuple(kind for kind, scale in scales.items() if scale.separated[code]),
    )


def _correct_scales(
    held: tuple[HeldOut, ...], scales: Mapping[str, HeldOutScale]
) -> tuple[tuple[HeldOut, ...], dict[str, ScaleCorrection]]:
    """Correct each model's ratings by a factor estimated from the other models.

    Returns:
        The models with corrected ratings, and the correction of each kind by all models. A kind
        whose ratings do not rise with human ratings stays as it is, and has no correction.
    """
    human = scales["human"]
    corrections = {}
    for kind in BOTH:
        judge = scales[kind]
        pooled = estimate_scale_correction(judge.anchors, human.anchors)
        if len(held) <= FEWEST:
            # Each model's factor comes from the others, which are two or fewer and give none.
            pooled = ScaleCorrection(1.0, n=len(held))
        elif is_uninformative(judge.anchors, human.anchors, pooled):
            continue
        corrected: list[HeldOut] = []
        for model, ours, theirs in zip(held, judge.others, human.others, strict=True):
            factor = None
            if model.rating(kind) is not None:
                both = ~np.isnan(ours) & ~np.isnan(theirs)
                factor = estimate_scale_correction(ours[both], theirs[both]).value
            changed: dict[str, Any] = {f"{kind}_scale_correction": factor}
            corrected.append(replace(model, **changed))
        held = tuple(corrected)
        corrections[kind] = _add_spread(pooled, held, kind)
    return held, corrections


def _add_spread(correction: ScaleCorrection, held: Sequence[HeldOut], kind: str) -> ScaleCorrection:
    """Return a correction with the disagreement of judge and humans, and humans' median error.

    The disagreement is the standard deviation of residuals beyond both sampling errors, in Elo.
    """
    known = []
    for model in held:
        if model.residual(kind) is not None and model.error(kind, None) is not None:
            known.append(model)
    residual = np.array([model.residual(kind) for model in known], dtype=np.float64)
    variance = np.array([model.error(kind, correction) for model in known], dtype=np.float64) ** 2
    human_se = [model.human_se for model in held if model.human_se is not None]
    median = float(np.median(human_se)) if human_se else None
    return replace(correction, spread=estimate_spread(residual, variance), human_se=median)
