"""Write which models lead, by simultaneous tests of all pairs.

A cut is a place in the ranking where every model above is clearly ahead of every model below. Cuts
divide the models into groups.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from math import comb, inf, isfinite, nan

from podium.diagnosis.checks.place_checks import checks_against_elo
from podium.distributions import expit
from podium.numbers import interval_text
from podium.rankers.fit.graph import largest_distinguishable_block
from podium.rankers.fit.scale import POINTS
from podium.rankers.ranking import Entry, Separation, Standings
from podium.show.answers import rank_templates
from podium.show.answers.rank_templates import all_of
from podium.wording import join_names, number_word, plural, word_for

MOST_GROUPS = 3
"""If there are more groups than this, only the first two and the last are described."""
MOST_PAIRS = 2
"""For at most this many models of the leading group, the answer names the models ahead of them."""


def who_sentence(standings: Standings, *, is_partial: bool = False) -> str | None:
    """Write which models lead, and the ranks of which models are unknown.

    If fewer than two models have rank sets, write that all scores are equal, or how humans would
    rate new models; None if neither applies.

    Args:
        standings: the standings.
        is_partial: whether models are left out about which nothing can be claimed. A leader is then
            ahead of "all others that can be ranked".
    """
    separation = standings.separation
    if separation is None or len(separation.names) < 2:
        return _same_score_sentence(standings) or _new_models_sentence(standings)
    if separation.cuts:
        leaders = _groups_text(standings, separation, is_partial=is_partial)
    else:
        leaders = _no_cut_sentence(standings, separation)
    unplaced = unplaced_models(standings)
    if not unplaced:
        return leaders
    unknown = rank_templates.RANKS_UNKNOWN.format(
        ranks=plural("rank", len(unplaced)),
        models=join_names(unplaced),
        are=word_for(len(unplaced), "is", "are"),
    )
    return f"{leaders} {unknown}"


def neighbours_sentence(standings: Standings) -> str | None:
    """Write how many neighbouring places of a leaderboard are too close to call.

    The sentence also names the first two neighbouring places that are separated. If all neighbours
    are separated, it says that every model is clearly ahead of the next one. None if there are
    fewer than four places, or if no pair is separated: the first sentence then says it all.
    """
    separation = standings.separation
    if separation is None or len(separation.names) < 4 or not any(separation.beats):
        return None
    pairs = len(separation.names) - 1
    # Places, from 1, whose model is clearly ahead of the model in the next place. `beats` counts
    # places from 0.
    separated = []
    for place in range(1, pairs + 1):
        is_ahead_of_next = place in separation.beats[place - 1]
        if is_ahead_of_next:
            separated.append(place)
    number_open = pairs - len(separated)
    if not number_open:
        return rank_templates.NEIGHBOURS_CLEAR
    first_separated = ""
    if separated:
        first_separated = rank_templates.FIRST_APART.format(
            place=separated[0], next=separated[0] + 1
        )
    return rank_templates.NEIGHBOURS.format(
        open=number_open,
        pairs=pairs,
        are=word_for(number_open, "is", "are"),
        apart=first_separated,
    )


def unplaced_models(standings: Standings) -> list[str]:
    """Return the names of the models without a rank set that have a score or a battle.

    The names are in the order of the rows of the ranking.
    """
    names_with_place = set(standings.separation.names) if standings.separation else set()
    return [
        entry.model
        for entry in standings.entries
        if (entry.score is not None or entry.battles) and entry.model not in names_with_place
    ]


def without_models(standings: Standings, left_out: Collection[str]) -> Standings:
    """Return standings without some models.

    Pairs of the other models stay clearly ahead or too close to call as they are. The cuts are
    computed again. The gap between the first two models becomes unknown unless these are the same
    as before.

    Args:
        standings: the standings, which are not changed.
        left_out: names of the models to leave out.
    """
    kept_entries = tuple(entry for entry in standings.entries if entry.model not in left_out)
    separation = standings.separation
    if separation is None:
        return replace(standings, entries=kept_entries)
    places = [k for k, name in enumerate(separation.names) if name not in left_out]
    new_place_of = {old: new for new, old in enumerate(places)}
    beats = []
    for k in places:
        kept_behind = [j for j in separation.beats[k] if j in new_place_of]
        beats.append(tuple(new_place_of[j] for j in kept_behind))
    number = len(places)
    # A cut is before place `cut` if each model above it is clearly ahead of all models below.
    cuts = []
    for cut in range(1, number):
        below = set(range(cut, number))
        if all(below.issubset(behind) for behind in beats[:cut]):
            cuts.append(cut)
    has_same_leaders = places[:2] == [0, 1]
    remaining = replace(
        separation,
        names=tuple(separation.names[k] for k in places),
        cuts=tuple(cuts),
        beats=tuple(beats),
        gap=separation.gap if has_same_leaders else nan,
        lead=separation.lead if has_same_leaders else None,
        z=separation.z if has_same_leaders else None,
        neighbours=_tests_of_kept(separation, places),
    )
    return replace(standings, entries=kept_entries, separation=remaining)


def _tests_of_kept(
    separation: Separation, places: Sequence[int]
) -> tuple[tuple[float, float] | None, ...]:
    """Return the tests of neighbours among the models at some places.

    The test is None for two models that were no neighbours before. The tuple has one test fewer
    than there are models.

    Args:
        separation: the tests of all neighbours.
        places: places of the models, from 0 and in order.
    """
    tests = []
    for upper, lower in pairwise(places):
        are_neighbours = lower == upper + 1 and upper < len(separation.neighbours)
        tests.append(separation.neighbours[upper] if are_neighbours else None)
    return tuple(tests)


def withhold_ranks(standings: Standings) -> Standings:
    """Return standings in which no model is clearly ahead of another one.

    All rank sets go from 1 to the number of models with a rank set; a model without one still has
    none. Such standings are needed for battles whose rows may share items: errors that take rows as
    independent are then too small. Scores and intervals stay.
    """
    models_with_place = sum(entry.rank_low is not None for entry in standings.entries)
    entries = []
    for entry in standings.entries:
        if entry.rank_low is not None:
            entry = replace(entry, rank_low=1, rank_high=models_with_place)
        entries.append(entry)
    separation = standings.separation
    if separation is not None:
        nobody = tuple(() for _ in separation.beats)
        separation = replace(separation, cuts=(), beats=nobody, lead=None, neighbours=())
    return replace(standings, entries=tuple(entries), separation=separation)


def withhold_ranks_of(standings: Standings, models: Collection[str]) -> Standings:
    """Return standings in which some models have no rank set.

    A rank set of the other models rested on being clearly ahead of, or behind, some of these. It
    grows by a rank for each, at the end that this had excluded. The pairs and cuts are those of
    `without_models`. Scores and intervals are unchanged.

    Args:
        standings: the standings, which are not changed.
        models: names of the models about which nothing can be claimed.
    """
    separation = standings.separation
    # Numbers of withheld models that are clearly ahead of, and clearly behind, each model.
    better = dict.fromkeys((entry.model for entry in standings.entries), 0)
    worse = dict(better)
    if separation is not None:
        for winner, behind in zip(separation.names, separation.beats, strict=True):
            for loser in (separation.names[k] for k in behind):
                better[loser] += winner in models
                worse[winner] += loser in models
    entries = []
    for entry in standings.entries:
        low = entry.rank_low
        high = entry.rank_high
        if entry.model in models or low is None or high is None:
            entries.append(replace(entry, rank_low=None, rank_high=None))
        else:
            lowest = low - better[entry.model]
            highest = high + worse[entry.model]
            entries.append(replace(entry, rank_low=lowest, rank_high=highest))
    remaining = without_models(standings, models)
    return replace(remaining, entries=tuple(entries))


def leading_group(standings: Standings) -> frozenset[str]:
    """Return the names of the models above the first cut; an empty set if there is no cut."""
    separation = standings.separation
    if separation is None or not separation.cuts:
        return frozenset()
    return frozenset(separation.names[: separation.cuts[0]])


def _same_score_sentence(standings: Standings) -> str | None:
    """Write that all models have the same score, to six decimals.

    The result is None if their scores differ, or if fewer than two models have one.
    """
    scores = [round(entry.score, 6) for entry in standings.entries if entry.score is not None]
    are_different = len(set(scores)) > 1
    if len(scores) < 2 or are_different:
        return None
    models = "The two models"
    if len(scores) > 2:
        models = all_of(len(scores), "model").capitalize()
    return rank_templates.SAME_SCORE.format(models=models)


def _new_models_sentence(standings: Standings) -> str | None:
    """Write how humans would rate the models that are not in the calibration.

    Only models with a conformal interval that has a known end are named; None if there is none.
    """
    new = [entry for entry in standings.entries if _has_conformal_end(entry)]
    if not new:
        return None
    ratings = []
    for entry in new:
        low = entry.extra["conformal_low"]
        interval = interval_text(low, entry.extra["conformal_high"], ".0f")
        ratings.append(rank_templates.NEW_MODEL.format(entry=entry, interval=interval))
    return rank_templates.NEW_MODELS.format(
        ratings=join_names(ratings), level=100 * new[0].extra["conformal_level"]
    )


def _has_conformal_end(entry: Entry) -> bool:
    """Return whether a model has a conformal interval with at least one known end."""
    ends = (entry.extra.get("conformal_low"), entry.extra.get("conformal_high"))
    return any(end is not None for end in ends)


def _evidence_text(standings: Standings) -> str:
    """Write on how many items, or with how many human labels, models were compared.

    For example: `on these 40 items`, or `on these 12 passages (40 items)`. Labels are counted only
    if the ranking is by a structured calibration.
    """
    labels = standings.diagnostics.get("structured", {}).get("labels")
    if labels is None:
        preposition = "on"
        number = standings.counts.units
        noun = standings.counts.unit
    else:
        preposition = "with"
        number = round(labels)
        noun = "human label"
    determiner = "this" if number == 1 else "these"
    evidence = f"{preposition} {determiner} {number:,} {plural(noun, number)}"
    if labels is None and standings.counts.groups is not None:
        items = standings.counts.items
        evidence += f" ({items:,} {plural('item', items)})"
    return evidence


def _groups_text(standings: Standings, separation: Separation, *, is_partial: bool) -> str:
    """Describe the groups between cuts.

    If a single model leads, only its lead is described. Of more than three groups, only the first
    two and the last are described. A single model below the leading group has no clause of its own
    if the sentence on that group names it.

    Args:
        standings: the standings.
        separation: the tests of all pairs.
        is_partial: whether models are left out.
    """
    ends = [0, *separation.cuts, len(separation.names)]
    groups = [range(start, end) for start, end in pairwise(ends)]
    if len(groups[0]) == 1:
        are_some_unplaced = is_partial or bool(unplaced_models(standings))
        others = "others that can be ranked" if are_some_unplaced else "others"
        lead = _lead_text(standings, separation)
        return rank_templates.ONE_LEADER.format(
            leader=separation.names[0], others=others, lead=lead
        )
    rest = list(separation.names[groups[1].start :])
    first = _first_group(standings, separation, groups[0], rest)
    leaders = {*groups[0]}
    is_leader_ahead = any(leaders.intersection(separation.beats[k]) for k in leaders)
    if len(rest) == 1 and is_leader_ahead:
        # The sentence on the leading group names the only model below.
        return first
    clauses = [
        _following_clause(separation, group, is_last=group is groups[-1]) for group in groups[1:]
    ]
    if len(groups) > MOST_GROUPS:
        between = groups[2:-1]
        middle = rank_templates.GROUPS_BETWEEN.format(
            groups=f"{len(between)} {plural('group', len(between))}",
            models=sum(len(group) for group in between),
        )
        clauses = [clauses[0], middle, clauses[-1]]
    return f"{first} {'; '.join(clauses)}."


def _first_group(
    standings: Standings, separation: Separation, group: range, rest: Sequence[str]
) -> str:
    """Describe a leading group of several models, and which of them are behind another.

    Of models behind another, at most `MOST_PAIRS` are described, and the others are counted. If
    none is behind another, they are called too close to call. The text ends with a period.

    Args:
        standings: the standings.
        separation: the tests of all pairs.
        group: places of the group's models, from 0.
        rest: names of the models below; a single one is named.
    """
    names = separation.names
    models = join_names([names[k] for k in group])
    unbeaten = []
    behind = []
    for k in group:
        places_of_better = [place for place in group if k in separation.beats[place]]
        better = [names[place] for place in places_of_better]
        if better:
            behind.append(
                rank_templates.MODEL_BEHIND.format(model=names[k], better=join_names(better))
            )
        else:
            unbeaten.append(names[k])
    if not behind:
        return rank_templates.OPEN_GROUP.format(models=models, evidence=_evidence_text(standings))
    number_of_more = len(behind) - MOST_PAIRS
    if number_of_more > 0:
        number_behind = rank_templates.MORE_MODELS_BEHIND.format(
            number=number_of_more, are=word_for(number_of_more, "is", "are")
        )
        behind = [*behind[:MOST_PAIRS], number_behind]
    return rank_templates.PARTLY_OPEN_GROUP.format(
        models=models,
        rest=rest[0] if len(rest) == 1 else rank_templates.THE_REST,
        first=join_names(unbeaten, "or"),
        behind="; ".join(behind),
    )


def _following_clause(separation: Separation, group: range, *, is_last: bool) -> str:
    """Write a clause on a group below the leading one, without a full stop.

    A group in which no model is clearly ahead of another is called too close to call.

    Args:
        separation: the tests of all pairs.
        group: places of the group's models, from 0.
        is_last: whether no group is below.
    """
    names = join_names([separation.names[k] for k in group])
    if len(group) == 1:
        of_one = rank_templates.IS_LAST if is_last else rank_templates.MODEL_FOLLOWS
        return of_one.format(model=names)
    members = set(group)
    is_open = all(members.isdisjoint(separation.beats[k]) for k in group)
    template = rank_templates.FOLLOW_OPEN if is_open else rank_templates.MODELS_FOLLOW
    return template.format(models=names)


def _no_cut_sentence(standings: Standings, separation: Separation) -> str:
    """Describe a ranking without cuts.

    The sentence says how many pairs are too close to call, and names the largest two sets of
    models such that each model of the first is clearly ahead of each model of the second. If no
    pair is clear, it only says that all are too close to call, and on how many items.
    """
    names = separation.names
    pairs = comb(len(names), 2)
    clear = sum(len(places_behind) for places_behind in separation.beats)
    if not clear:
        template = rank_templates.TWO_OPEN if pairs == 1 else rank_templates.ALL_OPEN
        return template.format(
            models=join_names(names),
            number=number_word(len(names)),
            evidence=_evidence_text(standings),
        )
    above, below = largest_distinguishable_block(separation.beats)
    better = join_names([names[k] for k in above])
    verb = "are each" if len(above) > 1 else "is"
    return rank_templates.NO_CUT.format(
        open=pairs - clear,
        pairs=pairs,
        better=f"{better} {verb}",
        worse=join_names([names[k] for k in below]),
    )


def _lead_text(standings: Standings, separation: Separation) -> str:
    """Write the gap between the first two models with its simultaneous interval.

    If the gap is unbounded, only its lower end is written. On an Elo scale, the win rate of that
    gap is added, unless a flagged check says that gaps are no win rates. Empty if the gap is
    unknown, or if its only end is 0.
    """
    if separation.lead is None or separation.lead[:2] == (inf, 0.0):
        return ""
    scale = standings.scale
    second = separation.names[1]
    gap, low, high = separation.lead
    if isfinite(gap):
        lead = rank_templates.LEAD.format(
            second=second,
            gap=scale.difference_text(gap),
            low=scale.difference_number(low) if isfinite(low) else "∞",
            high=scale.difference_number(high) if isfinite(high) else "∞",
        )
        least = ""
        certain_gap = gap
    else:
        lead = rank_templates.LEAD_FROM.format(low=scale.difference_text(low), second=second)
        least = rank_templates.AT_LEAST
        certain_gap = low
    if not scale.is_elo or checks_against_elo(standings.checks):
        return lead
    wins = expit(certain_gap / POINTS)
    return rank_templates.LEAD_IN_WINS.format(lead=lead, least=least, wins=wins)
