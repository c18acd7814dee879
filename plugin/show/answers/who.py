"""Which models lead, by simultaneous tests of all pairs: a cut ends a group, and the first group is
described."""

from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise
from math import comb, isfinite

from scipy.special import expit

from podium.rankers.fit.graph import largest_distinguishable_block
from podium.rankers.fit.scale import POINTS
from podium.rankers.ranking import Separation, Standings
from podium.show.answers import rank_templates
from podium.show.answers.rank_templates import all_of, number_word
from podium.wording import join_names, plural

MOST_GROUPS = 3
MOST_PAIRS = 2


def who_sentence(standings: Standings) -> str | None:
    """Write which models lead; if fewer than two have rank sets, equal scores or new models'
    ratings; else None."""
    separation = standings.separation
    if separation is None or len(separation.names) < 2:
        return _same_score_sentence(standings) or _new_models_sentence(standings)
    sentences = (
        _groups_text(standings, separation)
        if separation.cuts
        else _no_cut_sentence(standings, separation)
    )
    if not (unplaced := unplaced_models(standings)):
        return sentences
    fields = {"ranks": plural("rank", len(unplaced)), "are": "is" if len(unplaced) == 1 else "are"}
    return (
        f"{sentences} {rank_templates.RANKS_UNKNOWN.format(models=join_names(unplaced), **fields)}"
    )


def neighbours_sentence(standings: Standings) -> str | None:
    """Write how many neighbouring places of a leaderboard are too close to call, and the first that
    are not."""
    if standings.separation is None or (pairs := len(standings.separation.names) - 1) < 2:
        return None
    apart = [k + 1 for k in range(pairs) if k + 1 in standings.separation.beats[k]]
    number_open = pairs - len(apart)
    if not number_open:
        return rank_templates.NEIGHBOURS_CLEAR
    first = rank_templates.FIRST_APART.format(place=apart[0], next=apart[0] + 1) if apart else ""
    return rank_templates.NEIGHBOURS.format(
        open=number_open, pairs=pairs, are="is" if number_open == 1 else "are", apart=first
    )


def unplaced_models(standings: Standings) -> list[str]:
    """Return the models with a score or a battle that have no rank, because the data do not bound
    it."""
    placed = set(standings.separation.names) if standings.separation else set()
    known = [entry.model for entry in standings.entries if entry.score is not None or entry.battles]
    return [model for model in known if model not in placed]


def without_models(standings: Standings, left_out: Collection[str]) -> Standings:
    """Return standings without some models, the others distinguishable from each other as
    before."""
    kept_entries = tuple(entry for entry in standings.entries if entry.model not in left_out)
    separation = standings.separation
    if separation is None:
        return replace(standings, entries=kept_entries)
    kept = [k for k, name in enumerate(separation.names) if name not in left_out]
    place = {old: new for new, old in enumerate(kept)}
    beats = tuple(tuple(place[j] for j in separation.beats[k] if j in place) for k in kept)
    models = len(kept)
    cuts = tuple(
        cut
        for cut in range(1, models)
        if all({*range(cut, models)} <= {*behind} for behind in beats[:cut])
    )
    has_same_leaders = kept[:2] == [0, 1]
    known = (
        {"lead": separation.lead, "z": separation.z}
        if has_same_leaders
        else {"lead": None, "z": None}
    )
    names = tuple(separation.names[k] for k in kept)
    return replace(
        standings,
        entries=kept_entries,
        separation=replace(separation, names=names, cuts=cuts, beats=beats, **known),
    )


def leading_group(standings: Standings) -> frozenset[str]:
    """Return the models above the first cut; empty without a cut."""
    separation = standings.separation
    return (
        frozenset(separation.names[: separation.cuts[0]])
        if separation and separation.cuts
        else frozenset()
    )


def _same_score_sentence(standings: Standings) -> str | None:
    """Write that all models have the same score, where no test compares them; None if scores
    differ."""
    scores = [round(entry.score, 6) for entry in standings.entries if entry.score is not None]
    if len(scores) < 2 or len({*scores}) > 1:
        return None
    models = "The two models" if len(scores) == 2 else all_of(len(scores), "model").capitalize()
    return rank_templates.SAME_SCORE.format(models=models)


def _new_models_sentence(standings: Standings) -> str | None:
    """Write what humans would rate models that a calibration did not know; None if there are
    none."""
    new = [entry for entry in standings.entries if entry.extra.get("conformal_low") is not None]
    if not new:
        return None
    ratings = [rank_templates.NEW_MODEL.format(entry=entry, extra=entry.extra) for entry in new]
    return rank_templates.NEW_MODELS.format(
        ratings=join_names(ratings), level=100 * new[0].extra["conformal_level"]
    )


