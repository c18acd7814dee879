"""Options of rankers and tournaments from the command line.

They are typed as `--set KEY=VALUE` or `--set NAME.KEY=VALUE`.
"""

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from podium.errors import (
    REPLACEMENTS,
    PluginError,
    UsageError,
    unknown_name_error,
    unknown_value_error,
)
from podium.hookspecs import Ranker, Tournament
from podium.notices.option_forms import option_text
from podium.plugins import catalogue

RESERVED_PARAMETERS = frozenset({"battles", "rng", "level", "centre", "calibration", "whole"})
"""Parameters of a ranker that podium fills in. They are not options."""


def options_of(ranker: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the options of a ranker or tournament by name, in the order of its parameters.

    They are its keyword-only parameters, except those that podium fills in (`RESERVED_PARAMETERS`).
    """
    return {
        name: parameter
        for name, parameter in parameters_of(ranker).items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in RESERVED_PARAMETERS
    }


def parameters_of(ranker: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return all parameters of a ranker or tournament by name.

    Their annotations are types, or texts if one names something that its module imports only for
    types.

    Raises:
        ValueError: the object has no signature.
    """
    try:
        return inspect.signature(ranker, eval_str=True).parameters
    except NameError:
        return inspect.signature(ranker).parameters


def options_by_name(
    rankers: Iterable[str], tournaments: Iterable[str] = ()
) -> dict[str, dict[str, inspect.Parameter]]:
    """Return the options of rankers and tournaments.

    Returns:
        For each name of a ranker or tournament, its parameters by option. Tournaments come first; a
        ranker replaces a tournament of the same name.

    Raises:
        UsageError: no ranker or tournament has one of the names.
        PluginError: one of them cannot be imported.
    """
    rules = {name: catalogue.tournament_rule(name) for name in tournaments}
    rules |= {name: catalogue.ranker_function(name) for name in rankers}
    return {name: options_of(rule) for name, rule in rules.items()}


def ranker_names(rankers: str | Sequence[str]) -> list[str]:
    """Return the names of rankers without repetitions, spaces around them, and empty ones.

    The names may be unknown.

    Args:
        rankers: names, as a sequence or as one text in which commas separate them.

    Raises:
        UsageError: there is no name, or it is not a text.
    """
    names = rankers.split(",") if isinstance(rankers, str) else rankers
    if callable(names) or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"name rankers by text, not by {names!r}; a plugin can register a ranker of your own"
        )
    stripped = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not stripped:
        raise UsageError("no ranker named; `podium list rankers` shows them")
    return stripped


def parse_settings(
    settings: Sequence[str], rankers: Sequence[str], tournaments: Sequence[str] = ()
) -> dict[str, Any]:
    """Parse `KEY=VALUE` settings to values of the types that rankers and tournaments declare.

    Args:
        settings: the settings as typed; a key may be repeated with the same value.
        rankers: names of the rankers that may have the options.
        tournaments: names of the tournaments that may have them.

    Returns:
        The values by key, which is `option` or `name.option`.

    Raises:
        UsageError: a setting has no `=`, no ranker or tournament has the option, or the value is
            not of its type; or a key has two values.
    """
    options_by_owner = options_by_name(rankers, tournaments)
    kind = "ranker or tournament" if tournaments else "ranker"
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(
                f"{option_text('set')} {setting!r}: write KEY=VALUE or RANKER.KEY=VALUE"
            )
        option, takers = _takers_of(key, options_by_owner)
        if not takers:
            raise unknown_option_error(key, options_by_owner, kind)
        value = _value_of_any(key, text, [options_by_owner[name][option] for name in takers])
        if values.setdefault(key, value) != value:
            first_value = values[key]
            raise UsageError(
                f"{option_text('set')} {key} has two values, {first_value} and {text}: give one"
            )
    return values


def _value_of_any(key: str, text: str, parameters: Sequence[inspect.Parameter]) -> Any:
    """Return the value of a setting by the first of several declared types that it is of.

    Which ranker will take it may depend on the battles, and is not known yet.

    Args:
        key: the option as typed.
        text: the value as typed.
        parameters: the parameters of the rankers or tournaments that have the option, at least one.

    Raises:
        UsageError: the value is of none of the types; the error is that of the first.
    """
    errors: list[UsageError] = []
    for parameter in parameters:
        try:
            return _typed_value(key, text, parameter)
        except UsageError as error:
            errors.append(error)
    raise errors[0]


def _takers_of(key: str, options_by_owner: Mapping[str, Collection[str]]) -> tuple[str, list[str]]:
    """Split `option` or `name.option`, and return the option and the names that accept it.

    `name.option` is accepted only by this name. The list of names is empty if none accepts it.

    Args:
        key: the option as typed.
        options_by_owner: names of the options of each ranker or tournament, by its name.
    """
    owner, _, option = key.rpartition(".")
    takers = []
    for name, options in options_by_owner.items():
        is_candidate = not owner or name == owner
        if is_candidate and option in options:
            takers.append(name)
    return option, takers


