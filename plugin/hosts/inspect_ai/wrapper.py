"""The stock `inspect` command with one more option: `--ranker NAME` on eval, eval-set, eval-retry and score."""

import os
import sys
from collections.abc import Sequence
from typing import Any

VARIABLE = "PODIUM_RANKER"
COMMANDS = ("eval", "eval-set", "eval-retry", "score")
HELP = "Rank the models when the run has ended; `podium list rankers` shows the names."


def run(arguments: Sequence[str]) -> None:
    """Run `inspect` with these arguments; a ranker goes to podium's hook through the environment.

    The option is taken out before Inspect sees it, so that a detached run inherits it, too.

    Raises:
        UsageError: an unknown ranker, or a command that makes nothing to rank.
    """
    kept, names = without_ranker(arguments)
    if names:
        _check(kept, names)
        os.environ[VARIABLE] = ",".join(names)
    sys.argv = ["inspect", *kept]
    from inspect_ai._cli import main as host

    _document(host)
    if names and kept[0] == "score":
        _score(host, kept)
    else:
        host.main()


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


def _check(arguments: Sequence[str], names: Sequence[str]) -> None:
    from podium import plugins
    from podium.errors import UsageError
    from podium.hookspecs import Ranker

    if not arguments or arguments[0] not in COMMANDS:
        raise UsageError(f"--ranker goes with {', '.join(COMMANDS)}: podium inspect eval TASK --ranker {names[0]}")
    for name in names:
        plugins.named(Ranker, name)


def _document(host: Any) -> None:
    """Add the option to the help of the commands; it is never parsed there."""
    import click

    for name in COMMANDS:
        command = host.inspect.commands[name]
        if not any("--ranker" in option.opts for option in command.params):
            command.params.append(click.Option(["--ranker"], metavar="NAME[,NAME...]", help=HELP, expose_value=False))


def _score(host: Any, arguments: Sequence[str]) -> None:
    """Score, then rank the logs that were named or written: scoring calls no hook."""
    before = _states(arguments)
    try:
        host.main()
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
