"""Models held out one by one, with the scale correction of the judge's ratings.

Each model is rated by humans and by the judge. Margins are noisy, so that the fitted map from
margins to preferences pulls the soft credit of every battle to 0.5. The noise averages out over a
model's battles, but the pull does not. So the judge's ratings are closer together than human
ratings, by a factor kappa that can be estimated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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

FEWEST_FOR_FACTOR = 3
"""With fewer models than this, the factor is not estimated."""
LOG_KAPPA = np.linspace(-2.5, 4.0, 300)
"""Grid of log kappa on which the posterior is computed."""
PRIOR_SCALE = 0.5
"""Scale of the Cauchy prior of log kappa: half of the prior lies between factors of 0.6 and
1.6."""
SMALLEST_FACTOR = 0.05
"""If the lower end of the factor's interval is below this, the judge's ratings count as
uninformative about human ratings."""


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
    if number < FEWEST_FOR_FACTOR:
        return ScaleCorrection(1.0, n=number)
    centred_judge = judge - judge.mean()
    centred_human = human - human.mean()
    square_of_judge = centred_judge @ centred_judge
    square_of_human = centred_human @ centred_human
    product = centred_judge @ centred_human
    kappa = np.exp(LOG_KAPPA)
    # The sum over models of (human - kappa judge)^2, for each kappa of the grid.
    squares = square_of_human - 2 * kappa * product + kappa**2 * square_of_judge
    # Rounding may leave 0 or less, whose logarithm does not exist.
    squares = np.maximum(squares, 1e-12 * max(square_of_human, 1e-300))
    log_prior = np.log1p((LOG_KAPPA / PRIOR_SCALE) ** 2)
    # Integrating out the variance of the error leaves squares^(-(n - 1) / 2).
    log_density = -(number - 1) / 2 * np.log(squares) - log_prior
    weight = softmax(log_density)
    mean = float(weight @ kappa)
    cumulative_weight = np.cumsum(weight)
    return ScaleCorrection(
        mean,
        low=float(np.interp(0.05, cumulative_weight, kappa)),
        high=float(np.interp(0.95, cumulative_weight, kappa)),
        n=number,
        sd=float(np.sqrt(weight @ (kappa - mean) ** 2)),
    )


def is_uninformative(
    judge: np.ndarray, human: np.ndarray, scale_correction: ScaleCorrection
) -> bool:
    """Return whether the judge's ratings do not clearly rise with human ratings.

    The result is True if the covariance of both ratings is not positive, or if the interval of the
    factor reaches below `SMALLEST_FACTOR`. It is False if there are too few models for an interval.

    Args:
        judge: log-strengths by the judge, shape (models,).
        human: log-strengths by humans, shape (models,).
        scale_correction: the factor that `estimate_scale_correction` found for them.
    """
    if scale_correction.low is None:
        return False
    covariance = float((judge - judge.mean()) @ (human - human.mean()))
    rises = covariance > 0
    return not rises or scale_correction.low < SMALLEST_FACTOR


def estimate_spread(residual: np.ndarray, variance: np.ndarray) -> float:
    """Return the standard deviation of residuals beyond their sampling errors.

    It is the root of the c >= 0 that maximizes the normal likelihood of residuals with mean 0 and
    variance v + c. It is 0 if sampling errors explain the residuals, and for fewer than two
    residuals.

    Args:
        residual: residuals, shape (n,).
        variance: their sampling variances v, shape (n,).
    """
    if len(residual) < 2:
        return 0.0

    def loss(c: float) -> float:
        """Return minus twice the log-likelihood of c, up to a constant."""
        total_variance = variance + c
        return float(np.sum(np.log(total_variance) + residual**2 / total_variance))

    def derivative(c: float) -> float:
        """Return the derivative of `loss` by c."""
        total_variance = variance + c
        return float(np.sum(1 / total_variance - (residual / total_variance) ** 2))

    # The search ends at four times the mean square, which is above 0 even if all residuals are 0.
    largest_c = float(np.mean(residual**2)) * 4 + 1e-9
    options = {"xatol": 1e-6 * largest_c}
    minimum = minimize_scalar(loss, bounds=(0.0, largest_c), method="bounded", options=options)
    c = float(minimum.x)
    # The loss is flat at its minimum. The zero of its derivative gives many more digits.
    if derivative(0.9 * c) < 0 < derivative(1.1 * c):
        c = float(brentq(derivative, 0.9 * c, 1.1 * c, xtol=1e-12 * c))
    is_above_zero = loss(c) < loss(0.0)
    return float(np.sqrt(c)) if is_above_zero else 0.0


JUDGE_KINDS = ("hard", "soft")
"""The kinds of the judge's ratings: by hard verdicts, and by soft credits."""


