"""The check whether a judge prefers longer responses."""

import numpy as np

from podium.checks import CHECKS, LENGTH_CONTROL, Check, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.card_sections import CardSections
from podium.diagnosis.checks.effects import check_effect, facts_of
from podium.diagnosis.checks.size_limits import TOO_MANY, are_too_many
from podium.diagnosis.clustered import cluster_battles, two_sided_p
from podium.diagnosis.figures import Statistic, Unit
from podium.diagnosis.judge_checks import is_judged
from podium.diagnosis.preferences import length_effect, log_ratio
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.fit.coded import code_battles


def check_length(battles: Battles) -> tuple[Check, ...]:
    """Test whether longer responses win more, or less, than the models' strengths explain.

    Errors are clustered by item. The check is flagged by the size of the effect, and its p-value is
    not adjusted yet. It is not known for too many battles, without lengths, or if the effect cannot
    be fitted. Empty if no judge decided the battles, or none of them is readable.
    """
    if not is_judged(battles) or not battles.tally.judged:
        return ()
    if are_too_many(battles):
        return (not_known("length", TOO_MANY),)
    ratio = log_ratio(battles)
    kept = battles.readable & ~np.isnan(ratio)
    if not kept.any():
        return (not_known("length", "no lengths"),)
    coded = code_battles(battles, credit=np.where(kept, battles.numbers_of("credit"), np.nan))
    try:
        weight, influence = length_effect(coded, ratio[kept])
    except (NotIdentifiedError, NotConvergedError):
        return (not_known("length", "lengths and strengths cannot be separated"),)
    sample = cluster_battles(battles).take(kept)
    effect = sample.linear(weight, influence, int(kept.sum()), unit=Unit.LOGITS)
    p = two_sided_p(weight, sample.sums(influence))
    is_large = abs(weight) > CHECKS["length"].threshold
    return (make_check("length", is_large, p=p, **facts_of(effect, **_fields_of_length(effect))),)


def length_of_card(card: CardSections) -> tuple[Check, ...]:
    """Check by a judge's card whether it prefers longer or shorter responses.

    Empty for the card of a metric.
    """
    if not card.has_judge:
        return ()
    section = card.answers["verbosity"]
    lacking = card.find_lacking("verbosity", "effect")
    if lacking is not None:
        return (not_known("length", lacking.why, lacking.remedy),)
    return (check_effect("length", section.effect, **_fields_of_length(section.effect)),)


def _fields_of_length(effect: Statistic) -> dict[str, object]:
    """Return fields of the check's texts: direction and size of the effect, and the option that
    ranks at equal length."""
    return {
        "longer": "longer" if effect.value > 0 else "shorter",
        "weight": abs(effect.value),
        "option": LENGTH_CONTROL,
    }
