"""Models held out one by one, rated by humans and by the judge; and the scale correction of the
judge's ratings.

A margin is noisy, so the map from margins to preferences pulls every battle to 0.5; noise averages
out over a model's battles, the pull does not. Ratings come out on another scale than human ratings,
by a factor that can be estimated.
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
    """Estimate the factor kappa in human = kappa * judge + error. Posterior with a Cauchy(0, 0.5)
    prior on log kappa and Jeffreys' on the error's variance, integrated out; always positive. Fewer
    than three models give 1, without an interval. Log-strengths may have any origin."""
    number = len(judge)
    if number < FEWEST:
        return ScaleCorrection(1.0, n=number)
    s, h = judge - judge.mean(), human - human.mean()
    kappa = np.exp(LOG_KAPPA)
    # The sum of (h - kappa s)^2, without a pass over the models for every node.
    squares = np.maximum(
        h @ h - 2 * kappa * (s @ h) + kappa**2 * (s @ s), 1e-12 * max(h @ h, 1e-300)
    )
    log_density = -(number - 1) / 2 * np.log(squares) - np.log1p((LOG_KAPPA / PRIOR_SCALE) ** 2)
    weight = softmax(log_density)
    mean, reached = float(weight @ kappa), np.cumsum(weight)
    low, high = (float(np.interp(share, reached, kappa)) for share in (0.05, 0.95))
    return ScaleCorrection(
        mean, low, high, n=number, sd=float(np.sqrt(weight @ (kappa - mean) ** 2))
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
    """Return the standard deviation of residuals beyond their sampling variance, by maximum
    likelihood; often 0."""
    if len(residual) < 2:
        return 0.0

    def loss(c: float) -> float:
        return float(np.sum(np.log(variance + c) + residual**2 / (variance + c)))

    def derivative(c: float) -> float:
        return float(np.sum(1 / (variance + c) - (residual / (variance + c)) ** 2))

    most = float(np.mean(residual**2)) * 4 + 1e-9
    c = float(
        minimize_scalar(
            loss, bounds=(0.0, most), method="bounded", options={"xatol": 1e-6 * most}
        ).x
    )
    # A minimum is flat: the zero of the derivative is known to many more digits.
    if derivative(0.9 * c) < 0 < derivative(1.1 * c):
        c = float(brentq(derivative, 0.9 * c, 1.1 * c, xtol=1e-12 * c))
    return float(np.sqrt(c)) if loss(c) < loss(0.0) else 0.0


BOTH = ("hard", "soft")


@dataclass(frozen=True, slots=True)
class HeldOutRun:
    """Models held out one by one: ratings by `human`, `hard` and `soft` credits (`scales`) and
    their scale corrections (`factors`, without a kind whose ratings do not rise with human
    ratings)."""

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
        """Return the accuracy of both kinds, with the error of plain ratings and the log loss of
        soft ones."""
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
    """Rate each model by human, hard and soft labels of maps fitted without it, or a given map."""
    if given is None:
        target, weights = fit_target(evidence, level), fit_fold_weights(evidence)
    else:
        target, weights = (
            given,
            np.tile(order_weights(given, evidence.signal), (len(evidence.models), 1)),
        )
    signal, pooled = evidence.signal, soften_verdicts(target, evidence.signal)
    scales = {
        "human": leave_one_out(evidence, evidence.human, regularization, ErrorMethod(), "human"),
        "hard": leave_one_out(evidence, evidence.hard, regularization, method, "hard"),
        "soft": leave_one_out(
            evidence, pooled, regularization, method, "soft", lambda k: signal.predict(weights[k])
        ),
    }
    maps = [
        () if np.isnan(row).any() else zip(signal.names, row.tolist(), strict=True)
        for row in weights
    ]
    plain = tuple(
        HeldOut(
            model=name,
            **{f"{kind}_elo": finite_or_none(scale.elo[k]) for kind, scale in scales.items()},
            **{f"{kind}_se": finite_or_none(scale.se[k]) for kind, scale in scales.items()},
            battles=int(scales["soft"].battles[k]),
            weights=dict(maps[k]),
            separated=tuple(kind for kind, scale in scales.items() if scale.separated[k]),
        )
        for k, name in enumerate(evidence.models)
    )
    return HeldOutRun(evidence, target, weights, scales, plain, *_correct_scales(plain, scales))


def _correct_scales(
    held: tuple[HeldOut, ...], scales: Mapping[str, HeldOutScale]
) -> tuple[tuple[HeldOut, ...], dict[str, ScaleCorrection]]:
    """Correct each model's scale by a factor of the others; kinds of uninformative ratings stay and
    have no factor."""
    human, corrections = scales["human"], {}
    for kind in BOTH:
        judge = scales[kind]
        pooled = estimate_scale_correction(judge.anchors, human.anchors)
        if len(held) <= FEWEST:
            # Without one of them, two are left, which give no factor: no residual would be a
            # scale-corrected one's.
            pooled = ScaleCorrection(1.0, n=len(held))
        elif is_uninformative(judge.anchors, human.anchors, pooled):
            continue
        corrected: list[HeldOut] = []
        for model, ours, theirs in zip(held, judge.others, human.others, strict=True):
            both = ~np.isnan(ours) & ~np.isnan(theirs)
            factor = (
                None
                if model.rating(kind) is None
                else estimate_scale_correction(ours[both], theirs[both]).value
            )
            changed: dict[str, Any] = {f"{kind}_scale_correction": factor}
            corrected.append(replace(model, **changed))
        held = tuple(corrected)
        corrections[kind] = _add_spread(pooled, held, kind)
    return held, corrections


def _add_spread(correction: ScaleCorrection, held: Sequence[HeldOut], kind: str) -> ScaleCorrection:
    """Return the correction with the spread beyond both sampling errors and the median error of
    human ratings."""
    known = [model for model in held if None not in (model.residual(kind), model.error(kind, None))]
    residual = np.array([model.residual(kind) for model in known], dtype=np.float64)
    variance = np.array([model.error(kind, correction) for model in known], dtype=np.float64) ** 2
    human_se = [model.human_se for model in held if model.human_se is not None]
    median = float(np.median(human_se)) if human_se else None
    return replace(correction, spread=estimate_spread(residual, variance), human_se=median)
