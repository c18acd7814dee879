"""What a Python process does at its start where podium is enabled and one of the hosts' commands seems to be running.

The line that `podium enable` leaves in site-packages runs this file by its path: podium itself may not be importable
yet. Nothing is imported here that a host does not load anyway, podium itself only where somebody asks for a ranker or
for help, and nothing is ever raised: without podium, or with a host that podium does not know, the host's command
works as it always does.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

HOSTS = {"inspect": "inspect_ai", "inspect_ai": "inspect_ai", "lm_eval": "lm_eval", "lm-eval": "lm_eval"}
"""The host of a program: of a script, or of what follows `python -m`."""
INSTEAD = {
    "inspect_ai": "`podium inspect ... --ranker NAME`, or after the run `podium rank LOGS --ranker NAME`",
    "lm_eval": "`podium lm_eval ... --ranker NAME`, or after the run `podium rank OUTPUT_DIRS --ranker NAME`",
}

OPTIONS = ("--ranker", "--h", "-h", "--conf", "-C")
"""How the options begin that ask for a ranker, for help, or for a file that may name a ranker."""


def watch() -> None:
    """Wait for the host's command line to be loaded, where podium matters to it.

    Where `--ranker` was typed in vain, say so in the end. Once: in a virtual environment Python runs every line of
    site-packages twice.
    """
    # `lm_eval run` alone shows help.
    if not any(word.startswith(OPTIONS) for word in sys.orig_argv) and sys.orig_argv[-1] != "run":
        return
    if any(
        (type(finder).__module__, type(finder).__name__) == (__name__, "CommandLineFinder") for finder in sys.meta_path
    ):
        return
    finder = CommandLineFinder()
    sys.meta_path.insert(0, finder)
    if any(word.startswith("--ranker") for word in sys.orig_argv):
        import atexit

        atexit.register(finder.tell)


def host() -> str | None:
    """Return which host's command this process is; None where it is any other program."""
    folder, name = os.path.split(sys.argv[0])
    program = os.path.basename(folder) if name == "__main__.py" else name
    return HOSTS.get(program.partition(".")[0])


class CommandLineFinder:
    """A finder with no modules of its own: it has the host's command line extended as soon as that is loaded.

    Attributes:
        reason: why `--ranker` is no option of the host; empty once it is one.
    """

    def __init__(self) -> None:
        self.reason = "its command line is not where podium knows it"

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return what the other finders know of a host's command line, and nothing of all other modules."""
        if name not in COMMAND_LINES:
            return None
        specs: list[Any] = [None]
        self.attempt(lambda: specs.append(self.extending_spec(name, path, target)))
        return specs[-1]

    def extending_spec(self, name: str, path: Any, target: Any) -> Any:
        """Return the spec of a module that is extended right after it has run; None where it is not the command."""
        if host() != name.partition(".")[0]:
            return None
        spec = next(
            filter(None, (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self))
        )
        loader: Any = spec.loader
        load = loader.exec_module

        def load_and_extend(module: Any) -> None:
            vars(loader).pop("exec_module", None)
            load(module)
            self.attempt(lambda: COMMAND_LINES[name](module, self))

        loader.exec_module = load_and_extend
        return spec

    def attempt(self, work: Callable[[], None]) -> bool:
        """Return whether some work succeeds; keep the reason why it does not, whatever it is."""
        try:
            work()
        except Exception as error:
            self.reason = f"{type(error).__name__}: {error}"
            return False
        return True

    def tell(self) -> None:
        """Say what to use instead, if `--ranker` is no option of this command."""
        name = host()
        if name and self.reason:
            print(f"podium: --ranker is not known here ({self.reason}). Use {INSTEAD[name]}", file=sys.stderr)


def extend_inspect(module: Any, finder: CommandLineFinder) -> None:
    """Extend Inspect's group of commands, which is built as its module is loaded."""
    from podium.hosts.inspect_ai.command import extend_command

    extend_command(module)
    finder.reason = ""


def extend_lm_eval(module: Any, finder: CommandLineFinder) -> None:
    """Extend each command line that lm-eval builds later."""
    from podium.hosts.lm_eval.compatibility import extend_later_command_lines

    def extend_command_line(cli: Any) -> None:
        """Add podium's options to a command line."""
        from podium.hosts.lm_eval.command import extend

        extend(cli)
        finder.reason = ""

    extend_later_command_lines(module, extend_command_line, finder.attempt)


COMMAND_LINES = {"inspect_ai._cli.main": extend_inspect, "lm_eval._cli.harness": extend_lm_eval}
"""The module in which a host builds its command line, and what is then done with it."""
