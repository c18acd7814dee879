"""The list of all checks, and the functions that make the checks of a ranking or a judge card.

A new check is a `CheckKind` in `podium.check_kinds`, a function in the file of its subject, and a
row of `CHECKLIST`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from podium.check_kinds import GRAVITY
from podium.check_results import Check, Result, find_flagged
from podium.data.battles import Battles
from podium.diagnosis.checks.audit_data import AuditData
from podium.diagnosis.checks.card_sections import ERROR_RATE, CardSections
from podium.diagnosis.checks.category_checks import check_categories
from podium.diagnosis.checks.comparability_checks import (
    check_questions,
    check_responses,
    check_settings,
)
from podium.diagnosis.checks.group_checks import GROUPS, check_groups
from podium.diagnosis.checks.human_checks import (
    calibrated_scale,
    check_human_scale,
    check_misjudged,
    human_of_card,
    repeated_of_card,
)
from podium.diagnosis.checks.identical_responses import name_identical_responses
from podium.diagnosis.checks.judge_relation_checks import (
    check_own_family,
    check_own_model,
    self_preference_of_card,
)
from podium.diagnosis.checks.jury_checks import check_jury
from podium.diagnosis.checks.ladder_checks import check_given_ratings
from podium.diagnosis.checks.length_checks import (
    check_length,
    length_control_option,
    length_of_card,
)
from podium.diagnosis.checks.loss_checks import (
    LOSSES,
    check_lost_outcomes,
    check_lost_replies,
    check_lost_scores,
    lost_outcomes_of_card,
    lost_replies_of_card,
    lost_scores_of_card,
)
from podium.diagnosis.checks.model_checks import (
    check_cycle,
    check_fit,
    cycle_of_card,
    fit_of_card,
    transitivity_of_card,
)
from podium.diagnosis.checks.order_checks import (
    ONE_ORDER,
    ORDER_DECIDES,
    check_orders_in_slices,
    check_position,
    order_not_known,
    position_of_card,
)
from podium.diagnosis.checks.place_checks import (
    describe_first_place,
    describe_places,
)
from podium.diagnosis.checks.rater_descriptions import describe_agreement, describe_voters
from podium.diagnosis.checks.reply_checks import (
    check_only_ties,
    check_unparsed,
    unparsed_of_card,
)
from podium.diagnosis.checks.sample_checks import (
    check_connected,
    check_items,
    check_played_pairs,
    check_same_items,
    check_unit,
)
from podium.diagnosis.checks.score_scale_checks import (
    SCORE_SCALE,
    check_score_scale,
    compares_scales,
)
from podium.diagnosis.judge_checks import is_judged
from podium.notices.option_forms import option_text
from podium.rankers.errors.intervals import holm
from podium.rankers.ranking import Standings

CAUTIONS = frozenset({"unparsed"})
"""Names of checks that are not reported as findings: replies may be lost at random."""
DOUBTS_OF_FINDINGS = frozenset(
    {SCORE_SCALE, *LOSSES, ORDER_DECIDES, ONE_ORDER, "own model", "own family"}
)
"""Names of checks that a comparison of two models has as a doubt about its findings."""
DOUBTS_OF_PLANS = frozenset({*LOSSES, ORDER_DECIDES, ONE_ORDER, GROUPS, "categories"})
"""Names of checks of a pilot that are reported with a plan: more items do not help, or their number
is wrong."""
EQUAL_LENGTH_REMEDY = "this ranking is at equal length already"
"""Remedy of the check of length for a ranker that rates all responses as equally long."""
LENGTH_CONTROLLED = ("bradley-terry", "win-rate")
"""Rankers that can rank at equal length."""
Families = Mapping[str, str]
"""Families of models by pattern of their names, as given by the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCheck:
    """The functions that make one check, each from other data.

    A function is None if the check cannot be made from its data. Each function returns no check if
    the check does not apply.

    Attributes:
        of_battles: makes the check from the battles behind a ranking.
        of_judge: makes it from the battles and the given families of models.
        of_standings: makes it from a ranker's result.
        of_card: makes it from the sections of a judge card.
        of_audit: makes it from a ranking and all that is known of it, for `podium audit` alone.
        is_of_asked: whether `of_battles` and `of_judge` get only the battles that judges were
            asked about, because the check is about the judges. They are not called if there are
            no such battles.
        in_comparisons: whether `podium compare` calls `of_battles` and `of_judge`, too, because
            the check is about the verdicts and not about a ranking.
        of_scores: whether `podium compare` makes the check of scores that no judge gave, too.
    """

    of_battles: Callable[[Battles], Sequence[Check]] | None = None
    of_judge: Callable[[Battles, Families], Sequence[Check]] | None = None
    of_standings: Callable[[Standings], Sequence[Check]] | None = None
    of_card: Callable[[CardSections], Sequence[Check]] | None = None
    of_audit: Callable[[AuditData], Sequence[Check]] | None = None
    is_of_asked: bool = False
    in_comparisons: bool = False
    of_scores: bool = False

    def relevant_battles(self, battles: Battles) -> Battles | None:
        """Return the battles that `of_battles` and `of_judge` get; None if they are not called.

        If `is_of_asked`, these are the battles that judges were asked about, else all battles.
        """
        if not self.is_of_asked:
            return battles
        asked_battles = battles.asked_battles
        return asked_battles if len(asked_battles) else None


