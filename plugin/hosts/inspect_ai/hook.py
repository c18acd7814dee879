"""The hook that ranks models when a run has ended.

It ranks tournaments, and ordinary evals for which the user asked for a ranker.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import click
from inspect_ai.hooks import EvalSetEnd, Hooks, RunEnd, SampleEnd, TaskStart, hooks
from inspect_ai.log import (
    EvalError,
    EvalLog,
    EvalSpec,
    list_eval_logs,
    read_eval_log,
)

from podium.errors import LoneModelError, PodiumError
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE, PLAYED_FOR, RUNS_SUFFIX
from podium.hosts.inspect_ai.logs.podium_entries import (
    TournamentMetadata,
    is_tournament,
    read_tournament,
)
from podium.hosts.inspect_ai.logs.rescoring import LogStates, states_of, watch_scoring
from podium.hosts.inspect_ai.logs.stop_reasons import STOP, reason_of_stop, write_stop
from podium.notices.option_forms import typed_as
from podium.printable import tell
from podium.storage.remote import Place, local_file
from podium.wording import some_paths

if TYPE_CHECKING:
    # Every `inspect` command imports this module, so numpy is imported only if models are ranked.
    from podium.hosts.inspect_ai.eval_ranking import RankedEval
    from podium.hosts.inspect_ai.logs.earlier_logs import RankedLogs
    from podium.hosts.ranker_options import RankerOptions

DEFAULT_RANKER = "bradley-terry"
"""The ranker of a tournament that asks for none."""
RETRY_COMMAND = "eval-retry"
"""Inspect's command that plays the rest of a log."""
EXIT_CODE_OF_STOP = 130
"""Exit code of an eval whose tournament the user stopped."""


