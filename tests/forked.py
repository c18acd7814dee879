"""Commands in processes of their own, forked from one that has imported what they need, which takes
ten seconds.

For tests of what a command does: it has its own arguments, environment, folder, streams and
signals, and can be killed. How a command starts is tested by starting it.
"""

import atexit
import importlib
import multiprocessing
import os
import pkgutil
import sys
import threading
from collections.abc import Mapping
from contextlib import chdir
from multiprocessing.process import BaseProcess
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

import podium

COMMANDS = {
    "inspect": "inspect_ai._cli.main:main",
    "lm_eval": "lm_eval.__main__:cli_evaluate",
    "podium": "podium.cli.main:main",
    "python": "forked:run_code",
}
CONTEXT = multiprocessing.get_context(
    "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
)
ROOMS = ("answers", "cli", "diagnosis", "formats", "rankers", "report", "tournaments", "verbs")
HOSTS = ["inspect_ai._cli.main", "inspect_ai.log", "openai", "podium.hosts.inspect_ai.registry"]
TESTS = Path(__file__).parent


def preload(*, hosts: bool) -> None:
    """Say what the first process imports, before it is started."""
    modules = [
        one.name
        for one in pkgutil.walk_packages(podium.__path__, "podium.")
        if one.name.split(".")[1] in ROOMS
    ]
    CONTEXT.set_forkserver_preload([*modules, "rich.progress", *(HOSTS if hosts else [])])


def start(
    command: str,
    *words: object,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    streams: tuple[Path, Path] | None = None,
) -> BaseProcess:
    """Start a command.

    Args:
        command: a name of `COMMANDS`.
        words: its arguments.
        folder: in which it runs; by default this process's.
        environment: all of its variables; by default this process's.
        streams: files to which stdout and stderr are added; by default nothing is kept.
    """
    output, errors = streams or (Path(os.devnull), Path(os.devnull))
    line = [command, *map(str, words)]
    reported = (
        line,
        str(folder or Path.cwd()),
        dict(environment or os.environ),
        str(output),
        str(errors),
    )
    process = CONTEXT.Process(target=_run, args=reported, daemon=True)
    # In the checkout itself what an editable installation leaves there would hide from Inspect what
    # it is.
    with chdir(TESTS):
        process.start()
    return process


def run(
    command: str,
    *words: object,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> CompletedProcess[str]:
    """Run a command to its end."""
    with TemporaryDirectory() as place:
        streams = (Path(place, "stdout"), Path(place, "stderr"))
        process = start(command, *words, folder=folder, environment=environment, streams=streams)
        process.join(timeout=180)
        assert process.exitcode is not None, f"{command} is still running"
        output, errors = (stream.read_text("utf-8") for stream in streams)
        return CompletedProcess([command, *words], process.exitcode, output, errors)


def run_code() -> None:
    """Run what stands behind `-c`."""
    code, sys.argv = sys.argv[2], ["-c", *sys.argv[3:]]
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})


def _run(
    line: list[str], folder: str, environment: dict[str, str], output: str, errors: str
) -> None:
    """Become the command."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:] = [
        *_paths(environment),
        *(path for path in sys.path if not _is_of_tests(Path(path))),
    ]
    for number, path in ((1, output), (2, errors)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", line_buffering=stream is sys.stderr)
    sys.argv = line
    module, _, name = COMMANDS[line[0]].partition(":")
    try:
        sys.exit(getattr(importlib.import_module(module), name)())
    except Exception:
        sys.excepthook(*sys.exc_info())
        sys.exit(1)
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()


def _paths(environment: Mapping[str, str]) -> list[str]:
    return [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]


def _is_of_tests(path: Path) -> bool:
    """Return whether pytest put a folder among those in which modules are searched."""
    return path == TESTS.parent or path.is_relative_to(TESTS)