def _check_ties_of_ratings(data: AuditData) -> Sequence[Check]:
    """Make the check of ties; none for means and medians of scores, which count no ties."""
    # Imported here, as the next one, because only audits make this check.
    from podium.diagnosis.checks.tie_checks import check_ties

    return () if data.standings.scale.name == "score" else check_ties(data.rated)


def _check_time_of_judgments(data: AuditData) -> Sequence[Check]:
    """Make the check of the time at which judgments were made."""
    from podium.diagnosis.checks.time_checks import check_time

    return check_time(data.judgments)


CHECKLIST = (
    ListedCheck(of_standings=check_connected),
    ListedCheck(of_battles=check_unit),
    ListedCheck(
        of_battles=check_score_scale,
        of_card=lambda card: check_score_scale(card.battles),
        in_comparisons=True,
        of_scores=True,
    ),
    ListedCheck(
        of_battles=check_groups,
        of_card=lambda card: check_groups(card.battles),
        in_comparisons=True,
        of_scores=True,
    ),
    ListedCheck(
        of_battles=check_categories,
        of_card=lambda card: check_categories(card.battles),
        in_comparisons=True,
        of_scores=True,
    ),
    ListedCheck(of_battles=check_items),
    ListedCheck(
        of_battles=check_questions,
        of_card=lambda card: check_questions(card.battles),
        in_comparisons=True,
        of_scores=True,
    ),
    ListedCheck(
        of_battles=check_responses,
        of_card=lambda card: check_responses(card.battles),
        in_comparisons=True,
    ),
    ListedCheck(
        of_battles=check_settings,
        of_card=lambda card: check_settings(card.battles),
        in_comparisons=True,
        of_scores=True,
    ),
    ListedCheck(
        of_battles=check_unparsed, of_card=unparsed_of_card, is_of_asked=True, in_comparisons=True
    ),
    ListedCheck(
        of_battles=check_only_ties,
        of_card=lambda card: check_only_ties(card.battles.asked_battles),
        is_of_asked=True,
        in_comparisons=True,
    ),
    ListedCheck(
        of_battles=check_lost_replies,
        of_card=lost_replies_of_card,
        is_of_asked=True,
        in_comparisons=True,
    ),
    ListedCheck(
        of_battles=check_lost_outcomes,
        of_card=lost_outcomes_of_card,
        is_of_asked=True,
        in_comparisons=True,
    ),
    ListedCheck(
        of_battles=check_lost_scores,
        of_card=lost_scores_of_card,
        is_of_asked=True,
        in_comparisons=True,
        of_scores=True,
    ),
    ListedCheck(
        of_judge=check_own_model,
        of_card=lambda card: check_own_model(card.battles, card.families),
        is_of_asked=True,
        in_comparisons=True,
    ),
    ListedCheck(
        of_judge=check_own_family,
        of_card=lambda card: check_own_family(card.battles, card.families),
        is_of_asked=True,
        in_comparisons=True,
    ),
    ListedCheck(of_battles=check_human_scale, is_of_asked=True),
    ListedCheck(of_battles=check_played_pairs),
    ListedCheck(
        of_battles=check_position, of_card=position_of_card, is_of_asked=True, in_comparisons=True
    ),
    ListedCheck(
        of_battles=check_orders_in_slices,
        of_card=lambda card: check_orders_in_slices(card.battles),
        is_of_asked=True,
        in_comparisons=True,
    ),
    ListedCheck(of_card=repeated_of_card),
    ListedCheck(of_battles=check_length, of_card=length_of_card, is_of_asked=True),
    ListedCheck(of_card=self_preference_of_card),
    ListedCheck(of_card=human_of_card),
    ListedCheck(of_card=transitivity_of_card),
    ListedCheck(of_battles=check_cycle, of_card=cycle_of_card),
    ListedCheck(of_battles=check_fit, of_card=fit_of_card),
    ListedCheck(of_standings=check_same_items),
    ListedCheck(of_standings=check_given_ratings),
    ListedCheck(of_standings=check_misjudged),
    ListedCheck(of_standings=check_jury),
    ListedCheck(of_audit=_check_ties_of_ratings),
    ListedCheck(of_audit=_check_time_of_judgments),
    ListedCheck(of_audit=describe_agreement),
    ListedCheck(of_audit=describe_voters),
    ListedCheck(of_audit=describe_first_place),
    ListedCheck(of_audit=describe_places),
)
"""The checks of a ranking, of a judge card or of an audit, in the order in which tables show them.

The checks `first place` and `decisive rater` are not listed. Commands that show them call
`check_first_place` in `podium.diagnosis.checks.sample_checks`, and `check_leading_rater` and
`check_rater_of_pair` in `podium.diagnosis.checks.rater_checks`.
"""