@hooks(name="podium_ranking", description="rank models after a run (--metadata ranker=NAME)")
class PodiumHooks(Hooks):
    """Ranks the logs of a run or an eval set, and writes the ranking into and beside the logs.

    Attributes:
        done: whether logs were ranked, by their states (`rank_logs`).
        checked: ids of runs with the tasks whose options were checked before the first call.
        stops: why a tournament stopped asking its judge, as its log keeps it, by id of the eval.
        command: the words of the running command, such as `inspect eval`; None in Python.
    """

    def __init__(self) -> None:
        self.done: dict[LogStates, bool] = {}
        self.checked: set[tuple[str, str]] = set()
        self.stops: dict[str, Mapping[str, Any]] = {}
        context = click.get_current_context(silent=True)
        self.command = context.command_path if context else None
        watch_scoring(context)

    async def on_task_start(self, data: TaskStart) -> None:
        """Print before the first call why the eval will not be ranked as its metadata ask.

        Each task is checked once per run. Tasks of podium are not checked here, because tournaments
        check their rankers themselves.
        """
        # The task of a tournament checks its rankers itself.
        if (
            data.spec.task.startswith(f"{NAMESPACE}/")
            or (data.run_id, data.spec.task) in self.checked
        ):
            return
        is_first = all(run != data.run_id for run, _ in self.checked)
        self.checked.add((data.run_id, data.spec.task))
        _say_what_cannot_be_ranked(data.spec, is_first=is_first)

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Remember why a sample of a tournament has stopped its run: of each eval, the first."""
        if data.sample.error and STOP in data.sample.store:
            self.stops.setdefault(data.eval_id, data.sample.store[STOP])

    async def on_run_end(self, data: RunEnd) -> None:
        """Rank the logs of a run, and set the exit code by whether they were ranked.

        Why a judge was stopped is first written into the logs. After `inspect eval-retry`, folders
        of responses that were kept for it are removed (`_remove_linked_runs`). Nothing is ranked if
        the run plays a tournament for a host, which ranks it.
        """
        for log in data.logs:
            stop = self.stops.get(log.eval.eval_id) or self.stops.get(log.eval.task_id)
            if stop and log.status == "error":
                # Without it, the log's error message has the reason.
                with suppress(OSError, PodiumError):
                    write_stop(log, stop)
        if RETRY_COMMAND in (self.command or "").split():
            for log in data.logs:
                _remove_linked_runs(log)
        # A tournament that this or another host plays after an eval is ranked with the eval.
        if not any(PLAYED_FOR in (log.eval.metadata or {}) for log in data.logs):
            _set_exit_code(rank_logs(data.logs, self.done))

    async def on_eval_set_end(self, data: EvalSetEnd) -> None:
        """Rank the logs of an eval set, unless they were ranked after its last run.

        Running a finished set again calls only this hook.
        """
        _set_exit_code(rank_logs(headers_in(data.log_dir), self.done))


def _remove_linked_runs(log: EvalLog) -> None:
    """Remove the folder of responses that lm-eval's tournament kept for this retry.

    The folder stays if the log is not of such a tournament or is not whole yet, or if the folder
    has other files than podium's.
    """
    if log.status != "success" or (log.eval.metadata or {}).get(PLAYED_FOR) != "lm-eval":
        return
    from podium.data.formats.files import split_label

    for source in log.eval.task_args.get("responses") or ():
        _, words = split_label(str(source))
        path = Path(words)
        folder_of_run = next(
            (folder for folder in path.parents if folder.parent.name.endswith(RUNS_SUFFIX)), None
        )
        if folder_of_run is not None and _is_made_for_run(folder_of_run):
            rmtree(folder_of_run, ignore_errors=True)
            with suppress(OSError):
                folder_of_run.parent.rmdir()


def _is_made_for_run(folder: Path) -> bool:
    """Return whether podium made a folder for a run of lm-eval, and everything in it.

    True if all of this holds: the name of the folder is a time; the folder is no link; it holds the
    folder `this`, and nothing else but perhaps the folder `others`; files in `this` are links or
    files of lm-eval; and files in `others` are links.
    """
    from podium.data.formats.lm_eval_layout import RESULTS_NAME, SAMPLES_NAME, TIME

    has_time = re.fullmatch(TIME, folder.name) is not None
    if folder.is_symlink() or not has_time or not (folder / "this").is_dir():
        return False
    for path in folder.rglob("*"):
        part = path.relative_to(folder).parts[0]
        is_file_of_run = SAMPLES_NAME.match(path.name) or RESULTS_NAME.match(path.name)
        is_own_file = part == "this" and is_file_of_run
        is_made = path.is_symlink() or path.is_dir() or is_own_file
        if part not in ("this", "others") or not is_made:
            return False
    return True


def _set_exit_code(ranked: bool) -> None:
    """Let the running command end with exit code 1 if `ranked` is false.

    If `ranked` is true, Inspect's exit code stays.
    """
    from podium.hosts.inspect_ai.end_of_command import exit_at_end

    exit_at_end(0 if ranked else PodiumError.exit_code)


def _say_what_cannot_be_ranked(spec: EvalSpec, *, is_first: bool) -> None:
    """Print which rankers of a run will be replaced, or why an eval cannot be ranked.

    Options that a command with `--ranker` has checked are not checked again. What they ask of the
    scorers is known only now.

    Args:
        spec: what Inspect has recorded of the eval.
        is_first: whether it is the first eval of its run, with which the options are checked.
    """
    from podium.hosts.inspect_ai.inspect_options import form_of_options

    doubt = "this run will not be ranked"
    with typed_as(form_of_options(os.environ)):
        try:
            options = _options_of_coming_eval(spec.metadata or {}, is_first=is_first)
            if options is not None:
                from podium.hosts.inspect_ai.coming_scores import check_scorers

                # Scores may have parts that the scorers do not declare.
                doubt = "this eval may not be ranked"
                check_scorers(options, spec)
        except PodiumError as error:
            tell(f"{doubt}: {error}")


def _options_of_coming_eval(
    metadata: Mapping[str, Any], *, is_first: bool
) -> "RankerOptions | None":
    """Return the options that a coming eval asks for; None if it is not to be ranked.

    Notes on rankers that will be replaced are printed.

    Args:
        metadata: the metadata of the eval.
        is_first: whether it is the first eval of its run, with which the options are checked.

    Raises:
        UsageError: an option is wrong.
    """
    from podium.hosts.inspect_ai.inspect_options import (
        CHECKED_VARIABLE,
        form_of_options,
        require_ranker,
        values_asked_for,
    )

    values = values_asked_for(metadata, os.environ)
    if is_first:
        require_ranker(metadata, values)
    if not values:
        return None
    from podium.hosts.ranker_options import options_from

    options = options_from(values)
    if is_first and CHECKED_VARIABLE not in os.environ:
        from podium.hosts.inspect_ai.coming_eval import check_eval_options

        with typed_as(form_of_options(os.environ, judged=bool(options.judges))):
            for note in check_eval_options(options):
                tell(note)
    return options


def headers_in(folder: str) -> Iterator[EvalLog]:
    """Yield the headers of the logs in a folder; print a message for a log that cannot be read."""
    for log in list_eval_logs(folder):
        try:
            yield read_eval_log(log, header_only=True)
        except Exception as error:
            tell(f"not ranked: {log.name}: {error}")


def rank_logs(logs: Iterable[EvalLog], done: dict[LogStates, bool] | None = None) -> bool:
    """Rank each tournament alone, and the other logs of each task with the same options together.

    Logs of runs that still go on, and evals that ask for no ranker, are left out.

    Args:
        logs: headers of the logs.
        done: whether logs were ranked, by their states (see `states_of`). Logs in these states are
            not ranked again. The result of each attempt is added to it.

    Returns:
        whether every tournament was ranked, and everything whose options say that it must be
        (`ranker_strict`) was ranked in whole. If a log was not, the reason is printed.
    """
    from podium.hosts.inspect_ai.inspect_options import form_of_options, values_asked_for

    groups: dict[tuple[str, str], list[EvalLog]] = {}
    asked_options: dict[str, dict[str, Any]] = {}
    ranked = True
    for log in logs:
        metadata = log.eval.metadata or {}
        try:
            why = reason_of_stop(log) if is_tournament(log) else None
            if why and PLAYED_FOR not in metadata:
                raise PodiumError(str(why))
            values = values_asked_for(metadata, os.environ)
            if log.status == "started":
                continue
            tournament = read_tournament(log)
            key = log.eval.task if tournament is None else log.location
            if _is_ranked_here(tournament, values):
                text = json.dumps(values, sort_keys=True, default=str)
                asked_options[text] = values or {"ranker": DEFAULT_RANKER}
                groups.setdefault((key, text), []).append(log)
        except PodiumError as error:
            tell(_unranked_text([log], error))
            if is_tournament(log) or _is_strict(metadata):
                ranked = False
    for (_, text), group in groups.items():
        with typed_as(form_of_options(os.environ, tournament=is_tournament(group[0]))):
            is_ranked = _rank_together(group, asked_options[text], {} if done is None else done)
        ranked = is_ranked and ranked
    return ranked


def _is_strict(metadata: Mapping[str, Any]) -> bool:
    """Return whether the option `ranker_strict` of a run is true.

    It is read alone, from the metadata or else from the environment, because another option may be
    wrong, so that the options cannot be read together.
    """
    from podium.hosts.inspect_ai.inspect_options import VARIABLE_PREFIX

    name = "ranker_strict"
    value = metadata.get(name, os.environ.get(f"{VARIABLE_PREFIX}{name.upper()}"))
    return str(value).lower() == "true"


def _is_ranked_here(tournament: TournamentMetadata | None, values: Mapping[str, Any]) -> bool:
    """Return whether this hook ranks a log: a tournament, or an eval that asks for rankers.

    A tournament is ranked also if its run names no ranker. Tournaments that another host plays, and
    shards without a battle, are not ranked here.

    Args:
        tournament: metadata of the tournament; None for an ordinary eval.
        values: the options that the run asks for; empty without a ranker.
    """
    if tournament is None:
        return bool(values)
    # Another host ranks its tournament itself, and a shard may have no battles.
    is_empty_shard = tournament.shard is not None and not tournament.scheduled
    return not tournament.host and not is_empty_shard


def _unranked_text(logs: Sequence[EvalLog], error: object) -> str:
    """Return a message on logs that are not ranked, with their names if the error lacks them.

    Args:
        logs: headers of the logs.
        error: the error, or its text. The message of a LoneModelError names the model, so that the
            log is not named.
    """
    is_named = all(log.location in str(error) for log in logs)
    if is_named or isinstance(error, LoneModelError):
        return f"not ranked: {error}"
    names = some_paths([PurePosixPath(log.location).name for log in logs])
    return f"not ranked: {names}: {error}"


def _rank_together(
    logs: Sequence[EvalLog], values: Mapping[str, Any], done: dict[LogStates, bool]
) -> bool:
    """Rank a tournament, or the models of an eval on one task, and write the ranking.

    If a judge has to compare the responses, this is done when the command ends.

    Args:
        logs: headers of the logs.
        values: the options that their run asked for, by name in metadata.
        done: whether logs were ranked, by their states; changed in place. Logs in these states are
            not ranked again.

    Returns:
        whether the logs were ranked as the options require. If they were not, or only in part, the
        reason is printed.
    """
    from podium.hosts.inspect_ai.end_of_command import call_at_end
    from podium.hosts.inspect_ai.eval_ranking import pin_first_model
    from podium.hosts.inspect_ai.logs.earlier_logs import gather_logs, require_other_model
    from podium.hosts.ranker_options import options_from
    from podium.notices.notice_text import notice_texts

    is_needed = is_tournament(logs[0])
    try:
        options = options_from(values)
        is_needed = is_needed or options.strict
        gathered = gather_logs(logs, options)
        states = states_of([*gathered.run, *gathered.others])
        if states in done:
            return done[states]
        done[states] = not is_needed
        for note in notice_texts(gathered.lost):
            call_at_end(partial(tell, note))
        try:
            require_other_model(gathered, logs, options)
        except LoneModelError:
            if options.pin:
                pin_first_model(gathered, options)
            raise
        if options.judges and not is_tournament(logs[0]):
            done[states] = _judge_at_end(logs, gathered, options)
            return done[states]
        is_ranked = _rank_by_logs(logs, gathered, options)
        done[states_of([*gathered.run, *gathered.others])] = is_ranked
        return is_ranked
    # All errors are caught: one bad log must not stop the others, and Inspect would only print
    # that a hook failed.
    except Exception as error:
        reason = _unranked_text(logs, error)
        call_at_end(lambda: tell(reason))
        return not is_needed


def _rank_by_logs(
    logs: Sequence[EvalLog], gathered: "RankedLogs", options: "RankerOptions"
) -> bool:
    """Rank a tournament or an eval by what is in its logs; write and print the ranking.

    Returns:
        False if it is ranked only in part and must be whole (`ranker_strict`), else True.
    """
    from podium.hosts.inspect_ai.end_of_command import call_at_end
    from podium.hosts.inspect_ai.eval_ranking import rank_by_scores
    from podium.hosts.inspect_ai.logs.ranking_in_log import write_beside

    try:
        ranked = rank_by_scores(logs, gathered, options)
        # The file lies beside the first log by name, because the order of logs may change.
        written = write_beside(min(gathered.run, key=str), ranked.ranking)
    except Exception as error:
        first_log = logs[0]
        lacks_reason = first_log.status == "error" and first_log.error is None
        if is_tournament(first_log) and lacks_reason:
            _write_reason_of_failure(gathered.run[0], first_log, error)
        raise
    _print_ranking(ranked, logs[0], gathered.own_models, options)
    call_at_end(lambda: tell(f"wrote {written}"))
    return not (options.strict and ranked.is_partial)


def _judge_at_end(
    logs: Sequence[EvalLog], gathered: "RankedLogs", options: "RankerOptions"
) -> bool:
    """Let judges compare the responses in logs when the command ends, and rank their models.

    Returns:
        whether the logs were ranked, or need not be, or will be when the command ends.

    Raises:
        UsageError: no command runs, and an eval cannot be played.
    """
    from podium.hosts.inspect_ai.end_of_command import call_at_end, raise_exit_code
    from podium.hosts.inspect_ai.eval_ranking import play_and_rank, require_command
    from podium.hosts.inspect_ai.inspect_options import form_of_options
    from podium.hosts.secrets import redact

    require_command()
    form = form_of_options(os.environ, judged=True)
    code = 0

    def judge_and_rank() -> None:
        """Play and rank. A failure is printed, and changes the exit code only if it has to."""
        nonlocal code
        try:
            with typed_as(form):
                ranked = play_and_rank(logs, gathered, options)
                _print_ranking(ranked, logs[0], gathered.own_models, options)
            call_at_end(lambda: tell(f"the tournament's log: {ranked.log}"))
            code = PodiumError.exit_code if options.strict and ranked.is_partial else 0
        except KeyboardInterrupt as stop:
            tell(f"not ranked: stopped; the eval's own logs are saved{stop}")
            code = EXIT_CODE_OF_STOP
        # A tournament may fail with any error of a provider. The eval itself has succeeded.
        except (Exception, SystemExit) as error:
            why = error if isinstance(error, PodiumError) else f"{type(error).__name__}: {error}"
            tell(redact(_unranked_text(logs, why), options.secrets()))
            code = PodiumError.exit_code if options.strict else 0
        raise_exit_code(code)

    call_at_end(judge_and_rank, name=f"judge {logs[0].eval.task}")
    return not code


def _print_ranking(
    ranked: "RankedEval", log: EvalLog, own_models: Sequence[str], options: "RankerOptions"
) -> None:
    """Print the tables of a ranking when the command ends.

    What is said of the pinned reference follows the tables. After a tournament, lines on failed
    calls, and on what a provider's cache saved, follow.

    Args:
        ranked: the ranking.
        log: the first log of the run.
        own_models: names of the models of this run.
        options: podium's options of the run.
    """
    from podium.hosts.inspect_ai.end_of_command import call_at_end, print_at_end

    text = _text_of_ranking(ranked, log, own_models, options)
    print_at_end(text)
    for message in ranked.messages:
        # What holds of several tasks is printed once.
        call_at_end(partial(tell, message), name=message)
    if is_tournament(log):
        from podium.hosts.inspect_ai.inspect_ai_compatibility import flatten_arguments
        from podium.hosts.inspect_ai.judging.cached_tokens import cached_tokens_texts
        from podium.hosts.inspect_ai.judging.failed_calls import failed_calls_texts

        prices = flatten_arguments(log.eval.task_args).get("prices")
        of_cache = cached_tokens_texts(log.stats.model_usage, prices)
        for line in (*failed_calls_texts(ranked.battles), *of_cache):
            call_at_end(partial(tell, line))


def _write_reason_of_failure(place: Place, log: EvalLog, error: Exception) -> None:
    """Write the error into a log that Inspect marked as failed without an error."""
    from podium.hosts.inspect_ai.logs.ranking_in_log import write_header

    path = local_file(place)
    header = read_eval_log(str(path), header_only=True)
    message = str(error).removeprefix(f"{log.location}: ")
    log.error = EvalError(message=message, traceback="", traceback_ansi="")
    header.error = log.error
    write_header(place, path, header)


def _text_of_ranking(
    ranked: "RankedEval", log: EvalLog, own_models: Sequence[str], options: "RankerOptions"
) -> str:
    """Write a ranking as text: whole after a tournament, in a few lines after an ordinary eval.

    If it is known which responses of a tournament humans prefer, the judge's agreement with them
    comes first.

    Args:
        ranked: the ranking.
        log: the first log of the run.
        own_models: names of the models of this run.
        options: podium's options of the run.
    """
    from podium.hosts.host_ranking import lines_beside
    from podium.show.report.brief_view import brief_ranking_text
    from podium.show.report.ranking_view import ranking_text

    standings_with_task = tuple(
        replace(standings, slice=standings.slice or log.eval.task)
        for standings in ranked.ranking.standings
    )
    whole = replace(ranked.ranking, standings=standings_with_task)
    tournament = read_tournament(log)
    if tournament is None:
        # After an ordinary eval, the eval itself is what the user has asked for.
        is_judged = ranked.log is not None
        # The path of the log or of the JSON is printed, too.
        beside = lines_beside(len(ranked.messages) + 1, options)
        return brief_ranking_text(whole, own_models, is_judged=is_judged, beside=beside)
    text = ranking_text(whole)
    if not tournament.preferred:
        return text
    from podium.diagnosis.human_agreement import preference_report
    from podium.show.report.terminal import terminal_text

    return f"{terminal_text([preference_report(ranked.battles)])}\n{text}"
