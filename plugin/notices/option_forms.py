"""How an option is typed: on podium's command line, in Python, or on a host's command line.

A text that tells the user to set an option asks `option_text` for it, so that it is right wherever
podium runs. A host with other names of options sets its form with `typed_as`.
"""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias

Kind = Literal["option", "setting", "argument"]
"""`option`: of podium's commands. `setting`: of a ranker. `argument`: of a tournament's task."""
MAPPINGS = frozenset({"columns", "where"})
"""Options whose value is `KEY=VALUE`, in Python a dict."""
OptionForm: TypeAlias = Callable[[Kind, str, str], str]
"""A function from the kind, the name and the value of an option to what is typed; the value is
empty where the option is named alone."""


def typed_in_command(kind: Kind, name: str, value: str) -> str:
    """Write an option as podium's command line has it, an argument of a task as Inspect's."""
    if kind != "option":
        flag = "-T" if kind == "argument" else "--set"
        return f"{flag} {name}={shlex.quote(value)}"
    typed = name.replace("_", "-")
    if value == "false":
        return f"--no-{typed}"
    return f"--{typed} {shlex.quote(value)}" if value not in ("", "true") else f"--{typed}"


def typed_in_python(kind: Kind, name: str, value: str) -> str:  # noqa: ARG001
    """Write an option as a keyword argument; a value in capitals stands for one of the user's."""
    keyword = name.replace("-", "_")
    if not value:
        return f"{keyword}="
    if name in MAPPINGS:
        pairs = (part.partition("=") for part in value.split(","))
        return f"{keyword}={ {key: own for key, _, own in pairs} }"
    if value in ("true", "false"):
        return f"{keyword}={value.title()}"
    is_number = value.lstrip("-").replace(".", "", 1).isdigit()
    is_placeholder = value.isalpha() and value.isupper()
    return f"{keyword}={value if is_number or is_placeholder else repr(value)}"


_FORM: ContextVar[OptionForm | None] = ContextVar("form in which options are typed", default=None)


@contextmanager
def typed_as(form: OptionForm) -> Iterator[None]:
    """Write options in a form while the body runs."""
    before = _FORM.set(form)
    try:
        yield
    finally:
        _FORM.reset(before)


def option_text(name: str, value: str = "", kind: Kind = "option") -> str:
    """Write an option as it is typed where podium runs.

    Without a form of the host, that is the command line while a command of podium or Inspect runs,
    and Python else.
    """
    form = _FORM.get()
    if form is None:
        form = typed_in_command if _runs_in_command() else typed_in_python
    return form(kind, name, value)


def _runs_in_command() -> bool:
    """Return whether a command of podium or Inspect runs, both of which are click's."""
    # Nothing imports click here, because the help of lm-eval loads this file.
    click = sys.modules.get("click")
    return click is not None and click.get_current_context(silent=True) is not None
