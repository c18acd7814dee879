"""How much the order of responses decides verdicts, of each judge and of all together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.checks import CHECKS
from podium.data.battles import Battles
from podium.data.counting.verdicts import FirstShown
from podium.diagnosis.clustered import Clustered, two_sided_p
from podium.diagnosis.figures import Figured, Statistic

MOST_JUDGES = 20
"""Largest number of judges with which each judge is tested.

More judges have few pairs each, and are tested together only.
"""
MOST_BY_ORDER = CHECKS["order decides"].threshold
"""Largest |win rate of the response shown first - 0.5| at which the order does not decide."""


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """The win rate of the response shown first, over pairs read in both orders.

    Attributes:
        judge: name of the judge; None if there is only one judge, and for all judges together.
        rate: win rate of the response shown first, with an interval clustered by item.
        p: two-sided p-value of the hypothesis that the win rate is 0.5.
        flip: share of pairs in which a different model wins in each order; ties are in the
            denominator.
    """

    judge: str | None
    rate: Figured
    p: float
    flip: float

    @property
    def lean(self) -> float:
        """The win rate of the response shown first, minus 0.5; 0 if the rate is unknown."""
        return self.rate.value - 0.5 if isinstance(self.rate, Statistic) else 0.0

    @property
    def is_open(self) -> bool:
        """Whether the data are too few to say if the order has no effect or decides the verdicts.

        The interval then contains both effects. Also True if the rate or its interval is unknown.
        """
        return may_decide_nothing_or_all(self.rate)


def may_decide_nothing_or_all(rate: Figured) -> bool:
    """Return whether an interval contains both no effect of the order and a deciding effect.

    Args:
        rate: win rate of the response shown first. The order has no effect at 0.5, and decides
            at more than `MOST_BY_ORDER` above or below.

    Returns:
        True also if the rate or its interval is unknown.
    """
    if not isinstance(rate, Statistic) or rate.low is None or rate.high is None:
        return True
    may_have_no_effect = rate.low <= 0.5 <= rate.high
    may_decide = rate.low < 0.5 - MOST_BY_ORDER or rate.high > 0.5 + MOST_BY_ORDER
    return may_have_no_effect and may_decide


def order_effects(battles: Battles) -> list[OrderEffect]:
    """Measure the effect of the order of responses on the verdicts of each judge.

    Returns:
        The effects, sorted by judge. If there are several judges, the effect on all judges
        together comes last; it is the only one if there are more than 20. If there is one judge,
        its effect does not name it. The list is empty if no pair was read in both orders.
    """
    shown = battles.first_shown()
    if not shown:
        return []
    unit = battles.unit
    together = _measure_effect(None, [*shown.values()], unit)
    if len(shown) == 1 or len(shown) > MOST_JUDGES:
        return [together]
    effects = []
    for judge, verdicts in sorted(shown.items()):
        effects.append(_measure_effect(judge, [verdicts], unit))
    return [*effects, together]


def _measure_effect(judge: str | None, shown: Sequence[FirstShown], unit: str) -> OrderEffect:
    """Measure the effect of the order over the verdicts of some judges, clustered by item or group.

    Args:
        judge: name of the judge; None for several judges, or for the only one.
        shown: the verdicts of each judge, summed by cluster.
        unit: what a cluster is.
    """
    cluster, wins, verdicts, flips = (np.concatenate(values) for values in zip(*shown, strict=True))
    sample = Clustered(cluster, unit)
    # Each array has a value per cluster from here on.
    wins = sample.sums(wins)
    verdicts = sample.sums(verdicts)
    rate = Clustered(np.arange(len(wins)), unit).share(wins, cells=verdicts)
    verdict_count = verdicts.sum()
    win_rate = float(wins.sum() / verdict_count)
    p = two_sided_p(win_rate - 0.5, (wins - win_rate * verdicts) / verdict_count)
    pairs = verdict_count / 2
    return OrderEffect(judge, rate, p, float(flips.sum() / pairs))
