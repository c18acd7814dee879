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
        for standings in ranking.standings:
            notes += _write_figures(results, task, standings, model)
    whole = _merge_rankings(rankings)
    results[KEY] = json.loads(whole.to_json())
    return whole, notes


def _write_figures(results: dict[str, Any], task: str, standings: Standings, model: str) -> list[str]:
    """Write the score and its standard error of one model; return why where there is none."""
    entry = next((entry for entry in standings.entries if entry.model == model), None)
    name = standings.ranker
    if entry is None or entry.score is None or (entry.separated and entry.low is None):
        why = "its battles do not bound it" if entry else "it has no battle that could be read"
        return [f"no {name} of {model} on {task} in lm-eval's table: {why}"]
    filter_ = KEY + (f" {standings.slice}".replace("/", "__") if standings.slice else "")
    for section in ("results", "groups"):
        if task in results.get(section, {}):
            figures = results[section][task]
            figures[f"{name},{filter_}"] = float(entry.score)
            figures[f"{name}_stderr,{filter_}"] = float(entry.se) if entry.se is not None else "N/A"
    results.setdefault("higher_is_better", {}).setdefault(task, {})[name] = True
    return []


def _merge_rankings(rankings: Mapping[str, Ranking]) -> Ranking:
    """Put the rankings of several tasks into one, each a slice; that of a single task is left as it is."""
    first, *others = rankings.values()
    if not others:
        return first
    sources = {source for ranking in rankings.values() for source in ranking.provenance.get("sources", [])}
    return Ranking(
        tuple(
            replace(standings, slice=f"{task} {standings.slice}" if standings.slice else task)
            for task, ranking in rankings.items()
            for standings in ranking.standings
        ),
        {**first.provenance, "sources": sorted(sources)},
        tuple(f"{task}: {failure}" for task, ranking in rankings.items() for failure in ranking.failures),
    )


def groups_of(results: Mapping[str, Any], tasks: Iterable[str]) -> dict[str, list[str]]:
    """Return the tasks of each group that has a row in the results, groups within groups opened up."""
    children: Mapping[str, list[str]] = results.get("group_subtasks", {})
    ranked = set(tasks)

    def leaves(name: str) -> list[str]:
        below = children.get(name) or []
        return [leaf for child in below for leaf in leaves(child)] if below else [name]

    groups = {group: [task for task in dict.fromkeys(leaves(group)) if task in ranked] for group in children}
    return {group: own for group, own in groups.items() if len(own) > 1 and group in results.get("results", {})}
