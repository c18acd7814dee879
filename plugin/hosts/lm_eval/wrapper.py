"""lm-eval's own command with `--ranker`: its parser and help, its run, its table and results file."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from podium.errors import PodiumError
from podium.hosts.lm_eval import options as asked

Execute = Callable[[argparse.Namespace], None]


def main(arguments: Sequence[str]) -> int:
    """Run `lm_eval` with these arguments; return its exit code.

    Raises:
        ImportError: lm-eval is not installed, or is built otherwise than podium knows.
    """
    from lm_eval.__main__ import HarnessCLI, setup_logging

    setup_logging()
    before, sys.argv = sys.argv, ["lm-eval", *arguments]
    try:
        cli = HarnessCLI()
        extended(cli)
        cli.execute(cli.parse_args())
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = before
    return 0


def extended(cli: Any) -> None:
    """Add `--ranker` and its options to lm-eval's command line, and let its runs honour them; once.

    Args:
        cli: a `HarnessCLI` as lm-eval builds it.

    Raises:
        AttributeError, KeyError, StopIteration: lm-eval's command line is built otherwise than podium knows.
    """
    commands = next(one for one in cli._parser._actions if isinstance(one, argparse._SubParsersAction))
    run = commands.choices["run"]
    if "--ranker" in run._option_string_actions:
        return
    execute = run.get_default("func")
    asked.add_to(run)
    run.set_defaults(func=lambda arguments: ranked(execute, arguments))


def ranked(execute: Execute, arguments: argparse.Namespace) -> None:
    """Do what `lm_eval run` does; with `--ranker`, rank what was run before it is shown and saved.

    Raises:
        SystemExit: wrong usage (2), found before the run; or the run is done and saved, and could not be ranked (3).
    """
    told = asked.taken_from(arguments)
    with _without_section(arguments) as section:
        told = section | told
        if not told:
            execute(arguments)
            return
        try:
            options = asked.options_from(told)
        except PodiumError as error:
            _refused(error)
        raise NotImplementedError(options)


@contextmanager
def _without_section(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Give what the `--config` file asks of podium; lm-eval, which refuses such keys, gets a copy without them."""
    config = _loaded(getattr(arguments, "config", None))
    if not any(asked.is_ours(str(name)) for name in config):
        yield {}
        return
    import yaml

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, Path(arguments.config).name)
        copy.write_text(yaml.safe_dump({name: value for name, value in config.items() if not asked.is_ours(name)}))
        arguments.config = str(copy)
        try:
            section = asked.section_of(config)
        except PodiumError as error:
            _refused(error)
        yield section


def _loaded(path: str | None) -> Mapping[str, Any]:
    """Return what a YAML file holds; nothing where it cannot be read: lm-eval says so better."""
    import yaml

    try:
        config = yaml.safe_load(Path(path).read_text()) if path else None
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return config if isinstance(config, Mapping) else {}


def _refused(error: PodiumError) -> None:
    print(f"podium: {error}", file=sys.stderr)
    sys.exit(error.exit_code)
