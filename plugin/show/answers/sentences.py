"""Add answers to standings: which models lead, whether to trust that, and what to do next."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import comb, isinf
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.check_kinds import CHECKS
from podium.check_results import Check, find_flagged
from podium.data.battles import Battles
from podium.data.stopped_judges import are_of_stopped_judge
from podium.defaults import RANKER_OF_DECISIONS
from podium.diagnosis.checks.all_checks import (
    adjust_tests,
    checks_of_battles,
    checks_of_standings,
    fit_to_ranker,
    flagged_checks,
    flagged_losses,
)
from podium.diagnosis.checks.comparability_checks import are_questions_in_doubt
from podium.diagnosis.checks.group_checks import dependent_groups
from podium.diagnosis.checks.order_checks import ORDER_DECIDES
from podium.diagnosis.checks.rater_checks import check_leading_rater
from podium.diagnosis.checks.sample_checks import check_first_place, robustness_of
from podium.diagnosis.checks.score_scale_checks import are_scales_unlike
from podium.distributions import ndtri
from podium.notices.catalogue_of_notices import RANKED_ALONE
from podium.notices.notice import select_codes
from podium.rankers.errors.rank_sets import FEWEST_ITEMS, further_items, further_labels
from podium.rankers.errors.raters import FIXED_RATERS
from podium.rankers.ladder_placement import RATED_ONLY
from podium.rankers.ranking import Separation, Standings
from podium.rankers.standings import EFFECTIVE_RATERS, FEW_RATERS
from podium.score_scale import ELO, WIN_RATE
from podium.show.answers import rank_templates
from podium.show.answers.fixed_raters import after_colon, fixed_raters_of, limit_sentence
from podium.show.answers.group_claims import groups_sentence
from podium.show.answers.lost_claims import unclaimed_models
from podium.show.answers.order_claims import explained_by_any_order
from podium.show.answers.rank_templates import (
    all_of,
    further_items_text,
    more_items_sentence,
)
from podium.show.answers.tested_again import tested_again_text
from podium.show.answers.trust import MOST_DESCRIBED, trust_sentence
from podium.show.answers.who import (
    leading_group,
    neighbours_sentence,
    who_sentence,
    withhold_ranks,
    withhold_ranks_of,
    without_models,
)
from podium.wording import (
    join_item_names,
    join_names,
    number_word,
    plural,
    quantity,
    some,
    word_for,
)

if TYPE_CHECKING:
    from podium.rankers.drop_out import DropOutRobustness

MANY_IDENTICAL = 0.1
"""If a larger share of the battles are ties of identical responses, the answer says how many."""
RANKER_WITH_NEXT_LEADER = "mean"
"""For this ranker, the answer also says how many neighbouring places are too close to call, and
how few items would have to be left out for another model to lead."""


def add_answers(
    standings: Sequence[Standings],
    slices: Mapping[str | None, Battles],
    families: Mapping[str, str],
    merged: Mapping[str | None, Battles] | None = None,
    noun: str = "slice",
) -> tuple[Standings, ...]:
    """Return standings with checks and answers.

    Standings of a slice in which no ranker can compare two models are returned as they are. If
    a judge was stopped as unable to judge, the answer says only that its ranking is not to be used.
    If there are several slices, an answer begins with the name of its slice. If an answer that is
    printed says that there are few items, the warnings of its slice do not repeat it. The first
    answer is printed and, if the user did not ask for slices, that of each slice; then only the
    first one says in how many slices the same models lead.

    Args:
        standings: results of all rankers on all slices.
        slices: the battles of each slice; the only key is None if nothing was sliced.
        families: families of models that the user gave, by glob pattern of the models' names.
        merged: by slice, the battles of a jury with one verdict each, if they are merged.
        noun: what a slice is called in sentences, in the singular.
    """
    merged = merged or {}
    ranked = {**slices, **merged}
    compared = {each.slice for each in standings if who_sentence(each) is not None}
    checks = {
        value: checks_of_battles(battles, families, merged.get(value))
        for value, battles in slices.items()
        if value in compared
    }
    are_alone = any(select_codes(ranking.notes, RANKED_ALONE) for ranking in ranked.values())
    in_doubt = [_models_without_claims(each, ranked, checks) for each in standings]
    claimed = list(map(without_models, standings, in_doubt))
    answered = list(standings)
    for k, standings_of_slice in enumerate(standings):
        if standings_of_slice.slice not in compared:
            continue
        if are_of_stopped_judge(ranked[standings_of_slice.slice]):
            of_slice = standings_of_slice.shown_slice if len(slices) > 1 else None
            answered[k] = _answer_on_stopped_judge(standings_of_slice, of_slice)
            continue
        # Where each answer is printed, each says itself that no place is certain.
        is_first_with_leader = k == 0 and bool(leading_group(claimed[k]))
        on_slices = None
        if not are_alone or is_first_with_leader:
            on_slices = _sentence_on_slices(claimed[k], claimed, checks, noun)
        answered[k] = build_ranking_answer(
            standings_of_slice,
            ranked[standings_of_slice.slice],
            fit_to_ranker(checks[standings_of_slice.slice], standings_of_slice),
            what_next=on_slices,
            in_doubt=in_doubt[k],
            name_slice=(len(slices) > 1),
        )
    return _without_repeated_warning(answered, answered if are_alone else answered[:1], checks)


def _without_repeated_warning(
    standings: Sequence[Standings],
    printed: Sequence[Standings],
    checks: Mapping[str | None, Sequence[Check]],
) -> tuple[Standings, ...]:
    """Return standings without the warning about few items, if a printed answer describes these.

    The warning is removed only from standings of the slices of these answers.

    Args:
        standings: the standings with answers.
        printed: those whose answers are printed.
        checks: the checks of each slice, with p-values that are not adjusted.
    """
    described = set[str | None]()
    for standings_of_slice in printed:
        # An answer of a single sentence says nothing of the checks.
        if len(standings_of_slice.answer) < 2:
            continue
        flagged = flagged_checks(adjust_tests(checks[standings_of_slice.slice]))
        described_checks = [check.name for check in flagged[:MOST_DESCRIBED]]
        if "items" in described_checks:
            described.add(standings_of_slice.slice)
    repeated = CHECKS["items"].code
    shortened = []
    for standings_of_slice in standings:
        warnings = standings_of_slice.warnings
        if standings_of_slice.slice in described:
            warnings = tuple(warning for warning in warnings if warning.code != repeated)
        shortened.append(replace(standings_of_slice, warnings=warnings))
    return tuple(shortened)


def _models_without_claims(
    standings: Standings,
    slices: Mapping[str | None, Battles],
    checks: Mapping[str | None, Sequence[Check]],
) -> tuple[str, ...]:
    """Return the names of the models about which nothing can be claimed.

    A model is among them if its battles or scores are lost more often than those of other models
    and this may change a claim (`unclaimed_models`), if the order of responses may explain a
    claim (`explained_by_any_order`), or if the intervals speak of three or more voters or judges,
    of whom one or two judged the model. Without checks of the slice, only the last reason applies.

    Args:
        standings: the standings.
        slices: the battles of each slice.
        checks: the checks of each slice, with p-values that are not adjusted.
    """
    adjusted = adjust_tests(checks.get(standings.slice, ()))
    battles = slices[standings.slice]
    by_losses = unclaimed_models(standings, battles, flagged_losses(adjusted))
    by_order = explained_by_any_order(standings, battles, adjusted)
    of_few_raters: Sequence[str] = ()
    if FIXED_RATERS in standings.diagnostics:
        of_few_raters = [*standings.diagnostics.get(FEW_RATERS, {})]
    return tuple(dict.fromkeys([*by_losses, *by_order, *of_few_raters]))


def build_ranking_answer(
    standings: Standings,
    battles: Battles,
    checks: Sequence[Check],
    what_next: str | None = None,
    in_doubt: Sequence[str] = (),
    *,
    name_slice: bool = False,
) -> Standings:
    """Return standings with their checks and an answer in at most three sentences.

    The answer is a tuple of two or three texts: who leads, what the checks found, and what to do
    next. A text may hold more than one sentence.

    If the scores are not in one unit, or if it is not known which rows are about the same item, the
    answer says only this, and whether to trust the ranking. If models have different inputs for an
    item, and the inputs do not show that the questions are the same, the first sentence begins with
    that condition.

    Args:
        standings: the standings, which are not changed.
        battles: the battles of these standings.
        checks: the checks of the battles that apply to the ranker. Their p-values are not adjusted
            yet.
        what_next: the third sentence, unless groups must be connected or a tournament gives
            advice. By default, it says how many more items would separate the first two models.
        in_doubt: models about which nothing can be claimed.
        name_slice: whether the first sentence begins with the name of the slice.

    Returns:
        The standings, in which models in doubt have no rank set; unchanged if `who_sentence` has
        nothing to say.
    """
    models = [entry.model for entry in standings.entries]
    if who_sentence(standings) is None:
        return standings
    claimed = without_models(standings, in_doubt) if in_doubt else standings
    of_slice = standings.shown_slice if name_slice else None
    if in_doubt:
        standings = withhold_ranks_of(standings, in_doubt)
    if are_scales_unlike(checks):
        return _answer_on_unlike_scales(standings, claimed, checks, of_slice)
    robustness = robustness_of(battles, claimed)
    of_result = [*checks_of_standings(claimed), *_first_place_checks(battles, claimed, robustness)]
    all_checks = adjust_tests([*checks, *of_result])
    trust = " ".join(filter(None, [trust_sentence(all_checks), identical_sentence(battles)]))
    checked = replace(standings, checks=tuple(all_checks))
    claimed = replace(claimed, checks=tuple(all_checks))
    no_unit = _no_unit_sentence(battles, all_checks)
    if no_unit is not None:
        unknown = limit_sentence(no_unit, of_slice=of_slice, raters=None)
        return replace(withhold_ranks(checked), answer=(unknown, trust))
    who = _decided_sentence(claimed) or _claim_sentence(claimed, in_doubt)
    in_brief = _next_step_sentence(claimed, robustness, what_next, in_brief=True)
    what_next = _next_sentences(claimed, robustness, what_next, may_name_leader=not in_doubt)
    if claimed.ranker == RANKER_WITH_NEXT_LEADER and not claimed.unconnected_groups:
        who = " ".join(filter(None, [who, neighbours_sentence(claimed)]))
    if are_questions_in_doubt(battles):
        who = rank_templates.QUESTIONS_IN_DOUBT.format(answer=after_colon(who, models))
    who = limit_sentence(who, of_slice=of_slice, raters=fixed_raters_of(claimed), models=models)
    answer = (who, trust, what_next) if what_next else (who, trust)
    return replace(checked, next_in_brief=in_brief, answer=answer)


def _claim_sentence(claimed: Standings, in_doubt: Sequence[str]) -> str:
    """Write which models are ahead, and about which models nothing is claimed.

    If models fall into groups that never met, the first part is about each group
    (`groups_sentence`), else about the whole ranking (`who_sentence`). The first part is missing if
    `who_sentence` has nothing to say; the second part is missing if no model is in doubt. The text
    may so be empty.

    Args:
        claimed: the standings with their checks, without the models in doubt.
        in_doubt: models about which nothing can be claimed.
    """
    write = groups_sentence if claimed.unconnected_groups else who_sentence
    who = write(claimed, is_partial=bool(in_doubt)) or ""
    if not in_doubt:
        return who
    no_claim = rank_templates.NOTHING_PLACED.format(models=join_names(in_doubt))
    return f"{who} {no_claim}".strip()


def _no_unit_sentence(battles: Battles, checks: Sequence[Check]) -> str | None:
    """Write that nobody is called clearly ahead, because the independent unit is not known.

    This is so if items are alike in groups (`dependent_groups`), or if a column looks like the item
    and is not read as such. Otherwise, the result is None.
    """
    groups = dependent_groups(checks)
    if groups is not None and battles.has_items:
        return rank_templates.ITEMS_DEPEND.format(**groups.fields)
    if battles.likely_item is not None or groups is not None:
        return rank_templates.UNIT_UNKNOWN
    return None


def _first_place_checks(
    battles: Battles, claimed: Standings, robustness: "DropOutRobustness | None"
) -> list[Check]:
    """Check whether the first place depends on a few items, or on one voter or judge.

    If the first place does not depend on a voter or judge, other clear differences are checked for
    that, too. The list is empty if no check can be made.

    Args:
        battles: the battles of these standings.
        claimed: the standings without the models about which nothing can be claimed.
        robustness: the result of `robustness_of`.
    """
    by_items = check_first_place(claimed, robustness)
    return [*by_items, *check_leading_rater(battles, claimed)]


def _answer_on_unlike_scales(
    standings: Standings, claimed: Standings, checks: Sequence[Check], of_slice: str | None
) -> Standings:
    """Return standings with an answer that claims nothing, as scores are on unlike scales.

    The second sentence of the answer says what the checks found. Rank sets stay as they are.

    Args:
        standings: the standings.
        claimed: the standings without the models about which nothing can be claimed.
        checks: the checks of the battles.
        of_slice: name of the slice with which the answer begins; None for none.
    """
    all_checks = adjust_tests([*checks, *checks_of_standings(claimed)])
    unlike = limit_sentence(rank_templates.SCALES_UNLIKE, of_slice=of_slice, raters=None)
    return replace(standings, checks=tuple(all_checks), answer=(unlike, trust_sentence(all_checks)))


def _answer_on_stopped_judge(standings: Standings, of_slice: str | None) -> Standings:
    """Return standings with an answer that claims nothing, as their judge cannot judge.

    The answer is one sentence, and no model has a rank of its own (`withhold_ranks`).

    Args:
        standings: the standings, which are not changed.
        of_slice: name of the slice with which the answer begins; None for none.
    """
    not_to_be_used = limit_sentence(rank_templates.JUDGE_STOPPED, of_slice=of_slice, raters=None)
    return replace(withhold_ranks(standings), answer=(not_to_be_used,))


def identical_sentence(battles: Battles) -> str:
    """Write how many battles are ties of identical responses.

    The text is empty if their share is at most `MANY_IDENTICAL`.
    """
    number = battles.tally.identical
    if number <= MANY_IDENTICAL * len(battles):
        return ""
    return rank_templates.IDENTICAL_BATTLES.format(
        number=number,
        battles=quantity(len(battles), "battle"),
        are=word_for(number, "is a tie", "are ties"),
    )


def _tournament_answer(standings: Standings) -> Mapping[str, Any]:
    """Return the answer of the tournament that was ranked, as a mapping from JSON.

    Among its keys are `decisions`, `advice` and `until`. The mapping is empty if no tournament was
    ranked, or if the ranker is not the one that makes decisions (`RANKER_OF_DECISIONS`).
    """
    if standings.ranker != RANKER_OF_DECISIONS:
        return {}
    return standings.diagnostics.get("answer", {})


def _decided_sentence(standings: Standings) -> str | None:
    """Write the first decision of the tournament that was ranked.

    If the user gave ratings (a ladder) on another scale than these battles, write instead that
    nothing is claimed about the new models. The result is None if neither applies.
    """
    ladder = standings.diagnostics.get("ladder", {})
    if ladder.get("other_scale"):
        new = ladder["new"] or [RATED_ONLY]
        return rank_templates.NOTHING_PLACED.format(models=join_names(new))
    decisions = _tournament_answer(standings).get("decisions", ())
    return next(iter(decisions), None)


def _next_sentences(
    standings: Standings,
    robustness: "DropOutRobustness | None",
    what_next: str | None,
    *,
    may_name_leader: bool,
) -> str:
    """Write what to do next and, for a leaderboard of means, how few items decide who leads.

    The text is empty if there is nothing to say.

    Args:
        standings: the standings.
        robustness: how few items decide the first place.
        what_next: what comes before the advice to add items; None for nothing.
        may_name_leader: whether another leader may be named.
    """
    new_leader = None
    if may_name_leader and standings.ranker == RANKER_WITH_NEXT_LEADER:
        new_leader = _new_leader_sentence(standings)
    step = _next_step_sentence(standings, robustness, what_next)
    return " ".join(filter(None, [step, new_leader]))


def _next_step_sentence(
    standings: Standings,
    robustness: "DropOutRobustness | None",
    what_next: str | None,
    *,
    in_brief: bool = False,
) -> str | None:
    """Write what to do next: connect groups, follow a tournament's advice, or add items.

    The first of these that applies is written; `what_next`, if it is given, comes before the
    advice to add items, which is shorter `in_brief`. None if none applies.
    """
    return (
        connecting_sentence(standings)
        or _tournament_answer(standings).get("advice")
        or what_next
        or next_sentence(standings, robustness, in_brief=in_brief)
    )


def _new_leader_sentence(standings: Standings) -> str | None:
    """Write how few items decide the first place of a leaderboard of means, or why it is unknown.

    If no items decide it, the sentence says that no other model would lead. None for other rankers,
    if models share the first place, with fewer than two items, and if more than half of the items
    would have to go.
    """
    drop_out = standings.diagnostics.get("drop_out")
    models_in_first_place = [entry.model for entry in standings.entries if entry.rank == 1]
    counts = standings.counts
    if not drop_out or len(models_in_first_place) > 1 or counts.units < 2:
        return None
    nouns = plural(counts.unit, 2)
    if "unknown" in drop_out:
        return rank_templates.NEW_LEADER_UNKNOWN.format(nouns=nouns, reason=drop_out["unknown"])
    if drop_out["items"] is None:
        return rank_templates.NO_NEW_LEADER.format(nouns=nouns)
    if 2 * drop_out["items"] > counts.units:
        return None
    are_few = drop_out["items"] <= CHECKS["first place"].threshold
    template = rank_templates.NEW_LEADER_AT_ONCE if are_few else rank_templates.NEW_LEADER
    share = drop_out["items"] / counts.units
    return template.format(
        number=number_word(drop_out["items"]),
        items=counts.units,
        nouns=nouns,
        share=f"{share:.0%}" if share >= 0.005 else "less than 1%",
        them=word_for(drop_out["items"], "it", "them"),
        rival=drop_out["leader"],
    )


def next_sentence(
    standings: Standings,
    robustness: "DropOutRobustness | None" = None,
    *,
    in_brief: bool = False,
) -> str | None:
    """Write how many more items would separate the first two models, or why that is unknown.

    Args:
        standings: the standings.
        robustness: how few items decide the first place. If another model leads without them, the
            number of further items is unknown.
        in_brief: whether to leave out for which tests that number holds.

    Returns:
        A sentence; None if fewer than two models have rank sets, if the first two are already
        separated, if neither the number nor a reason is known, or if the standings are of a
        tournament with decisions of its own or rest on given ratings (a ladder).
    """
    separation = standings.separation
    if separation is None or len(separation.names) < 2:
        return None
    are_separated = 1 in separation.beats[0]
    has_decisions = "decisions" in standings.diagnostics.get("answer", {})
    if are_separated or has_decisions:
        return None
    if "ladder" in standings.diagnostics:
        return None  # more items leave the errors of given ratings as they are
    first, second = separation.names[:2]
    number, noun, beside = _further_units(standings, separation)
    if number is not None:
        gap = standings.scale.difference_text(separation.gap)
        pairs = comb(len(separation.names), 2)
        again = None
        if not in_brief:
            has_verdicts = noun != "label" and standings.scale.kind in (ELO.kind, WIN_RATE.kind)
            again = tested_again_text(
                standings.level, separation.clusters, number, has_verdicts=has_verdicts
            )
        return more_items_sentence(
            first, second, items=number, gap=gap, noun=noun, pairs=pairs, again=again, beside=beside
        )
    few_raters = _few_raters_of(standings, (first, second))
    reason = few_raters or _why_unknown(separation, robustness, standings.counts.unit)
    if EFFECTIVE_RATERS in standings.diagnostics:
        units = plural(standings.diagnostics["raters"]["unit"], 2)
        reason = rank_templates.BUSY_RATERS.format(raters=units)
    if reason is None:
        return None
    return rank_templates.MORE_ITEMS_UNKNOWN.format(
        nouns=plural(noun, 2), first=first, second=second, reason=reason
    )


def _further_units(standings: Standings, separation: Separation) -> tuple[int | None, str, str]:
    """Return how many further units would separate the first two models.

    The unit is the human label if the ranking is by a structured calibration. It is the voter or
    judge if these vary and are no more than the items, or if too few judged one of the two models
    (the number is then unknown). Otherwise it is the item (or group of items), or the battle if
    there is one item only.

    Returns:
        The number, None if it is unknown; the name of the unit in the singular; and how many
        further items go with further raters, as a text that is empty otherwise.
    """
    if "structured" in standings.diagnostics:
        return _estimate_further_labels(standings, separation), "label", ""
    noun = standings.counts.unit if standings.counts.items > 1 else "battle"
    if _few_raters_of(standings, separation.names[:2]):
        return None, standings.diagnostics["raters"]["unit"], ""
    if EFFECTIVE_RATERS in standings.diagnostics:
        return None, standings.diagnostics["raters"]["unit"], ""
    if separation.z is None:
        return None, noun, ""
    number = further_items(separation.clusters, separation.critical, separation.z)
    raters = standings.diagnostics.get("raters")
    if not raters or raters["number"] > separation.clusters:
        return number, noun, ""
    return number, raters["unit"], _items_beside_raters(standings, raters["number"], number)


def _few_raters_of(standings: Standings, names: Sequence[str]) -> str | None:
    """Write which of two models have too few voters or judges to be clearly ahead or behind.

    The clause gives the number of voters or judges of each such model. None if neither has too few.
    """
    few_raters = standings.diagnostics.get(FEW_RATERS, {})
    named = [name for name in names if name in few_raters]
    if not named:
        return None
    # Raters vary in the intervals (`raters`), or are taken as fixed.
    raters = standings.diagnostics.get("raters") or standings.diagnostics[FIXED_RATERS]
    unit = raters["unit"]
    texts = []
    for name in named:
        number = few_raters[name]
        texts.append(f"{number_word(number)} {plural(unit, number)} judged {name}")
    return rank_templates.FEW_RATERS.format(raters=" and ".join(texts))


def _items_beside_raters(standings: Standings, raters: int, further: int | None) -> str:
    """Write how many further items go with further voters or judges.

    The text is empty if the number of further raters is unknown (`further` is None), or if there is
    one item only.

    Args:
        standings: the standings.
        raters: number of voters or judges so far.
        further: number of further voters or judges; None if unknown.
    """
    if further is None or standings.counts.items <= 1:
        return ""
    return further_items_text(
        raters=raters,
        further_raters=further,
        items=standings.counts.units,
        unit=standings.counts.unit,
    )


def _why_unknown(
    separation: Separation, robustness: "DropOutRobustness | None", unit: str
) -> str | None:
    """Return why the number of further items is unknown, as a clause; None if no reason is known.

    The last reason, if no other one applies, is that human labels alone do not bound the ratings.
    `unit` is what varies, in the singular: an item or a group of items.
    """
    if robustness and robustness.items:
        are_rows = robustness.are_rows
        return rank_templates.RIVAL_LEADS.format(
            items=join_item_names(robustness.items, are_rows=are_rows, noun=unit),
            rival=robustness.new_leader,
        )
    if separation.gap == 0:
        return rank_templates.NO_GAP
    if separation.z is None:
        return rank_templates.GAP_UNBOUNDED if isinf(separation.gap) else None
    if separation.z < 1:
        return rank_templates.GAP_WITHIN_ERROR
    if separation.clusters < FEWEST_ITEMS:
        return rank_templates.FEW_ITEMS.format(least=FEWEST_ITEMS, nouns=plural(unit, 2))
    return rank_templates.LABELS_UNBOUNDED


def connecting_sentence(standings: Standings) -> str | None:
    """Write what would connect groups of models that never met.

    For ratings, the sentence says how many battles are needed. For scores, the sentence says that
    scores of models of each group on the same items are. The result is None if all models are
    connected, or if the ranker does not say so.
    """
    groups = standings.fit.components
    if groups is None or groups < 2:
        return None
    if standings.scale.name == "score":
        return rank_templates.CONNECTING_ITEMS
    battles = f"{number_word(groups - 1).capitalize()} {plural('battle', groups - 1)}"
    return rank_templates.CONNECTING_BATTLES.format(battles=battles, groups=number_word(groups))


def _sentence_on_slices(
    standings: Standings,
    others: Sequence[Standings],
    checks: Mapping[str | None, Sequence[Check]],
    noun: str,
) -> str | None:
    """Write in how many slices the same models lead, and in which the order decides the verdicts.

    Only the first answer is printed, so that it must say of the other slices whose judge may not
    rank. None if there is one slice.

    Args:
        standings: the standings of the answer.
        others: the standings of all rankers on all slices, these included.
        checks: the checks of each slice, with p-values that are not adjusted.
        noun: what a slice is called, in the singular.
    """
    leaders = _same_leaders_sentence(standings, others, noun)
    labels = {each.slice: each.shown_slice for each in others}
    decided_by_order = []
    for value, checks_of_slice in checks.items():
        if value == standings.slice:
            continue
        if find_flagged(adjust_tests(checks_of_slice), [ORDER_DECIDES]):
            decided_by_order.append(str(labels.get(value, value)))
    if leaders is None or not decided_by_order:
        return leaders
    order = rank_templates.ORDER_DECIDES_IN_SLICES.format(slices=some(decided_by_order, most=5))
    return f"{leaders} {order}"


def _same_leaders_sentence(
    standings: Standings, others: Sequence[Standings], noun: str
) -> str | None:
    """Write in how many slices the same models lead by the same ranker.

    If the leaders lead no other slice, the sentence says in how many other slices other models
    lead. If these standings have no leaders, the sentence says in how many other slices no place is
    certain either. The result is None if there is one slice.

    Args:
        standings: the standings whose leaders are compared.
        others: the standings of all rankers on all slices, these included.
        noun: what a slice is called, in the singular.
    """
    slices = [other for other in others if other.ranker == standings.ranker]
    if len(slices) < 2:
        return None
    leaders = leading_group(standings)
    groups = [leading_group(other) for other in slices]
    same = sum(group == leaders for group in groups)
    share = f"{same} of {len(slices)} {plural(noun, len(slices))}"
    if same == len(slices):
        share = all_of(same, noun)
    # Only if none of the leaders leads another slice, others lead there.
    groups_with_leaders = [group for group in groups if not {*group}.isdisjoint(leaders)]
    if leaders and len(groups_with_leaders) == 1:
        slices_with_leaders = [group for group in groups if group]
        led = len(slices_with_leaders) - 1
        return _other_leaders_sentence(others=len(slices) - 1, led=led, noun=noun)
    if not leaders:
        return _no_leader_sentence(same=same - 1, others=len(slices) - 1, noun=noun)
    models = "model leads" if len(leaders) == 1 else "models lead"
    return rank_templates.SAME_LEADERS_IN_SLICES.format(models=models, slices=share)


def _no_leader_sentence(same: int, others: int, noun: str) -> str:
    """Write in how many other slices, called `noun`, no place is certain either.

    The answer has already said that no place is certain in the slice that it describes.

    Args:
        same: number of other slices without leaders.
        others: number of other slices.
    """
    if same == others:
        words_by_number = {1: f"the other {noun}", 2: f"either other {noun}"}
        any_slice = f"any of the {number_word(others)} other {plural(noun, others)}"
        return rank_templates.NO_LEADER_EITHER.format(
            any_slice=words_by_number.get(others, any_slice)
        )
    template = rank_templates.LEADERS_IN_SOME if same else rank_templates.LEADERS_IN_OTHERS
    return _format_other_slices(template, others, others - same, noun)


def _other_leaders_sentence(others: int, led: int, noun: str) -> str:
    """Write in how many other slices, called `noun`, other models lead, and in how many none does.

    Args:
        others: number of slices with other leaders or without leaders.
        led: number of these that have leaders.
    """
    template = rank_templates.OTHERS_LEAD_IN_SOME if led else rank_templates.NO_LEADER_IN_OTHERS
    if led == others:
        template = rank_templates.OTHER_LEADERS_IN_SLICES
    return _format_other_slices(template, others, led, noun)


def _format_other_slices(template: str, others: int, led: int, noun: str) -> str:
    """Fill in a template on other slices, called `noun`, of which `led` have leaders.

    Args:
        template: a template of `rank_templates` on other slices.
        others: number of other slices.
        led: number of these that have leaders.
        noun: what a slice is called, in the singular.
    """
    return template.format(
        slices=f"the other {noun}" if others == 1 else all_of(others, f"other {noun}"),
        number=number_word(others),
        nouns=plural(noun, others),
        led=number_word(led),
        have=word_for(led, "has", "have"),
        open=number_word(others - led),
    )


def _estimate_further_labels(standings: Standings, separation: Separation) -> int | None:
    """Return how many more human labels would separate the first two models.

    None if the gap is smaller than its standard error or unknown, or if the labels alone do not
    bound both ratings.
    """
    figures_of_model = {entry.model: entry.extra for entry in standings.entries}
    first_two = [figures_of_model[name] for name in separation.names[:2]]
    lows = [figures["human_low"] for figures in first_two]
    highs = [figures["human_high"] for figures in first_two]
    are_bounded = None not in (*lows, *highs)
    z = separation.z
    if z is None or z < 1 or not are_bounded:
        return None
    # The standard errors of the two ratings by labels alone: half the width of each interval over
    # the normal quantile.
    errors = np.subtract(highs, lows) / (2 * ndtri((1 + standings.level) / 2))
    # Ratings by the labels alone sum to 0, so two of n ratings have a covariance of about -1/(n-1)
    # of their variance. The variance of their difference is (se_1^2 + se_2^2) n / (n - 1).
    models = len(figures_of_model)
    variance_by_labels = float(np.sum(errors**2)) * models / (models - 1)
    labels = standings.diagnostics["structured"]["labels"]
    variance = (separation.gap / z) ** 2
    return further_labels(
        labels,
        critical=separation.critical,
        gap=separation.gap,
        joint_variance=variance,
        label_variance=variance_by_labels,
    )
