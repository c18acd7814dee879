"""Exceptions and their exit codes.

PodiumError
├── DataError              exit 1  a value in a file is impossible or cannot be read
│   ├── NotATableError     exit 1  a document is whole, and has no rows
│   ├── OneModelError      exit 1  the scores are of one model, so there is no comparison
│   └── OtherQuestionError exit 1  one item id stands for different questions
├── NotIdentifiedError     exit 1  the data cannot answer the question, whatever the method
│   ├── LoneModelError     exit 1  a host's run has no other model to be ranked against
│   └── UnknownScaleError  exit 1  nothing puts the verdicts on the human scale
├── NotConvergedError      exit 1  a fit did not reach its optimum, so no number is given
└── UsageError             exit 2  a name, option or path that was typed is wrong
    └── PluginError        exit 2  an installed plugin is broken, or two have the same name
"""

import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

# Pairs of a function that tests the mode of a file, and the word for such a file in messages.
STREAM_KINDS = (
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)
STREAM_PATHS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""How the paths of streams begin that the shell opened before podium started."""


REMEDY = ". Remedy: "
"""Stands in the text of a `DataError` before its remedy."""


class PodiumError(Exception):
    """Base of everything that podium raises on purpose."""

    exit_code = 1


class DataError(PodiumError):
    """A value in a file is invalid; the message names file, row, value and remedy.

    Attributes:
        problem: what is wrong.
        remedy: what to do.
        source: the file; None if it is not known.
        row: the row; None if it is not known.
        column: the column whose value breaks a rule; None for other problems.
    """

    def __init__(
        self,
        problem: str,
        *,
        remedy: str,
        source: str | None = None,
        row: str | None = None,
        column: str | None = None,
    ) -> None:
        self.problem = problem
        self.remedy = remedy
        self.source = source
        self.row = row
        self.column = column
        super().__init__(f"{self.placed_problem}{REMEDY}{remedy}")

    @property
    def placed_problem(self) -> str:
        """The problem after file and row, without the remedy."""
        place = ", ".join(filter(None, (self.source, self.row)))
        return f"{place}: {self.problem}" if place else self.problem

    def with_place(self, source: str, row: str | None = None) -> "DataError":
        """Return a copy of the error with file and row filled in where they are missing."""
        return type(self)(
            self.problem,
            remedy=self.remedy,
            source=self.source or source,
            row=self.row or row,
            column=self.column,
        )


class RepeatedRuns(NamedTuple):
    """Two runs of one model.

    Attributes:
        model: the model.
        earlier: file of the earlier run.
        newest: file of the newest run.
    """

    model: str
    earlier: str
    newest: str


class NotATableError(DataError):
    """A document is whole, and its content is no table: a summary or a configuration."""


class OneModelError(DataError):
    """The scores are of one model, so there is nothing to compare it with.

    Attributes:
        repeats: an earlier run and the newest one of the model, if it was run several times; else
            None.

    Further arguments are those of `DataError`.
    """

    def __init__(self, problem: str, *, repeats: RepeatedRuns | None = None, **about: Any) -> None:
        self.repeats = repeats
        super().__init__(problem, **about)

    def with_place(self, source: str, row: str | None = None) -> "OneModelError":
        """Return a copy of the error with file and row filled in where they are missing."""
        return OneModelError(
            self.problem,
            remedy=self.remedy,
            source=self.source or source,
            row=self.row or row,
            column=self.column,
            repeats=self.repeats,
        )


class OtherQuestionError(DataError):
    """One item id stands for different questions in two sources.

    The answers to it cannot be compared.
    """


class NotIdentifiedError(PodiumError):
    """The data cannot identify the requested estimate."""


class LoneModelError(NotIdentifiedError):
    """A host's run has no other model to be ranked against."""


class UnknownScaleError(NotIdentifiedError):
    """A ranker needs the human scale, and neither labels nor a calibration gives it.

    Attributes:
        instead: the ranker that can rank the same verdicts without the human scale.
    """

    def __init__(self, problem: str, *, instead: str) -> None:
        self.instead = instead
        super().__init__(problem)


