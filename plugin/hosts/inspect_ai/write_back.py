"""From a log to a ranking, and back into the log: where people look."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from inspect_ai.log import EvalMetric, EvalResults, EvalScore, read_eval_log, write_eval_log

from podium.errors import PodiumError
from podium.hosts.inspect_ai.log_format import NAMESPACE, local_path
from podium.rank_battles import rank
from podium.ranking import Ranking, Standings
from podium.reading.judgements import read_battles

FIGURES = ("score", "low", "high", "se", "rank", "rank_low", "rank_high", "battles", "win_rate")
"""What of an entry becomes a metric of its own: the viewer shows metrics, not their metadata."""


def rank_log_files(
    paths: Sequence[str | Path], rankers: Sequence[str], *, one_sided: Literal["unread", "keep"] = "unread"
) -> Ranking:
    """Rank what some logs hold: verdicts of tournaments, or scores of several models on the same items.

    Args:
        one_sided: what a battle is of which one order could not be read.

    Raises:
        PodiumError: they hold no battles, or these cannot be ranked.
    """
    battles = read_battles(*map(str, paths), format="inspect", one_sided=one_sided)
    return rank(battles, rankers, by="judge" if len(battles.judges) > 1 else None)


def write_into_log(path: str | Path, ranking: Ranking) -> EvalResults:
    """Write a ranking into a log: all of it in `results.metadata`, and a score per entrant for the viewer.

    The samples are not touched. What an earlier ranking by the same rankers wrote is replaced.

    Returns:
        The results as they are in the log now.
    """
    log = read_eval_log(str(path), header_only=True)
    if log.results is None:
        raise PodiumError(f"{path}: the log has no results to write a ranking into")
    fresh = [score for standings in ranking.standings for score in scores_of(standings)]
    replaced = {score.scorer for score in fresh}
    # First, so that the viewer opens on the table of entrants.
    log.results.scores = fresh + [score for score in log.results.scores if score.scorer not in replaced]
    before = (log.results.metadata or {}).get(NAMESPACE)
    log.results.metadata = {**(log.results.metadata or {}), NAMESPACE: _merge_rankings(before, ranking.to_dict())}
    write_eval_log(log, str(path), header_only=True)
    return log.results


def scores_of(standings: Standings) -> Iterator[EvalScore]:
    """Yield a score per entrant, its figures as metrics named after the ranker."""
    prefix = standings.ranker.replace("-", "_")
    part = f" [{standings.slice}]" if standings.slice else ""
    for entry in standings.entries:
        row = entry.to_dict()
        figures = {prefix if name == "score" else f"{prefix}_{name}": row.get(name) for name in FIGURES}
        yield EvalScore(
            name=entry.model,
            scorer=f"{NAMESPACE}/{standings.ranker}{part}",
            scored_samples=entry.battles,
            metrics={name: EvalMetric(name=name, value=value) for name, value in figures.items() if value is not None},
            metadata={"level": standings.level, "interval": standings.interval, "separated": entry.separated},
        )


def write_beside(path: str | Path, ranking: Ranking) -> Path:
    """Write a ranking as JSON beside its log, under a name that Inspect does not take for a log; return where."""
    log = local_path(path)
    place = log.with_name(f"{NAMESPACE}-{log.stem}.ranking.json")
    draft = place.with_suffix(".part")
    draft.write_text(ranking.to_json() + "\n", encoding="utf-8")
    return draft.replace(place)


def _merge_rankings(before: Any, now: dict[str, Any]) -> dict[str, Any]:
    """Keep the rankings by other rankers that are there already."""
    if not isinstance(before, Mapping):
        return now
    fresh = {(ranking["ranker"], ranking["slice"]) for ranking in now["rankings"]}
    kept = [row for row in before.get("rankings", []) if (row.get("ranker"), row.get("slice")) not in fresh]
    return {**now, "rankings": [*kept, *json.loads(json.dumps(now["rankings"]))]}
