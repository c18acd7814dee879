"""Do work when the running command ends: print what Inspect's full screen would hide, play, exit.

If no command runs, as in Python, the work is done at once.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import click

from podium.printable import begin_line, print_apart

KEY = "podium.end"
"""Key of the `CommandEnd` in the metadata of click's context."""


class CommandEnded(BaseException):
    """Raised before each job and handled while the job runs, to be the context of its errors.

    `inspect eval-set` ends by an exception of click, which would be their context otherwise.
    Inspect would take it for the cause of a sample's grouped errors: it follows every context that
    is an `Exception`, which this class is not.
    """


@dataclass
class CommandEnd:
    """What is done when a command ends.

    Attributes:
        jobs: the functions that are called, in this order, each with its name. Jobs may add jobs.
        code: the exit code; 0 leaves the code of Inspect.
    """

    jobs: list[tuple[str, Callable[[], None]]] = field(default_factory=list)
    code: int = 0

    def finish(self) -> None:
        """Call the jobs, and end the process if there is an exit code.

        What they print begins on a line of its own: Inspect leaves its last line unfinished. The
        error of a job is raised, and later jobs are not called.
        """
        if self.jobs:
            begin_line()
        while self.jobs:
            _, job = self.jobs.pop(0)
            # Errors of the job then have `CommandEnded` as context, and not the end of the command.
            try:
                raise CommandEnded
            except CommandEnded:
                job()
        if self.code:
            sys.exit(self.code)


def call_at_end(job: Callable[[], None], name: str = "") -> None:
    """Call `job` when the command ends, or at once if no command runs.

    Of jobs with the same name, only the last is called, in the place of the first. Jobs with an
    empty name are all called.
    """
    end = _end_of_command()
    if end is None:
        job()
        return
    names = [job_name for job_name, _ in end.jobs]
    if name and name in names:
        end.jobs[names.index(name)] = (name, job)
    else:
        end.jobs.append((name, job))


def print_at_end(text: str) -> None:
    """Print a text to stderr when the command ends, or at once if no command runs.

    It begins on a line of its own. A line end after it must be part of the text.
    """
    if _end_of_command() is None:
        print_apart(text)
    else:
        call_at_end(partial(print, text, end="", file=sys.stderr))


def exit_at_end(code: int) -> None:
    """Let the running command end with an exit code, whatever was set before.

    If an eval set has several runs, its last run decides. If no command runs, nothing is done.

    Args:
        code: the exit code; 0 leaves that of Inspect.
    """
    end = _end_of_command()
    if end is not None:
        end.code = code


def raise_exit_code(code: int) -> None:
    """Let the running command end with an exit code, unless a higher code was set before.

    So the failure of one job is not lost if a later one succeeds. If no command runs, nothing is
    done.
    """
    end = _end_of_command()
    if end is not None:
        end.code = max(end.code, code)


def _end_of_command() -> CommandEnd | None:
    """Return what is done at the end of the running command; None if no command runs."""
    command = click.get_current_context(silent=True)
    if command is None:
        return None
    root = command.find_root()
    if KEY not in root.meta:
        # click calls such functions in reverse order, so there is one for all jobs.
        end = root.meta[KEY] = CommandEnd()
        root.call_on_close(end.finish)
    return root.meta[KEY]
