"""Play the tournament that a run of a host asks for, over the responses of several runs."""

import asyncio
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from contextvars import Context
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource

from podium.errors import UsageError, install_hint
from podium.hookspecs import Tournament
from podium.hosts.inspect_ai.logs.log_files import HOST, NAMESPACE, PLAYED_FOR
from podium.hosts.ranker_options import RankerOptions
from podium.hosts.secrets import HIDDEN_TEXT, SHORTEST, redact
from podium.hosts.tournament_failure import TournamentFailure
from podium.notices.option_forms import typed_as, typed_form
from podium.plugins import catalogue
from podium.plugins.settings import parameters_of
from podium.printable import begin_line, tell
from podium.storage.atomic_files import atomic_file
from podium.storage.remote import Place, local_file, place_of
from podium.wording import plural

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog, EvalSample

ARGUMENTS_NOT_TYPED = frozenset({"name", "responses", "answered_by", "kwargs"})
"""Arguments of tournaments that are not options of a run's tournament."""
MAX_RETRIES = 5
"""A failed call to a judge is repeated this often, in about 90 seconds.

Inspect's own default has no limit.
"""
LOADING_PROVIDERS = frozenset(
    ("hf", "vllm", "sglang", "llama-cpp-python", "transformer_lens", "nnterp")
)
"""Providers that load a model or start a server when the model object is made.

Their judges are made only after the run.
"""


def check_tournament(options: RankerOptions) -> None:
    """Raise UsageError before the run for options with which the tournament would fail.

    That is if inspect-ai cannot be imported, an option is unknown, or options, judges or their
    shares do not fit. Judges are made for the check, except those that load a model
    (`LOADING_PROVIDERS`). No call is made.
    """
    try:
        from podium.hosts.inspect_ai.judging.judge_of_option import judge_model
        from podium.hosts.inspect_ai.tournament.tournament_plan import side_fixed_first
        from podium.hosts.inspect_ai.tournament.tournament_request import (
            RUN_OPTIONS,
            split_options,
        )
        from podium.scorers.judging import known_options, refuse_unknown_options
        from podium.tournaments.judge_rotation import read_shares
    except ImportError as error:
        raise UsageError(
            f"judges need inspect-ai ({error}): {install_hint('inspect,lm-eval')}"
        ) from None
    name, _, own_options = _task_function(options)
    task_options = (RUN_OPTIONS | own_options) - ARGUMENTS_NOT_TYPED
    refuse_unknown_options(options.args, task_options | known_options())
    judging = {name: value for name, value in options.args.items() if name in known_options()}
    settings = catalogue.judging_settings(**judging)
    rule_options, *_ = split_options(name, options.args)
    side_fixed_first(name, catalogue.make_tournament(name, rule_options), settings, options.args)
    judges = options.args.get("judges", "all")
    read_shares(judges, options.args.get("overlap", 0.0), len(options.judges))
    for judge in options.judges:
        if judge.partition("/")[0] not in LOADING_PROVIDERS:
            judge_model(judge, options.judge_args)


def _log_options(log_dir: str, display: Any) -> dict[str, Any]:
    """Return the options of Inspect's `eval` about the log, what is shown and retries, by name.

    Args:
        log_dir: the folder of the log.
        display: what Inspect shows; None for its own choice.
    """
    return {
        "log_dir": log_dir,
        "log_format": "eval",
        "log_level": "warning",
        "display": display,
        "max_retries": MAX_RETRIES,
    }


def play_tournament(
    options: RankerOptions,
    responses: Sequence[str],
    answered_by: Sequence[str],
    log_dir: str,
    *,
    host: str,
    display: Any = None,
) -> tuple[Place, TournamentFailure | None]:
    """Play the tournament in Inspect. Calls that were answered before come from Inspect's cache.

    If input tokens came from a provider's prompt cache, a line says how many.

    Args:
        options: podium's options of the run: the tournament, its options, and one judge or more.
        responses: sources of all models' responses, each optionally `label=path`.
        answered_by: the models of this run; only items that one of them answered are played.
        log_dir: the folder of the log, or its URL.
        host: the host that asked for the tournament and ranks it.
        display: what Inspect shows meanwhile; None for what the user chose, or else for what it
            showed before on a terminal, and nothing elsewhere.

    Returns:
        The log, and the failure if battles failed (None if none failed).

    Raises:
        PodiumError: a judge, or the task of the tournament, cannot be made from the options.
        KeyboardInterrupt: the user stopped the tournament; its text says how to go on.
    """
    from inspect_ai import eval

    from podium.hosts.inspect_ai.inspect_ai_compatibility import set_model_roles
    from podium.hosts.inspect_ai.judging.cached_tokens import cached_tokens_texts
    from podium.hosts.inspect_ai.judging.judge_of_option import judge_model
    from podium.hosts.inspect_ai.tournament.preview import brief_preview

    # In another host, Inspect would print its version and the names of its hooks.
    with nullcontext() if host == HOST else quiet_console():
        judges = [judge_model(name, options.judge_args) for name in options.judges]
    roles = {"judge": judges[0] if len(judges) == 1 else judges}
    # The context in which the task is built does not know in which form options are written here.
    option_form = typed_form()

    def make_task() -> "Task":
        """Return the task. Its judges are set as roles first, as it may need their names."""
        set_model_roles(roles)
        with typed_as(option_form), brief_preview():
            return _build_judged_task(options, responses, answered_by)

    # An earlier eval may have left its models and roles in the context.
    task = Context().run(make_task)
    log_options = _log_options(log_dir, display)
    play = partial(eval, task, model_roles=roles, metadata={PLAYED_FOR: host}, **log_options)
    with _console_for(display):
        log = _play_to_end(play, log_dir)
    for text in cached_tokens_texts(log.stats.model_usage, options.args.get("prices")):
        tell(text)
    place = place_of(log.location)
    failure = None if log.status == "success" else _failure_of(place, options.secrets())
    return place, failure


