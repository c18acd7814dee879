"""Checks of a judge among the models: does it judge itself or its family, and prefer them?"""

from collections.abc import Collection, Mapping

from podium.check_results import Check, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.card_sections import CardSections
from podium.diagnosis.checks.effects import check_effect
from podium.diagnosis.judge_checks import is_judged, relations_of
from podium.diagnosis.preferences import NAME_FAMILIES
from podium.wording import join_names


def check_own_model(battles: Battles, families: Mapping[str, str]) -> tuple[Check, ...]:
    """Check whether a judge is one of the models; flagged if any judge is, ok otherwise.

    The text names the first such judge; the models of the check are those of all such judges. Empty
    if no judge is known that is not human.
    """
    relations = relations_of(battles, families) if is_judged(battles) else []
    if not relations:
        return ()
    to_itself = next((relation for relation in relations if relation.own), None)
    if to_itself is None:
        return (make_check("own model", is_flagged=False),)
    own = [relation.own for relation in relations if relation.own]
    fields = {"judge": to_itself.judge}
    return (
        make_check("own model", is_flagged=True, fields=fields, models=tuple(dict.fromkeys(own))),
    )


def check_own_family(battles: Battles, families: Mapping[str, str]) -> tuple[Check, ...]:
    """Check whether a judge is of the family of some models, given or guessed from names.

    Args:
        battles: the battles.
        families: families by pattern of models' names, as given by the user.

    Returns:
        The check, flagged for the first such judge; not known if the family of no judge is known;
        ok if no judge is of the family of a model. Empty if no judge is known that is not human, or
        if a judge is itself one of the models and no other model is of a judge's family;
        `check_own_model` flags this case.
    """
    relations = relations_of(battles, families) if is_judged(battles) else []
    if not relations:
        return ()
    to_family = next((relation for relation in relations if relation.kin), None)
    if to_family is not None:
        kin = to_family.kin
        fields = {"judge": to_family.judge, "models": join_names(kin), "family": to_family.family}
        all_kin = dict.fromkeys(name for relation in relations for name in relation.kin)
        check = make_check(
            "own family", is_flagged=True, number=len(kin), fields=fields, models=(*all_kin,)
        )
        return (check,)
    if any(relation.own for relation in relations):
        return ()
    if not any(relation.family for relation in relations):
        judges = join_names([relation.judge for relation in relations])
        return (not_known("own family", reason=f"the family of {judges} is not known"),)
    return (make_check("own family", is_flagged=False),)


def doubt_about_relation(
    battles: Battles, families: Mapping[str, str], models: Collection[str]
) -> Check | None:
    """Return the flagged check that a judge is one of the compared models, or of their family.

    A judge that is one of the compared models counts first, then a judge of whose family some, but
    not all, of the compared models are. A judge that has all compared models in its family, and is
    none of them, prefers none of them for that reason.

    Args:
        battles: the battles of all models.
        families: families by pattern of models' names, as given by the user.
        models: the compared models.

    Returns:
        The check `own model` or `own family` of the first such judge, not adjusted; None if there
        is none.
    """
    compared = set(models)
    relations = relations_of(battles, families) if is_judged(battles) else []
    for relation in relations:
        if relation.own in compared:
            fields = {"judge": relation.judge}
            return make_check("own model", is_flagged=True, fields=fields, models=(relation.own,))
    for relation in relations:
        kin = tuple(name for name in relation.kin if name in compared)
        if kin and set(kin) != compared:
            of_family = {"models": join_names(kin), "family": relation.family or ""}
            fields = {"judge": relation.judge, **of_family}
            return make_check(
                "own family", is_flagged=True, number=len(kin), fields=fields, models=kin
            )
    return None


def self_preference_of_card(card: CardSections) -> tuple[Check, ...]:
    """Check by a judge's card whether it rates its own family higher or lower than others do.

    The check is made by `check_effect` from the excess in Elo. It is not known if the excess is
    missing. Empty for the card of a metric.
    """
    if not card.has_judge:
        return ()
    name = "self-preference"
    section = card.answers["self_preference"]
    missing_figure = card.find_lacking(section="self_preference", figure="excess")
    if missing_figure is not None:
        needs_families = missing_figure.remedy == NAME_FAMILIES
        remedy = "--families" if needs_families else missing_figure.remedy
        fields = {"needs_families": needs_families}
        return (not_known(name, reason=missing_figure.why, answer=remedy, fields=fields),)
    excess = section.excess
    is_lower = excess.value < 0
    figure_as_told = excess.opposite_figure if is_lower else excess
    texts = {
        "direction": "lower" if is_lower else "higher",
        "size": figure_as_told.estimate,
        "interval": figure_as_told.interval,
    }
    return (check_effect(name, excess, **texts),)
