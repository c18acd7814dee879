"""A ranking in lm-eval's results: where its table, its files and its trackers find it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from podium.ranking import Ranking, Standings

KEY = "podium"
"""The filter's place in the names of figures, and the section with the whole ranking."""


def write_into(results: dict[str, Any], rankings: Mapping[str, Ranking], model: str) -> tuple[Ranking, list[str]]:
    """Write what the rankers say into the results.

    Args:
        results: of lm-eval, changed in place.
        rankings: by task or group.
        model: the entrant that this run is.

    Returns:
        All standings as one ranking, and notes of figures that are left out because there is none.
    """
    notes = []
    for task, ranking in rankings.items():
        for one in ranking.standings:
            notes += _figures(results, task, one, model)
    whole = together(rankings)
    results[KEY] = json.loads(whole.to_json())
    return whole, notes


def _figures(results: dict[str, Any], task: str, one: Standings, model: str) -> list[str]:
    """Write the score and its standard error of one model; return why where there is none."""
    entry = next((entry for entry in one.entries if entry.model == model), None)
    if entry is None or entry.score is None or (entry.separated and entry.low is None):
        why = "its battles do not bound it" if entry else "it has no battle that could be read"
        return [f"no {one.ranker} of {model} on {task} in lm-eval's table: {why}"]
    name, filter_ = one.ranker, KEY + (f" {one.slice}".replace("/", "__") if one.slice else "")
    for section in ("results", "groups"):
        if task in results.get(section, {}):
            figures = results[section][task]
            figures[f"{name},{filter_}"] = float(entry.score)
            figures[f"{name}_stderr,{filter_}"] = float(entry.se) if entry.se is not None else "N/A"
    results.setdefault("higher_is_better", {}).setdefault(task, {})[name] = True
    return []


def together(rankings: Mapping[str, Ranking]) -> Ranking:
    """Put the rankings of several tasks into one, each a slice; that of a single task is left as it is."""
    if len(rankings) == 1:
        return next(iter(rankings.values()))
    return Ranking(
        tuple(replace(one, slice=_slice(task, one)) for task, own in rankings.items() for one in own.standings),
        _provenance(list(rankings.values())),
        tuple(f"{task}: {failure}" for task, own in rankings.items() for failure in own.failures),
    )


def _slice(task: str, one: Standings) -> str:
    return f"{task} {one.slice}" if one.slice else task


def _provenance(rankings: Iterable[Ranking]) -> dict[str, Any]:
    """Return what is common; the sources of all."""
    all_ = [one.provenance for one in rankings]
    return {**all_[0], "sources": sorted({source for one in all_ for source in one.get("sources", [])})}


def groups_of(results: Mapping[str, Any], tasks: Iterable[str]) -> dict[str, list[str]]:
    """Return the tasks of each group that has a row in the results, groups within groups opened up."""
    children: Mapping[str, list[str]] = results.get("group_subtasks", {})
    ranked = set(tasks)

    def leaves(name: str) -> list[str]:
        below = children.get(name) or []
        return [leaf for child in below for leaf in leaves(child)] if below else [name]

    found = {group: [one for one in dict.fromkeys(leaves(group)) if one in ranked] for group in children}
    return {group: own for group, own in found.items() if len(own) > 1 and group in results.get("results", {})}