CHECKS_OF_RATINGS = (check_cycle, check_fit)
"""Checks of the ratings, not of a judge: of a jury, they are made from its merged verdicts."""


def checks_of_battles(
    battles: Battles, families: Families, merged: Battles | None = None
) -> list[Check]:
    """Make all checks that apply to the battles behind one ranking, in the order of `CHECKLIST`.

    Their p-values are not adjusted yet; see `adjust_tests`. A function that needs judged battles
    gets only those (`ListedCheck.relevant_battles`).

    Args:
        battles: the battles, of all judges.
        families: families of models, by glob pattern of the models' names.
        merged: the same battles with one verdict of a jury each, for the checks of ratings; None
            if they are not merged.
    """
    checks: list[Check] = []
    for row in CHECKLIST:
        checked_battles = merged if merged and row.of_battles in CHECKS_OF_RATINGS else battles
        behind = row.relevant_battles(checked_battles)
        if row.of_battles is not None and behind is not None:
            checks += row.of_battles(behind)
        if row.of_judge is not None and behind is not None:
            checks += row.of_judge(behind, families)
    return checks


def checks_of_standings(standings: Standings) -> list[Check]:
    """Make all checks that apply to the result of one ranker, in the order of `CHECKLIST`.

    They are made from the result alone. Their p-values are not adjusted.
    """
    checks: list[Check] = []
    for row in CHECKLIST:
        if row.of_standings is not None:
            checks += row.of_standings(standings)
    return checks


def checks_of_card(card: CardSections) -> tuple[Check, ...]:
    """Make all checks that apply to the card of one judge, or of one metric.

    Checks that a ranking of the same battles has, too, have the same result. Other checks follow
    the intervals of the card and have no p-values. The p-values are adjusted together
    (`adjust_tests`).
    """
    checks: list[Check] = []
    for row in CHECKLIST:
        if row.of_card is not None:
            checks += row.of_card(card)
    return tuple(name_identical_responses(adjust_tests(checks), card.battles))


def checks_only_of_cards(card: CardSections) -> list[Check]:
    """Make the checks of a judge card that no ranking has.

    They follow intervals and have no p-values. The list has all checks, flagged or not.
    """
    checks: list[Check] = []
    for row in CHECKLIST:
        is_of_ranking = row.of_battles or row.of_judge or row.of_standings
        if row.of_card is not None and not is_of_ranking:
            checks += row.of_card(card)
    return checks


def checks_only_of_audits(data: AuditData) -> list[Check]:
    """Make the checks that only an audit has, in the order of `CHECKLIST`.

    Their p-values are not adjusted yet.
    """
    checks: list[Check] = []
    for row in CHECKLIST:
        if row.of_audit is not None:
            checks += row.of_audit(data)
    return checks


