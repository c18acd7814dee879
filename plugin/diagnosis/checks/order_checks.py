"""Checks of the order of the responses: whether it decides verdicts, or biases them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from podium.check_kinds import CHECKS
from podium.check_results import Check, Result, find_flagged, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.card_sections import ERROR_RATE, CardSections
from podium.diagnosis.checks.effects import MORE_BATTLES, facts_of
from podium.diagnosis.checks.finer_verdicts import ways_without_order, words_of_raters
from podium.diagnosis.checks.size_limits import MOST_BATTLES, TOO_MANY_BATTLES
from podium.diagnosis.figures import Missing, Statistic
from podium.diagnosis.order_effect import (
    BOTH_ORDERS,
    OrderEffect,
    effects_in_one_order,
    order_effects,
    reads_single_orders,
)
from podium.diagnosis.orders_in_slices import (
    columns_with_slices,
    effects_in_slices,
    is_slice_of_items,
)
from podium.distributions import ndtr
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text
from podium.rankers.errors.intervals import holm
from podium.wording import some

BIAS_THRESHOLD = CHECKS["position"].threshold
"""The order biases verdicts if |win rate of the response shown first - 0.5| is above this."""
LEVEL_OF_WARNINGS = ERROR_RATE / 10
"""Largest p-value of a check that is a warning without being adjusted with the other checks of a
ranking, of which up to ten are tests."""
ORDER_DECIDES = "order decides"
"""Name of the check that the order of the responses outweighs them."""
ONE_ORDER = "one order"
"""Name of the check of judges that read single orders only."""
IN_SLICES = "order in slices"
"""Name of the check whether the order decides more in some tasks or categories."""
DECISION_THRESHOLD = CHECKS[ORDER_DECIDES].threshold
"""The order decides verdicts if |win rate of the response shown first - 0.5| is above this."""


def sees_both_responses(battles: Battles) -> bool:
    """Return whether the judge saw both responses at once, so that one was shown first.

    The result is False only if the battles have scores of single responses and no record of both
    orders.
    """
    return "score_a" not in battles.columns or battles.swaps() is not None


def check_position(battles: Battles) -> tuple[Check, ...]:
    """Test for each judge whether the response shown first wins more or less than half.

    Of a judge that read pairs in both orders, only these pairs count. Of another judge, the decided
    verdicts with a known order count. All verdicts of the judges count, unless the battles are a
    slice whose own verdicts show whether the order has an effect.

    Returns:
        The check `order decides` if the order outweighs the responses, else `position`, which is
        not known without pairs in both orders or with too few of them. It is replaced or followed
        by `one order` if there are judges that read single orders only. P-values are adjusted for
        several judges, but not yet with other checks. Empty if the judge saw single responses, or
        if no battle is readable.
    """
    own = check_orders_of_slice(battles)
    return own or _check_orders(battles, most=MOST_BATTLES)


def order_warnings(battles: Battles) -> list[Notice]:
    """Return warnings about the order of responses over all verdicts of the judges of a slice.

    They are needed only if `check_position` makes the checks of the slice from its own verdicts
    (`check_orders_of_slice`); otherwise the list is empty. The warnings are the flagged checks of
    all verdicts: `order decides` in any case, and each other check only if its p-value is at most
    `LEVEL_OF_WARNINGS`.
    """
    if not check_orders_of_slice(battles):
        return []
    warnings = []
    for check in _check_orders(battles, most=MOST_BATTLES):
        is_certain = check.p is not None and check.p <= LEVEL_OF_WARNINGS
        is_worth_a_warning = is_certain or check.name == ORDER_DECIDES
        if check.is_flagged and is_worth_a_warning:
            template = f"over all verdicts, {check.kind.flagged}"
            warnings.append(Notice(check.kind.code, check.fields, template=template))
    return warnings


def check_orders_of_slice(battles: Battles) -> tuple[Check, ...]:
    """Make the checks of `check_position` of the verdicts in a slice alone.

    P-values are adjusted over all slices of the same column by Holm's rule.

    Returns:
        The checks; empty if the battles are no slice, if the judge saw single responses, if the
        slice has too few verdicts to know the effect of the order, or if there are too many
        battles.
    """
    if not is_slice_of_items(battles) or battles.slice_key is None or battles.whole is None:
        return ()
    if not sees_both_responses(battles) or len(battles.whole) > MOST_BATTLES:
        return ()
    column, value = battles.slice_key
    effects = effects_in_slices(battles, column).get(value, [])
    has_several_judges = len(battles.judges) > 1
    both = [effect for effect in effects if not effect.is_single]
    single = [effect for effect in effects if effect.is_single]
    checks = []
    if both:
        checks.append(_check_effects(battles, both, has_several_judges=has_several_judges))
    if single:
        checks.append(_check_one_order(single))
    if not checks or not all(check.is_known for check in checks):
        return ()
    return tuple(_about_slice(check, value) for check in checks)


def _about_slice(check: Check, value: str) -> Check:
    """Return a check whose texts name the slice.

    The fields `judges` and `verdicts`, if they are there, get the value of the slice.
    """
    fields = dict(check.fields)
    if "judges" in fields:
        fields["judges"] = f"on {value}, {fields['judges']}"
    if "verdicts" in fields:
        fields["verdicts"] = f"{fields['verdicts']} on {value}"
    return replace(check, fields=fields)


def check_orders_in_slices(battles: Battles) -> tuple[Check, ...]:
    """Check whether the order decides more in some tasks or categories than in the others.

    In such a slice, the win rate of the response shown first differs from 0.5 by more than
    `DECISION_THRESHOLD` (`BIAS_THRESHOLD` for a judge of single orders). It also differs from that
    in the other slices. Both are tested at 5%, adjusted by Holm's rule over slices, and over
    columns by Bonferroni's.

    Returns:
        The flagged check of the first column with such a slice; empty if there is none, if the
        battles are a slice, if the judge saw single responses, if no order is recorded, if no
        battle is readable, or if there are too many battles.
    """
    if is_slice_of_items(battles) or len(battles.whole or battles) > MOST_BATTLES:
        return ()
    if not battles.tally.judged or not sees_both_responses(battles):
        return ()
    if "order" not in battles.columns:
        return ()
    columns = columns_with_slices(battles)
    for column in columns:
        biased_slices = _find_biased_slices(battles, column, ERROR_RATE / len(columns))
        if biased_slices:
            return (_check_of_slices(battles, column, biased_slices),)
    return ()


def _find_biased_slices(
    battles: Battles, column: str, error_rate: float
) -> list[tuple[str, OrderEffect, float]]:
    """Return the slices in which the order of some judge's responses has an effect of its own.

    Args:
        battles: the battles.
        column: the column with the slices.
        error_rate: level of the tests.

    Returns:
        Value of the column, effect and p-value, the strongest effect first. The p-value is the
        larger one of two tests: that the effect is 0, and that it is that of the other slices. It
        is adjusted over slices (Holm) and judges (Bonferroni).
    """
    own: set[str | None] = {*battles.judges}
    has_several_judges = len((battles.whole or battles).judges) > 1
    by_judge: dict[str | None, list[tuple[str, OrderEffect]]] = {}
    for value, effects in effects_in_slices(battles, column).items():
        for effect in effects:
            if not has_several_judges or effect.judge in own:
                by_judge.setdefault(effect.judge, []).append((value, effect))
    biased_slices = []
    for measured in by_judge.values():
        p_of_slices = [_p_of_difference(measured, k) for k in range(len(measured))]
        p_values = holm(np.array(p_of_slices))
        for (value, effect), p in zip(measured, p_values.tolist(), strict=True):
            p_of_both = max(p, effect.p) * len(by_judge)
            # Both orders together cancel a preference that does not decide.
            least = BIAS_THRESHOLD if effect.is_single else DECISION_THRESHOLD
            if p_of_both <= error_rate and abs(effect.lean) > least:
                biased_slices.append((value, effect, p_of_both))

    def size_of_effect(biased_slice: tuple[str, OrderEffect, float]) -> float:
        """Return how far the win rate of the response shown first is from one half."""
        _, effect, _ = biased_slice
        return abs(effect.lean)

    return sorted(biased_slices, key=size_of_effect, reverse=True)


def _p_of_difference(measured: list[tuple[str, OrderEffect]], place: int) -> float:
    """Return the p-value of the hypothesis that one slice has the effect of all other slices.

    The effects of the other slices are averaged by their numbers of verdicts. Slices without an
    interval are left out. The p-value is 1 if there is no other slice, or if this slice has no
    interval.

    Args:
        measured: value and effect of each slice.
        place: position of the slice.
    """
    value_and_error: tuple[float, float] | None = None
    other_slices = []
    for k, (_, effect) in enumerate(measured):
        rate = effect.rate
        if not isinstance(rate, Statistic) or rate.low is None or rate.high is None:
            continue
        # A 95% interval reaches about two standard errors to both sides.
        error = (rate.high - rate.low) / 4
        if k == place:
            value_and_error = (rate.value, error)
        else:
            other_slices.append((rate.value, error, float(rate.n)))
    if value_and_error is None or not other_slices:
        return 1.0
    value, error = value_and_error
    total = sum(number for _, _, number in other_slices)
    mean = sum(number * other_value for other_value, _, number in other_slices) / total
    variance = (
        sum((number * other_error) ** 2 for _, other_error, number in other_slices) / total**2
    )
    error_of_difference = float(np.sqrt(error**2 + variance))
    z = abs(value - mean) / max(error_of_difference, 1e-12)  # no division by 0
    return float(2 * ndtr(-z))


def _check_of_slices(
    battles: Battles, column: str, biased_slices: list[tuple[str, OrderEffect, float]]
) -> Check:
    """Return the flagged check that names the slices of a column in which the order decides more.

    Args:
        battles: the battles.
        column: the column.
        biased_slices: value, effect and p-value of each of these slices; the strongest first.
    """
    value, effect, _ = biased_slices[0]
    facts = _facts_of_order(effect, has_several_judges=False)
    leans = {name: own.lean for name, own, _ in biased_slices}
    others = [f"{name} ({_first_rate(own)})" for name, own, _ in biased_slices[1:]]
    fields = {
        **facts["fields"],
        "column": column,
        "value": value,
        "whose": f" by {effect.judge}" if effect.judge else "",
        "others": f"; also on {some(others)}" if others else "",
        "leans": leans,
        "option": option_text("by", column),
    }
    number = {"number": facts["number"], "interval": facts["interval"]}
    return make_check(IN_SLICES, is_flagged=True, models=battles.models, fields=fields, **number)


def _first_rate(effect: OrderEffect) -> str:
    """Write the win rate of the response shown first.

    The name of the judge follows if the effect has one, as `62.0% by gpt`.
    """
    judge = f" by {effect.judge}" if effect.judge else ""
    return f"{0.5 + effect.lean:.1%}{judge}"


def _check_orders(
    battles: Battles, *, most: int | None = None, level: float = 0.95
) -> tuple[Check, ...]:
    """Make the checks of `check_position`.

    Args:
        battles: the battles.
        most: with more battles in all, judges of single orders are not tested, and `one order` is
            not known, or `position` if no pair was read in both orders; None for no limit.
        level: confidence level of the intervals.
    """
    if not battles.tally.judged or not sees_both_responses(battles):
        return ()
    has_several_judges = len(battles.judges) > 1
    checks = []
    effects = order_effects(battles, level)
    if effects:
        checks.append(_check_effects(battles, effects, has_several_judges=has_several_judges))
    if most is not None and len(battles.whole or battles) > most:
        if not checks:
            return (not_known("position", reason=TOO_MANY_BATTLES),)
        if reads_single_orders(battles):
            checks.append(not_known(ONE_ORDER, reason=TOO_MANY_BATTLES))
        return tuple(checks)
    single = effects_in_one_order(battles, level)
    if single:
        checks.append(_check_one_order(single))
    if checks:
        return tuple(checks)
    merged = battles.swaps() is not None
    reason = "the orders are merged already" if merged else "no pair in both orders"
    return (not_known("position", reason=reason),)


def _check_effects(
    battles: Battles, effects: list[OrderEffect], *, has_several_judges: bool
) -> Check:
    """Test the effects of the order, as measured by `order_effects`, at 5% over all of them.

    Args:
        battles: the battles.
        effects: the effects on judges; not empty.
        has_several_judges: whether several judges decided the battles.

    Returns:
        The check `order decides` or `position` of the judge with the smallest p-value among those
        whose verdicts the order decides, else among those that it biases, else among all. If the
        order biases none and there are too few pairs of some judge, the check is not known.
    """
    # The smallest of several p-values times their number is the first step of Holm's rule.
    significant = [effect for effect in effects if effect.p * len(effects) <= ERROR_RATE]
    large = [effect for effect in significant if abs(effect.lean) > BIAS_THRESHOLD]
    undecided = [effect for effect in effects if effect.is_open]
    if not large and undecided:
        return _unknown_effect(undecided[0], has_several_judges)
    deciding = [effect for effect in large if abs(effect.lean) > DECISION_THRESHOLD]
    # The first of these groups that is not empty: a smaller effect may be more significant.
    worst = min(deciding or large or effects, key=lambda effect: effect.p)
    facts = _facts_of_order(worst, has_several_judges)
    p = min(1.0, worst.p * len(effects))
    if deciding:
        facts["fields"] = {
            **facts["fields"],
            "ways": ways_without_order(battles, worst.judge),
            **words_of_raters(battles, facts["fields"]["judges"]),
        }
        return make_check(ORDER_DECIDES, is_flagged=True, p=p, **facts)
    return make_check("position", bool(large), p=p, **facts)


def order_not_known(check: Check, p: float) -> Check:
    """Return the check `position`, which is not known, in place of `order decides`.

    The order may decide or not: the adjusted p-value of the check is above 5%.

    Args:
        check: the check `order decides`.
        p: its adjusted p-value.
    """
    rate = f"the response shown first has a win rate of {check.fields['first']}"
    reason = f"too few pairs in both orders: {rate} ({check.fields['interval']})"
    unknown = Result.NOT_KNOWN
    return replace(check, name="position", p=p, result=unknown, reason=reason, answer=MORE_BATTLES)


def _unknown_effect(effect: OrderEffect, has_several_judges: bool) -> Check:
    """Return the check `position`, which is not known because a judge has too few pairs.

    Args:
        effect: the effect on the judge, or on all judges together.
        has_several_judges: whether several judges decided the battles.
    """
    whose = f" of {effect.judge}" if effect.judge else ""
    if not isinstance(effect.rate, Statistic):
        return not_known(
            "position", reason=f"too few pairs{whose} in both orders", answer=MORE_BATTLES
        )
    rate = f"the response shown first has a win rate of {effect.rate.brief}"
    reason = f"too few pairs{whose} in both orders: {rate}"
    return not_known(
        "position",
        reason=reason,
        answer=MORE_BATTLES,
        **_facts_of_order(effect, has_several_judges),
    )


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
    undecided = []
    if not is_flagged:
        undecided = [effect for effect in effects if effect.is_open]
    shown_judge = undecided[0] if undecided else worst
    if not isinstance(shown_judge.rate, Statistic):
        return not_known(ONE_ORDER, reason="too few decided verdicts", answer=BOTH_ORDERS)
    verdicts = "decided verdicts"
    pairs = "no pair was read"
    if shown_judge.judge:
        verdicts = f"the decided verdicts of {shown_judge.judge}"
        pairs = f"{shown_judge.judge} read no pair"
    facts = _relative_to_half(facts_of(shown_judge.rate, verdicts=verdicts, pairs=pairs))
    if undecided:
        reason = "the order may decide nothing, or all"
        return not_known(ONE_ORDER, reason=reason, answer=BOTH_ORDERS, **facts)
    return make_check(ONE_ORDER, is_flagged, p=p, **facts)


def _facts_of_order(effect: OrderEffect, has_several_judges: bool) -> dict[str, Any]:
    """Return the arguments `number`, `interval` and `fields` of `make_check` for the order.

    Number and interval are the win rate of the response shown first, minus 0.5.

    Args:
        effect: the effect on one judge, or on all judges together. Its rate is known.
        has_several_judges: whether several judges decided the battles.
    """
    who = "this judge"
    verdicts = "verdicts"
    if effect.judge:
        who = f"the judge {effect.judge}"
        verdicts = f"the verdicts of {effect.judge}"
    elif has_several_judges:
        who = "the judges together"
    rate: Any = effect.rate
    fields = {"first": rate.estimate, "flip": effect.flip, "judges": who, "verdicts": verdicts}
    return _relative_to_half(facts_of(rate, **fields))


def _relative_to_half(facts: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of the facts of a win rate, with 0.5 subtracted.

    It is subtracted from `number` and from both ends of `interval`, if there is one.
    """
    interval = facts["interval"]
    if interval is not None:
        low, high = interval
        interval = (low - 0.5, high - 0.5)
    return {**facts, "number": facts["number"] - 0.5, "interval": interval}


def position_of_card(card: CardSections) -> tuple[Check, ...]:
    """Make the checks of `check_position` for the battles of a judge's card.

    Returns:
        The checks, with intervals at the card's level, whatever the number of battles. If no
        verdict has a known order, the reason is that of the section. Empty if the judge saw single
        responses, and for the card of a metric.
    """
    if not card.has_judge or not sees_both_responses(card.battles):
        return ()
    section = card.answers["position"]
    if isinstance(section, Missing):
        return (not_known("position", reason=section.why, answer=section.remedy),)
    return _check_orders(card.battles, level=section.first_wins.level)


def doubt_about_one_order(checks: Sequence[Check]) -> Check | None:
    """Return the flagged check `one order` or, if it is not flagged, `order in slices`.

    The order may then decide the verdicts of judges of single orders, or those of some slices. The
    result is None if neither check is flagged.

    Args:
        checks: adjusted checks.
    """
    return find_flagged(checks, [ONE_ORDER]) or find_flagged(checks, [IN_SLICES])
