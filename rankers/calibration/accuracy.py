"""How held-out judge ratings agree with human ones, with intervals over models, and which target
errs least."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import stdtrit

from podium.rankers.calibration.calibration import Accuracy, Calibration, HeldOut
from podium.rankers.errors.intervals import mean_interval, t_quantile
from podium.rankers.estimate import Estimate

CORRELATIONS = {"spearman": stats.spearmanr, "kendall": stats.kendalltau}
MEAN_OF_NORMAL = np.sqrt(2 / np.pi)
"""Mean absolute value of a normal error, in its standard deviations."""
FEWEST_RANKED = 5
"""Models from which on a rank correlation has an interval: the variance of Kendall's is 0.437 / (n
- 4)."""


def measure_accuracy(held: Sequence[HeldOut], kind: str, level: float) -> Accuracy:
    """Return error and rank correlations of a kind's ratings with human ratings, with intervals.
    The error's interval is t on the logarithm; those of correlations are t on Fisher's z, with the
    variances (1 + r^2 / 2) / (n - 3) of Spearman's (Bonett and Wright 2000) and 0.437 / (n - 4) of
    Kendall's (Fieller 1957)."""
    judge, human = _paired_ratings(held, kind)
    number = len(judge)
    if number < 2:
        return Accuracy(None, None, None, n=number)
    mae, low, _ = mean_interval(np.abs(judge - human), level)
    factor = float(np.exp((mae - low) / mae)) if mae > 0 and low is not None else None
    rho, tau = (correlate(rule, judge, human) for rule in CORRELATIONS)
    human_se = [model.human_se for model in held if model.human_se is not None]
    return Accuracy(
        n=number,
        mae=mae,
        spearman=rho,
        kendall=tau,
        mae_interval=(mae / factor, mae * factor) if factor else None,
        spearman_interval=_correlation_interval(rho, number, 3, lambda r: 1 + r**2 / 2, level),
        kendall_interval=_correlation_interval(tau, number, 4, lambda _: 0.437, level),
        level=level,
        slope=float(np.polyfit(judge, human, 1)[0]) if number > 2 and np.ptp(judge) > 0 else None,
        floor=float(MEAN_OF_NORMAL * np.mean(human_se)) if human_se else None,
    )


def correlate(rule: str, judge: np.ndarray, human: np.ndarray) -> float | None:
    """Return `spearman` (rho) or `kendall` (tau-b) of two sides; None if all values of one side are
    equal."""
    vary = min(len(np.unique(judge)), len(np.unique(human))) > 1
    return float(CORRELATIONS[rule](judge, human).statistic) if vary else None


def compare_accuracy(
    ours_held: Sequence[HeldOut],
    theirs_held: Sequence[HeldOut],
    level: float,
    kind: str = "soft",
    their_kind: str = "soft",
) -> dict[str, Estimate]:
    """Return `mae` and correlations of our ratings minus theirs, with paired t and jackknife
    intervals over the models that both rate; without those that are unknown."""
    beside = {held.model: held for held in theirs_held if held.residual(their_kind) is not None}
    both = [held for held in ours_held if held.residual(kind) is not None and held.model in beside]
    if len(both) < 2:
        return {}
    ours, human = _paired_ratings(both, kind)
    theirs, also_human = _paired_ratings([beside[held.model] for held in both], their_kind)
    mae = Estimate(*mean_interval(np.abs(ours - human) - np.abs(theirs - also_human), level))
    sides = (ours, human, theirs, also_human)
    gaps = {"mae": mae} | {rule: _jackknife(rule, sides, level) for rule in CORRELATIONS}
    return {name: gap for name, gap in gaps.items() if gap}


class Contender(NamedTuple):
    """Held-out ratings of one kind that a calibration can give."""

    calibration: Calibration
    kind: str
    held: tuple[HeldOut, ...]
    is_scale_corrected: bool


class Choice(NamedTuple):
    """The ratings that err least over the `n` models that all rate, and differences that hold
    together (Bonferroni)."""

    best: Contender
    others: tuple[tuple[Contender, dict[str, Estimate]], ...]
    level: float
    n: int


def select_best(calibrations: Sequence[Calibration], level: float) -> Choice:
    """Select from all ratings that calibrations of the same battles give, hard and soft, plain and
    scale-corrected, those with the smallest mean error, and compare the others; no others if no
    model is in all."""
    contenders = []
    for kind, parts in (("hard", calibrations[:1]), ("soft", calibrations)):
        for calibration in parts:
            plain = tuple(model.without_scale_correction() for model in calibration.models)
            contenders.append(Contender(calibration, kind, plain, False))
            if kind in calibration.scale_correction:
                contenders.append(Contender(calibration, kind, calibration.models, True))
    errors = [
        {
            own.model: abs(residual)
            for own in each.held
            if (residual := own.residual(each.kind)) is not None
        }
        for each in contenders
    ]
    common = sorted(set.intersection(*map(set, errors)))
    if not common:
        return Choice(contenders[0], (), level, 0)
    means = [np.mean([known[name] for name in common]) for known in errors]
    best = int(np.argmin(means))
    shared, ours = 1 - (1 - level) / max(len(contenders) - 1, 1), contenders[best]
    others = contenders[:best] + contenders[best + 1 :]
    beyond = tuple(
        (each, compare_accuracy(each.held, ours.held, shared, each.kind, ours.kind))
        for each in others
    )
    return Choice(ours, beyond, level, len(common))


def _jackknife(rule: str, sides: Sequence[np.ndarray], level: float) -> Estimate | None:
    """Return the difference of the correlations of the first and of the last two sides with a
    jackknife interval."""

    def gap(kept: np.ndarray | slice) -> float:
        ours, theirs = (
            correlate(rule, judge[kept], human[kept]) for judge, human in (sides[:2], sides[2:])
        )
        return np.nan if ours is None or theirs is None else ours - theirs

    number, value = len(sides[0]), gap(slice(None))
    if np.isnan(value):
        return None
    left = np.array([gap(np.arange(number) != k) for k in range(number)])
    if number < FEWEST_RANKED or np.isnan(left).any():
        return Estimate(value)
    reach = float(t_quantile(number, level) * (number - 1) * np.std(left, ddof=1) / np.sqrt(number))
    return Estimate(value, max(-2.0, value - reach), min(2.0, value + reach))


def _correlation_interval(
    value: float | None, number: int, lost: int, variance: Callable[[float], float], level: float
) -> tuple[float, float] | None:
    """Return the t interval of a rank correlation on Fisher's z, of variance variance(r) / (number
    - lost)."""
    if value is None or number < FEWEST_RANKED:
        return None
    # Complete agreement of few models is indistinguishable from nearly complete agreement.
    inside = float(np.clip(value, 1 / (2 * number) - 1, 1 - 1 / (2 * number)))
    reach = stdtrit(number - 2, (1 + level) / 2) * np.sqrt(variance(inside) / (number - lost))
    low, high = np.tanh(np.arctanh(inside) + np.array([-reach, reach])).tolist()
    return min(low, value), max(high, value)


def _paired_ratings(held: Sequence[HeldOut], kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the judge's and the human ratings of the models with both, shape (models,) each."""
    known = [model for model in held if model.residual(kind) is not None]
    judge = [model.rating(kind) for model in known]
    return np.array(judge, dtype=np.float64), np.array(
        [model.human_elo for model in known], dtype=np.float64
    )
