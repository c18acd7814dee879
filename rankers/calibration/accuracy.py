"""How held-out judge ratings meet human ones, with intervals over models, and what sets two targets apart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import stdtrit

from podium.nouns.calibration import Accuracy, HeldOut
from podium.rankers.intervals import mean_interval, t_quantile

Ends = tuple[float, float]
MEAN_OF_NORMAL = np.sqrt(2 / np.pi)
"""Mean absolute value of a normal error, in its standard deviations."""
FEWEST_RANKED = 5
"""Models from which on a rank correlation has an interval: the variance of Kendall's is 0.437 / (n - 4)."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a target errs and orders beyond another, over the models that both rate; None where there is nothing.

    Each is the difference and the ends of its interval.
    """

    mae: tuple[float, Ends | None] | None
    spearman: tuple[float, Ends | None] | None
    kendall: tuple[float, Ends | None] | None


def measure_accuracy(held: Sequence[HeldOut], kind: str, level: float) -> Accuracy:
    """Compare ratings of a kind with human ratings.

    The error's interval is t on the logarithm; those of correlations are t on Fisher's z, with the variances
    (1 + r^2 / 2) / (n - 3) of Spearman's (Bonett and Wright 2000) and 0.437 / (n - 4) of Kendall's (Fieller 1957).

    Args:
        kind: `hard` or `soft`.
        level: of intervals, in (0, 1).
    """
    judge, human = _ratings(held, kind)
    number = len(judge)
    if number < 2:
        return Accuracy(number, None, None, None)
    error = np.abs(judge - human)
    mae, low, _ = mean_interval(error, level)
    ends = None
    if mae > 0 and low is not None:
        factor = np.exp((mae - low) / mae)
        ends = (float(mae / factor), float(mae * factor))
    rho, tau = (rule(judge, human) for rule in (spearman, kendall))
    human_se = [model.human_se for model in held if model.human_se is not None]
    return Accuracy(
        n=number,
        mae=mae,
        spearman=rho,
        kendall=tau,
        mae_interval=ends,
        spearman_interval=_correlation_interval(rho, number, 3, lambda r: 1 + r**2 / 2, level),
        kendall_interval=_correlation_interval(tau, number, 4, lambda _: 0.437, level),
        level=level,
        slope=float(np.polyfit(judge, human, 1)[0]) if number > 2 and np.ptp(judge) > 0 else None,
        floor=float(MEAN_OF_NORMAL * np.mean(human_se)) if human_se else None,
    )


def spearman(judge: np.ndarray, human: np.ndarray) -> float | None:
    """Return Spearman's rank correlation; None where one side is level."""
    return float(stats.spearmanr(judge, human).statistic) if _differ(judge, human) else None


def kendall(judge: np.ndarray, human: np.ndarray) -> float | None:
    """Return Kendall's tau-b; None where one side is level."""
    return float(stats.kendalltau(judge, human).statistic) if _differ(judge, human) else None


def compare_accuracy(
    ours_held: Sequence[HeldOut],
    theirs_held: Sequence[HeldOut],
    level: float,
    kind: str = "soft",
    their_kind: str = "soft",
) -> Difference:
    """Say what some ratings err beyond others: paired t; correlations by the jackknife.

    Args:
        level: of intervals, in (0, 1).
        kind, their_kind: `hard` or `soft`.
    """
    beside = {held.model: held for held in theirs_held if held.residual(their_kind) is not None}
    both = [held for held in ours_held if held.residual(kind) is not None and held.model in beside]
    if len(both) < 2:
        return Difference(None, None, None)
    ours, human = _ratings(both, kind)
    theirs, also_human = _ratings([beside[held.model] for held in both], their_kind)
    surplus, low, high = mean_interval(np.abs(ours - human) - np.abs(theirs - also_human), level)
    ends = None if low is None or high is None else (low, high)
    sides = (ours, human, theirs, also_human)
    return Difference((surplus, ends), *(_jackknife(rule, sides, level) for rule in (spearman, kendall)))


def _jackknife(
    rule: Callable[[np.ndarray, np.ndarray], float | None], sides: Sequence[np.ndarray], level: float
) -> tuple[float, Ends | None] | None:
    def gap(kept: np.ndarray | slice) -> float:
        ours, theirs = rule(sides[0][kept], sides[1][kept]), rule(sides[2][kept], sides[3][kept])
        return np.nan if ours is None or theirs is None else ours - theirs

    number, value = len(sides[0]), gap(slice(None))
    if np.isnan(value):
        return None
    left = np.array([gap(np.arange(number) != k) for k in range(number)])
    if number < FEWEST_RANKED or np.isnan(left).any():
        return value, None
    reach = float(t_quantile(number, level) * (number - 1) * np.std(left, ddof=1) / np.sqrt(number))
    return value, (max(-2.0, value - reach), min(2.0, value + reach))


def _correlation_interval(
    value: float | None, number: int, lost: int, variance: Callable[[float], float], level: float
) -> Ends | None:
    if value is None or number < FEWEST_RANKED:
        return None
    # Of few models, complete agreement is no more than the nearest that could be told from it.
    inside = float(np.clip(value, 1 / (2 * number) - 1, 1 - 1 / (2 * number)))
    reach = stdtrit(number - 2, (1 + level) / 2) * np.sqrt(variance(inside) / (number - lost))
    low, high = np.tanh(np.arctanh(inside) + np.array([-reach, reach])).tolist()
    return min(low, value), max(high, value)


def mean_absolute_error(held: Sequence[HeldOut], kind: str) -> float | None:
    """Return the mean absolute residual, Elo points; None for fewer than two.

    Args:
        kind: `hard` or `soft`.
    """
    judge, human = _ratings(held, kind)
    return float(np.abs(judge - human).mean()) if len(judge) > 1 else None


def _ratings(held: Sequence[HeldOut], kind: str) -> tuple[np.ndarray, np.ndarray]:
    known = [model for model in held if model.residual(kind) is not None]
    judge = [model.rating(kind) for model in known]
    return np.array(judge, dtype=np.float64), np.array([model.human_elo for model in known], dtype=np.float64)


def _differ(judge: np.ndarray, human: np.ndarray) -> bool:
    return min(len(np.unique(judge)), len(np.unique(human))) > 1