def fit_to_ranker(checks: Sequence[Check], standings: Standings) -> list[Check]:
    """Return the checks of battles that apply to a ranker, with remedies that work.

    Means and medians of scores (scale `score`) fit no ratings, so their check of the fit is left
    out. The remedy of the check of length names the option of this ranker if the ranker can rank at
    equal length; it names another ranker otherwise, and no option if this ranking is at equal
    length already. The check of the human scale is replaced if a calibration gives the ratings a
    human scale.
    """
    has_ratings = standings.scale.name != "score"
    applicable = [
        calibrated_scale(standings) or check if check.name == "human scale" else check
        for check in checks
        if has_ratings or check.name != "fit"
    ]
    if standings.diagnostics.get("length_control"):
        remedy = EQUAL_LENGTH_REMEDY
    elif standings.ranker in LENGTH_CONTROLLED:
        return applicable
    else:
        ranker = option_text("ranker", LENGTH_CONTROLLED[0])
        remedy = f"also rank at equal length ({ranker} {length_control_option()})"
    return [_with_remedy_of_length(check, remedy) for check in applicable]


def _with_remedy_of_length(check: Check, remedy: str) -> Check:
    """Return a check with the given remedy if it is the check of length.

    All other checks, and checks of length without a remedy, are returned as they are.
    """
    if check.name != "length" or "remedy" not in check.fields:
        return check
    return replace(check, fields={**check.fields, "remedy": remedy})


def checks_of_ranking(
    standings: Standings,
    battles: Battles,
    families: Families,
    merged: Battles | None = None,
) -> Sequence[Check]:
    """Return the adjusted checks that a ranking has; if it has none, make them from the battles.

    Args:
        standings: the ranking.
        battles: its battles, of all judges.
        families: families of models, by glob pattern of the models' names.
        merged: the same battles with one verdict of a jury each; None if they are not merged.

    Returns:
        The checks of the ranking; made from the battles, fitted to the ranker and adjusted if the
        ranking has none.
    """
    if standings.checks:
        return standings.checks
    return adjust_tests(fit_to_ranker(checks_of_battles(battles, families, merged), standings))


def adjust_tests(checks: Sequence[Check]) -> list[Check]:
    """Return the checks with the p-values of all tests adjusted together by Holm's rule.

    A flagged check whose adjusted p-value is above 5% becomes ok, or not known if it has a reason
    why it could not find more. The check `order decides` becomes the check `position`, which is
    not known. Checks without a p-value are unchanged.
    Call it once for a list of checks: adjusted p-values must not be adjusted again.
    """
    # A check without a p-value is no test, and `holm` leaves out NaN.
    p_values = [np.nan if check.p is None else check.p for check in checks]
    adjusted = holm(np.array(p_values))
    results = []
    for check, p in zip(checks, adjusted.tolist(), strict=True):
        if check.p is None:
            results.append(check)
        elif p > ERROR_RATE and check.is_flagged and check.name == ORDER_DECIDES:
            results.append(order_not_known(check, p))
        elif p > ERROR_RATE and check.is_flagged:
            result = Result.NOT_KNOWN if check.reason else Result.OK
            results.append(replace(check, p=p, result=result))
        else:
            results.append(replace(check, p=p))
    return results


def flagged_checks(checks: Sequence[Check]) -> list[Check]:
    """Return the flagged checks that are not in `CAUTIONS`, the gravest first.

    Args:
        checks: adjusted checks.
    """
    flagged = [check for check in checks if check.is_flagged and check.name not in CAUTIONS]
    return sorted(flagged, key=lambda check: GRAVITY[check.name])


def flagged_losses(checks: Sequence[Check]) -> Check | None:
    """Return the first flagged check of losses, with the models of all flagged ones.

    The checks of losses are those in `LOSSES`. The result is None if none is flagged.

    Args:
        checks: adjusted checks.
    """
    flagged = [check for check in checks if check.name in LOSSES and check.is_flagged]
    if not flagged:
        return None
    models = dict.fromkeys(model for check in flagged for model in check.models)
    return replace(flagged[0], models=tuple(models))


