"""Targets: maps from a judge's signal to the probability of a human preference."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from podium.check_kinds import CHECKS
from podium.distributions import logit
from podium.errors import NotIdentifiedError, UsageError
from podium.notices.notice import Notice
from podium.rankers.calibration.calibration import Agreement, Target
from podium.rankers.calibration.evidence import Evidence
from podium.rankers.calibration.signals import Kind, Signal, beta_direction
from podium.rankers.errors.intervals import t_quantile
from podium.wording import quantity

WEAK_SIGNAL = 0.35
"""If beta times the mean |margin| is below this, a warning says that the signal is weak. In the
paper of Soft-Elo it is 0.2 where the method fails, and 0.4 to 1 elsewhere."""
FLAT_AUC = 0.56
"""If the area under the curve of |margin| for agreement is significantly below this, a warning
says that |margin| does not predict agreement usefully."""
QUANTILE_95 = 1.645
"""The normal quantile of 0.95."""


def fit_target(evidence: Evidence, level: float) -> Target:
    """Fit the map to human preferences (Soft-Elo, equation 6).

    Args:
        evidence: battles with signals and human labels.
        level: confidence level of beta's interval, in (0, 1).

    Returns:
        The map. Interval and covariance are None if all preferences are in a single cluster.

    Raises:
        NotIdentifiedError: beta is not above 0.
        UnknownScaleError: there is no human preference, or the preferences do not bound the map.
        NotConvergedError: the fit did not reach its maximum.
    """
    weights, covariance, clusters = evidence.fit_with_covariance()
    signal = evidence.signal
    direction = beta_direction(signal.kind, weights)
    preferences = int(evidence.has_preference.sum())
    beta = float(direction @ weights)
    if beta <= 0:
        raise NotIdentifiedError(
            f"humans prefer the response that the judge likes less (beta = {beta:.3g} on "
            f"{quantity(preferences, 'human preference')}): the signal says nothing, or its sign "
            "is reversed (margin is the judge's score of model_a minus that of model_b)"
        )
    beta_variance = direction @ covariance @ direction
    half_width = t_quantile(clusters, level) * float(np.sqrt(beta_variance))
    target = Target(
        kind=signal.kind,
        weights=dict(zip(signal.names, map(float, weights), strict=True)),
        beta=beta,
        low=None,
        high=None,
        level=None,
        covariance=None,
        battles=preferences,
        ridge=signal.ridge,
    )
    if not np.isfinite(half_width):
        return target
    return replace(
        target,
        low=beta - half_width,
        high=beta + half_width,
        level=level,
        covariance=tuple(tuple(map(float, row)) for row in covariance),
    )


def few_items_warnings(evidence: Evidence) -> Iterator[Notice]:
    """Yield a warning if the human preferences are from fewer items than the check needs.

    The check is `items of beta`. Groups are counted in place of items if items have groups.
    """
    check = CHECKS["items of beta"]
    items = len(np.unique(evidence.cluster[evidence.has_preference]))
    if items < check.threshold:
        preferences = int(evidence.has_preference.sum())
        fields = {"items": items, "unit": evidence.unit, "preferences": preferences}
        yield Notice(check.code, fields)


def build_given_target(kind: Kind, beta: float | None, constant: float | None) -> Target | None:
    """Build the map that options give, taken as exact.

    The target `credit` needs no option. The map of another target is None, and has to be fitted,
    if neither `beta` nor `constant` is given.

    Args:
        kind: the target.
        beta: logits per unit of margin, above 0; for `margin` only.
        constant: credit of a win, in (0.5, 1); for `smoothing` only, and not together with `beta`.

    Raises:
        UsageError: an option does not belong to the target, or is out of range.
    """
    if kind == "credit":
        if beta is not None or constant is not None:
            raise UsageError(
                "beta and constant soften other targets; soft credits (target=credit) are taken "
                "as they are"
            )
        return Target(kind="credit", weights={"credit": 1.0}, beta=1.0)
    if constant is not None:
        if kind != "smoothing" or beta is not None:
            raise UsageError(
                "constant is the credit of a win under target=smoothing, and stands alone"
            )
        if not 0.5 < constant < 1:
            raise UsageError(
                f"constant={constant:g}: the credit of a win under label smoothing lies between "
                "0.5 and 1"
            )
        weight = float(logit(constant))
        return Target(kind="smoothing", weights={"verdict": weight}, beta=weight)
    if beta is None:
        return None
    if kind != "margin" or not 0 < beta < np.inf:
        raise UsageError(
            f"beta={beta}: a number above 0, logits per unit of margin, for target=margin only"
        )
    return Target(kind="margin", weights={"margin": float(beta)}, beta=float(beta))


def order_weights(target: Target, signal: Signal) -> np.ndarray:
    """Return the weights of the map in the order of a signal's features, shape (features,).

    Raises:
        NotIdentifiedError: the signal has other features.
    """
    if set(target.weights) != set(signal.names):
        raise NotIdentifiedError(
            f"the calibration weighs {', '.join(target.weights)}, and the battles have "
            f"{', '.join(signal.names)}: another judge or another rubric"
        )
    return np.array([target.weights[name] for name in signal.names])


def order_covariance(target: Target, signal: Signal) -> np.ndarray:
    """Return the covariance of the weights in the order of a signal's features.

    It has shape (features, features), and is zero if the target has no covariance, as with given
    weights. The signal must have the features of the target.
    """
    if target.covariance is None:
        return np.zeros((len(target.weights), len(target.weights)))
    order = [list(target.weights).index(name) for name in signal.names]
    return np.array(target.covariance)[np.ix_(order, order)]


def held_out_log_loss(evidence: Evidence, fold_weights: np.ndarray) -> float | None:
    """Return the weighted mean log loss, -log p, of human preferences predicted by held-out maps.

    Each preference is predicted twice: by the map fitted without the first model, and by the map
    fitted without the second model.

    Args:
        evidence: battles with human labels.
        fold_weights: weights of the map fitted without each model, NaN if there is none, shape
            (models, features).

    Returns:
        The mean; None if there is no prediction.
    """
    is_used = evidence.has_preference
    x = evidence.signal.x[is_used]
    human = evidence.human[is_used]
    weight = evidence.weight[is_used]
    total_loss = 0.0
    total_weight = 0.0
    for held_out_model in (evidence.first[is_used], evidence.second[is_used]):
        logits = np.sum(x * fold_weights[held_out_model], axis=1)
        is_predicted = ~np.isnan(logits)
        known_logits = logits[is_predicted]
        loss = np.logaddexp(0, known_logits) - human[is_predicted] * known_logits
        total_loss += float(np.sum(weight[is_predicted] * loss))
        total_weight += float(weight[is_predicted].sum())
    return total_loss / total_weight if total_weight else None


def soften_verdicts(target: Target, signal: Signal) -> np.ndarray:
    """Return the soft credit of a in every battle, shape (battles,); NaN if it has no signal.

    Raises:
        NotIdentifiedError: the map weighs other features than the signal has.
    """
    return signal.predict(order_weights(target, signal))


def weak_signal_warnings(
    target: Target, agreement: Agreement, *, of_file: bool = False
) -> Iterator[Notice]:
    """Yield warnings of a weak signal (Soft-Elo, appendix D.2).

    There is one warning if the interval of beta reaches 0, one if beta times the mean |margin| is
    below `WEAK_SIGNAL`, and one if the area under the curve of |margin| for agreement with humans
    is 0.5 or less, or significantly below `FLAT_AUC`. The second and the third are not given for
    the targets `smoothing` and `credit`, nor without margins; the third needs a known area.
    `of_file` says that the figures come from a calibration file.
    """
    origin = {"of_file": of_file}
    if target.low is not None and target.low <= 0:
        yield Notice("beta-contains-zero", {**origin, "low": target.low, "high": target.high})
    mean_margin = agreement.mean_abs_margin
    auc = agreement.auc
    p_value = agreement.auc_p
    if target.kind in ("smoothing", "credit") or mean_margin is None:
        return
    strength = target.beta * mean_margin
    if strength < WEAK_SIGNAL:
        figures = {
            "beta": target.beta,
            "size": mean_margin,
            "strength": strength,
            "weak": WEAK_SIGNAL,
        }
        yield Notice("weak-margins", {**origin, **figures})
    if auc is None:
        return
    is_flat = auc <= 0.5
    if not is_flat:
        upper_bound = auc + QUANTILE_95 * _auc_error(auc, agreement)
        is_flat = upper_bound < FLAT_AUC
    if is_flat:
        p_text = "" if p_value is None else f"p = {p_value:.2g}"
        fields = {"auc": auc, "p": p_text, "decisive": agreement.decisive}
        yield Notice("flat-agreement", {**origin, **fields})


def _auc_error(auc: float, agreement: Agreement) -> float:
    """Return the standard error of an area under the curve (Hanley and McNeil 1982).

    It is infinite unless there are both battles of agreement and battles of disagreement.
    """
    # The agreement is None without decisive battles.
    agreements = round((agreement.agreement or 0.0) * agreement.decisive)
    disagreements = agreement.decisive - agreements
    if agreements < 1 or disagreements < 1:
        return np.inf
    # Q1 and Q2 of the paper, the formula of its standard error.
    q1 = auc / (2 - auc)
    q2 = 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc)
    variance += (agreements - 1) * (q1 - auc**2)
    variance += (disagreements - 1) * (q2 - auc**2)
    return float(np.sqrt(max(variance, 0.0) / (agreements * disagreements)))