class NotConvergedError(PodiumError):
    """An optimiser stopped before its optimum."""


class UsageError(PodiumError):
    """An argument, option, name or path is invalid."""

    exit_code = 2


class PluginError(UsageError):
    """A plugin cannot be loaded, or two plugins register one name."""


def install_hint(extra: str) -> str:
    """Return what to run to install the packages of an extra, as a clause.

    `extra` is the name of an extra such as `inspect`, or several names with commas. The command
    installs from a checkout, because podium is on no package index yet.
    """
    return f"run pip install '.[{extra}]' in podium's checkout"


def import_failure(package: str, error: Exception) -> str:
    """Return the message for an installed package that cannot be imported.

    The message ends with the command that repairs the package.
    """
    return f"{package} cannot be imported ({error}); run pip install --force-reinstall {package}"


def is_of_package(error: Exception, package: str) -> bool:
    """Return whether an error is a failed import from a package.

    The package is then not installed, or lacks a module or a name, as another version of it may.
    `package` is the first part of the name of a module, such as `inspect_ai`.
    """
    if not isinstance(error, ImportError):
        return False
    first_part, _, _ = (error.name or "").partition(".")
    return first_part == package


@contextmanager
def named_in_errors(source: object) -> Iterator[None]:
    """Add the source's name to each DataError and UsageError that is raised in the body.

    A DataError that names a source already keeps it. Other errors are raised unchanged.
    """
    try:
        yield
    except DataError as error:
        raise error.with_place(str(source)) from None
    except UsageError as error:
        raise UsageError(f"{source}: {error}") from None


REPLACEMENTS = {
    "strata": "calibrate on the battles of such models only, and give that file",
    "halflife": "calibrate again on battles of recent models",
    "target=length": (
        "--ranker bradley-terry --set length_control=true rates all responses as equally long"
    ),
    "target=jury": "give each judge's margin in a column margin_JUDGE and take target=criteria",
}
"""What replaces a removed option (`NAME`), or a removed value of an option (`NAME=VALUE`)."""


def unknown_value_error(option: str, value: object, allowed: Iterable[object]) -> UsageError:
    """Return the error for a value that an option does not have.

    If an earlier version had the value, the error names what replaces it.

    Args:
        option: the option as typed; the part before the last dot (`RANKER.NAME`) is no part of its
            name in `REPLACEMENTS`.
        value: the value as typed.
        allowed: the values that the option has.
    """
    name = option.rpartition(".")[2]
    replacement = REPLACEMENTS.get(f"{name}={value}")
    if replacement:
        return UsageError(f"{option}={value} was removed: {replacement}")
    return UsageError(f"{option}={value!r} is unknown; use one of {', '.join(map(str, allowed))}")


def unknown_name_error(kind: str, name: str, known_names: Iterable[str]) -> UsageError:
    """Return the error for an unknown name.

    It lists the known names, and suggests the first one that adds settings to the unknown one, or
    else the most similar one if there is a similar one.

    Args:
        kind: what the name is of, in the singular: `model`, `ranker` ...
        name: the name as typed.
        known_names: the known names.
    """
    names = sorted(known_names)
    # Models of runs with several settings are named `NAME (SETTING=VALUE)`.
    with_settings = [known_name for known_name in names if known_name.startswith(f"{name} (")]
    # Only errors need this module, which takes several milliseconds to import.
    from difflib import get_close_matches

    near = with_settings or get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    return UsageError(f"no {kind} called {name!r}{hint} available: {', '.join(names) or 'none'}")


def reject_stream(path: Path) -> None:
    """Check that a path is no pipe, socket or device, of which reading may wait for ever.

    Streams that the shell has opened are allowed: `/dev/stdin`, and `/dev/fd/63` for `<(command)`.
    They end when the command ends. A path that does not exist, or cannot be looked at, is accepted.

    Raises:
        UsageError: the path is such a file.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return
    kind = next((kind for is_kind, kind in STREAM_KINDS if is_kind(mode)), None)
    if kind is not None and not str(path).startswith(STREAM_PATHS):
        raise UsageError(
            f"{path} is a {kind}, not a file: write its content to a file, or give - for standard "
            "input"
        )
