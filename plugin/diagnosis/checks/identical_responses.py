"""Say of a judge card's checks when identical responses are why they cannot be made."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from podium.check_results import Check
from podium.data.battles import Battles
from podium.diagnosis.checks.model_checks import check_cycle, check_fit
from podium.diagnosis.figures import Missing
from podium.diagnosis.transitivity import ALL_TRIPLES, count_triples
from podium.wording import quantity

UNLIKE_ANSWERS_REMEDY = "judge items to which the models give different answers"
"""Remedy of a check that identical responses prevent."""


def name_identical_responses(checks: Sequence[Check], battles: Battles) -> list[Check]:
    """Return checks in which those that lack judged battles name identical responses as the cause.

    No judge is asked about identical responses, so battles are lacking although they were played. A
    check is changed if it is not known, is named in `CAN_BE_MADE`, and could be made if these
    battles had a verdict: its reason names the number of these battles, and its remedy is another
    one. All other checks are returned as they are, in the same order.

    Args:
        checks: the checks of a card.
        battles: the battles that the judge was asked about, a part of all.
    """
    whole = battles.whole
    if whole is None or not whole.tally.identical:
        return list(checks)
    identical_battles = quantity(whole.tally.identical, "battle")
    named_models = []
    for check in checks:
        could_be_made = CAN_BE_MADE.get(check.name)
        if check.is_known or could_be_made is None or not could_be_made(whole):
            named_models.append(check)
            continue
        reason = f"{check.reason}, as {identical_battles} of identical responses had no judge"
        named_models.append(replace(check, reason=reason, answer=UNLIKE_ANSWERS_REMEDY))
    return named_models


def _has_triples(battles: Battles) -> bool:
    """Return whether three models met on one item, judged or not."""
    counts = count_triples(battles)
    return not isinstance(counts, Missing) and bool(counts.by_group[0][ALL_TRIPLES].any())


def _can_find_cycles(battles: Battles) -> bool:
    """Return whether the check of cycles is known for battles, judged or not.

    The result is True, too, if the check does not apply, as for fewer than three models.
    """
    return all(check.is_known for check in check_cycle(battles))


def _can_test_fit(battles: Battles) -> bool:
    """Return whether the check of the fit is known for battles, judged or not.

    The result is True, too, if the check does not apply, as for fewer than three models.
    """
    return all(check.is_known for check in check_fit(battles))


CAN_BE_MADE: dict[str, Callable[[Battles], bool]] = {
    "transitivity": _has_triples,
    "cycle": _can_find_cycles,
    "fit": _can_test_fit,
}
"""By name of a check, a function that tells whether it can be made of battles.

The function counts battles whether or not a judge was asked about them.
"""
