"""Options of rankers as they are typed: `--set KEY=VALUE` or `--set RANKER.KEY=VALUE`."""

import inspect
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from podium import plugins
from podium.errors import UsageError, unknown_name

RESERVED = frozenset({"battles", "rng", "level", "center"})
"""Parameters of a ranker that are not options: podium fills them in."""


def options_of(ranker: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the options of a ranker: its keyword-only parameters, except those that podium fills in."""
    parameters = inspect.signature(ranker).parameters
    return {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in RESERVED
    }


def parse_settings(settings: Sequence[str], rankers: Sequence[str]) -> dict[str, Any]:
    """Turn typed settings into values of the types that the rankers declare.

    Args:
        settings: each `KEY=VALUE` or `RANKER.KEY=VALUE`.
        rankers: names of the rankers they are meant for.

    Raises:
        UsageError: an unknown ranker or option, or a value of the wrong type.
    """
    known = {name: options_of(plugins.ranker(name).load()) for name in rankers}
    values = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting!r}: write KEY=VALUE or RANKER.KEY=VALUE")
        values[key] = _value(key, text, _parameter(key, known))
    return values


def _parameter(key: str, known: dict[str, dict[str, inspect.Parameter]]) -> inspect.Parameter:
    ranker, _, option = key.rpartition(".")
    if ranker and ranker not in known:
        raise unknown_name("ranker in this call", ranker, known)
    for name in [ranker] if ranker else known:
        if option in known[name]:
            return known[name][option]
    raise unknown_name("option", key, {option for options in known.values() for option in options})


def _value(key: str, text: str, parameter: inspect.Parameter) -> Any:
    annotation = parameter.annotation
    if get_origin(annotation) in (Union, UnionType):
        annotation = next(one for one in get_args(annotation) if one is not type(None))
    if get_origin(annotation) is Literal:
        if text not in get_args(annotation):
            raise UsageError(f"{key}={text!r} is unknown; use one of {', '.join(get_args(annotation))}")
        return text
    try:
        return _flag(text) if annotation is bool else annotation(text) if annotation in (int, float) else text
    except ValueError:
        raise UsageError(f"{key}={text!r} is not {'true or false' if annotation is bool else 'a number'}") from None


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"
