"""Checks of a judge among the models: does it judge itself or its family, and prefer them?"""

from collections.abc import Mapping

from podium.checks import Check, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.card_sections import CardSections
from podium.diagnosis.checks.effects import check_effect
from podium.diagnosis.judge_checks import is_judged, relations_of
from podium.diagnosis.preferences import NAME_FAMILIES
from podium.wording import join_names


def check_own_model(battles: Battles, families: Mapping[str, str]) -> tuple[Check, ...]:
    """Check whether a judge is one of the models; empty if no judge is known."""
    relations = relations_of(battles, families) if is_judged(battles) else []
    if not relations:
        return ()
    own = next((relation for relation in relations if relation.own), None)
    if own is None:
        return (make_check("own model", False),)
    return (make_check("own model", True, fields={"judge": own.judge}),)


def check_own_family(battles: Battles, families: Mapping[str, str]) -> tuple[Check, ...]:
    """Check whether a judge is of the family of some models, given or guessed from names.

    Returns:
        The check. Empty if no judge is known, or if a judge is itself one of the models and no
        other model is of a judge's family; `check_own_model` flags this case.
    """
    relations = relations_of(battles, families) if is_judged(battles) else []
    if not relations:
        return ()
    kin = next((relation for relation in relations if relation.kin), None)
    if kin is not None:
        fields = {"judge": kin.judge, "models": join_names(kin.kin), "family": kin.family}
        return (make_check("own family", True, number=len(kin.kin), fields=fields),)
    if any(relation.own for relation in relations):
        return ()
    if not any(relation.family for relation in relations):
        return (not_known("own family", "the model names match no known family"),)
    return (make_check("own family", False),)


def self_preference_of_card(card: CardSections) -> tuple[Check, ...]:
    """Check by a judge's card whether it rates its own family higher or lower than others do."""
    if not card.has_judge:
        return ()
    name = "self-preference"
    section = card.answers["self_preference"]
    lacking = card.find_lacking("self_preference", "excess")
    if lacking is not None:
        answer = "--families" if lacking.remedy == NAME_FAMILIES else lacking.remedy
        return (not_known(name, lacking.why, answer),)
    return (check_effect(name, section.excess),)
