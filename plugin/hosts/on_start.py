"""Extend the command line of a host (Inspect or lm-eval) when its Python process starts.

A line that `podium enable` writes into site-packages runs this file by its path, as podium may
not be importable yet. So that the host starts as fast as usual, only modules that it loads anyway
are imported here. podium is imported only if the user asks for a ranker or for help. No error is
raised: without podium, or with a host that it does not know, the host's command works as usual.
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
"""The package of a host, by the name of its script or of the module after `python -m`."""
REMEDIES_BY_HOST = {
    "inspect_ai": "`podium inspect ... --ranker NAME`, "
    "or after the run `podium rank LOGS --ranker NAME`",
    "lm_eval": "`podium lm_eval ... --ranker NAME`, "
    "or after the run `podium rank OUTPUT_DIRS --ranker NAME`",
}
"""What the user can type if the command cannot be extended, by package of the host."""
OPTIONS = ("--ranker", "--h", "-h", "--conf", "-C")
"""The beginning of each option that concerns podium: a ranker, help, or a config file."""


def watch() -> None:
    """Extend the host's command line when it is imported, if some argument concerns podium.

    A last argument `run` concerns podium, too, because lm-eval then shows its help. If an option
    `--ranker...` was typed and the command line could not be extended, a message is printed when
    the process ends.
    """
    # `lm_eval run` without further arguments shows help.
    has_option = any(word.startswith(OPTIONS) for word in sys.orig_argv)
    if not has_option and sys.orig_argv[-1] != "run":
        return
    # In a virtual environment, Python runs the line in site-packages twice.
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
    """Return the package of the host whose command this process runs; None for other programs."""
    folder, name = os.path.split(sys.argv[0])
    program = os.path.basename(folder) if name == "__main__.py" else name
    return HOSTS.get(program.partition(".")[0])


class CommandLineFinder:
    """An import finder that extends a host's command line as soon as its module is loaded."""

    def __init__(self) -> None:
        # Why the host has no option `--ranker`; empty once it has.
        self.reason = "its command line is not where podium looks for it"

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return an import spec for the host's module with the command line, which extends it.

        None for other modules, and if the spec cannot be made; the error is kept as the reason.
        """
        if name.partition(".")[0] != running_host():
            return None
        # The last element stays None if the attempt fails.
        specs: list[Any] = [None]
        self.attempt(lambda: specs.append(self.extending_spec(name, path, target)))
        return specs[-1]

    def extending_spec(self, name: str, path: Any, target: Any) -> Any:
        """Return an import spec that extends the module once it is loaded.

        None if the module does not define the command line.
        """
        import importlib

        host = name.partition(".")[0]
        compatibility = importlib.import_module(f"podium.hosts.{host}.{host}_compatibility")
        if name != compatibility.COMMAND_LINE:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next(each for each in specs if each is not None)
        loader: Any = spec.loader
        load = loader.exec_module

        def load_and_extend(module: Any) -> None:
            """Load the module as usual, then extend its command line.

            An error of the extension is kept as the reason, and not raised.
            """
            vars(loader).pop("exec_module", None)
            load(module)
            self.attempt(lambda: EXTENSIONS[host](module, self))

        loader.exec_module = load_and_extend
        return spec

    def attempt(self, work: Callable[[], None]) -> bool:
        """Call a function; return True, or False if it raised an exception.

        The exception is kept as the reason.
        """
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
                advice = f"--ranker is not known here ({self.reason}). Use {REMEDIES_BY_HOST[name]}"
            elif name == "lm_eval":
                advice += ". `podium rank OUTPUT_DIRS --ranker NAME` ranks earlier runs without it"
            print(f"podium: {advice}", file=sys.stderr)


def extend_inspect(module: Any, finder: CommandLineFinder) -> None:
    """Add podium's options to Inspect's commands, and clear the finder's `reason`."""
    from podium.hosts.inspect_ai.inspect_command import extend_command

    extend_command(module)
    finder.reason = ""


def extend_lm_eval(module: Any, finder: CommandLineFinder) -> None:
    """Change lm-eval's class in place, so that each later command line has podium's options.

    Args:
        module: the module that defines the class.
        finder: keeps the reason if a command line cannot be extended.
    """
    from podium.hosts.lm_eval.lm_eval_compatibility import extend_later_command_lines

    def extend_command_line(cli: Any) -> None:
        """Add podium's options to a command line, and clear the finder's `reason`."""
        from podium.hosts.lm_eval.lm_eval_command import extend

        extend(cli)
        finder.reason = ""

    extend_later_command_lines(module, extend_command_line, finder.attempt)


EXTENSIONS = {"inspect_ai": extend_inspect, "lm_eval": extend_lm_eval}
"""The function that extends the module of each host's command line."""
