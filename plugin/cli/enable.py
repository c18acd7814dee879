"""podium enable and disable: one file in site-packages lets bare `inspect` and `lm_eval` take
`--ranker`."""

import os
import sys
import sysconfig
from pathlib import Path

import click

from podium.errors import UsageError
from podium.hosts.on_start import HOSTS
from podium.printable import tell
from podium.storage.atomic_files import write_text

NAME = "podium_ranker.pth"
"""Name of the startup file in site-packages, whose `import` line Python runs at every start."""
ON_START_FILE = Path(__file__).parents[1] / "hosts" / "on_start.py"
"""The file that the startup file runs for a host's command."""
LINES = """\
# `podium enable` wrote this, `podium disable` removes it: the bare commands inspect and lm_eval \
then take --ranker.
import sys; typed = str(sys.orig_argv); \
("eval" in typed or "inspect" in typed) and exec({program!a}, {{}})
"""
"""The startup file, as a template.

Python compiles and runs its second line at every start, so it is short.
"""
PROGRAM = """\
try:
    import os, sys
    typed = {{os.path.basename(one).removeprefix("-m").partition(".")[0] for one in sys.orig_argv}}
    if not typed.isdisjoint({programs!a}):
        from importlib.machinery import SourceFileLoader
        name = "podium.hosts.on_start"
        namespace = {{"__name__": name}}
        exec(SourceFileLoader(name, {path!a}).get_code(name), namespace)
        namespace["watch"]()
except Exception:
    pass
"""
"""The code of the startup file, as a template; `LINES` holds it as a text.

`on_start.py` is run by its path: podium may come later on `sys.path`. If it is gone, nothing
happens.
"""


@click.command(
    short_help="Let the bare inspect and lm_eval commands of this environment take --ranker."
)
def enable() -> None:
    """Let the bare inspect and lm_eval commands of this environment take --ranker.

    One file is written into its site-packages; without --ranker the commands stay as they are.

    \b
    podium enable
    inspect eval task.py --model openai/gpt-5,openai/gpt-5-mini --ranker bradley-terry
    lm_eval run --model hf --tasks gsm8k --output_path runs --ranker bradley-terry
    podium disable
    """
    path = write_startup_file()
    tell(f"inspect and lm_eval of {sys.prefix} now take --ranker; wrote {path}")


@click.command(short_help="Undo podium enable.")
def disable() -> None:
    """Remove the file of `podium enable`.
    \f

    If there is no such file, a message says that nothing was enabled.
    """
    path = startup_file()
    if path.exists():
        path.unlink()
        tell(f"removed {path}")
    else:
        tell(f"was not enabled in {sys.prefix}")


def write_startup_file() -> Path:
    """Write the startup file into the environment's site-packages, and return its path.

    A file that is already there is replaced.

    Raises:
        UsageError: the file cannot be written.
    """
    path = startup_file()
    try:
        # Atomically: Python complains at every start about half a line.
        write_text(path, startup_lines())
    except OSError as error:
        remedy = "run it as the owner of that folder, or in a virtual environment of your own"
        raise UsageError(
            f"cannot write {path}: {os.strerror(error.errno or 0)}. Remedy: {remedy}"
        ) from None
    return path


def startup_file() -> Path:
    """Return the path of this environment's startup file, which need not exist."""
    return Path(sysconfig.get_path("purelib"), NAME)


def startup_lines() -> str:
    """Return the content of the startup file, in ASCII.

    Its code does nothing unless a command of `HOSTS` was typed. It then runs `on_start.py` of this
    installation, and ignores every error.
    """
    return LINES.format(program=PROGRAM.format(path=str(ON_START_FILE), programs=tuple(HOSTS)))
