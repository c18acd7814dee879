"""Add answers to standings: which models lead, whether to trust that, and what to do next."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import comb, isinf

import numpy as np
from scipy.special import ndtri

from podium.checks import CHECKS, LENGTH_CONTROL
from podium.data.battles import Battles
from podium.defaults import RANKER_OF_DECISIONS
from podium.numbers import difference_text
from podium.rankers.drop_out import DropOutRobustness
from podium.rankers.errors.rank_sets import further_items, further_labels
from podium.rankers.ladder_placement import RATED_ONLY
from podium.rankers.ranking import Separation, Standings
from podium.show.answers import rank_templates
from podium.show.answers.lost_claims import models_in_doubt
from podium.show.answers.rank_templates import (
    all_of,
    join_item_names,
    join_names,
    more_items_sentence,
    number_word,
)
from podium.show.answers.trust_checks import (
    MOST_DESCRIBED,
    CheckResult,
    check_first_place,
    check_jury,
    check_ladder_results,
    check_misjudged,
    check_results,
    failed_checks,
    models_with_lost_battles,
    results_for,
    robustness_of,
    trust_sentence,
)
from podium.show.answers.who import leading_group, neighbours_sentence, who_sentence, without_models
from podium.text import plural


def add_answers(
    standings: Sequence[Standings],
    slices: Mapping[str | None, Battles],
    families: Mapping[str, str],
) -> tuple[Standings, ...]:
    """Return standings with answers; the first answer, which is printed, replaces a warning about
    few items."""
    compared = {each.slice for each in standings if who_sentence(each) is not None}
    results = {
        value: check_results(battles, families)
        for value, battles in slices.items()
        if value in compared
    }
    answered = list(standings)
    in_doubt = [_unclaimed_models(each, slices, results) for each in standings]
    placed = [
        without_models(each, models) for each, models in zip(standings, in_doubt, strict=True)
    ]
    for k, each in enumerate(standings):
        if each.slice in compared:
            what_next = _same_leaders_sentence(placed[k], placed)
            battles, own_results = slices[each.slice], results_for(each, results[each.slice])
            answer = build_ranking_answer(each, battles, own_results, what_next, in_doubt[k])
            on = f"On {each.slice}: " if len(slices) > 1 else ""
            answered[k] = replace(
                each, answer=tuple(f"{'' if n else on}{text}" for n, text in enumerate(answer))
            )
    failed = failed_checks(results[answered[0].slice]) if answered and answered[0].answer else []
    if "items" not in [own.check for own in failed[:MOST_DESCRIBED]]:
        return tuple(answered)
    printed, repeated = answered[0].slice, CHECKS["items"].code
    for k, each in enumerate(answered):
        if each.slice == printed:
            others = tuple(own for own in each.warnings if own.code != repeated)
            answered[k] = replace(each, warnings=others)
    return tuple(answered)


def _unclaimed_models(
    standings: Standings,
    slices: Mapping[str | None, Battles],
    results: Mapping[str | None, Sequence[CheckResult]],
) -> tuple[str, ...]:
    """Return the models of standings that nothing can be claimed about, as their battles are lost
    more often."""
    lost = models_with_lost_battles(results.get(standings.slice, ()))
    return models_in_doubt(standings, slices[standings.slice], lost) if lost else ()


def build_ranking_answer(
    standings: Standings,
    battles: Battles,
    results: Sequence[CheckResult],
    what_next: str | None = None,
    in_doubt: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the answer in at most three sentences, with its own third one and nothing about the
    models in doubt; empty if no two models have an interval."""
    who = who_sentence(standings)
    if who is None:
        return ()
    if in_doubt:
        nothing = rank_templates.NOTHING_PLACED.format(models=join_names(in_doubt))
        standings = without_models(standings, in_doubt)
        who = " ".join(filter(None, [who_sentence(standings), nothing]))
    tournament = (
        standings.diagnostics.get("answer", {}) if standings.ranker == RANKER_OF_DECISIONS else {}
    )
    who = next(iter(tournament.get("decisions", ())), who)
    if (ladder := standings.diagnostics.get("ladder", {})).get("other_scale"):
        who = rank_templates.NOTHING_PLACED.format(models=join_names(ladder["new"] or [RATED_ONLY]))
    robustness = robustness_of(battles, standings)
    own_checks = [
        *check_ladder_results(standings),
        *check_misjudged(standings),
        *check_jury(standings),
    ]
    trust = trust_sentence([*results, *own_checks, *check_first_place(standings, robustness)])
    if standings.ranker not in ("bradley-terry", "win-rate"):
        trust = trust.replace(LENGTH_CONTROL, f"--ranker bradley-terry {LENGTH_CONTROL}")
    if battles.likely_item is not None:
        return (rank_templates.UNIT_UNKNOWN, trust)
    what_next = what_next or next_sentence(standings, robustness)
    what_next = connecting_sentence(standings) or tournament.get("advice") or what_next
    if standings.ranker == "mean":
        who = " ".join(filter(None, [who, neighbours_sentence(standings)]))
        what_next = " ".join(filter(None, [what_next, _new_leader_sentence(standings)]))
    return (who, trust, *([what_next] if what_next else []))