@dataclass(frozen=True, slots=True)
class HeldOutRun:
    """Models held out one by one.

    Attributes:
        evidence: the battles.
        target: the map from signal to soft credit, fitted to all battles or given.
        weights: weights of the map fitted without each model, NaN if there is none, shape (models,
            features).
        scales: held-out ratings by kind of credit: `human`, `hard`, `soft`.
        plain: the models with ratings before the scale correction.
        corrected: the models with scale-corrected ratings.
        corrections: scale correction of `hard` and `soft` ratings. A kind whose ratings do not
            clearly rise with human ratings is missing.
    """

    evidence: Evidence
    target: Target
    weights: np.ndarray
    scales: Mapping[str, HeldOutScale]
    plain: tuple[HeldOut, ...]
    corrected: tuple[HeldOut, ...]
    corrections: Mapping[str, ScaleCorrection]

    def anchors(self) -> tuple[AnchorStrengths, ...]:
        """Return the log-strengths of all models in the joint fits, one record for each model."""
        human = self.scales["human"].anchors.tolist()
        hard = self.scales["hard"].anchors.tolist()
        soft = self.scales["soft"].anchors.tolist()
        columns = zip(self.evidence.models, human, hard, soft, strict=True)
        return tuple(AnchorStrengths(*fields) for fields in columns)

    def accuracy(self, held_out_models: Sequence[HeldOut], level: float) -> dict[str, Accuracy]:
        """Return the accuracy of the ratings in `held_out_models`, with the keys `hard` and `soft`.

        Both include the mean error before the scale correction, `plain_mae`. The accuracy of
        `soft` ratings also includes the log loss of held-out predictions, unless the target is
        `credit` or no battle has a signal and a preference. `level` is the confidence level of the
        intervals, in (0, 1).
        """
        accuracy = {}
        for kind in JUDGE_KINDS:
            plain = measure_accuracy(self.plain, kind, level)
            accuracy[kind] = replace(
                measure_accuracy(held_out_models, kind, level), plain_mae=plain.mae
            )
        if self.target.kind != "credit" and self.evidence.has_preference.any():
            loss = held_out_log_loss(self.evidence, self.weights)
            accuracy["soft"] = replace(accuracy["soft"], log_loss=loss)
        return accuracy


def hold_out_models(
    evidence: Evidence,
    given_target: Target | None,
    level: float,
    regularization: float,
    method: ErrorMethod,
) -> HeldOutRun:
    """Rate each model alone by human, hard and soft credits.

    Args:
        evidence: the battles.
        given_target: the map to soft credits. If it is None, the map is fitted to all battles,
            and for each held-out model to the battles of the others.
        level: confidence level of beta's interval, in (0, 1).
        regularization: lambda of all ratings.
        method: method of the standard errors of the judge's ratings. Those of human ratings are
            sandwich errors.

    Raises:
        NotIdentifiedError, NotConvergedError: the map or the joint ratings are not determined.
    """
    signal = evidence.signal
    if given_target is None:
        target = fit_target(evidence, level)
        weights = fit_fold_weights(evidence)
    else:
        target = given_target
        weights = np.tile(order_weights(given_target, signal), (len(evidence.models), 1))

    def soft_credit_of_fold(k: int) -> np.ndarray:
        """Return the soft credits by the map fitted without model k, shape (battles,)."""
        return signal.predict(weights[k])

    soft_credit = soften_verdicts(target, signal)
    rate_each = partial(leave_one_out, evidence, regularization=regularization)
    scales = {
        "human": rate_each(evidence.human, method=ErrorMethod(), credit_kind="human"),
        "hard": rate_each(evidence.hard, method=method, credit_kind="hard"),
        "soft": rate_each(
            soft_credit, method=method, credit_kind="soft", credit_of_fold=soft_credit_of_fold
        ),
    }
    plain = _uncorrected_models(evidence, weights, scales)
    corrected, corrections = _correct_scales(plain, scales)
    return HeldOutRun(
        evidence=evidence,
        target=target,
        weights=weights,
        scales=scales,
        plain=plain,
        corrected=corrected,
        corrections=corrections,
    )


