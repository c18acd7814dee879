"""Checks of the order of the responses: whether it decides verdicts, or biases them."""

from typing import Any

from podium.checks import CHECKS, Check, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.card_sections import ERROR_RATE, CardSections
from podium.diagnosis.checks.effects import MORE_BATTLES, facts_of
from podium.diagnosis.checks.size_limits import MOST_BATTLES, TOO_MANY
from podium.diagnosis.consistency import BOTH_ORDERS
from podium.diagnosis.figures import Missing, Statistic
from podium.diagnosis.order_effect import (
    OrderEffect,
    effects_in_one_order,
    order_effects,
    reads_single_orders,
)

BIASES = CHECKS["position"].threshold
"""|win rate of the response shown first - 0.5| above which the order biases verdicts."""
DECIDES = CHECKS["order decides"].threshold
"""|win rate of the response shown first - 0.5| above which the order decides verdicts."""


def sees_both_responses(battles: Battles) -> bool:
    """Return whether the judge saw both responses at once, so that one was shown first.

    It did not if the battles have scores of each response and no record of both orders.
    """
    return "score_a" not in battles.columns or battles.swaps() is not None


def check_position(battles: Battles) -> tuple[Check, ...]:
    """Test for each judge whether the response shown first wins more or less than half.

    Of a judge that read pairs in both orders, only these pairs count. Of another judge, the decided
    verdicts with a known order count.

    Returns:
        The check `order decides` if the order outweighs the responses, else `position`, which is
        not known without pairs in both orders or with too few of them. It is replaced or followed
        by `one order` if there are judges that read single orders only. P-values are adjusted for
        several judges, but not yet with other checks. Empty if the judge saw single responses, or
        if no battle is readable.
    """
    return _check_orders(battles, most=MOST_BATTLES)


def _check_orders(
    battles: Battles, *, most: int | None = None, level: float = 0.95
) -> tuple[Check, ...]:
    """Make the checks of `check_position`.

    Args:
        battles: the battles.
        most: with more battles, `one order` is not known; None to make it always.
        level: confidence level of the intervals.
    """
    if not battles.tally.judged or not sees_both_responses(battles):
        return ()
    several = len(battles.judges) > 1
    checks = []
    effects = order_effects(battles, level)
    if effects:
        checks.append(_check_effects(effects, several=several))
    if most is not None and len(battles.whole or battles) > most:
        if not checks:
            return (not_known("position", TOO_MANY),)
        if reads_single_orders(battles):
            checks.append(not_known("one order", TOO_MANY))
        return tuple(checks)
    single = effects_in_one_order(battles, level)
    if single:
        checks.append(_check_one_order(single))
    if checks:
        return tuple(checks)
    merged = battles.swaps() is not None
    reason = "the orders are merged already" if merged else "no pair in both orders"
    return (not_known("position", reason),)


def _check_effects(effects: list[OrderEffect], *, several: bool) -> Check:
    """Test the effects of the order, as measured by `order_effects`, at 5% over all of them.

    Args:
        effects: the effects on judges; not empty.
        several: whether several judges decided the battles.

    Returns:
        The check of the judge with the smallest p-value among those whose verdicts the order
        decides, else among those that it biases, else among all. If the order biases none and there
        are too few pairs of some judge, the check is not known.
    """
    # The smallest of several p-values times their number is the first step of Holm's rule.
    significant = [effect for effect in effects if effect.p * len(effects) <= ERROR_RATE]
    large = [effect for effect in significant if abs(effect.lean) > BIASES]
    undecided = [effect for effect in effects if effect.is_open]
    if not large and undecided:
        return _unknown_effect(undecided[0], several)
    deciding = [effect for effect in large if abs(effect.lean) > DECIDES]
    worst = min(deciding or large or effects, key=lambda effect: effect.p)
    facts = _facts_of_order(worst, several)
    p = min(1.0, worst.p * len(effects))
    if deciding:
        return make_check("order decides", True, p=p, **facts)
    return make_check("position", bool(large), p=p, **facts)


def _unknown_effect(effect: OrderEffect, several: bool) -> Check:
    """Return that there are too few pairs to know the effect of the order on a judge."""
    whose = f" of {effect.judge}" if effect.judge else ""
    if not isinstance(effect.rate, Statistic):
        return not_known("position", f"too few pairs{whose} in both orders", MORE_BATTLES)
    rate = f"the response shown first has a win rate of {effect.rate.brief}"
    reason = f"too few pairs{whose} in both orders: {rate}"
    return not_known("position", reason, MORE_BATTLES, **_facts_of_order(effect, several))


def _check_one_order(effects: list[OrderEffect]) -> Check:
    """Test the win rates of the response shown first, as measured by `effects_in_one_order`.

    Args:
        effects: the win rates by judge; not empty.

    Returns:
        The check of the judge with the smallest p-value, flagged if this is at most 5% over all
        judges. If it is not, and there are too few verdicts of some judge, the check is not known.
    """
    worst = min(effects, key=lambda effect: effect.p)
    p = min(1.0, worst.p * len(effects))
    is_flagged = p <= ERROR_RATE
    undecided = [] if is_flagged else [effect for effect in effects if effect.is_open]
    shown = undecided[0] if undecided else worst
    if not isinstance(shown.rate, Statistic):
        return not_known("one order", "too few decided verdicts", BOTH_ORDERS)
    verdicts = "decided verdicts"
    pairs = "no pair was read"
    if shown.judge:
        verdicts = f"the decided verdicts of {shown.judge}"
        pairs = f"{shown.judge} read no pair"
    facts = _relative_to_half(facts_of(shown.rate, verdicts=verdicts, pairs=pairs))
    if undecided:
        reason = "the order may decide nothing, or all"
        return not_known("one order", reason, BOTH_ORDERS, **facts)
    return make_check("one order", is_flagged, p=p, **facts)


def _facts_of_order(effect: OrderEffect, several: bool) -> dict[str, Any]:
    """Return the arguments `number`, `interval` and `fields` of `make_check` for the order.

    Number and interval are the win rate of the response shown first, minus 0.5.

    Args:
        effect: the effect on one judge, or on all judges together. Its rate is known.
        several: whether several judges decided the battles.
    """
    who = "this judge"
    verdicts = "verdicts"
    if effect.judge:
        who = f"the judge {effect.judge}"
        verdicts = f"the verdicts of {effect.judge}"
    elif several:
        who = "the judges together"
    rate: Any = effect.rate
    fields = {"first": rate.estimate, "flip": effect.flip, "judges": who, "verdicts": verdicts}
    return _relative_to_half(facts_of(rate, **fields))


def _relative_to_half(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a win rate with 0.5 subtracted from number and interval."""
    interval = facts["interval"]
    if interval is not None:
        low, high = interval
        interval = (low - 0.5, high - 0.5)
    return {**facts, "number": facts["number"] - 0.5, "interval": interval}


def position_of_card(card: CardSections) -> tuple[Check, ...]:
    """Make the checks of `check_position` for the battles of a judge's card.

    Returns:
        The checks, with intervals at the card's level. If no verdict has a known order, the reason
        is that of the section. Empty if the judge saw single responses, and for the card of a
        metric.
    """
    if not card.has_judge or not sees_both_responses(card.battles):
        return ()
    section = card.answers["position"]
    if isinstance(section, Missing):
        return (not_known("position", section.why, section.remedy),)
    return _check_orders(card.battles, level=section.first_wins.level)
