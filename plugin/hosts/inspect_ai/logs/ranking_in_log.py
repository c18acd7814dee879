"""Write a ranking into the results of an Inspect log and into a file beside it, and remove it."""

import json
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from inspect_ai.log import (
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalScore,
    read_eval_log,
    write_eval_log,
)

from podium.errors import PodiumError
from podium.hosts.inspect_ai.inspect_ai_compatibility import set_headline
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE, OLDER_RANKING, RANKING
from podium.hosts.inspect_ai.logs.podium_entries import is_tournament, kept_rankings
from podium.printable import tell
from podium.storage.atomic_files import atomic_file, write_text
from podium.storage.remote import Place, RemoteFile, local_file, place_of

if TYPE_CHECKING:
    # Every `inspect` command imports this module, so numpy is imported only if models are ranked.
    from podium.rankers.ranking import Ranking, Separation, Standings

FIGURES = ("rank", "score", "low", "high", "se", "rank_low", "rank_high", "battles", "win_rate")
"""Fields of an entry that are written as metrics into a tournament's log.

They are metrics because Inspect's viewer does not show metadata.
"""


def write_into_log(place: Place, ranking: "Ranking", model: str | None = None) -> EvalResults:
    """Write a ranking into a log's results in place of an earlier one; return the new results.

    In a tournament's log, Inspect's viewer shows the table of models first. Another log keeps its
    scores and its headline, and the score of its model is appended.

    Args:
        place: the log.
        ranking: the ranking.
        model: name of the log's model in the ranking; None if it is the name in the log.

    Raises:
        PodiumError: the log has no results.
    """
    path = local_file(place)
    log = read_eval_log(str(path), header_only=True)
    if log.results is None:
        raise PodiumError(f"{place}: the log has no results to write a ranking into")
    if is_tournament(log):
        earlier_rankings = _put_table_first(log.results, ranking)
    else:
        earlier_rankings = _append_own_scores(
            log.results, ranking, log.eval.task, model or log.eval.model
        )
    now = ranking.to_dict()
    rankings = [*earlier_rankings, *json.loads(json.dumps(now["rankings"]))]
    log.results.metadata = {
        **(log.results.metadata or {}),
        NAMESPACE: {**now, "rankings": rankings},
    }
    write_header(place, path, log)
    return log.results


def _put_table_first(results: EvalResults, ranking: "Ranking") -> list[dict[str, Any]]:
    """Put the scores of all models first in `results`, so that Inspect's viewer shows them first.

    Earlier scores of the same ranker and slice are replaced. The scores by each judge of a jury
    follow those by the merged verdicts.

    Args:
        results: the results of the log, which are changed in place.
        ranking: the ranking.

    Returns:
        the rankings that stay in the log: those of other rankers and slices.
    """
    tables = (*ranking.standings, *ranking.details)
    fresh = [score for standings in tables for score in _scores_of(standings)]
    replaced = {score.scorer for score in fresh}
    results.scores = fresh + [score for score in results.scores if score.scorer not in replaced]
    if fresh:
        first_metric = next(iter(fresh[0].metrics))
        set_headline(results, fresh[0], first_metric)
    written = {(standings.ranker, standings.slice) for standings in ranking.standings}
    earlier_rankings = kept_rankings(results.metadata or {})
    return [row for row in earlier_rankings if (row.get("ranker"), row.get("slice")) not in written]


def _append_own_scores(
    results: EvalResults, ranking: "Ranking", task: str, model: str
) -> list[dict[str, Any]]:
    """Append to `results` the win rates of the log's own model, and a score per ranker and slice.

    Args:
        results: the results of the log, which are changed in place.
        ranking: the ranking.
        task: task of the log, which begins the names of its slices.
        model: name of the log's model in the ranking.

    Returns:
        the rankings that stay in the log: those of other rankers whose scores are still in it.
        Scores are dropped when the log is scored again.
    """
    win_rates = [*_own_win_rates(ranking, task, model)]
    rankers = {standings.ranker for standings in ranking.standings}
    rankers |= {*map(_ranker_of, win_rates)}
    remaining_rankings = [
        row
        for row in kept_rankings(results.metadata or {})
        if row.get("ranker") not in rankers and _has_score_of(results, row)
    ]
    results.scores = _without_scores_of(results.scores, rankers, remaining_rankings)
    results.scores += win_rates
    for standings in ranking.standings:
        results.scores += _own_scores(standings, task, model)
    return remaining_rankings


def _without_scores_of(
    scores: Sequence[EvalScore],
    rankers: Collection[str],
    remaining_rankings: Sequence[Mapping[str, Any]],
) -> list[EvalScore]:
    """Return the scores of a log without those of some rankers.

    The win rates that podium adds without a ranker are left out, too, if no ranking stays, or if
    `rankers` has one of them. A win rate that a ranking in `remaining_rankings` gives is kept.

    Args:
        scores: the scores of a log.
        rankers: names of the rankers.
        remaining_rankings: the rankings that stay in the log.
    """
    from podium.hosts.own_figures import FIGURES_OF_HOST

    gone = {*rankers}
    if not remaining_rankings or not FIGURES_OF_HOST.isdisjoint(rankers):
        gone |= FIGURES_OF_HOST - {str(row.get("ranker")) for row in remaining_rankings}
    return [score for score in scores if _ranker_of(score) not in gone]


