"""How much the order of responses decides verdicts, of each judge and of all together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from podium.check_kinds import CHECKS
from podium.data.battles import Battles
from podium.data.counting.relations import UNNAMED_JUDGE
from podium.data.counting.verdicts import FirstShown
from podium.diagnosis.clustered import Clustered, two_sided_p
from podium.diagnosis.figures import Figured, Statistic
from podium.diagnosis.subject import first_shown
from podium.rankers.fit.coded import cluster_codes

MOST_JUDGES = 20
"""Largest number of judges with which each judge is tested.

More judges have few pairs each, and are tested together only.
"""
BOTH_ORDERS = "show each pair in both orders"
"""Remedy if no pair was read in both orders."""
MOST_BY_ORDER = CHECKS["order decides"].threshold
"""Largest |win rate of the response shown first - 0.5| at which the order does not decide."""


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """The win rate of the response shown first.

    It is over pairs read in both orders (`order_effects`), or over decided verdicts of a judge that
    read no pair in both orders (`effects_in_one_order`).

    Attributes:
        judge: name of the judge; None if the battles have one judge only, and for several judges
            together.
        rate: win rate of the response shown first, with an interval clustered by item.
        p: two-sided p-value of the hypothesis that the win rate is 0.5.
        flip: share of order pairs in which a different model wins in each order; pairs with a tie
            count in the denominator. It is 0 for single orders.
        is_single: whether the judge read single orders only; only `effects_in_slices` sets
            it.
    """

    judge: str | None
    rate: Figured
    p: float
    flip: float
    is_single: bool = False

    @property
    def lean(self) -> float:
        """The win rate of the response shown first, minus 0.5.

        The number is above 0 if the response shown first is favoured, and 0 if the rate is unknown.
        """
        return self.rate.value - 0.5 if isinstance(self.rate, Statistic) else 0.0

    @property
    def is_open(self) -> bool:
        """Whether the data are too few to say if the order has no effect or decides the verdicts.

        The interval then contains 0.5 and a rate at which the order decides. Also True if the rate
        or its interval is unknown.
        """
        return is_order_effect_open(self.rate)


def is_order_effect_open(rate: Figured) -> bool:
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


def order_effects(battles: Battles, level: float = 0.95) -> list[OrderEffect]:
    """Measure the effect of the order of responses on the verdicts of each judge.

    Args:
        battles: the battles.
        level: confidence level of the intervals.

    Returns:
        The effects, sorted by judge. If several judges read pairs in both orders, the effect on
        these together comes last; it is the only one if there are more than 20. If the battles have
        one judge, its effect does not name it. The list is empty if no pair was read in both
        orders.
    """
    return _measure_effects(battles, battles.first_shown(), level)


def effects_in_one_order(battles: Battles, level: float = 0.95) -> list[OrderEffect]:
    """Measure how often the response shown first wins, for judges that read single orders only.

    The win rate is over decided verdicts with a known order. It also depends on which model was
    shown first. If the battles are a part of others, all verdicts of their judges count.

    Args:
        battles: the battles.
        level: confidence level of the intervals.

    Returns:
        The effects, as `order_effects` returns them. Judges that read a pair in both orders are
        left out. The list is empty if no other judge has a decided verdict with a known order.
    """
    judges = _judges_of_single_orders(battles)
    if not judges:
        return []
    return _measure_effects(battles, _decided_verdicts(battles, judges), level)


def reads_single_orders(battles: Battles) -> bool:
    """Return whether orders are recorded, and a judge has no pair with two parsed verdicts.

    The battles then have a column `order`, and a judge without a pair that has a parsed verdict in
    each order. Verdicts that were merged before are of this kind, too.
    """
    return "order" in battles.columns and bool(_judges_of_single_orders(battles))


def _judges_of_single_orders(battles: Battles) -> set[str]:
    """Return the names of the judges that read no pair in both orders.

    As in `Battles.first_shown`, the name is empty for rows without a judge.
    """
    judges = {"" if judge == UNNAMED_JUDGE else judge for judge in battles.judges}
    if not judges:
        judges = {""}
    return judges - battles.first_shown().keys()


def _decided_verdicts(battles: Battles, judges: set[str]) -> dict[str, FirstShown]:
    """Return how often the response shown first won, by judge, over decided verdicts.

    Verdicts merged from two orders and verdicts of unknown order are left out; flips are 0.

    Args:
        battles: the battles. If they are a part of others, all verdicts of the judges count.
        judges: names of the judges; empty for rows without a judge. A judge without a decided
            verdict is left out of the result.

    Returns:
        A row per verdict, not yet summed by cluster, by name of the judge.
    """
    whole = battles.whole or battles
    _, outcome, _, is_known = first_shown(whole)
    is_decided = is_known & (outcome != 0.5)
    judge_of_verdict = np.full(len(whole), "", dtype=object)
    if len(whole.judges) == 1:
        judge_of_verdict[:] = next(iter(judges))
    elif len(whole.judges) > 1:
        names = whole.rows.texts_of("judge")
        judge_of_verdict = np.array([name or "" for name in names], dtype=object)
    cluster = cluster_codes(whole)
    verdicts = {}
    for judge in judges.intersection(judge_of_verdict[is_decided].tolist()):
        rows = is_decided & (judge_of_verdict == judge)
        won = (outcome[rows] > 0.5).astype(float)
        ones = np.ones(len(won))
        verdicts[judge] = FirstShown(
            cluster=cluster[rows], won=won, number=ones, flips=np.zeros(len(won))
        )
    return verdicts


def _measure_effects(
    battles: Battles, verdicts_by_judge: Mapping[str, FirstShown], level: float
) -> list[OrderEffect]:
    """Measure the effect of the order on each judge, and on several judges together.

    Args:
        battles: the battles of all judges.
        verdicts_by_judge: the verdicts of some of the judges, by name.
        level: confidence level of the intervals.

    Returns:
        The effects, as `order_effects` returns them; empty without judges.
    """
    if not verdicts_by_judge:
        return []
    unit = battles.unit
    effect_of_all = measure_effect(
        None, verdicts_of_judges=[*verdicts_by_judge.values()], unit=unit, level=level
    )
    if len(verdicts_by_judge) > MOST_JUDGES or len(battles.judges) < 2:
        return [effect_of_all]
    effects = []
    for judge, verdicts in sorted(verdicts_by_judge.items()):
        effects.append(
            measure_effect(
                judge or UNNAMED_JUDGE, verdicts_of_judges=[verdicts], unit=unit, level=level
            )
        )
    return [*effects, effect_of_all] if len(verdicts_by_judge) > 1 else effects


def measure_effect(
    judge: str | None, verdicts_of_judges: Sequence[FirstShown], unit: str, level: float
) -> OrderEffect:
    """Measure the effect of the order over the verdicts of some judges together.

    The interval and the p-value are clustered by item, or by group of items.

    Args:
        judge: name of the judge; None for several judges, or for the only one.
        verdicts_of_judges: the verdicts of each judge, summed by cluster or not; at least one
            verdict in all.
        unit: what a cluster is.
        level: confidence level of the interval.

    Returns:
        The effect, whose `is_single` is False.
    """
    cluster, wins, verdicts, flips = (
        np.concatenate(values) for values in zip(*verdicts_of_judges, strict=True)
    )
    sample = Clustered(cluster, unit, level)
    # Each array has a value per cluster, over all judges, from here on.
    wins = sample.sums(wins)
    verdicts = sample.sums(verdicts)
    # Each cluster is now one row.
    sample_of_sums = Clustered(np.arange(len(wins)), unit, level)
    rate = sample_of_sums.share(wins, cells=verdicts)
    verdict_count = verdicts.sum()
    win_rate = float(wins.sum() / verdict_count)
    p = two_sided_p(win_rate - 0.5, (wins - win_rate * verdicts) / verdict_count)
    pairs = verdict_count / 2
    return OrderEffect(judge, rate, p, float(flips.sum() / pairs))