def _uncorrected_models(
    evidence: Evidence, weights: np.ndarray, scales: Mapping[str, HeldOutScale]
) -> tuple[HeldOut, ...]:
    """Return the records of all models before the scale correction.

    Args:
        evidence: the battles.
        weights: weights of the map fitted without each model, shape (models, features).
        scales: held-out ratings of all models, by kind of credit.
    """
    models = []
    for k, name in enumerate(evidence.models):
        weight_of_feature = dict(zip(evidence.signal.names, weights[k].tolist(), strict=True))
        models.append(_held_out_model(name, k, scales, weight_of_feature))
    return tuple(models)


def _held_out_model(
    name: str, code: int, scales: Mapping[str, HeldOutScale], weights: Mapping[str, float]
) -> HeldOut:
    """Return the record of a held-out model.

    Args:
        name: name of the model.
        code: code of the model.
        scales: held-out ratings of all models, by kind of credit.
        weights: weights of the map fitted without the model, by feature; NaN if there is none.
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
    held_out_models: tuple[HeldOut, ...], scales: Mapping[str, HeldOutScale]
) -> tuple[tuple[HeldOut, ...], dict[str, ScaleCorrection]]:
    """Correct each model's ratings by a factor estimated from the other models.

    Returns:
        The models with corrected ratings, and the correction of each kind, estimated from all
        models. A kind whose ratings do not clearly rise with human ratings is not corrected, and
        has no correction. With three models or fewer, all factors are 1.
    """
    human = scales["human"]
    corrections = {}
    for kind in JUDGE_KINDS:
        judge = scales[kind]
        joint_correction = estimate_scale_correction(judge.anchors, human.anchors)
        if len(held_out_models) <= FEWEST_FOR_FACTOR:
            # Each model's factor is estimated from the others, which are two or fewer: too few.
            joint_correction = ScaleCorrection(1.0, n=len(held_out_models))
        elif is_uninformative(judge.anchors, human.anchors, joint_correction):
            continue
        corrected: list[HeldOut] = []
        for model, judge_theta, human_theta in zip(
            held_out_models, judge.theta_of_others, human.theta_of_others, strict=True
        ):
            factor = None
            if model.rating(kind) is not None:
                is_known = ~np.isnan(judge_theta) & ~np.isnan(human_theta)
                factor = estimate_scale_correction(
                    judge_theta[is_known], human_theta[is_known]
                ).value
            # The field `hard_scale_correction` or `soft_scale_correction`.
            field_of_kind: dict[str, Any] = {f"{kind}_scale_correction": factor}
            corrected.append(replace(model, **field_of_kind))
        held_out_models = tuple(corrected)
        corrections[kind] = _add_spread(joint_correction, held_out_models, kind)
    return held_out_models, corrections


def _add_spread(
    correction: ScaleCorrection, held_out_models: Sequence[HeldOut], kind: str
) -> ScaleCorrection:
    """Return the correction with its fields `spread` and `human_se` filled.

    The spread is estimated from the models with a residual and an error.

    Args:
        correction: the correction, whose spread is 0 so far.
        held_out_models: the models with ratings corrected by their own factors.
        kind: `hard` or `soft`.
    """
    scored = []
    for model in held_out_models:
        if model.residual(kind) is not None and model.error(kind, None) is not None:
            scored.append(model)
    residual = np.array([model.residual(kind) for model in scored], dtype=np.float64)
    variance = np.array([model.error(kind, correction) for model in scored], dtype=np.float64) ** 2
    human_se = [model.human_se for model in held_out_models if model.human_se is not None]
    median_se = float(np.median(human_se)) if human_se else None
    return replace(correction, spread=estimate_spread(residual, variance), human_se=median_se)
