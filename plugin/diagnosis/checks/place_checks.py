"""Descriptions of a ranking: which places are separated, what decides the first, what Elo says."""

from collections.abc import Sequence
from dataclasses import replace

from podium.check_results import Check, Result, make_check, not_known
from podium.data.counting.relations import HARD_CREDIT
from podium.diagnosis.checks.audit_data import AuditData
from podium.diagnosis.checks.sample_checks import check_first_place_by_search
from podium.diagnosis.judge_checks import are_human_votes, is_judged
from podium.rankers.errors.rank_sets import further_items
from podium.rankers.ranking import Separation, Standings
from podium.score_scale import ELO
from podium.wording import join_names, plural, quantity, some, word_for

MOST_DROPPED = 20
"""Largest number of items that are left out to find whether another model leads."""
SEARCHED_RANKER = "bradley-terry"
"""The ranker whose ratings the search fits."""
MOST_PLACES = 4
"""Largest number of separated places that are named."""
AGAINST_ELO = frozenset(
    {
        "connected",
        "unit",
        "score scale",
        "same question",
        "order decides",
        "only ties",
        "one order",
        "lost replies",
        "lost outcomes",
        "ladder scale",
        "cycle",
        "fit",
        "judges contradict",
        "misjudged models",
        "human",
        "transitivity",
    }
)
"""Names of the checks because of which a gap in Elo is no win rate, if they are flagged."""


HARMLESS_TO_ELO = frozenset({"position", "unparsed"})
"""Names of the probes that leave gaps in Elo quotable if they are flagged: both orders together
cancel a preference for a position, and unparsed replies may be lost at random."""


def checks_against_elo(checks: Sequence[Check]) -> tuple[str, ...]:
    """Return the names of the flagged checks because of which a gap in Elo is no win rate.

    Args:
        checks: adjusted checks of a ranking.
    """
    flagged = [check.name for check in checks if check.is_flagged and check.name in AGAINST_ELO]
    return tuple(dict.fromkeys(flagged))


def describe_places(data: AuditData) -> tuple[Check, ...]:
    """Describe which neighbouring places are separated, and what would separate the next ones.

    Of the neighbours that are too close to call, those are named that need the fewest further
    items for 80% power. Empty if the ranking has not tested pairs (no `separation`), as with too
    many models, if fewer than two models have a place, and if groups of models never met, because
    their places are not comparable.
    """
    separation = data.standings.separation
    if separation is None or len(separation.names) < 2 or data.standings.unconnected_groups:
        return ()
    pairs = len(separation.names) - 1
    separated = [k for k in range(pairs) if k + 1 in separation.beats[k]]
    places_of_ranking = _places_of(data.standings)
    names = separation.names
    places = [
        f"{places_of_ranking[names[k]]} and {places_of_ranking[names[k + 1]]}" for k in separated
    ]
    fields = {
        "apart": len(separated),
        "pairs": pairs,
        "are": word_for(len(separated), "is", "are"),
        "which": f" (places {some(places, most=MOST_PLACES)})" if places else "",
        "further": _further_text(data.standings, separation),
    }
    return (make_check("places", is_flagged=False, number=len(separated), fields=fields),)


def _places_of(standings: Standings) -> dict[str, int]:
    """Return the place of each model in the rows of the ranking, from 1, by name."""
    return {entry.model: place for place, entry in enumerate(standings.entries, start=1)}


def nearest_open_places(standings: Standings) -> tuple[int, int] | None:
    """Return the pair of neighbours that the fewest further items would separate.

    Returns:
        Place of the upper one of both among the models with a place, from 1, and the number of
        further items for 80% power. None if all neighbours are separated, if the number is unknown
        for all pairs that are not, if the ranking has not tested pairs, if a tournament has
        decided, or if newcomers were placed on a given ladder.
    """
    separation = standings.separation
    has_decisions = "decisions" in standings.diagnostics.get("answer", {})
    if separation is None or has_decisions or "ladder" in standings.diagnostics:
        return None
    needed = []
    for k, test in enumerate(separation.neighbours):
        if test is None or k + 1 in separation.beats[k]:
            continue  # not tested, or separated
        z, critical = test
        number = further_items(separation.clusters, critical, z)
        if number is not None:
            needed.append((number, k + 1))
    if not needed:
        return None
    number, place = min(needed)
    return place, number


