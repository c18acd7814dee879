"""Checks of what a ranking rests on: items, their number, pairs that met, and single items."""

from typing import TYPE_CHECKING

from podium.check_kinds import CHECKS
from podium.check_results import Check, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.size_limits import are_too_many
from podium.diagnosis.clustered import cluster_battles
from podium.distinct_values import distinct_values
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.notices.notice import select_codes
from podium.notices.option_forms import option_text
from podium.rankers.fit.cells import pair_sums_with_items, prepare_battles
from podium.rankers.fit.graph import comparison_graph, joining_pairs
from podium.rankers.ranking import Standings
from podium.wording import item_option, join_item_names, plural, quantity, some

if TYPE_CHECKING:
    from podium.rankers.drop_out import DropOutRobustness

JUDGE_BETWEEN = "judge battles between the groups"
"""Remedy if battles do not connect all models."""
SCORE_TOGETHER = "score models of all groups on the same items"
"""Remedy if scores do not connect all models."""
MOST_JOINING = 3
"""Largest number of named battles that would connect groups of models."""


def check_connected(standings: Standings) -> tuple[Check, ...]:
    """Flag a ranking of models that fall into groups that never met.

    Returns:
        The flagged check; empty if battles, or items with scores of several models, connect all
        models, and for a ranker that does not say so.
    """
    groups = standings.fit.components
    if groups is None or groups < 2:
        return ()
    remedy = SCORE_TOGETHER if standings.scale.name == "score" else JUDGE_BETWEEN
    fields = {"groups": groups, "remedy": remedy}
    return (make_check("connected", is_flagged=True, number=groups, fields=fields),)


def check_connected_battles(battles: Battles) -> tuple[Check, ...]:
    """Check whether the battles connect all models, also if these have no ranking.

    If they do not, the text names up to `MOST_JOINING` battles that would connect them. Empty if no
    battle is readable.
    """
    if not battles.tally.judged:
        return ()
    data = prepare_battles(battles)
    graph = comparison_graph(pair_sums_with_items(data))
    remedy = JUDGE_BETWEEN
    if graph.groups > 1:
        names = data.models
        between = [
            f"{names[a]} against {names[b]}"
            for a, b in joining_pairs(graph, data.battles_by_model())
        ]
        if between:
            remedy += f", such as {some(between, '; ', MOST_JOINING)}"
    fields = {"groups": graph.groups, "remedy": remedy}
    return (make_check("connected", graph.groups > 1, number=graph.groups, fields=fields),)


def check_unit(battles: Battles) -> tuple[Check, ...]:
    """Flag battles whose rows are counted as independent although a column looks like the item.

    Returns:
        The flagged check; empty if the item is known, or if no column looks like it.
    """
    column = battles.likely_item
    if column is None:
        return ()
    return (
        make_check(
            "unit", is_flagged=True, fields={"column": column, "option": item_option(column)}
        ),
    )


def check_items(battles: Battles) -> tuple[Check, ...]:
    """Check whether there are enough items, or groups of items, for the intervals.

    Items without a readable battle do not count, unless there are too many battles to tell.
    """
    counts = battles.counts()
    items = counts.units
    if not are_too_many(battles):
        items = len(distinct_values(cluster_battles(battles).code[battles.readable]))
    return (check_number_of_items(items, counts.unit),)


def check_number_of_items(items: int, unit: str = "item") -> Check:
    """Check whether a number of items is enough for the intervals.

    The check is flagged below the threshold. `unit` is what varies, in the singular: `item` or a
    group of items such as `passage`.
    """
    intervals = "there is no interval" if items == 1 else "the intervals are approximate"
    fields = {
        "items": items,
        "noun": plural(unit, items),
        "nouns": plural(unit, 2),
        "intervals": intervals,
    }
    return make_check("items", items < CHECKS["items"].threshold, number=items, fields=fields)


