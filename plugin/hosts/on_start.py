"""Extend a host's command line at the start of a Python process in which podium is enabled.

The line that `podium enable` writes into site-packages runs this file by its path: podium itself
may not be importable yet. Only modules that a host loads anyway are imported here, podium only if
the user asks for a ranker or for help, and nothing is ever raised: without podium, or with a host
that podium does not know, the host's command works as usual.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

HOSTS = {
    "inspect": "inspect_ai",
    "inspect_ai": "inspect_ai",
    "lm_eval": "lm_eval",
    "lm-eval": "lm_eval",
}
"""The host by the name of a script, or of the module after `python -m`."""
INSTEAD = {
    "inspect_ai": "`podium inspect ... --ranker NAME`, "
    "or after the run `podium rank LOGS --ranker NAME`",
    "lm_eval": "`podium lm_eval ... --ranker NAME`, "
    "or after the run `podium rank OUTPUT_DIRS --ranker NAME`",
}
OPTIONS = ("--ranker", "--h", "-h", "--conf", "-C")
"""Beginnings of options for a ranker, help, or a config file, which may name a ranker."""


def watch() -> None:
    """Extend the host's command line on import, once, if arguments concern podium.

    If that fails, a message is printed at exit.
    """
    # `lm_eval run` alone shows help.
    if not any(word.startswith(OPTIONS) for word in sys.orig_argv) and sys.orig_argv[-1] != "run":
        return
    # In a virtual environment Python runs every line of site-packages twice.
    if any(
        (type(finder).__module__, type(finder).__name__) == (__name__, "CommandLineFinder")
        for finder in sys.meta_path
    ):
        return
    finder = CommandLineFinder()
    sys.meta_path.insert(0, finder)
    if any(word.startswith("--ranker") for word in sys.orig_argv):
        import atexit

        atexit.register(finder.print_alternative)


def running_host() -> str | None:
    """Return the host whose command this process runs; None for any other program."""
    folder, name = os.path.split(sys.argv[0])
    program = os.path.basename(folder) if name == "__main__.py" else name
    return HOSTS.get(program.partition(".")[0])


class CommandLineFinder:
    """An import finder that extends a host's command line as soon as its module is loaded."""

    def __init__(self) -> None:
        # Why the host has no option `--ranker`; empty once it has.
        self.reason = "its command line is not where podium looks for it"

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of a host's command line, to be extended; None for other modules."""
        if name.partition(".")[0] != running_host():
            return None
        specs: list[Any] = [None]
        self.attempt(lambda: specs.append(self.extending_spec(name, path, target)))
        return specs[-1]

    def extending_spec(self, name: str, path: Any, target: Any) -> Any:
        """Return a spec that extends the module after it has run; None without a command line."""
        import importlib

        host = name.partition(".")[0]
        if (
            name
            != importlib.import_module(f"podium.hosts.{host}.{host}_compatibility").COMMAND_LINE
        ):
            return None
        spec = next(
            filter(
                None,
                (
                    finder.find_spec(name, path, target)
                    for finder in sys.meta_path
                    if finder is not self
                ),
            )
        )
        loader: Any = spec.loader
        load = loader.exec_module

        def load_and_extend(module: Any) -> None:
            vars(loader).pop("exec_module", None)
            load(module)
            self.attempt(lambda: EXTENSIONS[host](module, self))

        loader.exec_module = load_and_extend
        return spec

    def attempt(self, work: Callable[[], None]) -> bool:
        """Call a function; return False if it raised an exception, which becomes the reason."""
        try:
            work()
        except Exception as error:
            self.reason = f"{type(error).__name__}: {error}"
            return False
        return True

    def print_alternative(self) -> None:
        """Print what to use instead if this command has no option `--ranker`."""
        name = running_host()
        if name and self.reason:
            package = name.replace("_", "-")
            advice = f"{package} cannot be imported; run pip install --force-reinstall {package}"
            if name in sys.modules:
                advice = f"--ranker is not known here ({self.reason}). Use {INSTEAD[name]}"
            elif name == "lm_eval":
                advice += ". `podium rank OUTPUT_DIRS --ranker NAME` ranks earlier runs without it"
            print(f"podium: {advice}", file=sys.stderr)


def extend_inspect(module: Any, finder: CommandLineFinder) -> None:
    """Add podium's options to Inspect's commands, and clear the reason why options are missing."""
    from podium.hosts.inspect_ai.inspect_command import extend_command

    extend_command(module)
    finder.reason = ""


def extend_lm_eval(module: Any, finder: CommandLineFinder) -> None:
    """Replace lm-eval's class, so that each later command line has podium's options."""
    from podium.hosts.lm_eval.lm_eval_compatibility import extend_later_command_lines

    def extend_command_line(cli: Any) -> None:
        from podium.hosts.lm_eval.lm_eval_command import extend

        extend(cli)
        finder.reason = ""

    extend_later_command_lines(module, extend_command_line, finder.attempt)


EXTENSIONS = {"inspect_ai": extend_inspect, "lm_eval": extend_lm_eval}
"""The function that extends the module of each host's command line."""