def _shows_tournament() -> bool:
    """Return whether Inspect shows a tournament that follows an eval: on a terminal, or if asked.

    Elsewhere, its panel and warnings would repeat what podium says of the tournament.
    """
    command = click.get_current_context(silent=True)
    source = None if command is None else command.get_parameter_source("display")
    is_chosen = source not in (None, ParameterSource.DEFAULT)
    return is_chosen or bool(os.environ.get("INSPECT_DISPLAY")) or sys.stdout.isatty()


@contextmanager
def quiet_console() -> Iterator[None]:
    """Let Inspect show nothing while the body runs.

    Inspect takes `display="none"` only from the first eval of a process.
    """
    import rich

    console = rich.get_console()
    before = console.quiet
    console.quiet = True
    try:
        yield
    finally:
        console.quiet = before


@contextmanager
def _console_for(display: Any) -> Iterator[None]:
    """Let Inspect show a tournament only if it is to be shown; then begin a line after it.

    Args:
        display: what Inspect shows; None if `_shows_tournament` decides.
    """
    from inspect_ai.util import display_type

    if not display and not _shows_tournament():
        with quiet_console():
            yield
        return
    yield
    if display_type() != "none":
        begin_line()


def _play_to_end(play: Callable[[], "Sequence[EvalLog]"], log_dir: str) -> "EvalLog":
    """Return the log of a tournament that `play` plays.

    Args:
        play: plays the tournament, and returns a list with its log.
        log_dir: the folder of the log.

    Raises:
        KeyboardInterrupt: the user stopped the tournament; its text says how to go on.
    """
    begun = time.time()
    try:
        logs = call_outside_loop(play)
    except KeyboardInterrupt:
        logs = []
    # Inspect catches an interrupt and returns the logs so far, or raises it after it wrote them.
    if logs and logs[0].status != "cancelled":
        [log] = logs
        return cast("EvalLog", log)
    location = logs[0].location if logs else _newest_log(log_dir, begun)
    how_to_resume = _resuming_text(place_of(location)) if location else ""
    raise KeyboardInterrupt(how_to_resume)


def _newest_log(log_dir: str, begun: float) -> str | None:
    """Return the location of the newest log in a folder; None if none is as new as `begun`.

    Args:
        log_dir: the folder, or its URL.
        begun: seconds since 1970.
    """
    from inspect_ai.log import list_eval_logs

    logs = [(info.mtime, info.name) for info in list_eval_logs(log_dir) if info.mtime]
    # Times of logs are in milliseconds. Some storages give whole seconds only.
    new_logs = ((saved, name) for saved, name in logs if saved / 1000 >= int(begun))
    newest = max(new_logs, default=None)
    if newest is None:
        return None
    _, name = newest
    return name


def _resuming_text(log: Place) -> str:
    """Return how to go on with a tournament that the user stopped, for the end of a sentence.

    The text begins with a semicolon.
    """
    from podium.hosts.inspect_ai.logs.earlier_logs import folder_of

    command = shlex.join(["inspect", "eval-retry", str(log), "--log-dir", folder_of(log)])
    return f"; `{command}` plays the rest, then `podium rank` on its log ranks it"


def _build_judged_task(
    options: RankerOptions, responses: Sequence[str], answered_by: Sequence[str]
) -> "Task":
    """Return the task of a tournament over the responses of several runs.

    The findings that the user allows for reading, and the groups of items, are those of the
    tournament, too, unless its own options name others.

    Args:
        options: podium's options of the run.
        responses: sources of all models' responses, each optionally `label=path`.
        answered_by: the models of this run; only items that one of them answered are played.
    """
    _, function, _ = _task_function(options)
    shared_options = {"allow", "cluster"}
    arguments = {name: value for name, value in options.reading.items() if name in shared_options}
    arguments |= {"answered_by": list(answered_by), **options.args}
    return cast("Task", function(responses=list(responses), **arguments))


