"""Turn figures of a judge card into checks, by their intervals.

The functions that make a check are `make_check` (flagged or ok) and `not_known`.
"""

from typing import Any

from podium.check_kinds import CHECKS
from podium.check_results import Check, make_check, not_known
from podium.diagnosis.figures import Figured, Missing, Statistic

MORE_BATTLES = "judge more battles"
"""Remedy if an interval is too wide to decide a check."""
MORE_VOTES = "collect more votes"
"""The same remedy where humans voted."""


def interval_of(figure: Statistic) -> tuple[float, float] | None:
    """Return the lower and the upper end of a figure's interval; None if an end is unknown."""
    if figure.low is None or figure.high is None:
        return None
    return figure.low, figure.high


def facts_of(figure: Statistic, **fields: Any) -> dict[str, Any]:
    """Return the arguments `number`, `interval` and `fields` of `make_check` for a figure, by name.

    Args:
        figure: the figure; its value and interval as texts are among the fields.
        **fields: further fields.
    """
    texts = {"estimate": figure.estimate, "interval": figure.interval}
    return {
        "number": figure.value,
        "interval": interval_of(figure),
        "fields": {**texts, **fields},
    }


def side_of(figure: Figured, middle: float) -> int:
    """Return 1 if a figure's interval lies above a value, -1 if it lies below, and 0 otherwise.

    The result is also 0 if the figure or its interval is missing.
    """
    if isinstance(figure, Missing) or not figure.excludes(middle):
        return 0
    return 1 if figure.value > middle else -1


def check_effect(name: str, effect: Statistic, **fields: Any) -> Check:
    """Check an effect by its interval.

    An effect is large if its absolute value is above the threshold of the check, else small.

    Args:
        name: name of the check.
        effect: the effect.
        **fields: further fields of the check's texts.

    Returns:
        The check: flagged if the effect is large and its interval excludes 0, ok if the interval
        contains small effects only, and not known otherwise, also if an end is unknown.
    """
    facts = facts_of(effect, **fields)
    largest = CHECKS[name].threshold
    if side_of(effect, middle=0.0) and abs(effect.value) > largest:
        return make_check(name, is_flagged=True, **facts)
    ends = interval_of(effect)
    if ends is not None:
        low, high = ends
        has_small_effects_only = max(-low, high) <= largest
    else:
        has_small_effects_only = False
    if has_small_effects_only:
        return make_check(name, is_flagged=False, **facts)
    return not_known(name, reason=why_open(effect), answer=MORE_BATTLES, **facts)


def why_open(effect: Statistic) -> str:
    """Return why it is not known whether an effect is large.

    The reason depends on whether the interval of the effect excludes 0. It is a clause without a
    full stop.
    """
    if side_of(effect, middle=0.0):
        return "the effect is there, and may be small or large"
    return "the effect may be none, or large"


def check_beside_chance(
    name: str, figure: Statistic, chance: float, good: int, **fields: Any
) -> Check:
    """Check by its interval whether a share is better than the share that chance gives.

    Args:
        name: name of the check.
        figure: the share.
        chance: the share by chance.
        good: 1 if shares above chance are good, -1 if shares below chance are good.
        **fields: further fields of the check's texts.

    Returns:
        The check: ok if the share is better than by chance, flagged if it is worse, and not known
        if the interval contains the share by chance, or if an end of it is unknown.
    """
    facts = facts_of(figure, **fields)
    side = side_of(figure, chance)
    if not side:
        return not_known(
            name, reason="it may be no better than chance", answer=MORE_BATTLES, **facts
        )
    return make_check(name, side != good, **facts)