def _further_text(standings: Standings, separation: Separation) -> str:
    """Return how many further items would separate the neighbours that need the fewest.

    The text is the end of a sentence, with both places and models; it is empty if
    `nearest_open_places` gives none. If voters or judges vary, and are no more than the items,
    their number is named instead.
    """
    nearest = nearest_open_places(standings)
    if nearest is None:
        return ""
    place, number = nearest
    counts = standings.counts
    noun = counts.unit if counts.items > 1 else "battle"
    raters = standings.diagnostics.get("raters")
    if raters and raters["number"] <= separation.clusters:
        noun = raters["unit"]
    first, second = separation.names[place - 1 : place + 1]
    places = _places_of(standings)
    more = f"{number:,} more {plural(noun, number)}"
    return (
        f"; {more} would separate places {places[first]} and {places[second]} ({first}, {second})"
    )


def describe_first_place(data: AuditData) -> tuple[Check, ...]:
    """Describe the fewest items without which another model leads.

    A flagged check of the ranking stands as it is. Otherwise, more items are left out than in the
    ranking, and the check is never flagged. Empty for rankers other than `bradley-terry` and those
    that have searched themselves, as that of means, and for ratings at equal length.
    """
    flagged = [check for check in data.checks if check.name == "first place" and check.is_flagged]
    if flagged:
        return tuple(flagged)
    has_length_control = bool(data.standings.diagnostics.get("length_control"))
    if data.standings.ranker == SEARCHED_RANKER and not has_length_control:
        check = check_first_place_by_search(data.rated, MOST_DROPPED)
        if check.is_flagged:
            check = replace(check, result=Result.OK)
        return (check,)
    return _describe_drop_out(data.standings)


def _describe_drop_out(standings: Standings) -> tuple[Check, ...]:
    """Describe the fewest items that change the first place of a ranking of means.

    The ranker has searched them. The check is never flagged; it is not known if the ranker says
    why it could not search, and has no number if no items change the first place. Empty if the
    ranker has not searched.
    """
    drop_out = standings.diagnostics.get("drop_out")
    if not drop_out:
        return ()
    if "unknown" in drop_out:
        return (not_known("first place", reason=drop_out["unknown"]),)
    unit = standings.counts.unit
    leader = standings.entries[0].model
    if drop_out["items"] is None:
        tried = standings.counts.units
        fields = {"leader": leader, "tried": tried, "nouns": plural(unit, 2)}
        return (make_check("first place", is_flagged=False, fields=fields),)
    dropped = quantity(drop_out["items"], unit)
    fields = {
        "leader": leader,
        "rival": drop_out["leader"],
        "items": "them" if drop_out["items"] > 1 else "it",
        "dropped": dropped,
        "tried": drop_out["items"],
        "nouns": plural(unit, 2),
    }
    return (make_check("first place", is_flagged=False, number=drop_out["items"], fields=fields),)


def describe_elo(data: AuditData) -> tuple[Check, ...]:
    """Describe whether gaps in Elo may be quoted as win rates; empty for rankers without Elo.

    They may not if a probe is flagged that is not in `HARMLESS_TO_ELO`, if the battles do not bound
    the rating of the first model, if no model has an interval, or if credits are graded.

    Args:
        data: the ranking, with all other probes of the audit as its checks.
    """
    if data.standings.scale.kind != ELO.kind:
        return ()
    reason = _reason_against_elo(data)
    advice = f"gaps in Elo may be quoted, with their intervals, as {_scale_of(data)}"
    if reason:
        advice = f"do not read gaps in Elo as win rates: {reason}"
    fields = {"advice": advice, "is_quotable": not reason}
    return (make_check("elo", is_flagged=False, fields=fields),)


def _reason_against_elo(data: AuditData) -> str:
    """Return why gaps in Elo are no win rates, as a clause; empty if they are.

    The first reason that holds is returned: flagged probes, graded credits, no intervals, or a
    first model whose rating nothing bounds.
    """
    flagged = [check.name for check in data.checks if check.is_flagged]
    against = [name for name in dict.fromkeys(flagged) if name not in HARMLESS_TO_ELO]
    if against:
        number = len(against)
        probes = plural("probe", number)
        return f"the {probes} {join_names(against)} {word_for(number, 'is', 'are')} flagged"
    if HARD_CREDIT in data.battles.rows.battle_columns:
        return "graded credits are nearer to 0.5 than verdicts, so that gaps are too small"
    ranked = [entry for entry in data.standings.entries if entry.score is not None]
    if all(entry.low is None for entry in ranked):
        return "there are no intervals"
    if ranked[0].separated:
        return f"nothing bounds the rating of {ranked[0].model}"
    return ""


def _scale_of(data: AuditData) -> str:
    """Return whose preferences the gaps in Elo stand for, such as `those of this judge`."""
    if {"soft", "structured"} & data.standings.diagnostics.keys():
        return "those of humans"
    if are_human_votes(data.battles):
        return "those of these voters"
    if is_judged(data.battles):
        has_several_judges = len(data.battles.judges) > 1
        return "those of these judges" if has_several_judges else "those of this judge"
    return "those of these scores"
