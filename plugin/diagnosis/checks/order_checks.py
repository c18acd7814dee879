"""Checks of the order of the responses: whether it decides verdicts, or biases them."""

from typing import Any

from podium.checks import CHECKS, Check, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.card_sections import ERROR_RATE, CardSections
from podium.diagnosis.checks.effects import MORE_BATTLES, facts_of, side_of
from podium.diagnosis.figures import Missing, Statistic
from podium.diagnosis.order_effect import OrderEffect, may_decide_nothing_or_all, order_effects

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

    Only pairs that were read in both orders count.

    Returns:
        The check `order decides` if the order outweighs the responses, else `position`, which is
        not known without pairs in both orders or with too few of them. The p-value is adjusted for
        several judges, but not yet with other checks. Empty if the judge saw single responses, or
        if no battle is readable.
    """
    if not battles.tally.judged or not sees_both_responses(battles):
        return ()
    effects = order_effects(battles)
    if effects:
        return (_check_effects(effects, several=len(battles.judges) > 1),)
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
        return _unknown_effect(undecided[0])
    deciding = [effect for effect in large if abs(effect.lean) > DECIDES]
    worst = min(deciding or large or effects, key=lambda effect: effect.p)
    facts = _facts_of_order(worst.rate, worst.flip, worst.judge, several)
    p = min(1.0, worst.p * len(effects))
    if deciding:
        return make_check("order decides", True, p=p, **facts)
    return make_check("position", bool(large), p=p, **facts)


def _unknown_effect(effect: OrderEffect) -> Check:
    """Return that there are too few pairs to know the effect of the order on a judge."""
    whose = f" of {effect.judge}" if effect.judge else ""
    rate = f"the response shown first has a win rate of {effect.rate.brief}"
    return not_known("position", f"too few pairs{whose} in both orders: {rate}")


def _facts_of_order(rate: Any, flip: float, judge: str | None, several: bool) -> dict[str, Any]:
    """Return the arguments `number`, `interval` and `fields` of `make_check` for the order.

    Number and interval are the win rate minus 0.5.

    Args:
        rate: win rate of the response shown first, a `Statistic`.
        flip: share of pairs in which a different model wins in each order.
        judge: name of the judge; None for the only judge, and for all judges together.
        several: whether several judges decided the battles.
    """
    who = "this judge"
    verdicts = "verdicts"
    if judge:
        who = f"the judge {judge}"
        verdicts = f"the verdicts of {judge}"
    elif several:
        who = "the judges together"
    fields = {"first": rate.estimate, "flip": flip, "judges": who, "verdicts": verdicts}
    return _relative_to_half(facts_of(rate, **fields))


def _relative_to_half(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a win rate with 0.5 subtracted from number and interval."""
    interval = facts["interval"]
    if interval is not None:
        low, high = interval
        interval = (low - 0.5, high - 0.5)
    return {**facts, "number": facts["number"] - 0.5, "interval": interval}


def position_of_card(card: CardSections) -> tuple[Check, ...]:
    """Check by a judge's card whether the order of the responses decides or biases its verdicts.

    Returns:
        `order decides` or `position`, or `one order` if no pair was read in both orders. A check is
        flagged if the interval excludes 0.5 and, except for `one order`, the win rate is above the
        threshold. Empty if the judge saw single responses, and for the card of a metric.
    """
    if not card.has_judge or not sees_both_responses(card.battles):
        return ()
    section = card.answers["position"]
    if isinstance(section, Missing):
        return (not_known("position", section.why, section.remedy),)
    rate = section.first_win_rate
    if isinstance(rate, Missing):
        return (_check_one_order(section.prefers_first),)
    flip = section.swaps.all.flip.value
    facts = _facts_of_order(rate, flip, None, several=False)
    lean = abs(rate.value - 0.5)
    if side_of(rate, 0.5) and lean > BIASES:
        name = "order decides" if lean > DECIDES else "position"
        return (make_check(name, True, **facts),)
    return (_check_lean(rate, facts),)


def _check_lean(rate: Statistic, facts: dict[str, Any]) -> Check:
    """Return the check of a win rate that does not show a bias: ok, or not known.

    It is not known if the interval contains both no effect and a deciding effect.
    """
    if may_decide_nothing_or_all(rate):
        return not_known("position", "the order may decide nothing, or all", MORE_BATTLES, **facts)
    return make_check("position", False, **facts)


def _check_one_order(prefers_first: Any) -> Check:
    """Check the win rate of the response shown first if no pair was read in both orders.

    It is flagged if its interval excludes 0.5, and not known if it is missing, or if the interval
    contains both no effect and a deciding one.

    Args:
        prefers_first: the win rate, a `Statistic`, or `Missing`.
    """
    name = "one order"
    if isinstance(prefers_first, Missing):
        return not_known(name, prefers_first.why, prefers_first.remedy)
    facts = _relative_to_half(facts_of(prefers_first))
    if side_of(prefers_first, 0.5):
        return make_check(name, True, **facts)
    if may_decide_nothing_or_all(prefers_first):
        return not_known(name, "the order may decide nothing, or all", MORE_BATTLES, **facts)
    return make_check(name, False, **facts)
