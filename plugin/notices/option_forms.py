"""Write an option as the user types it: on podium's command line, in Python, or in a host.

Texts that tell the user to set an option get the option from `option_text`. A host in which
options are typed in another way sets a function for them with `typed_as`.
"""

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias

Kind = Literal["option", "setting", "argument"]
"""What takes the option: `option` a podium command, `setting` a ranker (by `--set`), `argument` an
Inspect task (by `-T`)."""
MAPPINGS = frozenset({"columns", "where"})
"""Options whose value is `KEY=VALUE` in a command, and a dict in Python."""
REPEATED_MAPPINGS = frozenset({"where"})
"""Those of `MAPPINGS` that a command takes once for each `KEY=VALUE`."""
OptionForm: TypeAlias = Callable[[Kind, str, str], str]
"""A function from the kind, name and value of an option to the text that the user types.

The value is empty if the text names the option without a value.
"""


def typed_in_command(kind: Kind, name: str, value: str) -> str:
    """Write an option for podium's command line, or an argument of a task for Inspect's.

    Args:
        kind: what takes the option: `--NAME VALUE` for `option`, `--set NAME=VALUE` for `setting`,
            and `-T NAME=VALUE` for `argument`.
        name: name of the option.
        value: its value. An `option` with the value `false` is written as `--no-NAME`, and without
            a value if it is `true` or empty. An `option` in `REPEATED_MAPPINGS` is written once for
            each of the values that commas separate.
    """
    if kind != "option":
        flag = "-T" if kind == "argument" else "--set"
        return f"{flag} {name}={quoted_value(value)}"
    typed = name.replace("_", "-")
    if name in REPEATED_MAPPINGS:
        return " ".join(f"--{typed} {shlex.quote(part)}" for part in value.split(","))
    if value == "false":
        return f"--no-{typed}"
    if value in ("", "true"):
        return f"--{typed}"
    return f"--{typed} {shlex.quote(value)}"


def format_assignments(option: str, values: Mapping[str, str]) -> str:
    """Return an option with `KEY=VALUE` pairs as it is typed.

    For example: `--columns item=id,judge=rater`. The pairs are quoted if a shell needs it.
    """
    pairs = ",".join(f"{key}={value}" for key, value in values.items())
    return f"--{option} {shlex.quote(pairs)}"


def are_assignable(parts: Iterable[str]) -> bool:
    """Return whether keys and values can be typed in `KEY=VALUE` pairs.

    A comma would end a pair, and blanks at the ends would be lost.
    """
    return all("," not in part and part == part.strip() for part in parts)


def quoted_value(value: str) -> str:
    """Return the value of an option quoted for a shell; an empty value stays empty."""
    return shlex.quote(value) if value else ""


def typed_in_python(kind: Kind, name: str, value: str) -> str:  # noqa: ARG001
    """Write an option as a Python keyword argument.

    Args:
        kind: not used.
        name: name of the option.
        value: its value. Texts are quoted, except numbers and words in capitals (`MODEL`), which
            are placeholders; `true` becomes `True`. For the options in `MAPPINGS`, `KEY=VALUE`
            becomes a dictionary. Without a value, nothing follows the equals sign.
    """
    keyword = name.replace("-", "_")
    if not value:
        return f"{keyword}="
    if name in MAPPINGS:
        mapping = {}
        for part in value.split(","):
            key, _, value_of_key = part.partition("=")
            mapping[key] = value_of_key
        return f"{keyword}={mapping}"
    if value in ("true", "false"):
        return f"{keyword}={value.title()}"
    is_number = value.lstrip("-").replace(".", "", 1).isdigit()
    is_placeholder = value.isalpha() and value.isupper()
    if is_number or is_placeholder:
        return f"{keyword}={value}"
    return f"{keyword}={value!r}"


def typed_in_reading(kind: Kind, name: str, value: str) -> str:
    """Write an option as a keyword argument of the function that reads battles.

    Args:
        kind: what takes the option. An `option` is written in a call, as
            `podium.read_battles(..., shown='a')`; other kinds are the keyword argument alone.
        name: name of the option.
        value: its value, as in `typed_in_python`.
    """
    typed = typed_in_python(kind, name, value)
    return f"podium.read_battles(..., {typed})" if kind == "option" else typed


_FORM: ContextVar[OptionForm | None] = ContextVar("form in which options are typed", default=None)
"""The form that a host has set with `typed_as`; None if none has."""


@contextmanager
def typed_as(form: OptionForm) -> Iterator[None]:
    """Let `option_text` write options by a form while the body runs.

    Args:
        form: the form, such as `typed_in_command`. The form before is restored afterwards.
    """
    before = _FORM.set(form)
    try:
        yield
    finally:
        _FORM.reset(before)


def typed_form() -> OptionForm:
    """Return the form in which `option_text` writes options now.

    It can be given to `typed_as` in another context, such as a thread.
    """
    form = _FORM.get()
    if form is None:
        form = typed_in_command if _runs_in_command() else typed_in_python
    return form


def option_text(name: str, value: str = "", kind: Kind = "option") -> str:
    """Write an option as the user types it where podium runs.

    If a host has set a form with `typed_as`, that form is used. Otherwise the option is written
    for the command line while a command of podium or Inspect runs, and for Python if none does.

    Args:
        name: name of the option.
        value: its value; empty to name the option alone.
        kind: what takes the option.
    """
    return typed_form()(kind, name, value)


def typed_source(source: str) -> str:
    """Return a source as it can be typed anywhere in a command.

    The name of a file that begins with a dash would be an option: it gets `./` in front. A dash
    alone is standard input.

    >>> typed_source("-x.csv"), typed_source("x.csv"), typed_source("-")
    ('./-x.csv', 'x.csv', '-')
    """
    return f"./{source}" if source.startswith("-") and source != "-" else source


def quoted_sources(sources: Iterable[str]) -> str:
    """Return sources as they are typed in a command, separated by blanks.

    Each is quoted if a shell needs it.
    """
    return shlex.join(map(typed_source, sources))


def judging_command(sources: Iterable[str]) -> str:
    """Return the command that lets a judge compare responses.

    Args:
        sources: the files or folders with the responses.
    """
    responses = shlex.quote(",".join(sources))
    return f"inspect eval podium/round_robin -T responses={responses} --model-role judge=MODEL"


def _runs_in_command() -> bool:
    """Return whether a command of podium or Inspect runs.

    Both are commands of click.
    """
    # Nothing imports click here, because the help of lm-eval loads this file.
    click = sys.modules.get("click")
    return click is not None and click.get_current_context(silent=True) is not None