def _new_leader_sentence(standings: Standings) -> str | None:
    """Write how few items carry the first place of a leaderboard of means, or why that is
    unknown."""
    if not (known := standings.diagnostics.get("drop_out")):
        return None
    if "unknown" in known:
        return rank_templates.NEW_LEADER_UNKNOWN.format(reason=known["unknown"])
    if known["items"] is None:
        return rank_templates.NO_NEW_LEADER
    fields = {"items": standings.counts.items, "rival": known["leader"]}
    return rank_templates.NEW_LEADER.format(number=number_word(known["items"]), **fields)


def next_sentence(standings: Standings, robustness: DropOutRobustness | None = None) -> str | None:
    """Write how many more items would separate the first two; None if they are, or a tournament has
    its own advice."""
    separation = standings.separation
    if separation is None or len(separation.names) < 2:
        return None
    if 1 in separation.beats[0] or "decisions" in standings.diagnostics.get("answer", {}):
        return None
    if "ladder" in standings.diagnostics:
        return None  # more items leave the errors of given ratings as they are
    first, second = separation.names[:2]
    number, noun = None, "item" if standings.counts.items > 1 else "battle"
    if "structured" in standings.diagnostics:
        noun, number = "label", _estimate_further_labels(standings, separation)
    elif separation.z is not None:
        number = further_items(separation.clusters, separation.critical, separation.z)
    if number is not None:
        gap, pairs = (
            difference_text(separation.gap, standings.scale),
            comb(len(separation.names), 2),
        )
        return more_items_sentence(first, second, number, gap, noun, pairs=pairs)
    reason = _why_unknown(separation, robustness)
    if reason is None:
        return None
    return rank_templates.MORE_ITEMS_UNKNOWN.format(
        noun=noun, first=first, second=second, reason=reason
    )


def _why_unknown(separation: Separation, robustness: DropOutRobustness | None) -> str | None:
    """Return why the number of further items is unknown; None if nothing is known of the error of
    the gap."""
    if robustness and robustness.items:
        return rank_templates.RIVAL_LEADS.format(
            items=join_item_names(robustness.items), rival=robustness.new_leader
        )
    if separation.gap == 0:
        return rank_templates.NO_GAP
    if separation.z is None:
        return rank_templates.GAP_UNBOUNDED if isinf(separation.gap) else None
    if separation.z < 1:
        return rank_templates.GAP_WITHIN_ERROR
    return rank_templates.LABELS_UNBOUNDED


def connecting_sentence(standings: Standings) -> str | None:
    """Write how many battles would connect groups of models that never met; None if all models are
    connected."""
    groups = standings.fit.components
    if groups is None or groups < 2:
        return None
    battles = f"{number_word(groups - 1).capitalize()} {plural('battle', groups - 1)}"
    return rank_templates.CONNECTING.format(battles=battles, groups=number_word(groups))


def _same_leaders_sentence(standings: Standings, others: Sequence[Standings]) -> str | None:
    """Write in how many slices the same models lead; None if there is one slice."""
    slices = [other for other in others if other.ranker == standings.ranker]
    if len(slices) < 2:
        return None
    leaders = leading_group(standings)
    same = sum(leading_group(other) == leaders for other in slices)
    share = all_of(same, "slice") if same == len(slices) else f"{same} of {len(slices)} slices"
    if not leaders:
        return rank_templates.NO_LEADER_IN_SLICES.format(slices=share)
    models = "model leads" if len(leaders) == 1 else "models lead"
    return rank_templates.SAME_LEADERS_IN_SLICES.format(models=models, slices=share)


def _estimate_further_labels(standings: Standings, separation: Separation) -> int | None:
    """Return how many more human labels would separate the first two models; None if that is
    unknown."""
    extra = {entry.model: entry.extra for entry in standings.entries}
    ends = [
        extra[name][end] for end in ("human_low", "human_high") for name in separation.names[:2]
    ]
    z = separation.z
    if not z or z < 1 or None in ends:
        return None
    errors = np.subtract(ends[2:], ends[:2]) / (2 * ndtri((1 + standings.level) / 2))
    # Ratings by the labels alone sum to 0, so the errors of two of them have opposite signs.
    alone = float(np.sum(errors**2)) * len(extra) / (len(extra) - 1)
    labels, joined = standings.diagnostics["structured"]["labels"], (separation.gap / z) ** 2
    return further_labels(labels, separation.critical, separation.gap, joined, alone)
