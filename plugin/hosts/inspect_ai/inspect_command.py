"""The `inspect` command with `--ranker NAME` and podium's further options.

They are passed to podium's hook in environment variables.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from podium.errors import PodiumError, UsageError, import_failure, is_of_package
from podium.hosts.inspect_ai.inspect_ai_compatibility import COMMAND_LINE, load_environment
from podium.hosts.inspect_ai.inspect_options import (
    FLAGS,
    INSPECT_OPTIONS,
    metadata_in_arguments,
    require_ranker,
    split_ranker_options,
    to_environment,
    typed_for_judge,
    typed_in_inspect,
    values_asked_for,
)
from podium.hosts.ranker_options import RankerOptions, options_from, refuse_lm_eval_model
from podium.notices.option_forms import typed_as
from podium.printable import tell

COMMANDS = ("eval", "eval-set", "eval-retry", "score")
"""Commands of Inspect that take `--ranker`."""
RUNNING_COMMANDS = COMMANDS[:2]
"""Commands that name the tasks to run."""
CPU_SAVING = {
    "--no-log-realtime": ("INSPECT_EVAL_NO_LOG_REALTIME", "INSPECT_EVAL_LOG_REALTIME"),
    "--no-score-display": ("INSPECT_EVAL_NO_SCORE_DISPLAY", "INSPECT_EVAL_SCORE_DISPLAY"),
    "--no-log-model-api": ("INSPECT_EVAL_LOG_MODEL_API",),
}
"""Options that together save a quarter of a tournament's CPU time.

Each has the environment variables with which users set the option themselves.
"""
REMEDY = "run `inspect` without --ranker, then `podium rank LOGS --ranker NAME`"
"""Remedy of the errors about an inspect-ai that podium does not fit."""


def run(arguments: Sequence[str]) -> None:
    """Run `inspect` with these arguments, as `podium inspect` does.

    Options that save CPU are added to a command that plays a tournament, which is printed.

    Raises:
        UsageError: inspect-ai cannot be imported or is built differently, a judge is one of
            lm-eval, or an option of podium is wrong or goes with another command.
        SystemExit: Inspect has ended.
    """
    typed, values = split_ranker_options(arguments)
    _pass_options(values, typed)
    sys.argv = ["inspect", *typed]
    host = _import_command_line()
    stock = host.main
    # If another version of Inspect is built differently, it runs without the help and the flags.
    with suppress(AttributeError, LookupError, TypeError):
        _add_to_help(host)
        options = host.inspect.commands[typed[0]].params
        option_words = {word for option in options for word in option.opts + option.secondary_opts}
        saving = [flag for flag in cpu_saving_flags(typed, os.environ) if flag in option_words]
        if saving:
            sys.argv += saving
            tell(f"added {' '.join(saving)}: a tournament needs less CPU and loses nothing")
    _run_main(stock, typed, ranking=bool(values))


def extend_command(host: Any) -> None:
    """Add podium's options to the `inspect` command.

    This is called if the user has run `podium enable`. If one of the options was typed, `host.main`
    is replaced by a function that also ranks; otherwise only the help changes.

    Args:
        host: the module `COMMAND_LINE`, which was just loaded and is changed in place.
    """
    stock = host.main
    _add_to_help(host)

    def main() -> None:
        """Run the command and rank, or print the error and exit with its code."""
        try:
            typed, values = split_ranker_options(sys.argv[1:])
            _pass_options(values, typed)
            sys.argv[1:] = typed
            _run_main(stock, typed, ranking=True)
        except PodiumError as error:
            tell(str(error))
            sys.exit(error.exit_code)

    if any(word.startswith("--ranker") for word in sys.argv[1:]):
        host.main = main


def cpu_saving_flags(arguments: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return the options of `CPU_SAVING` to add to a command that plays a tournament.

    Options that the user has set in the command or the environment, on or off, are not returned.
    None are returned for a command that is neither `eval` nor `eval-set`, or that has no argument
    `podium/...`.
    """
    is_tournament = any(word.startswith("podium/") for word in arguments[1:])
    if not is_tournament or arguments[0] not in RUNNING_COMMANDS:
        return []
    typed = {word.partition("=")[0].replace("--no-", "--") for word in arguments}
    flags = []
    for flag, variables in CPU_SAVING.items():
        is_typed = flag.replace("--no-", "--") in typed
        if not is_typed and environment.keys().isdisjoint(variables):
            flags.append(flag)
    return flags


