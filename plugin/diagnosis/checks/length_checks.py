"""The check whether a judge prefers longer responses."""

from dataclasses import replace

import numpy as np

from podium.check_kinds import CHECKS
from podium.check_results import Check, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.card_sections import ERROR_RATE, CardSections
from podium.diagnosis.checks.effects import MORE_BATTLES, MORE_VOTES, facts_of, why_open
from podium.diagnosis.checks.size_limits import are_too_many, why_too_many
from podium.diagnosis.clustered import cluster_battles, two_sided_p
from podium.diagnosis.figures import Statistic, Unit
from podium.diagnosis.judge_checks import are_human_votes, is_judged
from podium.diagnosis.preferences import length_effect, log_ratio
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.notices.option_forms import option_text, typed_in_command
from podium.rankers.fit.coded import code_battles


def check_length(battles: Battles) -> tuple[Check, ...]:
    """Test whether longer responses win more, or less, than the models' strengths explain.

    Errors are clustered by item. The check is flagged if the p-value is at most 5% and the effect
    is above the threshold; the p-value is not adjusted yet.

    Returns:
        The check. It is not known for too many battles, without lengths, if the effect cannot be
        fitted, or if it is not flagged and its interval contains effects above the threshold. Empty
        if no judge decided the battles, or none of them is readable.
    """
    if not is_judged(battles) or not battles.tally.judged:
        return ()
    if are_too_many(battles):
        return (not_known("length", reason=why_too_many(battles)),)
    return (_test_length(battles),)


def length_of_card(card: CardSections) -> tuple[Check, ...]:
    """Make the check of `check_length` for a judge's card, whatever the number of battles.

    The interval is at the card's level. If the effect is unknown, the reason is that of the
    section. Empty for the card of a metric.
    """
    if not card.has_judge:
        return ()
    missing_figure = card.find_lacking(section="verbosity", figure="effect")
    if missing_figure is not None:
        return (not_known("length", reason=missing_figure.why, answer=missing_figure.remedy),)
    check = _test_length(card.battles, card.answers["verbosity"].effect.level)
    if "remedy" not in check.fields:
        return (check,)
    # The commands that show cards rank nothing, and do not take the option.
    option = typed_in_command("setting", "length_control", "true")
    remedy = f"also rank at equal length (`podium rank {option}`)"
    return (replace(check, fields={**check.fields, "remedy": remedy}),)


def length_control_option() -> str:
    """Return the option that ranks at equal length, as it is typed.

    Only the rankers `bradley-terry` and `win-rate` have the option.
    """
    return option_text("length_control", "true", "setting")


def _test_length(battles: Battles, level: float = 0.95) -> Check:
    """Make the check of `check_length`, whatever the number of battles.

    `level` is the confidence level of the interval.
    """
    ratio = log_ratio(battles)
    is_counted = battles.readable & ~np.isnan(ratio)
    if not is_counted.any():
        return not_known("length", reason="no lengths")
    coded = code_battles(battles, credit=np.where(is_counted, battles.numbers_of("credit"), np.nan))
    try:
        weight, influence = length_effect(coded, ratio[is_counted])
    except (NotIdentifiedError, NotConvergedError):
        return not_known("length", reason="lengths and strengths cannot be separated")
    sample = cluster_battles(battles, level).take(is_counted)
    effect = sample.linear(weight, influence, n=int(is_counted.sum()), unit=Unit.LOGITS)
    are_votes = are_human_votes(battles)
    who = "voters favour" if are_votes else "the judge favours"
    facts = facts_of(effect, who=who, **_fields_of_length(effect))
    p = two_sided_p(weight, sample.sums(influence))
    largest = CHECKS["length"].threshold
    if p <= ERROR_RATE and abs(weight) > largest:
        return make_check("length", is_flagged=True, p=p, **facts)
    if effect.low is None or effect.high is None or max(-effect.low, effect.high) > largest:
        more = MORE_VOTES if are_votes else MORE_BATTLES
        return not_known("length", reason=why_open(effect), answer=more, **facts)
    return make_check("length", is_flagged=False, p=p, **facts)


def _fields_of_length(effect: Statistic) -> dict[str, object]:
    """Return the fields `longer`, `weight` and `remedy` of the check's texts.

    `longer` is `longer` or `shorter`, by the sign of the effect; `weight` is its absolute value in
    logits per unit of log-length.
    """
    return {
        "longer": "longer" if effect.value > 0 else "shorter",
        "weight": abs(effect.value),
        "remedy": f"also rank at equal length ({length_control_option()})",
    }