def _own_win_rates(ranking: "Ranking", task: str, model: str) -> Iterator[EvalScore]:
    """Yield a score for each win rate of a model that no ranker of the ranking gives.

    They are among the figures that `podium.hosts.own_figures` adds to the ranking's provenance.
    """
    from podium.hosts.own_figures import FIGURES, FIGURES_OF_HOST

    written = {(standings.ranker, standings.slice) for standings in ranking.standings}
    for row in ranking.provenance.get(FIGURES, ()):
        part = row.get("slice")
        is_of_ranker = (row["name"], part) in written
        is_of_host = row["name"] in FIGURES_OF_HOST
        if row["model"] != model or is_of_ranker or not is_of_host:
            continue  # of another model, or a ranker of the ranking gives it
        slice_without_task = (part or "").removeprefix(f"{task} ")
        in_brackets = f" [{slice_without_task}]" if slice_without_task else ""
        yield EvalScore(
            name=row["name"] + in_brackets,
            scorer=_scorer_name(row["name"], part),
            metrics=_metrics_of({"win_rate": row["value"], "stderr": row.get("se")}),
            metadata={
                name: row[name]
                for name in ("reference", "opponents", "items", "battles")
                if name in row
            },
        )


def _has_score_of(results: EvalResults, row: Mapping[str, Any]) -> bool:
    """Return whether the results hold the score of a ranking (a row of `kept_rankings`)."""
    name = _scorer_name(str(row.get("ranker")), row.get("slice"))
    return any(score.scorer == name for score in results.scores)


def _scorer_name(ranker: str, part: str | None) -> str:
    """Return the name under which the scores of a ranker's standings are written as a scorer.

    Args:
        ranker: name of the ranker.
        part: the slice; None for all battles.
    """
    return f"{NAMESPACE}/{ranker}" + (f" [{part}]" if part else "")


def _ranker_of(score: EvalScore) -> str:
    """Return the name of the ranker of a score; empty for a score of the eval itself."""
    prefix = f"{NAMESPACE}/"
    if not score.scorer.startswith(prefix):
        return ""
    return score.scorer.partition(" [")[0].removeprefix(prefix)


def _own_scores(standings: "Standings", task: str, model: str) -> Iterator[EvalScore]:
    """Yield the score of the log's own model; nothing if the standings do not have the model.

    The score of a separated model is left out of the metrics, as the data do not bound it.

    Args:
        standings: the standings.
        task: task of the log, which begins the names of its slices.
        model: the log's own model.
    """
    part = (standings.slice or "").removeprefix(f"{task} ")
    for entry in standings.entries:
        if entry.model != model:
            continue
        # The data do not bound the rating of a separated model, so its score is not written.
        figures = {
            "score": None if entry.separated else entry.score,
            "low": entry.low,
            "high": entry.high,
        }
        figures["rank"] = entry.rank
        in_brackets = f" [{part}]" if part else ""
        yield EvalScore(
            name=standings.ranker + in_brackets,
            scorer=_scorer_name(standings.ranker, standings.slice),
            metrics=_metrics_of(figures),
            metadata={
                "scale": standings.scale.name,
                "level": standings.level,
                "interval": standings.interval,
                "rank_low": entry.rank_low,
                "rank_high": entry.rank_high,
                "models": len(standings.entries),
                "opponents": [other.model for other in standings.entries if other is not entry],
                "battles": entry.battles,
                "se": entry.se,
                "separated": entry.separated,
            },
        )


def _metrics_of(figures: Mapping[str, Any]) -> dict[str, EvalMetric]:
    """Return the figures that are not None as metrics, by name."""
    return {
        name: EvalMetric(name=name, value=value)
        for name, value in figures.items()
        if value is not None
    }


def write_header(place: Place, path: Path, header: EvalLog) -> None:
    """Replace the header of the log at a place; its samples stay as they are.

    Args:
        place: the log.
        path: its local copy, from which the samples are taken.
        header: the new header.
    """
    with atomic_file(place) as new_log:
        shutil.copyfile(path, new_log)
        kind: Literal["json", "eval"] = "json" if place.suffix == ".json" else "eval"
        write_eval_log(header, str(new_log), kind, header_only=True)


