"""The hook that ranks: after a run, wherever a ranker is asked for or a tournament was played."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from inspect_ai.hooks import EvalSetEnd, Hooks, RunEnd, hooks
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from podium.hosts.inspect_ai.compatibility import flatten_arguments
from podium.hosts.inspect_ai.log_format import PLAYED_FOR, RANKER_VARIABLE, is_tournament, local_path

USUAL = "bradley-terry"
States = frozenset[tuple[str, int]]
"""Files, and when each was last written."""


@hooks(name="podium_ranking", description="rank models after a run (--metadata ranker=NAME)")
class PodiumHooks(Hooks):
    """Ranks the logs of a run, or of an eval set, and writes the ranking where people look."""

    def __init__(self) -> None:
        self.done: set[States] = set()

    async def on_run_end(self, data: RunEnd) -> None:
        """Rank the logs of a run."""
        rank_logs(data.logs, self.done)

    async def on_eval_set_end(self, data: EvalSetEnd) -> None:
        """Rank the logs of an eval set, unless its last run did; running a finished one again calls nothing else."""
        rank_logs(headers_in(data.log_dir), self.done)


def headers_in(folder: str) -> Iterator[EvalLog]:
    """Yield what the logs of a folder say of themselves; one that cannot be read does not stop the others."""
    for log in list_eval_logs(folder):
        try:
            yield read_eval_log(log, header_only=True)
        except Exception as error:
            print(f"podium: not ranked: {log.name}: {error}", file=sys.stderr)


def rank_logs(logs: Iterable[EvalLog], done: set[States] | None = None) -> None:
    """Rank every tournament among some logs alone, and other logs of one task together; say what failed.

    Args:
        done: logs that were ranked together, as they were then; they are not ranked again.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[EvalLog]] = {}
    for log in logs:
        rankers = rankers_asked_for(log, os.environ)
        ranked_elsewhere = PLAYED_FOR in (log.eval.metadata or {})
        if log.status == "started" or ranked_elsewhere or not (rankers or is_tournament(log)):
            continue
        key = log.location if is_tournament(log) else log.eval.task
        groups.setdefault((key, tuple(rankers or [USUAL])), []).append(log)
    done = set() if done is None else done
    for (_, names), group in groups.items():
        paths = [local_path(log.location) for log in group]
        if states_of(paths) not in done:
            _rank_together(group, paths, names)
            done.add(states_of(paths))


def states_of(paths: Iterable[Path]) -> States:
    """Return which files these are, and when each was last written, in nanoseconds; 0 where it is not there."""
    return frozenset((str(path), path.stat().st_mtime_ns if path.exists() else 0) for path in paths)


def rankers_asked_for(log: EvalLog, environment: Mapping[str, str]) -> list[str]:
    """Return the rankers that a run asks for.

    `--metadata ranker=a,b` says so, else the environment variable PODIUM_RANKER, else INSPECT_EVAL_METADATA, which
    Inspect forgets as soon as there is any other `--metadata`.
    """
    settings = (word.partition("=") for word in environment.get("INSPECT_EVAL_METADATA", "").split())
    usual = next((value for name, _, value in settings if name == "ranker"), "")
    asked = (log.eval.metadata or {}).get("ranker") or environment.get(RANKER_VARIABLE) or usual
    names = asked if isinstance(asked, list) else str(asked).split(",")
    return list(dict.fromkeys(str(name).strip() for name in names if str(name).strip()))


def _rank_together(logs: Sequence[EvalLog], paths: Sequence[Path], rankers: Sequence[str]) -> None:
    from podium.hosts.inspect_ai.write_back import rank_log_files, write_beside, write_into_log
    from podium.report.ranking_view import ranking_text

    try:
        one_sided = flatten_arguments(logs[0].eval.task_args).get("one_sided", "unread")
        ranking = rank_log_files(paths, rankers, one_sided=one_sided)
        for log, path in zip(logs, paths, strict=True):
            log.results = write_into_log(path, ranking)
        written = write_beside(paths[0], ranking)
    # Whatever it is: one bad log must not stop the others, and Inspect would say no more than that a hook failed.
    except Exception as error:
        print(f"podium: not ranked: {', '.join(path.name for path in paths)}: {error}", file=sys.stderr)
        return
    print(f"{ranking_text(ranking)}podium: wrote {written}", file=sys.stderr)