def checks_of_comparison(battles: Battles, models: Collection[str]) -> tuple[Check, ...]:
    """Make the checks that apply to the verdicts behind a comparison, with adjusted p-values.

    Of scores that no judge gave, only checks of scores and of runs are made. Results are those of a
    ranking of the same battles: the p-values are adjusted together with those of its other tests.
    Empty if there is no readable battle.

    Args:
        battles: the battles of all models, to which the checks of verdicts apply.
        models: the compared models. Settings of other models are not checked.
    """
    if not battles.tally.judged:
        return ()
    runs_of_models = tuple(run for run in battles.runs if run.model in models)
    compared = replace(battles, runs=runs_of_models)
    by_judge = is_judged(battles)
    checks: list[Check] = []
    for row in CHECKLIST:
        is_made = row.in_comparisons and (by_judge or row.of_scores)
        behind = row.relevant_battles(compared)
        if is_made and row.of_battles is not None and behind is not None:
            checks += row.of_battles(behind)
        if is_made and row.of_judge is not None and behind is not None:
            checks += row.of_judge(behind, {})
    # The other tests can only raise p-values: they matter only if a test is flagged so far.
    others = _other_tests(battles) if _has_flagged_test(checks) else []
    return tuple(adjust_tests([*checks, *others])[: len(checks)])


def _has_flagged_test(checks: Sequence[Check]) -> bool:
    """Return whether a check with a p-value is flagged.

    Other tests may change such a check to ok, because p-values are adjusted together.
    """
    return any(check.is_flagged and check.p is not None for check in checks)


def _other_tests(battles: Battles) -> list[Check]:
    """Make the checks of battles that a ranking makes and a comparison does not show.

    Only checks made from battles (`of_battles`) are made; their p-values are not adjusted.
    """
    checks: list[Check] = []
    for row in CHECKLIST:
        behind = row.relevant_battles(battles)
        if row.of_battles is not None and behind is not None and not row.in_comparisons:
            checks += row.of_battles(behind)
    return checks


def doubts_about_models(checks: Sequence[Check], models: Collection[str]) -> list[Check]:
    """Return the flagged checks because of which a comparison of some models may be wrong.

    Args:
        checks: adjusted checks of all verdicts.
        models: the compared models.

    Returns:
        The flagged checks that name one of the models; the gravest first. Those in `CAUTIONS` are
        left out, and so are those in `DOUBTS_OF_FINDINGS`, which the answer of a comparison has.
    """
    compared = set(models)
    left_out = DOUBTS_OF_FINDINGS
    return [
        check
        for check in flagged_checks(checks)
        if check.name not in left_out and not compared.isdisjoint(check.models)
    ]


def doubts_about_plan(checks: Sequence[Check]) -> list[Check]:
    """Return the flagged checks of a pilot because of which a plan may be wrong.

    Args:
        checks: adjusted checks of the pilot's verdicts.

    Returns:
        The flagged checks in `DOUBTS_OF_PLANS`, the gravest first.
    """
    return [check for check in flagged_checks(checks) if check.name in DOUBTS_OF_PLANS]


def doubt_about_losses(checks: Sequence[Check], models: Collection[str]) -> Check | None:
    """Return the flagged check that lost battles or scores may explain a difference.

    Args:
        checks: adjusted checks.
        models: the compared models.

    Returns:
        The check, with the models of all flagged checks of losses; None if no such check is
        flagged, or if they name none of the compared models.
    """
    check = flagged_losses(checks)
    is_about_models = check is not None and not set(models).isdisjoint(check.models)
    return check if is_about_models else None


def unknown_loss(checks: Sequence[Check]) -> Check | None:
    """Return the check whether unparsed verdicts would have had other winners, if it is not known.

    The check is made only where enough verdicts are unparsed to matter. The result is None if there
    is no such check, or if it is known.
    """
    unknown = [check for check in checks if check.name == "lost outcomes" and not check.is_known]
    return unknown[0] if unknown else None


def doubt_about_judge(checks: Sequence[Check]) -> Check | None:
    """Return the check `order decides`; None if it is not flagged."""
    return find_flagged(checks, [ORDER_DECIDES])


def doubt_about_scales(
    checks: Sequence[Check], models: Collection[str], about: Mapping[str, str | None]
) -> Check | None:
    """Return the flagged check that the compared models have scores on two scales.

    The scales are, for example, fractions and percent (`compares_scales`).

    Args:
        checks: all checks.
        models: the compared models.
        about: the task, metric and judge of the compared scores.

    Returns:
        The check; None if no check flags two scales among these models and scores.
    """
    return next((check for check in checks if compares_scales(check, models, about)), None)
