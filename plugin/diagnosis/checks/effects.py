"""Turn figures of a judge card into checks, by their intervals."""

from typing import Any

from podium.checks import CHECKS, Check, make_check, not_known
from podium.diagnosis.figures import Figured, Missing, Statistic

MORE_BATTLES = "judge more battles"


def interval_of(figure: Statistic) -> tuple[float, float] | None:
    """Return both ends of a figure's interval; None if an end is unknown."""
    if figure.low is None or figure.high is None:
        return None
    return figure.low, figure.high


def facts_of(figure: Statistic, **fields: Any) -> dict[str, Any]:
    """Return number, interval and fields of a check from a figure, with further fields."""
    texts = {"estimate": figure.estimate, "interval": figure.interval}
    return {
        "number": figure.value,
        "interval": interval_of(figure),
        "fields": {**texts, **fields},
    }


def side_of(figure: Figured, middle: float) -> int:
    """Return 1 or -1 if the interval lies above or below a value, else 0."""
    if isinstance(figure, Missing) or not figure.excludes(middle):
        return 0
    return 1 if figure.value > middle else -1


def check_effect(name: str, effect: Statistic, **fields: Any) -> Check:
    """Check an effect by its interval; the largest small effect is the threshold of the check.

    Args:
        fields: further fields of the check's texts.

    Returns:
        The check: flagged if the effect is large and its interval excludes 0, ok if the interval
        contains small effects only, and not known otherwise.
    """
    facts = facts_of(effect, **fields)
    largest = CHECKS[name].threshold
    if side_of(effect, 0.0) and abs(effect.value) > largest:
        return make_check(name, True, **facts)
    ends = interval_of(effect)
    if ends is not None and max(-ends[0], ends[1]) <= largest:
        return make_check(name, False, **facts)
    return not_known(name, "the effect may be none, or large", MORE_BATTLES, **facts)


def check_beside_chance(
    name: str, figure: Statistic, chance: float, good: int, **fields: Any
) -> Check:
    """Check by its interval whether a share is on the good side of what chance gives.

    Args:
        chance: the share by chance.
        good: 1 if shares above chance are good, -1 if shares below it are.
        fields: further fields of the check's texts.

    Returns:
        The check: not known if the interval contains the share by chance.
    """
    facts = facts_of(figure, **fields)
    side = side_of(figure, chance)
    if not side:
        return not_known(name, "it may be no better than chance", MORE_BATTLES, **facts)
    return make_check(name, side != good, **facts)
