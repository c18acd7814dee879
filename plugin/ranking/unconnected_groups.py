"""Order standings of models that battles do not connect: each group of models by itself.

A ranker such as `win-rate` gives scores to models of groups that never met. These scores are not
comparable, so that ranks, rank sets and claims hold within a group only.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from podium.data.battles import Battles
from podium.distinct_values import distinct_values
from podium.rankers.fit.cells import pair_sums_with_items, prepare_battles
from podium.rankers.fit.graph import comparison_graph
from podium.rankers.ranking import GROUP, UNCONNECTED_GROUPS, Entry, Separation, Standings
from podium.rankers.standings import LEADER_INTERVAL

NO_LEADER = "models that never met have no common first place"
"""Why it is unknown how few items decide the first place."""


def order_within_groups(standings: Standings, battles: Battles) -> Standings:
    """Return standings in which only models of one group are compared.

    The groups are those that no battles connect, the largest one first. Rows of a group follow each
    other, ranks and rank sets count the models of the group, and only models of one group are
    clearly ahead of each other. The diagnostics name the groups. Standings are unchanged if the
    ranker found one group, or does not say how many there are.

    Args:
        standings: the result of a ranker.
        battles: the battles that were ranked.
    """
    # Without a known number of groups, all models are compared.
    if (standings.fit.components or 1) < 2:
        return standings
    groups = _groups_of_models(battles)
    if len(groups) < 2:
        return standings
    number_of_model = {name: k for k, group in enumerate(groups, start=1) for name in group}
    separation = None
    if standings.separation is not None:
        separation = _separation_within_groups(standings.separation, number_of_model)
    entries = sorted(
        standings.entries, key=lambda entry: number_of_model.get(entry.model, len(groups) + 1)
    )
    return replace(
        standings,
        entries=tuple(_entries_within_groups(entries, number_of_model, separation)),
        separation=separation,
        diagnostics=_diagnostics_of_groups(standings, groups),
    )


def _groups_of_models(battles: Battles) -> list[tuple[str, ...]]:
    """Return the names of the models of each group, the largest group first.

    Names are sorted within a group, and groups of equal size by their names. Models without a
    readable battle are in no group.
    """
    data = prepare_battles(battles)
    graph = comparison_graph(pair_sums_with_items(data))
    groups = []
    for code in distinct_values(graph.group[graph.has_battle]):
        is_member = (graph.group == code) & graph.has_battle
        members = [
            name for name, is_in_group in zip(data.models, is_member, strict=True) if is_in_group
        ]
        groups.append(tuple(sorted(members)))
    return sorted(groups, key=lambda group: (-len(group), group))


def _diagnostics_of_groups(
    standings: Standings, groups: Sequence[tuple[str, ...]]
) -> dict[str, Any]:
    """Return the diagnostics of standings with the groups added.

    What is said of the first model of all is left out: the interval of the leader, and how few
    items decide the first place.
    """
    diagnostics = {**standings.diagnostics, UNCONNECTED_GROUPS: [list(group) for group in groups]}
    diagnostics.pop(LEADER_INTERVAL, None)
    if "drop_out" in diagnostics:
        diagnostics["drop_out"] = {"unknown": NO_LEADER}
    return diagnostics


def _separation_within_groups(
    separation: Separation, number_of_model: dict[str, int]
) -> Separation:
    """Return which models of one group are clearly ahead of which, in the order of the groups.

    What is said of the order of all models (cuts, gap, z, lead, neighbours) is emptied.

    Args:
        separation: the tests of all pairs.
        number_of_model: number of each model's group.
    """
    names = separation.names
    order = sorted(range(len(names)), key=lambda k: number_of_model[names[k]])
    new_place_of = {old: new for new, old in enumerate(order)}
    beats = []
    for k in order:
        number_of_group = number_of_model[names[k]]
        behind = [
            new_place_of[j]
            for j in separation.beats[k]
            if number_of_model[names[j]] == number_of_group
        ]
        beats.append(tuple(sorted(behind)))
    return replace(
        separation,
        names=tuple(names[k] for k in order),
        cuts=(),
        beats=tuple(beats),
        gap=float("nan"),
        z=None,
        lead=None,
        neighbours=(),
    )


def _entries_within_groups(
    entries: Sequence[Entry], number_of_model: dict[str, int], separation: Separation | None
) -> list[Entry]:
    """Return rows with the number of their group, and with ranks and rank sets within it.

    A model without a readable battle is in no group, and keeps its rank.

    Args:
        entries: the rows.
        number_of_model: number of each model's group.
        separation: which models of one group are clearly ahead of which; None if no differences
            were tested.
    """
    ahead, behind = _numbers_ahead_and_behind(separation)
    ranked = []
    for entry in entries:
        number_of_group = number_of_model.get(entry.model)
        extra = {**entry.extra, GROUP: number_of_group}
        if number_of_group is None:
            ranked.append(replace(entry, extra=extra))
            continue
        group = [each for each in entries if number_of_model.get(each.model) == number_of_group]
        models_with_place = sum(each.rank_low is not None for each in group)
        rank = 1 + sum(each.rank < entry.rank for each in group)
        low, high = None, None
        if entry.rank_low is not None:
            low = 1 + ahead.get(entry.model, 0)
            high = models_with_place - behind.get(entry.model, 0)
        ranked.append(replace(entry, rank=rank, rank_low=low, rank_high=high, extra=extra))
    return ranked


def _numbers_ahead_and_behind(
    separation: Separation | None,
) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many models are clearly ahead of each model, and behind it, by name.

    A model that is missing in a dictionary has the number 0. Both are empty without a separation.
    """
    ahead: dict[str, int] = {}
    behind: dict[str, int] = {}
    if separation is None:
        return ahead, behind
    for name, places in zip(separation.names, separation.beats, strict=True):
        behind[name] = len(places)
        for place in places:
            loser = separation.names[place]
            ahead[loser] = ahead.get(loser, 0) + 1
    return ahead, behind
