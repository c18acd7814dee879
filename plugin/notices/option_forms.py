"""Write an option as the user types it: on podium's command line, in Python, or in a host.

Texts that tell the user to set an option get the option from `option_text`. A host in which
options are typed in another way sets a function for them with `typed_as`.
"""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias

Kind = Literal["option", "setting", "argument"]
"""What takes the option: `option` a podium command, `setting` a ranker (by `--set`), `argument` an
Inspect task (by `-T`)."""
MAPPINGS = frozenset({"columns", "where"})
"""Options whose value is `KEY=VALUE` in a command, and a dict in Python."""
REPEATED = frozenset({"where"})
"""Those of `MAPPINGS` that a command takes once for each `KEY=VALUE`."""
OptionForm: TypeAlias = Callable[[Kind, str, str], str]
"""A function from the kind, name and value of an option to the text that the user types.

The value is empty if the text names the option without a value.
"""


def typed_in_command(kind: Kind, name: str, value: str) -> str:
    """Write an option for podium's command line, or an argument of a task for Inspect's."""
    if kind != "option":
        flag = "-T" if kind == "argument" else "--set"
        return f"{flag} {name}={shlex.quote(value)}"
    typed = name.replace("_", "-")
    if name in REPEATED:
        return " ".join(f"--{typed} {shlex.quote(part)}" for part in value.split(","))
    if value == "false":
        return f"--no-{typed}"
    return f"--{typed} {shlex.quote(value)}" if value not in ("", "true") else f"--{typed}"


def typed_in_python(kind: Kind, name: str, value: str) -> str:  # noqa: ARG001
    """Write an option as a Python keyword argument.

    A value in capitals (`MODEL`) is a placeholder and is not quoted.
    """
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
    """Let `option_text` write options by `form` while the body runs."""
    before = _FORM.set(form)
    try:
        yield
    finally:
        _FORM.reset(before)


def option_text(name: str, value: str = "", kind: Kind = "option") -> str:
    """Write an option as the user types it where podium runs.

    If a host has set a form with `typed_as`, that form is used. Otherwise the option is written
    for the command line while a command of podium or Inspect runs, and for Python if none does.
    """
    form = _FORM.get()
    if form is None:
        form = typed_in_command if _runs_in_command() else typed_in_python
    return form(kind, name, value)


def _runs_in_command() -> bool:
    """Return whether a command of podium or Inspect runs. Both are commands of click."""
    # Nothing imports click here, because the help of lm-eval loads this file.
    click = sys.modules.get("click")
    return click is not None and click.get_current_context(silent=True) is not None
