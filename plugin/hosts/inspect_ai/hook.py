"""The hook that ranks: after a run, wherever a ranker is asked for or a tournament was played."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from inspect_ai.hooks import EvalSetEnd, Hooks, RunEnd, hooks
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from podium.hosts.inspect_ai.kept import NAMESPACE

USUAL = "bradley-terry"


@hooks(name="podium_ranking", description="rank models after a run (--metadata ranker=NAME)")
class PodiumHooks(Hooks):
    """Ranks the logs of a run, or of an eval set, and writes the ranking where people look."""

    async def on_run_end(self, data: RunEnd) -> None:
        """Rank the logs of a run."""
        rank_logs(data.logs)

    async def on_eval_set_end(self, data: EvalSetEnd) -> None:
        """Rank the logs of an eval set; running a finished one again calls nothing else."""
        rank_logs(read_eval_log(one, header_only=True) for one in list_eval_logs(data.log_dir))


def rank_logs(logs: Iterable[EvalLog]) -> None:
    """Rank every tournament among some logs alone, and other logs of one task together; say what failed."""
    from podium.hosts.inspect_ai.ranking import asked_for

    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for log in logs:
        rankers = asked_for(log, os.environ)
        played = f"{NAMESPACE}_entrants" in (log.eval.metadata or {})
        if log.status == "started" or not (rankers or played):
            continue
        key = log.location if played else log.eval.task
        together.setdefault((key, tuple(rankers or [USUAL])), []).append(log.location)
    for (_, names), places in together.items():
        _rank(places, names)


def _rank(places: list[str], rankers: tuple[str, ...]) -> None:
    from podium.errors import PodiumError
    from podium.hosts.inspect_ai.ranking import kept_beside, ranked, shown, written_into

    paths = [Path(one.removeprefix("file://")) for one in places]
    try:
        ranking = ranked(paths, rankers)
        for path in paths:
            written_into(path, ranking)
        kept = kept_beside(paths[0], ranking)
    except PodiumError as error:
        print(f"podium: not ranked: {', '.join(path.name for path in paths)}: {error}", file=sys.stderr)
        return
    print(f"{shown(ranking)}podium: wrote {kept}", file=sys.stderr)
