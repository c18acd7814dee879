"""A judged tournament over the responses of several runs, in Inspect: its engine, its log, its cache."""

import asyncio
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import UsageError
from podium.formats.lm_eval_layout import NO_MATTER
from podium.hookspecs import Tournament
from podium.hosts.inspect_ai.log_format import PLAYED_FOR
from podium.hosts.lm_eval.hidden import is_secret, secrets_in, secrets_of, without
from podium.hosts.lm_eval.options import LM_EVAL, RankerOptions
from podium.hosts.lm_eval.secrets import HIDDEN, SHORTEST, redacted
from podium.plugins import catalogue
from podium.plugins.settings import parameters_of

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

USUAL = "round_robin"
LOADS = frozenset(("hf", "vllm", "sglang", "llama-cpp-python", "transformer_lens", "nnterp"))
"""Providers that load a model, or start a server, as soon as it is named: they wait until the run has ended."""
AFTER_REQUEST = re.compile(r"ModelGenerateError\(.*\\n\\n(?P<cause>\w+\(.*\))['\"]\)", re.DOTALL)
"""An error in Inspect's summary of a sample, which shows the request first."""


def check(options: RankerOptions) -> None:
    """Find out before the run what would fail after it.

    Raises:
        UsageError: an unknown tournament, setting or provider, a key that is not set, or a judge that cannot do it.
    """
    try:
        from podium.hosts.inspect_ai.play import tournament_task
        from podium.plugins.catalogue import judging_settings
        from podium.scorers.judging import known_options, refuse_unknown_options
    except ImportError as error:
        raise UsageError(f"judges need inspect-ai ({error}): pip install 'podium[inspect,lm-eval]'") from None
    engine = inspect.signature(tournament_task).parameters.keys() - {"name", "responses", "settings", "how"}
    own = parameters_of(_task(options)).keys() - {"name", "responses", "settings", "options", "how"}
    refuse_unknown_options(options.args, engine | own | known_options())
    how = judging_settings(**{name: value for name, value in options.args.items() if name in known_options()})
    wanted = how.logprobs == "required" or how.realization.probabilities == "needed"
    deaf = [name for name in options.judges if name.startswith(LM_EVAL)]
    if wanted and deaf:
        raise UsageError(
            f"{how.realization.name} needs token probabilities, and models of lm-eval give none: choose another "
            "realization, or an Inspect model as judge (vllm/..., openai-api/...)"
        )
    for name in options.judges:
        if name.startswith(LM_EVAL) or name.partition("/")[0] not in LOADS:
            judge_model(name, options.judge_args)


def judge_model(name: str, arguments: Mapping[str, Any]) -> Any:
    """Return a judge as an Inspect model; what it keeps of its arguments, for the log, holds no secret.

    Raises:
        UsageError: there is no such model, it cannot be made, or its address holds a password.
    """
    from inspect_ai.model import get_model

    import podium.hosts.inspect_ai.registry  # noqa: F401
    from podium.hosts.lm_eval.judge_model import PROVIDER, name_and_arguments

    if name.startswith(LM_EVAL):
        name, arguments = name_and_arguments(name.removeprefix(LM_EVAL), arguments)
    address = str(arguments.get("base_url") or "")
    if redacted(address) != address:
        raise UsageError("the judge's base_url holds a password: give it as an argument or environment variable")
    try:
        with told_on_stderr():
            model = get_model(name, memoize=False, **arguments)
    # Providers raise errors of their own kinds, some with the prompt to install a package.
    except Exception as error:
        raise UsageError(f"--ranker_judge {name}: {without(secrets_of(arguments), str(error))}") from None
    _hide_in_errors(model.api, secrets_of(arguments))
    # What stays is kept in the log and makes the judge's identity.
    idle = NO_MATTER if name.startswith(PROVIDER) else frozenset()
    model.model_args = {
        key: value for key, value in model.model_args.items() if key not in idle and not is_secret(key, value)
    }
    return model


def _hide_in_errors(api: Any, secrets: Sequence[str]) -> None:
    """Let a judge's errors tell no secret, whatever its server puts into them: Inspect keeps them in its log."""
    generate = api.generate

    async def generated(*arguments: Any, **options: Any) -> Any:
        try:
            return await generate(*arguments, **options)
        except Exception as error:
            told: BaseException | None = error
            while told is not None:
                told.args = tuple(without(secrets, one) if isinstance(one, str) else one for one in told.args)
                if isinstance(message := getattr(told, "message", None), str):
                    told.message = without(secrets, message)  # type: ignore[attr-defined]
                told = told.__cause__ or told.__context__
            raise

    api.generate = generated


