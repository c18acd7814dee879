"""Rank the logs of a run: by their scores or verdicts, or by judges that compare the responses."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import click
from inspect_ai.log import EvalLog

from podium.data.battles import Battles
from podium.errors import PodiumError, UsageError
from podium.hosts.folder_pin import FolderPin, open_pin
from podium.hosts.host_ranking import (
    rank_for_host,
    read_logs_for_host,
    read_played_log,
    with_anchor,
)
from podium.hosts.inspect_ai.inspect_ai_compatibility import flatten_arguments
from podium.hosts.inspect_ai.logs.earlier_logs import RankedLogs, tournament_folder
from podium.hosts.inspect_ai.logs.log_files import HOST
from podium.hosts.inspect_ai.logs.podium_entries import is_tournament
from podium.hosts.inspect_ai.logs.ranking_in_log import write_beside, write_into_log
from podium.hosts.own_figures import FIGURES, PINNED_WIN_RATE, WrittenFigure
from podium.hosts.partial_rankings import is_partial
from podium.hosts.ranker_options import RankerOptions
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_text
from podium.notices.option_forms import option_text
from podium.plugins.settings import parse_settings
from podium.printable import tell
from podium.rankers.ranking import Ranking
from podium.storage.remote import Place


class RankedEval(NamedTuple):
    """The ranking of an eval or a tournament.

    Attributes:
        ranking: the ranking.
        battles: the battles that were ranked.
        messages: texts on the win rates against the pinned reference, and on the reference.
        is_partial: whether the ranking lacks something that the user asked for.
        log: the log of the tournament that followed the eval; None if none was played.
    """

    ranking: Ranking
    battles: Battles
    messages: Sequence[str]
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

    Raises:
        PodiumError: the logs cannot be read or ranked, or the only log of the run has no results.
    """
    one_sided = flatten_arguments(logs[0].eval.task_args).get("one_sided")
    battles = read_logs_for_host(gathered.sources, one_sided, options)
    ranking, messages = _rank_with_figures(logs, gathered, battles, options)
    _write_into_logs(logs, gathered, ranking)
    # Only logs that the user named must be in the ranking.
    lost = gathered.lost if options.against else ()
    return RankedEval(ranking, battles, messages, is_partial(ranking, battles, lost=lost))


def play_and_rank(
    logs: Sequence[EvalLog], gathered: RankedLogs, options: RankerOptions
) -> RankedEval:
    """Let judges compare the responses in logs, and write the ranking.

    The ranking is written into these logs, into the log of the tournament, and into a file beside
    the latter.

    Args:
        logs: headers of the run's logs. Their results are replaced.
        gathered: the same logs, and those of other runs.
        options: podium's options of the run, with one judge or more.

    Raises:
        PodiumError: no battle was judged, or the verdicts cannot be ranked.
        KeyboardInterrupt: the user stopped the tournament.
    """
    from podium.hosts.inspect_ai.judged_run import play_tournament

    settings = parse_settings(options.settings, options.rankers)
    names = {*gathered.names.values()}
    pin = open_pin(tournament_folder(gathered.run[0]), options.pin)
    log, failure = play_tournament(
        with_anchor(options, settings, pin.name_among(names), names),
        gathered.sources,
        gathered.own_models,
        tournament_folder(gathered.run[0]),
        host=HOST,
    )
    try:
        battles = read_played_log(log, failure, options)
        ranking, messages = _rank_with_figures(logs, gathered, battles, options)
    except PodiumError:
        # The log has what the judge replied.
        tell(f"the tournament's log: {log}")
        raise
    if failure:
        tell(failure.message)
    write_into_log(log, ranking)
    write_beside(log, ranking)
    _write_into_logs(logs, gathered, ranking)
    # Only logs that the user named must be in the ranking.
    lost = gathered.lost if options.against else ()
    lacks_something = is_partial(ranking, battles, failure=failure, lost=lost)
    return RankedEval(ranking, battles, messages, lacks_something, log)


def pin_first_model(gathered: RankedLogs, options: RankerOptions) -> None:
    """Pin the model of a run that has no other model yet, if the user asks to pin it.

    What is said about the pin is printed.
    """
    pin = open_pin(tournament_folder(gathered.run[0]), options.pin)
    for message in _save_pin(pin, gathered.own_models):
        tell(message)


def require_command() -> None:
    """Raise UsageError if no tournament can be played here: in Python, while an event loop runs.

    Inspect plays one eval at a time, and in Python its hooks are called while the eval runs. If a
    command runs, the tournament is played at its end.
    """
    if click.get_current_context(silent=True) is not None:
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError(
        f"{option_text('judge')} is for the command `inspect eval`; in Python, evaluate "
        "podium.hosts.inspect_ai.tasks.round_robin(responses=LOG_DIR) after this eval"
    )


def _rank_with_figures(
    logs: Sequence[EvalLog], gathered: RankedLogs, battles: Battles, options: RankerOptions
) -> tuple[Ranking, list[str]]:
    """Rank battles; of an ordinary eval, add the figures of the run's own models.

    The figures are in the provenance of the ranking, under `FIGURES`.

    Returns:
        The ranking, and messages on the pinned reference, which are empty for a tournament.
    """
    settings = parse_settings(options.settings, options.rankers)
    ranking = rank_for_host(battles, options, settings)
    if is_tournament(logs[0]):
        return ranking, []
    pin = open_pin(tournament_folder(gathered.run[0]), options.pin)
    models = gathered.own_models
    figures = pin.written_figures(logs[0].eval.task, ranking, battles, models)
    written_figures = [figure.to_json() for figure in figures]
    ranking = replace(ranking, provenance={**ranking.provenance, FIGURES: written_figures})
    return ranking, [*_pinned_texts(figures), *_save_pin(pin, models)]


def _pinned_texts(figures: Sequence[WrittenFigure]) -> Iterator[str]:
    """Yield a text on each win rate against the pinned reference; other figures have none.

    Inspect prints no table in which these win rates would be seen.
    """
    for figure in figures:
        if figure.name != PINNED_WIN_RATE:
            continue
        error = "unknown" if figure.se is None else f"{figure.se:.3f}"
        fields = {"model": figure.model, "rate": figure.value, "se": error}
        fields |= {"reference": figure.reference, "items": figure.items}
        yield notice_text(Notice(PINNED_WIN_RATE, fields))


def _save_pin(pin: FolderPin, models: Sequence[str]) -> list[str]:
    """Write the pinned reference beside the logs, and return the messages about it.

    An error of writing is such a message, not raised.
    """
    try:
        return [f"{notice.severity}: {notice_text(notice)}" for notice in pin.save(models)]
    except (OSError, PodiumError) as error:
        return [f"the pinned reference is not saved: {error}"]


def _write_into_logs(logs: Sequence[EvalLog], gathered: RankedLogs, ranking: Ranking) -> None:
    """Write a ranking into the logs of the run that count and have results.

    The results of these logs are replaced in `logs`, too.

    Raises:
        PodiumError: the only log has no results, so that its ranking would be nowhere.
    """
    for log, place in zip(logs, gathered.run, strict=True):
        name = gathered.names.get(place)
        is_written = log.results is not None or len(logs) == 1
        if name is not None and is_written:
            log.results = write_into_log(place, ranking, name)