def assign_options(
    options: Mapping[str, Any], options_by_owner: Mapping[str, Collection[str]]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Assign options to the rankers or tournaments that have them.

    Args:
        options: values by `option` or `name.option`. The second form has precedence.
        options_by_owner: names of the options of each ranker or tournament, by its name.

    Returns:
        The options of each ranker or tournament, by its name; and the options that none has.
    """
    assigned: dict[str, dict[str, Any]] = {name: {} for name in options_by_owner}
    unassigned: dict[str, Any] = {}
    # Keys `name.option` come last, and so replace the values of `option`.
    for key in sorted(options, key=lambda key: "." in key):
        value = options[key]
        option, takers = _takers_of(key, options_by_owner)
        for name in takers:
            assigned[name][option] = value
        if not takers:
            unassigned[key] = value
    return assigned, unassigned


def ranker_options(rankers: Sequence[str], options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the options of each ranker, by its name.

    Args:
        rankers: names of the rankers.
        options: values by `option` or `ranker.option`.

    Raises:
        UsageError: no ranker has one of the options.
    """
    options_by_owner = options_by_name(rankers)
    assigned, unassigned = assign_options(options, options_by_owner)
    if unassigned:
        first_key = next(iter(unassigned))
        raise unknown_option_error(first_key, options_by_owner)
    return assigned


def unknown_option_error(
    key: str, options_by_owner: Mapping[str, Collection[str]], kind: str = "ranker"
) -> UsageError:
    """Build the error for an option that no requested ranker or tournament has.

    Args:
        key: the option as typed, `option` or `name.option`.
        options_by_owner: the options of each requested extension, by its name.
        kind: what the requested extensions are: `ranker` or `tournament`.

    Returns:
        The error. It says what is wrong: the name before the dot, an option of other extensions
        (which it names), an option that was removed, or else an unknown option, with the most
        similar one.
    """
    owner, _, option = key.rpartition(".")
    if owner and owner not in options_by_owner:
        return unknown_name_error(f"{kind} in this call", owner, options_by_owner)
    installed: dict[str, Collection[str]] = {}
    extensions: dict[str, Any] = {
        **catalogue.extensions_of(Ranker),
        **catalogue.extensions_of(Tournament),
    }
    for name, registration in extensions.items():
        # A plugin that cannot be imported is skipped.
        with suppress(PluginError):
            installed[name] = options_of(catalogue.load_extension(registration.extension))
    owners = [name for name, options in installed.items() if option in options]
    if owners:
        return UsageError(
            f"{option!r} is an option of {' and '.join(owners)}, not of "
            f"{' or '.join(options_by_owner)}"
        )
    if option in REPLACEMENTS:
        return UsageError(f"{option} was removed: {REPLACEMENTS[option]}")
    if option == "calibration":
        option_form = option_text("calibration", "FILE")
        return UsageError(f"calibration is not an option of a ranker: give {option_form}")
    return unknown_name_error(
        "option", key, {name for options in options_by_owner.values() for name in options}
    )


def _typed_value(key: str, text: str, parameter: inspect.Parameter) -> Any:
    """Convert a text to the declared type of a parameter.

    A parameter without an annotation has the type of its default. Of `X | None` the type is X, of
    another union its first type, and of a `Literal` the text must be one of its values. Other types
    than those in `READERS` are read as text.

    Args:
        key: the option as typed, for error messages.
        text: the value as typed.
        parameter: the parameter.

    Raises:
        UsageError: the text is not of that type, or an infinite number or NaN.
    """
    declared = parameter.annotation
    if declared is inspect.Parameter.empty or isinstance(declared, str):
        declared = type(parameter.default)
    elif get_origin(declared) in (Union, UnionType):
        declared = next(part for part in get_args(declared) if part is not type(None))
    if get_origin(declared) is Literal:
        values = {str(value): value for value in get_args(declared)}
        if text not in values:
            raise unknown_value_error(key, text, values)
        return values[text]
    read, type_in_words = READERS.get(declared, (str, "text"))
    value = None
    with suppress(KeyError, ValueError):
        value = read(text)
    is_infinite_or_nan = isinstance(value, float) and not math.isfinite(value)
    if value is None or is_infinite_or_nan:
        raise UsageError(f"{key}={text!r} is not {type_in_words}")
    return value


def _read_truth(text: str) -> bool:
    """Return the truth value that `true` or `false` names, in any case.

    Raises:
        KeyError: the text is another word.
    """
    return {"true": True, "false": False}[text.lower()]


READERS: dict[Any, tuple[Callable[[str], Any], str]] = {
    bool: (_read_truth, "true or false"),
    int: (int, "a whole number"),
    float: (float, "a number"),
}
"""The parser of an option's value and the words for what the value must be, by type."""