def _scores_of(standings: "Standings") -> Iterator[EvalScore]:
    """Yield the scores of standings for a tournament's log.

    The first score, named `ranking`, has the metric of `headline_of`, or the number of groups of
    models that never met, if there are any. It is left out if no pairs were tested. Then follows a
    score per model, whose metrics are its figures in `FIGURES` that are known. The metric `score`
    has the name of the ranker, and the names of the others begin with it, such as `soft_elo_low`.
    """
    prefix = standings.ranker.replace("-", "_")
    scorer = _scorer_name(standings.ranker, standings.slice)
    if standings.separation is not None:
        name, groups = headline_of(standings.separation)
        if standings.unconnected_groups:
            name, groups = "groups that never met", len(standings.unconnected_groups)
        yield EvalScore(
            name="ranking", scorer=scorer, metrics={name: EvalMetric(name=name, value=groups)}
        )
    for entry in standings.entries:
        row = entry.to_dict()
        figures = {
            prefix if name == "score" else f"{prefix}_{name}": row.get(name) for name in FIGURES
        }
        yield EvalScore(
            name=entry.model,
            scorer=scorer,
            scored_samples=entry.battles,
            metrics=_metrics_of(figures),
            metadata={
                "level": standings.level,
                "interval": standings.interval,
                "separated": entry.separated,
            },
        )


def headline_of(separation: "Separation") -> tuple[str, int]:
    """Return the name and the value of the metric that lists of logs show.

    The name says which models may be first: those before the first cut, by name if they are at most
    three. The value is the number of groups into which the cuts divide the ranking. A cut is a
    place in the ranking where all models before it are clearly ahead of all models after it.
    """
    # Without a cut, any model may be first.
    first_cut = min(separation.cuts, default=len(separation.names))
    first = separation.names[:first_cut]
    names = " or ".join(first) if len(first) <= 3 else f"one of {len(first)}"
    return f"distinguishable groups, first: {names}", len(separation.cuts) + 1


def write_beside(log: Place, ranking: "Ranking") -> Place:
    """Write a ranking as JSON beside its log, in place of an earlier one, and return the file.

    Inspect does not take a file with this name for a log.
    """
    place, older = _places_beside(log)
    write_text(place, ranking.to_json() + "\n")
    if isinstance(older, Path):
        older.unlink(missing_ok=True)
    return place


def _places_beside(log: Place) -> tuple[Place, Place]:
    """Return the place of the ranking beside a log, and where earlier versions wrote it."""
    name = f"{NAMESPACE}-{log.name.removesuffix(log.suffix)}"
    return log.with_name(name + RANKING), log.with_name(name + OLDER_RANKING)


def remove_stale_rankings(place: Place) -> list[Place]:
    """Remove rankings that are older than the scores of an ordinary log, and their files.

    A ranking is older if the log has lost its score. A message names the rankers whose rankings
    were removed.

    Returns:
        the other logs that were ranked together with this one, and still hold these rankings.
        Empty if nothing was removed, or if the log is a copy of one that was ranked.
    """
    log = read_eval_log(str(local_file(place)), header_only=True)
    if log.results is None or is_tournament(log):
        return []
    metadata = log.results.metadata or {}
    stale = [row for row in kept_rankings(metadata) if not _has_score_of(log.results, row)]
    if not stale:
        return []
    provenance = metadata[NAMESPACE].get("provenance", {})
    sources = [place_of(str(name)) for name in provenance.get("sources", ())]
    _drop_rankings(place, log, stale)
    rankers = ", ".join(dict.fromkeys(str(row.get("ranker")) for row in stale))
    tell(f"{place.name}: removed its ranking by {rankers}, made of the scores before")
    others = [source for source in sources if absolute_name(source) != absolute_name(place)]
    if len(others) == len(sources):
        # Only a copy of the log was scored, so the rankings of the other logs are still right.
        return []
    for source in sources:
        for beside in _places_beside(source):
            if isinstance(beside, Path):
                beside.unlink(missing_ok=True)
    return [source for source in others if isinstance(source, RemoteFile) or source.exists()]


def remove_rankings(place: Place) -> None:
    """Remove all rankings from an ordinary log, because a log ranked with it has changed.

    The log of a tournament, and a log without results, stay as they are.
    """
    log = read_eval_log(str(local_file(place)), header_only=True)
    if log.results is not None and not is_tournament(log):
        _drop_rankings(place, log, kept_rankings(log.results.metadata or {}))


def _drop_rankings(place: Place, log: EvalLog, rankings: Sequence[Mapping[str, Any]]) -> None:
    """Remove some of a log's rankings from the metadata and scores of its results, and write it.

    Nothing is done without rankings.

    Args:
        place: the log.
        log: its header, which is changed in place.
        rankings: rows of `kept_rankings` that are removed.
    """
    if log.results is None or not rankings:
        return
    metadata = log.results.metadata or {}
    remaining_rankings = [row for row in kept_rankings(metadata) if row not in rankings]
    rest = {name: value for name, value in metadata.items() if name != NAMESPACE}
    if remaining_rankings:
        rest[NAMESPACE] = {**metadata[NAMESPACE], "rankings": remaining_rankings}
    log.results.metadata = rest
    names = {_scorer_name(str(row.get("ranker")), row.get("slice")) for row in rankings}
    rest_of_scores = [score for score in log.results.scores if score.scorer not in names]
    log.results.scores = _without_scores_of(rest_of_scores, (), remaining_rankings)
    write_header(place, local_file(place), log)


def absolute_name(place: Place) -> str:
    """Return the absolute name of a place, which is the same for all spellings of its path."""
    return str(place) if isinstance(place, RemoteFile) else str(place.resolve())