@dataclass(frozen=True, slots=True)
class Played:
    """A tournament that was played.

    Attributes:
        log: where its log is.
        failure: what failed, if anything did; the rest was played nevertheless.
    """

    log: Path
    failure: str | None


def play(options: RankerOptions, responses: Sequence[str], log_dir: Path) -> Played:
    """Play the tournament.

    Replies of earlier runs are taken from Inspect's cache, so running again asks only what was not answered.

    Raises:
        KeyboardInterrupt: it was stopped.
        PodiumError: nothing can be played.
    """
    judges = [judge_model(name, options.judge_args) for name in options.judges]
    task = _task(options)(responses=list(responses), **options.args)
    logs = apart(lambda: _evaluated(task, judges, log_dir))
    # Inspect keeps an interrupt to itself, and returns what has ended.
    if not logs or logs[0].status == "cancelled":
        raise KeyboardInterrupt
    [log] = logs
    path = Path(log.location.removeprefix("file://"))
    if log.status != "success":
        _hide_in_log(path, secrets_in(options))
    return Played(path, _failure(path, options) if log.status != "success" else None)


def _hide_in_log(path: Path, secrets: Sequence[str]) -> None:
    """Rewrite a log in which a server's refusal, which Inspect keeps whole, repeats a secret."""
    from inspect_ai.log import EvalLog, read_eval_log, write_eval_log

    text = read_eval_log(str(path)).model_dump_json()
    written = [json.dumps(secret, ensure_ascii=False)[1:-1] for secret in secrets if len(secret) >= SHORTEST]
    if any(secret in text for secret in written):
        for secret in sorted(written, key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        write_eval_log(EvalLog.model_validate_json(text), str(path))


def _failure(log: Path, options: RankerOptions) -> str:
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    errors = [one.error for one in read_eval_log_sample_summaries(str(log)) if one.error]
    if not errors:
        error = read_eval_log(str(log), header_only=True).error
        errors = [error.message if error else "no reason given"]
    return (
        f"{len(errors):,} battles failed, the first of them by {without(secrets_in(options), _cause(errors[0]))}; run "
        "the command again to ask for those alone"
    )


def _cause(error: str) -> str:
    """Return what went wrong, without the whole prompt that Inspect puts before it.

    >>> _cause("ModelGenerateError('\\\\nRequest:\\\\n{ ... }\\\\n\\\\nBadRequestError(\\\\'Error code: 400\\\\')')")
    "BadRequestError('Error code: 400')"
    """
    told = AFTER_REQUEST.fullmatch(error)
    return told["cause"].replace("\\\\'", "'").replace("\\'", "'") if told else error


def _evaluated(task: Any, judges: Sequence[Any], log_dir: Path) -> "list[EvalLog]":
    from inspect_ai import eval

    display: Any = os.environ.get("INSPECT_DISPLAY") or ("rich" if sys.stderr.isatty() else "none")
    with told_on_stderr():
        return eval(
            task,
            model_roles={"judge": judges[0] if len(judges) == 1 else list(judges)},
            metadata={PLAYED_FOR: "lm-eval"},
            log_dir=str(log_dir),
            log_format="eval",
            log_level="warning",
            display=display,
        )


def told_on_stderr() -> AbstractContextManager[Any]:
    """Let Inspect say on stderr what it says: what goes to stdout is lm-eval's."""
    return redirect_stdout(sys.stderr)


def apart(call: Callable[[], Any]) -> Any:
    """Call it; in a thread of its own where an event loop is running, because Inspect brings its own loop."""
    # Called outside of any `except`: Inspect takes what an error happened during for its cause.
    if not _loop_is_running():
        return call()
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(call).result()


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _task(options: RankerOptions) -> Callable[..., Any]:
    """Return the function that makes the task.

    Raises:
        UsageError: there is no such tournament.
    """
    from podium.hosts.inspect_ai import tasks
    from podium.hosts.inspect_ai.play import tournament_task

    name = (options.tournament or USUAL).removeprefix("podium/").replace("-", "_")
    rule = catalogue.extension(Tournament, name.replace("_", "-"))
    if name in ("round_robin", "anchor", "swim", "chain"):
        return getattr(tasks, name)
    known = parameters_of(rule.load()).keys()

    def plugged_in(responses: Sequence[str], **settings: Any) -> Any:
        own = {key: value for key, value in settings.items() if key in known}
        rest = {key: value for key, value in settings.items() if key not in known}
        return tournament_task(name, responses, own, **rest)

    plugged_in.__signature__ = inspect.signature(rule.load())  # type: ignore[attr-defined]
    return plugged_in
