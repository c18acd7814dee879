"""The hook that ranks: after a run, wherever a ranker is asked for or a tournament was played."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from inspect_ai.hooks import EvalSetEnd, Hooks, RunEnd, hooks
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from podium.hosts.inspect_ai.arguments import flat
from podium.hosts.inspect_ai.log_format import NAMESPACE, PLAYED_FOR

USUAL = "bradley-terry"


@hooks(name="podium_ranking", description="rank models after a run (--metadata ranker=NAME)")
class PodiumHooks(Hooks):
    """Ranks the logs of a run, or of an eval set, and writes the ranking where people look."""

    def __init__(self) -> None:
        self.done: set[frozenset[tuple[str, int]]] = set()

    async def on_run_end(self, data: RunEnd) -> None:
        """Rank the logs of a run."""
        rank_logs(data.logs, self.done)

    async def on_eval_set_end(self, data: EvalSetEnd) -> None:
        """Rank the logs of an eval set, unless its last run did; running a finished one again calls nothing else."""
        rank_logs(_headers(data.log_dir), self.done)


def _headers(folder: str) -> Iterator[EvalLog]:
    """Read what the logs of a folder say of themselves; one that cannot be read does not stop the others."""
    for one in list_eval_logs(folder):
        try:
            yield read_eval_log(one, header_only=True)
        except Exception as error:
            print(f"podium: not ranked: {one.name}: {error}", file=sys.stderr)


def rank_logs(logs: Iterable[EvalLog], done: set[frozenset[tuple[str, int]]] | None = None) -> None:
    """Rank every tournament among some logs alone, and other logs of one task together; say what failed.

    Args:
        done: logs that were ranked together, as they were then; they are not ranked again.
    """
    from podium.hosts.inspect_ai.write_back import asked_for

    together: dict[tuple[str, tuple[str, ...]], list[EvalLog]] = {}
    for log in logs:
        rankers = asked_for(log, os.environ)
        played = f"{NAMESPACE}_entrants" in (log.eval.metadata or {})
        ranked_elsewhere = PLAYED_FOR in (log.eval.metadata or {})
        if log.status == "started" or ranked_elsewhere or not (rankers or played):
            continue
        key = log.location if played else log.eval.task
        together.setdefault((key, tuple(rankers or [USUAL])), []).append(log)
    done = set() if done is None else done
    for (_, names), found in together.items():
        if _states(found) not in done:
            _rank(found, names)
            done.add(_states(found))


def _states(logs: Iterable[EvalLog]) -> frozenset[tuple[str, int]]:
    """Return which logs these are, and when each was last written."""
    paths = [Path(one.location.removeprefix("file://")) for one in logs]
    return frozenset((str(path), path.stat().st_mtime_ns if path.exists() else 0) for path in paths)


def _rank(logs: Sequence[EvalLog], rankers: tuple[str, ...]) -> None:
    from podium.hosts.inspect_ai.write_back import ranked, shown, write_beside, write_into_log

    paths = [Path(one.location.removeprefix("file://")) for one in logs]
    try:
        ranking = ranked(paths, rankers, one_sided=flat(logs[0].eval.task_args).get("one_sided", "unread"))
        for log, path in zip(logs, paths, strict=True):
            log.results = write_into_log(path, ranking)
        kept = write_beside(paths[0], ranking)
    # Whatever it is: one bad log must not stop the others, and Inspect would say no more than that a hook failed.
    except Exception as error:
        print(f"podium: not ranked: {', '.join(path.name for path in paths)}: {error}", file=sys.stderr)
        return
    print(f"{shown(ranking)}podium: wrote {kept}", file=sys.stderr)