@typed_as(typed_in_inspect)
def _pass_options(values: Mapping[str, Any], arguments: Sequence[str]) -> None:
    """Check the judges and podium's options, and pass the options to podium's hook.

    They are passed in environment variables. Notes on rankers that will be replaced by others are
    printed. Without options, only the judges are checked, and the environment is unchanged.

    Args:
        values: podium's options as typed, by name in metadata.
        arguments: the arguments of Inspect.

    Raises:
        UsageError: a judge is one of lm-eval, the command ranks nothing, inspect-ai cannot be
            imported, or an option is wrong.
    """
    # A judge is typed as `--model-role judge=MODEL` or `--model-role=judge=MODEL`.
    for word in arguments:
        option, _, model = word.removeprefix("--model-role=").partition("=")
        refuse_lm_eval_model(model, option)
    if not values:
        return
    _require_ranking_command(arguments)
    # A broken inspect-ai is named before any part of it is used.
    _import_command_line()
    load_environment(arguments)
    # Options of the environment and the metadata join those that were typed.
    environment = {**os.environ, **to_environment(values)}
    metadata = metadata_in_arguments(arguments)
    asked_for = values_asked_for(metadata, environment)
    require_ranker({**metadata, **values}, asked_for)
    options = options_from(asked_for)
    from podium.hookspecs import Ranker
    from podium.hosts.inspect_ai.coming_eval import (
        check_named_models,
        refuse_options_of_evals,
    )
    from podium.plugins import catalogue

    for name in options.rankers:
        catalogue.extension(Ranker, name)
    # The task of a tournament checks its rankers itself, also if it is run again or scored again.
    if any(word.startswith("podium/") for word in arguments[1:]):
        refuse_options_of_evals(options)
    elif arguments[0] in RUNNING_COMMANDS or options.judges:
        _import_registry()
        for note in _notes_before_run(options, arguments):
            tell(note)
        if arguments[0] in RUNNING_COMMANDS:
            check_named_models(options, arguments, _log_dir(arguments))
    os.environ.update(to_environment(values))


def _notes_before_run(options: RankerOptions, arguments: Sequence[str]) -> list[str]:
    """Check the options of a command, and return notes on rankers and on the pinned reference.

    The pinned reference is checked only for `eval` and `eval-set`.

    Args:
        options: podium's options of the run.
        arguments: the arguments of Inspect.

    Raises:
        UsageError: an option is wrong.
    """
    from podium.hosts.inspect_ai.coming_eval import check_eval_options, check_reference_of_eval

    # Errors then name the options as they are typed for this command.
    with typed_as(typed_for_judge if options.judges else typed_in_inspect):
        notes = check_eval_options(options)
        if arguments[0] in RUNNING_COMMANDS:
            notes += check_reference_of_eval(options, arguments, _log_dir(arguments))
    return notes


def _require_ranking_command(arguments: Sequence[str]) -> None:
    """Raise UsageError if the command of Inspect is none of `COMMANDS`."""
    if arguments and arguments[0] in COMMANDS:
        return
    other_command = f", not with {arguments[0]}" if arguments else ""
    raise UsageError(
        f"--ranker goes with inspect {', '.join(COMMANDS)}{other_command}: inspect eval TASK "
        "--ranker NAME"
    )