def check_same_items(standings: Standings) -> tuple[Check, ...]:
    """Flag means and medians of models that have scores on few of the items.

    Returns:
        The flagged check; empty if all models have at least the threshold's share of the items, and
        for rankers that compare models on the items that both have.
    """
    threshold = CHECKS["same items"].threshold
    for notice in select_codes(standings.warnings, ["different-items"]):
        items = notice.fields["items"]
        counts = notice.fields["models"]
        few = {model: count for model, count in counts.items() if count < threshold * items}
        if not few:
            return ()
        model = min(few, key=lambda name: few[name])
        more = f" (and {quantity(len(few) - 1, 'other model')} on fewer)" if len(few) > 1 else ""
        remedy = f"run all models on all items, or rank by {option_text('ranker', 'win-rate')}"
        fields = {
            "model": model,
            "number": few[model],
            "items": items,
            "more": more,
            "remedy": f"{remedy}, which compares two models on the items that both have",
        }
        share = few[model] / items
        return (
            make_check(
                "same items", is_flagged=True, number=share, fields=fields, models=tuple(few)
            ),
        )
    return ()


def check_played_pairs(battles: Battles) -> tuple[Check, ...]:
    """Flag decisions of a tournament that hold only for the pairs that were played.

    Empty if the tournament made no decisions, or made them about all pairs.
    """
    if not battles.answer or battles.answer.get("about") != "played":
        return ()
    return (make_check("played pairs", is_flagged=True, fields={"until": battles.answer["until"]}),)


def robustness_of(battles: Battles, standings: Standings) -> "DropOutRobustness | None":
    """Find the smallest set of items, of one or two, without which another model leads.

    Returns:
        The result of the search, also if no such set was found. None if nothing was searched, if
        the battles cannot be fitted, or if the search is about another leader. The search is made
        only for rankings by `bradley-terry` with not too many battles, whose leader is clearly
        ahead of all, or less than one standard error ahead.
    """
    separation = standings.separation
    if separation is None or are_too_many(battles) or standings.ranker != "bradley-terry":
        return None
    is_close = separation.z is not None and separation.z < 1
    if 1 not in separation.cuts and not is_close:
        return None
    from podium.rankers.drop_out import drop_out_robustness

    try:
        robustness = drop_out_robustness(battles, largest=int(CHECKS["first place"].threshold))
    except (NotIdentifiedError, NotConvergedError):
        return None
    return robustness if robustness.leader == separation.names[0] else None


def check_first_place(
    standings: Standings, robustness: "DropOutRobustness | None"
) -> tuple[Check, ...]:
    """Check whether a model that is clearly ahead of all others leads only by one or two items.

    Args:
        standings: the ranking.
        robustness: the result of `robustness_of`.

    Returns:
        The check; empty if no model is clearly ahead of all others, or nothing was searched.
    """
    separation = standings.separation
    if robustness is None or separation is None or 1 not in separation.cuts:
        return ()
    return (_check_robustness(robustness, standings.counts.unit),)


def check_first_place_by_search(battles: Battles, largest: int) -> Check:
    """Check how many items must be dropped until another model leads, up to `largest` of them.

    The check is flagged if at most the threshold's number of items is enough, else ok, also if no
    set of up to `largest` items was found. It is not known for too many battles, if they cannot be
    fitted, or if no set of items could be tried.
    """
    name = "first place"
    if are_too_many(battles):
        return not_known(name, reason="too many battles or models to drop items one by one")
    from podium.rankers.drop_out import drop_out_robustness

    try:
        robustness = drop_out_robustness(battles, largest=largest)
    except (NotIdentifiedError, NotConvergedError) as error:
        return not_known(name, reason=str(error))
    if not robustness.largest_tried:
        return not_known(name, reason="models share the first place, or there is one item only")
    return _check_robustness(robustness, battles.counts().unit)


def _check_robustness(robustness: "DropOutRobustness", unit: str) -> Check:
    """Return the check of the first place by the smallest set of items that changes the leader.

    The check is ok if no set was found, or if the set has more items than the threshold. `unit` is
    what varies, in the singular: an item or a group of items.
    """
    number = len(robustness.items)
    nouns = plural(unit, 2)
    fields = {"leader": robustness.leader, "tried": robustness.largest_tried, "nouns": nouns}
    if not number:
        return make_check("first place", is_flagged=False, fields=fields)
    dropped = f"{number} {plural(unit, number)}"
    if not robustness.is_exact:
        dropped = f"at most {dropped}"
    fields = {
        "leader": robustness.leader,
        "rival": robustness.new_leader,
        "items": join_item_names(robustness.items, are_rows=robustness.are_rows, noun=unit),
        "dropped": dropped,
        "tried": robustness.largest_tried,
        "nouns": nouns,
    }
    is_flagged = number <= CHECKS["first place"].threshold
    return make_check("first place", is_flagged, number=number, fields=fields)
