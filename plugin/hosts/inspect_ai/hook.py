"""The hook that ranks models when a run has ended.

It ranks tournaments, and ordinary evals for which the user asked for a ranker.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import click
from inspect_ai.hooks import EvalSetEnd, Hooks, RunEnd, RunStart, hooks
from inspect_ai.log import (
    EvalError,
    EvalLog,
    list_eval_logs,
    read_eval_log,
)

from podium.errors import PodiumError
from podium.hosts.inspect_ai.inspect_ai_compatibility import flatten_arguments, typed_metadata
from podium.hosts.inspect_ai.inspect_options import (
    CHECKED,
    form_of_options,
    values_asked_for,
)
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE, PLAYED_FOR
from podium.hosts.inspect_ai.logs.podium_entries import (
    TournamentMetadata,
    is_tournament,
    read_tournament,
    reason_of_stop,
)
from podium.hosts.inspect_ai.logs.ranking_in_log import write_beside, write_header, write_into_log
from podium.hosts.inspect_ai.logs.rescoring import LogStates, states_of, watch_scoring
from podium.hosts.ranker_options import PREFIX, RankerOptions, options_from
from podium.names import joined_name
from podium.notices.option_forms import typed_as
from podium.printable import tell
from podium.storage.remote import Place, local_file, place_of

if TYPE_CHECKING:
    # Every `inspect` command imports this module, so numpy is imported only if models are ranked.
    from podium.data.battles import Battles
    from podium.rankers.ranking import Ranking

DEFAULT_RANKER = "bradley-terry"
"""The ranker of a tournament that asks for none."""


@hooks(name="podium_ranking", description="rank models after a run (--metadata ranker=NAME)")
class PodiumHooks(Hooks):
    """Ranks the logs of a run or an eval set, and writes the ranking into and beside the logs."""

    def __init__(self) -> None:
        self.done: dict[LogStates, bool] = {}
        watch_scoring(click.get_current_context(silent=True))

    async def on_run_start(self, data: RunStart) -> None:
        """Print before the first call which rankers of `--metadata` cannot rank the run."""
        # The task of a tournament checks its rankers itself. `podium inspect` has already checked
        # its options.
        if not all(name.startswith(f"{NAMESPACE}/") for name in data.task_names):
            _say_what_cannot_be_ranked()

    async def on_run_end(self, data: RunEnd) -> None:
        """Rank the logs of a run."""
        _set_exit_code(rank_logs(data.logs, self.done))

    async def on_eval_set_end(self, data: EvalSetEnd) -> None:
        """Rank the logs of an eval set, unless they were ranked after its last run.

        Running a finished set again calls only this hook.
        """
        _set_exit_code(rank_logs(headers_in(data.log_dir), self.done))


def _set_exit_code(ranked: bool) -> None:
    """Let the running command end with exit code 1 if `ranked` is false.

    If `ranked` is true, Inspect's exit code stays.
    """
    command = click.get_current_context(silent=True)
    if not command:
        return
    root = command.find_root()
    if "podium.ranked" not in root.meta:
        root.call_on_close(
            lambda: None if root.meta["podium.ranked"] else sys.exit(PodiumError.exit_code)
        )
    # If an eval set has several runs, the last one decides.
    root.meta["podium.ranked"] = ranked


def _say_what_cannot_be_ranked() -> None:
    """Print which rankers of the metadata will be replaced, or why the run cannot be ranked.

    Nothing is printed if `podium inspect` has checked the options.
    """
    if CHECKED in os.environ:
        return
    with typed_as(form_of_options(os.environ)):
        try:
            values = values_asked_for(typed_metadata(), os.environ)
            if not values:
                return
            from podium.hosts.inspect_ai.coming_eval import check_eval_options

            for note in check_eval_options(options_from(values)):
                tell(note)
        except PodiumError as error:
            tell(f"this run will not be ranked: {error}")


def headers_in(folder: str) -> Iterator[EvalLog]:
    """Yield the headers of the logs in a folder; print a message for a log that cannot be read."""
    for log in list_eval_logs(folder):
        try:
            yield read_eval_log(log, header_only=True)
        except Exception as error:
            tell(f"not ranked: {log.name}: {error}")


def rank_logs(logs: Iterable[EvalLog], done: dict[LogStates, bool] | None = None) -> bool:
    """Rank each tournament alone, and the other logs of each task together.

    Args:
        logs: headers of the logs.
        done: whether logs were ranked, by their states (see `states_of`). Logs in these states are
            not ranked again. The result of each attempt is added to it.

    Returns:
        whether all logs were ranked. If a log was not, the reason is printed.
    """
    groups: dict[tuple[str, str], list[EvalLog]] = {}
    asked: dict[str, dict[str, Any]] = {}
    ranked = True
    for log in logs:
        metadata = log.eval.metadata or {}
        try:
            why = reason_of_stop(log) if is_tournament(log) else None
            if why and PLAYED_FOR not in metadata:
                raise PodiumError(why)
            values = values_asked_for(metadata, os.environ)
            if log.status == "started":
                continue
            tournament = read_tournament(log)
            key = log.eval.task if tournament is None else log.location
            if _is_ranked_here(tournament, values):
                text = json.dumps(values, sort_keys=True, default=str)
                asked[text] = values or {PREFIX: DEFAULT_RANKER}
                groups.setdefault((key, text), []).append(log)
        except PodiumError as error:
            tell(_unranked_text([log], error))
            ranked = False
    with typed_as(form_of_options(os.environ)):
        for (_, text), group in groups.items():
            is_ranked = _rank_together(group, asked[text], {} if done is None else done)
            ranked = is_ranked and ranked
    return ranked


def _is_ranked_here(tournament: TournamentMetadata | None, values: Mapping[str, Any]) -> bool:
    """Return whether this hook ranks a log: a tournament, or an eval that asks for rankers."""
    if tournament is None:
        return bool(values)
    # Another host ranks its tournament itself, and a shard may have no battles.
    is_empty_shard = tournament.shard is not None and not tournament.scheduled
    return not tournament.host and not is_empty_shard


def _unranked_text(logs: Sequence[EvalLog], error: Exception) -> str:
    """Return a message on logs that are not ranked, with their names if the error lacks them."""
    if all(log.location in str(error) for log in logs):
        return f"not ranked: {error}"
    names = ", ".join(PurePosixPath(log.location).name for log in logs)
    return f"not ranked: {names}: {error}"


def _rank_together(
    logs: Sequence[EvalLog], values: Mapping[str, Any], done: dict[LogStates, bool]
) -> bool:
    """Rank a tournament, or the scores of several models on one task, and write the ranking.

    Args:
        logs: headers of the logs.
        values: the options that their run asked for, by name in metadata.
        done: see `rank_logs`.

    Returns:
        whether the logs were ranked. If not, the reason is printed.
    """
    places = [place_of(log.location) for log in logs]
    written: Place | None = None
    try:
        known = done.get(states_of(places))
        if known is not None:
            return known
        try:
            ranking, battles = _rank_places(places, logs, options_from(values))
            # The file lies beside the first log by name, because the order of logs may change.
            written = write_beside(min(places, key=str), ranking)
        except Exception as error:
            if is_tournament(logs[0]) and logs[0].status == "error" and logs[0].error is None:
                _write_reason_of_failure(places[0], logs[0], error)
            raise
        finally:
            done[states_of(places)] = written is not None
    # All errors are caught: one bad log must not stop the others, and Inspect would only print
    # that a hook failed.
    except Exception as error:
        reason = _unranked_text(logs, error)
        _print_at_end(lambda: tell(reason))
        return False
    text = _text_of_ranking(ranking, battles, logs[0])
    _print_at_end(lambda: print(text, end="", file=sys.stderr))
    if is_tournament(logs[0]):
        from podium.hosts.inspect_ai.judging.cached_tokens import cached_tokens_texts

        for cached in cached_tokens_texts(logs[0].stats.model_usage):
            _print_at_end(partial(tell, cached))
    _print_at_end(lambda: tell(f"wrote {written}"))
    return True


def _write_reason_of_failure(place: Place, log: EvalLog, error: Exception) -> None:
    """Write the error into a log that Inspect marked as failed without an error."""
    path = local_file(place)
    header = read_eval_log(str(path), header_only=True)
    message = str(error).removeprefix(f"{log.location}: ")
    log.error = EvalError(message=message, traceback="", traceback_ansi="")
    header.error = log.error
    write_header(place, path, header)


def _text_of_ranking(ranking: "Ranking", battles: "Battles", log: EvalLog) -> str:
    """Write the tables of a ranking.

    If it is known which responses humans prefer, the judge's agreement with them comes first.
    """
    from podium.show.report.ranking_view import ranking_text

    named = tuple(
        replace(standings, slice=standings.slice or log.eval.task)
        for standings in ranking.standings
    )
    text = ranking_text(replace(ranking, standings=named))
    tournament = read_tournament(log)
    if tournament is None or not tournament.preferred:
        return text
    from podium.diagnosis.human_agreement import preference_report
    from podium.show.report.terminal import terminal_text

    return f"{terminal_text([preference_report(battles)])}\n{text}"


def _rank_places(
    places: Sequence[Place], logs: Sequence[EvalLog], options: RankerOptions
) -> tuple["Ranking", "Battles"]:
    """Rank logs, and write the ranking into each log that has results.

    Returns:
        the ranking and its battles.
    """
    from podium.data.query import BattleQuery
    from podium.data.reading.judgments import read_query
    from podium.plugins.settings import parse_settings
    from podium.ranking.rank_battles import rank, ranked_apart

    settings = parse_settings(options.settings, options.rankers)
    one_sided = flatten_arguments(logs[0].eval.task_args).get("one_sided", "unparsed")
    sources = [*map(str, places)]
    battles = read_query(
        BattleQuery(sources, format="inspect", one_sided=one_sided, **options.reading)
    )
    how: dict[str, Any] = {
        "by": ranked_apart(battles, options.rankers),
        "calibration": options.calibration,
    }
    ranking = rank(battles, options.rankers, **how, **settings)
    # Failed logs and earlier runs of a model are left out of the ranking, and warnings name them.
    names = _names_of_logs_that_count(places, options)
    for log, place in zip(logs, places, strict=True):
        if place in names and (log.results is not None or len(logs) == 1):
            log.results = write_into_log(place, ranking, names[place])
    return ranking, battles


def _names_of_logs_that_count(places: Sequence[Place], options: RankerOptions) -> dict[Place, str]:
    """Return the logs that a ranking is made from, each with the name of its model there.

    They are the newest whole runs of each model and its settings, or all runs if the options say
    so.
    """
    from podium.hosts.inspect_ai.logs.folders import choose_logs

    by_path = {Path(local_file(place)): place for place in places}
    every = options.reading.get("runs") == "all"
    is_joined = options.reading.get("names") == "joined"
    names = {}
    for run in choose_logs(dict.fromkeys(by_path), every=every).logs:
        names[by_path[run.path]] = joined_name(run.who) if is_joined else run.who
    return names


def _print_at_end(say: Callable[[], None]) -> None:
    """Call `say` when the command ends, as Inspect's full screen hides what is printed before.

    If no command runs, `say` is called at once.
    """
    command = click.get_current_context(silent=True)
    if command is None:
        say()
        return
    waiting = command.find_root().meta.setdefault("podium.printed_last", [])
    waiting.append(say)
    if len(waiting) == 1:
        # click calls such functions in reverse order, so one function prints all messages.
        command.find_root().call_on_close(lambda: [each() for each in waiting])