def _log_dir(arguments: Sequence[str]) -> str:
    """Return the folder of logs that a command will have.

    It is that of the first `--log-dir`, else of `INSPECT_LOG_DIR`, else Inspect's own `./logs`.
    """
    # Each word comes with the word after it, which is empty for the last word.
    for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if word == "--log-dir":
            return following
        if word.startswith("--log-dir="):
            return word.removeprefix("--log-dir=")
    return os.environ.get("INSPECT_LOG_DIR", "./logs")


def _add_to_help(host: Any) -> None:
    """Add podium's options to the help of `COMMANDS`, each once.

    Args:
        host: the module `COMMAND_LINE`.

    Raises:
        KeyError: one of the commands has another name. No command is changed then.
    """
    import click

    commands = [host.inspect.commands[name] for name in COMMANDS]
    for command in commands:
        parameters = command.params
        option_words = {word for option in parameters for word in option.opts}
        for flag, name in FLAGS.items():
            if flag in option_words:
                continue
            attributes: dict[str, Any] = {"expose_value": False, "allow_from_autoenv": False}
            if INSPECT_OPTIONS[name].shown:
                attributes["metavar"] = INSPECT_OPTIONS[name].shown
            else:
                attributes["is_flag"] = True
            parameters.append(click.Option([flag], help=INSPECT_OPTIONS[name].help, **attributes))


def _import_command_line() -> Any:
    """Return the module `COMMAND_LINE`, which has a function `main`.

    Raises:
        UsageError: inspect-ai cannot be imported or is built differently.
    """
    try:
        host = import_module(COMMAND_LINE)
        host.main  # noqa: B018
    except Exception as error:
        if not isinstance(error, AttributeError) and not is_of_package(error, "inspect_ai"):
            raise UsageError(
                f"{import_failure('inspect-ai', error)}; podium ranks tables without it"
            ) from None
        raise UsageError(
            f"podium does not know this inspect-ai's command line ({error}): {REMEDY}"
        ) from None
    return host


def _import_registry() -> None:
    """Register podium's hook and models in Inspect.

    Raises:
        UsageError: inspect-ai cannot be imported, or does not fit.
    """
    _import_command_line()
    try:
        import_module("podium.hosts.inspect_ai.registry")
    # Without this error, Inspect would only print that an entry point failed, and rank nothing.
    except Exception as error:
        raise UsageError(f"podium does not fit this inspect-ai ({error}): {REMEDY}") from None


def _run_main(stock: Callable[[], None], arguments: Sequence[str], *, ranking: bool) -> None:
    """Run Inspect's `main`, and rank the logs that `inspect score` changed, which calls no hook.

    Logs that were ranked together with a changed log are ranked again. After all other commands
    podium's hook ranks.

    Args:
        stock: Inspect's `main`.
        arguments: the arguments of Inspect, without podium's options.
        ranking: whether an option of podium was typed; if not, nothing is ranked.

    Raises:
        UsageError: podium's hook does not fit this inspect-ai.
        SystemExit: Inspect has failed, or a ranking has failed.
    """
    if not ranking:
        stock()
        return
    _import_registry()
    if arguments[0] != "score":
        stock()
        return
    from inspect_ai.log import read_eval_log

    from podium.hosts.inspect_ai.hook import rank_logs
    from podium.hosts.inspect_ai.logs.ranking_in_log import remove_rankings, remove_stale_rankings
    from podium.hosts.inspect_ai.logs.rescoring import changed_logs, logs_near, states_of

    before = states_of(logs_near(arguments))
    try:
        stock()
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    changed = changed_logs(before, arguments)
    # Logs that were ranked together with a changed log are ranked with it again.
    others = {place for log in changed for place in remove_stale_rankings(log)}
    for place in others:
        remove_rankings(place)
    places = sorted({str(place) for place in {*changed, *others}})
    if not rank_logs(read_eval_log(place, header_only=True) for place in places):
        sys.exit(PodiumError.exit_code)