def _failure_of(place: Place, secrets: Sequence[str]) -> TournamentFailure:
    """Return the failure of a log, and remove secrets from the log, in place.

    Its message says why the run stopped asking its judge, if it did; otherwise the number of failed
    battles and the first error that is not that of a cancelled call; or the error of the log if no
    sample failed. How to go on ends the message, unless the judge cannot judge.
    """
    from inspect_ai.log import read_eval_log

    from podium.hosts.inspect_ai.logs.podium_entries import is_cancelled
    from podium.hosts.inspect_ai.logs.stop_reasons import reason_of_stop

    log = read_eval_log(str(local_file(place)))
    _redact_log(place, log, secrets)
    failed = [sample for sample in log.samples or [] if sample.error]
    again = "run the command again to ask for"
    # The error of the log says how to go on in Inspect.
    records: list[EvalLog | EvalSample] = [*failed, log]
    why_stopped = next(filter(None, map(reason_of_stop, records)), None)
    if why_stopped:
        cannot_judge = why_stopped.cannot_judge
        how_to_resume = "" if cannot_judge else f"; {again} the rest"
        return TournamentFailure(
            redact(f"{why_stopped.text}{how_to_resume}", secrets), cannot_judge
        )
    if not failed:
        message = log.error.message if log.error else "no reason given"
        why = redact(message, secrets)
        return TournamentFailure(f"the tournament failed: {why}; {again} what is missing alone")
    errors = [sample.error.message for sample in failed if sample.error]
    causes = [message for message in errors if not is_cancelled(message)]
    why = "their calls were cancelled"
    if causes:
        why = f"the first error: {redact(causes[0], secrets)}"
    number = sum(_count_failed_battles(sample) for sample in failed)
    count = f"{number:,} {plural('battle', number)} failed"
    return TournamentFailure(f"{count}, {why}; {again} those alone")


def _count_failed_battles(sample: "EvalSample") -> int:
    """Return how many battles of a failed sample have a failed call.

    All its battles count if no call is recorded as failed, for example if no reply was kept.
    """
    from podium.hosts.inspect_ai.logs.podium_entries import SampleReplies, parse_battles

    entry = sample.store.get(NAMESPACE)
    replies = SampleReplies.parse(entry).to_battles() if entry else ()
    failed = sum(replies_on_battle.has_failed for replies_on_battle in replies)
    return failed or len(parse_battles(sample.metadata))


def _redact_log(place: Place, log: "EvalLog", secrets: Sequence[str]) -> None:
    """Write a log again, in place, without secrets of `SHORTEST` characters or more.

    A log without such a secret is not written.

    Inspect logs what a server replies to a rejected call, and such a reply may contain a secret.

    Args:
        place: where the log lies.
        log: its content.
        secrets: the secrets.
    """
    from inspect_ai.log import EvalLog, write_eval_log

    text = log.model_dump_json()
    in_json = [
        json.dumps(secret, ensure_ascii=False)[1:-1]
        for secret in secrets
        if len(secret) >= SHORTEST
    ]
    if any(secret in text for secret in in_json):
        for secret in sorted(in_json, key=len, reverse=True):
            text = text.replace(secret, HIDDEN_TEXT)
        with atomic_file(place) as new_log:
            write_eval_log(EvalLog.model_validate_json(text), str(new_log), format="eval")


def call_outside_loop(call: Callable[[], Any]) -> Any:
    """Call a function that starts an event loop, and return its result.

    If a loop is running in this thread, the function is called in a new thread, which is waited
    for.
    """
    loop = None
    with suppress(RuntimeError):
        loop = asyncio.get_running_loop()
    # The call is not made inside an `except`: later errors would get its error as context.
    if loop is None:
        return call()
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(call).result()


def _task_function(options: RankerOptions) -> tuple[str, Callable[..., Any], AbstractSet[str]]:
    """Return a tournament's name, the function that makes its task, and names of its options.

    The tournament is `round_robin` if the options name none. A tournament of a plugin has the task
    `podium/tournament`.

    Raises:
        UsageError: the tournament is unknown, or is `recorded`.
    """
    from podium.hosts.inspect_ai import tasks
    from podium.hosts.inspect_ai.logs.recorded_battles import RECORDED

    name = (options.tournament or "round_robin").removeprefix("podium/")
    if name == RECORDED:
        raise UsageError(
            f"tournament {name}: this run has no recorded battles; "
            f"judge recorded ones with `inspect eval podium/{name} -T battles=LOG`"
        )
    arguments_of_rule = parameters_of(catalogue.tournament_rule(name)).keys()
    task = getattr(tasks, name.replace("-", "_"), None)
    if task is not None and catalogue.is_own(catalogue.extension(Tournament, name)):
        return name, task, parameters_of(task).keys() | arguments_of_rule
    return name, partial(tasks.tournament, name), arguments_of_rule
