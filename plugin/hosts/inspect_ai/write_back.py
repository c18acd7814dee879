"""From a log to a ranking, and back into the log: where people look."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from inspect_ai.log import EvalLog, EvalMetric, EvalResults, EvalScore, read_eval_log, write_eval_log

from podium.battles import Battles
from podium.errors import PodiumError
from podium.hosts.inspect_ai.log_format import NAMESPACE
from podium.rank_battles import rank
from podium.ranking import Ranking, Standings
from podium.reading.judgements import read_battles

FIGURES = ("score", "low", "high", "se", "rank", "rank_low", "rank_high", "battles", "win_rate")
"""What of an entry becomes a metric of its own: the viewer shows metrics, not their metadata."""


def asked_for(log: EvalLog, environment: Mapping[str, str]) -> list[str]:
    """Return the rankers that a run asks for.

    `--metadata ranker=a,b` says so, else the environment variable PODIUM_RANKER, else INSPECT_EVAL_METADATA, which
    Inspect forgets as soon as there is any other `--metadata`.
    """
    told = (log.eval.metadata or {}).get("ranker") or environment.get("PODIUM_RANKER") or _usual(environment)
    names = told if isinstance(told, list) else str(told or "").split(",")
    return list(dict.fromkeys(str(name).strip() for name in names if str(name).strip()))


def _usual(environment: Mapping[str, str]) -> str:
    """Return the ranker that INSPECT_EVAL_METADATA names: `key=value` settings, between blanks."""
    settings = (one.partition("=") for one in environment.get("INSPECT_EVAL_METADATA", "").split())
    return next((value for name, _, value in settings if name == "ranker"), "")


def battles_of(paths: Sequence[str | Path], *, one_sided: Literal["unread", "keep"] = "unread") -> Battles:
    """Read the battles of some logs: verdicts of tournaments, or scores of several models on the same items.

    Args:
        one_sided: what a battle is of which one order could not be read.

    Raises:
        PodiumError: they hold none.
    """
    return read_battles(*(str(path) for path in paths), format="inspect", one_sided=one_sided)


def ranked(
    paths: Sequence[str | Path], rankers: Sequence[str], *, one_sided: Literal["unread", "keep"] = "unread"
) -> Ranking:
    """Rank what some logs hold.

    Args:
        one_sided: what a battle is of which one order could not be read.

    Raises:
        PodiumError: it cannot be ranked.
    """
    battles = battles_of(paths, one_sided=one_sided)
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
    fresh = [score for one in ranking.standings for score in scores_of(one)]
    replaced = {score.scorer for score in fresh}
    # First, so that the viewer opens on the table of entrants.
    log.results.scores = fresh + [score for score in log.results.scores if score.scorer not in replaced]
    before = (log.results.metadata or {}).get(NAMESPACE)
    log.results.metadata = {**(log.results.metadata or {}), NAMESPACE: _merged(before, ranking.to_dict())}
    write_eval_log(log, str(path), header_only=True)
    return log.results


def scores_of(one: Standings) -> Iterable[EvalScore]:
    """Return a score per entrant, its figures as metrics named after the ranker."""
    prefix = one.ranker.replace("-", "_")
    slice_ = f" [{one.slice}]" if one.slice else ""
    for entry in one.entries:
        row = entry.to_dict()
        values = {name: row[name] for name in FIGURES if row.get(name) is not None}
        yield EvalScore(
            name=entry.model,
            scorer=f"{NAMESPACE}/{one.ranker}{slice_}",
            scored_samples=entry.battles,
            metrics={
                _metric(prefix, name): EvalMetric(name=_metric(prefix, name), value=value)
                for name, value in values.items()
            },
            metadata={"level": one.level, "interval": one.interval, "separated": entry.separated},
        )


def beside(path: str | Path) -> Path:
    """Return where the ranking of a log is kept as JSON: a name that Inspect does not take for a log."""
    plain = Path(str(path).removeprefix("file://"))
    return plain.with_name(f"{NAMESPACE}-{plain.stem}.ranking.json")


def write_beside(path: str | Path, ranking: Ranking) -> Path:
    """Write the ranking as JSON beside its log."""
    place = beside(path)
    draft = place.with_suffix(".part")
    draft.write_text(ranking.to_json() + "\n", encoding="utf-8")
    return draft.replace(place)


def shown(ranking: Ranking) -> str:
    """Return the ranking as an aligned table, with its warnings, and what could not be ranked."""
    from podium.cli.output import as_text

    told = dict.fromkeys(warning for one in ranking.standings for warning in one.warnings)
    lines = [f"podium: warning: {warning}\n" for warning in told]
    lines += [f"podium: not ranked: {failure}\n" for failure in ranking.failures]
    return as_text(ranking, "table") + "".join(lines)


def _metric(prefix: str, name: str) -> str:
    return prefix if name == "score" else f"{prefix}_{name}"


def _merged(before: Any, now: dict[str, Any]) -> dict[str, Any]:
    """Keep the rankings by other rankers that are there already."""
    if not isinstance(before, Mapping):
        return now
    fresh = {(one["ranker"], one["slice"]) for one in now["rankings"]}
    kept = [one for one in before.get("rankings", []) if (one.get("ranker"), one.get("slice")) not in fresh]
    return {**now, "rankings": [*kept, *json.loads(json.dumps(now["rankings"]))]}
