"""Rank the logs of a run: by their scores or verdicts, or by judges that compare the responses."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import click
from inspect_ai.log import EvalLog

from podium.data.battles import Battles
from podium.data.query import BattleQuery
from podium.data.reading.judgments import read_query
from podium.errors import PodiumError, UsageError
from podium.hosts.inspect_ai.inspect_ai_compatibility import flatten_arguments
from podium.hosts.inspect_ai.logs.earlier_logs import RankedLogs, tournament_folder
from podium.hosts.inspect_ai.logs.ranking_in_log import write_beside, write_into_log
from podium.hosts.partial_rankings import is_partial
from podium.hosts.ranker_options import RankerOptions
from podium.notices.option_forms import option_text
from podium.plugins.settings import parse_settings
from podium.printable import tell
from podium.rankers.ranking import Ranking
from podium.ranking.rank_battles import rank, ranked_apart
from podium.storage.remote import Place

HOST = "inspect-ai"
"""Names the host in the logs of tournaments that its command plays after an eval."""


class RankedEval(NamedTuple):
    """The ranking of an eval or a tournament.

    Attributes:
        ranking: the ranking.
        battles: the battles that were ranked.
        is_partial: whether it lacks something that the user asked for.
        log: the log of the tournament that followed the eval; None if none was played.
    """

    ranking: Ranking
    battles: Battles
    is_partial: bool
    log: Place | None = None


def rank_by_scores(
    logs: Sequence[EvalLog], gathered: RankedLogs, options: RankerOptions
) -> RankedEval:
    """Rank logs by their scores or verdicts, and write the ranking into each log of the run.

    Failed logs and earlier runs of a model are left out of the ranking, and warnings name them.

    Args:
        logs: headers of the run's logs. Their results are replaced.
        gathered: the same logs, and those of other runs.
        options: podium's options of the run.
    """
    one_sided = flatten_arguments(logs[0].eval.task_args).get("one_sided", "unparsed")
    ranking, battles = _rank_logs_of(gathered.sources, one_sided, options)
    _write_into_logs(logs, gathered, ranking)
    lost = gathered.lost if options.against else ()
    return RankedEval(ranking, battles, is_partial(ranking, battles, lost=lost))


def play_and_rank(
    logs: Sequence[EvalLog], gathered: RankedLogs, options: RankerOptions
) -> RankedEval:
    """Let judges compare the responses in logs, and write the ranking into the logs and beside.

    Args:
        logs: headers of the run's logs. Their results are replaced.
        gathered: the same logs, and those of other runs.
        options: podium's options of the run, with one judge or more.

    Raises:
        PodiumError: no battle was judged, or the verdicts cannot be ranked.
        KeyboardInterrupt: the user stopped the tournament.
    """
    from podium.hosts.inspect_ai.judged_run import play_tournament

    log, failure = play_tournament(
        options,
        gathered.sources,
        gathered.own_models,
        tournament_folder(gathered.run[0]),
        host=HOST,
    )
    one_sided = options.args.get("one_sided", "unparsed")
    try:
        ranking, battles = _rank_logs_of([str(log)], one_sided, options)
    except PodiumError:
        if failure is None:
            raise
        raise PodiumError(f"no battle was judged: {failure}") from None
    if failure:
        tell(failure)
    write_into_log(log, ranking)
    write_beside(log, ranking)
    _write_into_logs(logs, gathered, ranking)
    lost = gathered.lost if options.against else ()
    whether = is_partial(ranking, battles, failure=failure, lost=lost)
    return RankedEval(ranking, battles, whether, log)


def require_command() -> None:
    """Raise UsageError if no tournament can be played here.

    Inspect plays one eval at a time, and in Python its hooks are called while the eval runs.
    """
    if click.get_current_context(silent=True) is not None:
        return
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        raise UsageError(
            f"{option_text('judge')} is for the command `inspect eval`; in Python, evaluate "
            "podium.hosts.inspect_ai.tasks.round_robin(responses=LOG_DIR) after this eval"
        )


def _rank_logs_of(
    sources: Sequence[str], one_sided: Any, options: RankerOptions
) -> tuple[Ranking, Battles]:
    """Read logs and rank their battles; return the ranking and the battles."""
    settings = parse_settings(options.settings, options.rankers)
    battles = read_query(
        BattleQuery(sources, format="inspect", one_sided=one_sided, **options.reading)
    )
    how: dict[str, Any] = {
        "by": ranked_apart(battles, options.rankers),
        "calibration": options.calibration,
    }
    return rank(battles, options.rankers, **how, **settings), battles


def _write_into_logs(logs: Sequence[EvalLog], gathered: RankedLogs, ranking: Ranking) -> None:
    """Write a ranking into the logs of the run that count and have results."""
    for log, place in zip(logs, gathered.run, strict=True):
        name = gathered.names.get(place)
        if name is not None and (log.results is not None or len(logs) == 1):
            log.results = write_into_log(place, ranking, name)