def _evidence(standings: Standings) -> str:
    """Name the items or human labels that the models were compared on."""
    labels = standings.diagnostics.get("structured", {}).get("labels")
    number, noun = (
        (standings.counts.items, "item") if labels is None else (round(labels), "human label")
    )
    preposition = "on" if labels is None else "with"
    return f"{preposition} {'this' if number == 1 else 'these'} {number:,} {plural(noun, number)}"


def _groups_text(standings: Standings, separation: Separation) -> str:
    """Describe the groups between cuts: the first one, and of more than three the second and the
    last."""
    ends = [0, *separation.cuts, len(separation.names)]
    groups = [range(start, end) for start, end in pairwise(ends)]
    if len(groups[0]) == 1:
        others = "others that can be ranked" if unplaced_models(standings) else "others"
        lead = _lead(standings, separation)
        return rank_templates.ONE_LEADER.format(
            leader=separation.names[0], others=others, lead=lead
        )
    clauses = [
        _following_clause(separation, group, is_last=group is groups[-1]) for group in groups[1:]
    ]
    if len(groups) > MOST_GROUPS:
        number = f"{len(groups) - 3} {plural('group', len(groups) - 3)}"
        middle = rank_templates.GROUPS_BETWEEN.format(
            groups=number, models=sum(map(len, groups[2:-1]))
        )
        clauses = [clauses[0], middle, clauses[-1]]
    return f"{_first_group(standings, separation, groups[0])} {'; '.join(clauses)}."


def _first_group(standings: Standings, separation: Separation, group: range) -> str:
    """Describe a leading group of several models: whether any of them is clearly behind another."""
    names = separation.names
    better = {names[k]: [names[j] for j in group if k in separation.beats[j]] for k in group}
    if not any(better.values()):
        return rank_templates.OPEN_GROUP.format(
            models=join_names([*better]), evidence=_evidence(standings)
        )
    template = rank_templates.BEHIND
    behind = [
        template.format(model=name, better=join_names(above))
        for name, above in better.items()
        if above
    ]
    if (more := len(behind) - MOST_PAIRS) > 0:
        rest = rank_templates.MORE_BEHIND.format(number=more, are="is" if more == 1 else "are")
        behind = [*behind[:MOST_PAIRS], rest]
    first = join_names([name for name, above in better.items() if not above], "or")
    return rank_templates.PARTLY_OPEN_GROUP.format(
        models=join_names([*better]), first=first, behind="; ".join(behind)
    )


def _following_clause(separation: Separation, group: range, *, is_last: bool) -> str:
    """Describe a group below the first."""
    names = join_names([separation.names[k] for k in group])
    if len(group) == 1:
        return (rank_templates.IS_LAST if is_last else rank_templates.FOLLOWS).format(model=names)
    is_open = not any(j in separation.beats[k] for k in group for j in group)
    return (rank_templates.FOLLOW_OPEN if is_open else rank_templates.FOLLOW).format(models=names)


def _no_cut_sentence(standings: Standings, separation: Separation) -> str:
    """Describe a ranking without groups: how many pairs are open, and the largest block of clear
    ones."""
    names, evidence = separation.names, _evidence(standings)
    pairs, clear = comb(len(names), 2), sum(map(len, separation.beats))
    if not clear:
        template = rank_templates.TWO_OPEN if pairs == 1 else rank_templates.ALL_OPEN
        return template.format(
            models=join_names(names), number=number_word(len(names)), evidence=evidence
        )
    above, below = (
        [names[k] for k in block] for block in largest_distinguishable_block(separation.beats)
    )
    better = f"{join_names(above)} {'are each' if len(above) > 1 else 'is'}"
    return rank_templates.NO_CUT.format(
        open=pairs - clear, pairs=pairs, better=better, worse=join_names(below)
    )


def _lead(standings: Standings, separation: Separation) -> str:
    """Write the gap between first and second with the simultaneous interval behind the cut, or its
    lower end only."""
    if separation.lead is None:
        return ""
    scale = standings.scale
    gap, low, high = separation.lead
    is_bounded = isfinite(gap)
    if is_bounded:
        ends = (scale.difference_number(end) if isfinite(end) else "∞" for end in (low, high))
        fields = dict(zip(("low", "high"), ends, strict=True)) | {"gap": scale.difference_text(gap)}
        lead = rank_templates.LEAD.format(second=separation.names[1], **fields)
    else:
        least = scale.difference_text(low)
        lead = rank_templates.LEAD_FROM.format(low=least, second=separation.names[1])
    if not scale.is_elo:
        return lead
    wins = expit((gap if is_bounded else low) / POINTS)
    least = "" if is_bounded else rank_templates.AT_LEAST
    return rank_templates.LEAD_IN_WINS.format(lead=lead, least=least, wins=wins)
