"""A judged tournament over the responses of several runs, in Inspect: its engine, its log, its cache."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout, suppress
from contextvars import Context
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import UsageError, install_hint
from podium.hookspecs import Tournament
from podium.hosts.inspect_ai.log_contents import PLAYED_FOR
from podium.hosts.lm_eval.options import RankerOptions
from podium.hosts.lm_eval.secrets import HIDDEN, SHORTEST, redact
from podium.plugins import catalogue
from podium.plugins.settings import parameters_of
from podium.storage.drafts import written_whole

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

USUAL = "round_robin"
LOADS = frozenset(("hf", "vllm", "sglang", "llama-cpp-python", "transformer_lens", "nnterp"))
"""Providers that load a model, or start a server, as soon as it is named: they wait until the run has ended."""
AFTER_REQUEST = re.compile(r"ModelGenerateError\(.*\\n\\n(?P<cause>\w+\(.*\))['\"]\)", re.DOTALL)
"""An error in Inspect's summary of a sample, which shows the request first."""


def check_tournament(options: RankerOptions) -> None:
    """Find out before the run what would fail after it."""
    try:
        from podium.hosts.inspect_ai.tournament_task import RUN_OPTIONS, shows_first, split_options
        from podium.hosts.lm_eval.judge import judge_model
        from podium.plugins.catalogue import judging_settings
        from podium.scorers.judging import known_options, refuse_unknown_options
    except ImportError as error:
        raise UsageError(f"judges need inspect-ai ({error}): {install_hint('inspect,lm-eval')}") from None
    own = (RUN_OPTIONS | _task_function(options)[1]) - {"name", "responses", "answered_by"}
    refuse_unknown_options(options.args, own | known_options())
    how = judging_settings(**{name: value for name, value in options.args.items() if name in known_options()})
    name = _name_of(options)
    shows_first(name, catalogue.make_tournament(name, split_options(name, options.args)[0]), how, options.args)
    for name in options.judges:
        if name.partition("/")[0] not in LOADS:
            judge_model(name, options.judge_args)


def play_tournament(
    options: RankerOptions, responses: Sequence[str], model: str, log_dir: Path
) -> tuple[Path, str | None]:
    """Play the tournament on what this run's model was asked: battles among others alone are theirs.

    Replies of earlier runs are taken from Inspect's cache, so running again asks only what was not answered.

    Returns:
        Where its log is, and what failed, if anything did; the rest was played nevertheless.

    Raises:
        KeyboardInterrupt: it was stopped.
        PodiumError: nothing can be played.
    """
    from podium.hosts.lm_eval.judge import judge_model

    judges = [judge_model(name, options.judge_args) for name in options.judges]
    # An earlier eval may have left its models and their roles in the context; this one's get theirs when it is played.
    task = Context().run(_task_function(options)[0], responses=list(responses), answered_by=model, **options.args)
    logs = call_outside_loop(lambda: _evaluate(task, judges, log_dir))
    # Inspect keeps an interrupt to itself, and returns what has ended.
    if not logs or logs[0].status == "cancelled":
        raise KeyboardInterrupt
    [log] = logs
    path = Path(log.location.removeprefix("file://"))
    return path, None if log.status == "success" else _failure(path, options.secrets())


def _failure(path: Path, secrets: Sequence[str]) -> str:
    """Say how many battles failed, and by what the first of them; hide secrets that the log holds.

    Inspect keeps the refusal of a server whole, which may repeat some.
    """
    from inspect_ai.log import EvalLog, read_eval_log, write_eval_log

    log = read_eval_log(str(path))
    text = log.model_dump_json()
    in_json = [json.dumps(secret, ensure_ascii=False)[1:-1] for secret in secrets if len(secret) >= SHORTEST]
    if any(secret in text for secret in in_json):
        for secret in sorted(in_json, key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        log = EvalLog.model_validate_json(text)
        with written_whole(path) as draft:
            write_eval_log(log, str(draft), format="eval")
    errors = [sample.error.message for sample in log.samples or [] if sample.error]
    errors.sort(key=lambda message: message.startswith("CancelledError"))  # those that a stopped run cut off tell least
    if not errors:
        errors = [log.error.message if log.error else "no reason given"]
    return (
        f"{len(errors):,} battles failed, the first of them by {redact(_cause(errors[0]), secrets)}; run "
        "the command again to ask for those alone"
    )


def _cause(error: str) -> str:
    """Return what went wrong, without the whole prompt that Inspect puts before it.

    >>> _cause("ModelGenerateError('\\\\nRequest:\\\\n{ ... }\\\\n\\\\nBadRequestError(\\\\'Error code: 400\\\\')')")
    "BadRequestError('Error code: 400')"
    """
    parts = AFTER_REQUEST.fullmatch(error)
    return parts["cause"].replace("\\\\'", "'").replace("\\'", "'") if parts else error


def _evaluate(task: Any, judges: Sequence[Any], log_dir: Path) -> "list[EvalLog]":
    from inspect_ai import eval

    display: Any = os.environ.get("INSPECT_DISPLAY") or ("rich" if sys.stderr.isatty() else "none")
    # What goes to stdout is lm-eval's.
    with redirect_stdout(sys.stderr):
        return eval(
            task,
            model_roles={"judge": judges[0] if len(judges) == 1 else list(judges)},
            metadata={PLAYED_FOR: "lm-eval"},
            log_dir=str(log_dir),
            log_format="eval",
            log_level="warning",
            display=display,
        )


def call_outside_loop(call: Callable[[], Any]) -> Any:
    """Call what brings an event loop of its own; in a thread of its own where one is running."""
    loop = None
    with suppress(RuntimeError):
        loop = asyncio.get_running_loop()
    # Called outside of any `except`: Inspect takes what an error happened during for its cause.
    if loop is None:
        return call()
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(call).result()


def _task_function(options: RankerOptions) -> tuple[Callable[..., Any], AbstractSet[str]]:
    """Return the function that makes the task, and the names of its settings."""
    from podium.hosts.inspect_ai import tasks
    from podium.hosts.inspect_ai.recorded_battles import RECORDED

    name = _name_of(options)
    if name == RECORDED:
        raise UsageError(
            f"tournament {name}: a run of lm-eval has no recorded battles; judge them again by `inspect eval "
            f"podium/{name} -T battles=LOG`"
        )
    known = parameters_of(catalogue.tournament_rule(name)).keys()
    own_task = getattr(tasks, name.replace("-", "_"), None)
    if own_task is not None and catalogue.is_own(catalogue.extension(Tournament, name)):
        return own_task, parameters_of(own_task).keys() | known
    return partial(tasks.tournament, name), known


def _name_of(options: RankerOptions) -> str:
    return (options.tournament or USUAL).removeprefix("podium/")
