"""The stock `inspect` command with one more option: `--ranker NAME` on eval, eval-set, eval-retry and score."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from podium.errors import PodiumError, UsageError

VARIABLE = "PODIUM_RANKER"
COMMANDS = ("eval", "eval-set", "eval-retry", "score")
HELP = "Rank the models when the run has ended; `podium list rankers` shows the names."

REMEDY = "run `inspect` without --ranker, then `podium rank LOGS --ranker NAME`"


def run(arguments: Sequence[str]) -> None:
    """Run `inspect` with these arguments; a ranker goes to podium's hook through the environment.

    The option is taken out before Inspect sees it, so that a detached run inherits it, too.

    Raises:
        UsageError: an unknown ranker, a command that makes nothing to rank, or an Inspect that podium does not know.
    """
    kept, names = without_ranker(arguments)
    _ask_for(names, kept)
    sys.argv = ["inspect", *kept]
    try:
        host = import_module("inspect_ai._cli.main")
        stock = host.main
    except (ImportError, AttributeError) as error:
        raise UsageError(f"podium does not know this inspect-ai's command line ({error}): {REMEDY}") from None
    # The help does without the option, rather than `podium inspect` without an Inspect that is built otherwise.
    with suppress(AttributeError, KeyError, TypeError):
        _document(host)
    _run(stock, kept, ranking=bool(names))


def extended(host: Any) -> None:
    """Let the bare `inspect` command take --ranker, too, where podium is enabled.

    Without --ranker nothing but the help is changed: Inspect's own `main` runs.

    Args:
        host: the module of Inspect's command line, just loaded.

    Raises:
        AttributeError, KeyError, TypeError: Inspect's command line is built otherwise than podium knows.
    """
    stock = host.main
    _document(host)
    if without_ranker(sys.argv[1:])[1]:
        host.main = lambda: _run_bare(stock)


def _run_bare(stock: Callable[[], None]) -> None:
    """Do what `run` does in a process that is Inspect's own."""
    kept, names = without_ranker(sys.argv[1:])
    try:
        _ask_for(names, kept)
        sys.argv[1:] = kept
        _run(stock, kept, ranking=True)
    except PodiumError as error:
        print(f"podium: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


def without_ranker(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split arguments into those of Inspect and the names of rankers.

    >>> without_ranker(["eval", "task.py", "--ranker", "soft-elo", "--ranker=mean,median"])
    (['eval', 'task.py'], ['soft-elo', 'mean', 'median'])
    """
    kept: list[str] = []
    told: list[str] = []
    rest = iter(arguments)
    for one in rest:
        if one == "--ranker":
            told.append(next(rest, ""))
        elif one.startswith("--ranker="):
            told.append(one.partition("=")[2])
        else:
            kept.append(one)
    return kept, [name.strip() for names in told for name in names.split(",")]


def _ask_for(names: Sequence[str], arguments: Sequence[str]) -> None:
    """Let podium's hook, here and in a detached run, know the rankers; none are asked for without names."""
    if not names:
        return
    if not arguments or arguments[0] not in COMMANDS:
        given = f", not with {arguments[0]}" if arguments else ""
        raise UsageError(f"--ranker goes with inspect {', '.join(COMMANDS)}{given}: inspect eval TASK --ranker NAME")
    from podium.hookspecs import Ranker
    from podium.plugins import catalogue

    for name in names:
        catalogue.extension(Ranker, name)
    os.environ[VARIABLE] = ",".join(names)


def _document(host: Any) -> None:
    """Add the option to the help of the commands; it is taken out before they parse it."""
    import click

    every = [host.inspect.commands[name].params for name in COMMANDS]
    for options in every:
        if not any("--ranker" in option.opts for option in options):
            option = click.Option(["--ranker"], help=HELP, expose_value=False, allow_from_autoenv=False)
            option.metavar, option.callback = "NAME[,NAME...]", _refuse
            options.append(option)


def _refuse(context: Any, option: Any, value: str | None) -> None:
    """Refuse the option where it was not taken out before: nothing would be ranked."""
    import click

    if value is not None:
        raise click.BadParameter(f"nothing ranks here: podium inspect ... --ranker {value}", context, option)


def _run(stock: Callable[[], None], arguments: Sequence[str], *, ranking: bool) -> None:
    """Run Inspect's own `main`, and rank where no hook will do it: after scoring.

    Raises:
        UsageError: what is asked for cannot be ranked, as this Inspect does not load podium's hook.
    """
    if not ranking:
        stock()
        return
    try:
        import_module("podium.hosts.inspect_ai.registry")
    # Inspect would say no more than that an entry point failed, run, and rank nothing.
    except Exception as error:
        raise UsageError(f"podium does not fit this inspect-ai ({error}): {REMEDY}") from None
    if arguments[0] == "score":
        _score(stock, arguments)
    else:
        stock()


def _score(stock: Callable[[], None], arguments: Sequence[str]) -> None:
    """Score, then rank the logs that were named or written: scoring calls no hook."""
    before = _states(arguments)
    try:
        stock()
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    from inspect_ai.log import read_eval_log

    from podium.hosts.inspect_ai.hook import rank_logs

    changed = [path for path, state in _states(arguments).items() if before.get(path) != state]
    rank_logs(read_eval_log(path, header_only=True) for path in sorted(changed))


def _states(arguments: Sequence[str]) -> dict[str, float]:
    """Return when the logs beside every log that was named were last written."""
    from pathlib import Path

    named = [Path(one) for one in arguments if one.endswith((".eval", ".json")) and Path(one).exists()]
    beside = {path for one in named for path in one.parent.glob("*.eval")} | set(named)
    return {str(path): path.stat().st_mtime_ns for path in beside}
